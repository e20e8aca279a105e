#include "engine_world.h"

#include <stdlib.h>

struct world *W;

/* Counts a call; whether it has an effect. */
bool w_alive(void)
{
    if (W->dead)
        return false;
    if (W->crash_in > 0 && --W->crash_in == 0) {
        W->dead = true;
        return !W->crash_before_effect;
    }
    return true;
}

/* ---- source ---------------------------------------------------------------------------------- */

struct source {
    int unused;
};

static int w_ask(struct source *s, uint64_t serial, struct err *err)
{
    (void)s, (void)err;
    assert_int_equal(W->asked, 0); /* one at a time */
    W->n_asks++;
    if (w_alive())
        W->asked = serial;
    return 0;
}

static const struct source_ops w_source_ops = {.ask = w_ask};

static struct ids w_agents_of(int host, struct arena *a)
{
    const char **items = arena_array(a, const char *, (size_t)W->n_vms);
    struct ids ret = {.items = items};

    for (int i = 0; i < W->n_vms; i++) {
        if (W->vms[i].agent_of == host + 1 && W->vms[i].host >= 0)
            items[ret.n++] = arena_strdup(a, W->vms[i].id);
    }
    return ret;
}

static void w_fill(struct collected *c)
{
    struct arena *a = &c->arena;
    char id[16];

    c->inventory = (struct inventory){.cluster = "c", .ha = W->ha, .labels_unread = W->labels_unread};
    for (int i = 0; i < W->n_hosts; i++) {
        if (W->gone[i])
            continue;
        struct seen_host *h = inventory_add_host(&c->inventory, a);

        w_host_id(i, id);
        h->is.id = arena_strdup(a, id);
        h->is.hardware_uuid = W->uuid_of[i];
        h->booted = W->booted[i];
        h->is.name = W->name_of[i] ? W->name_of[i] : W->host_name ? W->host_name : h->is.id;
        h->is.state = W->hides && W->host_state[i] == HOST_STANDBY ? HOST_DISCONNECTED : W->host_state[i];
        h->is.wake_verified = !W->unproven;
        if (W->unread[i])
            h->is.state = HOST_DISCONNECTED;
        else
            h->is.total[RES_CPU] = h->is.total[RES_MEM] = 10000;
        h->is.cores = W->unread[i] ? 0 : 4;
        h->is.dpm = W->host_dpm[i];
        if (W->figures) {
            h->is.power_idle_w = 100;
            h->is.power_peak_w = 200;
            h->is.power_standby_w = 10;
        }
        h->agents_required = w_agents_of(i, a);
        if (W->host_rate_mb_s > 0)
            h->is.migration_rate_mb_s = W->host_rate_mb_s;
    }
    for (int i = 0; i < W->n_vms; i++) {
        if (W->vms[i].host < 0)
            continue;
        struct seen_vm *v = inventory_add_vm(&c->inventory, a);

        v->is.vcpus = 1;
        v->is.mem_mb = w_mem_mb(i);
        vm_facts_default(&v->is);
        v->is.id = arena_strdup(a, W->vms[i].id);
        v->is.name = W->vm_name ? W->vm_name : v->is.id;
        v->is.alloc[RES_MEM].reservation = W->reserved_mb;
        if (W->vms[i].cpu_limit > 0)
            v->is.alloc[RES_CPU].limit = W->vms[i].cpu_limit;
        v->is.automation = W->vms[i].automation;
        w_fill_migration(v, W->vms[i].off);
        v->is.state = W->vms[i].off ? VM_OFF : VM_ON;
        v->is.kind = W->vms[i].agent_of ? VM_AGENT : VM_NORMAL;
        w_host_id(W->vms[i].host, id);
        v->host = arena_strdup(a, id);
        if (!W->vms[i].off) {
            v->is.demand[RES_CPU] = W->vms[i].cpu;
            v->is.demand[RES_MEM] = W->vms[i].mem;
            vm_facts_windows(&v->is);
        }
    }
    if (W->apart)
        w_fill_rule(&c->inventory, a);
    w_fill_pools(&c->inventory, a);
    w_fill_units(&c->inventory, a);
}

/* Answers what is asked, unless the source is silent. */
void world_answer(void)
{
    uint64_t serial = W->asked;

    if (serial == 0 || W->source_silent || W->dead)
        return;
    W->asked = 0;
    if (W->source_down) {
        struct err err;

        (void)err_set(&err, W->source_code ? W->source_code : -ECONNREFUSED, "source: no answer");
        engine_on_source_error(W->engine, serial, &err, W->now);
        return;
    }
    struct collected c = {0};

    w_fill(&c);
    engine_on_inventory(W->engine, serial, &c, W->now);
}

/* ---- actuators ----------------------------------------------------------------------------------- */

struct actuators {
    int unused;
};

static int w_submit_operation(const struct job *o, struct err *err)
{
    if (W->n_jobs == WORLD_JOBS)
        return err_set(err, -EAGAIN, "too many jobs");
    if (!W->dead && o->kind == JOB_START) /* before a hypervisor is asked, a restart would know */
        assert_int_equal(W->actions[o->id - 1].state, ACTION_STARTING);
    if (!w_alive())
        return 0;
    struct job *c = &W->jobs[W->n_jobs++];

    *c = *o;
    c->operation.uid = arena_strdup(&W->memory, o->operation.uid);
    c->operation.vm = arena_strdup(&W->memory, o->operation.vm);
    c->operation.from = arena_strdup(&W->memory, o->operation.from);
    c->operation.to = arena_strdup(&W->memory, o->operation.to);
    c->operation.host = arena_strdup(&W->memory, o->operation.host);
    c->task = arena_strdup(&W->memory, o->task);
    return 0;
}

static int w_submit_question(const struct job *o, struct err *err)
{
    const bool measures = o->kind == JOB_MEASURE;

    if (!(measures ? W->meters : W->controllers))
        return err_set(err, -ENOTSUP, "there are none");
    if (!measures)
        W->confirmed =
            o->identify.machine.confirmed ? arena_strdup(&W->memory, o->identify.machine.confirmed) : "";
    assert_true(W->n_questions < WORLD_HOSTS);
    struct world_question *q = &W->questions[W->n_questions++];

    q->kind = o->kind;
    q->serial = o->id;
    (void)snprintf(q->host, sizeof q->host, "%s", measures ? o->measure.host : o->identify.host);
    W->questions_most = W->questions_most > W->n_questions ? W->questions_most : W->n_questions;
    return 0;
}

static int w_submit(struct actuators *x, const struct job *o, struct err *err)
{
    (void)x;
    if (o->kind == JOB_MEASURE || o->kind == JOB_IDENTIFY)
        return w_submit_question(o, err);
    return o->kind == JOB_SET_POOLS ? w_submit_settings(o) : w_submit_operation(o, err);
}

static const struct actuators_ops w_actuators_ops = {.submit = w_submit};

int w_vm(const char *id)
{
    for (int i = 0; i < W->n_vms; i++) {
        if (id && strcmp(W->vms[i].id, id) == 0)
            return i;
    }
    return -1;
}

int w_host(const char *id)
{
    return id && id[0] == 'h' ? id[1] - '0' : -1;
}

static struct world_task *w_task_of(const struct operation *q)
{
    for (int i = 0; i < W->n_tasks; i++) {
        struct world_task *t = &W->tasks[i];

        if (t->state == TASK_RUNNING && !t->forgotten && strcmp(t->uid, q->uid) == 0)
            return t;
    }
    return NULL;
}

static int w_check(const struct operation *q, struct err *err)
{
    int vm = w_vm(q->vm);

    if (q->kind == OPERATION_STANDBY && W->host_state[w_host(q->host)] != HOST_ON)
        return err_set(err, -ESTALE, "host %s is not on", q->host);
    if (q->kind == OPERATION_WAKE && W->host_state[w_host(q->host)] != HOST_STANDBY)
        return err_set(err, -ESTALE, "host %s does not sleep", q->host);
    if (!operation_is_of_vm(q->kind))
        return 0;
    if (vm < 0 || W->vms[vm].host < 0)
        return err_set(err, -ENOENT, "VM %s is gone", q->vm);
    if (q->kind == OPERATION_POWER_ON_VM)
        return W->vms[vm].off ? 0 : err_set(err, -ESTALE, "VM %s runs already", q->vm);
    if (W->vms[vm].host != w_host(q->from) || (q->off && !W->vms[vm].off))
        return err_set(err, -ESTALE, "VM %s is not on %s", q->vm, q->from);
    return 0;
}

static int w_start(const struct operation *q, char *ret_task, struct err *err)
{
    struct world_task *t = w_task_of(q);

    if (!t) {
        int r = w_check(q, err);

        if (r < 0)
            return r;
        if (q->only_adopt)
            return err_set(err, -ESRCH, "nothing of %s runs", q->uid);
        assert_true(W->n_tasks < WORLD_TASKS);
        t = &W->tasks[W->n_tasks++];
        (void)snprintf(t->name, sizeof t->name, "task-%d", W->n_tasks);
        (void)snprintf(t->uid, sizeof t->uid, "%s", q->uid);
        t->kind = q->kind;
        t->vm = w_vm(q->vm);
        t->to = w_host(operation_is_of_vm(q->kind) ? q->to : q->host);
        t->state = TASK_RUNNING;
        t->ends = W->now + W->task_s;
        t->stuck = W->tasks_stick;
        if (t->vm >= 0)
            W->starts[t->vm]++;
        if (q->kind == OPERATION_WAKE)
            W->wakes[t->to]++;
        if (q->kind == OPERATION_STANDBY)
            W->downs[t->to]++;
        for (int i = 0; q->kind == OPERATION_STANDBY && i < W->n_vms; i++) /* what must never be asked for */
            assert_false(W->vms[i].host == t->to && !W->vms[i].off && !W->vms[i].agent_of);
    }
    (void)snprintf(ret_task, TASK_NAME_MAX, "%s", t->name);
    return 0;
}

static void w_succeed(const struct world_task *t)
{
    if (W->tasks_lie)
        return;
    switch (t->kind) {
    case OPERATION_MIGRATE:
    case OPERATION_POWER_ON_VM:
        if (W->vms[t->vm].host < 0)
            return;
        if (t->kind == OPERATION_MIGRATE || !W->lands_where_it_is)
            W->vms[t->vm].host = t->to;
        W->vms[t->vm].off = W->vms[t->vm].off && t->kind == OPERATION_MIGRATE;
        return;
    case OPERATION_ENTER_MAINTENANCE:
        W->host_state[t->to] = HOST_MAINTENANCE;
        return;
    case OPERATION_EXIT_MAINTENANCE:
        W->host_state[t->to] = HOST_ON;
        return;
    case OPERATION_WAKE: /* the answer comes when it has begun to boot */
        W->host_state[t->to] = HOST_POWERING_ON;
        W->awake_at[t->to] = W->now + W->boot_s;
        return;
    case OPERATION_STANDBY:
        W->host_state[t->to] = HOST_STANDBY;
        for (int i = 0; i < W->n_vms; i++) /* with it its agents */
            W->vms[i].off = W->vms[i].off || W->vms[i].agent_of == t->to + 1;
        return;
    }
}

/* The peer's own time: what began goes on, whether anybody watches or not. */
void w_tasks_go_on(void)
{
    for (int i = 0; i < W->n_hosts; i++) {
        if (W->host_state[i] == HOST_POWERING_ON && W->awake_at[i] <= W->now)
            W->host_state[i] = HOST_ON;
    }
    for (int i = 0; i < W->n_tasks; i++) {
        struct world_task *t = &W->tasks[i];

        if (t->state != TASK_RUNNING || t->stuck || t->ends > W->now)
            continue;
        t->state = W->tasks_fail || (t->vm >= 0 && W->refusing >> t->to & 1) ? TASK_FAILED : TASK_SUCCEEDED;
        if (t->state == TASK_SUCCEEDED)
            w_succeed(t);
    }
}

struct job_result w_carry_out(const struct job *o)
{
    struct job_result r = {0};
    struct world_task *t = NULL;

    if (W->actuators && W->actuators(o, &r))
        return r;
    for (int i = 0; o->task && i < W->n_tasks; i++) {
        if (strcmp(W->tasks[i].name, o->task) == 0 && !W->tasks[i].forgotten)
            t = &W->tasks[i];
    }
    switch (o->kind) {
    case JOB_CHECK:
        W->n_ahead += o->operation.power.ahead;
        r.code = o->operation.power.ahead ? err_set(&r.err, W->ahead_code, "the controller says no")
                 : W->check_code          ? err_set(&r.err, W->check_code, "the check said no")
                                          : w_check(&o->operation, &r.err);
        W->check_code = 0;
        break;
    case JOB_START:
        if (W->start_code) {
            r.code = err_set(&r.err, W->start_code, "the start was refused");
        } else {
            r.code = w_start(&o->operation, r.task, &r.err);
            if (W->start_lost)
                r.code = err_set(&r.err, -ETIMEDOUT, "no answer");
        }
        W->start_code = 0;
        W->start_lost = false;
        break;
    case JOB_POLL:
        r.progress.state = t ? t->state : TASK_FAILED;
        r.progress.gone = !t;
        r.progress.percent = W->percent;
        if (o->operation.kind == OPERATION_WAKE)
            w_tell_methods(&o->operation, &r.progress);
        if (!t || t->state == TASK_FAILED)
            (void)err_set(&r.progress.why, W->task_error ? W->task_error : -EIO, "the task failed");
        break;
    case JOB_CANCEL:
        if (W->cannot_cancel)
            r.code = err_set(&r.err, -ENOTSUP, "cannot be stopped");
        else if (t && t->state == TASK_RUNNING)
            t->state = TASK_FAILED;
        break;
    case JOB_SET_POOLS:
    case JOB_MEASURE:
    case JOB_IDENTIFY:
        break;
    }
    return r;
}

/* The meters and controllers that answer. */
static void w_answer_questions(void)
{
    for (int i = 0; i < W->n_questions && !W->dead;) {
        const struct world_question q = W->questions[i];
        int host = w_host(q.host);
        const struct job job = {.kind = JOB_MEASURE, .id = q.serial, .measure = {.host = q.host}};
        struct job_result r = {.code = W->meter_code[host]};

        if (q.kind == JOB_MEASURE && W->meter_hangs[host]) {
            i++;
            continue;
        }
        memmove(&W->questions[i], &W->questions[i + 1], (size_t)(--W->n_questions - i) * sizeof q);
        if (q.kind == JOB_IDENTIFY) {
            w_answer_identity(&q);
            continue;
        }
        r.watts = W->meter_w[host];
        W->n_measured[host]++;
        engine_on_job_result(W->engine, &job, &r, W->now);
    }
}

void world_work(void)
{
    w_answer_questions();
    while (W->n_jobs > 0 && !W->dead) {
        struct job o = W->jobs[0];

        memmove(&W->jobs[0], &W->jobs[1], (size_t)--W->n_jobs * sizeof o);
        struct job_result r = w_carry_out(&o);

        engine_on_job_result(W->engine, &o, &r, W->now);
    }
    while (W->n_settings_jobs > 0 && !W->dead) {
        struct job o = W->settings_jobs[0];
        struct job_result r = {0};

        memmove(&W->settings_jobs[0], &W->settings_jobs[1], (size_t)--W->n_settings_jobs * sizeof o);
        r.code = w_carry_out_settings(&o, &r.err);
        engine_on_job_result(W->engine, &o, &r, W->now);
    }
}

/* ---- event sink ------------------------------------------------------------------------------ */

struct event_sink {
    int unused;
};

static void w_publish(struct event_sink *o, const struct event *ev)
{
    (void)o;
    if (getenv("ENGINE_WORLD_TALKS"))
        print_message("  %lld %s %llu %s: %s\n", (long long)(ev->time - WORLD_START),
                      event_kind_name(ev->kind), ev->action ? (unsigned long long)ev->action->id : 0ull,
                      ev->action ? action_state_name(ev->action->state) : "", ev->text);
    char *line = W->events[W->n_events++ % 64];

    if (ev->by)
        (void)snprintf(W->last_by, sizeof W->last_by, "%s", ev->by);
    W->n_redirected += ev->changes ? ev->changes->n_redirected : 0;
    if (ev->kind == EVENT_ACTION)
        (void)snprintf(line, 24, "%u %s", (unsigned)ev->action->id, action_state_name(ev->action->state));
    else
        (void)snprintf(line, 24, "%s", event_kind_name(ev->kind));
}

static const struct event_sink_ops w_event_sink_ops = {.publish = w_publish};

static void w_publish_to_keep(struct event_sink *o, const struct event *ev)
{
    w_publish(o, ev);
    assert_true(W->n_waiting < WORLD_EVENTS);
    memcpy(W->waiting[W->n_waiting++], W->events[(W->n_events - 1) % 64], sizeof W->waiting[0]);
}

static int w_keep(struct event_sink *o, struct err *err)
{
    (void)o, (void)err;
    assert_true(W->in_transaction);
    for (int i = 0; i < W->n_waiting; i++) {
        assert_true(W->n_stored < WORLD_EVENTS);
        memcpy(W->stored[W->n_stored++], W->waiting[i], sizeof W->waiting[0]);
    }
    return 0;
}

static void w_kept(struct event_sink *o)
{
    (void)o;
    assert_false(W->in_transaction);
    W->n_waiting = 0;
}

static const struct event_sink_ops w_keeping_ops = {
    .publish = w_publish_to_keep, .keep = w_keep, .kept = w_kept};

int w_count_events(const char *line)
{
    int n = 0;

    for (int i = 0; i < W->n_events && i < 64; i++)
        n += strcmp(W->events[i], line) == 0;
    return n;
}

/* ---- life ------------------------------------------------------------------------------------ */

void world_begin_engine(void)
{
    static struct store store;
    static struct source source;
    static struct actuators actuators;
    static struct event_sink event_sink;
    const struct event_sink_ops *sink = W->keeps ? &w_keeping_ops : &w_event_sink_ops;
    const struct engine_ports ports = {&w_store_ops,
                                       &store,
                                       &w_source_ops,
                                       &source,
                                       &w_actuators_ops,
                                       &actuators,
                                       sink,
                                       &event_sink,
                                       W->units ? &w_unit_ops : NULL,
                                       .people_ops = &w_people_ops};
    struct err err = {0};

    assert_int_equal(engine_create(&W->settings, &ports, W->now, &W->engine, &err), 0);
}

void world_init(struct world *w, int n_hosts, int n_vms)
{
    memset(w, 0, sizeof *w);
    W = w;
    w->now = WORLD_START;
    w->n_hosts = n_hosts;
    w->n_vms = n_vms;
    w->task_s = 5;
    w->imbalance = 0.3;
    w->target = 0.1;
    w->hottest = 0.5;
    for (int h = 0; h < WORLD_HOSTS; h++) {
        for (int p = 0; p < WORLD_POOLS; p++)
            w->wanted[h][p] = w->has[h][p] = WORLD_NOTHING;
    }
    for (int i = 0; i < n_vms; i++) {
        (void)snprintf(w->vms[i].id, sizeof w->vms[i].id, "vm%02d", i);
        w->vms[i].cpu = w->vms[i].mem = 500;
    }
    w->settings = (struct engine_settings){
        .cluster = "c",
        .source = "world",
        .operations = 1u << OPERATION_MIGRATE | 1u << OPERATION_ENTER_MAINTENANCE |
                      1u << OPERATION_EXIT_MAINTENANCE | 1u << OPERATION_POWER_ON_VM | 1u << OPERATION_WAKE |
                      1u << OPERATION_STANDBY,
        .sets_pools = true,
        .history_days = 7,
        .passes_kept = 10,
    };
    policy_default(&w->settings.policy);
    w->settings.policy.interval_s = 60;
    w->settings.policy.cool_down_s = 600;
}

void world_init_standby(struct world *w)
{
    world_init(w, 4, 4);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.dpm.enabled = true;
    w->settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w->boot_s = 30;
    w->vms[2].host = w->vms[3].host = 2;
    w->script[0] = (struct world_move){.vm = 2, .to = 0, .priority = 3, .group = 1, .empties = true};
    w->script[1] = (struct world_move){.vm = 3, .to = 1, .priority = 3, .group = 1, .empties = true};
    w->script[2] = (struct world_move){.kind = ACTION_POWER_OFF, .to = 2, .priority = 3, .group = 1};
    w->n_script = 3;
    w->imbalance = 0;
}

void world_release(void)
{
    engine_free(W->engine);
    arena_release(&W->memory);
    W = NULL;
}

const struct action_record *world_action(uint64_t id)
{
    static struct arena a;
    const struct action_record **list;
    const struct action_record *found = NULL;
    size_t n = engine_actions(W->engine, &a, &list);

    for (size_t i = 0; i < n; i++) {
        if (list[i]->id == id)
            found = list[i];
    }
    arena_release(&a);
    return found;
}

enum action_state world_state(uint64_t id)
{
    const struct action_record *r = world_action(id);

    return r ? r->state : action_state_count;
}

int world_apply(uint64_t id)
{
    return engine_approve(W->engine, &id, NULL, 1, "tester", W->now, NULL, NULL);
}

/* Moves that run at the peer now, at one host or in all. */
int world_running(int host)
{
    int n = 0;

    for (int i = 0; i < W->n_tasks; i++) {
        const struct world_task *t = &W->tasks[i];

        if (t->state == TASK_RUNNING && t->kind == OPERATION_MIGRATE &&
            (host < 0 || t->to == host || W->vms[t->vm].host == host))
            n++;
    }
    return n;
}
