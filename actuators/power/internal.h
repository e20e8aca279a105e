/* internal.h: what the files of this folder share. */
#ifndef BALLAST_ACTUATORS_POWER_INTERNAL_H
#define BALLAST_ACTUATORS_POWER_INTERNAL_H

#include "actuators/power/power.h"
#include "actuators/power/power_task.h"

/* ---- numbers of conduct ---- */

#define LOOK_AFTER_S 10 /* a controller is given this long to show what it was asked for */
#define OFF_FOR_S 45    /* a chassis that is still off so long after the call was not switched on */
#define SOFT_S 300      /* an operating system that has not gone down by then does not */
#define CUT_S 30        /* power that is still there so long after it was cut was not cut */
#define PROOF_HOLDS_S                                                                                        \
    30 /* power is cut so soon after it was said that the host is proven empty, or not now */
#define ASK_WITHIN_S 300 /* standby that could not be asked for within this is not asked for any more */
#define PATIENCE_S 1800  /* where the caller does not say how long it waits */
#define FURTHER_S 60     /* what a method that is not the last has, until it shows that nothing happens */
#define STILL_S 30 /* turns of a method are not so long: nobody was there to ask it, or none was to be */
#define WAKE_LATE_S 3600 /* a method that could not be asked to wake for so long is not asked any more */
#define ADOPT_FOR_S 20   /* the hypervisor, whose answer was lost, is asked once more within this */

struct actuator {
    const struct power_config *config;
    struct actuator *inner; /* NULL: the source has none */
};

/* One call of the actuator for a host with an entry. */
struct power_change {
    struct actuator *x;
    const struct power_host *host;
    const struct operation *q;
    int64_t asked_ms; /* when q->power.now was, by the configuration's clock */
    struct power_task c;
};

/* Called first. */
void power_change_begin(struct power_change *j);
/* For how long it is at it, and what the time is by the caller's clock: calls may take minutes. */
int64_t power_spent_ms(const struct power_change *j);
instant_s power_time_now(const struct power_change *j);

/* What a poll() comes to, beside the power_task that it has changed. */
struct outcome {
    enum task_state state;
    int percent;
    bool gone;        /* TASK_FAILED: only an inventory can tell */
    bool interrupted; /* the service goes down: nothing was learned, and the power_task stays as it was */
    struct err why;
};

/* What the methods that can tell say of the chassis; n_order: none says so. */
struct readings {
    unsigned on, off; /* place of the first that does */
    bool interrupted; /* the service goes down */
};

/* Whether the method at that place in the host's order can do all of this (POWER_CAN_*). */
bool method_can(const struct power_change *j, unsigned place, unsigned can);
/* The first from that place on; n_order: none. */
unsigned method_next(const struct power_change *j, unsigned from, unsigned can);
/* "ipmi" */
const char *method_word(const struct power_change *j, unsigned place);

/* Makes the method, asks it, and lets it go. */
int method_wake(const struct power_change *j, unsigned place, struct err *err);
int method_shut_down(const struct power_change *j, unsigned place, struct err *err);
int method_cut(const struct power_change *j, unsigned place, struct err *err);
/* Asks the methods that can tell, who told last first: one after the other until one answers, or all of them.
 * 0: one has; the error is that of the first. -ENOTSUP: none can. */
int methods_ask_chassis(struct power_change *j, bool all, struct readings *ret, struct err *err);
/* Both were said: puts it into *out, once in a task. */
bool power_controllers_disagree(struct power_change *j, const struct readings *r, struct outcome *out);
/* Whether a method that failed so may have passed on what it was asked for all the same. */
bool method_may_have_heard(int code);

/* The source's own operation: asked for, -> PHASE_INNER; followed. */
int power_inner_begin(struct power_change *j, struct err *err);
int power_inner_follow(struct power_change *j, struct task_progress *ret, struct err *err);

/* Seconds that are waited in all. */
instant_s power_time_limit_s(const struct power_change *j);

/* The two operations: at most one call of a method each time. */
void wake_step(struct power_change *j, struct outcome *out);
void standby_step(struct power_change *j, struct outcome *out);

/* Since when it is waited for the host to wake: the time does not count in which nobody could be asked. */
instant_s wake_since(const struct power_change *j);

#endif
