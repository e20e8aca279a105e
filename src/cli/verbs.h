/* verbs.h: every verb, one on each line, in the order of `ballast --help`. */
#ifndef BALLAST_CLI_VERBS_H
#define BALLAST_CLI_VERBS_H

#include "cli/verb.h"

/* clang-format off */
#define VERB_LIST(X) \
    X(plan) \
    X(place) \
    X(migrate) \
    X(what_if) \
    X(fit) \
    X(entitlements) \
    X(explain) \
    X(simulate) \
    X(backtest) \
    X(generate) \
    X(setup) \
    X(check_config) \
    X(status) \
    X(top) \
    X(hosts) \
    X(vms) \
    X(pools) \
    X(recommendations) \
    X(history) \
    X(passes) \
    X(run) \
    X(apply) \
    X(reject) \
    X(snapshot) \
    X(samples) \
    X(pause) \
    X(resume) \
    X(maintenance) \
    X(standby) \
    X(wake) \
    X(confirm_controller) \
    X(confirm_setting) \
    X(trust) \
    X(events) \
    X(schedule) \
    X(forecast) \
    X(console) \
    X(metrics) \
    X(check) \
    X(token) \
    X(alarm) \
    X(backup) \
    X(bugreport) \
    X(config)
/* clang-format on */

#define VERB_DECLARE(name) extern const struct verb verb_##name;
VERB_LIST(VERB_DECLARE)

extern const struct verb *const verbs[];
extern const size_t n_verbs;

#endif
