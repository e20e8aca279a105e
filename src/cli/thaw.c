/* thaw: starts actions again. */
#include "cli/client.h"
#include "cli/verbs.h"

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_tell(args, "thaw", "thawed", a, out);
}

const struct verb verb_thaw = {
    .name = "thaw",
    .summary = "Starts actions again.",
    .more = "Ends what freeze began.",
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = run,
};
