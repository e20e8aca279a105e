/* verbs.c: the table of verbs. */
#include "cli/verbs.h"

#define ADDRESS(name) &verb_##name,

const struct verb *const verbs[] = {VERB_LIST(ADDRESS)};

const size_t n_verbs = COUNT_OF(verbs);
