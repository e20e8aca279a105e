/* ballast resume: ends a pause. */
#include "cli/client.h"
#include "cli/verbs.h"

static enum exit_code verb_resume_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    /* The former word, as in pause.c. */
    return client_tell(args, verb_resume.former_name, "resumed: actions are started again", a, out);
}

const struct verb verb_resume = {
    .name = "resume",
    .former_name = "thaw",
    .summary = "Start actions again after `ballast pause`.",
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_resume_run,
};
