/* many_actions: the CPU time that the engine needs for many approved moves, by cluster size.
 *
 * N hosts with ten VMs each; a move of every VM is approved at once, as by an admin's script or a pass that
 * empties half of the hosts. The simulated cluster answers at once, and a move takes 20 to 39 s. Measured
 * separately: job results and ticks, whose cost must grow no faster than the number of moves; and
 * inventories, which the engine reads as a whole after moves have ended. Sizes given as arguments replace
 * the default sizes: valgrind --tool=callgrind then counts the instructions of one size. */
#include "engine/engine.h"

#include "base/xalloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define START 1700000000
#define VMS_PER_HOST 10
#define ID_LEN 16
#define HOUR_S 3600

struct bench_vm {
    char id[ID_LEN];
    uint32_t host, to;
    instant_s ends; /* its move; 0: has not begun */
};

struct waiting {
    struct job *items; /* strings are the action's, which live as long as the engine remembers it: an hour */
    size_t n, cap;
};

struct world {
    uint32_t n_hosts, n_vms;
    char (*hosts)[ID_LEN];
    struct bench_vm *vms;
    struct waiting jobs;
    uint64_t asked; /* 0: nothing */
    instant_s now;
    uint64_t n_answers, n_inventories;
    uint32_t n_done;
};

/* The engine's peers are all this one world. */
struct store {
    struct world *of;
};
struct source {
    struct world *of;
};
struct actuators {
    struct world *of;
};
struct event_sink {
    struct world *of;
};

/* ---- ports ----------------------------------------------------------------------------------- */

static int load(struct store *s, instant_s since, instant_s samples_since, struct arena *a,
                struct stored *ret, struct err *err)
{
    struct world *w = s->of;

    (void)since, (void)samples_since, (void)err;
    *ret = (struct stored){.instance = "bench", .last_action = w->n_vms, .n_actions = w->n_vms};
    ret->actions = arena_array(a, struct action_record, w->n_vms);
    for (uint32_t i = 0; i < w->n_vms; i++)
        ret->actions[i] = (struct action_record){
            .id = i + 1,
            .uid = arena_printf(a, "bench-%" PRIu32, i + 1),
            .pass = 1,
            .state = ACTION_APPROVED,
            .kind = ACTION_MIGRATE,
            .priority = 2 + i % 3,
            .vm = w->vms[i].id,
            .from = w->hosts[w->vms[i].host],
            .to = w->hosts[w->vms[i].to],
            .reason = REASON_BALANCE_CPU,
            .text = "for the benchmark",
            .duration_s = 30,
            .approved_by = "an admin",
            .created = START,
            .seen = START,
            .approved = START,
        };
    return 0;
}

static int done(struct store *s, struct err *err)
{
    (void)s, (void)err;
    return 0;
}

static void rollback(struct store *s)
{
    (void)s;
}

static int put(struct store *s, const struct record *record, struct err *err)
{
    (void)record;
    return done(s, err);
}

static int prune(struct store *s, const struct retention *keep, struct err *err)
{
    (void)keep;
    return done(s, err);
}

static const struct store_ops store_ops = {
    .load = load,
    .begin = done,
    .commit = done,
    .rollback = rollback,
    .put = put,
    .forget = put,
    .prune = prune,
};

static int ask(struct source *s, uint64_t serial, struct err *err)
{
    (void)err;
    s->of->asked = serial;
    return 0;
}

static const struct source_ops source_ops = {.ask = ask};

static int submit(struct actuators *h, const struct job *job, struct err *err)
{
    struct waiting *o = &h->of->jobs;

    if (job->kind == JOB_MEASURE)
        return err_set(err, -ENOTSUP, "there are no meters");
    if (o->n == o->cap) {
        o->cap = o->cap ? o->cap * 2 : 64;
        o->items = xreallocarray(o->items, o->cap, sizeof *o->items);
    }
    o->items[o->n++] = *job;
    return 0;
}

static const struct actuators_ops actuators_ops = {.submit = submit};

static void publish(struct event_sink *o, const struct event *event)
{
    o->of->n_done += event->kind == EVENT_ACTION && event->action->state == ACTION_DONE;
}

static const struct event_sink_ops event_sink_ops = {.publish = publish};

/* ---- the world ------------------------------------------------------------------------------- */

static void fill(const struct world *w, struct collected *c)
{
    struct arena *a = &c->arena;

    c->inventory = (struct inventory){.cluster = "bench", .time = w->now};
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        struct seen_host *h = inventory_add_host(&c->inventory, a);

        h->is.id = h->is.name = w->hosts[i];
        h->is.state = HOST_ON;
        h->is.total[RES_CPU] = 20000;
        h->is.total[RES_MEM] = 65536;
        h->is.cores = 8;
    }
    for (uint32_t i = 0; i < w->n_vms; i++) {
        const struct bench_vm *x = &w->vms[i];
        struct seen_vm *v = inventory_add_vm(&c->inventory, a);

        v->is.vcpus = 1;
        v->is.mem_mb = 4096;
        vm_facts_default(&v->is);
        v->is.id = v->is.name = x->id;
        v->is.state = VM_ON;
        v->host = w->hosts[x->host];
        v->is.demand[RES_CPU] = 500;
        v->is.demand[RES_MEM] = 1024;
        vm_facts_windows(&v->is);
        if (x->ends > w->now)
            *inventory_add_migration(&c->inventory, a) = (struct seen_migration){
                .vm = x->id, .from = w->hosts[x->host], .to = w->hosts[x->to], .started = x->ends - 30};
    }
}

static struct job_result execute_job(struct world *w, const struct job *o)
{
    struct job_result r = {0};
    struct bench_vm *v = &w->vms[o->id - 1];

    if (o->kind == JOB_START) {
        v->ends = w->now + 20 + (instant_s)(o->id % 20);
        (void)snprintf(r.task, sizeof r.task, "task-%" PRIu64, o->id);
    } else if (o->kind == JOB_POLL) {
        r.progress.state = w->now >= v->ends ? TASK_SUCCEEDED : TASK_RUNNING;
        if (w->now >= v->ends)
            v->host = v->to;
    }
    return r;
}

static void world_make(struct world *w, uint32_t hosts)
{
    *w = (struct world){.n_hosts = hosts, .n_vms = hosts * VMS_PER_HOST, .now = START};
    w->hosts = xcalloc(w->n_hosts, sizeof *w->hosts);
    w->vms = xcalloc(w->n_vms, sizeof *w->vms);
    for (uint32_t i = 0; i < w->n_hosts; i++)
        (void)snprintf(w->hosts[i], ID_LEN, "host-%" PRIu32, i);
    for (uint32_t i = 0; i < w->n_vms; i++) {
        struct bench_vm *v = &w->vms[i];

        (void)snprintf(v->id, ID_LEN, "vm-%" PRIu32, i);
        v->host = i % hosts;
        v->to = (v->host + 1 + i / hosts) % hosts;
    }
}

static void world_release(struct world *w)
{
    free(w->hosts);
    free(w->vms);
    free(w->jobs.items);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static double processor_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void answer_jobs(struct world *w, struct engine *e)
{
    while (w->jobs.n > 0) {
        struct waiting now = w->jobs;

        w->jobs = (struct waiting){0};
        for (size_t i = 0; i < now.n; i++) {
            struct job_result r = execute_job(w, &now.items[i]);

            engine_on_job_result(e, &now.items[i], &r, w->now);
            (void)engine_wakeup(e, w->now); /* as the service does */
            w->n_answers++;
        }
        free(now.items);
    }
}

static void answer_source(struct world *w, struct engine *e)
{
    struct collected c = {0};
    uint64_t serial = w->asked;

    w->asked = 0;
    fill(w, &c);
    engine_on_inventory(e, serial, &c, w->now);
    w->n_inventories++;
}

static double run(struct world *w, struct engine *e, double *ret_inventories_s)
{
    double answers_s = 0;

    for (*ret_inventories_s = 0; w->n_done < w->n_vms && w->now < START + HOUR_S;) {
        double began_s = processor_s();

        engine_tick(e, w->now);
        answer_jobs(w, e);
        answers_s += processor_s() - began_s;
        began_s = processor_s();
        if (w->asked != 0)
            answer_source(w, e);
        *ret_inventories_s += processor_s() - began_s;
        began_s = processor_s();
        answer_jobs(w, e);
        instant_s next = engine_wakeup(e, w->now);

        answers_s += processor_s() - began_s;
        w->now = next > w->now ? next : w->now + 1;
    }
    return answers_s;
}

static int bench(uint32_t hosts)
{
    struct world w;
    struct store store = {&w};
    struct source source = {&w};
    struct actuators actuators = {&w};
    struct event_sink event_sink = {&w};
    const struct engine_ports ports = {&store_ops,     &store,     &source_ops,     &source,
                                       &actuators_ops, &actuators, &event_sink_ops, &event_sink};
    struct engine_settings settings = {
        .cluster = "bench", .source = "bench", .operations = 1u << OPERATION_MIGRATE};
    struct engine *e;
    struct err err = {0};
    double inventories_s;

    policy_default(&settings.policy);
    settings.policy.automation = AUTOMATION_MANUAL;
    settings.policy.interval_s = HOUR_S;
    world_make(&w, hosts);
    if (engine_create(&settings, &ports, w.now, &e, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        world_release(&w);
        return 1;
    }
    double answers_s = run(&w, e, &inventories_s);

    printf("%" PRIu32 " hosts, %" PRIu32 " moves, of which %" PRIu32 " done after %lld s: %" PRIu64
           " answers %.3f s, %.1f us each; %" PRIu64 " inventories %.3f s\n",
           hosts, w.n_vms, w.n_done, (long long)(w.now - START), w.n_answers, answers_s,
           1e6 * answers_s / (double)w.n_answers, w.n_inventories, inventories_s);
    engine_free(e);
    world_release(&w);
    return w.n_done < w.n_vms;
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {100, 200, 400, 800};
    int r = 0;

    for (size_t i = 0; argc == 1 && i < sizeof sizes / sizeof *sizes; i++)
        r = bench(sizes[i]) || r;
    for (int i = 1; i < argc; i++)
        r = bench((uint32_t)strtoul(argv[i], NULL, 10)) || r;
    return r;
}
