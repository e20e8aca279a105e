/* Explains why a host stays as it is: the check that decided, and its figures. */
#include "core/power/proactive.h"

#include "core/plan/correct.h"
#include "core/plan/host_wakes.h"
#include "core/power/ready_by.h"

/* A lower correlation is not worth a mention. */
#define CORRELATION_SAID 0.05

static enum power_check why_on(const struct power *w, uint32_t slot, struct power_verdict *ret)
{
    enum power_check check = sleep_check_host(w, slot, ret);

    if (w->verdicts[slot].asked) {
        *ret = w->verdicts[slot];
        return ret->check;
    }
    return check != POWER_FINE ? check : w->end;
}

static enum power_check why_standby(const struct power *w, uint32_t slot, struct power_verdict *ret)
{
    if (w->verdicts[slot].asked) {
        *ret = w->verdicts[slot];
        return ret->check;
    }
    enum power_check check = wake_check_host(w, slot);
    if (check == POWER_FINE && ready_by_wakes_at(w->p, slot) != 0)
        return POWER_READY_LATER;
    return check != POWER_FINE ? check : w->wake_end;
}

void power_why(const struct power *w, uint32_t host, struct power_verdict *ret)
{
    const struct host *h = &w->l->snap->hosts[host];
    uint32_t slot = w->l->host_slot[host];
    struct power_verdict v = {.vm = IX_NONE, .other = IX_NONE, .is = UNKNOWN, .bound = UNKNOWN};

    if (h->failover)
        v.check = POWER_HOST_FAILOVER;
    else if (host_is_avoided(h))
        v.check = POWER_HOST_QUARANTINE;
    else if (h->is.state == HOST_ON)
        v.check = why_on(w, slot, &v);
    else if (h->is.state == HOST_STANDBY)
        v.check = why_standby(w, slot, &v);
    else
        v.check = h->is.state == HOST_POWERING_ON ? POWER_HOST_COMING : POWER_HOST_STATE;
    *ret = v;
}

/* ---- findings ---- */

/* A check without figures. */
static struct finding find_check(const struct power_verdict *v, uint32_t host)
{
    return (struct finding){
        .code = FIND_POWER, .power = v->check, .resource = v->r, .subjects = {{SUBJECT_HOST, host}}};
}

static struct finding find_woken(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);

    f.reason = w->l->snap->hosts[host].is.woken.reason;
    finding_figure(&f, FIGURE_IS_S, v->is);
    finding_figure(&f, FIGURE_LEAST_S, v->bound);
    return f;
}

static struct finding find_minimum(uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);
    bool hosts = v->check == POWER_HOSTS_MIN || v->check == POWER_QUORUM;

    finding_figure(&f, hosts ? FIGURE_HOSTS : FIGURE_HAS, v->is);
    finding_figure(&f, hosts ? FIGURE_HOSTS_MIN : FIGURE_LEAST, v->bound);
    return f;
}

/* The check that holds the VM on its host. */
static struct finding find_staying(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);

    finding_subject(&f, SUBJECT_VM, v->vm);
    f.check = layout_vm_check(w->l, v->vm);
    if (f.check == CHECK_NONE || layout_holds_balance_only(f.check))
        f.check = w->l->unit_held[w->l->vm_unit[v->vm]];
    if (layout_holds_balance_only(f.check))
        f.check = CHECK_NONE;
    if (layout_find_rejection(w->l->snap, v->vm, REASON_CONSOLIDATE))
        f.check = CHECK_VM_REJECTED;
    return f;
}

/* What needs the host: the sentence of a fault, a VM, or both. */
static struct finding find_needed(uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);

    if (v->vm != IX_NONE)
        finding_subject(&f, SUBJECT_VM, v->vm);
    f.because = v->fault ? v->fault->found : NULL;
    return f;
}

static struct finding find_scores(uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);

    if (v->check == POWER_RAISES_HIGH) {
        finding_figure(&f, FIGURE_HIGH, v->before.high[v->r]);
        finding_figure(&f, FIGURE_HIGH_AFTER, v->after.high[v->r]);
        return f;
    }
    finding_figure(&f, FIGURE_CPU_LOW, v->before.low[RES_CPU]);
    finding_figure(&f, FIGURE_MEM_LOW, v->before.low[RES_MEM]);
    finding_figure(&f, FIGURE_CPU_LOW_AFTER, v->after.low[RES_CPU]);
    finding_figure(&f, FIGURE_MEM_LOW_AFTER, v->after.low[RES_MEM]);
    return f;
}

static struct finding find_no_room(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);
    struct obstacle why;

    if (v->vm == IX_NONE)
        return find_scores(host, v);
    finding_subject(&f, SUBJECT_VM, v->vm);
    if (v->check == POWER_RAISES_HIGH)
        finding_figure(&f, FIGURE_LOAD_MAX, w->u.above);
    else if (correct_best_target(w->p, w->l->vm_unit[v->vm], &why) == IX_NONE)
        f.because = obstacle_finding(w->p, why);
    return f;
}

static struct finding find_too_dear(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);

    if (!(v->worth.off_s > 0)) {
        finding_figure(&f, FIGURE_EVACUATE_S, v->worth.evacuate_s);
        return f;
    }
    finding_figure(&f, v->r == RES_CPU ? FIGURE_CPU_COST : FIGURE_MEM_COST, v->worth.cost[v->r]);
    finding_figure(&f, v->r == RES_CPU ? FIGURE_CPU_BENEFIT : FIGURE_MEM_BENEFIT, v->worth.benefit[v->r]);
    finding_figure(&f, FIGURE_RATIO_MIN, w->l->policy->dpm.ratio);
    finding_figure(&f, FIGURE_OFF_S, v->worth.off_s);
    return f;
}

static struct finding find_bursts(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);
    double correlation = w->l->snap->correlation.of[WINDOW_60M][v->r];

    finding_subject(&f, SUBJECT_VM, v->vm);
    finding_subject(&f, SUBJECT_OTHER_HOST, v->other);
    finding_figure(&f, FIGURE_LEAST, v->bound);
    finding_figure(&f, FIGURE_HAS, v->is);
    if (correlation >= CORRELATION_SAID)
        finding_figure(&f, FIGURE_CORRELATION, correlation);
    return f;
}

/* What past quiet times say. */
static struct finding find_quiet(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    const struct quiet *q = v->quiet[v->r];
    struct finding f = find_check(v, host);

    finding_figure(&f, FIGURE_TIMES, q->of);
    finding_figure(&f, FIGURE_IS_S, v->worth.quiet_s);
    if (v->check == POWER_QUIET_SHORT) {
        finding_figure(&f, FIGURE_HAS, w->u.above * v->left[v->r]);
        finding_figure(&f, FIGURE_LEAST_S, (double)w->l->policy->dpm.off_min_s);
        return f;
    }
    finding_subject(&f, SUBJECT_VM, v->vm);
    finding_subject(&f, SUBJECT_OTHER_HOST, v->other);
    finding_figure(&f, FIGURE_TIMES_SUDDEN, q->sudden);
    finding_figure(&f, FIGURE_NEED, q->rise);
    finding_figure(&f, FIGURE_LEAST, v->bound);
    finding_figure(&f, FIGURE_HAS, v->is);
    return f;
}

const struct finding *power_stays_finding(const struct power *w)
{
    struct finding f = {.code = FIND_STAYS_ON};
    double soonest_s = INFINITY;
    double age_s = 0;
    uint32_t hosts = 0;

    for (uint32_t i = 0; i < w->l->n_on; i++) {
        const struct power_verdict *v = &w->verdicts[i];
        double enough_s = 0;
        if (!v->asked || (v->check != POWER_QUIET_SHORT && v->check != POWER_MISSED_BEFORE) ||
            !(v->quiet[v->r]->age_s > 0 && v->quiet[v->r]->enough_s > 0))
            continue;
        hosts++;
        for (int r = 0; r < RES_COUNT; r++)
            enough_s = fmax(enough_s, v->quiet[r] ? v->quiet[r]->enough_s : 0);
        if (enough_s >= soonest_s)
            continue;
        soonest_s = enough_s;
        age_s = v->quiet[v->r]->age_s;
    }
    if (hosts == 0)
        return NULL;
    finding_figure(&f, FIGURE_HOSTS, hosts);
    finding_figure(&f, FIGURE_AT, (double)w->l->snap->time - age_s);
    finding_figure(&f, FIGURE_UNTIL, (double)w->l->snap->time + soonest_s);
    return finding_keep(w->p->a, f);
}

static struct finding find_high(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    struct fullest full = power_finding_fullest(w, WINDOW_5M);
    struct finding f = find_check(v, host);

    finding_subject(&f, SUBJECT_CPU_FULLEST, full.host[RES_CPU]);
    finding_subject(&f, SUBJECT_MEM_FULLEST, full.host[RES_MEM]);
    finding_figure(&f, FIGURE_CPU_LOAD_FULLEST, full.load[RES_CPU]);
    finding_figure(&f, FIGURE_MEM_LOAD_FULLEST, full.load[RES_MEM]);
    finding_figure(&f, FIGURE_LOAD_MAX, w->u.above);
    return f;
}

static struct finding find_coming(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);
    uint32_t slot = host_wake_coming(w->p);

    finding_subject(&f, SUBJECT_OTHER_HOST, slot == IX_NONE ? IX_NONE : w->l->slot_host[slot]);
    return f;
}

/* The host that was woken, why, and for how long that holds back power-offs. */
static struct finding find_after_wake(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);
    struct power_verdict after;

    if (!sleep_check_wakes(w, &after))
        return f;
    f.reason = w->l->snap->hosts[after.other].is.woken.reason;
    finding_subject(&f, SUBJECT_OTHER_HOST, after.other);
    finding_figure(&f, FIGURE_IS_S, after.is);
    finding_figure(&f, FIGURE_LEAST_S, after.bound);
    return f;
}

static struct finding find_not_low(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);

    f.resource = w->scores.low[RES_CPU] > 0 ? RES_MEM : w->scores.low[RES_MEM] > 0 ? RES_CPU : RES_COUNT;
    finding_figure(&f, FIGURE_LOAD_MIN, w->u.below);
    finding_figure(&f, FIGURE_HOSTS_ASLEEP, w->n_asleep);
    return f;
}

static struct finding find_moves(uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_check(v, host);

    finding_figure(&f, FIGURE_VMS, v->n_moves);
    finding_figure(&f, FIGURE_MOVES_MAX, v->bound);
    return f;
}

static struct finding find_failover_demand(const struct power *w, uint32_t host,
                                           const struct power_verdict *v)
{
    struct finding f = find_check(v, host);

    if (v->hosts > 0)
        finding_figure(&f, FIGURE_HOSTS, v->hosts);
    else
        finding_figure(&f, FIGURE_PERCENT, w->l->snap->promise.percent[v->r]);
    finding_figure(&f, FIGURE_NEED, v->is);
    finding_figure(&f, FIGURE_HAS, v->bound);
    return f;
}

struct finding power_why_finding(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    switch ((int)v->check) { /* all others have no figures */
    case POWER_WOKEN:
        return find_woken(w, host, v);
    case POWER_HOSTS_MIN:
    case POWER_OWN_USE:
    case POWER_QUORUM:
    case POWER_CPU_MIN:
    case POWER_MEM_MIN:
    case POWER_RESERVED:
        return find_minimum(host, v);
    case POWER_RULE_LAST:
        return (struct finding){.code = FIND_POWER,
                                .power = v->check,
                                .subjects = {{SUBJECT_HOST, host}, {SUBJECT_RULE, v->other}}};
    case POWER_NEEDED:
        return find_needed(host, v);
    case POWER_VM_STAYS:
        return find_staying(w, host, v);
    case POWER_VM_NO_ROOM:
    case POWER_RAISES_HIGH:
        return find_no_room(w, host, v);
    case POWER_KEEPS_LOW:
        return find_scores(host, v);
    case POWER_COST_BENEFIT:
        return find_too_dear(w, host, v);
    case POWER_BURSTS:
        return find_bursts(w, host, v);
    case POWER_QUIET_SHORT:
    case POWER_MISSED_BEFORE:
        return find_quiet(w, host, v);
    case POWER_HIGH:
        return find_high(w, host, v);
    case POWER_NOT_LOW:
        return find_not_low(w, host, v);
    case POWER_MOVES_MAX:
        return find_moves(host, v);
    case POWER_FAILOVER_DEMAND:
        return find_failover_demand(w, host, v);
    case POWER_OTHERS_COMING:
        return find_coming(w, host, v);
    case POWER_AFTER_WAKE:
        return find_after_wake(w, host, v);
    case POWER_WINDOW:
    case POWER_WINDOW_ENDS:
    case POWER_READY_SOON:
    case POWER_READY_LATER:
        return ready_by_finding(w, host, v);
    case POWER_EXPECTED:
        return proactive_finding_rise(w);
    case POWER_NEEDED_SOON:
        return proactive_finding_needed(host, v);
    default:
        return find_check(v, host);
    }
}
