/* power_progress.c: what is particular to a host that is being switched while its task runs. The task may go
 * on from one way to the next (actuators/power), each of which can fail, or say yes and be wrong. */
#include "engine/actions/power_progress.h"

#include "base/wake_method.h"
#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/actions/observed_state.h"
#include "engine/actions/power_preconditions.h"
#include "engine/actions/standby_maintenance.h"
#include "engine/decide.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/identities.h"
#include "engine/knowledge/nights.h"
#include "engine/observation.h"
#include "engine/persist.h"
#include "engine/retry.h"
#include "engine/source_poll.h"
#include "engine/state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HANG_HOST_S 1800 /* maintenance, standby */
#define WAKE_INVENTORIES                                                                                     \
    10 /* inventories during a boot, so that it is known to a tenth how long it takes                        \
        */

/* ---- what a job says ---------------------------------------------------------------------- */

/* Whether nothing runs on a host that is to sleep, seen just now, and after all that emptied it was over. One
 * that is on its way down may not be seen any more: then what its manager says of it counts, which is that it
 * knows no VM there; and as long as it is seen, it must still be one that may go. */
static bool is_proven_empty(struct engine *e, struct action *x, instant_s now)
{
    if (!e->now_seen || e->poll->state != SOURCE_UP || now - e->now_seen->received > SLEEP_SEEN_S) {
        source_poll_want(e, now);
        return false;
    }
    if (x->emptied_serial == 0) /* begun by an earlier process */
        x->emptied_serial = e->poll->serial;
    if (e->now_seen->serial <= x->emptied_serial && x->r.state != ACTION_STARTING) {
        source_poll_want(e, now);
        return false;
    }
    switch (observed_state(e->now_seen, e->knowledge->hosts, x)) {
    case AT_SOURCE:
        return power_preconditions_standby_is_safe(e, x, now);
    case NOT_SEEN:
    case AT_TARGET: /* after a crash between the call and its storing the call is repeated, which does no harm
                     */
        return power_preconditions_host_is_idle(e, x->r.host);
    case ELSEWHERE:
    case GONE:
        break;
    }
    return false;
}

void power_progress_fill_operation(struct engine *e, struct action *x, enum job_kind kind, instant_s now,
                                   struct operation *q)
{
    bool down = x->r.kind == ACTION_POWER_OFF;

    q->power.now = now;
    if (!down && x->r.kind != ACTION_POWER_ON)
        return;
    q->power.patience_s = power_progress_timeout_s(e, x);
    if (down)
        q->power.machine = identities_machine(e->knowledge->identities, e->knowledge->hosts, x->r.host);
    if (kind == JOB_CHECK && down)
        q->power.ahead = !x->controllers_checked;
    q->power.method = x->r.wake_method;
    if (kind == JOB_POLL) /* a way that was not asked yet is not asked while nothing is to begin, or when the
                             host is back: then the task only says by which it came */
        q->only_adopt = e->paused || (!down && x->is_back);
    q->power.maintenance_is_ours = down && standby_maintenance_is_stored(e, x->r.host);
    if (down && kind != JOB_CHECK)
        q->power.proven_empty = is_proven_empty(e, x, now);
}

bool engine_is_changing_power(const struct engine *e)
{
    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action_record *r = &e->actions->list[i]->r;

        if ((r->kind == ACTION_POWER_ON || r->kind == ACTION_POWER_OFF) &&
            (r->state == ACTION_STARTING || r->state == ACTION_RUNNING))
            return true;
    }
    return false;
}

/* ---- for how long it is waited for ------------------------------------------------------------ */

static double boot_s(const struct engine *e, const char *host)
{
    const struct snapshot *s = engine_snapshot(e);
    uint32_t ix = s ? snapshot_find_host(s, host) : IX_NONE;

    return ix == IX_NONE ? UNKNOWN : s->hosts[ix].is.boot_s;
}

instant_s power_progress_timeout_s(const struct engine *e, const struct action *x)
{
    const double boot = boot_s(e, x->r.host);

    if (x->r.kind != ACTION_POWER_ON)
        return HANG_HOST_S;
    return hosts_wake_limit_s(e->knowledge->hosts, x->r.host, boot);
}

instant_s power_progress_inventory_pause_s(const struct engine *e, const struct action *x, unsigned looks)
{
    double boot = boot_s(e, x->r.host);
    instant_s pause = retry_wait_s(looks);

    if (!isnan(boot) && boot / WAKE_INVENTORIES < (double)pause)
        pause = (instant_s)(boot / WAKE_INVENTORIES);
    return pause > RETRY_FIRST_S ? pause : RETRY_FIRST_S;
}

instant_s power_progress_waits_since(const struct action *x)
{
    return x->waits_since > x->r.started ? x->waits_since : x->r.started;
}

/* ---- what an inventory says meanwhile -------------------------------------------------------- */

/* A controller's task says nothing of the cluster: the host is awake when its manager has it back, and then
 * it is of no matter what else the task would do. The other way round it is not so: a host that is not seen
 * any more may still be on its way down, and the request is verified at the end. */
bool power_progress_host_is_awake(struct engine *e, struct action *x, instant_s now)
{
    if (x->r.kind != ACTION_POWER_ON)
        return false;
    if (observed_state_is_known(e->now_seen, x) &&
        observed_state(e->now_seen, e->knowledge->hosts, x) == AT_TARGET)
        return true;
    if (observed_state_is_known(e->now_seen, x)) {
        x->inventory_after = e->now_seen->serial;
        x->inventories_seen++;
    }
    source_poll_want(e, (e->now_seen ? e->now_seen->received : now) +
                            power_progress_inventory_pause_s(e, x, x->inventories_seen + 1));
    return false;
}

bool power_progress_tells_method(const struct action *x)
{
    return x->recalled && x->polled == 0;
}

/* ---- what the task says ---------------------------------------------------------------------- */

void power_progress_methods(struct engine *e, struct action *x, const struct task_progress *p, instant_s now)
{
    if (x->r.kind != ACTION_POWER_ON)
        return;
    x->method_now = p->method;
    x->may_have_woken = p->may_have_woken;
    /* before its first inventory a new process does not know yet which host an entry is for */
    x->settings = wake_method_name(p->may_have_woken) && hosts_has_entry(e->knowledge->hosts, x->r.host)
                      ? hosts_method_settings(e->knowledge->hosts, x->r.host, p->may_have_woken)
                      : 0;
    if (wake_method_name(p->failed))
        hosts_method_failed(e->knowledge->hosts, x->r.host, p->failed, &p->why, now);
}

void power_progress_record(struct engine *e, struct action *x, const struct task_progress *p, instant_s now)
{
    char why[WHY_ALL];

    if (x->r.kind == ACTION_POWER_ON && p->waits_since > x->waits_since)
        x->waits_since = p->waits_since < now ? p->waits_since : now;
    if (!p->task[0] && !p->why.text[0])
        return;
    if (p->task[0]) {
        char *own = (char *)(uintptr_t)x->r.task;

        xstrset(&own, p->task);
        x->r.task = own;
        action_changed(e, x);
    }
    if (p->why.text[0] && hosts_has_controller(e->knowledge->hosts, x->r.host))
        identities_failed(e->knowledge->identities, x->r.host, &p->why, now);
    if (p->why.text[0] && x->r.kind == ACTION_POWER_ON)
        nights_method_failed(e->knowledge->nights, engine_snapshot(e), x->r.host, p->why.text);
    if (p->why.text[0]) /* said, and kept for those who ask later which way it came */
        action_enter(e, x, ACTION_RUNNING, action_append_why(x, p->why.text, why), now);
    (void)persist_flush(e, NULL, now);
}

/* Its host is no worse than before: no failure, and whether it is still needed a pass says at once. */
bool power_progress_cancel_unasked(struct engine *e, struct action *x, const struct task_progress *p,
                                   instant_s now)
{
    if (x->r.vm || p->why.code != -ESRCH)
        return false;
    action_cancel(e, x, p->why.text, now);
    decide_pass_at_once(e, now);
    return true;
}
