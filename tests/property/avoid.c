/* Whatever failed before: no plan moves a VM to where it is avoided, nor a VM for balance while optional
 * moves pause. Whatever a person rejected: no plan moves the VM for that reason, to whichever host, nor puts
 * the host to standby or wakes it. What is over changes nothing; and the plan of the written snapshot is the
 * same. */
#include "base/strbuf.h"
#include "core/pass.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "oracle.h"
#include "random_cluster.h"
#include "render/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct counts {
    unsigned moves, entries, paused, changed; /* plans that avoiding has changed */
    unsigned rejected[reason_count];
};

static uint32_t any_or_none(struct rng *r, uint32_t n, double none)
{
    return n == 0 || rng_unit(r) < none ? IX_NONE : rng_below(r, n);
}

/* Of all kinds; some are over. */
static void add_avoided(struct rng *r, struct snapshot *s, struct arena *a, double over)
{
    s->n_avoid = rng_below(r, 2 * s->n_vms + 1);
    s->avoid = arena_array(a, struct avoid, s->n_avoid);
    for (uint32_t i = 0; i < s->n_avoid; i++) {
        struct avoid *x = &s->avoid[i];

        *x = (struct avoid){.vm = any_or_none(r, s->n_vms, 0.02),
                            .host = any_or_none(r, s->n_hosts, 0.02),
                            .until = rng_unit(r) < over ? s->time - (instant_s)rng_below(r, 900)
                                                        : s->time + 1 + (instant_s)rng_below(r, 900),
                            .failures = 1 + rng_below(r, 4),
                            .reason = "no"};
        if (i == 0 && rng_unit(r) < 0.1)
            x->vm = x->host = IX_NONE; /* a pause of optional moves */
    }
}

/* A person rejects by chance what the plan recommends, each time for the next plan, too, and whatever else.
 */
static void add_rejected(struct rng *r, struct snapshot *s, const struct plan *plan, struct arena *a,
                         double over, struct counts *counts)
{
    uint32_t before = s->n_avoid;
    struct avoid *list = arena_array(a, struct avoid, before + plan->n_recommendations + 2);

    for (uint32_t i = 0; i < before; i++)
        list[i] = s->avoid[i];
    s->avoid = list;
    for (uint32_t i = 0; i < plan->n_recommendations + 2; i++) {
        const bool any = i >= plan->n_recommendations;
        const struct recommendation *rec = any ? NULL : &plan->recommendations[i];
        const bool of_host = any ? s->n_vms == 0 || rng_unit(r) < 0.5 : rec->action != ACTION_MIGRATE;
        enum reason reason = any ? (enum reason)rng_below(r, reason_count) : rec->reason;

        if (rng_unit(r) < 0.4)
            continue;
        list[s->n_avoid++] =
            (struct avoid){.vm = of_host ? IX_NONE
                                 : any   ? rng_below(r, s->n_vms)
                                         : rec->vm,
                           .host = !of_host ? IX_NONE
                                   : any    ? rng_below(r, s->n_hosts)
                                            : rec->host,
                           .until = rng_unit(r) < over ? s->time : s->time + 1 + (instant_s)rng_below(r, 900),
                           .is_rejection = true,
                           .rejected = reason_purpose(reason),
                           .reason = "rejected by chance"};
        counts->rejected[reason]++;
    }
}

static bool is_rejected(const struct snapshot *s, const struct recommendation *rec)
{
    for (uint32_t i = 0; i < s->n_avoid; i++) {
        const struct avoid *x = &s->avoid[i];
        if (x->is_rejection && s->time < x->until && x->rejected == reason_purpose(rec->reason) &&
            (rec->action == ACTION_MIGRATE ? x->vm == rec->vm : x->vm == IX_NONE && x->host == rec->host))
            return true;
    }
    return false;
}

/* By its definition, not by the layout's. */
static bool is_avoided(const struct snapshot *s, uint32_t vm, uint32_t host)
{
    for (uint32_t i = 0; i < s->n_avoid; i++) {
        const struct avoid *x = &s->avoid[i];
        bool whole_cluster = x->vm == IX_NONE && x->host == IX_NONE;
        const struct host *h = &s->hosts[s->vms[vm].host];
        bool emptied =
            h->failover || h->is.state == HOST_ENTERING_MAINTENANCE || h->is.state == HOST_ENTERING_STANDBY;

        if (x->is_rejection || (x->host == IX_NONE && emptied))
            continue;
        if (!whole_cluster && s->time < x->until && (x->vm == IX_NONE || x->vm == vm) &&
            (x->host == IX_NONE || x->host == host))
            return true;
    }
    return false;
}

static bool pauses(const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_avoid; i++)
        if (s->avoid[i].vm == IX_NONE && s->avoid[i].host == IX_NONE && s->time < s->avoid[i].until &&
            !s->avoid[i].is_rejection)
            return true;
    return false;
}

/* As JSON, without the figures that may differ between two runs. */
static char *decided(const struct snapshot *s, const struct policy *policy, struct arena *a, struct plan *ret)
{
    struct strbuf b;
    struct err err = {0};

    assert_int_equal(pass_run(s, policy, a, ret, &err), 0);
    ret->stats.decide_us = 0;
    strbuf_init(&b, STRBUF_NO_LIMIT);
    render_plan_json(ret, &b);
    char *text = arena_strdup(a, b.text);
    strbuf_release(&b);
    return text;
}

static void check_plan(uint64_t seed, const struct plan *plan, struct counts *counts)
{
    const struct snapshot *s = plan->snap;
    bool paused = pauses(s);

    counts->paused += paused;
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        if (rec->action == ACTION_POWER_OFF && paused)
            fail_msg("seed %llu: a host is put to standby during the pause", (unsigned long long)seed);
        if (is_rejected(s, rec))
            fail_msg("seed %llu: %s %s, which was rejected for this reason (%s)", (unsigned long long)seed,
                     action_kind_name(rec->action),
                     rec->action == ACTION_MIGRATE ? s->vms[rec->vm].is.id : s->hosts[rec->host].is.id,
                     reason_name(rec->reason));
        if (rec->action != ACTION_MIGRATE)
            continue;
        counts->moves++;
        if (is_avoided(s, rec->vm, rec->to))
            fail_msg("seed %llu: %s moves to %s, where it is avoided (%s)", (unsigned long long)seed,
                     s->vms[rec->vm].is.id, s->hosts[rec->to].is.id, reason_name(rec->reason));
        if (paused && (oracle_is_balancing(rec) || rec->reason == REASON_CONSOLIDATE))
            fail_msg("seed %llu: %s moves during the pause (%s)", (unsigned long long)seed,
                     s->vms[rec->vm].is.id, reason_name(rec->reason));
    }
}

/* The snapshot as a file, and read again. */
static void reread(const struct snapshot *s, struct arena *a, struct snapshot *ret)
{
    struct strbuf b;
    struct inventory inv;
    struct err err = {0};

    strbuf_init(&b, STRBUF_NO_LIMIT);
    snapshot_dump(s, &b);
    if (snapshot_read_inventory(b.text, b.len, a, &inv, NULL, &err) < 0 ||
        snapshot_build(&inv, a, ret, &err) < 0)
        fail_msg("%s", err.text);
    strbuf_release(&b);
}

static void check_cluster(uint64_t seed, struct counts *counts)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap, again;
    struct policy policy;
    struct plan plan;

    random_cluster(&r,
                   &(struct cluster_options){.hosts_max = 7,
                                             .vms_max = 40,
                                             .mixed_hosts = true,
                                             .rules = true,
                                             .tight = seed % 3 == 0,
                                             .evacuate = true,
                                             .in_flight = seed % 2 == 0,
                                             .sleeping = true,
                                             .ft = seed % 5 == 0,
                                             .ha = seed % 4 == 0,
                                             .power = seed % 2 == 1},
                   &a, &snap);
    random_policy(&r, &policy);
    if (seed % 2 == 1)
        random_dpm(&r, &policy);
    const char *free = decided(&snap, &policy, &a, &plan);

    add_avoided(&r, &snap, &a, 1); /* all over */
    assert_string_equal(decided(&snap, &policy, &a, &plan), free);
    add_avoided(&r, &snap, &a, 0.3);
    counts->entries += snap.n_avoid;
    reread(&snap, &a, &again); /* in the order of a file */
    const char *text = decided(&again, &policy, &a, &plan);
    check_plan(seed, &plan, counts);
    counts->changed += strcmp(text, free) != 0;
    reread(&again, &a, &snap);
    assert_string_equal(decided(&snap, &policy, &a, &plan), text);
    arena_release(&a);
}

/* Plan after plan, of which some is rejected: each keeps to all that was rejected before. */
static void check_rejections(uint64_t seed, struct counts *counts)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap, again;
    struct policy policy;
    struct plan plan;

    random_cluster(&r,
                   &(struct cluster_options){.hosts_max = 7,
                                             .vms_max = 40,
                                             .mixed_hosts = true,
                                             .rules = seed % 3 != 0,
                                             .tight = seed % 4 == 0,
                                             .evacuate = seed % 2 == 0,
                                             .sleeping = true,
                                             .ft = seed % 5 == 0,
                                             .ha = seed % 4 == 1,
                                             .power = seed % 2 == 1},
                   &a, &snap);
    random_policy(&r, &policy);
    if (seed % 2 == 1)
        random_dpm(&r, &policy);
    char *free = decided(&snap, &policy, &a, &plan);

    add_rejected(&r, &snap, &plan, &a, 1, counts);
    assert_string_equal(decided(&snap, &policy, &a, &plan), free);
    snap.n_avoid = 0;
    for (int round = 0; round < 3; round++) {
        add_rejected(&r, &snap, &plan, &a, 0, counts);
        reread(&snap, &a, &again);
        snap = again;
        (void)decided(&snap, &policy, &a, &plan);
        check_plan(seed, &plan, counts);
    }
    arena_release(&a);
}

static void test_nothing_rejected_comes_back(void **state)
{
    const unsigned clusters = test_some(1500);
    struct counts counts = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check_rejections(test_seed() + i, &counts);
    for (int i = 0; i < reason_count; i++)
        (void)printf("%s %u, ", reason_name((enum reason)i), counts.rejected[i]);
    (void)printf("%u moves beside them\n", counts.moves);
    if (test_is_usual())
        assert_true(counts.moves > clusters / 2 && counts.rejected[REASON_CONSOLIDATE] > clusters / 5 &&
                    counts.rejected[REASON_RULE] > clusters / 5 &&
                    counts.rejected[REASON_BALANCE_CPU] > clusters / 5);
}

static void test_nothing_goes_where_it_failed(void **state)
{
    const unsigned clusters = test_some(1500);
    struct counts counts = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check_cluster(test_seed() + i, &counts);
    (void)printf("%u entries, %u moves beside them, %u clusters during a pause, %u plans changed\n",
                 counts.entries, counts.moves, counts.paused, counts.changed);
    if (test_is_usual())
        assert_true(counts.moves > clusters / 2 && counts.paused > clusters / 30 &&
                    counts.changed > clusters / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_goes_where_it_failed),
                                       cmocka_unit_test(test_nothing_rejected_comes_back)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
