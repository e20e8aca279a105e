/* what_if.c: a snapshot with assumed changes. */
#include "model/what_if.h"

#include "model/inventory_check.h"
#include "model/named.h"

#include <errno.h>

/* For each change of a host: the new state, and the states in which it is possible. */
static const struct {
    enum host_state state;
    unsigned from; /* 1u << state */
    const char *expected;
} host_changes[] = {
    [CHANGE_HOST_OFF] = {HOST_ENTERING_STANDBY, 1u << HOST_ON, "a host that is on"},
    [CHANGE_HOST_ON] = {HOST_ON,
                        1u << HOST_STANDBY | 1u << HOST_POWERING_ON | 1u << HOST_MAINTENANCE |
                            1u << HOST_ENTERING_STANDBY | 1u << HOST_ENTERING_MAINTENANCE,
                        "one in standby or maintenance, or on its way to or from there"},
    [CHANGE_MAINTENANCE] = {HOST_ENTERING_MAINTENANCE, 1u << HOST_ON, "a host that is on"},
};

void what_if_init(struct what_if *w, const struct snapshot *base, struct arena *a)
{
    *w = (struct what_if){.base = base, .snap = *base, .a = a};
    w->snap.hosts = arena_copy(a, base->hosts, base->n_hosts, sizeof *base->hosts);
    w->snap.vms = arena_copy(a, base->vms, base->n_vms, sizeof *base->vms);
}

static bool is_changed(const struct what_if *w, uint32_t host, uint32_t vm)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->changes[i].host == host && w->changes[i].vm == vm)
            return true;
    }
    return false;
}

static void note(struct what_if *w, const struct what_if_change *c)
{
    w->changes = arena_grow(w->a, w->changes, w->n, &w->cap, sizeof *w->changes);
    w->changes[w->n++] = *c;
}

int what_if_host(struct what_if *w, enum change_kind kind, const char *host_word, struct err *err)
{
    uint32_t ix = IX_NONE;
    int r = named_host(&w->snap, host_word, &ix, err);

    if (r < 0)
        return r;
    if (is_changed(w, ix, IX_NONE))
        return err_set(err, -EINVAL, "\"%s\" is changed already, expected one change of a host", host_word);
    struct host_facts *f = &w->snap.hosts[ix].is;
    if (!(host_changes[kind].from >> f->state & 1u))
        return err_set(err, -EINVAL, "\"%s\" is in the state %s, expected %s", host_word,
                       host_state_name(f->state), host_changes[kind].expected);
    const struct what_if_change c = {
        .kind = kind,
        .host = ix,
        .vm = IX_NONE,
        .state_before = f->state,
        .state = host_changes[kind].state,
    };

    f->state = c.state;
    /* a host that was off comes up now: its uptime begins */
    if (c.state == HOST_ON && c.state_before != HOST_ENTERING_STANDBY &&
        c.state_before != HOST_ENTERING_MAINTENANCE) {
        f->on_since = w->snap.time;
        f->standby_since = 0;
    }
    note(w, &c);
    return 0;
}

int what_if_demand(struct what_if *w, const char *vm_word, double cpu_mhz, struct err *err)
{
    uint32_t ix = IX_NONE;
    int r = named_vm(&w->snap, vm_word, &ix, err);

    if (r < 0)
        return r;
    if (is_changed(w, IX_NONE, ix))
        return err_set(err, -EINVAL, "\"%s\" is changed already, expected one change of a VM", vm_word);
    struct vm *v = &w->snap.vms[ix];
    if (v->is.state != VM_ON)
        return err_set(err, -EINVAL, "\"%s\" is %s, expected a VM that is on", vm_word,
                       vm_state_name(v->is.state));
    if (v->is.kind == VM_SPARE)
        return err_set(err, -EINVAL, "\"%s\" is a spare VM, which stands for room, expected one that works",
                       vm_word);
    if (!vm_takes_part(&w->snap, v))
        return err_set(err, -EINVAL, "\"%s\" is on a host in the state %s, expected one whose VMs are seen",
                       vm_word, host_state_name(w->snap.hosts[v->host].is.state));
    if (!(cpu_mhz >= 0 && cpu_mhz <= SIZE_ABSURD))
        return err_set(err, -EINVAL, "%.12g MHz is no demand, expected 0 to %g", cpu_mhz, SIZE_ABSURD);
    note(w, &(struct what_if_change){.kind = CHANGE_DEMAND,
                                     .host = IX_NONE,
                                     .vm = ix,
                                     .cpu_mhz_before = v->is.demand_unknown ? UNKNOWN : v->is.demand[RES_CPU],
                                     .cpu_mhz = cpu_mhz});
    v->is.demand[RES_CPU] = cpu_mhz;
    /* assumed demand is neither missing nor old */
    v->is.demand_unknown = false;
    v->is.sample_bad = NULL;
    v->is.sample_age_s = UNKNOWN;
    for (int i = 0; i < WINDOW_COUNT; i++)
        v->is.window[i][RES_CPU] = (struct demand_stats){.mean = cpu_mhz, .min = cpu_mhz, .max = cpu_mhz};
    return 0;
}
