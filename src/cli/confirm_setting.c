/* ballast confirm-setting: a person says that a setting is right: one that meant less before an upgrade, or
 * the source, where another cluster seems to answer. */
#include "cli/client.h"
#include "cli/verbs.h"

static void show_confirmed(const json_t *reply, struct arena *a, struct strbuf *out)
{
    (void)reply;
    (void)a;
    strbuf_puts(out, "confirmed: the service uses the setting from now on\n");
}

static enum exit_code verb_confirm_setting_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_ask(args,
                      json_pack("{s:s, s:s}", "command", "confirm_setting", "setting", args->operands[0]),
                      NULL, show_confirmed, a, out);
}

const struct verb verb_confirm_setting = {
    .name = "confirm-setting",
    .summary = "Confirm a setting that waits for a person.",
    .more =
        "After an upgrade from a version in which mem_overcommit above 1, or mem_admission reservation, "
        "had no "
        "effect on free memory, the service goes on as before until a person confirms the setting. "
        "`ballast status` says which setting waits, and what it allows. The setting `source` waits where "
        "another cluster, vCenter or host than before answers at the source's addresses: nothing is asked of "
        "it until a person confirms that it is the right one.",
    .operands = "SETTING",
    .operands_min = 1,
    .operands_max = 1,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_confirm_setting_run,
};
