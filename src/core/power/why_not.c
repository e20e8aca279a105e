/* Why a host stays as it is, in words. */
#include "core/power/expected.h"

#include "base/rfc3339.h"
#include "core/plan/correct.h"
#include "core/power/ready.h"

#define PERCENT 100.0
#define SECONDS_PER_MINUTE 60.0

/* A correlation below that decides nothing that would have to be explained. */
#define TOGETHER_SAID 0.05

static enum power_check why_on(const struct power *w, uint32_t slot, struct power_verdict *ret)
{
    enum power_check check = sleep_ask_host(w, slot, ret);

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
    enum power_check check = wake_ask_host(w, slot);
    if (check == POWER_FINE && ready_wakes_at(w->p, slot) != 0)
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
    else if (h->is.state == HOST_ON)
        v.check = why_on(w, slot, &v);
    else if (h->is.state == HOST_STANDBY)
        v.check = why_standby(w, slot, &v);
    else
        v.check = h->is.state == HOST_POWERING_ON ? POWER_HOST_COMING : POWER_HOST_STATE;
    *ret = v;
}

/* ---- in words ---- */

static const char *name_of(const struct power *w, uint32_t host)
{
    return w->l->snap->hosts[host].is.name;
}

static const char *amount(const struct power *w, enum resource r, double v)
{
    return r == RES_CPU ? text_mhz(w->p->a, v) : text_mb(w->p->a, v);
}

static const char *text_uptime(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    return arena_printf(w->p->a, "%s has been on for %.0f minutes; it stays so for %.0f at least.",
                        name_of(w, host), v->is / SECONDS_PER_MINUTE, v->bound / SECONDS_PER_MINUTE);
}

static const char *text_woken(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    const char *name = name_of(w, host);
    double minutes = v->is / SECONDS_PER_MINUTE;
    double least = v->bound / SECONDS_PER_MINUTE;

    if (w->l->snap->hosts[host].is.woken.reason == REASON_ASKED)
        return arena_printf(
            w->p->a,
            "An admin asked for %s to be woken %.0f minutes ago; it stays on for %.0f at least "
            "(dpm.asked_on_s). `ballast standby %s` puts it to standby before.",
            name, minutes, least, name);
    if (w->l->snap->hosts[host].is.woken.reason == REASON_EXPECTED_DEMAND)
        return arena_printf(
            w->p->a,
            "%s was woken %.0f minutes ago for a rise that is expected; it stays on until that "
            "is through, %.0f minutes after it was woken.",
            name, minutes, least);
    return arena_printf(
        w->p->a,
        "%s was woken %.0f minutes ago: %s. It stays on until that is %.0f minutes ago, as far "
        "back as power-off looks.",
        name, minutes, reason_meaning(w->l->snap->hosts[host].is.woken.reason), least);
}

static const char *text_minimum(const struct power *w, const struct power_verdict *v)
{
    if (v->check == POWER_HOSTS_MIN)
        return arena_printf(w->p->a, "%.0f host%s would be on without it, and %.0f always are.", v->is,
                            v->is == 1 ? "" : "s", v->bound);
    return arena_printf(w->p->a, "The hosts would have %s of %s without it, and %s %s.",
                        amount(w, v->r, v->is), v->r == RES_CPU ? "CPU" : "memory", amount(w, v->r, v->bound),
                        v->check == POWER_RESERVED ? "are reserved" : "always stay on");
}

/* What keeps the VM, by the checks of a move. */
static const char *text_staying(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    const struct layout *l = w->l;
    enum check held = layout_vm_check(l, v->vm);
    const char *vm = l->snap->vms[v->vm].is.name;

    if (held == CHECK_NONE)
        held = l->unit_held[l->vm_unit[v->vm]];
    if (held == CHECK_NONE)
        return arena_printf(w->p->a, "%s is moved by a person only, and %s would have to wait for that.", vm,
                            name_of(w, host));
    return arena_printf(w->p->a, "%s stays on %s: %s.", vm, name_of(w, host), check_meaning(held));
}

static const char *text_scores(const struct power *w, const struct power_verdict *v)
{
    const char *of = v->r == RES_CPU ? "CPU" : "memory";

    if (v->check == POWER_RAISES_HIGH)
        return arena_printf(w->p->a, "Without it the high score of %s would rise from %.3f to %.3f.", of,
                            v->before.high[v->r], v->after.high[v->r]);
    return arena_printf(
        w->p->a, "Without it the low scores would go from %.3f to %.3f (CPU) and %.3f to %.3f.",
        v->before.low[RES_CPU], v->after.low[RES_CPU], v->before.low[RES_MEM], v->after.low[RES_MEM]);
}

static const char *text_no_room(const struct power *w, const struct power_verdict *v)
{
    const char *vm = w->l->snap->vms[v->vm].is.name;

    if (v->check == POWER_RAISES_HIGH)
        return arena_printf(w->p->a, "%s could only go to hosts that would then be above %.0f %%.", vm,
                            PERCENT * w->u.above);
    struct obstacle why;
    if (correct_best_target(w->p, w->l->vm_unit[v->vm], &why) != IX_NONE)
        return arena_printf(w->p->a, "%s finds no room on the others any more once they have taken the rest.",
                            vm);
    return arena_printf(w->p->a, "%s can go nowhere else. %s", vm, text_obstacle(w->p, why));
}

static const char *text_too_dear(const struct power *w, const struct power_verdict *v)
{
    const char *of = v->r == RES_CPU ? "MHz s" : "MiB s";

    if (!(v->worth.off_s > 0))
        return arena_printf(w->p->a,
                            "Emptying it takes %.0f minutes; demand is expected to change before it is off.",
                            v->worth.evacuate_s / SECONDS_PER_MINUTE);
    double together = w->l->snap->correlation.of[WINDOW_60M][v->r];
    const char *why =
        together >= TOGETHER_SAID && v->worth.lacks[v->r] > 0
            ? arena_printf(
                  w->p->a,
                  " The demands of the VMs rise and fall together (correlation %.2f): at their worst "
                  "%s of %s would be missing.",
                  together, amount(w, v->r, v->worth.lacks[v->r]), v->r == RES_CPU ? "CPU" : "memory")
            : "";
    return arena_printf(
        w->p->a,
        "In %.0f minutes off it saves %.4g %s and costs %.4g, which is %.1f times; %.0f are asked.%s",
        v->worth.off_s / SECONDS_PER_MINUTE, v->worth.benefit[v->r], of, v->worth.cost[v->r],
        v->worth.benefit[v->r] / v->worth.cost[v->r], w->l->policy->dpm.ratio, why);
}

static const char *text_missed(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    const struct regret *g = &w->l->snap->regret;
    char at[RFC3339_MAX];

    return arena_printf(
        w->p->a,
        "At %s hosts were missed soon after they had been put to standby: %s of CPU and %s of memory were "
        "wanted. It has been quiet for %.0f minutes since; until it has been for %.0f, those that stay must "
        "be "
        "able to give as much, and without %s they would lack %s of %s.",
        rfc3339_format(g->at, at), amount(w, RES_CPU, g->wanted[RES_CPU]),
        amount(w, RES_MEM, g->wanted[RES_MEM]), (double)(w->l->snap->time - g->busy_at) / SECONDS_PER_MINUTE,
        g->quiet_s / SECONDS_PER_MINUTE, name_of(w, host), amount(w, v->r, v->worth.lacks[v->r]),
        v->r == RES_CPU ? "CPU" : "memory");
}

static const char *text_high(const struct power *w)
{
    return arena_printf(w->p->a, "The fullest host is at %s, and %.0f %% is the most that is wanted.",
                        text_fullest(w, WINDOW_5M), PERCENT * w->u.above);
}

static const char *text_coming(const struct power *w)
{
    const struct layout *l = w->l;

    for (uint32_t i = 0; i < l->n_slots; i++)
        if (w->p->coming[i] || l->waking[i])
            return arena_printf(w->p->a, "%s is being woken: what it will relieve is not seen yet.",
                                name_of(w, l->slot_host[i]));
    return "";
}

static const char *text_not_low(const struct power *w)
{
    bool cpu = w->scores.low[RES_CPU] > 0;
    bool mem = w->scores.low[RES_MEM] > 0;
    const char *of = cpu ? "Memory" : mem ? "CPU" : "CPU and memory";

    return arena_printf(w->p->a, "%s %s below %.0f %% on no host%s: the hosts that are on are needed.", of,
                        cpu || mem ? "is" : "are", PERCENT * w->u.below,
                        w->n_asleep > 0 ? " but those that the plan puts to standby" : "");
}

static const char *text_moves(const struct power *w, const struct power_verdict *v)
{
    return arena_printf(w->p->a, "It has %u VM%s to be moved, and the plan may have %.0f more.", v->n_moves,
                        v->n_moves == 1 ? "" : "s", v->bound);
}

const char *text_power_check(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    switch (v->check) {
    case POWER_UPTIME:
    case POWER_WOKEN:
        return v->check == POWER_UPTIME ? text_uptime(w, host, v) : text_woken(w, host, v);
    case POWER_HOSTS_MIN:
    case POWER_CPU_MIN:
    case POWER_MEM_MIN:
    case POWER_RESERVED:
        return text_minimum(w, v);
    case POWER_RULE_LAST:
        return arena_printf(w->p->a, "Of the hosts that the rule \"%s\" allows no other one is on.",
                            w->l->snap->rules[v->other].is.name);
    case POWER_VM_STAYS:
        return text_staying(w, host, v);
    case POWER_VM_NO_ROOM:
    case POWER_RAISES_HIGH:
        return v->vm != IX_NONE ? text_no_room(w, v) : text_scores(w, v);
    case POWER_KEEPS_LOW:
        return text_scores(w, v);
    case POWER_COST_BENEFIT:
        return text_too_dear(w, v);
    case POWER_MISSED_BEFORE:
        return text_missed(w, host, v);
    case POWER_HIGH:
        return text_high(w);
    case POWER_NOT_LOW:
        return text_not_low(w);
    case POWER_MOVES_MAX:
        return text_moves(w, v);
    case POWER_OTHERS_COMING:
        return text_coming(w);
    case POWER_WINDOW:
    case POWER_WINDOW_ENDS:
    case POWER_READY_SOON:
    case POWER_READY_LATER:
        return text_ready_check(w, host, v);
    case POWER_EXPECTED:
    case POWER_NEEDED_SOON:
        return v->check == POWER_EXPECTED ? text_rise(w) : text_needed_soon(w, host, v);
    case POWER_FINE:
    case POWER_NOT_WATCHED:
    case POWER_DPM_OFF:
    case POWER_MANDATORY_ONLY:
    case POWER_HOST_STATE:
    case POWER_HOST_FAILOVER:
    case POWER_HOST_DISABLED:
    case POWER_HOST_COMING:
    case POWER_WAKE_FAILED:
    case POWER_WAKE_UNPROVEN:
    case POWER_SPARE_MISSING:
    case POWER_HOST_BUSY:
    case POWER_SPARE:
    case POWER_NOT_HIGH:
    case POWER_WITHOUT_IT:
    case POWER_NO_RELIEF:
    case POWER_OTHER_BETTER:
    case power_check_count:
        break;
    }
    return text_sentence(w->p->a, power_check_meaning(v->check));
}
