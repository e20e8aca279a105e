/* Finds the subjects and figures behind the check that keeps a VM off a host. src/render/wording says them.
 */
#include "core/plan/correct.h"

#include "model/compatibility.h"

struct asked {
    uint32_t vm, unit, host, slot;
    enum check check;
    const struct migration_worth *worth;
};

/* ---- the VM is held ---- */

/* Each finder below completes *f, which has only its check so far. False: the check has no figures. */

static bool find_vm(const struct pass *p, const struct asked *q, struct finding *f)
{
    (void)p;
    finding_subject(f, SUBJECT_VM, q->vm);
    return true;
}

static bool find_unseen(const struct pass *p, const struct asked *q, struct finding *f)
{
    finding_subject(f, SUBJECT_HOST, p->snap->vms[q->vm].host);
    return true;
}

static bool find_migration(const struct pass *p, const struct asked *q, struct finding *f)
{
    for (uint32_t i = 0; i < p->snap->n_migrations; i++) {
        const struct migration *m = &p->snap->migrations[i];
        if (m->vm != q->vm)
            continue;
        finding_subject(f, SUBJECT_FROM, m->from);
        finding_subject(f, SUBJECT_TO, m->to);
        return true;
    }
    for (uint32_t i = 0; i < p->snap->n_pending; i++) {
        const struct pending *w = &p->snap->pending[i];
        if (w->vm != q->vm || w->to == IX_NONE)
            continue;
        finding_subject(f, SUBJECT_TO, w->to);
        return true;
    }
    return false;
}

static bool find_bad_sample(const struct pass *p, const struct asked *q, struct finding *f)
{
    f->because = sample_guard_found(&p->guard, q->vm);
    return f->because != NULL;
}

static bool find_ft_pair(const struct pass *p, const struct asked *q, struct finding *f)
{
    finding_subject(f, SUBJECT_FT_PEER, p->snap->vms[q->vm].ft_peer);
    return p->snap->vms[q->vm].ft_peer != IX_NONE;
}

static bool find_cool_down(const struct pass *p, const struct asked *q, struct finding *f)
{
    finding_figure(f, FIGURE_IS_S, snapshot_age_s(p->snap, p->snap->vms[q->vm].is.last_migrated));
    finding_figure(f, FIGURE_LEAST_S, (double)p->policy.cool_down_s);
    return true;
}

static bool find_conflict(const struct pass *p, const struct asked *q, struct finding *f)
{
    for (uint32_t i = 0; i < p->rules.n_conflicts; i++) {
        const struct rule_conflict *c = &p->rules.conflicts[i];
        if (c->vm != q->vm)
            continue;
        finding_subject(f, SUBJECT_RULE, c->rule);
        finding_subject(f, SUBJECT_OTHER_RULE, c->other);
        return true;
    }
    return false;
}

/* The VM is free, but another VM of its affine set is held. */
static bool find_held(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[q->unit]; i < l->unit_from[q->unit + 1]; i++) {
        uint32_t other = l->unit_vms[i];
        enum check its = layout_vm_check(l, other);
        if (other == q->vm || its == CHECK_NONE || its == CHECK_UNIT_HELD)
            continue;
        finding_subject(f, SUBJECT_OTHER_VM, other);
        f->because = finding_keep(p->a, (struct finding){.code = FIND_MEANING, .check = its});
        return true;
    }
    return false;
}

/* ---- the host rejects the VM ---- */

static bool find_host(const struct pass *p, const struct asked *q, struct finding *f)
{
    if (q->check == CHECK_HOST_DISTRUSTED)
        finding_add_losses(f, p->snap, q->host);
    else
        finding_subject(f, SUBJECT_HOST, q->host);
    return true;
}

static bool find_incompatible(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[q->unit]; i < l->unit_from[q->unit + 1]; i++) {
        const struct vm *v = &p->snap->vms[l->unit_vms[i]];
        if (vm_is_compatible(v, q->host))
            continue;
        finding_subject(f, SUBJECT_OTHER_VM, l->unit_vms[i]);
        finding_subject(f, SUBJECT_HOST, q->host);
        if (!vm_is_offered(v, q->host)) {
            uint32_t n = compatibility_missing(&v->is, &p->snap->hosts[q->host].is, NULL, 0);
            finding_figure(f, FIGURE_MISSING_MORE, (double)n - 1);
            return true;
        }
        finding_figure(f, FIGURE_HOSTS, v->compatible_hosts.n);
        finding_figure(f, FIGURE_HOSTS_ALL, p->snap->n_hosts);
        return true;
    }
    return false;
}

static bool find_refusal(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct layout *l = &p->layout;

    if (q->unit == IX_NONE)
        return fit_finding_refusal(p, q->vm, q->host, true, f);
    for (uint32_t i = l->unit_from[q->unit]; i < l->unit_from[q->unit + 1]; i++)
        if (fit_finding_refusal(p, l->unit_vms[i], q->host, true, f))
            return true;
    return false;
}

/* Also the filter that refuses the host, if one does: what depends on where VMs are is not known of it. */
static bool find_host_state(const struct pass *p, const struct asked *q, struct finding *f)
{
    return fit_finding_refusal(p, q->vm, q->host, false, f) || find_host(p, q, f);
}

static bool find_quantity(const struct pass *p, const struct asked *q, struct finding *f)
{
    return q->slot != IX_NONE && fit_finding_quantity(&p->layout, q->vm, q->slot, f);
}

static bool find_cells(const struct pass *p, const struct asked *q, struct finding *f)
{
    return q->slot != IX_NONE && fit_finding_cells(&p->layout, q->vm, q->slot, f);
}

static bool find_agent(const struct pass *p, const struct asked *q, struct finding *f)
{
    struct span agents = p->snap->hosts[q->host].agents_required;

    for (uint32_t i = 0; i < agents.n; i++) {
        const struct vm *agent = &p->snap->vms[agents.items[i]];
        if (agent->is.state == VM_ON && agent->host == q->host)
            continue;
        finding_subject(f, SUBJECT_OTHER_VM, agents.items[i]);
        finding_subject(f, SUBJECT_HOST, q->host);
        return true;
    }
    return false;
}

static bool find_host_rule(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[q->unit]; i < l->unit_from[q->unit + 1]; i++) {
        uint32_t rule = rules_find_vm_host(&p->rules, l->unit_vms[i], q->host);
        if (rule == IX_NONE)
            continue;
        finding_subject(f, SUBJECT_OTHER_VM, l->unit_vms[i]);
        finding_subject(f, SUBJECT_HOST, q->host);
        finding_subject(f, SUBJECT_RULE, rule);
        return true;
    }
    return false;
}

static bool find_apart(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct layout *l = &p->layout;
    uint32_t mine = q->vm;
    uint32_t other = IX_NONE;

    if (!layout_apart_conflict(l, q->unit, q->slot, &mine, &other) || other == IX_NONE)
        return false;
    bool there = l->vm_unit[other] != IX_NONE && l->unit_slot[l->vm_unit[other]] == q->slot;
    bool comes = l->going_to[other] == q->slot || l->vm_unit[other] == IX_NONE;
    finding_subject(f, SUBJECT_VM, mine);
    finding_subject(f, SUBJECT_OTHER_VM, other);
    finding_subject(f, there ? SUBJECT_HOST : comes ? SUBJECT_TO : SUBJECT_FROM, q->host);
    finding_subject(f, SUBJECT_RULE, rules_find_vm_vm(&p->rules, RULE_VM_ANTI_AFFINE, mine, other));
    return true;
}

static bool find_ft_peer(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[q->unit]; i < l->unit_from[q->unit + 1]; i++) {
        uint32_t peer = p->snap->vms[l->unit_vms[i]].ft_peer;
        uint32_t unit = peer == IX_NONE ? IX_NONE : l->vm_unit[peer];
        if (unit == IX_NONE || (l->unit_slot[unit] != q->slot && l->other_end[peer] != q->slot))
            continue;
        finding_subject(f, SUBJECT_OTHER_VM, l->unit_vms[i]);
        finding_subject(f, SUBJECT_FT_PEER, peer);
        finding_subject(f, SUBJECT_HOST, q->host);
        return true;
    }
    return false;
}

/* The VM's affine set runs on several hosts. */
static bool find_scattered(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct layout *l = &p->layout;
    uint32_t found = IX_NONE;

    /* the first one where the set meets, if the plan brings it together */
    for (uint32_t i = 0; i < p->snap->n_vms; i++) {
        uint32_t unit = l->vm_unit[i];
        if (unit == IX_NONE || unit == q->unit || p->rules.component[i] != p->rules.component[q->vm])
            continue;
        if (found == IX_NONE || (p->stopped && l->unit_slot[unit] == p->next.to_slot &&
                                 l->unit_slot[l->vm_unit[found]] != p->next.to_slot))
            found = i;
    }
    if (found == IX_NONE)
        return false;
    finding_subject(f, SUBJECT_OTHER_VM, found);
    finding_subject(f, SUBJECT_OTHER_HOST, l->slot_host[l->unit_slot[l->vm_unit[found]]]);
    return true;
}

/* ---- capacity ---- */

/* Adds the unit's need and the host's free capacity. */
static void add_room(struct finding *f, const struct asked *q, enum resource r, double need, double left)
{
    f->resource = r;
    finding_subject(f, SUBJECT_HOST, q->host);
    finding_figure(f, FIGURE_NEED, need);
    finding_figure(f, FIGURE_LEFT, left);
}

static double left_to_reserve(const struct pass *p, const struct asked *q, enum resource r)
{
    return fmax(p->snap->hosts[q->host].capacity[r] - p->layout.reserved[r][q->slot], 0);
}

static bool find_reservation(const struct pass *p, const struct asked *q, struct finding *f)
{
    enum resource r = q->check == CHECK_RESERVATION_CPU ? RES_CPU : RES_MEM;

    add_room(f, q, r, p->layout.unit_reserved[r][q->unit], left_to_reserve(p, q, r));
    return true;
}

static bool find_spare(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct failover_capacity *s = &p->layout.failover;
    enum resource r;
    double kept;

    if (!failover_capacity_blocks(s, q->unit, q->slot, &r, &kept)) {
        if (p->snap->promise.hosts > 1)
            finding_figure(f, FIGURE_HOSTS, p->snap->promise.hosts);
        return find_host(p, q, f);
    }
    add_room(f, q, r, s->unit_takes[r][q->unit], fmax(s->capacity[r][q->slot] - s->taken[r][q->slot], 0));
    finding_figure(f, FIGURE_KEPT, kept);
    return true;
}

static bool find_memory(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct layout *l = &p->layout;

    add_room(f, q, RES_MEM, l->unit_mem[q->unit], fmax(l->mem_limit[q->slot] - l->mem_taken[q->slot], 0));
    finding_figure(f, FIGURE_LIMIT, l->mem_limit[q->slot]);
    if (l->policy->mem_overcommit < 1 || l->policy->mem_overcommit > 1)
        finding_figure(f, FIGURE_HAS, p->snap->hosts[q->host].capacity[RES_MEM]);
    return true;
}

static bool find_memory_free(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct layout *l = &p->layout;

    add_room(f, q, RES_MEM, l->unit_phys[q->unit], fmax(l->mem_free[q->slot], 0));
    if (l->mem_idle[q->slot] > 0)
        finding_figure(f, FIGURE_RECLAIMED, l->mem_idle[q->slot]);
    return true;
}

/* The resource of which the host would have the least headroom left. */
static bool find_load(const struct pass *p, const struct asked *q, struct finding *f)
{
    double over[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++)
        over[r] = layout_load_with(&p->layout, q->unit, q->slot, (enum resource)r) -
                  layout_load_limit(&p->layout, (enum resource)r);
    f->resource = over[RES_CPU] >= over[RES_MEM] ? RES_CPU : RES_MEM;
    finding_subject(f, SUBJECT_HOST, q->host);
    finding_figure(f, FIGURE_LOAD, layout_load_with(&p->layout, q->unit, q->slot, f->resource));
    finding_figure(f, FIGURE_LOAD_MAX, layout_load_limit(&p->layout, f->resource));
    return true;
}

/* ---- what failed ---- */

/* x: NULL: nothing is avoided. */
static bool add_avoided(const struct avoid *x, enum check check, struct finding *f)
{
    if (!x)
        return false;
    *f = finding_of_avoid(FIND_CHECK, x);
    f->check = check;
    return true;
}

static bool find_avoided(const struct pass *p, const struct asked *q, struct finding *f)
{
    return add_avoided(layout_find_avoid_of_unit(&p->layout, q->unit, q->host), CHECK_AVOID, f);
}

static bool find_rejection(const struct pass *p, const struct asked *q, struct finding *f)
{
    return add_avoided(layout_find_rejection(p->snap, q->vm, REASON_BALANCE_CPU), CHECK_VM_REJECTED, f);
}

/* ---- cost and benefit ---- */

static bool find_mandatory_only(const struct pass *p, const struct asked *q, struct finding *f)
{
    (void)q;
    if (p->policy.migration_threshold == 1) {
        finding_figure(f, FIGURE_THRESHOLD, 1);
        return true;
    }
    if (sample_guard_distrusts(&p->guard)) {
        finding_figure(f, FIGURE_VMS, p->guard.n_bad);
        finding_figure(f, FIGURE_VMS_ALL, p->guard.n);
        return true;
    }
    const struct avoid *pause = layout_find_avoid(p->snap, IX_NONE, IX_NONE);
    return add_avoided(pause, pause && pause->mandatory ? CHECK_AVOID : CHECK_MANDATORY_ONLY, f);
}

static bool find_target(const struct pass *p, const struct asked *q, struct finding *f)
{
    (void)q;
    finding_figure(f, FIGURE_IMBALANCE, p->climb.score.imbalance);
    finding_figure(f, FIGURE_TARGET, layout_plan_target(&p->layout));
    return true;
}

static double gain_on(const struct pass *p, const struct asked *q, uint32_t slot)
{
    struct move_trial t;

    move_trial_begin(&p->layout, p->climb.score.weight, q->unit, &t);
    return move_score_gain(&p->climb.score, &t, slot);
}

static double gain(const struct pass *p, const struct asked *q)
{
    return gain_on(p, q, q->slot);
}

static bool find_no_gain(const struct pass *p, const struct asked *q, struct finding *f)
{
    double now = p->climb.score.imbalance;

    finding_figure(f, FIGURE_IMBALANCE_AFTER, now - gain(p, q));
    finding_figure(f, FIGURE_IMBALANCE, now);
    return true;
}

static bool find_goodness(const struct pass *p, const struct asked *q, struct finding *f)
{
    finding_figure(f, FIGURE_GAIN, gain(p, q));
    finding_figure(f, FIGURE_GAIN_MIN, p->climb.score.goodness);
    return true;
}

static bool find_bucket(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct move_preference *preference = p->climb.score.preference;
    struct fit_frozen_bucket b;
    uint32_t vm = preference ? move_preference_worse_bucket(preference, q->unit, q->slot, &b) : IX_NONE;

    if (vm == IX_NONE)
        return false;
    finding_subject(f, SUBJECT_OTHER_VM, vm);
    finding_subject(f, SUBJECT_HOST, q->host);
    finding_subject(f, SUBJECT_FROM, p->snap->vms[vm].host);
    finding_subject(f, SUBJECT_STAGE, b.stage);
    finding_figure(f, FIGURE_BUCKET, isfinite(b.there) ? b.there : UNKNOWN);
    finding_figure(f, FIGURE_BUCKET_OWN, b.here);
    return true;
}

static bool find_score(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct move_preference *preference = p->climb.score.preference;

    if (!preference)
        return false;
    bool gains =
        !p->stopped || ((p->next.reason == REASON_BALANCE_CPU || p->next.reason == REASON_BALANCE_MEM) &&
                        !move_score_is_worth_its_score(&p->climb.score, q->unit, q->slot, gain(p, q)));
    uint32_t vm = move_preference_worst_vm(preference, q->unit, gains ? IX_NONE : p->next.to_slot, q->slot);
    uint32_t own = p->snap->vms[vm].host;
    uint32_t better = gains ? own : p->layout.slot_host[p->next.to_slot];

    finding_subject(f, SUBJECT_OTHER_VM, vm);
    finding_subject(f, SUBJECT_HOST, q->host);
    finding_subject(f, SUBJECT_FROM, own);
    finding_subject(f, SUBJECT_STAGE, fit_frozen_stage_of_drop(preference->frozen, vm, better, q->host));
    finding_figure(f, FIGURE_SCORE, fit_frozen_score(preference->frozen, vm, q->host));
    finding_figure(f, FIGURE_SCORE_OWN, fit_frozen_score(preference->frozen, vm, own));
    if (!gains) { /* a mandatory move need not, or it gains enough: the chosen host has a better score */
        finding_subject(f, SUBJECT_TO, better);
        finding_figure(f, FIGURE_SCORE_CHOSEN, fit_frozen_score(preference->frozen, vm, better));
        return true;
    }
    finding_figure(f, FIGURE_SCORE_WEIGHT, p->policy.score_weight);
    finding_figure(f, FIGURE_SCORE_COST, move_preference_cost(preference, q->unit, q->slot));
    finding_figure(f, FIGURE_GAIN, gain(p, q));
    finding_figure(f, FIGURE_GAIN_MIN, p->climb.score.goodness);
    return true;
}

static void add_worth(struct finding *f, const struct migration_worth *w)
{
    finding_figure(f, FIGURE_DURATION_S, w->duration_s);
    finding_figure(f, FIGURE_CPU_COST, w->cost[RES_CPU]);
    finding_figure(f, FIGURE_CPU_BENEFIT, w->benefit[RES_CPU]);
    finding_figure(f, FIGURE_MEM_BENEFIT, w->benefit[RES_MEM]);
    finding_figure(f, FIGURE_STABLE_S, w->stable_s);
    if (w->loss > 0)
        finding_figure(f, FIGURE_RATIO, w->gain / w->loss);
}

/* The level is the one whose moves were searched last. */
static bool find_worth(const struct pass *p, const struct asked *q, struct finding *f)
{
    finding_add_losses(f, p->snap, q->host);
    add_worth(f, q->worth);
    finding_figure(f, FIGURE_RATIO_MIN, p->migration_cost.ratio);
    finding_figure(f, FIGURE_THRESHOLD, (double)p->climb.score.level);
    return true;
}

/* Only what would grow. */
static bool find_worse(const struct pass *p, const struct asked *q, struct finding *f)
{
    const struct migration_worth *w = q->worth;
    const double *grows = w->today ? w->more_of : w->worse_of;

    (void)p;
    if (grows[RES_CPU] > 0)
        finding_figure(f, w->today ? FIGURE_CPU_WORSE_NOW : FIGURE_CPU_WORSE, grows[RES_CPU]);
    if (grows[RES_MEM] > 0)
        finding_figure(f, w->today ? FIGURE_MEM_WORSE_NOW : FIGURE_MEM_WORSE, grows[RES_MEM]);
    return true;
}

static bool find_moves_max(const struct pass *p, const struct asked *q, struct finding *f)
{
    (void)q;
    finding_figure(f, FIGURE_MOVES_MAX, (double)p->policy.moves_max);
    return true;
}

static bool find_less_gain(const struct pass *p, const struct asked *q, struct finding *f)
{
    if (!p->stopped || q->slot >= p->layout.n_on) /* a host that is woken is the last choice */
        return false;
    finding_subject(f, SUBJECT_TO, p->layout.slot_host[p->next.to_slot]);
    /* of an exchange the imbalance after all its moves counts */
    bool balance = p->next.reason == REASON_BALANCE_CPU || p->next.reason == REASON_BALANCE_MEM;
    uint32_t for_vm = p->next.reason == REASON_EXCHANGE ? p->next.for_vm : IX_NONE;
    finding_subject(f, SUBJECT_FOR_VM, balance && p->next.move_group != 0 ? q->vm : for_vm);
    double after = p->climb.score.imbalance - gain(p, q);
    /* with the same weights, by which the moves were compared */
    double chosen = p->next.to_slot < p->layout.n_on
                        ? p->climb.score.imbalance - gain_on(p, q, p->next.to_slot)
                        : p->next.imbalance_after;
    finding_figure(f, FIGURE_IMBALANCE_AFTER, fabs(after - chosen) < GAIN_LEAST ? chosen : after);
    finding_figure(f, FIGURE_IMBALANCE_CHOSEN, chosen);
    double reclaims = layout_reclaims(&p->layout, q->unit, q->slot, 0);
    if (after < chosen && reclaims > 0) {
        finding_subject(f, SUBJECT_HOST, q->host);
        finding_figure(f, FIGURE_RECLAIMED, reclaims);
    }
    return true;
}

/* ---- the table ---- */

/* What a finder needs besides the VM: nothing, a unit, or a unit and a slot that can run VMs. */
enum about { ABOUT_VM, ABOUT_UNIT, ABOUT_SLOT };

static const struct {
    bool (*find)(const struct pass *p, const struct asked *q,
                 struct finding *f); /* NULL: the check has no figures */
    enum about about;
} checks[check_count] = {
    [CHECK_VM_NOT_RUNNING] = {find_vm, ABOUT_VM},
    [CHECK_VM_HOST_UNSEEN] = {find_unseen, ABOUT_VM},
    [CHECK_VM_MIGRATING] = {find_migration, ABOUT_VM},
    [CHECK_VM_KIND] = {find_vm, ABOUT_VM},
    [CHECK_VM_IMMOVABLE] = {find_vm, ABOUT_VM},
    [CHECK_VM_MANDATORY_ONLY] = {find_vm, ABOUT_VM},
    [CHECK_VM_SAMPLE_BAD] = {find_bad_sample, ABOUT_VM},
    [CHECK_VM_FT] = {find_ft_pair, ABOUT_VM},
    [CHECK_VM_COOL_DOWN] = {find_cool_down, ABOUT_VM},
    [CHECK_VM_REJECTED] = {find_rejection, ABOUT_VM},
    [CHECK_VM_RULES] = {find_conflict, ABOUT_VM},
    [CHECK_UNIT_HELD] = {find_held, ABOUT_UNIT},
    [CHECK_HOST_NOT_ON] = {find_host_state, ABOUT_VM},
    [CHECK_HOST_SLEEPS] = {find_host, ABOUT_VM},
    [CHECK_FAILOVER_HOST] = {find_host, ABOUT_VM},
    [CHECK_HOST_QUARANTINE] = {find_host, ABOUT_VM},
    [CHECK_HOST_UNHEALTHY] = {find_host, ABOUT_VM},
    [CHECK_HOST_LOAD] = {find_load, ABOUT_SLOT},
    [CHECK_INCOMPATIBLE] = {find_incompatible, ABOUT_UNIT},
    [CHECK_FIT_FILTER] = {find_refusal, ABOUT_VM},
    [CHECK_AGENT_MISSING] = {find_agent, ABOUT_VM},
    [CHECK_RULE_VM_HOST] = {find_host_rule, ABOUT_UNIT},
    [CHECK_RULE_ANTI_AFFINITY] = {find_apart, ABOUT_SLOT},
    [CHECK_FT_PEER] = {find_ft_peer, ABOUT_SLOT},
    [CHECK_FIT_QUANTITY] = {find_quantity, ABOUT_VM},
    [CHECK_FIT_NUMA] = {find_cells, ABOUT_VM},
    [CHECK_FIT_DEVICE] = {find_cells, ABOUT_VM},
    [CHECK_RULE_AFFINITY] = {find_scattered, ABOUT_UNIT},
    [CHECK_RESERVATION_CPU] = {find_reservation, ABOUT_SLOT},
    [CHECK_RESERVATION_MEM] = {find_reservation, ABOUT_SLOT},
    [CHECK_SPARE_CAPACITY] = {find_spare, ABOUT_SLOT},
    [CHECK_MEMORY] = {find_memory, ABOUT_SLOT},
    [CHECK_MEMORY_FREE] = {find_memory_free, ABOUT_SLOT},
    [CHECK_AVOID] = {find_avoided, ABOUT_UNIT},
    [CHECK_HOST_DISTRUSTED] = {find_host, ABOUT_VM},
    [CHECK_MANDATORY_ONLY] = {find_mandatory_only, ABOUT_VM},
    [CHECK_TARGET_REACHED] = {find_target, ABOUT_VM},
    [CHECK_FIT_BUCKET] = {find_bucket, ABOUT_SLOT},
    [CHECK_NO_GAIN] = {find_no_gain, ABOUT_SLOT},
    [CHECK_MIN_GOODNESS] = {find_goodness, ABOUT_SLOT},
    [CHECK_FIT_SCORE] = {find_score, ABOUT_SLOT},
    [CHECK_COST_BENEFIT] = {find_worth, ABOUT_SLOT},
    [CHECK_WORST_CASE] = {find_worse, ABOUT_SLOT},
    [CHECK_MOVES_MAX] = {find_moves_max, ABOUT_VM},
    [CHECK_LESS_GAIN] = {find_less_gain, ABOUT_SLOT},
    [CHECK_PLAN_WORSE] = {find_less_gain, ABOUT_SLOT},
    [CHECK_STANDS] = {find_less_gain, ABOUT_SLOT},
};

const struct finding *check_finding(const struct pass *p, uint32_t vm, uint32_t host, enum check check,
                                    const struct migration_worth *worth)
{
    const struct asked q = {.vm = vm,
                            .unit = p->layout.vm_unit[vm],
                            .host = host,
                            .slot = p->layout.host_slot[host],
                            .check = check,
                            .worth = worth};
    bool known = (checks[check].about == ABOUT_VM || q.unit != IX_NONE) &&
                 (checks[check].about != ABOUT_SLOT || q.slot != IX_NONE);
    struct finding f = {.code = FIND_CHECK, .check = check};

    if (!checks[check].find || !known || !checks[check].find(p, &q, &f))
        f = (struct finding){.code = FIND_MEANING, .check = check};
    return finding_keep(p->a, f);
}

const struct finding *check_finding_chosen(const struct pass *p, const struct migration_worth *worth,
                                           const struct finding *because)
{
    struct finding f = {.code = FIND_CHOSEN, .because = because};

    add_worth(&f, worth);
    return finding_keep(p->a, f);
}
