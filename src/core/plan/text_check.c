/* Why a VM does not go to a host, with the numbers that decided. */
#include "core/plan/correct.h"

#define SECONDS_PER_MINUTE 60

struct asked {
    uint32_t vm, unit, host, slot;
    enum check check;
    const struct worth *worth;
};

static const char *vm_name(const struct pass *p, uint32_t vm)
{
    return p->snap->vms[vm].is.name;
}

static const char *host_name(const struct pass *p, uint32_t host)
{
    return p->snap->hosts[host].is.name;
}

const char *text_host_state(enum host_state state)
{
    switch (state) {
    case HOST_ON:
        return "about to be switched off or serviced";
    case HOST_MAINTENANCE:
        return "in maintenance";
    case HOST_ENTERING_MAINTENANCE:
        return "entering maintenance";
    case HOST_STANDBY:
        return "in standby";
    case HOST_ENTERING_STANDBY:
        return "entering standby";
    case HOST_POWERING_ON:
        return "being woken";
    case HOST_DISCONNECTED:
        return "not seen";
    case host_state_count:
        break;
    }
    return "?";
}

/* ---- what holds the VM where it is ---- */

static const char *text_not_running(const struct pass *p, const struct asked *q)
{
    return arena_printf(p->a, "It is %s; only running VMs are migrated.",
                        vm_state_name(p->snap->vms[q->vm].is.state));
}

static const char *text_unseen(const struct pass *p, const struct asked *q)
{
    uint32_t host = p->snap->vms[q->vm].host;

    return arena_printf(p->a, "Its host %s is %s, so nothing is known about it.", host_name(p, host),
                        text_host_state(p->snap->hosts[host].is.state));
}

static const char *text_migrating(const struct pass *p, const struct asked *q)
{
    for (uint32_t i = 0; i < p->snap->n_migrations; i++) {
        const struct migration *m = &p->snap->migrations[i];
        if (m->vm == q->vm)
            return arena_printf(p->a, "It is being migrated from %s to %s.", host_name(p, m->from),
                                host_name(p, m->to));
    }
    for (uint32_t i = 0; i < p->snap->n_pending; i++) {
        const struct pending *w = &p->snap->pending[i];
        if (w->vm == q->vm && w->to != IX_NONE)
            return arena_printf(p->a, "An approved migration takes it to %s.", host_name(p, w->to));
    }
    return NULL;
}

static const char *text_kind(const struct pass *p, const struct asked *q)
{
    enum vm_kind kind = p->snap->vms[q->vm].is.kind;

    return arena_printf(p->a, "It is of the kind %s (%s).", vm_kind_name(kind), vm_kind_meaning(kind));
}

static const char *text_sample_bad(const struct pass *p, const struct asked *q)
{
    const char *phrase = p->snap->vms[q->vm].is.sample_bad;

    return phrase ? text_sentence(p->a, phrase) : NULL;
}

static const char *text_ft(const struct pass *p, const struct asked *q)
{
    uint32_t peer = p->snap->vms[q->vm].ft_peer;

    if (peer == IX_NONE)
        return NULL;
    return arena_printf(p->a, "It is half of a fault-tolerant pair with %s, and moved only when it must be.",
                        vm_name(p, peer));
}

static const char *text_cool_down(const struct pass *p, const struct asked *q)
{
    double ago_s = (double)(p->snap->time - p->snap->vms[q->vm].is.last_migrated);

    return arena_printf(p->a, "It was migrated %.0f minutes ago, and rests for %.0f.",
                        floor(ago_s / SECONDS_PER_MINUTE),
                        ceil((double)p->policy.cool_down_s / SECONDS_PER_MINUTE));
}

static const char *text_rules(const struct pass *p, const struct asked *q)
{
    for (uint32_t i = 0; i < p->rules.n_conflicts; i++) {
        const struct rule_conflict *c = &p->rules.conflicts[i];
        const char *rule = p->snap->rules[c->rule].is.name;
        if (c->vm == q->vm && c->other == IX_NONE)
            return arena_printf(p->a, "The rule \"%s\" leaves it no host to run on.", rule);
        if (c->vm == q->vm)
            return arena_printf(p->a, "The rules \"%s\" and \"%s\" contradict each other for it.", rule,
                                p->snap->rules[c->other].is.name);
    }
    return NULL;
}

/* Another one of its affine set. */
static const char *text_held(const struct pass *p, const struct asked *q)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[q->unit]; i < l->unit_from[q->unit + 1]; i++) {
        uint32_t other = l->unit_vms[i];
        enum check its = layout_vm_check(l, other);
        if (other != q->vm && its != CHECK_NONE && its != CHECK_UNIT_HELD)
            return arena_printf(p->a, "%s, which must stay together with it, cannot be moved: %s.",
                                vm_name(p, other), check_meaning(its));
    }
    return NULL;
}

/* ---- what keeps it off the host ---- */

static const char *text_not_on(const struct pass *p, const struct asked *q)
{
    return arena_printf(p->a, "%s is %s.", host_name(p, q->host),
                        text_host_state(p->snap->hosts[q->host].is.state));
}

static const char *text_host_sleeps(const struct pass *p, const struct asked *q)
{
    return arena_printf(p->a, "%s is put to standby by the plan.", host_name(p, q->host));
}

static const char *text_failover(const struct pass *p, const struct asked *q)
{
    return arena_printf(p->a, "%s is kept empty for failures.", host_name(p, q->host));
}

static const char *text_incompatible(const struct pass *p, const struct asked *q)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[q->unit]; i < l->unit_from[q->unit + 1]; i++) {
        const struct vm *v = &p->snap->vms[l->unit_vms[i]];
        if (v->compatible_given && !span_has(v->compatible_hosts, q->host))
            return arena_printf(p->a, "%s can run on %u of the %u hosts, and %s is none of them.", v->is.name,
                                v->compatible_hosts.n, p->snap->n_hosts, host_name(p, q->host));
    }
    return NULL;
}

static const char *text_agent(const struct pass *p, const struct asked *q)
{
    struct span agents = p->snap->hosts[q->host].agents_required;

    for (uint32_t i = 0; i < agents.n; i++) {
        const struct vm *agent = &p->snap->vms[agents.items[i]];
        if (agent->is.state == VM_ON && agent->host == q->host)
            continue;
        return arena_printf(p->a, "The agent VM %s, which %s requires, is %s.", agent->is.name,
                            host_name(p, q->host),
                            agent->is.state == VM_ON ? "not there" : vm_state_name(agent->is.state));
    }
    return NULL;
}

static const char *text_vm_host(const struct pass *p, const struct asked *q)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[q->unit]; i < l->unit_from[q->unit + 1]; i++) {
        uint32_t rule = rules_find_vm_host(&p->rules, l->unit_vms[i], q->host);
        if (rule != IX_NONE)
            return arena_printf(p->a, "The rule \"%s\" keeps %s off %s.", p->snap->rules[rule].is.name,
                                vm_name(p, l->unit_vms[i]), host_name(p, q->host));
    }
    return NULL;
}

static const char *text_apart(const struct pass *p, const struct asked *q)
{
    uint32_t mine = q->vm;
    uint32_t other = IX_NONE;

    if (!layout_apart_conflict(&p->layout, q->unit, q->slot, &mine, &other) || other == IX_NONE)
        return NULL;
    uint32_t rule = rules_find_vm_vm(&p->rules, RULE_VM_ANTI_AFFINE, mine, other);
    const struct layout *l = &p->layout;
    bool there = l->vm_unit[other] != IX_NONE && l->unit_slot[l->vm_unit[other]] == q->slot;
    return arena_printf(p->a, "The rule \"%s\" keeps %s apart from %s, which is %s %s.",
                        rule == IX_NONE ? "?" : p->snap->rules[rule].is.name, vm_name(p, mine),
                        vm_name(p, other),
                        there                                                           ? "on"
                        : l->going_to[other] == q->slot || l->vm_unit[other] == IX_NONE ? "on its way to"
                                                                                        : "on its way from",
                        host_name(p, q->host));
}

static const char *text_ft_peer(const struct pass *p, const struct asked *q)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[q->unit]; i < l->unit_from[q->unit + 1]; i++) {
        uint32_t peer = p->snap->vms[l->unit_vms[i]].ft_peer;
        uint32_t unit = peer == IX_NONE ? IX_NONE : l->vm_unit[peer];
        if (unit != IX_NONE && (l->unit_slot[unit] == q->slot || l->other_end[peer] == q->slot))
            return arena_printf(p->a, "%s, the other half of the fault-tolerant pair of %s, is on %s.",
                                vm_name(p, peer), vm_name(p, l->unit_vms[i]), host_name(p, q->host));
    }
    return NULL;
}

/* Those that it must be together with are not all on one host. */
static const char *text_together(const struct pass *p, const struct asked *q)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = 0; i < p->snap->n_vms; i++) {
        uint32_t unit = l->vm_unit[i];
        if (unit == IX_NONE || unit == q->unit || p->rules.component[i] != p->rules.component[q->vm])
            continue;
        return arena_printf(p->a, "It must be together with %s, which is on %s.", vm_name(p, i),
                            host_name(p, l->slot_host[l->unit_slot[unit]]));
    }
    return NULL;
}

/* ---- room ---- */

static const char *amount(const struct pass *p, enum resource r, double v)
{
    return r == RES_CPU ? text_mhz(p->a, v) : text_mb(p->a, v);
}

static double left_to_reserve(const struct pass *p, const struct asked *q, enum resource r)
{
    return fmax(p->snap->hosts[q->host].capacity[r] - p->layout.reserved[r][q->slot], 0);
}

static const char *text_reservation(const struct pass *p, const struct asked *q)
{
    enum resource r = q->check == CHECK_RESERVATION_CPU ? RES_CPU : RES_MEM;

    return arena_printf(p->a, "It reserves %s, and %s has %s left to reserve.",
                        amount(p, r, p->layout.unit_reserved[r][q->unit]), host_name(p, q->host),
                        amount(p, r, left_to_reserve(p, q, r)));
}

static const char *text_spare(const struct pass *p, const struct asked *q)
{
    enum resource r;
    double kept;

    if (!spare_in_the_way(&p->layout.spare, q->unit, q->slot, &r, &kept))
        return arena_printf(p->a, "Should %s fail, there would be no room on another host to restart it.",
                            host_name(p, q->host));
    return arena_printf(p->a,
                        "It reserves %s, and of the %s that %s has left to reserve, %s are kept for restarts "
                        "after a failure.",
                        amount(p, r, p->layout.unit_reserved[r][q->unit]),
                        amount(p, r, left_to_reserve(p, q, r)), host_name(p, q->host), amount(p, r, kept));
}

static const char *text_memory(const struct pass *p, const struct asked *q)
{
    const struct layout *l = &p->layout;

    return arena_printf(p->a, "It takes %s, and %s has %s of %s left.", text_mb(p->a, l->unit_mem[q->unit]),
                        host_name(p, q->host),
                        text_mb(p->a, fmax(l->mem_limit[q->slot] - l->mem_taken[q->slot], 0)),
                        text_mb(p->a, l->mem_limit[q->slot]));
}

static const char *text_memory_free(const struct pass *p, const struct asked *q)
{
    const struct layout *l = &p->layout;

    return arena_printf(p->a, "It needs %s of host memory, and only %s is free on %s.",
                        text_mb(p->a, l->unit_phys[q->unit]), text_mb(p->a, fmax(l->mem_free[q->slot], 0)),
                        host_name(p, q->host));
}

/* ---- whether it is worth it ---- */

static const char *text_mandatory_only(const struct pass *p, const struct asked *q)
{
    (void)q;
    if (p->policy.migration_threshold == 1)
        return "At migration threshold 1 only mandatory moves are made.";
    if (guard_distrusts(&p->guard))
        return arena_printf(
            p->a, "The figures of %u of %u VMs are missing or wrong: only mandatory moves are made.",
            p->guard.n_bad, p->guard.n);
    return NULL;
}

static const char *text_target(const struct pass *p, const struct asked *q)
{
    (void)q;
    return arena_printf(p->a, "The imbalance is %.4f, and %.4f is even enough.", p->climb.judge.imbalance,
                        layout_target(p->layout.n_on, p->policy.migration_threshold));
}

static double gain(const struct pass *p, const struct asked *q)
{
    struct trial t;

    trial_begin(&p->layout, p->climb.judge.weight, q->unit, &t);
    return judge_gain(&p->climb.judge, &t, q->slot);
}

static const char *text_no_gain(const struct pass *p, const struct asked *q)
{
    double now = p->climb.judge.imbalance;

    return arena_printf(p->a, "The imbalance would not be lower: %.4f, and %.4f now.", now - gain(p, q), now);
}

static const char *text_goodness(const struct pass *p, const struct asked *q)
{
    return arena_printf(p->a, "It would lower the imbalance by %.4f, and %.4f is the least for a migration.",
                        gain(p, q), p->climb.judge.goodness);
}

/* Without a sign before what rounds to nothing. */
static double whole(double x)
{
    return fabs(x) < 0.5 ? 0 : x;
}

static const char *text_worth(const struct pass *p, const struct asked *q)
{
    const struct worth *w = q->worth;

    if (q->check == CHECK_COST_BENEFIT)
        return arena_printf(p->a, "It costs %.0f MHz s and %.0f MiB s, and gains %.0f MHz s and %.0f MiB s.",
                            whole(w->cost[RES_CPU]), whole(w->cost[RES_MEM]), whole(w->benefit[RES_CPU]),
                            whole(w->benefit[RES_MEM]));
    return arena_printf(p->a, "In the worst case %s and %s more would go unserved than now.",
                        text_mhz(p->a, w->worse_of[RES_CPU]), text_mb(p->a, w->worse_of[RES_MEM]));
}

static const char *text_moves_max(const struct pass *p, const struct asked *q)
{
    (void)q;
    return arena_printf(p->a, "The plan may have %lld move%s, and none is left for it.",
                        (long long)p->policy.moves_max, p->policy.moves_max == 1 ? "" : "s");
}

static const char *text_less_gain(const struct pass *p, const struct asked *q)
{
    if (!p->stopped)
        return NULL;
    return arena_printf(p->a, "The imbalance would be %.4f, and is %.4f with it on %s.",
                        p->climb.judge.imbalance - gain(p, q), p->next.imbalance_after,
                        host_name(p, p->layout.slot_host[p->next.to_slot]));
}

/* ---- all of them ---- */

/* What the sentence is about besides the VM: it needs a unit, or a unit and a slot that can run VMs. */
enum about { ABOUT_VM, ABOUT_UNIT, ABOUT_SLOT };

static const struct {
    const char *(*text)(const struct pass *p, const struct asked *q); /* NULL: the meaning says it all */
    enum about about;
} texts[check_count] = {
    [CHECK_VM_NOT_RUNNING] = {text_not_running, ABOUT_VM},
    [CHECK_VM_HOST_UNSEEN] = {text_unseen, ABOUT_VM},
    [CHECK_VM_MIGRATING] = {text_migrating, ABOUT_VM},
    [CHECK_VM_KIND] = {text_kind, ABOUT_VM},
    [CHECK_VM_SAMPLE_BAD] = {text_sample_bad, ABOUT_VM},
    [CHECK_VM_FT] = {text_ft, ABOUT_VM},
    [CHECK_VM_COOL_DOWN] = {text_cool_down, ABOUT_VM},
    [CHECK_VM_RULES] = {text_rules, ABOUT_VM},
    [CHECK_UNIT_HELD] = {text_held, ABOUT_UNIT},
    [CHECK_HOST_NOT_ON] = {text_not_on, ABOUT_VM},
    [CHECK_HOST_SLEEPS] = {text_host_sleeps, ABOUT_VM},
    [CHECK_FAILOVER_HOST] = {text_failover, ABOUT_VM},
    [CHECK_INCOMPATIBLE] = {text_incompatible, ABOUT_UNIT},
    [CHECK_AGENT_MISSING] = {text_agent, ABOUT_VM},
    [CHECK_RULE_VM_HOST] = {text_vm_host, ABOUT_UNIT},
    [CHECK_RULE_ANTI_AFFINITY] = {text_apart, ABOUT_SLOT},
    [CHECK_FT_PEER] = {text_ft_peer, ABOUT_SLOT},
    [CHECK_RULE_AFFINITY] = {text_together, ABOUT_UNIT},
    [CHECK_RESERVATION_CPU] = {text_reservation, ABOUT_SLOT},
    [CHECK_RESERVATION_MEM] = {text_reservation, ABOUT_SLOT},
    [CHECK_SPARE_CAPACITY] = {text_spare, ABOUT_SLOT},
    [CHECK_MEMORY] = {text_memory, ABOUT_SLOT},
    [CHECK_MEMORY_FREE] = {text_memory_free, ABOUT_SLOT},
    [CHECK_MANDATORY_ONLY] = {text_mandatory_only, ABOUT_VM},
    [CHECK_TARGET_REACHED] = {text_target, ABOUT_VM},
    [CHECK_NO_GAIN] = {text_no_gain, ABOUT_SLOT},
    [CHECK_MIN_GOODNESS] = {text_goodness, ABOUT_SLOT},
    [CHECK_COST_BENEFIT] = {text_worth, ABOUT_SLOT},
    [CHECK_WORST_CASE] = {text_worth, ABOUT_SLOT},
    [CHECK_MOVES_MAX] = {text_moves_max, ABOUT_VM},
    [CHECK_LESS_GAIN] = {text_less_gain, ABOUT_SLOT},
};

const char *text_check(const struct pass *p, uint32_t vm, uint32_t host, enum check check,
                       const struct worth *worth)
{
    const struct asked q = {.vm = vm,
                            .unit = p->layout.vm_unit[vm],
                            .host = host,
                            .slot = p->layout.host_slot[host],
                            .check = check,
                            .worth = worth};
    bool known = (texts[check].about == ABOUT_VM || q.unit != IX_NONE) &&
                 (texts[check].about != ABOUT_SLOT || q.slot != IX_NONE);
    const char *text = texts[check].text && known ? texts[check].text(p, &q) : NULL;

    return text ? text : text_sentence(p->a, check_meaning(check));
}
