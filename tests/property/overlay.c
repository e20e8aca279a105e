/* Rules, pools and settings of the configuration, by chance, laid over clusters by chance: they weaken no
 * rule of the source, leave its pools where they are, a second application changes nothing, an empty one
 * gives the source's pools and figures again, and the snapshot stays valid. Whatever failover capacity the
 * source keeps is kept beside that of the configuration. */
#include "overlay/overlay.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "core/pass.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "model/snapshot_to_inventory.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SECTION_MAX 4

struct counts {
    unsigned rules, source_rules, moves, immovable, pools, overridden_pools, overridden_vms, held, groups,
        placed, stricter, failover_hosts, conflicts;
};

/* Some names, or all of one last character. */
static struct selector random_selector(struct rng *r, bool of_hosts, const struct snapshot *s,
                                       struct arena *a)
{
    struct condition *c = arena_new(a, struct condition);
    uint32_t n = 1 + rng_below(r, 3);
    const char **names = arena_array(a, const char *, n);

    for (uint32_t i = 0; i < n; i++) {
        const char *id =
            of_hosts ? s->hosts[rng_below(r, s->n_hosts)].is.id : s->vms[rng_below(r, s->n_vms)].is.id;

        names[i] = rng_unit(r) < 0.3 ? arena_printf(a, "*%s", id + strlen(id) - 1) : id;
    }
    c->names = (struct ids){.items = names, .n = n};
    return (struct selector){.conditions = c, .n = 1};
}

static void random_alloc(struct rng *r, bool of_pool, struct overlay_alloc set[RES_COUNT])
{
    for (int i = 0; i < RES_COUNT; i++) {
        double most = of_pool ? 20000 : 3000;

        set[i] = (struct overlay_alloc){
            .is = {.reservation = rng_below(r, (uint32_t)most),
                   .limit = rng_unit(r) < 0.3 ? (double)NO_LIMIT : (double)rng_below(r, (uint32_t)most),
                   .shares = rng_below(r, 10000),
                   .expandable = rng_unit(r) < 0.5},
            .reservation_given = rng_unit(r) < 0.3,
            .limit_given = rng_unit(r) < 0.3,
            .shares_given = rng_unit(r) < 0.5,
            .expandable_given = of_pool && rng_unit(r) < 0.3};
        if (set[i].reservation_given && set[i].limit_given)
            set[i].is.reservation = fmin(set[i].is.reservation, set[i].is.limit);
    }
}

/* New pools below the root, each other and pools of the source; and pools of the source. */
static void random_pools(struct rng *r, const struct snapshot *s, struct arena *a, struct overlay *ret)
{
    struct overlay_pool *pools = arena_array(a, struct overlay_pool, SECTION_MAX);

    ret->pools = pools;
    ret->n_pools = rng_below(r, SECTION_MAX + 1);
    for (size_t i = 0; i < ret->n_pools; i++) {
        const char *parent = s->n_pools > 0 && rng_unit(r) < 0.6 ? s->pools[rng_below(r, s->n_pools)].is.id
                             : i > 0                             ? pools[rng_below(r, (uint32_t)i)].path
                                                                 : "nowhere";
        double kind = rng_unit(r);

        pools[i].path = kind < 0.3 && s->n_pools > 0 ? s->pools[rng_below(r, s->n_pools)].is.id
                        : kind < 0.7                 ? arena_printf(a, "%s/p%zu", parent, i)
                                                     : arena_printf(a, "p%zu", i);
        if (rng_unit(r) < 0.7)
            pools[i].vms = random_selector(r, false, s, a);
        random_alloc(r, true, pools[i].set);
    }
}

/* Groups, pipelines for some VMs, and what their stages read. The stages are those of the cluster's own
 * pipelines. */
static void random_placement(struct rng *r, const struct snapshot *s, struct arena *a, struct overlay *ret)
{
    struct overlay_group *groups = arena_array(a, struct overlay_group, SECTION_MAX);
    struct overlay_pipeline *pipelines = arena_array(a, struct overlay_pipeline, SECTION_MAX);

    ret->groups = groups;
    ret->pipelines = pipelines;
    ret->n_groups = rng_below(r, SECTION_MAX);
    ret->n_pipelines = s->n_pipelines > 0 ? rng_below(r, SECTION_MAX) : 0;
    for (size_t i = 0; i < ret->n_groups; i++)
        groups[i] = (struct overlay_group){.name = arena_printf(a, "g%zu", i),
                                           .kind = rng_unit(r) < 0.5 ? "zone" : "aggregate",
                                           .hosts = random_selector(r, true, s, a)};
    for (size_t i = 0; i < ret->n_pipelines; i++) {
        const struct pipeline *like = &s->pipelines[rng_below(r, s->n_pipelines)];

        pipelines[i].name = arena_printf(a, "p%zu", i); /* p0 and p1 are names of the source, too */
        pipelines[i].is = snapshot_to_inventory_pipeline(s, like, a);
        if (rng_unit(r) < 0.9)
            pipelines[i].vms = random_selector(r, false, s, a);
    }
}

/* No pipeline of the source reads it, so that the source's own snapshot still judges by the same. */
static const char *const added[] = {"ADDED", "ADDED"};
static const struct host_quantity disk[] = {{.name = "ADDED", .total = 9, .ratio = 1}};

static struct attributes random_attributes(struct rng *r, struct arena *a)
{
    struct attribute *items = arena_array(a, struct attribute, 1);

    items[0] = (struct attribute){"added", {.type = VALUE_NUMBER, .number = rng_below(r, 4)}};
    return (struct attributes){items, rng_below(r, 2)};
}

static void random_overlay(struct rng *r, const struct snapshot *s, struct arena *a, struct overlay *ret)
{
    struct overlay_rule *rules = arena_array(a, struct overlay_rule, SECTION_MAX);
    struct overlay_vms *vms = arena_array(a, struct overlay_vms, SECTION_MAX);
    struct overlay_hosts *hosts = arena_array(a, struct overlay_hosts, SECTION_MAX);

    *ret = (struct overlay){.rules = rules, .vms = vms, .hosts = hosts};
    ret->n_rules = 1 + rng_below(r, SECTION_MAX);
    ret->n_vms = rng_below(r, SECTION_MAX);
    ret->n_hosts = rng_below(r, SECTION_MAX);
    for (size_t i = 0; i < ret->n_rules; i++)
        rules[i] = (struct overlay_rule){.name = arena_printf(a, "r%zu", i),
                                         .kind = (enum rule_kind)rng_below(r, rule_kind_count),
                                         .mandatory = rng_unit(r) < 0.6,
                                         .vms = random_selector(r, false, s, a),
                                         .hosts = random_selector(r, true, s, a)};
    random_pools(r, s, a, ret);
    for (size_t i = 0; i < ret->n_vms; i++) {
        vms[i] = (struct overlay_vms){.vms = random_selector(r, false, s, a),
                                      .automation = AUTOMATION_MANUAL,
                                      .automation_given = rng_unit(r) < 0.3,
                                      .never_move = rng_unit(r) < 0.3 ? "reason" : NULL,
                                      .pin = rng_unit(r) < 0.5 ? random_selector(r, true, s, a)
                                                               : (struct selector){0}};
        if (rng_unit(r) < 0.5)
            random_alloc(r, false, vms[i].set);
        if (rng_unit(r) < 0.3)
            vms[i].priority = (enum vm_priority)rng_below(r, PRIORITY_HIGH + 1);
        vms[i].flavor = random_attributes(r, a);
        vms[i].hints = random_attributes(r, a);
        vms[i].groups = (struct ids){added, rng_below(r, 3)};
    }
    for (size_t i = 0; i < ret->n_hosts; i++)
        hosts[i] = (struct overlay_hosts){.hosts = random_selector(r, true, s, a),
                                          .dpm = AUTOMATION_DISABLED,
                                          .dpm_given = rng_unit(r) < 0.5,
                                          .migrations_max = rng_below(r, 3),
                                          .traits = {added, rng_below(r, 3)},
                                          .attributes = random_attributes(r, a),
                                          .quantities = {disk, rng_below(r, 2)}};
    random_placement(r, s, a, ret);
    if (rng_unit(r) < 0.5)
        ret->ha = (struct overlay_ha){.policy = (enum ha_policy)rng_below(r, ha_policy_count),
                                      .hosts = 1 + rng_below(r, 2),
                                      .percent = {rng_below(r, 60), rng_below(r, 60)},
                                      .failover_hosts = random_selector(r, true, s, a)};
}

static const char *dump(const struct snapshot *s, struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf text = {0};

    strbuf_init(&text, STRBUF_NO_LIMIT);
    snapshot_dump(s, &text);
    return arena_strdup(a, text.text);
}

static void lay_over(const struct overlay *o, const struct snapshot *s, struct arena *a, struct snapshot *ret)
{
    struct inventory inv;
    struct err err = {0};

    snapshot_to_inventory(s, a, &inv);
    overlay_apply(o, &inv, a, NULL);
    if (snapshot_build(&inv, a, ret, &err) < 0)
        fail_msg("%s", err.text);
}

static bool same_span(struct span a, struct span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.items, b.items, a.n * sizeof *a.items) == 0);
}

static void check_rules(uint64_t seed, const struct snapshot *was, const struct snapshot *is,
                        struct counts *counts)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < was->n_rules; i++) {
        while (next < is->n_rules && is->rules[next].is.origin != RULE_OF_SOURCE)
            next++;
        const struct rule *x = &was->rules[i];
        const struct rule *y = &is->rules[next++];

        if (next > is->n_rules || strcmp(x->is.id, y->is.id) != 0 || x->is.kind != y->is.kind ||
            x->is.enabled != y->is.enabled || x->is.mandatory != y->is.mandatory ||
            !same_span(x->vms, y->vms) || !same_span(x->hosts, y->hosts))
            fail_msg("seed %llu: the rule %s of the source is changed", (unsigned long long)seed, x->is.id);
        counts->source_rules++;
    }
    counts->rules += is->n_rules - was->n_rules;
}

static uint32_t same_pool(const struct snapshot *from, uint32_t pool, const struct snapshot *to)
{
    return pool == IX_NONE ? IX_NONE : snapshot_find_pool(to, from->pools[pool].is.id);
}

/* The source's pools are where they were; their own settings stand beside those of the configuration. */
static void check_pools(uint64_t seed, const struct snapshot *was, const struct snapshot *is,
                        struct counts *counts)
{
    for (uint32_t i = 0; i < was->n_pools; i++) {
        const struct pool *x = &was->pools[i];
        const struct pool *y = &is->pools[same_pool(was, i, is)];
        const struct alloc *source = y->is.overridden ? y->is.source_alloc : y->is.alloc;

        if (y->is.origin != RULE_OF_SOURCE || same_pool(was, x->parent, is) != y->parent)
            fail_msg("seed %llu: pool %s is elsewhere", (unsigned long long)seed, x->is.id);
        for (int r = 0; r < RES_COUNT; r++)
            if (memcmp(&source[r].reservation, &x->is.alloc[r].reservation, 3 * sizeof(double)) != 0)
                fail_msg("seed %llu: what the source has of pool %s is lost", (unsigned long long)seed,
                         x->is.id);
        counts->overridden_pools += y->is.overridden;
    }
    counts->pools += is->n_pools - was->n_pools;
    for (uint32_t i = 0; i < was->n_vms; i++) {
        const struct vm *x = &was->vms[i];
        const struct vm *y = &is->vms[i];
        const struct alloc *source = y->is.overridden ? y->is.source_alloc : y->is.alloc;

        if (same_pool(was, x->pool, is) != y->source_pool)
            fail_msg("seed %llu: the source's pool of %s is lost", (unsigned long long)seed, x->is.id);
        for (int r = 0; r < RES_COUNT; r++)
            if (memcmp(&source[r].reservation, &x->is.alloc[r].reservation, 3 * sizeof(double)) != 0)
                fail_msg("seed %llu: what the source has of %s is lost", (unsigned long long)seed, x->is.id);
        counts->overridden_vms += y->is.overridden;
        counts->held += y->pool != y->source_pool;
    }
}

/* Groups and pipelines of the source stay, and the pipelines that it gives VMs; those of the configuration
 * bind other VMs. */
static void check_placement(uint64_t seed, const struct snapshot *was, const struct snapshot *is,
                            struct counts *counts)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < is->n_pipelines; i++) {
        if (is->pipelines[i].origin != RULE_OF_SOURCE)
            continue;
        if (next == was->n_pipelines || strcmp(was->pipelines[next].name, is->pipelines[i].name) != 0 ||
            was->pipelines[next].n != is->pipelines[i].n)
            fail_msg("seed %llu: pipeline %s is not the source's", (unsigned long long)seed,
                     is->pipelines[i].name);
        next++;
    }
    assert_int_equal(next, was->n_pipelines);
    for (uint32_t i = 0; i < was->n_vms; i++) {
        uint32_t x = was->vms[i].pipeline, y = is->vms[i].pipeline;

        if (x != IX_NONE && (y == IX_NONE || strcmp(was->pipelines[x].name, is->pipelines[y].name) != 0))
            fail_msg("seed %llu: the source's pipeline of %s is lost", (unsigned long long)seed,
                     was->vms[i].is.id);
        counts->placed += x == IX_NONE && y != IX_NONE;
    }
    counts->groups += is->n_groups - was->n_groups;
}

/* Judged by the snapshot without the configuration: what the source forbids stays forbidden. */
static void check_plan(uint64_t seed, const struct snapshot *was, const struct plan *plan, struct arena *a,
                       struct counts *counts)
{
    struct oracle o;

    oracle_init(&o, was, &plan->policy, a);
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];

        if (rec->action != ACTION_MIGRATE)
            continue;
        counts->moves++;
        if (!oracle_may_run(&o, rec->vm, rec->to, false))
            fail_msg("seed %llu: %s may not run on %s, says the source", (unsigned long long)seed,
                     was->vms[rec->vm].is.id, was->hosts[rec->to].is.id);
    }
    for (uint32_t i = 0; i < plan->n_recommendations; i++)
        oracle_begin(&o, &plan->recommendations[i]);
    for (uint32_t i = 0; i < plan->n_recommendations; i++)
        oracle_end(&o, &plan->recommendations[i]);
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];

        for (uint32_t v = 0; rec->action == ACTION_MIGRATE && v < was->n_vms; v++)
            if (v != rec->vm && o.at[v] == rec->to && o.home[v] != o.home[rec->vm] &&
                oracle_kept_apart(&o, rec->vm, v, false))
                fail_msg("seed %llu: %s joins %s, from which the source keeps it apart",
                         (unsigned long long)seed, was->vms[rec->vm].is.id, was->vms[v].is.id);
    }
}

static void check_ha(uint64_t seed, const struct snapshot *was, const struct overlay_ha *ha,
                     const struct snapshot *is, struct counts *counts)
{
    const struct failover_promise *p = &is->promise;
    bool kept = memcmp(&is->ha, &was->ha, sizeof is->ha) == 0 && p->hosts >= was->promise.hosts &&
                p->by_source == was->promise.by_source;
    bool any_runs = false;

    for (int r = 0; r < RES_COUNT; r++)
        kept = kept && p->percent[r] >= was->promise.percent[r] &&
               (ha->policy != HA_PERCENT || p->percent[r] >= ha->percent[r]);
    for (uint32_t i = 0; i < is->n_hosts; i++) {
        kept = kept && (is->hosts[i].failover || !was->hosts[i].failover);
        any_runs = any_runs || !is->hosts[i].failover;
        counts->failover_hosts += is->hosts[i].failover && !was->hosts[i].failover;
    }
    kept = kept && (ha->policy != HA_HOST_FAILURES || p->hosts >= ha->hosts);
    counts->stricter += p->hosts > was->promise.hosts;
    counts->conflicts += is->ha_configured.conflicts.n;
    if (!kept || (!any_runs && is->ha_configured.failover_hosts.n > 0))
        fail_msg("seed %llu: the policies of the source and of the configuration are not both kept",
                 (unsigned long long)seed);
}

static void check_cluster(uint64_t seed, struct counts *counts)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot was, once, twice, back;
    struct overlay overlay;
    struct policy policy;
    struct plan plan;

    random_cluster(&r,
                   &(struct cluster_options){.hosts_max = 6,
                                             .vms_max = 24,
                                             .mixed_hosts = true,
                                             .rules = true,
                                             .evacuate = true,
                                             .deep_pools = true,
                                             .ha = true},
                   &a, &was);
    random_policy(&r, &policy);
    if (was.n_vms == 0)
        return;
    random_overlay(&r, &was, &a, &overlay);
    lay_over(&overlay, &was, &a, &once);
    lay_over(&overlay, &once, &a, &twice);
    assert_string_equal(dump(&once, &a), dump(&twice, &a));
    check_rules(seed, &was, &once, counts);
    check_pools(seed, &was, &once, counts);
    check_placement(seed, &was, &once, counts);
    check_ha(seed, &was, &overlay.ha, &once, counts);
    lay_over(&(struct overlay){0}, &once, &a, &back);
    for (uint32_t i = 0; i < back.n_vms; i++)
        if (back.vms[i].is.overridden || same_pool(&back, back.vms[i].pool, &was) != was.vms[i].pool ||
            memcmp(back.vms[i].is.alloc, was.vms[i].is.alloc, sizeof was.vms[i].is.alloc) != 0)
            fail_msg("seed %llu: %s does not have its former settings again", (unsigned long long)seed,
                     was.vms[i].is.id);
    assert_int_equal(back.n_pools, was.n_pools);
    assert_int_equal(back.n_groups, was.n_groups);
    assert_int_equal(back.n_pipelines, was.n_pipelines);
    for (uint32_t i = 0; i < once.n_vms; i++)
        counts->immovable += once.vms[i].is.immovable != NULL;
    assert_int_equal(pass_run(&once, &policy, &a, &plan, NULL), 0);
    check_plan(seed, &was, &plan, &a, counts);
}

static void test_weakens_nothing(void **state)
{
    struct counts counts = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(2000); i++)
        check_cluster(test_seed() + i, &counts);
    (void)printf("%u rules of the configuration beside %u of sources, %u moves, %u VMs immovable\n",
                 counts.rules, counts.source_rules, counts.moves, counts.immovable);
    (void)printf("%u new pools, %u overridden; %u VMs overridden, %u of them in another pool\n", counts.pools,
                 counts.overridden_pools, counts.overridden_vms, counts.held);
    (void)printf("%u new groups; %u VMs placed by pipelines of the configuration\n", counts.groups,
                 counts.placed);
    (void)printf("%u clusters keep more host failures, %u hosts empty, %u conflicts of policies\n",
                 counts.stricter, counts.failover_hosts, counts.conflicts);
    if (test_is_usual())
        assert_true(counts.stricter > 100 && counts.failover_hosts > 100 && counts.conflicts > 20 &&
                    counts.rules > 2000 && counts.source_rules > 2000 && counts.moves > 2000 &&
                    counts.immovable > 500 && counts.pools > 1000 && counts.overridden_pools > 200 &&
                    counts.overridden_vms > 2000 && counts.held > 1000 && counts.groups > 500 &&
                    counts.placed > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weakens_nothing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
