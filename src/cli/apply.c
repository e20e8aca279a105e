/* apply: approves recommendations. */
#include "cli/client.h"
#include "cli/verbs.h"

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_tell_ids(args, "apply", a, out);
}

const struct verb verb_apply = {
    .name = "apply",
    .summary = "Approves recommendations: they are carried out.",
    .more = "What one depends on must be approved before it, or along with it. All of them are\n"
            "approved, or none.",
    .operands = "ID...",
    .operands_min = 1,
    .operands_max = 1000,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = run,
};
