/* Ranks the hosts for a power-on; without one, finds the host that comes closest. */
#include "core/place/options.h"

#include "core/plan/correct.h"
#include "core/plan/prerequisite_moves.h"

#include <stdlib.h>
#include <string.h>

int options_compare(const struct option *x, const struct option *y)
{
    if (x->distrusted != y->distrusted)
        return x->distrusted ? 1 : -1;
    if (x->joins != y->joins)
        return x->joins ? -1 : 1;
    int order = fit_rank_compare(&x->fit, &y->fit);
    if (order != 0)
        return order;
    if (x->imbalance != y->imbalance)
        return x->imbalance < y->imbalance ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static int best_first(const void *a, const void *b)
{
    return options_compare(a, b);
}

void options_insert(struct option *items, uint32_t n, struct option o)
{
    uint32_t at = n;

    while (at > 0 && options_compare(&o, &items[at - 1]) < 0)
        at--;
    memmove(items + at + 1, items + at, (n - at) * sizeof o);
    items[at] = o;
}

/* Puts the n best in front, in order. */
static void sort_best(struct options *o, uint32_t n)
{
    if (n > OPTIONS_SORTED || n >= o->n) {
        qsort(o->items, o->n, sizeof o->items[0], best_first);
        return;
    }
    for (uint32_t i = 0; i < o->n; i++) {
        struct option next = o->items[i];

        if (i >= n && options_compare(&next, &o->items[n - 1]) >= 0)
            continue;
        if (i >= n)
            o->items[i] = o->items[n - 1];
        options_insert(o->items, i < n ? i : n - 1, next);
    }
}

void options_sort_others(struct options *o)
{
    if (o->n > 2)
        qsort(o->items + 1, o->n - 1, sizeof o->items[0], best_first);
}

uint32_t options_ranking_vm(const struct layout *l, uint32_t unit)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (fit_ranks(&l->rules->fit, l->unit_vms[i]))
            return l->unit_vms[i];
    return l->unit_first[unit];
}

/* Gives the options their ranks by the pipeline of the VM, and drops those that it cuts. */
static void rank_by_pipeline(const struct layout *l, uint32_t vm, struct arena *a, struct options *ret)
{
    const struct fit_live live = layout_live(l);
    uint32_t *hosts = arena_array(a, uint32_t, ret->n);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < ret->n; i++)
        hosts[i] = l->slot_host[ret->items[i].slot];
    struct fit_ranking *r = fit_ranking_new(&l->rules->fit, vm, &live.is, hosts, ret->n, a);
    double *buckets = arena_array(a, double, (size_t)ret->n * r->n_buckets);

    fit_ranking_score(r);
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->items[kept] = ret->items[i];
        fit_ranking_get(r, i, buckets + (size_t)i * r->n_buckets, &ret->items[kept].fit);
        kept += !ret->items[kept].fit.out;
    }
    if (kept == 0)
        ret->cut_by = fit_rank_cut(&l->rules->fit, vm) + 1;
    ret->n = kept;
}

/* Puts the best options in front, in order. A pipeline may leave some out, and take another than the best. */
static void put_best_first(const struct layout *l, uint32_t unit, struct arena *a, struct options *ret)
{
    const struct fit *fit = &l->rules->fit;
    uint32_t vm = options_ranking_vm(l, unit);
    bool ranks = fit_ranks(fit, vm);

    if (ranks)
        rank_by_pipeline(l, vm, a, ret);
    if (ret->n == 0)
        return;
    uint32_t picked = ranks ? fit_rank_pick(fit, vm, ret->n) : 0;
    sort_best(ret, picked < OPTIONS_SORTED ? OPTIONS_SORTED : picked + 1);
    struct option first = ret->items[picked];

    memmove(ret->items + 1, ret->items, picked * sizeof first);
    ret->items[0] = first;
}

/* Where the unit is already it takes nothing that it does not have. */
static bool may_run_on(const struct layout *l, uint32_t unit, uint32_t slot)
{
    uint32_t host = l->slot_host[slot];

    if (l->unit_slot[unit] != slot)
        return layout_check(l, unit, slot) == CHECK_NONE;
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (rules_fit_refuses(l->rules, l->unit_vms[i], host))
            return false;
    return (!l->unit_allowed[unit] || bitmap_has(l->unit_allowed[unit], host)) &&
           !(l->rules->fit.live_from && layout_live_refuses(l, unit, slot)) &&
           !(l->used && layout_quantity_refuses(l, FIT_MOVE, unit, slot, NULL)) &&
           !(l->cells && layout_cells_refuse(l, unit, slot, IX_NONE, NULL, NULL) != CHECK_NONE);
}

void options_rank(const struct layout *l, uint32_t unit, struct arena *a, struct options *ret)
{
    double weight[RES_COUNT];
    struct move_trial t;

    *ret = (struct options){.items = arena_array(a, struct option, l->n_on)};
    layout_weights(l, weight);
    move_trial_begin(l, weight, unit, &t);
    for (uint32_t i = 0; i < l->n_on; i++)
        if (may_run_on(l, unit, i))
            ret->items[ret->n++] = (struct option){
                .slot = i,
                .distrusted = layout_is_distrusted(l, i),
                .joins = layout_has_component(l, i, unit),
                .imbalance = l->unit_slot[unit] == i ? layout_imbalance(l) : move_trial_at(l, &t, i)};
    if (ret->n > 0)
        put_best_first(l, unit, a, ret);
}

/* The largest relative shortage of the unit on the slot. */
static double worst_part(const struct layout *l, uint32_t unit, uint32_t slot)
{
    double shortage[SHORTAGE_COUNT];
    double need[SHORTAGE_COUNT];
    double worst = 0;

    prerequisite_move_shortage(l, unit, slot, shortage, need);
    for (int k = 0; k < SHORTAGE_COUNT; k++)
        if (need[k] > 0)
            worst = fmax(worst, shortage[k] / need[k]);
    return worst;
}

/* The slot that passes most checks (they have a fixed order), then the smallest shortage. */
static uint32_t closest(const struct pass *p, uint32_t unit, enum check *ret_check)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;

    *ret_check = CHECK_NONE;
    for (uint32_t i = 0; i < l->n_on; i++) {
        enum check check = layout_check(l, unit, i);
        bool better = best == IX_NONE || check > *ret_check ||
                      (check == *ret_check && worst_part(l, unit, i) < worst_part(l, unit, best));
        if (!better)
            continue;
        best = i;
        *ret_check = check;
    }
    return best;
}

/* The shortage behind the check; UNKNOWN: the check is not about an amount. */
static double missing_for(const struct pass *p, uint32_t unit, uint32_t slot, enum check check)
{
    double shortage[SHORTAGE_COUNT];
    double need[SHORTAGE_COUNT];

    prerequisite_move_shortage(&p->layout, unit, slot, shortage, need);
    switch ((int)check) { /* all others are not about an amount */
    case CHECK_RESERVATION_CPU:
        return shortage[SHORTAGE_CPU];
    case CHECK_RESERVATION_MEM:
        return shortage[SHORTAGE_MEM];
    case CHECK_MEMORY:
        return shortage[SHORTAGE_ADMITTED];
    case CHECK_MEMORY_FREE:
        return shortage[SHORTAGE_FREE];
    default:
        return UNKNOWN;
    }
}

/* The hosts that can run VMs now. */
static const uint64_t *hosts_on(const struct pass *p)
{
    const struct layout *l = &p->layout;
    uint64_t *bits = arena_array(p->a, uint64_t, (size_t)p->rules.words + 1);

    for (uint32_t i = 0; i < l->n_on; i++)
        bits[l->slot_host[i] / 64] |= (uint64_t)1 << (l->slot_host[i] % 64);
    return bits;
}

/* Whether the stages of a VM's pipeline leave none of the hosts that are on. */
static bool none_fits(const struct pass *p, uint32_t unit, struct finding *ret)
{
    const struct layout *l = &p->layout;
    const uint64_t *on = hosts_on(p);
    const struct fit_live live = layout_live(l);

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        const struct stage_left *left;
        uint32_t n = fit_hosts_left(&p->rules.fit, FIT_PLACE, vm, on, &live, p->a, &left);

        if (n == 0 || left[n - 1].hosts > 0)
            continue;
        *ret = (struct finding){.code = FIND_NO_HOST_FITS,
                                .subjects = {{SUBJECT_OTHER_VM, vm}, {SUBJECT_STAGE, left[n - 1].stage}},
                                .figures = {{FIGURE_HOSTS_ALL, l->n_on}},
                                .left = left,
                                .n_left = n};
        return true;
    }
    return false;
}

/* Whether the hosts that could run the unit are all below the thresholds of a cut. */
static bool none_above_cut(const struct pass *p, uint32_t unit, struct finding *ret)
{
    struct arena scratch = {0};
    struct options o;

    options_rank(&p->layout, unit, &scratch, &o);
    arena_release(&scratch);
    if (o.cut_by == 0)
        return false;
    struct stage_left *left = arena_new(p->a, struct stage_left);

    *left = (struct stage_left){.stage = o.cut_by - 1, .hosts = 0};
    *ret = (struct finding){
        .code = FIND_NO_HOST_FITS,
        .subjects = {{SUBJECT_OTHER_VM, options_ranking_vm(&p->layout, unit)}, {SUBJECT_STAGE, left->stage}},
        .figures = {{FIGURE_HOSTS_ALL, p->layout.n_on}},
        .left = left,
        .n_left = 1};
    return true;
}

struct finding options_none(const struct pass *p, uint32_t unit, uint32_t *ret_host)
{
    enum check check;
    uint32_t vm = p->layout.unit_first[unit];
    uint32_t slot = closest(p, unit, &check);

    *ret_host = slot == IX_NONE ? IX_NONE : p->layout.slot_host[slot];
    if (p->rules.held[vm])
        return (struct finding){.code = FIND_RULES_HELD};
    if (slot == IX_NONE)
        return (struct finding){.code = FIND_NO_HOST};
    struct finding none;

    if (none_fits(p, unit, &none) || none_above_cut(p, unit, &none))
        return none;
    double missing = missing_for(p, unit, slot, check);
    return (struct finding){.code = isnan(missing) ? FIND_CLOSEST : FIND_CLOSEST_SHORT,
                            .check = check,
                            .resource = check == CHECK_RESERVATION_CPU ? RES_CPU : RES_MEM,
                            .subjects = {{SUBJECT_HOST, *ret_host}},
                            .figures = {{FIGURE_MISSING, missing}},
                            .because = check_finding(p, vm, *ret_host, check, NULL)};
}
