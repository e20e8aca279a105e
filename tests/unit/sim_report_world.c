#include "sim_report_world.h"

#include "base/rng.h"
#include "model/snapshot_build.h"

#include <assert.h>
#include <math.h>

#define POINT_S 60
#define PASS_S 300
#define DAY_S 86400.0
#define HOST_MHZ 24000.0
#define HOST_MB 98304.0
#define VMS_PER_HOST 4
#define WILD "<b>&\"'</script>\n"

static void make_cluster(const struct report_world *w, struct arena *a, struct snapshot *ret)
{
    struct inventory inv = {.cluster = "prod", .time = 1767225600};
    struct err err = {0};

    for (uint32_t i = 0; i < w->hosts; i++) {
        struct seen_host *h = inventory_add_host(&inv, a);
        h->is.id = arena_printf(a, "esx%03u%s", i + 1, w->wild ? WILD : "");
        h->is.total[RES_CPU] = HOST_MHZ;
        h->is.total[RES_MEM] = HOST_MB;
        h->is.cores = 8;
    }
    for (uint32_t i = 0; i < w->hosts * VMS_PER_HOST; i++) {
        struct seen_vm *v = inventory_add_vm(&inv, a);
        v->is.vcpus = 1;
        v->is.mem_mb = 1024;
        vm_facts_default(&v->is);
        v->is.id = arena_printf(a, "vm%04u", i);
        v->is.state = VM_OFF;
    }
    int r = snapshot_build(&inv, a, ret, &err);
    assert(r == 0);
    (void)r;
}

static struct scenario *make_scenario(const struct report_world *w, struct arena *a)
{
    struct scenario *s = arena_new(a, struct scenario);

    *s = (struct scenario){
        .name = w->wild ? "week " WILD : "monday",
        .file = "monday.yaml",
        .start = 1767225600,
        .duration_s = (double)(w->points > 0 ? w->points - 1 : 1440) * POINT_S,
        .seed = w->seed,
        .ballast = true,
        .sample_s = POINT_S,
    };
    policy_default(&s->policy);
    s->policy.automation = AUTOMATION_FULL;
    s->policy.dpm.enabled = w->power;
    make_cluster(w, a, &s->initial);
    s->hosts = arena_array(a, struct host_model, w->hosts);
    s->vms = arena_array(a, struct vm_model, s->initial.n_vms);
    for (uint32_t i = 0; i < w->hosts && w->power; i++)
        s->hosts[i] = (struct host_model){.watts = {100, 250}, .n_watts = 2, .standby_w = 10};
    return s;
}

#define METRIC_NUMBER(name, unit, meaning) m->name = w->scale * (double)++n;

static void make_metrics(const struct report_world *w, struct metrics_of_run *m)
{
    int n = 0;

    METRICS(METRIC_NUMBER)
    if (!w->power)
        m->kwh = m->kwh_idle_off = m->kwh_all_on = m->esv = NAN;
    m->time_below_0_05_s = NAN;
    m->wake_failures = 0;
}

static void make_pools(const struct report_world *w, struct arena *a, struct simulation *s)
{
    s->n_pools = w->pools;
    s->pools = arena_array(a, struct pool_result, w->pools);
    for (uint32_t i = 0; i < w->pools; i++) {
        s->pools[i] = (struct pool_result){
            .name = arena_printf(a, "pool %c%s", 'A' + (int)(i % 26), w->wild ? WILD : ""),
            .vms = 4 + i,
            .payload = {10.5, 20},
            .wanted = {200, i == 1 ? 0 : 100},
            .delivered = {190 - i, i == 1 ? 0 : 100},
            .happiness_mean = 99.5 - i,
            .happy_share = 90 - i,
            .happiness_least = 50 + i,
        };
    }
}

/* Night, morning, day, evening: 0.2 ... 1. */
static double of_day(double t_s)
{
    double hour = fmod(t_s, DAY_S) / 3600;

    return hour < 6    ? 0.2
           : hour < 9  ? 0.2 + 0.8 * (hour - 6) / 3
           : hour < 18 ? 1
                       : 0.2 + 0.8 * (24 - hour) / 6;
}

static void make_hosts(const struct report_world *w, struct arena *a, struct rng *rng, struct series_point *p)
{
    double *load[RES_COUNT] = {arena_array(a, double, w->hosts), arena_array(a, double, w->hosts)};
    double *watts = arena_array(a, double, w->hosts);
    double day = of_day(p->t_s);

    for (uint32_t h = 0; h < w->hosts; h++) {
        bool on = h < p->hosts_on;
        load[RES_CPU][h] = on ? fmin(1, 0.75 * day + 0.2 * rng_unit(rng)) : NAN;
        load[RES_MEM][h] = on ? 0.5 + 0.1 * rng_unit(rng) : NAN;
        watts[h] = on ? 100 + 150 * load[RES_CPU][h] : 10;
        p->watts += w->power ? watts[h] : 0;
        for (int r = 0; r < RES_COUNT; r++)
            p->load_max[r] = on ? fmax(p->load_max[r], load[r][h]) : p->load_max[r];
    }
    p->host_load[RES_CPU] = load[RES_CPU];
    p->host_load[RES_MEM] = load[RES_MEM];
    p->host_watts = watts;
}

static void make_point(const struct report_world *w, struct arena *a, struct rng *rng, struct series_point *p)
{
    double day = of_day(p->t_s);
    double total = HOST_MHZ * w->hosts;
    double *happiness = arena_array(a, double, w->pools);
    double *happy = arena_array(a, double, w->pools);

    p->imbalance = 0.02 + 0.3 * fabs(day - of_day(p->t_s - 1800)) + 0.02 * rng_unit(rng);
    p->imbalance_of[RES_CPU] = p->imbalance;
    p->imbalance_of[RES_MEM] = 0.01;
    p->target = 0.1;
    p->hosts_on = w->power ? (uint32_t)ceil(w->hosts * fmax(0.4, day)) : w->hosts;
    p->wanted[RES_CPU] = total * (0.7 * day + 0.1 * rng_unit(rng));
    p->delivered[RES_CPU] = p->wanted[RES_CPU] * (day > 0.9 ? 0.97 : 1);
    p->wanted[RES_MEM] = p->delivered[RES_MEM] = HOST_MB * w->hosts * 0.5;
    for (uint32_t i = 0; i < w->pools; i++) {
        happiness[i] = day > 0.9 ? 98 - 4 * i : 100;
        happy[i] = day > 0.9 ? 90 - 5 * i : 100;
    }
    p->happiness_mean = 99;
    p->happy_share = 97;
    p->pool_happiness = happiness;
    p->pool_happy = happy;
    make_hosts(w, a, rng, p);
}

static void make_passes(const struct report_world *w, struct arena *a, struct rng *rng, struct simulation *s)
{
    s->n_passes = w->points * POINT_S / PASS_S;
    s->passes = arena_array(a, struct pass_point, s->n_passes);
    for (size_t i = 0; i < s->n_passes; i++) {
        double t_s = (double)(i + 1) * PASS_S;
        uint32_t moves = (uint32_t)(20 * fabs(of_day(t_s) - of_day(t_s - 1800)) * rng_unit(rng) * 5);
        s->passes[i] = (struct pass_point){.t_s = t_s, .recommended = moves + 1, .begun = moves};
    }
}

void report_world_make(const struct report_world *w, struct arena *a, struct simulation *ret)
{
    struct scenario *scenario = make_scenario(w, a);
    struct rng rng = {.state = w->seed};

    *ret = (struct simulation){.scenario = scenario, .duration_s = scenario->duration_s};
    make_metrics(w, &ret->metrics);
    make_pools(w, a, ret);
    ret->n_series = w->points;
    ret->series = arena_array(a, struct series_point, w->points);
    for (size_t i = 0; i < w->points; i++) {
        struct series_point *p = &ret->series[i];
        p->t_s = (double)i * POINT_S;
        make_point(w, a, &rng, p);
        p->kwh = i > 0 ? ret->series[i - 1].kwh + p->watts * POINT_S / 3.6e6 : 0;
        p->migrations = (uint32_t)i / 3;
    }
    make_passes(w, a, &rng, ret);
}
