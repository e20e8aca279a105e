/* standby.c: puts a host to standby: a soft shutdown by one method after the other. Power is cut only where
 * all of them failed, the configuration allows it and the caller says that the host is proven empty.
 *
 * A request whose answer was lost may have been heard: the host gets the full time to go down before it
 * counts as failed and before a harder request. When methods disagree about the chassis, it is unknown
 * which is right, or whether one belongs to another machine: no further request is sent, and the inventory
 * decides.
 */
#include "actuators/power/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Whether a request that ends the host's workload is allowed. Checked anew right before every such call: a
 * controller may need so long to say which machine it is that a VM has come meanwhile. */
static bool may_ask(const struct power_change *j)
{
    return j->q->power.proven_empty && !j->q->only_adopt && power_spent_ms(j) <= PROOF_HOLDS_S * 1000;
}

static bool can_be_seen(const struct power_change *j)
{
    return method_next(j, 0, POWER_CAN_TELL) < j->host->n_sequence;
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

/* The operation ends; only an inventory can tell the host's state. */
static struct err *end_unknown(struct outcome *out)
{
    out->state = TASK_FAILED;
    out->gone = true;
    return &out->why;
}

/* No soft method is left; the chassis has just been read as on, or no method accepted the request. */
static void give_up_or_cut(struct power_change *j, struct outcome *out, bool seen_on)
{
    if (seen_on && j->host->hard_off && method_next(j, 0, POWER_CAN_CUT) < j->host->n_sequence) {
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

    if (next < j->host->n_sequence)
        go_on(j, PHASE_ASK, next);
    else
        give_up_or_cut(j, out, seen_on);
}

/* All methods were called. Where an answer was lost the host may be going down. */
static void all_asked(struct power_change *j, struct outcome *out)
{
    if (!j->c.reply_lost) { /* accepted: the host stayed on for the full time */
        give_up_or_cut(j, out, j->c.accepted);
        return;
    }
    go_on(j, PHASE_ASKED, (unsigned)j->host->n_sequence - 1);
}

/* The controller is identified once more right before: addresses can change at any time. The request itself
 * is for the one identified so (`only` in ballast/power.h). */
static int identify(const struct power_change *j, unsigned index, struct controller_identity *ret,
                    struct err *err)
{
    int r = j->sequence[index] == POWER_HYPERVISOR ? 0 : power_identity_check(j, index, ret, err);

    return r == 0 || r == -EPERM || r == -ECANCELED ? r : -EHOSTUNREACH; /* nothing was asked of it */
}

/* The source is asked, too: a guest may have started, or another node's vote be gone. A host that it counts
 * as off already is none that it needs. */
static int ask_source(const struct power_change *j, unsigned index, struct err *err)
{
    if (j->sequence[index] == POWER_HYPERVISOR)
        return 0;
    int r = power_inner_allows(j, err);

    return r == 0 ? tell_holds(j, err) : r == -ESTALE ? 0 : r;
}

/* It has something against the shutdown, or does not answer: again, but not for long. */
static void held_back(const struct power_change *j, const struct err *why, struct outcome *out)
{
    if (why->code == -ECANCELED) {
        out->interrupted = true;
        out->why = *why;
    } else if (!method_may_have_heard(why->code) || j->q->power.now - j->c.since >= ASK_WITHIN_S) {
        out->state = TASK_FAILED;
        out->gone = j->c.reply_lost || j->c.accepted;
        out->why = *why;
        (void)err_widen(&out->why, "host %s was not asked to shut down%s", j->host->name,
                        out->gone ? " once more" : "");
    }
}

static int request(struct power_change *j, unsigned index, const struct controller_identity *only,
                   struct err *err)
{
    if (j->sequence[index] == POWER_HYPERVISOR)
        return power_inner_begin(j, err);
    int r = method_shut_down(j, index, only, err);

    if (r == 0)
        go_on(j, PHASE_ASKED, index);
    return r;
}

/* With the next proof, but not for ever. */
static void ask_later(const struct power_change *j, struct outcome *out)
{
    if (j->q->power.now - j->c.since < ASK_WITHIN_S)
        return;
    out->state = TASK_FAILED;
    out->gone = j->c.reply_lost;
    (void)err_set(&out->why, -EPERM, "host %s was not asked to shut down%s: it is not proven empty any more",
                  j->host->name, j->c.reply_lost || j->c.accepted ? " once more" : "");
}

static void ask(struct power_change *j, struct outcome *out)
{
    unsigned index = method_next(j, j->c.method, POWER_CAN_SHUT_DOWN);
    struct controller_identity is = {0};
    struct err err = {0};

    if (index == j->host->n_sequence) {
        all_asked(j, out);
        return;
    }
    if (!may_ask(j)) {
        ask_later(j, out);
        return;
    }
    j->c.method = index;
    int r = identify(j, index, &is, &err);

    if (r == 0 && ask_source(j, index, &err) < 0) {
        held_back(j, &err, out);
        return;
    }
    if (r == 0 && !may_ask(j)) {
        ask_later(j, out);
        return;
    }
    if (r == 0 && tell_is_due(j, index)) {
        tell_prepare(j, out);
        return;
    }
    if (r == 0)
        r = request(j, index, &is, &err);
    if (r == 0 || method_may_have_heard(r))
        j->c.may_have_acted |= method_bit(j, index);
    if (r == 0) {
        j->c.accepted = true;
        j->c.reply_lost = false;
        return;
    }
    if (r == -ESTALE && j->sequence[index] == POWER_HYPERVISOR) { /* in standby already */
        out->state = TASK_SUCCEEDED;
        return;
    }
    out->why = err;
    if (r == -ECANCELED) {
        out->interrupted = true;
        return;
    }
    (void)err_widen(&out->why, "%s", method_word(j, index));
    if (r == -EPERM && j->sequence[index] != POWER_HYPERVISOR) { /* it may be another machine's */
        out->state = TASK_FAILED;
        out->gone = j->c.reply_lost || j->c.accepted;
        return;
    }
    j->c.reply_lost = j->c.reply_lost || method_may_have_heard(r);
    if (method_may_have_heard(r) && j->sequence[index] == POWER_HYPERVISOR &&
        j->q->power.now - j->c.since < ADOPT_FOR_S) {
        out->why = (struct err){0}; /* the task may run; start() adopts it */
        return;
    }
    go_on(j, PHASE_ASK, index + 1);
}

/* Reads the chassis; false: no result now. */
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

/* One method says on, another off: one of them may belong to another machine, so no further request is
 * sent. */
static void end_split(struct power_change *j, const struct readings *says, struct outcome *out)
{
    j->c.controllers_disagree = false;
    (void)power_controllers_disagree(j, says, out);
    (void)end_unknown(out);
}

/* The time limit has passed, and the chassis is still on. */
static void stayed_on(struct power_change *j, struct outcome *out)
{
    bool last = j->c.reply_lost; /* no method is left, and the lost request had no effect */

    (void)err_set(&out->why, -ETIMEDOUT, "%s asked host %s to shut down, but it is still on %lld s later",
                  last ? "something perhaps" : method_word(j, j->c.method), j->host->name,
                  (long long)(j->q->power.now - j->c.since));
    j->c.reply_lost = false;
    if (!last)
        next_soft(j, out, true);
    else if (j->c.accepted)
        give_up_or_cut(j, out, true);
    else
        out->state = TASK_FAILED; /* no method accepted: that does not justify a cut */
}

/* A soft shutdown takes as long as the operating system needs. A failed reading says nothing. One method
 * is read first; before any consequence, all. */
static void watch_it_go(struct power_change *j, struct outcome *out)
{
    const unsigned none = (unsigned)j->host->n_sequence;
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
        return; /* the hypervisor does not answer now */
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
    if (p.gone) { /* only an inventory can tell how it ended */
        out->state = TASK_FAILED;
        out->gone = true;
        return;
    }
    j->c.accepted = false; /* the hypervisor refused: that does not justify a cut */
    next_soft(j, out, false);
}

/* Why the power is not cut, for now or for good. source: its words, or "". */
static const char *why_not_cut(const struct power_change *j, const struct readings *says, const char *source)
{
    const unsigned none = (unsigned)j->host->n_sequence;

    if (source[0])
        return source;
    if (power_spent_ms(j) > PROOF_HOLDS_S * 1000)
        return "its controller takes too long to say that it is on";
    if (says->on == none)
        return "its controller does not say that it is on";
    return says->off < none ? "its controllers do not agree that it is on" : "it is not proven empty";
}

/* Reads the chassis once more first: a host that is off by now, one that cannot be read and one that any
 * method calls off is not cut. The only step with several calls, because reading and cutting must not be
 * separated, and must happen while the proof holds. Each method is asked to cut once; whether an earlier
 * process did so is unknown, so this one reads the result. */
static void cut(struct power_change *j, struct outcome *out)
{
    const unsigned none = (unsigned)j->host->n_sequence;
    unsigned index = method_next(j, j->c.method, POWER_CAN_CUT);
    struct readings says = {.on = none, .off = none};
    struct controller_identity is = {0};
    struct err err = {0};
    struct err held = {0};

    if (index == none) {
        (void)err_set(end_unknown(out), -EIO, "host %s is still on, and no method could cut its power",
                      j->host->name);
        return;
    }
    if (j->x->config->life && strcmp(j->c.inner, j->x->config->life) != 0) {
        go_on(j, PHASE_CUT_ASKED, index);
        return;
    }
    bool seen = look(j, true, &says, out);

    if (out->interrupted)
        return;
    if (seen && says.on == none) {
        out->state = TASK_SUCCEEDED;
        return;
    }
    bool may = seen && says.off == none && may_ask(j);
    int r = may ? power_identity_check(j, index, &is, &err) : 0;

    int source = may && r == 0 ? ask_source(j, index, &held) : 0;

    if (source == -ECANCELED) {
        out->interrupted = true;
        out->why = held;
        return;
    }
    if (!may || (r == 0 && (source < 0 || !may_ask(j)))) {
        if (j->q->power.now - j->c.since < ASK_WITHIN_S)
            return;
        (void)err_set(end_unknown(out), -EPERM,
                      "host %s was asked to shut down and is still on; its power is not cut: %s",
                      j->host->name, why_not_cut(j, &says, source < 0 ? held.text : ""));
        return;
    }
    j->c.method = index;
    if (r < 0)
        r = r == -ECANCELED ? r : -EPERM; /* nothing was asked of it */
    else
        r = method_cut(j, index, &is, &err);

    if (r < 0) {
        out->why = err;
        (void)err_widen(&out->why, "%s", method_word(j, index));
    }
    if (r == 0 || method_may_have_heard(r))
        go_on(j, PHASE_CUT_ASKED, index);
    else
        j->c.method++;
}

static void watch_cut(struct power_change *j, struct outcome *out)
{
    const unsigned none = (unsigned)j->host->n_sequence;
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

/* The time limit has passed; but the host may have gone down since the last reading. */
static void too_late(struct power_change *j, struct outcome *out)
{
    struct readings says;

    if (can_be_seen(j) && look(j, true, &says, out) && says.on == j->host->n_sequence)
        out->state = TASK_SUCCEEDED;
    else if (!out->interrupted)
        (void)err_set(end_unknown(out), -ETIMEDOUT, "host %s is still not off %lld s after the first request",
                      j->host->name, (long long)(j->q->power.now - j->c.began));
}

void standby_step(struct power_change *j, struct outcome *out)
{
    if (j->q->power.now - j->c.began > power_time_limit_s(j)) {
        too_late(j, out);
        return;
    }
    switch (j->c.phase) {
    case PHASE_TELL:
        if (may_ask(j) && j->q->power.maintenance_is_ours)
            tell(j, out);
        else
            ask_later(j, out);
        if (out->state == TASK_FAILED && tell_not_begun(j))
            out->maintenance = MAINTENANCE_NOT_OURS;
        return;
    case PHASE_TOLD:
        tell_follow(j, out);
        return;
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
