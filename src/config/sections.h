/* sections.h: readers and checks of single sections, one file each. Inside config only. */
#ifndef BALLAST_CONFIG_SECTIONS_H
#define BALLAST_CONFIG_SECTIONS_H

#include "config/section.h"

/* ---- http.c: the keys of `http:` that depend on each other ------------------------------------ */

/* -EINVAL with the line: no address, or one that other machines reach and no certificate. */
int config_check_http(const struct section *s, const struct schema *keys);

/* ---- power_methods_check.c: what needs no network --------------------------------------------- */

/* Checks one host, or the defaults. -EINVAL with the line if it cannot work; warnings about risks. */
int power_methods_check(const struct section *s, const struct power_host *h);

/* ---- mqtt.c: the keys of `mqtt:` that depend on each other ------------------------------------ */

/* A word of mqtt.commands; see field_check. */
const char *config_mqtt_command_check(const char *word);

/* Splits the url, reads the password, and makes the checks that need several keys. -EINVAL with the line. */
int config_check_mqtt(const struct section *s, const struct schema *keys);

/* ---- schedule.c: `balance.windows`, and the windows and times of `dpm:` ----------------------- */

/* -EINVAL with the line of the wrong expression. use: what a window is for,
 * "to move VMs off a host", as far as that takes some minutes; NULL: a short one is no mistake. Warns of a
 * window that does not begin any more. */
int config_read_windows(const struct section *s, const struct node *list, const char *key, const char *use,
                        struct schedule *ret);
int config_read_schedule(const struct section *s);

/* ---- alarms.c: `alarms:` ---------------------------------------------------------------------- */

/* -EINVAL with the line. After config_read_schedule(), whose time zone is that of digests. */
int config_read_alarms(const struct section *s);

/* Whether a secret of a target that both have differs. */
bool config_alarm_secrets_changed(const struct config *old, const struct config *now);

/* ---- roles.c: `roles:` ------------------------------------------------------------------------ */

/* -EINVAL with the line. A user or group that this machine does not know is a warning. */
int config_read_roles(const struct section *s);

/* Of a word of four_eyes.actions: NULL, or the words that are expected. */
const char *config_four_eyes_check(const char *word);

/* ---- duplicate_controllers.c: two hosts of `power:` that are one machine ---------------------- */

/* A power-off of one would switch off the other, with all its VMs.
 *
 * The key of y with a controller's address that x has too; NULL: none. A chassis with several systems has one
 * Redfish service for all of them; redfish.system tells them apart. */
const char *duplicate_controllers_key(const struct config_power_host *x, const struct config_power_host *y);

/* ---- former_keys.c: keys of earlier versions, accepted with a warning ------------------------- */

/* Gives former keys in the file their present names, takes out those that are not used any more, and warns
 * once for each. -EINVAL if the file has a key under both names. */
int former_keys_rename(const struct section *s, struct node *root);

/* ---- overlay.c: `rules:`, `pools:`, `ha:`, `vms:`, `hosts:` ----------------------------------- */

/* Fills config->overlay. -EINVAL with the line. */
int config_read_overlay(const struct section *s);

/* ---- placement.c: `groups:`, `units:` and `pipelines:` ---------------------------------------- */

/* What filters read of VMs and hosts: a struct attributes at this offset. */
#define ATTRIBUTES_FIELD(key, at, text)                                                                      \
    {                                                                                                        \
        .name = (key), .type = FIELD_OWN, .offset = (at), .read = attributes_read, .meaning = (text)         \
    }

/* field_check of names and kinds. */
const char *config_check_name(const char *text);

/* One entry, into a struct overlay_group, unit_config or overlay_pipeline. */
int config_read_group(const struct section *s, const struct node *n, void *ret);
int config_read_unit(const struct section *s, const struct node *n, void *ret);
int config_read_pipeline(const struct section *s, const struct node *n, void *ret);

/* ---- power_hosts.c: `power:`, whose hosts have tables of their own ---------------------------- */

/* Reads `power:`, if present, after all other keys: the defaults first, then each host. */
int config_read_power(const struct section *s);

/* Whether this method switches the host: the host has the method, and `methods` does not leave it out. */
bool config_power_uses(const struct config_power_host *h, enum power_method_kind kind);

/* All set keys on one line; NULL for none. */
const char *config_power_text(const struct config_power_host *hosts, size_t n, struct arena *a);

/* The differences, for a log: the numbers of hosts before and after, and the names of changed hosts. */
void config_power_change_text(const struct config *old, const struct config *now, struct arena *a,
                              const char **ret_from, const char **ret_to);

/* Whether the content of a file has changed, under an unchanged path. */
bool config_power_secrets_changed(const struct config *old, const struct config *now, struct arena *a);

/* Puts the hosts of `old` into `now`, copied to the arena. */
void config_power_keep(const struct config *old, struct config *now, struct arena *a);

#endif
