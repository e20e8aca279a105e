/* ballast reject: rejects recommendations, or withdraws an approval. */
#include "cli/selection.h"
#include "cli/verbs.h"

static const struct option_spec options[SELECT_COUNT] = {
    SELECTION_OPTIONS,
    [SELECT_LAST] = {"for", "TIME", 0,
                     "how long it holds: 12h, 7d, at most 400d, or ever; else avoid.reject_s"},
};

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
        "A VM is not moved again for the same reason, to whichever host, nor a host put to standby or woken, "
        "for avoid.reject_s (a day), or as long as --for says; all moves for balance have one reason here. "
        "The "
        "answer says until when. What is only rejected along with another may come back after the VM's "
        "cool-down. `ballast run --retry` ends all of that. A rejected move off a host that is being emptied "
        "stops its maintenance or standby. A wake because capacity is missing, or for dpm.ready_by, is only "
        "rejected alone, by its number. What has ended is left out, and what is rejected already unless "
        "--for changes for how long; the exit code is 1 then.",
    .operands = "[ID|ID-ID...]",
    .operands_max = 1000,
    .options = options,
    .n_options = SELECT_COUNT,
    .needs_service = true,
    .run = verb_reject_run,
};
