/* A fault for each rule that no plan can keep (rules/impossible.c). */
#include "core/plan/faults.h"

static enum finding_code code_of(const struct pass *p, const struct rule_conflict *c)
{
    const struct snapshot *s = p->snap;

    if (c->other == IX_NONE && c->with == IX_NONE)
        return FIND_RULE_LEAVES_NO_HOST;
    if (c->other == IX_NONE)
        return s->vms[c->vm].ft_peer == c->with ? FIND_RULE_JOINS_PAIR : FIND_RULE_JOINS_APART;
    if (c->with == IX_NONE)
        return FIND_RULES_CONTRADICT;
    return span_has(s->rules[c->other].vms, c->with) ? FIND_RULES_CONTRADICT_BOTH
                                                     : FIND_RULES_CONTRADICT_CHAIN;
}

static struct finding find_conflict(const struct pass *p, const struct rule_conflict *c)
{
    enum finding_code code = code_of(p, c);
    uint32_t last = code == FIND_RULES_CONTRADICT_CHAIN ? rules_find_bond(&p->rules, c->with) : IX_NONE;

    return (struct finding){.code = code,
                            .subjects = {{SUBJECT_VM, c->vm},
                                         {SUBJECT_OTHER_VM, c->with},
                                         {SUBJECT_RULE, c->rule},
                                         {SUBJECT_OTHER_RULE, c->other},
                                         {SUBJECT_THIRD_RULE, last}}};
}

/* The first VM of the rule that takes part and is an agent (or is not one); IX_NONE: none. */
static uint32_t first_of(const struct snapshot *s, const struct rule *rule, bool agent)
{
    for (uint32_t k = 0; k < rule->vms.n; k++) {
        const struct vm *v = &s->vms[rule->vms.items[k]];
        if ((v->is.kind == VM_AGENT) == agent && vm_takes_part(s, v))
            return rule->vms.items[k];
    }
    return IX_NONE;
}

/* An agent belongs to its host and attracts no other VM. A rule that keeps VMs with an agent is not enforced,
 * and gets a fault whether or not they are together. */
static void report_agents(struct pass *p)
{
    const struct snapshot *s = p->snap;

    for (uint32_t i = 0; i < s->n_rules; i++) {
        const struct rule *rule = &s->rules[i];
        if (rule->is.kind != RULE_VM_AFFINE || !rules_in_force(&p->rules, rule))
            continue;
        uint32_t agent = first_of(s, rule, true);
        uint32_t vm = first_of(s, rule, false);
        if (agent != IX_NONE && vm != IX_NONE)
            plan_fault(p, FAULT_RULE_CONFLICT, vm, IX_NONE, i,
                       (struct finding){
                           .code = FIND_RULE_JOINS_AGENT,
                           .subjects = {{SUBJECT_VM, vm}, {SUBJECT_OTHER_VM, agent}, {SUBJECT_RULE, i}}});
    }
}

/* A rule whose hosts are not in the cluster says the same of each of its VMs, which may be thousands. */
static bool names_no_host(const struct pass *p, uint32_t rule)
{
    const struct rule *r = &p->snap->rules[rule];

    return r->is.kind == RULE_HOST_AFFINE && r->hosts.n == 0;
}

static void report_rules_without_hosts(struct pass *p)
{
    uint32_t *vms = arena_array(p->a, uint32_t, p->snap->n_rules);

    for (uint32_t i = 0; i < p->rules.n_conflicts; i++)
        vms[p->rules.conflicts[i].rule]++;
    for (uint32_t i = 0; i < p->snap->n_rules; i++)
        if (vms[i] > 0 && names_no_host(p, i))
            plan_fault(p, FAULT_RULE_CONFLICT, IX_NONE, IX_NONE, i,
                       (struct finding){.code = FIND_RULE_NAMES_NO_HOST,
                                        .subjects = {{SUBJECT_RULE, i}},
                                        .figures = {{FIGURE_VMS, vms[i]}}});
}

void plan_report_rules(struct pass *p)
{
    report_rules_without_hosts(p);
    for (uint32_t i = 0; i < p->rules.n_conflicts; i++) {
        const struct rule_conflict *c = &p->rules.conflicts[i];
        if (!names_no_host(p, c->rule))
            plan_fault(p, FAULT_RULE_CONFLICT, c->vm, IX_NONE, c->rule, find_conflict(p, c));
    }
    for (uint32_t i = 0; i < p->rules.n_too_large; i++) {
        const struct rule_excess *e = &p->rules.too_large[i];
        plan_fault(p, FAULT_RULE_TOO_LARGE, IX_NONE, IX_NONE, e->rule,
                   (struct finding){.code = FIND_RULE_TOO_LARGE,
                                    .subjects = {{SUBJECT_RULE, e->rule}},
                                    .figures = {{FIGURE_VMS, e->vms}, {FIGURE_HOSTS, e->hosts}}});
    }
    report_agents(p);
}
