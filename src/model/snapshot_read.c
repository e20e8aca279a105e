/* snapshot_read.c: JSON to an inventory, object by object. */
#include "model/snapshot_read.h"

#include "model/snapshot_fields.h"
#include "schema/json_tree.h"

#include <ballast/inventory.h>
#include <ballast/policy.h>

#include <errno.h>
#include <string.h>

/* Fields whose defaults depend on other fields are set to unknown before the VM is read, and to their
 * defaults afterwards. */
static void *add_vm(struct inventory *inv, struct arena *a)
{
    struct seen_vm *v = inventory_add_vm(inv, a);

    v->is.consumed_mb = UNKNOWN;
    for (int r = 0; r < RES_COUNT; r++) {
        v->is.alloc[r].shares = UNKNOWN;
        v->is.demand[r] = UNKNOWN;
        for (int w = 0; w < WINDOW_COUNT; w++)
            v->is.window[w][r] = (struct demand_stats){UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    }
    return v;
}

/* Unreported demand is not zero: all memory counts as in use, and a VM without reported CPU demand stays on
 * its host. */
static void finish_demand(struct vm_facts *f)
{
    if (isnan(f->demand[RES_MEM])) {
        f->demand[RES_MEM] = f->state == VM_ON ? f->consumed_mb : 0;
        f->no_reclaim = f->state == VM_ON;
    }
    if (isnan(f->demand[RES_CPU])) {
        f->demand[RES_CPU] = 0;
        if (f->state == VM_ON)
            f->demand_unknown = true;
    }
}

static void finish_vm(void *item, const struct node *n)
{
    struct seen_vm *v = item;
    struct vm_facts usual = {.vcpus = v->is.vcpus, .mem_mb = v->is.mem_mb};

    (void)n;
    vm_facts_default(&usual);
    if (isnan(v->is.consumed_mb))
        v->is.consumed_mb = usual.consumed_mb;
    finish_demand(&v->is);
    for (int r = 0; r < RES_COUNT; r++) {
        if (isnan(v->is.alloc[r].shares))
            v->is.alloc[r].shares = usual.alloc[r].shares;
        for (int i = 0; i < WINDOW_COUNT; i++) {
            struct demand_stats *w = &v->is.window[i][r];
            if (isnan(w->mean))
                w->mean = v->is.demand[r];
            if (isnan(w->stddev))
                w->stddev = 0;
            if (isnan(w->min))
                w->min = w->mean;
            if (isnan(w->max))
                w->max = w->mean;
        }
    }
}

/* The ends of a curve are idle and peak power. */
static void finish_host(void *item, const struct node *n)
{
    struct host_facts *f = &((struct seen_host *)item)->is;
    const struct power_curve *c = &f->power_curve_w;

    (void)n;
    if (c->n > 0 && isnan(f->power_idle_w))
        f->power_idle_w = c->watts[0];
    if (c->n > 0 && isnan(f->power_peak_w))
        f->power_peak_w = c->watts[c->n - 1];
}

static void finish_rule(void *item, const struct node *n)
{
    struct seen_rule *rule = item;
    struct rule_facts usual;

    rule_facts_default(&usual, rule->is.kind);
    if (!node_has(n, "mandatory"))
        rule->is.mandatory = usual.mandatory;
}

static void finish_expected(void *item, const struct node *n)
{
    struct expected *x = item;

    if (!node_has(n, "of"))
        x->of = x->days;
}

enum list_kind {
    LIST_HOSTS,
    LIST_VMS,
    LIST_POOLS,
    LIST_RULES,
    LIST_MIGRATIONS,
    LIST_PENDING,
    LIST_STANDING,
    LIST_RATES,
    LIST_SETTINGS,
    LIST_AVOID,
    LIST_FORECAST,
    LIST_QUIET,
    LIST_GROUPS,
    LIST_PIPELINES,
    LIST_ANSWERS,
    LIST_COUNT
};

struct list {
    const char *name;
    const struct schema *schema;
    void (*finish)(void *item, const struct node *n); /* may be NULL */
};

static const struct list lists[LIST_COUNT] = {
    [LIST_HOSTS] = {"hosts", &snapshot_fields_host, finish_host},
    [LIST_VMS] = {"vms", &snapshot_fields_vm, finish_vm},
    [LIST_POOLS] = {"pools", &snapshot_fields_pool, NULL},
    [LIST_RULES] = {"rules", &snapshot_fields_rule, finish_rule},
    [LIST_MIGRATIONS] = {"migrations", &snapshot_fields_migration, NULL},
    [LIST_PENDING] = {"pending", &snapshot_fields_pending, NULL},
    [LIST_STANDING] = {"standing", &snapshot_fields_standing, NULL},
    [LIST_RATES] = {"migration_rates", &snapshot_fields_migration_rate, NULL},
    [LIST_SETTINGS] = {"settings", &snapshot_fields_setting, NULL},
    [LIST_AVOID] = {"avoid", &snapshot_fields_avoid, NULL},
    [LIST_FORECAST] = {"forecast", &snapshot_fields_expected, finish_expected},
    [LIST_QUIET] = {"quiet", &snapshot_fields_quiet, NULL},
    [LIST_GROUPS] = {"groups", &snapshot_fields_group, NULL},
    [LIST_PIPELINES] = {"pipelines", &snapshot_fields_pipeline, NULL},
    [LIST_ANSWERS] = {"answers", &snapshot_fields_answer, NULL},
};

static void *add(enum list_kind kind, struct inventory *inv, struct arena *a)
{
    switch (kind) {
    case LIST_HOSTS:
        return inventory_add_host(inv, a);
    case LIST_VMS:
        return add_vm(inv, a);
    case LIST_POOLS:
        return inventory_add_pool(inv, a);
    case LIST_RULES:
        return inventory_add_rule(inv, a);
    case LIST_MIGRATIONS:
        return inventory_add_migration(inv, a);
    case LIST_PENDING:
        return inventory_add_pending(inv, a);
    case LIST_STANDING:
        return inventory_add_standing(inv, a);
    case LIST_RATES:
        return inventory_add_migration_rate(inv, a);
    case LIST_SETTINGS:
        return inventory_add_setting(inv, a);
    case LIST_AVOID:
        return inventory_add_avoid(inv, a);
    case LIST_FORECAST:
        return inventory_add_expected(inv, a);
    case LIST_QUIET:
        return inventory_add_quiet(inv, a);
    case LIST_GROUPS:
        return inventory_add_group(inv, a);
    case LIST_PIPELINES:
        return inventory_add_pipeline(inv, a);
    case LIST_ANSWERS:
        return inventory_add_answer(inv, a);
    case LIST_COUNT:
        break;
    }
    return NULL;
}

static int read_item(const struct reader *r, const struct node *n, enum list_kind kind, struct inventory *inv)
{
    const struct list *l = &lists[kind];
    void *into = add(kind, inv, r->a);
    int rc = reader_object(r, n, l->schema, into);

    if (rc == 0 && l->finish)
        l->finish(into, n);
    return rc;
}

int snapshot_read_vm(const struct reader *r, const struct node *n, struct inventory *inv)
{
    return read_item(r, n, LIST_VMS, inv);
}

/* The objects of a file as they come. Errors wait until the document is known to be JSON and a snapshot. */
struct reading {
    struct reader r;
    struct inventory inv;
    enum list_kind list; /* of which objects are coming; LIST_COUNT: none that is known */
    struct err wrong;    /* with the first object that is */
};

static bool begin_list(void *context, const struct node *n)
{
    struct reading *x = context;

    x->list = n->key ? LIST_HOSTS : LIST_COUNT;
    while (x->list < LIST_COUNT && strcmp(lists[x->list].name, n->key) != 0)
        x->list++;
    return x->list != LIST_COUNT;
}

static void read_entry(void *context, const struct node *n)
{
    struct reading *x = context;

    if (x->wrong.code == 0)
        (void)read_item(&x->r, n, x->list, &x->inv);
}

static int check_format(const struct reader *r, const struct node *document)
{
    const struct node absent = node_absent(document, "format");
    const struct node *format = node_child(document, "format");

    if (!format)
        return reader_complain(r, &absent, "missing, expected \"" SNAPSHOT_FORMAT "\"");
    if (format->kind != NODE_SCALAR || strcmp(format->text, SNAPSHOT_FORMAT) != 0)
        return reader_refuse(r, format, "\"" SNAPSHOT_FORMAT "\"");
    return 0;
}

/* A policy of surviving host failures without a number means one failure. */
static void finish_ha(const struct node *document, struct inventory *inv)
{
    const struct node *ha = node_child(document, "ha");
    const struct node *own = ha ? node_child(ha, "configured") : NULL;

    if (inv->ha.policy == HA_HOST_FAILURES && !(ha && node_has(ha, "hosts")))
        inv->ha.hosts = 1;
    if (inv->ha_configured.policy == HA_HOST_FAILURES && !(own && node_has(own, "hosts")))
        inv->ha_configured.hosts = 1;
}

static int read_policy(const struct reader *r, const struct node *n, struct inventory *inv)
{
    struct policy *policy = arena_new(r->a, struct policy);

    inv->policy = policy;
    policy_default(policy);
    return reader_object(r, n, &policy_recorded, policy);
}

/* A list that is none was not taken entry by entry. */
static int check_lists(const struct reader *r, const struct node *document)
{
    for (size_t i = 0; i < LIST_COUNT; i++) {
        const struct node *n = node_child(document, lists[i].name);

        if (n && n->kind != NODE_LIST)
            return reader_refuse(r, n, "an array");
    }
    return 0; /* snapshot_build() checks which are required */
}

/* All but the objects of the lists. */
static int read_document(const struct reader *r, const struct node *document, struct inventory *inv)
{
    const struct node *policy = node_child(document, "policy");
    int rc;

    if (document->kind != NODE_MAP)
        return reader_refuse(r, document, "an object");
    if ((rc = check_format(r, document)) < 0 ||
        (rc = reader_object(r, document, &snapshot_fields_document, inv)) < 0 ||
        (policy && (rc = read_policy(r, policy, inv)) < 0))
        return rc;
    finish_ha(document, inv);
    inv->schedule.given = node_has(document, "schedule");
    inv->balance.given = node_has(document, "balance");
    return check_lists(r, document);
}

int snapshot_read_source(const struct json_source *source, struct arena *a, struct inventory *ret,
                         struct unknown_fields *unknown, struct err *err)
{
    struct reading x = {.inv = {.schedule.power_off = true, .balance.open = true}};
    const struct json_entries entries = {.taken = begin_list, .entry = read_entry, .context = &x};
    const struct reader r = {.a = a, .unknown = unknown, .err = err};
    struct node *document;

    x.r = (struct reader){.a = a, .unknown = unknown, .err = &x.wrong};
    int rc = json_tree_read(source, &entries, a, &document, err);

    if (rc < 0 || (rc = read_document(&r, document, &x.inv)) < 0)
        return rc;
    if (x.wrong.code < 0)
        return err_set(err, x.wrong.code, "%s", x.wrong.text);
    *ret = x.inv;
    return 0;
}

int snapshot_read_inventory(const char *text, size_t len, struct arena *a, struct inventory *ret,
                            struct unknown_fields *unknown, struct err *err)
{
    const struct json_source source = {.text = text, .len = len, .most = SNAPSHOT_BYTES_MAX};

    return snapshot_read_source(&source, a, ret, unknown, err);
}
