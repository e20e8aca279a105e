/* cluster_internal.h: the inside of the simulated cluster.
 *
 * A value that is constant between two events (a VM's allocation, a host's draw, a copy rate) is kept as a
 * rate, and integrated when it changes: call totals_integrate_vm() and totals_integrate_host() before
 * changing a rate. Changes mark the objects concerned (cluster_mark_host(), c->links_changed,
 * c->slots_changed); cluster_recompute() computes them once, after all events of an instant.
 */
#ifndef BALLAST_SIM_CLUSTER_INTERNAL_H
#define BALLAST_SIM_CLUSTER_INTERNAL_H

#include "base/rng.h"
#include "core/divvy/divvy.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/events.h"

#define TASK_NONE 0 /* serials begin at 1 */
#define DAY_S 86400.0

/* The time to power on a VM on any host. */
#define POWER_ON_S 3.0

/* The part of a migration or start at which a faulty one fails or hangs. */
#define FAULT_AT 0.5

/* Kinds of events. Events of one instant come in this order, each kind by index. */
enum sim_event {
    SIM_EVENT_SCRIPTED_FAULT,  /* one: the next of the script */
    SIM_EVENT_SOURCE_DEAF,     /* one: by rate */
    SIM_EVENT_ACTUATOR_DEAF,   /* one: by rate */
    SIM_EVENT_HOST_DIES,       /* by host: by rate */
    SIM_EVENT_SAMPLES_STALE,   /* by VM: by rate */
    SIM_EVENT_SAMPLES_GARBAGE, /* by VM: by rate */
    SIM_EVENT_HOST,            /* by host: a change of its power or of maintenance ends */
    SIM_EVENT_MIGRATION,       /* by VM: the present copy round ends */
    SIM_EVENT_PRESENCE,        /* by VM: arrival or departure */
    SIM_EVENT_START,           /* by VM: a start ends; or a restart on another host is due */
    SIM_EVENT_DEMAND,          /* by VM: its demand changes */
    SIM_EVENT_KINDS,
};

/* ---- hosts ----------------------------------------------------------------------------------- */

/* Of a host's own pool tree: the root first, the children of a node side by side. */
struct node {
    uint32_t ix; /* of the VM, or of the part in host_sim.parts; IX_NONE: the root */
    uint32_t parent, first_child, n_children;
    bool is_vm;
    bool arriving; /* a VM that is migrated to this host: its memory is taken, it does not run here yet */
};

struct tree {
    struct node *nodes;
    struct divvy_child *child; /* by node: what it wants as limit */
    double *whole;             /* by node: what those below it want together, before its own limit */
    double *reserved;          /* by node: what those below it reserve together */
    double *got;               /* by node */
    uint32_t n, cap;
    bool built; /* VMs and pool settings are those of the last build */
};

/* A pool's settings on the host. */
struct pool_part {
    uint32_t pool;
    struct alloc alloc[RES_COUNT];
    bool implied; /* never set: derived from the VMs that are here */
};

struct index_list {
    uint32_t *items;
    uint32_t n;
    size_t cap;
};

struct host_sim {
    struct host_now now;
    struct host_totals totals;
    double settled_s;
    double idle_off_watts;     /* as now.watts; 0 without demand */
    bool active, overloaded;   /* as in host_totals */
    bool hot;                  /* its VMs want more than CLUSTER_HOT of its CPU or memory */
    double short_since_s;      /* a VM lacks memory; UNKNOWN: none does */
    double taken_mhz;          /* by migrations, now */
    double given_mhz;          /* to its VMs, slowdown not taken off, now */
    bool plenty;               /* every VM got all that it wants and may have, and no pool is limited */
    uint32_t small_changes;    /* since everything was computed anew */
    struct index_list vms;     /* that run here, ascending */
    struct index_list arrives; /* that are migrated to here, queued or not, or are being started here */
    uint32_t n_moves;          /* migrations in or out that are not queued */
    uint32_t n_in, n_out;      /* of these, that copy */
    struct pool_part *parts;   /* by pool */
    uint32_t n_parts;
    size_t cap_parts;
    struct tree tree;
    bool marked; /* to be recomputed */
    instant_s on_since, standby_since;
    double asleep_since_s;          /* NAN: not asleep, or since before the beginning */
    uint32_t task;                  /* serial of the host's task */
    double change_from_s, change_s; /* when that began, and how long it takes */
    bool wake_fails;
    bool plugged; /* dead, but only switched off: it draws standby power */
    bool
        was_serviced; /* it was in maintenance when it died or went to standby, and will be when it is back */
    uint32_t wakes;   /* that were asked for, for the draws of faults */
    bool refuses_settings;
    double refuses_until_s; /* migrations to it */
};

/* ---- VMs ------------------------------------------------------------------------------------- */

enum moving_stage {
    MOVING_NOT,
    MOVING_QUEUED,
    MOVING_COPIES,
    MOVING_STOPPED, /* the VM is paused and the rest is copied */
    MOVING_HANGS,
};

/* A migration. */
struct moving {
    enum moving_stage stage;
    uint32_t from, to;
    uint32_t task;
    uint32_t round;
    double begun_s;
    double total_mb, moved_mb; /* of the VM's memory; of all rounds so far */
    double left_mb;            /* of this round */
    double again_mb;           /* written to meanwhile */
    double rate_mb_s, dirty_mb_s;
    enum sim_fault fault; /* SIM_MIGRATION_FAILS or _HANGS half way; sim_fault_count: neither */
};

/* A hypervisor's counters, since since_s. */
struct counters {
    double since_s;
    double used_mhz_s, run_s, ready_s, active_mb_s;
};

struct vm_sim {
    struct vm_now now;
    struct vm_totals totals;
    double settled_s;
    bool present; /* it has arrived, and has not left */
    bool to_run;  /* it is meant to run */
    bool down;    /* because its host died */
    enum vm_state state;
    uint32_t home;             /* where it runs, or is registered; IX_NONE */
    double until_s[RES_COUNT]; /* its demand stays */
    double working_mb, consumed_mb;
    double used_mhz;   /* of its host, now; what it gets is less while it is migrated */
    double asked_mhz;  /* what was due to it when its host was computed last */
    double ready;      /* vCPUs that wait, now */
    double lost_mhz;   /* to its migration, now */
    uint32_t starting; /* host that it is being started at; IX_NONE */
    uint32_t start_task;
    enum sim_fault start_fault; /* as moving.fault */
    enum sim_fault forced;      /* of a test; sim_fault_count: none */
    struct vm_control set;      /* SCHEDULER_WEIGHTS: what was set */
    struct moving moving;
    uint32_t attempts; /* migrations that were asked for */
    instant_s last_migrated;
    struct counters counters;
    struct vm_sample sample; /* the last one that was told */
    double stale_until_s, garbage_until_s;
};

/* ---- tasks ----------------------------------------------------------------------------------- */

struct task {
    uint32_t serial; /* TASK_NONE: the entry is free */
    enum operation_kind kind;
    uint32_t vm, to, from, host; /* as the operation has them; else IX_NONE */
    bool off;                    /* likewise */
    enum task_state state;
    int code; /* TASK_FAILED */
    const char *why;
};

/* ---- the cluster ----------------------------------------------------------------------------- */

/* A fault of the script that has become due and waits for its migration or wake-up. */
struct armed_fault {
    enum sim_fault kind;
    uint32_t host, vm;
    double factor;
};

struct cluster {
    const struct scenario *s;
    const struct snapshot *initial; /* s->initial */
    struct arena arena;
    struct arena scratch;
    double now_s;
    struct host_sim *hosts;
    struct vm_sim *vms;
    double *core_mhz;         /* by host */
    struct index_list moving; /* VMs whose migration copies, ascending */
    struct index_list queued; /* VMs whose migration is queued, in the order in which they were asked for */
    struct index_list marked; /* hosts */
    struct index_list *below; /* VMs with this pool or one below it as theirs */
    bool links_changed, slots_changed;
    uint32_t n_hot;           /* hosts */
    double hot_s, hot_from_s; /* while n_hot was above 0, until hot_from_s */
    double *sleeps_s;
    size_t n_sleeps, cap_sleeps;
    struct events events;
    uint32_t first_slot[SIM_EVENT_KINDS];
    struct task *tasks; /* a ring: by serial */
    uint32_t n_tasks, last_serial;
    uint32_t vm_operations; /* that were begun */
    uint32_t *arrivals;     /* VMs in the order in which they arrived */
    uint32_t n_arrivals, n_told;
    double deaf_until_s[2]; /* source, actuator */
    uint32_t next_fault;    /* of the script */
    struct armed_fault *armed;
    uint32_t n_armed;
    uint32_t starts;                  /* so far */
    struct rng *rng[sim_fault_count]; /* by kind, then index: each thing has a stream of its own */
};

/* The slot of an event. */
static inline uint32_t event_slot(const struct cluster *c, enum sim_event kind, uint32_t index)
{
    return c->first_slot[kind] + index;
}

static inline const struct host *host_of(const struct cluster *c, uint32_t host)
{
    return &c->initial->hosts[host];
}

static inline const struct vm *vm_of(const struct cluster *c, uint32_t vm)
{
    return &c->initial->vms[vm];
}

/* Whether VMs run there now. */
static inline bool is_up(const struct host_sim *h)
{
    return !h->now.dead && (h->now.state == HOST_ON || h->now.state == HOST_ENTERING_MAINTENANCE ||
                            h->now.state == HOST_ENTERING_STANDBY);
}

static inline bool is_moving(const struct vm_sim *v)
{
    return v->moving.stage >= MOVING_COPIES;
}

static inline instant_s instant(const struct cluster *c)
{
    return c->s->start + (instant_s)c->now_s;
}

/* cluster.c */
void cluster_mark_host(struct cluster *c, uint32_t host);
void cluster_recompute(struct cluster *c);
void cluster_list_insert(struct index_list *l, uint32_t item); /* keeps it ascending */
void cluster_list_append(struct index_list *l, uint32_t item);
bool cluster_list_remove(struct index_list *l, uint32_t item); /* false: it was not there */

/* totals.c */
void totals_integrate_vm(struct cluster *c, uint32_t vm);
void totals_integrate_host(struct cluster *c, uint32_t host);
void totals_set_hot(struct cluster *c, uint32_t host, bool hot);
void totals_end_sleep(struct cluster *c, uint32_t host); /* if the host sleeps, and since when is known */

/* vm_lifecycle.c: VMs arrive, start, run on a host, leave */
void cluster_place_vm(struct cluster *c, uint32_t vm, uint32_t host); /* it runs on the host from now on */
void cluster_displace_vm(struct cluster *c, uint32_t vm);             /* it runs on no host; its home stays */
void cluster_expect_vm(struct cluster *c, uint32_t vm, uint32_t host);
void cluster_unexpect_vm(struct cluster *c, uint32_t vm, uint32_t host);
/* Whether the VM's reservations fit beside those of the host's other VMs. */
bool cluster_vm_fits(const struct cluster *c, uint32_t vm, uint32_t host);
bool cluster_vm_is_compatible(const struct cluster *c, uint32_t vm, uint32_t host);
void cluster_vm_demand_begin(struct cluster *c, uint32_t vm);
void cluster_on_demand(struct cluster *c, uint32_t vm);
void cluster_vm_leave(struct cluster *c, uint32_t vm);
void cluster_on_presence(struct cluster *c, uint32_t vm);
void cluster_vm_start_begin(struct cluster *c, uint32_t vm, uint32_t host, uint32_t task);
void cluster_vm_start_fail(struct cluster *c, uint32_t vm, int code, const char *why);
void cluster_on_start(struct cluster *c, uint32_t vm);
uint32_t cluster_guests(const struct cluster *c, uint32_t host); /* VMs that run there, but its agents */
void cluster_agents_stop(struct cluster *c, uint32_t host);
void cluster_agents_start(struct cluster *c, uint32_t host);

/* per_host_pools.c: the pools' settings on hosts */
void per_host_pools_init(struct cluster *c);
/* Gives every pool with a VM on the host its settings, and updates those that were never set. */
void per_host_pools_update(struct cluster *c, uint32_t host);
int per_host_pools_apply(struct cluster *c, const struct pool_settings *request, struct err *err);

/* vm_weights.c */
struct alloc vm_weights_alloc(const struct cluster *c, uint32_t vm, enum resource r); /* in force */
int vm_weights_apply(struct cluster *c, uint32_t host, const struct pool_settings *request, struct err *err);

/* schedule.c */
void schedule_host(struct cluster *c, uint32_t host);
/* After totals_integrate_vm(), when only the VM's CPU demand has changed: true if its allocation could
 * follow without changing another VM's. false: the host must be recomputed. */
bool schedule_vm(struct cluster *c, uint32_t vm);
/* What is due to the VM: vm_now.due, from what it wants. */
void schedule_vm_due(struct cluster *c, uint32_t vm);
/* The most CPU that the VM can use: a core for each vCPU. */
double schedule_vm_most_mhz(const struct cluster *c, uint32_t vm, uint32_t host);

/* power.c */
double power_host_watts(const struct cluster *c, uint32_t host, double used_mhz);
int power_meter_read(const struct cluster *c, const char *host, double *ret_w, struct err *err);
void power_standby_begin(struct cluster *c, uint32_t host, uint32_t task);
void power_wake_begin(struct cluster *c, uint32_t host, uint32_t task);
void power_maintenance_enter(struct cluster *c, uint32_t host, uint32_t task);
void power_maintenance_exit(struct cluster *c, uint32_t host, uint32_t task);
void power_maintenance_cancel(struct cluster *c, uint32_t host);
void power_maintenance_check(struct cluster *c, uint32_t host); /* whether the host is empty by now */
void cluster_on_host(struct cluster *c, uint32_t host);
/* A host that is dead and only switched off: switches it on, and it boots. */
void power_boot_begin(struct cluster *c, uint32_t host);
/* Brings a dead host back: on, or in maintenance as before. */
void power_come_back(struct cluster *c, uint32_t host);

/* migrate.c */
uint32_t migrate_slots_of(const struct cluster *c, uint32_t host);
void migrate_request(struct cluster *c, uint32_t vm, uint32_t to, uint32_t task, enum sim_fault fault);
void migrate_fail(struct cluster *c, uint32_t vm, int code, const char *why);
void migrate_begin_queued(struct cluster *c); /* the queued ones that have slots by now */
void migrate_share_links(struct cluster *c);  /* how fast each migration copies */
void migrate_integrate(struct cluster *c, uint32_t vm, double dt_s);
void cluster_on_migration(struct cluster *c, uint32_t vm);
void migrate_tell(const struct cluster *c, uint32_t vm, struct task_progress *ret); /* while it runs */

/* tasks.c */
void tasks_init(struct cluster *c);
void task_succeed(struct cluster *c, uint32_t serial);
void task_fail(struct cluster *c, uint32_t serial, int code, const char *why);
void task_run(struct cluster *c, uint32_t serial);
struct task *task_find(const struct cluster *c, const char *name);
void task_tell(const struct cluster *c, const struct task *t, struct task_progress *ret);
int task_check_operation(struct cluster *c, const struct operation *q, struct err *err);
int task_start_operation(struct cluster *c, const struct operation *q, char ret_task[TASK_NAME_MAX],
                         struct err *err);
int task_cancel_operation(struct cluster *c, const char *task, struct err *err);

/* faults.c */
void faults_init(struct cluster *c);
void cluster_on_fault(struct cluster *c, enum sim_event kind, uint32_t index);
void cluster_on_host_back(struct cluster *c, uint32_t host);
void fault_host_dies(struct cluster *c, uint32_t host, double for_s);
void fault_vm_goes_down(struct cluster *c, uint32_t vm); /* with its host, which it has left */
void fault_restart_try(struct cluster *c, uint32_t vm);
bool fault_refuses_migration(struct cluster *c, uint32_t vm);
bool fault_refuses_start(const struct cluster *c, uint32_t vm);
enum sim_fault fault_of_migration(struct cluster *c, uint32_t vm);

/* Whether migrations of this VM to this host fail now, at their end. */
bool fault_host_refuses(const struct cluster *c, uint32_t vm, uint32_t host);
/* Called once for each wake-up. ret_factor: by how much it takes longer. */
bool fault_fails_wake(struct cluster *c, uint32_t host, double *ret_factor);
bool fault_loses_answer(struct cluster *c, uint32_t host, uint32_t vm); /* of a start for either */

/* describe.c */
void describe_cluster(struct cluster *c, struct arena *a, struct inventory *ret);
double describe_active_mb(const struct cluster *c, uint32_t vm);
void describe_counters_reset(struct cluster *c, uint32_t vm);
struct vm_sample fault_garbage_sample(const struct cluster *c, uint32_t vm, struct vm_sample good);

#endif
