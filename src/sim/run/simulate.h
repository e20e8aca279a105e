/* simulate.h: a scenario carried out: the service's engine on a virtual clock, acting on a simulated cluster.
 *
 * The metrics are those of the contract (`ballast-simulation/1`), defined in METRICS() below and in README.md
 * with their sources: the paper's §5.1.1 and §5.2, and the consolidation literature's (Beloglazov and Buyya
 * 2012: SLATAH, PDM, SLAV, ESV).
 */
#ifndef BALLAST_SIM_SIMULATE_H
#define BALLAST_SIM_SIMULATE_H

#include "sim/scenario/scenario.h"

#include <ballast/arena.h>
#include <ballast/err.h>

struct engine;
struct cluster;

/* name, unit, what it is. An unknown figure is NAN (null). */
#define METRICS(X)                                                                                           \
    X(payload_cpu, "%", "CPU delivered to VMs, of what all hosts have over the whole time")                  \
    X(payload_mem, "%", "memory delivered to VMs, of what all hosts have over the whole time")               \
    X(payload_cpu_bound, "%", "the most that was possible: demand, where all hosts were one")                \
    X(payload_mem_bound, "%", "the most that was possible: demand, where all hosts were one")                \
    X(migrations, "", "that ended well")                                                                     \
    X(migrations_failed, "", "that did not")                                                                 \
    X(gb_moved, "GiB", "copied for migrations, all rounds")                                                  \
    X(kwh, "kWh", "used by all hosts")                                                                       \
    X(kwh_idle_off, "kWh", "the same, if a host without any demand counts as off")                           \
    X(kwh_all_on, "kWh", "had all hosts been on, with the same work spread evenly")                          \
    X(imbalance_mean, "", "cluster imbalance, mean over time")                                               \
    X(imbalance_final, "", "cluster imbalance at the end")                                                   \
    X(imbalance_max, "", "cluster imbalance at its worst")                                                   \
    X(time_below_0_1_s, "s", "from the worst imbalance until it is below 0.1 for good")                      \
    X(time_below_0_05_s, "s", "from the worst imbalance until it is below 0.05 for good")                    \
    X(time_to_target_s, "s", "from the worst imbalance until it reaches the target")                         \
    X(happiness_mean, "%", "CPU that VMs got, of what they were entitled to")                                \
    X(happy_share, "%", "VMs with at least 95 % of their CPU entitlement")                                   \
    X(unmet_mhz_s, "MHz s", "CPU that VMs wanted and did not get")                                           \
    X(unmet_mb_s, "MiB s", "memory that VMs wanted and did not get")                                         \
    X(host_power_offs, "", "hosts put to sleep")                                                             \
    X(host_power_ons, "", "hosts woken")                                                                     \
    X(wake_failures, "", "wake-ups that failed")                                                             \
    X(hosts_on_mean, "", "hosts on, mean over time")                                                         \
    X(slatah, "%", "of the time that hosts were active, that in which their VMs got less than they wanted")  \
    X(pdm, "%", "of the CPU that VMs wanted, that lost to migrations")                                       \
    X(sla, "%", "slatah times pdm (CloudSim's SLA)")                                                         \
    X(slav, "%", "of the CPU that VMs wanted, that they did not get (CloudSim's overall SLA violation)")     \
    X(esv, "", "kWh times slatah times pdm")                                                                 \
    X(unplaced, "", "times that VMs which had arrived found no place; they ask again after each pass")       \
    X(passes, "", "decided")                                                                                 \
    X(decide_ms_total, "ms", "time that deciding took; the only figure that differs between two runs")       \
    X(account_kwh, "kWh", "used by all hosts, as Ballast's own account has it (`ballast history --energy`)") \
    X(account_kwh_all_on, "kWh", "the account's, had all hosts been on")                                     \
    X(account_unmet_mhz_s, "MHz s", "the account's of CPU that VMs wanted and did not get")

#define METRIC_FIELD(name, unit, meaning) double name;
struct metrics_of_run {
    METRICS(METRIC_FIELD)
};
#undef METRIC_FIELD

/* Of a pool (or class of shares). */
struct pool_result {
    const char *name;
    uint32_t vms;
    double payload[RES_COUNT];                      /* percent of what all hosts have */
    double wanted[RES_COUNT], delivered[RES_COUNT]; /* MHz s, MiB s */
    double happiness_mean, happy_share,
        happiness_least; /* percent; least: mean of its VMs at the worst time */
};

/* One point of the series. */
struct series_point {
    double t_s;
    double imbalance, imbalance_of[RES_COUNT], target;
    double load_max[RES_COUNT];                        /* highest normalized entitlement of a host */
    uint32_t hosts_on, migrations_running, migrations; /* the last one: that ended well so far */
    double watts, kwh;                                 /* kwh: so far */
    double wanted[RES_COUNT], delivered[RES_COUNT];    /* MHz, MiB, now */
    double happiness_mean, happy_share;
    const double *pool_happiness, *pool_happy; /* by pool of the result */
    const double *host_load[RES_COUNT];        /* normalized entitlement by host; NAN: it is not on */
    const double *host_watts;
};

struct pass_point {
    double t_s;
    uint32_t recommended, begun; /* moves */
    uint32_t power_offs, power_ons;
    double imbalance_before, imbalance_after;
};

struct simulation {
    const struct scenario *scenario;
    double duration_s; /* that was measured */
    struct metrics_of_run metrics;
    struct pool_result *pools;
    uint32_t n_pools;
    struct series_point *series; /* empty unless it was asked for */
    size_t n_series;
    struct pass_point *passes;
    size_t n_passes;
};

struct simulate_options {
    bool series;      /* keep the points */
    bool host_series; /* with those of the hosts */
    /* Called now and then with the part that is done, 0 ... 1. NULL: nobody wants to know. */
    void (*progress)(void *ctx, double done);
    void *ctx;
    /* Called after every tick of the engine; a test's invariants. A non-zero return ends the run with it. */
    int (*watch)(void *ctx, const struct engine *engine, const struct cluster *cluster, double t_s);
    int64_t (*clock_us)(void); /* for decide_ms_total; NULL: it is 0 */
};

/* Everything of *ret is in the arena. -EFBIG: the series would be too long to be kept;
 * -EIO ...: the engine could not be begun. */
int simulate(const struct scenario *s, const struct simulate_options *options, struct arena *a,
             struct simulation *ret, struct err *err);

#endif
