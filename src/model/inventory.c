/* inventory.c: inventories grow one object at a time. */
#include <ballast/inventory.h>

#include <string.h>

/* Adds an object to the list; it begins with the value behind the list's name. */
#define INVENTORY_ADD(inv, a, list, ...)                                                                     \
    ((inv)->list = arena_grow((a), (inv)->list, (inv)->n_##list, &(inv)->cap_##list, sizeof *(inv)->list),   \
     (inv)->list[(inv)->n_##list] = (__VA_ARGS__), &(inv)->list[(inv)->n_##list++])

struct seen_host *inventory_add_host(struct inventory *inv, struct arena *a)
{
    struct seen_host *h = INVENTORY_ADD(inv, a, hosts, (struct seen_host){.cpu_used_mhz = UNKNOWN});

    host_facts_default(&h->is);
    return h;
}

struct seen_vm *inventory_add_vm(struct inventory *inv, struct arena *a)
{
    struct seen_vm *v = INVENTORY_ADD(inv, a, vms, (struct seen_vm){0});

    vm_facts_default(&v->is);
    return v;
}

struct seen_pool *inventory_add_pool(struct inventory *inv, struct arena *a)
{
    struct seen_pool *p = INVENTORY_ADD(inv, a, pools, (struct seen_pool){0});

    pool_facts_default(&p->is);
    return p;
}

struct seen_rule *inventory_add_rule(struct inventory *inv, struct arena *a)
{
    struct seen_rule *r = INVENTORY_ADD(inv, a, rules, (struct seen_rule){0});

    rule_facts_default(&r->is, RULE_VM_AFFINE);
    return r;
}

struct seen_migration *inventory_add_migration(struct inventory *inv, struct arena *a)
{
    return INVENTORY_ADD(inv, a, migrations, (struct seen_migration){0});
}

struct seen_pending *inventory_add_pending(struct inventory *inv, struct arena *a)
{
    return INVENTORY_ADD(inv, a, pending, (struct seen_pending){0});
}

struct seen_pending *inventory_add_standing(struct inventory *inv, struct arena *a)
{
    return INVENTORY_ADD(inv, a, standing, (struct seen_pending){0});
}

struct seen_migration_rate *inventory_add_migration_rate(struct inventory *inv, struct arena *a)
{
    return INVENTORY_ADD(inv, a, migration_rates, (struct seen_migration_rate){.rate_mb_s = UNKNOWN});
}

struct seen_answer *inventory_add_answer(struct inventory *inv, struct arena *a)
{
    return INVENTORY_ADD(inv, a, answers, (struct seen_answer){0});
}

struct expected *inventory_add_expected(struct inventory *inv, struct arena *a)
{
    return INVENTORY_ADD(inv, a, forecast, (struct expected){.demand = {UNKNOWN, UNKNOWN}});
}

struct quiet *inventory_add_quiet(struct inventory *inv, struct arena *a)
{
    return INVENTORY_ADD(inv, a, quiet,
                         (struct quiet){.level = {UNKNOWN, UNKNOWN}, .age_s = UNKNOWN, .enough_s = UNKNOWN});
}

struct seen_avoid *inventory_add_avoid(struct inventory *inv, struct arena *a)
{
    return INVENTORY_ADD(inv, a, avoid, (struct seen_avoid){.failures = 1});
}

struct seen_group *inventory_add_group(struct inventory *inv, struct arena *a)
{
    return INVENTORY_ADD(inv, a, groups, (struct seen_group){0});
}

struct seen_pipeline *inventory_add_pipeline(struct inventory *inv, struct arena *a)
{
    return INVENTORY_ADD(inv, a, pipelines, (struct seen_pipeline){0});
}

struct seen_setting *inventory_add_setting(struct inventory *inv, struct arena *a)
{
    struct seen_setting *h = INVENTORY_ADD(inv, a, settings, (struct seen_setting){0});

    for (int r = 0; r < RES_COUNT; r++)
        h->alloc[r].limit = NO_LIMIT;
    return h;
}

void inventory_add_fault(struct inventory *inv, const char *text, struct arena *a)
{
    const char **items = arena_array(a, const char *, inv->source_faults.n + 1);

    if (inv->source_faults.n > 0)
        memcpy(items, inv->source_faults.items, inv->source_faults.n * sizeof *items);
    items[inv->source_faults.n] = arena_strdup(a, text);
    inv->source_faults = (struct ids){.items = items, .n = inv->source_faults.n + 1};
}
