/* course.h: how far a deed is, written into the name of its task. Inside this folder only.
 *
 *     p1 PHASE METHOD HOPE BEGAN SINCE LENGTH:ENTRY [the hypervisor's own task]
 *
 * The engine stores the name before it asks again (task_progress.task). A process that dies between a call
 * and the storing of the name that follows from it makes the same call once more, which does no harm: waking
 * what is awake and shutting down what is down is nothing.
 */
#ifndef BALLAST_ACTUATORS_POWER_COURSE_H
#define BALLAST_ACTUATORS_POWER_COURSE_H

#include <ballast/actuator.h>

#define ENTRY_NAME_MAX 128 /* of a host in the configuration */

enum phase {
    PHASE_ASK = 'a',       /* the method is to be asked */
    PHASE_ASKED = 'w',     /* it said yes; what the chassis says is not known yet */
    PHASE_RISEN = 'o',     /* nothing more can be learned of the chassis: the inventory is waited for */
    PHASE_INNER = 'h',     /* the hypervisor works on it, by a task of its own */
    PHASE_CUT = 'c',       /* standby: the method is to be asked to cut the power */
    PHASE_CUT_ASKED = 'd', /* it said yes */
};

struct course {
    enum phase phase;
    unsigned method; /* place in the host's order */
    bool hope;       /* a method that said yes may still be right */
    instant_s began, since;
    char entry[ENTRY_NAME_MAX + 1]; /* power_host.name */
    char inner[TASK_NAME_MAX];      /* PHASE_INNER */
};

/* Whether the name is one of ours. */
bool course_is(const char *task);

/* -EINVAL: it is not one that this version has written. */
int course_read(const char *task, struct course *ret, struct err *err);
/* -ENAMETOOLONG: the hypervisor's name of its task does not fit. */
int course_write(const struct course *c, char ret[TASK_NAME_MAX], struct err *err);

#endif
