/* pools.c: resource pools, rules and failover capacity: as in a snapshot, by name. */
#include "sim/scenario/build.h"

#include <string.h>

#define HOSTS_MOST 10000

/* ---- pools ---- */

struct pool_spec {
    const char *name, *parent;
    struct alloc_spec cpu, mem;
    bool scalable_shares;
};

static const struct field pool_key_list[] = {
    {"name", FIELD_TEXT, offsetof(struct pool_spec, name), .meaning = "the pool's name"},
    {"parent", FIELD_TEXT, offsetof(struct pool_spec, parent),
     .meaning = "the name of the pool that it is in"},
    {"cpu", FIELD_OBJECT, offsetof(struct pool_spec, cpu), .inner = &alloc_keys,
     .meaning = "reservation, limit, shares and expandable in MHz"},
    {"mem", FIELD_OBJECT, offsetof(struct pool_spec, mem), .inner = &alloc_keys,
     .meaning = "reservation, limit, shares and expandable in MiB"},
    {"scalable_shares", FIELD_BOOL, offsetof(struct pool_spec, scalable_shares),
     .meaning = "its shares grow with its VMs"},
};

const struct schema pool_keys = SCHEMA_OF("", pool_key_list);

static int add_pool(struct building *b, const struct node *n)
{
    const struct alloc_spec normal = {.limit = NO_LIMIT, .level = SHARES_NORMAL, .expandable = true};
    struct pool_spec spec = {.cpu = normal, .mem = normal};
    int r = reader_object(&b->f, n, &pool_keys, &spec);

    if (r < 0)
        return r;
    if (!spec.name)
        return reader_complain(&b->f, n, ".name is missing, expected the pool's name");
    struct seen_pool *p = inventory_add_pool(&b->inv, b->f.a);

    p->is.id = p->is.name = spec.name;
    p->is.scalable_shares = spec.scalable_shares;
    p->is.alloc[RES_CPU] = vms_alloc(&spec.cpu, p->is.alloc[RES_CPU].shares);
    p->is.alloc[RES_MEM] = vms_alloc(&spec.mem, p->is.alloc[RES_MEM].shares);
    p->parent = spec.parent;
    return 0;
}

int pools_build(struct building *b, const struct node *list)
{
    size_t ix = 0;
    int r = list ? reader_list_check(&b->f, list, "a list of pools", SCENARIO_GROUPS_MAX) : 0;

    b->first_pool = b->inv.n_pools;
    b->pool_lines = arena_array(b->f.a, unsigned, list ? list->n : 0);
    for (const struct node *n = list ? list->first : NULL; r == 0 && n; n = n->next, ix++) {
        b->pool_lines[ix] = n->line;
        r = add_pool(b, n);
    }
    return r;
}

/* ---- rules ---- */

ENUM_WORDS(rule_kind, RULE_KINDS);
ENUM_WORDS(ha_policy, HA_POLICIES);

struct rule_spec {
    const char *name;
    int kind;
    struct ids vms, hosts;
    bool enabled, mandatory;
};

static const struct field rule_key_list[] = {
    {"name", FIELD_TEXT, offsetof(struct rule_spec, name), .meaning = "the rule's name"},
    {"kind", FIELD_WORD, offsetof(struct rule_spec, kind), .words = rule_kind_words,
     .meaning = "what it asks for"},
    {"vms", FIELD_IDS, offsetof(struct rule_spec, vms), .max = NAMES_MOST,
     .meaning = "VMs or groups of VMs, or patterns with * and ?"},
    {"hosts", FIELD_IDS, offsetof(struct rule_spec, hosts), .max = NAMES_MOST,
     .meaning = "hosts or groups of hosts, or patterns"},
    {"enabled", FIELD_BOOL, offsetof(struct rule_spec, enabled), .meaning = "whether it holds"},
    {"mandatory", FIELD_BOOL, offsetof(struct rule_spec, mandatory), .meaning = "must, or should"},
};

const struct schema rule_keys = SCHEMA_OF("", rule_key_list);

static struct called nth_host(const struct building *b, size_t i)
{
    return groups_host_called(&b->hosts[i]);
}

static struct called nth_vm(const struct building *b, size_t i)
{
    return groups_vm_called(&b->vms[i]);
}

/* The ids that match the words, in the order of the inventory, each once. */
static int resolve(const struct building *b, const struct ids *words, unsigned line, const char *what,
                   struct called (*nth)(const struct building *, size_t), size_t n, struct ids *ret)
{
    bool *in = arena_array(b->f.a, bool, n);
    const char **items = arena_array(b->f.a, const char *, n);
    uint32_t found = 0;

    for (uint32_t w = 0; w < words->n; w++) {
        bool any = false;
        for (size_t i = 0; i < n; i++) {
            if (groups_is_meant(words->items[w], nth(b, i)))
                any = in[i] = true;
        }
        if (!any)
            return reader_complain_line(
                &b->f, line, "there is no %s or group of %ss \"%.64s\", expected one that is there", what,
                what, words->items[w]);
    }
    for (size_t i = 0; i < n; i++) {
        if (in[i])
            items[found++] = nth(b, i).id;
    }
    *ret = (struct ids){.items = items, .n = found};
    return 0;
}

static int add_rule(struct building *b, const struct node *n)
{
    struct rule_spec spec = {.kind = -1, .enabled = true};
    int r = reader_object(&b->f, n, &rule_keys, &spec);

    if (r < 0)
        return r;
    if (!spec.name || spec.kind < 0 || spec.vms.n == 0)
        return reader_complain(&b->f, n, ".%s is missing, expected name, kind and vms",
                               !spec.name      ? "name"
                               : spec.kind < 0 ? "kind"
                                               : "vms");
    struct seen_rule *rule = inventory_add_rule(&b->inv, b->f.a);

    rule_facts_default(&rule->is, (enum rule_kind)spec.kind);
    rule->is.id = rule->is.name = spec.name;
    rule->is.enabled = spec.enabled;
    if (node_child(n, "mandatory"))
        rule->is.mandatory = spec.mandatory;
    if ((r = resolve(b, &spec.vms, n->line, "VM", nth_vm, b->n_vms, &rule->vms)) < 0)
        return r;
    return resolve(b, &spec.hosts, n->line, "host", nth_host, b->n_hosts, &rule->hosts);
}

int pools_build_rules(struct building *b, const struct node *list)
{
    size_t ix = 0;
    int r = list ? reader_list_check(&b->f, list, "a list of rules", SCENARIO_GROUPS_MAX) : 0;

    b->first_rule = b->inv.n_rules;
    b->rule_lines = arena_array(b->f.a, unsigned, list ? list->n : 0);
    for (const struct node *n = list ? list->first : NULL; r == 0 && n; n = n->next, ix++) {
        b->rule_lines[ix] = n->line;
        r = add_rule(b, n);
    }
    return r;
}

/* ---- ha ---- */

struct ha_spec {
    int policy;
    uint32_t hosts;
    double percent[RES_COUNT];
    struct ids failover_hosts;
};

static const struct field ha_key_list[] = {
    {"policy", FIELD_WORD, offsetof(struct ha_spec, policy), .words = ha_policy_words,
     .meaning = "what is kept free"},
    {"hosts", FIELD_COUNT, offsetof(struct ha_spec, hosts), 0, HOSTS_MOST,
     .meaning = "host_failures: how many"},
    {"cpu_percent", FIELD_NUMBER, offsetof(struct ha_spec, percent) + RES_CPU * sizeof(double), 0, 100,
     .meaning = "percent: of the CPU"},
    {"mem_percent", FIELD_NUMBER, offsetof(struct ha_spec, percent) + RES_MEM * sizeof(double), 0, 100,
     .meaning = "percent: of the memory"},
    {"failover_hosts", FIELD_IDS, offsetof(struct ha_spec, failover_hosts), .max = NAMES_MOST,
     .meaning = "dedicated: hosts or groups of hosts"},
};

const struct schema ha_keys = SCHEMA_OF("", ha_key_list);

int pools_build_ha(struct building *b, const struct node *section)
{
    struct ha_spec spec = {0};
    int r;

    if (!section)
        return 0;
    if ((r = reader_object(&b->f, section, &ha_keys, &spec)) < 0)
        return r;
    b->inv.ha =
        (struct ha_facts){(enum ha_policy)spec.policy, spec.hosts, {spec.percent[0], spec.percent[1]}};
    return resolve(b, &spec.failover_hosts, section->line, "host", nth_host, b->n_hosts,
                   &b->inv.ha_failover_hosts);
}
