/* Reports faults that exist before the pass decides anything. */
#include "core/plan/findings.h"
#include "core/plan/pass_state.h"
#include "core/plan/plan.h"

/* Two sums of the same numbers may differ by this share, because their order of addition differs. */
#define ROUNDING 1e-6

/* ---- pools ---- */

struct pool_check {
    struct pass *p;
    enum resource r;
    double *set_below;  /* by pool: Σ of its children's configured reservations, without expansion */
    uint32_t *lacks_at; /* by pool: the pool (itself or an ancestor) that lacks the capacity; IX_NONE: none,
                           or the cluster lacks it */
    bool *named;        /* by pool: a descendant's fault already names this pool */
};

static bool exceeds(double a, double b)
{
    return a > b + ROUNDING + 1e-9 * b;
}

static void add_up_settings(struct pool_check *c)
{
    const struct snapshot *s = c->p->snap;

    for (uint32_t i = 0; i < s->n_vms; i++)
        if (s->vms[i].pool != IX_NONE && vm_takes_part(s, &s->vms[i]))
            c->set_below[s->vms[i].pool] += s->vms[i].is.alloc[c->r].reservation;
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (s->pools[i].parent != IX_NONE)
            c->set_below[s->pools[i].parent] += s->pools[i].is.alloc[c->r].reservation;
}

/* Parents come first, so the ancestors' shortages are known. */
static void find_who_lacks(struct pool_check *c)
{
    const struct snapshot *s = c->p->snap;
    const struct admission *ad = &c->p->admission;

    for (uint32_t i = s->n_pools; i-- > 0;) {
        uint32_t pool = ad->order[i];
        const struct alloc *set = &s->pools[pool].is.alloc[c->r];
        double used = ad->used[c->r][pool];
        uint32_t parent = s->pools[pool].parent;
        bool own = exceeds(used, set->expandable ? set->limit : set->reservation);
        c->lacks_at[pool] = !exceeds(used, set->reservation) ? IX_NONE
                            : own                            ? pool
                            : parent == IX_NONE              ? IX_NONE
                                                             : c->lacks_at[parent];
    }
}

static struct finding find_pool(const struct pool_check *c, uint32_t pool)
{
    const struct alloc *set = &c->p->snap->pools[pool].is.alloc[c->r];
    uint32_t at = c->lacks_at[pool];

    return (struct finding){
        .code = FIND_POOL_OVERCOMMITTED,
        .resource = c->r,
        .subjects = {{SUBJECT_POOL, pool}, {SUBJECT_OTHER_POOL, at != pool ? at : IX_NONE}},
        .figures = {{FIGURE_NEED, c->p->admission.used[c->r][pool]},
                    {FIGURE_HAS, set->reservation},
                    {FIGURE_LIMIT, at == pool && set->expandable ? set->limit : UNKNOWN}}};
}

/* A pool gets a fault if the configured reservations of its children exceed what it can get. If only the
 * expansion of its children exceeds it, the children get the fault, unless none of them lacks anything. */
static void report_lacking(struct pool_check *c)
{
    const struct snapshot *s = c->p->snap;
    bool *reported = arena_array(c->p->a, bool, s->n_pools);

    for (uint32_t i = 0; i < s->n_pools; i++) {
        uint32_t pool = c->p->admission.order[i];
        uint32_t at = c->lacks_at[pool];
        if (at == IX_NONE)
            continue;
        reported[pool] = exceeds(c->set_below[pool], s->pools[pool].is.alloc[c->r].reservation) ||
                         (at == pool && !c->named[pool]);
        c->named[at] = c->named[at] || reported[pool];
    }
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (reported[i])
            plan_fault(c->p, FAULT_POOL_OVERCOMMITTED, IX_NONE, IX_NONE, IX_NONE, find_pool(c, i));
}

/* Each pool whose reservations exceed what its parents can give, and the cluster. */
static void report_pools(struct pass *p)
{
    const struct snapshot *s = p->snap;

    for (int r = 0; r < RES_COUNT; r++) {
        struct pool_check c = {.p = p,
                               .r = (enum resource)r,
                               .set_below = arena_array(p->a, double, s->n_pools),
                               .lacks_at = arena_array(p->a, uint32_t, s->n_pools),
                               .named = arena_array(p->a, bool, s->n_pools)};
        double reserved = p->admission.used[r][s->n_pools];
        double capacity = p->admission.capacity[r];
        if (!(capacity > 0)) /* no host can run VMs: each VM that must leave has a fault of its own */
            continue;
        if (exceeds(reserved, capacity))
            plan_fault(p, FAULT_OVERCOMMITTED, IX_NONE, IX_NONE, IX_NONE,
                       (struct finding){.code = FIND_CLUSTER_OVERCOMMITTED,
                                        .resource = c.r,
                                        .figures = {{FIGURE_NEED, reserved}, {FIGURE_HAS, capacity}}});
        add_up_settings(&c);
        find_who_lacks(&c);
        report_lacking(&c);
    }
}

/* ---- rules ---- */

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

/* Each rule that no plan can keep (rules/impossible.c). */
static void report_rules(struct pass *p)
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

/* ---- VMs, hosts and the cluster ---- */

/* What the cluster, a host, or one VM avoids: fewer and fewer VMs. */
enum scope { SCOPE_CLUSTER, SCOPE_HOST, SCOPE_VM, N_SCOPES };

static enum scope scope_of(const struct avoid *x)
{
    return x->vm != IX_NONE ? SCOPE_VM : x->host != IX_NONE ? SCOPE_HOST : SCOPE_CLUSTER;
}

/* Everything that failed and is not tried again yet. The pause of the cluster comes first, and single VMs, of
 * which there may be hundreds, last: lists of faults are cut off. */
static void report_avoided(struct pass *p)
{
    const struct snapshot *s = p->snap;

    for (enum scope scope = SCOPE_CLUSTER; scope < N_SCOPES; scope++)
        for (uint32_t i = 0; i < s->n_avoid; i++) {
            const struct avoid *x = &s->avoid[i];
            if (s->time < x->until && !x->is_rejection && scope_of(x) == scope)
                plan_fault(p, FAULT_AVOID, x->vm, x->host, IX_NONE, finding_of_avoid(FIND_AVOID, x));
        }
}

/* Samples that the guard (demand/sample_guard.h) rejects. */
static void report_samples(struct pass *p)
{
    const struct snapshot *s = p->snap;
    const struct guard *g = &p->guard;

    if (sample_guard_distrusts(g))
        plan_fault(p, FAULT_SAMPLES_BAD, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_SAMPLES_DISTRUSTED,
                                    .figures = {{FIGURE_VMS, g->n_bad}, {FIGURE_VMS_ALL, g->n}}});
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *v = &s->vms[i];
        if (!vm_takes_part(s, v))
            continue;
        if (v->is.demand_unknown)
            plan_fault(p, FAULT_DEMAND_UNKNOWN, i, v->host, IX_NONE,
                       (struct finding){.code = FIND_DEMAND_UNKNOWN, .subjects = {{SUBJECT_VM, i}}});
        else if (v->is.sample_bad)
            plan_fault(p, FAULT_SAMPLE_BAD, i, v->host, IX_NONE,
                       (struct finding){.code = FIND_SAMPLE_DISTRUSTED,
                                        .subjects = {{SUBJECT_VM, i}},
                                        .because = sample_guard_found(g, i)});
    }
}

/* Hosts of a shared store matter only where hosts would be put to standby. */
static void report_storage(struct pass *p)
{
    const struct snapshot *s = p->snap;
    uint32_t vsan = 0;
    uint32_t other = 0;

    for (uint32_t i = 0; i < s->n_hosts && p->policy.dpm.enabled; i++) {
        vsan += s->hosts[i].is.vsan;
        other += s->hosts[i].is.serves_storage && !s->hosts[i].is.vsan;
    }
    if (vsan > 0)
        plan_fault(p, FAULT_VSAN, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_VSAN,
                                    .figures = {{FIGURE_HOSTS, vsan}, {FIGURE_HOSTS_ALL, s->n_hosts}}});
    if (other > 0)
        plan_fault(p, FAULT_SERVES_STORAGE, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_SERVES_STORAGE,
                                    .figures = {{FIGURE_HOSTS, other}, {FIGURE_HOSTS_ALL, s->n_hosts}}});
}

/* Managers that work against this one, and rules that are not known. */
static void report_conflicts(struct pass *p)
{
    const struct snapshot *s = p->snap;

    if (s->conflicts.balancer)
        plan_fault(p, FAULT_OTHER_BALANCER, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_OTHER_BALANCER});
    if (s->conflicts.power)
        plan_fault(p, FAULT_OTHER_POWER, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_OTHER_POWER});
    if (s->labels_unread)
        plan_fault(p, FAULT_LABELS_UNREAD, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_LABELS_UNREAD, .peer = s->labels_unread});
    for (uint32_t i = 0; i < s->source_faults.n; i++)
        plan_fault(p, FAULT_SOURCE, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_SOURCE_FAULT, .peer = s->source_faults.items[i]});
    for (uint32_t i = 0; i < s->ha_configured.conflicts.n; i++)
        plan_fault(p, FAULT_SPARE_MISSING, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_SOURCE_FAULT, .peer = s->ha_configured.conflicts.items[i]});
    report_storage(p);
}

void plan_report_state(struct pass *p)
{
    const struct snapshot *s = p->snap;

    report_pools(p);
    for (uint32_t i = 0; i < s->n_hosts; i++)
        if (s->hosts[i].is.state == HOST_DISCONNECTED && s->hosts[i].vms.n > 0)
            plan_fault(p, FAULT_HOST_DISCONNECTED, IX_NONE, i, IX_NONE,
                       (struct finding){.code = FIND_HOST_UNSEEN,
                                        .subjects = {{SUBJECT_HOST, i}},
                                        .figures = {{FIGURE_VMS, s->hosts[i].vms.n}}});
    for (uint32_t i = 0; i < s->n_hosts; i++)
        if (s->hosts[i].is.power_fault)
            plan_fault(p, FAULT_POWER_METHOD, IX_NONE, i, IX_NONE,
                       (struct finding){.code = FIND_POWER_METHOD, .subjects = {{SUBJECT_HOST, i}}});
    for (uint32_t i = 0; i < s->n_hosts; i++)
        if (host_is_distrusted(s, i))
            plan_fault(p, FAULT_HOST_DISTRUSTED, IX_NONE, i, IX_NONE, finding_of_distrust(s, i));
    report_avoided(p);
    report_samples(p);
    report_rules(p);
    report_conflicts(p);
}
