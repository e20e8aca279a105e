/* internal.h: what the files of this folder share. */
#ifndef BALLAST_ACTUATORS_POWER_INTERNAL_H
#define BALLAST_ACTUATORS_POWER_INTERNAL_H

#include "actuators/power/course.h"
#include "actuators/power/power.h"

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
    const struct power_setup *setup;
    struct actuator *inner; /* NULL: the source has none */
    char *id, *name;        /* of the last call_host() */
};

/* One call of the actuator for a host with an entry. */
struct job {
    struct actuator *x;
    const struct power_host *host;
    const struct operation *q;
    int64_t asked_ms; /* when q->now was, by the setup's clock */
    struct course c;
};

/* Called first. */
void job_begins(struct job *j);
/* For how long it is at it, and what the time is by the caller's clock: calls may take minutes. */
int64_t spent_ms(const struct job *j);
instant_s time_of(const struct job *j);

/* What a poll() comes to, beside the course that it has changed. */
struct outcome {
    enum task_state state;
    int percent;
    bool gone;        /* TASK_FAILED: only an inventory can tell */
    bool interrupted; /* the service goes down: nothing was learned, and the course stays as it was */
    struct err why;
};

/* What the methods that can tell say of the chassis; n_order: none says so. */
struct readings {
    unsigned on, off; /* place of the first that does */
    bool interrupted; /* the service goes down */
};

/* The host's entry, or NULL; by its id, else by its name. */
const struct power_host *find_entry(const struct actuator *x, const char *id);

/* Whether the method at that place in the host's order can do all of this (POWER_CAN_*). */
bool method_can(const struct job *j, unsigned place, unsigned can);
/* The first from that place on; n_order: none. */
unsigned next_method(const struct job *j, unsigned from, unsigned can);
/* "ipmi" */
const char *method_word(const struct job *j, unsigned place);

/* Makes the method, asks it, and lets it go. */
int ask_wake(const struct job *j, unsigned place, struct err *err);
int ask_shut_down(const struct job *j, unsigned place, struct err *err);
int ask_cut(const struct job *j, unsigned place, struct err *err);
/* Asks the methods that can tell, who told last first: one after the other until one answers, or all of them.
 * 0: one has; the error is that of the first. -ENOTSUP: none can. */
int ask_chassis(struct job *j, bool all, struct readings *ret, struct err *err);
/* Both were said: puts it into *out, once in a course. */
bool disagree(struct job *j, const struct readings *r, struct outcome *out);
/* Whether a method that failed so may have passed on what it was asked for all the same. */
bool may_have_heard(int code);

/* The source's own operation: asked for, -> PHASE_INNER; followed. */
int inner_begin(struct job *j, struct err *err);
int inner_follow(struct job *j, struct task_progress *ret, struct err *err);

/* Seconds that are waited in all. */
instant_s patience(const struct job *j);

/* The two operations: at most one call of a method each time. */
void wake_step(struct job *j, struct outcome *out);
void standby_step(struct job *j, struct outcome *out);

/* Since when it is waited for the host to wake: the time does not count in which nobody could be asked. */
instant_s wake_since(const struct job *j);

#endif
