/* summary.c: the words of a summary. The service counts. */
#include "render/summary.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "render/reply.h"
#include "render/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define LABEL_WIDTH 13
#define S_PER_H 3600.0
#define S_PER_MIN 60.0
#define WH_PER_KWH 1000
#define MHZ_PER_GHZ 1000.0
#define MB_PER_GIB 1024.0
#define DAY_S 86400
#define DATE_LENGTH 10   /* of 2026-01-31T07:00:00Z */
#define MINUTE_LENGTH 16 /* of the same */

/* ---- lines ----------------------------------------------------------------------------------- */

/* A reason of a peer may be long: it goes on below. */
static void put_line(const char *label, const char *text, struct strbuf *out)
{
    strbuf_printf(out, "%-*s", LABEL_WIDTH - 1, label);
    table_put_hanging(out, text, LABEL_WIDTH - 1, LABEL_WIDTH);
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* "2026-01-31 07:00" of "2026-01-31T07:00:00Z". */
static const char *minute(const char *time, struct arena *a)
{
    if (!time || strlen(time) < MINUTE_LENGTH)
        return "-";
    return arena_printf(a, "%.*s %.*s", DATE_LENGTH, time, MINUTE_LENGTH - DATE_LENGTH - 1,
                        time + DATE_LENGTH + 1);
}

/* "45 s", "12 min", "2.5 h". */
static const char *duration(double s, struct arena *a)
{
    if (s < 2 * S_PER_MIN)
        return arena_printf(a, "%.0f s", s);
    if (s < 2 * S_PER_H)
        return arena_printf(a, "%.0f min", s / S_PER_MIN);
    return arena_printf(a, "%.*f h", s < 10 * S_PER_H ? 1 : 0, s / S_PER_H);
}

/* The part of all in percent; never 100 or 0 unless it is so. */
static const char *percent(int64_t part, int64_t all, struct arena *a)
{
    double p = 100.0 * (double)part / (double)all;

    return arena_printf(a, "%.0f %%", part < all ? fmin(fmax(p, part > 0 ? 1 : 0), 99) : p);
}

/* ---- what the lines say ---------------------------------------------------------------------- */

static instant_s instant(const json_t *object, const char *key)
{
    const char *text = reply_text(object, key);
    instant_s t = 0;

    return text && rfc3339_parse(text, &t) == 0 ? t : 0;
}

static const char *period(const json_t *sum, struct arena *a)
{
    double length_s = (double)(instant(sum, "until") - instant(sum, "since"));
    double unread_s = reply_number(sum, "unread_s");
    const char *text = arena_printf(a, "%s to %s UTC (%s)", minute(reply_text(sum, "since"), a),
                                    minute(reply_text(sum, "until"), a), duration(length_s, a));

    if (unread_s < S_PER_MIN)
        return text;
    return arena_printf(a, "%s; no data: %s", text, duration(unread_s, a));
}

/* The reason without the address of the peer that it may begin with: `ballast history` has all of it. */
static const char *without_url(const char *text)
{
    const char *end = strstr(text, ": ");

    return end && (strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0) ? end + 2 : text;
}

/* "3 failed (2: the reason)"; the number of the reason only if there are others. */
static const char *failures(const json_t *ends, struct arena *a)
{
    const json_t *reason = json_array_get(json_object_get(ends, "reasons"), 0);
    int64_t failed = reply_int(ends, "failed");
    const char *text = reply_text(reason, "text");

    if (failed == 0)
        return "none failed";
    if (!text)
        return arena_printf(a, "%lld failed", (long long)failed);
    text = without_url(text);
    if (reply_int(reason, "n") == failed)
        return arena_printf(a, "%lld failed: %s", (long long)failed, text);
    return arena_printf(a, "%lld failed, %lld of them: %s", (long long)failed,
                        (long long)reply_int(reason, "n"), text);
}

/* "142 moves done, 1 cancelled, 3 failed, 2 of them: the reason". */
static const char *ends_text(const json_t *ends, const char *what, struct arena *a)
{
    static const char *const all[] = {"done", "failed", "cancelled", "rejected"};
    int64_t n = 0;

    static const char *const others[] = {"cancelled", "rejected"};
    const char *text = arena_printf(a, "%lld %s", (long long)reply_int(ends, "done"), what);

    for (size_t i = 0; i < COUNT_OF(all); i++)
        n += reply_int(ends, all[i]);
    if (n == 0)
        return "none";
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        if (reply_int(ends, others[i]) > 0)
            text = arena_printf(a, "%s, %lld %s", text, (long long)reply_int(ends, others[i]), others[i]);
    }
    return arena_printf(a, "%s, %s", text, failures(ends, a));
}

static const char *wakes(const json_t *ends, struct arena *a)
{
    int64_t done = reply_int(ends, "done");
    int64_t late = reply_int(ends, "late");
    const char *host = reply_text(ends, "slowest_host_name");
    const char *what = done == 1 ? "host woken" : "hosts woken";

    if (late == 0)
        return ends_text(ends, what, a);
    return ends_text(ends,
                     arena_printf(a, "%s, %lld late (%s: %s, not %s)", what, (long long)late,
                                  host ? host : "-", duration(reply_number(ends, "slowest_s"), a),
                                  duration(reply_number(ends, "slowest_expected_s"), a)),
                     a);
}

/* "92 % right of 128 moves"; NULL: none was observed. */
static const char *agreement(const json_t *of, const char *right, const char *moves, struct arena *a)
{
    int64_t n = reply_int(of, "observed");

    if (n == 0)
        return NULL;
    return arena_printf(a, "%s%s of %lld %s", percent(reply_int(of, "as_predicted"), n, a), right,
                        (long long)n, moves);
}

/* How often the loads of a move's two hosts came as predicted. */
static const char *predictions(const json_t *sum, struct arena *a)
{
    const json_t *p = json_object_get(sum, "predictions");
    const char *alone = agreement(json_object_get(p, "alone"), " right", "moves", a);
    const char *overlapping =
        agreement(json_object_get(p, "overlapping"), alone ? "" : " right", "overlapping moves", a);
    const char *text = alone         ? alone
                       : overlapping ? overlapping
                                     : "no move was compared with its prediction yet";
    int64_t waiting = reply_int(p, "waiting");

    if (alone && overlapping)
        text = arena_printf(a, "%s, %s", alone, overlapping);
    return waiting > 0 ? arena_printf(a, "%s; %lld to come", text, (long long)waiting) : text;
}

static const char *kwh(double amount, struct arena *a)
{
    if (fabs(amount) < 1)
        return arena_printf(a, "%.0f Wh", fabs(amount) < 0.0005 ? 0 : amount * WH_PER_KWH);
    return arena_printf(a, "%.*f kWh", fabs(amount) < 100 ? 1 : 0, amount);
}

static const char *energy(const json_t *sum, struct arena *a)
{
    const json_t *e = json_object_get(sum, "energy");
    double host_s = reply_number(e, "host_s");
    double asleep_s = reply_number(e, "asleep_s");
    double saved = reply_number(e, "saved_percent");
    const char *text;

    if (!(host_s > 0))
        return "not known";
    if (!(host_s > reply_number(e, "unknown_s")))
        return "not known: no host has a power model or a meter";
    text = arena_printf(a, "%s used, %s saved (%.0f %%)", kwh(reply_number(e, "used_kwh"), a),
                        kwh(reply_number(e, "saved_kwh"), a), fabs(saved) < 0.5 ? 0 : saved);
    if (asleep_s > 0)
        text = arena_printf(a, "%s; standby: %.0f %% of the host time", text, 100 * asleep_s / host_s);
    if (reply_number(e, "unknown_s") > 0)
        text = arena_printf(a, "%s; %.0f %% unknown", text, 100 * reply_number(e, "unknown_s") / host_s);
    return text;
}

/* Two digits, or "less than 0.01". */
static const char *figure(double v, struct arena *a)
{
    if (v < 0.01)
        return "less than 0.01";
    return arena_printf(a, "%.*f", v >= 10 ? 0 : v >= 1 ? 1 : 2, v);
}

/* "2.3 GHz h, 0.12 % of demand; most: 1.1 GHz in the hour from 06:00". */
static const char *lacking(const json_t *sum, const char *key, struct arena *a)
{
    const json_t *of = json_object_get(json_object_get(sum, "lacking"), key);
    bool cpu = strcmp(key, "cpu") == 0;
    double unit = cpu ? MHZ_PER_GHZ : MB_PER_GIB;
    const char *word = cpu ? "GHz" : "GiB";
    double amount = reply_number(of, cpu ? "unmet_mhz_s" : "unmet_mb_s") / S_PER_H / unit;
    double share = reply_number(of, "unmet_percent");
    double most = reply_number(of, cpu ? "worst_mhz" : "worst_mb") / unit;
    const char *worst = reply_text(of, "worst");

    if (isnan(share))
        return "not known";
    if (!(amount > 0))
        return "none: VMs got what they wanted";
    const char *text = arena_printf(a, "%s %s h, %s %% of demand", figure(amount, a), word, figure(share, a));

    if (!worst)
        return text;
    bool one_day = instant(sum, "until") - instant(sum, "since") <= DAY_S;

    worst = minute(worst, a);
    return arena_printf(a, "%s; most: %s %s in the hour from %s", text, figure(most, a), word,
                        one_day && strlen(worst) > DATE_LENGTH ? worst + DATE_LENGTH + 1 : worst);
}

static const char *faults(const json_t *sum, struct arena *a)
{
    const json_t *f = json_object_get(sum, "faults");
    int64_t came = reply_int(f, "came");
    instant_s from = instant(f, "from");
    const char *text = "none came";
    const json_t *code;
    size_t i;

    if (came > 0)
        text = arena_printf(a, "%s%lld came, %lld of them gone",
                            json_is_true(json_object_get(f, "more")) ? "at least " : "", (long long)came,
                            (long long)reply_int(f, "gone"));
    if (from > instant(sum, "since")) /* older events were deleted */
        text = arena_printf(a, "from %s on %s", minute(reply_text(f, "from"), a), text);
    text = arena_printf(a, "%s, %lld now", text, (long long)reply_int(f, "standing"));
    json_array_foreach(json_object_get(f, "codes"), i, code) text =
        arena_printf(a, "%s%s%lld %s", text, i > 0 ? ", " : "; ", (long long)reply_int(code, "came"),
                     reply_text(code, "code"));
    return text;
}

/* Placements and maintenance; NULL: none. */
static const char *others(const json_t *sum, struct arena *a)
{
    static const struct {
        const char *key, *one, *many;
    } list[] = {{"placed", "VM powered on", "VMs powered on"},
                {"maintenance_entered", "host into maintenance", "hosts into maintenance"},
                {"maintenance_left", "host back in service", "hosts back in service"}};
    const char *text = NULL;

    for (size_t i = 0; i < COUNT_OF(list); i++) {
        const json_t *ends = json_object_get(sum, list[i].key);
        int64_t done = reply_int(ends, "done");
        int64_t failed = reply_int(ends, "failed");

        if (done + failed == 0)
            continue;
        const char *one = arena_printf(a, "%lld %s", (long long)done, done == 1 ? list[i].one : list[i].many);

        if (failed > 0)
            one = arena_printf(a, "%s (%lld failed)", one, (long long)failed);
        text = text ? arena_printf(a, "%s, %s", text, one) : one;
    }
    return text;
}

void summary_text(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *sum = json_object_get(reply, "summary");
    const json_t *moves = json_object_get(sum, "moves");
    const json_t *down = json_object_get(sum, "standby");
    const char *more = others(sum, a);

    put_line("period", period(sum, a), out);
    put_line("moves", ends_text(moves, "done", a), out);
    put_line("predictions", predictions(sum, a), out);
    put_line("standby",
             ends_text(down, arena_printf(a, "host%s put to standby", plural(reply_int(down, "done"))), a),
             out);
    put_line("wakes", wakes(json_object_get(sum, "wakes"), a), out);
    if (more)
        put_line("other", more, out);
    put_line("energy", energy(sum, a), out);
    put_line("CPU shortage", lacking(sum, "cpu", a), out);
    put_line("mem shortage", lacking(sum, "mem", a), out);
    put_line("faults", faults(sum, a), out);
}
