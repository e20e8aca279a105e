/* Checks failover capacity before a move and updates it with the move. */
#include "core/layout/failover_internal.h"

#include <stdlib.h>

bool failover_capacity_protects(const struct failover_capacity *s, uint32_t vm)
{
    return failover_capacity_need_of(s, vm, RES_CPU) > 0 || failover_capacity_need_of(s, vm, RES_MEM) > 0;
}

/* ---- failover reservations ---- */

struct failover_reserved *failover_capacity_find_reserved(const struct failover_capacity *s, uint32_t lost,
                                                          uint32_t slot)
{
    for (uint32_t i = 0; i < s->by_lost[lost].n; i++)
        if (s->by_lost[lost].items[i].slot == slot)
            return &s->by_lost[lost].items[i];
    return NULL;
}

struct failover_reserved *failover_capacity_add_reserved(struct failover_capacity *s, uint32_t lost,
                                                         uint32_t slot)
{
    struct failover_reserved_list *list = &s->by_lost[lost];
    struct failover_holder_list *holders = &s->by_holder[slot];
    struct failover_reserved *k = failover_capacity_find_reserved(s, lost, slot);

    if (k)
        return k;
    failover_undo_note(s, NOTE_RESERVED, lost, 0);
    failover_undo_note(s, NOTE_HOLDERS, slot, 0);
    holders->items = arena_grow(s->a, holders->items, holders->n, &holders->cap, sizeof holders->items[0]);
    holders->items[holders->n++] = (struct failover_holder){.lost = lost, .entry = list->n};
    list->items = arena_grow(s->a, list->items, list->n, &list->cap, sizeof list->items[0]);
    k = &list->items[list->n++];
    *k = (struct failover_reserved){.slot = slot};
    return k;
}

/* The slot's failover reservation without the failover slot of a VM that needs `less` for the loss of
 * `without`. */
static double reserved_without(const struct failover_capacity *s, int r, uint32_t slot, uint32_t without,
                               double less)
{
    double most = 0;

    for (uint32_t i = 0; i < s->by_holder[slot].n; i++) {
        const struct failover_holder *k = &s->by_holder[slot].items[i];
        double used = s->by_lost[k->lost].items[k->entry].used[r] - (k->lost == without ? less : 0);
        most = used > most ? used : most;
    }
    most += s->for_spare_vms[r][slot];
    return s->least[r] && s->least[r][slot] > most ? s->least[r][slot] : most;
}

void failover_capacity_refresh(struct failover_capacity *s, uint32_t slot)
{
    failover_undo_note(s, NOTE_AMOUNT, slot, 0);
    for (int r = 0; r < RES_COUNT; r++)
        s->reserved[r][slot] = reserved_without(s, r, slot, IX_NONE, 0);
}

/* ---- finding a holder ---- */

bool failover_capacity_is_candidate(const struct failover_capacity *s, uint32_t lost, uint32_t slot,
                                    const uint64_t *allowed)
{
    const struct layout *l = s->l;

    if (slot == lost || l->closing[slot] ||
        (slot >= l->n_on && !l->waking[slot] &&
         (lost == IX_NONE ||
          !failover_capacity_is_dedicated(s, slot)))) /* spare VMs are there without a loss */
        return false;
    if (lost != IX_NONE && s->counted_on[slot])
        return false;
    if (slot < l->n_on && !l->agents_ready[slot])
        return false;
    return !allowed || bitmap_has(allowed, l->slot_host[slot]);
}

double failover_capacity_raise_of(const struct failover_capacity *s, int r, uint32_t slot, double used,
                                  double need)
{
    double more = used > need ? used : need;
    double now = s->singly ? more : used + need;
    double raise = s->for_spare_vms[r][slot] + now - s->reserved[r][slot];

    return need > 0 && raise > 0 ? raise : 0;
}

static bool has_live(const struct failover_capacity *s, const struct failover_subject *who, uint32_t slot)
{
    return !s->live || (who->unit != IX_NONE ? failover_live_has_now(s, who->unit, slot)
                                             : failover_live_fits(s, who->vm, slot));
}

/* Counts s->peak as the slot's reservations. The test that rejects most slots comes first, because every VM
 * with a reservation tries all slots. trusted: no distrusted host. */
static uint32_t find_candidate(const struct failover_capacity *s, uint32_t lost,
                               const struct failover_subject *who, const uint64_t *allowed,
                               const double need[RES_COUNT], uint32_t n_slots, bool any, bool trusted)
{
    uint32_t best = IX_NONE;
    double best_raise = 0;
    double best_left = 0;

    for (uint32_t t = 0; t < s->l->n_slots; t++) {
        double raise[RES_COUNT];
        double raised = 0;
        if ((t >= n_slots && !failover_capacity_is_dedicated(s, t)) ||
            (trusted && layout_is_distrusted(s->l, t)))
            continue;
        for (int r = 0; r < RES_COUNT; r++) {
            raise[r] = failover_capacity_raise_of(s, r, t, s->use[r][t], need[r]);
            raised += raise[r] * s->l->inverse[r][t];
        }
        if (best != IX_NONE && raised > best_raise)
            continue;
        double least_left = NO_LIMIT;
        bool fits = failover_capacity_is_candidate(s, lost, t, allowed);
        for (int r = 0; r < RES_COUNT && fits; r++) {
            double left = failover_capacity_of_slot(s, (enum resource)r, t) - s->peak[r][t] -
                          s->reserved[r][t] - raise[r];
            double part = left * s->l->inverse[r][t];
            fits = raise[r] <= 0 || left >= -ROUNDING;
            least_left = part < least_left ? part : least_left;
        }
        fits = fits && (any || best == IX_NONE || raised < best_raise ||
                        (raised == best_raise && least_left > best_left));
        if (!fits || !has_live(s, who, t))
            continue;
        if (any)
            return t;
        best = t;
        best_raise = raised;
        best_left = least_left;
    }
    return best;
}

uint32_t failover_capacity_find_candidate(const struct failover_capacity *s, uint32_t lost,
                                          const struct failover_subject *who, const uint64_t *allowed,
                                          const double need[RES_COUNT], uint32_t n_slots, bool any)
{
    bool distrusts = s->l->distrusted != NULL;
    uint32_t to = find_candidate(s, lost, who, allowed, need, n_slots, any, distrusts);

    return to == IX_NONE && distrusts ? find_candidate(s, lost, who, allowed, need, n_slots, any, false) : to;
}

/* before: keeps these failover slots beside the new ones; NULL: none. */
static void alloc_failover(struct failover_capacity *s, const struct failover_capacity *before)
{
    size_t n = (size_t)s->l->n_slots + 1;

    for (int r = 0; r < RES_COUNT; r++) {
        s->reserved[r] = arena_array(s->a, double, n);
        s->for_spare_vms[r] = arena_array(s->a, double, n);
        s->peak[r] = arena_array(s->a, double, n);
        s->use[r] = arena_array(s->a, double, n);
        s->taken[r] = r == RES_MEM && s->l->snap->promise.by_admission ? s->l->mem_taken : s->l->reserved[r];
        s->unit_takes[r] =
            r == RES_MEM && s->l->snap->promise.by_admission ? s->l->unit_mem : s->l->unit_reserved[r];
        s->capacity[r] = arena_array(s->a, double, n);
        s->inverse_least[r] = NO_LIMIT;
        s->least[r] = before ? before->reserved[r] : NULL;
        for (uint32_t i = 0; i < s->l->n_slots; i++) {
            s->peak[r][i] = s->taken[r][i];
            if (before) {
                s->peak[r][i] = fmax(s->peak[r][i], before->peak[r][i]);
                s->reserved[r][i] = before->reserved[r][i];
            }
            s->capacity[r][i] = s->l->snap->hosts[s->l->slot_host[i]].capacity[r];
            if (r == RES_MEM && s->l->snap->promise.by_admission && !s->l->snap->promise.in_capacity)
                s->capacity[r][i] = s->l->mem_limit[i];
            s->inverse_least[r] = fmin(s->inverse_least[r], s->l->inverse[r][i]);
        }
    }
    s->by_lost = arena_array(s->a, struct failover_reserved_list, n);
    s->by_holder = arena_array(s->a, struct failover_holder_list, n);
    s->counted_on = arena_array(s->a, bool, n);
    s->over = arena_array(s->a, bool, n);
    for (uint32_t i = 0; i < s->l->n_slots; i++)
        for (int r = 0; r < RES_COUNT; r++)
            s->over[i] =
                s->over[i] || s->peak[r][i] > failover_capacity_of_slot(s, (enum resource)r, i) + ROUNDING;
    s->slot_of = arena_array(s->a, uint32_t, s->l->snap->n_vms);
    for (uint32_t i = 0; i < s->l->snap->n_vms; i++)
        s->slot_of[i] = IX_NONE;
}

static bool any_runs(const struct layout *l)
{
    for (uint32_t i = 0; i < l->n_slots; i++)
        if (l->list[i].n > 0)
            return true;
    return false;
}

/* One gap for each missing host. */
static void count_hosts(struct failover_capacity *s)
{
    const struct layout *l = s->l;
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_slots; i++)
        n += layout_counts(l, i) || failover_capacity_is_dedicated(s, i);
    for (; n <= l->snap->promise.hosts && n <= l->n_slots && any_runs(l); n++)
        failover_slot_missing(s, IX_NONE, IX_NONE, (const double[RES_COUNT]){0});
}

static void find_all(struct failover_capacity *s, const struct layout *l,
                     const struct failover_capacity *before, bool live, struct arena *a)
{
    const struct failover_promise *promise = &l->snap->promise;
    bool failures = promise->hosts > 0;
    bool percent = !failures && (promise->percent[RES_CPU] > 0 || promise->percent[RES_MEM] > 0);

    *s = (struct failover_capacity){
        .l = l, .a = a, .active = failures || percent, .promised = failures || percent, .singly = percent};
    alloc_failover(s, before);
    if (live)
        failover_live_init(s);
    s->finding = true;
    failover_slots_for_spare_vms(s);
    if (failures || percent)
        failover_slots_for_losses(s);
    if (failures)
        count_hosts(s);
    s->finding = false;
    s->had_gaps = s->n_open > 0;
}

void failover_capacity_init(struct failover_capacity *s, const struct layout *l, struct arena *a)
{
    find_all(s, l, NULL, true, a);
}

void failover_capacity_renew_beside(struct failover_capacity *s)
{
    struct failover_capacity before = *s;

    find_all(s, before.l, &before, true, before.a);
    for (uint32_t i = 0; i < s->l->n_slots; i++)
        s->over[i] = s->over[i] || before.over[i];
    s->had_gaps = before.had_gaps;
}

void failover_capacity_renew(struct failover_capacity *s)
{
    failover_capacity_init(s, s->l, s->a);
    s->had_gaps = true;
}

void failover_capacity_renew_reservations(struct failover_capacity *s)
{
    find_all(s, s->l, NULL, false, s->a);
    s->had_gaps = true;
}

/* ---- moves ---- */

/* What the unit's VMs need at a restart: what they take, or less where a restart priority is `disabled`. */
static void unit_need(const struct failover_capacity *s, uint32_t unit, double ret[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++) {
        ret[r] = 0;
        for (uint32_t i = s->l->unit_from[unit]; i < s->l->unit_from[unit + 1]; i++)
            ret[r] += failover_capacity_need_of(s, s->l->unit_vms[i], r);
    }
}

/* The slot's failover reservation after the unit's arrival, which releases the unit's own failover slot
 * there. */
static double reserved_with(const struct failover_capacity *s, int r, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = s->l;
    uint32_t from = l->unit_slot[unit];
    double less = 0;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1] && !s->singly; i++)
        if (s->slot_of[l->unit_vms[i]] == to_slot)
            less += failover_capacity_need_of(s, l->unit_vms[i], r);
    return less > 0 && from < l->n_on ? reserved_without(s, r, to_slot, from, less) : s->reserved[r][to_slot];
}

/* Whether the unit's present host can become its holder for the loss of `lost`: it keeps the capacity that
 * the unit uses now. Not on a host with excess reservations, whose VMs may not have left yet. */
static bool may_exchange(const struct failover_capacity *s, uint32_t unit, uint32_t lost)
{
    const struct layout *l = s->l;
    uint32_t from = l->unit_slot[unit];

    if (s->singly || from >= l->n_on || s->over[from] ||
        !failover_capacity_is_candidate(s, lost, from, l->unit_restart[unit]))
        return false;
    const struct failover_reserved *k = failover_capacity_find_reserved(s, lost, from);
    double need[RES_COUNT];

    unit_need(s, unit, need);
    for (int r = 0; r < RES_COUNT; r++) {
        double used = k ? k->used[r] : 0;
        double room = fmax(s->reserved[r][from], s->for_spare_vms[r][from] + used + need[r]);
        if (s->taken[r][from] - s->unit_takes[r][unit] + room >
            failover_capacity_of_slot(s, (enum resource)r, from) + ROUNDING)
            return false;
    }
    return true;
}

static uint32_t candidate_of(const struct failover_capacity *s, uint32_t unit, uint32_t lost, bool any)
{
    double need[RES_COUNT];
    double *used[RES_COUNT] = {s->use[RES_CPU], s->use[RES_MEM]};

    unit_need(s, unit, need);
    for (uint32_t i = 0; i < s->by_lost[lost].n; i++)
        for (int r = 0; r < RES_COUNT; r++)
            used[r][s->by_lost[lost].items[i].slot] = s->by_lost[lost].items[i].used[r];
    uint32_t to = failover_capacity_find_candidate(s, lost, &(struct failover_subject){IX_NONE, unit},
                                                   s->l->unit_restart[unit], need, s->l->n_on, any);
    for (uint32_t i = 0; i < s->by_lost[lost].n; i++)
        for (int r = 0; r < RES_COUNT; r++)
            used[r][s->by_lost[lost].items[i].slot] = 0;
    return to;
}

bool failover_capacity_blocks(const struct failover_capacity *s, uint32_t unit, uint32_t to_slot,
                              enum resource *ret_r, double *ret_reserved)
{
    for (int r = 0; r < RES_COUNT; r++) {
        double need = s->unit_takes[r][unit];
        double reserved = need > 0 ? reserved_with(s, r, unit, to_slot) : 0;
        if (!(need > 0) || s->taken[r][to_slot] + need + reserved <=
                               failover_capacity_of_slot(s, (enum resource)r, to_slot) + ROUNDING)
            continue;
        if (ret_r)
            *ret_r = (enum resource)r;
        if (ret_reserved)
            *ret_reserved = reserved;
        return true;
    }
    return false;
}

/* Whether mandatory rules bind all VMs of the unit that have a reservation to this slot. A VM that could
 * restart elsewhere needs a failover slot, whatever it moves with. */
static bool is_unit_bound_to(const struct failover_capacity *s, uint32_t unit, uint32_t slot)
{
    const struct layout *l = s->l;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (failover_capacity_protects(s, l->unit_vms[i]) &&
            !failover_slot_is_bound(s, l->rules->restart[l->unit_vms[i]], slot))
            return false;
    return true;
}

/* Whether the unit runs where it may not stay. On a degraded host it may (host_is_avoided()). */
static bool must_leave(const struct layout *l, uint32_t unit)
{
    uint32_t from = l->unit_slot[unit];

    if (from == l->outside)
        return false;
    uint32_t host = l->slot_host[from];
    bool degraded = l->snap->hosts[host].is.state == HOST_ON && host_is_avoided(&l->snap->hosts[host]) &&
                    !l->snap->hosts[host].failover;

    return (from >= l->n_on && !degraded) ||
           (l->unit_allowed[unit] && !bitmap_has(l->unit_allowed[unit], host));
}

/* Whether the unit's VMs have failover slots now, if they have a reservation. */
static bool has_slots(const struct failover_capacity *s, uint32_t unit)
{
    for (uint32_t i = s->l->unit_from[unit]; i < s->l->unit_from[unit + 1]; i++)
        if (failover_capacity_protects(s, s->l->unit_vms[i]) && s->slot_of[s->l->unit_vms[i]] == IX_NONE)
            return false;
    return true;
}

bool failover_capacity_admits(const struct failover_capacity *s, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = s->l;

    if (!s->active || s->yields)
        return true;
    if (failover_capacity_blocks(s, unit, to_slot, NULL, NULL))
        return false;
    /* with open gaps, a mandatory move needs no failover slot, and an optional one only keeps what there is;
     * neither may use reserved capacity */
    bool gap_may_stay = s->n_open > 0 && !(l->moves_are_optional && has_slots(s, unit));
    if (gap_may_stay || !s->promised)
        return true;
    if (s->counted_on[to_slot])
        return false;
    /* a running VM that must leave needs none where no other host could give one; a new VM needs one */
    return may_exchange(s, unit, to_slot) || candidate_of(s, unit, to_slot, true) != IX_NONE ||
           (must_leave(l, unit) && is_unit_bound_to(s, unit, to_slot));
}

static void reserve_for(struct failover_capacity *s, uint32_t unit, uint32_t lost, uint32_t slot)
{
    struct failover_reserved *k = failover_capacity_add_reserved(s, lost, slot);
    double need[RES_COUNT];

    failover_undo_note(s, NOTE_USED, lost, (uint32_t)(k - s->by_lost[lost].items));
    unit_need(s, unit, need);
    for (int r = 0; r < RES_COUNT; r++)
        k->used[r] = s->singly ? fmax(k->used[r], need[r]) : k->used[r] + need[r];
    for (uint32_t i = s->l->unit_from[unit]; i < s->l->unit_from[unit + 1]; i++) {
        failover_undo_note(s, NOTE_SLOT, s->l->unit_vms[i], 0);
        s->slot_of[s->l->unit_vms[i]] = slot;
    }
}

/* Releases the failover slots that the unit's VMs have on their new host. */
static void give_back(struct failover_capacity *s, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = s->l;
    uint32_t from = l->unit_slot[unit];
    struct failover_reserved *k = from < l->n_on ? failover_capacity_find_reserved(s, from, to_slot) : NULL;

    if (k)
        failover_undo_note(s, NOTE_USED, from, (uint32_t)(k - s->by_lost[from].items));
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1] && k && !s->singly; i++)
        if (s->slot_of[l->unit_vms[i]] == to_slot)
            for (int r = 0; r < RES_COUNT; r++)
                k->used[r] = fmax(k->used[r] - failover_capacity_need_of(s, l->unit_vms[i], r), 0);
}

/* VMs of the unit that may run nowhere else cannot have a failover slot: a hopeless gap each. */
static void name_hopeless(struct failover_capacity *s, uint32_t unit, uint32_t slot)
{
    const struct layout *l = s->l;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        const double need[RES_COUNT] = {[RES_CPU] = failover_capacity_need_of(s, vm, RES_CPU),
                                        [RES_MEM] = failover_capacity_need_of(s, vm, RES_MEM)};
        if (!failover_capacity_protects(s, vm) || !failover_slot_is_bound(s, l->rules->restart[vm], slot))
            continue;
        failover_slot_missing(s, vm, slot, need);
        s->gaps[s->n_gaps - 1].hopeless = true;
        s->n_open--;
        s->unsaid = true;
    }
}

void failover_capacity_follow(struct failover_capacity *s, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = s->l;
    double need[RES_COUNT];

    if (!s->active || !(s->unit_takes[RES_CPU][unit] > 0 || s->unit_takes[RES_MEM][unit] > 0))
        return;
    unit_need(s, unit, need);
    bool restarts = s->promised && (need[RES_CPU] > 0 || need[RES_MEM] > 0);
    uint32_t from = l->unit_slot[unit];
    uint32_t candidate = may_exchange(s, unit, to_slot) ? from : candidate_of(s, unit, to_slot, false);

    give_back(s, unit, to_slot);
    failover_capacity_refresh(s, to_slot);
    if (candidate != IX_NONE && restarts) {
        reserve_for(s, unit, to_slot, candidate);
        failover_capacity_refresh(s, candidate);
    }
    if (candidate == IX_NONE && restarts && !s->trying && s->n_open == 0)
        name_hopeless(s, unit, to_slot);
    for (int r = 0; r < RES_COUNT; r++)
        s->peak[r][to_slot] += s->unit_takes[r][unit];
}
