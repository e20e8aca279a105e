/* rankings.c: keeps the rankings of hosts for units that are alike, as far as memory for them goes; the one
 * that was not asked for longest makes room. */
#include "core/place/rankings.h"

#include "base/order.h"

#include <stdlib.h>
#include <string.h>

/* For all rankings together; a single one may be larger. */
#define BYTES_MOST ((size_t)128 * 1024 * 1024)

/* For what lies between arrays. */
#define SPARE_BYTES 256

struct kept {
    struct kept *next;
    struct arena a;
    uint32_t unit;           /* one that it is for */
    uint32_t *slots, *hosts; /* those that rules and filters leave, ascending by slot */
    bool *fits;              /* by index in these: they pass all checks */
    uint32_t n;
    struct fit_ranking *rank; /* NULL: no pipeline ranks them */
    uint64_t seen;            /* changes of the layout so far */
};

struct rankings {
    struct pass *p;
    struct kept *first;   /* newest first */
    struct arena scratch; /* of one question */
};

struct rankings *rankings_new(struct pass *p)
{
    struct rankings *k = arena_new(p->a, struct rankings);

    k->p = p;
    return k;
}

static void drop(struct kept *one)
{
    struct arena a = one->a; /* it is in there itself */

    arena_release(&a);
}

void rankings_release(struct rankings *k)
{
    for (struct kept *one = k->first, *next; one; one = next) {
        next = one->next;
        drop(one);
    }
    k->first = NULL;
    arena_release(&k->scratch);
}

/* Drops the last ones beyond BYTES_MOST. */
static void keep_within(struct rankings *k)
{
    size_t bytes = arena_size(&k->first->a);

    for (struct kept *one = k->first; one->next; one = one->next) {
        bytes += arena_size(&one->next->a);
        if (bytes <= BYTES_MOST)
            continue;
        for (struct kept *last = one->next, *next; last; last = next) {
            next = last->next;
            drop(last);
        }
        one->next = NULL;
        return;
    }
}

/* ---- a ranking ---- */

static struct kept *make(const struct pass *p, uint32_t unit)
{
    const struct layout *l = &p->layout;
    const struct fit_live live = layout_live(l);
    const uint64_t *allowed = l->unit_allowed[unit];
    uint32_t vm = l->unit_first[unit];
    struct arena a = {0};
    arena_reserve(&a, sizeof(struct kept) + l->n_on * (2 * sizeof(uint32_t) + sizeof(bool)) + SPARE_BYTES);
    struct kept *one = arena_new(&a, struct kept);

    one->slots = arena_array(&a, uint32_t, l->n_on);
    one->hosts = arena_array(&a, uint32_t, l->n_on);
    one->fits = arena_array(&a, bool, l->n_on);
    for (uint32_t slot = 0; slot < l->n_on; slot++) {
        if (allowed && !bitmap_has(allowed, l->slot_host[slot]))
            continue;
        one->slots[one->n] = slot;
        one->hosts[one->n] = l->slot_host[slot];
        one->fits[one->n++] = layout_check(l, unit, slot) == CHECK_NONE;
    }
    if (fit_ranks(&l->rules->fit, vm))
        arena_reserve(&a, fit_ranking_bytes(&l->rules->fit, vm, one->n));
    if (fit_ranks(&l->rules->fit, vm))
        one->rank = fit_ranking_new(&l->rules->fit, vm, &live.is, one->hosts, one->n, &a);
    for (uint32_t i = 0; one->rank && i < one->n; i++)
        one->rank->candidate[i] = one->fits[i];
    one->unit = unit;
    one->seen = p->climb.changed.n;
    one->a = a;
    return one;
}

static void renew(struct kept *one, const struct layout *l, uint32_t slot)
{
    const uint32_t *at =
        one->n > 0 ? bsearch(&slot, one->slots, one->n, sizeof *one->slots, order_indexes) : NULL;

    if (!at)
        return;
    uint32_t i = (uint32_t)(at - one->slots);

    one->fits[i] = layout_check(l, one->unit, slot) == CHECK_NONE;
    if (one->rank)
        fit_ranking_renew(one->rank, i, one->fits[i]);
}

/* Whether the counters of some stage are over groups of this kind. */
static bool is_counted_over(const struct fit *fit, const char *kind)
{
    for (uint32_t m = 0; m < fit->counts.n_measures; m++) {
        const char *over = fit->snap->stages[fit->counts.of_measure[m]].is.over;
        if (over && strcmp(over, kind) == 0)
            return true;
    }
    return false;
}

/* A count over groups of hosts has changed on all hosts of these. */
static void renew_groups(struct kept *one, const struct layout *l, uint32_t slot)
{
    const struct fit *fit = &l->rules->fit;
    uint32_t host = l->slot_host[slot];

    for (uint32_t g = fit->groups_from[host]; g < fit->groups_from[host + 1]; g++) {
        const struct host_group *group = &l->snap->groups[fit->groups_of[g]];

        for (uint32_t i = 0; is_counted_over(fit, group->is.kind) && i < group->hosts.n; i++) {
            uint32_t other = l->host_slot[group->hosts.items[i]];
            if (other != IX_NONE && other != slot)
                renew(one, l, other);
        }
    }
}

/* Brings the ranking to the present state, for this unit. */
static void bring_up_to_date(struct kept *one, const struct pass *p, uint32_t unit)
{
    const struct layout *l = &p->layout;
    const struct changed_slots *c = &p->climb.changed;

    one->unit = unit;
    if (one->rank)
        one->rank->vm = l->unit_first[unit];
    for (uint32_t s = c->newest; s != IX_NONE && c->changed_at[s] > one->seen; s = c->older[s]) {
        renew(one, l, s);
        if (l->rules->fit.counts.over_groups)
            renew_groups(one, l, s);
    }
    one->seen = c->n;
    if (one->rank)
        fit_ranking_score(one->rank);
}

/* The unit's ranking, up to date; it comes first now. */
static struct kept *find(struct rankings *k, uint32_t unit)
{
    struct kept **at = &k->first;

    while (*at && !layout_units_are_alike(&k->p->layout, (*at)->unit, unit))
        at = &(*at)->next;
    struct kept *one = *at;

    bool known = one != NULL;

    if (known)
        *at = one->next;
    else
        one = make(k->p, unit);
    one->next = k->first;
    k->first = one;
    if (!known)
        keep_within(k);
    bring_up_to_date(one, k->p, unit);
    return one;
}

/* ---- the best ---- */

/* Whether buckets and score put the ith host behind the option. */
static bool is_behind(const struct fit_ranking *r, uint32_t i, const struct option *o)
{
    for (uint32_t b = 0; b < r->n_buckets; b++)
        if (r->buckets[b][i] != o->fit.buckets[b])
            return r->buckets[b][i] > o->fit.buckets[b];
    return r->score[i] < o->fit.score;
}

static bool is_left(const struct kept *one, uint32_t i)
{
    return one->rank ? one->rank->score[i] != FIT_LEFT_OUT : one->fits[i];
}

/* The first host from i on that buckets and score do not put behind the option. */
static uint32_t next_not_behind(const struct fit_ranking *r, uint32_t i, const struct option *o)
{
    if (r->n_buckets == 0)
        while (i < r->n && r->score[i] < o->fit.score)
            i++;
    while (i < r->n && r->n_buckets > 0 && is_behind(r, i, o))
        i++;
    return i;
}

/* The `wanted` best, in order. */
static const struct option *find_best(struct rankings *k, const struct kept *one, uint32_t unit,
                                      uint32_t wanted)
{
    const struct layout *l = &k->p->layout;
    const struct fit_ranking *r = one->rank;
    size_t n_buckets = r ? r->n_buckets : 0;
    struct option *best = arena_array(&k->scratch, struct option, wanted);
    double *buckets = arena_array(&k->scratch, double, ((size_t)wanted + 1) * n_buckets);
    double *spare = buckets;
    double weight[RES_COUNT];
    struct move_trial t;
    uint32_t n = 0;

    layout_weights(l, weight);
    move_trial_begin(l, weight, unit, &t);
    for (uint32_t i = 0; i < one->n; i++) {
        if (r && n == wanted && (i = next_not_behind(r, i, &best[n - 1])) >= one->n)
            break;
        if (!is_left(one, i))
            continue;
        struct option o = {.slot = one->slots[i], .imbalance = move_trial_at(l, &t, one->slots[i])};

        if (r)
            fit_ranking_get(r, i, spare, &o.fit);
        if (n < wanted) {
            options_insert(best, n++, o);
            spare = buckets + n * n_buckets;
        } else if (options_compare(&o, &best[n - 1]) < 0) {
            spare = best[n - 1].fit.buckets; /* of the one that is dropped */
            options_insert(best, n - 1, o);
        }
    }
    return best;
}

/* Where no pipeline ranks the hosts, the imbalance does: few are examined. */
static void find_evenest(struct rankings *k, uint32_t unit, struct options *ret)
{
    const struct layout *l = &k->p->layout;
    struct option *best = arena_array(&k->scratch, struct option, 1);
    double weight[RES_COUNT];
    struct move_trial t;

    destination_index_refresh(&k->p->climb.destinations);
    layout_weights(l, weight);
    move_trial_begin(l, weight, unit, &t);
    best->slot = destination_index_evenest(&k->p->climb.destinations, &t, unit, &best->imbalance);
    *ret = (struct options){.items = best, .n = best->slot != IX_NONE};
}

/* Whether no other unit is of its affine set. */
static bool is_alone(const struct layout *l, uint32_t unit)
{
    return l->set_first[l->rules->component[l->unit_first[unit]]] == unit && l->unit_next[unit] == IX_NONE;
}

void rankings_best(struct rankings *k, uint32_t unit, struct options *ret)
{
    const struct layout *l = &k->p->layout;
    const struct fit *fit = &l->rules->fit;
    uint32_t vm = l->unit_first[unit];
    uint32_t fitting = 0;
    uint32_t left = 0;

    *ret = (struct options){0};
    arena_reset(&k->scratch);
    if (is_alone(l, unit) && !fit_ranks(fit, options_ranking_vm(l, unit))) {
        find_evenest(k, unit, ret);
        return;
    }
    if (!layout_checks_are_local(l, unit)) {
        options_rank(l, unit, &k->scratch, ret);
        ret->n = ret->n > 0;
        return;
    }
    const struct kept *one = find(k, unit);

    for (uint32_t i = 0; i < one->n; i++)
        fitting += one->fits[i];
    for (uint32_t i = 0; one->rank && i < one->n; i++)
        left += one->rank->score[i] != FIT_LEFT_OUT;
    left = one->rank ? left : fitting;
    if (fitting > 0 && left == 0)
        ret->cut_by = fit_rank_cut(fit, vm) + 1;
    if (left == 0)
        return;
    uint32_t picked = one->rank ? fit_rank_pick(fit, vm, left) : 0;

    ret->items = arena_array(&k->scratch, struct option, 1);
    ret->items[0] = find_best(k, one, unit, picked + 1)[picked];
    ret->n = 1;
}
