/* cluster.h: the simulated cluster: hosts that run VMs, as far as a balancer can observe them.
 *
 * Event-driven and deterministic. It has no clock: cluster_advance() handles all events that are due until a
 * time, in the order of their times, ties by kind and index. The VMs' allocation is computed whenever demand,
 * settings, a migration or a host changes: each host's CPU and memory are divided by its own pool tree
 * (reservation, limit, shares; §5.1.1) after the migrations' part. Between two events all rates are constant,
 * so integrals are exact.
 *
 * sim/fake_cluster puts the machine's clock in front of it. Not thread-safe: a simulation has one thread.
 */
#ifndef BALLAST_SIM_CLUSTER_H
#define BALLAST_SIM_CLUSTER_H

#include "sim/scenario/scenario.h"

#include <ballast/actuator.h>
#include <ballast/collector.h>

struct cluster;

/* Borrows the scenario, whose strings are part of inventories and snapshots: it must outlive them all. */
struct cluster *cluster_new(const struct scenario *s);
void cluster_free(struct cluster *c);

/* t_s: not before the last call's. */
void cluster_advance(struct cluster *c, double t_s);

/* ---- requests of a collector and an actuator (requests.c) ---------------------------------------
 *
 * Like the functions in ballast/collector.h and ballast/actuator.h; of a task the name is enough.
 * -ECONNREFUSED: a fault makes the cluster not answer.
 */

int cluster_collect(struct cluster *c, struct arena *a, struct inventory *ret, struct err *err);
int cluster_check(struct cluster *c, const struct operation *q, struct err *err);
int cluster_start(struct cluster *c, const struct operation *q, char ret_task[TASK_NAME_MAX],
                  struct err *err);
int cluster_poll(struct cluster *c, const char *task, struct task_progress *ret, struct err *err);
int cluster_cancel(struct cluster *c, const char *task, struct err *err);
int cluster_set_pools(struct cluster *c, const struct pool_settings *q, struct err *err);
int cluster_measure(struct cluster *c, const char *host, double *ret_w, struct err *err);

/* Executes the job with the matching function above. */
void cluster_run_job(struct cluster *c, const struct job *job, struct job_result *ret);

/* ---- the true state, which a collector cannot see ---- */

/* Since the beginning, or since cluster_reset_totals(). Integrals over time: MHz s and MiB s, J, s. */
struct host_totals {
    double capacity[RES_COUNT];         /* in any state: over all hosts the denominator of the payload */
    double available[RES_COUNT];        /* while it could run VMs */
    double delivered[RES_COUNT];        /* to its VMs */
    double energy_j, energy_idle_off_j; /* the second one counts a host without any demand as off (0 W) */
    double active_s;                    /* on, with demand for CPU */
    /* Of these: its VMs wanted more CPU than they got (SLATAH). SCHEDULER_PROPORTIONAL: a VM that is migrated
     * to it counts with all that it wants, and the tenth that it gets. */
    double overloaded_s;
    double on_s, booting_s;                   /* on_s: VMs can run there; a host in maintenance is not on */
    uint32_t power_offs, power_ons, failures; /* ended: asleep, usable again, failed to wake */
};

/* A host is hot while its VMs together want more than this part of its CPU or memory. */
#define CLUSTER_HOT 0.9

struct vm_totals {
    double to_run_s;          /* while it was to run */
    double wanted[RES_COUNT]; /* meanwhile, within its own limits: vm_now.due */
    double delivered[RES_COUNT];
    double lost_moving_mhz_s; /* missing because of the migration (PDM); SCHEDULER_PROPORTIONAL: missing
                                 during the migration, for any reason */
    double moved_mb;          /* that were copied for it, all rounds */
    double down_s;            /* of migrations, and after its host died */
    uint32_t migrations, migrations_failed;
};

struct vm_now {
    uint32_t host; /* IX_NONE: it does not run */
    bool migrating;
    double wants[RES_COUNT], gets[RES_COUNT];
    /* What it wants within its own limits; of the CPU what it can use with the memory that its limit leaves
     * it. What is missing is missing of this: an admin's limit is no shortfall. SCHEDULER_PROPORTIONAL knows
     * no limits. */
    double due[RES_COUNT];
};

struct host_now {
    enum host_state state;
    bool dead;
    bool powered; /* its chassis is on, in any state that the manager shows */
    double delivered[RES_COUNT], wanted[RES_COUNT]; /* wanted: vm_now.due of its VMs */
    double watts;
    uint32_t n_vms;
};

const struct host_totals *cluster_host_totals(const struct cluster *c, uint32_t host);
const struct vm_totals *cluster_vm_totals(const struct cluster *c, uint32_t vm);
const struct host_now *cluster_host(const struct cluster *c, uint32_t host);
const struct vm_now *cluster_vm(const struct cluster *c, uint32_t vm);
uint32_t cluster_migrations_running(const struct cluster *c);

/* Since the beginning or cluster_reset_totals(). Seconds in which any host was hot, and the lengths of the
 * sleeps that ended, in the order of their ends: from standby until the wake began, in seconds. A sleep
 * counts with its whole length; a host that was in standby at the beginning has none. */
double cluster_hot_s(const struct cluster *c);
const double *cluster_sleeps_s(const struct cluster *c, size_t *ret_n);
void cluster_reset_totals(struct cluster *c);

/* The true cluster (demand exact, no figure missing), as a snapshot: entitlements and imbalance are
 * computed from it, independently of a collector's figures. Indices are the scenario's. In the arena. */
void cluster_truth(const struct cluster *c, struct arena *a, struct snapshot *ret);

/* The next arrived VM that has to be placed: its index, in the order of arrival; IX_NONE: no more. Each is
 * returned once. */
uint32_t cluster_next_arrival(struct cluster *c);

/* ---- changes from outside, by a test or a demonstration (script.c) -------------------------------
 *
 * They take effect at once, at the time of the last cluster_advance(). VMs and hosts by index.
 */

/* Whether the VM has arrived and was not removed. */
bool cluster_has_vm(const struct cluster *c, uint32_t vm);

/* The owner of the scenario has changed the VM's workload, which takes effect now. */
void cluster_demand_changed(struct cluster *c, uint32_t vm);

/* Applies the fault as if the scenario's script had it now; at_s is ignored. A for_s of 0 ends the
 * deafness of a source or an actuator. Not SIM_SERVICE_RESTARTS. */
void cluster_strike(struct cluster *c, const struct scripted_fault *fault);

/* Switches the host's chassis without its manager, as by its controller or a magic packet. Off: the
 * manager loses the host, and its VMs stop. On: the host boots, and is back after the time of a wake, or
 * never if a wake is to fail. A chassis in that state already keeps it. */
void cluster_switch(struct cluster *c, uint32_t host, bool on);

/* Puts the VM on the host at once; IX_NONE: on none, until its host is switched on. */
void cluster_put_vm(struct cluster *c, uint32_t vm, uint32_t host);

/* Sets the serial in the next task's name, 1 to 2^31; the others follow. So the tasks of two processes
 * have different names. Before the first operation. */
void cluster_number_tasks_from(struct cluster *c, uint32_t serial);

#endif
