/* ballast schedule: windows for standby and ready_by times, of a file or of the service. */
#include "base/json_writer.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "config/config.h"
#include "render/schedule_json.h"
#include "render/table.h"
#include "schedule/when.h"

#include "base/cleanup.h"
#include "base/number.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define NEXT_DEFAULT 10
#define NEXT_MOST 1000

enum { OPT_CONFIG, OPT_NEXT, OPT_AT, OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_CONFIG] = {"config", "FILE", 0,
                    "show the schedule of this configuration; default: of the running service"},
    [OPT_NEXT] = {"next", "N", 0, "number of changes to show, 1 to 1000; default 10"},
    [OPT_AT] = {"at", "TIME", 0, "with --config: start at this time instead of now (" WHEN_FORMS ")"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct {
    const char *what, *meaning;
} meanings[] = {
    {"begins", "hosts may be put to standby"},
    {"ends", "no host is put to standby"},
    {"ready_by", "capacity must be back"},
};

static const char *meaning_of(const char *what)
{
    for (size_t i = 0; what && i < COUNT_OF(meanings); i++)
        if (strcmp(meanings[i].what, what) == 0)
            return meanings[i].meaning;
    return "";
}

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static void show_list(const json_t *list, const char *label, const char *none, struct strbuf *out)
{
    const json_t *text;
    size_t i;

    if (json_array_size(list) == 0)
        strbuf_printf(out, "%-12s %s\n", label, none);
    json_array_foreach(list, i, text)
    {
        strbuf_printf(out, "%-12s ", i == 0 ? label : "");
        table_put_text(out, or_dash(json_string_value(text)));
        strbuf_puts(out, "\n");
    }
}

/* "Mon 2026-11-23 07:30:00 +01:00", without seconds if they are 0. */
static const char *short_local(const char *local, struct arena *a)
{
    static const char none[] = ":00 ";
    const char *seconds = local ? strrchr(local, ' ') : NULL;

    if (!seconds || seconds - local < 3 || strncmp(seconds - 3, none, strlen(none)) != 0)
        return or_dash(local);
    return arena_printf(a, "%.*s%s", (int)(seconds - 3 - local), local, seconds);
}

/* "2026-11-23T06:30:00Z" likewise. */
static const char *short_utc(const char *time, struct arena *a)
{
    static const char none[] = ":00Z";
    size_t len = time ? strlen(time) : 0;

    if (len < strlen(none) || strcmp(time + len - strlen(none), none) != 0)
        return or_dash(time);
    return arena_printf(a, "%.*sZ", (int)(len - strlen(none)), time);
}

static void show_now(const json_t *s, struct arena *a, struct strbuf *out)
{
    bool power_off = json_is_true(json_object_get(s, "power_off"));
    const char *changes = reply_text(s, "power_off_changes_local");

    if (!json_is_true(json_object_get(s, "enabled")))
        strbuf_printf(out, "%-12s %s\n", "now", "dpm.enabled is false: the schedule has no effect");
    else if (changes)
        strbuf_printf(out, "%-12s hosts %s until %s\n", "now",
                      power_off ? "may be put to standby" : "are not put to standby",
                      short_local(changes, a));
    else
        strbuf_printf(out, "%-12s hosts %s, with no end in sight\n", "now",
                      power_off ? "may be put to standby" : "are not put to standby");
}

static void show_next(const json_t *s, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {{"LOCAL TIME", false}, {"UTC", false}, {"WHAT", false}};
    const json_t *list = json_object_get(s, "next");
    const json_t *event;
    struct table t = table_of(a, columns, COUNT_OF(columns));
    size_t i;

    if (json_array_size(list) == 0)
        return;
    json_array_foreach(list, i, event)
    {
        table_cell(&t, short_local(reply_text(event, "local"), a));
        table_cell(&t, short_utc(reply_text(event, "time"), a));
        table_cell(&t, meaning_of(reply_text(event, "what")));
    }
    strbuf_puts(out, "\n");
    table_render(&t, "", out);
}

static void show_wakes(const json_t *s, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {
        {"HOST", false}, {"WOKEN AT THE LATEST", false}, {"BOOTS IN", false}};
    const json_t *list = json_object_get(s, "wakes");
    const json_t *host;
    struct table t = table_of(a, columns, COUNT_OF(columns));
    size_t i;

    if (json_array_size(list) == 0)
        return;
    json_array_foreach(list, i, host)
    {
        table_cell(&t, reply_text(host, "name"));
        table_cell(&t, short_local(reply_text(host, "at_the_latest_local"), a));
        table_cellf(&t, "%.0f s%s", reply_number(host, "boot_s"),
                    json_is_true(json_object_get(host, "boot_measured")) ? "" : " (dpm.boot_s)");
    }
    strbuf_puts(out, "\n");
    table_render(&t, "", out);
}

static void show_schedule(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *s = json_object_get(reply, "schedule");

    strbuf_printf(out, "%-12s %s\n", "time zone", or_dash(reply_text(s, "time_zone")));
    show_list(json_object_get(s, "windows"), "windows", "none: hosts may be put to standby at any time", out);
    show_list(json_object_get(s, "ready_by_expressions"), "ready by", "none", out);
    if (json_array_size(json_object_get(s, "ready_by_expressions")) > 0)
        strbuf_printf(out, "%-12s %.0f %% of the managed capacity\n", "", reply_number(s, "ready_percent"));
    show_now(s, a, out);
    show_next(s, a, out);
    show_wakes(s, a, out);
}

/* The schedule of a configuration file, in the form of the service's reply. */
static enum exit_code show_config(const char *path, instant_s now, unsigned n, bool json, struct arena *a,
                                  struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct config config;
    struct json_writer w = {.out = &text};
    struct err err = {0};

    if (config_load_for(path, CONFIG_FOR_POLICY, a, &config, &err) < 0)
        return cli_fail(EXIT_WRONG, "%s", err.text);
    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_begin(&w, "schedule", JW_OBJECT, JW_LINES);
    render_schedule_json(&config.schedule, config.policy.dpm.enabled, now, n, &w);
    jw_end(&w);
    jw_end(&w);
    json_t *root = json_loads(text.text, 0, NULL);
    if (json)
        reply_dump(json_object_get(root, "schedule"), out);
    else
        show_schedule(root, a, out);
    json_decref(root);
    return EXIT_DONE;
}

static enum exit_code read_next(const struct args *args, unsigned *ret)
{
    const char *text = args_value(args, OPT_NEXT, NULL);
    double n = NEXT_DEFAULT;

    if (text && (!number_parse(text, &n) || n < 1 || n > NEXT_MOST || n != floor(n)))
        return cli_fail(EXIT_WRONG, "--next %s: expected a whole number from 1 to %d", text, NEXT_MOST);
    *ret = (unsigned)n;
    return EXIT_DONE;
}

static enum exit_code verb_schedule_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *path = args_value(args, OPT_CONFIG, NULL);
    const char *at = args_value(args, OPT_AT, NULL);
    instant_s now = time(NULL);
    unsigned n = 0;
    enum exit_code code = read_next(args, &n);

    if (code != EXIT_DONE)
        return code;
    if (at && !path)
        return cli_fail(EXIT_WRONG, "ballast schedule: --at needs --config");
    if (at && (code = cli_parse_time("at", at, &now)) != EXIT_DONE)
        return code;
    if (path)
        return show_config(path, now, n, args->json, a, out);
    return client_show(args, json_pack("{s:s, s:i}", "command", "schedule", "limit", (int)n), "schedule",
                       show_schedule, a, out);
}

const struct verb verb_schedule = {
    .name = "schedule",
    .summary = "Show when hosts may be put to standby, and by when they must be back.",
    .more = "Without --config it also shows by when each host in standby is woken.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_schedule_run,
};
