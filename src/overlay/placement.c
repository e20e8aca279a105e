/* placement.c: groups and pipelines of the configuration, and what the stages of pipelines read of VMs and
 * hosts. Groups and pipelines of the source stay as they are. */
#include "overlay/application.h"

#include "model/attributes.h"
#include "model/pipeline.h"

#include <string.h>

#define NAMES_SHOWN 5 /* of those that match nothing */

/* ---- what stages read ---- */

/* What is changed: of an entry of the configuration, and the object's name. */
struct change {
    struct application *p;
    const char *section;
    size_t entry;
    const char *object;
};

/* `there` and after it `from`, whose strings are the arena's; *n: how many. Each begins with its name, and
 * takes the place of one that has the same. */
static const void *merge(const struct change *c, const void *from, size_t n_from, const void *there,
                         uint32_t *n, size_t size, size_t most)
{
    char *items = arena_alloc(c->p->a, *n + n_from, size);

    if (n_from == 0)
        return there;
    if (*n > 0)
        memcpy(items, there, *n * size);
    for (size_t i = 0; i < n_from; i++) {
        const char *const *name = (const void *)((const char *)from + i * size);
        uint32_t k = 0;

        while (k < *n && strcmp(*(const char *const *)(const void *)(items + k * size), *name) != 0)
            k++;
        if (k == *n && k >= most) {
            application_find(c->p,
                             arena_printf(c->p->a, "%s.%zu: %s has %zu names already, the rest is left out",
                                          c->section, c->entry, c->object, most));
            break;
        }
        *n += k == *n;
        memcpy(items + k * size, name, size);
    }
    return items;
}

static void set_attributes(const struct change *c, const struct attributes *from, struct attributes *to)
{
    struct attributes own;

    attributes_copy(from, &own, c->p->a);
    to->items = merge(c, own.items, own.n, to->items, &to->n, sizeof *to->items, ATTRIBUTES_MAX);
}

/* Names besides those that are there. */
static void add_names(const struct change *c, const struct ids *from, struct ids *to)
{
    const char **own = arena_texts(c->p->a, from->items, from->n);

    to->items = merge(c, own, from->n, to->items, &to->n, sizeof *to->items, FACT_NAMES_MAX);
}

static void set_quantities(const struct change *c, const struct host_quantities *from,
                           struct host_quantities *to)
{
    struct host_quantity *own = arena_copy(c->p->a, from->items, from->n, sizeof *own);

    for (uint32_t i = 0; i < from->n; i++)
        own[i].name = arena_strdup(c->p->a, own[i].name);
    to->items = merge(c, own, from->n, to->items, &to->n, sizeof *to->items, QUANTITIES_MAX);
}

void application_set_vm_facts(struct application *p, size_t entry, struct vm_facts *vm)
{
    const struct overlay_vms *v = &p->o->vms[entry];
    const struct change c = {p, "vms", entry, vm->name ? vm->name : vm->id};

    if (v->owner)
        vm->owner = arena_strdup(p->a, v->owner);
    set_attributes(&c, &v->flavor, &vm->flavor);
    set_attributes(&c, &v->image, &vm->image);
    set_attributes(&c, &v->hints, &vm->hints);
    add_names(&c, &v->groups, &vm->groups);
}

void application_set_host_facts(struct application *p, size_t entry, struct host_facts *host)
{
    const struct overlay_hosts *h = &p->o->hosts[entry];
    const struct change c = {p, "hosts", entry, host->name ? host->name : host->id};

    set_attributes(&c, &h->attributes, &host->attributes);
    add_names(&c, &h->traits, &host->traits);
    set_quantities(&c, &h->quantities, &host->quantities);
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
        const struct expression *const parts[] = {&s->filter, &s->limit,  &s->score, &s->multiplier,
                                                  &s->bucket, &s->from,   &s->first, &s->to,
                                                  &s->fits,   &s->reserve};

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
