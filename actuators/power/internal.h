/* internal.h: what the files of this folder share. */
#ifndef BALLAST_ACTUATORS_POWER_INTERNAL_H
#define BALLAST_ACTUATORS_POWER_INTERNAL_H

#include "actuators/power/course.h"
#include "actuators/power/power.h"

/* ---- numbers of conduct ---- */

#define LOOK_AFTER_S 10  /* a controller is given this long to show what it was asked for */
#define OFF_FOR_S 45     /* a chassis that is still off so long after the call was not switched on */
#define SOFT_S 300       /* an operating system that has not gone down by then does not */
#define CUT_S 30         /* power that is still there so long after it was cut was not cut */
#define ASK_WITHIN_S 300 /* standby that could not be asked for within this is not asked for any more */
#define PATIENCE_S 1800  /* where the caller does not say how long it waits */

struct actuator {
    const struct power_setup *setup;
    struct actuator *inner; /* NULL: the source has none */
    char *id, *name;        /* of the last call_host() */
};

/* One call of the actuator for a host with an entry. */
struct job {
    struct actuator *x;
    const struct power_host *host;
    const struct deed_request *q;
    struct course c;
};

/* What a poll() comes to, beside the course that it has changed. */
struct outcome {
    enum task_state state;
    int percent;
    struct err why;
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
/* Asks the first method that can tell; -ENOTSUP: none can. */
int ask_chassis(const struct job *j, enum chassis *ret, struct err *err);

/* The source's own deed: asked for, -> PHASE_INNER; followed. */
int inner_begin(struct job *j, struct err *err);
int inner_follow(struct job *j, struct task_progress *ret, struct err *err);

/* Seconds that are waited in all. */
instant_s patience(const struct job *j);

/* The two deeds: at most one call of a method each time. */
void wake_step(struct job *j, struct outcome *out);
void standby_step(struct job *j, struct outcome *out);

#endif
