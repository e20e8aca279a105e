/* Rankings that are kept from one power-on to the next: whatever moves are made in between, the best host is
 * the first of a ranking that is made anew, with the same score to the last digit. Counts are the same in
 * columns of hosts as host by host. */
#include "core/place/rankings.h"

#include "core/pass.h"
#include "core/place/starting.h"
#include "random_cluster.h"
#include "random_fit.h"

#include "model/snapshot_build.h"
#include "model/snapshot_to_inventory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define QUESTIONS 40

struct tally {
    unsigned asked, alike, found, scored, cut, moved, counted;
};

/* Most of the new VMs ask for what another one does. */
static void make_alike(struct rng *r, struct snapshot *s, const uint32_t *vms, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct vm *v = &s->vms[vms[i]];
        const struct vm *like = &s->vms[vms[rng_below(r, i + 1)]];

        if (v->ft_peer == IX_NONE && like->ft_peer == IX_NONE && v->is.kind == like->is.kind &&
            rng_unit(r) < 0.95) {
            const char *id = v->is.id;
            v->is = like->is;
            v->is.id = id;
            v->pipeline = like->pipeline;
            v->offered = like->offered;
            v->compatible_given = like->compatible_given;
            v->compatible_hosts = like->compatible_hosts;
        }
        if (rng_unit(r) < 0.5) { /* alike but for these */
            v->is.numa = (struct objects){0};
            v->is.device_requests = (struct objects){0};
        }
    }
    for (uint32_t i = 0; i < n; i++)
        starting_assume_all(&s->vms[vms[i]], 1000);
}

static bool is_alike(const struct layout *l, uint32_t unit)
{
    for (uint32_t i = 0; i < l->list[l->outside].n; i++) {
        uint32_t other = l->list[l->outside].items[i];
        if (other != unit && layout_checks_are_local(l, unit) && layout_checks_are_local(l, other) &&
            layout_units_are_alike(l, unit, other))
            return true;
    }
    return false;
}

static void compare(uint64_t seed, const struct options *kept, const struct options *anew)
{
    const struct option *x = kept->items;
    const struct option *y = anew->items;

    if ((kept->n > 0) != (anew->n > 0) || kept->cut_by != anew->cut_by ||
        (kept->n > 0 && (x->slot != y->slot || x->joins != y->joins || x->imbalance != y->imbalance ||
                         fit_rank_compare(&x->fit, &y->fit) != 0)))
        fail_msg("seed %llu: kept: %u, slot %u, score %.17g, cut by %u; anew: %u, slot %u, score %.17g, cut "
                 "by %u",
                 (unsigned long long)seed, kept->n, kept->n ? x->slot : 0, kept->n ? x->fit.score : 0,
                 kept->cut_by, anew->n, anew->n ? y->slot : 0, anew->n ? y->fit.score : 0, anew->cut_by);
}

/* Moves some unit to where it may go. */
static void move_any(struct rng *r, struct pass *p, struct tally *tally)
{
    struct layout *l = &p->layout;
    uint32_t unit = rng_below(r, l->n_units);
    uint32_t to = rng_below(r, l->n_on);

    if (l->unit_slot[unit] == l->outside || l->unit_slot[unit] == to ||
        layout_check(l, unit, to) != CHECK_NONE)
        return;
    climb_apply(&p->climb, &(struct move){.unit = unit, .to_slot = to});
    tally->moved++;
}

static void compare_column(uint64_t seed, const struct layout *l, uint32_t vm,
                           const struct expression_node *variable, struct tally *tally)
{
    const struct expression_live live = layout_live(l).is;
    struct arena a = {0};
    double *column = arena_array(&a, double, l->snap->n_hosts);
    bool known = live.values(live.with, vm, variable, NULL, 0, l->snap->n_hosts, column);

    for (uint32_t h = 0; known && h < l->snap->n_hosts; h++) {
        double one = live.value(live.with, vm, variable, h);

        if (column[h] != one && !(isnan(column[h]) && isnan(one)))
            fail_msg("seed %llu: %s on %s: %.17g in a column, %.17g alone", (unsigned long long)seed,
                     l->snap->vms[vm].is.id, l->snap->hosts[h].is.id, column[h], one);
        tally->counted += one > 0;
    }
    arena_release(&a);
}

static void compare_counts(uint64_t seed, const struct layout *l, uint32_t vm, struct tally *tally)
{
    uint32_t ix = l->snap->vms[vm].pipeline;
    const struct pipeline *p = ix == IX_NONE ? NULL : &l->snap->pipelines[ix];

    for (uint32_t i = p ? p->first : 0; p && i < p->first + p->n; i++) {
        struct expression_node variable = {.kind = EXPRESSION_VARIABLE, .column = i};

        if (l->snap->stages[i].is.count.n == 0)
            continue;
        variable.variable = VARIABLE_HOST_USED;
        compare_column(seed, l, vm, &variable, tally);
        variable.variable = VARIABLE_HOST_LEFT;
        compare_column(seed, l, vm, &variable, tally);
    }
}

static void ask(uint64_t seed, struct rng *r, struct pass *p, struct rankings *k, struct tally *tally)
{
    const struct layout *l = &p->layout;
    struct arena a = {0};
    struct options kept, anew;
    uint32_t unit = l->list[l->outside].items[rng_below(r, l->list[l->outside].n)];

    rankings_best(k, unit, &kept);
    options_rank(l, unit, &a, &anew);
    compare(seed, &kept, &anew);
    compare_counts(seed, l, l->unit_first[unit], tally);
    tally->asked++;
    tally->alike += is_alike(l, unit);
    tally->cut += kept.cut_by > 0;
    tally->found += kept.n > 0;
    tally->scored += kept.n > 0 && kept.items[0].fit.score != 0;
    if (kept.n > 0 && rng_unit(r) < 0.3)
        climb_apply(&p->climb, &(struct move){.unit = unit, .to_slot = kept.items[0].slot});
    arena_release(&a);
}

/* With pipelines of any expressions, for the new VMs, too. */
static void make(uint64_t seed, struct rng *r, const struct cluster_options *options, struct arena *a,
                 struct snapshot *ret)
{
    struct snapshot without;
    struct inventory inv;
    struct err err = {0};

    random_cluster(r, options, a, &without);
    snapshot_to_inventory(&without, a, &inv);
    inv.n_groups = inv.n_pipelines = 0;
    for (size_t i = 0; i < inv.n_vms; i++)
        inv.vms[i].pipeline = NULL;
    random_fit(r, &inv, rng_unit(r) < 0.5, a);
    if (rng_unit(r) < 0.3)
        random_cells(r, &inv, a);
    if (snapshot_build(&inv, a, ret, &err) < 0)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
}

static void try_cluster(uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct rng r = {.state = seed};
    struct arena a = {0};
    struct snapshot s;
    struct policy policy;
    struct pass *p = arena_new(&a, struct pass);
    uint32_t n;

    make(seed, &r, options, &a, &s);
    random_policy(&r, &policy);
    const uint32_t *vms = new_vms(&s, &a, &n);
    make_alike(&r, &s, vms, n);
    pass_prepare(p, &s, &policy, RULES_PREFERRED, IX_NONE, &a);
    struct rankings *k = rankings_new(p);

    for (unsigned i = 0; i < QUESTIONS && p->layout.list[p->layout.outside].n > 0; i++) {
        ask(seed, &r, p, k, tally);
        for (uint32_t moves = rng_below(&r, 3); moves > 0 && p->layout.n_on > 0; moves--)
            move_any(&r, p, tally);
    }
    rankings_release(k);
    arena_release(&a);
}

static void test_kept_is_anew(void **state)
{
    static const struct cluster_options plain = {
        .hosts_max = 12, .vms_max = 40, .mixed_hosts = true, .newcomers = true};
    struct cluster_options all = plain;
    struct tally tally = {0};
    unsigned n = test_clusters(8000);

    (void)state;
    all.rules = all.in_flight = all.ft = all.ha = all.approved = true;
    for (unsigned i = 0; i < n; i++)
        try_cluster(test_seed() + i, i % 3 == 0 ? &all : &plain, &tally);
    (void)printf(
        "%u questions, %u of units that others are like, %u hosts found, %u of them with a score, %u "
        "times all cut; %u moves; %u counts\n",
        tally.asked, tally.alike, tally.found, tally.scored, tally.cut, tally.moved, tally.counted);
    if (test_is_usual())
        assert_true(tally.alike > 5000 && tally.scored > 1000 && tally.cut > 100 && tally.moved > 5000 &&
                    tally.counted > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_is_anew),
    };

    return cmocka_run_group_tests_name("rankings", tests, NULL, NULL);
}
