/* decision.h: a question about a snapshot, and its answer as JSON and as text: what `ballast plan`,
 * `explain`, `what-if` and `entitlements` decide, for the command and for the service.
 *
 * Nothing is shared between two questions, so any thread may answer one. */
#ifndef BALLAST_DECISION_DECISION_H
#define BALLAST_DECISION_DECISION_H

#include "base/strbuf.h"

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/names.h>
#include <ballast/policy.h>
#include <ballast/snapshot.h>

enum decision_kind { DECISION_PLAN, DECISION_EXPLAIN, DECISION_WHAT_IF, DECISION_ENTITLEMENTS };

/* An assumption of DECISION_WHAT_IF. word: a host (id or name); of CHANGE_DEMAND "VM=MHZ". */
struct decision_change {
    enum change_kind kind;
    const char *word;
};

struct decision_question {
    enum decision_kind kind;
    const char *const *sets; /* "KEY=VALUE": settings to be changed */
    size_t n_sets;
    const char *vm, *host;                 /* DECISION_EXPLAIN: ids or names; NULL */
    const struct decision_change *changes; /* DECISION_WHAT_IF */
    size_t n_changes;
    bool resources[RES_COUNT]; /* DECISION_ENTITLEMENTS: those to show */
    bool wide;                 /* DECISION_ENTITLEMENTS, text: show what was divvied, too */
    bool configured;           /* the settings are those of a configuration, so none is a guess */
};

/* Sentences; they live in the arena of the call. A zeroed struct is empty. */
struct decision_warnings {
    const char **items;
    size_t n, cap;
};

/* Where the answer goes; NULL: it is not wanted in this form. */
struct decision_output {
    struct strbuf *json; /* ballast-plan/1, ballast-explain/1 or ballast-entitlements/1 */
    struct strbuf *text;
};

/* settings.c: changes the settings. -EINVAL and a sentence. ret_warnings NULL: only checks and changes. */
int decision_change_settings(const char *const *sets, size_t n, struct arena *a, struct policy *policy,
                             struct decision_warnings *ret_warnings, struct err *err);

/* Answers the question with these settings, which have the changes of `sets` already. -EINVAL: the question
 * is wrong, and *ret_field is what of it: "vm", "host", "demand", "host_off" and so on; NULL: it cannot be
 * decided. On an error nothing is written. */
int decision_answer(const struct decision_question *q, const struct snapshot *snap,
                    const struct policy *policy, struct arena *a, const struct decision_output *out,
                    const char **ret_field, struct err *err);

#endif
