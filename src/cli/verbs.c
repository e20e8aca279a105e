#include "cli/verbs.h"

const struct verb *const verbs[] = {
    &verb_plan, &verb_entitlements, &verb_explain, &verb_generate, &verb_check_config,
};

const size_t n_verbs = COUNT_OF(verbs);
