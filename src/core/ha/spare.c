#include "core/ha/spare.h"

#include "core/layout/layout.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-6

struct want {
    uint32_t vm;
    double size; /* the larger of its shares of the largest host */
};

static double capacity_of(const struct spare *s, enum resource r, uint32_t slot)
{
    return s->l->snap->hosts[s->l->slot_host[slot]].capacity[r];
}

static double need_of(const struct spare *s, uint32_t vm, int r)
{
    return s->l->snap->vms[vm].is.alloc[r].reservation;
}

static bool reserves(const struct spare *s, uint32_t vm)
{
    return need_of(s, vm, RES_CPU) > 0 || need_of(s, vm, RES_MEM) > 0;
}

/* ---- what is kept ---- */

static struct kept *find_kept(const struct spare *s, uint32_t lost, uint32_t slot)
{
    for (uint32_t i = 0; i < s->of[lost].n; i++)
        if (s->of[lost].items[i].slot == slot)
            return &s->of[lost].items[i];
    return NULL;
}

static struct kept *add_kept(struct spare *s, uint32_t lost, uint32_t slot)
{
    struct kept_list *list = &s->of[lost];
    struct kept *k = find_kept(s, lost, slot);

    if (k)
        return k;
    list->items = arena_grow(s->a, list->items, list->n, &list->cap, sizeof list->items[0]);
    k = &list->items[list->n++];
    *k = (struct kept){.slot = slot};
    return k;
}

/* What the slot keeps, were the place of a VM that needs `less` for the loss of `without` not needed. */
static double room_without(const struct spare *s, int r, uint32_t slot, uint32_t without, double less)
{
    double most = 0;

    for (uint32_t lost = 0; lost < s->l->n_slots; lost++) {
        const struct kept *k = find_kept(s, lost, slot);
        if (k)
            most = fmax(most, k->used[r] - (lost == without ? less : 0));
    }
    return s->given[r][slot] + most;
}

static void refresh(struct spare *s, uint32_t slot)
{
    for (int r = 0; r < RES_COUNT; r++) {
        s->room[r][slot] = room_without(s, r, slot, IX_NONE, 0);
    }
}

/* ---- finding a place ---- */

/* Whether the slot could ever take something over from `lost`. */
static bool is_refuge(const struct spare *s, uint32_t lost, uint32_t slot, const uint64_t *allowed)
{
    const struct layout *l = s->l;

    if (slot == lost || l->closing[slot] || (slot >= l->n_on && !l->waking[slot]))
        return false;
    if (lost != IX_NONE && s->counted_on[slot])
        return false;
    if (slot < l->n_on && !l->agents_ready[slot])
        return false;
    return !allowed || bitmap_has(allowed, l->slot_host[slot]);
}

/* By how much more the slot would have to keep, were this needed of it on top of what is used there already.
 */
static double raise_of(const struct spare *s, int r, uint32_t slot, double used, double need)
{
    double now = s->singly ? fmax(used, need) : used + need;
    double raise = s->given[r][slot] + now - s->room[r][slot];

    return need > 0 && raise > 0 ? raise : 0;
}

/* The slot that has to keep least more, then the one with most left. The reservations that are taken to be on
 * a slot are taken[r][slot]. */
static uint32_t find_refuge(const struct spare *s, uint32_t lost, const uint64_t *allowed,
                            const double need[RES_COUNT], double *const used[RES_COUNT],
                            double *const taken[RES_COUNT])
{
    uint32_t best = IX_NONE;
    double best_raise = 0;
    double best_left = 0;

    for (uint32_t t = 0; t < s->l->n_on; t++) {
        double raised = 0;
        double least_left = NO_LIMIT;
        bool fits = is_refuge(s, lost, t, allowed);
        for (int r = 0; r < RES_COUNT && fits; r++) {
            double raise = raise_of(s, r, t, used ? used[r][t] : 0, need[r]);
            double left = capacity_of(s, (enum resource)r, t) - taken[r][t] - s->room[r][t] - raise;
            fits = raise <= 0 || left >= -ROUNDING;
            raised += raise * s->l->inverse[r][t];
            least_left = fmin(least_left, left * s->l->inverse[r][t]);
        }
        if (fits &&
            (best == IX_NONE || raised < best_raise || (raised == best_raise && least_left > best_left))) {
            best = t;
            best_raise = raised;
            best_left = least_left;
        }
    }
    return best;
}

/* ---- at the beginning ---- */

static int largest_first(const void *a, const void *b)
{
    const struct want *x = a;
    const struct want *y = b;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->vm > y->vm) - (x->vm < y->vm);
}

static double size_of(const struct spare *s, uint32_t vm)
{
    double size = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double least = NO_LIMIT;
        for (uint32_t i = 0; i < s->l->n_slots; i++)
            least = fmin(least, s->l->inverse[r][i]);
        size = fmax(size, need_of(s, vm, r) * least);
    }
    return size;
}

static void add_gap(struct spare *s, uint32_t vm, uint32_t lost, const double need[RES_COUNT])
{
    s->gaps = arena_grow(s->a, s->gaps, s->n_gaps, &s->cap_gaps, sizeof s->gaps[0]);
    s->n_open++;
    s->gaps[s->n_gaps++] = (struct spare_gap){
        .vm = vm, .lost = lost, .need = {[RES_CPU] = need[RES_CPU], [RES_MEM] = need[RES_MEM]}};
}

/* The reserving VMs of a slot, appended. */
static uint32_t wants_of(const struct spare *s, uint32_t slot, struct want *wants, uint32_t n)
{
    const struct layout *l = s->l;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        for (uint32_t k = l->unit_from[u]; k < l->unit_from[u + 1]; k++) {
            uint32_t vm = l->unit_vms[k];
            if (reserves(s, vm) && l->snap->vms[vm].is.kind != VM_AGENT)
                wants[n++] = (struct want){.vm = vm, .size = size_of(s, vm)};
        }
    }
    return n;
}

static void keep_place(struct spare *s, uint32_t vm, uint32_t lost, uint32_t slot)
{
    struct kept *k = add_kept(s, lost, slot);

    for (int r = 0; r < RES_COUNT; r++) {
        double need = need_of(s, vm, r);
        k->used[r] = s->singly ? fmax(k->used[r], need) : k->used[r] + need;
        s->use[r][slot] = k->used[r];
        s->room[r][slot] = fmax(s->room[r][slot], s->given[r][slot] + k->used[r]);
    }
    /* one of the others that are counted on has a place for each loss: this is about its own host's */
    if (s->l->unit_slot[s->l->vm_unit[vm]] == lost)
        s->place_of[vm] = slot;
}

static void plan_loss(struct spare *s, uint32_t lost, struct want *wants)
{
    uint32_t n = wants_of(s, lost, wants, 0);

    for (uint32_t i = 0; i < s->l->n_on && !s->singly; i++)
        if (s->counted_on[i] && i != lost)
            n = wants_of(s, i, wants, n);
    if (n > 0)
        qsort(wants, n, sizeof wants[0], largest_first);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t vm = wants[i].vm;
        const double need[RES_COUNT] = {
            [RES_CPU] = need_of(s, vm, RES_CPU), [RES_MEM] = need_of(s, vm, RES_MEM)};
        uint32_t to = find_refuge(s, lost, s->l->rules->allowed[vm], need, s->use, s->peak);
        if (to == IX_NONE)
            add_gap(s, vm, lost, need);
        else
            keep_place(s, vm, lost, to);
    }
    for (uint32_t i = 0; i < s->of[lost].n; i++)
        for (int r = 0; r < RES_COUNT; r++)
            s->use[r][s->of[lost].items[i].slot] = 0;
}

/* Spare VMs: where they are said to be, if there is room, or wherever there is. */
static void place_spare_vms(struct spare *s)
{
    const struct snapshot *snap = s->l->snap;

    for (uint32_t i = 0; i < snap->n_vms; i++) {
        if (snap->vms[i].is.kind != VM_SPARE)
            continue;
        const double need[RES_COUNT] = {
            [RES_CPU] = need_of(s, i, RES_CPU), [RES_MEM] = need_of(s, i, RES_MEM)};
        struct spare_gap gap = {.vm = i, .lost = IX_NONE, .need = {need[RES_CPU], need[RES_MEM]}};
        s->active = true;
        s->n_open++; /* spare_close() takes it back */
        if (spare_close(s, &gap))
            continue;
        s->n_open--;
        add_gap(s, i, IX_NONE, need);
    }
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

static struct ranked *rank_slots(const struct spare *s)
{
    const struct layout *l = s->l;
    struct ranked *ranked = arena_array(s->a, struct ranked, l->n_on);

    for (uint32_t i = 0; i < l->n_on; i++) {
        ranked[i].slot = i;
        for (int r = 0; r < RES_COUNT; r++)
            ranked[i].size = fmax(ranked[i].size, l->reserved[r][i] * l->inverse[r][i]);
    }
    if (l->n_on > 0)
        qsort(ranked, l->n_on, sizeof ranked[0], most_reserved_first);
    return ranked;
}

/* Those that are hardest to replace first: the others then find room that is kept already. */
static void plan_losses(struct spare *s)
{
    const struct ha_facts *ha = &s->l->snap->ha;
    struct ranked *ranked = rank_slots(s);
    struct want *wants = arena_array(s->a, struct want, s->l->snap->n_vms);

    if (ha->policy == HA_HOST_FAILURES)
        for (uint32_t i = 0; i + 1 < ha->hosts && i < s->l->n_on; i++)
            s->counted_on[ranked[i].slot] = true;
    for (uint32_t i = 0; i < s->l->n_on; i++)
        plan_loss(s, ranked[i].slot, wants);
}

static void alloc_spare(struct spare *s)
{
    size_t n = (size_t)s->l->n_slots + 1;

    for (int r = 0; r < RES_COUNT; r++) {
        s->room[r] = arena_array(s->a, double, n);
        s->given[r] = arena_array(s->a, double, n);
        s->peak[r] = arena_array(s->a, double, n);
        s->use[r] = arena_array(s->a, double, n);
        for (uint32_t i = 0; i < s->l->n_slots; i++)
            s->peak[r][i] = s->l->reserved[r][i];
    }
    s->of = arena_array(s->a, struct kept_list, n);
    s->counted_on = arena_array(s->a, bool, n);
    s->place_of = arena_array(s->a, uint32_t, s->l->snap->n_vms);
    for (uint32_t i = 0; i < s->l->snap->n_vms; i++)
        s->place_of[i] = IX_NONE;
}

static bool any_runs(const struct layout *l)
{
    for (uint32_t i = 0; i < l->n_on; i++)
        if (l->list[i].n > 0)
            return true;
    return false;
}

void spare_init(struct spare *s, const struct layout *l, struct arena *a)
{
    const struct ha_facts *ha = &l->snap->ha;
    bool failures = ha->policy == HA_HOST_FAILURES && ha->hosts > 0;
    bool percent = ha->policy == HA_PERCENT && (ha->percent[RES_CPU] > 0 || ha->percent[RES_MEM] > 0);

    *s = (struct spare){.l = l, .a = a, .active = failures || percent, .singly = percent};
    alloc_spare(s);
    place_spare_vms(s);
    if (failures || percent)
        plan_losses(s);
    /* a gap for each host that is missing */
    for (uint32_t n = l->n_on; failures && n <= ha->hosts && n <= l->n_slots && any_runs(l); n++)
        add_gap(s, IX_NONE, IX_NONE, (const double[RES_COUNT]){0});
}

/* ---- moves ---- */

static void unit_need(const struct spare *s, uint32_t unit, double ret[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        ret[r] = s->l->unit_reserved[r][unit];
}

/* What the slot that the unit comes to has to keep once it is there: its own place, if that is kept there, is
 * needed no more. */
static double room_for(const struct spare *s, int r, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = s->l;
    uint32_t from = l->unit_slot[unit];
    double less = 0;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1] && !s->singly; i++)
        if (s->place_of[l->unit_vms[i]] == to_slot)
            less += need_of(s, l->unit_vms[i], r);
    return less > 0 && from < l->n_on ? room_without(s, r, to_slot, from, less) : s->room[r][to_slot];
}

/* Whether the loss of `lost` finds a place for the unit where it comes from: there it still is, or has just
 * left. */
static bool may_exchange(const struct spare *s, uint32_t unit, uint32_t lost)
{
    const struct layout *l = s->l;
    uint32_t from = l->unit_slot[unit];

    if (s->singly || from >= l->n_on || !is_refuge(s, lost, from, l->unit_allowed[unit]))
        return false;
    const struct kept *k = find_kept(s, lost, from);
    for (int r = 0; r < RES_COUNT; r++) {
        double need = l->unit_reserved[r][unit];
        double used = k ? k->used[r] : 0;
        double room = fmax(s->room[r][from], s->given[r][from] + used + need);
        if (l->reserved[r][from] - need + room > capacity_of(s, (enum resource)r, from) + ROUNDING)
            return false;
    }
    return true;
}

static uint32_t refuge_of(const struct spare *s, uint32_t unit, uint32_t lost)
{
    double need[RES_COUNT];
    double *used[RES_COUNT] = {s->use[RES_CPU], s->use[RES_MEM]};

    unit_need(s, unit, need);
    for (uint32_t i = 0; i < s->of[lost].n; i++)
        for (int r = 0; r < RES_COUNT; r++)
            used[r][s->of[lost].items[i].slot] = s->of[lost].items[i].used[r];
    uint32_t to = find_refuge(s, lost, s->l->unit_allowed[unit], need, used, s->peak);
    for (uint32_t i = 0; i < s->of[lost].n; i++)
        for (int r = 0; r < RES_COUNT; r++)
            used[r][s->of[lost].items[i].slot] = 0;
    return to;
}

bool spare_in_the_way(const struct spare *s, uint32_t unit, uint32_t to_slot, enum resource *ret_r,
                      double *ret_kept)
{
    const struct layout *l = s->l;

    for (int r = 0; r < RES_COUNT; r++) {
        double need = l->unit_reserved[r][unit];
        double kept = need > 0 ? room_for(s, r, unit, to_slot) : 0;
        if (!(need > 0) ||
            l->reserved[r][to_slot] + need + kept <= capacity_of(s, (enum resource)r, to_slot) + ROUNDING)
            continue;
        if (ret_r)
            *ret_r = (enum resource)r;
        if (ret_kept)
            *ret_kept = kept;
        return true;
    }
    return false;
}

bool spare_admits(const struct spare *s, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = s->l;

    if (!s->active)
        return true;
    if (spare_in_the_way(s, unit, to_slot, NULL, NULL))
        return false;
    /* where something is missing anyway, it holds nothing back but what is kept */
    if (s->n_open > 0 || l->snap->ha.policy == HA_NONE || l->snap->ha.policy == HA_DEDICATED)
        return true;
    if (s->counted_on[to_slot])
        return false;
    return may_exchange(s, unit, to_slot) || refuge_of(s, unit, to_slot) != IX_NONE;
}

static void keep_for(struct spare *s, uint32_t unit, uint32_t lost, uint32_t slot)
{
    struct kept *k = add_kept(s, lost, slot);

    for (int r = 0; r < RES_COUNT; r++) {
        double need = s->l->unit_reserved[r][unit];
        k->used[r] = s->singly ? fmax(k->used[r], need) : k->used[r] + need;
    }
    for (uint32_t i = s->l->unit_from[unit]; i < s->l->unit_from[unit + 1]; i++)
        s->place_of[s->l->unit_vms[i]] = slot;
}

/* The places of the unit's VMs that were kept on the slot that it comes to. */
static void give_back(struct spare *s, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = s->l;
    uint32_t from = l->unit_slot[unit];
    struct kept *k = from < l->n_on ? find_kept(s, from, to_slot) : NULL;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1] && k && !s->singly; i++)
        if (s->place_of[l->unit_vms[i]] == to_slot)
            for (int r = 0; r < RES_COUNT; r++)
                k->used[r] = fmax(k->used[r] - need_of(s, l->unit_vms[i], r), 0);
}

void spare_follow(struct spare *s, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = s->l;
    double need[RES_COUNT];

    unit_need(s, unit, need);
    if (!s->active || !(need[RES_CPU] > 0 || need[RES_MEM] > 0))
        return;
    uint32_t from = l->unit_slot[unit];
    uint32_t refuge = may_exchange(s, unit, to_slot) ? from : refuge_of(s, unit, to_slot);

    give_back(s, unit, to_slot);
    refresh(s, to_slot);
    if (refuge != IX_NONE && l->snap->ha.policy != HA_NONE && l->snap->ha.policy != HA_DEDICATED) {
        keep_for(s, unit, to_slot, refuge);
        refresh(s, refuge);
    }
    for (int r = 0; r < RES_COUNT; r++)
        s->peak[r][to_slot] += need[r];
}

void spare_copy(const struct spare *s, struct spare *ret)
{
    size_t n = (size_t)s->l->n_slots + 1;

    *ret = *s;
    if (!s->active)
        return;
    for (int r = 0; r < RES_COUNT; r++) {
        ret->room[r] = arena_array(s->a, double, n);
        ret->peak[r] = arena_array(s->a, double, n);
        ret->given[r] = arena_array(s->a, double, n);
        memcpy(ret->room[r], s->room[r], n * sizeof(double));
        memcpy(ret->peak[r], s->peak[r], n * sizeof(double));
        memcpy(ret->given[r], s->given[r], n * sizeof(double));
    }
    ret->place_of = arena_array(s->a, uint32_t, s->l->snap->n_vms);
    memcpy(ret->place_of, s->place_of, s->l->snap->n_vms * sizeof(uint32_t));
    ret->of = arena_array(s->a, struct kept_list, n);
    for (uint32_t i = 0; i < s->l->n_slots; i++) {
        ret->of[i] = (struct kept_list){.n = s->of[i].n, .cap = s->of[i].n};
        ret->of[i].items = arena_array(s->a, struct kept, s->of[i].n);
        if (s->of[i].n > 0)
            memcpy(ret->of[i].items, s->of[i].items, s->of[i].n * sizeof(struct kept));
    }
}

/* ---- gaps ---- */

bool spare_look(const struct spare *s, const struct spare_gap *gap, uint32_t slot, double ret_more[RES_COUNT],
                double ret_left[RES_COUNT])
{
    if (gap->vm == IX_NONE || !is_refuge(s, gap->lost, slot, s->l->rules->allowed[gap->vm]))
        return false;
    const struct kept *k = gap->lost == IX_NONE ? NULL : find_kept(s, gap->lost, slot);
    for (int r = 0; r < RES_COUNT; r++) {
        double used = k ? k->used[r] : 0;
        ret_more[r] = gap->lost == IX_NONE ? gap->need[r] : raise_of(s, r, slot, used, gap->need[r]);
        ret_left[r] = capacity_of(s, (enum resource)r, slot) - s->l->reserved[r][slot] - s->room[r][slot];
    }
    return true;
}

static bool has_room(const double more[RES_COUNT], const double left[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        if (more[r] > 0 && more[r] > left[r] + ROUNDING)
            return false;
    return true;
}

void spare_settle(struct spare *s, struct spare_gap *gap)
{
    gap->closed = true;
    s->n_open--;
}

/* A spare VM goes where it is said to be, if it fits there; then where there is most room. */
bool spare_close(struct spare *s, struct spare_gap *gap)
{
    const struct layout *l = s->l;
    uint32_t home = gap->lost == IX_NONE && l->snap->vms[gap->vm].host != IX_NONE
                        ? l->host_slot[l->snap->vms[gap->vm].host]
                        : IX_NONE;
    uint32_t best = IX_NONE;
    double best_left = 0;

    for (uint32_t t = 0; t < l->n_slots; t++) {
        double more[RES_COUNT];
        double left[RES_COUNT];
        if (!spare_look(s, gap, t, more, left) || !has_room(more, left))
            continue;
        double least = fmin((left[RES_CPU] - more[RES_CPU]) * l->inverse[RES_CPU][t],
                            (left[RES_MEM] - more[RES_MEM]) * l->inverse[RES_MEM][t]);
        if (t == home)
            least = NO_LIMIT;
        if (best == IX_NONE || least > best_left) {
            best = t;
            best_left = least;
        }
    }
    if (best == IX_NONE)
        return false;
    if (gap->lost != IX_NONE)
        keep_place(s, gap->vm, gap->lost, best);
    for (int r = 0; r < RES_COUNT; r++) {
        s->use[r][best] = 0;
        if (gap->lost == IX_NONE)
            s->given[r][best] += gap->need[r];
    }
    refresh(s, best);
    spare_settle(s, gap);
    return true;
}

double spare_excess(const struct spare *s, enum resource r, double more)
{
    const struct layout *l = s->l;
    double reserved = more;
    double capacity = 0;

    if (l->snap->ha.policy != HA_PERCENT || !(l->snap->ha.percent[r] > 0))
        return -NO_LIMIT;
    for (uint32_t i = 0; i < l->n_slots; i++) {
        if (i < l->n_on || l->waking[i])
            capacity += capacity_of(s, r, i);
        reserved += l->reserved[r][i];
    }
    return reserved - capacity * (1 - l->snap->ha.percent[r] / 100);
}
