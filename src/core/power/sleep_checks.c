/* Checks a host for standby before any move is tried. */
#include "core/power/proactive.h"

/* Two sums of the same numbers may differ by this much, because their order of addition differs. */
#define ROUNDING 1e-6

/* A mandatory VM-host rule that no other host that is on satisfies; IX_NONE. VMs that are off count: they may
 * be powered on at any time. */
static uint32_t rule_left_alone(const struct power *w, uint32_t slot)
{
    const struct snapshot *s = w->l->snap;

    for (uint32_t i = 0; i < s->n_rules; i++) {
        const struct rule *rule = &s->rules[i];
        bool of_hosts = rule->is.kind == RULE_HOST_AFFINE || rule->is.kind == RULE_HOST_ANTI_AFFINE;
        if (!of_hosts || !rule->is.enabled || !rule->is.mandatory || rule->vms.n == 0 ||
            !rules_lets_run(rule, w->l->slot_host[slot]))
            continue;
        bool other = false;
        for (uint32_t k = 0; k < w->n_alive && !other; k++)
            other = w->alive[k] != slot && rules_lets_run(rule, w->l->slot_host[w->alive[k]]);
        if (!other)
            return i;
    }
    return IX_NONE;
}

static enum power_check ask_minimums(const struct power *w, uint32_t slot, struct power_verdict *ret)
{
    const struct dpm_policy *dpm = &w->l->policy->dpm;
    const struct host *h = &w->l->snap->hosts[w->l->slot_host[slot]];

    ret->is = (double)w->n_alive - 1;
    ret->bound = (double)dpm->hosts_min;
    if (ret->is < ret->bound)
        return POWER_HOSTS_MIN;
    ret->bound = w->l->snap->ha.hosts_on;
    if (ret->is < ret->bound)
        return POWER_QUORUM;
    for (int r = 0; r < RES_COUNT; r++) {
        ret->r = (enum resource)r;
        ret->is = w->alive_capacity[r] - h->capacity[r];
        ret->bound = dpm->min[r];
        if (ret->is < ret->bound - ROUNDING)
            return r == RES_CPU ? POWER_CPU_MIN : POWER_MEM_MIN;
        ret->bound = w->p->admission.used[r][w->l->snap->n_pools];
        if (ret->is < ret->bound - ROUNDING)
            return POWER_RESERVED;
    }
    return POWER_FINE;
}

/* A VM at the manual automation level is not moved to save power: its host would wait half empty for an
 * admin. */
bool sleep_check_vms(const struct power *w, uint32_t unit, uint32_t *ret_vm)
{
    const struct layout *l = w->l;
    enum check held = l->unit_held[unit];
    bool loose = held == CHECK_NONE || layout_holds_balance_only(held);

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        *ret_vm = vm;
        if (l->snap->vms[vm].is.automation == AUTOMATION_MANUAL ||
            layout_find_rejection(l->snap, vm, REASON_CONSOLIDATE) ||
            (!loose && layout_vm_check(l, vm) == held))
            return false;
    }
    *ret_vm = l->unit_first[unit];
    return loose;
}

/* The first VM, by id, that cannot leave. */
static uint32_t find_staying(const struct power *w, uint32_t slot)
{
    const struct layout *l = w->l;
    uint32_t first = IX_NONE;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        uint32_t vm;
        if (!layout_is_agent(l, u) && !sleep_check_vms(w, u, &vm) && vm < first)
            first = vm;
    }
    return first;
}

bool power_is_disabled(const struct power *w, uint32_t slot)
{
    enum automation level = w->l->snap->hosts[w->l->slot_host[slot]].is.dpm;

    return (level == AUTOMATION_INHERIT ? w->l->policy->dpm.automation : level) == AUTOMATION_DISABLED;
}

/* How long a host stays on after its wake: for load, for the window of power-offs, because a better packing
 * found by the next pass is not worth a wake and a power-off; for a rise, until its end; for an admin, as
 * long as set. */
static double wanted_s(const struct power *w, const struct woken *woken)
{
    switch (woken->reason) {
    case REASON_HIGH_UTILIZATION:
    case REASON_VM_WENT_DOWN:
    case REASON_SPARE_CAPACITY:
    case REASON_RULE:
    case REASON_HOST_OVERCOMMITTED:
    case REASON_MAINTENANCE:
    case REASON_STANDBY:
    case REASON_AGENT:
    case REASON_QUARANTINE:
    case REASON_PLACEMENT:
    case REASON_PREREQUISITE:
    case REASON_EXCHANGE:
    case REASON_BALANCE_CPU:
    case REASON_BALANCE_MEM:
    case REASON_ROOM:
    case REASON_POLICY:
    case REASON_RESERVE:
    case REASON_CONSOLIDATE:
    case REASON_OFF_VM:
        return (double)w->l->policy->dpm.low_s;
    case REASON_EXPECTED_DEMAND:
        return proactive_wanted_s(w, woken->at);
    case REASON_ASKED:
        return (double)w->l->policy->dpm.asked_on_s;
    case REASON_READY_BY:  /* ready_by.h decides */
    case REASON_WAKE_TEST: /* the wake was the purpose */
    case reason_count:
        break;
    }
    return 0;
}

bool sleep_check_wakes(const struct power *w, struct power_verdict *ret)
{
    const struct layout *l = w->l;

    for (uint32_t i = 0; i < l->n_on; i++) {
        const struct woken *woken = &l->snap->hosts[l->slot_host[i]].is.woken;
        if (woken->at == 0 ||
            (woken->reason != REASON_HIGH_UTILIZATION && woken->reason != REASON_EXPECTED_DEMAND))
            continue;
        ret->other = l->slot_host[i];
        ret->is = snapshot_age_s(l->snap, woken->at);
        ret->bound = wanted_s(w, woken);
        if (snapshot_is_within(l->snap, woken->at, ret->bound))
            return true;
    }
    return false;
}

/* Whether the host runs something of its own: more than a tenth of a resource for the last 40 minutes, and
 * more than a hypervisor needs. */
static bool runs_its_own(const struct host *h, struct power_verdict *ret)
{
    static const double idle[RES_COUNT] = {[RES_CPU] = 1000, [RES_MEM] = 4096};

    for (int r = 0; r < RES_COUNT; r++) {
        ret->r = (enum resource)r;
        ret->is = h->own.window[WINDOW_40M][r].mean;
        ret->bound = fmax(h->capacity[r] / 10, idle[r]);
        if (ret->is > ret->bound)
            return true;
    }
    return false;
}

enum power_check sleep_check_host(const struct power *w, uint32_t slot, struct power_verdict *ret)
{
    const struct layout *l = w->l;
    const struct host_facts *h = &l->snap->hosts[l->slot_host[slot]].is;

    if (power_is_disabled(w, slot))
        return POWER_HOST_DISABLED;
    if (layout_find_host_rejection(l->snap, l->slot_host[slot], REASON_CONSOLIDATE))
        return POWER_REJECTED;
    if (h->vsan)
        return POWER_VSAN;
    if (h->serves_storage)
        return POWER_SERVES_STORAGE;
    if (l->closing[slot])
        return POWER_HOST_STATE;
    if (h->controller_doubted)
        return POWER_CONTROLLER;
    if (!h->wake_verified)
        return POWER_WAKE_UNPROVEN;
    if (runs_its_own(&l->snap->hosts[l->slot_host[slot]], ret))
        return POWER_OWN_USE;
    ret->is = snapshot_age_s(l->snap, h->woken.at);
    ret->bound = h->woken.at != 0 ? wanted_s(w, &h->woken) : 0;
    if (snapshot_is_within(l->snap, h->woken.at, ret->bound))
        return POWER_WOKEN;
    return w->busy[slot] ? POWER_HOST_BUSY : POWER_FINE;
}

enum power_check sleep_check(const struct power *w, uint32_t slot, struct power_verdict *ret)
{
    *ret = (struct power_verdict){
        .asked = true, .vm = IX_NONE, .other = IX_NONE, .is = UNKNOWN, .bound = UNKNOWN};
    enum power_check check = sleep_check_host(w, slot, ret);

    if (check == POWER_FINE)
        check = ask_minimums(w, slot, ret);
    if (check == POWER_FINE) {
        ret->other = rule_left_alone(w, slot);
        check = ret->other != IX_NONE ? POWER_RULE_LAST : POWER_FINE;
    }
    if (check == POWER_FINE) {
        ret->vm = find_staying(w, slot);
        check = ret->vm != IX_NONE ? POWER_VM_STAYS : POWER_FINE;
    }
    if (check == POWER_FINE) {
        ret->fault = needed_by_fault(w, slot, &ret->vm);
        check = ret->fault ? POWER_NEEDED : POWER_FINE;
    }
    return check;
}
