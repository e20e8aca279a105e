/* Decides whether the pass evaluates power-offs or wakes (§4). */
#include "core/power/proactive.h"

#include "core/plan/correct.h"
#include "core/plan/host_wakes.h"
#include "core/power/ready_by.h"

static bool any(const double of[RES_COUNT])
{
    return of[RES_CPU] > 0 || of[RES_MEM] > 0;
}

/* A host that Ballast has put to standby is in standby, not disconnected. */
static bool is_host_lost(const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_hosts; i++)
        if (s->hosts[i].is.state == HOST_DISCONNECTED)
            return true;
    return false;
}

/* Whether failover capacity is missing that is no VM's slot: a failover host, or a policy that cannot be
 * kept. */
static bool lacks_failover_hosts(const struct pass *p)
{
    for (size_t i = 0; i < p->n_faults; i++)
        if (p->faults[i].code == FAULT_SPARE_MISSING &&
            finding_get_subject(p->faults[i].found, SUBJECT_VM) == IX_NONE)
            return true;
    return false;
}

/* A shortage does not wait until the imbalance has stood for two passes: only bad samples prevent a wake. */
static bool is_due(const struct pass *p, unsigned priority)
{
    return !sample_guard_distrusts(&p->guard) && priority <= p->policy.migration_threshold;
}

/* POWER_FINE: hosts may go to standby in this pass, whatever the load. */
static enum power_check check_standby(const struct pass *p)
{
    if (!is_due(p, PRIORITY_SLEEP) || layout_find_avoid(p->snap, IX_NONE, IX_NONE))
        return POWER_MANDATORY_ONLY;
    if (ready_by_forbids_standby(p))
        return POWER_WINDOW;
    if (!p->policy.dpm.may_sleep)
        return POWER_NOT_WATCHED;
    return p->snap->ha.hosts_on > 0 && is_host_lost(p->snap) ? POWER_HOST_LOST : POWER_FINE;
}

static enum power_check check_failover(const struct pass *p)
{
    return p->layout.failover.n_open > 0 || lacks_failover_hosts(p) ? POWER_SPARE_MISSING : POWER_FINE;
}

/* POWER_FINE: evaluate power-offs; POWER_HIGH, POWER_EXPECTED: evaluate wakes; else why neither. Only load
 * that the hosts that are on cannot take from a host above the range asks for a wake. */
static enum power_check consider(struct power *w)
{
    const struct pass *p = w->p;
    bool high = any(w->scores.high);
    struct power_verdict after;
    enum power_check check;

    if (!p->policy.dpm.enabled)
        return POWER_DPM_OFF;
    if (!is_due(p, PRIORITY_WAKE))
        return POWER_MANDATORY_ONLY;
    if (reserve_decides(p)) { /* whatever the load */
        check = check_standby(p);
        check = check == POWER_FINE ? check_failover(p) : check;
        return check == POWER_FINE ? POWER_RESERVE : check;
    }
    if (high && wake_left_over(w, false) > 0)
        return POWER_HIGH;
    if (high)
        w->wake_end = POWER_WITHOUT_IT;
    if (proactive_needs(w))
        return POWER_EXPECTED;
    if ((check = check_standby(p)) != POWER_FINE)
        return check;
    if (!(w->scores.low[RES_CPU] > 0) || !(w->scores.low[RES_MEM] > 0))
        return POWER_NOT_LOW;
    if (host_wake_coming(p) != IX_NONE)
        return POWER_OTHERS_COMING;
    if (sleep_check_wakes(w, &after))
        return POWER_AFTER_WAKE;
    return check_failover(p);
}

static bool lacks_host(struct power *w)
{
    struct utilization was;

    if (w->end != POWER_EXPECTED)
        return w->end == POWER_HIGH;
    proactive_look_ahead(w, &was);
    bool lacks = wake_left_over(w, false) > 0;
    proactive_look_back(w, &was);
    return lacks;
}

static struct power *begin(struct pass *p)
{
    struct power *w = arena_new(p->a, struct power);

    what_if_begin(w, p);
    p->power = w;
    w->wake_end = reserve_decides(p) ? POWER_RESERVE : POWER_NOT_HIGH;
    w->end = consider(w);
    w->lacks_host = lacks_host(w);
    if (w->end == POWER_MANDATORY_ONLY)
        w->wake_end = w->end;
    return w;
}

bool power_first(struct pass *p)
{
    if (!p->policy.dpm.enabled || p->stopped || reserve_decides(p))
        return false;
    struct power *w = begin(p);

    if (w->end == POWER_FINE)
        sleep_hosts(w);
    if (w->n_asleep > 0)
        p->end = CHECK_POWER_FIRST;
    return w->n_asleep > 0;
}

/* Moves for balance know nothing of the range. If no host had to be woken before them, they are the cause:
 * the last VM that they brought to a host above the range is held back, or else the last that they moved.
 * IX_NONE: no host could be woken, so they may stand. */
static uint32_t find_overfilling(const struct power *w)
{
    const struct pass *p = w->p;
    uint32_t *order = arena_array(p->a, uint32_t, w->l->n_slots);
    uint32_t last = IX_NONE;

    for (size_t i = rank_to_wake(w, REASON_HIGH_UTILIZATION, order) > 0 ? p->n_decisions : 0; i-- > 0;) {
        const struct decision *d = &p->decisions[i];
        if (d->reason != REASON_BALANCE_CPU && d->reason != REASON_BALANCE_MEM)
            continue;
        if (w->u.high[RES_CPU][d->to_slot] > 0 || w->u.high[RES_MEM][d->to_slot] > 0)
            return d->unit;
        last = last == IX_NONE ? d->unit : last;
    }
    return last;
}

/* The same, of the range at the expected rise if that asks for the wake. */
static uint32_t find_cause(struct power *w)
{
    struct utilization was;

    if (w->end == POWER_HIGH)
        return find_overfilling(w);
    proactive_look_ahead(w, &was);
    uint32_t unit = find_overfilling(w);
    proactive_look_back(w, &was);
    return unit;
}

/* After a host has failed, hosts are woken until enough are on for the quorum, whatever the load is. */
static void wake_for_quorum(struct power *w)
{
    const struct snapshot *s = w->l->snap;
    uint32_t *order = arena_array(w->p->a, uint32_t, w->l->n_slots);
    uint32_t n = rank_to_wake(w, REASON_SPARE_CAPACITY, order), on = w->n_alive;

    for (uint32_t i = w->l->n_on; i < w->l->n_slots; i++)
        on += w->p->coming[i] || w->l->waking[i];
    for (uint32_t i = 0; i < n && on < s->ha.hosts_on; i++, on++)
        host_wake_take(w->p, order[i],
                       &(struct wake_why){REASON_SPARE_CAPACITY, IX_NONE, PRIORITY_MANDATORY, NULL});
}

void power_evaluate(struct pass *p)
{
    const struct power *first = p->power; /* of power_first() */

    if (!p->policy.dpm.enabled || p->stopped)
        return;
    struct power *w = begin(p);

    if (w->n_alive < p->snap->ha.hosts_on)
        wake_for_quorum(w);
    if (reserve_decides(p)) {
        if (is_due(p, PRIORITY_WAKE))
            reserve_step(w, w->end == POWER_RESERVE);
        return;
    }
    bool lacked = first && (w->end == POWER_HIGH ? first->end == POWER_HIGH : first->lacks_host);
    if (w->lacks_host && first && !lacked) {
        w->wake_end = POWER_WITHOUT_IT;
        p->hold_back = find_cause(w);
    } else if (w->end == POWER_HIGH)
        wake_hosts(w);
    else if (w->end == POWER_EXPECTED)
        proactive_wake(w);
    else if (w->end == POWER_FINE)
        sleep_hosts(w);
}
