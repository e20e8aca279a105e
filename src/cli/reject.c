/* ballast reject: rejects recommendations, or withdraws an approval. */
#include "cli/selection.h"
#include "cli/verbs.h"

static enum exit_code verb_reject_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return selection_tell(args, "reject", a, out);
}

const struct verb verb_reject = {
    .name = "reject",
    .summary = "Reject recommendations, or withdraw an approval.",
    .more =
        "Give numbers and ranges, or options, as for `ballast apply`. What depends on a rejected one, "
        "and the rest of its group, is rejected with it. An action that has started cannot be rejected. "
        "The VM is not moved again for the same reason, to whichever host, for avoid.reject_s, a day; all "
        "moves for balance have one reason here. What empties a host, and what is only rejected with "
        "another, "
        "may come back after the VM's cool-down. `ballast run --retry` ends all of that.",
    .operands = "[ID|ID-ID...]",
    .operands_max = 1000,
    .options = selection_options,
    .n_options = SELECT_YES,
    .needs_service = true,
    .run = verb_reject_run,
};
