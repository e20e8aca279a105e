/* standby.c: putting a host to standby: softly by one method after the other; power is cut only where all
 * that failed, the configuration allows it and the caller says that the host is proven empty. */
#include "actuators/power/internal.h"

#include <errno.h>
#include <stdio.h>

/* Something may be asked of the host that ends what runs on it. Judged anew before every such call. */
static bool may_ask(const struct job *j)
{
    return j->q->proven_empty && !j->q->only_adopt;
}

static bool can_be_seen(const struct job *j)
{
    return next_method(j, 0, POWER_CAN_TELL) < j->host->n_order;
}

static void go_on(struct job *j, enum phase phase, unsigned method)
{
    j->c.phase = phase;
    j->c.method = method;
    j->c.since = j->q->now;
}

/* No soft way is left; the chassis has just been seen on, or nobody took the request. */
static void give_up_or_cut(struct job *j, struct outcome *out, bool seen_on)
{
    if (seen_on && j->host->hard_off && next_method(j, 0, POWER_CAN_CUT) < j->host->n_order) {
        go_on(j, PHASE_CUT, 0);
        return;
    }
    out->state = TASK_FAILED;
    if (!seen_on)
        (void)err_set(&out->why, -EIO, "host %s has no other method to be put to standby by", j->host->name);
    else
        (void)err_set(
            &out->why, -ETIMEDOUT, "host %s was asked to shut down and is still on; its power is not cut: %s",
            j->host->name, j->host->hard_off ? "none of its methods can" : "hard_off is not set for it");
}

static void next_soft(struct job *j, struct outcome *out, bool seen_on)
{
    unsigned next = next_method(j, j->c.method + 1, POWER_CAN_SHUT_DOWN);

    if (next < j->host->n_order)
        go_on(j, PHASE_ASK, next);
    else
        give_up_or_cut(j, out, seen_on);
}

static void ask(struct job *j, struct outcome *out)
{
    unsigned place = next_method(j, j->c.method, POWER_CAN_SHUT_DOWN);
    struct err err = {0};
    int r;

    if (place == j->host->n_order) { /* hope: one took it, and the host stayed on for all of its time */
        give_up_or_cut(j, out, j->c.hope);
        return;
    }
    if (!may_ask(j)) {
        if (j->q->now - j->c.since < ASK_WITHIN_S)
            return;
        out->state = TASK_FAILED;
        (void)err_set(&out->why, -EPERM,
                      "host %s was not asked to shut down: it is not proven empty any more", j->host->name);
        return;
    }
    j->c.method = place;
    if (j->host->order[place] == POWER_HYPERVISOR) {
        r = inner_begin(j, &err);
        if (r == -ESTALE) { /* it is in standby already */
            out->state = TASK_SUCCEEDED;
            return;
        }
    } else {
        r = ask_shut_down(j, place, &err);
        if (r == 0)
            go_on(j, PHASE_ASKED, place);
    }
    if (r == 0) {
        j->c.hope = true;
        return;
    }
    out->why = err;
    (void)err_widen(&out->why, "%s", method_word(j, place));
    go_on(j, PHASE_ASK, place + 1);
}

/* Soft: it takes as long as an operating system needs. A look that cannot be had says nothing. */
static void watch_it_go(struct job *j, struct outcome *out)
{
    instant_s age = j->q->now - j->c.since;
    enum chassis chassis = CHASSIS_UNKNOWN;
    struct err err = {0};

    if (!can_be_seen(j)) { /* only the inventory can tell */
        out->state = TASK_SUCCEEDED;
        return;
    }
    if (age < LOOK_AFTER_S || ask_chassis(j, &chassis, &err) < 0)
        return;
    if (chassis == CHASSIS_OFF) {
        out->state = TASK_SUCCEEDED;
        return;
    }
    if (age < SOFT_S)
        return;
    (void)err_set(&out->why, -ETIMEDOUT, "%s asked host %s to shut down, but it is still on %lld s later",
                  method_word(j, j->c.method), j->host->name, (long long)age);
    next_soft(j, out, true);
}

static void follow(struct job *j, struct outcome *out)
{
    struct task_progress p = {.percent = -1};
    struct err err = {0};

    if (inner_follow(j, &p, &err) < 0)
        return; /* it cannot be asked now */
    switch (p.state) {
    case TASK_QUEUED:
    case TASK_RUNNING:
        out->percent = p.percent;
        return;
    case TASK_SUCCEEDED:
        out->state = TASK_SUCCEEDED;
        return;
    case TASK_FAILED:
        break;
    }
    out->why = p.why;
    (void)err_widen(&out->why, "%s", method_word(j, j->c.method));
    j->c.hope = false; /* it was refused: no reason to cut */
    next_soft(j, out, false);
}

/* The chassis is looked at once more first: what went down meanwhile is not cut, and what cannot be seen is
 * not either. The only step with two calls: nothing may come between the look and the cut. */
static void cut(struct job *j, struct outcome *out)
{
    unsigned place = next_method(j, j->c.method, POWER_CAN_CUT);
    enum chassis chassis = CHASSIS_UNKNOWN;
    struct err err = {0};

    if (place == j->host->n_order) {
        out->state = TASK_FAILED;
        (void)err_set(&out->why, -EIO, "host %s is still on, and no method could cut its power",
                      j->host->name);
        return;
    }
    if (ask_chassis(j, &chassis, &err) == 0 && chassis == CHASSIS_OFF) {
        out->state = TASK_SUCCEEDED;
        return;
    }
    if (chassis != CHASSIS_ON || !may_ask(j)) {
        if (j->q->now - j->c.since < ASK_WITHIN_S)
            return;
        out->state = TASK_FAILED;
        (void)err_set(
            &out->why, -EPERM, "host %s was asked to shut down and is still on; its power is not cut: %s",
            j->host->name,
            chassis == CHASSIS_ON ? "it is not proven empty" : "its controller does not say that it is on");
        return;
    }
    j->c.method = place;
    if (ask_cut(j, place, &err) == 0) {
        go_on(j, PHASE_CUT_ASKED, place);
        return;
    }
    out->why = err;
    (void)err_widen(&out->why, "%s", method_word(j, place));
    j->c.method++;
}

static void watch_cut(struct job *j, struct outcome *out)
{
    enum chassis chassis = CHASSIS_UNKNOWN;
    struct err err = {0};

    if (ask_chassis(j, &chassis, &err) < 0)
        return;
    if (chassis == CHASSIS_OFF)
        out->state = TASK_SUCCEEDED;
    else if (j->q->now - j->c.since >= CUT_S)
        go_on(j, PHASE_CUT, j->c.method + 1);
}

void standby_step(struct job *j, struct outcome *out)
{
    if (j->q->now - j->c.began > patience(j)) {
        out->state = TASK_FAILED;
        (void)err_set(&out->why, -ETIMEDOUT, "host %s was not seen off %lld s after it was first asked",
                      j->host->name, (long long)(j->q->now - j->c.began));
        return;
    }
    switch (j->c.phase) {
    case PHASE_ASK:
        ask(j, out);
        return;
    case PHASE_ASKED:
        watch_it_go(j, out);
        return;
    case PHASE_INNER:
        follow(j, out);
        return;
    case PHASE_CUT:
        cut(j, out);
        return;
    case PHASE_CUT_ASKED:
        watch_cut(j, out);
        return;
    case PHASE_RISEN:
        break;
    }
    out->state = TASK_FAILED;
    (void)err_set(&out->why, -EINVAL, "the task is none of putting host %s to standby", j->host->name);
}
