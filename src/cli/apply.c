/* ballast apply: approves recommendations. */
#include "cli/client.h"
#include "cli/verbs.h"

static enum exit_code verb_apply_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_tell_ids(args, "apply", a, out);
}

const struct verb verb_apply = {
    .name = "apply",
    .summary = "Approve recommendations, so that the service carries them out.",
    .more = "A recommendation that depends on another can only be approved with it or after it. "
            "Either all IDs are approved, or none. While it waits for an approval, a recommendation "
            "keeps its number and its VM; its destination is that of the newest pass.",
    .operands = "ID...",
    .operands_min = 1,
    .operands_max = 1000,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_apply_run,
};
