/* verbs.h: every verb, each from a file of its own. */
#ifndef BALLAST_CLI_VERBS_H
#define BALLAST_CLI_VERBS_H

#include "cli/verb.h"

extern const struct verb verb_alarm;
extern const struct verb verb_apply;
extern const struct verb verb_bugreport;
extern const struct verb verb_check;
extern const struct verb verb_check_config;
extern const struct verb verb_config;
extern const struct verb verb_confirm_controller;
extern const struct verb verb_confirm_setting;
extern const struct verb verb_trust;
extern const struct verb verb_entitlements;
extern const struct verb verb_events;
extern const struct verb verb_explain;
extern const struct verb verb_fit;
extern const struct verb verb_forecast;
extern const struct verb verb_generate;
extern const struct verb verb_history;
extern const struct verb verb_hosts;
extern const struct verb verb_maintenance;
extern const struct verb verb_metrics;
extern const struct verb verb_standby;
extern const struct verb verb_wake;
extern const struct verb verb_console;
extern const struct verb verb_backup;
extern const struct verb verb_schedule;
extern const struct verb verb_pause;
extern const struct verb verb_token;
extern const struct verb verb_migrate;
extern const struct verb verb_place;
extern const struct verb verb_plan;
extern const struct verb verb_pools;
extern const struct verb verb_recommendations;
extern const struct verb verb_reject;
extern const struct verb verb_resume;
extern const struct verb verb_run;
extern const struct verb verb_passes;
extern const struct verb verb_samples;
extern const struct verb verb_simulate;
extern const struct verb verb_backtest;
extern const struct verb verb_snapshot;
extern const struct verb verb_status;
extern const struct verb verb_top;
extern const struct verb verb_vms;
extern const struct verb verb_what_if;

/* All verbs, in the order of the help. */
extern const struct verb *const verbs[];
extern const size_t n_verbs;

#endif
