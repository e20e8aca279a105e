/* ballast passes: the passes that the service keeps; `ballast plan --pass` makes one again. */
#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "render/table.h"
#include "schedule/when.h"

#include <math.h>

#define LIMIT_MAX 1000 /* the service's limit */
#define LIMIT_DEFAULT 50

enum { OPT_SOCKET, OPT_SINCE, OPT_LIMIT, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_SINCE] = {"since", "TIME", 0, "passes at or after this time (" WHEN_FORMS ")"},
    [OPT_LIMIT] = {"limit", "N", 0, "list at most N passes; default 50, with --since 1000"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column columns[] = {
    {"PASS", true},  {"TIME", false},   {"WHY", false},   {"BEFORE", true},
    {"AFTER", true}, {"ACTIONS", true}, {"FAULTS", true}, {"MS", true},
};

static void put_figure(struct table *t, double figure)
{
    if (isnan(figure))
        table_cell(t, "-");
    else
        table_cellf(t, "%.3f", figure);
}

static void show_passes(const json_t *reply, struct arena *a, struct strbuf *out)
{
    struct table t = table_of(a, columns, COUNT_OF(columns));
    const json_t *x;
    size_t i;

    json_array_foreach(json_object_get(reply, "passes"), i, x)
    {
        table_cellf(&t, "%lld", (long long)reply_int(x, "id"));
        table_cell(&t, reply_text(x, "time"));
        table_cell(&t, reply_text(x, "trigger"));
        put_figure(&t, reply_number(x, "imbalance_before"));
        put_figure(&t, reply_number(x, "imbalance_after"));
        table_cellf(&t, "%lld", (long long)reply_int(x, "recommendations"));
        table_cellf(&t, "%lld", (long long)reply_int(x, "faults"));
        table_cellf(&t, "%.0f", (double)reply_int(x, "decide_us") / 1000);
    }
    if (i > 0)
        table_render(&t, "", out);
    if (reply_int(reply, "more") > 0)
        strbuf_printf(out, "%lld older ones are not shown, see --limit and --since\n",
                      (long long)reply_int(reply, "more"));
}

static enum exit_code verb_passes_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *since = args_value(args, OPT_SINCE, NULL);
    const char *limit = args_value(args, OPT_LIMIT, NULL);
    unsigned long long n = since ? LIMIT_MAX : LIMIT_DEFAULT;
    char time[RFC3339_MAX];
    instant_s from = 0;
    enum exit_code code;

    if ((since && (code = cli_parse_time("since", since, &from)) != EXIT_DONE) ||
        (limit && (code = cli_parse_number("limit", limit, 1, LIMIT_MAX, &n)) != EXIT_DONE))
        return code;
    json_t *request = json_pack("{s:s, s:I}", "command", "passes", "limit", (json_int_t)n);

    if (since) {
        rfc3339_format(from, time);
        (void)json_object_set_new(request, "since", json_string(time));
    }
    code = client_show(args, request, "passes", show_passes, a, out);
    if (code == EXIT_DONE && out->len == 0)
        cli_put_none(args, "pass that is kept", "no pass is kept yet", out);
    return code;
}

const struct verb verb_passes = {
    .name = "passes",
    .summary = "List past passes: imbalance before and after, number of actions, time to decide.",
    .more =
        "BEFORE: the imbalance before the pass; AFTER: the imbalance after all actions of its plan. MS: "
        "the time that deciding took, in milliseconds. WHY: interval, run (asked for by a person), "
        "overload (a host was short all at once), change (VMs or hosts came or went), or place (a "
        "placement of VMs, which is no pass). `ballast plan --pass N` makes a plan again, and with --set "
        "shows the plan of other settings. history.passes and history.passes_mb (ballast.yaml(5)) say how "
        "many passes are kept. ballast-concepts(7) defines the terms.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = verb_passes_run,
};
