/* placement.c: the sections `groups:`, `units:` and `pipelines:`. */
#include "config/sections.h"

#include "config/selector.h"
#include "dialect/ovirt/ovirt.h"
#include "model/inventory_check.h"
#include "model/snapshot_fields.h"

#include <string.h>

#define NAME_BYTES_MAX 100
#define UNIT_WORDS_MOST 100 /* of a command */

const char *config_check_name(const char *text)
{
    return strlen(text) <= FACT_NAME_BYTES_MAX ? NULL : "at most 255 bytes";
}

static int check_key(const struct reader *r, const struct node *n, const char *section)
{
    if (!n->key[0])
        return reader_complain_line(r, n->line, "%s has an empty name, expected a name", section);
    if (strlen(n->key) > NAME_BYTES_MAX)
        return reader_complain(r, n, "is a name of %zu bytes, expected at most %d", strlen(n->key),
                               NAME_BYTES_MAX);
    return 0;
}

/* ---- groups ---- */

#define AT(member) offsetof(struct overlay_group, member)
#define KEY(key, member, type, ...) FIELD_AT(key, struct overlay_group, member, type, __VA_ARGS__)
static const struct field group_keys[] = {
    KEY("kind", kind, FIELD_TEXT, .check = config_check_name, .flags = FIELD_REQUIRED,
        .meaning = "the kind of the group, a text such as aggregate, zone or rack"),
    KEY("hosts", hosts, FIELD_OWN, .read = config_read_hosts, .flags = FIELD_REQUIRED,
        .meaning = "the hosts that belong to it"),
    KEY("meta", meta, FIELD_LABELS, .max = ATTRIBUTES_MAX, .meaning = "texts by name, which filters read"),
};
#undef AT
#undef KEY

static const struct schema group_schema = SCHEMA_OF("group", group_keys);

int config_read_group(const struct section *s, const struct node *n, void *at)
{
    struct overlay_group *ret = at;
    int e = check_key(&s->reader, n, "groups");

    if (e < 0 || (e = reader_object(&s->reader, n, &group_schema, ret)) < 0)
        return e;
    ret->name = n->key;
    return ret->meta.n <= ATTRIBUTES_MAX
               ? 0
               : reader_complain(&s->reader, node_child(n, "meta"), "has %u entries, expected at most %d",
                                 ret->meta.n, ATTRIBUTES_MAX);
}

/* ---- external units ---- */

#define AT(member) offsetof(struct unit_config, member)
#define KEY(key, member, type, ...) FIELD_AT(key, struct unit_config, member, type, __VA_ARGS__)
static const struct field unit_keys[] = {
    KEY("command", command, FIELD_LIST, .max = UNIT_WORDS_MOST, .flags = FIELD_REQUIRED,
        .meaning = "the program: path and arguments, without a shell"),
    KEY("timeout_s", timeout_s, FIELD_INT, .min = 1, .max = 60, .fallback = "10",
        .meaning = "seconds for its answer about all VMs, after which it is killed"),
};
#undef AT
#undef KEY

static const struct schema unit_schema = SCHEMA_OF("external unit", unit_keys);

int config_read_unit(const struct section *s, const struct node *n, void *at)
{
    struct unit_config *ret = at;
    int e = check_key(&s->reader, n, "units");

    reader_defaults(&s->reader, &unit_schema, ret);
    if (e < 0 || (e = reader_object(&s->reader, n, &unit_schema, ret)) < 0)
        return e;
    ret->name = n->key;
    if (!ret->command[0] || ret->command[0][0] != '/')
        return reader_complain(&s->reader, node_child(n, "command"),
                               "does not begin with an absolute path, expected [/PATH, ARGUMENT, ...]");
    return 0;
}

static bool has_unit(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->n_units; i++)
        if (strcmp(c->units[i].name, name) == 0)
            return true;
    return false;
}

/* ---- pipelines ---- */

#define AT(member) offsetof(struct overlay_pipeline, member)
#define KEY(key, member, type, ...) FIELD_AT(key, struct overlay_pipeline, member, type, __VA_ARGS__)
static const struct field pipeline_keys[] = {
    KEY("vms", vms, FIELD_OWN, .read = config_read_vms, .meaning = "the VMs that are placed by it"),
    {.name = OVIRT_POLICY_KEY,
     .type = FIELD_SKIPPED,
     .meaning = "in place of stages and balance: a scheduling policy of oVirt, its name or all of it"},
    KEY("stages", is.stages, FIELD_ROWS, .inner = &snapshot_fields_stage, .size = sizeof(struct stage_facts),
        .max = STAGES_MAX, .flags = FIELD_REQUIRED,
        .meaning = "the stages, in the order in which they are asked"),
    KEY("balance", is.balance, FIELD_OBJECT, .inner = &snapshot_fields_pipeline_balance,
        .given = offsetof(struct overlay_pipeline, is.balance.given),
        .meaning = "what its rules have in common: moves, high, low"),
};
#undef AT
#undef KEY

static const struct schema pipeline_schema = SCHEMA_OF("pipeline", pipeline_keys);

static int check_units(const struct section *s, const struct node *list, const struct seen_pipeline *p)
{
    const struct stage_facts *stages = p->stages.items;
    const struct node *n = list->first;

    for (uint32_t i = 0; i < p->stages.n; i++, n = n->next)
        if (stages[i].external && !has_unit(s->config, stages[i].external))
            return reader_complain(&s->reader, node_child(n, "external"),
                                   "is \"%s\", expected the name of an entry of units", stages[i].external);
    return 0;
}

static int check_stages(const struct section *s, const struct node *list, const struct seen_pipeline *p)
{
    const struct reader *r = &s->reader;
    const struct node *n = list->first;
    struct stage_mistake m;

    if (p->stages.n == 0)
        return reader_complain(r, list, "has no stage, expected at least one");
    if (inventory_check_stages(p, &m) == 0)
        return check_units(s, list, p);
    for (uint32_t i = 0; i < m.stage; i++)
        n = n->next;
    const struct node *field = *m.field ? node_child(n, m.field) : NULL;

    return reader_complain(r, field ? field : n, ": %s", m.why);
}

int config_read_pipeline(const struct section *s, const struct node *n, void *at)
{
    struct overlay_pipeline *ret = at;
    const bool of_ovirt = node_has(n, OVIRT_POLICY_KEY);
    int e = check_key(&s->reader, n, "pipelines");
    bool agrees = true;

    if (e == 0)
        e = ovirt_expand(&s->reader, n, s->config->policy.mem_overcommit, &n, &agrees);
    if (!agrees)
        section_warn(s, n->line,
                     "pipelines.%s." OVIRT_POLICY_KEY
                     ": no weight agrees with the balance: VMs may be sent back, or nowhere",
                     n->key);
    if (e < 0 || (e = reader_object(&s->reader, n, &pipeline_schema, ret)) < 0)
        return e;
    ret->name = ret->is.name = n->key;
    ret->is.of_ovirt = of_ovirt;
    return check_stages(s, node_child(n, "stages"), &ret->is);
}
