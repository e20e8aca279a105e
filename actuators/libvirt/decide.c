/* decide.c: the table of what follows from the states of both hosts, one function for each state of the
 * source. */
#include "actuators/libvirt/decide.h"

static const struct decision goes_on = {.verdict = VERDICT_GOES_ON};

/* It runs on the destination. */
static struct decision runs_there(const struct side *from, const struct side *to, bool persistent)
{
    struct decision d = {.verdict = VERDICT_ARRIVED,
                         .settled = from->is != SIDE_SILENT && from->is != SIDE_WAITING};

    if (from->is == SIDE_RUNNING)
        return (struct decision){.verdict = VERDICT_TWICE, .settled = true};
    if (from->abandoned && !to->in_post_copy && !to->paused)
        d.repair = REPAIR_END_FROM;
    if (!persistent || !d.settled)
        return d;
    if (!to->defined)
        d.repair = REPAIR_DEFINE_TO;
    else if (from->is == SIDE_OFF)
        d.repair = REPAIR_UNDEFINE_FROM;
    return d;
}

/* It is on the source still, and has no job there. Paused by the migration, or started from an old definition
 * after it had arrived, it says nothing of the destination's definition. */
static struct decision stayed(const struct side *from, const struct side *to, bool persistent, bool arrived)
{
    struct decision d = {.verdict = VERDICT_FAILED,
                         .settled = to->is != SIDE_SILENT && to->is != SIDE_WAITING};

    if (!persistent || !from->defined || to->is != SIDE_OFF)
        return d;
    if (from->is == SIDE_WAITING)
        d.settled = false;
    else if (arrived)
        d.ambiguous = true;
    else
        d.repair = REPAIR_UNDEFINE_TO;
    return d;
}

/* It runs on neither: it was shut down, or has crashed, before or after it arrived. Where it was last has the
 * valid definition, and with copied disks the valid disks. */
static struct decision ended(const struct side *from, const struct side *to, enum call_state call,
                             bool persistent, bool arrived)
{
    struct decision d = {.verdict = VERDICT_UNKNOWN, .settled = to->is != SIDE_SILENT};

    if (call == CALL_DONE && to->is == SIDE_SILENT)
        d.verdict = VERDICT_ARRIVED;
    if (arrived && to->is == SIDE_NONE) /* it has gone on since */
        d.settled = false;
    if (!persistent || to->is != SIDE_OFF)
        return d;
    if (arrived || from->moved_out)
        d.repair = REPAIR_UNDEFINE_FROM;
    else
        d.ambiguous = true;
    return d;
}

struct decision decide_migration(const struct side *from, const struct side *to, enum call_state call,
                                 bool persistent, bool arrived)
{
    arrived = arrived || call == CALL_DONE;
    if (call == CALL_RUNS || from->moving_out)
        return goes_on;
    if (to->is == SIDE_RUNNING)
        return runs_there(from, to, persistent);
    switch (from->is) {
    case SIDE_RUNNING:
    case SIDE_WAITING:
        return stayed(from, to, persistent, arrived);
    case SIDE_OFF:
        return ended(from, to, call, persistent, arrived);
    case SIDE_NONE:
    case SIDE_SILENT:
        break;
    }
    return (struct decision){
        .verdict = call == CALL_DONE && to->is == SIDE_SILENT ? VERDICT_ARRIVED : VERDICT_UNKNOWN,
        .settled = from->is == SIDE_NONE,
    };
}

struct decision decide_start(const struct side *from, const struct side *to, enum call_state call, bool off)
{
    struct decision d = {.verdict = VERDICT_FAILED, .settled = from->is != SIDE_SILENT};

    if (call == CALL_RUNS || to->is == SIDE_WAITING)
        return goes_on;
    if (to->is == SIDE_SILENT)
        return (struct decision){.verdict = call == CALL_DONE ? VERDICT_ARRIVED : VERDICT_UNKNOWN};
    if (from->is == SIDE_OFF && to->defined) /* it was being moved: both are the same */
        d.repair = REPAIR_UNDEFINE_FROM;
    if (to->is == SIDE_RUNNING || (off && to->is == SIDE_OFF && from->is != SIDE_RUNNING))
        d.verdict = from->is == SIDE_RUNNING ? VERDICT_TWICE : VERDICT_ARRIVED;
    return d;
}

struct decision libvirt_decide(const struct side *from, const struct side *to, enum call_state call,
                               const struct task_name *t)
{
    return t->start ? decide_start(from, to, call, t->off)
                    : decide_migration(from, to, call, t->persistent, t->arrived);
}
