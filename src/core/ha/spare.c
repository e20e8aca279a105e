#include "core/ha/spare_parts.h"

#include <stdlib.h>

struct want {
    uint32_t vm;
    double size; /* the larger of its shares of the largest host */
};

static bool reserves(const struct spare *s, uint32_t vm)
{
    return spare_need_of(s, vm, RES_CPU) > 0 || spare_need_of(s, vm, RES_MEM) > 0;
}

/* ---- what is kept ---- */

struct kept *spare_find_kept(const struct spare *s, uint32_t lost, uint32_t slot)
{
    for (uint32_t i = 0; i < s->of[lost].n; i++)
        if (s->of[lost].items[i].slot == slot)
            return &s->of[lost].items[i];
    return NULL;
}

static struct kept *add_kept(struct spare *s, uint32_t lost, uint32_t slot)
{
    struct kept_list *list = &s->of[lost];
    struct keeper_list *keepers = &s->at[slot];
    struct kept *k = spare_find_kept(s, lost, slot);

    if (k)
        return k;
    spare_note(s, NOTE_KEPT, lost, 0);
    spare_note(s, NOTE_KEEPERS, slot, 0);
    keepers->items = arena_grow(s->a, keepers->items, keepers->n, &keepers->cap, sizeof keepers->items[0]);
    keepers->items[keepers->n++] = (struct keeper){.lost = lost, .entry = list->n};
    list->items = arena_grow(s->a, list->items, list->n, &list->cap, sizeof list->items[0]);
    k = &list->items[list->n++];
    *k = (struct kept){.slot = slot};
    return k;
}

/* What the slot keeps, were the place of a VM that needs `less` for the loss of `without` not needed. */
static double room_without(const struct spare *s, int r, uint32_t slot, uint32_t without, double less)
{
    double most = 0;

    for (uint32_t i = 0; i < s->at[slot].n; i++) {
        const struct keeper *k = &s->at[slot].items[i];
        double used = s->of[k->lost].items[k->entry].used[r] - (k->lost == without ? less : 0);
        most = used > most ? used : most;
    }
    return s->given[r][slot] + most;
}

void spare_refresh(struct spare *s, uint32_t slot)
{
    spare_note(s, NOTE_ROOM, slot, 0);
    for (int r = 0; r < RES_COUNT; r++)
        s->room[r][slot] = room_without(s, r, slot, IX_NONE, 0);
}

/* ---- finding a place ---- */

/* Whether the slot could ever take something over from `lost`. */
bool spare_is_refuge(const struct spare *s, uint32_t lost, uint32_t slot, const uint64_t *allowed)
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
double spare_raise_of(const struct spare *s, int r, uint32_t slot, double used, double need)
{
    double more = used > need ? used : need;
    double now = s->singly ? more : used + need;
    double raise = s->given[r][slot] + now - s->room[r][slot];

    return need > 0 && raise > 0 ? raise : 0;
}

/* The slot that has to keep least more, then the one with most left; or, if any will do, the first that there
 * is. The reservations that are taken to be on a slot are s->peak. What rules most slots out is asked first:
 * every VM that reserves something asks for all slots. */
static uint32_t find_refuge(const struct spare *s, uint32_t lost, const uint64_t *allowed,
                            const double need[RES_COUNT], uint32_t n_slots, bool any)
{
    uint32_t best = IX_NONE;
    double best_raise = 0;
    double best_left = 0;

    for (uint32_t t = 0; t < n_slots; t++) {
        double raise[RES_COUNT];
        double raised = 0;
        for (int r = 0; r < RES_COUNT; r++) {
            raise[r] = spare_raise_of(s, r, t, s->use[r][t], need[r]);
            raised += raise[r] * s->l->inverse[r][t];
        }
        if (best != IX_NONE && raised > best_raise)
            continue;
        double least_left = NO_LIMIT;
        bool fits = spare_is_refuge(s, lost, t, allowed);
        for (int r = 0; r < RES_COUNT && fits; r++) {
            double left =
                spare_capacity_of(s, (enum resource)r, t) - s->peak[r][t] - s->room[r][t] - raise[r];
            double part = left * s->l->inverse[r][t];
            fits = raise[r] <= 0 || left >= -ROUNDING;
            least_left = part < least_left ? part : least_left;
        }
        if (fits && any)
            return t;
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

    for (int r = 0; r < RES_COUNT; r++)
        size = fmax(size, spare_need_of(s, vm, r) * s->inverse_least[r]);
    return size;
}

static void add_gap(struct spare *s, uint32_t vm, uint32_t lost, const double need[RES_COUNT])
{
    s->gaps = arena_grow(s->a, s->gaps, s->n_gaps, &s->cap_gaps, sizeof s->gaps[0]);
    s->n_open++;
    s->gaps[s->n_gaps++] = (struct spare_gap){
        .vm = vm, .lost = lost, .need = {[RES_CPU] = need[RES_CPU], [RES_MEM] = need[RES_MEM]}};
}

/* Whether no other host, one that sleeps included, could ever run it. */
static bool is_bound_to(const struct spare *s, const uint64_t *allowed, uint32_t slot)
{
    const struct layout *l = s->l;

    for (uint32_t t = 0; t < l->n_slots; t++) {
        const struct host *h = &l->snap->hosts[l->slot_host[t]];
        bool could =
            t < l->n_on || (!h->failover && (h->is.state == HOST_STANDBY || h->is.state == HOST_POWERING_ON));
        if (t != slot && could && (!allowed || bitmap_has(allowed, l->slot_host[t])))
            return false;
    }
    return true;
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

void spare_keep_place(struct spare *s, uint32_t vm, uint32_t lost, uint32_t slot)
{
    struct kept *k = add_kept(s, lost, slot);

    for (int r = 0; r < RES_COUNT; r++) {
        double need = spare_need_of(s, vm, r);
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

    for (uint32_t i = 0; i < s->l->n_slots && !s->singly; i++)
        if (s->counted_on[i] && i != lost)
            n = wants_of(s, i, wants, n);
    if (n > 0)
        qsort(wants, n, sizeof wants[0], largest_first);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t vm = wants[i].vm;
        const double need[RES_COUNT] = {
            [RES_CPU] = spare_need_of(s, vm, RES_CPU), [RES_MEM] = spare_need_of(s, vm, RES_MEM)};
        uint32_t to = find_refuge(s, lost, s->l->rules->must[vm], need, s->l->n_slots, false);
        if (to != IX_NONE) {
            spare_keep_place(s, vm, lost, to);
            continue;
        }
        add_gap(s, vm, lost, need);
        if (is_bound_to(s, s->l->rules->must[vm], lost)) {
            s->gaps[s->n_gaps - 1].hopeless = true;
            s->n_open--; /* it must not hold the others' places less dear */
        }
    }
    for (uint32_t i = 0; i < s->of[lost].n; i++)
        for (int r = 0; r < RES_COUNT; r++)
            s->use[r][s->of[lost].items[i].slot] = 0;
}

/* One spare VM. */
static void place_spare_vm(struct spare *s, uint32_t vm, bool only_at_home)
{
    struct spare_gap gap = {
        .vm = vm, .lost = IX_NONE, .need = {spare_need_of(s, vm, RES_CPU), spare_need_of(s, vm, RES_MEM)}};

    if (only_at_home && !spare_fits_at_home(s, &gap))
        return;
    s->n_open++; /* spare_close() takes it back */
    if (spare_close(s, &gap)) {
        s->place_of[vm] = s->l->outside; /* it has one, wherever */
        return;
    }
    s->n_open--;
    add_gap(s, vm, IX_NONE, gap.need);
}

/* Spare VMs: those that fit where they are said to be; then the others, the largest first. */
static void place_spare_vms(struct spare *s)
{
    const struct snapshot *snap = s->l->snap;
    struct want *wants = arena_array(s->a, struct want, snap->n_vms);
    uint32_t n = 0;

    for (uint32_t i = 0; i < snap->n_vms; i++)
        if (snap->vms[i].is.kind == VM_SPARE && reserves(s, i))
            wants[n++] = (struct want){.vm = i, .size = size_of(s, i)};
    if (n == 0)
        return;
    s->active = true;
    qsort(wants, n, sizeof wants[0], largest_first);
    for (uint32_t i = 0; i < n; i++)
        place_spare_vm(s, wants[i].vm, true);
    for (uint32_t i = 0; i < n; i++)
        if (s->place_of[wants[i].vm] == IX_NONE)
            place_spare_vm(s, wants[i].vm, false);
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

static struct ranked *rank_slots(const struct spare *s, uint32_t *ret_n)
{
    const struct layout *l = s->l;
    struct ranked *ranked = arena_array(s->a, struct ranked, l->n_slots);
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_slots; i++) {
        if (i >= l->n_on && !l->waking[i])
            continue;
        ranked[n] = (struct ranked){.slot = i};
        for (int r = 0; r < RES_COUNT; r++)
            ranked[n].size = fmax(ranked[n].size, l->reserved[r][i] * l->inverse[r][i]);
        n++;
    }
    if (n > 0)
        qsort(ranked, n, sizeof ranked[0], most_reserved_first);
    *ret_n = n;
    return ranked;
}

/* Those that are hardest to replace first: the others then find room that is kept already. */
static void plan_losses(struct spare *s)
{
    const struct ha_facts *ha = &s->l->snap->ha;
    uint32_t n;
    struct ranked *ranked = rank_slots(s, &n);
    struct want *wants = arena_array(s->a, struct want, s->l->snap->n_vms);

    if (ha->policy == HA_HOST_FAILURES)
        for (uint32_t i = 0; i + 1 < ha->hosts && i < n; i++)
            s->counted_on[ranked[i].slot] = true;
    for (uint32_t i = 0; i < n; i++)
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
        s->capacity[r] = arena_array(s->a, double, n);
        s->inverse_least[r] = NO_LIMIT;
        for (uint32_t i = 0; i < s->l->n_slots; i++) {
            s->peak[r][i] = s->l->reserved[r][i];
            s->capacity[r][i] = s->l->snap->hosts[s->l->slot_host[i]].capacity[r];
            s->inverse_least[r] = fmin(s->inverse_least[r], s->l->inverse[r][i]);
        }
    }
    s->of = arena_array(s->a, struct kept_list, n);
    s->at = arena_array(s->a, struct keeper_list, n);
    s->counted_on = arena_array(s->a, bool, n);
    s->over = arena_array(s->a, bool, n);
    for (uint32_t i = 0; i < s->l->n_slots; i++)
        for (int r = 0; r < RES_COUNT; r++)
            s->over[i] = s->over[i] || s->peak[r][i] > spare_capacity_of(s, (enum resource)r, i) + ROUNDING;
    s->place_of = arena_array(s->a, uint32_t, s->l->snap->n_vms);
    for (uint32_t i = 0; i < s->l->snap->n_vms; i++)
        s->place_of[i] = IX_NONE;
}

static bool any_runs(const struct layout *l)
{
    for (uint32_t i = 0; i < l->n_slots; i++)
        if (l->list[i].n > 0)
            return true;
    return false;
}

/* A gap for each host that is missing. */
static void count_hosts(struct spare *s)
{
    const struct layout *l = s->l;
    uint32_t n = l->n_on;

    for (uint32_t i = l->n_on; i < l->n_slots; i++)
        n += l->waking[i];
    for (; n <= l->snap->ha.hosts && n <= l->n_slots && any_runs(l); n++)
        add_gap(s, IX_NONE, IX_NONE, (const double[RES_COUNT]){0});
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
    if (failures)
        count_hosts(s);
    s->had_gaps = s->n_gaps > 0;
}

void spare_renew(struct spare *s)
{
    spare_init(s, s->l, s->a);
    s->had_gaps = true;
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
            less += spare_need_of(s, l->unit_vms[i], r);
    return less > 0 && from < l->n_on ? room_without(s, r, to_slot, from, less) : s->room[r][to_slot];
}

/* Whether the loss of `lost` finds a place for the unit where it comes from: there it still is, or has just
 * left. Not on a host that had more reserved than it has: what is to leave it may not have left yet. */
static bool may_exchange(const struct spare *s, uint32_t unit, uint32_t lost)
{
    const struct layout *l = s->l;
    uint32_t from = l->unit_slot[unit];

    if (s->singly || from >= l->n_on || s->over[from] ||
        !spare_is_refuge(s, lost, from, l->unit_allowed[unit]))
        return false;
    const struct kept *k = spare_find_kept(s, lost, from);
    for (int r = 0; r < RES_COUNT; r++) {
        double need = l->unit_reserved[r][unit];
        double used = k ? k->used[r] : 0;
        double room = fmax(s->room[r][from], s->given[r][from] + used + need);
        if (l->reserved[r][from] - need + room > spare_capacity_of(s, (enum resource)r, from) + ROUNDING)
            return false;
    }
    return true;
}

static uint32_t refuge_of(const struct spare *s, uint32_t unit, uint32_t lost, bool any)
{
    double need[RES_COUNT];
    double *used[RES_COUNT] = {s->use[RES_CPU], s->use[RES_MEM]};

    unit_need(s, unit, need);
    for (uint32_t i = 0; i < s->of[lost].n; i++)
        for (int r = 0; r < RES_COUNT; r++)
            used[r][s->of[lost].items[i].slot] = s->of[lost].items[i].used[r];
    uint32_t to = find_refuge(s, lost, s->l->unit_allowed[unit], need, s->l->n_on, any);
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
        if (!(need > 0) || l->reserved[r][to_slot] + need + kept <=
                               spare_capacity_of(s, (enum resource)r, to_slot) + ROUNDING)
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
    /* one that runs already is no better off where it is; a new one is not promised what cannot be kept */
    return may_exchange(s, unit, to_slot) || refuge_of(s, unit, to_slot, true) != IX_NONE ||
           (l->unit_slot[unit] != l->outside && is_bound_to(s, l->unit_allowed[unit], to_slot));
}

static void keep_for(struct spare *s, uint32_t unit, uint32_t lost, uint32_t slot)
{
    struct kept *k = add_kept(s, lost, slot);

    spare_note(s, NOTE_USED, lost, (uint32_t)(k - s->of[lost].items));
    for (int r = 0; r < RES_COUNT; r++) {
        double need = s->l->unit_reserved[r][unit];
        k->used[r] = s->singly ? fmax(k->used[r], need) : k->used[r] + need;
    }
    for (uint32_t i = s->l->unit_from[unit]; i < s->l->unit_from[unit + 1]; i++) {
        spare_note(s, NOTE_PLACE, s->l->unit_vms[i], 0);
        s->place_of[s->l->unit_vms[i]] = slot;
    }
}

/* The places of the unit's VMs that were kept on the slot that it comes to. */
static void give_back(struct spare *s, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = s->l;
    uint32_t from = l->unit_slot[unit];
    struct kept *k = from < l->n_on ? spare_find_kept(s, from, to_slot) : NULL;

    if (k)
        spare_note(s, NOTE_USED, from, (uint32_t)(k - s->of[from].items));
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1] && k && !s->singly; i++)
        if (s->place_of[l->unit_vms[i]] == to_slot)
            for (int r = 0; r < RES_COUNT; r++)
                k->used[r] = fmax(k->used[r] - spare_need_of(s, l->unit_vms[i], r), 0);
}

void spare_follow(struct spare *s, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = s->l;
    double need[RES_COUNT];

    unit_need(s, unit, need);
    if (!s->active || !(need[RES_CPU] > 0 || need[RES_MEM] > 0))
        return;
    uint32_t from = l->unit_slot[unit];
    uint32_t refuge = may_exchange(s, unit, to_slot) ? from : refuge_of(s, unit, to_slot, false);

    give_back(s, unit, to_slot);
    spare_refresh(s, to_slot);
    if (refuge != IX_NONE && l->snap->ha.policy != HA_NONE && l->snap->ha.policy != HA_DEDICATED) {
        keep_for(s, unit, to_slot, refuge);
        spare_refresh(s, refuge);
    }
    if (refuge == IX_NONE && !s->trying)
        s->had_gaps = true; /* it has to be said */
    for (int r = 0; r < RES_COUNT; r++)
        s->peak[r][to_slot] += need[r];
}
