#include "core/layout/failover_internal.h"

#include <stdlib.h>

bool spare_reserves(const struct spare *s, uint32_t vm)
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

struct kept *spare_add_kept(struct spare *s, uint32_t lost, uint32_t slot)
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
    most += s->given[r][slot];
    return s->least[r] && s->least[r][slot] > most ? s->least[r][slot] : most;
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
uint32_t spare_find_refuge(const struct spare *s, uint32_t lost, const uint64_t *allowed,
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

/* before: the places found so far, to be kept beside the new ones; or NULL. */
static void alloc_spare(struct spare *s, const struct spare *before)
{
    size_t n = (size_t)s->l->n_slots + 1;

    for (int r = 0; r < RES_COUNT; r++) {
        s->room[r] = arena_array(s->a, double, n);
        s->given[r] = arena_array(s->a, double, n);
        s->peak[r] = arena_array(s->a, double, n);
        s->use[r] = arena_array(s->a, double, n);
        s->capacity[r] = arena_array(s->a, double, n);
        s->inverse_least[r] = NO_LIMIT;
        s->least[r] = before ? before->room[r] : NULL;
        for (uint32_t i = 0; i < s->l->n_slots; i++) {
            s->peak[r][i] = s->l->reserved[r][i];
            if (before) {
                s->peak[r][i] = fmax(s->peak[r][i], before->peak[r][i]);
                s->room[r][i] = before->room[r][i];
            }
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
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_slots; i++)
        n += layout_counts(l, i);
    for (; n <= l->snap->ha.hosts && n <= l->n_slots && any_runs(l); n++)
        spare_add_gap(s, IX_NONE, IX_NONE, (const double[RES_COUNT]){0});
}

static void find_all(struct spare *s, const struct layout *l, const struct spare *before, struct arena *a)
{
    const struct ha_facts *ha = &l->snap->ha;
    bool failures = ha->policy == HA_HOST_FAILURES && ha->hosts > 0;
    bool percent = ha->policy == HA_PERCENT && (ha->percent[RES_CPU] > 0 || ha->percent[RES_MEM] > 0);

    *s = (struct spare){.l = l, .a = a, .active = failures || percent, .singly = percent};
    alloc_spare(s, before);
    spare_place_vms(s);
    if (failures || percent)
        spare_plan_losses(s);
    if (failures)
        count_hosts(s);
    s->had_gaps = s->n_open > 0;
}

void spare_init(struct spare *s, const struct layout *l, struct arena *a)
{
    find_all(s, l, NULL, a);
}

void spare_renew_beside(struct spare *s)
{
    struct spare before = *s;

    find_all(s, before.l, &before, before.a);
    for (uint32_t i = 0; i < s->l->n_slots; i++)
        s->over[i] = s->over[i] || before.over[i];
    s->had_gaps = before.had_gaps;
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
    uint32_t to = spare_find_refuge(s, lost, s->l->unit_allowed[unit], need, s->l->n_on, any);
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

/* Whether all of the unit that reserves something may run there only, by what is mandatory. One that could
 * restart elsewhere is promised a place, whoever it moves with. */
static bool is_unit_bound_to(const struct spare *s, uint32_t unit, uint32_t slot)
{
    const struct layout *l = s->l;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (spare_reserves(s, l->unit_vms[i]) && !spare_is_bound_to(s, l->rules->must[l->unit_vms[i]], slot))
            return false;
    return true;
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
           (l->unit_slot[unit] != l->outside && is_unit_bound_to(s, unit, to_slot));
}

static void keep_for(struct spare *s, uint32_t unit, uint32_t lost, uint32_t slot)
{
    struct kept *k = spare_add_kept(s, lost, slot);

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

/* Those of the unit that may run nowhere else have no place should the slot be lost. */
static void name_hopeless(struct spare *s, uint32_t unit, uint32_t slot)
{
    const struct layout *l = s->l;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        const double need[RES_COUNT] = {
            [RES_CPU] = spare_need_of(s, vm, RES_CPU), [RES_MEM] = spare_need_of(s, vm, RES_MEM)};
        if (!spare_reserves(s, vm) || !spare_is_bound_to(s, l->rules->must[vm], slot))
            continue;
        spare_add_gap(s, vm, slot, need);
        s->gaps[s->n_gaps - 1].hopeless = true;
        s->n_open--;
        s->unsaid = true;
    }
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
    bool promised = l->snap->ha.policy != HA_NONE && l->snap->ha.policy != HA_DEDICATED;
    if (refuge != IX_NONE && promised) {
        keep_for(s, unit, to_slot, refuge);
        spare_refresh(s, refuge);
    }
    if (refuge == IX_NONE && promised && !s->trying && s->n_open == 0)
        name_hopeless(s, unit, to_slot);
    for (int r = 0; r < RES_COUNT; r++)
        s->peak[r][to_slot] += need[r];
}
