/* ballast apply: approves recommendations. */
#include "cli/selection.h"
#include "cli/verbs.h"

static const struct option_spec options[SELECT_COUNT] = {
    SELECTION_OPTIONS,
    [SELECT_LAST] = {"yes", NULL, 0, "do not ask before approving a range, or what an option selects"},
};

static enum exit_code verb_apply_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return selection_tell(args, "apply", a, out);
}

const struct verb verb_apply = {
    .name = "apply",
    .summary = "Approve recommendations, so that the service carries them out.",
    .more =
        "Give numbers and ranges (3-9: those of them that are current), or --all, or any of --host, --group "
        "and --priority together. "
        "A recommendation that depends on another can only be approved with it or after it; with an option, "
        "what the selected ones depend on and the rest of their groups are approved with them. "
        "What has ended, or goes elsewhere now, is left out with what needs it, and said on standard error; "
        "the exit code is 1 then. "
        "While it waits for an approval, a recommendation keeps its number and its VM, but a newer pass may "
        "find "
        "a better destination: 3 is 3.2 then, and `ballast apply 3`, which is for the destination before, is "
        "refused. A range or an option approves the destinations listed at this moment; on a terminal they "
        "are listed and have to be confirmed.",
    .operands = "[ID|ID-ID...]",
    .operands_max = 1000,
    .options = options,
    .n_options = SELECT_COUNT,
    .needs_service = true,
    .run = verb_apply_run,
};
