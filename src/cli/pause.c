/* ballast pause: the service starts no action until `ballast resume`. */
#include "cli/client.h"
#include "cli/verbs.h"

static enum exit_code verb_pause_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    /* The former word: a service from before the upgrade, which may still run, knows no other. */
    return client_tell(args, verb_pause.former_name, "paused: no action is started until `ballast resume`", a,
                       out);
}

const struct verb verb_pause = {
    .name = "pause",
    .former_name = "freeze",
    .summary = "Start no action until `ballast resume`.",
    .more = "The service still reads the cluster, makes recommendations, and follows the actions that "
            "run. It stays paused when it is restarted.",
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_pause_run,
};
