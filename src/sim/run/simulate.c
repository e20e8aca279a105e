/* simulate.c: the virtual clock: advances the cluster, then the service, then the admin. It measures nothing
 * itself. */
#include "sim/run/simulate.h"

#include "sim/run/admin.h"
#include "sim/run/counted_store.h"
#include "sim/run/figures.h"
#include "sim/run/service.h"

#include <errno.h>
#include <math.h>

#define SAMPLE_S 60 /* by default */

/* Limit of the points kept: a month of the largest cluster at one sample a minute. */
#define SERIES_BYTES_MAX 2.5e9

struct run {
    const struct scenario *scenario;
    const struct simulate_options *options;
    struct cluster *cluster;
    struct service service; /* not started if Ballast is off */
    struct admin admin;
    struct figures figures;
    /* The next time at which service or admin are due. They are not called earlier, or samples would change
     * their actions. */
    double due_s, admin_due_s;
    double sample_s;
    uint64_t samples; /* taken so far; the next is due at samples * sample_s */
    bool measuring;
    uint64_t passes_before; /* of the warm-up, as the next two */
    uint32_t unplaced_before;
    struct store_counts counts_before;
};

static double sample_of(const struct scenario *s)
{
    return s->sample_s > 0 ? s->sample_s : SAMPLE_S;
}

/* Checked before the run, instead of failing in the middle of it. */
static int check_series(const struct scenario *s, const struct simulate_options *o, struct err *err)
{
    double hosts = o->host_series ? s->initial.n_hosts : 0;
    double points = s->duration_s / sample_of(s);
    double bytes = points * ((double)sizeof(struct series_point) + (RES_COUNT + 1) * hosts * sizeof(double));

    if (!o->series || bytes <= SERIES_BYTES_MAX)
        return 0;
    return err_set(err, -EFBIG,
                   "the figures over time would take %.0f GB, expected a larger sample_s than %.12g",
                   ceil(bytes / 1e9), sample_of(s));
}

static int run_begin(struct run *run, struct arena *a, struct err *err)
{
    const struct scenario *s = run->scenario;

    run->cluster = cluster_new(s);
    run->sample_s = sample_of(s);
    run->measuring = !(s->measure_from_s > 0);
    figures_init(&run->figures, s, run->cluster, run->options, a);
    admin_init(&run->admin, s, run->cluster);
    return s->ballast ? service_init(&run->service, s, run->cluster, run->options, a, err) : 0;
}

static void run_end(struct run *run)
{
    if (run->scenario->ballast)
        service_release(&run->service);
    admin_release(&run->admin);
    figures_release(&run->figures);
    cluster_free(run->cluster);
}

static double next_sample_s(const struct run *run)
{
    return (double)run->samples * run->sample_s;
}

static double next_s(const struct run *run, double t_s)
{
    const struct scenario *s = run->scenario;
    double next = fmin(s->duration_s, run->admin_due_s);

    if (next_sample_s(run) > t_s)
        next = fmin(next, next_sample_s(run));
    if (s->ballast)
        next = fmin(next, run->due_s);
    if (!run->measuring)
        next = fmin(next, s->measure_from_s);
    return next;
}

/* Samples the state before any action of this second. The measurement begins with a sample, whatever sample_s
 * is. */
static int measure(struct run *run, double t_s, struct err *err)
{
    const struct simulate_options *o = run->options;
    bool begins = !run->measuring && t_s >= run->scenario->measure_from_s;
    bool is_due = t_s >= next_sample_s(run);
    int r = 0;

    if (begins) {
        run->measuring = true;
        figures_begin(&run->figures, t_s);
        run->unplaced_before = run->admin.unplaced;
        if (run->scenario->ballast) {
            run->passes_before = run->service.passes;
            r = counted_store_get(run->service.store, &run->counts_before, err);
        }
    }
    if (!is_due && !begins && t_s < run->scenario->duration_s)
        return 0;
    figures_take(&run->figures, t_s);
    run->samples += is_due;
    if (o->progress)
        o->progress(o->ctx, t_s / run->scenario->duration_s);
    return r;
}

/* One instant: first the cluster, then the samples, then service and admin. */
static int run_moment(struct run *run, double t_s, struct err *err)
{
    const struct simulate_options *o = run->options;
    struct service *v = run->scenario->ballast ? &run->service : NULL;
    bool serves = v && t_s >= run->due_s;
    int r;

    cluster_advance(run->cluster, t_s);
    if ((r = measure(run, t_s, err)) < 0)
        return r;
    if (t_s >= run->scenario->duration_s || !(serves || t_s >= run->admin_due_s))
        return 0;
    if (serves && (r = service_turn(v, t_s, err)) < 0)
        return r;
    if ((r = admin_turn(&run->admin, v, t_s, err)) < 0)
        return r;
    run->due_s = v ? service_next_s(v, t_s) : INFINITY;
    run->admin_due_s = admin_next_s(&run->admin, t_s);
    return v && v->engine && o->watch ? o->watch(o->ctx, v->engine, run->cluster, t_s) : 0;
}

#define WH_PER_KWH 1000

static void fill_account(const struct energy_record *now, const struct energy_record *before,
                         struct metrics_of_run *m)
{
    m->account_kwh = (now->used_wh - before->used_wh) / WH_PER_KWH;
    m->account_kwh_all_on = (now->all_on_wh - before->all_on_wh) / WH_PER_KWH;
    m->account_unmet_mhz_s = now->unmet[RES_CPU] - before->unmet[RES_CPU];
}

static double percent(uint32_t part, uint32_t of)
{
    return of > 0 ? 100.0 * part / of : NAN;
}

static void fill_moves(const struct move_counts *now, const struct move_counts *before,
                       struct metrics_of_run *m)
{
    double n[2], loads[2], times[2];

    for (int i = 0; i < 2; i++) {
        n[i] = now->n[i] - before->n[i];
        loads[i] = percent(now->as_predicted[i] - before->as_predicted[i], now->n[i] - before->n[i]);
        times[i] = percent(now->times_as_predicted[i] - before->times_as_predicted[i],
                           now->timed[i] - before->timed[i]);
    }
    m->moves_observed = n[false];
    m->moves_as_predicted = loads[false];
    m->moves_timed_as_predicted = times[false];
    m->moves_overlapping = n[true];
    m->moves_overlapping_as_predicted = loads[true];
    m->moves_overlapping_timed_as_predicted = times[true];
    m->moves_harmful = now->harmful - before->harmful;
}

static int fill_result(struct run *run, struct simulation *ret, struct err *err)
{
    const struct scenario *s = run->scenario;
    const struct store_counts *before = &run->counts_before;
    struct store_counts now;
    int r;

    *ret = (struct simulation){.scenario = s};
    figures_finish(&run->figures, s->duration_s, ret);
    ret->metrics.unplaced = run->admin.unplaced - run->unplaced_before;
    if (!s->ballast) {
        ret->metrics.account_kwh = ret->metrics.account_kwh_all_on = ret->metrics.account_unmet_mhz_s = NAN;
        ret->metrics.moves_observed = ret->metrics.moves_as_predicted =
            ret->metrics.moves_timed_as_predicted = NAN;
        ret->metrics.moves_overlapping = ret->metrics.moves_overlapping_as_predicted =
            ret->metrics.moves_overlapping_timed_as_predicted = ret->metrics.moves_harmful = NAN;
        return 0;
    }
    const struct service *v = &run->service;

    if ((r = counted_store_get(v->store, &now, err)) < 0)
        return r;
    ret->metrics.passes = (double)(v->passes - run->passes_before);
    ret->metrics.decide_ms_total = (double)(now.decide_us - before->decide_us) / 1000;
    fill_account(&now.energy, &before->energy, &ret->metrics);
    fill_moves(&now.moves, &before->moves, &ret->metrics);
    ret->passes = v->points;
    ret->n_passes = v->n_points;
    return 0;
}

int simulate(const struct scenario *s, const struct simulate_options *options, struct arena *a,
             struct simulation *ret, struct err *err)
{
    static const struct simulate_options nothing_said;
    struct run run = {.scenario = s, .options = options ? options : &nothing_said};
    int r = check_series(s, run.options, err);

    if (r < 0)
        return r;
    r = run_begin(&run, a, err);
    for (double t_s = 0; r == 0; t_s = next_s(&run, t_s)) {
        r = run_moment(&run, t_s, err);
        if (t_s >= s->duration_s)
            break;
    }
    if (r == 0)
        r = fill_result(&run, ret, err);
    run_end(&run);
    return r;
}
