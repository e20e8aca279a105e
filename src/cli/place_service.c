/* ballast place without a snapshot: VMs of the service's cluster, and --apply. */
#include "cli/place_service.h"

#include "cli/action_table.h"
#include "cli/client.h"

/* The service accepts UTF-8 only. */
static enum exit_code make_request(const struct args *args, bool apply, json_t **ret)
{
    json_t *list = json_array();

    for (size_t i = 0; i < args->n_operands; i++) {
        const char *vm = args->operands[i];

        if (*vm == '\0' || json_array_append_new(list, json_string(vm)) < 0) {
            cli_error("ballast place: \"%s\" is not the id or name of a VM", vm);
            json_decref(list);
            return EXIT_WRONG;
        }
    }
    *ret = json_pack("{s:s, s:o, s:b}", "command", "place", "vms", list, "apply", apply);
    return EXIT_DONE;
}

/* Prints the plan as `plan` does. */
static void show_plan(const json_t *reply, bool json, struct strbuf *out)
{
    const char *text = reply_text(reply, json ? "plan" : "text");

    strbuf_puts(out, text ? text : "");
}

static void show_begun(const json_t *reply, bool json, struct arena *a, struct strbuf *out)
{
    const json_t *actions = json_object_get(reply, "actions");

    if (json)
        reply_dump(actions, out);
    else
        action_table_print(reply, actions, a, out);
}

enum exit_code place_service(const struct args *args, bool apply, struct arena *a, struct strbuf *out)
{
    json_t *request = NULL;
    json_t *reply = NULL;
    enum exit_code code;

    if ((code = make_request(args, apply, &request)) != EXIT_DONE ||
        (code = client_call(args->socket, request, &reply)) != EXIT_DONE)
        return code;
    int64_t n = reply_int(reply, "vms");
    int64_t unplaced = reply_int(reply, "unplaced");

    if (apply && unplaced == 0)
        show_begun(reply, args->json, a, out);
    else
        show_plan(reply, args->json, out);
    json_decref(reply);
    if (unplaced == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_FAILED, "ballast place: %lld of %lld VM%s cannot be placed, see the faults%s",
                    (long long)unplaced, (long long)n, n == 1 ? "" : "s",
                    apply ? "; nothing was started" : "");
}
