/* power_task.h: how far an operation is, written into the name of its task. Inside this folder only.
 *
 *     p1 PHASE METHOD MARKS BEGAN SINCE LENGTH:ENTRY [the hypervisor's own task, or which process is to cut]
 *
 * MARKS is a number: 1 accepted, 2 reply lost, 4 controllers disagree, 16 times answered_last.
 *
 * The engine stores the name before it asks again (task_progress.task). A process that dies between a call
 * and the storing of the name that follows from it makes the same call once more, which does no harm: waking
 * what is awake and shutting down what is down is nothing. Cutting is different, because somebody may have
 * switched the host on again meanwhile: the name says which process is to do it, and another one that finds
 * it takes the power for cut and looks what came of it.
 */
#ifndef BALLAST_ACTUATORS_POWER_POWER_TASK_H
#define BALLAST_ACTUATORS_POWER_POWER_TASK_H

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

struct power_task {
    enum phase phase;
    unsigned method;           /* place in the host's order */
    bool accepted;             /* a method that said yes may still be right */
    bool reply_lost;           /* standby: one whose answer was lost may have heard the request */
    bool controllers_disagree; /* it was said that methods disagree about the chassis */
    unsigned answered_last; /* index of the method that told the chassis' state last: asked first next time */
    instant_s began; /* waking: when the first was asked, and later by the time in which none could be */
    instant_s since; /* of this phase and method */
    char entry[ENTRY_NAME_MAX + 1]; /* power_host.name */
    char inner[TASK_NAME_MAX];      /* PHASE_INNER: the task; PHASE_CUT: power_setup.life of who may */
};

/* Whether the name is one of ours. */
bool power_task_is(const char *task);

/* -EINVAL: it is not one that this version has written. */
int power_task_read(const char *task, struct power_task *ret, struct err *err);
/* -ENAMETOOLONG: the hypervisor's name of its task does not fit. */
int power_task_write(const struct power_task *c, char ret[TASK_NAME_MAX], struct err *err);

#endif
