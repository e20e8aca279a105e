/* figures.c: measures a run: samples, integrals, metrics. It changes nothing in the cluster. */
#include "sim/run/figures.h"

#include "base/order.h"
#include "core/balance/move_preference.h"
#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "core/layout/layout.h"
#include "core/rules/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HAPPY 0.95 /* share of the entitlement from which a VM counts as happy */
#define ALMOST_NOTHING_MHZ 1e-6
#define LEAST_SHORTFALL 1e-6 /* percent; less is rounding */

/* ---- classes of VMs -------------------------------------------------------------------------- */

static uint32_t find_class(const struct figures *f, const char *name)
{
    uint32_t i = 0;

    while (i < f->n_classes && strcmp(f->classes[i], name) != 0)
        i++;
    return i;
}

static void make_classes(struct figures *f)
{
    const struct scenario *s = f->scenario;
    size_t cap = 0;

    f->class_of = arena_array(f->a, uint32_t, s->initial.n_vms);
    for (uint32_t i = 0; i < s->initial.n_vms; i++) {
        const char *name = s->vms[i].share_class;

        f->class_of[i] = name ? find_class(f, name) : IX_NONE;
        if (f->class_of[i] != f->n_classes)
            continue;
        f->classes = arena_grow(f->a, f->classes, f->n_classes, &cap, sizeof *f->classes);
        f->classes[f->n_classes++] = name;
    }
    f->happiness = arena_array(f->a, struct happiness_now, (size_t)f->n_classes + 1);
    f->by_class = arena_array(f->a, struct class_sums, (size_t)f->n_classes + 1);
    f->entitled = arena_array(f->a, struct entitled, s->initial.n_vms);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static struct sums current_sums(const struct figures *f)
{
    struct sums s = {0};

    for (uint32_t i = 0; i < f->scenario->initial.n_vms; i++) {
        const struct vm_totals *v = cluster_vm_totals(f->cluster, i);

        for (int r = 0; r < RES_COUNT; r++) {
            s.wanted[r] += v->wanted[r];
            s.delivered[r] += v->delivered[r];
        }
        s.to_run_s += v->to_run_s;
        s.moved_mb += v->moved_mb;
        s.lost_moving_mhz_s += v->lost_moving_mhz_s;
        s.migrations += v->migrations;
        s.migrations_failed += v->migrations_failed;
    }
    for (uint32_t i = 0; i < f->scenario->initial.n_hosts; i++) {
        const struct host_totals *h = cluster_host_totals(f->cluster, i);

        for (int r = 0; r < RES_COUNT; r++)
            s.capacity[r] += h->capacity[r];
        s.energy_j += h->energy_j;
        s.energy_idle_off_j += h->energy_idle_off_j;
        s.on_s += h->on_s;
        s.active_s += h->active_s;
        s.overloaded_s += h->overloaded_s;
        s.power_offs += h->power_offs;
        s.power_ons += h->power_ons;
        s.failures += h->failures;
    }
    return s;
}

/* Adds the interval since the last sample. The upper bound is the interval's demand, limited by the capacity
 * of all hosts; with all hosts on, each would have done its share of the work. */
static void count_interval(struct figures *f, const struct sums *now, double length_s)
{
    double done = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double capacity = now->capacity[r] - f->last.capacity[r];

        f->bound[r] += fmin(now->wanted[r] - f->last.wanted[r], capacity);
        if (r == RES_CPU && capacity > 0)
            done = (now->delivered[r] - f->last.delivered[r]) / capacity;
    }
    for (uint32_t i = 0; i < f->scenario->initial.n_hosts; i++) {
        const struct host *is = &f->scenario->initial.hosts[i];
        double used =
            done * is->capacity[RES_CPU] / is->is.total[RES_CPU]; /* reserved capacity draws no power */

        f->all_on_j += host_model_watts(&f->scenario->hosts[i], used) * length_s;
    }
}

static void count_happiness(struct figures *f, double length_s)
{
    for (uint32_t i = 0; i <= f->n_classes; i++) {
        const struct happiness_now *m = &f->happiness[i];
        struct class_sums *c = &f->by_class[i];

        if (m->n == 0)
            continue;
        c->happiness += m->sum / m->n * length_s;
        c->happy += (double)m->happy / m->n * length_s;
        c->happiness_least = fmin(c->happiness_least, m->sum / m->n);
        c->time_s += length_s;
    }
    for (uint32_t i = 0; i < f->scenario->initial.n_vms; i++) {
        f->entitled[i].due_mhz_s += f->entitled[i].due_mhz * length_s;
        f->entitled[i].lacks_mhz_s += f->entitled[i].lacks_mhz * length_s;
    }
}

/* ---- one sample ------------------------------------------------------------------------------ */

/* Computes entitlements and loads of the cluster's true state. */
struct ground_truth {
    struct snapshot snap;
    double *entitlement[RES_COUNT];
    struct metrics metrics;
    double score; /* mean over VMs; NAN: no pipeline scores */
};

/* The mean score of VMs on their hosts. */
static double mean_score(const struct layout *l, struct arena *a)
{
    const struct move_preference *p = move_preference_new(l, 0, a);
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; p && i < l->snap->n_vms; i++) {
        const struct vm *v = &l->snap->vms[i];

        if (v->is.state != VM_ON || v->host == IX_NONE || !fit_frozen_scores(p->frozen, i))
            continue;
        sum += fit_frozen_score(p->frozen, i, v->host);
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

static void read_ground_truth(struct figures *f, struct ground_truth *t)
{
    struct arena *a = &f->scratch;
    struct rules rules;
    struct layout layout;

    cluster_truth(f->cluster, a, &t->snap);
    for (int r = 0; r < RES_COUNT; r++) {
        double *demand = arena_array(a, double, t->snap.n_vms);

        t->entitlement[r] = arena_array(a, double, t->snap.n_vms);
        demand_estimate(&t->snap, (enum resource)r, demand);
        (void)divvy_entitle(&t->snap, (enum resource)r, demand, a, t->entitlement[r]);
    }
    rules_compile(&t->snap, 0, a, &rules);
    layout_init_bare(&layout, &t->snap, &f->scenario->policy, &rules, t->entitlement, a);
    layout_metrics(&layout, &t->metrics, a);
    t->score = mean_score(&layout, a);
}

/* happiness: the share delivered of the smaller of entitlement and demand. A VM that should run and does not
 * has 0; a VM without demand has 1. */
static void add_happiness(struct happiness_now *m, double happiness)
{
    m->n++;
    m->sum += happiness;
    m->happy += happiness >= HAPPY;
}

static void add_all_happiness(struct figures *f, const struct ground_truth *t)
{
    memset(f->happiness, 0, ((size_t)f->n_classes + 1) * sizeof *f->happiness);
    for (uint32_t i = 0; i < f->scenario->initial.n_vms; i++) {
        const struct vm_now *v = cluster_vm(f->cluster, i);
        double due = v->host == IX_NONE ? v->due[RES_CPU] : fmin(t->entitlement[RES_CPU][i], v->due[RES_CPU]);

        f->entitled[i].due_mhz = due;
        f->entitled[i].lacks_mhz = fmax(0, due - v->gets[RES_CPU]);
        if (v->host == IX_NONE && !(v->wants[RES_CPU] > 0))
            continue;
        double happiness = due < ALMOST_NOTHING_MHZ ? 1 : fmin(v->gets[RES_CPU] / due, 1);

        add_happiness(&f->happiness[f->n_classes], happiness);
        if (f->class_of[i] != IX_NONE)
            add_happiness(&f->happiness[f->class_of[i]], happiness);
    }
}

static double mean_of(const struct happiness_now *m)
{
    return m->n > 0 ? 100 * m->sum / m->n : NAN;
}

static double share_of(const struct happiness_now *m)
{
    return m->n > 0 ? 100.0 * m->happy / m->n : NAN;
}

static void keep_hosts(struct figures *f, const struct ground_truth *t, struct series_point *p)
{
    uint32_t n = f->scenario->initial.n_hosts;
    double *watts = arena_array(f->a, double, n);
    double *load[RES_COUNT] = {arena_array(f->a, double, n), arena_array(f->a, double, n)};

    for (uint32_t i = 0; i < n; i++) {
        watts[i] = cluster_host(f->cluster, i)->watts;
        load[RES_CPU][i] = load[RES_MEM][i] = NAN;
    }
    for (uint32_t i = 0; i < t->metrics.n_hosts; i++) {
        for (int r = 0; r < RES_COUNT; r++)
            load[r][t->metrics.hosts[i].host] = t->metrics.hosts[i].n[r];
    }
    p->host_watts = watts;
    for (int r = 0; r < RES_COUNT; r++)
        p->host_load[r] = load[r];
}

static void keep_now(const struct figures *f, struct series_point *p)
{
    for (uint32_t i = 0; i < f->scenario->initial.n_hosts; i++) {
        const struct host_now *h = cluster_host(f->cluster, i);

        p->watts += h->watts;
        p->hosts_on += host_is_up(&(struct host){.is.state = h->state}) && !h->dead;
    }
    for (uint32_t i = 0; i < f->scenario->initial.n_vms; i++) {
        const struct vm_now *v = cluster_vm(f->cluster, i);

        for (int r = 0; r < RES_COUNT; r++) {
            p->wanted[r] += v->due[r];
            p->delivered[r] += v->gets[r];
        }
    }
}

static void keep_point(struct figures *f, const struct ground_truth *t, const struct sums *sums, double t_s)
{
    double *happiness = arena_array(f->a, double, f->n_classes);
    double *happy = arena_array(f->a, double, f->n_classes);
    const struct metrics *m = &t->metrics;
    struct series_point p = {
        .t_s = t_s,
        .imbalance = m->imbalance,
        .target = m->target,
        .migrations_running = cluster_migrations_running(f->cluster),
        .migrations = f->migrations_before + sums->migrations,
        .kwh = (f->energy_before_j + sums->energy_j) / 3.6e6,
        .happiness_mean = mean_of(&f->happiness[f->n_classes]),
        .happy_share = share_of(&f->happiness[f->n_classes]),
        .pool_happiness = happiness,
        .pool_happy = happy,
    };

    for (int r = 0; r < RES_COUNT; r++) {
        p.imbalance_of[r] = m->imbalance_of[r];
        for (uint32_t i = 0; i < m->n_hosts; i++)
            p.load_max[r] = fmax(p.load_max[r], m->hosts[i].n[r]);
    }
    for (uint32_t i = 0; i < f->n_classes; i++) {
        happiness[i] = mean_of(&f->happiness[i]);
        happy[i] = share_of(&f->happiness[i]);
    }
    keep_now(f, &p);
    if (f->options->host_series)
        keep_hosts(f, t, &p);
    f->series = arena_grow(f->a, f->series, f->n_series, &f->cap_series, sizeof *f->series);
    f->series[f->n_series++] = p;
}

/* Counts the interval that ends now with the sample at its beginning. */
static struct sums count_until(struct figures *f, double t_s)
{
    struct sums now = current_sums(f);

    if (!isnan(f->last_s) && t_s > f->last_s) {
        count_interval(f, &now, t_s - f->last_s);
        count_happiness(f, t_s - f->last_s);
    }
    f->last = now;
    f->last_s = t_s;
    return now;
}

void figures_take(struct figures *f, double t_s)
{
    struct ground_truth t;
    struct sums sums = count_until(f, t_s);

    read_ground_truth(f, &t);
    add_all_happiness(f, &t);
    f->taken = arena_grow(f->a, f->taken, f->n_taken, &f->cap_taken, sizeof *f->taken);
    f->taken[f->n_taken++] = (struct instant_figures){t_s, t.metrics.imbalance, t.metrics.target, t.score};
    if (f->options->series)
        keep_point(f, &t, &sums, t_s);
    arena_reset(&f->scratch);
}

/* ---- life ------------------------------------------------------------------------------------ */

void figures_init(struct figures *f, const struct scenario *s, struct cluster *c,
                  const struct simulate_options *options, struct arena *a)
{
    *f = (struct figures){.scenario = s, .cluster = c, .options = options, .a = a, .last_s = NAN};
    make_classes(f);
    for (uint32_t i = 0; i <= f->n_classes; i++)
        f->by_class[i].happiness_least = INFINITY;
}

void figures_release(struct figures *f)
{
    arena_release(&f->scratch);
}

void figures_begin(struct figures *f, double t_s)
{
    struct sums before = current_sums(f);

    f->energy_before_j += before.energy_j;
    f->migrations_before += before.migrations;
    cluster_reset_totals(f->cluster);
    f->from_s = t_s;
    f->last = (struct sums){0};
    f->last_s = NAN;
    f->n_taken = 0;
    f->all_on_j = 0;
    memset(f->entitled, 0, f->scenario->initial.n_vms * sizeof *f->entitled);
    for (int r = 0; r < RES_COUNT; r++)
        f->bound[r] = 0;
    for (uint32_t i = 0; i <= f->n_classes; i++)
        f->by_class[i] = (struct class_sums){.happiness_least = INFINITY};
}

/* ---- the end --------------------------------------------------------------------------------- */

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : NAN;
}

static size_t find_worst(const struct figures *f)
{
    size_t worst = 0;

    for (size_t i = 1; i < f->n_taken; i++) {
        if (f->taken[i].imbalance > f->taken[worst].imbalance)
            worst = i;
    }
    return worst;
}

/* The time from the maximum imbalance until it stays below the value. */
static double time_below(const struct figures *f, double limit)
{
    size_t worst = find_worst(f);
    size_t i = f->n_taken;

    while (i > worst && f->taken[i - 1].imbalance < limit)
        i--;
    return i < f->n_taken ? f->taken[i].t_s - f->taken[worst].t_s : NAN;
}

static double time_to_target(const struct figures *f)
{
    size_t worst = find_worst(f);

    for (size_t i = worst; i < f->n_taken; i++) {
        if (f->taken[i].imbalance <= f->taken[i].target)
            return f->taken[i].t_s - f->taken[worst].t_s;
    }
    return NAN;
}

static double time_above_target(const struct figures *f, double t_s)
{
    double sum = 0;

    for (size_t i = 0; i < f->n_taken; i++) {
        double until_s = i + 1 < f->n_taken ? f->taken[i + 1].t_s : t_s;

        if (f->taken[i].imbalance > f->taken[i].target)
            sum += until_s - f->taken[i].t_s;
    }
    return sum;
}

static double mean_imbalance(const struct figures *f, double t_s)
{
    double sum = 0;

    for (size_t i = 0; i < f->n_taken; i++) {
        double until_s = i + 1 < f->n_taken ? f->taken[i + 1].t_s : t_s;

        sum += f->taken[i].imbalance * (until_s - f->taken[i].t_s);
    }
    return sum / (t_s - f->taken[0].t_s);
}

/* Over the samples that know it. */
static double mean_score_over_time(const struct figures *f, double t_s)
{
    double sum = 0;
    double time_s = 0;

    for (size_t i = 0; i < f->n_taken; i++) {
        double until_s = i + 1 < f->n_taken ? f->taken[i + 1].t_s : t_s;

        if (isnan(f->taken[i].score))
            continue;
        sum += f->taken[i].score * (until_s - f->taken[i].t_s);
        time_s += until_s - f->taken[i].t_s;
    }
    return time_s > 0 ? sum / time_s : NAN;
}

static void fill_imbalance(const struct figures *f, double t_s, struct metrics_of_run *m)
{
    m->imbalance_mean = m->imbalance_final = m->imbalance_max = m->time_above_target_s = NAN;
    m->time_below_0_1_s = m->time_below_0_05_s = m->time_to_target_s = NAN;
    if (f->n_taken == 0)
        return;
    m->imbalance_mean = mean_imbalance(f, t_s);
    m->imbalance_final = f->taken[f->n_taken - 1].imbalance;
    m->imbalance_max = f->taken[find_worst(f)].imbalance;
    m->time_below_0_1_s = time_below(f, 0.1);
    m->time_below_0_05_s = time_below(f, 0.05);
    m->time_to_target_s = time_to_target(f);
    m->time_above_target_s = time_above_target(f, t_s);
}

/* Beloglazov and Buyya 2012, as in CloudSim's code: pooled over all hosts and all VMs. */
static void fill_violations(const struct sums *s, struct metrics_of_run *m)
{
    m->slatah = percent(s->overloaded_s, s->active_s);
    m->pdm = percent(s->lost_moving_mhz_s, s->wanted[RES_CPU]);
    m->sla = m->slatah * m->pdm / 100;
    m->slav = percent(s->wanted[RES_CPU] - s->delivered[RES_CPU], s->wanted[RES_CPU]);
    m->esv = m->kwh * m->slatah / 100 * m->pdm / 100;
}

#define SHORT_SLEEP_S 3600
#define DAY_S 86400

static void fill_power_cycles(const struct figures *f, const struct sums *s, double length_s,
                              struct metrics_of_run *m)
{
    size_t n;
    const double *sleeps = cluster_sleeps_s(f->cluster, &n);
    double *sorted = arena_array(f->a, double, n);

    m->sleep_shortest_s = m->sleep_median_s = NAN;
    m->sleeps_under_1h = 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = sleeps[i];
        m->sleeps_under_1h += sleeps[i] < SHORT_SLEEP_S;
    }
    if (n > 0) {
        qsort(sorted, n, sizeof *sorted, order_numbers);
        m->sleep_shortest_s = sorted[0];
        m->sleep_median_s = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
    double host_days = f->scenario->initial.n_hosts * length_s / DAY_S;

    m->power_cycles_per_host_day = host_days > 0 ? s->power_offs / host_days : NAN;
}

static bool lacks_more(const struct vm_shortfall *a, const struct vm_shortfall *b)
{
    return a->cpu_percent > b->cpu_percent ||
           (a->cpu_percent >= b->cpu_percent && a->cpu_mhz_s > b->cpu_mhz_s);
}

/* Keeps the list in order, as long as it may be; of equals the first VM stays before. */
static void insert_shortfall(struct simulation *ret, struct vm_shortfall x)
{
    uint32_t i = ret->n_shortfalls;

    if (i == SHORTFALLS_MAX && !lacks_more(&x, &ret->shortfalls[i - 1]))
        return;
    if (i < SHORTFALLS_MAX)
        ret->n_shortfalls++;
    else
        i--;
    for (; i > 0 && lacks_more(&x, &ret->shortfalls[i - 1]); i--)
        ret->shortfalls[i] = ret->shortfalls[i - 1];
    ret->shortfalls[i] = x;
}

static void fill_shortfalls(const struct figures *f, struct simulation *ret)
{
    ret->n_shortfalls = 0;
    for (uint32_t i = 0; i < f->scenario->initial.n_vms; i++) {
        const struct vm_totals *v = cluster_vm_totals(f->cluster, i);
        double lacks[RES_COUNT];

        for (int r = 0; r < RES_COUNT; r++)
            lacks[r] = percent(v->wanted[r] - v->delivered[r], v->wanted[r]);
        if (!(lacks[RES_CPU] > LEAST_SHORTFALL))
            continue;
        insert_shortfall(
            ret, (struct vm_shortfall){
                     .vm = f->scenario->initial.vms[i].is.name,
                     .cpu_mhz_s = v->wanted[RES_CPU] - v->delivered[RES_CPU],
                     .cpu_percent = lacks[RES_CPU],
                     .entitled_percent = percent(f->entitled[i].lacks_mhz_s, f->entitled[i].due_mhz_s),
                     .mem_percent = lacks[RES_MEM],
                 });
    }
}

static void fill_pools(const struct figures *f, const struct sums *s, struct simulation *ret)
{
    ret->n_pools = f->n_classes;
    ret->pools = arena_array(f->a, struct pool_result, f->n_classes);
    for (uint32_t i = 0; i < f->scenario->initial.n_vms; i++) {
        const struct vm_totals *v = cluster_vm_totals(f->cluster, i);

        if (f->class_of[i] == IX_NONE)
            continue;
        struct pool_result *p = &ret->pools[f->class_of[i]];

        p->vms++;
        for (int r = 0; r < RES_COUNT; r++) {
            p->wanted[r] += v->wanted[r];
            p->delivered[r] += v->delivered[r];
        }
    }
    for (uint32_t i = 0; i < f->n_classes; i++) {
        const struct class_sums *c = &f->by_class[i];
        struct pool_result *p = &ret->pools[i];

        p->name = f->classes[i];
        for (int r = 0; r < RES_COUNT; r++)
            p->payload[r] = percent(p->delivered[r], s->capacity[r]);
        p->happiness_mean = percent(c->happiness, c->time_s);
        p->happy_share = percent(c->happy, c->time_s);
        p->happiness_least = c->time_s > 0 ? 100 * c->happiness_least : NAN;
    }
}

void figures_finish(struct figures *f, double t_s, struct simulation *ret)
{
    struct metrics_of_run *m = &ret->metrics;
    const struct class_sums *all = &f->by_class[f->n_classes];
    const struct sums s = count_until(f, t_s);

    ret->duration_s = t_s - f->from_s;
    m->payload_cpu = percent(s.delivered[RES_CPU], s.capacity[RES_CPU]);
    m->payload_mem = percent(s.delivered[RES_MEM], s.capacity[RES_MEM]);
    m->payload_cpu_bound = percent(f->bound[RES_CPU], s.capacity[RES_CPU]);
    m->payload_mem_bound = percent(f->bound[RES_MEM], s.capacity[RES_MEM]);
    m->migrations = s.migrations;
    m->migrations_failed = s.migrations_failed;
    m->gb_moved = s.moved_mb / 1024;
    m->kwh = s.energy_j / 3.6e6;
    m->kwh_idle_off = s.energy_idle_off_j / 3.6e6;
    m->kwh_all_on = f->all_on_j / 3.6e6;
    m->happiness_mean = percent(all->happiness, all->time_s);
    m->happy_share = percent(all->happy, all->time_s);
    m->unmet_mhz_s = s.wanted[RES_CPU] - s.delivered[RES_CPU];
    m->unmet_mb_s = s.wanted[RES_MEM] - s.delivered[RES_MEM];
    m->host_power_offs = s.power_offs;
    m->host_power_ons = s.power_ons;
    m->wake_failures = s.failures;
    m->hosts_on_mean = ret->duration_s > 0 ? s.on_s / ret->duration_s : NAN;
    fill_imbalance(f, t_s, m);
    m->score_mean = mean_score_over_time(f, t_s);
    fill_violations(&s, m);
    m->host_above_90_s = cluster_hot_s(f->cluster);
    m->moves_per_vm_day = s.to_run_s > 0 ? s.migrations / (s.to_run_s / DAY_S) : NAN;
    fill_power_cycles(f, &s, ret->duration_s, m);
    fill_shortfalls(f, ret);
    fill_pools(f, &s, ret);
    ret->series = f->series;
    ret->n_series = f->n_series;
}
