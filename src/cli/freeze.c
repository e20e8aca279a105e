/* freeze: starts nothing from now on. */
#include "cli/client.h"
#include "cli/verbs.h"

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_tell(args, "freeze", "frozen: nothing is started until `ballast thaw`", a, out);
}

const struct verb verb_freeze = {
    .name = "freeze",
    .summary = "Starts nothing from now on.",
    .more = "The service goes on looking and recommending, and follows what runs; a restart does not end it.",
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = run,
};
