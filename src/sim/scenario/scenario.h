/* scenario.h: the input of a simulation.
 *
 * Read from a YAML file (scenario_read(); conf/examples/simulate-*.yaml show it commented,
 * ballast-simulate(5) lists every key) and checked as strictly as a configuration: an unknown key, a value
 * out of its range or an unreadable file is an error with "FILE:LINE: ...", and nothing is simulated.
 * Everything is by index of the initial snapshot; strings and arrays live in the arena.
 *
 * Times are seconds from the start (`t = 0`); the engine's time is `start` + t.
 */
#ifndef BALLAST_SIM_SCENARIO_H
#define BALLAST_SIM_SCENARIO_H

#include "schedule/schedule.h"
#include "sim/workload/trace.h"

#include <ballast/policy.h>
#include <ballast/snapshot.h>

#include <math.h>

/* ---- hosts ----------------------------------------------------------------------------------- */

struct host_model {
    /* Watts at equally spaced CPU utilizations from 0 to 1, lines between (idle + linear: two points;
     * SPECpower: eleven). */
    double watts[POWER_POINTS_MAX];
    uint32_t n_watts;
    double standby_w, boot_w, sleep_w; /* in standby; during boot; during shutdown */
    bool meter;                        /* its controller measures its power ... */
    double meter_error;                /* ... with an error of this part at most, random each time */
    double boot_s, sleep_s;
    double link_mb_s; /* of the migration network, in each direction */
    double throttled; /* part of its CPU that it does not give, though it reports all of it */
};

/* The power of a host that is on. utilization: of its whole CPU, its own use included; 0 W if the power is
 * unknown. */
static inline double host_model_watts(const struct host_model *m, double utilization)
{
    return m->n_watts > 0 ? power_curve_watts(&(struct power_curve){m->watts, m->n_watts}, utilization) : 0;
}

/* ---- VMs ------------------------------------------------------------------------------------- */

struct vm_model {
    struct workload of[RES_COUNT];
    double arrives_s, leaves_s; /* 0 and INFINITY: always. Ballast places a VM that arrives */
    double dirty_mb_s;          /* rate of memory writes at full CPU; scaled by its CPU */
    const char *share_class;    /* the class of its payload: its pool's name, or "high", ... */
};

/* ---- migrations ------------------------------------------------------------------------------ */

enum migration_kind {
    MIGRATION_PRECOPY, /* rounds until the rest fits downtime_s; concurrent migrations share bandwidth */
    MIGRATION_FIXED,   /* memory / rate, independent of other load (CloudSim) */
};

struct migration_model {
    enum migration_kind kind;
    double rate_mb_s;        /* at most, for one migration */
    double downtime_s;       /* allowed at the end; the VM is stopped meanwhile */
    uint32_t rounds_max;     /* then the VM is stopped and copied, without a time limit */
    double cpu_mhz_per_mb_s; /* on either host, per MiB/s copied */
    double slowdown;         /* part of its CPU that the VM loses during page tracking */
};

enum host_scheduler {
    SCHEDULER_SHARES,       /* reservation, limit, shares, the host's pool tree */
    SCHEDULER_PROPORTIONAL, /* all requests scaled by capacity / requested (CloudSim) */
    SCHEDULER_WEIGHTS,      /* one weight and one limit a VM, no pools (plain KVM) */
};

/* ---- faults ---------------------------------------------------------------------------------- */

#define SIM_FAULTS(X)                                                                                        \
    X(SIM_MIGRATION_FAILS, "migration_fails", "half way; rate: of all migrations")                           \
    X(SIM_MIGRATION_HANGS, "migration_hangs", "until it is cancelled; rate: of all migrations")              \
    X(SIM_MIGRATION_REFUSED, "migration_refused", "the hypervisor says no; rate: of all migrations")         \
    X(SIM_HOST_DIES, "host_dies",                                                                            \
      "with all its VMs, which start elsewhere after restart_s; comes back after for_s; rate: per host and " \
      "day")                                                                                                 \
    X(SIM_WAKE_FAILS, "wake_fails", "the host stays asleep; rate: of all wake-ups")                          \
    X(SIM_WAKE_SLOW, "wake_slow", "it takes `factor` times as long; rate: of all wake-ups")                  \
    X(SIM_SAMPLES_STALE, "samples_stale",                                                                    \
      "a VM's figures stay as they are, for for_s; rate: per VM and day")                                    \
    X(SIM_SAMPLES_GARBAGE, "samples_garbage",                                                                \
      "a VM's figures are nonsense, for for_s; rate: per VM and day")                                        \
    X(SIM_SOURCE_DEAF, "source_deaf", "the collector gets no answer for for_s; rate: per day")               \
    X(SIM_ACTUATOR_DEAF, "actuator_deaf", "the actuator gets no answer for for_s; rate: per day")            \
    X(SIM_ANSWER_LOST, "answer_lost", "a task begins and its answer is lost; rate: of all starts")           \
    X(SIM_SERVICE_RESTARTS, "service_restarts", "the service is killed, and begins anew; rate: per day")     \
    X(SIM_HOST_REFUSES, "host_refuses",                                                                      \
      "migrations to it fail, for for_s; rate: of all pairs of VM and host, for good")

NAME_DECLARE(sim_fault, SIM_FAULTS)

struct fault_rate {
    double rate;  /* 0: never */
    double for_s; /* the duration, if it has one */
    double factor;
};

struct scripted_fault {
    double at_s;
    enum sim_fault kind;
    uint32_t host, vm; /* IX_NONE: the next object that matches */
    double for_s;      /* INFINITY: for good */
    double factor;
};

/* An admin's operation at a time: the scenario's script of settings and host states. */
enum scripted_kind { SCRIPT_MAINTENANCE_ENTER, SCRIPT_MAINTENANCE_EXIT, SCRIPT_SET };

struct scripted_operation {
    double at_s;
    enum scripted_kind kind;
    uint32_t host;
    const char *key, *value; /* SCRIPT_SET: a setting of the policy */
};

/* ---- the whole scenario ---------------------------------------------------------------------- */

struct scenario {
    const char *name;
    const char *file; /* for errors */
    const char **warnings;
    size_t n_warnings;
    instant_s start;
    double duration_s;
    double measure_from_s; /* the figures start here */
    uint64_t seed;
    bool ballast;         /* false: no decisions; a baseline */
    struct policy policy; /* of the passes */
    struct schedule schedule;
    double look_s;   /* between two inventories; 0: as the engine does */
    double sample_s; /* between two points of the series and of sampled metrics */

    struct snapshot initial; /* VMs that have not arrived yet are off */
    struct host_model *hosts;
    struct vm_model *vms;
    struct migration_model migration;
    enum host_scheduler scheduler;
    double swap_slowdown; /* a VM that lacks a part x of its working set can use that much less of its CPU:
                           * x times this, at most all. 0: no effect */
    double restart_s; /* after a host failure its VMs start elsewhere after this; INFINITY: when the host is
                       * back */
    bool parts_unset; /* the snapshot's pool settings on hosts hold, even if there are none; inventories omit
                       * implied ones; never set by a file */
    struct fault_rate rates[sim_fault_count];
    struct scripted_fault *faults; /* by at_s */
    uint32_t n_faults;
    struct scripted_operation *operations; /* by at_s */
    uint32_t n_operations;
};

/* One `--set PATH=VALUE`: replaces or adds a value of the file before it is read ("duration_s",
 * "settings.dpm.enabled", "vms.0.count", "workload.dir"; override.h defines paths). */
struct scenario_override {
    const char *path, *value;
    const char *option; /* that gave it; NULL: "set" */
};

struct scenario_options {
    const struct scenario_override *overrides;
    size_t n_overrides;
    bool seed_given;
    uint64_t seed;
    struct trace_texts *texts; /* instead of files; NULL: none */
};

/* -EINVAL with "FILE:LINE: what is wrong, what was expected", or the error of the system. */
int scenario_read(const char *file, const struct scenario_options *options, struct arena *a,
                  struct scenario *ret, struct err *err);

/* Like scenario_read() from text; paths in the text are relative to the folder of `file`. */
int scenario_parse(const char *file, const char *text, size_t len, const struct scenario_options *options,
                   struct arena *a, struct scenario *ret, struct err *err);

#endif
