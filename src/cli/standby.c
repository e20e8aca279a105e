/* ballast standby: puts a host to standby. */
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <string.h>

/* An approved standby waits until the host is empty. */
static void show_standby(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *action = json_array_get(json_object_get(reply, "actions"), 0);
    const char *state = reply_text(action, "state");

    bool begun = action_table_print_begun(reply, ": the host is in standby, or on its way there", a, out);

    action_table_print_off_vms(reply, "Those that stay cannot be started while it is in standby.", a, out);
    if (!begun || !state || strcmp(state, "approved") != 0)
        return;
    strbuf_puts(out, "\nIts VMs are moved away first: `ballast recommendations` lists the moves, which\n"
                     "this command approves.\n`ballast wake ");
    table_put_text(out, action_table_subject(action, a));
    strbuf_puts(out, "` undoes it.\n");
}

static enum exit_code verb_standby_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_ask(args, json_pack("{s:s, s:s}", "command", "standby", "host", args->operands[0]),
                      "actions", show_standby, a, out);
}

const struct verb verb_standby = {
    .name = "standby",
    .summary = "Put a host to standby.",
    .more = "Its VMs are moved away first; the command approves these moves, whatever the automation "
            "level. Refused if too little capacity would stay on, or if no wake of the host has succeeded "
            "yet (`ballast wake HOST --verify`). `ballast wake HOST` undoes it.",
    .operands = "HOST",
    .operands_min = 1,
    .operands_max = 1,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_standby_run,
};
