/* actuator.h: the contract of a plug-in that acts on a cluster.
 *
 * Calls block, on worker threads, for at most cfg->timeout_s each; one actuator object is used by one
 * thread at a time. An operation is started once and then polled by the name of the hypervisor's own task.
 * The caller stores that name: after a restart it adopts the same task, and no operation is started twice.
 */
#ifndef BALLAST_ACTUATOR_H
#define BALLAST_ACTUATOR_H

#include <ballast/err.h>
#include <ballast/facts.h>
#include <ballast/names.h>
#include <ballast/source.h>

#include <stdbool.h>
#include <stddef.h>

#define TASK_NAME_MAX 256

struct actuator; /* each plugin defines its own */

/* The operations of actuators. Migrations come from plans; an admin or DPM requests the others. */
enum operation_kind {
    OPERATION_MIGRATE,
    OPERATION_ENTER_MAINTENANCE,
    OPERATION_EXIT_MAINTENANCE,
    OPERATION_STANDBY,
    OPERATION_WAKE,
    OPERATION_POWER_ON_VM, /* starts a VM that is off, or resumes a suspended one, at a host of the cluster */
};

/* What tells the machine of a host from all others. A controller is reached by an address, which may be that
 * of another machine's controller; so its own identity is compared before it is asked to end a workload. */
struct machine_identity {
    const char *hardware_uuid; /* as the hypervisor reports it; NULL: it reports none, a placeholder, or one
                                  that another host has, too */
    const char *confirmed;     /* identity_report.is of the controllers that a person has confirmed; NULL */
};

/* Additional fields of a request that changes a host's power: OPERATION_STANDBY, OPERATION_WAKE. */
struct power_request {
    instant_s now;        /* time of the request, on the caller's clock, which outlives a restart */
    instant_s patience_s; /* the caller's time limit for the whole operation; 0: not known */
    bool proven_empty;    /* OPERATION_STANDBY: two recent inventories show no VM on the host nor on its way
                             there, and the host may still go down. false: not known now */
    bool ahead; /* check() of OPERATION_STANDBY: the host still has its VMs; only its controllers are checked
                 */
    bool by_controller; /* check() of OPERATION_STANDBY: the host's own controller shuts it down, and wakes it
                           again. Only what holds for that, too, counts: votes, storage, guests; not whether
                           the peer itself could */
    bool maintenance_is_ours; /* OPERATION_STANDBY: the caller has stored that a maintenance mode of the host
                                 is this operation's, and will end it */
    struct machine_identity machine; /* OPERATION_STANDBY */
    unsigned method; /* OPERATION_WAKE: WAKE_*, the method to be tested: it is tried first, the others only if
                        it fails; the same in all calls of the operation. 0: none */
};

struct operation {
    enum operation_kind kind;
    const char *uid;      /* of the action; unique for ever */
    const char *vm, *to;  /* OPERATION_MIGRATE, OPERATION_POWER_ON_VM: ids as the collector gave them */
    const char *from;     /* OPERATION_MIGRATE; a VM that does not run is started wherever it is registered */
    const char *identity; /* of the VM that is meant (vm_facts.identity): -ESTALE if the peer has another one
                             by this id. NULL: not known */
    bool off;             /* OPERATION_MIGRATE: the VM is off, and is only to be registered at `to` */
    const char *host;     /* the others: its id */
    const char *host_name; /* the others: the host's name; NULL: not known, or not unique */
    bool only_adopt;       /* start(): adopt a running task, begin none; poll(): no further step */
    struct power_request power;
};

/* The maintenance mode of a host that is put to standby, which a running task reports: the hypervisor is told
 * before anything else switches the host off. */
enum maintenance_news {
    MAINTENANCE_NO_NEWS,
    MAINTENANCE_BEGINS,   /* the next poll() asks for it, if power_request.maintenance_is_ours */
    MAINTENANCE_NOT_OURS, /* TASK_FAILED: the task has begun none; where the host is in it, others have */
};

/* No operation, but a bit of actuator_ops.operations: OPERATION_MIGRATE knows operation.off. */
#define OPERATION_MIGRATE_OFF (OPERATION_POWER_ON_VM + 1)
/* Likewise: check() of a standby by a controller, where the peer itself may have no standby. */
#define OPERATION_STANDBY_CHECK (OPERATION_MIGRATE_OFF + 1)
#define OPERATIONS_ALL ((1u << (OPERATION_STANDBY_CHECK + 1)) - 1) /* actuator_ops.operations */

static inline bool operation_is_of_vm(enum operation_kind kind)
{
    return kind == OPERATION_MIGRATE || kind == OPERATION_POWER_ON_VM;
}

/* The settings of a pool on one host (§3.1.7). Absolute values, in whole MHz and MiB. */
struct pool_setting {
    const char *pool;              /* id as the collector gave it */
    struct alloc alloc[RES_COUNT]; /* expandable is ignored */
    bool nothing; /* the pool has no VM there: no reservation, no limit; the shares may stay */
};

/* The controls of a VM's CPU, where hosts have no pools. The actuator keeps the VM's own ones before it
 * changes any, in a place that goes with the VM, so that it can give them back. */
struct vm_setting {
    const char *vm;       /* id as the collector gave it */
    struct vm_control to; /* given false: back to those of its admin */
    double limit_cpus;    /* to.limit in CPUs of the host; NO_LIMIT */
};

/* The settings of pools on a host, or of VMs on a host without pools. Applying them moves no VM, and
 * repeating it does no harm. */
struct pool_settings {
    const char *host;
    const struct pool_setting *settings; /* parents before children; other pools keep theirs */
    size_t n_settings;
    const struct vm_setting *vms; /* other VMs keep theirs */
    size_t n_vms;
};

/* The request of a host's power reading. */
struct measurement {
    const char *host, *host_name; /* as in struct operation */
    bool on;                      /* the host is on: a reading of 0 W is none */
};

/* The request of the identity of a host's controllers. */
struct identification {
    const char *host, *host_name; /* as in struct operation */
    struct machine_identity machine;
};

enum identity_verdict {
    IDENTITY_MATCHES,   /* each controller that answered reports the host's hardware UUID */
    IDENTITY_CONFIRMED, /* a person has confirmed what they report */
    IDENTITY_UNKNOWN,   /* nothing can be compared: one side reports no UUID of the machine alone */
    IDENTITY_DIFFERS,   /* a controller reports another machine's UUID */
};

#define IDENTITY_TEXT_MAX 512

struct identity_report {
    enum identity_verdict verdict; /* the worst of them */
    char is[IDENTITY_TEXT_MAX];    /* what distinguishes each controller: "ipmi UUID MARK at ADDRESS; redfish
                                      ..." */
    struct err why; /* IDENTITY_UNKNOWN, IDENTITY_DIFFERS: one sentence; IDENTITY_MATCHES, IDENTITY_CONFIRMED:
                       why another controller of the host could not be asked, or "" */
};

enum job_kind { JOB_CHECK, JOB_START, JOB_POLL, JOB_CANCEL, JOB_SET_POOLS, JOB_MEASURE, JOB_IDENTIFY };

/* One call of an actuator. The engine submits it, a worker executes it, and its result returns to the
 * engine.
 */
struct job {
    enum job_kind kind;
    uint64_t
        id; /* of the action; JOB_SET_POOLS, JOB_MEASURE, JOB_IDENTIFY: a number that the caller chooses */
    union {
        struct operation operation;     /* JOB_CHECK, JOB_START, JOB_POLL, JOB_CANCEL */
        struct pool_settings pools;     /* JOB_SET_POOLS */
        struct measurement measure;     /* JOB_MEASURE */
        struct identification identify; /* JOB_IDENTIFY */
    };
    const char *task; /* JOB_POLL, JOB_CANCEL: the hypervisor's name of the task */
};

enum task_state { TASK_QUEUED, TASK_RUNNING, TASK_SUCCEEDED, TASK_FAILED };

struct task_progress {
    enum task_state state;
    int percent;    /* 0 ... 100; -1 when not known */
    bool gone;      /* TASK_FAILED because the peer no longer knows the task: only an inventory can tell */
    struct err why; /* TASK_FAILED: the peer's own words, in a whole sentence; code -ESRCH where no peer was
                       asked. While the task runs: a fault on the way that was worked around; mostly "" */
    bool refused;   /* TASK_FAILED of OPERATION_STANDBY: no method accepted the request, or may have */
    instant_s waits_since; /* OPERATION_WAKE, while it runs: since when, by request->power.now, the host has
                              had time to boot, if later than start() because no method could be called
                              before. 0: since start() */
    unsigned method; /* OPERATION_WAKE, while it runs: WAKE_*, the method that is being tried now; 0: not
                        known */
    unsigned may_have_woken; /* OPERATION_WAKE: WAKE_*, the methods so far whose call was accepted or left
                                unanswered. A single one, while no other is being called: it woke the host */
    unsigned failed;         /* OPERATION_WAKE: WAKE_*, the method that `why` is about; 0: none */
    enum maintenance_news maintenance; /* OPERATION_STANDBY */
    /* OPERATION_MIGRATE, while it copies; 0: not known. */
    double copied_mb;             /* sent so far, in all rounds */
    double left_mb;               /* that the present round has still to copy */
    double rate_mb_s, dirty_mb_s; /* of copying; that the VM writes. Where the second is known only if it is
                                     the greater one, 0 means that it is not */
    unsigned round;  /* of copying, from 1; a peer that counts none: each time all memory is sent */
    unsigned slowed; /* percent of its CPU time that the peer keeps from the VM, so that it ends */
    bool may_slow;   /* the peer will do that, and does not yet */
    double took_s;   /* TASK_SUCCEEDED of OPERATION_MIGRATE, by the hypervisor's own clock: of copying; 0: not
                        known */
    double downtime_s;        /* ... that the VM stood still; 0: not known */
    char task[TASK_NAME_MAX]; /* the task's new name, to be stored at once and polled from now on; mostly "":
                                 unchanged */
};

/* The result of a job. */
struct job_result {
    int code; /* the return value of the actuator's function */
    struct err err;
    char task[TASK_NAME_MAX];        /* JOB_START that gave 0 */
    struct task_progress progress;   /* JOB_POLL that gave 0 */
    double watts;                    /* JOB_MEASURE that gave 0 */
    struct identity_report identity; /* JOB_IDENTIFY that gave 0 */
};

struct actuator_ops {
    const char *kind;
    unsigned operations;  /* 1u << OPERATION_* */
    bool power_may_block; /* standby and wake call a host's own controller, which may not answer: the caller
                             uses separate threads for them */

    int (*create)(const struct source_config *cfg, struct actuator **ret, struct err *err);

    /* Checks whether the peer would accept the operation now; changes nothing. 0: yes; -ESTALE: the VM has
     * left request->from, or is at request->to already, or, when it is to be powered on, runs already;
     * -ENOENT: it is gone; other errors as in start(). */
    int (*check)(struct actuator *x, const struct operation *request, struct err *err);

    /* Begins the operation. Safe to repeat for the same uid: a task that runs already for that VM or host
     * with that destination is adopted, and no second one is started. -ESTALE as in check(); -ESRCH:
     * only_adopt, and no task runs. After -ETIMEDOUT or a lost connection it is unknown whether the peer
     * has begun: call again. */
    int (*start)(struct actuator *x, const struct operation *request, char ret_task[TASK_NAME_MAX],
                 struct err *err);

    /* Reads the task's progress. An error means that the progress is unknown now, not that the task
     * failed. */
    int (*poll)(struct actuator *x, const struct operation *request, const char *task,
                struct task_progress *ret, struct err *err);

    /* Cancels the task; the next poll() returns the result. -ENOTSUP where it cannot be cancelled. */
    int (*cancel)(struct actuator *x, const struct operation *request, const char *task, struct err *err);

    /* Applies the settings of pools or VMs on a host: all, or as many as succeed before an error. The caller
     * repeats all of them until it gets 0; repeating does no harm. VMs that have left the host, or are being
     * migrated, are passed over: the next plan finds them. NULL: this hypervisor has neither on its hosts.
     * -ENOTSUP: this host has none to set, and will not have any; -ENOENT: the host or a pool is gone;
     * -EHOSTDOWN: the host cannot be reached. */
    int (*apply_settings)(struct actuator *x, const struct pool_settings *request, struct err *err);

    /* Reads the host's current draw in watts. NULL: no meters; -ENOTSUP: this host has none now: it is asked
     * rarely. */
    int (*measure)(struct actuator *x, const struct measurement *request, double *ret_w, struct err *err);

    /* Asks the host's controllers which machine they belong to. NULL: the source's own manager switches the
     * hosts, and knows them. -ENOTSUP: this host has no controller that could tell; other errors: none of
     * them answered. */
    int (*identify)(struct actuator *x, const struct identification *request, struct identity_report *ret,
                    struct err *err);

    void (*destroy)(struct actuator *x);
};

#endif
