/* preconditions.c: what must hold before an approved action begins, kind by kind. */
#include "engine/actions/preconditions.h"

#include "base/instant.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/actions/copy_links.h"
#include "engine/actions/observed_state.h"
#include "engine/actions/power_outcome.h"
#include "engine/actions/power_preconditions.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/knowledge.h"
#include "engine/observation.h"
#include "engine/other_service.h"
#include "engine/persist.h"
#include "engine/source_poll.h"
#include "engine/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANDATORY_HOLDS 6 /* times as long as another plan that must be done anyway */
#define CLOCK_SLACK_S 5   /* what a clock may be corrected by between two processes */

/* ---- approved: may it begin? ----------------------------------------------------------------- */

/* The host is to be empty, whether an inventory shows it by now or not. */
static bool host_is_to_leave(const struct engine *e, const char *host)
{
    return power_preconditions_standby_approved(e, host) ||
           slot_usage_of_host(e->actions, host)->to_maintenance > 0;
}

/* The host that it empties has been put back into service. What puts it to standby may have been approved
 * after the newest inventory, along with this. */
static bool evacuation_is_over(const struct engine *e, const struct action *x)
{
    const struct snapshot *s = &e->now_seen->snap;
    uint32_t from = snapshot_find_host(s, x->r.from);
    bool sleep = reason_is_standby(x->r.reason);

    return (x->r.reason == REASON_MAINTENANCE || sleep) && s->hosts[from].is.state == HOST_ON &&
           !(sleep && power_preconditions_standby_approved(e, x->r.from));
}

/* What it depends on is to switch that host on, and has not ended. */
static bool waits_for_host(const struct engine *e, const struct action *x, const char *host)
{
    for (uint32_t i = 0; i < x->r.n_depends_on; i++) {
        const struct action *y = action_find(e, x->r.depends_on[i]);

        if (y && y->r.kind == ACTION_POWER_ON && !action_ended(y) && strcmp(y->r.host, host) == 0)
            return true;
    }
    return false;
}

/* Whether the VM is where it was planned for. False with what has changed. */
static bool vm_makes_sense(const struct engine *e, const struct action *x, char *why)
{
    const struct snapshot *s = &e->now_seen->snap;
    const char *name = snapshot_vm_name(s, x->r.vm);
    uint32_t ix = snapshot_find_vm(s, x->r.vm);
    bool starts = x->r.kind == ACTION_PLACE;

    if (ix != IX_NONE && x->r.identity && s->vms[ix].is.identity &&
        strcmp(x->r.identity, s->vms[ix].is.identity) != 0) {
        (void)snprintf(why, WHY_MAX,
                       "VM %s is another one than was meant: its id was used again (%.60s, not %.60s)", name,
                       s->vms[ix].is.identity, x->r.identity);
        return false;
    }
    switch (observed_state(e->now_seen, e->knowledge->hosts, x)) {
    case AT_SOURCE:
        if (starts || s->vms[ix].is.state == (x->r.reason == REASON_OFF_VM ? VM_OFF : VM_ON))
            return true;
        (void)snprintf(why, WHY_MAX, "VM %s is %s", name, vm_state_name(s->vms[ix].is.state));
        return false;
    case AT_TARGET:
        (void)snprintf(why, WHY_MAX, "VM %s %s on host %s already", name, starts ? "runs" : "is",
                       snapshot_host_name(s, x->r.to));
        return false;
    case ELSEWHERE:
        if (starts)
            (void)snprintf(why, WHY_MAX, "VM %s was started elsewhere, on host %s", name,
                           s->hosts[s->vms[ix].host].is.name);
        else
            (void)snprintf(why, WHY_MAX, "VM %s is no longer on host %s", name,
                           snapshot_host_name(s, x->r.from));
        return false;
    case GONE:
        (void)snprintf(why, WHY_MAX, "VM %s is no longer there", name);
        return false;
    case NOT_SEEN:
        if (waits_for_host(e, x, s->hosts[s->vms[ix].host].is.id))
            return true; /* it boots */
        (void)snprintf(why, WHY_MAX, "host %s is no longer seen", s->hosts[s->vms[ix].host].is.name);
        return false;
    }
    return false;
}

bool preconditions_balance_waits(const struct engine *e, instant_s now)
{
    const struct balance_facts *b = e->now_seen ? &e->now_seen->snap.balance : NULL;
    bool changed = b && b->changes != 0 && now >= b->changes;

    return b && b->given && b->open == changed;
}

/* Whether the VM may be moved at all, and at this time. False with the reason why not. */
static bool vm_may_move(const struct engine *e, const struct action *x, instant_s now, char *why)
{
    const struct snapshot *s = &e->now_seen->snap;
    uint32_t ix = snapshot_find_vm(s, x->r.vm);
    const char *immovable = ix == IX_NONE ? NULL : s->vms[ix].is.immovable;
    bool by_itself = x->r.approved_by && strcmp(x->r.approved_by, APPROVED_BY_ENGINE) == 0;

    if (immovable)
        (void)snprintf(why, WHY_MAX, "VM %s cannot be moved: %s", s->vms[ix].is.name, immovable);
    else if (by_itself && engine_held_back(e))
        (void)snprintf(why, WHY_MAX, "%s", engine_held_back(e));
    else if (by_itself && x->r.priority > PRIORITY_MANDATORY && preconditions_balance_waits(e, now))
        (void)snprintf(why, WHY_MAX, "the time for optional moves is over (balance.windows)");
    else
        return true;
    return false;
}

/* Others have failed since it was approved. What a person approved is tried all the same. */
static bool is_avoided(const struct engine *e, const struct action *x, instant_s now, char *why)
{
    char until[RFC3339_MAX];

    if (x->r.kind != ACTION_MIGRATE || !x->r.approved_by || strcmp(x->r.approved_by, APPROVED_BY_ENGINE) != 0)
        return false;
    const struct failure_record *r = failed_moves_find(e->knowledge->failed_moves, &x->r, now);
    if (!r)
        return false;
    (void)snprintf(why, WHY_MAX, "not tried before %s, because of earlier moves: %s",
                   rfc3339_format(r->until, until), r->reason ? r->reason : "no reason is known");
    return true;
}

/* Whether the world is still what the move, or the start, was planned for. False with the reason why not. */
static bool makes_sense(const struct engine *e, const struct action *x, instant_s now, char *why)
{
    const struct snapshot *s = &e->now_seen->snap;
    const char *name = snapshot_host_name(s, x->r.to);
    uint32_t to = snapshot_find_host(s, x->r.to);

    if (!vm_makes_sense(e, x, why) || (x->r.kind == ACTION_MIGRATE && !vm_may_move(e, x, now, why)))
        return false;
    if (to == IX_NONE)
        (void)snprintf(why, WHY_MAX, "host %s is no longer there", name);
    else if (s->hosts[to].is.state != HOST_ON && !waits_for_host(e, x, x->r.to))
        (void)snprintf(why, WHY_MAX, "host %s is %s", name, host_state_name(s->hosts[to].is.state));
    else if (x->r.kind == ACTION_MIGRATE && evacuation_is_over(e, x))
        (void)snprintf(why, WHY_MAX, "host %s is back in service, and need not be empty",
                       snapshot_host_name(s, x->r.from));
    else if (host_is_to_leave(e, x->r.to))
        (void)snprintf(why, WHY_MAX, "host %s is to enter %s", name,
                       power_preconditions_standby_approved(e, x->r.to) ? "standby" : "maintenance");
    else
        return true;
    return false;
}

/* Everything that it depends on, directly or not; itself first. */
static size_t collect_needs(const struct engine *e, const struct action *x, const struct action **list)
{
    size_t n = 0;

    list[n++] = x;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t d = 0; d < list[i]->r.n_depends_on; d++) {
            const struct action *y = action_find(e, list[i]->r.depends_on[d]);
            size_t k = 0;

            while (k < n && list[k] != y)
                k++;
            if (y && k == n)
                list[n++] = y;
        }
    }
    return n;
}

/* Until when what it depends on, and what changes the power of a host, took its time. */
static instant_s hosts_held_up_until(const struct engine *e, const struct action *x, instant_s now)
{
    const struct action **needs = xcalloc(e->actions->n, sizeof(const struct action *));
    size_t n = collect_needs(e, x, needs);
    instant_s until = 0;

    for (size_t i = 1; i < n; i++) {
        const struct action *y = needs[i];
        bool waits =
            y->r.state == ACTION_APPROVED && y->r.pass != 0; /* an admin's waits as long as it takes */
        instant_s t = action_ended(y) ? y->r.ended : waits ? 0 : now;

        if ((y->r.kind == ACTION_POWER_ON || y->r.kind == ACTION_POWER_OFF) && t > until)
            until = t;
    }
    free(needs);
    return until;
}

/* Moves that empty the host that x puts to standby, or empties along with them. */
static bool empties_same_host(const struct action *x, const struct action *y)
{
    const char *host = x->r.kind == ACTION_POWER_OFF ? x->r.host : x->r.from;
    bool same_group = x->r.group != 0 && y->r.group == x->r.group && y->r.pass == x->r.pass;

    return y->r.kind == ACTION_MIGRATE && host && strcmp(y->r.from, host) == 0 &&
           (same_group || x->r.kind == ACTION_POWER_OFF ||
            (x->r.reason == REASON_MAINTENANCE && y->r.reason == REASON_MAINTENANCE));
}

/* Moves that fill the host to which x moves a VM off a host that is to sleep, by the same plan. */
static bool fills_same_host(const struct action *x, const struct action *y)
{
    return x->r.kind == ACTION_MIGRATE && y->r.kind == ACTION_MIGRATE && reason_is_standby(x->r.reason) &&
           y->r.pass == x->r.pass && strcmp(y->r.to, x->r.to) == 0;
}

/* Until when the moves off or to the host held it up. */
static instant_s moves_held_up_until(const struct engine *e, const struct action *x, const char *host,
                                     instant_s now)
{
    const struct action_list *there = &slot_usage_of_host(e->actions, host)->actions;
    instant_s until = 0;

    for (size_t i = 0; i < there->n; i++) {
        const struct action *y = there->items[i];
        bool moves = action_under_way(y) || y->r.state == ACTION_VERIFYING;
        instant_s t = moves ? now : y->r.state == ACTION_DONE ? y->r.ended : 0;

        if (t > until && (empties_same_host(x, y) || fills_same_host(x, y)))
            until = t;
    }
    return until;
}

static instant_s move_held_up_until(const struct engine *e, const struct action *x, instant_s now)
{
    return instant_later(
        hosts_held_up_until(e, x, now),
        instant_later(moves_held_up_until(e, x, x->r.from, now), moves_held_up_until(e, x, x->r.to, now)));
}

/* Until when others held it up, as the approval foresaw; 0: none did. A plan does not grow old
 * while a host that it waits for goes down or comes up, which takes minutes, nor while one is emptied or
 * filled, which takes as long as there are VMs. */
static instant_s held_up_until(const struct engine *e, const struct action *x, instant_s now)
{
    if (x->r.kind != ACTION_POWER_OFF)
        return move_held_up_until(e, x, now);
    instant_s until =
        instant_later(hosts_held_up_until(e, x, now), moves_held_up_until(e, x, x->r.host, now));
    const struct action_list *there = &slot_usage_of_host(e->actions, x->r.host)->actions;

    for (size_t i = 0; i < there->n; i++)
        if (there->items[i]->r.state == ACTION_APPROVED && empties_same_host(x, there->items[i]))
            until = instant_later(until, move_held_up_until(e, there->items[i], now));
    return until;
}

/* Whether it is of a plan to power VMs on, or of a migration that a person asked for, of which nothing has
 * begun. */
static bool is_held(const struct engine *e, const struct action *x)
{
    bool asked_for = false;
    bool begun = false;

    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action_record *r = &e->actions->list[i]->r;

        asked_for |= r->pass == x->r.pass && (r->kind == ACTION_PLACE || r->reason == REASON_ASKED);
        begun |= r->pass == x->r.pass && r->started != 0;
    }
    return asked_for && !begun;
}

/* A plan is made from one moment, and holds for a while only. (Nothing is approved that is old already.) What
 * has to be done anyway holds longer: a host with many VMs is not emptied within two intervals, and
 * its approval stays valid. One from the future tells of a clock that was set back between two
 * processes: its age is unknown. */
bool preconditions_plan_is_old(const struct engine *e, const struct action *x, instant_s now, char *why)
{
    instant_s limit =
        source_poll_stale_after_s(e) * (x->r.priority == PRIORITY_MANDATORY ? MANDATORY_HOLDS : 1);
    instant_s age = now - (x->r.approved > x->r.seen ? x->r.approved : x->r.seen);
    instant_s hold = e->settings.lock_hold_s;

    if (hold > 0 && hold < limit && age > hold && is_held(e, x))
        limit = hold;
    if ((age >= -CLOCK_SLACK_S && age <= limit) || (age > limit && now - held_up_until(e, x, now) <= limit))
        return false;
    if (age < 0)
        (void)snprintf(why, WHY_MAX, "the clock was set back by %lld s or more since it was approved",
                       (long long)-age);
    else
        (void)snprintf(why, WHY_MAX, "it could not be begun for %lld s, and a plan holds for %lld s only",
                       (long long)age, (long long)limit);
    return true;
}

enum preconditions preconditions_dependencies(const struct engine *e, const struct action *x, char *why)
{
    for (uint32_t i = 0; i < x->r.n_depends_on; i++) {
        const struct action *y = action_find(e, x->r.depends_on[i]);

        if (y && power_outcome_wake_still_needed(e, x, y))
            continue;
        if (!y || (action_ended(y) && y->r.state != ACTION_DONE)) {
            (void)snprintf(why, WHY_MAX, "action %llu, which it depends on, did not succeed (%s)",
                           (unsigned long long)x->r.depends_on[i],
                           y ? action_state_name(y->r.state) : "lost");
            return NEVER;
        }
        if (y->r.state != ACTION_DONE)
            return WAIT;
    }
    return READY;
}

/* x itself has not begun, and is not being asked about. */
static bool vm_is_busy(const struct engine *e, const struct action *x)
{
    return slot_usage_of_vm(e->actions, x->r.vm)->busy > 0;
}

/* §3.3.3: what a host's VMs rely on must be there before any of them is. */
static bool agents_are_on(const struct engine *e, const struct action *x, char *why)
{
    const struct snapshot *s = &e->now_seen->snap;
    uint32_t vm = snapshot_find_vm(s, x->r.vm);
    uint32_t to = snapshot_find_host(s, x->r.to);

    if (s->vms[vm].is.kind == VM_AGENT)
        return true;
    for (uint32_t i = 0; i < s->hosts[to].agents_required.n; i++) {
        const struct vm *agent = &s->vms[s->hosts[to].agents_required.items[i]];

        if (agent->is.state == VM_ON && agent->host == to)
            continue;
        (void)snprintf(why, WHY_MAX, "it waits for agent VM %s to run on host %s", agent->is.name,
                       s->hosts[to].is.name);
        return false;
    }
    return true;
}

/* Approved by the engine before a restart, and the new process knows less: labels are not stored. */
static bool rules_may_be_missing(const struct engine *e, const struct action *x, char *why)
{
    const char *unread = e->now_seen->snap.labels_unread;

    if (!unread || x->r.kind != ACTION_MIGRATE || !x->r.approved_by ||
        strcmp(x->r.approved_by, APPROVED_BY_ENGINE) != 0)
        return false;
    (void)snprintf(why, WHY_MAX, "it waits for labels and tags, which rules may need: %s", unread);
    return true;
}

/* What it depends on is another move of the same VM, and is not done. */
static bool waits_for_own_move(const struct engine *e, const struct action *x)
{
    for (uint32_t i = 0; i < x->r.n_depends_on; i++) {
        const struct action *y = action_find(e, x->r.depends_on[i]);

        if (y && y->r.vm && strcmp(y->r.vm, x->r.vm) == 0 && y->r.state != ACTION_DONE)
            return true;
    }
    return false;
}

/* Of a VM: that moves, or that is to be powered on. */
static enum preconditions vm_preconditions(const struct engine *e, const struct action *x, instant_s now,
                                           char *why)
{
    if (preconditions_plan_is_old(e, x, now, why))
        return NEVER;
    if (!e->now_seen) /* after a restart: the first inventory decides */
        return WAIT;
    if (waits_for_own_move(e, x)) /* it is made from where an earlier move takes the VM */
        return preconditions_dependencies(e, x, why);
    if (!makes_sense(e, x, now, why) || is_avoided(e, x, now, why))
        return NEVER;
    enum preconditions r = preconditions_dependencies(e, x, why);

    if (r != READY)
        return r;
    if (rules_may_be_missing(e, x, why))
        return WAIT;
    if (x->r.kind == ACTION_MIGRATE && power_preconditions_awaits_controllers(e, x)) {
        (void)snprintf(why, WHY_MAX, "it waits for an answer of the controllers of host %s",
                       snapshot_host_name(&e->now_seen->snap, x->r.from));
        return WAIT;
    }
    if (vm_is_busy(e, x) ||
        (x->r.kind == ACTION_MIGRATE && !slot_usage_has_slot(e->actions, &e->settings.policy, x)))
        return WAIT;
    if (action_copies(x) && !copy_links_admit(e, x, why))
        return WAIT;
    return agents_are_on(e, x, why) ? READY : WAIT;
}

/* The last VM has left, and none is on its way. */
bool preconditions_host_is_empty(const struct engine *e, const char *host)
{
    const struct snapshot *s = &e->now_seen->snap;
    uint32_t ix = snapshot_find_host(s, host);

    if (slot_usage_of_host(e->actions, host)->arriving > 0 ||
        (ix != IX_NONE && e->actions->usage.seen[ix].in > 0))
        return false;
    for (uint32_t i = 0; ix != IX_NONE && i < s->hosts[ix].vms.n; i++) {
        if (s->vms[s->hosts[ix].vms.items[i]].is.kind != VM_AGENT)
            return false;
    }
    return true;
}

static enum preconditions host_preconditions(const struct engine *e, const struct action *x, char *why)
{
    if (!e->now_seen)
        return WAIT;
    switch (observed_state(e->now_seen, e->knowledge->hosts, x)) {
    case AT_SOURCE:
        break;
    case AT_TARGET:
        return READY; /* begin() sees that there is nothing to do */
    case ELSEWHERE:
    case GONE:
        (void)snprintf(why, WHY_MAX, "host %s is no longer there", x->r.host);
        return NEVER;
    case NOT_SEEN:
        return WAIT;
    }
    uint32_t ix = snapshot_find_host(&e->now_seen->snap, x->r.host);
    enum host_state state = e->now_seen->snap.hosts[ix].is.state;

    if (x->r.kind == ACTION_EXIT_MAINTENANCE)
        return READY;
    if (state == HOST_STANDBY || state == HOST_POWERING_ON) {
        (void)snprintf(why, WHY_MAX,
                       "host %s is %s: it enters maintenance when it is on, and is not woken for VMs",
                       e->now_seen->snap.hosts[ix].is.name, host_state_name(state));
        return WAIT;
    }
    return preconditions_host_is_empty(e, x->r.host) ? READY : WAIT;
}

enum preconditions preconditions(const struct engine *e, const struct action *x, instant_s now, char *why)
{
    why[0] = '\0';
    switch (x->r.kind) {
    case ACTION_MIGRATE:
    case ACTION_PLACE:
        return vm_preconditions(e, x, now, why);
    case ACTION_POWER_ON:
        return power_preconditions_wake(e, x, now, why);
    case ACTION_ENTER_MAINTENANCE:
    case ACTION_EXIT_MAINTENANCE:
        return host_preconditions(e, x, why);
    case ACTION_POWER_OFF:
        return power_preconditions_standby(e, x, now, why);
    case action_kind_count:
        break;
    }
    return NEVER;
}

bool preconditions_may_begin(const struct engine *e, instant_s now)
{
    return !e->paused && e->poll->state == SOURCE_UP && e->persist->error.code == 0 && e->now_seen &&
           now - e->now_seen->asked <= source_poll_stale_after_s(e);
}
