/* meters.c: asks what hosts draw, one question a minute and host, a few at a time, so that a controller that
 * hangs holds up nobody for long: each failure in a row doubles the time until it is asked again.
 *
 * A reading counts for a few minutes, and as long as the host is in the phase that it was read in: what it
 * drew while it was on says nothing once it sleeps. */
#include "engine/internal.h"

#include "base/xalloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define AT_ONCE 4
#define PERIOD_S 60
#define PERIOD_MAX_S 3600 /* between two questions to one that does not answer */
#define FRESH_S 300
#define WATTS_MOST 1e6 /* more than any host can draw */

struct meter {
    double watts;
    instant_s read; /* 0: never */
    enum energy_phase phase;
    instant_s ask_after;
    unsigned failures; /* in a row */
    uint64_t serial;   /* of the question that is out; 0: none */
    enum energy_phase asked_phase;
    bool unable;    /* it has none */
    bool by_source; /* the inventory says it anyway */
};

static struct meter *meter_of(struct engine *e, const char *host)
{
    void **slot = idmap_slot(&e->meters.of, host);

    if (!*slot)
        *slot = xcalloc(1, sizeof(struct meter));
    return *slot;
}

void meters_fill(struct engine *e, struct inventory *inv)
{
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *f = &inv->hosts[i].is;

        if (!f->id)
            continue;
        if (!isnan(f->power_w)) {
            meter_of(e, f->id)->by_source = true;
            continue;
        }
        struct meter *m = idmap_get(&e->meters.of, f->id);

        if (!m)
            continue;
        m->by_source = false;
        if (m->read != 0 && inv->time - m->read <= FRESH_S && m->phase == draw_phase(f->state))
            f->power_w = m->watts;
    }
}

void meters_look(struct engine *e)
{
    if (e->meters.round_is_over)
        e->meters.next = 0;
    e->meters.round_is_over = false;
}

static bool is_due(const struct meter *m, instant_s now)
{
    return !m->unable && !m->by_source && m->serial == 0 && now >= m->ask_after;
}

/* False: the actuators take no more. */
static bool ask(struct engine *e, const struct host_facts *f, struct meter *m, instant_s now)
{
    struct err err = {0};
    const struct job job = {.kind = JOB_MEASURE, .id = e->meters.serial + 1, .measure = {.host = f->id}};
    int r = e->port.actuators_ops->submit(e->port.actuators, &job, &err);

    if (r == -ENOTSUP) { /* there are no meters at all */
        e->meters.none = true;
        return false;
    }
    if (r < 0)
        return false;
    m->serial = ++e->meters.serial;
    m->asked_phase = draw_phase(f->state);
    m->ask_after = now + PERIOD_S;
    e->meters.n_out++;
    return true;
}

void meters_carry_on(struct engine *e, instant_s now)
{
    struct meters *all = &e->meters;

    if (all->none || all->round_is_over || !e->now_seen)
        return;
    const struct snapshot *s = &e->now_seen->snap;

    for (; all->next < s->n_hosts && all->n_out < AT_ONCE; all->next++) {
        const struct host_facts *f = &s->hosts[all->next].is;

        if (draw_phase(f->state) == ENERGY_UNSEEN)
            continue;
        struct meter *m = meter_of(e, f->id);

        if (is_due(m, now) && !ask(e, f, m, now))
            return;
    }
    all->round_is_over = all->next >= s->n_hosts;
}

static instant_s pause_after(unsigned failures)
{
    instant_s wait = PERIOD_S;

    for (unsigned i = 0; i < failures && wait < PERIOD_MAX_S; i++)
        wait *= 2;
    return wait < PERIOD_MAX_S ? wait : PERIOD_MAX_S;
}

void meters_result(struct engine *e, const struct job *job, const struct job_result *result, instant_s now)
{
    struct meter *m = idmap_get(&e->meters.of, job->measure.host);

    if (!m || m->serial == 0 || m->serial != job->id)
        return;
    m->serial = 0;
    e->meters.n_out--;
    if (result->code == -ENOTSUP) {
        m->unable = true;
    } else if (result->code < 0 || !(result->watts >= 0 && result->watts <= WATTS_MOST)) {
        m->failures++;
        m->ask_after = now + pause_after(m->failures);
    } else {
        m->failures = 0;
        m->watts = result->watts;
        m->read = now;
        m->phase = m->asked_phase;
    }
}

/* A question that is out stays so: it is answered. */
static bool ask_again(const char *key, void *value, void *ctx)
{
    struct meter *m = value;

    (void)key, (void)ctx;
    m->unable = false;
    m->failures = 0;
    m->ask_after = 0;
    return true;
}

void meters_configure(struct engine *e)
{
    e->meters.none = false;
    idmap_keep(&e->meters.of, ask_again, NULL);
}

static void meter_free(void *value)
{
    free(value);
}

void meters_release(struct engine *e)
{
    idmap_release(&e->meters.of, meter_free);
}
