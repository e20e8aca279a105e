/* night_text.c: one night as a sentence for the operator. */
#include "engine/knowledge/night_record.h"

#include "base/civil.h"
#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "schedule/zone.h"

#include <math.h>

#define HOSTS_SHOWN 8 /* of each kind; the rest is a number */
#define DAY_S 86400
#define WITHOUT_DAYS_S                                                                                       \
    (20 * 3600) /* a time of day is clear without its weekday in a night no longer than that */
#define S_PER_H 3600
#define S_PER_MIN 60
#define MHZ_S_PER_GHZ_H (1000.0 * S_PER_H)
#define MB_S_PER_GIB_H (1024.0 * S_PER_H)
#define LEAST 0.01     /* GHz h or GiB h: less is not worth a word */
#define DATE_LENGTH 10 /* of 2026-01-31T07:00:00Z */

struct sentence {
    const struct night_record *r;
    struct zone *zone; /* NULL: UTC */
    bool days;         /* the night is longer than a day: times have a weekday */
    struct strbuf *out;
    struct night_host **hosts;
    size_t n;
};

static void put_time(const struct sentence *s, instant_s t)
{
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    int64_t local = s->zone ? zone_local(s->zone, t) : t;
    int64_t day = local >= 0 ? local / DAY_S : -((-local + DAY_S - 1) / DAY_S);
    int64_t second = local - day * DAY_S;

    if (s->days)
        strbuf_printf(s->out, "%s ", days[civil_weekday(day)]);
    strbuf_printf(s->out, "%02d:%02d", (int)(second / S_PER_H), (int)(second % S_PER_H / S_PER_MIN));
}

static bool slept(const struct night_host *h)
{
    return h->from != 0;
}

static bool was_late(const struct night_host *h)
{
    return h->late && !h->failed;
}

static bool has_failed(const struct night_host *h)
{
    return h->failed;
}

static bool stayed_on(const struct night_host *h)
{
    return h->stayed_on && !h->failed && !h->late;
}

static void put_sleep(const struct sentence *s, const struct night_host *h)
{
    strbuf_printf(s->out, "%s ", h->name);
    if (h->until == 0) {
        strbuf_puts(s->out, "since ");
        put_time(s, h->from);
        return;
    }
    put_time(s, h->from);
    strbuf_puts(s->out, " to ");
    put_time(s, h->until);
}

static void put_why(const struct sentence *s, const struct night_host *h)
{
    strbuf_puts(s->out, h->name);
    if (!isnan(h->woke_s) && !h->failed && h->late) {
        strbuf_printf(s->out, " took %.0f s", h->woke_s);
        if (!isnan(h->expected_s))
            strbuf_printf(s->out, ", not %.0f s", h->expected_s);
    }
    if (h->why)
        strbuf_printf(s->out, " (%s)", h->why);
}

/* "; did not wake: esx4 (the reason), esx5 (...) and 3 more"; nothing where there are none. */
static void put_hosts(const struct sentence *s, const char *what, bool (*is)(const struct night_host *h),
                      void (*put)(const struct sentence *s, const struct night_host *h))
{
    size_t shown = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += is(s->hosts[i]);
    for (size_t i = 0; i < s->n && shown < HOSTS_SHOWN; i++) {
        if (!is(s->hosts[i]))
            continue;
        strbuf_puts(s->out, shown == 0 ? what : ", ");
        put(s, s->hosts[i]);
        shown++;
    }
    if (n > shown)
        strbuf_printf(s->out, " and %zu more", n - shown);
}

static void put_number_of_sleepers(const struct sentence *s)
{
    double asleep_s = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        n += slept(s->hosts[i]);
        asleep_s += s->hosts[i]->asleep_s;
    }
    if (n == 0)
        strbuf_puts(s->out, "no host slept");
    else
        strbuf_printf(s->out, "%zu host%s slept, %.1f h in all", n, n == 1 ? "" : "s", asleep_s / S_PER_H);
}

static void put_energy(const struct sentence *s)
{
    const struct night_record *r = s->r;

    if (!(r->host_s > r->unknown_s)) {
        strbuf_puts(s->out, "; energy not known: no host has a power model or a meter");
        return;
    }
    strbuf_printf(s->out, "; %.*f kWh used, %.*f kWh saved", r->used_kwh < 1 ? 3 : 1, r->used_kwh,
                  fabs(r->saved_kwh) < 1 ? 3 : 1, r->saved_kwh);
    if (r->all_on_kwh > 0)
        strbuf_printf(s->out, " (%.0f %%)", 100 * r->saved_kwh / r->all_on_kwh);
    if (r->measured_s < r->host_s - r->unknown_s)
        strbuf_printf(s->out, ", %.0f %% of it by meters", 100 * r->measured_s / (r->host_s - r->unknown_s));
    if (r->unknown_s > 0)
        strbuf_printf(s->out, ", %.0f %% of the host time not counted", 100 * r->unknown_s / r->host_s);
}

static void put_lack(const struct sentence *s)
{
    static const struct {
        double unit;
        const char *word;
    } of[2] = {{MHZ_S_PER_GHZ_H, "GHz h of CPU"}, {MB_S_PER_GIB_H, "GiB h of memory"}};
    bool any = false;

    for (int i = 0; i < 2; i++) {
        double lack = s->r->unmet[i] / of[i].unit;

        if (lack < LEAST)
            continue;
        strbuf_printf(s->out, "%s %.2f %s", any ? " and" : "; VMs lacked", lack, of[i].word);
        if (s->r->wanted[i] > 0)
            strbuf_printf(s->out, " (%.2f %%)", 100 * s->r->unmet[i] / s->r->wanted[i]);
        any = true;
    }
    if (!any)
        strbuf_puts(s->out, "; VMs lacked nothing");
}

/* By when the next proof is due, or that it is. */
static void put_proof(const struct sentence *s)
{
    const struct night_record *r = s->r;
    char due[RFC3339_MAX];

    if (!r->proof_host)
        return;
    strbuf_printf(s->out, "; %s due: %s", r->proofs_due > 0 ? "proof" : "next proof", r->proof_name);
    if (r->proofs_due > 1)
        strbuf_printf(s->out, " and %u more", r->proofs_due - 1);
    if (r->proofs_due > 0 && r->proof_why)
        strbuf_printf(s->out, " (not proven in the night: %s; `ballast wake %s --verify`)", r->proof_why,
                      r->proof_name);
    else if (r->proofs_due > 0)
        strbuf_printf(s->out, " (`ballast wake %s --verify`)", r->proof_name);
    else
        strbuf_printf(s->out, ", %.*s", DATE_LENGTH, rfc3339_format(r->proof_due, due));
}

void night_record_describe(const struct night_record *r, const char *zone, struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(zone_closep) struct zone *z = zone ? zone_open(zone) : NULL;
    struct sentence s = {.r = r, .zone = z, .out = out, .days = r->until - r->from > WITHOUT_DAYS_S};

    s.n = night_record_hosts(r, &a, &s.hosts);
    strbuf_puts(out, "last night, ");
    put_time(&s, r->from);
    strbuf_puts(out, " to ");
    put_time(&s, r->until);
    strbuf_printf(out, " %s: ", z ? zone : ZONE_UTC);
    put_number_of_sleepers(&s);
    put_hosts(&s, ": ", slept, put_sleep);
    put_hosts(&s, "; did not wake: ", has_failed, put_why);
    put_hosts(&s, "; did not wake at once: ", was_late, put_why);
    put_hosts(&s, "; stayed on: ", stayed_on, put_why);
    put_energy(&s);
    put_lack(&s);
    put_proof(&s);
}
