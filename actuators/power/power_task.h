/* power_task.h: the state of a power operation, written into the name of its task. For this folder only.
 *
 *     p1 PHASE METHOD MARKS BEGAN SINCE LENGTH:ENTRY [the hypervisor's own task, or the process that is to
 * act]
 *
 * MARKS is a number: 1 accepted, 2 reply lost, 4 controllers disagree, 8 asked again, 16 times answered_last,
 * 256 told, 512 times looks, 2^24 times may_have_acted; and, 16 bits each, what identifies the host's
 * settings and the process.
 *
 * The engine stores the name before the next poll (task_progress.task). A process that dies after a call
 * and before the next name is stored repeats the call, which does no harm: waking a host that is on and
 * shutting down one that is off have no effect. A cut could hit a host that an admin has switched on
 * again: so the name says which process may cut; any other process takes the cut for done and reads the
 * chassis.
 */
#ifndef BALLAST_ACTUATORS_POWER_POWER_TASK_H
#define BALLAST_ACTUATORS_POWER_POWER_TASK_H

#include <ballast/actuator.h>

#define POWER_LOOKS_MAX 7u
#define ENTRY_NAME_MAX 128 /* of a host in the configuration */
#define POWER_TASK_MARK_MAX 0xffffu

enum phase {
    PHASE_TELL = 't',      /* standby: the hypervisor is to enter maintenance mode */
    PHASE_TOLD = 'm',      /* standby: the hypervisor's task to enter it runs */
    PHASE_ASK = 'a',       /* the method is to be called */
    PHASE_ASKED = 'w',     /* the method accepted; the chassis' state is not known yet */
    PHASE_RISEN = 'o',     /* the chassis cannot tell more: the inventory is awaited */
    PHASE_INNER = 'h',     /* the hypervisor runs a task of its own */
    PHASE_CUT = 'c',       /* standby: the method is to cut the power */
    PHASE_CUT_ASKED = 'd', /* the method accepted the cut */
};

struct power_task {
    enum phase phase;
    unsigned method;           /* index in the host's sequence */
    bool accepted;             /* a method accepted, and may still succeed */
    bool reply_lost;           /* a method whose answer was lost may have acted */
    bool asked_again;          /* waking: all methods have their second turn, because an answer was lost */
    bool told;                 /* standby: the host is in the maintenance mode that this operation wanted */
    bool controllers_disagree; /* the disagreement about the chassis was reported */
    unsigned looks;         /* waking: how often the chassis was read since the call, up to POWER_LOOKS_MAX */
    unsigned answered_last; /* index of the method that told the chassis' state last: asked first next time */
    unsigned may_have_acted; /* WAKE_* of the methods whose call was accepted or left unanswered */
    uint32_t settings, life; /* at most POWER_TASK_MARK_MAX; which settings and process wrote the name */
    instant_s began; /* waking: the time of the first call, later by the time in which none was possible */
    instant_s since; /* of this phase and method */
    char entry[ENTRY_NAME_MAX + 1]; /* power_host.name */
    char inner[TASK_NAME_MAX]; /* PHASE_INNER, PHASE_TOLD: the task; PHASE_CUT: the power_config.life of the
                                  process that may cut; PHASE_TELL: of the process that has not asked yet; ""
                                  when another or a lost answer may have begun it */
};

/* Whether this folder wrote the name. */
bool power_task_is(const char *task);

/* -EINVAL: this version did not write the name. */
int power_task_read(const char *task, struct power_task *ret, struct err *err);
/* -ENAMETOOLONG: the hypervisor's task name does not fit. */
int power_task_write(const struct power_task *c, char ret[TASK_NAME_MAX], struct err *err);

#endif
