/* ballast reject: rejects recommendations, or withdraws an approval. */
#include "cli/client.h"
#include "cli/verbs.h"

static enum exit_code verb_reject_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_tell_ids(args, "reject", a, out);
}

const struct verb verb_reject = {
    .name = "reject",
    .summary = "Reject recommendations, or withdraw an approval.",
    .more = "An action that has started cannot be rejected. The VM is not moved for balance until its "
            "cool-down is over.",
    .operands = "ID...",
    .operands_min = 1,
    .operands_max = 1000,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_reject_run,
};
