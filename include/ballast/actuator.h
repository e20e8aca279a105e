/* actuator.h: the contract of what changes a cluster.
 *
 * Calls block, on worker threads, for at most cfg->timeout_s each; one actuator object is used by one thread
 * at a time. An action is started once and then polled by the name of the hypervisor's own task, which the
 * caller stores before and after start(): after a restart the same task is adopted again and nothing is done
 * twice.
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

/* What the actuators can do. Migrations come out of plans; the others are asked for by an admin or by DPM. */
enum operation_kind {
    OPERATION_MIGRATE,
    OPERATION_ENTER_MAINTENANCE,
    OPERATION_EXIT_MAINTENANCE,
    OPERATION_STANDBY,
    OPERATION_WAKE,
    OPERATION_POWER_ON_VM, /* starts a VM that is off, or resumes a suspended one, at a host of the cluster */
};

/* What is said with an operation that changes a host's power: OPERATION_STANDBY, OPERATION_WAKE. */
struct power_request {
    instant_s now;        /* when it is asked for, by the caller's clock, which outlives a restart */
    instant_s patience_s; /* how long the caller waits in all; 0: not known */
    bool proven_empty;    /* OPERATION_STANDBY: inventories, twice and anew, show no VM on the host nor on its
                           * way    there, and it may still go down. false: that is not known now */
};

struct operation {
    enum operation_kind kind;
    const char *uid;     /* of the action; unique for ever */
    const char *vm, *to; /* OPERATION_MIGRATE, OPERATION_POWER_ON_VM: ids as the collector gave them */
    const char *from;    /* OPERATION_MIGRATE; a VM that does not run is started wherever it is registered */
    const char *host;    /* the others: its id */
    const char *host_name; /* the others: what the host is called; NULL: not known, or not its name alone */
    bool only_adopt;       /* start(): follow it if it runs, and begin nothing; poll(): nothing further */
    struct power_request power;
};

#define OPERATIONS_ALL ((1u << (OPERATION_POWER_ON_VM + 1)) - 1) /* actuator_ops.operations */

static inline bool operation_is_of_vm(enum operation_kind kind)
{
    return kind == OPERATION_MIGRATE || kind == OPERATION_POWER_ON_VM;
}

/* What a pool is to have on one host (§3.1.7). Absolute values, in whole MHz and MiB. */
struct pool_setting {
    const char *pool;              /* id as the collector gave it */
    struct alloc alloc[RES_COUNT]; /* expandable is not meant */
    bool nothing; /* the pool has no VM there any more: no reservation, no limit; the shares are
                   * of no matter, and may stay as they are */
};

/* What pools are to have on a host. It is no operation: nothing moves, and repeating it does no harm. */
struct pool_settings {
    const char *host;
    const struct pool_setting *settings; /* a pool comes before those below it; the others stay as they are */
    size_t n_settings;
};

/* Asks what a host draws. It is no operation either. */
struct measurement {
    const char *host, *host_name; /* as in struct operation */
};

enum job_kind { JOB_CHECK, JOB_START, JOB_POLL, JOB_CANCEL, JOB_SET_POOLS, JOB_MEASURE };

/* One call of an actuator. The engine submits it, a worker carries it out, and it comes back with its result.
 */
struct job {
    enum job_kind kind;
    uint64_t id; /* of the action; JOB_SET_POOLS, JOB_MEASURE: a number of the caller's */
    union {
        struct operation operation; /* JOB_CHECK, JOB_START, JOB_POLL, JOB_CANCEL */
        struct pool_settings pools; /* JOB_SET_POOLS */
        struct measurement measure; /* JOB_MEASURE */
    };
    const char *task; /* JOB_POLL, JOB_CANCEL: the hypervisor's own name of it */
};

enum task_state { TASK_QUEUED, TASK_RUNNING, TASK_SUCCEEDED, TASK_FAILED };

struct task_progress {
    enum task_state state;
    int percent;    /* 0 ... 100; -1 when not known */
    bool gone;      /* TASK_FAILED because the peer no longer knows the task: only an inventory can tell */
    struct err why; /* TASK_FAILED: the peer's own words, in a whole sentence; its code is -ESRCH where nobody
                     * was asked for anything. While it runs: something that has failed on the way, and was
                     * gone around; "" mostly */
    instant_s
        waits_since; /* OPERATION_WAKE, while it runs: since when, by request->power.now, the host has had
                      * time to come, where that is later than start(): nobody could be asked before. 0: no */
    char task[TASK_NAME_MAX]; /* it goes on under this name, which is stored at once and polled from now on;
                               * "" mostly: as before */
};

/* What came of a job. */
struct job_result {
    int code; /* what the actuator's function returned */
    struct err err;
    char task[TASK_NAME_MAX];      /* JOB_START that gave 0 */
    struct task_progress progress; /* JOB_POLL that gave 0 */
    double watts;                  /* JOB_MEASURE that gave 0 */
};

struct actuator_ops {
    const char *kind;
    unsigned operations;  /* 1u << OPERATION_* */
    bool power_may_block; /* standby and wake ask a controller of the host's own, which may be deaf: the
                           * caller has threads for these that nothing else waits for */

    int (*create)(const struct source_config *cfg, struct actuator **ret, struct err *err);

    /* Would the peer accept it now? Changes nothing. 0 yes; -ESTALE: the VM is no longer at request->from, or
     * has arrived at request->to already, or, when it is to be powered on, runs already, there or elsewhere;
     * -ENOENT: it is gone; other errors as in start(). */
    int (*check)(struct actuator *x, const struct operation *request, struct err *err);

    /* Asks the peer to begin. Safe to repeat for the same uid: if the peer runs a task for that VM or host to
     * that destination already, it is adopted instead of started a second time. -ESTALE as in check();
     * -ESRCH: nothing of it runs, and only_adopt. On -ETIMEDOUT or a lost connection it is not known whether
     * the peer began: call again. */
    int (*start)(struct actuator *x, const struct operation *request, char ret_task[TASK_NAME_MAX],
                 struct err *err);

    /* How far it is. An error means that nothing could be learned now, not that the task failed. */
    int (*poll)(struct actuator *x, const struct operation *request, const char *task,
                struct task_progress *ret, struct err *err);

    /* Asks the peer to stop it; the next poll() tells what came of it. -ENOTSUP where it cannot be stopped.
     */
    int (*cancel)(struct actuator *x, const struct operation *request, const char *task, struct err *err);

    /* Sets what pools have on a host; all of it, or as much as went well before an error: the caller repeats
     * the whole until it gives 0, and repeating does no harm. NULL: this hypervisor has no pools on its
     * hosts. -ENOTSUP: this host has none that could be set, and will not have any; -ENOENT: the host or a
     * pool is gone; -EHOSTDOWN: the host cannot be reached. */
    int (*apply_settings)(struct actuator *x, const struct pool_settings *request, struct err *err);

    /* What the host draws now, in watts. NULL: there are no meters; -ENOTSUP: not for this host, and there
     * will not be. */
    int (*measure)(struct actuator *x, const struct measurement *request, double *ret_w, struct err *err);

    void (*destroy)(struct actuator *x);
};

#endif
