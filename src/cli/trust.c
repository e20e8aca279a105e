/* ballast trust: a person says that a host that died again and again may be used as any other. */
#include "cli/client.h"
#include "cli/verbs.h"

static void show_trusted(const json_t *reply, struct arena *a, struct strbuf *out)
{
    (void)reply;
    (void)a;
    strbuf_puts(out, "trusted: from the next pass on VMs may come to the host as to any other\n");
}

static enum exit_code verb_trust_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_ask(args, json_pack("{s:s, s:s}", "command", "trust", "host", args->operands[0]), NULL,
                      show_trusted, a, out);
}

const struct verb verb_trust = {
    .name = "trust",
    .summary = "Trust a host again that was lost repeatedly.",
    .more = "After the second time within a day that a host went out of contact and its VMs stopped, no VM "
            "comes to it for balance until it has been up for an hour, twice as long after each further "
            "loss, up to a week; for VMs that must leave their host, failover capacity and placements the "
            "other hosts come first. This forgets its losses, once the host is repaired. `ballast hosts "
            "--wide` and `ballast status` show which host is distrusted, and until when.",
    .operands = "HOST",
    .operands_min = 1,
    .operands_max = 1,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_trust_run,
};
