/* Finds the failover slots of a layout: for each host that may fail, for each of its VMs. */
#include "core/layout/failover_internal.h"

#include "base/order.h"

#include <stdlib.h>

struct want {
    uint32_t vm;
    enum restart_priority priority;
    uint32_t hosts; /* hosts that mandatory rules allow; for a spare VM, on which it fits */
    double size;    /* the larger of its shares of the largest host */
};

/* Within the highest restart priority. */
static int largest_first(const void *a, const void *b)
{
    const struct want *x = a;
    const struct want *y = b;

    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->vm > y->vm) - (x->vm < y->vm);
}

/* Likewise, fewest allowed hosts first, then the largest. */
static int hardest_first(const void *a, const void *b)
{
    const struct want *x = a;
    const struct want *y = b;

    return x->priority == y->priority && x->hosts != y->hosts ? (x->hosts < y->hosts ? -1 : 1)
                                                              : largest_first(a, b);
}

static double size_of(const struct failover_capacity *s, uint32_t vm)
{
    double size = 0;

    for (int r = 0; r < RES_COUNT; r++)
        size = fmax(size, failover_capacity_need_of(s, vm, r) * s->inverse_least[r]);
    return size;
}

void failover_slot_missing(struct failover_capacity *s, uint32_t vm, uint32_t lost,
                           const double need[RES_COUNT])
{
    s->gaps = arena_grow(s->a, s->gaps, s->n_gaps, &s->cap_gaps, sizeof s->gaps[0]);
    s->n_open++;
    s->gaps[s->n_gaps++] = (struct failover_gap){
        .vm = vm, .lost = lost, .need = {[RES_CPU] = need[RES_CPU], [RES_MEM] = need[RES_MEM]}};
}

bool failover_slot_is_bound(const struct failover_capacity *s, const uint64_t *allowed, uint32_t slot)
{
    const struct layout *l = s->l;

    for (uint32_t t = 0; t < l->n_slots; t++) {
        const struct host *h = &l->snap->hosts[l->slot_host[t]];
        bool could = t < l->n_on || (!h->failover && !host_is_avoided(h) &&
                                     (h->is.state == HOST_STANDBY || h->is.state == HOST_POWERING_ON));
        if (t != slot && could && (!allowed || bitmap_has(allowed, l->slot_host[t])))
            return false;
    }
    return true;
}

static uint32_t count_hosts_of(const struct failover_capacity *s, uint32_t vm)
{
    const uint64_t *may = s->l->rules->restart[vm];
    uint32_t n = 0;

    if (!may)
        return s->l->n_slots;
    for (uint32_t t = 0; t < s->l->n_slots; t++)
        n += bitmap_has(may, s->l->slot_host[t]);
    return n;
}

static enum restart_priority priority_of(const struct failover_capacity *s, uint32_t vm)
{
    enum restart_priority is = s->l->snap->vms[vm].is.restart_priority;

    return is == RESTART_NOT_GIVEN ? RESTART_MEDIUM : is;
}

/* Appends the VMs of a slot that need a failover slot. */
static uint32_t wants_of(const struct failover_capacity *s, uint32_t slot, struct want *wants, uint32_t n)
{
    const struct layout *l = s->l;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        for (uint32_t k = l->unit_from[u]; k < l->unit_from[u + 1]; k++) {
            uint32_t vm = l->unit_vms[k];
            if (failover_capacity_protects(s, vm) && l->snap->vms[vm].is.kind != VM_AGENT)
                wants[n++] = (struct want){.vm = vm,
                                           .priority = priority_of(s, vm),
                                           .hosts = count_hosts_of(s, vm),
                                           .size = size_of(s, vm)};
        }
    }
    return n;
}

void failover_slot_reserve(struct failover_capacity *s, uint32_t vm, uint32_t lost, uint32_t slot)
{
    struct failover_reserved *k = failover_capacity_add_reserved(s, lost, slot);

    for (int r = 0; r < RES_COUNT; r++) {
        double need = failover_capacity_need_of(s, vm, r);
        k->used[r] = s->singly ? fmax(k->used[r], need) : k->used[r] + need;
        s->use[r][slot] = k->used[r];
        s->reserved[r][slot] = fmax(s->reserved[r][slot], s->for_spare_vms[r][slot] + k->used[r]);
    }
    /* VMs of the N - 1 other hosts have a failover slot per loss; slot_of holds the one for the loss of their
     * own host */
    if (s->l->unit_slot[s->l->vm_unit[vm]] == lost)
        s->slot_of[vm] = slot;
}

/* Finds the VMs' failover slots one by one; a VM without one is a gap. */
static void find_failover_slots(struct failover_capacity *s, uint32_t lost, const struct want *wants,
                                uint32_t n)
{
    if (!s->singly)
        failover_live_begin(s, lost, IX_NONE);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t vm = wants[i].vm;
        const double need[RES_COUNT] = {[RES_CPU] = failover_capacity_need_of(s, vm, RES_CPU),
                                        [RES_MEM] = failover_capacity_need_of(s, vm, RES_MEM)};
        const struct failover_subject who = {vm, IX_NONE};

        if (s->singly)
            failover_live_begin(s, lost, vm);
        uint32_t to = failover_capacity_find_candidate(s, lost, &who, s->l->rules->restart[vm], need,
                                                       s->l->n_slots, false);
        if (s->singly)
            failover_live_end(s);
        if (to != IX_NONE) {
            failover_slot_reserve(s, vm, lost, to);
            if (!s->singly)
                failover_live_take(s, vm, to, false);
            continue;
        }
        failover_slot_missing(s, vm, lost, need);
        if (failover_slot_is_bound(s, s->l->rules->restart[vm], lost)) {
            s->gaps[s->n_gaps - 1].hopeless = true;
            s->n_open--; /* hopeless gaps do not count when plan_loss() compares two sequences */
        }
    }
    failover_live_end(s);
    for (uint32_t i = 0; i < s->by_lost[lost].n; i++)
        for (int r = 0; r < RES_COUNT; r++)
            s->use[r][s->by_lost[lost].items[i].slot] = 0;
}

/* Undoes find_failover_slots() for this loss, which must be its latest call. */
static void forget_failover_slots(struct failover_capacity *s, uint32_t lost, const struct want *wants,
                                  uint32_t n)
{
    struct failover_reserved_list *list = &s->by_lost[lost];

    while (s->n_gaps > 0 && s->gaps[s->n_gaps - 1].lost == lost)
        s->n_open -= !s->gaps[--s->n_gaps].hopeless;
    for (uint32_t i = 0; i < n; i++)
        if (s->l->unit_slot[s->l->vm_unit[wants[i].vm]] == lost)
            s->slot_of[wants[i].vm] = IX_NONE;
    while (list->n > 0) {
        uint32_t slot = list->items[--list->n].slot;
        s->by_holder[slot].n--; /* the latest entry of this holder */
        failover_capacity_refresh(s, slot);
    }
}

/* Tries the largest VM first; if that leaves gaps, the VM with the fewest allowed hosts first. */
static void plan_loss(struct failover_capacity *s, uint32_t lost, struct want *wants)
{
    static int (*const orders[])(const void *, const void *) = {largest_first, hardest_first, largest_first};
    uint32_t n = wants_of(s, lost, wants, 0);
    uint32_t open = s->n_open;
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < s->l->n_slots && !s->singly; i++)
        if (s->counted_on[i] && i != lost)
            n = wants_of(s, i, wants, n);
    for (size_t i = 0; i < sizeof orders / sizeof *orders && n > 0; i++) {
        if (i > 0)
            forget_failover_slots(s, lost, wants, n);
        qsort(wants, n, sizeof wants[0], orders[i]);
        find_failover_slots(s, lost, wants, n);
        if (s->n_open - open < least && i > 0) /* better than the first sequence: keep it */
            return;
        if (s->n_open == open)
            return;
        least = s->n_open - open;
    }
}

static void slot_for_spare_vm(struct failover_capacity *s, uint32_t vm, bool only_at_home)
{
    struct failover_gap gap = {
        .vm = vm,
        .lost = IX_NONE,
        .need = {failover_capacity_need_of(s, vm, RES_CPU), failover_capacity_need_of(s, vm, RES_MEM)}};

    if (only_at_home && !failover_gap_fits_at_home(s, &gap))
        return;
    s->n_open++; /* failover_gap_close() subtracts it again */
    if (failover_gap_close(s, &gap)) {
        s->slot_of[vm] = s->l->outside; /* marks a spare VM that has a failover slot */
        return;
    }
    s->n_open--;
    failover_slot_missing(s, vm, IX_NONE, gap.need);
}

static uint32_t count_hosts_for_spare_vm(const struct failover_capacity *s, uint32_t vm)
{
    const struct failover_gap gap = {
        .vm = vm,
        .lost = IX_NONE,
        .need = {failover_capacity_need_of(s, vm, RES_CPU), failover_capacity_need_of(s, vm, RES_MEM)}};
    double more[RES_COUNT];
    double left[RES_COUNT];
    uint32_t n = 0;

    for (uint32_t t = 0; t < s->l->n_slots; t++)
        n += failover_gap_measure(s, &gap, t, more, left) && failover_gap_fits(more, left);
    return n;
}

/* First spare VMs that fit on their host in the snapshot, then the others: those that fit on fewest hosts
 * first, then the largest. */
void failover_slots_for_spare_vms(struct failover_capacity *s)
{
    const struct snapshot *snap = s->l->snap;
    struct want *wants = arena_array(s->a, struct want, snap->n_vms);
    uint32_t n = 0;

    for (uint32_t i = 0; i < snap->n_vms; i++)
        if (snap->vms[i].is.kind == VM_SPARE && failover_capacity_protects(s, i))
            wants[n++] = (struct want){.vm = i, .size = size_of(s, i)};
    if (n == 0)
        return;
    s->active = true;
    qsort(wants, n, sizeof wants[0], largest_first);
    for (uint32_t i = 0; i < n; i++)
        slot_for_spare_vm(s, wants[i].vm, true);
    for (uint32_t i = 0; i < n; i++)
        wants[i].hosts = count_hosts_for_spare_vm(s, wants[i].vm);
    qsort(wants, n, sizeof wants[0], hardest_first);
    for (uint32_t i = 0; i < n; i++)
        if (s->slot_of[wants[i].vm] == IX_NONE)
            slot_for_spare_vm(s, wants[i].vm, false);
}

struct ranked {
    uint32_t slot;
    double size;
};

static int most_reserved_first(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* A host that the plan puts to standby and that has only its agents left: the next pass does not count it. */
static bool is_emptied(const struct layout *l, uint32_t slot)
{
    for (uint32_t i = 0; i < l->list[slot].n; i++)
        if (!layout_is_agent(l, l->list[slot].items[i]))
            return false;
    return l->asleep[slot];
}

static struct ranked *rank_slots(const struct failover_capacity *s, uint32_t *ret_n)
{
    const struct layout *l = s->l;
    struct ranked *ranked = arena_array(s->a, struct ranked, l->n_slots);
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_slots; i++) {
        if ((i >= l->n_on && !l->waking[i]) || is_emptied(l, i))
            continue;
        ranked[n] = (struct ranked){.slot = i};
        for (int r = 0; r < RES_COUNT; r++)
            ranked[n].size = fmax(ranked[n].size, s->taken[r][i] * l->inverse[r][i]);
        n++;
    }
    order_sort(ranked, n, sizeof ranked[0], most_reserved_first);
    *ret_n = n;
    return ranked;
}

/* Hosts with the largest reservations first: the other losses then find much of their capacity reserved. */
void failover_slots_for_losses(struct failover_capacity *s)
{
    uint32_t n;
    struct ranked *ranked = rank_slots(s, &n);
    struct want *wants = arena_array(s->a, struct want, s->l->snap->n_vms);

    for (uint32_t i = 0; i + 1 < s->l->snap->promise.hosts && i < n; i++)
        s->counted_on[ranked[i].slot] = true;
    for (uint32_t i = 0; i < n; i++)
        plan_loss(s, ranked[i].slot, wants);
}
