/* wake.c: waking a host by one method after the other.
 *
 *     ask 1st --- no ---> ask 2nd --- no ---> ... ---> none is left: failed, or waited if one said yes
 *        | yes               | yes
 *        v                   v
 *     chassis on? --- off for too long, or the host is not back within its share of the time ---> the next
 *
 * That the host is back is never known here: the inventory tells the engine, which ends the action then.
 *
 * Time in which a method had its turn and could not be asked does not count: the service was stopped, or
 * frozen. Waking is always safe, and a host that nobody has asked has not failed to wake. */
#include "actuators/power/internal.h"

#include <errno.h>
#include <stdio.h>

/* The time that each method has for the host to be back. A controller that says "on" and is not must leave
 * the next one enough of it. */
static instant_s share_s(const struct power_change *j)
{
    unsigned n = 0;

    for (unsigned i = 0; i < j->host->n_order; i++)
        n += method_can(j, i, POWER_CAN_WAKE);
    return power_time_limit_s(j) / (n > 0 ? (instant_s)n : 1);
}

static void go_on_with_next(struct power_change *j)
{
    j->c.phase = PHASE_ASK;
    j->c.method++;
    j->c.since = power_time_now(j);
}

static void contradicted(struct power_change *j, struct outcome *out)
{
    (void)err_set(&out->why, -EIO, "%s said yes, but host %s is still off %lld s later",
                  method_word(j, j->c.method), j->host->name, (long long)(j->q->power.now - j->c.since));
    j->c.accepted = false;
    go_on_with_next(j);
}

/* Another says that the host is on: it may be right, so the request still counts as accepted, and asking the
 * next does no harm. */
static void contradicted_by_one(struct power_change *j)
{
    if (method_next(j, j->c.method + 1, POWER_CAN_WAKE) < j->host->n_order)
        go_on_with_next(j);
    else
        j->c.phase = PHASE_RISEN;
}

/* The last one is waited for as long as the caller likes. */
static void wait_for_inventory(struct power_change *j, struct outcome *out)
{
    unsigned next = method_next(j, j->c.method + 1, POWER_CAN_WAKE);

    if (j->q->power.now - j->c.since < share_s(j) || next == j->host->n_order || j->q->only_adopt)
        return;
    (void)err_set(&out->why, -ETIMEDOUT, "%s said yes, but host %s was not back within %lld s",
                  method_word(j, j->c.method), j->host->name, (long long)(j->q->power.now - j->c.since));
    go_on_with_next(j);
}

static void none_left(struct power_change *j, struct outcome *out)
{
    if (j->c.accepted)
        return;
    out->state = TASK_FAILED;
    (void)err_set(&out->why, -EIO, "host %s has no other method to be woken by", j->host->name);
}

static bool nobody_was_asked(const struct power_change *j)
{
    return j->c.phase == PHASE_ASK && j->c.method == 0;
}

static bool has_turn(const struct power_change *j)
{
    return j->c.phase == PHASE_ASK && method_next(j, j->c.method, POWER_CAN_WAKE) < j->host->n_order;
}

instant_s wake_since(const struct power_change *j)
{
    instant_s stood = j->q->power.now - j->c.since;

    return j->c.began + (has_turn(j) && (stood > STILL_S || nobody_was_asked(j)) ? stood : 0);
}

/* Whether the turn has passed in which nobody could be asked, long ago. */
static bool is_too_late(const struct power_change *j, unsigned place, struct outcome *out)
{
    if (j->q->power.now - j->c.since <= WAKE_LATE_S)
        return false;
    out->state = TASK_FAILED;
    if (nobody_was_asked(j)) {
        (void)err_set(&out->why, -ESRCH,
                      "nobody was asked to wake host %s for %lld s, and now it is too late", j->host->name,
                      (long long)(j->q->power.now - j->c.since));
        return true;
    }
    out->gone = true;
    (void)err_set(&out->why, -ETIMEDOUT, "%s could not be asked to wake host %s for %lld s",
                  method_word(j, place), j->host->name, (long long)(j->q->power.now - j->c.since));
    return true;
}

static int ask_one(struct power_change *j, unsigned place, struct err *err)
{
    if (j->host->order[place] != POWER_HYPERVISOR) {
        int r = method_wake(j, place, err);

        if (r == 0)
            j->c.phase = PHASE_ASKED;
        return r;
    }
    int r = power_inner_begin(j, err);

    if (r == -ESTALE) { /* awake, it says: the inventory will too, or the next method is tried */
        j->c.phase = PHASE_RISEN;
        r = 0;
    }
    return r;
}

static void ask(struct power_change *j, struct outcome *out)
{
    unsigned place = method_next(j, j->c.method, POWER_CAN_WAKE);
    struct err err = {0};

    if (place == j->host->n_order) {
        none_left(j, out);
        return;
    }
    if (is_too_late(j, place, out) || j->q->only_adopt)
        return;
    j->c.began = wake_since(j);
    j->c.method = place;
    int r = ask_one(j, place, &err);

    if (r == -ECANCELED) {
        out->interrupted = true;
        out->why = err;
        return;
    }
    j->c.since = power_time_now(j);
    if (r == 0) {
        j->c.accepted = true;
        return;
    }
    out->why = err;
    (void)err_widen(&out->why, "%s", method_word(j, place));
    go_on_with_next(j);
}

/* One look is enough when it shows the host on; one that cannot be had says nothing. Of several controllers
 * the one is believed that says off: then another method is tried, which at worst was not needed. */
static void look(struct power_change *j, struct outcome *out)
{
    instant_s age = j->q->power.now - j->c.since;
    struct readings says;
    struct err err = {0};

    if (age < LOOK_AFTER_S)
        return;
    int r = methods_ask_chassis(j, true, &says, &err);

    if (says.interrupted) {
        out->interrupted = true;
        out->why = err;
    } else if (r < 0 || says.off == j->host->n_order) {
        j->c.phase = PHASE_RISEN;
    } else if (age < OFF_FOR_S || j->q->only_adopt) {
        return; /* controllers may be slow to see it */
    } else if (power_controllers_disagree(j, &says, out)) {
        contradicted_by_one(j);
    } else {
        contradicted(j, out);
    }
}

static void follow(struct power_change *j, struct outcome *out)
{
    struct task_progress p = {.percent = -1};
    struct err err = {0};

    if (power_inner_follow(j, &p, &err) < 0) {
        wait_for_inventory(j, out); /* it cannot be asked now */
        return;
    }
    switch (p.state) {
    case TASK_QUEUED:
    case TASK_RUNNING:
        out->percent = p.percent;
        wait_for_inventory(j, out);
        return;
    case TASK_SUCCEEDED:
        j->c.phase = PHASE_RISEN;
        return;
    case TASK_FAILED:
        break;
    }
    if (p.gone) { /* how it ended only an inventory can tell */
        j->c.phase = PHASE_RISEN;
        return;
    }
    out->why = p.why;
    (void)err_widen(&out->why, "%s", method_word(j, j->c.method));
    j->c.accepted = false;
    go_on_with_next(j);
}

void wake_step(struct power_change *j, struct outcome *out)
{
    if (!has_turn(j) &&
        j->q->power.now - j->c.began > power_time_limit_s(j)) { /* nobody waits for it any more */
        out->state = TASK_FAILED;
        out->gone = true;
        (void)err_set(&out->why, -ETIMEDOUT, "host %s was not back %lld s after it was first asked to wake",
                      j->host->name, (long long)(j->q->power.now - j->c.began));
        return;
    }
    switch (j->c.phase) {
    case PHASE_ASK:
        ask(j, out);
        return;
    case PHASE_ASKED:
        if (method_next(j, 0, POWER_CAN_TELL) < j->host->n_order)
            look(j, out);
        else
            j->c.phase = PHASE_RISEN;
        return;
    case PHASE_RISEN:
        wait_for_inventory(j, out);
        return;
    case PHASE_INNER:
        follow(j, out);
        return;
    case PHASE_CUT:
    case PHASE_CUT_ASKED:
        break;
    }
    out->state = TASK_FAILED;
    (void)err_set(&out->why, -EINVAL, "the task is none of waking host %s", j->host->name);
}
