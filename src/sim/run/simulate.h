/* simulate.h: runs a scenario: the service's engine on a virtual clock, with a simulated cluster.
 *
 * The metrics are those of `ballast-simulation/1`, defined in METRICS() below and in README.md with their
 * sources: the paper's §5.1.1 and §5.2, and the consolidation literature (Beloglazov and Buyya 2012: SLATAH,
 * PDM, SLAV, ESV). */
#ifndef BALLAST_SIM_SIMULATE_H
#define BALLAST_SIM_SIMULATE_H

#include "sim/scenario/scenario.h"

#include <ballast/arena.h>
#include <ballast/err.h>

struct engine;
struct cluster;
struct store;

/* name, unit, meaning. A figure that is not known is NAN (null in JSON). */
#define METRICS(X)                                                                                           \
    X(payload_cpu, "%", "CPU delivered to VMs, as a share of the capacity of all hosts over the run")        \
    X(payload_mem, "%", "memory delivered to VMs, as a share of the capacity of all hosts over the run")     \
    X(payload_cpu_bound, "%", "upper bound of payload_cpu: the demand, if all hosts were one host")          \
    X(payload_mem_bound, "%", "upper bound of payload_mem: the demand, if all hosts were one host")          \
    X(migrations, "", "migrations completed")                                                                \
    X(migrations_failed, "", "migrations failed")                                                            \
    X(gb_moved, "GiB", "memory copied by migrations, all rounds")                                            \
    X(kwh, "kWh", "energy used by all hosts")                                                                \
    X(kwh_idle_off, "kWh", "energy used, if a host without demand counted as off")                           \
    X(kwh_all_on, "kWh", "energy used, if all hosts were on and the same work were spread evenly")           \
    X(imbalance_mean, "", "cluster imbalance, mean over time")                                               \
    X(imbalance_final, "", "cluster imbalance at the end")                                                   \
    X(imbalance_max, "", "cluster imbalance, maximum")                                                       \
    X(time_below_0_1_s, "s", "time from the maximum imbalance until it stays below 0.1")                     \
    X(time_below_0_05_s, "s", "time from the maximum imbalance until it stays below 0.05")                   \
    X(time_to_target_s, "s", "time from the maximum imbalance until it reaches the target")                  \
    X(happiness_mean, "%", "CPU delivered to VMs, as a share of their entitlement")                          \
    X(happy_share, "%", "VMs with at least 95 % of their CPU entitlement")                                   \
    X(unmet_mhz_s, "MHz s", "CPU that VMs demanded within their limits and did not get")                     \
    X(unmet_mb_s, "MiB s", "memory that VMs demanded within their limits and did not get")                   \
    X(host_power_offs, "", "hosts put to standby")                                                           \
    X(host_power_ons, "", "hosts woken")                                                                     \
    X(wake_failures, "", "wakes that failed")                                                                \
    X(hosts_on_mean, "", "hosts on, mean over time")                                                         \
    X(slatah, "%", "share of the hosts' active time in which their VMs got less than they demanded")         \
    X(pdm, "%", "share of the VMs' CPU demand lost to migrations")                                           \
    X(sla, "%", "slatah times pdm (CloudSim's SLA)")                                                         \
    X(slav, "%", "share of the VMs' CPU demand, within their limits, not delivered (CloudSim's SLAV)")       \
    X(esv, "", "kwh times slatah times pdm")                                                                 \
    X(unplaced, "", "arrived VMs without a host, counted at each request; requested again after each pass")  \
    X(passes, "", "passes decided")                                                                          \
    X(decide_ms_total, "ms", "decision time of all passes; the only figure that differs between two runs")   \
    X(account_kwh, "kWh", "energy used by all hosts, by Ballast's own account (`ballast history --energy`)") \
    X(account_kwh_all_on, "kWh", "energy used if all hosts were on, by Ballast's own account")               \
    X(account_unmet_mhz_s, "MHz s", "CPU that VMs demanded and did not get, by Ballast's own account")       \
    X(host_above_90_s, "s", "time in which the VMs of any host wanted over 90 % of its CPU or memory")       \
    X(moves_per_vm_day, "", "migrations completed, per VM and day")                                          \
    X(sleep_shortest_s, "s", "shortest sleep of a host that ended: from standby until its wake began")       \
    X(sleep_median_s, "s", "median of the sleeps that ended")                                                \
    X(sleeps_under_1h, "", "sleeps that ended within an hour")                                               \
    X(power_cycles_per_host_day, "", "hosts put to standby, per host and day")                               \
    X(moves_observed, "", "moves whose hosts were looked at ten minutes later, and no other move touched")   \
    X(moves_as_predicted, "%",                                                                               \
      "of moves_observed: each load within 20 % of its prediction, or 1 % of the host's capacity")           \
    X(moves_timed_as_predicted, "%", "of moves_observed: duration within 20 % of its prediction")            \
    X(moves_overlapping, "", "moves whose hosts were looked at, and other moves touched meanwhile")          \
    X(moves_overlapping_as_predicted, "%", "of moves_overlapping, as moves_as_predicted")                    \
    X(moves_overlapping_timed_as_predicted, "%", "of moves_overlapping, as moves_timed_as_predicted")        \
    X(moves_harmful, "", "of both: moves after which hosts or VM lacked more than without the move")         \
    X(time_above_target_s, "s", "time in which the imbalance was above the target")                          \
    X(score_mean, "", "score of VMs on their hosts by their pipelines, of 0 to 1, mean over VMs and time")

#define METRIC_FIELD(name, unit, meaning) double name;
struct metrics_of_run {
    METRICS(METRIC_FIELD)
};
#undef METRIC_FIELD

/* The result of a pool, or of a class of shares. */
struct pool_result {
    const char *name;
    uint32_t vms;
    double payload[RES_COUNT];                      /* percent of all hosts' capacity */
    double wanted[RES_COUNT], delivered[RES_COUNT]; /* MHz s, MiB s */
    double happiness_mean, happy_share,
        happiness_least; /* percent; least: mean over its VMs at the worst time */
};

/* A VM that lacked CPU. */
struct vm_shortfall {
    const char *vm;
    double cpu_mhz_s;        /* missing of what it wanted within its limits */
    double cpu_percent;      /* the same, of what it wanted */
    double entitled_percent; /* missing of what it was entitled to, from samples; NAN: no sample */
    double mem_percent;      /* memory missing of what it wanted within its limits */
};

#define SHORTFALLS_MAX 10

/* One point of the series. */
struct series_point {
    double t_s;
    double imbalance, imbalance_of[RES_COUNT], target;
    double load_max[RES_COUNT];                        /* highest normalized entitlement of a host */
    uint32_t hosts_on, migrations_running, migrations; /* migrations: completed so far */
    double watts, kwh;                                 /* kwh: so far */
    double wanted[RES_COUNT], delivered[RES_COUNT];    /* MHz, MiB, now */
    double happiness_mean, happy_share;
    const double *pool_happiness, *pool_happy; /* by pool of the result */
    const double *host_load[RES_COUNT];        /* normalized entitlement by host; NAN: the host is not on */
    const double *host_watts;
};

struct pass_point {
    double t_s;
    uint32_t recommended, begun; /* migrations */
    uint32_t power_offs, power_ons;
    double imbalance_before, imbalance_after;
};

struct simulation {
    const struct scenario *scenario;
    double duration_s; /* the measured part of the run */
    struct metrics_of_run metrics;
    struct pool_result *pools;
    uint32_t n_pools;
    struct vm_shortfall shortfalls[SHORTFALLS_MAX]; /* the VMs that lacked most, by cpu_percent */
    uint32_t n_shortfalls;                          /* VMs that lacked nothing are not among them */
    struct series_point *series;                    /* empty unless options->series */
    size_t n_series;
    struct pass_point *passes;
    size_t n_passes;
};

struct simulate_options {
    bool series;      /* keep a point for each sample */
    bool host_series; /* with the figures of each host */
    /* Called from time to time with the part that is done, 0 ... 1. NULL: no report. */
    void (*progress)(void *ctx, double done);
    void *ctx;
    /* Called after every tick of the engine, for a test's invariants. A non-zero return ends the run with
     * that value. */
    int (*watch)(void *ctx, const struct engine *engine, const struct cluster *cluster, double t_s);
    int64_t (*clock_us)(void); /* for decide_ms_total; NULL: the metric is 0 */
    struct store *store;       /* empty; gets what a service leaves on a disk (store/sqlite.h); NULL: none */
    uint32_t passes_kept;      /* in the store, with their snapshots */
};

/* All of *ret is in the arena. -EFBIG: the series is too long to keep; -EIO ...: the engine did not start. */
int simulate(const struct scenario *s, const struct simulate_options *options, struct arena *a,
             struct simulation *ret, struct err *err);

#endif
