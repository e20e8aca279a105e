/* What is said of rules that no plan can keep (rules/impossible.c). */
#include "core/plan/faults.h"

static const char *text_conflict(const struct pass *p, const struct rule_conflict *c)
{
    const struct snapshot *s = p->snap;
    const char *vm = s->vms[c->vm].is.name;
    const char *rule = s->rules[c->rule].is.name;
    const char *other = c->other == IX_NONE ? NULL : s->rules[c->other].is.name;

    if (!other && c->with != IX_NONE && s->vms[c->vm].ft_peer == c->with)
        return arena_printf(p->a,
                            "The rule \"%s\" keeps %s with %s, the other half of its fault-tolerant pair; "
                            "they were left alone.",
                            rule, vm, s->vms[c->with].is.name);
    if (!other && c->with != IX_NONE)
        return arena_printf(
            p->a, "The rule \"%s\" keeps %s with %s, and no host may run both; they were left alone.", rule,
            vm, s->vms[c->with].is.name);
    if (!other)
        return arena_printf(
            p->a, "The rule \"%s\" leaves %s none of the hosts that it may run on; it was left where it is.",
            rule, vm);
    if (c->with == IX_NONE)
        return arena_printf(
            p->a, "The rules \"%s\" and \"%s\" contradict each other for %s; it was left where it is.", rule,
            other, vm);
    const char *with = s->vms[c->with].is.name;
    if (span_has(s->rules[c->other].vms, c->with))
        return arena_printf(
            p->a, "The rules \"%s\" and \"%s\" contradict each other for %s and %s; both were left alone.",
            rule, other, with, vm);
    uint32_t last = rules_find_bond(&p->rules, c->with);
    return arena_printf(p->a,
                        "The rule \"%s\" contradicts \"%s\" and \"%s\", which keep %s with %s by way of "
                        "other VMs; both were left alone.",
                        rule, s->rules[last].is.name, other, with, vm);
}

/* The first VM of the rule that takes part and is an agent, or none; IX_NONE: there is no such. */
static uint32_t first_of(const struct snapshot *s, const struct rule *rule, bool agent)
{
    for (uint32_t k = 0; k < rule->vms.n; k++) {
        const struct vm *v = &s->vms[rule->vms.items[k]];
        if ((v->is.kind == VM_AGENT) == agent && vm_takes_part(s, v))
            return rule->vms.items[k];
    }
    return IX_NONE;
}

/* An agent is part of its host and keeps nobody with it: a rule that asks for that is not enforced, and that
 * is said whether they are together or not. */
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
            pass_fault(
                p, FAULT_RULE_CONFLICT, vm, IX_NONE, i,
                arena_printf(p->a,
                             "The rule \"%s\" cannot keep %s with %s: that is an agent VM, part of its host.",
                             rule->is.name, s->vms[vm].is.name, s->vms[agent].is.name));
    }
}

void plan_report_rules(struct pass *p)
{
    const struct snapshot *s = p->snap;

    for (uint32_t i = 0; i < p->rules.n_conflicts; i++) {
        const struct rule_conflict *c = &p->rules.conflicts[i];
        pass_fault(p, FAULT_RULE_CONFLICT, c->vm, IX_NONE, c->rule, text_conflict(p, c));
    }
    for (uint32_t i = 0; i < p->rules.n_too_large; i++) {
        const struct rule_excess *e = &p->rules.too_large[i];
        pass_fault(p, FAULT_RULE_TOO_LARGE, IX_NONE, IX_NONE, e->rule,
                   arena_printf(p->a,
                                "The rule \"%s\" keeps %u VMs apart, and only %u host%s could run them.",
                                s->rules[e->rule].is.name, e->vms, e->hosts, e->hosts == 1 ? "" : "s"));
    }
    report_agents(p);
}
