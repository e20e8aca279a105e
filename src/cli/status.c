/* ballast status: the state of the service and its cluster. */
#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/roll.h"
#include "cli/verbs.h"
#include "render/summary.h"
#include "render/table.h"
#include "schedule/when.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MHZ_PER_GHZ 1000.0
#define LABEL_WIDTH 13
#define FAULTS_SHOWN 20
#define LEFT_VMS_SHOWN 20

static void put_label(struct strbuf *out, const char *label)
{
    strbuf_printf(out, "%-12s ", label);
}

enum { OPT_SOCKET, OPT_SINCE, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_SINCE] = {"since", "TIME", 0, "what happened since this time, in a few figures (" WHEN_FORMS ")"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static void put_sentence(struct strbuf *out, const char *label, const char *text)
{
    put_label(out, label);
    table_put_text(out, text);
    strbuf_puts(out, "\n");
}

/* Labels of lines that a person has to do something about. */
static const char *const urgent[] = {"PAUSED", "faults", "no pass", "store", "config"};

static enum tone tone_of_label(const char *line, size_t len)
{
    for (size_t i = 0; i < COUNT_OF(urgent); i++) {
        size_t n = strlen(urgent[i]);

        if (len > n && strncmp(line, urgent[i], n) == 0 && line[n] == ' ')
            return TONE_BAD;
    }
    return TONE_TITLE;
}

/* Each line, a label and text, on as many lines as the text needs. */
static void put_wrapped(const char *lines, struct arena *a, struct strbuf *out)
{
    for (size_t len; *lines; lines += len + (lines[len] == '\n')) {
        len = strcspn(lines, "\n");
        const char *line = arena_strndup(a, lines, len);

        if (len < LABEL_WIDTH) {
            strbuf_printf(out, "%s\n", line);
            continue;
        }
        if (cli_colours())
            strbuf_puts(out, table_tone_sequence(tone_of_label(line, len)));
        strbuf_add(out, line, LABEL_WIDTH - 1);
        if (cli_colours())
            strbuf_puts(out, table_tone_sequence(TONE_PLAIN));
        if (len <= TABLE_WIDTH)
            strbuf_printf(out, "%s\n", line + LABEL_WIDTH - 1);
        else
            table_put_hanging(out, line + LABEL_WIDTH, LABEL_WIDTH - 1, LABEL_WIDTH);
    }
}

static void show_source(const json_t *st, struct strbuf *out)
{
    const json_t *source = json_object_get(st, "source");
    const char *state = reply_text(source, "state");
    const char *error = reply_text(source, "error");
    const json_t *age = json_object_get(source, "seen_age_s");

    put_label(out, "source");
    strbuf_printf(out, "%s since %s", state ? state : "?", reply_or_dash(source, "since"));
    if (json_is_integer(age))
        strbuf_printf(out, ", last read %lld s ago", (long long)json_integer_value(age));
    else
        strbuf_puts(out, ", not read yet");
    strbuf_puts(out, "\n");
    if (error) {
        put_sentence(out, "", error);
    }
}

static void show_pass(const json_t *st, struct arena *a, struct strbuf *out)
{
    const json_t *pass = json_object_get(st, "pass");
    const char *error = reply_text(st, "pass_error");
    const char *end = reply_text(json_object_get(pass, "end"), "text");
    const json_t *uneven;
    size_t i;

    put_label(out, "imbalance");
    if (json_is_object(pass)) {
        strbuf_printf(out, "%.3f (CPU %.3f, memory %.3f), target %.3f\n", reply_number(pass, "imbalance"),
                      reply_number(pass, "imbalance_cpu"), reply_number(pass, "imbalance_mem"),
                      reply_number(pass, "target"));
        json_array_foreach(json_object_get(pass, "uneven"), i, uneven)
        {
            put_sentence(out, i == 0 ? "uneven" : "", reply_or_dash(uneven, "text"));
        }
        put_label(out, "last pass");
        strbuf_printf(out, "number %lld at %s: ", (long long)reply_int(pass, "id"),
                      reply_or_dash(pass, "time"));
        if (reply_int(pass, "recommendations") > 0)
            strbuf_printf(out, "%lld recommended, %.3f after them\n",
                          (long long)reply_int(pass, "recommendations"),
                          reply_number(pass, "imbalance_after"));
        else
            strbuf_puts(out, "no recommendations\n");
        if (end && json_array_size(json_object_get(pass, "uneven")) > 0)
            put_sentence(out, "", arena_printf(a, "no more moves for balance: %s", end));
    } else {
        strbuf_puts(out, "no pass yet\n");
    }
    if (error) {
        put_sentence(out, "no pass", error);
    }
}

static void show_waiting(const json_t *st, struct arena *a, struct strbuf *out)
{
    const char *text = action_table_waiting(json_object_get(st, "balance"), a);

    if (text)
        put_sentence(out, "windows", text);
}

/* What keeps hosts on after a surge, and until when. */
static void show_stays_on(const json_t *st, struct strbuf *out)
{
    const char *text = reply_text(json_object_get(json_object_get(st, "pass"), "stays_on"), "text");

    if (text)
        put_sentence(out, "stays on", text);
}

/* Until it is over, and where it stopped until the next one. */
static void show_roll(const json_t *st, const char *domain, struct arena *a, struct strbuf *out)
{
    const json_t *roll = json_object_get(st, "roll");

    if (reply_text(roll, "ended") && !reply_text(roll, "failed"))
        return;
    roll_show(roll, domain, a, out);
}

/* What waits for a second person. */
static void show_first_requests(const json_t *st, struct arena *a, struct strbuf *out)
{
    const json_t *f;
    size_t i;

    json_array_foreach(json_object_get(st, "first_requests"), i, f)
    {
        put_sentence(out, i == 0 ? "two people" : "",
                     arena_printf(a, "%s asked to %s, waits for a second person until %s",
                                  reply_or_dash(f, "by"), reply_or_dash(f, "text"),
                                  reply_or_dash(f, "until")));
    }
}

/* VMs that are to leave their hosts, and why and until when their moves wait. */
static void show_evacuations(const json_t *st, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(st, "evacuations");
    const json_t *x;
    size_t i;

    json_array_foreach(list, i, x)
    {
        const char *move = reply_text(x, "move");
        const char *why = reply_text(x, "why");
        const char *until = reply_text(x, "until");

        if (i == LEFT_VMS_SHOWN)
            break;
        put_sentence(out, i == 0 ? arena_printf(a, "%zu leaving", json_array_size(list)) : "",
                     arena_printf(a, "%s, off %s: %s%s%s%s%s", reply_text(x, "vm_name"),
                                  reply_text(x, "host_name"), move ? move : "no move",
                                  until ? ", not tried again before " : "", until ? until : "",
                                  why ? ": " : "", why ? why : ""));
    }
}

static void show_counts(const json_t *st, struct strbuf *out)
{
    const json_t *counts = json_object_get(st, "actions");
    const char *state;
    const json_t *n;
    bool any = false;

    put_label(out, "actions");
    json_object_foreach((json_t *)(uintptr_t)counts, state, n)
    {
        if (json_integer_value(n) == 0)
            continue;
        strbuf_printf(out, "%s%lld %s", any ? ", " : "", (long long)json_integer_value(n), state);
        any = true;
    }
    strbuf_puts(out, any ? "\n" : "none\n");
}

/* A wake by a method after the first comes with what the others have answered. */
static void put_waking(const json_t *waking, struct strbuf *out)
{
    const char *method = reply_text(waking, "method");
    const char *why = reply_text(waking, "why");

    if (!json_is_object(waking))
        return;
    strbuf_puts(out, "; is being woken");
    if (method)
        strbuf_printf(out, ", by %s%s", method, why ? " now" : "");
    if (why) {
        strbuf_puts(out, ": ");
        table_put_text(out, why);
    }
}

/* Hosts in standby, and those among them that need attention. */
static void show_asleep(const json_t *st, struct strbuf *out)
{
    const json_t *h;
    size_t i;

    json_array_foreach(json_object_get(st, "asleep"), i, h)
    {
        const char *since = reply_text(h, "since");
        const char *failed = reply_text(h, "wake_failed");

        put_label(out, i == 0 ? "asleep" : "");
        table_put_text(out, reply_or_dash(h, "host_name"));
        if (since)
            strbuf_printf(out, ", since %s", since);
        if (failed)
            strbuf_printf(out, "; DID NOT WAKE at %s", failed);
        if (json_is_false(json_object_get(h, "in_inventory")))
            strbuf_puts(out, "; NOT IN THE INVENTORY any more");
        put_waking(json_object_get(h, "waking"), out);
        strbuf_puts(out, "\n");
    }
}

/* "last night, 20:00 to 07:30 ...": how hosts slept, once a morning. */
static void show_night(const json_t *st, struct strbuf *out)
{
    const char *text = reply_text(json_object_get(st, "night"), "text");

    if (text)
        put_sentence(out, "night", text);
}

static void show_broker(const json_t *st, struct strbuf *out)
{
    const json_t *b = json_object_get(st, "mqtt");
    const char *error = reply_text(b, "error");
    const char *refusal = reply_text(b, "refusal");

    if (!json_is_object(b))
        return;
    put_label(out, "mqtt");
    table_put_text(out, reply_or_dash(b, "url"));
    strbuf_printf(out, ": %s since %s, %lld event%s still to send\n",
                  json_is_true(json_object_get(b, "connected")) ? "connected" : "NOT CONNECTED",
                  reply_or_dash(b, "since"), (long long)reply_int(b, "unsent"),
                  reply_int(b, "unsent") == 1 ? "" : "s");
    if (error)
        put_sentence(out, "", error);
    if (json_array_size(json_object_get(b, "commands")) > 0) {
        put_label(out, "");
        strbuf_printf(out, "%lld commands carried out, %lld refused\n",
                      (long long)reply_int(b, "commands_accepted"),
                      (long long)reply_int(b, "commands_refused"));
    }
    if (refusal) {
        put_label(out, "");
        strbuf_printf(out, "%lld refused by the broker, %lld of them sent again; the last: ",
                      (long long)reply_int(b, "refused"), (long long)reply_int(b, "refused_kept"));
        table_put_text(out, refusal);
        strbuf_puts(out, "\n");
    }
}

/* How large it is, and what is wrong with it. */
static void show_store(const json_t *st, struct strbuf *out)
{
    const json_t *store = json_object_get(st, "store");
    const char *texts[] = {reply_text(st, "store_error"), reply_text(store, "warning")};

    if (json_is_object(store)) { /* services of earlier versions do not say it */
        put_label(out, "store size");
        strbuf_printf(out, "%.0f MiB of at most %.0f\n",
                      ceil(reply_number(store, "used_bytes") / BYTES_PER_MIB),
                      reply_number(store, "limit_bytes") / BYTES_PER_MIB);
    }
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (texts[i])
            put_sentence(out, "store", texts[i]);
    }
}

/* Targets that alarms do not reach. */
static void show_alarms(const json_t *st, struct arena *a, struct strbuf *out)
{
    const json_t *t;
    bool any = false;
    size_t i;

    json_array_foreach(json_object_get(st, "alarms"), i, t)
    {
        const char *since = reply_text(t, "failing_since");
        const char *error = reply_text(t, "error");

        if (!since && reply_int(t, "given_up") == 0)
            continue;
        put_sentence(out, any ? "" : "alarms",
                     arena_printf(a, "%s: %s%s, %lld event%s waiting, %lld message%s given up%s%s",
                                  reply_or_dash(t, "target"), since ? "NOT DELIVERED since " : "delivered",
                                  since ? since : "", (long long)reply_int(t, "waiting"),
                                  reply_int(t, "waiting") == 1 ? "" : "s",
                                  (long long)reply_int(t, "given_up"),
                                  reply_int(t, "given_up") == 1 ? "" : "s", since && error ? ": " : "",
                                  since && error ? error : ""));
        any = true;
    }
}

/* External units without an answer. */
static void show_units(const json_t *st, struct arena *a, struct strbuf *out)
{
    const json_t *x;
    size_t i;

    json_array_foreach(json_object_get(st, "failing_units"), i, x)
    {
        const char *error = reply_text(x, "error");

        put_sentence(out, i == 0 ? "units" : "",
                     arena_printf(a, "%s: NO ANSWER since %s%s%s", reply_text(x, "unit"),
                                  reply_text(x, "since"), error ? ": " : "", error ? error : ""));
    }
}

static void show_power(const json_t *st, struct strbuf *out)
{
    const json_t *p = json_object_get(st, "power");
    int64_t unknown = reply_int(p, "hosts_unknown");
    int64_t hosts = reply_int(p, "hosts");

    if (!json_is_object(p))
        return;
    put_label(out, "power");
    if (unknown == hosts) {
        strbuf_puts(out, "unknown: no host has a power model or a meter\n");
        return;
    }
    strbuf_printf(out, "%.0f W now, %.0f W with all hosts on; %lld of %lld hosts metered",
                  reply_number(p, "watts"), reply_number(p, "all_on_w"),
                  (long long)reply_int(p, "hosts_measured"), (long long)hosts);
    if (unknown > 0)
        strbuf_printf(out, ", %lld NOT COUNTED (no power model, no meter)", (long long)unknown);
    strbuf_puts(out, "\n");
    double lack_mhz = reply_number(p, "unmet_mhz");
    put_label(out, "shortage");
    if (lack_mhz >= MHZ_PER_GHZ)
        strbuf_printf(out, "VMs lack %.1f GHz of CPU\n", lack_mhz / MHZ_PER_GHZ);
    else if (lack_mhz >= 1)
        strbuf_printf(out, "VMs lack %.0f MHz of CPU\n", lack_mhz);
    else
        strbuf_puts(out, "no VM lacks CPU\n");
}

/* A reload that waits, and passwords that a controller has refused. */
static void show_daemon(const json_t *st, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf line = STRBUF_EMPTY;
    const json_t *reload = json_object_get(st, "reload_waits");
    const json_t *login;
    size_t i;

    if (json_is_object(reload)) {
        strbuf_printf(&line,
                      "power.hosts of the reload by %s at %s is taken over once the power changes under way "
                      "have ended",
                      reply_or_dash(reload, "by"), reply_or_dash(reload, "since"));
        put_sentence(out, "reload", line.text);
    }
    json_array_foreach(json_object_get(st, "logins_paused"), i, login)
    {
        strbuf_clear(&line);
        strbuf_printf(&line,
                      "%s: PASSWORD REFUSED; not tried again before %s, so that the account is not locked",
                      reply_or_dash(login, "account"), reply_or_dash(login, "next_try"));
        put_sentence(out, i == 0 ? "logins" : "", line.text);
    }
}

static void show_paused(const json_t *st, struct strbuf *out)
{
    const char *by = reply_text(st, "frozen_by");

    if (!json_is_true(json_object_get(st, "frozen")))
        return;
    put_label(out, "PAUSED");
    strbuf_printf(out, "since %s%s%s\n", reply_or_dash(st, "frozen_since"), by ? " by " : "", by ? by : "");
}

static void show_faults(const json_t *st, struct strbuf *out)
{
    const json_t *faults = json_object_get(st, "faults");
    size_t n = json_array_size(faults);

    for (size_t i = 0; i < n && i < FAULTS_SHOWN; i++)
        put_sentence(out, i == 0 ? "faults" : "", reply_or_dash(json_array_get(faults, i), "text"));
    if (n <= FAULTS_SHOWN)
        return;
    put_label(out, "");
    strbuf_printf(out, "and %zu more faults: `ballast status --format json`\n", n - FAULTS_SHOWN);
}

static void put_status(const json_t *st, const char *domain, struct arena *a, struct strbuf *out)
{
    const json_t *fault;
    size_t i;

    put_label(out, "cluster");
    table_put_text(out, reply_or_dash(st, "cluster"));
    strbuf_printf(out, ": %lld hosts, %lld VMs\n", (long long)reply_int(st, "hosts"),
                  (long long)reply_int(st, "vms"));
    put_label(out, "automation");
    strbuf_printf(out, "%s, threshold %lld, a pass every %lld s\n", reply_or_dash(st, "automation"),
                  (long long)reply_int(st, "migration_threshold"), (long long)reply_int(st, "interval_s"));
    show_paused(st, out);
    show_source(st, out);
    show_asleep(st, out);
    show_stays_on(st, out);
    show_power(st, out);
    show_night(st, out);
    show_pass(st, a, out);
    show_waiting(st, a, out);
    show_counts(st, out);
    show_broker(st, out);
    show_alarms(st, a, out);
    show_units(st, a, out);
    show_daemon(st, out);
    show_store(st, out);
    show_roll(st, domain, a, out);
    show_first_requests(st, a, out);
    show_evacuations(st, a, out);
    json_array_foreach(json_object_get(st, "configuration"), i, fault)
    {
        put_sentence(out, i == 0 ? "config" : "", json_string_value(fault));
    }
    show_faults(st, out);
}

static void show_status(const json_t *reply, struct arena *a, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf lines = STRBUF_EMPTY;

    put_status(json_object_get(reply, "status"), reply_text(reply, "host_domain"), a, &lines);
    put_wrapped(lines.text, a, out);
}

/* A night in about ten lines; the service counts. */
static enum exit_code status_since(const struct args *args, const char *since, struct arena *a,
                                   struct strbuf *out)
{
    char time[RFC3339_MAX];
    instant_s from = 0;
    enum exit_code code = cli_parse_time("since", since, &from);

    if (code != EXIT_DONE)
        return code;
    return client_show(args,
                       json_pack("{s:s, s:s}", "command", "summary", "since", rfc3339_format(from, time)),
                       "summary", summary_text, a, out);
}

static enum exit_code verb_status_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *since = args_value(args, OPT_SINCE, NULL);

    if (since)
        return status_since(args, since, a, out);
    return client_show(args, json_pack("{s:s}", "command", "status"), "status", show_status, a, out);
}

const struct verb verb_status = {
    .name = "status",
    .summary = "Show the state of the service and its cluster; with --since, what happened since a time.",
    .more = "--since shows a night in about ten lines. A prediction is right if the loads of a move's two "
            "hosts, ten minutes after it, are within 20 % of what was predicted, or within 1 % of the host's "
            "capacity; moves whose hosts other moves touched meanwhile are counted apart. A wake is late if "
            "it took a fifth longer than the host's boot takes otherwise. Energy and what VMs lacked are "
            "stored by the hour, so the hour in which the time lies is counted whole; the time of the most "
            "is the beginning of its hour. Lines are cut at 80 columns; `ballast history --since TIME` and "
            "`--format json` have all. Times are in UTC. ballast-concepts(7) defines the terms.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .can_watch = true,
    .run = verb_status_run,
};
