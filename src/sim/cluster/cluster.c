/* cluster.c: creates the cluster and advances its time from event to event. The handlers are in the files
 * of their subjects. */
#include "sim/cluster/cluster_internal.h"

#include "base/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

void cluster_list_append(struct index_list *l, uint32_t item)
{
    l->items = xalloc_grow(l->items, l->n, &l->cap, sizeof *l->items);
    l->items[l->n++] = item;
}

void cluster_list_insert(struct index_list *l, uint32_t item)
{
    uint32_t i = l->n;

    l->items = xalloc_grow(l->items, l->n, &l->cap, sizeof *l->items);
    for (; i > 0 && l->items[i - 1] > item; i--)
        l->items[i] = l->items[i - 1];
    l->items[i] = item;
    l->n++;
}

bool cluster_list_remove(struct index_list *l, uint32_t item)
{
    uint32_t i = 0;

    while (i < l->n && l->items[i] != item)
        i++;
    if (i == l->n)
        return false;
    memmove(&l->items[i], &l->items[i + 1], (l->n - i - 1) * sizeof *l->items);
    l->n--;
    return true;
}

/* ---- making and freeing it ---- */

static void init_hosts(struct cluster *c)
{
    c->hosts = arena_array(&c->arena, struct host_sim, c->initial->n_hosts + 1);
    c->core_mhz = arena_array(&c->arena, double, c->initial->n_hosts + 1);
    for (uint32_t i = 0; i < c->initial->n_hosts; i++) {
        const struct host_facts *f = &host_of(c, i)->is;
        struct host_sim *h = &c->hosts[i];

        h->now.state = f->state;
        h->now.dead = f->state == HOST_DISCONNECTED; /* for good: no event brings it back */
        h->now.powered = f->state != HOST_STANDBY && !h->now.dead;
        if (f->state == HOST_ENTERING_STANDBY || (f->state == HOST_POWERING_ON && host_of(c, i)->vms.n > 0))
            h->now.state = HOST_ON; /* its VMs stay: no manager moves them */
        h->on_since = f->on_since;
        h->asleep_since_s = h->short_since_s = NAN;
        h->standby_since = f->standby_since;
        c->core_mhz[i] = f->total[RES_CPU] / (f->cores ? f->cores : 1);
        cluster_mark_host(c, i);
    }
}

/* A VM that is there from the beginning runs where the snapshot has it; one that arrives does not, whatever
 * the snapshot says. */
static void init_vms(struct cluster *c)
{
    uint32_t n = c->initial->n_vms;

    c->vms = arena_array(&c->arena, struct vm_sim, n + 1);
    c->arrivals = arena_array(&c->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct vm *v = vm_of(c, i);
        const struct vm_model *m = &c->s->vms[i];
        struct vm_sim *x = &c->vms[i];
        bool later = m->arrives_s > 0;

        *x = (struct vm_sim){.home = v->host,
                             .starting = IX_NONE,
                             .forced = sim_fault_count,
                             .state = later ? VM_OFF : v->is.state,
                             .present = !later,
                             .consumed_mb = later ? 0 : v->is.consumed_mb,
                             .last_migrated = v->is.last_migrated};
        x->now.host = IX_NONE;
        if (later)
            events_set(&c->events, event_slot(c, SIM_EVENT_PRESENCE, i), m->arrives_s);
        else if (m->leaves_s < INFINITY)
            events_set(&c->events, event_slot(c, SIM_EVENT_PRESENCE, i), m->leaves_s);
        if (x->state != VM_ON)
            continue;
        cluster_vm_demand_begin(c, i);
        if (is_up(&c->hosts[v->host]))
            cluster_place_vm(c, i, v->host);
        else
            fault_vm_goes_down(c, i);
    }
}

static void init_events(struct cluster *c)
{
    uint32_t v = c->initial->n_vms, h = c->initial->n_hosts;
    const uint32_t count[SIM_EVENT_KINDS] = {
        [SIM_EVENT_SCRIPTED_FAULT] = 1, [SIM_EVENT_SOURCE_DEAF] = 1,   [SIM_EVENT_ACTUATOR_DEAF] = 1,
        [SIM_EVENT_HOST_DIES] = h,      [SIM_EVENT_SAMPLES_STALE] = v, [SIM_EVENT_SAMPLES_GARBAGE] = v,
        [SIM_EVENT_HOST] = h,           [SIM_EVENT_MIGRATION] = v,     [SIM_EVENT_PRESENCE] = v,
        [SIM_EVENT_START] = v,          [SIM_EVENT_DEMAND] = v};
    uint32_t n = 0;

    for (int k = 0; k < SIM_EVENT_KINDS; k++) {
        c->first_slot[k] = n;
        n += count[k];
    }
    events_init(&c->events, n, &c->arena);
}

/* What is under way at the beginning: no caller has asked this cluster for it, so it has no task. */
static void init_transitions(struct cluster *c)
{
    for (uint32_t i = 0; i < c->initial->n_hosts; i++) {
        switch (c->hosts[i].now.state) {
        case HOST_POWERING_ON:
            power_wake_begin(c, i, TASK_NONE);
            break;
        case HOST_ENTERING_MAINTENANCE:
            power_maintenance_check(c, i);
            break;
        case HOST_ON:
        case HOST_MAINTENANCE:
        case HOST_ENTERING_STANDBY:
        case HOST_STANDBY:
        case HOST_DISCONNECTED:
        case host_state_count:
            break;
        }
    }
}

struct cluster *cluster_new(const struct scenario *s)
{
    struct cluster *c = calloc(1, sizeof *c);

    if (!c)
        abort(); /* as an arena does */
    c->s = s;
    c->initial = &s->initial;
    init_events(c);
    tasks_init(c);
    init_hosts(c);
    per_host_pools_init(c);
    init_vms(c);
    faults_init(c);
    init_transitions(c);
    cluster_recompute(c);
    return c;
}

void cluster_free(struct cluster *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->initial->n_hosts; i++) {
        struct host_sim *h = &c->hosts[i];

        free(h->vms.items);
        free(h->arrives.items);
        free(h->parts);
        free(h->tree.nodes);
        free(h->tree.child);
        free(h->tree.whole);
        free(h->tree.reserved);
        free(h->tree.got);
    }
    for (uint32_t p = 0; p < c->initial->n_pools; p++)
        free(c->below[p].items);
    free(c->moving.items);
    free(c->queued.items);
    free(c->marked.items);
    free(c->tasks);
    free(c->armed);
    arena_release(&c->scratch);
    arena_release(&c->arena);
    free(c);
}

/* ---- time goes by ---- */

void cluster_mark_host(struct cluster *c, uint32_t host)
{
    if (c->hosts[host].marked)
        return;
    c->hosts[host].marked = true;
    cluster_list_append(&c->marked, host);
}

/* Computing a host may find a migration that needs a queued one to begin (never the other way round), and
 * what is copied takes CPU: so migrations first, then links, then hosts. */
void cluster_recompute(struct cluster *c)
{
    if (c->slots_changed) {
        c->slots_changed = false;
        migrate_begin_queued(c);
    }
    if (c->links_changed) {
        c->links_changed = false;
        migrate_share_links(c);
    }
    for (uint32_t i = 0; i < c->marked.n; i++) {
        c->hosts[c->marked.items[i]].marked = false;
        schedule_host(c, c->marked.items[i]);
    }
    c->marked.n = 0;
}

static enum sim_event kind_of(const struct cluster *c, uint32_t s, uint32_t *ret_index)
{
    int kind = SIM_EVENT_KINDS - 1;

    while (c->first_slot[kind] > s)
        kind--;
    *ret_index = s - c->first_slot[kind];
    return (enum sim_event)kind;
}

/* Each handler sees its event taken off already, and sets the next one; but demand sets its own at once: it
 * is what happens most. */
static void happen(struct cluster *c, uint32_t s)
{
    uint32_t i;
    enum sim_event kind = kind_of(c, s, &i);

    if (kind == SIM_EVENT_DEMAND) {
        cluster_on_demand(c, i);
        return;
    }
    events_set(&c->events, s, INFINITY);
    switch (kind) {
    case SIM_EVENT_SCRIPTED_FAULT:
    case SIM_EVENT_SOURCE_DEAF:
    case SIM_EVENT_ACTUATOR_DEAF:
    case SIM_EVENT_HOST_DIES:
    case SIM_EVENT_SAMPLES_STALE:
    case SIM_EVENT_SAMPLES_GARBAGE:
        cluster_on_fault(c, kind, i);
        return;
    case SIM_EVENT_HOST:
        cluster_on_host(c, i);
        return;
    case SIM_EVENT_MIGRATION:
        cluster_on_migration(c, i);
        return;
    case SIM_EVENT_PRESENCE:
        cluster_on_presence(c, i);
        return;
    case SIM_EVENT_START:
        cluster_on_start(c, i);
        return;
    case SIM_EVENT_DEMAND:
    case SIM_EVENT_KINDS:
        return;
    }
}

void cluster_advance(struct cluster *c, double t_s)
{
    uint32_t s = 0;

    assert(t_s >= c->now_s);
    for (double due; (due = events_next(&c->events, &s)) <= t_s;) {
        c->now_s = fmax(due, c->now_s);
        while (events_next(&c->events, &s) <= c->now_s)
            happen(c, s);
        cluster_recompute(c);
    }
    c->now_s = t_s;
}

uint32_t cluster_next_arrival(struct cluster *c)
{
    while (c->n_told < c->n_arrivals) {
        uint32_t vm = c->arrivals[c->n_told++];

        if (c->vms[vm].present) /* it may have left before anybody asked */
            return vm;
    }
    return IX_NONE;
}
