/* Compiles the rules of a snapshot: allowed hosts as bitmaps, affine components, anti-affinity groups. */
#include "core/rules/rules.h"

bool rules_in_force(const struct rules *rules, const struct rule *rule)
{
    return rule->is.enabled && (rule->is.mandatory || rules->with_preferred);
}

/* ---- VM-host rules ---- */

static uint64_t *span_bitmap(const struct rules *r, struct span hosts, struct arena *a)
{
    uint64_t *bits = arena_array(a, uint64_t, r->words);

    for (uint32_t i = 0; i < hosts.n; i++)
        bits[hosts.items[i] / 64] |= (uint64_t)1 << (hosts.items[i] % 64);
    return bits;
}

/* Narrows the VM's bitmap; false: it took the last host. */
static bool narrow(struct rules *r, uint32_t vm, const uint64_t *with, bool complement, struct arena *a)
{
    uint64_t *mine = arena_array(a, uint64_t, r->words);
    uint32_t n_hosts = r->snap->n_hosts;
    uint64_t had = 0;
    uint64_t any = 0;

    for (uint32_t w = 0; w < r->words; w++) {
        uint64_t all =
            w + 1 < r->words || n_hosts % 64 == 0 ? UINT64_MAX : ((uint64_t)1 << (n_hosts % 64)) - 1;
        uint64_t before = r->allowed[vm] ? r->allowed[vm][w] : all;
        mine[w] = before & (complement ? ~with[w] : with[w]) & all;
        had |= before;
        any |= mine[w];
    }
    r->allowed[vm] = mine;
    return any != 0 || had == 0;
}

void rules_add_conflict(struct rules *r, struct rule_conflict conflict, struct arena *a)
{
    r->conflicts = arena_grow(a, r->conflicts, r->n_conflicts, &r->cap_conflicts, sizeof r->conflicts[0]);
    r->conflicts[r->n_conflicts++] = conflict;
    r->held[conflict.vm] = true;
    if (conflict.with != IX_NONE)
        r->held[conflict.with] = true;
}

static bool is_between_vm_and_host(const struct rule *rule)
{
    return rule->is.kind == RULE_HOST_AFFINE || rule->is.kind == RULE_HOST_ANTI_AFFINE;
}

bool rules_lets_run(const struct rule *rule, uint32_t host)
{
    return span_has(rule->hosts, host) == (rule->is.kind == RULE_HOST_AFFINE);
}

static bool have_common_host(const struct snapshot *s, const struct rule *a, const struct rule *b)
{
    for (uint32_t h = 0; h < s->n_hosts; h++)
        if (rules_lets_run(a, h) && rules_lets_run(b, h))
            return true;
    return false;
}

/* Another VM-host rule of the VM without a host in common with this one, to name both sides of a
 * contradiction. IX_NONE: more than two rules, or compatibility, are involved. */
static uint32_t contrary_rule(const struct rules *r, uint32_t rule, uint32_t vm)
{
    if (r->snap->rules[rule].is.kind == RULE_HOST_AFFINE && r->snap->rules[rule].hosts.n == 0)
        return IX_NONE; /* it contradicts all that name a host */
    const struct span mine = rules_of(r, vm);

    for (uint32_t i = 0; i < mine.n; i++) {
        const struct rule *o = &r->snap->rules[mine.items[i]];
        if (mine.items[i] != rule && is_between_vm_and_host(o) && rules_in_force(r, o) &&
            !have_common_host(r->snap, o, &r->snap->rules[rule]))
            return mine.items[i];
    }
    return IX_NONE;
}

static void compile_host_rules(struct rules *r, bool mandatory, struct arena *a)
{
    const struct snapshot *s = r->snap;

    for (uint32_t i = 0; i < s->n_rules; i++) {
        const struct rule *rule = &s->rules[i];
        if (!is_between_vm_and_host(rule) || rule->is.mandatory != mandatory || !rules_in_force(r, rule))
            continue;
        uint64_t *bits = span_bitmap(r, rule->hosts, a);
        for (uint32_t j = 0; j < rule->vms.n; j++) {
            uint32_t vm = rule->vms.items[j];
            /* only the first rule that leaves no host is named */
            if (!narrow(r, vm, bits, rule->is.kind == RULE_HOST_ANTI_AFFINE, a) && !r->held[vm])
                rules_add_conflict(r, (struct rule_conflict){i, contrary_rule(r, i, vm), vm, IX_NONE}, a);
        }
    }
}

/* Whether the VM runs on a host that does not offer what it needs. */
static bool lacks_here(const struct vm *v)
{
    return v->is.state == VM_ON && v->host != IX_NONE && !vm_is_offered(v, v->host);
}

bool rules_fit_refuses(const struct rules *rules, uint32_t vm, uint32_t host)
{
    return fit_refuses(&rules->fit, rules_fit_use(&rules->snap->vms[vm]), vm, host);
}

bool rules_fit_evicts(const struct rules *rules, uint32_t vm)
{
    const struct vm *v = &rules->snap->vms[vm];

    return v->is.state == VM_ON && v->host != IX_NONE && fit_refuses(&rules->fit, FIT_CORRECT, vm, v->host);
}

/* Whether the VM runs where it could not come to: the host lacks something that it needs, or its pipeline
 * refuses the host. */
static bool stays_against(const struct rules *r, uint32_t vm)
{
    const struct vm *v = &r->snap->vms[vm];

    return lacks_here(v) ||
           (v->is.state == VM_ON && v->host != IX_NONE && fit_refuses(&r->fit, FIT_MOVE, vm, v->host));
}

/* The hosts that offer what the VM needs and that its pipeline leaves; NULL: all. */
static const uint64_t *offered_hosts(const struct rules *r, uint32_t vm, struct arena *a)
{
    const uint64_t *offered = r->snap->vms[vm].offered;
    const uint64_t *fits = fit_hosts(&r->fit, rules_fit_use(&r->snap->vms[vm]), vm);

    if (!offered || !fits)
        return offered ? offered : fits;
    uint64_t *bits = arena_array(a, uint64_t, r->words);

    for (uint32_t w = 0; w < r->words; w++)
        bits[w] = offered[w] & fits[w];
    return bits;
}

/* The hosts that the VM is compatible with; NULL: all. VMs that need the same share a bitmap. What a host
 * does not offer keeps VMs from coming, and moves none away: a VM that runs there has what it needs, or would
 * be no better off elsewhere. A host that its pipeline refuses likewise, unless a stage is to correct that.
 */
static const uint64_t *compatible_hosts(const struct rules *r, uint32_t vm, struct arena *a)
{
    const struct vm *v = &r->snap->vms[vm];

    const uint64_t *offered = offered_hosts(r, vm, a);
    bool stays = stays_against(r, vm) && !rules_fit_evicts(r, vm);

    if (!v->compatible_given && !stays)
        return offered;
    uint64_t *bits = arena_array(a, uint64_t, r->words);

    for (uint32_t w = 0; w < r->words; w++)
        bits[w] = offered ? offered[w] : UINT64_MAX;
    if (stays)
        bits[v->host / 64] |= (uint64_t)1 << (v->host % 64);
    if (v->compatible_given) {
        const uint64_t *listed = span_bitmap(r, v->compatible_hosts, a);
        for (uint32_t w = 0; w < r->words; w++)
            bits[w] &= listed[w];
    }
    return bits;
}

/* A VM that runs where its need is not offered, or where its pipeline refuses it, may stay, but it does not
 * start there. Once a VM has been powered on, its pipeline binds as for moves. */
static void compile_restarts(struct rules *r, struct arena *a)
{
    for (uint32_t i = 0; i < r->snap->n_vms; i++) {
        const uint64_t *only = stays_against(r, i)          ? offered_hosts(r, i, a)
                               : vm_waits(&r->snap->vms[i]) ? fit_hosts(&r->fit, FIT_MOVE, i)
                                                            : NULL;

        r->restart[i] = r->must[i];
        if (!only)
            continue;
        uint64_t *bits = arena_array(a, uint64_t, r->words);
        for (uint32_t w = 0; w < r->words; w++)
            bits[w] = (r->must[i] ? r->must[i][w] : UINT64_MAX) & only[w];
        r->restart[i] = bits;
    }
}

/* Preferred rules come last, so that a preferred rule is the one named in a contradiction. */
static void compile_hosts(struct rules *r, struct arena *a)
{
    const struct snapshot *s = r->snap;

    for (uint32_t i = 0; i < s->n_vms; i++)
        r->allowed[i] = compatible_hosts(r, i, a);
    compile_host_rules(r, true, a);
    for (uint32_t i = 0; i < s->n_vms; i++)
        r->must[i] = r->allowed[i]; /* a bitmap never changes after this */
    compile_restarts(r, a);
    compile_host_rules(r, false, a);
}

/* ---- affinity ---- */

static uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* A VM that does not run, or an agent, which belongs to its host, joins no component. */
static bool is_bound(const struct rules *r, uint32_t vm)
{
    const struct vm *v = &r->snap->vms[vm];

    if (v->is.kind == VM_AGENT)
        return false;

    return vm_takes_part(r->snap, v) || (vm_waits(v) && !r->placed_apart);
}

static void compile_components(struct rules *r)
{
    const struct snapshot *s = r->snap;

    for (uint32_t i = 0; i < s->n_vms; i++)
        r->component[i] = i;
    for (uint32_t i = 0; i < s->n_rules; i++) {
        const struct rule *rule = &s->rules[i];
        if (rule->is.kind != RULE_VM_AFFINE || !rules_in_force(r, rule))
            continue;
        uint32_t first = IX_NONE;
        for (uint32_t j = 0; j < rule->vms.n; j++) {
            if (!is_bound(r, rule->vms.items[j]))
                continue;
            first = first == IX_NONE ? rule->vms.items[j] : first;
            uint32_t x = find_root(r->component, first);
            uint32_t y = find_root(r->component, rule->vms.items[j]);
            /* the lowest member stands for the set */
            if (x < y)
                r->component[y] = x;
            else
                r->component[x] = y;
        }
    }
    for (uint32_t i = 0; i < s->n_vms; i++)
        r->component[i] = find_root(r->component, i);
}

/* ---- anti-affinity ---- */

static bool is_group(const struct rules *r, const struct rule *rule)
{
    return rule->is.kind == RULE_VM_ANTI_AFFINE && rule->vms.n > 1 && rules_in_force(r, rule);
}

/* By VM: the positions in `list` of the rules that name it, ascending. */
static struct rules_by_vm index_by_vm(const struct snapshot *s, const uint32_t *list, uint32_t n,
                                      struct arena *a)
{
    uint32_t *from = arena_array(a, uint32_t, (size_t)s->n_vms + 1);
    uint32_t *filled = arena_array(a, uint32_t, s->n_vms);

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < s->rules[list[i]].vms.n; j++)
            from[s->rules[list[i]].vms.items[j] + 1]++;
    for (uint32_t i = 0; i < s->n_vms; i++)
        from[i + 1] += from[i];
    uint32_t *of = arena_array(a, uint32_t, from[s->n_vms]);

    for (uint32_t i = 0; i < n; i++) {
        struct span vms = s->rules[list[i]].vms;
        for (uint32_t j = 0; j < vms.n; j++)
            of[from[vms.items[j]] + filled[vms.items[j]]++] = i;
    }
    return (struct rules_by_vm){from, of};
}

static void compile_groups(struct rules *r, struct arena *a)
{
    const uint32_t n_rules = r->snap->n_rules;
    uint32_t *all = arena_array(a, uint32_t, n_rules);

    r->group_rule = arena_array(a, uint32_t, n_rules);
    for (uint32_t i = 0; i < n_rules; i++) {
        all[i] = i;
        if (is_group(r, &r->snap->rules[i]))
            r->group_rule[r->n_groups++] = i;
    }
    r->of_vm = index_by_vm(r->snap, all, n_rules, a);
    r->groups = index_by_vm(r->snap, r->group_rule, r->n_groups, a);
}

/* VMs under both an affinity and an anti-affinity rule. */
static void find_contradictions(struct rules *r, struct arena *a)
{
    const struct snapshot *s = r->snap;
    uint32_t *seen =
        arena_array(a, uint32_t, s->n_vms); /* by component: the last member seen in a group, + 1 */
    uint32_t *in = arena_array(a, uint32_t, s->n_vms); /* ... and that group, + 1 */

    for (uint32_t g = 0; g < r->n_groups; g++) {
        struct span vms = s->rules[r->group_rule[g]].vms;
        for (uint32_t j = 0; j < vms.n; j++) {
            uint32_t c = r->component[vms.items[j]];
            if (in[c] == g + 1) {
                uint32_t vm = vms.items[j];
                uint32_t with = seen[c] - 1;
                uint32_t other = rules_find_vm_vm(r, RULE_VM_AFFINE, vm, with);
                /* joined by way of other VMs: the rule that joins this one */
                other = other != IX_NONE ? other : rules_find_bond(r, vm);
                rules_add_conflict(r, (struct rule_conflict){r->group_rule[g], other, vm, with}, a);
            }
            in[c] = g + 1;
            seen[c] = vms.items[j] + 1;
        }
    }
}

void rules_compile(const struct snapshot *snap, unsigned which, struct arena *a, struct rules *ret)
{
    *ret = (struct rules){.snap = snap,
                          .with_preferred = (which & RULES_PREFERRED) != 0,
                          .placed_apart = (which & RULES_PLACED_APART) != 0,
                          .words = (snap->n_hosts + 63) / 64};
    fit_compile(snap, a, &ret->fit);
    ret->allowed = arena_array(a, const uint64_t *, snap->n_vms);
    ret->must = arena_array(a, const uint64_t *, snap->n_vms);
    ret->restart = arena_array(a, const uint64_t *, snap->n_vms);
    ret->component = arena_array(a, uint32_t, snap->n_vms);
    ret->held = arena_array(a, bool, snap->n_vms);
    compile_groups(ret, a);
    compile_hosts(ret, a);
    compile_components(ret);
    find_contradictions(ret, a);
    rules_find_impossible(ret, a);
}

uint32_t rules_find_vm_host(const struct rules *rules, uint32_t vm, uint32_t host)
{
    const struct span mine = rules_of(rules, vm);
    uint32_t preferred = IX_NONE;

    for (uint32_t i = 0; i < mine.n; i++) {
        const struct rule *rule = &rules->snap->rules[mine.items[i]];
        bool keeps_off =
            rules_in_force(rules, rule) && is_between_vm_and_host(rule) && !rules_lets_run(rule, host);
        if (keeps_off && rule->is.mandatory)
            return mine.items[i];
        if (keeps_off && preferred == IX_NONE)
            preferred = mine.items[i];
    }
    return preferred;
}

uint32_t rules_find_vm_vm(const struct rules *rules, enum rule_kind kind, uint32_t vm, uint32_t other)
{
    struct span mine = rules_of(rules, vm), others = rules_of(rules, other);

    for (uint32_t i = 0, k = 0; i < mine.n && k < others.n; i++) {
        const struct rule *rule = &rules->snap->rules[mine.items[i]];
        while (k < others.n && others.items[k] < mine.items[i])
            k++;
        if (k < others.n && others.items[k] == mine.items[i] && rule->is.kind == kind &&
            rules_in_force(rules, rule))
            return mine.items[i];
    }
    return IX_NONE;
}

uint32_t rules_find_bond(const struct rules *rules, uint32_t vm)
{
    const struct span mine = rules_of(rules, vm);

    for (uint32_t i = 0; i < mine.n; i++) {
        const struct rule *rule = &rules->snap->rules[mine.items[i]];
        if (rule->is.kind != RULE_VM_AFFINE || !rules_in_force(rules, rule))
            continue;
        for (uint32_t j = 0; j < rule->vms.n; j++)
            if (rule->vms.items[j] != vm && rules->component[rule->vms.items[j]] == rules->component[vm])
                return mine.items[i];
    }
    return IX_NONE;
}
