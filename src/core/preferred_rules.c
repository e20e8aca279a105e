/* Runs a pass with all preferred rules, then without those that it cannot satisfy, for as few VMs as
 * possible; keeps the better pass. */
#include "core/preferred_rules.h"

#include "core/pass.h"
#include "core/plan/pass_state.h"

#include <string.h>

/* Rounds that leave out rules for single VMs, then so many that leave out whole rules, before all preferred
 * rules are left out. */
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

/* A rule, for VMs that do not follow it: `vms` says which, in the order of the rule's. */
struct left_out {
    const struct finding *why; /* of the first of them */
    bool *vms;                 /* NULL: all follow */
    uint32_t n;
};

struct trials {
    const struct snapshot *snap;
    const struct policy *policy;
    struct arena *a;
    struct left_out *left_out; /* by rule */
};

static struct pass *run_trial(const struct trials *t, const struct snapshot *snap, unsigned rules,
                              uint32_t watched_vm)
{
    struct pass *p = arena_new(t->a, struct pass);

    pass_decide(p, snap, t->policy, rules, watched_vm, t->a);
    return p;
}

/* The VM, or all VMs (IX_NONE), need not follow the rule. False: it does not bind them anyway. */
static bool leave_out(const struct trials *t, uint32_t rule, uint32_t vm, const struct finding *why)
{
    const struct span all = t->snap->rules[rule].vms;
    struct left_out *x = &t->left_out[rule];
    uint32_t before = x->n;

    if (before == all.n)
        return false;
    if (!x->vms || vm == IX_NONE) { /* a new one: copies of *x keep theirs */
        bool *vms = arena_array(t->a, bool, all.n);
        if (x->vms)
            memcpy(vms, x->vms, all.n * sizeof *vms);
        x->vms = vms;
    }
    for (uint32_t i = 0; i < all.n; i++) {
        x->n += !x->vms[i] && (vm == IX_NONE || all.items[i] == vm);
        x->vms[i] = x->vms[i] || vm == IX_NONE || all.items[i] == vm;
    }
    if (x->n > before && !x->why)
        x->why = why;
    return x->n > before;
}

/* The snapshot in which the rules have only the VMs that follow them. */
static const struct snapshot *leave_out_rules(const struct trials *t)
{
    struct snapshot *s = arena_new(t->a, struct snapshot);

    *s = *t->snap;
    s->rules = arena_array(t->a, struct rule, s->n_rules);
    for (uint32_t i = 0; i < s->n_rules; i++) {
        struct rule *rule = &s->rules[i];
        *rule = t->snap->rules[i];
        if (t->left_out[i].n == 0)
            continue;
        uint32_t *rest = arena_array(t->a, uint32_t, rule->vms.n);
        uint32_t n = 0;
        for (uint32_t k = 0; k < rule->vms.n; k++)
            if (!t->left_out[i].vms[k])
                rest[n++] = rule->vms.items[k];
        rule->vms = (struct span){rest, n};
        rule->is.enabled = rule->is.enabled && n > 0;
    }
    return s;
}

/* ---- contradictions ---- */

/* Whether the VM runs where the rule does not want it. */
static bool is_broken_by(const struct snapshot *s, const struct rule *rule, uint32_t vm)
{
    uint32_t host = s->vms[vm].host;

    if (!vm_takes_part(s, &s->vms[vm]))
        return false;
    if (rule->is.kind == RULE_HOST_AFFINE || rule->is.kind == RULE_HOST_ANTI_AFFINE)
        return !rules_lets_run(rule, host);
    for (uint32_t i = 0; i < rule->vms.n; i++) {
        const struct vm *other = &s->vms[rule->vms.items[i]];
        if (rule->vms.items[i] != vm && vm_takes_part(s, other) &&
            (other->host == host) == (rule->is.kind == RULE_VM_ANTI_AFFINE))
            return true;
    }
    return false;
}

static const struct finding *why_contradicts(const struct pass *p, const struct rule_conflict *c,
                                             uint32_t mine)
{
    bool two = c->other != IX_NONE;

    return finding_keep(p->a,
                        (struct finding){.code = two                  ? FIND_CONTRADICTS
                                                 : c->with == IX_NONE ? FIND_LEAVES_NO_HOST
                                                                      : FIND_LEAVES_NO_COMMON_HOST,
                                         .subjects = {{SUBJECT_VM, c->vm},
                                                      {SUBJECT_OTHER_VM, two ? IX_NONE : c->with},
                                                      {SUBJECT_RULE, mine == c->rule ? c->other : c->rule}}});
}

/* What has been left out in this round for contradictions. */
struct left_out_vms {
    bool *vms, *sets; /* by VM; by component: all of its VMs */
};

/* The preferred rules that the VM breaks now no longer bind it. */
static bool leave_out_broken(const struct trials *t, const struct pass *p, const struct rule_conflict *c,
                             uint32_t vm, struct left_out_vms *done)
{
    const struct span of = rules_of(&p->rules, vm);
    bool any = false;

    for (uint32_t k = 0; k < of.n && !done->vms[vm]; k++) {
        const struct rule *rule = &p->snap->rules[of.items[k]];
        const struct finding *why = t->left_out[of.items[k]].why;
        if (is_preferred(rule) && is_broken_by(p->snap, rule, vm))
            any = leave_out(t, of.items[k], vm, why ? why : why_contradicts(p, c, of.items[k])) || any;
    }
    done->vms[vm] = true;
    return any;
}

/* Preferred rules that contradict each other move none of their VMs: those that are broken now are left out
 * for them, and those that hold still bind them. Where that is not enough, the rule that is named. */
static bool leave_out_conflict(const struct trials *t, const struct pass *p, const struct rule_conflict *c,
                               struct left_out_vms *done)
{
    const struct rule *rules = p->snap->rules;
    const uint32_t *set = p->rules.component;
    bool two = c->other != IX_NONE;
    bool with_mandatory = two && (rules[c->rule].is.mandatory || rules[c->other].is.mandatory);
    uint32_t named = !two || is_preferred(&rules[c->rule]) ? c->rule : c->other;
    bool any = false;

    if (!is_preferred(&rules[named]))
        return false;
    if (!with_mandatory) {
        any = leave_out_broken(t, p, c, c->vm, done);
        any = (c->with != IX_NONE && leave_out_broken(t, p, c, c->with, done)) || any;
    }
    if (!with_mandatory && c->with != IX_NONE && !done->sets[set[c->vm]]) {
        done->sets[set[c->vm]] = true;
        for (uint32_t vm = 0; vm < p->snap->n_vms; vm++)
            any = (set[vm] == set[c->vm] && leave_out_broken(t, p, c, vm, done)) || any;
    }
    return any || leave_out(t, named, c->vm, why_contradicts(p, c, named));
}

/* The contradiction that the fault is about; NULL: none. next: begins at 0; the faults have their order. */
static const struct rule_conflict *conflict_of(const struct pass *p, const struct fault *f, uint32_t *next)
{
    while (f->code == FAULT_RULE_CONFLICT && f->vm != IX_NONE && *next < p->rules.n_conflicts) {
        const struct rule_conflict *c = &p->rules.conflicts[(*next)++];
        if (c->rule == f->rule && c->vm == f->vm)
            return c;
    }
    return NULL;
}

/* ---- violations ---- */

/* whole: for all VMs of a rule, not only for that of the fault. False: nothing more to leave out. */
static bool choose_left_out_for(const struct trials *t, const struct pass *p, enum fault_code code,
                                bool whole)
{
    const uint32_t n_vms = p->snap->n_vms;
    struct left_out_vms done = {arena_array(t->a, bool, n_vms), arena_array(t->a, bool, n_vms)};
    uint32_t next = 0;
    bool any = false;

    for (size_t i = 0; i < p->n_faults; i++) {
        const struct fault *f = &p->faults[i];
        const struct rule_conflict *c = conflict_of(p, f, &next);
        if (f->code != code || f->rule == IX_NONE)
            continue;
        if (c)
            any = leave_out_conflict(t, p, c, &done) || any;
        else if (is_preferred(&p->snap->rules[f->rule]))
            any = leave_out(t, f->rule, whole ? IX_NONE : f->vm, f->found) || any;
    }
    return any;
}

/* Leaves out what cannot hold: contradictions first. Violations that follow from a contradiction depend on
 * the placement of the VMs, and the next pass may place them elsewhere. */
static bool choose_left_out(const struct trials *t, const struct pass *p, bool whole)
{
    return choose_left_out_for(t, p, FAULT_RULE_CONFLICT, true) ||
           choose_left_out_for(t, p, FAULT_RULE_VIOLATED, whole);
}

/* ---- overload ---- */

/* Of the VMs that are on the slot because of preferred rules, the smallest whose load is the excess, else the
 * largest; first of those that would have to come. bare: the pass without preferred rules, in which they are
 * elsewhere. */
static uint32_t vm_to_spare(const struct trials *t, const struct pass *p, const struct pass *bare, int r,
                            uint32_t slot, double excess)
{
    const double *load = p->entitlement[r];
    uint32_t best = IX_NONE;
    bool best_comes = false;

    for (uint32_t i = 0; i < t->snap->n_rules; i++)
        for (uint32_t k = 0; is_preferred(&t->snap->rules[i]) && k < t->snap->rules[i].vms.n; k++) {
            uint32_t vm = t->snap->rules[i].vms.items[k];
            if ((t->left_out[i].vms && t->left_out[i].vms[k]) || layout_slot_of(&p->layout, vm) != slot ||
                layout_slot_of(&bare->layout, vm) == slot)
                continue;
            bool comes = t->snap->vms[vm].host != p->layout.slot_host[slot];
            double than = best == IX_NONE || (comes && !best_comes) ? 0 : load[best];
            if (comes >= best_comes &&
                (load[vm] >= excess ? than < excess || load[vm] < than : load[vm] > than)) {
                best = vm;
                best_comes = comes;
            }
        }
    return best;
}

/* Leaves out as few VMs as possible of those with which preferred rules overload a host. */
static bool spare_overloaded(const struct trials *t, const struct pass *p, const struct pass *bare)
{
    const struct layout *l = &p->layout;
    bool any = false;

    for (uint32_t i = 0; i < RES_COUNT * l->n_on; i++) {
        enum resource r = (enum resource)(i % RES_COUNT);
        uint32_t slot = i / RES_COUNT;
        const struct finding why = {.code = FIND_RULE_OVERLOADS,
                                    .resource = r,
                                    .subjects = {{SUBJECT_HOST, l->slot_host[slot]}},
                                    .figures = {{FIGURE_LOAD, l->norm[r][slot]}}};
        double excess = (l->norm[r][slot] - LAYOUT_FULL) / l->inverse[r][slot];
        while (excess > 0 && bare->layout.norm[r][slot] <= LAYOUT_FULL) {
            uint32_t vm = vm_to_spare(t, p, bare, r, slot, excess);
            if (vm == IX_NONE)
                break;
            excess -= p->entitlement[r][vm];
            const struct span of = rules_of(&bare->rules, vm); /* its snapshot has all VMs in the rules */
            for (uint32_t k = 0; k < of.n; k++)
                if (is_preferred(&t->snap->rules[of.items[k]]))
                    any = leave_out(t, of.items[k], vm, finding_keep(t->a, why)) || any;
        }
    }
    return any;
}

/* The first fault that the pass has and the bare one has not; NULL: none. */
static const struct finding *why_worse(const struct pass *p, const struct pass *bare)
{
    for (size_t i = 0; i < p->n_faults; i++) {
        const struct fault *f = &p->faults[i];
        bool both = false;
        for (size_t k = 0; k < bare->n_faults && !both; k++) {
            const struct fault *other = &bare->faults[(i + k) % bare->n_faults]; /* mostly the same ones */
            both = f->code == other->code && f->vm == other->vm && f->host == other->host;
        }
        if (!both)
            return f->found;
    }
    return NULL;
}

/* ---- the choice ---- */

/* all: no preferred rule is followed, for `why` where there is no other reason. */
static void report_left_out(struct pass *p, const struct trials *t, bool all, const struct finding *why)
{
    for (uint32_t i = 0; i < t->snap->n_rules; i++) {
        const struct rule *rule = &t->snap->rules[i];
        const struct left_out *x = &t->left_out[i];
        if (!is_preferred(rule) || (x->n == 0 && !all) || !layout_breaks_rule(&p->layout, rule))
            continue;
        struct finding f = {
            .code = FIND_RULE_LEFT_OUT, .subjects = {{SUBJECT_RULE, i}}, .because = x->why ? x->why : why};
        bool of_vms = rule->is.kind == RULE_VM_AFFINE || rule->is.kind == RULE_VM_ANTI_AFFINE;
        if (!all && x->n + of_vms < rule->vms.n) { /* one VM alone follows no rule about VMs */
            finding_figure(&f, FIGURE_VMS, x->n);
            finding_figure(&f, FIGURE_VMS_ALL, rule->vms.n);
        }
        plan_fault(p, FAULT_PREFERENCE_DROPPED, IX_NONE, IX_NONE, i, f);
    }
}

/* The pass without the preferred rules that are violated now, if that wakes fewer hosts: else the next pass
 * gives them up and puts the hosts to standby, and so on in turn. Rules that hold still bind the moves for
 * balance. */
static struct pass *spare_wakes(struct pass *p, struct trials *t, const struct snapshot **kept)
{
    const struct snapshot *snap = t->snap;
    struct trials more = *t;
    struct finding *why = arena_new(t->a, struct finding);
    struct pass *now = arena_new(t->a, struct pass);

    more.left_out = arena_copy(t->a, t->left_out, snap->n_rules, sizeof *more.left_out);
    *why = (struct finding){.code = FIND_RULE_WAKES};
    pass_prepare(now, snap, t->policy, 0, IX_NONE, t->a);
    for (uint32_t i = 0; i < snap->n_rules; i++)
        if (is_preferred(&snap->rules[i]) && layout_breaks_rule(&now->layout, &snap->rules[i]))
            (void)leave_out(&more, i, IX_NONE, why);
    const struct snapshot *fewer = leave_out_rules(&more);
    struct pass *trial = run_trial(t, fewer, RULES_PREFERRED, IX_NONE);
    if (count_violations(trial) > count_violations(p) || count_wakes(trial) >= count_wakes(p))
        return p;
    finding_figure(why, FIGURE_HOSTS, count_wakes(p) - count_wakes(trial));
    t->left_out = more.left_out;
    *kept = fewer;
    return trial;
}

/* A pass in which preferred rules leave no more unmet than the bare one, because fewer of their VMs follow:
 * those that do not overload a host. NULL: none. */
static struct pass *spare_overload(const struct trials *t, const struct pass *p, const struct pass *bare,
                                   const struct snapshot **kept)
{
    for (int i = 0; i < ROUNDS_MAX && spare_overloaded(t, p, bare); i++) {
        *kept = leave_out_rules(t);
        struct pass *trial = run_trial(t, *kept, RULES_PREFERRED, IX_NONE);
        if (count_violations(trial) <= count_violations(bare))
            return trial;
        p = trial;
    }
    return NULL;
}

struct pass *preferred_rules_run(const struct snapshot *snap, const struct policy *policy,
                                 uint32_t watched_vm, struct arena *a)
{
    unsigned rules = has_preferred(snap) ? RULES_PREFERRED : 0;
    struct trials t = {snap, policy, a, arena_array(a, struct left_out, snap->n_rules)};
    const struct finding *why = NULL;
    const struct snapshot *kept = snap;
    struct pass *p = run_trial(&t, snap, rules, rules ? IX_NONE : watched_vm);

    if (!rules)
        return p;
    for (int i = 0; i < 2 * ROUNDS_MAX && count_violations(p) > 0 && choose_left_out(&t, p, i >= ROUNDS_MAX);
         i++) {
        kept = leave_out_rules(&t);
        p = run_trial(&t, kept, rules, IX_NONE);
    }
    if (count_violations(p) > 0) {
        struct pass *bare = run_trial(&t, snap, 0, IX_NONE);
        bool worse = count_violations(bare) < count_violations(p);
        struct pass *spared = worse ? spare_overload(&t, p, bare, &kept) : NULL;
        if (worse && !spared) {
            why = why_worse(p, bare);
            kept = snap;
            rules = 0;
        }
        p = spared ? spared : worse ? bare : p;
    }
    if (rules && count_wakes(p) > 0)
        p = spare_wakes(p, &t, &kept);
    /* the chosen rules are known only now: stopping before a VM's move needs another run */
    if (watched_vm != IX_NONE)
        p = run_trial(&t, kept, rules, watched_vm);
    report_left_out(p, &t, rules == 0, why);
    return p;
}
