#include "engine/knowledge/energy_account.h"

#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/xalloc.h"
#include "engine/knowledge/host_power.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define J_PER_WH 3600.0
#define SCALE_S 3600.0 /* how far back the scale of a meter remembers */
#define SCALE_JUMP                                                                                           \
    3 /* so many times as much, or as little, is no fluctuation: the host has got another model */
#define LONGEST_LOOKS 5 /* what was drawn is not known where looks are further apart than so many ... */
#define COLLECTION_S 60 /* ... and what a collection may take */
#define CLUSTER ""      /* stands for all hosts together */

struct hour {
    struct energy_record r; /* host: the map's key */
    bool dirty;
};

/* What a new process has booked of the time before it, by a model, though the host has a meter. */
struct guess {
    double from_s, to_s; /* equal: none */
    double watts;
};

/* Of a host, or of the cluster. */
struct account {
    struct energy_sample last; /* host is not set */
    bool seen;                 /* last is there: by this process */
    struct guess guess;        /* in the phase of `last` */
    instant_s until;           /* accounted so far; 0: nothing yet */
    double scale;
    instant_s scaled;           /* scale was last learned; 0: by an earlier process, or never */
    struct energy_record total; /* CLUSTER only: what this process added */
    struct hour *hours;
    size_t n, cap;
};

struct energy {
    struct known_map accounts; /* host id -> struct account; CLUSTER */
    struct engine_power now;   /* as of the newest snapshot */
};

static void account_free(void *value)
{
    struct account *c = value;

    free(c->hours);
    free(c);
}

static struct account *account_of(struct energy *x, const char *host)
{
    void **slot = idmap_slot(&x->accounts.of, host);

    if (!*slot) {
        struct account *c = xcalloc(1, sizeof *c);

        c->scale = UNKNOWN;
        *slot = c;
    }
    return *slot;
}

/* ---- hours ----------------------------------------------------------------------------------- */

static instant_s hour_of(instant_s t)
{
    return t - t % ENERGY_HOUR_S;
}

/* The hour that begins then; made if it is not there. Valid until the next one is made. */
static struct hour *hour_at(struct account *c, instant_s begins)
{
    for (size_t i = c->n; i-- > 0;) {
        if (c->hours[i].r.time == begins)
            return &c->hours[i];
    }
    c->hours = xalloc_grow(c->hours, c->n, &c->cap, sizeof *c->hours);
    struct hour *h = &c->hours[c->n++];

    *h = (struct hour){.r = {.time = begins, .length_s = ENERGY_HOUR_S, .until = begins, .scale = c->scale}};
    return h;
}

/* dt_s of a host that is as the sight says, into a record. */
static void add(struct energy_record *r, const struct energy_sample *is, double dt_s)
{
    r->host_s += dt_s;
    r->asleep_s += is->phase == ENERGY_ASLEEP ? dt_s : 0;
    if (isnan(is->watts)) {
        r->unknown_s += dt_s;
    } else {
        r->measured_s += is->measured ? dt_s : 0;
        r->used_wh += is->watts * dt_s / J_PER_WH;
        r->all_on_wh += is->all_on_w * dt_s / J_PER_WH;
    }
    for (int i = 0; i < RES_COUNT; i++) {
        r->wanted[i] += is->wanted[i] * dt_s;
        r->unmet[i] += is->unmet[i] * dt_s;
    }
}

void energy_account_add(struct energy_record *sum, const struct energy_record *r)
{
    sum->length_s += r->length_s;
    sum->until = sum->until > r->until ? sum->until : r->until;
    sum->span_s += r->span_s;
    sum->host_s += r->host_s;
    sum->unknown_s += r->unknown_s;
    sum->measured_s += r->measured_s;
    sum->asleep_s += r->asleep_s;
    sum->used_wh += r->used_wh;
    sum->all_on_wh += r->all_on_wh;
    for (int i = 0; i < RES_COUNT; i++) {
        sum->wanted[i] += r->wanted[i];
        sum->unmet[i] += r->unmet[i];
    }
}

static struct energy_record *touch(struct account *c, instant_s begins, instant_s until)
{
    struct hour *h = hour_at(c, begins);

    h->dirty = true;
    h->r.until = h->r.until > until ? h->r.until : until;
    h->r.scale = c->scale;
    return &h->r;
}

/* from ... to, into the hours of the host and of the cluster. */
static void add_span(struct account *host, struct account *cluster, const struct energy_sample *is,
                     double from_s, double to_s)
{
    while (from_s < to_s) {
        instant_s begins = hour_of((instant_s)floor(from_s));
        double end_s = fmin(to_s, (double)(begins + ENERGY_HOUR_S));
        instant_s until = (instant_s)ceil(end_s);
        struct energy_record *r = touch(host, begins, until);

        r->span_s += end_s - from_s;
        add(r, is, end_s - from_s);
        add(touch(cluster, begins, until), is, end_s - from_s);
        add(&cluster->total, is, end_s - from_s);
        from_s = end_s;
    }
}

static void add_cluster_span(struct account *cluster, instant_s from, instant_s to)
{
    while (from < to) {
        instant_s begins = hour_of(from);
        instant_s end = begins + ENERGY_HOUR_S < to ? begins + ENERGY_HOUR_S : to;

        touch(cluster, begins, end)->span_s += (double)(end - from);
        from = end;
    }
}

/* ---- looks ----------------------------------------------------------------------------------- */

/* As the earlier look says, where that belongs to a part of the time; what VMs want is a mean of all of it.
 */
static struct energy_sample earlier_part(const struct energy_sample *before, const struct energy_sample *now)
{
    struct energy_sample is = *before;

    for (int i = 0; i < RES_COUNT; i++) {
        is.wanted[i] = now->wanted[i];
        is.unmet[i] = now->unmet[i];
    }
    if (!isnan(is.watts) && !isnan(now->all_on_w))
        is.all_on_w = now->all_on_w;
    return is;
}

/* Only in hours that are still here: a stored one must not be begun anew. */
static void add_watts(struct account *c, const struct guess *g, double watts)
{
    for (size_t i = 0; i < c->n; i++) {
        struct energy_record *r = &c->hours[i].r;
        double from_s = fmax(g->from_s, (double)r->time);
        double to_s = fmin(g->to_s, (double)(r->time + ENERGY_HOUR_S));

        if (to_s <= from_s)
            continue;
        r->used_wh += watts * (to_s - from_s) / J_PER_WH;
        c->hours[i].dirty = true;
    }
}

/* The first reading of a new process tells what the host drew before it, too, while the host's phase is the
 * same: a model knows no controller that said yes to a wake and did nothing. */
static void correct_guess(struct account *c, struct account *cluster, const struct energy_sample *is,
                          double now_s, double longest_s)
{
    struct guess *g = &c->guess;

    if (g->from_s == g->to_s)
        return;
    bool same = c->last.phase == is->phase && now_s - g->to_s <= longest_s;

    if (same && !is->measured)
        return;
    if (same) {
        add_watts(c, g, is->watts - g->watts);
        add_watts(cluster, g, is->watts - g->watts);
    }
    *g = (struct guess){0};
}

static void look_at(struct account *c, struct account *cluster, const struct energy_sample *is, instant_s now,
                    instant_s longest_s)
{
    double from_s = (double)c->until;
    double to_s = (double)now;

    correct_guess(c, cluster, is, to_s, (double)longest_s);
    if (c->until != 0 && now > c->until && now - c->until <= longest_s) {
        if (c->seen && c->last.phase != is->phase) {
            const struct energy_sample before = earlier_part(&c->last, is);

            add_span(c, cluster, &before, from_s, (from_s + to_s) / 2);
            from_s = (from_s + to_s) / 2;
        }
        add_span(c, cluster, is, from_s, to_s);
        if (!c->seen && !is->measured && !isnan(is->watts) && !isnan(c->scale)) /* it was read before */
            c->guess = (struct guess){.from_s = from_s, .to_s = to_s, .watts = is->watts};
    }
    c->last = *is;
    c->last.host = NULL;
    c->seen = true;
    if (now > c->until)
        c->until = now;
}

void energy_account_add_samples(struct energy *x, const struct energy_sample *samples, size_t n,
                                instant_s now, instant_s longest_s)
{
    struct account *cluster = account_of(x, CLUSTER);

    if (cluster->until != 0 && now - cluster->until <= longest_s)
        add_cluster_span(cluster, cluster->until, now);
    if (now > cluster->until)
        cluster->until = now;
    for (size_t i = 0; i < n; i++)
        look_at(account_of(x, samples[i].host), cluster, &samples[i], now, longest_s);
    x->accounts.dirty = true;
}

double energy_account_scale(const struct energy *x, const char *host)
{
    const struct account *c = idmap_get(&x->accounts.of, host);

    return c ? c->scale : UNKNOWN;
}

void energy_account_learn_scale(struct energy *x, const char *host, double scale, instant_s now)
{
    struct account *c = account_of(x, host);
    double since_s = c->scaled != 0 && now > c->scaled ? (double)(now - c->scaled) : 0;

    if (isnan(c->scale) || scale > SCALE_JUMP * c->scale || scale * SCALE_JUMP < c->scale)
        c->scale = scale;
    else
        c->scale += fmin(since_s / SCALE_S, 1) * (scale - c->scale);
    c->scaled = now;
}

/* ---- the store ------------------------------------------------------------------------------- */

static int persist(const void *piece, const struct store_ops *ops, struct store *s, struct err *err)
{
    const struct energy *x = piece;
    int r = 0;

    for (size_t i = 0; r == 0 && i < x->accounts.of.cap; i++) {
        const struct account *c = x->accounts.of.entries[i].value;

        for (size_t k = 0; r == 0 && c && k < c->n; k++) {
            if (!c->hours[k].dirty)
                continue;
            struct energy_record record = c->hours[k].r;

            record.host = x->accounts.of.entries[i].key;
            r = ops->put(s, &(struct record){RECORD_ENERGY, .energy = &record}, err);
        }
    }
    return r;
}

/* What nothing can be added to any more is no longer needed. An hour that is still to come is of a clock that
 * was set back. */
static void drop_old_hours(struct account *c)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->n; i++) {
        c->hours[i].dirty = false;
        if (c->hours[i].r.time + ENERGY_HOUR_S > c->until)
            c->hours[kept++] = c->hours[i];
    }
    c->n = kept;
}

static void stored(void *piece)
{
    struct energy *x = piece;

    for (size_t i = 0; i < x->accounts.of.cap; i++) {
        if (x->accounts.of.entries[i].value)
            drop_old_hours(x->accounts.of.entries[i].value);
    }
}

/* An end in the future tells of a clock that was set back: taken for now. */
static void recall(void *piece, const struct stored *s, instant_s now)
{
    struct energy *x = piece;

    for (size_t i = 0; i < s->n_energy; i++) {
        const struct energy_record *r = &s->energy[i];

        if (r->length_s != ENERGY_HOUR_S)
            continue;
        struct account *c = account_of(x, r->host);
        struct hour *h = hour_at(c, r->time);

        h->r = *r;
        h->r.host = NULL;
        if (!isnan(r->scale))
            c->scale = r->scale;
        if (r->until > c->until)
            c->until = r->until < now ? r->until : now;
    }
}

static bool keep_account(const char *key, void *value, void *ctx)
{
    struct account *c = value;
    const instant_s *before = ctx;
    bool keep = strcmp(key, CLUSTER) == 0 || c->until >= *before;

    for (size_t i = 0; i < c->n; i++)
        keep = keep || c->hours[i].dirty;
    if (!keep)
        account_free(c);
    return keep;
}

static void forget(void *piece, const struct retention *keep, instant_s now)
{
    struct energy *x = piece;
    instant_s before = keep->energy_before;

    (void)now;
    idmap_keep(&x->accounts.of, keep_account, &before);
}

/* ---- as a piece of knowledge ------------------------------------------------------------------ */

const struct engine_power *energy_account_now(const struct energy *x)
{
    return &x->now;
}

const struct energy_record *energy_account_total(const struct energy *x)
{
    static const struct energy_record nothing;
    const struct account *c = idmap_get(&x->accounts.of, CLUSTER);

    return c ? &c->total : &nothing;
}

bool energy_account_last_sample(const struct energy *x, const char *host, struct energy_sample *ret)
{
    const struct account *c = idmap_get(&x->accounts.of, host);

    if (!c || !c->seen)
        return false;
    *ret = c->last;
    return true;
}

static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct energy *x = piece;
    const instant_s longest_s = LONGEST_LOOKS * c->look_period_s + COLLECTION_S;
    CLEANUP(arena_releasep) struct arena scratch = {0};
    const struct energy_sample *samples = host_power_sample(x, c, s, &scratch);

    (void)a;
    x->now = (struct engine_power){.hosts = s->n_hosts};
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct energy_sample *is = &samples[i];

        x->now.unknown += isnan(is->watts) ? 1 : 0;
        x->now.measured += is->measured ? 1 : 0;
        x->now.watts += isnan(is->watts) ? 0 : is->watts;
        x->now.all_on_w += isnan(is->watts) ? 0 : is->all_on_w;
        for (int r = 0; r < RES_COUNT; r++) {
            x->now.wanted[r] += is->wanted[r];
            x->now.unmet[r] += is->unmet[r];
        }
    }
    energy_account_add_samples(x, samples, s->n_hosts, s->time, longest_s);
    x->now.used_wh = account_of(x, CLUSTER)->total.used_wh;
    x->now.all_on_wh = account_of(x, CLUSTER)->total.all_on_wh;
}

const struct knowledge_ops energy_ops = {
    .size = sizeof(struct energy),
    .entry_free = account_free,
    .observe = observe,
    .persist = persist,
    .stored = stored,
    .recall = recall,
    .forget = forget,
};
