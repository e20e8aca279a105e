/* ballast samples: the demand of each VM over the last hour, as CSV. */
#include "base/csv.h"
#include "cli/client.h"
#include "cli/verbs.h"

enum { OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = {"format", "text|json", 0, "text is CSV for `ballast simulate` (format: recorded)"},
};

/* An unknown figure stays empty. */
static void put_figure(struct strbuf *out, const json_t *sample, const char *key)
{
    const json_t *v = json_object_get(sample, key);

    strbuf_puts(out, ",");
    if (json_is_number(v))
        strbuf_printf(out, "%.12g", json_number_value(v));
}

static void show_samples(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *sample;
    size_t i;

    (void)a;
    strbuf_puts(out, "time,vm,cpu_mhz,mem_mb\n");
    json_array_foreach(json_object_get(reply, "samples"), i, sample)
    {
        const char *time = reply_text(sample, "time");
        const char *vm = reply_text(sample, "vm");

        strbuf_printf(out, "%s,", time ? time : "");
        csv_put_text(out, vm ? vm : "");
        put_figure(out, sample, "cpu_mhz");
        put_figure(out, sample, "mem_mb");
        strbuf_puts(out, "\n");
    }
}

const struct verb verb_samples = {
    .name = "samples",
    .summary = "Print the demand of each VM over the last hour, as input for simulate.",
    .more = "ballast samples > recorded/$(date +%F-%H).csv, once an hour",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = client_run,
    .request = &(const struct client_request){.word = "samples", .member = "samples", .show = show_samples},
};
