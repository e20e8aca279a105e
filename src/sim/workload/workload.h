/* workload.h: the demand of a VM as a function of time.
 *
 * A workload is a pure function: kind, parameters, seed and time determine the value, independent of earlier
 * calls and of decisions about the VM. So runs are repeatable, and two policies are compared on the same
 * demand (§5.1.1: "the VMs would have the same load value at the same time in the simulation across different
 * runs").
 *
 * Values are MHz or MiB, never below 0. A value is constant between two changes; a line (a ramp, or a trace
 * read as lines between its samples) is cut into steps, each with the line's mean. */
#ifndef BALLAST_SIM_WORKLOAD_H
#define BALLAST_SIM_WORKLOAD_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/names.h>

#include <stdbool.h>
#include <stdint.h>

#define WORKLOAD_KINDS(X)                                                                                    \
    X(WORKLOAD_CONSTANT, "constant", "level all the time")                                                   \
    X(WORKLOAD_HIGH_LOW, "high_low",                                                                         \
      "one of `levels`, drawn anew each time, for high_s; then `level` for low_s; and so on")                \
    X(WORKLOAD_NORMAL, "normal",                                                                             \
      "normally distributed around high with high_spread (standard deviation) for high_s, then around low "  \
      "with low_spread for low_s; drawn anew every step_s")                                                  \
    X(WORKLOAD_UNIFORM, "uniform",                                                                           \
      "uniform between high - high_spread and high + high_spread for high_s, then likewise around low for "  \
      "low_s; drawn anew every step_s")                                                                      \
    X(WORKLOAD_SPIKE, "spike", "level, and high from from_s until until_s")                                  \
    X(WORKLOAD_RAMP, "ramp", "level until from_s, rising evenly to high until until_s, high from then on")   \
    X(WORKLOAD_TRACE, "trace", "what a file says")                                                           \
    X(WORKLOAD_OFFICE, "office",                                                                             \
      "low; from Monday to Friday rises to high at from_s of the day and falls at until_s; each VM up to "   \
      "spread_s earlier or later")                                                                           \
    X(WORKLOAD_BURSTY, "bursty", "low; high for high_s at random times of each VM, low_s apart in the mean") \
    X(WORKLOAD_SURGE, "surge",                                                                               \
      "low; most VMs rise to high together, for high_s, first at from_s and again every_s")                  \
    X(WORKLOAD_BATCH, "batch",                                                                               \
      "low; a job of about high_s at high, every_s, up to spread_s after from_s of the day")

NAME_DECLARE(workload_kind, WORKLOAD_KINDS)

/* Samples, with or without gaps; shared by all workloads that read one file. */
struct trace {
    double *time_s; /* from the beginning of the trace, ascending; value[i] holds from time_s[i] */
    double *value;
    uint32_t n;
    double length_s; /* the period of a repeated trace */
};

struct workload {
    enum workload_kind kind;
    uint64_t seed; /* the stream of this VM and resource; from the scenario's seed and the VM's name */
    double level, high, low, high_spread, low_spread;
    double high_s, low_s; /* length of the high and the low phase; low_s 0: always high */
    double step_s;        /* between two draws, or between two steps of a line */
    double phase_s;       /* offset into the period at t = 0 */
    double from_s, until_s;
    const double *levels; /* WORKLOAD_HIGH_LOW */
    uint32_t n_levels;
    /* office, bursty, surge, batch */
    double rise_s, spread_s, every_s, vary_s, part;
    double week_s;        /* seconds since Monday 00:00 UTC at t = 0 */
    uint64_t event_seed;  /* times of bursts, surges and jobs of this VM; the same for CPU and memory */
    uint64_t common_seed; /* what all VMs of the scenario have in common: the times of surges */
    const struct trace *trace;
    double scale; /* factor of all values; 1 by default */
    bool linear;  /* trace: a line from sample to sample, in steps of step_s */
    bool repeat;  /* trace: starts again at its end; false: the last value holds */
    double max;   /* the VM's capacity (vcpus x core, or configured memory) */
};

struct workload_value {
    double value;   /* 0 <= value <= max */
    double until_s; /* time of the next change, > t_s; INFINITY: none */
};

/* O(1), for a trace O(log n). */
struct workload_value workload_at(const struct workload *w, double t_s);

/* office, surge, batch: how many seconds later than others this VM is, for phase_s; drawn from event_seed. 0
 * for bursty. */
double workload_own_shift(const struct workload *w);

/* The seed of one random property ("cpu", "phase") of one VM; independent of the rest of the scenario. */
uint64_t workload_seed(uint64_t seed, const char *name, const char *what);

#endif
