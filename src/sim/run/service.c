/* service.c: the simulated service: answers the jobs of an engine, and kills and restarts it. It measures
 * nothing. */
#include "sim/run/service.h"

#include "base/job.h"
#include "base/xalloc.h"
#include "engine/knowledge/demand_history.h"
#include "sim/run/counted_store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_PER_DAY 86400.0
#define DOOMED_ANSWERS 12 /* a killed service hears fewer answers than this ... */
#define DOOMED_S 60       /* ... and dies after this time even without an answer */
#define TURNS_MAX 10000   /* in one second; more means that the engine repeats a request for ever */
#define HISTORY_DAYS 7

/* ---- ports ----------------------------------------------------------------------------------- */

static int source_ask(struct source *s, uint64_t serial, struct err *err)
{
    (void)err;
    s->of->asked = serial;
    return 0;
}

static const struct source_ops source_ops = {.ask = source_ask};

static int actuators_submit(struct actuators *x, const struct job *job, struct err *err)
{
    struct waiting_jobs *w = &x->of->waiting;

    (void)err;
    w->items = xalloc_grow(w->items, w->n, &w->cap, sizeof *w->items);
    w->items[w->n++] = job_copy(job);
    return 0;
}

static const struct actuators_ops actuators_ops = {.submit = actuators_submit};

/* A migration counts for the last pass that recommended it; one that makes room for a placed VM, for none. */
static void count_begun(struct service *v, const struct action_record *r)
{
    size_t i = v->n_points;

    while (i > 0 && v->point_pass[i - 1] > r->pass)
        i--;
    if (r->kind == ACTION_MIGRATE && i > 0 && v->point_pass[i - 1] == r->pass)
        v->points[i - 1].begun++;
}

/* The engine must not be called from its own event: the pass is read afterwards. */
static void event_sink_publish(struct event_sink *o, const struct event *event)
{
    if (event->kind == EVENT_PASS_DONE) {
        o->of->pass_done = true;
        o->of->pass_id = event->pass;
    } else if (event->kind == EVENT_ACTION && event->action->state == ACTION_STARTING) {
        count_begun(o->of, event->action);
    }
}

static const struct event_sink_ops event_sink_ops = {.publish = event_sink_publish};

/* ---- life and death -------------------------------------------------------------------------- */

instant_s service_instant(const struct service *v, double t_s)
{
    return v->scenario->start + (instant_s)floor(t_s + v->ahead_s);
}

static int start_engine(struct service *v, double t_s, struct err *err)
{
    const struct engine_ports ports = {&v->store_ops,  v->store,      &source_ops,     &v->source,
                                       &actuators_ops, &v->actuators, &event_sink_ops, &v->event_sink};

    v->lives++;
    if (v->next_kill < v->n_kills) /* an hour more, in case the clock is set back */
        counted_store_skip_samples(v->store,
                                   service_instant(v, v->kills[v->next_kill]) - 2 * DEMAND_HISTORY_LENGTH_S);
    return engine_create(&v->settings, &ports, service_instant(v, t_s), &v->engine, err);
}

static void forget_jobs(struct waiting_jobs *w)
{
    for (size_t i = 0; i < w->n; i++)
        job_free(w->items[i]);
    w->n = 0;
}

static void stop_engine(struct service *v)
{
    engine_free(v->engine);
    v->engine = NULL;
    v->asked = 0;
    v->pass_done = false;
    forget_jobs(&v->waiting);
}

static void add_kill(struct service *v, double at_s, double down_s, size_t *cap)
{
    if (v->n_kills == *cap) {
        *cap = *cap ? *cap * 2 : 16;
        v->kills = xreallocarray(v->kills, *cap, sizeof *v->kills);
        v->downs = xreallocarray(v->downs, *cap, sizeof *v->downs);
    }
    size_t i = v->n_kills++;

    for (; i > 0 && v->kills[i - 1] > at_s; i--) {
        v->kills[i] = v->kills[i - 1];
        v->downs[i] = v->downs[i - 1];
    }
    v->kills[i] = at_s;
    v->downs[i] = isfinite(down_s) && down_s > 1 ? down_s : 1; /* a process needs a second to start */
}

/* Times between kills are drawn uniformly between 0 and twice their mean. */
static void schedule_kills(struct service *v)
{
    const struct scenario *s = v->scenario;
    const struct fault_rate *rate = &s->rates[SIM_SERVICE_RESTARTS];
    size_t cap = 0;

    for (uint32_t i = 0; i < s->n_faults; i++) {
        if (s->faults[i].kind == SIM_SERVICE_RESTARTS)
            add_kill(v, s->faults[i].at_s, s->faults[i].for_s, &cap);
    }
    if (!(rate->rate > 0))
        return;
    double mean_s = SECONDS_PER_DAY / rate->rate;

    for (double t = rng_range(&v->rng, 0, 2 * mean_s); t < s->duration_s;
         t += 1 + rng_range(&v->rng, 0, 2 * mean_s))
        add_kill(v, t, rate->for_s, &cap);
}

int service_init(struct service *v, const struct scenario *s, struct cluster *c,
                 const struct simulate_options *options, struct arena *a, struct err *err)
{
    int r;

    *v = (struct service){
        .scenario = s,
        .a = a,
        .cluster = c,
        .settings = {.cluster = s->initial.cluster,
                     .source = "simulated",
                     .policy = s->policy,
                     .schedule = &s->schedule,
                     .operations = OPERATIONS_ALL,
                     .sets_pools = true,
                     .history_days = HISTORY_DAYS,
                     .passes_kept = options->passes_kept,
                     .look_s = (instant_s)s->look_s,
                     .clock_us = options->clock_us},
        .store_ops = counted_store,
        .rng = {s->seed},
    };
    v->source.of = v->actuators.of = v->event_sink.of = v;
    schedule_kills(v);
    if (!options->store) /* no caller reads looks */
        v->store_ops.put_look = NULL;
    r = counted_store_open(options->store, &v->store, err);
    return r < 0 ? r : start_engine(v, 0, err);
}

void service_release(struct service *v)
{
    stop_engine(v);
    counted_store_close(v->store);
    free(v->kills);
    free(v->downs);
    free(v->waiting.items);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void run_job(struct service *v, const struct job *job, struct job_result *ret)
{
    if (v->run_job)
        v->run_job(v->hooks_ctx, job, ret);
    else
        cluster_run_job(v->cluster, job, ret);
}

static void answer_job(struct service *v, const struct job *job, instant_s now)
{
    struct job_result result;

    run_job(v, job, &result);
    engine_on_job_result(v->engine, job, &result, now);
}

static void note_pass(struct service *v)
{
    const struct plan *plan = engine_plan(v->engine);

    if (!v->pass_done || !plan)
        return;
    v->pass_done = false;
    v->passes++;
    v->points = arena_grow(v->a, v->points, v->n_points, &v->cap_points, sizeof *v->points);
    v->point_pass = arena_grow(v->a, v->point_pass, v->n_points, &v->cap_point_pass, sizeof *v->point_pass);
    struct pass_point *p = &v->points[v->n_points];

    *p = (struct pass_point){.t_s = (double)(plan->snap->time - v->scenario->start),
                             .imbalance_before = plan->before.imbalance,
                             .imbalance_after = plan->after.imbalance};
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        enum action_kind kind = plan->recommendations[i].action;

        p->recommended += kind == ACTION_MIGRATE;
        p->power_offs += kind == ACTION_POWER_OFF;
        p->power_ons += kind == ACTION_POWER_ON;
    }
    v->point_pass[v->n_points++] = v->pass_id;
}

static void answer_source(struct service *v, instant_s now)
{
    struct collected c = {0};
    struct err err = {0};
    uint64_t serial = v->asked;

    v->asked = 0;
    if (cluster_collect(v->cluster, &c.arena, &c.inventory, &err) < 0) {
        arena_release(&c.arena);
        engine_on_source_error(v->engine, serial, &err, now);
        return;
    }
    c.inventory.time += (instant_s)floor(v->ahead_s); /* a collector reads the service's clock */
    if (v->edit_inventory)
        v->edit_inventory(v->hooks_ctx, &c.inventory);
    engine_on_inventory(v->engine, serial, &c, now);
    note_pass(v);
}

/* The process dies in the middle of `jobs`; the first `done` were answered. */
static void die_within_answers(struct service *v, const struct waiting_jobs *jobs, size_t done, double t_s)
{
    for (size_t i = done; i < jobs->n; i++) {
        struct job_result unheard;

        if (rng_below(&v->rng, 2) == 1 && jobs->items[i]->kind != JOB_MEASURE)
            run_job(v, jobs->items[i], &unheard);
    }
    stop_engine(v);
    v->doomed = false;
    v->up_at_s = t_s + v->downs[v->next_kill];
    v->next_kill++;
}

/* Whether the service dies instead of hearing the next answer. */
static bool dies(struct service *v, double t_s)
{
    if (!v->doomed)
        return false;
    return v->answers_left-- == 0 || t_s >= v->dies_by_s;
}

/* Carries out the jobs that wait now; later ones wait for the next turn. */
static void answer_orders(struct service *v, double t_s)
{
    struct waiting_jobs jobs = v->waiting;
    instant_s now = service_instant(v, t_s);
    size_t i = 0;

    v->waiting = (struct waiting_jobs){0};
    for (; i < jobs.n && v->engine; i++) {
        if (dies(v, t_s))
            die_within_answers(v, &jobs, i, t_s);
        else
            answer_job(v, jobs.items[i], now);
    }
    if (v->engine && v->asked != 0) {
        if (dies(v, t_s))
            die_within_answers(v, &jobs, i, t_s);
        else
            answer_source(v, now);
    }
    forget_jobs(&jobs);
    free(jobs.items);
}

int service_answer(struct service *v, double t_s, struct err *err)
{
    for (int turns = 0; v->engine && (v->asked != 0 || v->waiting.n > 0); turns++) {
        if (turns == TURNS_MAX)
            return err_set(err, -ELOOP, "at %.0f s the engine does not stop asking for work", t_s);
        answer_orders(v, t_s);
    }
    return 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void doom_if_due(struct service *v, double t_s)
{
    if (v->doomed || v->next_kill == v->n_kills || t_s < v->kills[v->next_kill])
        return;
    v->doomed = true;
    v->answers_left = rng_below(&v->rng, DOOMED_ANSWERS);
    v->dies_by_s = t_s + DOOMED_S;
}

int service_turn(struct service *v, double t_s, struct err *err)
{
    int r;

    if (!v->engine) {
        if (t_s < v->up_at_s)
            return 0;
        if ((r = start_engine(v, t_s, err)) < 0)
            return r;
    }
    doom_if_due(v, t_s);
    if (v->doomed && t_s >= v->dies_by_s) {
        die_within_answers(v, &v->waiting, 0, t_s);
        return 0;
    }
    engine_tick(v->engine, service_instant(v, t_s));
    return service_answer(v, t_s, err);
}

double service_next_s(const struct service *v, double t_s)
{
    double next_s = floor(t_s) + 1;

    if (!v->engine)
        return fmax(next_s, ceil(v->up_at_s));
    instant_s now = service_instant(v, t_s);
    double wakeup_s = (double)(engine_wakeup(v->engine, now) - v->scenario->start) - floor(v->ahead_s);

    if (v->doomed)
        wakeup_s = fmin(wakeup_s, ceil(v->dies_by_s));
    else if (v->next_kill < v->n_kills)
        wakeup_s = fmin(wakeup_s, ceil(v->kills[v->next_kill]));
    return fmax(next_s, wakeup_s);
}
