/* requests.c: the verbs that send one request, with no more than an operand, and print what came of it. */
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <string.h>

#define ONE_OPERAND(text) .operands = text, .operands_min = 1, .operands_max = 1

/* Initializers of a struct client_request. */
#define ONE_REQUEST(...)                                                                                     \
    .options = client_options, .n_options = CLIENT_OPT_COUNT, .needs_service = true, .run = client_run,      \
    .request = &(const struct client_request)                                                                \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

/* pause and resume send their former words: a service from before an upgrade, which may still run, knows no
 * others. */
const struct verb verb_pause = {
    .name = "pause",
    .former_name = "freeze",
    .summary = "Start no action until `ballast resume`.",
    .more = "The service still reads the cluster, makes recommendations, and follows the actions that "
            "run. It stays paused when it is restarted.",
    ONE_REQUEST(.word = "freeze", .done = "paused: no action is started until `ballast resume`"),
};

const struct verb verb_resume = {
    .name = "resume",
    .former_name = "thaw",
    .summary = "Start actions again after `ballast pause`.",
    ONE_REQUEST(.word = "thaw", .done = "resumed: actions are started again"),
};

static void show_standby(const json_t *reply, struct arena *a, struct strbuf *out)
{
    action_table_print_begun(reply, ": the host is in standby, or on its way there", a, out);
    action_table_print_off_vms(reply, "Those that stay cannot be started while it is in standby.", a, out);
    action_table_print_leaving(reply, "wake", a, out);
}

const struct verb verb_standby = {
    .name = "standby",
    .summary = "Put a host to standby.",
    .more = "Its VMs are moved away first; the command approves these moves, whatever the automation "
            "level. Refused if too little capacity would stay on, or if no wake of the host has succeeded "
            "yet (`ballast wake HOST --verify`). `ballast wake HOST` undoes it.",
    ONE_OPERAND("HOST"),
    ONE_REQUEST(.word = "standby", .operand = "host", .member = "actions", .show = show_standby),
};

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

const struct verb verb_confirm_controller = {
    .name = "confirm-controller",
    .summary = "Confirm that a host's controllers are its own.",
    .more = "For a host whose controllers (IPMI, Redfish) report no UUID, or another one than the hypervisor "
            "reports of the host: it is not put to standby until a person confirms them. Look at the "
            "controller itself first; `ballast hosts --wide` shows its answer. Confirmed are the UUID, the "
            "serial number or MAC address that the controllers report now, and their addresses; when one of "
            "these changes, the confirmation ends. It is kept with your name.",
    ONE_OPERAND("HOST"),
    ONE_REQUEST(.word = "confirm_controller", .operand = "host", .member = "identity",
                .show = show_confirmed),
};

const struct verb verb_confirm_setting = {
    .name = "confirm-setting",
    .summary = "Confirm a setting that waits for a person.",
    .more =
        "After an upgrade from a version in which mem_overcommit above 1, or mem_admission reservation, "
        "had no "
        "effect on free memory, the service goes on as before until a person confirms the setting. "
        "`ballast status` says which setting waits, and what it allows. The setting `source` waits where "
        "another cluster, vCenter or host than before answers at the source's addresses: nothing is asked of "
        "it until a person confirms that it is the right one. It also waits where another service, or the "
        "hypervisor's own balancing, was found to move the same VMs: the service approves nothing but wakes "
        "by "
        "itself until a person confirms that this has ended.",
    ONE_OPERAND("SETTING"),
    ONE_REQUEST(.word = "confirm_setting", .operand = "setting",
                .done = "confirmed: the service uses the setting from now on"),
};

const struct verb verb_trust = {
    .name = "trust",
    .summary = "Trust a host again that was lost repeatedly.",
    .more = "After the second time within a day that a host went out of contact and its VMs stopped, no VM "
            "comes to it for balance until it has been up for an hour, twice as long after each further "
            "loss, up to a week; for VMs that must leave their host, failover capacity and placements the "
            "other hosts come first. This forgets its losses, once the host is repaired. `ballast hosts "
            "--wide` and `ballast status` show which host is distrusted, and until when.",
    ONE_OPERAND("HOST"),
    ONE_REQUEST(.word = "trust", .operand = "host",
                .done = "trusted: from the next pass on VMs may come to the host as to any other"),
};

static void show_metrics(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const char *text = reply_text(reply, "metrics");

    (void)a;
    strbuf_puts(out, text ? text : "");
}

const struct verb verb_metrics = {
    .name = "metrics",
    .summary = "Print figures of service and cluster in Prometheus' text format.",
    .more = "ballast metrics > ballast.prom.tmp && mv ballast.prom.tmp ballast.prom, in the textfile "
            "directory of node_exporter",
    ONE_REQUEST(.word = "metrics", .show = show_metrics),
};
