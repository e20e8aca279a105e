/* quantities.c: what VMs take of the counters of pipelines (src/core/fit), by slot or by group of hosts, and
 * whether a limit keeps a unit off a slot. Moves change it in whole thousandths, so that undoing is exact. */
#include "core/layout/layout.h"

static const struct fit_counts *counts_of(const struct layout *l)
{
    return &l->rules->fit.counts;
}

void layout_init_quantities(struct layout *l)
{
    const struct fit_counts *counts = counts_of(l);
    size_t n = 0;

    if (counts->n_counters == 0)
        return;
    l->used_from = arena_array(l->a, size_t, counts->n_counters);
    for (uint32_t i = 0; i < counts->n_counters; i++) {
        l->used_from[i] = n;
        n += counts->counters[i].from ? l->snap->n_groups : l->n_slots;
    }
    l->used = arena_array(l->a, int64_t, n);
    l->n_used = n;
}

void layout_count_shares(struct layout *l, int64_t *used, uint32_t vm, uint32_t slot, int by)
{
    const struct fit_counts *counts = counts_of(l);

    if (slot == l->outside)
        return;
    for (uint32_t i = counts->shares_from[vm]; i < counts->shares_from[vm + 1]; i++) {
        const struct fit_share *share = &counts->shares[i];
        const struct fit_counter *c = &counts->counters[share->counter];
        int64_t *of = used + l->used_from[share->counter];

        if (!c->from) {
            of[slot] += by * share->takes;
            continue;
        }
        uint32_t host = l->slot_host[slot];
        for (uint32_t k = c->from[host]; k < c->from[host + 1]; k++)
            of[c->groups[k]] += by * share->takes;
    }
}

int64_t layout_unit_takes(const struct layout *l, uint32_t unit, uint32_t counter)
{
    const struct fit_counts *counts = counts_of(l);
    int64_t sum = 0;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        for (uint32_t k = counts->shares_from[vm]; k < counts->shares_from[vm + 1]; k++)
            sum += counts->shares[k].counter == counter ? counts->shares[k].takes : 0;
    }
    return sum;
}

/* Whether the host of the slot is in the group. */
static bool is_in(const struct layout *l, const struct fit_counter *c, uint32_t slot, uint32_t group)
{
    uint32_t host = slot == l->outside ? IX_NONE : l->slot_host[slot];

    for (uint32_t k = host == IX_NONE ? 0 : c->from[host]; host != IX_NONE && k < c->from[host + 1]; k++)
        if (c->groups[k] == group)
            return true;
    return false;
}

int64_t layout_used_beside(const struct layout *l, uint32_t unit, uint32_t slot, uint32_t counter)
{
    const struct fit_counter *c = &counts_of(l)->counters[counter];
    const int64_t *of = l->used + l->used_from[counter];
    uint32_t here = l->unit_slot[unit];
    int64_t most = 0;

    if (!c->from)
        return of[slot] - (here == slot ? layout_unit_takes(l, unit, counter) : 0);
    uint32_t host = l->slot_host[slot];
    for (uint32_t k = c->from[host]; k < c->from[host + 1]; k++) {
        int64_t used =
            of[c->groups[k]] - (is_in(l, c, here, c->groups[k]) ? layout_unit_takes(l, unit, counter) : 0);
        most = used > most ? used : most;
    }
    return most;
}

bool layout_quantity_refuses(const struct layout *l, enum fit_use use, uint32_t unit, uint32_t slot,
                             struct layout_excess *ret)
{
    const struct fit *fit = &l->rules->fit;
    uint32_t host = l->slot_host[slot];

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        enum fit_use bound = use == FIT_CORRECT ? use : rules_fit_use(&l->snap->vms[vm]);

        for (uint32_t k = fit->counts.shares_from[vm]; k < fit->counts.shares_from[vm + 1]; k++) {
            const struct fit_share *share = &fit->counts.shares[k];
            const struct fit_counter *c = &fit->counts.counters[share->counter];

            if (!fit_limits(fit, vm, share, bound) || (c->from && c->from[host] == c->from[host + 1]))
                continue;
            struct layout_excess x = {.vm = vm, .stage = c->stage, .counter = share->counter};
            x.takes = layout_unit_takes(l, unit, share->counter);
            x.used = layout_used_beside(l, unit, slot, share->counter);
            x.limit = fit_limit(fit, vm, c->stage, host);
            if (x.limit != FIT_NOTHING && x.used + x.takes <= x.limit)
                continue;
            if (ret)
                *ret = x;
            return true;
        }
    }
    return false;
}

bool layout_set_exceeds(const struct layout *l, uint32_t component, uint32_t slot)
{
    const struct fit *fit = &l->rules->fit;

    for (uint32_t u = l->set_first[component]; u != IX_NONE; u = l->unit_next[u]) {
        for (uint32_t i = l->unit_from[u]; l->unit_slot[u] != slot && i < l->unit_from[u + 1]; i++) {
            uint32_t vm = l->unit_vms[i];
            for (uint32_t k = fit->counts.shares_from[vm]; k < fit->counts.shares_from[vm + 1]; k++) {
                const struct fit_share *share = &fit->counts.shares[k];
                int64_t sum = layout_used_beside(l, u, slot, share->counter);

                if (!fit_limits(fit, vm, share, rules_fit_use(&l->snap->vms[vm])))
                    continue;
                for (uint32_t w = l->set_first[component]; w != IX_NONE; w = l->unit_next[w])
                    sum += l->unit_slot[w] == slot ? 0 : layout_unit_takes(l, w, share->counter);
                if (sum > fit_limit(fit, vm, fit->counts.counters[share->counter].stage, l->slot_host[slot]))
                    return true;
            }
        }
    }
    return false;
}

int64_t layout_stage_used(const struct layout *l, uint32_t vm, uint32_t stage, uint32_t slot)
{
    const struct fit_counts *counts = counts_of(l);
    uint32_t unit = l->vm_unit[vm];
    int64_t most = 0;

    for (uint32_t i = 0; l->used && i < counts->n_counters; i++) {
        bool mine = counts->counters[i].of == NULL;

        if (counts->counters[i].stage != stage)
            continue;
        for (uint32_t k = counts->shares_from[vm]; k < counts->shares_from[vm + 1]; k++)
            mine = mine || counts->shares[k].counter == i;
        int64_t used = mine ? layout_used_beside(l, unit, slot, i) : 0;
        most = used > most ? used : most;
    }
    return most;
}
