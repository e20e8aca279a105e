/* meters.c: what was read, what is out, and when each meter is asked again. */
#include "engine/knowledge/meters.h"

#include "base/xalloc.h"
#include "engine/knowledge/host_power.h"
#include "engine/retry.h"

#include <ballast/power.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define AT_ONCE 4
#define PERIOD_S POWER_METER_PERIOD_S
#define CHANGING_S 10     /* while the host is switched, its draw changes at a moment that is not known */
#define PERIOD_MAX_S 3600 /* between two questions to one that does not answer */
#define FRESH_S 300
#define WATTS_MOST 1e6 /* more than any host can draw */

struct meter {
    double watts;
    instant_s read; /* 0: never */
    enum energy_phase phase;
    instant_s asked, ask_after;
    unsigned failures; /* in a row */
    uint64_t serial;   /* of the question that is out; 0: none */
    enum energy_phase asked_phase;
    bool up;                /* it runs, though it does not serve yet and is called powering on */
    bool asked_on;          /* it is on, and is to stay on: 0 W is no reading */
    bool booting;           /* a wake of ours was asked for, though the source still says that it sleeps */
    enum energy_phase seen; /* of the host, in the newest inventory */
    bool lost;              /* and that was said */
    bool by_source;         /* the inventory says it anyway */
};

struct meters {
    struct known_map map; /* host id -> struct meter */
    uint64_t serial;      /* of the newest question */
    unsigned n_out;       /* questions */
    uint32_t next;        /* the host of the newest inventory that is looked at next */
    bool round_is_over;   /* all were looked at since the newest inventory */
    bool none;            /* the actuators have no meters at all */
};

static struct meter *meter_of(struct meters *all, const char *host)
{
    return idmap_make(&all->map.of, host, sizeof(struct meter));
}

static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    struct meters *all = piece;

    (void)a;
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *f = &inv->hosts[i].is;

        if (!f->id)
            continue;
        if (!isnan(f->power_w)) {
            meter_of(all, f->id)->by_source = true;
            continue;
        }
        enum energy_phase phase = host_power_phase_of(c, f->id, f->state);
        struct meter *m = phase == ENERGY_BOOTING ? meter_of(all, f->id) : idmap_get(&all->map.of, f->id);

        if (!m)
            continue;
        m->by_source = false;
        if (phase == ENERGY_AWAKE && (m->seen == ENERGY_ASLEEP || m->seen == ENERGY_BOOTING) &&
            m->failures > 0 && m->serial == 0) {
            m->failures = 0; /* some meters work while the host is on only */
            m->ask_after = 0;
        }
        m->seen = phase;
        if (phase == ENERGY_BOOTING && m->phase == ENERGY_ASLEEP && m->serial == 0)
            m->ask_after = 0; /* the reading of the sleeping host is void */
        m->booting = phase == ENERGY_BOOTING;
        m->up = phase == ENERGY_AWAKE;
        /* one that was woken and is given up was not switched off by that: it may boot still */
        bool holds = m->phase == phase || (m->phase == ENERGY_BOOTING && phase == ENERGY_ASLEEP);

        if (m->read != 0 && inv->time - m->read <= FRESH_S && holds)
            f->power_w = m->watts;
    }
}

/* There is a new inventory: another round. */
static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct meters *all = piece;

    (void)c, (void)s, (void)a;
    if (all->round_is_over)
        all->next = 0;
    all->round_is_over = false;
}

static bool is_due(const struct meter *m, const struct host_facts *f, instant_s now)
{
    bool changing = m->booting || f->state == HOST_POWERING_ON || f->state == HOST_ENTERING_STANDBY;
    bool soon = changing && m->failures == 0 && now >= m->asked + CHANGING_S;

    return !m->by_source && m->serial == 0 && (now >= m->ask_after || soon);
}

/* False: the actuators take no more. */
static bool ask(struct meters *all, const struct engine_ports *port, const struct host_facts *f,
                struct meter *m, instant_s now)
{
    struct err err = {0};
    const enum energy_phase phase = m->booting ? ENERGY_BOOTING
                                    : m->up    ? ENERGY_AWAKE
                                               : host_power_phase(f->state);
    const bool on = phase == ENERGY_AWAKE && f->state != HOST_ENTERING_STANDBY;
    const struct job job = {.kind = JOB_MEASURE, .id = all->serial + 1, .measure = {.host = f->id, .on = on}};
    int r = port->actuators_ops->submit(port->actuators, &job, &err);

    if (r == -ENOTSUP) { /* there are no meters at all */
        all->none = true;
        return false;
    }
    if (r < 0)
        return false;
    m->serial = ++all->serial;
    m->asked_phase = phase;
    m->asked_on = on;
    m->asked = now;
    m->ask_after = now + PERIOD_S;
    all->n_out++;
    return true;
}

void meters_ask(struct meters *all, const struct engine_ports *port, const struct snapshot *s, instant_s now)
{
    if (all->none || all->round_is_over || !s)
        return;
    for (; all->next < s->n_hosts && all->n_out < AT_ONCE; all->next++) {
        const struct host_facts *f = &s->hosts[all->next].is;

        if (host_power_phase(f->state) == ENERGY_UNSEEN)
            continue;
        struct meter *m = meter_of(all, f->id);

        if (is_due(m, f, now) && !ask(all, port, f, m, now))
            return;
    }
    all->round_is_over = all->next >= s->n_hosts;
}

static bool is_reading(const struct meter *m, const struct job_result *result)
{
    if (result->code < 0 || !(result->watts >= 0 && result->watts <= WATTS_MOST))
        return false;
    return result->watts > 0 || !m->asked_on;
}

static enum meter_change take_failure(struct meter *m, const struct job_result *result, instant_s now)
{
    m->failures++;
    m->ask_after = now + (result->code == -ENOTSUP && m->read == 0
                              ? PERIOD_MAX_S
                              : retry_doubled_s(2 * PERIOD_S, PERIOD_MAX_S, m->failures));
    if (m->lost || m->read == 0 || !m->asked_on || now - m->read <= FRESH_S)
        return METER_UNCHANGED;
    m->lost = true;
    return METER_LOST;
}

enum meter_change meters_result(struct meters *all, const struct job *job, const struct job_result *result,
                                instant_s now)
{
    struct meter *m = idmap_get(&all->map.of, job->measure.host);

    if (!m || m->serial == 0 || m->serial != job->id)
        return METER_UNCHANGED;
    m->serial = 0;
    all->n_out--;
    if (!is_reading(m, result))
        return take_failure(m, result, now);
    bool lost = m->lost;

    m->lost = false;
    m->failures = 0;
    m->watts = result->watts;
    m->read = now;
    m->phase = m->asked_phase;
    return lost ? METER_BACK : METER_UNCHANGED;
}

/* A question that is out stays so: it is answered. */
static bool ask_again(const char *key, void *value, void *ctx)
{
    struct meter *m = value;

    (void)key, (void)ctx;
    m->failures = 0;
    m->ask_after = 0;
    return true;
}

/* Those that had none may have got one. */
static void configure(void *piece, const struct engine_settings *settings)
{
    struct meters *all = piece;

    (void)settings;
    all->none = false;
    idmap_keep(&all->map.of, ask_again, NULL);
}

const struct knowledge_ops meters_ops = {
    .size = sizeof(struct meters),
    .entry_free = free,
    .configure = configure,
    .fill = fill,
    .observe = observe,
};
