/* pretend_internal.h: the pretend cluster from within. Everything here is called with the lock held. */
#ifndef BALLAST_SIM_PRETEND_INTERNAL_H
#define BALLAST_SIM_PRETEND_INTERNAL_H

#include "sim/pretend/pretend.h"

#include <ballast/snapshot.h>

#include <pthread.h>

/* Finished tasks that are still known. */
#define TASKS_KEPT 256

struct task {
    char name[32];
    enum deed deed;
    uint32_t vm, to; /* of a VM */
    uint32_t from;   /* DEED_MIGRATE */
    uint32_t host;   /* the others */
    enum task_state state;
    enum pretend_fault fault;
    bool cancelled;
    double begun_s;    /* on the cluster's clock; running only */
    double duration_s; /* INFINITY: until something else happens */
    struct err why;    /* TASK_FAILED */
};

struct pretend {
    pthread_mutex_t lock;
    struct arena arena;
    struct snapshot snap;       /* the cluster as it is now; levels of demand in the VMs' demand */
    enum pretend_fault *faults; /* by VM */
    bool *removed;              /* by VM */
    bool *refuses_settings;     /* by host */
    size_t cap_settings;        /* of snap.settings */
    unsigned settings_applied;  /* calls that were obeyed */
    struct task *tasks;         /* oldest first */
    size_t n_tasks, cap_tasks;
    unsigned begun; /* migrations and starts of VMs so far */
    unsigned serial;
    unsigned
        instance; /* in the tasks' names, so that those of an earlier process are not mistaken for ours */
    bool deaf;
    double speed;
    uint64_t seed;
    double (*now_s)(void *clock);
    void *clock;
    instant_s epoch;
};

/* The built-in cluster, in the arena. */
void pretend_fill(struct inventory *inv, struct arena *a, const char *cluster);

/* Lets everything happen that has become due. */
void pretend_settle(struct pretend *p);

instant_s pretend_instant(const struct pretend *p);

/* What the cluster looks like now. */
void pretend_describe(const struct pretend *p, struct arena *a, struct inventory *ret);

/* As check() and start() of the actuator's contract. */
int pretend_check(const struct pretend *p, const struct deed_request *request, struct err *err);
int pretend_start(struct pretend *p, const struct deed_request *request, char ret_task[TASK_NAME_MAX],
                  struct err *err);
/* As apply_settings() of the contract: all of it or nothing. */
int pretend_apply_settings(struct pretend *p, const struct settings_request *request, struct err *err);
int pretend_cancel(struct pretend *p, const char *task, struct err *err);

/* NULL: not known. */
struct task *pretend_find_task(const struct pretend *p, const char *name);
int pretend_percent(const struct pretend *p, const struct task *t);

#endif
