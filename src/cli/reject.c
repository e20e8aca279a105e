/* reject: rejects recommendations. */
#include "cli/client.h"
#include "cli/verbs.h"

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_tell_ids(args, "reject", a, out);
}

const struct verb verb_reject = {
    .name = "reject",
    .summary = "Rejects recommendations, or takes an approval back.",
    .more = "What has begun cannot be rejected. The VM is left alone for its cool-down.",
    .operands = "ID...",
    .operands_min = 1,
    .operands_max = 1000,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = run,
};
