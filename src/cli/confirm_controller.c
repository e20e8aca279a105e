/* ballast confirm-controller: a person says that the controllers of a host are its own. */
#include "cli/client.h"
#include "cli/verbs.h"

#include <string.h>

static void show_confirmed(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *is = json_object_get(reply, "identity");
    const char *state = reply_text(is, "state");
    const char *controllers = reply_or_dash(is, "controllers");

    (void)a;
    if (state && strcmp(state, "confirmed") == 0)
        strbuf_printf(out, "confirmed by %s: %s\n", reply_or_dash(is, "confirmed_by"), controllers);
    else
        strbuf_printf(out, "nothing to confirm: the controllers report the host's hardware UUID (%s)\n",
                      controllers);
}

static enum exit_code verb_confirm_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_ask(args,
                      json_pack("{s:s, s:s}", "command", "confirm_controller", "host", args->operands[0]),
                      "identity", show_confirmed, a, out);
}

const struct verb verb_confirm_controller = {
    .name = "confirm-controller",
    .summary = "Confirm that a host's controllers are its own.",
    .more = "For a host whose controllers (IPMI, Redfish) report no UUID, or another one than the hypervisor "
            "reports of the host: it is not put to standby until a person confirms them. Look at the "
            "controller itself first; `ballast hosts --wide` shows its answer. Confirmed are the UUID, the "
            "serial number or MAC address that the controllers report now, and their addresses; when one of "
            "these changes, the confirmation ends. It is kept with your name.",
    .operands = "HOST",
    .operands_min = 1,
    .operands_max = 1,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_confirm_run,
};
