/* Reports the rules that a placement violates, and the alternatives for a single VM. */
#include "core/place/attempt.h"

/* Alternatives listed beside the best host. */
#define ALTERNATIVES_MAX 4

void attempt_report_broken(struct attempt *t)
{
    struct pass *p = &t->p;

    for (uint32_t i = 0; i < p->snap->n_rules; i++) {
        const struct rule *rule = &p->snap->rules[i];
        uint32_t placed = IX_NONE;
        for (uint32_t k = 0; k < rule->vms.n && placed == IX_NONE; k++) {
            uint32_t vm = rule->vms.items[k];
            uint32_t unit = p->layout.vm_unit[vm];
            if (vm_waits(&p->snap->vms[vm]) && unit != IX_NONE &&
                p->layout.unit_slot[unit] != p->layout.outside)
                placed = vm;
        }
        if (placed == IX_NONE || !rule->is.enabled || !layout_breaks_rule(&p->layout, rule))
            continue;
        plan_fault(p, rule->is.mandatory ? FAULT_RULE_VIOLATED : FAULT_PREFERENCE_DROPPED, placed, IX_NONE, i,
                   (struct finding){.code = FIND_RULE_BROKEN_BY_PLACEMENT,
                                    .subjects = {{SUBJECT_VM, placed}, {SUBJECT_RULE, i}}});
    }
}

/* The k-th stage of the VM's pipeline that buckets the hosts of a placement. */
static uint32_t bucket_stage(const struct snapshot *s, uint32_t vm, uint32_t k)
{
    uint32_t pipeline = s->vms[vm].pipeline;

    for (uint32_t i = 0; pipeline != IX_NONE && i < s->pipelines[pipeline].n; i++) {
        uint32_t stage = s->pipelines[pipeline].first + i;

        if (s->stages[stage].is.bucket.n > 0 && (s->stages[stage].is.applies >> FIT_PLACE & 1) && k-- == 0)
            return stage;
    }
    return IX_NONE; /* another VM of the unit ranks the hosts */
}

/* Adds the first bucket that differs from the chosen host's, or else the score. */
static void add_ranks(const struct pass *p, uint32_t vm, const struct fit_ranked *r,
                      const struct fit_ranked *chosen, struct finding *f)
{
    uint32_t k = 0;

    while (k < r->n_buckets && r->buckets[k] == chosen->buckets[k])
        k++;
    if (k == r->n_buckets && r->score == chosen->score)
        return;
    finding_subject(f, SUBJECT_TO, chosen->host);
    if (k < r->n_buckets)
        finding_subject(f, SUBJECT_STAGE, bucket_stage(p->snap, vm, k));
    finding_figure(f, FIGURE_SCORE, r->score);
    finding_figure(f, FIGURE_SCORE_CHOSEN, chosen->score);
}

void attempt_add_alternatives(struct attempt *t, uint32_t vm, struct plan *plan)
{
    struct pass *p = &t->p;
    uint32_t unit = p->layout.vm_unit[vm];
    struct recommendation *rec = plan->n_recommendations == 1 ? &plan->recommendations[0] : NULL;

    if (!rec || rec->action != ACTION_PLACE || t->first.n < 2)
        return;
    struct alternative *others = arena_array(p->a, struct alternative, ALTERNATIVES_MAX);
    uint32_t n = 0;
    for (uint32_t i = 1; i < t->first.n && n < ALTERNATIVES_MAX; i++) {
        const struct option *o = &t->first.items[i];
        if (o->joins != t->first.items[0].joins)
            break; /* candidates that violate an affinity rule are no alternatives to one that does not */
        uint32_t host = p->layout.slot_host[o->slot];
        struct layout_mark mark;
        layout_try(&p->layout, unit, o->slot, &mark); /* with the weights of that state, as in the plan */
        double imbalance = layout_imbalance(&p->layout);
        layout_undo(&p->layout, &mark);
        struct finding f = {.code = FIND_ALTERNATIVE,
                            .subjects = {{SUBJECT_HOST, host}},
                            .figures = {{FIGURE_CPU_LOAD, p->layout.norm[RES_CPU][o->slot]},
                                        {FIGURE_MEM_LOAD, p->layout.norm[RES_MEM][o->slot]}}};
        add_ranks(p, vm, &o->fit, &t->first.items[0].fit, &f);
        others[n++] =
            (struct alternative){.host = host, .imbalance_after = imbalance, .found = finding_keep(p->a, f)};
    }
    rec->alternatives = others;
    rec->n_alternatives = n;
}
