/* standby.c: putting a host to standby: softly by one method after the other; power is cut only where all
 * that failed, the configuration allows it and the caller says that the host is proven empty.
 *
 * A request whose answer was lost may have been heard: the host has as long to go down as after one that was
 * taken, before anything is said to have failed or anything harder is asked. Of methods that disagree about
 * the chassis nobody knows which is right, or whose it is: nothing more is asked, and the inventory tells. */
#include "actuators/power/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Something may be asked of the host that ends what runs on it. Judged anew before every such call. */
static bool may_ask(const struct power_change *j)
{
    return j->q->power.proven_empty && !j->q->only_adopt;
}

static bool can_be_seen(const struct power_change *j)
{
    return method_next(j, 0, POWER_CAN_TELL) < j->host->n_order;
}

static void go_on(struct power_change *j, enum phase phase, unsigned method)
{
    j->c.phase = phase;
    j->c.method = method;
    j->c.since = power_time_now(j);
    j->c.inner[0] = '\0';
    if (phase == PHASE_CUT && j->x->config->life)
        (void)snprintf(j->c.inner, sizeof j->c.inner, "%s", j->x->config->life);
}

/* The end, of which only an inventory can tell what it is. */
static struct err *end_unknown(struct outcome *out)
{
    out->state = TASK_FAILED;
    out->gone = true;
    return &out->why;
}

/* No soft way is left; the chassis has just been seen on, or nobody took the request. */
static void give_up_or_cut(struct power_change *j, struct outcome *out, bool seen_on)
{
    if (seen_on && j->host->hard_off && method_next(j, 0, POWER_CAN_CUT) < j->host->n_order) {
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

static void next_soft(struct power_change *j, struct outcome *out, bool seen_on)
{
    unsigned next = method_next(j, j->c.method + 1, POWER_CAN_SHUT_DOWN);

    if (next < j->host->n_order)
        go_on(j, PHASE_ASK, next);
    else
        give_up_or_cut(j, out, seen_on);
}

/* All were asked. Where an answer was lost the host may be on its way down by now. */
static void all_asked(struct power_change *j, struct outcome *out)
{
    if (!j->c.reply_lost) { /* accepted: one took it, and the host stayed on for all of its time */
        give_up_or_cut(j, out, j->c.accepted);
        return;
    }
    go_on(j, PHASE_ASKED, (unsigned)j->host->n_order - 1);
}

static int ask_one(struct power_change *j, unsigned place, struct err *err)
{
    if (j->host->order[place] == POWER_HYPERVISOR)
        return power_inner_begin(j, err);
    int r = method_shut_down(j, place, err);

    if (r == 0)
        go_on(j, PHASE_ASKED, place);
    return r;
}

static void ask(struct power_change *j, struct outcome *out)
{
    unsigned place = method_next(j, j->c.method, POWER_CAN_SHUT_DOWN);
    struct err err = {0};

    if (place == j->host->n_order) {
        all_asked(j, out);
        return;
    }
    if (!may_ask(j)) {
        if (j->q->power.now - j->c.since < ASK_WITHIN_S)
            return;
        out->state = TASK_FAILED;
        out->gone = j->c.reply_lost;
        (void)err_set(&out->why, -EPERM,
                      "host %s was not asked to shut down%s: it is not proven empty any more", j->host->name,
                      j->c.reply_lost || j->c.accepted ? " once more" : "");
        return;
    }
    j->c.method = place;
    int r = ask_one(j, place, &err);

    if (r == 0) {
        j->c.accepted = true;
        j->c.reply_lost = false;
        return;
    }
    if (r == -ESTALE && j->host->order[place] == POWER_HYPERVISOR) { /* it is in standby already */
        out->state = TASK_SUCCEEDED;
        return;
    }
    out->why = err;
    if (r == -ECANCELED) {
        out->interrupted = true;
        return;
    }
    (void)err_widen(&out->why, "%s", method_word(j, place));
    j->c.reply_lost = j->c.reply_lost || method_may_have_heard(r);
    if (method_may_have_heard(r) && j->host->order[place] == POWER_HYPERVISOR &&
        j->q->power.now - j->c.since < ADOPT_FOR_S) {
        out->why = (struct err){0}; /* it may have begun, and then is followed: start() adopts it */
        return;
    }
    go_on(j, PHASE_ASK, place + 1);
}

/* Looks; false: nothing can be said now. */
static bool look(struct power_change *j, bool all, struct readings *says, struct outcome *out)
{
    struct err err = {0};
    int r = methods_ask_chassis(j, all, says, &err);

    if (!says->interrupted)
        return r == 0;
    out->interrupted = true;
    out->why = err;
    return false;
}

/* One says on and one says off: that of another machine may be among them, so nothing more is asked. */
static void end_split(struct power_change *j, const struct readings *says, struct outcome *out)
{
    j->c.controllers_disagree = false;
    (void)power_controllers_disagree(j, says, out);
    (void)end_unknown(out);
}

/* The time for it is over, and the chassis is still on. */
static void stayed_on(struct power_change *j, struct outcome *out)
{
    bool last = j->c.reply_lost; /* nobody is left; what was perhaps heard has come to nothing */

    (void)err_set(&out->why, -ETIMEDOUT, "%s asked host %s to shut down, but it is still on %lld s later",
                  last ? "something perhaps" : method_word(j, j->c.method), j->host->name,
                  (long long)(j->q->power.now - j->c.since));
    j->c.reply_lost = false;
    if (!last)
        next_soft(j, out, true);
    else if (j->c.accepted)
        give_up_or_cut(j, out, true);
    else
        out->state = TASK_FAILED; /* none took it: that is no reason to cut */
}

/* Soft: it takes as long as an operating system needs. A look that cannot be had says nothing. The first that
 * can tell is looked at; before anything follows from that, all. */
static void watch_it_go(struct power_change *j, struct outcome *out)
{
    const unsigned none = (unsigned)j->host->n_order;
    instant_s age = j->q->power.now - j->c.since;
    struct readings says;

    if (!can_be_seen(j)) { /* only the inventory can tell */
        out->state = TASK_SUCCEEDED;
        return;
    }
    if (age < LOOK_AFTER_S || !look(j, age >= SOFT_S, &says, out))
        return;
    if (says.off < none && says.on == none && age < SOFT_S && !look(j, true, &says, out))
        return;
    if (says.on == none)
        out->state = TASK_SUCCEEDED;
    else if (age >= SOFT_S && says.off < none)
        end_split(j, &says, out);
    else if (age >= SOFT_S)
        stayed_on(j, out);
}

static void follow(struct power_change *j, struct outcome *out)
{
    struct task_progress p = {.percent = -1};
    struct err err = {0};

    if (power_inner_follow(j, &p, &err) < 0)
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
    if (p.gone) { /* how it ended only an inventory can tell */
        out->state = TASK_FAILED;
        out->gone = true;
        return;
    }
    j->c.accepted = false; /* it was refused: no reason to cut */
    next_soft(j, out, false);
}

/* Why it is not cut, for now or for good. */
static const char *why_not_cut(const struct power_change *j, const struct readings *says)
{
    const unsigned none = (unsigned)j->host->n_order;

    if (power_spent_ms(j) > PROOF_HOLDS_S * 1000)
        return "its controller takes too long to say that it is on";
    if (says->on == none)
        return "its controller does not say that it is on";
    return says->off < none ? "its controllers do not agree that it is on" : "it is not proven empty";
}

/* The chassis is looked at once more first: what went down meanwhile is not cut, and what cannot be seen, or
 * of what one method says that it is off, is not either. The only step with several calls: nothing may come
 * between the looks and the cut, and no longer than the proof holds. Each method is asked to cut once;
 * whether an earlier process has done it is not known, so that this one looks what came of it. */
static void cut(struct power_change *j, struct outcome *out)
{
    const unsigned none = (unsigned)j->host->n_order;
    unsigned place = method_next(j, j->c.method, POWER_CAN_CUT);
    struct readings says = {.on = none, .off = none};
    struct err err = {0};

    if (place == none) {
        (void)err_set(end_unknown(out), -EIO, "host %s is still on, and no method could cut its power",
                      j->host->name);
        return;
    }
    if (j->x->config->life && strcmp(j->c.inner, j->x->config->life) != 0) {
        go_on(j, PHASE_CUT_ASKED, place);
        return;
    }
    bool seen = look(j, true, &says, out);

    if (out->interrupted)
        return;
    if (seen && says.on == none) {
        out->state = TASK_SUCCEEDED;
        return;
    }
    if (!seen || says.off < none || !may_ask(j) || power_spent_ms(j) > PROOF_HOLDS_S * 1000) {
        if (j->q->power.now - j->c.since < ASK_WITHIN_S)
            return;
        (void)err_set(end_unknown(out), -EPERM,
                      "host %s was asked to shut down and is still on; its power is not cut: %s",
                      j->host->name, why_not_cut(j, &says));
        return;
    }
    j->c.method = place;
    int r = method_cut(j, place, &err);

    if (r < 0) {
        out->why = err;
        (void)err_widen(&out->why, "%s", method_word(j, place));
    }
    if (r == 0 || method_may_have_heard(r))
        go_on(j, PHASE_CUT_ASKED, place);
    else
        j->c.method++;
}

static void watch_cut(struct power_change *j, struct outcome *out)
{
    const unsigned none = (unsigned)j->host->n_order;
    struct readings says;

    if (!look(j, true, &says, out))
        return;
    if (says.on == none)
        out->state = TASK_SUCCEEDED;
    else if (j->q->power.now - j->c.since < CUT_S)
        return;
    else if (says.off < none)
        end_split(j, &says, out);
    else
        go_on(j, PHASE_CUT, j->c.method + 1);
}

/* Nobody waits any more; but it may have gone down while nobody looked. */
static void too_late(struct power_change *j, struct outcome *out)
{
    struct readings says;

    if (can_be_seen(j) && look(j, true, &says, out) && says.on == j->host->n_order)
        out->state = TASK_SUCCEEDED;
    else if (!out->interrupted)
        (void)err_set(end_unknown(out), -ETIMEDOUT,
                      "host %s was not seen off %lld s after it was first asked", j->host->name,
                      (long long)(j->q->power.now - j->c.began));
}

void standby_step(struct power_change *j, struct outcome *out)
{
    if (j->q->power.now - j->c.began > power_time_limit_s(j)) {
        too_late(j, out);
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
