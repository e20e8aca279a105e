/* quantities.c: what VMs take of the counters of pipelines (src/core/fit), by slot or by group of hosts, and
 * whether a limit keeps a unit off a slot. Moves change it in whole thousandths, so that undoing is exact. */
#include "core/layout/layout.h"

static const struct fit_counts *counts_of(const struct layout *l)
{
    return &l->rules->fit.counts;
}

/* The measures of which a limit moves VMs away. */
static void find_corrected(struct layout *l)
{
    const struct fit_counts *counts = counts_of(l);

    l->corrected = arena_array(l->a, bool, counts->n_measures);
    for (uint32_t i = 0; i < counts->bounds_from[l->snap->n_pipelines]; i++)
        if (counts->bounds[i].applies >> FIT_CORRECT & 1)
            l->corrected[counts->bounds[i].measure] = true;
}

void layout_init_quantities(struct layout *l)
{
    const struct fit_counts *counts = counts_of(l);
    size_t n = 0;

    if (counts->n_counters == 0)
        return;
    find_corrected(l);
    l->used_from = arena_array(l->a, size_t, counts->n_counters);
    for (uint32_t i = 0; i < counts->n_counters; i++) {
        l->used_from[i] = n;
        n += counts->counters[i].from ? l->snap->n_groups : l->n_slots;
    }
    l->used = arena_array(l->a, int64_t, n);
    l->n_used = n;
}

static void add_share(const struct layout *l, int64_t *used, const struct fit_share *share, uint32_t slot,
                      int by)
{
    const struct fit_counter *c = &counts_of(l)->counters[share->counter];
    int64_t *of = used + l->used_from[share->counter];

    if (!c->from) {
        of[slot] += by * share->takes;
        return;
    }
    uint32_t host = l->slot_host[slot];
    for (uint32_t k = c->from[host]; k < c->from[host + 1]; k++)
        of[c->groups[k]] += by * share->takes;
}

void layout_count_shares(const struct layout *l, int64_t *used, uint32_t vm, uint32_t slot, int by)
{
    const struct fit_counts *counts = counts_of(l);

    if (slot == l->outside)
        return;
    for (uint32_t i = counts->shares_from[vm]; i < counts->shares_from[vm + 1]; i++)
        add_share(l, used, &counts->shares[i], slot, by);
}

void layout_count_off(struct layout *l)
{
    const struct fit_counts *counts = counts_of(l);

    for (uint32_t vm = 0; l->used && vm < l->snap->n_vms; vm++) {
        const struct vm *v = &l->snap->vms[vm];
        uint32_t slot = v->host == IX_NONE ? IX_NONE : l->host_slot[v->host];

        if (v->is.state == VM_ON || v->is.kind == VM_SPARE || slot == IX_NONE || l->other_end[vm] != IX_NONE)
            continue;
        for (uint32_t k = counts->shares_from[vm]; k < counts->shares_from[vm + 1]; k++)
            if (fit_counts_off(&l->rules->fit, counts->shares[k].counter))
                add_share(l, l->used, &counts->shares[k], slot, 1);
    }
}

static int64_t vm_takes(const struct layout *l, uint32_t vm, uint32_t counter)
{
    const struct fit_counts *counts = counts_of(l);
    int64_t sum = 0;

    for (uint32_t k = counts->shares_from[vm]; k < counts->shares_from[vm + 1]; k++)
        sum += counts->shares[k].counter == counter ? counts->shares[k].takes : 0;
    return sum;
}

int64_t layout_unit_takes(const struct layout *l, uint32_t unit, uint32_t counter)
{
    int64_t sum = 0;

    for (uint32_t i = unit == IX_NONE ? 0 : l->unit_from[unit]; unit != IX_NONE && i < l->unit_from[unit + 1];
         i++)
        sum += vm_takes(l, l->unit_vms[i], counter);
    return sum;
}

/* Whether the host of the slot is in the group. */
static bool is_in(const struct layout *l, const struct fit_counter *c, uint32_t slot, uint32_t group)
{
    uint32_t host = slot == IX_NONE || slot == l->outside ? IX_NONE : l->slot_host[slot];

    for (uint32_t k = host == IX_NONE ? 0 : c->from[host]; host != IX_NONE && k < c->from[host + 1]; k++)
        if (c->groups[k] == group)
            return true;
    return false;
}

static int64_t max_of(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* What others than the unit take of the counter by these sums; IX_NONE: what all take. */
static int64_t used_beside(const struct layout *l, const int64_t *used, uint32_t unit, uint32_t slot,
                           uint32_t counter)
{
    const struct fit_counter *c = &counts_of(l)->counters[counter];
    const int64_t *of = used + l->used_from[counter];
    uint32_t here = unit == IX_NONE ? IX_NONE : l->unit_slot[unit];
    int64_t most = 0;

    if (!c->from)
        return of[slot] - (here == slot ? layout_unit_takes(l, unit, counter) : 0);
    uint32_t host = l->slot_host[slot];
    for (uint32_t k = c->from[host]; k < c->from[host + 1]; k++) {
        int64_t sum =
            of[c->groups[k]] - (is_in(l, c, here, c->groups[k]) ? layout_unit_takes(l, unit, counter) : 0);
        most = max_of(most, sum);
    }
    return most;
}

/* Whether the host is in a group over which the counter counts. */
static bool is_counted(const struct fit *fit, uint32_t counter, uint32_t host)
{
    const struct fit_counter *c = &fit->counts.counters[counter];

    return !c->from || c->from[host] != c->from[host + 1];
}

/* Whether the limit of x keeps the unit on the slot; fills the figures. */
static bool is_within(const struct layout *l, uint32_t unit, uint32_t slot, struct layout_excess *x)
{
    x->takes = layout_unit_takes(l, unit, x->counter);
    x->used = used_beside(l, l->used, unit, slot, x->counter);
    x->limit = fit_limit(&l->rules->fit, x->vm, x->stage, l->slot_host[slot]);
    return x->limit != FIT_NOTHING && x->used + x->takes <= x->limit;
}

/* The same as is_within() for the only VM of a unit that is elsewhere, of a counter by host. */
static bool is_within_alone(const struct layout *l, uint32_t slot, const struct fit_share *share,
                            const struct fit_bound *b, uint32_t vm)
{
    int64_t limit = fit_limit(&l->rules->fit, vm, b->stage, l->slot_host[slot]);

    return limit != FIT_NOTHING && l->used[l->used_from[share->counter] + slot] + share->takes <= limit;
}

/* Whether a limit that moves this VM of the slot away is exceeded with the unit, which takes of it too. */
static bool is_crowded_out(const struct layout *l, uint32_t unit, uint32_t vm, uint32_t slot,
                           struct layout_excess *ret)
{
    const struct fit *fit = &l->rules->fit;
    const struct fit_bound *b;

    for (uint32_t n = fit_bounds(fit, vm, &b); n > 0; n--, b++)
        for (uint32_t k = fit->counts.shares_from[vm]; k < fit->counts.shares_from[vm + 1]; k++) {
            const struct fit_share *share = &fit->counts.shares[k];

            if (!fit_limits(fit, b, share, FIT_CORRECT) || fit->counts.counters[share->counter].from)
                continue;
            int64_t more = layout_unit_takes(l, unit, share->counter);
            int64_t used = l->used[l->used_from[share->counter] + slot] + more;
            int64_t limit = fit_limit(fit, vm, b->stage, l->slot_host[slot]);
            if (more <= 0 || limit == FIT_NOTHING || used <= limit)
                continue;
            if (ret)
                *ret = (struct layout_excess){l->unit_first[unit], b->stage, share->counter, more,
                                              used - more,         limit};
            return true;
        }
    return false;
}

/* Whether a later pass would move a VM away from the slot because the unit came. Limits over groups of hosts
 * are not checked: that would ask the VMs of all hosts of the group. */
static bool crowds_out(const struct layout *l, uint32_t unit, uint32_t slot, struct layout_excess *ret)
{
    const struct fit_counts *counts = counts_of(l);
    bool takes = false;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1] && !takes; i++)
        for (uint32_t k = counts->shares_from[l->unit_vms[i]]; k < counts->shares_from[l->unit_vms[i] + 1];
             k++)
            takes = takes || l->corrected[counts->counters[counts->shares[k].counter].measure];
    if (!takes || l->unit_slot[unit] == slot)
        return false;
    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t other = l->list[slot].items[i];

        for (uint32_t k = l->unit_from[other]; k < l->unit_from[other + 1]; k++)
            if (is_crowded_out(l, unit, l->unit_vms[k], slot, ret))
                return true;
    }
    return false;
}

bool layout_quantity_refuses(const struct layout *l, enum fit_use use, uint32_t unit, uint32_t slot,
                             struct layout_excess *ret)
{
    const struct fit *fit = &l->rules->fit;
    uint32_t host = l->slot_host[slot];
    bool alone = l->unit_from[unit + 1] - l->unit_from[unit] == 1 && l->unit_slot[unit] != slot;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        enum fit_use bound = use == FIT_CORRECT ? use : rules_fit_use(&l->snap->vms[vm]);
        const struct fit_bound *b;

        for (uint32_t n = fit_bounds(fit, vm, &b); n > 0; n--, b++)
            for (uint32_t k = fit->counts.shares_from[vm]; k < fit->counts.shares_from[vm + 1]; k++) {
                const struct fit_share *share = &fit->counts.shares[k];

                if (!fit_limits(fit, b, share, bound))
                    continue;
                if (alone && !fit->counts.counters[share->counter].from) {
                    if (is_within_alone(l, slot, share, b, vm))
                        continue;
                } else if (!is_counted(fit, share->counter, host)) {
                    continue;
                }
                struct layout_excess x = {.vm = vm, .stage = b->stage, .counter = share->counter};
                if (is_within(l, unit, slot, &x))
                    continue;
                if (ret)
                    *ret = x;
                return true;
            }
    }
    return l->moves_are_optional && use == FIT_MOVE && crowds_out(l, unit, slot, ret);
}

bool layout_vm_exceeds(const struct layout *l, const int64_t *used, uint32_t vm, uint32_t slot)
{
    const struct fit *fit = &l->rules->fit;
    uint32_t host = l->slot_host[slot];
    const struct fit_bound *b;

    for (uint32_t n = fit_bounds(fit, vm, &b); n > 0; n--, b++)
        for (uint32_t k = fit->counts.shares_from[vm]; k < fit->counts.shares_from[vm + 1]; k++) {
            const struct fit_share *share = &fit->counts.shares[k];

            if (!fit_limits(fit, b, share, FIT_PLACE) || !is_counted(fit, share->counter, host))
                continue;
            int64_t limit = fit_limit(fit, vm, b->stage, host);

            if (limit == FIT_NOTHING ||
                used_beside(l, used, IX_NONE, slot, share->counter) + vm_takes(l, vm, share->counter) > limit)
                return true;
        }
    return false;
}

bool layout_stage_exceeds(const struct layout *l, uint32_t vm, uint32_t stage, uint32_t slot,
                          struct layout_excess *ret)
{
    const struct fit *fit = &l->rules->fit;
    uint32_t unit = l->vm_unit[vm];

    for (uint32_t k = l->used ? fit->counts.shares_from[vm] : 0;
         l->used && k < fit->counts.shares_from[vm + 1]; k++) {
        const struct fit_share *share = &fit->counts.shares[k];
        struct layout_excess x = {.vm = vm, .stage = stage, .counter = share->counter};

        if (fit->counts.counters[share->counter].measure != fit->counts.measure_of[stage] ||
            !is_counted(fit, share->counter, l->slot_host[slot]))
            continue;
        bool within = is_within(l, unit, slot, &x);
        if (unit == IX_NONE)
            x.takes = share->takes;
        if (within && x.used + x.takes <= x.limit)
            continue;
        if (ret)
            *ret = x;
        return true;
    }
    return false;
}

bool layout_quantity_refuses_vm(const struct layout *l, uint32_t vm, uint32_t slot, struct layout_excess *ret)
{
    const struct fit_bound *b;

    for (uint32_t n = fit_bounds(&l->rules->fit, vm, &b); n > 0; n--, b++)
        if ((b->applies >> rules_fit_use(&l->snap->vms[vm]) & 1) &&
            layout_stage_exceeds(l, vm, b->stage, slot, ret))
            return true;
    return false;
}

/* Whether the units of the set that are elsewhere are too much for the VM on the slot. */
static bool set_exceeds(const struct layout *l, uint32_t component, uint32_t vm, uint32_t slot)
{
    const struct fit *fit = &l->rules->fit;
    const struct fit_bound *b;

    for (uint32_t n = fit_bounds(fit, vm, &b); n > 0; n--, b++)
        for (uint32_t k = fit->counts.shares_from[vm]; k < fit->counts.shares_from[vm + 1]; k++) {
            const struct fit_share *share = &fit->counts.shares[k];

            if (!fit_limits(fit, b, share, rules_fit_use(&l->snap->vms[vm])))
                continue;
            int64_t sum = used_beside(l, l->used, l->vm_unit[vm], slot, share->counter);
            for (uint32_t w = l->set_first[component]; w != IX_NONE; w = l->unit_next[w])
                sum += l->unit_slot[w] == slot ? 0 : layout_unit_takes(l, w, share->counter);
            if (sum > fit_limit(fit, vm, b->stage, l->slot_host[slot]))
                return true;
        }
    return false;
}

bool layout_set_exceeds(const struct layout *l, uint32_t component, uint32_t slot)
{
    for (uint32_t u = l->set_first[component]; u != IX_NONE; u = l->unit_next[u])
        for (uint32_t i = l->unit_from[u]; l->unit_slot[u] != slot && i < l->unit_from[u + 1]; i++)
            if (set_exceeds(l, component, l->unit_vms[i], slot))
                return true;
    return false;
}

int64_t layout_stage_used(const struct layout *l, const int64_t *used, uint32_t vm, uint32_t stage,
                          uint32_t slot, enum used_by by)
{
    const struct fit_counts *counts = counts_of(l);
    uint32_t measure = counts->measure_of[stage];
    uint32_t whole = counts->whole[measure];
    uint32_t unit = by != USED_BY_ALL && vm != IX_NONE ? l->vm_unit[vm] : IX_NONE;
    uint32_t from = whole != IX_NONE || vm == IX_NONE ? 0 : counts->shares_from[vm];
    uint32_t to = whole != IX_NONE ? 1 : vm == IX_NONE ? 0 : counts->shares_from[vm + 1];
    int64_t most = 0;

    for (uint32_t k = from; used && k < to; k++) {
        uint32_t counter = whole != IX_NONE ? whole : counts->shares[k].counter;

        if (counts->counters[counter].measure != measure)
            continue;
        int64_t mates = by == USED_BY_OTHERS && unit != IX_NONE
                            ? layout_unit_takes(l, unit, counter) - vm_takes(l, vm, counter)
                            : 0;
        most = max_of(most, used_beside(l, used, unit, slot, counter) + mates);
    }
    return most;
}
