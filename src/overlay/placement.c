/* placement.c: groups and pipelines of the configuration, and what the stages of pipelines read of VMs and
 * hosts. Groups and pipelines of the source stay as they are. */
#include "overlay/application.h"

#include "model/attributes.h"
#include "model/pipeline.h"

#include <string.h>

#define NAMES_SHOWN 5 /* of those that match nothing */

/* ---- what stages read ---- */

static bool has_text(const char *const *items, uint32_t n, const char *text)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(items[i], text) == 0)
            return true;
    return false;
}

/* Whether one more name fits. */
static bool has_room(struct application *p, const char *section, size_t entry, const char *object, size_t n,
                     size_t most)
{
    if (n < most)
        return true;
    application_find(p, arena_printf(p->a, "%s.%zu: %s has %zu names already, the rest is left out", section,
                                     entry, object, most));
    return false;
}

static void set_attributes(struct application *p, const char *section, size_t entry, const char *object,
                           const struct attributes *from, struct attributes *to)
{
    struct attribute *items = arena_array(p->a, struct attribute, (size_t)to->n + from->n);
    uint32_t n = to->n;

    if (from->n == 0)
        return;
    if (n > 0)
        memcpy(items, to->items, n * sizeof *items);
    for (uint32_t i = 0; i < from->n; i++) {
        uint32_t k = 0;

        while (k < n && strcmp(items[k].name, from->items[i].name) != 0)
            k++;
        if (k == n && !has_room(p, section, entry, object, n, ATTRIBUTES_MAX))
            break;
        if (k == n)
            items[n++].name = arena_strdup(p->a, from->items[i].name);
        items[k].is = attributes_copy_value(&from->items[i].is, p->a);
    }
    *to = (struct attributes){.items = items, .n = n};
}

/* Names besides those that are there. */
static void add_names(struct application *p, const char *section, size_t entry, const char *object,
                      const struct ids *from, struct ids *to)
{
    const char **items = arena_array(p->a, const char *, (size_t)to->n + from->n);
    uint32_t n = to->n;

    if (from->n == 0)
        return;
    if (n > 0)
        memcpy(items, to->items, n * sizeof *items);
    for (uint32_t i = 0; i < from->n; i++) {
        if (has_text(items, n, from->items[i]))
            continue;
        if (!has_room(p, section, entry, object, n, FACT_NAMES_MAX))
            break;
        items[n++] = arena_strdup(p->a, from->items[i]);
    }
    *to = (struct ids){.items = items, .n = n};
}

static void set_quantities(struct application *p, size_t entry, const char *object,
                           const struct host_quantities *from, struct host_quantities *to)
{
    struct host_quantity *items = arena_array(p->a, struct host_quantity, (size_t)to->n + from->n);
    uint32_t n = to->n;

    if (from->n == 0)
        return;
    if (n > 0)
        memcpy(items, to->items, n * sizeof *items);
    for (uint32_t i = 0; i < from->n; i++) {
        uint32_t k = 0;

        while (k < n && strcmp(items[k].name, from->items[i].name) != 0)
            k++;
        if (k == n && !has_room(p, "hosts", entry, object, n, QUANTITIES_MAX))
            break;
        n += k == n;
        items[k] = from->items[i];
        items[k].name = arena_strdup(p->a, from->items[i].name);
    }
    *to = (struct host_quantities){.items = items, .n = n};
}

void application_set_vm_facts(struct application *p, size_t entry, struct vm_facts *vm)
{
    const struct overlay_vms *v = &p->o->vms[entry];
    const char *name = vm->name ? vm->name : vm->id;

    if (v->owner)
        vm->owner = arena_strdup(p->a, v->owner);
    set_attributes(p, "vms", entry, name, &v->flavor, &vm->flavor);
    set_attributes(p, "vms", entry, name, &v->image, &vm->image);
    set_attributes(p, "vms", entry, name, &v->hints, &vm->hints);
    add_names(p, "vms", entry, name, &v->groups, &vm->groups);
}

void application_set_host_facts(struct application *p, size_t entry, struct host_facts *host)
{
    const struct overlay_hosts *h = &p->o->hosts[entry];
    const char *name = host->name ? host->name : host->id;

    set_attributes(p, "hosts", entry, name, &h->attributes, &host->attributes);
    add_names(p, "hosts", entry, name, &h->traits, &host->traits);
    set_quantities(p, entry, name, &h->quantities, &host->quantities);
}

/* ---- what an earlier application added ---- */

static void drop_former(struct inventory *inv)
{
    size_t n = 0;

    for (size_t i = 0; i < inv->n_groups; i++)
        if (inv->groups[i].is.origin == RULE_OF_SOURCE)
            inv->groups[n++] = inv->groups[i];
    inv->n_groups = n;
    for (size_t i = n = 0; i < inv->n_pipelines; i++) {
        if (inv->pipelines[i].origin == RULE_OF_SOURCE) {
            inv->pipelines[n++] = inv->pipelines[i];
            continue;
        }
        for (size_t k = 0; k < inv->n_vms; k++)
            if (inv->vms[k].pipeline && strcmp(inv->vms[k].pipeline, inv->pipelines[i].name) == 0)
                inv->vms[k].pipeline = NULL;
    }
    inv->n_pipelines = n;
}

/* ---- groups ---- */

static bool group_is_there(const struct inventory *inv, const char *id)
{
    for (size_t i = 0; i < inv->n_groups; i++)
        if (inv->groups[i].is.id && strcmp(inv->groups[i].is.id, id) == 0)
            return true;
    return false;
}

static bool any_host_has(const struct application *p, const char *name)
{
    const struct condition condition = {.names = {.items = &name, .n = 1}};
    const struct selector selector = {&condition, 1};

    for (size_t i = 0; i < p->inv->n_hosts; i++)
        if (selector_takes_host(&selector, &p->inv->hosts[i].is))
            return true;
    return false;
}

/* Names of a group that match no host, although others do: a renamed host, or a typing error. */
static void name_unmatched(struct application *p, const struct overlay_group *g)
{
    const char *text = "";
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->hosts.n; i++) {
        const struct ids *names = &g->hosts.conditions[i].names;
        for (uint32_t k = 0; k < names->n; k++) {
            if (any_host_has(p, names->items[k]))
                continue;
            if (n < NAMES_SHOWN)
                text = arena_printf(p->a, "%s%s%s", text, n > 0 ? ", " : "", names->items[k]);
            n++;
        }
    }
    if (n > NAMES_SHOWN)
        text = arena_printf(p->a, "%s and %u more", text, n - NAMES_SHOWN);
    if (n > 0)
        application_find(p, arena_printf(p->a, "groups.%s: no host has the name %s", g->name, text));
}

static void add_group(struct application *p, const struct overlay_group *g)
{
    const char *id = arena_printf(p->a, "%s:%s", rule_origin_name(RULE_OF_CONFIGURATION), g->name);

    while (group_is_there(p->inv, id)) /* a source may use any id */
        id = arena_printf(p->a, "%s'", id);
    struct seen_group *group = inventory_add_group(p->inv, p->a);

    group->is = (struct group_facts){.id = id,
                                     .name = arena_strdup(p->a, g->name),
                                     .kind = arena_strdup(p->a, g->kind),
                                     .origin = RULE_OF_CONFIGURATION};
    struct label *meta = arena_array(p->a, struct label, g->meta.n);

    for (uint32_t i = 0; i < g->meta.n; i++)
        meta[i] = (struct label){arena_strdup(p->a, g->meta.items[i].key),
                                 arena_strdup(p->a, g->meta.items[i].value)};
    group->is.meta = (struct labels){.items = meta, .n = g->meta.n};
    group->hosts = application_select_hosts(p, &g->hosts);
    if (group->hosts.n == 0)
        application_find(p, arena_printf(p->a, "groups.%s selects no host", g->name));
    else
        name_unmatched(p, g);
}

/* ---- pipelines ---- */

static bool pipeline_is_there(const struct inventory *inv, const char *name)
{
    for (size_t i = 0; i < inv->n_pipelines; i++)
        if (inv->pipelines[i].name && strcmp(inv->pipelines[i].name, name) == 0)
            return true;
    return false;
}

static const char *add_pipeline(struct application *p, const struct overlay_pipeline *x)
{
    const char *name = arena_strdup(p->a, x->name);

    while (pipeline_is_there(p->inv, name)) /* that of the source stays */
        name = arena_printf(p->a, "%s'", name);
    struct seen_pipeline *pipeline = inventory_add_pipeline(p->inv, p->a);

    *pipeline = pipeline_copy(&x->is, p->a);
    pipeline->name = name;
    pipeline->origin = RULE_OF_CONFIGURATION;
    return name;
}

/* Some VMs, of which the first is named. */
struct counted {
    const char *first;
    size_t n;
};

static void count_vm(struct counted *c, const struct vm_facts *vm)
{
    c->first = c->n++ == 0 ? (vm->name ? vm->name : vm->id) : c->first;
}

static const char *counted_text(struct application *p, const struct counted *c)
{
    return c->n > 1 ? arena_printf(p->a, "%s and %zu more", c->first, c->n - 1) : c->first;
}

/* The VMs of the entry are placed by the pipeline of this name. by: of VMs, that of an earlier entry. */
static void set_pipeline(struct application *p, const struct overlay_pipeline *x, const char *name,
                         const char **by)
{
    struct counted all = {0}, of_source = {0}, of_earlier = {0};

    for (size_t k = 0; k < p->inv->n_vms; k++) {
        struct seen_vm *v = &p->inv->vms[k];

        if (!selector_takes_vm(&x->vms, &v->is))
            continue;
        count_vm(&all, &v->is);
        if (v->pipeline && !by[k]) {
            count_vm(&of_source, &v->is);
            continue;
        }
        if (by[k])
            count_vm(&of_earlier, &v->is);
        v->pipeline = by[k] = name;
    }
    if (x->vms.n > 0 && all.n == 0)
        application_find(p, arena_printf(p->a, "pipelines.%s selects no VM", x->name));
    if (of_source.n > 0)
        application_find(p, arena_printf(p->a,
                                         "pipelines.%s selects %s, which the source places by its own "
                                         "pipeline; that of the source counts",
                                         x->name, counted_text(p, &of_source)));
    if (of_earlier.n > 0)
        application_find(p, arena_printf(p->a,
                                         "pipelines.%s selects %s, which an earlier entry selects too; "
                                         "pipelines.%s counts",
                                         x->name, counted_text(p, &of_earlier), x->name));
}

static bool kind_is_there(const struct inventory *inv, const char *kind)
{
    for (size_t i = 0; i < inv->n_groups; i++)
        if (inv->groups[i].is.kind && strcmp(inv->groups[i].is.kind, kind) == 0)
            return true;
    return false;
}

static void check_kind(struct application *p, const char *pipeline, const struct stage_facts *s,
                       const char *kind)
{
    if (!kind_is_there(p->inv, kind))
        application_find(p, arena_printf(p->a,
                                         "pipelines.%s: the stage %s asks for groups of the kind %s, "
                                         "of which there is none",
                                         pipeline, s->name, kind));
}

static bool asks_groups(enum expression_operator op)
{
    return op == OPERATOR_ANY_GROUP || op == OPERATOR_ALL_GROUPS || op == OPERATOR_GROUPS ||
           op == OPERATOR_LEAST_OF_GROUPS || op == OPERATOR_MOST_OF_GROUPS;
}

/* The kinds of groups that an expression names are the constants behind its operators of groups. */
static void check_kinds(struct application *p, const char *pipeline, const struct stage_facts *s,
                        const struct expression *x)
{
    for (uint32_t i = 0; i + 1 < x->n; i++)
        if (x->nodes[i].kind == EXPRESSION_OPERATOR && asks_groups(x->nodes[i].op) &&
            x->nodes[i + 1].kind == EXPRESSION_CONSTANT && x->nodes[i + 1].is.type == VALUE_TEXT)
            check_kind(p, pipeline, s, x->nodes[i + 1].is.text);
}

/* A kind that is misspelt counts nothing, and lets a condition on all groups pass. */
static void check_stages(struct application *p, const struct overlay_pipeline *x)
{
    const struct stage_facts *stages = x->is.stages.items;

    for (uint32_t i = 0; i < x->is.stages.n; i++) {
        const struct stage_facts *s = &stages[i];
        const struct expression *const parts[] = {&s->filter, &s->limit, &s->score, &s->multiplier,
                                                  &s->bucket};

        if (s->over)
            check_kind(p, x->name, s, s->over);
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            check_kinds(p, x->name, s, parts[k]);
    }
}

void application_set_placement(struct application *p)
{
    const char **by = arena_array(p->a, const char *, p->inv->n_vms);

    drop_former(p->inv);
    for (size_t i = 0; i < p->o->n_groups; i++)
        add_group(p, &p->o->groups[i]);
    for (size_t i = 0; i < p->o->n_pipelines; i++)
        set_pipeline(p, &p->o->pipelines[i], add_pipeline(p, &p->o->pipelines[i]), by);
    for (size_t i = 0; i < p->o->n_pipelines; i++)
        check_stages(p, &p->o->pipelines[i]);
}
