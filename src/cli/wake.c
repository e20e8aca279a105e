/* wake: wakes a host from standby, or proves that it wakes. */
#include "cli/client.h"
#include "cli/verbs.h"

enum { OPT_VERIFY, OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_VERIFY] = {"verify", NULL, 0,
                    "put a host that is on to standby and wake it, as a proof that it wakes"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    (void)show_begun_actions(
        reply, ": it is on, or boots; with --verify a host that is on proves that it wakes", a, out);
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);

    if (code != EXIT_DONE)
        return code;
    return client_show(args_value(args, OPT_SOCKET, NULL), format,
                       json_pack("{s:s, s:s, s:b}", "command", "wake", "host", args->operands[0], "verify",
                                 args->options[OPT_VERIFY].n > 0),
                       "actions", show, a, out);
}

const struct verb verb_wake = {
    .name = "wake",
    .summary = "Wakes a host from standby.",
    .more =
        "Also ends what was to put it there and has not begun, and keeps it on for dpm.asked_on_s at least,\n"
        "unless a person puts it to standby. With --verify a host that is on is "
        "emptied, put\n"
        "to standby and woken once; that it came back is remembered as the proof that it can be woken, "
        "without\n"
        "which no host is put to standby. Every wake that succeeds is such a proof, and one that fails "
        "ends it.",
    .operands = "HOST",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
