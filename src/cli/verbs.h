/* verbs.h: every verb, each from a file of its own. */
#ifndef BALLAST_CLI_VERBS_H
#define BALLAST_CLI_VERBS_H

#include "cli/verb.h"

extern const struct verb verb_check_config;
extern const struct verb verb_entitlements;
extern const struct verb verb_explain;
extern const struct verb verb_generate;
extern const struct verb verb_plan;

/* In the order of the help. */
extern const struct verb *const verbs[];
extern const size_t n_verbs;

#endif
