/* ballast maintenance: puts a host into maintenance, or takes it out; and one host after another (roll.c). */
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/roll.h"
#include "cli/verbs.h"

#include <string.h>

static const struct option_spec options[ROLL_OPT_COUNT] = {
    [CLIENT_OPT_SOCKET] = OPTION_SOCKET,
    [CLIENT_OPT_FORMAT] = OPTION_FORMAT,
    [ROLL_OPT_AT_ONCE] = {"at-once", "N", 0, "roll: as many hosts at a time, 1 to 1000; default 1"},
    [ROLL_OPT_RUN] =
        {"run", "COMMAND", 0,
         "roll: run the command for each host that is in maintenance, and end its maintenance if "
         "the command succeeds"},
    [ROLL_OPT_YES] = {"yes", NULL, 0, "enter: also where failover capacity is given up, without a question"},
};

static void show_maintenance(const json_t *reply, struct arena *a, struct strbuf *out)
{
    action_table_print_begun(reply, "", a, out);
    action_table_print_leaving(reply, "maintenance exit", a, out);
}

static enum exit_code one_host(const struct args *args, const char *mode, struct arena *a, struct strbuf *out)
{
    if (args->n_operands != 2)
        return cli_fail(EXIT_WRONG,
                        "ballast maintenance %s: expected one host, see ballast maintenance --help", mode);
    for (size_t i = CLIENT_OPT_COUNT; i < ROLL_OPT_YES; i++) {
        if (args->options[i].n > 0)
            return cli_fail(EXIT_WRONG, "ballast maintenance %s: --%s is for roll only", mode,
                            options[i].name);
    }
    json_t *request =
        json_pack("{s:s, s:s, s:s}", "command", "maintenance", "mode", mode, "host", args->operands[1]);

    if (args->options[ROLL_OPT_YES].n > 0)
        (void)json_object_set_new(request, "yes", json_true());
    return client_show(args, request, "actions", show_maintenance, a, out);
}

static enum exit_code verb_maintenance_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *mode = args->operands[0];

    if (strcmp(mode, "enter") == 0 || strcmp(mode, "exit") == 0)
        return one_host(args, mode, a, out);
    if (args->options[ROLL_OPT_YES].n > 0)
        return cli_fail(EXIT_WRONG, "ballast maintenance %s: --yes is for enter only", mode);
    if (strcmp(mode, "roll") == 0)
        return roll_run(args, a, out);
    if (strcmp(mode, "stop") == 0)
        return roll_stop(args, a, out);
    return cli_fail(EXIT_WRONG,
                    "ballast maintenance: \"%s\" is not known, expected enter, exit, roll or stop", mode);
}

const struct verb verb_maintenance = {
    .name = "maintenance",
    .summary = "Put hosts into maintenance, or take them out.",
    .more =
        "enter: the host's VMs are moved away first; the command approves these moves, whatever "
        "the automation level, and so does roll. A standby or wake of the host that has not started is "
        "cancelled; one that has started goes on. Both are listed. Where failover capacity is missing "
        "afterwards, the command says which and asks first; without a terminal it needs --yes. exit: also "
        "cancels an evacuation that is "
        "under way. KVM hosts have no maintenance mode of their own, so the service keeps one for them.\n"
        "roll: one HOST after another is emptied, handed over in maintenance, checked and refilled. A host "
        "is begun only if its VMs have room elsewhere, with no failover capacity missing and no host "
        "overloaded. Without --run, the service waits until you end the maintenance of each host. With it, "
        "sh runs COMMAND for each host, several at a time if --at-once allows; BALLAST_HOST and "
        "BALLAST_HOST_ID are set. The roll stops at the first failure: no further host is begun, and hosts "
        "stay as they are. The service stores the roll and goes on after a restart. If this command is "
        "interrupted, begin it again without hosts: it runs COMMAND again for hosts that are still in "
        "maintenance. Without hosts and --run: shows the roll. stop: ends it.",
    .operands = "enter|exit|roll|stop [HOST...]",
    .operands_min = 1,
    .operands_max = 1001,
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = verb_maintenance_run,
};
