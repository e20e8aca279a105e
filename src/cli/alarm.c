/* ballast alarm: sends a test message to a target of alarms. */
#include "cli/client.h"
#include "cli/verbs.h"

#include <string.h>

static void show_answer(const json_t *reply, struct arena *a, struct strbuf *out)
{
    (void)a;
    strbuf_printf(out, "delivered: %s\n", reply_or_dash(reply, "answer"));
}

static enum exit_code verb_alarm_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    if (strcmp(args->operands[0], "test") != 0)
        return cli_fail(EXIT_WRONG, "ballast alarm: expected test TARGET");
    return client_show(args, json_pack("{s:s, s:s}", "command", "alarm_test", "target", args->operands[1]),
                       NULL, show_answer, a, out);
}

const struct verb verb_alarm = {
    .name = "alarm",
    .summary = "Send a test message to a target of alarms.",
    .more =
        "Sends a message to the webhook, the mail server or the command at once, and prints the receiver's "
        "answer. TARGET is a name below `alarms:`. `ballast status` shows targets to which alarms cannot be "
        "delivered.",
    .operands = "test TARGET",
    .operands_min = 2,
    .operands_max = 2,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_alarm_run,
};
