/* Pipelines: the compiled bitmaps of random expressions against a second evaluator (naive_fit.h), the
 * refusals and counts that are told, and a pass without pipelines is the same as one whose pipelines refuse
 * nothing. */
#include "../unit/rank_once.h"
#include "core/fit/frozen.h"
#include "core/fit/rank.h"
#include "core/pass.h"
#include "core/place/place.h"
#include "naive_fit.h"
#include "oracle.h"
#include "random_cluster.h"
#include "random_fit.h"

#include "base/strbuf.h"
#include "model/expression.h"
#include "model/snapshot_build.h"
#include "model/snapshot_to_inventory.h"
#include "render/render.h"
#include "schema/json_tree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct cluster_options plain = {.hosts_max = 9, .vms_max = 40, .mixed_hosts = true};

/* A random cluster, with pipelines of any expressions, or whose scores and buckets apply to moves. */
static void make(uint64_t seed, bool scores, struct arena *a, struct snapshot *ret)
{
    struct rng r = {.state = seed};
    struct snapshot without;
    struct inventory inv;
    struct err err = {0};

    random_cluster(&r, &plain, a, &without);
    snapshot_to_inventory(&without, a, &inv);
    inv.n_groups = inv.n_pipelines = inv.n_answers = 0;
    for (size_t i = 0; i < inv.n_vms; i++)
        inv.vms[i].pipeline = NULL;
    if (scores)
        random_scores(&r, &inv, a);
    else
        random_fit(&r, &inv, false, a);
    if (snapshot_build(&inv, a, ret, &err) < 0)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
}

/* Each (VM, host, use): the same answer as the second evaluator. */
static void compare(uint64_t seed, const struct snapshot *s, const struct fit *fit, struct arena *a,
                    unsigned count[2])
{
    for (uint32_t vm = 0; vm < s->n_vms; vm++)
        for (uint32_t host = 0; host < s->n_hosts; host++)
            for (int use = 0; use < fit_use_count; use++) {
                bool fits = naive_fits(s, (enum fit_use)use, vm, host);
                const struct refusal *why = fit_refusal(fit, (enum fit_use)use, vm, host, NULL, a);

                count[fits]++;
                if (fit_refuses(fit, (enum fit_use)use, vm, host) == fits || (why == NULL) != fits)
                    fail_msg("seed %llu: %s on %s for %s: the second evaluator says %d",
                             (unsigned long long)seed, s->vms[vm].is.id, s->hosts[host].is.id,
                             fit_use_name((enum fit_use)use), fits);
                if (why && naive_keeps(s, why->stage, (enum fit_use)use, vm, host))
                    fail_msg("seed %llu: the stage %s does not refuse %s", (unsigned long long)seed,
                             s->stages[why->stage].is.id, s->hosts[host].is.id);
            }
}

static void check_left(uint64_t seed, const struct snapshot *s, const struct fit *fit, uint32_t vm,
                       struct arena *a)
{
    const struct stage_left *left;
    uint64_t all[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    uint32_t n = fit_hosts_left(fit, FIT_PLACE, vm, all, NULL, a, &left);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t hosts = 0;
        for (uint32_t h = 0; h < s->n_hosts; h++) {
            bool kept = true;
            for (uint32_t k = 0; k <= i; k++)
                kept = kept && naive_keeps(s, left[k].stage, FIT_PLACE, vm, h);
            hosts += kept;
        }
        if (hosts != left[i].hosts)
            fail_msg("seed %llu: %u hosts are left after stage %u, not %u", (unsigned long long)seed, hosts,
                     i, left[i].hosts);
    }
}

static void test_against_second_evaluator(void **state)
{
    unsigned count[2] = {0, 0};
    unsigned n = test_clusters(1500);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct snapshot s;
        struct fit fit;

        make(test_seed() + i, false, &a, &s);
        fit_compile(&s, &a, &fit);
        compare(test_seed() + i, &s, &fit, &a, count);
        for (uint32_t vm = 0; vm < s.n_vms; vm++)
            check_left(test_seed() + i, &s, &fit, vm, &a);
        arena_release(&a);
    }
    (void)printf("%u pairs pass, %u do not\n", count[1], count[0]);
    if (test_is_usual())
        assert_true(count[0] > 50000 && count[1] > 50000);
}

/* ---- texts of which each host has another ---- */

static struct expression parse(const char *text, field_reader *read, struct arena *a);

/* The ids of some hosts, and of none. */
static const char *any_id(struct rng *r, const struct inventory *inv)
{
    return rng_unit(r) < 0.2 ? "nowhere" : inv->hosts[rng_below(r, (uint32_t)inv->n_hosts)].is.id;
}

static void make_texts(uint64_t seed, struct arena *a, struct snapshot *ret)
{
    struct rng r = {.state = seed};
    struct snapshot without;
    struct inventory inv;
    struct err err = {0};

    random_cluster(&r, &plain, a, &without);
    snapshot_to_inventory(&without, a, &inv);
    inv.n_groups = inv.n_pipelines = 0;
    for (size_t i = 0; i < inv.n_hosts; i++)
        inv.hosts[i].is.name = rng_unit(&r) < 0.2 ? NULL : any_id(&r, &inv);
    const char *const filters[] = {
        arena_printf(a, "[\"not\",[\"in\",\"$host.id\",\"%s\",\"%s\"]]", any_id(&r, &inv), any_id(&r, &inv)),
        arena_printf(a, "[\"in\",\"$host.name\",\"%s\",\"$vm.owner\",[\"split\",\"$vm.hints.at\"]]",
                     any_id(&r, &inv)),
        "[\"or\",[\"=\",\"$host.id\",\"$vm.owner\"],[\"!=\",\"$host.name\",\"$vm.owner\"]]",
        "[\"not\",[\"!=\",\"$host.id\",\"$vm.hints.at\"]]",
        "[\"in\",\"$host.id\",\"$vm.groups\",3,[\"split\",\"$vm.hints.at\"]]"};
    struct stage_facts *s = arena_array(a, struct stage_facts, 1);

    s[0] = (struct stage_facts){
        .name = "s", .filter = parse(filters[rng_below(&r, 5)], expression_read, a), .applies = 7};
    *inventory_add_pipeline(&inv, a) = (struct seen_pipeline){"p", {.items = s, .n = 1}};
    for (size_t k = 0; k < inv.n_vms; k++) {
        struct vm_facts *v = &inv.vms[k].is;
        struct attribute *at = arena_array(a, struct attribute, 1);
        const char **groups = arena_array(a, const char *, 2);

        groups[0] = any_id(&r, &inv);
        groups[1] = "elsewhere"; /* each once */
        at[0] = (struct attribute){.name = "at"};
        at[0].is = (struct value){
            .type = VALUE_TEXT,
            .text = rng_unit(&r) < 0.5 ? any_id(&r, &inv)
                                       : arena_printf(a, "%s, %s", any_id(&r, &inv), any_id(&r, &inv))};
        if (rng_unit(&r) < 0.2)
            at[0].is = (struct value){.type = VALUE_NUMBER, .number = 3};
        v->owner = rng_unit(&r) < 0.3 ? NULL : any_id(&r, &inv);
        v->groups = (struct ids){groups, rng_below(&r, 3)};
        v->hints = (struct attributes){at, rng_below(&r, 2)};
        inv.vms[k].pipeline = "p";
    }
    if (snapshot_build(&inv, a, ret, &err) < 0)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
}

/* They are looked up in columns, not once for each profile. */
static void test_texts(void **state)
{
    unsigned count[2] = {0, 0};
    unsigned n = test_clusters(500);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct snapshot s;
        struct fit fit;

        make_texts(test_seed() + i, &a, &s);
        fit_compile(&s, &a, &fit);
        compare(test_seed() + i, &s, &fit, &a, count);
        arena_release(&a);
    }
    (void)printf("%u pairs pass, %u do not\n", count[1], count[0]);
    if (test_is_usual())
        assert_true(count[0] > 10000 && count[1] > 10000);
}

/* ---- a pass without pipelines ---- */

static void strip_facts(struct inventory *inv)
{
    inv->n_groups = inv->n_answers = 0;
    for (size_t i = 0; i < inv->n_hosts; i++) {
        inv->hosts[i].is.traits = (struct ids){0};
        inv->hosts[i].is.attributes = (struct attributes){0};
        inv->hosts[i].is.quantities = (struct host_quantities){0};
    }
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_facts *v = &inv->vms[i].is;

        v->owner = NULL;
        v->flavor = v->image = v->hints = (struct attributes){0};
        v->groups = (struct ids){0};
    }
}

static void strip_pipelines(struct inventory *inv)
{
    inv->n_pipelines = 0;
    for (size_t i = 0; i < inv->n_vms; i++)
        inv->vms[i].pipeline = NULL;
}

static struct expression parse(const char *text, field_reader *read, struct arena *a)
{
    struct err err = {0};
    const struct reader reader = {.a = a, .err = &err};
    struct node *n;
    struct expression x;

    if (json_tree_parse(text, a, &n, &err) < 0 || read(&reader, n, &x) < 0)
        fail_msg("%s: %s", text, err.text);
    return x;
}

/* Every VM gets a pipeline that refuses nothing: a filter for each use, one that moves change, counts without
 * a limit and within one, a score that is equal on all hosts. */
static void add_true_pipeline(struct inventory *inv, struct arena *a)
{
    struct stage_facts *s = arena_array(a, struct stage_facts, 6);

    s[0] = (struct stage_facts){.name = "all", .filter = parse("true", expression_read, a), .applies = 7};
    s[1] = (struct stage_facts){
        .name = "cores", .filter = parse("[\">=\",\"$host.cores\",0]", expression_read, a), .applies = 7};
    s[2] = (struct stage_facts){.name = "n", .count = parse("1", expression_read_number, a), .off = true};
    s[3] = (struct stage_facts){.name = "cpus",
                                .count = parse("\"$vm.vcpus\"", expression_read_number, a),
                                .limit = parse("1e9", expression_read_number, a),
                                .applies = 7};
    s[4] = (struct stage_facts){
        .name = "calm",
        .filter = parse("[\"and\",[\">=\",\"$host.load\",0],[\">=\",\"$host.left.cpus\",\"$host.used.n\"]]",
                        expression_read, a)};
    s[5] = (struct stage_facts){.name = "equal", .score = parse("5", expression_read_number, a)};
    *inventory_add_pipeline(inv, a) = (struct seen_pipeline){"p", {.items = s, .n = 6}};
    for (size_t k = 0; k < inv->n_vms; k++)
        inv->vms[k].pipeline = "p";
}

/* The whole plan as JSON, without the effort that it took and what lists the stages of pipelines. */
static void plan_text(const struct inventory *inv, const struct policy *policy, struct arena *a, bool order,
                      struct strbuf *ret)
{
    struct snapshot s;
    struct plan plan;
    struct err err = {0};

    if (snapshot_build(inv, a, &s, &err) < 0 || pass_run(&s, policy, a, &plan, &err) < 0)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; !order && i < plan.n_recommendations; i++)
        plan.recommendations[i].n_depends_on = 0;
    plan.stats.evaluated = 0;
    memset(plan.stats.rejected, 0, sizeof plan.stats.rejected);
    strbuf_init(ret, STRBUF_NO_LIMIT);
    render_plan_json(&plan, ret);
}

/* A snapshot that never had pipelines, one from which they were taken though the facts that they read are
 * there, and one whose pipelines refuse nothing give the same plan, byte for byte. A filter that moves change
 * keeps the plan's order on its hosts, so the last one may have more dependencies. */
static void test_without_pipelines(void **state)
{
    struct cluster_options all = plain;
    unsigned n = test_clusters(300);
    unsigned moves = 0;

    (void)state;
    all.rules = all.evacuate = all.ha = all.power = true;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot s;
        struct inventory inv;
        struct policy policy;
        struct strbuf never, taken, passing, unordered;

        random_cluster(&r, &all, &a, &s);
        random_policy(&r, &policy);
        snapshot_to_inventory(&s, &a, &inv);
        strip_pipelines(&inv);
        strip_facts(&inv);
        random_fit(&r, &inv, true, &a);
        strip_pipelines(&inv);
        plan_text(&inv, &policy, &a, true, &taken);
        add_true_pipeline(&inv, &a);
        plan_text(&inv, &policy, &a, false, &passing);
        strip_pipelines(&inv);
        strip_facts(&inv);
        plan_text(&inv, &policy, &a, true, &never);
        plan_text(&inv, &policy, &a, false, &unordered);
        if (strcmp(never.text, taken.text) != 0 || strcmp(unordered.text, passing.text) != 0)
            fail_msg("seed %llu: pipelines that refuse nothing, or none, change the plan:\n%s\n%s\n%s",
                     (unsigned long long)(test_seed() + i), never.text, taken.text, passing.text);
        moves += strstr(never.text, "\"migrate\"") != NULL;
        strbuf_release(&never);
        strbuf_release(&taken);
        strbuf_release(&passing);
        strbuf_release(&unordered);
        arena_release(&a);
    }
    (void)printf("%u of %u plans have moves\n", moves, n);
    if (test_is_usual())
        assert_true(moves > 50);
}

/* Follows the plan, one recommendation after the other: none begins above a limit, or against a filter. */
static void follow(uint64_t seed, const struct plan *plan, struct oracle *o, unsigned *moves, unsigned *live)
{
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        bool place = rec->action == ACTION_PLACE;

        if ((place || rec->action == ACTION_MIGRATE) &&
            !oracle_counts_allow(o, rec->vm, rec->to, place ? FIT_PLACE : FIT_MOVE))
            fail_msg("seed %llu: recommendation %u brings %s to where a count is above its limit",
                     (unsigned long long)seed, rec->id, plan->snap->vms[rec->vm].is.id);
        if ((place || rec->action == ACTION_MIGRATE) && !oracle_live_allows(o, plan, rec, live))
            fail_msg("seed %llu: recommendation %u brings %s to where a filter that moves change refuses it",
                     (unsigned long long)seed, rec->id, plan->snap->vms[rec->vm].is.id);
        *moves += place || rec->action == ACTION_MIGRATE;
        oracle_end(o, rec);
    }
}

/* Moves and power-ons keep within the limits of counts, and to the filters that moves change. */
static void test_counts(void **state)
{
    static const struct cluster_options all = {
        .tight = true, .hosts_max = 6, .vms_max = 40, .mixed_hosts = true, .rules = true, .evacuate = true};
    unsigned n = test_clusters(1500);
    unsigned moves = 0;
    unsigned limited = 0;
    unsigned live = 0;

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot s;
        struct policy policy;
        struct plan plan;
        struct oracle o;
        struct err err = {0};
        uint32_t waiting[2];
        uint32_t n_waiting = 0;

        random_cluster(&r, &all, &a, &s);
        random_policy(&r, &policy);
        assert_int_equal(pass_run(&s, &policy, &a, &plan, &err), 0);
        oracle_init(&o, &s, &plan.policy, &a);
        follow(test_seed() + i, &plan, &o, &moves, &live);
        limited += plan.stats.rejected[CHECK_FIT_QUANTITY] > 0;
        for (uint32_t vm = 0; vm < s.n_vms && n_waiting < 2; vm++)
            if (s.vms[vm].is.state == VM_OFF && s.vms[vm].is.kind == VM_NORMAL)
                waiting[n_waiting++] = vm;
        if (n_waiting > 0 && place_run(&s, &policy, waiting, n_waiting, &a, &plan, &err) == 0) {
            oracle_init(&o, &s, &plan.policy, &a);
            oracle_expect(&o, waiting, n_waiting);
            follow(test_seed() + i, &plan, &o, &moves, &live);
        }
        arena_release(&a);
    }
    (void)printf("%u moves and power-ons, limits met in %u clusters, live filters asked %u times\n", moves,
                 limited, live);
    if (test_is_usual())
        assert_true(moves > 1000 && limited > 10 && live > 100);
}

/* ---- ranking ---- */

/* Counts that no layout has: any numbers. */
static double made_up(const void *with, uint32_t vm, const struct expression_node *v, uint32_t host)
{
    uint32_t stage = v->variable == VARIABLE_HOST_USED || v->variable == VARIABLE_HOST_LEFT ? v->column : 0;
    double used = (vm * 7 + stage * 3 + host * 5) % 11;

    (void)with;
    return v->variable != VARIABLE_HOST_LEFT ? used : stage % 3 ? 10 - used : UNKNOWN;
}

/* The value of a score or bucket; of a bare "$host.used.X" or "$host.left.X", by made_up(). */
static double naive_value(const struct snapshot *s, const struct pipeline *p, const struct expression *x,
                          uint32_t vm, uint32_t host)
{
    const struct expression_node *v = &x->nodes[0];

    if (v->kind != EXPRESSION_VARIABLE ||
        (v->variable != VARIABLE_HOST_USED && v->variable != VARIABLE_HOST_LEFT))
        return naive_number(s, x, vm, host);
    for (uint32_t i = p->first; i < p->first + p->n; i++)
        if (s->stages[i].is.count.n > 0 && strcmp(s->stages[i].is.name, v->name) == 0) {
            struct expression_node of = *v;
            of.column = i;
            return made_up(NULL, vm, &of, host);
        }
    return NAN;
}

struct naive_rank {
    double score, bucket[STAGES_MAX];
    bool out;
};

/* The operand that begins with this node, as an expression of its own. */
static struct expression operand_of(const struct expression *x, uint32_t ix, struct expression_node *nodes)
{
    uint32_t n = x->nodes[ix].end - ix;

    for (uint32_t i = 0; i < n; i++) {
        nodes[i] = x->nodes[ix + i];
        nodes[i].end -= ix;
    }
    return (struct expression){nodes, n};
}

/* What the operator makes of the operand's extremes over hosts, and of what it is on one. */
static double over_hosts(const struct expression_node *n, double least, double most, double v)
{
    if (n->op == OPERATOR_MOST_OF_HOSTS)
        return most;
    return isnan(v) || least < most ? (v - least) / (most - least) : 0;
}

/* Likewise of a score: also with an operator over the hosts that are left, alone or in a difference. */
static double naive_score(const struct snapshot *s, const struct pipeline *p, const struct expression *x,
                          uint32_t vm, uint32_t host, const struct naive_rank *r)
{
    struct expression_node nodes[2][EXPRESSION_NODES_MAX];
    const struct expression first = x->n > 1 ? operand_of(x, 1, nodes[0]) : *x;
    double least = NAN;
    double most = NAN;

    if (expression_is_over_hosts(&x->nodes[0])) {
        for (uint32_t h = 0; h < s->n_hosts; h++) {
            double v = r[h].out ? NAN : naive_score(s, p, &first, vm, h, r);
            least = fmin(least, v);
            most = fmax(most, v);
        }
        return over_hosts(&x->nodes[0], least, most, naive_score(s, p, &first, vm, host, r));
    }
    if (x->nodes[0].kind != EXPRESSION_OPERATOR || x->nodes[0].op != OPERATOR_SUBTRACT)
        return naive_value(s, p, x, vm, host);
    const struct expression second = operand_of(x, x->nodes[1].end, nodes[1]);

    return naive_score(s, p, &first, vm, host, r) - naive_score(s, p, &second, vm, host, r);
}

static double naive_normal(const struct stage_facts *stage, const double *v, const struct naive_rank *r,
                           uint32_t n, uint32_t ix)
{
    double least = stage->least_given ? stage->least : v[ix];
    double most = stage->most_given ? stage->most : v[ix];
    double below = 0;
    double equal = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (r[i].out || isnan(v[i]))
            continue;
        equal += i != ix && v[i] == v[ix];
        least = v[i] < least ? v[i] : least;
        most = v[i] > most ? v[i] : most;
        below += v[i] < v[ix];
    }
    switch (stage->normalise) {
    case NORMALISE_MINMAX:
        return least == most ? 0 : (v[ix] - least) / (most - least);
    case NORMALISE_CLAMP:
        return v[ix] < 0 ? 0 : v[ix] > 1 ? 1 : v[ix];
    case NORMALISE_RANK:
        return below;
    case NORMALISE_RANK_HIGH:
        return below + equal;
    case NORMALISE_NONE:
    case normalisation_count:
        break;
    }
    return v[ix];
}

static void naive_cut(const struct cut_facts *c, struct naive_rank *r, uint32_t n)
{
    double threshold = c->from;
    bool any = false;

    for (uint32_t step = 1; step <= c->steps && !any; step++) {
        for (uint32_t i = 0; i < n; i++)
            any = any || (!r[i].out && r[i].score > threshold);
        if (!any && step < c->steps)
            threshold = step + 1 == c->steps ? c->to : c->from - (c->from - c->to) * step / (c->steps - 1);
    }
    for (uint32_t i = 0; i < n; i++) {
        r[i].out = r[i].out || !any || r[i].score <= threshold;
        r[i].score = 0;
    }
}

static void naive_rank(const struct snapshot *s, uint32_t vm, struct naive_rank *r)
{
    const struct pipeline *p = &s->pipelines[s->vms[vm].pipeline];
    double v[64];

    for (uint32_t k = 0; k < p->n; k++) {
        const struct stage_facts *stage = &s->stages[p->first + k].is;
        struct naive_rank before[64];

        if (!(stage->applies & 1u << FIT_PLACE))
            continue;
        memcpy(before, r, s->n_hosts * sizeof *r);
        for (uint32_t h = 0; h < s->n_hosts && stage->score.n > 0; h++)
            v[h] = naive_score(s, p, &stage->score, vm, h, before);
        for (uint32_t h = 0; h < s->n_hosts; h++) {
            if (stage->bucket.n > 0) {
                double b = naive_value(s, p, &stage->bucket, vm, h);
                r[h].bucket[k] = isnan(b) ? INFINITY : b;
            }
            if (stage->score.n == 0 || isnan(v[h]) || r[h].out)
                continue;
            double by = stage->multiplier.n > 0 ? naive_number(s, &stage->multiplier, vm, h) : 1;
            r[h].score += isnan(by) ? 0 : by * naive_normal(stage, v, before, s->n_hosts, h);
        }
        if (stage->cut.given)
            naive_cut(&stage->cut, r, s->n_hosts);
    }
}

static void compare_ranks(uint64_t seed, const struct snapshot *s, const struct fit *fit, uint32_t vm,
                          struct arena *a, unsigned *cut_out)
{
    const struct expression_live live = {made_up, NULL};
    struct fit_ranked *hosts = arena_array(a, struct fit_ranked, s->n_hosts);
    const struct pipeline *p = &s->pipelines[s->vms[vm].pipeline];
    struct naive_rank *naive = arena_array(a, struct naive_rank, s->n_hosts);

    for (uint32_t h = 0; h < s->n_hosts; h++)
        hosts[h].host = h;
    rank_once(fit, vm, &live, hosts, s->n_hosts, a);
    naive_rank(s, vm, naive);
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        if (hosts[h].out != naive[h].out || (!naive[h].out && fabs(hosts[h].score - naive[h].score) > 1e-9))
            fail_msg("seed %llu: %s on %s: score %.17g, out %d; the second evaluator says %.17g, %d",
                     (unsigned long long)seed, s->vms[vm].is.id, s->hosts[h].is.id, hosts[h].score,
                     hosts[h].out, naive[h].score, naive[h].out);
        for (uint32_t k = 0, b = 0; k < p->n; k++)
            if (s->stages[p->first + k].is.bucket.n > 0 &&
                (s->stages[p->first + k].is.applies & 1u << FIT_PLACE) &&
                hosts[h].buckets[b++] != naive[h].bucket[k])
                fail_msg("seed %llu: %s on %s: another bucket", (unsigned long long)seed, s->vms[vm].is.id,
                         s->hosts[h].is.id);
        *cut_out += naive[h].out;
    }
}

/* Scores, cuts and buckets against a second evaluator. */
static void test_ranks(void **state)
{
    unsigned n = test_clusters(1500);
    unsigned ranked = 0;
    unsigned cut_out = 0;

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct snapshot s;
        struct fit fit;

        make(test_seed() + i, false, &a, &s);
        fit_compile(&s, &a, &fit);
        for (uint32_t vm = 0; vm < s.n_vms; vm++) {
            if (!fit_ranks(&fit, vm))
                continue;
            ranked++;
            compare_ranks(test_seed() + i, &s, &fit, vm, &a, &cut_out);
            assert_true(fit_rank_pick(&fit, vm, s.n_hosts) < s.n_hosts);
        }
        arena_release(&a);
    }
    (void)printf("%u VMs ranked their hosts, %u hosts were cut\n", ranked, cut_out);
    if (test_is_usual())
        assert_true(ranked > 5000 && cut_out > 1000);
}

/* ---- scores of moves ---- */

/* Of a count with `per` also by what the VM is counted with. */
static double then_used(const struct fit *fit, uint32_t vm, uint32_t stage, uint32_t host, bool beside)
{
    const struct fit_counts *counts = &fit->counts;
    uint32_t with = 0;

    for (uint32_t k = counts->shares_from[vm]; k < counts->shares_from[vm + 1]; k++)
        if (counts->counters[counts->shares[k].counter].measure == counts->measure_of[stage] &&
            counts->counters[counts->shares[k].counter].of)
            with += counts->shares[k].counter;
    return (stage * 3 + host * 5 + with) % 11 - (beside ? vm % 3 : 0);
}

static double then_value(const struct fit *fit, uint32_t vm, const struct expression_node *v, uint32_t host,
                         bool beside)
{
    bool counted = v->variable == VARIABLE_HOST_USED || v->variable == VARIABLE_HOST_LEFT;

    if (!counted)
        return host * 5 % 11;
    double used = then_used(fit, vm, v->column, host, beside);

    if (v->variable == VARIABLE_HOST_USED || fit->snap->stages[v->column].is.limit.n == 0)
        return used;
    int64_t limit = fit_limit(fit, vm, v->column, host);

    return limit == FIT_NOTHING ? NAN : (double)limit / FIT_AMOUNT_ONE - used;
}

static double value_of_all(const void *with, uint32_t vm, const struct expression_node *v, uint32_t host)
{
    return then_value(with, vm, v, host, false);
}

static double value_beside(const void *with, uint32_t vm, const struct expression_node *v, uint32_t host)
{
    return then_value(with, vm, v, host, true);
}

/* The value of a score or bucket of a move; of a bare "$host.used.X" or "$host.left.X", by then_used(). */
static double naive_then(const struct fit *fit, const struct expression *x, uint32_t vm, uint32_t host,
                         bool beside)
{
    const struct snapshot *s = fit->snap;
    const struct pipeline *p = &s->pipelines[s->vms[vm].pipeline];
    const struct expression_node *v = &x->nodes[0];

    if (v->kind != EXPRESSION_VARIABLE ||
        (v->variable != VARIABLE_HOST_USED && v->variable != VARIABLE_HOST_LEFT))
        return naive_number(s, x, vm, host);
    for (uint32_t i = p->first; i < p->first + p->n; i++) {
        const struct stage_facts *is = &s->stages[i].is;
        if (is->count.n == 0 || strcmp(is->name, v->name) != 0)
            continue;
        struct expression_node of = *v;
        of.column = i;
        return then_value(fit, vm, &of, host, beside);
    }
    return NAN;
}

/* Likewise of a score: also with an operator over the hosts to which the VM may move. */
static double naive_then_score(const struct fit *fit, const struct expression *x, uint32_t vm, uint32_t host,
                               bool beside, const bool *in)
{
    struct expression_node nodes[2][EXPRESSION_NODES_MAX];
    const struct expression first = x->n > 1 ? operand_of(x, 1, nodes[0]) : *x;
    double least = NAN;
    double most = NAN;

    if (expression_is_over_hosts(&x->nodes[0])) {
        for (uint32_t h = 0; h < fit->snap->n_hosts; h++) {
            double v = in[h] ? naive_then(fit, &first, vm, h, false) : NAN;
            least = fmin(least, v);
            most = fmax(most, v);
        }
        return over_hosts(&x->nodes[0], least, most, naive_then(fit, &first, vm, host, beside));
    }
    if (x->nodes[0].kind != EXPRESSION_OPERATOR || x->nodes[0].op != OPERATOR_SUBTRACT)
        return naive_then(fit, x, vm, host, beside);
    const struct expression second = operand_of(x, x->nodes[1].end, nodes[1]);

    return naive_then_score(fit, &first, vm, host, beside, in) -
           naive_then_score(fit, &second, vm, host, beside, in);
}

/* What the stage adds to the score for the value of one host, with those of all. */
static double naive_part(const struct stage_facts *stage, const double *all, const bool *in, uint32_t n,
                         double v, double by)
{
    double least = stage->least_given ? stage->least : INFINITY;
    double most = stage->most_given ? stage->most : -INFINITY;
    double below = 0;
    double equal = -1; /* one is the host itself */

    for (uint32_t i = 0; i < n; i++) {
        if (!in[i] || isnan(all[i]))
            continue;
        equal += all[i] == v;
        least = all[i] < least ? all[i] : least;
        most = all[i] > most ? all[i] : most;
        below += all[i] < v;
    }
    if (isnan(v) || isnan(by))
        return 0;
    if (stage->normalise == NORMALISE_MINMAX)
        return most > least ? by * (v - least) / (most - least) : 0;
    if (stage->normalise == NORMALISE_CLAMP)
        return by * (v < 0 ? 0 : v > 1 ? 1 : v);
    if (stage->normalise == NORMALISE_RANK_HIGH)
        return by * fmax(below + equal, 0);
    return by * (stage->normalise == NORMALISE_RANK ? below : v);
}

/* Fills the score by host, of 0 to 1. False: no stage of the VM's pipeline scores moves. */
static bool naive_scores(const struct snapshot *s, const struct fit *fit, uint32_t vm, const uint64_t *hosts,
                         double *score)
{
    const struct pipeline *p = &s->pipelines[s->vms[vm].pipeline];
    uint32_t home = s->vms[vm].host;
    double sum[65] = {0}; /* the last is that of the VM's host without the VM */
    bool in[64];
    bool any = false;
    double least = INFINITY;
    double most = -INFINITY;

    for (uint32_t h = 0; h < s->n_hosts; h++)
        in[h] = (hosts[0] >> h & 1) && !fit_refuses(fit, FIT_MOVE, vm, h);
    for (uint32_t k = p->first; k < p->first + p->n; k++) {
        const struct stage_facts *stage = &s->stages[k].is;
        double v[65];
        if (stage->score.n == 0 || !(stage->applies & 1u << FIT_MOVE))
            continue;
        any = true;
        for (uint32_t h = 0; h <= s->n_hosts; h++)
            v[h] = naive_then_score(fit, &stage->score, vm, h == s->n_hosts ? home : h, h == s->n_hosts, in);
        for (uint32_t h = 0; h <= s->n_hosts; h++) {
            uint32_t at = h == s->n_hosts ? home : h;
            double by = stage->multiplier.n > 0 ? naive_number(s, &stage->multiplier, vm, at) : 1;
            sum[h] += naive_part(stage, v, in, s->n_hosts, v[h], by);
        }
    }
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        least = in[h] && sum[h] < least ? sum[h] : least;
        most = in[h] && sum[h] > most ? sum[h] : most;
    }
    sum[home] = sum[s->n_hosts];
    for (uint32_t h = 0; h < s->n_hosts; h++)
        score[h] = most > least ? fmin(fmax((sum[h] - least) / (most - least), 0), 1) : 0;
    return any;
}

/* Whether the host's buckets are worse than those of the VM's host. */
static bool naive_worse(const struct fit *fit, uint32_t vm, uint32_t to)
{
    const struct snapshot *s = fit->snap;
    const struct pipeline *p = &s->pipelines[s->vms[vm].pipeline];

    for (uint32_t k = p->first; k < p->first + p->n; k++) {
        const struct stage_facts *stage = &s->stages[k].is;
        if (stage->bucket.n == 0 || !(stage->applies & 1u << FIT_MOVE))
            continue;
        double here = naive_then(fit, &stage->bucket, vm, s->vms[vm].host, true);
        double there = naive_then(fit, &stage->bucket, vm, to, false);
        here = isnan(here) ? INFINITY : here;
        there = isnan(there) ? INFINITY : there;
        if (here != there)
            return there > here;
    }
    return false;
}

static void compare_frozen(uint64_t seed, const struct snapshot *s, const struct fit *fit,
                           struct fit_frozen *f, uint32_t vm, const uint64_t *hosts, unsigned *drops,
                           unsigned *worse)
{
    double score[64] = {0};
    uint32_t home = s->vms[vm].host;

    if (!naive_scores(s, fit, vm, hosts, score))
        memset(score, 0, sizeof score);
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        double drop = h == home ? 0 : fmax(score[home] - score[h], 0);
        bool is_worse = h != home && naive_worse(fit, vm, h);
        if (fabs(fit_frozen_score(f, vm, h) - score[h]) > 1e-9 ||
            (h != home && fabs(fit_frozen_drop(f, vm, h) - drop) > 1e-9))
            fail_msg("seed %llu: %s on %s: score %.17g, the second evaluator says %.17g",
                     (unsigned long long)seed, s->vms[vm].is.id, s->hosts[h].is.id,
                     fit_frozen_score(f, vm, h), score[h]);
        if (h != home && fit_frozen_worse_bucket(f, vm, h, NULL) != is_worse)
            fail_msg("seed %llu: %s on %s: the second evaluator says that its bucket is %s",
                     (unsigned long long)seed, s->vms[vm].is.id, s->hosts[h].is.id,
                     is_worse ? "worse" : "not worse");
        *drops += drop > 0;
        *worse += is_worse;
    }
}

/* Scores and buckets of moves against a second evaluator. */
static void test_frozen(void **state)
{
    unsigned n = test_clusters(1500);
    unsigned drops = 0;
    unsigned worse = 0;

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot s;
        struct fit fit;
        uint64_t hosts[4] = {rng_next(&r) | rng_next(&r)};
        const struct fit_then then = {.all = {value_of_all, &fit}, .beside = {value_beside, &fit}};

        make(test_seed() + i, i % 3 > 0, &a, &s);
        fit_compile(&s, &a, &fit);
        struct fit_frozen *f = fit_frozen_new(&fit, hosts, &then, &a);
        for (uint32_t vm = 0; f && vm < s.n_vms; vm++)
            if (s.vms[vm].pipeline != IX_NONE && s.vms[vm].host != IX_NONE)
                compare_frozen(test_seed() + i, &s, &fit, f, vm, hosts, &drops, &worse);
        arena_release(&a);
    }
    (void)printf("%u drops of a score, %u worse buckets\n", drops, worse);
    if (test_is_usual())
        assert_true(drops > 5000 && worse > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_second_evaluator),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_without_pipelines),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_frozen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
