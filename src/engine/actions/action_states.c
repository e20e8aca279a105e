/* action_states.c: actions through their states.
 *
 *   recommended --approve--> approved --begin--> starting --> running --> verifying --> done
 *                               |  what it rests on     \________|___________|______--> failed
 *                               +--has changed--> cancelled
 *
 * One function for each transition; step() says which state leads where. Whatever can happen at any moment (a
 * worker's answer, an inventory, time passing) ends here. */
#include "engine/actions/action_states.h"

#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/actions/copy_links.h"
#include "engine/actions/migration_timing.h"
#include "engine/actions/move_result.h"
#include "engine/actions/observed_state.h"
#include "engine/actions/own_maintenance.h"
#include "engine/actions/power_outcome.h"
#include "engine/actions/power_preconditions.h"
#include "engine/actions/power_progress.h"
#include "engine/actions/standby_maintenance.h"
#include "engine/evacuations.h"
#include "engine/events.h"
#include "engine/external_units.h"
#include "engine/four_eyes.h"
#include "engine/knowledge/cluster_demand.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/identities.h"
#include "engine/observation.h"
#include "engine/persist.h"
#include "engine/placement.h"
#include "engine/proofs.h"
#include "engine/retry.h"
#include "engine/source_poll.h"
#include "engine/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define POLL_MAX_S 10  /* between two questions for a long task's progress */
#define HANG_MIN_S 300 /* between two requests to stop a task; for a host to be seen again */
#define START_TRIES 8  /* unclear starts in a row before an inventory decides */
#define VERIFY_INVENTORIES                                                                                   \
    3                      /* inventories that may contradict a task's success before it counts as failed    \
                            */
#define CONTROLLER_TRIES 4 /* of the controllers of a host that is to be emptied, at growing distances */
#define CLOCK_SLACK_S 5    /* what a clock may be corrected by between two processes */

static const char *subject(const struct engine *e, const struct action *x)
{
    const struct snapshot *s = engine_snapshot(e);

    return x->r.vm ? snapshot_vm_name(s, x->r.vm) : snapshot_host_name(s, x->r.host);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* What depended on it, or only made sense together with it, is not begun any more. But where a host is being
 * emptied, it is as well that a VM has left it by itself. */
static void cancel_dependents(struct engine *e, const struct action *ended, instant_s now)
{
    char why[WHY_MAX];

    if ((ended->r.group == 0 && ended->needed_by.n == 0) || power_outcome_vm_left_by_itself(e, ended))
        return;

    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *x = e->actions->list[i];
        bool same_group = ended->r.group != 0 && x->r.group == ended->r.group && x->r.pass == ended->r.pass;

        if (x == ended || (x->r.state != ACTION_APPROVED && x->r.state != ACTION_RECOMMENDED))
            continue;
        if ((!action_depends_on(&x->r, ended->r.id) && !same_group) ||
            power_outcome_wake_still_needed(e, x, ended))
            continue;
        (void)snprintf(why, sizeof why, "action %llu, which it %s, was %s", (unsigned long long)ended->r.id,
                       same_group ? "belongs with" : "depends on", action_state_name(ended->r.state));
        action_enter(e, x, ACTION_CANCELLED, why, now);
        cancel_dependents(e, x, now); /* each call ends one, so this ends */
    }
}

/* Whether an operation of another VM got on, or ended well, since this one began. One that is only queued
 * may never begin either. */
static bool others_got_on(const struct engine *e, const struct action *x)
{
    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action *y = e->actions->list[i];

        if (y != x && y->r.vm && y->r.started != 0 &&
            ((y->copy.ran != 0 && y->advanced > x->r.started) ||
             (y->r.state == ACTION_DONE && y->r.ended > x->r.started)))
            return true;
    }
    return false;
}

/* code: what is known of the cause. A manager that accepted a move and did not begin it says something about
 * the host only if it began others meanwhile. */
static void fail(struct engine *e, struct action *x, int code, const char *why, instant_s now)
{
    x->blames_peer = retry_blames_peer(code) || (code == -EAGAIN && others_got_on(e, x));
    if (x->r.vm)
        x->r.unclear = (uint32_t)-code;
    action_enter(e, x, ACTION_FAILED, why, now);
    if (backoff_is_short(&x->r))
        evacuations_want_pass(e, now);
    cancel_dependents(e, x, now);
}

/* The peer itself says that it failed. What may have begun all the same, by an earlier call whose answer was
 * lost or in an earlier process, is not begun elsewhere. */
static void fail_as_told(struct engine *e, struct action *x, int code, const char *why, instant_s now)
{
    fail(e, x, code, why, now);
    x->start_refused = x->r.kind == ACTION_PLACE && x->blames_peer && x->r.attempts <= 1 && !x->recalled &&
                       !x->r.cancel_asked;
    if (x->start_refused)
        placement_try_elsewhere(e, x, now);
}

/* The host is off, as an inventory or the hypervisor says, and a VM that ran is off with it. */
static bool has_taken_vms_down(struct engine *e, struct action *x, instant_s now)
{
    char why[WHY_ALL];

    if (x->r.kind != ACTION_POWER_OFF || !power_outcome_vms_went_down(e, x, now, why))
        return false;
    fail(e, x, -EBUSY, why, now);
    power_outcome_wake_for_vms(e, x, now);
    return true;
}

/* A host that is back is kept with what happened on the way. The test of a method that it was not woken by
 * has failed. */
static void finish(struct engine *e, struct action *x, instant_s now)
{
    char why[WHY_ALL] = "";

    if (has_taken_vms_down(e, x, now))
        return;
    if (x->r.kind != ACTION_POWER_ON)
        action_enter(e, x, ACTION_DONE, power_outcome_remaining_vms(e, x, why), now);
    else if (power_outcome_host_is_back(e, x, why))
        action_enter(e, x, ACTION_DONE, why[0] ? why : NULL, now);
    else
        fail(e, x, -EREMOTEIO, why, now);
}

void action_cancel(struct engine *e, struct action *x, const char *why, instant_s now)
{
    action_enter(e, x, ACTION_CANCELLED, why, now);
    cancel_dependents(e, x, now);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void submit(struct engine *e, struct action *x, enum job_kind kind, instant_s now)
{
    struct err err = {0};
    struct job job = {
        .kind = kind,
        .id = x->r.id,
        .operation = {.uid = x->r.uid,
                      .kind = action_operation(x->r.kind),
                      .vm = x->r.vm,
                      .identity = x->r.identity,
                      .from = x->r.from,
                      .to = x->r.to,
                      .off = x->r.reason == REASON_OFF_VM,
                      .host = x->r.host,
                      .only_adopt = kind == JOB_START  ? x->only_adopt
                                    : kind == JOB_POLL ? e->paused || x->r.cancel_asked
                                                       : false},
        .task = x->r.task,
    };

    power_progress_fill_operation(e, x, kind, now, &job.operation);
    if (e->port.actuators_ops->submit(e->port.actuators, &job, &err) < 0) {
        x->retry_at = now + ACTION_POLL_S;
        return;
    }
    x->job_out = true;
    x->job = kind;
    (void)slot_usage_update(e->actions, x);
    power_preconditions_submitted(e, x);
}

/* The peer could not be asked: later again, at growing distances. */
static void ask_later(struct action *x, int code, instant_s now)
{
    x->retries++;
    x->retry_at = now + retry_wait_after_s(code, x->retries);
}

static void remember_why(struct engine *e, struct action *x, const char *why)
{
    char *own = (char *)(uintptr_t)x->r.why;

    xstrset(&own, why);
    x->r.why = own;
    action_changed(e, x);
}

/* No action waits silently: the reason is an event, too. */
static void tell_why(struct engine *e, struct action *x, const char *why, instant_s now)
{
    if (x->r.why && strcmp(x->r.why, why) == 0)
        return;
    remember_why(e, x, why);
    events_publish(
        e, &(struct event){
               .kind = EVENT_ACTION, .time = now, .action = &x->r, .pass = x->r.pass, .text = x->r.why});
}

/* ---- transitions ----------------------------------------------------------------------------- */

void action_approve(struct engine *e, struct action *x, const char *by, instant_s now)
{
    char *own = (char *)(uintptr_t)x->r.approved_by;

    xstrset(&own, by);
    x->r.approved_by = own;
    e->changes++;
    x->retry_at = 0;
    x->retries = 0;
    action_enter(e, x, ACTION_APPROVED, NULL, now);
    cluster_demand_approved(e->knowledge->cluster, &x->r, now);
    if (proofs_is_proof(&x->r))
        proofs_approved(e, x, now);
}

/* False: who asked for it has lost the right since, and it is cancelled. A host that a test of wakes has put
 * down is woken in any case. */
static bool is_still_wanted(struct engine *e, struct action *x, instant_s now)
{
    char why[WHY_MAX];
    const bool ends_test = x->r.kind == ACTION_POWER_ON && x->r.n_depends_on > 0;
    const bool still = ends_test || four_eyes_may_still(e, x->r.approved_by, x->r.approved, why, sizeof why);

    if (!still)
        action_cancel(e, x, why, now);
    return still;
}

/* approved -> starting. Stored first: from here on a restart must assume that the hypervisor was asked. */
static void begin(struct engine *e, struct action *x, instant_s now)
{
    const instant_s approved = x->r.approved;

    if (!is_still_wanted(e, x, now))
        return;
    x->r.attempts = 1;
    x->retries = 0;
    x->retry_at = 0;
    x->inventory_after = 0;
    x->only_adopt = false;
    action_enter(e, x, ACTION_STARTING, NULL, now);
    move_result_predict(e, x);
    if (persist_flush(e, NULL, now) < 0) {
        x->r.attempts = 0;
        x->r.started = 0;
        action_enter(e, x, ACTION_APPROVED, "not begun: the store could not record its start", now);
        x->r.approved = approved; /* this is no new approval: the age of the plan is kept */
        x->retry_at = e->persist->retry_at;
        return;
    }
    migration_timing_begin(e->actions, x, now);
    copy_links_begin(e, x);
    submit(e, x, JOB_START, now);
}

/* starting -> running. The task's name is stored after; if that fails it is tried again, and a restart in
 * between finds the action starting, and the task by adoption. */
static void run(struct engine *e, struct action *x, const char *task, instant_s now)
{
    char *own = (char *)(uintptr_t)x->r.task;

    xstrset(&own, task);
    x->r.task = own;
    x->retries = 0;
    x->retry_at = now; /* a short task may be over already */
    x->inventory_after = e->poll->serial;
    action_enter(e, x, ACTION_RUNNING, NULL, now);
    (void)persist_flush(e, NULL, now);
}

/* -> verifying. `why` and code tell what else is known when it is not a success that was reported. */
static void verify(struct engine *e, struct action *x, const char *why, int code, instant_s now)
{
    x->r.unclear = (uint32_t)-code;
    x->inventory_after = e->poll->serial; /* whatever was asked for until now may show the past */
    x->inventories_seen = 0;
    x->is_back = false;
    action_enter(e, x, ACTION_VERIFYING, why, now);
    source_poll_want(e, now);
}

/* ---- steps: what a state waits for ----------------------------------------------------------- */

/* An earlier process has begun to empty the host, so its controllers had answered. */
static bool was_checked(const struct engine *e, const struct action *x)
{
    for (uint32_t i = 0; x->recalled && i < x->r.n_depends_on; i++) {
        const struct action *y = action_find(e, x->r.depends_on[i]);

        if (y && y->r.started != 0)
            return true;
    }
    return false;
}

/* Before a host is emptied its controllers are asked: whether they are the host's own, and would obey. True:
 * they are being asked, or will be. */
static bool checks_controllers(struct engine *e, struct action *x, instant_s now)
{
    if (x->r.kind != ACTION_POWER_OFF || x->controllers_checked)
        return false;
    if (was_checked(e, x)) {
        x->controllers_checked = true;
        return false;
    }
    if (!hosts_has_controller(e->knowledge->hosts, x->r.host)) {
        x->controllers_checked = e->now_seen != NULL; /* before, it is not known which entry is the host's */
        return false;
    }
    if (preconditions_may_begin(e, now) && x->retry_at <= now &&
        observed_state(e->now_seen, e->knowledge->hosts, x) == AT_SOURCE)
        submit(e, x, JOB_CHECK, now);
    return true;
}

static bool is_own_maintenance(const struct engine *e, const struct action *x)
{
    return (x->r.kind == ACTION_ENTER_MAINTENANCE || x->r.kind == ACTION_EXIT_MAINTENANCE) &&
           own_maintenance_is_used(e);
}

/* No hypervisor is asked: the mark is stored with the end of the action. */
static void finish_own_maintenance(struct engine *e, struct action *x, instant_s now)
{
    if (!is_still_wanted(e, x, now))
        return;
    x->r.started = now;
    own_maintenance_apply(e, x, now);
    finish(e, x, now);
    source_poll_want(e, now);
}

static void step_approved(struct engine *e, struct action *x, instant_s now)
{
    char why[WHY_MAX];

    if (x->job_out)
        return;
    if (x->r.kind == ACTION_EXIT_MAINTENANCE && is_own_maintenance(e, x)) { /* also of a host that is off */
        finish_own_maintenance(e, x, now);
        return;
    }
    if (x->r.kind == ACTION_POWER_OFF)
        power_preconditions_want_proof(e, x, now);
    enum preconditions may = preconditions(e, x, now, why);

    if (may == READY && preconditions_may_begin(e, now))
        may = external_units_check(e, x, now, why);
    switch (may) {
    case NEVER:
        action_cancel(e, x, why, now);
        return;
    case WAIT:
        if (checks_controllers(e, x, now))
            return;
        if (why[0] && !(x->r.why && strcmp(x->r.why, why) == 0))
            remember_why(e, x, why);
        x->waited_serial = e->now_seen ? e->now_seen->serial : 0;
        if (x->r.kind == ACTION_MIGRATE && e->now_seen && slot_usage_is_full(e->actions, &e->settings.policy))
            action_queue_queue(e->actions, x);
        return;
    case READY:
        break;
    }
    if (!preconditions_may_begin(e, now) || x->retry_at > now)
        return;
    if (observed_state(e->now_seen, e->knowledge->hosts, x) == AT_TARGET) {
        finish(e, x, now);
        return;
    }
    if (is_own_maintenance(e, x))
        finish_own_maintenance(e, x, now);
    else if (!checks_controllers(e, x, now))
        submit(e, x, JOB_CHECK, now);
}

/* The call was made, or may have been, and the VM is on a third host. A migration has not failed then:
 * another party moved the VM meanwhile. A power-on has failed: the VM was started on the wrong host, perhaps
 * by our own call, because vCenter takes the host where a VM is registered if the given host does not suit.
 */
static void elsewhere(struct engine *e, struct action *x, instant_s now)
{
    char why[WHY_MAX];

    if (x->r.kind == ACTION_MIGRATE) {
        (void)snprintf(why, sizeof why, "%s is neither where it was nor where it was to go", subject(e, x));
        action_cancel(e, x, why, now);
        return;
    }
    const struct snapshot *s = &e->now_seen->snap;

    if (x->r.kind == ACTION_PLACE)
        (void)snprintf(why, sizeof why, "VM %s runs on host %s and not on %s", subject(e, x),
                       s->hosts[s->vms[snapshot_find_vm(s, x->r.vm)].host].is.name,
                       snapshot_host_name(s, x->r.to));
    else
        (void)snprintf(why, sizeof why, "host %s is %s and not as it was to be", subject(e, x),
                       host_state_name(s->hosts[snapshot_find_host(s, x->r.host)].is.state));
    fail(e, x, -ESTALE, why, now);
}

/* One that gets on, however slowly, is not taken for one that hangs: it would be begun anew, and be as slow.
 */
static instant_s deadline(const struct engine *e, const struct action *x)
{
    if (!x->r.vm)
        return power_progress_waits_since(x) + power_progress_timeout_s(e, x);
    return (x->advanced > x->r.started ? x->advanced : x->r.started) +
           copy_progress_patience_s(&x->progress, migration_timing_mem_mb(e->actions, x) + x->copy.disks_mb);
}

/* Whether a start with an unclear answer is still wanted: asking once more may begin it. Not
 * long after it was approved (a service that was down for a day would power on a VM that an admin has shut
 * down since); maintenance stays wanted until an admin says otherwise. */
static bool may_start_again(const struct engine *e, const struct action *x, instant_s now)
{
    instant_s age = now - x->r.started;
    bool grows_old = x->r.vm || x->r.kind == ACTION_POWER_ON || x->r.kind == ACTION_POWER_OFF;

    if (x->r.kind == ACTION_POWER_OFF && !power_preconditions_standby_is_safe(e, x, now))
        return false;
    return !grows_old || (age >= -CLOCK_SLACK_S && age <= source_poll_stale_after_s(e));
}

/* An unclear start: the hypervisor may have received it. The inventory says whether it has happened; if not,
 * start() is repeated, which adopts a task that runs; where nothing is to begin, that is all that it does. */
static void step_starting(struct engine *e, struct action *x, instant_s now)
{
    bool lost = false;
    char why[WHY_MAX];

    if (x->job_out || x->retry_at > now)
        return;
    if (!observed_state_is_known(e->now_seen, x)) {
        source_poll_want(e, now);
        return;
    }
    switch (observed_state(e->now_seen, e->knowledge->hosts, x)) {
    case AT_TARGET:
        finish(e, x, now);
        return;
    case ELSEWHERE:
        elsewhere(e, x, now);
        return;
    case GONE:
        (void)snprintf(why, sizeof why, "%s is no longer there", subject(e, x));
        action_cancel(e, x, why, now);
        return;
    case NOT_SEEN:
        lost = true;
        break;
    case AT_SOURCE:
        break;
    }
    if (lost ? !x->r.vm && now >= deadline(e, x) : x->retries >= START_TRIES) {
        verify(e, x, x->r.why, -ETIMEDOUT, now);
        return;
    }
    if (lost && x->r.kind != ACTION_POWER_OFF) {
        source_poll_want(e, now + retry_wait_s(++x->retries));
        return;
    }
    /* of a host that is lost, the actuator knows whether it is off */
    x->only_adopt = lost || e->paused || !may_start_again(e, x, now);
    x->r.attempts++;
    action_changed(e, x);
    submit(e, x, JOB_START, now);
}

/* A service that was down, stopped or paused wakes up with all patience spent, and so it does where the clock
 * was set forward. The actuators have the last word before anything is given up: they know whether a host was
 * asked to wake at all, and whether a move has got on. Of a host that is to go the inventory knows more. */
static bool has_time_left(const struct action *x, instant_s until, instant_s now)
{
    return now < until || ((x->r.vm || x->r.kind == ACTION_POWER_ON) && x->polled < until);
}

static void tell_given_up(struct engine *e, struct action *x, instant_s now)
{
    char why[WHY_MAX], all[WHY_ALL];

    if (x->progress.has_no_end)
        copy_progress_say(&x->progress, why, sizeof why);
    else if (x->r.kind == ACTION_POWER_ON)
        (void)snprintf(why, sizeof why, "the host did not come back in time");
    else
        (void)snprintf(why, sizeof why, "no progress for %lld s; cancellation requested from the hypervisor",
                       (long long)(now - (x->advanced > x->r.started ? x->advanced : x->r.started)));
    remember_why(e, x, action_append_why(x, why, all));
}

static void step_running(struct engine *e, struct action *x, instant_s now)
{
    x->is_back = power_progress_host_is_awake(e, x, now);
    if (x->is_back && !power_progress_tells_method(x)) {
        finish(e, x, now);
        return;
    }
    if (x->job_out || x->retry_at > now)
        return;
    x->progress.has_no_end =
        x->progress.has_no_end || (!x->r.cancel_asked && copy_progress_has_no_end(e->actions, x, now));
    if (now < x->cancel_at ||
        (!x->r.cancel_asked && !x->progress.has_no_end && has_time_left(x, deadline(e, x), now))) {
        submit(e, x, JOB_POLL, now);
        return;
    }
    if (!x->r.cancel_asked)
        tell_given_up(e, x, now);
    x->r.cancel_asked = true;
    action_changed(e, x);
    x->cancel_at = now + HANG_MIN_S;
    submit(e, x, JOB_CANCEL, now);
}

/* A host that was to be woken, and that the source did not list even before. */
static bool has_left(const struct engine *e, const struct action *x)
{
    uint32_t ix = x->r.host ? snapshot_find_host(&e->now_seen->snap, x->r.host) : IX_NONE;

    return ix != IX_NONE && e->now_seen->snap.hosts[ix].is.left_inventory;
}

/* What an inventory says that contradicts the task's end. */
static void contradicted(struct engine *e, struct action *x, enum observed_state at, instant_s now)
{
    char why[WHY_ALL];
    const char *what = has_left(e, x)    ? "it is not in the inventory: add it to its cluster again"
                       : at == AT_SOURCE ? "the inventory shows no change"
                       : at == GONE      ? "it is no longer in the inventory"
                       : at == NOT_SEEN  ? "its host is disconnected"
                                         : "the inventory shows it elsewhere";

    if (x->r.unclear != 0) {
        (void)snprintf(why, sizeof why, "%s; %s", x->r.why ? x->r.why : "no end of the task was reported",
                       what);
        /* a VM that was not there to be moved is no failure; a host that does not wake or is lost is one */
        if (x->r.unclear == ESTALE && x->r.kind != ACTION_POWER_ON && at != NOT_SEEN)
            action_cancel(e, x, why, now);
        else
            fail(e, x, x->r.unclear == ETIMEDOUT ? -ECONNRESET : -(int)x->r.unclear, why, now);
        return;
    }
    if (at != GONE &&
        ++x->inventories_seen < VERIFY_INVENTORIES) { /* the source may be behind its own tasks */
        x->inventory_after = e->now_seen->serial;
        source_poll_want(e, now + RETRY_FIRST_S);
        return;
    }
    (void)snprintf(why, sizeof why, "the hypervisor says that it is done, but %s", what);
    fail(e, x, at == AT_SOURCE ? -EREMOTEIO : -ESTALE, why, now);
}

/* The outcome is not known yet: a host that is not seen will be back, or another host will show the VM. A
 * woken host takes minutes to boot, though its controller answers at once; the wait has a limit. */
static bool must_look_again(const struct engine *e, const struct action *x, enum observed_state at,
                            instant_s now)
{
    if (x->r.kind == ACTION_POWER_ON)
        return (at == NOT_SEEN || (at == AT_SOURCE && (x->r.unclear == 0 || x->r.unclear == ESTALE))) &&
               now < deadline(e, x);
    if (x->r.kind == ACTION_POWER_OFF) /* on its way down it may be lost before it is seen to sleep */
        return (at == NOT_SEEN && now < x->r.started + HANG_MIN_S) ||
               (at == AT_SOURCE && x->r.unclear == 0 && now < deadline(e, x));
    return at == NOT_SEEN;
}

static void step_verifying(struct engine *e, struct action *x, instant_s now)
{
    if (!observed_state_is_known(e->now_seen, x)) {
        source_poll_want(e, now + RETRY_FIRST_S);
        return;
    }
    enum observed_state at = observed_state(e->now_seen, e->knowledge->hosts, x);

    if (at == AT_TARGET) {
        finish(e, x, now);
        return;
    }
    if (at == NOT_SEEN && x->r.unclear == 0 && has_taken_vms_down(e, x, now))
        return;
    if (must_look_again(e, x, at, now)) {
        x->inventory_after = e->now_seen->serial;
        x->retries++;
        source_poll_want(e, now + (x->r.vm ? retry_wait_s(x->retries)
                                           : power_progress_inventory_pause_s(e, x, x->retries)));
        return;
    }
    if (at == ELSEWHERE && x->r.kind != ACTION_MIGRATE) {
        elsewhere(e, x, now);
        return;
    }
    contradicted(e, x, at, now);
}

static void step(struct engine *e, struct action *x, instant_s now)
{
    switch (x->r.state) {
    case ACTION_APPROVED:
        step_approved(e, x, now);
        return;
    case ACTION_STARTING:
        step_starting(e, x, now);
        return;
    case ACTION_RUNNING:
        step_running(e, x, now);
        return;
    case ACTION_VERIFYING:
        step_verifying(e, x, now);
        return;
    case ACTION_RECOMMENDED:
    case ACTION_DONE:
    case ACTION_FAILED:
    case ACTION_CANCELLED:
    case ACTION_REJECTED:
    case ACTION_EXPIRED:
    case action_state_count:
        return;
    }
}

/* More urgent ones first; within a priority in the order of the plan. */
void action_states_advance(struct engine *e, instant_s now)
{
    struct action *x;

    power_preconditions_count_changes(e);
    action_queue_begin(e->actions);
    while ((x = action_queue_next(e->actions, slot_usage_is_full(e->actions, &e->settings.policy))))
        step(e, x, now);
}

/* What controllers answered, or are about to, by former settings tells nothing of the present ones. */
void action_states_reconfigured(struct engine *e)
{
    const struct action_list *power = &e->actions->usage.power;

    for (size_t i = 0; i < power->n; i++) {
        struct action *x = power->items[i];

        if (x->r.state != ACTION_APPROVED)
            continue;
        x->controllers_checked = false;
        x->check_is_old = x->job_out;
        x->retries = 0;
        x->retry_at = 0;
        x->waited_serial = 0; /* whether it may go on is asked now */
        (void)slot_usage_update(e->actions, x);
    }
}

/* ---- answers of the workers ------------------------------------------------------------------ */

/* The controllers of a host that still has its VMs were asked. What empties the host waits for the answer:
 * see preconditions(). A controller that does not answer may be restarting; but not for long. */
static void on_controllers_checked(struct engine *e, struct action *x, const struct job_result *result,
                                   instant_s now)
{
    if (result->code == 0) {
        x->controllers_checked = true;
        x->retries = 0;
        x->retry_at = 0;
        if (x->r.why)
            remember_why(e, x, NULL);
        action_queue_add_all(e->actions); /* the moves that wait for it */
        return;
    }
    if (retry_is_transient(result->code) && x->retries + 1 < CONTROLLER_TRIES) {
        tell_why(e, x, result->err.text, now);
        ask_later(x, result->code, now);
        return;
    }
    identities_failed(e->knowledge->identities, x->r.host, &result->err, now);
    fail(e, x, result->code, result->err.text, now);
}

/* A host that is empty and whose controllers have fallen silent goes back into service. */
static bool gives_up(const struct engine *e, const struct action *x)
{
    return x->r.kind == ACTION_POWER_OFF && x->retries + 1 >= START_TRIES &&
           hosts_has_controller(e->knowledge->hosts, x->r.host);
}

static void on_checked(struct engine *e, struct action *x, const struct job_result *result, instant_s now)
{
    char why[WHY_MAX];

    if (x->r.state != ACTION_APPROVED) /* rejected while it was being checked */
        return;
    if (x->r.kind == ACTION_POWER_OFF && !x->controllers_checked) {
        on_controllers_checked(e, x, result, now);
        return;
    }
    if (result->code == 0) {
        /* the world may have changed while the worker asked */
        enum preconditions r = preconditions(e, x, now, why);

        if (r == NEVER)
            action_cancel(e, x, why, now);
        else if (r == READY && preconditions_may_begin(e, now))
            begin(e, x, now);
        return;
    }
    if (result->code == -ESTALE && x->r.kind == ACTION_POWER_ON) {
        /* on already, or nothing its manager could wake: it is needed, so it must be seen to come */
        x->r.started = now;
        verify(e, x, result->err.text, -ESTALE, now);
    } else if (result->code == -ESTALE || result->code == -ENOENT) {
        action_cancel(e, x, result->err.text, now);
        source_poll_want(e, now);
    } else if (retry_is_transient(result->code) && !gives_up(e, x)) {
        if (action_is_of_power(x))
            tell_why(e, x, result->err.text, now);
        else
            remember_why(e, x, result->err.text);
        ask_later(x, result->code, now);
    } else {
        fail(e, x, result->code, result->err.text, now);
    }
}

/* The actuator was never called. While the service is paused the action waits. */
static void was_not_begun(struct engine *e, struct action *x, instant_s now)
{
    bool is_lost =
        x->r.kind == ACTION_POWER_OFF && observed_state(e->now_seen, e->knowledge->hosts, x) == NOT_SEEN;

    if (is_lost || may_start_again(e, x, now)) /* of a host that is lost the deadline decides */
        x->retry_at = now + POLL_MAX_S;
    else
        action_cancel(e, x, "its beginning was not heard of, and it is too late to begin it now", now);
}

static void on_started(struct engine *e, struct action *x, const struct job_result *result, instant_s now)
{
    if (x->r.state != ACTION_STARTING)
        return;
    if (result->code == 0) {
        run(e, x, result->task, now);
    } else if (result->code == -ESRCH && x->only_adopt) {
        was_not_begun(e, x, now);
    } else if (result->code == -ESTALE && x->r.kind == ACTION_POWER_OFF && x->r.attempts > 1) {
        verify(e, x, NULL, 0, now);       /* off already: an earlier call has arrived */
    } else if (result->code == -ESTALE) { /* arrived, or moved by an admin: an inventory tells */
        verify(e, x, result->err.text, -ESTALE, now);
    } else if (result->code == -ENOENT) {
        action_cancel(e, x, result->err.text, now);
        source_poll_want(e, now);
    } else if (retry_is_transient(
                   result->code)) { /* the peer may have begun: an inventory first, then once more */
        remember_why(e, x, result->err.text);
        x->inventory_after = e->poll->serial;
        ask_later(x, result->code, now);
    } else {
        x->r.refused = result->code == -EPERM && x->retries == 0 && !x->recalled;
        fail_as_told(e, x, result->code, result->err.text, now);
    }
}

static void on_polled(struct engine *e, struct action *x, const struct job_result *result, instant_s now)
{
    const struct task_progress *p = &result->progress;
    instant_s age = now - x->r.started;
    char why[WHY_ALL];

    if (x->r.state != ACTION_RUNNING)
        return;
    x->polled = now;
    if (result->code < 0) {
        if (x->r.kind == ACTION_POWER_OFF &&
            now >= deadline(e, x)) /* no answer will come: an inventory decides */
            verify(e, x, result->err.text, -ETIMEDOUT, now);
        else
            ask_later(x, result->code, now);
        return;
    }
    x->retries = 0;
    migration_timing_polled(x, p, now);
    standby_maintenance_note(e, x, p, now);
    power_progress_methods(e, x, p, now);
    switch (p->state) {
    case TASK_QUEUED:
    case TASK_RUNNING:
        if (copy_progress_take(&x->progress, p, migration_timing_mem_mb(e->actions, x), now))
            x->advanced = now;
        copy_links_learn(e, x, now);
        x->r.percent = p->percent > x->r.percent ? p->percent : x->r.percent;
        power_progress_record(e, x, p, now);
        x->retry_at = now + (age / 10 < ACTION_POLL_S ? ACTION_POLL_S
                             : age / 10 < POLL_MAX_S  ? age / 10
                                                      : POLL_MAX_S);
        return;
    case TASK_SUCCEEDED:
        verify(e, x, x->r.kind == ACTION_POWER_ON ? x->r.why : NULL, 0, now);
        return;
    case TASK_FAILED:
        if (p->gone)
            verify(e, x,
                   p->why.text[0] ? action_append_why(x, p->why.text, why)
                                  : "the hypervisor no longer knows the task",
                   -ENOENT, now);
        else if (!power_progress_cancel_unasked(e, x, p, now)) {
            x->r.refused = p->refused && !x->recalled;
            /* a move that hung until the engine cancelled it; one that had no end says nothing of its host */
            fail_as_told(e, x,
                         x->progress.has_no_end ? -ECANCELED
                         : x->r.cancel_asked    ? -EREMOTEIO
                                                : p->why.code,
                         action_append_why(x, p->why.text, why), now);
        }
        return;
    }
}

static void on_cancelled(struct engine *e, struct action *x, const struct job_result *result, instant_s now)
{
    if (x->r.state != ACTION_RUNNING)
        return;
    if (x->r.kind == ACTION_POWER_ON) /* it is needed now: another one is looked for, and this one given up */
        verify(e, x, x->r.why, -ETIMEDOUT, now);
    else if (result->code == -ENOTSUP)
        remember_why(e, x, "it takes long, and the hypervisor cannot stop it: it is followed to its end");
    else if (result->code < 0)
        x->cancel_at = now + retry_wait_s(++x->retries);
    x->retry_at = now + ACTION_POLL_S;
}

static void take_result(struct engine *e, struct action *x, const struct job_result *result, instant_s now)
{
    switch (x->job) {
    case JOB_CHECK:
        on_checked(e, x, result, now);
        return;
    case JOB_START:
        on_started(e, x, result, now);
        return;
    case JOB_POLL:
        on_polled(e, x, result, now);
        return;
    case JOB_CANCEL:
        on_cancelled(e, x, result, now);
        return;
    case JOB_SET_POOLS:
    case JOB_MEASURE:
    case JOB_IDENTIFY:
        return;
    }
}

void action_states_result(struct engine *e, const struct job *job, const struct job_result *result,
                          instant_s now)
{
    struct action *x = action_find(e, job->id);

    if (!x || !x->job_out || x->job != job->kind)
        return; /* of an earlier life; nothing that an inventory would not tell too */
    x->job_out = false;
    bool gave_up = slot_usage_update(e->actions, x);

    power_preconditions_count_changes(e);
    if (x->check_is_old && job->kind == JOB_CHECK)
        x->check_is_old = false; /* it is asked once more */
    else
        take_result(e, x, result, now);
    if (gave_up && x->r.state == ACTION_APPROVED) /* it was not begun, and others may */
        action_queue_wake(e->actions, x);
    action_queue_add(e->actions, x);
}
