/* nights.c: counts a night while it lasts, decides when it ends, and tells it. */
#include "engine/knowledge/nights.h"

#include "base/cleanup.h"
#include "base/instant.h"
#include "base/xalloc.h"
#include "engine/events.h"
#include "engine/knowledge/energy_account.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/night_record.h"
#include "schedule/night.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_NIGHT "night"           /* the one that goes on */
#define NOTE_LAST_NIGHT "last_night" /* the last that was told */
#define WAIT_FOR_WAKES_S 3600
#define LATE 1.2 /* times the expected duration of a wake */
#define WH_PER_KWH 1000

struct nights {
    bool dirty;
    struct night_record now;
    instant_s ends;               /* of this one, unless a host is being woken; 0: not reckoned yet */
    struct energy_record counted; /* of the account, so far */
    char *last_text, *last_json;
    const struct engine_settings *settings;
};

/* ---- actions --------------------------------------------------------------------------------- */

bool nights_wake_is_late(const struct action_record *r)
{
    return r->started != 0 && r->duration_s > 0 && (double)(r->ended - r->started) > LATE * r->duration_s;
}

static struct night_host *host_of(struct nights *n, const struct snapshot *s, const char *host)
{
    n->dirty = true;
    return night_record_host(&n->now, host, snapshot_host_name(s, host));
}

static void wake_done(struct night_host *h, const struct action_record *r)
{
    h->late = h->late || h->failed || nights_wake_is_late(r);
    h->failed = false;
    h->woke_s = (double)(r->ended - r->started);
    h->expected_s = r->duration_s > 0 ? r->duration_s : UNKNOWN;
}

void nights_action_ended(struct nights *n, const struct snapshot *s, const struct action_record *r)
{
    if (!s || r->started == 0 || (r->kind != ACTION_POWER_ON && r->kind != ACTION_POWER_OFF))
        return;
    struct night_host *h = host_of(n, s, r->host);

    if (r->kind == ACTION_POWER_ON && r->state == ACTION_DONE) {
        wake_done(h, r);
        return;
    }
    if (r->state != ACTION_FAILED)
        return;
    h->failed = h->failed || r->kind == ACTION_POWER_ON;
    h->stayed_on = r->kind == ACTION_POWER_OFF;
    night_record_set_text(&h->why, r->why);
}

void nights_method_failed(struct nights *n, const struct snapshot *s, const char *host, const char *why)
{
    struct night_host *h = host_of(n, s, host);

    h->late = true;
    night_record_set_text(&h->why, why);
}

void nights_proof_waits(struct nights *n, const char *host, const char *why, bool late)
{
    const bool same_host = n->now.proof_host && strcmp(n->now.proof_host, host) == 0;

    if (n->now.proof_why && same_host && (late || strcmp(n->now.proof_why, why) == 0))
        return;
    n->dirty = true;
    xstrset(&n->now.proof_host, host);
    night_record_set_text(&n->now.proof_why, why);
}

/* ---- looks ----------------------------------------------------------------------------------- */

static void count_energy(struct nights *n, const struct energy_record *total)
{
    struct night_record *r = &n->now;
    const struct energy_record *c = &n->counted;

    r->used_kwh += (total->used_wh - c->used_wh) / WH_PER_KWH;
    r->all_on_kwh += (total->all_on_wh - c->all_on_wh) / WH_PER_KWH;
    r->saved_kwh = r->all_on_kwh - r->used_kwh;
    r->host_s += total->host_s - c->host_s;
    r->measured_s += total->measured_s - c->measured_s;
    r->unknown_s += total->unknown_s - c->unknown_s;
    for (int i = 0; i < RES_COUNT; i++) {
        r->wanted[i] += total->wanted[i] - c->wanted[i];
        r->unmet[i] += total->unmet[i] - c->unmet[i];
    }
    n->counted = *total;
}

/* Adds the host's sleep since the look before, at most the night so far. */
static void count_host(struct nights *n, const struct snapshot *s, const struct host_facts *f)
{
    const instant_s before = n->now.until;
    struct night_host *h = idmap_get(&n->now.hosts, f->id);
    const bool slept_before = h && h->from != 0 && h->until == 0;

    if (f->state == HOST_STANDBY) {
        h = host_of(n, s, f->id);
        if (!slept_before) {
            const instant_s began = f->standby_since != 0 ? f->standby_since : s->time;

            if (h->from == 0)
                h->from = began;
            h->until = 0;
            h->asleep_s += (double)(s->time - instant_later(began, before));
        } else {
            h->asleep_s += (double)(s->time - before);
        }
    } else if (slept_before && (hosts_is_up(f->state) || f->state == HOST_MAINTENANCE)) {
        h = host_of(n, s, f->id);
        h->until = s->time;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool has_news(const struct night_record *r)
{
    return r->hosts.n > 0 || r->proofs_due > 0;
}

/* Of the hosts that DPM manages and that have woken once. One that sleeps is proven as it wakes. */
static void find_next_proof(struct nights *n, const struct hosts *hosts, const struct snapshot *s)
{
    const instant_s every_s = n->settings->schedule ? n->settings->schedule->prove_every_s : 0;
    struct night_record *r = &n->now;

    CLEANUP(freep) char *waited = r->proof_host;

    r->proof_host = NULL;
    r->proofs_due = 0;
    r->proof_due = 0;
    xstrset(&r->proof_name, NULL);
    for (uint32_t i = 0; every_s > 0 && i < s->n_hosts; i++) {
        const struct host_facts *f = &s->hosts[i].is;
        const struct known_host *k = hosts_find(hosts, f->id);

        if (!k || k->r.woke == 0 || f->state != HOST_ON ||
            !host_is_managed(&s->hosts[i], n->settings->policy.dpm.automation))
            continue;
        r->proofs_due += k->r.woke + every_s <= s->time;
        if (r->proof_due != 0 && r->proof_due <= k->r.woke + every_s)
            continue;
        r->proof_due = k->r.woke + every_s;
        xstrset(&r->proof_host, f->id);
        xstrset(&r->proof_name, f->name);
    }
    if (r->proofs_due == 0 || (waited && strcmp(waited, r->proof_host) != 0))
        xstrset(&r->proof_why, NULL); /* it was of another host */
}

/* The next one begins with the hosts that sleep on. */
static void begin_next(struct nights *n, const struct snapshot *s)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct night_record next = {.from = s->time, .until = s->time};
    struct night_host **hosts;
    size_t n_hosts = night_record_hosts(&n->now, &a, &hosts);

    for (size_t i = 0; i < n_hosts; i++) {
        if (hosts[i]->from != 0 && hosts[i]->until == 0)
            night_record_host(&next, hosts[i]->host, hosts[i]->name)->from = hosts[i]->from;
    }
    night_record_release(&n->now);
    n->now = next;
    n->ends = 0;
    n->dirty = true;
}

static void tell(struct nights *n, const struct knowledge_context *c, const struct snapshot *s)
{
    const struct schedule *schedule = n->settings->schedule;
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    night_record_describe(&n->now, schedule ? schedule->zone : NULL, &out);
    xstrset(&n->now.text, out.text);
    xstrset(&n->last_text, out.text);
    strbuf_clear(&out);
    night_record_write(&n->now, &out);
    xstrset(&n->last_json, out.text);
    events_publish(c->engine, &(struct event){.kind = EVENT_NIGHT,
                                              .time = s->time,
                                              .snapshot = s,
                                              .text = n->last_text,
                                              .night = n->last_json});
}

static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct nights *n = piece;

    (void)a;
    if (n->now.from == 0 || s->time < n->now.until) { /* the first look, or the clock was set back */
        if (n->now.from == 0 || s->time < n->now.from)
            n->now.from = s->time;
        n->now.until = s->time;
        n->ends = 0;
    }
    count_energy(n, energy_account_total(c->known->energy));
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        if (!s->hosts[i].is.left_inventory)
            count_host(n, s, &s->hosts[i].is);
    }
    n->now.until = s->time;
    n->dirty = true; /* the energy so far, as the account stores it with each look */
    if (n->ends == 0)
        n->ends = schedule_night_end(n->settings->schedule, n->now.from);
    if (s->time < n->ends || (c->n_waking > 0 && s->time < n->ends + WAIT_FOR_WAKES_S))
        return;
    find_next_proof(n, c->known->hosts, s);
    if (has_news(&n->now))
        tell(n, c, s);
    begin_next(n, s);
}

/* ---- the store ------------------------------------------------------------------------------- */

static int put_note(const struct store_ops *ops, struct store *s, const char *key, const char *value,
                    struct err *err)
{
    const struct note note = {key, value};

    return ops->put(s, &(struct record){RECORD_NOTE, .note = &note}, err);
}

static int persist(const void *piece, const struct store_ops *ops, struct store *s, struct err *err)
{
    const struct nights *n = piece;
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    night_record_write(&n->now, &out);
    int r = put_note(ops, s, NOTE_NIGHT, out.text, err);

    if (r == 0 && n->last_json)
        r = put_note(ops, s, NOTE_LAST_NIGHT, n->last_json, err);
    return r;
}

static void recall(void *piece, const struct stored *s, instant_s now)
{
    struct nights *n = piece;
    const char *running = ports_find_note(s, NOTE_NIGHT);
    const char *last = ports_find_note(s, NOTE_LAST_NIGHT);
    struct night_record told;
    struct err err = {0};

    if (running && night_record_read(running, &n->now, &err) == 0 && n->now.from > now)
        night_record_release(&n->now); /* the clock was set back */
    if (last && night_record_read(last, &told, &err) == 0) {
        xstrset(&n->last_json, last);
        xstrset(&n->last_text, told.text);
        night_record_release(&told);
    }
}

/* ---- as a piece of knowledge ------------------------------------------------------------------ */

const char *nights_last_text(const struct nights *n)
{
    return n->last_text;
}

const char *nights_last_json(const struct nights *n)
{
    return n->last_json;
}

static void release(void *piece)
{
    struct nights *n = piece;

    night_record_release(&n->now);
    free(n->last_text);
    free(n->last_json);
    free(n);
}

static void configure(void *piece, const struct engine_settings *settings)
{
    struct nights *n = piece;

    n->settings = settings;
    n->ends = 0;
}

const struct knowledge_ops nights_ops = {
    .size = sizeof(struct nights),
    .release = release,
    .configure = configure,
    .observe = observe,
    .persist = persist,
    .recall = recall,
};
