/* ballast metrics: figures of service and cluster in Prometheus' text format. */
#include "cli/client.h"
#include "cli/verbs.h"

static void show_metrics(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const char *text = reply_text(reply, "metrics");

    (void)a;
    strbuf_puts(out, text ? text : "");
}

static enum exit_code verb_metrics_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_ask(args, json_pack("{s:s}", "command", "metrics"), NULL, show_metrics, a, out);
}

const struct verb verb_metrics = {
    .name = "metrics",
    .summary = "Print figures of service and cluster in Prometheus' text format.",
    .more = "ballast metrics > ballast.prom.tmp && mv ballast.prom.tmp ballast.prom, in the textfile "
            "directory of node_exporter",
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_metrics_run,
};
