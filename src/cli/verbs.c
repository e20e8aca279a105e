/* verbs.c: the table of verbs, in the order of `ballast --help`. */
#include "cli/verbs.h"

const struct verb *const verbs[] = {
    &verb_plan,     &verb_place,       &verb_what_if,         &verb_entitlements, &verb_explain,
    &verb_simulate, &verb_generate,    &verb_check_config,    &verb_status,       &verb_hosts,
    &verb_vms,      &verb_pools,       &verb_recommendations, &verb_history,      &verb_run,
    &verb_apply,    &verb_reject,      &verb_snapshot,        &verb_samples,      &verb_pause,
    &verb_resume,   &verb_maintenance, &verb_standby,         &verb_wake,         &verb_confirm_controller,
    &verb_events,   &verb_schedule,    &verb_forecast,        &verb_console,      &verb_metrics,
    &verb_check,    &verb_token,       &verb_backup,          &verb_config,
};

const size_t n_verbs = COUNT_OF(verbs);
