/* ballast run: a pass now. */
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

enum { OPT_RETRY, OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_RETRY] = {"retry", NULL, 0, "forget which moves failed: the pass may try all of them again"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static void show_run(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *pass = json_object_get(reply, "pass");
    const bool uneven = json_array_size(json_object_get(pass, "uneven")) > 0;
    json_t *open = json_array();
    json_t *x;
    size_t i;

    strbuf_printf(out, "pass %lld: imbalance %.3f, target %.3f; ", (long long)reply_int(pass, "id"),
                  reply_number(pass, "imbalance"), reply_number(pass, "target"));
    if (reply_int(pass, "recommendations") > 0)
        strbuf_printf(out, "%lld recommended, %.3f after them\n",
                      (long long)reply_int(pass, "recommendations"), reply_number(pass, "imbalance_after"));
    else
        strbuf_printf(out, "no recommendations%s\n", uneven ? "" : ": the load is even enough");
    if (uneven && reply_int(pass, "recommendations") == 0)
        table_put_wrapped(out, reply_or_dash(json_object_get(pass, "end"), "text"), 4);
    /* ended actions are not news of this pass */
    json_array_foreach(json_object_get(reply, "recommendations"), i, x)
    {
        if (!reply_text(x, "ended"))
            json_array_append(open, x);
    }
    if (json_array_size(open) > 0) {
        strbuf_puts(out, "\n");
        action_table_print(reply, open, a, out);
    }
    json_decref(open);
}

static enum exit_code verb_run_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_show(args,
                       json_pack("{s:s, s:b}", "command", "run", "retry", args->options[OPT_RETRY].n > 0),
                       NULL, show_run, a, out);
}

const struct verb verb_run = {
    .name = "run",
    .summary = "Run a pass now and show its result.",
    .more =
        "A move that failed is not tried again for a while (avoid.pause_s); `ballast status` shows which. "
        "With --retry all of them may be tried again at once, and what was rejected may be recommended "
        "again.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = verb_run_run,
};
