/* obstacle.c: whether a host can be emptied, by a pass on a what-if snapshot. */
#include "engine/obstacle.h"

#include "core/pass.h"
#include "engine/observation.h"
#include "engine/state.h"
#include "model/what_if.h"
#include "render/wording/wording.h"

#define PERCENT 100.0

static uint32_t count_stuck(const struct plan *plan, const struct fault **ret)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan->n_faults; i++) {
        if (plan->faults[i].code != FAULT_CANNOT_EVACUATE)
            continue;
        *ret = &plan->faults[i];
        n++;
    }
    return n;
}

static double load_of(const struct metrics *m, uint32_t host, enum resource r)
{
    for (uint32_t i = 0; i < m->n_hosts; i++)
        if (m->hosts[i].host == host)
            return m->hosts[i].n[r];
    return 0;
}

/* A host that would be overloaded, more than it is; IX_NONE: none. */
static uint32_t find_overloaded(const struct plan *plan, double *ret_load)
{
    for (uint32_t i = 0; i < plan->after.n_hosts; i++) {
        for (int r = 0; r < RES_COUNT; r++) {
            const struct host_load *h = &plan->after.hosts[i];

            *ret_load = h->n[r];
            if (h->n[r] > 1 && h->n[r] > load_of(&plan->before, h->host, (enum resource)r))
                return h->host;
        }
    }
    return IX_NONE;
}

const char *obstacle_capacity_given_up(const struct plan *now, const struct plan *then, struct arena *a)
{
    const struct fault *f = plan_capacity_given_up(now->faults, now->n_faults, then->faults, then->n_faults);

    return f ? wording_text(then->snap, f->found, a) : NULL;
}

const char *obstacle_find(const struct engine *e, enum change_kind kind, const char *host, struct arena *a,
                          struct plan *ret_now, struct plan *ret_then)
{
    const struct snapshot *s = &e->now_seen->snap;
    struct policy policy = e->settings.policy;
    const struct fault *stuck = NULL;
    struct plan now = {0}, then = {0};
    struct what_if *w = arena_array(a, struct what_if, 1);
    struct err err = {0};
    double load;

    policy.optional_moves = false;
    policy.dpm.may_sleep = false;
    what_if_init(w, s, a);
    bool failed = what_if_host(w, kind, host, &err) < 0 || pass_run(s, &policy, a, &now, &err) < 0 ||
                  pass_run(&w->snap, &policy, a, &then, &err) < 0;

    if (ret_now)
        *ret_now = failed ? (struct plan){0} : now;
    if (ret_then)
        *ret_then = failed ? (struct plan){0} : then;
    if (failed)
        return arena_strdup(a, err.text);
    uint32_t n_stuck = count_stuck(&now, &stuck);

    if (count_stuck(&then, &stuck) > n_stuck)
        return wording_text(&w->snap, stuck->found, a);
    const char *lost = obstacle_capacity_given_up(&now, &then, a);
    if (lost)
        return lost;
    uint32_t full = find_overloaded(&then, &load);

    return full == IX_NONE ? NULL
                           : arena_printf(a, "host %s would be loaded to %.0f %%", s->hosts[full].is.name,
                                          load * PERCENT);
}
