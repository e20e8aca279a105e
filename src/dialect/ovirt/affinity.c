/* affinity.c: affinity groups. Members of groups of VMs are counted, so that VMs that are placed together see
 * one another. A rank by broken groups needs each group's members by themselves: groups get colours so that
 * no VM is in two groups of one colour, and each colour has its counts. */
#include "dialect/ovirt/internal.h"

#include <math.h>
#include <string.h>

#define CLUSTER_KIND "cluster"
#define PINNED_ONE 1000 /* a pinned member is worth so many others */

static bool binds_vms(const struct affinity_group *g, uint32_t vm)
{
    return g->vms_enabled && g->has_vm[vm];
}

/* ---- groups of VMs ---- */

static bool share_vm(const struct cloud *c, const struct affinity_group *x, const struct affinity_group *y)
{
    for (uint32_t i = 0; i < c->vms.n; i++)
        if (x->has_vm[i] && y->has_vm[i])
            return true;
    return false;
}

static void find_colours(struct compiler *m)
{
    const struct cloud *c = m->c;

    m->colour = arena_array(c->a, uint32_t, c->groups.n);
    for (uint32_t i = 0; i < c->groups.n; i++) {
        bool *taken = arena_array(c->a, bool, (size_t)m->colours + 1);

        for (uint32_t k = 0; k < i && GROUP(c, i)->vms_enabled; k++)
            if (GROUP(c, k)->vms_enabled && share_vm(c, GROUP(c, i), GROUP(c, k)))
                taken[m->colour[k]] = true;
        while (GROUP(c, i)->vms_enabled && taken[m->colour[i]])
            m->colour[i]++;
        if (GROUP(c, i)->vms_enabled && m->colour[i] == m->colours)
            m->colours++;
    }
}

/* How many groups of the VM have a higher priority, each priority once; and how many it has of any. */
struct standing {
    uint32_t higher, levels, groups;
};

typedef bool binds_fn(const struct affinity_group *g, uint32_t vm);

static struct standing standing_of(const struct cloud *c, uint32_t vm, double priority, binds_fn *binds)
{
    struct standing ret = {0};

    for (uint32_t i = 0; i < c->groups.n; i++) {
        const struct affinity_group *g = GROUP(c, i);
        bool first = true;

        if (!binds(g, vm))
            continue;
        ret.groups++;
        for (uint32_t k = 0; k < i; k++)
            first = first && !(binds(GROUP(c, k), vm) && GROUP(c, k)->priority == g->priority);
        ret.levels += first;
        ret.higher += first && g->priority > priority;
    }
    return ret;
}

/* What a broken group of this priority counts: more than all of lower priorities together. The order of such
 * sums is that of the lists of priorities, from the highest on. */
static double worth_of(const struct cloud *c, uint32_t vm, double priority, binds_fn *binds)
{
    const struct standing s = standing_of(c, vm, priority, binds);

    return pow(s.groups + 1, s.levels - 1 - s.higher);
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

static void set_vm(const struct compiler *m, uint32_t group, uint32_t vm)
{
    const struct affinity_group *g = GROUP(m->c, group);
    const char *colour = arena_printf(m->c->a, "group %u", m->colour[group]);

    if (g->vms_enforcing)
        add_text(m, vm, g->vms_positive ? "hard positive groups" : "hard negative groups", g->id);
    add_text(m, vm, colour, g->id);
    stages_set(m->hints[vm], arena_printf(m->c->a, "%s worth", colour),
               worth_of(m->c, vm, g->priority, binds_vms));
    stages_set(m->hints[vm], arena_printf(m->c->a, "%s positive", colour), g->vms_positive);
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

    find_colours(m);
    for (uint32_t vm = 0; vm < c->vms.n; vm++) {
        uint32_t slot = 0;

        for (uint32_t i = 0; i < c->groups.n; i++) {
            if (binds_vms(GROUP(c, i), vm))
                set_vm(m, i, vm);
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
    for (uint32_t i = 0; i < m->colours; i++) {
        const char *per = arena_printf(a, "group %u", i);

        add_count(m, arena_printf(a, "members %u", i), per, false, false);
        add_count(m, arena_printf(a, "members %u of the cluster", i), per, false, true);
        add_count(m, arena_printf(a, "pinned members %u", i), per, true, false);
    }
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
