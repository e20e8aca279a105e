/* config.h: the configuration file of the service (conf/ballast.yaml), checked.
 *
 * The file is read strictly: a key that is not known, a value of the wrong type or out of its range, a
 * required key that is missing and a secret that cannot be read are all errors, with one sentence
 *     FILE:LINE: what is wrong, what was expected
 * and nothing of a file with an error is used. What is accepted but worth a word (a section that this version
 * does not act on, a password file that everybody can read, TLS that is not verified) is a warning; the
 * service logs each at every start and reload.
 *
 * Every key stands in one table, config_keys(), with its default and meaning; the settings of a pass come
 * from policy_settings() and are checked by policy_set(), so that a range lives in one place.
 *
 * Secrets are read from the files that are named, into source.password, mqtt.password and those of
 * power_hosts[]. They are never part of an error, a warning, config_get() or config_changes().
 */
#ifndef BALLAST_CONFIG_CONFIG_H
#define BALLAST_CONFIG_CONFIG_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/facts.h>
#include <ballast/policy.h>
#include <ballast/power.h>
#include <ballast/source.h>

#include "schedule/schedule.h"
#include "schema/field.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

/* Larger files are refused before they are read. */
#define CONFIG_SIZE_MAX (1024 * 1024)

/* How a host is woken and put to standby from outside. `power.hosts.NAME:`, with what `power.defaults:` says
 * where it does not; what neither gives is NULL. */
struct config_power_host {
    struct power_host host; /* order and stop: see config_power() */
    const char *const
        *methods;             /* in order, as given; NULL at the end; never NULL itself. Empty: all it has */
    struct power_curve watts; /* n 0: not given */
    double standby_w;         /* UNKNOWN */
};

/* The broker that events go to. `mqtt:`; url NULL: none. */
struct config_mqtt {
    const char *url;
    const char *host; /* from the url, and ... */
    int64_t port;     /* ... what it means where it names none */
    bool tls;
    const char *username;
    const char *password_file, *password;
    const char *ca_file, *cert_file, *key_file;
    bool tls_verify;
    const char *client_id; /* NULL: one that the store gives */
    const char *topic;     /* before all topics */
};

/* Bytes of the structs of all kinds of sources together. */
#define CONFIG_SOURCE_SETTINGS_MAX 256

struct config {
    const char *path; /* of the file, as given */
    const char *cluster;
    const char *state_dir;
    const char *socket;
    struct policy policy;
    struct source_config source; /* stop, shared, seed and settings: see config_source() */
    alignas(max_align_t) char source_settings[CONFIG_SOURCE_SETTINGS_MAX]; /* of each kind, one by one */
    int64_t history_days;      /* of actions and migrations kept in the store */
    int64_t history_passes;    /* kept in the store, with their snapshots */
    int64_t history_passes_mb; /* that those may take */
    int64_t history_events;    /* kept in the store, sent or not */
    struct config_power_host *power_hosts;
    size_t n_power_hosts;
    struct config_power_host *power_defaults; /* NULL: the section is not there */
    struct config_mqtt mqtt;
    const char *const *dpm_windows, *const *dpm_ready_by; /* as written; NULL at the end */
    const char *dpm_time_zone;                            /* NULL: the system's own */
    int64_t dpm_ready_percent;
    struct schedule schedule;    /* made of these four */
    const char *const *warnings; /* whole sentences, FILE:LINE in front */
    size_t n_warnings;
};

/* Every key, those of policy_settings() last. In the arena. Where several kinds of sources have a key of one
 * name, it is that of the given kind; NULL: of any. */
const struct field *config_keys(const char *kind, struct arena *a, size_t *ret_n);

/* For whom a file is read. */
enum config_use {
    CONFIG_FOR_SERVICE, /* everything: required keys must be there, secrets are read */
    CONFIG_FOR_CHECK,   /* the same, but a password file that cannot be read for lack of permission only warns
                         */
    CONFIG_FOR_POLICY, /* the settings of a pass count: nothing is required, no other file is opened; the keys
                        * that are there are checked all the same */
};

/* Reads the file at the path. -EINVAL for what is wrong with its content, else what the system says (-ENOENT,
 * -EACCES, ...). Everything in *ret lives in the arena, the path is copied. */
int config_load(const char *path, struct arena *a, struct config *ret, struct err *err);
int config_load_for(const char *path, enum config_use use, struct arena *a, struct config *ret,
                    struct err *err);

/* The same for text in memory; path is for the sentences only. */
int config_parse(const char *path, const char *text, size_t len, enum config_use use, struct arena *a,
                 struct config *ret, struct err *err);

/* How to reach the cluster, for collectors and actuators. Points into the configuration; stop and shared are
 * left NULL for the service to fill in. */
void config_source(const struct config *c, struct source_config *ret);

/* What tells one source from another: kind, where it is and the cluster's name there. */
const char *config_source_name(const struct config *c, struct arena *a);

/* The hosts of `power:` in the order in which their methods are tried, for actuators/power; *stop goes with
 * each. Everything is copied to the arena. `hypervisor` stands at the end where no order is given. */
struct power_host *config_power(const struct config *c, const atomic_bool *stop, struct arena *a);

/* What is said of what a host draws, copied to the arena; n is 0 where nothing is. */
struct power_curve config_watts(const struct config_power_host *h, struct arena *a);

/* The present value as text, as it could stand in the file; NULL if it is not set. */
const char *config_get(const struct config *c, const struct field *key, struct arena *a);

/* What a second load changed. */
struct config_change {
    const struct field *key;
    const char *from, *to; /* as config_get() gives them */
    bool secret;           /* the path is the same, what stands in the file is not */
};

/* Lists what differs, in the table's order. */
size_t config_changes(const struct config *old, const struct config *now, struct arena *a,
                      struct config_change **ret);

/* Puts those values of `old` back into `now` that cannot change while the service runs, so that a reloaded
 * configuration says what is in force. The strings are copied to the arena, so that `old` may go. power:
 * `power:` is one of them now, as hosts are being switched. */
void config_keep_fixed(const struct config *old, struct config *now, bool power, struct arena *a);
bool config_is_of_power(const struct config_change *change);
bool config_power_changes(const struct config_change *changes, size_t n); /* any of them */

#endif
