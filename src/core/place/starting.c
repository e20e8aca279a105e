/* Makes a snapshot in which VMs with a pending power-on run with all they can use. */
#include "core/place/starting.h"

#include <string.h>

void starting_assume_all(struct vm *v, double core_mhz)
{
    v->is.state = VM_ON;
    v->host = IX_NONE;
    v->is.demand[RES_CPU] = core_mhz * v->is.vcpus;
    v->is.demand[RES_MEM] = v->is.mem_mb;
    v->is.consumed_mb = v->is.mem_mb;
    v->is.demand_unknown = false;
    v->is.no_reclaim = true; /* it may use all of it */
    vm_facts_windows(&v->is);
}

/* An approved power-on that the inventory does not show yet. */
static bool is_to_start(const struct snapshot *s, const struct pending *p)
{
    return p->action == ACTION_PLACE && s->vms[p->vm].is.state != VM_ON &&
           s->hosts[p->to].is.state != HOST_DISCONNECTED;
}

/* Adds the VM to the host's VMs; the span stays ascending. */
static void list_vm(struct host *h, uint32_t vm, struct arena *a)
{
    uint32_t *items = arena_array(a, uint32_t, (size_t)h->vms.n + 1);
    uint32_t n = 0;

    while (n < h->vms.n && h->vms.items[n] < vm)
        n++;
    if (n > 0)
        memcpy(items, h->vms.items, n * sizeof *items);
    items[n] = vm;
    if (n < h->vms.n)
        memcpy(items + n + 1, h->vms.items + n, (h->vms.n - n) * sizeof *items);
    h->vms = (struct span){.items = items, .n = h->vms.n + 1};
}

static void start(struct snapshot *s, const struct pending *p, struct arena *a)
{
    struct vm *v = &s->vms[p->vm];
    struct host *h = &s->hosts[p->to];

    starting_assume_all(v, host_core_mhz(h));
    v->host = p->to;
    list_vm(h, p->vm, a);
    h->is.mem_free_mb -= v->is.consumed_mb + v->is.overhead_mb; /* UNKNOWN stays UNKNOWN */
}

const struct snapshot *starting_counted(const struct snapshot *snap, struct arena *a)
{
    struct snapshot *ret = NULL;

    for (uint32_t i = 0; i < snap->n_pending; i++) {
        if (!is_to_start(snap, &snap->pending[i]))
            continue;
        if (!ret) {
            ret = arena_new(a, struct snapshot);
            *ret = *snap;
            ret->vms = arena_copy(a, snap->vms, snap->n_vms, sizeof *ret->vms);
            ret->hosts = arena_copy(a, snap->hosts, snap->n_hosts, sizeof *ret->hosts);
        }
        start(ret, &snap->pending[i], a);
    }
    return ret ? ret : snap;
}

/* Adds what the VM will take of the host. */
static void add_arrival(const struct snapshot *s, uint32_t vm, uint32_t to, double *const ret[RES_COUNT])
{
    struct vm v = s->vms[vm];

    if (v.is.state != VM_ON)
        starting_assume_all(&v, host_core_mhz(&s->hosts[to]));
    else if (v.host == to)
        return;
    ret[RES_CPU][to] += v.is.demand[RES_CPU];
    ret[RES_MEM][to] += v.is.consumed_mb + v.is.overhead_mb;
}

void starting_on_the_way(const struct snapshot *s, struct arena *a, double *ret[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        ret[r] = arena_array(a, double, s->n_hosts);
    for (uint32_t i = 0; i < s->n_migrations; i++)
        add_arrival(s, s->migrations[i].vm, s->migrations[i].to, ret);
    for (uint32_t i = 0; i < s->n_pending; i++)
        if (s->pending[i].to != IX_NONE)
            add_arrival(s, s->pending[i].vm, s->pending[i].to, ret);
}
