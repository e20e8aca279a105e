/* Explains the move of a VM or why it stays, and the power decision about a host. */
#include "core/explain.h"

#include "core/fit/rank.h"
#include "core/plan/correct.h"
#include "core/plan/findings.h"
#include "core/plan/pass_state.h"
#include "core/plan/plan.h"
#include "core/power/proactive.h"
#include "core/preferred_rules.h"

#include <errno.h>

/* Fills in the candidate's imbalance, cost and benefit. */
static void fill_figures(struct pass *p, uint32_t unit, uint32_t slot, struct candidate *c,
                         struct migration_worth *w)
{
    struct move_trial t;

    move_trial_begin(&p->layout, p->climb.score.weight, unit, &t);
    c->imbalance_after = move_trial_at(&p->layout, &t, slot);
    migration_cost_worth(&p->migration_cost, unit, slot, w);
    for (int r = 0; r < RES_COUNT; r++) {
        c->cost[r] = w->cost[r];
        c->benefit[r] = w->benefit[r];
    }
}

/* Whether the pass stopped before a move for balance. */
static bool is_for_balance(const struct pass *p)
{
    return p->next.reason == REASON_BALANCE_CPU || p->next.reason == REASON_BALANCE_MEM;
}

/* Whether the pass stopped before a move to where the unit's affine set meets. */
static bool is_for_affinity(const struct pass *p, uint32_t unit)
{
    bool joins = p->layout.unit_held[unit] == CHECK_RULE_AFFINITY &&
                 layout_has_component(&p->layout, p->next.to_slot, unit);

    return joins || (p->next.reason == REASON_RULE && p->next.rule != IX_NONE &&
                     p->snap->rules[p->next.rule].is.kind == RULE_VM_AFFINE);
}

/* Why a mandatory move does not go to the slot: its set meets elsewhere, a worse bucket, a lower score, or
 * more imbalance. */
static enum check check_mandatory(struct pass *p, uint32_t unit, uint32_t slot)
{
    const struct move_preference *preference = p->climb.score.preference;
    struct move_trial t;

    move_trial_begin(&p->layout, p->climb.score.weight, unit, &t);
    double here = move_trial_at(&p->layout, &t, slot);
    double there = move_trial_at(&p->layout, &t, p->next.to_slot);
    bool scattered = p->layout.unit_held[unit] == CHECK_RULE_AFFINITY;
    if (p->standing_to[unit] == p->next.to_slot && here < there)
        return CHECK_STANDS;
    if (is_for_affinity(p, unit) || (scattered && here < there)) /* the set meets there */
        return CHECK_RULE_AFFINITY;
    if (!preference || slot >= p->layout.n_on || p->next.to_slot >= p->layout.n_on)
        return CHECK_LESS_GAIN;
    struct move_rank rank = move_preference_rank(&p->layout, preference, unit, slot, here);
    if (rank.worse_bucket &&
        !move_preference_rank(&p->layout, preference, unit, p->next.to_slot, there).worse_bucket)
        return CHECK_FIT_BUCKET;
    return here < there && move_preference_cost(preference, unit, slot) > 0 ? CHECK_FIT_SCORE
                                                                            : CHECK_LESS_GAIN;
}

/* Whether the pass stopped before a move for room. */
static bool is_for_room(const struct pass *p)
{
    return p->stopped && p->next.reason == REASON_ROOM;
}

/* Why a move for room does not go to the slot. */
static enum check check_for_room(const struct pass *p, uint32_t unit, uint32_t slot)
{
    if (slot >= p->layout.n_on)
        return CHECK_HOST_NOT_ON;
    return layout_fills_headroom(&p->layout, unit, slot) ? CHECK_HOST_LOAD : CHECK_LESS_ROOM;
}

/* The check that decides about one host at the moment at which the pass stopped. */
static enum check check_destination(struct pass *p, uint32_t unit, uint32_t slot)
{
    const struct layout *l = &p->layout;
    enum check held = l->unit_held[unit];

    if (slot == IX_NONE)
        return CHECK_HOST_NOT_ON;
    enum check check = layout_check(l, unit, slot);
    if (check != CHECK_NONE)
        return check;
    bool closes_gap = p->stopped && p->next.reason == REASON_SPARE_CAPACITY && p->next.for_vm != IX_NONE;
    const struct host *home = &l->snap->hosts[l->slot_host[l->unit_slot[unit]]];
    bool leaves = home->is.state == HOST_ON && (host_is_avoided(home) || home->failover);
    if (closes_gap && layout_just_left(l, unit, slot))
        return CHECK_VM_COOL_DOWN;
    if ((leaves || closes_gap) && slot < l->n_on && layout_fills_headroom(l, unit, slot))
        return CHECK_HOST_LOAD;
    if (is_for_room(p))
        return check_for_room(p, unit, slot);
    if (p->stopped ? p->next.reason == REASON_POLICY
                   : p->end == CHECK_POLICY && slot < l->n_on && held == CHECK_NONE)
        return CHECK_POLICY;
    if (p->stopped && !is_for_balance(p)) /* it needs no benefit: the chosen host is better */
        return check_mandatory(p, unit, slot);
    if (slot >= l->n_on) /* a host that the plan wakes receives only the VMs that it is woken for */
        return CHECK_HOST_NOT_ON;
    if (held != CHECK_NONE)
        return held;
    if (!p->stopped && (p->policy.objective == OBJECTIVE_ROOM || p->end == CHECK_MANDATORY_ONLY ||
                        p->end == CHECK_TARGET_REACHED || p->end == CHECK_POWER_FIRST))
        return p->end;
    struct move_trial t;
    move_trial_begin(l, p->climb.score.weight, unit, &t);
    double gain = move_score_gain(&p->climb.score, &t, slot);
    check = move_score_check(&p->climb.score, unit, slot, gain);
    if (check != CHECK_NONE)
        return check;
    if (p->stopped && p->next.proposed && move_trial_at(l, &t, slot) <= move_trial_at(l, &t, p->next.to_slot))
        return CHECK_PLAN_WORSE;
    if (p->stopped && p->next.stands && move_trial_at(l, &t, slot) <= move_trial_at(l, &t, p->next.to_slot))
        return CHECK_STANDS;
    bool gains_more = p->stopped && p->climb.score.preference && p->next.move_group == 0 &&
                      p->next.to_slot < l->n_on &&
                      gain > move_score_gain(&p->climb.score, &t, p->next.to_slot) + GAIN_LEAST;
    if (gains_more) /* the chosen host has the better score */
        return CHECK_FIT_SCORE;
    return p->end == CHECK_MOVES_MAX ? CHECK_MOVES_MAX : CHECK_LESS_GAIN;
}

/* The check that holds the VM on its host. CHECK_UNIT_HELD: only another VM of its affine set is held. A
 * scattered set may come together on a host that runs another part of it, so there the host's checks
 * decide.
 */
static enum check check_held(const struct layout *l, uint32_t vm, uint32_t slot)
{
    enum check unit = l->unit_held[l->vm_unit[vm]];
    enum check own = layout_vm_check(l, vm);

    if (unit == CHECK_RULE_AFFINITY && slot != IX_NONE && layout_has_component(l, slot, l->vm_unit[vm])) {
        enum check joining = layout_check(l, l->vm_unit[vm], slot);
        return joining != CHECK_NONE ? joining : unit;
    }
    if (unit == CHECK_NONE || unit == CHECK_RULE_AFFINITY || unit == CHECK_VM_MOVED ||
        layout_holds_balance_only(unit) || unit == own)
        return unit;
    return own != CHECK_NONE ? own : CHECK_UNIT_HELD;
}

static bool is_of_pipeline(enum check check)
{
    return check == CHECK_FIT_FILTER || check == CHECK_FIT_QUANTITY || check == CHECK_FIT_NUMA ||
           check == CHECK_FIT_DEVICE;
}

/* The check by which the VM's pipeline refuses the host, whatever else does, or the host's state if the
 * pipeline refuses it too; CHECK_NONE: it does not. */
static enum check check_pipeline(const struct pass *p, uint32_t vm, uint32_t host)
{
    const struct layout *l = &p->layout;
    const struct fit_live live = layout_live(l);
    uint32_t unit = l->vm_unit[vm];
    uint32_t slot = l->host_slot[host];
    enum check there = unit == IX_NONE || slot == IX_NONE ? CHECK_NONE : layout_check(l, unit, slot);

    if (is_of_pipeline(there))
        return there;
    bool on = slot != IX_NONE && p->snap->hosts[host].is.state == HOST_ON;
    if (fit_refusal(&p->rules.fit, rules_fit_use(&p->snap->vms[vm]), vm, host, on ? &live : NULL, p->a))
        return on ? CHECK_FIT_FILTER : CHECK_HOST_NOT_ON;
    if (!on)
        return CHECK_NONE;
    if (unit != IX_NONE)
        return CHECK_NONE;
    return layout_quantity_refuses_vm(l, vm, slot, NULL) ? CHECK_FIT_QUANTITY
                                                         : layout_cells_refuse_vm(l, vm, slot, NULL);
}

/* The check of the VM itself that keeps it off every host; CHECK_NONE: none does. Not that it is on its way:
 * it counts on both hosts. */
static enum check check_everywhere(const struct layout *l, uint32_t vm)
{
    enum check held = l->vm_unit[vm] == IX_NONE ? layout_vm_check(l, vm) : check_held(l, vm, IX_NONE);

    return held == CHECK_RULE_AFFINITY || held == CHECK_VM_MOVED || l->in_flight[vm] ? CHECK_NONE : held;
}

/* The check that keeps the VM off the host before any figure is asked for. A stage of the pipeline that
 * refuses the host comes before what holds the VM everywhere: the summary says that. */
static enum check check_kept(const struct pass *p, uint32_t vm, uint32_t host)
{
    const struct layout *l = &p->layout;
    enum check refused = check_everywhere(l, vm) != CHECK_NONE ? check_pipeline(p, vm, host) : CHECK_NONE;

    if (refused != CHECK_NONE)
        return refused;
    return l->vm_unit[vm] == IX_NONE ? layout_vm_check(l, vm) : check_held(l, vm, l->host_slot[host]);
}

static void fill_candidate(struct pass *p, uint32_t vm, uint32_t host, struct candidate *c)
{
    const struct layout *l = &p->layout;
    uint32_t unit = l->vm_unit[vm];
    uint32_t slot = l->host_slot[host];
    struct migration_worth w = {0};

    *c = (struct candidate){.host = host, .verdict = VERDICT_REJECTED, .imbalance_after = UNKNOWN};
    for (int r = 0; r < RES_COUNT; r++) {
        c->cost[r] = UNKNOWN;
        c->benefit[r] = UNKNOWN;
    }
    if (p->snap->vms[vm].host == host) {
        c->verdict = VERDICT_CURRENT;
        c->check = CHECK_CURRENT_HOST;
        if (slot != IX_NONE && slot < l->n_on)
            c->imbalance_after = p->climb.score.imbalance; /* the candidates' figures compare with this */
    } else if (unit == IX_NONE) {
        c->check = check_kept(p, vm, host);
    } else if (p->stopped && slot == p->next.to_slot) {
        c->verdict = VERDICT_CHOSEN;
        c->check = CHECK_NONE;
        fill_figures(p, unit, slot, c, &w);
        c->imbalance_after = p->next.imbalance_after; /* with the weights of that state, as in the plan */
    } else {
        c->check = p->stopped ? CHECK_NONE : check_kept(p, vm, host);
        c->check = c->check == CHECK_NONE ? check_destination(p, unit, slot) : c->check;
        if (slot != IX_NONE && slot < l->n_on && c->check >= CHECK_MANDATORY_ONLY)
            fill_figures(p, unit, slot, c, &w);
    }
    if (c->verdict == VERDICT_CHOSEN)
        c->found = check_finding_chosen(p, &w, decision_finding(p, &p->next, vm));
    else if (c->verdict == VERDICT_CURRENT && p->snap->vms[vm].is.state != VM_ON)
        c->found = finding_keep(p->a, (struct finding){.code = FIND_OFF_HERE});
    else if (c->check == CHECK_POLICY)
        c->found = rule_moves_stays(p, unit, slot);
    else
        c->found = check_finding(p, vm, host, c->check, &w);
}

/* The candidate to which a move for balance would gain most if it passed; NULL: none would lower the
 * imbalance, or balancing ended for another reason. */
static const struct candidate *best_of(const struct pass *p, uint32_t vm, const struct explanation *e)
{
    const struct layout *l = &p->layout;
    uint32_t unit = l->vm_unit[vm];
    const struct candidate *best = NULL;
    double most = GAIN_LEAST;
    struct move_trial t;

    if (p->end != CHECK_NONE || unit == IX_NONE || l->unit_slot[unit] >= l->n_on || e->n < p->snap->n_hosts)
        return NULL;
    move_trial_begin(l, p->climb.score.weight, unit, &t);
    for (uint32_t i = 0; i < e->n; i++) {
        uint32_t slot = l->host_slot[e->candidates[i].host];
        if (slot >= l->n_on || slot == l->unit_slot[unit])
            continue;
        double gain = move_score_gain(&p->climb.score, &t, slot);
        best = gain > most ? &e->candidates[i] : best;
        most = fmax(gain, most);
    }
    return best;
}

/* The move, or the check of the best candidate, or the most frequent check, and what holds the VM everywhere
 * if that is another. */
static const struct finding *summary_of(struct pass *p, uint32_t vm, const struct explanation *e)
{
    uint32_t host = p->snap->vms[vm].host;
    uint32_t count[check_count] = {0};
    enum check most = CHECK_NONE;

    if (p->stopped)
        return decision_finding(p, &p->next, vm);
    for (uint32_t i = 0; i < e->n; i++)
        count[e->candidates[i].check]++;
    for (int c = CHECK_NONE + 1; c < check_count; c++)
        if (c != CHECK_CURRENT_HOST && count[c] > count[most])
            most = (enum check)c;
    const struct candidate *best = best_of(p, vm, e);
    enum check everywhere = check_everywhere(&p->layout, vm);
    struct finding f = {
        .code = host == IX_NONE      ? FIND_ON_NO_HOST
                : most == CHECK_NONE ? FIND_STAYS_ALONE
                                     : FIND_STAYS,
        .check = best ? best->check : most,
        .subjects = {{SUBJECT_VM, vm}, {SUBJECT_HOST, host}, {SUBJECT_TO, best ? best->host : IX_NONE}}};
    if ((is_of_pipeline(most) || most == CHECK_HOST_NOT_ON) && everywhere != CHECK_NONE)
        f.because = check_finding(p, vm, e->candidates[0].host, everywhere, NULL);
    return finding_keep(p->a, f);
}

/* What the stages of the VM's pipeline leave of the hosts that are on. */
static void fill_stages(const struct pass *p, uint32_t vm, struct explanation *e)
{
    const struct snapshot *snap = p->snap;
    uint64_t *on = arena_array(p->a, uint64_t, (size_t)p->rules.words + 1);
    const struct fit_live live = layout_live(&p->layout);

    for (uint32_t h = 0; h < snap->n_hosts; h++)
        if (snap->hosts[h].is.state == HOST_ON)
            on[h / 64] |= (uint64_t)1 << (h % 64);
    e->n_left = fit_hosts_left(&p->rules.fit, rules_fit_use(&snap->vms[vm]), vm, on, &live, p->a, &e->left);
}

/* What each stage of the VM's pipeline gives the hosts that it does not refuse. */
static void fill_scores(const struct pass *p, uint32_t vm, struct explanation *e)
{
    const struct fit_live live = layout_live(&p->layout);
    uint32_t *hosts = arena_array(p->a, uint32_t, e->n);
    struct candidate **of = arena_array(p->a, struct candidate *, e->n);
    uint32_t n = 0;

    for (uint32_t i = 0; i < e->n; i++) {
        uint32_t slot = p->layout.host_slot[e->candidates[i].host];

        e->candidates[i].score = UNKNOWN;
        if (slot == IX_NONE || slot >= p->layout.n_on ||
            check_pipeline(p, vm, e->candidates[i].host) != CHECK_NONE)
            continue;
        of[n] = &e->candidates[i];
        hosts[n++] = e->candidates[i].host;
    }
    if (n == 0 || !fit_ranks(&p->rules.fit, vm))
        return;
    struct fit_ranking *r = fit_ranking_new(&p->rules.fit, vm, &live.is, hosts, n, p->a);
    uint32_t *stages = arena_array(p->a, uint32_t, STAGES_MAX);

    fit_ranking_score(r);
    e->n_scoring = fit_ranking_parts(r, 0, NULL, stages);
    e->scoring = stages;
    for (uint32_t i = 0; i < n; i++) {
        double *parts = arena_array(p->a, double, (size_t)e->n_scoring + 1);

        (void)fit_ranking_parts(r, i, parts, NULL);
        of[i]->parts = parts;
        of[i]->score = r->score[i];
    }
}

int explain_vm(const struct snapshot *snap, const struct policy *policy, uint32_t vm, uint32_t host,
               struct arena *a, struct explanation *ret, struct err *err)
{
    struct explanation e = {.vm = vm};

    if (vm >= snap->n_vms || (host != IX_NONE && host >= snap->n_hosts))
        return err_set(err, -EINVAL, "there is no such VM or host in the snapshot");
    struct pass *p = preferred_rules_run(snap, policy, vm, a);
    move_score_refresh(&p->climb.score, &p->layout, &p->migration_cost);
    e.candidates = arena_array(a, struct candidate, snap->n_hosts);
    for (uint32_t i = 0; i < snap->n_hosts; i++)
        if (host == IX_NONE || host == i)
            fill_candidate(p, vm, i, &e.candidates[e.n++]);
    e.summary = summary_of(p, vm, &e);
    fill_stages(p, vm, &e);
    fill_scores(p, vm, &e);
    *ret = e;
    return 0;
}

/* ---- a host ---- */

/* The finding of the decision that wakes the host or puts it to standby; NULL: none. */
static const struct finding *power_decision_of(const struct pass *p, uint32_t host)
{
    for (size_t i = 0; i < p->n_decisions; i++)
        if (p->decisions[i].unit == IX_NONE && p->layout.slot_host[p->decisions[i].to_slot] == host)
            return decision_finding(p, &p->decisions[i], IX_NONE);
    return NULL;
}

static void fill_power(const struct power *w, uint32_t host, const struct power_verdict *v,
                       struct host_explanation *e)
{
    uint32_t slot = w->l->host_slot[host];
    bool judged = slot != IX_NONE && slot < w->l->n_on && v->asked &&
                  (v->check == POWER_FINE || v->check == POWER_COST_BENEFIT);

    for (int r = 0; r < RES_COUNT && slot != IX_NONE && slot < w->l->n_on; r++)
        e->utilization[r] = utilization_of(&w->u, &w->u.slot[slot], WINDOW_40M, (enum resource)r, slot);
    if (!judged)
        return;
    e->off_s = v->worth.off_s;
    e->watts = v->worth.watts;
    for (int r = 0; r < RES_COUNT; r++) {
        e->cost[r] = v->worth.cost[r];
        e->benefit[r] = v->worth.benefit[r];
    }
}

int explain_host(const struct snapshot *snap, const struct policy *policy, uint32_t host, struct arena *a,
                 struct host_explanation *ret, struct err *err)
{
    struct host_explanation e = {.host = host,
                                 .verdict = VERDICT_REJECTED,
                                 .check = POWER_DPM_OFF,
                                 .utilization = {UNKNOWN, UNKNOWN},
                                 .cost = {UNKNOWN, UNKNOWN},
                                 .benefit = {UNKNOWN, UNKNOWN},
                                 .off_s = UNKNOWN,
                                 .watts = UNKNOWN};

    if (host >= snap->n_hosts)
        return err_set(err, -EINVAL, "there is no such host in the snapshot");
    struct pass *p = preferred_rules_run(snap, policy, IX_NONE, a);
    const struct finding *chosen = power_decision_of(p, host);
    struct finding why = {.code = FIND_DPM_OFF, .subjects = {{SUBJECT_HOST, host}}};
    struct power_verdict v = {.check = e.check};
    if (p->power) {
        power_why(p->power, host, &v);
        fill_power(p->power, host, &v, &e);
        e.outlook = proactive_finding_outlook(p->power);
        why = power_why_finding(p->power, host, &v);
    }
    if (host_is_distrusted(snap, host))
        e.distrust = finding_keep(a, finding_of_distrust(snap, host));
    e.verdict = chosen ? VERDICT_CHOSEN : VERDICT_REJECTED;
    e.check = chosen ? POWER_FINE : v.check;
    e.found = chosen ? chosen : finding_keep(a, why);
    *ret = e;
    return 0;
}
