/* Runs a pass with all preferred rules, then without those that it cannot satisfy; keeps the better
 * pass. */
#include "core/preferred_rules.h"

#include "core/pass.h"
#include "core/plan/pass_state.h"

#include <string.h>

/* Rounds that leave out single rules, before all preferred rules are left out. */
#define ROUNDS_MAX 4

/* ---- counting violations ---- */

/* Violations of mandatory rules and of compatibility. */
static uint32_t violations_of_rules(const struct pass *p)
{
    const struct layout *l = &p->layout;
    uint32_t *there = arena_array(p->a, uint32_t, (size_t)l->n_slots + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->snap->n_rules; i++) {
        const struct rule *rule = &p->snap->rules[i];
        bool of_vms = rule->is.kind == RULE_VM_AFFINE || rule->is.kind == RULE_VM_ANTI_AFFINE;
        if (of_vms && rule->is.enabled && rule->is.mandatory)
            n += layout_rule_violations(l, rule, there);
    }
    for (uint32_t vm = 0; vm < p->snap->n_vms; vm++) {
        uint32_t slot = layout_slot_of(l, vm);
        uint32_t peer = p->snap->vms[vm].ft_peer;
        if (slot == IX_NONE || slot == l->outside)
            continue;
        n += p->rules.must[vm] && !bitmap_has(p->rules.must[vm], l->slot_host[slot]);
        n += peer != IX_NONE && vm < peer && layout_slot_of(l, peer) == slot;
    }
    return n;
}

/* VMs on hosts under evacuation. */
static uint32_t vms_left_to_evacuate(const struct pass *p)
{
    const struct layout *l = &p->layout;
    uint32_t n = 0;

    for (uint32_t vm = 0; vm < p->snap->n_vms; vm++) {
        uint32_t slot = layout_slot_of(l, vm);
        if (slot == IX_NONE || slot == l->outside || p->snap->vms[vm].is.kind == VM_AGENT)
            continue;
        enum host_state state = p->snap->hosts[l->slot_host[slot]].is.state;
        n += state == HOST_ENTERING_MAINTENANCE || state == HOST_ENTERING_STANDBY;
    }
    return n;
}

/* Whether the fault is about a preferred rule. */
static bool is_about_preferred(const struct pass *p, const struct fault *f)
{
    return f->code == FAULT_RULE_VIOLATED && f->rule != IX_NONE && !p->snap->rules[f->rule].is.mandatory;
}

/* The number of unmet constraints: violated mandatory rules, VMs on hosts under evacuation, contradictions,
 * faults about reservations, VMs without failover capacity, overloaded hosts, and faults about preferred
 * rules. Violations are counted in the layout because one fault may stand for several. */
static uint32_t count_violations(const struct pass *p)
{
    /* a contradiction holds VMs even before a violation; those of mandatory rules count in every trial */
    uint32_t n = violations_of_rules(p) + vms_left_to_evacuate(p) + p->rules.n_conflicts +
                 (uint32_t)plan_vms_unprotected(p->faults, p->n_faults);

    for (size_t i = 0; i < p->n_faults; i++)
        n += p->faults[i].code == FAULT_OVERCOMMITTED || is_about_preferred(p, &p->faults[i]);
    for (uint32_t i = 0; i < p->layout.n_on; i++)
        n += p->layout.norm[RES_CPU][i] > LAYOUT_FULL || p->layout.norm[RES_MEM][i] > LAYOUT_FULL;
    return n;
}

/* The wakes of the pass, and that of the next one if the corrections have taken failover capacity. */
static uint32_t count_wakes(const struct pass *p)
{
    uint32_t n = p->failover_lost;

    for (size_t i = 0; i < p->n_decisions; i++)
        n += p->decisions[i].action == ACTION_POWER_ON;
    return n;
}

/* ---- trials ---- */

static bool is_preferred(const struct rule *rule)
{
    return rule->is.enabled && !rule->is.mandatory;
}

static bool has_preferred(const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_rules; i++)
        if (is_preferred(&s->rules[i]))
            return true;
    return false;
}

static struct pass *run_trial(const struct snapshot *snap, const struct policy *policy, unsigned rules,
                              uint32_t watched_vm, struct arena *a)
{
    struct pass *p = arena_new(a, struct pass);

    pass_decide(p, snap, policy, rules, watched_vm, a);
    return p;
}

/* The snapshot without these rules. left_out: by rule, the reason; NULL: the rule stays. */
static const struct snapshot *leave_out_rules(const struct snapshot *snap,
                                              const struct finding *const *left_out, struct arena *a)
{
    struct snapshot *s = arena_new(a, struct snapshot);

    *s = *snap;
    s->rules = arena_array(a, struct rule, snap->n_rules);
    if (snap->n_rules > 0)
        memcpy(s->rules, snap->rules, snap->n_rules * sizeof snap->rules[0]);
    for (uint32_t i = 0; i < s->n_rules; i++)
        s->rules[i].is.enabled = s->rules[i].is.enabled && !left_out[i];
    return s;
}

/* The preferred rule of a contradiction, and why it cannot hold; IX_NONE: both rules are mandatory. Of two
 * preferred rules, the one compiled second. */
static uint32_t rule_of_conflict(const struct pass *p, const struct rule_conflict *c,
                                 const struct finding **ret_why)
{
    const struct rule *rules = p->snap->rules;
    bool two = c->other != IX_NONE;
    uint32_t mine = !two || is_preferred(&rules[c->rule]) ? c->rule : c->other;

    *ret_why = finding_keep(
        p->a, (struct finding){.code = two                  ? FIND_CONTRADICTS
                                       : c->with == IX_NONE ? FIND_LEAVES_NO_HOST
                                                            : FIND_LEAVES_NO_COMMON_HOST,
                               .subjects = {{SUBJECT_VM, c->vm},
                                            {SUBJECT_OTHER_VM, two ? IX_NONE : c->with},
                                            {SUBJECT_RULE, mine == c->rule ? c->other : c->rule}}});
    return is_preferred(&rules[mine]) ? mine : IX_NONE;
}

/* The preferred rule that the fault is about; IX_NONE: none. */
static uint32_t rule_of_fault(const struct pass *p, const struct fault *f, const struct finding **ret_why)
{
    *ret_why = f->found;
    for (uint32_t i = 0; i < p->rules.n_conflicts; i++) {
        const struct rule_conflict *c = &p->rules.conflicts[i];
        if (f->code == FAULT_RULE_CONFLICT && c->rule == f->rule && c->vm == f->vm)
            return rule_of_conflict(p, c, ret_why);
    }
    return f->rule != IX_NONE && is_preferred(&p->snap->rules[f->rule]) ? f->rule : IX_NONE;
}

/* False: no further rule to leave out. */
static bool choose_left_out_for(const struct pass *p, enum fault_code code, const struct finding **left_out)
{
    bool any = false;

    for (size_t i = 0; i < p->n_faults; i++) {
        const struct finding *why;
        uint32_t rule = p->faults[i].code == code ? rule_of_fault(p, &p->faults[i], &why) : IX_NONE;
        if (rule == IX_NONE || left_out[rule])
            continue;
        left_out[rule] = why;
        any = true;
    }
    return any;
}

/* Leaves out the rules that cannot hold: contradictions first. Violations that follow from a contradiction
 * depend on the placement of the VMs, and the next pass may place them elsewhere. */
static bool choose_left_out(const struct pass *p, const struct finding **left_out)
{
    return choose_left_out_for(p, FAULT_RULE_CONFLICT, left_out) ||
           choose_left_out_for(p, FAULT_RULE_VIOLATED, left_out);
}

static void report_left_out(struct pass *p, const struct snapshot *snap,
                            const struct finding *const *left_out, bool all)
{
    for (uint32_t i = 0; i < snap->n_rules; i++) {
        const struct rule *rule = &snap->rules[i];
        if (!is_preferred(rule) || (!left_out[i] && !all) || !layout_breaks_rule(&p->layout, rule))
            continue;
        plan_fault(p, FAULT_PREFERENCE_DROPPED, IX_NONE, IX_NONE, i,
                   (struct finding){
                       .code = FIND_RULE_LEFT_OUT, .subjects = {{SUBJECT_RULE, i}}, .because = left_out[i]});
    }
}

/* The pass without the preferred rules that are violated now, if that wakes fewer hosts: else the next pass
 * gives them up and puts the hosts to standby, and so on in turn. Rules that hold still bind the moves for
 * balance. */
static struct pass *spare_wakes(struct pass *p, const struct snapshot *snap, const struct policy *policy,
                                const struct snapshot **kept, const struct finding **left_out)
{
    const struct finding **more = arena_array(p->a, const struct finding *, snap->n_rules);
    struct finding why = {.code = FIND_RULE_WAKES};
    struct pass *now = arena_new(p->a, struct pass);

    pass_prepare(now, snap, policy, 0, IX_NONE, p->a);
    for (uint32_t i = 0; i < snap->n_rules; i++)
        if (left_out[i] ||
            (is_preferred(&snap->rules[i]) && layout_breaks_rule(&now->layout, &snap->rules[i])))
            more[i] = left_out[i] ? left_out[i] : &why;
    const struct snapshot *fewer = leave_out_rules(snap, more, p->a);
    struct pass *trial = run_trial(fewer, policy, RULES_PREFERRED, IX_NONE, p->a);
    if (count_violations(trial) > count_violations(p) || count_wakes(trial) >= count_wakes(p))
        return p;
    finding_figure(&why, FIGURE_HOSTS, count_wakes(p) - count_wakes(trial));
    for (uint32_t i = 0; i < snap->n_rules; i++)
        left_out[i] = more[i] == &why ? finding_keep(p->a, why) : more[i];
    *kept = fewer;
    return trial;
}

struct pass *preferred_rules_run(const struct snapshot *snap, const struct policy *policy,
                                 uint32_t watched_vm, struct arena *a)
{
    unsigned rules = has_preferred(snap) ? RULES_PREFERRED : 0;
    const struct finding **left_out = arena_array(a, const struct finding *, snap->n_rules);
    const struct snapshot *kept = snap;
    struct pass *p = run_trial(snap, policy, rules, rules ? IX_NONE : watched_vm, a);

    if (!rules)
        return p;
    for (int i = 0; i < ROUNDS_MAX && count_violations(p) > 0 && choose_left_out(p, left_out); i++) {
        kept = leave_out_rules(snap, left_out, a);
        p = run_trial(kept, policy, rules, IX_NONE, a);
    }
    if (count_violations(p) > 0) {
        struct pass *bare = run_trial(snap, policy, 0, IX_NONE, a);
        if (count_violations(bare) < count_violations(p)) {
            p = bare;
            kept = snap;
            rules = 0;
        }
    }
    if (rules && count_wakes(p) > 0)
        p = spare_wakes(p, snap, policy, &kept, left_out);
    /* the chosen rules are known only now: stopping before a VM's move needs another run */
    if (watched_vm != IX_NONE)
        p = run_trial(kept, policy, rules, watched_vm, a);
    report_left_out(p, snap, left_out, rules == 0);
    return p;
}
