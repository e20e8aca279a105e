/* Builds a layout from a snapshot; makes, tries and undoes moves on it. */
#include "core/layout/layout.h"

#include "base/thread_pool.h"

#include <stdlib.h>

/* ---- slots ---- */

double layout_mem_admitted(const struct policy *p, const struct vm_facts *v)
{
    double takes = 0;

    switch (p->mem_admission) {
    case MEM_ADMISSION_RESERVATION:
        takes = v->alloc[RES_MEM].reservation;
        break;
    case MEM_ADMISSION_CONSUMED:
        takes = fmax(v->consumed_mb, v->alloc[RES_MEM].reservation);
        break;
    case MEM_ADMISSION_CONFIGURED:
        takes = v->mem_mb;
        break;
    case mem_admission_count:
        break;
    }
    return takes + v->overhead_mb;
}

static void number_slots(struct layout *l)
{
    const struct snapshot *s = l->snap;

    l->slot_host = arena_array(l->a, uint32_t, (size_t)s->n_hosts + 1);
    l->host_slot = arena_array(l->a, uint32_t, s->n_hosts);
    for (uint32_t h = 0; h < s->n_hosts; h++)
        if (host_can_run_vms(&s->hosts[h]))
            l->slot_host[l->n_slots++] = h;
    l->n_on = l->n_slots;
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        l->host_slot[h] = IX_NONE;
        if (!host_can_run_vms(&s->hosts[h]) && s->hosts[h].is.state != HOST_DISCONNECTED)
            l->slot_host[l->n_slots++] = h;
    }
    for (uint32_t i = 0; i < l->n_slots; i++)
        l->host_slot[l->slot_host[i]] = i;
    l->outside = l->n_slots;
    l->slot_host[l->outside] = IX_NONE;
}

static void alloc_slots(struct layout *l)
{
    size_t n = (size_t)l->n_slots + 1;

    for (int r = 0; r < RES_COUNT; r++) {
        l->norm[r] = arena_array(l->a, double, n);
        l->inverse[r] = arena_array(l->a, double, n);
        l->reserved[r] = arena_array(l->a, double, n);
        l->leaving[r] = arena_array(l->a, double, n);
    }
    l->mem_taken = arena_array(l->a, double, n);
    l->mem_leaving = arena_array(l->a, double, n);
    l->mem_limit = arena_array(l->a, double, n);
    l->mem_free = arena_array(l->a, double, n);
    l->mem_idle = arena_array(l->a, double, n);
    l->agents_ready = arena_array(l->a, bool, n);
    l->closing = arena_array(l->a, bool, n);
    l->waking = arena_array(l->a, bool, n);
    l->asleep = arena_array(l->a, bool, n);
    l->list = arena_array(l->a, struct unit_list, n);
}

/* Hosts that an approved recommendation is about to power off or service receive nothing. */
static void close_slots(struct layout *l)
{
    for (uint32_t i = 0; i < l->snap->n_pending; i++) {
        const struct pending *p = &l->snap->pending[i];
        bool closes = p->action == ACTION_POWER_OFF || p->action == ACTION_ENTER_MAINTENANCE;
        if (closes && l->host_slot[p->host] != IX_NONE)
            l->closing[l->host_slot[p->host]] = true;
    }
}

/* Agents belong to their host, so the host keeps their reservations even before they run (§3.3.3). */
static void reserve_for_agents(struct layout *l, uint32_t slot)
{
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];

    l->agents_ready[slot] = true;
    for (uint32_t j = 0; j < h->agents_required.n; j++) {
        const struct vm *agent = &l->snap->vms[h->agents_required.items[j]];
        bool here = agent->host == l->slot_host[slot];
        l->agents_ready[slot] = l->agents_ready[slot] && agent->is.state == VM_ON && here;
        if (!here || agent->is.state == VM_ON)
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            l->reserved[r][slot] += agent->is.alloc[r].reservation;
        l->mem_taken[slot] += layout_mem_admitted(l->policy, &agent->is);
    }
}

static void make_slots(struct layout *l)
{
    number_slots(l);
    alloc_slots(l);
    close_slots(l);
    for (uint32_t i = 0; i < l->n_slots; i++) {
        const struct host *h = &l->snap->hosts[l->slot_host[i]];
        for (int r = 0; r < RES_COUNT; r++)
            l->inverse[r][i] = 1 / h->capacity[r];
        l->mem_limit[i] = h->capacity[RES_MEM] * l->policy->mem_overcommit;
        l->mem_free[i] = isnan(h->is.mem_free_mb) ? NO_LIMIT : h->is.mem_free_mb;
        reserve_for_agents(l, i);
        if (!host_is_distrusted(l->snap, l->slot_host[i]))
            continue;
        if (!l->distrusted)
            l->distrusted = arena_array(l->a, bool, l->n_slots);
        l->distrusted[i] = true;
    }
}

/* ---- units ---- */

/* The physical memory that a VM needs wherever it runs: by policy.mem_admission and mem_overcommit, but at
 * least what it demands and what it reserves, where the hypervisor may reclaim the rest of what backs it. */
static double mem_needed(const struct policy *p, const struct vm_facts *v, double admitted)
{
    double most = fmax(admitted, v->consumed_mb + v->overhead_mb);
    bool promised = p->mem_overcommit > 1 || p->mem_admission == MEM_ADMISSION_RESERVATION;

    if (!promised || v->no_reclaim || v->demand_unknown || v->sample_bad || v->state != VM_ON)
        return most;
    double least = fmax(v->demand[RES_MEM], v->alloc[RES_MEM].reservation + v->overhead_mb);

    return fmin(most, fmax(least, admitted / fmax(p->mem_overcommit, 1)));
}

struct vm_weight layout_weigh_vm(const struct layout *l, uint32_t vm)
{
    const struct vm_facts *v = &l->snap->vms[vm].is;
    double consumed = v->consumed_mb + v->overhead_mb;
    struct vm_weight w = {.mem = layout_mem_admitted(l->policy, v)};

    w.phys = mem_needed(l->policy, v, w.mem);
    w.backed = fmin(consumed, w.phys);
    w.idle = consumed - w.backed;
    for (int r = 0; r < RES_COUNT; r++) {
        w.demand[r] = l->entitlement[r][vm];
        w.reserved[r] = v->alloc[r].reservation;
    }
    return w;
}

/* The hosts that all members may use. */
static const uint64_t *common_hosts(struct layout *l, uint32_t u)
{
    const uint64_t *one = NULL;
    uint64_t *both = NULL;

    for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++) {
        const uint64_t *mine = l->rules->allowed[l->unit_vms[i]];
        if (!mine)
            continue;
        if (!one) {
            one = mine;
            continue;
        }
        if (!both) {
            both = arena_array(l->a, uint64_t, l->rules->words);
            for (uint32_t w = 0; w < l->rules->words; w++)
                both[w] = one[w];
        }
        for (uint32_t w = 0; w < l->rules->words; w++)
            both[w] &= mine[w];
    }
    return both ? both : one;
}

static const uint64_t *restart_hosts(struct layout *l, uint32_t u)
{
    uint64_t *narrower = NULL;

    for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        if (l->rules->restart[vm] == l->rules->must[vm])
            continue;
        bool first = !narrower;
        narrower = first ? arena_array(l->a, uint64_t, l->rules->words) : narrower;
        for (uint32_t w = 0; w < l->rules->words; w++)
            narrower[w] = (!first               ? narrower[w]
                           : l->unit_allowed[u] ? l->unit_allowed[u][w]
                                                : UINT64_MAX) &
                          l->rules->restart[vm][w];
    }
    return narrower ? narrower : l->unit_allowed[u];
}

struct by_place {
    uint32_t slot, component, vm;
};

static int compare_places(const void *a, const void *b)
{
    const struct by_place *x = a;
    const struct by_place *y = b;

    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return (x->vm > y->vm) - (x->vm < y->vm);
}

static void alloc_units(struct layout *l, uint32_t n)
{
    l->unit_slot = arena_array(l->a, uint32_t, n);
    l->unit_first = arena_array(l->a, uint32_t, n);
    l->unit_from = arena_array(l->a, uint32_t, (size_t)n + 1);
    l->unit_vms = arena_array(l->a, uint32_t, n);
    l->unit_index = arena_array(l->a, uint32_t, n);
    for (int r = 0; r < RES_COUNT; r++) {
        l->unit_demand[r] = arena_array(l->a, double, n);
        l->unit_reserved[r] = arena_array(l->a, double, n);
    }
    l->unit_mem = arena_array(l->a, double, n);
    l->unit_phys = arena_array(l->a, double, n);
    l->unit_backed = arena_array(l->a, double, n);
    l->unit_idle = arena_array(l->a, double, n);
    l->unit_allowed = arena_array(l->a, const uint64_t *, n);
    l->unit_restart = arena_array(l->a, const uint64_t *, n);
    l->unit_held = arena_array(l->a, enum check, n);
}

/* VMs that are on no host. */
static uint32_t sort_arrivals(const struct layout *l, struct by_place *places, uint32_t from)
{
    uint32_t n = from;

    for (uint32_t i = 0; i < l->snap->n_vms; i++)
        if (vm_waits(&l->snap->vms[i]))
            places[n++] = (struct by_place){l->outside, l->rules->component[i], i};
    if (n > from)
        qsort(places + from, n - from, sizeof places[0], compare_places);
    return n;
}

/* Numbers units by slot, so that the climb reads memory in order. A counting sort by slot; within a slot by
 * component only where an affinity rule needs it. */
static uint32_t sort_places(struct layout *l, struct by_place *places)
{
    const struct snapshot *s = l->snap;
    uint32_t n = 0;

    for (uint32_t slot = 0; slot < l->n_slots; slot++) {
        uint32_t from = n;
        struct span vms = s->hosts[l->slot_host[slot]].vms;
        bool affine = false;
        for (uint32_t i = 0; i < vms.n; i++) {
            uint32_t vm = vms.items[i];
            if (!vm_takes_part(s, &s->vms[vm]))
                continue;
            affine = affine || l->rules->component[vm] != vm;
            places[n++] = (struct by_place){slot, l->rules->component[vm], vm};
        }
        if (affine)
            qsort(places + from, n - from, sizeof places[0], compare_places);
    }
    return sort_arrivals(l, places, n);
}

static void chain_sets(struct layout *l)
{
    l->set_first = arena_array(l->a, uint32_t, l->snap->n_vms);
    l->unit_next = arena_array(l->a, uint32_t, l->n_units);
    for (uint32_t i = 0; i < l->snap->n_vms; i++)
        l->set_first[i] = IX_NONE;
    for (uint32_t u = l->n_units; u-- > 0;) {
        uint32_t *first = &l->set_first[l->rules->component[l->unit_first[u]]];
        l->unit_next[u] = *first;
        *first = u;
    }
}

/* A check that only prevents moves for balance must not hide that the unit's affine set is scattered. */
static void hold_back(struct layout *l, uint32_t unit)
{
    if (l->unit_held[unit] == CHECK_NONE || layout_holds_from_balance(l->unit_held[unit]))
        l->unit_held[unit] = CHECK_RULE_AFFINITY;
}

/* Holds an affine set on several hosts until it is together. */
static void hold_scattered(struct layout *l)
{
    for (uint32_t u = 0; u < l->n_units; u++) {
        uint32_t first = l->set_first[l->rules->component[l->unit_first[u]]];
        if (first != u || l->unit_next[u] != IX_NONE)
            hold_back(l, u);
    }
}

/* The VM's check holds its unit, unless another VM's does so more firmly: a rejection holds it from balance
 * only, a cool-down ends by itself, and all other checks of layout_holds_from_balance() still allow mandatory
 * moves. */
static void hold_unit(struct layout *l, uint32_t unit, enum check held)
{
    enum check before = l->unit_held[unit];

    if (before == CHECK_NONE || (before == CHECK_VM_REJECTED && held != CHECK_NONE) ||
        (before == CHECK_VM_COOL_DOWN && held != CHECK_NONE && held != CHECK_VM_REJECTED) ||
        (layout_holds_from_balance(before) && !layout_holds_from_balance(held) && held != CHECK_NONE))
        l->unit_held[unit] = held;
}

/* What the VMs of these units say of them. */
static void weigh_units(void *arg, uint32_t begin, uint32_t end)
{
    struct layout *l = arg;

    for (uint32_t i = l->unit_from[begin]; i < l->unit_from[end]; i++) {
        uint32_t u = l->vm_unit[l->unit_vms[i]];
        struct vm_weight w = layout_weigh_vm(l, l->unit_vms[i]);
        hold_unit(l, u, layout_vm_check(l, l->unit_vms[i]));
        for (int r = 0; r < RES_COUNT; r++) {
            l->unit_demand[r][u] += w.demand[r];
            l->unit_reserved[r][u] += w.reserved[r];
        }
        l->unit_mem[u] += w.mem;
        l->unit_phys[u] += w.phys;
        l->unit_backed[u] += w.backed;
        l->unit_idle[u] += w.idle;
    }
}

static void make_units(struct layout *l)
{
    const struct snapshot *s = l->snap;
    struct by_place *places = arena_array(l->a, struct by_place, s->n_vms);
    uint32_t n = sort_places(l, places);

    l->in_flight = arena_array(l->a, bool, s->n_vms);
    for (uint32_t i = 0; i < s->n_migrations; i++)
        l->in_flight[s->migrations[i].vm] = true;
    for (uint32_t i = 0; i < s->n_pending; i++)
        if (s->pending[i].vm != IX_NONE)
            l->in_flight[s->pending[i].vm] = true;
    alloc_units(l, n);
    l->going_to = arena_array(l->a, uint32_t, s->n_vms);
    l->other_end = arena_array(l->a, uint32_t, s->n_vms);
    l->vm_unit = arena_array(l->a, uint32_t, s->n_vms);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        l->going_to[i] = IX_NONE;
        l->other_end[i] = IX_NONE;
        l->vm_unit[i] = IX_NONE;
        l->has_pairs = l->has_pairs || s->vms[i].ft_peer != IX_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool same =
            i > 0 && places[i].slot == places[i - 1].slot && places[i].component == places[i - 1].component;
        if (!same) {
            l->unit_from[l->n_units] = i;
            l->unit_slot[l->n_units] = places[i].slot;
            l->unit_first[l->n_units] = places[i].vm;
            l->n_units++;
        }
        uint32_t u = l->n_units - 1;
        l->unit_vms[i] = places[i].vm;
        l->vm_unit[places[i].vm] = u;
        l->unit_from[u + 1] = i + 1;
    }
    parallel_for(l->policy->thread_pool, l->n_units, LAYOUT_UNITS_GRAIN, weigh_units, l);
    for (uint32_t u = 0; u < l->n_units; u++) {
        l->unit_allowed[u] = common_hosts(l, u);
        l->unit_restart[u] = restart_hosts(l, u);
    }
    chain_sets(l);
    hold_scattered(l);
}

/* ---- sums ---- */

/* A host that is emptied has no load: what rounding leaves of the sum may be below 0. */
static void set_norm(struct layout *l, enum resource r, uint32_t slot, double sum)
{
    double old = l->norm[r][slot];
    double norm = sum > 0 ? sum : 0;

    l->norm[r][slot] = norm;
    if (slot >= l->n_on)
        return;
    l->sum[r] += norm - old;
    l->sum_squares[r] += norm * norm - old * old;
    l->over[r] += (uint32_t)(norm > LAYOUT_FULL) - (uint32_t)(old > LAYOUT_FULL);
}

static void count_apart(struct layout *l, uint32_t vm, uint32_t slot, int by)
{
    if (slot == l->outside)
        return;
    if (l->used)
        layout_count_shares(l, l->used, vm, slot, by);
    for (uint32_t i = l->rules->groups.from[vm]; i < l->rules->groups.from[vm + 1]; i++) {
        uint16_t *n = &l->apart[(size_t)l->rules->groups.of[i] * l->n_slots + slot];
        *n = (uint16_t)(*n + by);
    }
}

/* The host's own use is a load that nothing moves. Reservations do not give way to a short burst of it. */
static void weigh_own_use(struct layout *l, uint32_t slot)
{
    const struct own_use *own = &l->snap->hosts[l->slot_host[slot]].own;

    for (int r = 0; r < RES_COUNT; r++) {
        set_norm(l, (enum resource)r, slot, own->now[r] * l->inverse[r][slot]);
        l->reserved[r][slot] += fmin(own->now[r], own->window[WINDOW_40M][r].mean);
    }
    l->mem_taken[slot] += own->now[RES_MEM];
}

/* Adds what a unit uses to a slot (by = 1) or subtracts it (by = -1). */
static void weigh_on(struct layout *l, uint32_t u, uint32_t slot, int by)
{
    for (int r = 0; r < RES_COUNT; r++) {
        set_norm(l, (enum resource)r, slot,
                 l->norm[r][slot] + by * l->unit_demand[r][u] * l->inverse[r][slot]);
        l->reserved[r][slot] += by * l->unit_reserved[r][u];
    }
    l->mem_taken[slot] += by * l->unit_mem[u];
    l->mem_idle[slot] += by * l->unit_idle[u];
    for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++)
        count_apart(l, l->unit_vms[i], slot, by);
}

static void list_add(struct layout *l, uint32_t u, uint32_t slot)
{
    struct unit_list *list = &l->list[slot];

    list->items = arena_grow(l->a, list->items, list->n, &list->cap, sizeof list->items[0]);
    l->unit_index[u] = list->n;
    list->items[list->n++] = u;
}

static void list_remove(struct layout *l, uint32_t u, uint32_t slot)
{
    struct unit_list *list = &l->list[slot];
    uint32_t last = list->items[--list->n];

    list->items[l->unit_index[u]] = last;
    l->unit_index[last] = l->unit_index[u];
}

/* Adds what a VM in flight uses to the host that does not list it. */
static void weigh_other_end(struct layout *l, const struct vm_weight *w, uint32_t vm, uint32_t slot)
{
    for (int r = 0; r < RES_COUNT; r++) {
        set_norm(l, (enum resource)r, slot, l->norm[r][slot] + w->demand[r] * l->inverse[r][slot]);
        l->reserved[r][slot] += w->reserved[r];
    }
    l->mem_taken[slot] += w->mem;
    count_apart(l, vm, slot, 1);
}

/* Takes the memory that a VM in flight will have on its destination. */
static void take_free(struct layout *l, const struct vm_weight *w, uint32_t to)
{
    l->mem_free[to] -= w->phys;
    l->mem_idle[to] += w->idle;
}

/* Counts a VM with an approved power-on: its reservation and all its memory are taken on its host. Its load
 * is unknown, so no VM moves out of its way. */
static void add_placed(struct layout *l, uint32_t vm, uint32_t to_host)
{
    uint32_t to = l->host_slot[to_host];

    if (to == IX_NONE || l->vm_unit[vm] != IX_NONE)
        return;
    struct vm_weight w = layout_weigh_vm(l, vm);
    double configured = l->snap->vms[vm].is.mem_mb + l->snap->vms[vm].is.overhead_mb;
    w.mem = fmax(w.mem, l->policy->mem_admission == MEM_ADMISSION_RESERVATION ? 0 : configured);
    weigh_other_end(l, &w, vm, to);
    l->other_end[vm] = to;
    l->mem_free[to] -= fmax(w.phys, configured);
}

/* Counts a VM that migrates from a disconnected host: it will arrive, so its capacity is taken. It has no
 * load, because it takes no part in the divvy. */
static void add_unseen(struct layout *l, const struct vm_weight *w, uint32_t vm, uint32_t to)
{
    if (to == IX_NONE || l->snap->vms[vm].is.state != VM_ON || l->snap->vms[vm].is.kind == VM_SPARE)
        return;
    weigh_other_end(l, w, vm, to);
    l->other_end[vm] = to;
    take_free(l, w, to);
}

/* Counts a migration in flight on both hosts, and takes the destination's free memory. Only this VM: other
 * members of its unit may not migrate. A VM that is already listed on its destination has its memory there,
 * and its source keeps it until the migration ends. */
static void add_in_flight(struct layout *l, uint32_t vm, uint32_t from_host, uint32_t to_host)
{
    uint32_t u = l->vm_unit[vm];
    uint32_t from = from_host == IX_NONE ? IX_NONE : l->host_slot[from_host];
    uint32_t to = l->host_slot[to_host];

    struct vm_weight w = layout_weigh_vm(l, vm);
    if (u == IX_NONE) {
        add_unseen(l, &w, vm, to);
        return;
    }
    bool goes_on = l->going_to[vm] != IX_NONE; /* this move begins where another one ends */
    bool arrived = to == l->unit_slot[u];
    uint32_t leaves = arrived ? from : l->unit_slot[u];
    uint32_t other = arrived ? from : to;
    if (other == IX_NONE || other == l->unit_slot[u])
        return;
    weigh_other_end(l, &w, vm, other);
    l->other_end[vm] = goes_on ? l->other_end[vm] : other;
    for (int r = 0; r < RES_COUNT && !goes_on; r++)
        l->leaving[r][leaves] += w.reserved[r];
    l->mem_leaving[leaves] += goes_on ? 0 : w.mem;
    if (arrived)
        return;
    l->going_to[vm] = to;
    take_free(l, &w, to);
}

void layout_init_bare(struct layout *l, const struct snapshot *snap, const struct policy *policy,
                      const struct rules *rules, double *const entitlement[RES_COUNT], struct arena *a)
{
    *l = (struct layout){.snap = snap, .policy = policy, .rules = rules, .a = a};
    make_slots(l);
    l->entitlement = entitlement;
    make_units(l);
    layout_init_avoided(l);
    l->apart = arena_array(a, uint16_t, (size_t)rules->n_groups * l->n_slots);
    layout_init_quantities(l);
    for (uint32_t i = 0; i < l->n_slots; i++)
        weigh_own_use(l, i);
    for (uint32_t u = 0; u < l->n_units; u++) {
        list_add(l, u, l->unit_slot[u]);
        weigh_on(l, u, l->unit_slot[u], 1);
        l->mem_free[l->unit_slot[u]] += l->unit_idle[u];
    }
    for (uint32_t i = 0; i < snap->n_migrations; i++)
        add_in_flight(l, snap->migrations[i].vm, snap->migrations[i].from, snap->migrations[i].to);
    for (uint32_t i = 0; i < snap->n_pending; i++) {
        if (snap->pending[i].action == ACTION_MIGRATE)
            add_in_flight(l, snap->pending[i].vm, IX_NONE, snap->pending[i].to);
        else if (snap->pending[i].action == ACTION_PLACE)
            add_placed(l, snap->pending[i].vm, snap->pending[i].to);
    }
    layout_count_off(l);
    if (rules->fit.cells.row_from)
        layout_init_cells(l);
    l->mem_free0 = arena_array(a, double, (size_t)l->n_slots + 1);
    for (uint32_t i = 0; i < l->n_slots; i++)
        l->mem_free0[i] = l->mem_free[i];
}

void layout_init(struct layout *l, const struct snapshot *snap, const struct policy *policy,
                 const struct rules *rules, double *const entitlement[RES_COUNT], struct arena *a)
{
    layout_init_bare(l, snap, policy, rules, entitlement, a);
    failover_capacity_init(&l->failover, l, a);
}

void layout_move(struct layout *l, uint32_t unit, uint32_t to_slot)
{
    uint32_t from = l->unit_slot[unit];

    weigh_on(l, unit, from, -1);
    weigh_on(l, unit, to_slot, 1);
    l->mem_free[from] += l->unit_backed[unit];
    l->mem_free[to_slot] -= l->unit_phys[unit];
    list_remove(l, unit, from);
    list_add(l, unit, to_slot);
    l->unit_slot[unit] = to_slot;
    if (l->cells)
        layout_move_cells(l, unit, from, to_slot);
}
