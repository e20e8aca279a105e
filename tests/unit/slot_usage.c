/* slot_usage and action_queue: the incremental counts equal full counts, and checking only the actions
 * that a result concerns misses none that could begin. Random sequences of moves, starts, maintenance,
 * standby and waking, failures, operations by others, and restarts. */
#include "engine_world.h"

#include "base/rng.h"
#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/observation.h"
#include "engine/state.h"

#define STORM_SEEDS 6
#define STORM_S 1500
#define STORM_HOSTS 6
#define STORM_VMS 24

/* ---- by hand --------------------------------------------------------------------------------- */

static bool is(const char *x, const char *y)
{
    return x && strcmp(x, y) == 0;
}

static bool has_slot(const struct action *x)
{
    return x->r.kind == ACTION_MIGRATE &&
           (action_under_way(x) || (x->r.state == ACTION_APPROVED && x->job_out));
}

static bool in_list(const struct action_list *l, const struct action *x)
{
    int n = 0;

    for (size_t i = 0; i < l->n; i++)
        n += l->items[i] == x;
    assert_true(n <= 1);
    return n == 1;
}

static bool is_power(const struct action *x)
{
    return x->r.kind == ACTION_POWER_ON || x->r.kind == ACTION_POWER_OFF;
}

static void check_host(const struct engine *e, const char *host)
{
    const struct host_use *u = slot_usage_of_host(e->actions, host);
    struct host_use want = {0};

    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action *x = e->actions->list[i];
        bool there = is(x->r.from, host) || is(x->r.to, host);
        bool committed = action_committed(x);

        want.slots += has_slot(x) && there;
        want.arriving += committed && is(x->r.to, host);
        want.departing += x->r.kind == ACTION_MIGRATE && is(x->r.from, host) &&
                          (action_under_way(x) || x->r.state == ACTION_VERIFYING);
        want.to_sleep += committed && x->r.kind == ACTION_POWER_OFF && is(x->r.host, host);
        want.to_maintenance += committed && x->r.kind == ACTION_ENTER_MAINTENANCE && is(x->r.host, host);
        if ((committed || x->r.state == ACTION_DONE) && (there || is(x->r.host, host)))
            assert_true(in_list(&u->actions, x));
    }
    assert_int_equal(u->slots, want.slots);
    assert_int_equal(u->arriving, want.arriving);
    assert_int_equal(u->departing, want.departing);
    assert_int_equal(u->to_sleep, want.to_sleep);
    assert_int_equal(u->to_maintenance, want.to_maintenance);
}

static void check_vm(const struct engine *e, const char *vm)
{
    const struct vm_use *u = slot_usage_of_vm(e->actions, vm);
    struct vm_use want = {0};

    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action *x = e->actions->list[i];

        if (!is(x->r.vm, vm))
            continue;
        want.committed += action_committed(x);
        want.moves += x->r.kind == ACTION_MIGRATE && (action_under_way(x) || x->r.state == ACTION_VERIFYING);
        want.busy += action_under_way(x) || x->r.state == ACTION_VERIFYING || has_slot(x);
        if (action_committed(x) || x->r.state == ACTION_DONE)
            assert_true(in_list(&u->actions, x));
    }
    assert_int_equal(u->committed, want.committed);
    assert_int_equal(u->moves, want.moves);
    assert_int_equal(u->busy, want.busy);
}

static void check_all(const struct engine *e)
{
    uint32_t slots = 0;
    uint32_t power = 0;

    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action *x = e->actions->list[i];

        slots += has_slot(x);
        power += is_power(x) && (action_under_way(x) || x->r.state == ACTION_VERIFYING ||
                                 (x->r.state == ACTION_APPROVED && x->job_out));
        if (action_committed(x)) {
            assert_true(in_list(&e->actions->usage.committed, x));
            assert_true(!is_power(x) || in_list(&e->actions->usage.power, x));
        }
        assert_int_equal(in_list(&e->actions->unstored, x), x->dirty);
        for (uint32_t d = 0; d < x->r.n_depends_on; d++) {
            const struct action *y = action_find(e, x->r.depends_on[d]);
            bool known = !y;

            for (size_t k = 0; y && k < y->needed_by.n; k++)
                known = known || y->needed_by.items[k] == x;
            assert_true(known);
        }
    }
    assert_int_equal(e->actions->usage.slots, slots);
    assert_int_equal(e->actions->usage.power_changes, power);
}

static void check_seen(const struct engine *e)
{
    const struct snapshot *s = &e->now_seen->snap;
    struct seen_use want[STORM_HOSTS] = {{0}};
    uint32_t theirs = 0;

    for (uint32_t i = 0; i < s->n_migrations; i++) {
        const struct migration *m = &s->migrations[i];
        bool ours = false;

        for (size_t k = 0; k < e->actions->n; k++)
            ours = ours || (e->actions->list[k]->r.kind == ACTION_MIGRATE &&
                            (action_under_way(e->actions->list[k]) ||
                             e->actions->list[k]->r.state == ACTION_VERIFYING) &&
                            is(e->actions->list[k]->r.vm, s->vms[m->vm].is.id));
        want[m->from].out++;
        want[m->to].in++;
        want[m->from].theirs += !ours;
        want[m->to].theirs += !ours;
        theirs += !ours;
    }
    assert_int_equal(e->actions->usage.theirs, theirs);
    assert_memory_equal(e->actions->usage.seen, want, s->n_hosts * sizeof *want);
    for (size_t k = 0; k < e->actions->n; k++) {
        const struct action_record *r = &e->actions->list[k]->r;
        bool others = false;

        for (uint32_t i = 0; i < s->n_migrations && r->kind == ACTION_MIGRATE; i++) {
            const char *from = s->hosts[s->migrations[i].from].is.id;
            const char *to = s->hosts[s->migrations[i].to].is.id;

            others = others || (!is(r->vm, s->vms[s->migrations[i].vm].is.id) &&
                                (is(r->from, from) || is(r->from, to) || is(r->to, from) || is(r->to, to)));
        }
        assert_true(r->kind != ACTION_MIGRATE ||
                    slot_usage_sees_others(e->actions, e->actions->list[k]) == others);
    }
    for (size_t i = 0; i < e->actions->usage.power.n; i++)
        assert_int_equal(e->actions->usage.power_host[i],
                         snapshot_find_host(s, e->actions->usage.power.items[i]->r.host));
}

static void check(const struct world *w)
{
    char host[16];

    for (int i = 0; i < w->n_hosts; i++) {
        w_host_id(i, host);
        check_host(w->engine, host);
    }
    for (int i = 0; i < w->n_vms; i++)
        check_vm(w->engine, w->vms[i].id);
    check_all(w->engine);
    if (w->engine->now_seen)
        check_seen(w->engine);
}

/* ---- nobody is forgotten --------------------------------------------------------------------- */

/* What was asked of the workers. Before the tick, what time alone makes due is not: whether something that
 * runs has ended, say. */
static int n_jobs(const struct world *w, bool ticked)
{
    int n = 0;

    for (int i = 0; i < w->n_jobs; i++)
        n += ticked || w->jobs[i].kind == JOB_CHECK;
    return n;
}

static size_t n_ended(const struct engine *e)
{
    size_t n = 0;

    for (size_t i = 0; i < e->actions->n; i++)
        n += action_ended(e->actions->list[i]);
    return n;
}

/* The answers that have come were followed up as far as they go: a look at everything, at the same moment,
 * begins and ends nothing more. (What was woken behind the place that a round had reached waits for the next
 * thing that happens: here, answers to questions that nobody has asked.) */
static void check_nobody_is_forgotten(struct world *w, bool ticked)
{
    const struct job nobody = {.kind = JOB_POLL};
    const struct job_result none = {0};

    while (!w->dead && w->engine->actions->queue.later.n > 0)
        engine_on_job_result(w->engine, &nobody, &none, w->now);
    if (w->dead)
        return;
    action_states_advance(w->engine, w->now); /* where the store works again, everything is due already */
    int orders = n_jobs(w, ticked);
    size_t ended = n_ended(w->engine);

    action_queue_add_all(w->engine->actions);
    action_states_advance(w->engine, w->now);
    if (w->dead)
        return;
    assert_int_equal(n_jobs(w, ticked), orders);
    assert_int_equal(n_ended(w->engine), ended);
}

/* ---- storms ---------------------------------------------------------------------------------- */

static void admin(struct world *w, struct rng *r)
{
    char host[16];
    uint64_t ids[WAKE_ACTIONS] = {0};
    uint32_t what = rng_below(r, 8);
    const struct place_request place = {
        .vms = (const char *[]){w->vms[rng_below(r, STORM_VMS)].id}, .n_vms = 1, .apply = true, .by = "a"};

    w_host_id((int)rng_below(r, STORM_HOSTS), host);
    if (what < 2)
        (void)engine_maintenance(w->engine, host, what == 0, "a", w->now, ids, NULL, NULL);
    else if (what < 4)
        (void)engine_standby(w->engine, host, "a", w->now, ids, NULL);
    else if (what < 7)
        (void)engine_wake(w->engine, host, what == 4, "a", w->now, ids, NULL);
    else
        (void)engine_place(w->engine, &place, w->now, ids, NULL);
}

/* Moves of any VM to any host, some after others, some that belong together; a host to be emptied and put to
 * standby, one to be woken. */
static void draw_script(struct world *w, struct rng *r)
{
    int sleeper = rng_below(r, 3) == 0 ? 1 + (int)rng_below(r, STORM_HOSTS - 1) : -1;
    int n = 0;

    for (int i = 0; i < w->n_vms; i++) {
        struct world_move m = {
            .vm = i, .to = (int)rng_below(r, STORM_HOSTS), .priority = 2 + rng_below(r, 3)};

        if (w->vms[i].off)
            continue;
        if (w->vms[i].host == sleeper && sleeper >= 0) {
            m.group = 1;
            m.empties = true;
            m.to = (sleeper + 1) % STORM_HOSTS;
        } else if (rng_below(r, 2) == 0) {
            continue;
        } else if (n > 0 && rng_below(r, 3) == 0) {
            m.depends_on = 1 + rng_below(r, (uint32_t)n);
        } else if (rng_below(r, 4) == 0) {
            m.group = 2;
        }
        w->script[n++] = m;
    }
    if (sleeper >= 0)
        w->script[n++] =
            (struct world_move){.kind = ACTION_POWER_OFF, .to = sleeper, .priority = 4, .group = 1};
    w->script[n++] = (struct world_move){
        .kind = ACTION_POWER_ON, .to = (int)rng_below(r, STORM_HOSTS), .priority = 1 + rng_below(r, 4)};
    w->n_script = n;
}

static void storm_second(struct world *w, struct rng *r)
{
    double p = rng_unit(r);

    if (w->store_broken && rng_below(r, 4) == 0)
        w->store_broken = false;
    if (w->now % 25 == 0)
        draw_script(w, r);
    w->tasks_fail = rng_unit(r) < 0.1;
    w->tasks_stick = rng_unit(r) < 0.02;
    if (p < 0.03)
        w->check_code = rng_below(r, 2) ? -ETIMEDOUT : -ESTALE;
    else if (p < 0.04)
        w->start_code = -EIO;
    else if (p < 0.05)
        w->start_lost = true;
    else if (p < 0.07)
        w->store_broken = true;
    else if (p < 0.075)
        w->crash_in = 1 + (int)rng_below(r, 10);
    else if (p < 0.08)
        w->vms[rng_below(r, STORM_VMS)].host = (int)rng_below(r, STORM_HOSTS); /* somebody else's hand */
    else if (p < 0.14)
        admin(w, r);
    if (w->dead) {
        w->jobs_survive = rng_unit(r) < 0.5;
        world_restart();
    }
}

/* A second, with a look between any two things that happen. */
static void second(struct world *w)
{
    w->now++;
    w_tasks_go_on();
    for (int part = 0; part < 3 && !w->dead; part++) {
        while (w->n_jobs > 0 && !w->dead) {
            struct job o = w->jobs[0];

            memmove(&w->jobs[0], &w->jobs[1], (size_t)--w->n_jobs * sizeof o);
            struct job_result result = w_carry_out(&o);

            if (!w->dead)
                engine_on_job_result(w->engine, &o, &result, w->now);
            if (!w->dead)
                check(w);
            if (!w->dead && w->n_jobs % 3 == 0)
                check_nobody_is_forgotten(w, part == 2);
        }
        if (w->dead)
            return;
        if (part == 1)
            engine_tick(w->engine, w->now);
        else
            world_answer();
        if (!w->dead)
            check(w);
    }
    world_work();
}

static void storm(uint64_t seed, int64_t per_host, int64_t per_cluster)
{
    struct world w;
    struct rng r = {seed};

    world_init(&w, STORM_HOSTS, STORM_VMS);
    w.settings.policy.automation = AUTOMATION_FULL;
    w.settings.policy.migrations_per_host = per_host;
    w.settings.policy.migrations_per_cluster = per_cluster;
    w.settings.policy.cool_down_s = 60;
    w.settings.policy.interval_s = 20;
    w.hottest = 1.2;
    w.settings.policy.dpm.enabled = true;
    w.settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w.settings.policy.dpm.changes_max = 1;
    w.task_s = 8;
    w.boot_s = 10;
    for (int i = 0; i < w.n_vms; i++)
        w.vms[i].off = i % 5 == 4;
    for (int i = 0; i < w.n_vms; i++) {
        w.vms[i].host = i % STORM_HOSTS;
        w.places[w.n_places++] = (struct world_move){
            .kind = ACTION_PLACE, .vm = i, .to = (int)rng_below(&r, STORM_HOSTS), .priority = 1};
    }
    world_begin_engine();
    for (int s = 0; s < STORM_S && w.n_tasks < WORLD_TASKS - 20 && w.n_actions < WORLD_ACTIONS - 20; s++) {
        storm_second(&w, &r);
        if (!w.dead)
            second(&w);
    }
    world_release();
}

static void test_counts_in_storms(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= rounds(STORM_SEEDS); seed++)
        storm(seed, 1 + (int64_t)seed % 3, seed % 2 ? 0 : 2);
}

/* A slot in the cluster goes from one to the next, the most urgent first, without a tick in between. */
static void test_a_slot_in_the_cluster_is_passed_on(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, STORM_HOSTS, STORM_HOSTS);
    w.settings.policy.automation = AUTOMATION_FULL;
    w.settings.policy.migrations_per_cluster = 1;
    w.hottest = 1.2;
    for (int i = 0; i < 3; i++) { /* no two share a host */
        w.vms[i].host = 2 * i;
        w.script[w.n_script++] = (struct world_move){.vm = i, .to = 2 * i + 1, .priority = i == 2 ? 1 : 3};
    }
    w.task_s = 1;
    world_begin_engine();
    world_second();
    for (int s = 0; s < 60 && w.n_tasks < 3; s++) {
        w.now++;
        w_tasks_go_on();
        engine_tick(w.engine, w.now); /* asks how far the one that runs is */
        int running = w.n_tasks;

        world_work(); /* its end is heard, and the next one begins at once */
        assert_true(world_running(-1) <= 1);
        assert_true(w.n_tasks == running || w.n_tasks == running + 1);
        world_answer();
    }
    assert_int_equal(w.n_tasks, 3);
    assert_int_equal(w.tasks[0].vm, 2);
    assert_int_equal(w.tasks[1].vm, 0);
    assert_int_equal(w.tasks[2].vm, 1);
    world_release();
}

/* One host at a time: when the first one cannot be woken, the second one is asked at once. */
static void test_a_change_of_power_is_passed_on(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 4, 2);
    w.settings.policy.dpm.enabled = true;
    w.settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w.settings.policy.dpm.changes_max = 1;
    w.imbalance = 0;
    w.host_state[2] = w.host_state[3] = HOST_STANDBY;
    w.script[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 2, .priority = 2};
    w.script[1] = (struct world_move){.kind = ACTION_POWER_ON, .to = 3, .priority = 2};
    w.n_script = 2;
    w.boot_s = 30;
    world_begin_engine();
    w.now++;
    engine_tick(w.engine, w.now);
    w.check_code = -EIO;
    world_answer();
    assert_int_equal(w.n_jobs, 1);
    world_work();
    assert_int_equal(world_state(1), ACTION_FAILED);
    assert_int_equal(w.wakes[2], 0);
    assert_int_equal(w.wakes[3], 1);
    world_release();
}

/* An admin moves a VM whose own move is approved and not begun: that migration takes a slot of both its
 * hosts. */
static void test_foreign_migration_of_an_approved_vm(void **state)
{
    static const struct {
        enum action_state state;
        uint32_t theirs;
    } steps[] = {{ACTION_RECOMMENDED, 1}, {ACTION_APPROVED, 1},  {ACTION_STARTING, 0},
                 {ACTION_RUNNING, 0},     {ACTION_VERIFYING, 0}, {ACTION_FAILED, 1}};
    struct world w;
    struct actions all = {0};
    struct action x = {.r = {.kind = ACTION_MIGRATE}};
    struct migration foreign = {.vm = 0, .from = 0, .to = 2};

    (void)state;
    world_init(&w, 3, 1);
    world_begin_engine();
    world_run(70);
    struct snapshot s = w.engine->now_seen->snap;

    x.r.from = s.hosts[0].is.id;
    x.r.to = s.hosts[1].is.id;
    x.r.vm = s.vms[0].is.id;
    s.migrations = &foreign;
    s.n_migrations = 1;
    slot_usage_observe(&all, &s);
    for (size_t i = 0; i < ELEMENTS(steps); i++) {
        x.r.state = steps[i].state;
        (void)slot_usage_update(&all, &x);
        assert_int_equal(all.usage.theirs, steps[i].theirs);
        assert_int_equal(all.usage.seen[2].theirs, steps[i].theirs);
    }
    slot_usage_release(&all);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_in_storms),
        cmocka_unit_test(test_a_slot_in_the_cluster_is_passed_on),
        cmocka_unit_test(test_a_change_of_power_is_passed_on),
        cmocka_unit_test(test_foreign_migration_of_an_approved_vm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
