/* power_preconditions.c: when a host may go to standby, and when one may be woken. */
#include "engine/actions/power_preconditions.h"

#include "base/wake_method.h"
#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/actions/observed_state.h"
#include "engine/actions/power_outcome.h"
#include "engine/decide.h"
#include "engine/knowledge/hosts.h"
#include "engine/observation.h"
#include "engine/other_service.h"
#include "engine/source_poll.h"
#include "engine/state.h"
#include "model/named.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool power_preconditions_standby_approved(const struct engine *e, const char *host)
{
    return slot_usage_of_host(e->actions, host)->to_sleep > 0;
}

/* ---- what must stay on ----------------------------------------------------------------------- */

/* The hosts that are on, and stay on when what was approved before `than` has been carried out. */
struct staying {
    int64_t hosts;
    double capacity[RES_COUNT];
    double largest[RES_COUNT]; /* sum of the capacity of the largest ones, as many as may fail */
};

/* What our own actions do to each host, by index. */
enum leaving { LEAVES_NOT, LEAVES_LATER, LEAVES_BEFORE };

/* Of two that wait, the one that was approved later has to see whether it may still go. */
static enum leaving *list_leaving(const struct engine *e, const struct action *than)
{
    const struct snapshot *s = &e->now_seen->snap;
    const struct action_list *power = &e->actions->usage.power;
    enum leaving *ret = xcalloc(s->n_hosts, sizeof *ret);

    for (size_t i = 0; i < power->n; i++) {
        const struct action *x = power->items[i];

        if (x == than || x->r.kind != ACTION_POWER_OFF || !action_committed(x))
            continue;
        uint32_t ix = e->actions->usage.power_host[i];
        bool before = x->r.state != ACTION_APPROVED || !than || x->r.id < than->r.id;

        if (ix != IX_NONE && ret[ix] != LEAVES_BEFORE)
            ret[ix] = before ? LEAVES_BEFORE : LEAVES_LATER;
    }
    return ret;
}

/* Whether it is on and stays so. An action of ours that has not begun may have made it ENTERING_STANDBY in
 * the snapshot; one that the source shows so goes anyway. */
static bool stays(const struct host *h, enum leaving leaving)
{
    if (h->failover || leaving == LEAVES_BEFORE)
        return false;
    return h->is.state == HOST_ON || (h->is.state == HOST_ENTERING_STANDBY && leaving == LEAVES_LATER);
}

/* Adds v to the n largest, kept in descending order; what falls out is lost. */
static void keep_largest(double *list, size_t n, double v)
{
    for (size_t i = 0; i < n; i++) {
        if (v > list[i]) {
            double less = list[i];

            list[i] = v;
            v = less;
        }
    }
}

static void count_staying(const struct engine *e, uint32_t leaving, const struct action *than,
                          struct staying *ret)
{
    const struct snapshot *s = &e->now_seen->snap;
    size_t failures = s->promise.hosts;

    if (failures > s->n_hosts)
        failures = s->n_hosts;
    double *largest = xcalloc(failures, sizeof *largest);
    enum leaving *of = list_leaving(e, than);

    *ret = (struct staying){0};
    for (int r = 0; r < RES_COUNT; r++) {
        memset(largest, 0, failures * sizeof *largest);
        ret->hosts = 0;
        for (uint32_t i = 0; i < s->n_hosts; i++) {
            if (i == leaving || !stays(&s->hosts[i], of[i]))
                continue;
            ret->hosts++;
            ret->capacity[r] += host_room(&s->hosts[i], r);
            keep_largest(largest, failures, host_room(&s->hosts[i], r));
        }
        for (size_t i = 0; i < failures; i++)
            ret->largest[r] += largest[i];
    }
    free(largest);
    free(of);
}

/* What the VMs that run are promised, spare ones included. Summed up once for an inventory: hundreds of hosts
 * may wait to go to standby. */
static const double *reserved(struct observation *v)
{
    const struct snapshot *s = &v->snap;

    for (uint32_t i = 0; !v->reserved_known && i < s->n_vms; i++) {
        const struct vm *vm = &s->vms[i];

        if (!vm_takes_part(s, vm) && !(vm->is.kind == VM_SPARE && vm->is.state == VM_ON))
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            v->reserved[r] += vm->is.alloc[r].reservation + (r == RES_MEM ? vm->is.overhead_mb : 0);
    }
    v->reserved_known = true;
    return v->reserved;
}

/* §3.3.2. Where each VM would be restarted is the pass's business, which saw to it when it recommended this;
 * what is left at this moment must at least be enough in sum. */
static int check_failures(const struct engine *e, const struct staying *left, const char *name,
                          struct err *err)
{
    static const char *const word[RES_COUNT] = {[RES_CPU] = "CPU", [RES_MEM] = "memory"};
    const struct snapshot *s = &e->now_seen->snap;

    if (s->promise.hosts > 0 && left->hosts <= (int64_t)s->promise.hosts)
        return err_set(err, -EPERM, "without host %s %lld hosts would be on, and %u of them may fail", name,
                       (long long)left->hosts, s->promise.hosts);
    for (int r = 0; r < RES_COUNT; r++) {
        double room =
            fmin(left->capacity[r] - left->largest[r], left->capacity[r] * (1 - s->promise.percent[r] / 100));

        if (room < reserved(e->now_seen)[r])
            return err_set(
                err, -EPERM,
                "without host %s the %s that is reserved could not be given any more, with what is "
                "kept for failures",
                name, word[r]);
    }
    return 0;
}

/* The name of a host that is off by no doing of ours; NULL: there is none. */
static const char *lost_host(const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        if (s->hosts[i].is.state == HOST_DISCONNECTED)
            return s->hosts[i].is.name;
    }
    return NULL;
}

static int check_minimums(const struct engine *e, uint32_t ix, const struct action *x, struct err *err)
{
    static const char way_out[] = "; another host has to be woken first, or the setting to be lowered";
    const struct dpm_policy *dpm = &e->settings.policy.dpm;
    const char *name = e->now_seen->snap.hosts[ix].is.name;
    struct staying left;

    count_staying(e, ix, x, &left);
    if (left.hosts < dpm->hosts_min)
        return err_set(err, -EPERM, "without host %s %lld would be on, and dpm.hosts_min is %lld%s", name,
                       (long long)left.hosts, (long long)dpm->hosts_min, way_out);
    if (e->now_seen->snap.ha.hosts_on > 0 && lost_host(&e->now_seen->snap))
        return err_set(
            err, -EPERM,
            "host %s is lost: in a cluster with a quorum no other host is put to standby meanwhile",
            lost_host(&e->now_seen->snap));
    if (left.hosts < (int64_t)e->now_seen->snap.ha.hosts_on)
        return err_set(err, -EPERM,
                       "without host %s %lld would be on, and the cluster needs %u to keep its quorum should "
                       "one fail",
                       name, (long long)left.hosts, e->now_seen->snap.ha.hosts_on);
    if (left.capacity[RES_CPU] < dpm->min[RES_CPU])
        return err_set(err, -EPERM, "without host %s %.0f MHz would be on, and dpm.cpu_min_mhz is %.0f%s",
                       name, left.capacity[RES_CPU], dpm->min[RES_CPU], way_out);
    if (left.capacity[RES_MEM] < dpm->min[RES_MEM])
        return err_set(err, -EPERM, "without host %s %.0f MiB would be on, and dpm.mem_min_mb is %.0f%s",
                       name, left.capacity[RES_MEM], dpm->min[RES_MEM], way_out);
    return check_failures(e, &left, name, err);
}

/* ---- may it sleep? --------------------------------------------------------------------------- */

static const char *way_to_on(enum host_state state)
{
    switch (state) {
    case HOST_MAINTENANCE:
    case HOST_ENTERING_MAINTENANCE:
        return "; `ballast maintenance exit` ends its maintenance";
    case HOST_DISCONNECTED:
        return "; its manager has to reach it first";
    case HOST_POWERING_ON:
        return "; it is powering on";
    case HOST_ON:
    case HOST_STANDBY:
    case HOST_ENTERING_STANDBY:
    case host_state_count:
        break;
    }
    return "";
}

/* The method that has the most to say: it failed, or has other settings than when it was proven. */
static const char *why_unproven(const struct engine *e, const char *host, char buffer[WHY_MAX])
{
    struct engine_method_proof proofs[WAKE_METHODS];
    const size_t n = engine_method_proofs(e, host, proofs);
    const char *why = "";

    if (hosts_has_failed(e->knowledge->hosts, host))
        return ", as its last wake-up failed";
    for (size_t i = 0; i < n; i++) {
        const char *word = wake_method_name(proofs[i].method);

        if (proofs[i].is == METHOD_FAILED)
            (void)snprintf(buffer, WHY_MAX, ", as %s failed when it was last tried", word);
        else if (proofs[i].is == METHOD_EXPIRED && !*why)
            (void)snprintf(buffer, WHY_MAX, ", as the settings of %s have changed since it was proven", word);
        else
            continue;
        why = buffer;
    }
    return why;
}

int power_preconditions_check_standby(const struct engine *e, uint32_t ix, const struct action *x,
                                      struct err *err)
{
    const struct host *h = &e->now_seen->snap.hosts[ix];
    bool test = x && x->r.reason == REASON_WAKE_TEST;
    char why[WHY_MAX];

    if (h->is.state != HOST_ON && h->is.state != HOST_ENTERING_STANDBY)
        return err_set(err, -EBUSY, "host %s is %s: only a host that is on can be put to standby%s",
                       h->is.name, host_state_name(h->is.state), way_to_on(h->is.state));
    if (slot_usage_of_host(e->actions, h->is.id)->to_maintenance > 0)
        return err_set(err, -EBUSY,
                       "host %s is to enter maintenance; `ballast maintenance exit %s` takes that back",
                       h->is.name, named_host_word(&e->now_seen->snap, ix));
    if (h->failover)
        return err_set(err, -EPERM,
                       "host %s is kept on for failures: it is a failover host of the cluster's high "
                       "availability, which is set at its manager",
                       h->is.name);
    if (h->is.vsan)
        return err_set(err, -EPERM,
                       "host %s is part of vSAN: its disks hold data of other hosts' VMs, so it stays on",
                       h->is.name);
    if (h->is.serves_storage)
        return err_set(err, -EPERM, "the disks of host %s hold data of other hosts' VMs, so it stays on",
                       h->is.name);
    if (!test && !hosts_is_proven(e->knowledge->hosts, &h->is))
        return err_set(
            err, -EPERM,
            "no method to wake host %s is proven%s, so it may not come back: `ballast wake %s --verify` "
            "puts it to standby and wakes it once, as a proof",
            h->is.name, why_unproven(e, h->is.id, why), named_host_word(&e->now_seen->snap, ix));
    return check_minimums(e, ix, x, err);
}

bool power_preconditions_awaits_controllers(const struct engine *e, const struct action *move)
{
    const struct action_list *there = &slot_usage_of_host(e->actions, move->r.from)->actions;

    if (!reason_is_standby(move->r.reason))
        return false;
    for (size_t i = 0; i < there->n; i++) {
        const struct action *y = there->items[i];

        if (y->r.kind == ACTION_POWER_OFF && y->r.state == ACTION_APPROVED && !y->controllers_checked)
            return hosts_has_controller(e->knowledge->hosts, y->r.host);
    }
    return false;
}

/* How far the power of a host is changed without asking: what the host says counts more than the cluster's
 * setting, which is for hosts that do not say otherwise. */
bool power_preconditions_are_automatic(const struct engine *e, const struct host_facts *h)
{
    const struct dpm_policy *dpm = &e->settings.policy.dpm;

    return dpm->enabled && (h->dpm == AUTOMATION_INHERIT ? dpm->automation : h->dpm) == AUTOMATION_AUTOMATIC;
}

static bool is_by_engine(const struct action *x)
{
    return x->r.approved_by && strcmp(x->r.approved_by, APPROVED_BY_ENGINE) == 0;
}

/* What must hold until it has begun. */
static bool may_still_sleep(const struct engine *e, const struct action *x, char *why)
{
    uint32_t ix = snapshot_find_host(&e->now_seen->snap, x->r.host);
    struct err err = {0};

    if (is_by_engine(x) && engine_held_back(e)) {
        (void)snprintf(why, WHY_MAX, "%s", engine_held_back(e));
        return false;
    }
    if (is_by_engine(x) && !power_preconditions_are_automatic(e, &e->now_seen->snap.hosts[ix].is)) {
        (void)snprintf(why, WHY_MAX, "the power of host %s is no longer managed automatically",
                       e->now_seen->snap.hosts[ix].is.name);
        return false;
    }
    if (!hosts_can(e->knowledge->hosts, ACTION_POWER_OFF, x->r.host)) {
        (void)snprintf(why, WHY_MAX,
                       "the configuration no longer says how host %s is put to standby and woken",
                       e->now_seen->snap.hosts[ix].is.name);
        return false;
    }
    if (power_preconditions_check_standby(e, ix, x, &err) == 0)
        return true;
    (void)snprintf(why, WHY_MAX, "%s", err.text);
    return false;
}

/* ---- the number at a time -------------------------------------------------------------------- */

void power_preconditions_count_changes(struct engine *e)
{
    e->actions->power_changes = e->actions->usage.power_changes;
}

void power_preconditions_submitted(struct engine *e, const struct action *x)
{
    e->actions->power_changes += action_is_of_power(x) && x->r.state == ACTION_APPROVED &&
                                 (x->r.kind != ACTION_POWER_OFF || x->controllers_checked);
}

static bool is_below_changes_max(const struct engine *e)
{
    int64_t most = dpm_changes_max(&e->settings.policy.dpm, e->now_seen->snap.n_hosts);

    return most == 0 || e->actions->power_changes < most;
}

static void say_no_slot(char *why)
{
    (void)snprintf(why, WHY_MAX, "dpm.changes_max hosts are being put to standby or woken just now");
}

/* ---- readiness ------------------------------------------------------------------------------- */

/* What was to leave has left, one way or another: a VM that an admin moved or stopped is gone too. */
static enum preconditions evacuated(const struct engine *e, const struct action *x, char *why)
{
    const struct snapshot *s = &e->now_seen->snap;
    bool waits = false;

    for (uint32_t i = 0; i < x->r.n_depends_on; i++) {
        const struct action *y = action_find(e, x->r.depends_on[i]);

        if (y && !action_ended(y)) {
            waits = true;
            continue;
        }
        if (y && y->r.state == ACTION_DONE)
            continue;
        if (y && y->r.vm && !observed_state_runs_on(s, y->r.vm, x->r.host))
            continue;
        (void)snprintf(why, WHY_MAX, "action %llu, which it depends on, did not succeed (%s)",
                       (unsigned long long)x->r.depends_on[i], y ? action_state_name(y->r.state) : "lost");
        return NEVER;
    }
    return waits ? WAIT : READY;
}

/* Whether the standby, which a person asked for, waits for the pass that sees the wish: VMs that are off may
 * leave first. What a plan puts to standby depends on their moves. */
static bool off_vms_may_leave(const struct engine *e, const struct action *x, instant_s now)
{
    const struct observation *decided = e->passes->decided;
    uint32_t ix = decided ? snapshot_find_host(&decided->snap, x->r.host) : IX_NONE;
    char names[WHY_MAX];

    return x->r.reason == REASON_ASKED && e->now_seen->snap.moves_off_vms &&
           (ix == IX_NONE || decided->snap.hosts[ix].is.state == HOST_ON) &&
           now - x->r.approved <= source_poll_stale_after_s(e) && power_outcome_remaining_vms(e, x, names);
}

/* A VM that is seen at its destination may still need the host that it came from, until its move is over. */
static bool something_leaves(const struct engine *e, const char *host)
{
    const struct snapshot *s = &e->now_seen->snap;
    uint32_t ix = snapshot_find_host(s, host);

    return slot_usage_of_host(e->actions, host)->departing > 0 ||
           (ix != IX_NONE && e->actions->usage.seen[ix].out > 0);
}

bool power_preconditions_host_is_idle(const struct engine *e, const char *host)
{
    return preconditions_host_is_empty(e, host) && !something_leaves(e, host);
}

static bool nothing_left(const struct engine *e, const struct action *x, char *why)
{
    if (evacuated(e, x, why) != READY)
        return false;
    if (power_preconditions_host_is_idle(e, x->r.host))
        return true;
    (void)snprintf(why, WHY_MAX, "it waits for host %s to be empty",
                   snapshot_host_name(&e->now_seen->snap, x->r.host));
    return false;
}

void power_preconditions_want_proof(struct engine *e, struct action *x, instant_s now)
{
    char why[WHY_MAX] = "";

    if (!e->now_seen || !is_below_changes_max(e) || !preconditions_may_begin(e, now) ||
        observed_state(e->now_seen, e->knowledge->hosts, x) != AT_SOURCE || !nothing_left(e, x, why)) {
        x->emptied_serial = 0;
        return;
    }
    if (x->emptied_serial == 0)
        x->emptied_serial = e->poll->serial; /* whatever was asked for until now may show the past */
    if (e->now_seen->serial <= x->emptied_serial || now - e->now_seen->received > SLEEP_SEEN_S)
        source_poll_want(e, now);
}

/* By what the newest inventory was given, which foresees when it changes. */
static bool schedule_is_closed(const struct engine *e, instant_s now)
{
    const struct schedule_facts *s = &e->now_seen->snap.schedule;
    bool changed = s->power_off_changes != 0 && now >= s->power_off_changes;

    return s->given && s->power_off == changed;
}

/* Whether the newest inventory shows the host in the state that the action starts from (`source`, for the
 * sentence). If not, *ret_r says what follows. */
static bool is_at_source(const struct engine *e, const struct action *x, const char *source,
                         enum preconditions *ret_r, char *why)
{
    const char *name = snapshot_host_name(&e->now_seen->snap, x->r.host);

    switch (observed_state(e->now_seen, e->knowledge->hosts, x)) {
    case AT_SOURCE:
        return true;
    case AT_TARGET:
        *ret_r = READY; /* begin() sees that there is nothing to do */
        break;
    case NOT_SEEN:
        *ret_r = WAIT;
        break;
    case GONE:
        (void)snprintf(why, WHY_MAX, "host %s is no longer there", name);
        *ret_r = NEVER;
        break;
    case ELSEWHERE:
        (void)snprintf(why, WHY_MAX, "host %s is no longer %s", name, source);
        *ret_r = NEVER;
        break;
    }
    return false;
}

/* Not without what it depends on, on an inventory that was asked for when all that was over and that is
 * fresh, with no VM on the host or on its way there, and only if enough stays on. */
enum preconditions power_preconditions_standby(const struct engine *e, const struct action *x, instant_s now,
                                               char *why)
{
    if (x->r.pass != 0 &&
        preconditions_plan_is_old(e, x, now, why)) /* what an admin asked for holds until it is taken back */
        return NEVER;
    if (!e->now_seen)
        return WAIT;
    enum preconditions r = WAIT;

    if (!is_at_source(e, x, "on", &r, why))
        return r;
    if (x->r.pass != 0 && schedule_is_closed(e, now)) {
        (void)snprintf(why, WHY_MAX,
                       "the time in which hosts may be put to standby is over (dpm.windows, dpm.ready_by)");
        return NEVER;
    }
    bool news = x->waited_serial < e->now_seen->serial; /* that costs a look at all hosts */

    if (news && !may_still_sleep(e, x, why))
        return NEVER;
    r = evacuated(e, x, why);
    if (r != READY)
        return r;
    if (!is_below_changes_max(e)) { /* before what costs more: hundreds may wait for one */
        say_no_slot(why);
        return WAIT;
    }
    if (!nothing_left(e, x, why) || off_vms_may_leave(e, x, now))
        return WAIT;
    if (x->emptied_serial == 0 || e->now_seen->serial <= x->emptied_serial ||
        now - e->now_seen->received > SLEEP_SEEN_S)
        return WAIT; /* for a look */
    return news || may_still_sleep(e, x, why) ? READY : NEVER;
}

/* Whether asking once more cannot do harm: as when it was first asked. */
bool power_preconditions_standby_is_safe(const struct engine *e, const struct action *x, instant_s now)
{
    char why[WHY_MAX];

    return !(x->r.pass != 0 && schedule_is_closed(e, now)) && nothing_left(e, x, why) &&
           may_still_sleep(e, x, why);
}

/* Not without what it depends on, and not on old knowledge; else as soon as it can be asked. */
enum preconditions power_preconditions_wake(const struct engine *e, const struct action *x, instant_s now,
                                            char *why)
{
    if (preconditions_plan_is_old(e, x, now, why))
        return NEVER;
    if (!e->now_seen)
        return WAIT;
    enum preconditions r = preconditions_dependencies(e, x, why);

    if (r != READY || !is_at_source(e, x, "in standby, and not on", &r, why))
        return r;
    uint32_t ix = snapshot_find_host(&e->now_seen->snap, x->r.host);

    if (e->now_seen->snap.hosts[ix].is.state == HOST_POWERING_ON) {
        (void)snprintf(why, WHY_MAX, "host %s is being switched on already",
                       e->now_seen->snap.hosts[ix].is.name);
        return WAIT;
    }
    /* Not even where the host sleeps already, because the next inventory ends the power-off. A wake that
     * began before would leave both: after a kill in between, the power-off would see a host that is on, and
     * wait for it to go. */
    if (action_list_powers_off(&e->actions->usage.power, x->r.host)) {
        (void)snprintf(why, WHY_MAX, "the standby of host %s has not ended yet",
                       e->now_seen->snap.hosts[ix].is.name);
        return WAIT;
    }
    if (is_below_changes_max(e))
        return READY;
    say_no_slot(why);
    return WAIT;
}
