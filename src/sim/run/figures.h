/* figures.h: measures a run. README.md defines each metric.
 *
 * Two sources: the cluster's totals, which are exact integrals, and samples of its true state every sample_s:
 * entitlements, imbalance, happiness. A sample counts for the time until the next one. */
#ifndef BALLAST_SIM_FIGURES_H
#define BALLAST_SIM_FIGURES_H

#include "sim/cluster/cluster.h"
#include "sim/run/simulate.h"

/* CPU received as a share of entitlement, of a class of VMs or of all, at one sample. */
struct happiness_now {
    uint32_t n, happy;
    double sum;
};

/* Σ value · time. */
struct class_sums {
    double happiness, happy, time_s;
    double happiness_least;
};

/* What a VM was entitled to of the CPU that it wanted, and lacked of that: at the last sample, and the sums
 * over time since from_s. */
struct entitled {
    double due_mhz, lacks_mhz;
    double due_mhz_s, lacks_mhz_s;
};

/* Of all VMs or hosts together, since the totals were reset. */
struct sums {
    double wanted[RES_COUNT], delivered[RES_COUNT], capacity[RES_COUNT];
    double moved_mb, lost_moving_mhz_s, to_run_s;
    double energy_j, energy_idle_off_j, on_s, active_s, overloaded_s;
    uint32_t migrations, migrations_failed, power_offs, power_ons, failures;
};

/* The figures of a sample that the metrics need at the end. */
struct instant_figures {
    double t_s, imbalance, target;
    double score; /* mean over VMs; NAN: no pipeline scores */
};

struct figures {
    const struct scenario *scenario;
    struct cluster *cluster;
    const struct simulate_options *options;
    struct arena *a;      /* of the result */
    struct arena scratch; /* of one sample */
    uint32_t *class_of;   /* by VM; IX_NONE: none */
    const char **classes; /* names, in the order of the first VM of each */
    uint32_t n_classes;

    double from_s;                   /* start of the measurement */
    struct sums last;                /* at the last sample */
    double last_s;                   /* NAN: none since from_s */
    struct happiness_now *happiness; /* at the last sample: by class, then one entry for all VMs */
    struct class_sums *by_class;     /* by class, then one entry for all VMs */
    struct entitled *entitled;       /* by VM */
    double bound[RES_COUNT];         /* Σ of the demand that all hosts as one could have met */
    double all_on_j;
    struct instant_figures *taken; /* samples since from_s */
    size_t n_taken, cap_taken;

    double energy_before_j; /* before the totals were reset, for the series */
    uint32_t migrations_before;
    struct series_point *series;
    size_t n_series, cap_series;
};

void figures_init(struct figures *f, const struct scenario *s, struct cluster *c,
                  const struct simulate_options *options, struct arena *a);
void figures_release(struct figures *f);

/* Samples the cluster, which has been advanced to t_s. */
void figures_take(struct figures *f, double t_s);

/* Starts the measurement: discards all figures so far. */
void figures_begin(struct figures *f, double t_s);

/* Fills metrics, pools, series and duration. The caller adds the service's own counts. */
void figures_finish(struct figures *f, double t_s, struct simulation *ret);

#endif
