/* ballast snapshot: the snapshot of the last pass, or of a past one. */
#include "cli/client.h"
#include "cli/input.h"
#include "cli/verbs.h"

enum { OPT_SOCKET, OPT_PASS, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_PASS] = {"pass", "N", 0, "what this past pass decided from; `ballast passes` lists them"},
    [OPT_FORMAT] = {"format", "text|json", 0, "no difference: a snapshot is always JSON"},
};

/* Prints the service's own text: reading and writing numbers could change them. */
static enum exit_code verb_snapshot_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *pass = args_value(args, OPT_PASS, NULL);
    json_t *request = json_pack("{s:s}", "command", "snapshot");
    json_t *reply = NULL;
    unsigned long long number = 0;
    enum exit_code code = pass ? cli_parse_number("pass", pass, 0, INT64_MAX, &number) : EXIT_DONE;

    (void)a;
    if (code != EXIT_DONE) {
        json_decref(request);
        return code;
    }
    if (pass)
        (void)json_object_set_new(request, "pass", json_integer((json_int_t)number));
    code = client_call(args->socket, request, &reply);
    if (code != EXIT_DONE)
        return code;
    const char *text = reply_text(reply, "snapshot");

    if (text)
        strbuf_puts(out, text);
    json_decref(reply);
    return EXIT_DONE;
}

const struct verb verb_snapshot = {
    .name = "snapshot",
    .summary = "Print the snapshot of the last pass, as input for plan, explain, what-if and place.",
    .more = "ballast snapshot > now.json; ballast plan --snapshot now.json",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = verb_snapshot_run,
};
