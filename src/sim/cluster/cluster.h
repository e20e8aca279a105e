/* cluster.h: the world of a simulation: hosts that run VMs, as far as a balancer can tell.
 *
 * Event-driven and deterministic. It has no clock: cluster_advance() lets everything happen that is due until
 * a time, in the order in which it is due, ties by kind and index. What VMs get is computed whenever demand,
 * settings, a migration or a host changes: the host's CPU and memory are divided by its own pool tree
 * (reservation, limit, shares; §5.1.1) after what migrations take. Between two changes everything is constant
 * but what is copied, so integrals are exact.
 *
 * A live cluster in front of it, with the clock of the machine, is sim/fake_cluster. Not thread-safe: a
 * simulation has one thread.
 */
#ifndef BALLAST_SIM_CLUSTER_H
#define BALLAST_SIM_CLUSTER_H

#include "sim/scenario/scenario.h"

#include <ballast/actuator.h>
#include <ballast/collector.h>

struct cluster;

/* Borrows the scenario, whose strings stand in inventories and truths, too: it must outlive them all. */
struct cluster *cluster_new(const struct scenario *s);
void cluster_free(struct cluster *c);

/* When something happens by itself next; INFINITY: never. */
double cluster_next_s(const struct cluster *c);
/* t_s: not before the last one. */
void cluster_advance(struct cluster *c, double t_s);

/* ---- what a collector and an actuator ask of it (requests.c) ----------------------------------
 *
 * As the functions of the same purpose in ballast/collector.h and ballast/actuator.h; of each task the name
 * is enough. -ECONNREFUSED: it is deaf. */

int cluster_collect(struct cluster *c, struct arena *a, struct inventory *ret, struct err *err);
int cluster_check(struct cluster *c, const struct operation *q, struct err *err);
int cluster_start(struct cluster *c, const struct operation *q, char ret_task[TASK_NAME_MAX],
                  struct err *err);
int cluster_poll(struct cluster *c, const char *task, struct task_progress *ret, struct err *err);
int cluster_cancel(struct cluster *c, const char *task, struct err *err);
int cluster_set_pools(struct cluster *c, const struct pool_settings *q, struct err *err);
int cluster_measure(struct cluster *c, const char *host, double *ret_w, struct err *err);

/* Whichever of these the job is for. */
void cluster_run_job(struct cluster *c, const struct job *job, struct job_result *ret);

/* ---- what the simulation may see, and a collector may not ---- */

/* Since the beginning, or since cluster_reset_totals(). Integrals over time: MHz s and MiB s, J, s. */
struct host_totals {
    double capacity[RES_COUNT];  /* whatever its state: of all hosts together the payload's denominator */
    double available[RES_COUNT]; /* while it could run VMs */
    double delivered[RES_COUNT]; /* to its VMs */
    double energy_j, energy_idle_off_j; /* the second one counts a host without any demand as off (0 W) */
    double active_s;                    /* on, with demand for CPU */
    /* Of these: its VMs wanted more CPU than they got (SLATAH). SCHEDULER_PROPORTIONAL: a VM that is migrated
     * to it counts with all that it wants, and the tenth that it gets. */
    double overloaded_s;
    double on_s, booting_s;                   /* on_s: VMs can run there; a host in maintenance is not on */
    uint32_t power_offs, power_ons, failures; /* ended: asleep, usable again, failed to wake */
};

struct vm_totals {
    double wanted[RES_COUNT]; /* while it was to run */
    double delivered[RES_COUNT];
    double lost_moving_mhz_s; /* wanted and not got because it was being migrated (PDM);
                               * SCHEDULER_PROPORTIONAL: and not got meanwhile, for whatever reason */
    double moved_mb;          /* that were copied for it, all rounds */
    double down_s;            /* of migrations, and after its host died */
    uint32_t migrations, migrations_failed;
};

struct vm_now {
    uint32_t host; /* IX_NONE: it does not run */
    bool migrating;
    double wants[RES_COUNT], gets[RES_COUNT];
};

struct host_now {
    enum host_state state;
    bool dead;
    bool powered; /* its chassis is on, whatever the manager sees of it */
    double delivered[RES_COUNT], wanted[RES_COUNT];
    double watts;
    uint32_t n_vms;
};

const struct host_totals *cluster_host_totals(const struct cluster *c, uint32_t host);
const struct vm_totals *cluster_vm_totals(const struct cluster *c, uint32_t vm);
const struct host_now *cluster_host(const struct cluster *c, uint32_t host);
const struct vm_now *cluster_vm(const struct cluster *c, uint32_t vm);
uint32_t cluster_migrations_running(const struct cluster *c);
void cluster_reset_totals(struct cluster *c);

/* The cluster as it truly is (demand exact, no figure missing), frozen: what entitlements and imbalance are
 * computed from, whatever a collector is told. Indices are the scenario's. In the arena. */
void cluster_truth(const struct cluster *c, struct arena *a, struct snapshot *ret);

/* A VM that has arrived, and is to be placed: its index, in the order of arrival; IX_NONE: no more. Each is
 * told once. */
uint32_t cluster_next_arrival(struct cluster *c);

/* ---- what is done to it from outside, by whoever plays with it: a test, a demonstration (script.c) --------
 *
 * It happens at once, at the time to which the cluster has been advanced. VMs and hosts by index. */

/* Not removed, and arrived. */
bool cluster_has_vm(const struct cluster *c, uint32_t vm);

/* It is gone, as one that leaves: what was under way for it fails. It does not come back. */
void cluster_remove_vm(struct cluster *c, uint32_t vm);

/* Whoever owns the scenario has put another workload in place of the VM's, and it wants that from now on. */
void cluster_demand_changed(struct cluster *c, uint32_t vm);

/* What becomes of every migration and every start of the VM that is asked for from now on:
 * SIM_MIGRATION_REFUSED, SIM_MIGRATION_FAILS or SIM_MIGRATION_HANGS; sim_fault_count: what the scenario says,
 * again. */
void cluster_set_fault(struct cluster *c, uint32_t vm, enum sim_fault fault);

/* As if the scenario's script had it now; at_s does not count. A source or an actuator that is deaf hears
 * again after a for_s of 0. Not SIM_SERVICE_RESTARTS. */
void cluster_strike(struct cluster *c, const struct scripted_fault *fault);

/* Somebody switches the host's chassis, past its manager: its controller, or a packet that wakes it. Off: the
 * manager loses it, and whatever runs there stops with it. On: it boots, and comes back in as much time as a
 * wake-up takes, or never, if a wake-up is to fail. One that is so already stays so. */
void cluster_switch(struct cluster *c, uint32_t host, bool on);

/* The VM runs there, all at once, as if it always had; IX_NONE: nowhere, until its host is switched on. */
void cluster_put_vm(struct cluster *c, uint32_t vm, uint32_t host);

/* Whether the host refuses settings of pools from now on (-EPERM). */
void cluster_refuse_settings(struct cluster *c, uint32_t host, bool refuses);

/* The next task has this serial in its name, 1 to 2^31, the others follow: so that the tasks of two processes
 * have different names. Before the first operation. */
void cluster_number_tasks_from(struct cluster *c, uint32_t serial);

/* How many migrations and starts of VMs have begun, adopted ones not counted again. */
uint32_t cluster_vm_operations(const struct cluster *c);

/* Whether something contradicts what a cluster can be: a VM on two hosts or on a sleeping one, memory that
 * does not exist, a host that gave more than it has. NULL: nothing; else a sentence in the arena. For tests.
 */
const char *cluster_contradiction(const struct cluster *c, struct arena *a);

#endif
