/* ballast wake: wakes a host, or proves that it can be woken. */
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/verbs.h"

enum { OPT_VERIFY, OPT_METHOD, OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_VERIFY] = {"verify", NULL, 0,
                    "put a host that is on to standby and wake it, to prove that it can be woken"},
    [OPT_METHOD] = {"method", "ipmi|redfish|wol|hypervisor", 0, "with --verify: test this method"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static void show_wake(const json_t *reply, struct arena *a, struct strbuf *out)
{
    action_table_print_begun(reply, ": the host is on or boots; --verify proves that it can be woken", a,
                             out);
    action_table_print_off_vms(reply, "Such VMs stay off when the host is on.", a, out);
    action_table_print_leaving(reply, "wake", a, out);
}

static enum exit_code verb_wake_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *method = args_value(args, OPT_METHOD, NULL);
    const bool verify = args->options[OPT_VERIFY].n > 0;

    if (method && !verify)
        return cli_fail(EXIT_WRONG, "ballast wake: --method is the method that --verify tests; give both");
    return client_show(args,
                       json_pack("{s:s, s:s, s:b, s:s*}", "command", "wake", "host", args->operands[0],
                                 "verify", verify, "method", method),
                       "actions", show_wake, a, out);
}

const struct verb verb_wake = {
    .name = "wake",
    .summary = "Wake a host from standby.",
    .more = "Cancels a standby of the host that has not started, and keeps the host on for "
            "dpm.asked_on_s at least, unless `ballast standby` is given. --verify empties a host that "
            "is on, puts it to standby and wakes it once. A wake that succeeds proves the method that did "
            "it, if only one can have done it; --verify --method tests a certain one, and the host's other "
            "methods wake the host if that fails. A proof ends when the method's settings change, or when "
            "it does not wake the host. A host without a proven method is not put to standby.",
    .operands = "HOST",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = verb_wake_run,
};
