/* overlay.c: from patterns to rules and attributes of an inventory. */
#include "overlay/overlay.h"

#include "overlay/application.h"
#include "overlay/tags.h"

#include "base/rfc3339.h"
#include "model/pipeline.h"

#include <math.h>
#include <string.h>

void application_find(struct application *p, const char *text)
{
    struct overlay_findings *f = p->found;

    f->items = arena_grow(p->a, f->items, f->n, &f->cap, sizeof *f->items);
    f->items[f->n++] = text;
}

/* ---- what a selector selects ---- */

/* Most entries are about few of all VMs. */
static struct ids copy_found(struct application *p, uint32_t n)
{
    const char **items = arena_array(p->a, const char *, n);

    for (uint32_t i = 0; i < n; i++)
        items[i] = p->found_vms[i];
    return (struct ids){.items = items, .n = n};
}

static struct ids select_vms(struct application *p, const struct selector *s)
{
    uint32_t n = 0;

    for (size_t i = 0; i < p->inv->n_vms; i++)
        if (selector_takes_vm(s, &p->inv->vms[i].is))
            p->found_vms[n++] = p->inv->vms[i].is.id;
    return copy_found(p, n);
}

struct ids application_select_hosts(struct application *p, const struct selector *s)
{
    const char **items = arena_array(p->a, const char *, p->inv->n_hosts);
    uint32_t n = 0;

    for (size_t i = 0; i < p->inv->n_hosts; i++)
        if (selector_takes_host(s, &p->inv->hosts[i].is))
            items[n++] = p->inv->hosts[i].is.id;
    return (struct ids){.items = items, .n = n};
}

/* ---- rules ---- */

/* The source's rules come first, in their order. */
static void drop_former_rules(struct application *p)
{
    struct inventory *inv = p->inv;
    size_t n = 0;

    for (size_t i = 0; i < inv->n_rules; i++) {
        const struct seen_rule *rule = &inv->rules[i];
        if (rule->is.origin != RULE_OF_SOURCE)
            continue;
        if (rule->is.id)
            *idmap_slot(&p->rule_ids, rule->is.id) = p;
        inv->rules[n++] = *rule;
    }
    inv->n_rules = n;
}

struct seen_rule *application_add_rule(struct application *p, enum rule_kind kind, enum rule_origin origin,
                                       const char *name, bool mandatory)
{
    const char *id = arena_printf(p->a, "%s:%s", rule_origin_name(origin), name);

    while (idmap_get(&p->rule_ids, id)) /* a source may use any id */
        id = arena_printf(p->a, "%s'", id);
    *idmap_slot(&p->rule_ids, id) = p;
    struct seen_rule *rule = inventory_add_rule(p->inv, p->a);

    rule_facts_default(&rule->is, kind);
    rule->is.id = id;
    rule->is.name = arena_strdup(p->a, name);
    rule->is.origin = origin;
    rule->is.mandatory = mandatory;
    return rule;
}

static bool is_of_hosts(enum rule_kind kind)
{
    return kind == RULE_HOST_AFFINE || kind == RULE_HOST_ANTI_AFFINE;
}

/* A rule that names hosts, none of which are there, is kept: the VMs must not run anywhere else. */
static void apply_rule(struct application *p, const struct overlay_rule *r)
{
    const struct ids vms = select_vms(p, &r->vms);
    const struct ids hosts = is_of_hosts(r->kind) ? application_select_hosts(p, &r->hosts) : (struct ids){0};

    if (vms.n == 0)
        application_find(p, arena_printf(p->a, "rules.%s selects no VM", r->name));
    else if (vms.n == 1 && !is_of_hosts(r->kind))
        application_find(p, arena_printf(p->a, "rules.%s selects only one VM", r->name));
    if (is_of_hosts(r->kind) && hosts.n == 0)
        application_find(p, arena_printf(p->a, "rules.%s selects no host", r->name));
    if (vms.n == 0)
        return;
    struct seen_rule *rule = application_add_rule(p, r->kind, RULE_OF_CONFIGURATION, r->name, r->mandatory);

    rule->vms = vms;
    rule->hosts = hosts;
}

/* ---- settings of VMs and hosts ---- */

/* Why no VM of the entry may be moved now; NULL: they may. */
static const char *immovable_by(const struct application *p, const struct overlay_vms *v)
{
    struct schedule_state state;
    char until[RFC3339_MAX];

    if (v->never_move)
        return arena_printf(p->a, "%s (never_move of the configuration)", v->never_move);
    if (v->no_moves.n_windows == 0)
        return NULL;
    schedule_at(&v->no_moves, p->inv->time, &state);
    if (!state.open)
        return NULL;
    if (state.changes == 0)
        return "no_moves of the configuration";
    return arena_printf(p->a, "no_moves of the configuration, until %s",
                        rfc3339_format(state.changes, until));
}

/* pins: by VM, the number of the entry that pins it, + 1. */
static void apply_pin(struct application *p, size_t entry, const size_t *pins)
{
    const struct overlay_vms *v = &p->o->vms[entry];
    uint32_t n = 0;

    for (size_t i = 0; i < p->inv->n_vms; i++)
        if (pins[i] == entry + 1)
            p->found_vms[n++] = p->inv->vms[i].is.id;
    const struct ids hosts = application_select_hosts(p, &v->pin);

    if (hosts.n == 0)
        application_find(p, arena_printf(p->a, "vms.%zu.pin selects no host", entry));
    if (n == 0)
        return;
    struct seen_rule *rule = application_add_rule(p, RULE_HOST_AFFINE, RULE_OF_CONFIGURATION,
                                                  arena_printf(p->a, "vms.%zu.pin", entry), true);

    rule->vms = copy_found(p, n);
    rule->hosts = hosts;
}

/* What the source itself says about a VM that cannot be moved stands. */
static void apply_vms(struct application *p)
{
    size_t *pins = arena_array(p->a, size_t, p->inv->n_vms);
    const char **immovable = arena_array(p->a, const char *, p->inv->n_vms);

    for (size_t i = 0; i < p->o->n_vms; i++) {
        const struct overlay_vms *v = &p->o->vms[i];
        const char *held = immovable_by(p, v);
        bool any = false;

        for (size_t k = 0; k < p->inv->n_vms; k++) {
            struct vm_facts *vm = &p->inv->vms[k].is;

            if (!selector_takes_vm(&v->vms, vm))
                continue;
            any = true;
            vm->automation = v->automation_given ? v->automation : vm->automation;
            vm->restart_priority = v->restart_priority ? v->restart_priority : vm->restart_priority;
            application_set_vm(p, v, &p->inv->vms[k]);
            application_set_vm_facts(p, i, vm);
            pins[k] = v->pin.n > 0 ? i + 1 : pins[k];
            immovable[k] = held ? held : immovable[k];
        }
        if (!any)
            application_find(p, arena_printf(p->a, "vms.%zu selects no VM", i));
    }
    for (size_t k = 0; k < p->inv->n_vms; k++)
        if (!p->inv->vms[k].is.immovable)
            p->inv->vms[k].is.immovable = immovable[k];
    for (size_t i = 0; i < p->o->n_vms; i++)
        if (p->o->vms[i].pin.n > 0)
            apply_pin(p, i, pins);
}

/* A host whose whole capacity is reserved would not be taken for one. */
static void reserve(struct application *p, size_t entry, struct host_facts *host)
{
    static const char *const what[RES_COUNT] = {[RES_CPU] = "cpu_mhz", [RES_MEM] = "mem_mb"};

    for (int r = 0; r < RES_COUNT; r++) {
        double kept = p->o->hosts[entry].reserve[r];

        if (kept < host->total[r])
            host->reserved[r] = fmax(host->reserved[r], kept);
        else if (host->total[r] > 0)
            application_find(p, arena_printf(p->a, "hosts.%zu: reserve.%s is left out for %s, which has %.0f",
                                             entry, what[r], host->name ? host->name : host->id,
                                             host->total[r]));
    }
}

static void apply_hosts(struct application *p)
{
    for (size_t i = 0; i < p->o->n_hosts; i++) {
        const struct overlay_hosts *h = &p->o->hosts[i];
        bool any = false;

        for (size_t k = 0; k < p->inv->n_hosts; k++) {
            struct host_facts *host = &p->inv->hosts[k].is;

            if (!selector_takes_host(&h->hosts, host))
                continue;
            any = true;
            host->dpm = h->dpm_given ? h->dpm : host->dpm;
            host->migrations_max = h->migrations_max > 0 ? h->migrations_max : host->migrations_max;
            reserve(p, i, host);
            application_set_host_facts(p, i, host);
        }
        if (!any)
            application_find(p, arena_printf(p->a, "hosts.%zu selects no host", i));
    }
}

/* ---- labels ---- */

/* Whether an entry selects by labels or tags, a filter reads them, or tags become rules: without labels the
 * result lacks rules and settings. */
static bool reads_labels(const struct overlay *o)
{
    bool needs = o->proxlb_tags != PROXLB_OFF;

    for (size_t i = 0; i < o->n_rules; i++)
        needs = needs || selector_needs_labels(&o->rules[i].vms) || selector_needs_labels(&o->rules[i].hosts);
    for (size_t i = 0; i < o->n_vms; i++)
        needs = needs || selector_needs_labels(&o->vms[i].vms) || selector_needs_labels(&o->vms[i].pin);
    for (size_t i = 0; i < o->n_pools; i++)
        needs = needs || selector_needs_labels(&o->pools[i].vms);
    for (size_t i = 0; i < o->n_hosts; i++)
        needs = needs || selector_needs_labels(&o->hosts[i].hosts);
    for (size_t i = 0; i < o->n_groups; i++)
        needs = needs || selector_needs_labels(&o->groups[i].hosts);
    needs = needs || selector_needs_labels(&o->ha.failover_hosts);
    for (size_t i = 0; i < o->n_pipelines; i++)
        needs = needs || selector_needs_labels(&o->pipelines[i].vms) ||
                pipeline_reads_labels(&o->pipelines[i].is);
    return needs;
}

void overlay_apply(const struct overlay *o, struct inventory *inv, struct arena *a,
                   struct overlay_findings *ret)
{
    struct overlay_findings unread = {0};
    struct application p = {.o = o,
                            .inv = inv,
                            .a = a,
                            .found = ret ? ret : &unread,
                            .found_vms = arena_array(a, const char *, inv->n_vms)};

    bool needs_labels = reads_labels(o);

    for (size_t i = 0; i < inv->n_pipelines; i++)
        needs_labels = needs_labels || pipeline_reads_labels(&inv->pipelines[i]);
    if (!needs_labels)
        inv->labels_unread = NULL;
    drop_former_rules(&p);
    application_set_ha(&p);
    application_restore_source(&p);
    for (size_t i = 0; i < o->n_rules; i++)
        apply_rule(&p, &o->rules[i]);
    application_set_pools(&p);
    apply_vms(&p);
    application_check_resources(&p);
    apply_hosts(&p);
    application_set_placement(&p);
    if (o->proxlb_tags != PROXLB_OFF)
        tags_apply(&p);
    idmap_release(&p.rule_ids, NULL);
}
