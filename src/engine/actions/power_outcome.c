/* power_outcome.c: what the end of a power change means for its host, and which changes are taken back. */
#include "engine/actions/power_outcome.h"

#include "base/cleanup.h"
#include "base/wake_method.h"
#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/actions/observed_state.h"
#include "engine/actions/power_preconditions.h"
#include "engine/actions/power_progress.h"
#include "engine/decide.h"
#include "engine/events.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/nights.h"
#include "engine/knowledge/vm_stops.h"
#include "engine/observation.h"
#include "engine/recommendations.h"
#include "engine/source_poll.h"
#include "engine/state.h"
#include "model/named.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SEEN_PERIODS 3  /* between looks: what ran so shortly before a standby began had not been stopped */
#define UNCERTAIN_S 300 /* a host that was asked to go and did not may be slow: no VMs for so long */

bool power_outcome_vm_left_by_itself(const struct engine *e, const struct action *x)
{
    return x->r.kind == ACTION_MIGRATE && e->now_seen &&
           (x->r.state == ACTION_CANCELLED || x->r.reason == REASON_OFF_VM) &&
           power_preconditions_standby_approved(e, x->r.from) &&
           !observed_state_runs_on(&e->now_seen->snap, x->r.vm, x->r.from);
}

/* ---- effects that outlast a power change
 * ------------------------------------------------------------------- */

/* Whether the host may still power off after the power-off failed or was cancelled. */
static bool off_may_follow(const struct action *x)
{
    return x->r.kind == ACTION_POWER_OFF && x->r.started != 0 && !x->r.refused &&
           (x->r.state == ACTION_FAILED || x->r.state == ACTION_CANCELLED);
}

/* Since then it was out of service, and came back or not: whatever it had heard is over. */
static bool was_out_since(const struct known_host *k, instant_s t)
{
    return k && (k->r.put_down != 0 || k->r.standby_since != 0 || k->r.woke > t || k->r.on_since > t);
}

bool power_outcome_off_uncertain(const struct engine *e, const struct action *x, instant_s now)
{
    return off_may_follow(x) && now < x->r.ended + UNCERTAIN_S &&
           !was_out_since(hosts_find(e->knowledge->hosts, x->r.host), x->r.ended);
}

static const struct action *last_that_may_go(const struct engine *e, const char *host)
{
    for (size_t i = e->actions->n; i > 0; i--) {
        if (off_may_follow(e->actions->list[i - 1]) && strcmp(e->actions->list[i - 1]->r.host, host) == 0)
            return e->actions->list[i - 1];
    }
    return NULL;
}

bool power_outcome_host_off_uncertain(const struct engine *e, const char *host, instant_s now)
{
    const struct action *x = last_that_may_go(e, host);

    return x && power_outcome_off_uncertain(e, x, now);
}

bool power_outcome_off_completed_late(const struct engine *e, const char *host)
{
    const struct action *x = last_that_may_go(e, host);

    return x && !was_out_since(hosts_find(e->knowledge->hosts, host), x->r.ended);
}

bool power_outcome_wake_still_needed(const struct engine *e, const struct action *up,
                                     const struct action *down)
{
    if (up->r.kind != ACTION_POWER_ON || !off_may_follow(down) || strcmp(up->r.host, down->r.host) != 0)
        return false;
    const struct known_host *k = hosts_find(e->knowledge->hosts, down->r.host);

    return k && k->r.put_down != 0;
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* From the call until the inventory was asked for that shows it: rather too long than too short. */
static double timed_boot_s(const struct engine *e, const struct action *x)
{
    return x->recalled || x->r.attempts != 1 ? UNKNOWN
                                             : (double)(e->now_seen->asked - power_progress_waits_since(x));
}

static enum host_state state_of(const struct engine *e, const char *host)
{
    const struct snapshot *s = engine_snapshot(e);
    uint32_t ix = s ? snapshot_find_host(s, host) : IX_NONE;

    return ix == IX_NONE ? HOST_DISCONNECTED : s->hosts[ix].is.state;
}

/* While its task runs, the inventory says of one that its manager has lost that it is on its way down. */
static bool is_lost(const struct engine *e, const char *host)
{
    return state_of(e, host) == HOST_DISCONNECTED || hosts_is_unseen(e->knowledge->hosts, host);
}

/* The method that woke the host; 0: it is not known, or several can have done it. One that is being called
 * just now may have done it, too. */
static unsigned woken_by(const struct engine *e, const struct action *x)
{
    const unsigned by = x->may_have_woken;
    const bool calls = x->job_out && x->job == JOB_POLL;

    if (x->r.started == 0)
        return 0;
    /* By the source's own call, unless the first one found the host awake. */
    if (!hosts_has_entry(e->knowledge->hosts, x->r.host))
        return x->r.unclear == ESTALE && x->r.attempts <= 1 ? 0 : WAKE_HYPERVISOR;
    if (!wake_method_name(by) || (calls && x->method_now != by))
        return 0;
    return x->settings == 0 || hosts_method_settings(e->knowledge->hosts, x->r.host, by) == x->settings ? by
                                                                                                        : 0;
}

/* What a person who asked for a test wants to know of it; NULL: nothing. */
static const char *test_result(const struct action *x, unsigned by)
{
    const bool is_test = x->r.reason == REASON_WAKE_TEST || x->r.wake_method != 0;

    if (!is_test || (by != 0 && (x->r.wake_method == 0 || by == x->r.wake_method)))
        return NULL;
    if (by != 0)
        return "another method woke the host";
    return x->may_have_woken == 0
               ? "the host is back, and it is not known what woke it: no method is proven by that"
               : "several methods may have woken the host: none is proven by that; `ballast wake HOST "
                 "--verify "
                 "--method METHOD` tests a single one";
}

bool power_outcome_host_is_back(struct engine *e, struct action *x, char why[WHY_ALL])
{
    const bool on_the_way = x->r.state == ACTION_RUNNING || x->r.state == ACTION_VERIFYING;
    const unsigned by = woken_by(e, x);
    const char *result = test_result(x, by);
    char all[WHY_ALL];

    x->is_back = true;
    (void)snprintf(why, WHY_ALL, "%s", on_the_way && x->r.why ? x->r.why : "");
    if (result && on_the_way)
        (void)snprintf(why, WHY_ALL, "%s", action_append_why(x, result, all));
    else if (result)
        (void)snprintf(why, WHY_ALL, "%s", result);
    return x->r.wake_method == 0 || by == x->r.wake_method;
}

/* The host is back by this wake. */
static void woken(struct engine *e, const struct action *x, double boot_s, instant_s now)
{
    const unsigned by = woken_by(e, x);

    hosts_woken(e->knowledge->hosts, x->r.host, boot_s, now);
    if (by != 0)
        hosts_method_proven(e->knowledge->hosts, x->r.host, by, now);
}

static void wake_failed(struct engine *e, const struct action *x, instant_s now)
{
    char text[2 * WHY_MAX];

    if (state_of(e, x->r.host) == HOST_MAINTENANCE ||
        hosts_is_held(e->knowledge->hosts, x->r.host)) { /* awake it is, but not for VMs */
        woken(e, x, UNKNOWN, now);
        return;
    }

    hosts_wake_failed(e->knowledge->hosts, x->r.host, now);
    (void)snprintf(text, sizeof text, "host %s did not wake: %s",
                   snapshot_host_name(engine_snapshot(e), x->r.host),
                   x->r.why ? x->r.why : "the reason is not known");
    events_publish(e, &(struct event){.kind = EVENT_WAKE_FAILED,
                                      .time = now,
                                      .action = &x->r,
                                      .pass = x->r.pass,
                                      .host = x->r.host,
                                      .text = text});
    decide_pass_at_once(e, now); /* another one in its place */
}

/* The host of x is not put to standby: moves that were to empty it and have not begun are cancelled. */
static void keep_vms(struct engine *e, const struct action *x, instant_s now)
{
    char why[WHY_MAX];

    (void)snprintf(why, sizeof why, "host %s is not put to standby",
                   snapshot_host_name(engine_snapshot(e), x->r.host));
    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *y = e->actions->list[i];

        if (y->r.kind == ACTION_MIGRATE && y->r.state == ACTION_APPROVED && reason_is_standby(y->r.reason) &&
            strcmp(y->r.from, x->r.host) == 0) {
            action_cancel(e, y, why, now);
            decide_pass_at_once(e, now);
        }
    }
}

void power_outcome_apply(struct engine *e, const struct action *x, instant_s now)
{
    nights_action_ended(e->knowledge->nights, engine_snapshot(e), &x->r);
    if (x->r.kind == ACTION_POWER_ON && (x->r.state == ACTION_DONE || x->is_back))
        hosts_wanted(e->knowledge->hosts, x->r.host, x->r.reason, x->r.approved);
    if (x->r.kind == ACTION_POWER_OFF && x->r.approved != 0 && x->r.state != ACTION_DONE)
        keep_vms(e, x, now);
    if (x->r.started == 0 && x->r.state != ACTION_FAILED) /* it was so already */
        return;
    if (x->r.kind == ACTION_POWER_ON && (x->r.state == ACTION_DONE || x->is_back))
        woken(e, x, timed_boot_s(e, x), now);
    else if (x->r.kind == ACTION_POWER_ON && x->r.state == ACTION_FAILED)
        wake_failed(e, x, now);
    else if (x->r.kind == ACTION_POWER_OFF &&
             (x->r.state == ACTION_DONE || (off_may_follow(x) && is_lost(e, x->r.host))))
        hosts_put_down(e->knowledge->hosts, x->r.host,
                       now); /* one that was lost on its way down can at least be woken */
}

const char *power_outcome_remaining_vms(const struct engine *e, const struct action *x, char why[WHY_MAX])
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct snapshot *s = engine_snapshot(e);
    uint32_t ix = x->r.kind == ACTION_POWER_OFF && s ? snapshot_find_host(s, x->r.host) : IX_NONE;
    uint32_t n = 0;
    const char *names = ix == IX_NONE ? NULL : named_off_vms(s, ix, NULL, &n, &a);

    if (!names)
        return NULL;
    (void)snprintf(why, WHY_MAX, "host %s is in standby, and %u VM%s not run and cannot be started there: %s",
                   s->hosts[ix].is.name, n,
                   n == 1 ? " that is registered on it does" : "s that are registered on it do", names);
    return why;
}

bool power_outcome_vms_went_down(struct engine *e, const struct action *x, instant_s now, char why[WHY_ALL])
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const instant_s since = x->r.started - SEEN_PERIODS * source_poll_period_s(e);
    uint32_t n = 0;
    const char *names = e->now_seen && x->r.started != 0
                            ? vm_stops_find(e->knowledge->stops, &e->now_seen->snap, x->r.host, since, &a, &n)
                            : NULL;

    if (!names)
        return false;
    (void)snprintf(why, WHY_ALL, "%u VM%s that ran went down with host %s: %s", n, n == 1 ? "" : "s",
                   snapshot_host_name(&e->now_seen->snap, x->r.host), names);
    events_publish(
        e, &(struct event){
               .kind = EVENT_VM_WENT_DOWN, .time = now, .pass = x->r.pass, .host = x->r.host, .text = why});
    return true;
}

void power_outcome_wake_for_vms(struct engine *e, const struct action *down, instant_s now)
{
    const struct action_record r = {
        .kind = ACTION_POWER_ON,
        .state = ACTION_RECOMMENDED,
        .priority = PRIORITY_MANDATORY,
        .host = down->r.host,
        .reason = REASON_VM_WENT_DOWN,
        .text = "wakes the host at once, because VMs that ran went down with it",
        .imbalance_after = UNKNOWN,
        .created = now,
        .seen = now,
    };

    hosts_put_down(e->knowledge->hosts, down->r.host, now); /* that it did, though it should not have */
    if (e->settings.policy.dpm.wake_for_vms && hosts_can(e->knowledge->hosts, ACTION_POWER_ON, r.host))
        action_approve(e, action_add(e, &r), APPROVED_BY_ENGINE, now);
    source_poll_want(e, now);
}

void power_outcome_look_again(struct engine *e, instant_s now)
{
    const instant_s recent = now - 2 * source_poll_period_s(e);
    char why[WHY_ALL];

    for (size_t i = e->actions->n; i > 0; i--) {
        const struct action *x = e->actions->list[i - 1];

        if (x->r.kind == ACTION_POWER_OFF && x->r.state == ACTION_DONE && x->r.ended >= recent &&
            !hosts_is_up(state_of(e, x->r.host)) && power_outcome_vms_went_down(e, x, now, why))
            power_outcome_wake_for_vms(e, x, now);
    }
}

/* ---- second thoughts ------------------------------------------------------------------------- */

/* Wakes that a host which stays on would spare. No other host has the VMs that are registered on one. */
static uint32_t wakes_wanted(const struct engine *e, const struct plan *plan)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct action_record r = recommendation_record(plan->snap, &plan->recommendations[i], 0);

        n += r.kind == ACTION_POWER_ON && plan->recommendations[i].found->code != FIND_WAKE_REGISTERED &&
             !recommendation_find_power_change(e, &r);
    }
    return n;
}

static bool cannot_be_emptied(const struct plan *plan, const char *host)
{
    for (uint32_t i = 0; i < plan->n_faults; i++) {
        const struct fault *f = &plan->faults[i];
        uint32_t at = f->host;

        if (f->code != FAULT_CANNOT_EVACUATE)
            continue;
        if (at == IX_NONE && f->vm != IX_NONE)
            at = plan->snap->vms[f->vm].host;
        if (at != IX_NONE && strcmp(plan->snap->hosts[at].is.id, host) == 0)
            return true;
    }
    return false;
}

bool power_outcome_withdraw_standbys(struct engine *e, const struct plan *plan, bool more, instant_s now)
{
    uint32_t wanted = wakes_wanted(e, plan);
    /* A host that this plan's moves relieve needs no other one; where an admin approves moves, they may not
     * come.
     */
    const struct metrics *loads =
        e->settings.policy.automation == AUTOMATION_FULL ? &plan->after : &plan->before;
    bool high = loads->dpm_high[RES_CPU] > 0 || loads->dpm_high[RES_MEM] > 0;
    bool any = false;

    if (more || (wanted == 0 && high))
        wanted = UINT32_MAX;
    for (size_t i = e->actions->n; i > 0; i--) { /* approved last, taken back first */
        struct action *x = e->actions->list[i - 1];

        if (x->r.kind != ACTION_POWER_OFF || x->r.state != ACTION_APPROVED || x->r.pass == 0)
            continue;
        if (cannot_be_emptied(plan, x->r.host)) {
            action_cancel(e, x, "the host can no longer be emptied", now);
            any = true;
        } else if (wanted > 0) {
            wanted--;
            action_cancel(e, x, "more hosts are needed now, and this one is still on", now);
            any = true;
        }
    }
    return any;
}
