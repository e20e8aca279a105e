/* config.h: the configuration file of the service (conf/ballast.yaml), checked.
 *
 * The file is read strictly. An unknown key, a value of the wrong type or out of its range, a missing
 * required key and an unreadable secret are errors with one sentence, "FILE:LINE: what is wrong, what was
 * expected", and the service uses nothing of a file with an error. Accepted risks (a section without effect
 * in this version, a password file that everybody can read, TLS without verification) are warnings; the
 * service logs each at every start and reload.
 *
 * Every key is in one table, config_keys(), with its default and meaning; the settings of a pass come from
 * policy_settings, so each range has one place.
 *
 * Secrets are read from files into source.password, mqtt.password and the passwords of power_hosts[]. Errors,
 * warnings, config_get() and config_changes() never contain a secret.
 */
#ifndef BALLAST_CONFIG_CONFIG_H
#define BALLAST_CONFIG_CONFIG_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/facts.h>
#include <ballast/names.h>
#include <ballast/policy.h>
#include <ballast/power.h>
#include <ballast/source.h>

#include "overlay/overlay.h"
#include "schedule/schedule.h"
#include "schema/field.h"
#include "schema/reader.h"
#include "units/units.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Larger files are refused before they are read. */
#define CONFIG_SIZE_MAX (1024 * 1024)

/* How power methods switch a host on and off. `power.hosts.NAME:`, with the values of `power.defaults:` for
 * missing keys; a key in neither is NULL. */
struct config_power_host {
    struct power_host host; /* order and stop: see config_power() */
    const char *const
        *methods; /* in the given order; NULL at the end; never NULL itself. Empty: all methods of the host */
    struct power_curve watts; /* n 0: not given */
    double standby_w;         /* UNKNOWN */
};

/* The broker that events go to, and commands come from. `mqtt:`; url NULL: none. */
struct config_mqtt {
    const char *url;
    const char *host; /* from the url, and ... */
    int64_t port;     /* ... the default of the url's scheme */
    bool tls;
    const char *username;
    const char *password_file, *password;
    const char *ca_file, *cert_file, *key_file;
    bool tls_verify;
    const char *client_id;       /* NULL: the store's own */
    const char *topic;           /* before all topics */
    const char *home_assistant;  /* the prefix of its discovery; NULL: off */
    const char *const *commands; /* that are taken; NULL at the end */
};

/* The API over HTTP. `http:`; listen NULL: none. */
struct config_http {
    const char *listen; /* as written */
    const char *cert_file, *key_file;
    int64_t connections, connections_per_address; /* at most, at a time */
    int64_t session_s, session_idle_s;            /* of a browser */
};

/* A target of alarms. `alarms.NAME:`; by url a webhook or an SMTP server, or a command. */
struct config_alarm {
    const char *name;                      /* letters, digits, _ and - */
    const char *url;                       /* https, http, smtp, smtps; NULL: a command */
    const char *const *command;            /* path and arguments */
    const char *secret_file, *secret;      /* webhook: whsec_BASE64; NULL: not signed */
    const char *username;                  /* SMTP, webhook */
    const char *password_file, *password;  /* likewise */
    const char *ca_file;                   /* NULL: the system's */
    bool tls_verify, starttls;             /* starttls: of smtp, required */
    const char *from, *const *to;          /* addresses, of mail */
    int severity;                          /* the least that is sent: enum alarm_severity */
    const char *const *kinds;              /* of events; none: all */
    const char *const *hosts, *const *vms; /* ids or names that events are about; none: all */
    const char *digest;                    /* calendar expression; NULL: none */
    struct calendar digest_at;             /* the same, if there is one */
    int64_t interval_s;                    /* at least, between two messages */
};

/* The order is that of their weight. ALARM_SEVERITY_NONE: no event is sent, the digest only. */
enum alarm_severity {
    ALARM_SEVERITY_INFO,
    ALARM_SEVERITY_NOTICE,
    ALARM_SEVERITY_WARNING,
    ALARM_SEVERITY_ERROR,
    ALARM_SEVERITY_NONE
};

extern const char *const config_alarm_severities[]; /* their words; NULL at the end */

/* An entry of `roles.users:` or `roles.groups:`. */
struct config_role {
    const char *name;
    enum role role;
};

/* The roles of users at the Unix socket. `roles:`. */
struct config_roles {
    struct config_role *users, *groups;
    size_t n_users, n_groups;
};

/* What takes two people. `four_eyes:`. */
struct config_four_eyes {
    const char *const *actions; /* words of FOUR_EYES_ACTIONS; NULL at the end */
    int64_t within_s;           /* how long the request of the first counts */
};

/* A section whose values may be secrets, such as the arguments of a command. NULL: there is none. */
struct hidden_text {
    const char *all;   /* to find changes; never shown */
    const char *shown; /* harmless.h */
};

/* Bytes of the settings of all kinds of sources together. */
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
    int64_t history_store_mb;  /* of the whole store, at most */
    int64_t history_passes_mb; /* of snapshots and passes together, at most */
    int64_t history_events;    /* kept in the store, sent or not */
    struct config_power_host *power_hosts;
    size_t n_power_hosts;
    struct config_power_host *power_defaults; /* NULL: the section is not there */
    struct config_mqtt mqtt;
    struct config_http http;
    struct config_roles roles;
    const char *roles_text; /* to find changes; NULL: none */
    struct config_four_eyes four_eyes;
    int64_t lock_wait_s, lock_hold_s; /* `placement:` */
    struct config_alarm *alarms;
    size_t n_alarms;
    struct hidden_text alarms_text, units_text;
    const char *const *dpm_windows, *const *dpm_ready_by; /* as written; NULL at the end */
    const char *dpm_prove_every;                          /* as written; NULL: not given */
    const char *dpm_time_zone;                            /* NULL: the system's own */
    int64_t dpm_ready_percent;
    struct overlay overlay;    /* rules, pools, groups, pipelines, ha, vms and hosts */
    struct unit_config *units; /* external units */
    size_t n_units;
    const char *rules_text, *pools_text, *groups_text, *pipelines_text, *ha_text, *vms_text,
        *hosts_text;                    /* to find changes; NULL: none */
    struct schedule schedule;           /* the schedule that these four keys define */
    const char *const *balance_windows; /* as written */
    struct schedule balance;            /* the windows of this key */
    const char *const *warnings;        /* whole sentences, FILE:LINE in front */
    size_t n_warnings;
};

/* Every key, those of policy_settings last. In the arena. Several kinds of sources can have a key of one
 * name: then the key of the given kind; NULL: of any kind. */
const struct field *config_keys(const char *kind, struct arena *a, size_t *ret_n);

/* The kind with this word; NULL: there is none. */
const struct source_kind *config_source_kind(const char *word);

/* The purpose of reading a file. */
enum config_use {
    CONFIG_FOR_SERVICE, /* checks everything: required keys are present, secrets are readable */
    CONFIG_FOR_CHECK,   /* like the service, but a password file without read permission is only a warning */
    CONFIG_FOR_POLICY,  /* for the settings of a pass: no key is required, no file opened */
};

/* Reads the file at the path. -EINVAL for wrong content, else the error of the system (-ENOENT, -EACCES,
 * ...). All strings of *ret are in the arena, the path too. */
int config_load(const char *path, struct arena *a, struct config *ret, struct err *err);
int config_load_for(const char *path, enum config_use use, struct arena *a, struct config *ret,
                    struct err *err);

/* Like config_load() for text in memory; path is used in errors only. */
int config_parse(const char *path, const char *text, size_t len, enum config_use use, struct arena *a,
                 struct config *ret, struct err *err);

/* The same, and goes on after a mistake: *mistakes lists those that can be told apart, in the order of their
 * discovery. First the mistakes of single keys; where there are none, one of each section (rules,
 * power.hosts,
 * ...); then those of keys that depend on each other. -EINVAL with mistakes->n 0: *err is the only one. */
int config_parse_all(const char *path, const char *text, size_t len, enum config_use use, struct arena *a,
                     struct config *ret, struct mistakes *mistakes, struct err *err);

/* The text of a file of at most CONFIG_SIZE_MAX bytes. */
int config_read_text(const char *path, struct arena *a, char **ret, size_t *ret_len, struct err *err);

/* The access to the cluster, for collectors and actuators. Points into the configuration; stop and shared
 * stay NULL for the service to set. */
void config_source(const struct config *c, struct source_config *ret);

/* The identity of a source: its kind, its address and the cluster's name there. */
const char *config_source_name(const struct config *c, struct arena *a);

/* The hosts of `power:` with their methods in the order of attempts, for actuators/power; each gets a copy of
 * *stop. Everything is copied to the arena. Without a given order `hypervisor` is last. */
struct power_host *config_power(const struct config *c, const atomic_bool *stop, struct arena *a);

/* The power figures of the hosts, copied to the arena; n is 0 if there are none. */
struct power_curve config_watts(const struct config_power_host *h, struct arena *a);

/* The role of a process at the Unix socket, by the user and groups that the kernel reports: of the user's
 * entry; else the most of those of its groups; without an entry admin. */
enum role config_role(const struct config_roles *roles, uid_t uid, gid_t gid, const gid_t *groups, size_t n);

/* The chosen actions of four_eyes: 1u << FOUR_EYES_*. */
unsigned config_four_eyes(const struct config *c);

/* A copy that outlives the configuration. */
void config_alarm_copy(const struct config_alarm *from, struct config_alarm *ret, struct arena *a);

/* A webhook, or else mail. */
bool config_alarm_is_webhook(const struct config_alarm *t);

/* The current value in the file's syntax, without what may be a secret; NULL if unset. */
const char *config_get(const struct config *c, const struct field *key, struct arena *a);

/* A difference after a reload. */
struct config_change {
    const struct field *key;
    const char *from, *to; /* as in config_get() */
    bool secret;           /* both are equal: the content of a file differs, or what is hidden here */
};

/* Lists the differences, in the table's order. */
size_t config_changes(const struct config *old, const struct config *now, struct arena *a,
                      struct config_change **ret);

/* Copies values that cannot change at run time from `old` into `now`, so that a reloaded configuration shows
 * the values in force. The strings are copied to the arena, so `old` may be freed. power: `power:` cannot
 * change either, because power changes are in progress. */
void config_keep_fixed(const struct config *old, struct config *now, bool power, struct arena *a);

/* When a change takes effect; the end of a log line. */
#define CONFIG_EFFECTS(X)                                                                                    \
    X(CONFIG_NOW, "now", "")                                                                                 \
    X(CONFIG_NEXT_LOGIN, "next_login", "; takes effect at the next login")                                   \
    X(CONFIG_NEXT_START, "next_start", "; takes effect at the next start")                                   \
    X(CONFIG_AFTER_POWER, "after_power_changes", "; takes effect once the power changes under way have ended")

NAME_DECLARE(config_effect, CONFIG_EFFECTS)

/* power_waits: power changes are under way, and `power:` waits for their end. */
enum config_effect config_change_effect(const struct config_change *change, bool power_waits);

bool config_is_of_power(const struct config_change *change);
bool config_power_changes(const struct config_change *changes, size_t n); /* any of them */

#endif
