/* early_wake_penalty.c: power-offs that did not pay, and what was wanted then. README.md, "Early-wake
 * penalty". */
#include "engine/knowledge/early_wake_penalty.h"

#include "base/xalloc.h"
#include "core/power/capped_demand.h"
#include "engine/knowledge/hosts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The window that power-off looks at: so long it had been quiet before the host went, and a shorter quiet is
 * none. */
#define QUIET_LEAST_S 2400

/* It must be quiet for so many times as long as it was when hosts were missed. */
#define QUIET_MARGIN 1.5

/* What is asked falls to the half in this time, unless demand comes and goes as before. */
#define HALVES_S (24 * 3600)

/* Demand still rises for a while: what is wanted at the most meanwhile counts. */
#define RISING_S 900

/* A resource of which so much more was wanted tells busy from quiet. */
#define RISE_LEAST 0.1

/* How far busy_at may be behind in the store. */
#define TOUCH_S 600

#define NOTE_EARLY_WAKE_PENALTY "regret"

struct penalty_history {
    struct early_wake_penalty is; /* quiet_s: what was asked at `seen` */
    instant_s seen;               /* when demand last came back as it did then */
    double before[RES_COUNT];     /* what was wanted while it was quiet */
    instant_s stored_busy_at;
    bool dirty;
};

/* What is still asked for; 0: too little to matter. */
static double quiet_asked(const struct penalty_history *m, instant_s now)
{
    double age = (double)(now - m->seen);
    double asked = m->is.quiet_s * exp2(-fmax(age, 0) / HALVES_S);

    return m->is.at != 0 && asked >= QUIET_LEAST_S ? asked : 0;
}

static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    const struct penalty_history *m = piece;
    double asked = quiet_asked(m, inv->time);

    (void)c, (void)a;
    if (!(asked > 0))
        return;
    inv->early_wake_penalty = m->is;
    inv->early_wake_penalty.quiet_s = asked;
}

/* ---- what an inventory says ------------------------------------------------------------------ */

static double wanted_by(const struct vm_facts *f, int r)
{
    return fmin(f->demand[r], f->alloc[r].limit);
}

static void add_up(const struct snapshot *s, double ret_now[RES_COUNT], double ret_before[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        ret_now[r] = ret_before[r] = 0;
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm_facts *f = &s->vms[i].is;

        for (int r = 0; r < RES_COUNT && vm_takes_part(s, &s->vms[i]); r++) {
            ret_now[r] += wanted_by(f, r);
            ret_before[r] += fmin(f->window[WINDOW_40M][r].mean, f->alloc[r].limit);
        }
    }
}

/* What VMs want beyond the hosts that they are on, now. What the limits of pools would not give them on any
 * host is not missing. */
static void add_missing(const struct snapshot *s, double ret[RES_COUNT])
{
    struct arena a = {0};
    struct capped_demand may;

    capped_demand_init(&may, s, &a);
    for (int r = 0; r < RES_COUNT; r++) {
        ret[r] = 0;
        for (uint32_t i = 0; i < s->n_hosts; i++) {
            double wanted = 0;

            for (uint32_t k = 0; k < s->hosts[i].vms.n; k++)
                wanted += capped_demand_now(&may, s, s->hosts[i].vms.items[k], (enum resource)r);
            ret[r] += fmax(wanted - s->hosts[i].capacity[r], 0);
        }
    }
    arena_release(&a);
}

/* Whether the host is being woken for load, was put to standby by us, and what goes unserved until it is back
 * is worth more than it saved: the measure of a power-off (§4.2), afterwards. ret_off_s: how long it slept.
 */
static bool did_not_pay(const struct knowledge_context *c, const struct snapshot *s, const char *host,
                        const double missing[RES_COUNT], double *ret_off_s)
{
    const struct known_host *k = hosts_find(c->known->hosts, host);
    uint32_t ix = snapshot_find_host(s, host);

    if (ix == IX_NONE || !k || k->r.put_down == 0)
        return false;
    const struct host *h = &s->hosts[ix];
    const struct dpm_policy *dpm = &c->settings->policy.dpm;
    double boot_s = isnan(h->is.boot_s) ? (double)dpm->boot_s : h->is.boot_s;
    double late_s = (double)c->settings->policy.interval_s + boot_s;

    *ret_off_s = (double)(s->time - k->r.put_down);
    for (int r = 0; r < RES_COUNT; r++)
        if (dpm->ratio * fmin(missing[r], h->capacity[r]) * late_s > h->capacity[r] * *ret_off_s)
            return true;
    return false;
}

/* The longest standby of those that did not pay, in seconds; UNKNOWN: there are none. */
static double find_missed(const struct knowledge_context *c, const struct snapshot *s)
{
    double missing[RES_COUNT];
    double longest = UNKNOWN;
    bool added = false;

    for (size_t i = 0; i < c->n_waking; i++) {
        double off_s;

        if (c->waking[i].reason != REASON_HIGH_UTILIZATION)
            continue;
        if (!added)
            add_missing(s, missing);
        added = true;
        if (did_not_pay(c, s, c->waking[i].host, missing, &off_s))
            longest = fmax(off_s, longest); /* of a number and UNKNOWN it is the number */
    }
    return longest;
}

static void raise(struct early_wake_penalty *g, const double wanted[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        g->wanted[r] = fmax(g->wanted[r], wanted[r]);
}

static void note(struct penalty_history *m, double off_s, const double wanted[RES_COUNT],
                 const double before[RES_COUNT], instant_s now)
{
    double asked = quiet_asked(m, now);

    if (m->is.at != 0 && now - m->is.at <= RISING_S) /* the same again */
        return;
    if (!(asked > 0))
        *m = (struct penalty_history){0};
    raise(&m->is, wanted);
    m->is.at = m->is.busy_at = m->seen = now;
    m->is.quiet_s = fmax(asked, QUIET_MARGIN * (off_s + QUIET_LEAST_S));
    for (int r = 0; r < RES_COUNT; r++)
        m->before[r] = before[r];
    m->dirty = true;
}

/* Whether the cluster wants as much as when hosts were missed, or more than half of what it was more. */
static bool is_busy(const struct penalty_history *m, const double wanted[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++) {
        double rise = m->is.wanted[r] - m->before[r];

        if (rise > RISE_LEAST * m->is.wanted[r] && wanted[r] >= m->before[r] + rise / 2)
            return true;
    }
    return false;
}

/* Demand that comes back after a quiet in which hosts would have been put to standby, had it not been for the
 * memory, proves it right. */
static void follow(struct penalty_history *m, const double wanted[RES_COUNT], instant_s now)
{
    double asked = quiet_asked(m, now);
    double quiet = (double)(now - m->is.busy_at);

    if (m->is.at == 0)
        return;
    if (!(asked > 0)) {
        *m = (struct penalty_history){0};
        m->dirty = true;
        return;
    }
    if (now - m->is.at <= RISING_S)
        raise(&m->is, wanted);
    if (!is_busy(m, wanted))
        return;
    if (quiet >= QUIET_LEAST_S && quiet < asked) {
        m->seen = now;
        m->is.quiet_s = fmax(asked, QUIET_MARGIN * quiet);
    }
    m->is.busy_at = now;
    if (now - m->stored_busy_at >= TOUCH_S || m->seen == now)
        m->dirty = true;
}

static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct penalty_history *m = piece;
    double off_s = find_missed(c, s);
    double wanted[RES_COUNT];
    double before[RES_COUNT];

    (void)a;
    if (m->is.at == 0 && isnan(off_s))
        return;
    add_up(s, wanted, before);
    if (!isnan(off_s))
        note(m, off_s, wanted, before, s->time);
    follow(m, wanted, s->time);
}

/* ---- the store ------------------------------------------------------------------------------- */

/* Three instants, what is asked, and what was wanted: then, and before. */
#define NUMBERS 8

static double *number_of(struct penalty_history *m, int i)
{
    double *const of[NUMBERS - 3] = {&m->is.quiet_s, &m->is.wanted[RES_CPU], &m->is.wanted[RES_MEM],
                                     &m->before[RES_CPU], &m->before[RES_MEM]};

    return of[i];
}

static bool is_dirty(const void *piece)
{
    const struct penalty_history *m = piece;

    return m->dirty;
}

static int persist(const void *piece, const struct store_ops *ops, struct store *s, struct err *err)
{
    const struct penalty_history *m = piece;
    char text[256];

    (void)snprintf(text, sizeof text, "%lld %lld %lld %.17g %.17g %.17g %.17g %.17g", (long long)m->is.at,
                   (long long)m->is.busy_at, (long long)m->seen, m->is.quiet_s, m->is.wanted[RES_CPU],
                   m->is.wanted[RES_MEM], m->before[RES_CPU], m->before[RES_MEM]);
    const struct record note = {RECORD_NOTE, .note = &(struct note){NOTE_EARLY_WAKE_PENALTY, text}};

    return m->is.at != 0 ? ops->put(s, &note, err) : ops->forget(s, &note, err);
}

static void stored(void *piece)
{
    struct penalty_history *m = piece;

    m->dirty = false;
    m->stored_busy_at = m->is.busy_at;
}

/* An instant in the future tells of a clock that was set back: taken for now. */
static bool read_instant(const char **at, instant_s now, instant_s *ret)
{
    char *end;
    long long v = strtoll(*at, &end, 10);

    if (end == *at || v <= 0)
        return false;
    *ret = v < now ? v : now;
    *at = end;
    return true;
}

/* What cannot be read was not written here: nothing is remembered. */
static void recall(void *piece, const struct stored *s, instant_s now)
{
    const char *text = ports_find_note(s, NOTE_EARLY_WAKE_PENALTY);
    struct penalty_history m = {0};

    if (!text || !read_instant(&text, now, &m.is.at) || !read_instant(&text, now, &m.is.busy_at) ||
        !read_instant(&text, now, &m.seen))
        return;
    for (int i = 0; i < NUMBERS - 3; i++) {
        char *end;
        double v = strtod(text, &end);

        if (end == text || !(v >= 0 && isfinite(v)))
            return;
        *number_of(&m, i) = v;
        text = end;
    }
    m.stored_busy_at = m.is.busy_at;
    *(struct penalty_history *)piece = m;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void *create(void)
{
    return xcalloc(1, sizeof(struct penalty_history));
}

static void release(void *piece)
{
    free(piece);
}

const struct knowledge_ops early_wake_penalty_ops = {
    .create = create,
    .release = release,
    .fill = fill,
    .observe = observe,
    .is_dirty = is_dirty,
    .persist = persist,
    .stored = stored,
    .recall = recall,
};
