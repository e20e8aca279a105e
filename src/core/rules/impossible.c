/* Finds rules that no plan can satisfy, when they are compiled rather than as failed moves. */
#include "core/rules/rules.h"

/* By affine set: the hosts that all its members seen so far allow. */
struct common {
    uint64_t *hosts; /* NULL: all hosts */
    uint32_t first;  /* a member that narrowed them */
    bool impossible;
};

static bool any(const uint64_t *bits, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (bits[w] != 0)
            return true;
    return false;
}

/* Narrows the set's hosts by the member's; false: none is left. */
static bool narrow_set(const struct rules *r, struct common *c, uint32_t vm, struct arena *a)
{
    bool first = !c->hosts;

    if (first) {
        c->hosts = arena_array(a, uint64_t, r->words);
        c->first = vm;
    }
    for (uint32_t w = 0; w < r->words; w++)
        c->hosts[w] = first ? r->allowed[vm][w] : c->hosts[w] & r->allowed[vm][w];
    return first || any(c->hosts, r->words);
}

/* Affine sets whose members have no host in common. A member without any host has a conflict of its own. */
static void find_homeless_sets(struct rules *r, struct arena *a)
{
    const struct snapshot *s = r->snap;
    struct common *sets = arena_array(a, struct common, s->n_vms);

    for (uint32_t vm = 0; vm < s->n_vms; vm++) {
        struct common *c = &sets[r->component[vm]];
        uint32_t bond = IX_NONE;
        if (!r->allowed[vm] || r->held[vm] || c->impossible || !(vm_takes_part(s, &s->vms[vm])))
            continue;
        if (narrow_set(r, c, vm, a) || (bond = rules_find_bond(r, vm)) == IX_NONE)
            continue;
        c->impossible = true;
        rules_add_conflict(r, (struct rule_conflict){bond, IX_NONE, vm, c->first}, a);
    }
    for (uint32_t vm = 0; vm < s->n_vms; vm++)
        r->held[vm] = r->held[vm] || sets[r->component[vm]].impossible;
}

/* A host in standby counts, because it can be woken, unless an admin forbids it. */
static bool may_be_used(const struct host *h)
{
    bool sleeps = h->is.state == HOST_STANDBY || h->is.state == HOST_POWERING_ON;

    return host_can_run_vms(h) ||
           (sleeps && h->is.dpm != AUTOMATION_DISABLED && !h->failover && !host_is_avoided(h));
}

/* Members that take part, and hosts that could run any of them. */
static struct rule_excess measure(const struct rules *r, uint32_t rule)
{
    const struct snapshot *s = r->snap;
    struct rule_excess e = {.rule = rule};
    struct span vms = s->rules[rule].vms;

    for (uint32_t i = 0; i < vms.n; i++)
        e.vms += vm_takes_part(s, &s->vms[vms.items[i]]) || vm_waits(&s->vms[vms.items[i]]);
    for (uint32_t h = 0; h < s->n_hosts && e.hosts < e.vms; h++) {
        bool may = false;
        for (uint32_t i = 0; i < vms.n && !may && may_be_used(&s->hosts[h]); i++)
            may = vm_takes_part(s, &s->vms[vms.items[i]]) && rules_allow(r, vms.items[i], h);
        e.hosts += may;
    }
    return e;
}

static void find_large_groups(struct rules *r, struct arena *a)
{
    r->too_large = arena_array(a, struct rule_excess, r->n_groups);
    for (uint32_t g = 0; g < r->n_groups; g++) {
        struct rule_excess e = measure(r, r->group_rule[g]);
        if (e.vms > e.hosts)
            r->too_large[r->n_too_large++] = e;
    }
}

/* Affinity rules that join the halves of a fault-tolerant pair, which may not share a host. */
static void find_joined_pairs(struct rules *r, struct arena *a)
{
    const struct snapshot *s = r->snap;

    for (uint32_t vm = 0; vm < s->n_vms; vm++) {
        uint32_t peer = s->vms[vm].ft_peer;
        uint32_t bond = IX_NONE;
        if (peer != IX_NONE && vm < peer && r->component[vm] == r->component[peer])
            bond = rules_find_bond(r, vm);
        if (bond != IX_NONE)
            rules_add_conflict(r, (struct rule_conflict){bond, IX_NONE, vm, peer}, a);
    }
}

void rules_find_impossible(struct rules *r, struct arena *a)
{
    find_joined_pairs(r, a);
    find_homeless_sets(r, a);
    find_large_groups(r, a);
}
