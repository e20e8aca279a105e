/* VMs that are off: after a plan none is left on a host that goes to standby, if another host could run it;
 * each leaves before the standby that it belongs to, for a host that may run it and stays on; and the rest of
 * the plan is the same as where such VMs cannot move. */
#include "core/pass.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap;
    struct plan without, with;
    struct oracle o;
    unsigned left, kept, asleep, unchanged;
};

/* Off VMs are registered anywhere, and some of them have a reason to stay. */
static void random_off(struct rng *r, struct world *w)
{
    struct snapshot *s = &w->snap;

    for (uint32_t i = 0; i < s->n_vms; i++) {
        struct vm *v = &s->vms[i];
        uint32_t how = rng_below(r, 12);
        if (v->is.state != VM_OFF || v->is.kind != VM_NORMAL)
            continue;
        v->host = rng_below(r, s->n_hosts);
        v->is.immovable = how == 0 ? "a device" : NULL;
        v->is.automation = how == 1 ? AUTOMATION_MANUAL : how == 2 ? AUTOMATION_DISABLED : AUTOMATION_INHERIT;
        v->is.state = how == 3 ? VM_SUSPENDED : VM_OFF;
        v->is.mem_mb *= how == 4 ? 1000 : 1;
    }
    s->avoid = arena_array(&w->a, struct avoid, 1);
    s->n_avoid = 1;
    s->avoid[0] = (struct avoid){.vm = rng_below(r, s->n_vms),
                                 .host = rng_below(r, 2) ? rng_below(r, s->n_hosts) : IX_NONE,
                                 .until = s->time + 60 * ((instant_s)rng_below(r, 3) - 1),
                                 .failures = 1};
    if (s->avoid[0].host == IX_NONE && rng_below(r, 2)) {
        s->avoid[0].is_rejection = true;
        s->avoid[0].rejected = REASON_OFF_VM;
    }
}

static bool sleeps(const struct world *w, uint32_t host)
{
    bool ret = w->snap.hosts[host].is.state == HOST_ENTERING_STANDBY;

    for (uint32_t i = 0; i < w->with.n_recommendations; i++)
        ret = ret || (w->with.recommendations[i].action == ACTION_POWER_OFF &&
                      w->with.recommendations[i].host == host);
    return ret;
}

static bool is_to_go(const struct world *w, uint32_t host)
{
    for (uint32_t i = 0; i < w->snap.n_pending; i++)
        if (w->snap.pending[i].host == host && w->snap.pending[i].action != ACTION_POWER_ON)
            return true;
    return sleeps(w, host);
}

static bool may_leave(const struct world *w, uint32_t vm)
{
    const struct vm_facts *v = &w->snap.vms[vm].is;
    const struct avoid *x = &w->snap.avoid[0];

    for (uint32_t i = 0; i < w->snap.n_pending; i++)
        if (w->snap.pending[i].vm == vm)
            return false;
    return v->state == VM_OFF && v->kind == VM_NORMAL && !v->immovable &&
           v->automation == AUTOMATION_INHERIT && !(x->vm == vm && w->snap.time < x->until);
}

static bool may_come(const struct world *w, uint32_t vm, uint32_t host)
{
    const struct host *h = &w->snap.hosts[host];

    return host_can_run_vms(h) && !is_to_go(w, host) && !host_is_distrusted(&w->snap, host) &&
           oracle_may_run(&w->o, vm, host, false) &&
           w->snap.vms[vm].is.mem_mb <= h->capacity[RES_MEM] * w->with.policy.mem_overcommit;
}

static const struct recommendation *move_of(const struct world *w, uint32_t vm)
{
    const struct recommendation *found = NULL;

    for (uint32_t i = 0; i < w->with.n_recommendations; i++) {
        const struct recommendation *rec = &w->with.recommendations[i];
        if (rec->vm != vm)
            continue;
        if (found)
            fail_msg("seed %llu: VM %u moves twice", (unsigned long long)w->seed, vm);
        found = rec;
    }
    return found;
}

static bool needs(const struct recommendation *rec, uint32_t id)
{
    for (uint32_t i = 0; i < rec->n_depends_on; i++)
        if (rec->depends_on[i] == id)
            return true;
    return false;
}

/* The move comes before the standby of its host, which waits for it and is approved along with it. */
static void check_standby_waits(const struct world *w, const struct recommendation *move)
{
    for (uint32_t i = 0; i < w->with.n_recommendations; i++) {
        const struct recommendation *rec = &w->with.recommendations[i];
        if (rec->action != ACTION_POWER_OFF || rec->host != move->from)
            continue;
        if (rec->id < move->id || rec->group == 0 || rec->group != move->group || !needs(rec, move->id))
            fail_msg("seed %llu: the standby %u does not wait for %u", (unsigned long long)w->seed, rec->id,
                     move->id);
        return;
    }
    if (w->snap.hosts[move->from].is.state != HOST_ENTERING_STANDBY || move->group != 0)
        fail_msg("seed %llu: %u is for no standby", (unsigned long long)w->seed, move->id);
}

static void check_vm(struct world *w, uint32_t vm)
{
    const struct vm *v = &w->snap.vms[vm];
    const struct recommendation *move = v->is.state == VM_ON ? NULL : move_of(w, vm);
    bool could = false;

    if (move) {
        if (move->reason != REASON_OFF_VM || move->action != ACTION_MIGRATE || move->from != v->host ||
            !may_leave(w, vm) || !may_come(w, vm, move->to))
            fail_msg("seed %llu: %s, which is off, is moved to %s", (unsigned long long)w->seed, v->is.id,
                     w->snap.hosts[move->to].is.id);
        check_standby_waits(w, move);
        w->left++;
        return;
    }
    if (v->is.state != VM_OFF || v->host == IX_NONE || !sleeps(w, v->host))
        return;
    for (uint32_t h = 0; h < w->snap.n_hosts && may_leave(w, vm); h++)
        could = could || may_come(w, vm, h);
    if (could)
        fail_msg("seed %llu: %s is off and stays on %s", (unsigned long long)w->seed, v->is.id,
                 w->snap.hosts[v->host].is.id);
    w->kept++;
}

/* The dependencies, without those moves, are the other plan's. new_id: by id; 0: such a move. */
static bool same_needs(const struct recommendation *x, const struct recommendation *y, const uint32_t *new_id)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < y->n_depends_on; i++) {
        uint32_t id = new_id[y->depends_on[i]];
        if (id != 0 && (n >= x->n_depends_on || x->depends_on[n++] != id))
            return false;
    }
    return n == x->n_depends_on;
}

static void check_the_rest(struct world *w)
{
    const struct plan *x = &w->without, *y = &w->with;
    uint32_t *new_id = arena_array(&w->a, uint32_t, (size_t)y->n_recommendations + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < y->n_recommendations; i++) {
        const struct recommendation *b = &y->recommendations[i];
        if (b->reason == REASON_OFF_VM)
            continue;
        const struct recommendation *a = n < x->n_recommendations ? &x->recommendations[n] : NULL;
        new_id[b->id] = ++n;
        if (!a || a->action != b->action || a->vm != b->vm || a->from != b->from || a->to != b->to ||
            a->host != b->host || a->reason != b->reason || a->priority != b->priority ||
            a->imbalance_after != b->imbalance_after || !same_needs(a, b, new_id))
            fail_msg("seed %llu: recommendation %u is another one", (unsigned long long)w->seed, b->id);
    }
    if (n != x->n_recommendations || x->n_faults != y->n_faults)
        fail_msg("seed %llu: the rest of the plan is another one", (unsigned long long)w->seed);
    if (n < y->n_recommendations)
        return;
    if (!oracle_same_plan(x, y))
        fail_msg("seed %llu: the plan is another one", (unsigned long long)w->seed);
    w->unchanged++;
}

static void check(struct world *w, const struct cluster_options *options)
{
    struct rng r = {.state = w->seed};
    struct policy policy;
    struct err err = {0};

    random_cluster(&r, options, &w->a, &w->snap);
    random_off(&r, w);
    random_policy(&r, &policy);
    random_dpm(&r, &policy);
    for (uint32_t h = 0; h < w->snap.n_hosts; h++) /* as one that a person wants to sleep */
        if (w->snap.hosts[h].is.state == HOST_ENTERING_MAINTENANCE && rng_below(&r, 2) == 0)
            w->snap.hosts[h].is.state = HOST_ENTERING_STANDBY;
    assert_int_equal(pass_run(&w->snap, &policy, &w->a, &w->without, &err), 0);
    w->snap.moves_off_vms = true;
    assert_int_equal(pass_run(&w->snap, &policy, &w->a, &w->with, &err), 0);
    oracle_init(&w->o, &w->snap, &w->with.policy, &w->a);
    for (uint32_t i = 0; i < w->snap.n_vms; i++)
        check_vm(w, i);
    check_the_rest(w);
    for (uint32_t h = 0; h < w->snap.n_hosts; h++)
        w->asleep += sleeps(w, h);
    arena_release(&w->a);
}

static void test_off_vms(void **state)
{
    const struct cluster_options o = {.hosts_max = 9,
                                      .vms_max = 40,
                                      .mixed_hosts = true,
                                      .rules = true,
                                      .evacuate = true,
                                      .in_flight = true,
                                      .sleeping = true,
                                      .idle_agents = true,
                                      .ft = true,
                                      .ha = true,
                                      .newcomers = true,
                                      .approved = true,
                                      .power = true};
    struct world w = {0};
    unsigned clusters = test_clusters(6000);

    (void)state;
    for (unsigned i = 0; i < clusters; i++) {
        w = (struct world){.seed = test_seed() + i,
                           .left = w.left,
                           .kept = w.kept,
                           .asleep = w.asleep,
                           .unchanged = w.unchanged};
        check(&w, &o);
    }
    (void)printf("%u plans, %u the same; of %u hosts that go to standby %u VMs that are off leave, %u stay\n",
                 clusters, w.unchanged, w.asleep, w.left, w.kept);
    if (test_is_usual())
        assert_true(w.left > clusters / 50 && w.kept > clusters / 100 && w.unchanged > clusters / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_off_vms)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
