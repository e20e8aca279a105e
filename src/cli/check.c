/* ballast check: the state of the service as a plug-in of Nagios says it: one line, and an exit code. */
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/number.h"
#include "cli/client.h"
#include "cli/verbs.h"

#include <math.h>
#include <string.h>

/* The exit codes of plug-ins. */
enum severity { SEVERITY_OK, SEVERITY_WARNING, SEVERITY_CRITICAL, SEVERITY_UNKNOWN };

static const char *const words[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};

enum { OPT_SOCKET, OPT_FORMAT, OPT_FIRST_FIGURE };

enum figure { FIGURE_AGE, FIGURE_FAULTS, FIGURE_WAITING, FIGURE_UNMET, FIGURE_UNSENT, FIGURE_COUNT };

#define THRESHOLDS(name, meaning)                                                                            \
    {                                                                                                        \
        name, "WARN,CRIT", 0, meaning                                                                        \
    }

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
    [OPT_FIRST_FIGURE + FIGURE_AGE] =
        THRESHOLDS("age", "age of the inventory in seconds; default three and six intervals"),
    [OPT_FIRST_FIGURE + FIGURE_FAULTS] = THRESHOLDS("faults", "faults of the last pass; default 0"),
    [OPT_FIRST_FIGURE + FIGURE_WAITING] =
        THRESHOLDS("waiting", "recommendations that wait; default: no limit"),
    [OPT_FIRST_FIGURE + FIGURE_UNMET] =
        THRESHOLDS("unmet-mhz", "CPU demand of VMs that is not met, in MHz; default: no limit"),
    [OPT_FIRST_FIGURE + FIGURE_UNSENT] = THRESHOLDS("unsent", "events that wait for the broker; default 100"),
};

/* More than `warn` is a warning, more than `crit` critical; UNKNOWN: never. */
struct limits {
    double warn, crit;
};

struct problem {
    enum severity severity;
    const char *text;
};

#define PROBLEMS_MAX 32
#define AGE_WARN 3 /* intervals */
#define AGE_CRIT 6
#define UNSENT_WARN 100

struct findings {
    struct arena *a;
    enum severity worst;
    struct problem problems[PROBLEMS_MAX]; /* in the order found */
    size_t n;
    double figures[FIGURE_COUNT];
    struct limits limits[FIGURE_COUNT];
};

static void add(struct findings *f, enum severity severity, const char *text)
{
    if (f->worst < severity)
        f->worst = severity;
    if (f->n < PROBLEMS_MAX)
        f->problems[f->n++] = (struct problem){severity, text};
}

/* ---- thresholds ------------------------------------------------------------------------------ */

/* One of the two: empty is none. */
static bool read_limit(const char *text, size_t len, struct arena *a, double *ret)
{
    *ret = UNKNOWN;
    return len == 0 || (number_parse(arena_strndup(a, text, len), ret) && *ret >= 0);
}

static enum exit_code read_limits(const struct args *args, enum figure figure, struct arena *a,
                                  struct limits *limits)
{
    const size_t option = OPT_FIRST_FIGURE + (size_t)figure;
    const char *text = args_value(args, option, NULL);

    if (!text)
        return EXIT_DONE;
    const char *comma = strchrnul(text, ',');
    const char *crit = *comma ? comma + 1 : comma;

    if (read_limit(text, (size_t)(comma - text), a, &limits->warn) &&
        read_limit(crit, strlen(crit), a, &limits->crit))
        return EXIT_DONE;
    return cli_fail(
        EXIT_WRONG,
        "ballast check: --%s: expected two numbers such as 10,20, either of which may be missing: \"%s\"",
        options[option].name, text);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static void judge_figure(struct findings *f, enum figure figure, const char *what)
{
    const struct limits *l = &f->limits[figure];
    double value = f->figures[figure];

    if (value > l->crit || value > l->warn)
        add(f, value > l->crit ? SEVERITY_CRITICAL : SEVERITY_WARNING,
            arena_printf(f->a, "%s: %.0f", what, value));
}

static void judge_source(struct findings *f, const json_t *st)
{
    const json_t *source = json_object_get(st, "source");
    const char *state = reply_text(source, "state");
    const char *error = reply_text(source, "error");

    if (state && strcmp(state, "lost") == 0)
        add(f, SEVERITY_CRITICAL,
            arena_printf(f->a, "the cluster cannot be read: %s", error ? error : "no reason known"));
    else if (isnan(reply_number(source, "seen_age_s")))
        add(f, SEVERITY_WARNING, "the cluster has not been read yet");
    judge_figure(f, FIGURE_AGE, "age of the inventory in seconds");
}

static void judge_store(struct findings *f, const json_t *st)
{
    const char *warning = reply_text(json_object_get(st, "store"), "warning");

    if (warning)
        add(f, SEVERITY_WARNING, warning);
}

static void judge_alarms(struct findings *f, const json_t *st)
{
    const json_t *t;
    size_t i;

    json_array_foreach(json_object_get(st, "alarms"), i, t)
    {
        if (reply_text(t, "failing_since"))
            add(f, SEVERITY_WARNING,
                arena_printf(f->a, "alarms do not reach %s", reply_or_dash(t, "target")));
    }
}

static void judge_hosts(struct findings *f, const json_t *st)
{
    const json_t *host;
    size_t i;

    json_array_foreach(json_object_get(st, "asleep"), i, host)
    {
        if (reply_text(host, "wake_failed"))
            add(f, SEVERITY_CRITICAL,
                arena_printf(f->a, "host %s did not wake", reply_or_dash(host, "host_name")));
    }
    json_array_foreach(json_object_get(st, "logins_paused"), i, host)
    {
        add(f, SEVERITY_WARNING, arena_printf(f->a, "password refused: %s", reply_or_dash(host, "account")));
    }
}

static void judge(struct findings *f, const json_t *st)
{
    const char *store = reply_text(st, "store_error");
    const char *pass = reply_text(st, "pass_error");
    const char *by = reply_text(st, "frozen_by");
    const json_t *fault = json_array_get(json_object_get(st, "faults"), 0);

    judge_source(f, st);
    if (store)
        add(f, SEVERITY_CRITICAL, store);
    judge_store(f, st);
    judge_hosts(f, st);
    judge_alarms(f, st);
    if (pass)
        add(f, SEVERITY_WARNING, arena_printf(f->a, "the last pass failed: %s", pass));
    if (json_is_true(json_object_get(st, "frozen")))
        add(f, SEVERITY_WARNING, arena_printf(f->a, "paused%s%s", by ? " by " : "", by ? by : ""));
    judge_figure(f, FIGURE_UNMET, "CPU demand that is not met, in MHz");
    judge_figure(f, FIGURE_UNSENT, "events that wait for the broker");
    judge_figure(f, FIGURE_WAITING, "recommendations that wait");
    judge_figure(f, FIGURE_FAULTS, arena_printf(f->a, "faults (%s)", reply_or_dash(fault, "code")));
}

static void read_figures(struct findings *f, const json_t *st)
{
    f->figures[FIGURE_AGE] = reply_number(json_object_get(st, "source"), "seen_age_s");
    f->figures[FIGURE_FAULTS] = (double)json_array_size(json_object_get(st, "faults"));
    f->figures[FIGURE_WAITING] = reply_number(json_object_get(st, "actions"), "recommended");
    f->figures[FIGURE_UNMET] = reply_number(json_object_get(st, "power"), "unmet_mhz");
    f->figures[FIGURE_UNSENT] = reply_number(json_object_get(st, "mqtt"), "unsent");
}

/* ---- output ---------------------------------------------------------------------------------- */

/* A line of a plug-in is one line, and ends at the first bar. */
static void put_text(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        char c = (unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text == '|' ? '/' : *text;

        strbuf_add(out, &c, 1);
    }
}

/* 'LABEL'=VALUE[UNIT];[WARN];[CRIT];MIN. An unknown value is left out. */
static void put_figure(struct strbuf *out, const char *label, const char *unit, double value,
                       const struct limits *l)
{
    if (isnan(value))
        return;
    strbuf_printf(out, " %s=%.10g%s", label, value, unit);
    if (!l)
        return;
    strbuf_puts(out, ";");
    if (!isnan(l->warn))
        strbuf_printf(out, "%.10g", l->warn);
    strbuf_puts(out, ";");
    if (!isnan(l->crit))
        strbuf_printf(out, "%.10g", l->crit);
    strbuf_puts(out, ";0");
}

static void put_line(const struct findings *f, const json_t *st, struct strbuf *out)
{
    static const struct {
        const char *label, *unit;
    } of[FIGURE_COUNT] = {
        [FIGURE_AGE] = {"age", "s"},        [FIGURE_FAULTS] = {"faults", ""},
        [FIGURE_WAITING] = {"waiting", ""}, [FIGURE_UNMET] = {"unmet_mhz", ""},
        [FIGURE_UNSENT] = {"unsent", ""},
    };
    const json_t *pass = json_object_get(st, "pass");
    const char *between = " - ";

    strbuf_printf(out, "BALLAST %s", words[f->worst]);
    for (int severity = SEVERITY_UNKNOWN; severity > SEVERITY_OK; severity--) {
        for (size_t i = 0; i < f->n; i++) {
            if ((int)f->problems[i].severity != severity)
                continue;
            strbuf_puts(out, between);
            put_text(out, f->problems[i].text);
            between = "; ";
        }
    }
    if (f->n == 0)
        strbuf_printf(out, " - %lld hosts (%zu in standby), %lld VMs", (long long)reply_int(st, "hosts"),
                      json_array_size(json_object_get(st, "asleep")), (long long)reply_int(st, "vms"));
    if (!st) {
        strbuf_puts(out, "\n");
        return;
    }
    strbuf_puts(out, " |");
    for (int i = 0; i < FIGURE_COUNT; i++)
        put_figure(out, of[i].label, of[i].unit, f->figures[i], &f->limits[i]);
    put_figure(out, "imbalance", "", reply_number(pass, "imbalance"), NULL);
    put_figure(out, "watts", "", reply_number(json_object_get(st, "power"), "watts"), NULL);
    put_figure(out, "asleep", "", (double)json_array_size(json_object_get(st, "asleep")), NULL);
    strbuf_puts(out, "\n");
}

static void put_json(const struct findings *f, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "state", words[f->worst]);
    jw_begin(&w, "problems", JW_ARRAY, JW_LINES);
    for (size_t i = 0; i < f->n; i++) {
        jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(&w, "state", words[f->problems[i].severity]);
        jw_text(&w, "text", f->problems[i].text);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
}

/* st: the status; NULL: not known. */
static void put_answer(const struct findings *f, const json_t *st, bool json, struct strbuf *out)
{
    if (json)
        put_json(f, out);
    else
        put_line(f, st, out);
}

/* Written here: with every exit code the line is the answer. */
static enum exit_code answer(enum severity severity, const struct strbuf *line)
{
    enum exit_code written = cli_write(line);

    return written == EXIT_DONE ? (enum exit_code)severity : (enum exit_code)SEVERITY_UNKNOWN;
}

static enum exit_code read_options(const struct args *args, struct findings *f)
{
    enum exit_code code = EXIT_DONE;

    for (int i = 0; i < FIGURE_COUNT; i++)
        f->limits[i] = (struct limits){UNKNOWN, UNKNOWN};
    f->limits[FIGURE_FAULTS].warn = 0;
    f->limits[FIGURE_UNSENT].warn = UNSENT_WARN;
    for (int i = 0; code == EXIT_DONE && i < FIGURE_COUNT; i++)
        code = read_limits(args, (enum figure)i, f->a, &f->limits[i]);
    return code;
}

static enum exit_code verb_check_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf line = STRBUF_EMPTY;
    struct findings f = {.a = a};
    json_t *reply = NULL;

    (void)out;
    if (read_options(args, &f) != EXIT_DONE)
        return (enum exit_code)SEVERITY_UNKNOWN;
    if (client_call(args->socket, json_pack("{s:s}", "command", "status"), &reply) != EXIT_DONE) {
        add(&f, SEVERITY_UNKNOWN, "the service does not answer"); /* standard error says why */
        put_answer(&f, NULL, args->json, &line);
        return answer(SEVERITY_UNKNOWN, &line);
    }
    const json_t *st = json_object_get(reply, "status");

    if (args->options[OPT_FIRST_FIGURE + FIGURE_AGE].n == 0)
        f.limits[FIGURE_AGE] = (struct limits){AGE_WARN * reply_number(st, "interval_s"),
                                               AGE_CRIT * reply_number(st, "interval_s")};
    read_figures(&f, st);
    judge(&f, st);
    put_answer(&f, st, args->json, &line);
    json_decref(reply);
    return answer(f.worst, &line);
}

const struct verb verb_check = {
    .name = "check",
    .summary = "Check the service as a plug-in of Nagios or Icinga.",
    .more = "Prints one line with figures. Exit codes: 0 OK; 1 WARNING; 2 CRITICAL; 3 UNKNOWN,\n"
            "the service does not answer. More than WARN is a warning, more than CRIT is\n"
            "critical. Whatever the figures: a lost source, a failing store and a host that did\n"
            "not wake are critical; a failed pass, a pause, a refused password and a store that is\n"
            "nearly full are warnings.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .misused = (enum exit_code)SEVERITY_UNKNOWN,
    .run = verb_check_run,
};
