/* wake.c: waking a host by one method after the other.
 *
 *     ask 1st --- no ---> ask 2nd --- no ---> ... ---> none is left: failed, or waited if one said yes
 *        | yes               | yes
 *        v                   v
 *     chassis on? --- off for too long, or the host is not back within its share of the time ---> the next
 *
 * That the host is back is never known here: the inventory tells the engine, which ends the action then.
 *
 * Which method woke the host is known only if a single one can have done it: its call was accepted or left
 * unanswered, and that of no other method. One whose time is over may be slow, and still do it; and so may
 * one that an earlier process may have called (wake_continue()).
 *
 * Time in which a method had its turn and could not be asked does not count: the service was stopped, or
 * paused. Waking is always safe, and a host that was sent no wake has not failed to wake. */
#include "actuators/power/internal.h"

#include <errno.h>
#include <stdio.h>

#define AGAIN_EACH_S 30

/* The time that each method has until the host is back. A controller that says "on" although the host is
 * off must leave enough time for the next method. */
static instant_s share_s(const struct power_change *j)
{
    unsigned n = 0;

    for (unsigned i = 0; i < j->host->n_sequence; i++)
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
    out->failed = method_bit(j, j->c.method);
    j->c.accepted = false;
    go_on_with_next(j);
}

/* Another method says that the host is on, and may be right: the request still counts as accepted, and
 * calling the next method does no harm. */
static void contradicted_by_one(struct power_change *j)
{
    if (method_next(j, j->c.method + 1, POWER_CAN_WAKE) < j->host->n_sequence)
        go_on_with_next(j);
    else
        j->c.phase = PHASE_RISEN;
}

/* The last method has until the caller's time limit. */
static void wait_for_inventory(struct power_change *j, struct outcome *out)
{
    unsigned next = method_next(j, j->c.method + 1, POWER_CAN_WAKE);

    if (j->q->power.now - j->c.since < share_s(j) || next == j->host->n_sequence || j->q->only_adopt)
        return;
    (void)err_set(&out->why, -ETIMEDOUT, "%s said yes, but host %s was not back within %lld s",
                  method_word(j, j->c.method), j->host->name, (long long)(j->q->power.now - j->c.since));
    out->failed = method_bit(j, j->c.method);
    go_on_with_next(j);
}

/* A controller whose answer came too late may be slow only, and some answer with an error (HTTP 500) what
 * they have carried out: one such answer is no failed wake, and waking twice does no harm. */
static void none_left(struct power_change *j, struct outcome *out)
{
    if (j->c.accepted)
        return;
    if (j->c.reply_lost && !j->c.asked_again) {
        j->c.asked_again = true;
        j->c.method = 0;
        j->c.since = power_time_now(j);
        return;
    }
    out->state = TASK_FAILED;
    (void)err_set(&out->why, -EIO, "host %s has no other method to be woken by", j->host->name);
}

static bool nobody_was_asked(const struct power_change *j)
{
    return j->c.phase == PHASE_ASK && j->c.method == 0 && !j->c.asked_again;
}

static bool has_turn(const struct power_change *j)
{
    return j->c.phase == PHASE_ASK && method_next(j, j->c.method, POWER_CAN_WAKE) < j->host->n_sequence;
}

instant_s wake_since(const struct power_change *j)
{
    instant_s stood = j->q->power.now - j->c.since;

    return j->c.began + (has_turn(j) && (stood > STILL_S || nobody_was_asked(j)) ? stood : 0);
}

/* Whether the method's turn passed long ago, while no call was possible. */
static bool is_too_late(const struct power_change *j, unsigned index, struct outcome *out)
{
    if (j->q->power.now - j->c.since <= WAKE_LATE_S)
        return false;
    out->state = TASK_FAILED;
    if (nobody_was_asked(j)) {
        (void)err_set(&out->why, -ESRCH,
                      "no power method was called to wake host %s for %lld s; the wake is too late now",
                      j->host->name, (long long)(j->q->power.now - j->c.since));
        return true;
    }
    out->gone = true;
    (void)err_set(&out->why, -ETIMEDOUT, "%s could not be asked to wake host %s for %lld s",
                  method_word(j, index), j->host->name, (long long)(j->q->power.now - j->c.since));
    return true;
}

static int ask_one(struct power_change *j, unsigned index, struct err *err)
{
    if (j->sequence[index] != POWER_HYPERVISOR) {
        int r = method_wake(j, index, err);
        bool was_on = r == -ESTALE; /* by a person, or by itself: that proves nothing of this method */

        if (r == 0 || was_on)
            j->c.phase = PHASE_ASKED, j->c.looks = 0;
        if (r == 0 || method_may_have_heard(r))
            j->c.may_have_acted |= method_bit(j, index);
        return was_on ? 0 : r;
    }
    int r = power_inner_begin(j, err);

    if (r == 0 || method_may_have_heard(r))
        j->c.may_have_acted |= method_bit(j, index);
    if (r == -ESTALE) { /* the hypervisor says that the host is on: the inventory will confirm it, or the next
                           method is tried */
        j->c.phase = PHASE_RISEN;
        r = 0;
    }
    return r;
}

static void ask(struct power_change *j, struct outcome *out)
{
    unsigned index = method_next(j, j->c.method, POWER_CAN_WAKE);
    struct err err = {0};

    if (index == j->host->n_sequence) {
        none_left(j, out);
        return;
    }
    if (is_too_late(j, index, out) || j->q->only_adopt)
        return;
    j->c.began = wake_since(j);
    j->c.method = index;
    int r = ask_one(j, index, &err);

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
    j->c.reply_lost = j->c.reply_lost || r == -ETIMEDOUT || r == -ECONNRESET || r == -EBUSY;
    out->why = err;
    (void)err_widen(&out->why, "%s", method_word(j, index));
    out->failed = method_bit(j, index);
    go_on_with_next(j);
}

/* The next reading of the chassis: after 10, 11, 13, 17, 25, 41 s and at the end of the wait for it; then
 * each half minute. Only the last decides about the next method, so that fewer readings make no wake later.
 */
static instant_s look_at_age(unsigned looks)
{
    const instant_s grown = LOOK_AFTER_S + (INT64_C(1) << looks) - 1;

    return looks < POWER_LOOKS_MAX - 1 && grown < OFF_FOR_S ? grown : OFF_FOR_S;
}

static bool is_time_to_look(const struct power_change *j, instant_s age)
{
    if (j->c.looks >= POWER_LOOKS_MAX) /* the next method's turn, unless the operation may call none now */
        return !j->q->only_adopt || age % AGAIN_EACH_S == 0;
    return age >= look_at_age(j->c.looks);
}

/* One reading is enough when it says on; a failed reading says nothing. When controllers disagree, "off"
 * is believed: then another method is tried, at worst without need. */
static void look(struct power_change *j, struct outcome *out)
{
    instant_s age = j->q->power.now - j->c.since;
    struct readings says;
    struct err err = {0};

    if (!is_time_to_look(j, age))
        return;
    j->c.looks += j->c.looks < POWER_LOOKS_MAX;
    int r = methods_ask_chassis(j, true, &says, &err);

    if (says.interrupted) {
        out->interrupted = true;
        out->why = err;
    } else if (r < 0 || says.off == j->host->n_sequence) {
        j->c.phase = PHASE_RISEN;
    } else if (age < OFF_FOR_S || j->q->only_adopt) {
        return; /* controllers may show it late */
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
        wait_for_inventory(j, out); /* the hypervisor does not answer now */
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
    if (p.gone) { /* only an inventory can tell how it ended */
        j->c.phase = PHASE_RISEN;
        return;
    }
    out->why = p.why;
    (void)err_widen(&out->why, "%s", method_word(j, j->c.method));
    out->failed = method_bit(j, j->c.method);
    j->c.accepted = false;
    go_on_with_next(j);
}

/* A process that dies after a call and before the next name is stored has perhaps called the method whose
 * turn it was. With other settings the methods of the name are not these: no method is known to be the only
 * one. */
void wake_continue(struct power_change *j)
{
    const struct power_task was = j->c;

    power_change_sign(j, &j->c);
    if (was.settings != j->c.settings) {
        j->c.may_have_acted = (1u << WAKE_METHODS) - 1;
    } else if (was.life != j->c.life && was.phase == PHASE_ASK) {
        unsigned index = method_next(j, was.method, POWER_CAN_WAKE);

        if (index < j->host->n_sequence)
            j->c.may_have_acted |= method_bit(j, index);
    }
}

void wake_step(struct power_change *j, struct outcome *out)
{
    if (!has_turn(j) &&
        j->q->power.now - j->c.began > power_time_limit_s(j)) { /* the caller's time limit has passed */
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
        if (method_next(j, 0, POWER_CAN_TELL) < j->host->n_sequence)
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
    case PHASE_TELL:
    case PHASE_TOLD:
    case PHASE_CUT:
    case PHASE_CUT_ASKED:
        break;
    }
    out->state = TASK_FAILED;
    (void)err_set(&out->why, -EINVAL, "the task is none of waking host %s", j->host->name);
}
