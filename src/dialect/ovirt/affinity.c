/* affinity.c: affinity groups. Members of groups of VMs are counted, so that VMs that are placed together see
 * one another. A rank by broken groups needs each group's members by themselves: groups get colours so that
 * no VM is in two groups of one colour, and each colour has its count. */
#include "dialect/ovirt/internal.h"

#include <math.h>
#include <string.h>

#define CLUSTER_KIND "cluster"
#define PINNED_ONE 1000 /* a pinned member is worth so many others */

struct vm_sets {
    const bool **has; /* by set, then by VM */
    uint32_t n;
};

static bool binds_vms(const struct affinity_group *g, uint32_t vm)
{
    return g->vms_enabled && g->has_vm[vm];
}

/* ---- groups of VMs ---- */

static bool share_vm(const struct cloud *c, const bool *x, const bool *y)
{
    for (uint32_t i = 0; i < c->vms.n; i++)
        if (x[i] && y[i])
            return true;
    return false;
}

/* The colour of each set of VMs, so that none of one colour have a VM in common. Returns how many there are.
 */
static uint32_t find_colours(const struct cloud *c, const struct vm_sets *sets, uint32_t *ret)
{
    uint32_t colours = 0;

    for (uint32_t i = 0; i < sets->n; i++) {
        bool *taken = arena_array(c->a, bool, (size_t)colours + 1);

        for (uint32_t k = 0; k < i; k++)
            if (share_vm(c, sets->has[i], sets->has[k]))
                taken[ret[k]] = true;
        while (taken[ret[i]])
            ret[i]++;
        colours += ret[i] == colours;
    }
    return colours;
}

typedef bool binds_fn(const struct affinity_group *g, uint32_t vm);

/* What a broken group of this priority counts: more than all of lower priorities together. The order of such
 * sums is that of the lists of priorities, from the highest on. */
static double worth_of(const struct cloud *c, uint32_t vm, double priority, binds_fn *binds)
{
    uint32_t groups = 0;
    uint32_t lower = 0; /* each priority once */

    for (uint32_t i = 0; i < c->groups.n; i++) {
        const struct affinity_group *g = GROUP(c, i);
        bool counts = g->priority < priority;

        if (!binds(g, vm))
            continue;
        groups++;
        for (uint32_t k = 0; k < i; k++)
            counts = counts && !(binds(GROUP(c, k), vm) && GROUP(c, k)->priority == g->priority);
        lower += counts;
    }
    return pow(groups + 1, lower);
}

static bool breaks_softly(const struct affinity_group *g, uint32_t vm)
{
    return g->hosts_enabled && !g->hosts_enforcing && g->has_vm[vm];
}

static void add_text(const struct compiler *m, uint32_t vm, const char *name, const char *text)
{
    json_t *list = json_object_get(m->hints[vm], name);

    if (!list) {
        list = json_array();
        (void)json_object_set_new(m->hints[vm], name, list);
    }
    (void)json_array_append_new(list, json_string(text));
}

static void set_group(const struct compiler *m, const struct affinity_group *g, uint32_t colour)
{
    const char *name = arena_printf(m->c->a, "group %u", colour);

    for (uint32_t vm = 0; vm < m->c->vms.n; vm++) {
        if (!g->has_vm[vm])
            continue;
        if (g->vms_enforcing)
            add_text(m, vm, g->vms_positive ? "hard positive groups" : "hard negative groups", g->id);
        (void)json_object_set_new(m->hints[vm], name, json_string(g->id));
        stages_set(m->hints[vm], arena_printf(m->c->a, "%s worth", name),
                   worth_of(m->c, vm, g->priority, binds_vms));
        stages_set(m->hints[vm], arena_printf(m->c->a, "%s positive", name), g->vms_positive);
    }
}

static void set_groups(struct compiler *m)
{
    const struct cloud *c = m->c;
    struct vm_sets groups = {.has = arena_array(c->a, const bool *, c->groups.n)};
    uint32_t *colour = arena_array(c->a, uint32_t, c->groups.n);
    uint32_t *of = arena_array(c->a, uint32_t, c->groups.n);

    for (uint32_t i = 0; i < c->groups.n; i++)
        if (GROUP(c, i)->vms_enabled) {
            of[groups.n] = i;
            groups.has[groups.n++] = GROUP(c, i)->has_vm;
        }
    m->colours = find_colours(c, &groups, colour);
    for (uint32_t i = 0; i < groups.n; i++)
        set_group(m, GROUP(c, of[i]), colour[i]);
}

/* All that are in a positive group with the VM; NULL: it is in none. */
static const bool *company_of(const struct cloud *c, uint32_t vm)
{
    bool *ret = NULL;

    for (uint32_t i = 0; i < c->groups.n; i++) {
        const struct affinity_group *g = GROUP(c, i);

        if (!binds_vms(g, vm) || !g->vms_positive)
            continue;
        ret = ret ? ret : arena_array(c->a, bool, c->vms.n);
        for (uint32_t k = 0; k < c->vms.n; k++)
            ret[k] = ret[k] || g->has_vm[k];
    }
    return ret;
}

/* Members of several groups count once: the company of a VM is a set of its own. */
static void set_companies(struct compiler *m)
{
    const struct cloud *c = m->c;
    struct vm_sets sets = {.has = arena_array(c->a, const bool *, c->vms.n)};
    uint32_t *colour = arena_array(c->a, uint32_t, c->vms.n);
    uint32_t *set_of = arena_array(c->a, uint32_t, c->vms.n);

    for (uint32_t vm = 0; vm < c->vms.n; vm++) {
        const bool *company = company_of(c, vm);
        uint32_t k = 0;

        while (company && k < sets.n && memcmp(sets.has[k], company, c->vms.n) != 0)
            k++;
        if (company && k == sets.n)
            sets.has[sets.n++] = company;
        set_of[vm] = company ? k : NONE;
    }
    m->companies = find_colours(c, &sets, colour);
    for (uint32_t k = 0; k < sets.n; k++)
        for (uint32_t vm = 0; vm < c->vms.n; vm++) {
            const char *name = arena_printf(c->a, "company %u", colour[k]);

            if (sets.has[k][vm])
                (void)json_object_set_new(m->hints[vm], name, json_string(arena_printf(c->a, "%u", k)));
            if (set_of[vm] == k)
                (void)json_object_set_new(m->hints[vm], arena_printf(c->a, "own %s", name), json_true());
        }
}

/* Soft groups of hosts are slots of the VM: nothing is counted. */
static void set_soft(struct compiler *m, uint32_t group, uint32_t vm, uint32_t slot)
{
    const struct affinity_group *g = GROUP(m->c, group);
    const char *name = arena_printf(m->c->a, "soft group %u", slot);

    (void)json_object_set_new(m->hints[vm], name, json_string(g->id));
    stages_set(m->hints[vm], arena_printf(m->c->a, "%s worth", name),
               worth_of(m->c, vm, g->priority, breaks_softly));
    stages_set(m->hints[vm], arena_printf(m->c->a, "%s positive", name), g->hosts_positive);
    m->soft_slots = slot + 1 > m->soft_slots ? slot + 1 : m->soft_slots;
}

void affinity_find(struct compiler *m)
{
    const struct cloud *c = m->c;

    set_groups(m);
    set_companies(m);
    for (uint32_t vm = 0; vm < c->vms.n; vm++) {
        uint32_t slot = 0;

        for (uint32_t i = 0; i < c->groups.n; i++) {
            if (breaks_softly(GROUP(c, i), vm))
                set_soft(m, i, vm, slot++);
        }
    }
    for (uint32_t h = 0; h < c->hosts.n; h++) {
        json_t *groups = json_array();

        for (uint32_t i = 0; i < c->groups.n; i++)
            if (GROUP(c, i)->has_host[h])
                (void)json_array_append_new(groups, json_string(GROUP(c, i)->id));
        if (m->soft_slots > 0)
            (void)json_object_set(m->attributes[h], "groups of hosts", groups);
        json_decref(groups);
    }
}

static void add_count(struct compiler *m, const char *name, const char *per, bool pinned, bool over)
{
    json_t *stage = json_pack(
        "{s: s, s: o, s: s}", "name", name, "count",
        pinned ? stages_expression(m, "['if', ['default', '$vm.hints.pinned', false], %d, 1]", PINNED_ONE + 1)
               : json_integer(1),
        "per", arena_printf(m->c->a, "$vm.hints.%s", per));

    if (over)
        (void)json_object_set_new(stage, "over", json_string(CLUSTER_KIND));
    (void)json_array_append_new(m->stages, stage);
}

void affinity_add_counts(struct compiler *m)
{
    struct arena *a = m->c->a;

    if (m->colours == 0)
        return;
    add_count(m, "positive members", "hard positive groups", false, false);
    add_count(m, "positive members of the cluster", "hard positive groups", false, true);
    add_count(m, "negative members", "hard negative groups", false, false);
    for (uint32_t i = 0; i < m->colours; i++)
        add_count(m, arena_printf(a, "members %u", i), arena_printf(a, "group %u", i), false, false);
    for (uint32_t i = 0; i < m->companies; i++)
        add_count(m, arena_printf(a, "company %u", i), arena_printf(a, "company %u", i), true, false);
}

/* ---- groups of hosts ---- */

bool affinity_refuses(const struct cloud *c, uint32_t vm, uint32_t host)
{
    for (uint32_t i = 0; i < c->groups.n; i++) {
        const struct affinity_group *g = GROUP(c, i);

        if (g->hosts_enabled && g->hosts_enforcing && g->has_vm[vm] && g->has_host[host] != g->hosts_positive)
            return true;
    }
    return false;
}

/* ---- enforcement ---- */

static json_t *ids_marked(const bool *marked, uint32_t n,
                          const char *(*id_of)(const struct cloud *, uint32_t), const struct cloud *c)
{
    json_t *ret = json_array();

    for (uint32_t i = 0; i < n; i++)
        if (marked[i])
            (void)json_array_append_new(ret, json_string(id_of(c, i)));
    return ret;
}

static const char *vm_id(const struct cloud *c, uint32_t ix)
{
    return VM(c, ix)->id;
}

static const char *host_id(const struct cloud *c, uint32_t ix)
{
    return HOST(c, ix)->id;
}

/* Whether a VM's policy has the filter. */
static bool is_filtered(const struct cloud *c, const bool *vms, const char *filter)
{
    uint32_t i = 0;

    while (i < c->vms.n && !vms[i])
        i++;
    if (i == c->vms.n)
        return false;
    const struct objects *filters = &CLUSTER(c, VM(c, i)->cluster)->policy->filters;

    for (uint32_t k = 0; k < filters->n; k++) {
        const struct unit *u = units_find(((const struct unit_use *)filters->items)[k].id, UNIT_FILTER);
        if (u && strcmp(u->name, filter) == 0)
            return true;
    }
    return false;
}

static void add_rule(json_t *rules, const struct affinity_group *g, const char *what, const char *kind,
                     json_t *vms, json_t *hosts, size_t least)
{
    if (json_array_size(vms) >= least && (!hosts || json_array_size(hosts) > 0))
        (void)json_array_append_new(rules,
                                    json_pack("{s: s+, s: s, s: b, s: O, s: O*}", "id", g->id, what, "kind",
                                              kind, "mandatory", true, "vms", vms, "hosts", hosts));
    json_decref(vms);
    json_decref(hosts);
}

/* VMs of a rule that keeps them together are one unit of the core, which is placed as a whole: positive
 * groups have their filter alone. */
json_t *affinity_rules(const struct cloud *c)
{
    json_t *ret = json_array();

    for (uint32_t i = 0; i < c->groups.n; i++) {
        const struct affinity_group *g = GROUP(c, i);

        if (g->vms_enabled && !g->vms_positive && g->vms_enforcing &&
            is_filtered(c, g->has_vm, "VmAffinityGroups"))
            add_rule(ret, g, " (VMs)", "vm-vm-anti-affine", ids_marked(g->has_vm, c->vms.n, vm_id, c), NULL,
                     2);
        if (g->hosts_enabled && g->hosts_enforcing && is_filtered(c, g->has_vm, "VmToHostsAffinityGroups"))
            add_rule(ret, g, " (hosts)", g->hosts_positive ? "vm-host-affine" : "vm-host-anti-affine",
                     ids_marked(g->has_vm, c->vms.n, vm_id, c),
                     ids_marked(g->has_host, c->hosts.n, host_id, c), 1);
    }
    return ret;
}
