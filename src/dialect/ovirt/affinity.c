/* affinity.c: affinity groups. Members of groups of VMs are counted, so that VMs that are placed together see
 * one another. A rank by broken groups needs each group's members by themselves: groups get colours so that
 * no VM is in two groups of one colour, and each colour has its count. */
#include "dialect/ovirt/internal.h"

#include <math.h>
#include <string.h>

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

/* The colour of each set of VMs, so that none of one colour have a VM in common. NULL is no set. */
static uint32_t *find_colours(const struct cloud *c, const bool *const *sets, uint32_t n, json_t *series)
{
    uint32_t *ret = arena_array(c->a, uint32_t, n);

    for (uint32_t i = 0; i < n; i++) {
        bool *taken = arena_array(c->a, bool, json_object_size(series) + 1);

        for (uint32_t k = 0; sets[i] && k < i; k++)
            if (sets[k] && share_vm(c, sets[i], sets[k]))
                taken[ret[k]] = true;
        while (taken[ret[i]])
            ret[i]++;
        if (sets[i])
            facts_set(series, json_true(), "%u", ret[i]);
    }
    return ret;
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

static void set_rank(const struct compiler *m, uint32_t vm, const struct affinity_group *g, bool positive,
                     binds_fn *binds, const char *name)
{
    facts_set(m->hints[vm], json_string(g->id), "%s", name);
    facts_set(m->hints[vm], json_real(worth_of(m->c, vm, g->priority, binds)), "%s worth", name);
    facts_set(m->hints[vm], json_real(positive), "%s positive", name);
}

static void set_groups(const struct compiler *m)
{
    const struct cloud *c = m->c;
    const bool **sets = arena_array(c->a, const bool *, c->groups.n);

    for (uint32_t i = 0; i < c->groups.n; i++)
        sets[i] = GROUP(c, i)->vms_enabled ? GROUP(c, i)->has_vm : NULL;
    const uint32_t *colour = find_colours(c, sets, c->groups.n, json_object_get(m->series, "colours"));

    for (uint32_t i = 0; i < c->groups.n; i++)
        for (uint32_t vm = 0; vm < c->vms.n; vm++) {
            const struct affinity_group *g = GROUP(c, i);

            if (!binds_vms(g, vm))
                continue;
            facts_set(json_object_get(m->series, "groups"), json_true(), "any");
            set_rank(m, vm, g, g->vms_positive, binds_vms, arena_printf(c->a, "group %u", colour[i]));
            if (VM(c, vm)->host != NONE || VM(c, vm)->pending_host != NONE)
                facts_set(m->hints[vm], json_true(), "running");
            if (g->vms_enforcing)
                facts_append(m->hints[vm], g->vms_positive ? "hard positive groups" : "hard negative groups",
                             g->id);
        }
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
static void set_companies(const struct compiler *m)
{
    const struct cloud *c = m->c;
    const bool **sets = arena_array(c->a, const bool *, c->vms.n);
    uint32_t *set_of = arena_array(c->a, uint32_t, c->vms.n);
    uint32_t n = 0;

    for (uint32_t vm = 0; vm < c->vms.n; vm++) {
        const bool *company = company_of(c, vm);
        uint32_t k = 0;

        while (company && k < n && memcmp(sets[k], company, c->vms.n) != 0)
            k++;
        if (company && k == n)
            sets[n++] = company;
        set_of[vm] = company ? k : NONE;
    }
    const uint32_t *colour = find_colours(c, sets, n, json_object_get(m->series, "companies"));

    for (uint32_t k = 0; k < n; k++)
        for (uint32_t vm = 0; vm < c->vms.n; vm++) {
            if (sets[k][vm])
                facts_set(m->hints[vm], json_sprintf("%u", k), "company %u", colour[k]);
            if (set_of[vm] == k)
                facts_set(m->hints[vm], json_true(), "own company %u", colour[k]);
        }
}

/* Soft groups of hosts are slots of the VM: nothing is counted. */
static void set_soft_groups(const struct compiler *m)
{
    const struct cloud *c = m->c;

    for (uint32_t vm = 0; vm < c->vms.n; vm++) {
        uint32_t slot = 0;

        for (uint32_t i = 0; i < c->groups.n; i++) {
            const struct affinity_group *g = GROUP(c, i);

            if (!breaks_softly(g, vm))
                continue;
            facts_set(json_object_get(m->series, "slots"), json_true(), "%u", slot);
            set_rank(m, vm, g, g->hosts_positive, breaks_softly, arena_printf(c->a, "soft group %u", slot++));
        }
    }
    for (uint32_t i = 0; i < c->groups.n; i++)
        for (uint32_t h = 0; h < c->hosts.n; h++)
            if (GROUP(c, i)->hosts_enabled && !GROUP(c, i)->hosts_enforcing && GROUP(c, i)->has_host[h])
                facts_append(m->attributes[h], "groups of hosts", GROUP(c, i)->id);
}

void affinity_find(const struct compiler *m)
{
    set_groups(m);
    set_companies(m);
    set_soft_groups(m);
}

/* ---- enforcement ---- */

/* Every row begins with its id. */
static json_t *ids_marked(const bool *marked, const struct objects *rows, size_t size)
{
    json_t *ret = json_array();

    for (uint32_t i = 0; i < rows->n; i++)
        if (marked[i])
            (void)json_array_append_new(
                ret, json_string(*(const char *const *)((const char *)rows->items + i * size)));
    return ret;
}

/* Whether a VM's policy has the filter. */
static bool is_filtered(const struct cloud *c, const bool *vms, const char *filter)
{
    uint32_t i = 0;

    while (i < c->vms.n && !vms[i])
        i++;
    if (i == c->vms.n)
        return false;
    const struct policy *p = CLUSTER(c, VM(c, i)->cluster)->policy;

    for (uint32_t k = 0; k < p->uses[UNIT_FILTER].n; k++) {
        const struct unit *u = units_find(USES(p, UNIT_FILTER)[k].id, UNIT_FILTER);
        if (u && strcmp(u->name, filter) == 0)
            return true;
    }
    return false;
}

/* VMs of a rule that keeps them together are one unit of the core, which starts and moves as a whole. The
 * filter of a positive group says where one VM may go while others are elsewhere, so the rule is a wish. */
json_t *affinity_rules(const struct cloud *c)
{
    json_t *ret = json_array();

    for (uint32_t i = 0; i < c->groups.n; i++) {
        const struct affinity_group *g = GROUP(c, i);
        json_t *vms = ids_marked(g->has_vm, &c->vms, sizeof(struct vm));
        json_t *hosts = ids_marked(g->has_host, &c->hosts, sizeof(struct host));

        if (g->vms_enabled && g->vms_enforcing && json_array_size(vms) > 1 &&
            is_filtered(c, g->has_vm, "VmAffinityGroups"))
            (void)json_array_append_new(ret,
                                        json_pack("{s: s+, s: s, s: b, s: O}", "id", g->id, " (VMs)", "kind",
                                                  g->vms_positive ? "vm-vm-affine" : "vm-vm-anti-affine",
                                                  "mandatory", !g->vms_positive, "vms", vms));
        if (g->hosts_enabled && g->hosts_enforcing && json_array_size(hosts) > 0 &&
            is_filtered(c, g->has_vm, "VmToHostsAffinityGroups"))
            (void)json_array_append_new(
                ret, json_pack("{s: s+, s: s, s: b, s: O, s: O}", "id", g->id, " (hosts)", "kind",
                               g->hosts_positive ? "vm-host-affine" : "vm-host-anti-affine", "mandatory",
                               true, "vms", vms, "hosts", hosts));
        json_decref(vms);
        json_decref(hosts);
    }
    return ret;
}
