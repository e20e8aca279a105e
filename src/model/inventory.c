/* inventory.c: inventories grow one object at a time. */
#include <ballast/inventory.h>

#define INVENTORY_ADD(inv, a, items, n, cap)                                                                 \
    ((inv)->items = arena_grow((a), (inv)->items, (inv)->n, &(inv)->cap, sizeof *(inv)->items),              \
     &(inv)->items[(inv)->n++])

struct seen_host *inventory_add_host(struct inventory *inv, struct arena *a)
{
    struct seen_host *h = INVENTORY_ADD(inv, a, hosts, n_hosts, cap_hosts);

    *h = (struct seen_host){0};
    host_facts_default(&h->is);
    return h;
}

struct seen_vm *inventory_add_vm(struct inventory *inv, struct arena *a)
{
    struct seen_vm *v = INVENTORY_ADD(inv, a, vms, n_vms, cap_vms);

    *v = (struct seen_vm){0};
    vm_facts_default(&v->is);
    return v;
}

struct seen_pool *inventory_add_pool(struct inventory *inv, struct arena *a)
{
    struct seen_pool *p = INVENTORY_ADD(inv, a, pools, n_pools, cap_pools);

    *p = (struct seen_pool){0};
    pool_facts_default(&p->is);
    return p;
}

struct seen_rule *inventory_add_rule(struct inventory *inv, struct arena *a)
{
    struct seen_rule *r = INVENTORY_ADD(inv, a, rules, n_rules, cap_rules);

    *r = (struct seen_rule){0};
    rule_facts_default(&r->is, RULE_VM_AFFINE);
    return r;
}

struct seen_migration *inventory_add_migration(struct inventory *inv, struct arena *a)
{
    struct seen_migration *m = INVENTORY_ADD(inv, a, migrations, n_migrations, cap_migrations);

    *m = (struct seen_migration){0};
    return m;
}

struct seen_pending *inventory_add_pending(struct inventory *inv, struct arena *a)
{
    struct seen_pending *p = INVENTORY_ADD(inv, a, pending, n_pending, cap_pending);

    *p = (struct seen_pending){0};
    return p;
}

struct seen_pending *inventory_add_standing(struct inventory *inv, struct arena *a)
{
    struct seen_pending *p = INVENTORY_ADD(inv, a, standing, n_standing, cap_standing);

    *p = (struct seen_pending){0};
    return p;
}

struct seen_migration_rate *inventory_add_migration_rate(struct inventory *inv, struct arena *a)
{
    struct seen_migration_rate *m =
        INVENTORY_ADD(inv, a, migration_rates, n_migration_rates, cap_migration_rates);

    *m = (struct seen_migration_rate){.rate_mb_s = UNKNOWN};
    return m;
}

struct seen_answer *inventory_add_answer(struct inventory *inv, struct arena *a)
{
    struct seen_answer *x = INVENTORY_ADD(inv, a, answers, n_answers, cap_answers);

    *x = (struct seen_answer){0};
    return x;
}

struct expected *inventory_add_expected(struct inventory *inv, struct arena *a)
{
    struct expected *x = INVENTORY_ADD(inv, a, forecast, n_forecast, cap_forecast);

    *x = (struct expected){.demand = {UNKNOWN, UNKNOWN}};
    return x;
}

struct quiet *inventory_add_quiet(struct inventory *inv, struct arena *a)
{
    struct quiet *q = INVENTORY_ADD(inv, a, quiet, n_quiet, cap_quiet);

    *q = (struct quiet){.level = {UNKNOWN, UNKNOWN}};
    return q;
}

struct seen_avoid *inventory_add_avoid(struct inventory *inv, struct arena *a)
{
    struct seen_avoid *x = INVENTORY_ADD(inv, a, avoid, n_avoid, cap_avoid);

    *x = (struct seen_avoid){.failures = 1};
    return x;
}

struct seen_group *inventory_add_group(struct inventory *inv, struct arena *a)
{
    struct seen_group *g = INVENTORY_ADD(inv, a, groups, n_groups, cap_groups);

    *g = (struct seen_group){0};
    return g;
}

struct seen_pipeline *inventory_add_pipeline(struct inventory *inv, struct arena *a)
{
    struct seen_pipeline *p = INVENTORY_ADD(inv, a, pipelines, n_pipelines, cap_pipelines);

    *p = (struct seen_pipeline){0};
    return p;
}

struct seen_setting *inventory_add_setting(struct inventory *inv, struct arena *a)
{
    struct seen_setting *h = INVENTORY_ADD(inv, a, settings, n_settings, cap_settings);

    *h = (struct seen_setting){0};
    for (int r = 0; r < RES_COUNT; r++)
        h->alloc[r].limit = NO_LIMIT;
    return h;
}
