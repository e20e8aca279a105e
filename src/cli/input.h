/* input.h: reads snapshot, VMs and settings for the verbs that decide. A function that fails has printed one
 * line on standard error. */
#ifndef BALLAST_CLI_INPUT_H
#define BALLAST_CLI_INPUT_H

#include "cli/verb.h"
#include "model/vms_json.h"

#include <ballast/policy.h>
#include <ballast/snapshot.h>

/* Reads the VMs to be placed and adds the new ones to the cluster. Warns about ignored fields. */
enum exit_code cli_read_vms(const char *path, const struct snapshot *cluster, struct arena *a,
                            struct vms_to_place *ret);

/* The same for VMs of the cluster by their ids or names. They must be off or suspended. */
enum exit_code cli_find_vms(const char *const *words, size_t n, const struct snapshot *cluster,
                            struct arena *a, struct vms_to_place *ret);

#define OPTION_SNAPSHOT                                                                                      \
    {                                                                                                        \
        "snapshot", "FILE", 0,                                                                               \
            "snapshot of the cluster; - reads standard input; default: the last one of the service"          \
    }

/* What a verb decides from, besides --socket. */
struct cluster_paths {
    const char *snapshot;             /* --snapshot; NULL: the service's */
    const char *config;               /* --config; NULL: not given */
    const struct option_values *sets; /* --set */
    bool adds_vms; /* VMs are added to the snapshot: cli_ask_units() asks the units later */
};

/* The settings: those of the configuration, else those that the snapshot was decided with, else the defaults;
 * then each KEY=VALUE. The snapshot, as the configuration's rules and settings of VMs and hosts change it;
 * one without answers of external units gets those of the configuration's units. */
enum exit_code cli_read_cluster(const struct args *args, const struct cluster_paths *paths, struct arena *a,
                                struct policy *ret_policy, struct snapshot *ret);

/* Asks the external units of the configuration about all VMs of the snapshot, anew. */
enum exit_code cli_ask_units(const char *config_path, struct arena *a, struct snapshot *s);

/* Changes the settings by each KEY=VALUE of --set. */
enum exit_code cli_change_settings(const struct option_values *sets, struct arena *a, struct policy *ret);

/* A whole number from `least` to `most`. `option` is named in the error. */
enum exit_code cli_parse_number(const char *option, const char *text, unsigned long long least,
                                unsigned long long most, unsigned long long *ret);

/* An instant in one of the forms of schedule/when.h. */
enum exit_code cli_parse_time(const char *option, const char *text, instant_s *ret);

/* Monotonic clock, to measure how long a decision takes. */
int64_t cli_now_us(void);

#endif
