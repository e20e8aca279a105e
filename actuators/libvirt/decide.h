/* decide.h: what the two hosts of a migration show, and what follows from it. Pure.
 *
 * The rules, in the order of their weight: no guest runs twice, none is started or ended; the last definition
 * of a VM is never deleted; nothing is changed on one host because another does not answer. */
#ifndef BALLAST_ACTUATORS_LIBVIRT_DECIDE_H
#define BALLAST_ACTUATORS_LIBVIRT_DECIDE_H

#include "actuators/libvirt/task_name.h"

#include <stdbool.h>

/* The VM on one host. */
enum side_state {
    SIDE_SILENT,  /* the host does not answer */
    SIDE_NONE,    /* it has no such domain */
    SIDE_OFF,     /* a definition, not running */
    SIDE_WAITING, /* a process that waits for the other side of a migration */
    SIDE_RUNNING, /* also paused for any other reason */
};

struct side {
    enum side_state is;
    bool defined;      /* it has a definition, which stays when it is off */
    bool moving_out;   /* a job of it is a migration to another host */
    bool job;          /* it has any job, that one included */
    bool moved_out;    /* SIDE_OFF: because it was migrated away */
    bool paused;       /* SIDE_RUNNING: by a person, an error, ... */
    bool in_post_copy; /* neither host has all of its memory */
    bool abandoned;    /* SIDE_WAITING: by a migration that no job carries on any more */
};

/* The call by which this process began the migration. */
enum call_state {
    CALL_NONE,    /* another process began it, or the connection was lost on the way: nothing is known */
    CALL_RUNS,    /* libvirt has not answered yet */
    CALL_DONE,    /* libvirt says that the VM has moved */
    CALL_REFUSED, /* or that it has not */
};

enum migration_verdict {
    VERDICT_GOES_ON,
    VERDICT_ARRIVED,
    VERDICT_FAILED,  /* it runs where it was */
    VERDICT_UNKNOWN, /* only an inventory can tell */
    VERDICT_TWICE,   /* it runs on both: a person has to look at it */
};

enum repair {
    REPAIR_NONE,
    REPAIR_UNDEFINE_FROM, /* the definition stayed on the source although the VM runs, defined, on the other
                           */
    REPAIR_UNDEFINE_TO,   /* the definition came to the destination although the VM did not */
    REPAIR_DEFINE_TO,     /* it runs on the destination without the definition that it should have */
    REPAIR_END_FROM,      /* what the migration left paused on the source although the VM runs, whole, on the
                             other: resumed, it would run twice */
};

struct decision {
    enum migration_verdict verdict;
    enum repair repair;
    bool settled;   /* nothing can be left over on either host, or nothing can be done about it */
    bool ambiguous; /* both have a definition, and nothing shows which one is valid: a person has to say */
};

/* persistent: the VM had a definition when the migration began; arrived: it was seen on the destination
 * after its end, or libvirt has said so. */
struct decision decide_migration(const struct side *from, const struct side *to, enum call_state call,
                                 bool persistent, bool arrived);

/* The same of a VM that is off and started on `to`, where its definition has to come first. from: SIDE_NONE
 * if it is there already. off: it is not started. */
struct decision decide_start(const struct side *from, const struct side *to, enum call_state call, bool off);

/* One of the two. */
struct decision libvirt_decide(const struct side *from, const struct side *to, enum call_state call,
                               const struct task_name *t);

#endif
