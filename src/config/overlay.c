/* overlay.c: the sections `rules:`, `pools:`, `ha:`, `vms:` and `hosts:`; placement.c has `groups:` and
 * `units:`, `pipelines:`.
 */
#include "config/sections.h"

#include "config/selector.h"
#include "model/attributes.h"
#include "model/quantities.h"
#include "model/snapshot_fields.h"

#include <string.h>
#include <strings.h>

#define ENTRIES_MOST 10000 /* of a section */
#define POOLS_MOST 2000
#define NAME_BYTES_MAX 100
#define REASON_BYTES_MAX 200
#define WINDOWS_MOST 32

/* ---- rules ---- */

static const char *const rule_words[] = {[RULE_VM_AFFINE] = "affinity",
                                         [RULE_VM_ANTI_AFFINE] = "anti-affinity",
                                         [RULE_HOST_AFFINE] = "host-affinity",
                                         [RULE_HOST_ANTI_AFFINE] = "host-anti-affinity",
                                         NULL};

#define AT(member) offsetof(struct overlay_rule, member)
#define KEY(key, member, type, ...) FIELD_AT(key, struct overlay_rule, member, type, __VA_ARGS__)
static const struct field rule_keys[] = {
    KEY("kind", kind, FIELD_WORD, .words = rule_words, .flags = FIELD_REQUIRED,
        .meaning = "the kind of the rule"),
    KEY("vms", vms, FIELD_OWN, .read = config_read_vms, .flags = FIELD_REQUIRED,
        .meaning = "the VMs that the rule is for"),
    KEY("hosts", hosts, FIELD_OWN, .read = config_read_hosts,
        .meaning = "the hosts of a rule between VMs and hosts"),
    KEY("mandatory", mandatory, FIELD_BOOL, .fallback = "true", .meaning = "false: a preferred rule"),
};
#undef AT
#undef KEY

static const struct schema rule_schema = SCHEMA_OF("rule", rule_keys);

static int read_rule(const struct section *s, const struct node *n, void *at)
{
    struct overlay_rule *ret = at;
    const struct reader *r = &s->reader;
    int e;

    if (!n->key[0])
        return reader_complain_line(r, n->line, "rules has a rule with an empty name, expected a name");
    if (strlen(n->key) > NAME_BYTES_MAX)
        return reader_complain(r, n, "is a name of %zu bytes, expected at most %d", strlen(n->key),
                               NAME_BYTES_MAX);
    reader_defaults(r, &rule_schema, ret);
    ret->name = n->key;
    if ((e = reader_object(r, n, &rule_schema, ret)) < 0)
        return e;
    bool of_hosts = ret->kind == RULE_HOST_AFFINE || ret->kind == RULE_HOST_ANTI_AFFINE;

    if (of_hosts && ret->hosts.n == 0)
        return reader_complain(r, n, "has no hosts, expected those that the %s rule is about",
                               rule_words[ret->kind]);
    if (!of_hosts && ret->hosts.n > 0)
        return reader_complain(r, n,
                               "has hosts, expected them only in a host-affinity or a "
                               "host-anti-affinity rule");
    return 0;
}

/* ---- reservation, limit and shares ---- */

#define SIZE_MOST 1e12

/* Of one resource, in a section of its name. `at`: offset of its struct overlay_alloc. */
#define ALLOC_FIELDS(section, at, unit)                                                                      \
    {.name = section ".reservation",                                                                         \
     .type = FIELD_NUMBER,                                                                                   \
     .offset = (at) + offsetof(struct overlay_alloc, is.reservation),                                        \
     .max = SIZE_MOST,                                                                                       \
     .given = (at) + offsetof(struct overlay_alloc, reservation_given),                                      \
     .meaning = unit " that are kept for it"},                                                               \
        {.name = section ".limit",                                                                           \
         .type = FIELD_LIMIT,                                                                                \
         .offset = (at) + offsetof(struct overlay_alloc, is.limit),                                          \
         .max = SIZE_MOST,                                                                                   \
         .given = (at) + offsetof(struct overlay_alloc, limit_given),                                        \
         .meaning = unit " that it gets at most; null: no limit"},                                           \
    {                                                                                                        \
        .name = section ".shares", .type = FIELD_NUMBER,                                                     \
        .offset = (at) + offsetof(struct overlay_alloc, is.shares), .max = SIZE_MOST,                        \
        .given = (at) + offsetof(struct overlay_alloc, shares_given),                                        \
        .meaning = "its weight beside others where " unit " are short"                                       \
    }

#define EXPANDABLE_FIELD(section, at)                                                                        \
    {                                                                                                        \
        .name = section ".expandable", .type = FIELD_BOOL,                                                   \
        .offset = (at) + offsetof(struct overlay_alloc, is.expandable),                                      \
        .given = (at) + offsetof(struct overlay_alloc, expandable_given),                                    \
        .meaning = "whether its children may reserve more, from its parent"                                  \
    }

static const char *const resource_words[RES_COUNT] = {[RES_CPU] = "cpu", [RES_MEM] = "mem"};

/* What can be seen without an inventory. */
static int check_alloc(const struct reader *r, const struct node *n,
                       const struct overlay_alloc set[RES_COUNT])
{
    for (int i = 0; i < RES_COUNT; i++)
        if (set[i].limit_given && set[i].reservation_given && set[i].is.limit < set[i].is.reservation)
            return reader_complain(r, node_child(node_child(n, resource_words[i]), "limit"),
                                   "is %.12g, expected at least the reservation, %.12g", set[i].is.limit,
                                   set[i].is.reservation);
    return 0;
}

/* ---- pools ---- */

#define AT(member) offsetof(struct overlay_pool, member)
#define KEY(key, member, type, ...) FIELD_AT(key, struct overlay_pool, member, type, __VA_ARGS__)
static const struct field pool_keys[] = {
    KEY("vms", vms, FIELD_OWN, .read = config_read_vms, .meaning = "the VMs that the pool holds"),
    ALLOC_FIELDS("cpu", AT(set[RES_CPU]), "MHz"),
    EXPANDABLE_FIELD("cpu", AT(set[RES_CPU])),
    ALLOC_FIELDS("mem", AT(set[RES_MEM]), "MiB"),
    EXPANDABLE_FIELD("mem", AT(set[RES_MEM])),
};
#undef AT
#undef KEY

static const struct schema pool_schema = SCHEMA_OF("pool", pool_keys);

static int read_pool(const struct section *s, const struct node *n, void *at)
{
    struct overlay_pool *ret = at;
    const struct reader *r = &s->reader;
    int e;

    size_t len = strlen(n->key);

    if (!n->key[0] || n->key[0] == '/' || n->key[len - 1] == '/' || strstr(n->key, "//"))
        return reader_complain_line(r, n->line, "pools has a pool \"%s\", expected names with a / between",
                                    n->key);
    if (strlen(n->key) > NAME_BYTES_MAX)
        return reader_complain(r, n, "is a name of %zu bytes, expected at most %d", strlen(n->key),
                               NAME_BYTES_MAX);
    ret->path = n->key;
    if ((e = reader_object(r, n, &pool_schema, ret)) < 0)
        return e;
    return check_alloc(r, n, ret->set);
}

/* Whether the path is that of a pool directly below. */
static bool is_child(const char *path, const char *parent)
{
    size_t len = strlen(parent);

    return strncmp(path, parent, len) == 0 && path[len] == '/' && !strchr(path + len + 1, '/');
}

/* What pools reserve beyond the limit of the pool above them, as far as the file says. */
static int check_children(const struct section *s, const struct node *n, const struct overlay_pool *pool)
{
    const struct overlay *o = &s->config->overlay;

    for (int r = 0; r < RES_COUNT; r++) {
        double reserved = 0;

        for (size_t i = 0; pool->set[r].limit_given && i < o->n_pools; i++)
            if (is_child(o->pools[i].path, pool->path))
                reserved += o->pools[i].set[r].is.reservation;
        if (pool->set[r].limit_given && reserved > pool->set[r].is.limit)
            return reader_complain(&s->reader, node_child(node_child(n, resource_words[r]), "limit"),
                                   "is %.12g, expected at least what the pools below it reserve, %.12g",
                                   pool->set[r].is.limit, reserved);
    }
    return 0;
}

static bool sets_resources(const struct overlay_alloc set[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        if (set[r].reservation_given || set[r].limit_given || set[r].shares_given || set[r].expandable_given)
            return true;
    return false;
}

/* For check-config, which knows no inventory: the service says it of the entries that it is true of. */
static void warn_not_enforced(const struct section *s, const struct node *n, bool adds_pool)
{
    char path[NODE_PATH_MAX];

    if (s->use == CONFIG_FOR_CHECK && s->config->source.kind &&
        strcmp(s->config->source.kind, "libvirt") == 0)
        section_warn(s, n->line, "%s: %s", node_path(n, path),
                     "of CPU, Ballast sets weights and limits of VMs in partial and full automation, unless "
                     "source.cpu_controls is off; no hypervisor enforces its settings of memory");
    else if (s->use == CONFIG_FOR_CHECK)
        section_warn(s, n->line, "%s: %s", node_path(n, path),
                     adds_pool
                         ? "unless the source has this pool with these settings, no hypervisor enforces it; "
                           "Ballast decides by it where VMs run"
                         : "where the source has other settings of these VMs, the hypervisor enforces those; "
                           "Ballast decides by these where VMs run");
}

static int check_pools(const struct section *s, const struct node *n)
{
    const struct overlay *o = &s->config->overlay;
    const struct node *pool = n->first;
    int e = 0;

    for (size_t i = 0; i < o->n_pools && e == 0; i++, pool = pool->next) {
        e = check_children(s, pool, &o->pools[i]);
        warn_not_enforced(s, pool, true);
    }
    return e;
}

/* ---- vms and hosts ---- */

/* An entry: its conditions stand beside its settings. */
struct vms_entry {
    struct condition condition;
    struct overlay_vms is;
    const char *const *no_moves;
};

struct hosts_entry {
    struct condition condition;
    struct overlay_hosts is;
};

static const char *const priority_words[] = {[PRIORITY_AS_SOURCE] = "",
                                             [PRIORITY_LOW] = "low",
                                             [PRIORITY_NORMAL] = "normal",
                                             [PRIORITY_HIGH] = "high",
                                             NULL};

#define AT(member) offsetof(struct vms_entry, member)
#define KEY(key, member, type, ...) FIELD_AT(key, struct vms_entry, member, type, __VA_ARGS__)
static const struct field vms_keys[] = {
    CONDITION_FIELDS(0),
    CONDITION_FOLDER(0),
    KEY("priority", is.priority, FIELD_WORD, .words = priority_words,
        .meaning = "shares of CPU and memory by the VMs' sizes"),
    ALLOC_FIELDS("cpu", AT(is.set[RES_CPU]), "MHz"),
    ALLOC_FIELDS("mem", AT(is.set[RES_MEM]), "MiB"),
    KEY("restart_priority", is.restart_priority, FIELD_WORD, .words = restart_priority_words,
        .meaning = "whose failover capacity is found first; disabled: the VMs need none"),
    KEY("automation", is.automation, FIELD_WORD, .words = automation_words, .given = AT(is.automation_given),
        .meaning = "how far the service may move the VMs by itself"),
    KEY("pin", is.pin, FIELD_OWN, .read = config_read_hosts,
        .meaning = "the only hosts that the VMs may run on"),
    KEY("never_move", is.never_move, FIELD_TEXT, .meaning = "why the VMs are never moved"),
    KEY("no_moves", no_moves, FIELD_LIST, .max = WINDOWS_MOST,
        .meaning = "when the VMs are not moved: calendar expressions with a duration"),
    KEY("owner", is.owner, FIELD_TEXT, .check = config_check_name,
        .meaning = "the project or customer that the VMs belong to"),
    ATTRIBUTES_FIELD("flavor", AT(is.flavor), "the VMs' flavour: extra specs, by name"),
    ATTRIBUTES_FIELD("image", AT(is.image), "properties of the VMs' image, by name"),
    ATTRIBUTES_FIELD("hints", AT(is.hints), "what was asked for when the VMs were made, by name"),
    KEY("groups", is.groups, FIELD_IDS, .max = FACT_NAMES_MAX, .check = config_check_name,
        .meaning = "groups of VMs that the VMs are in, by name"),
};
#undef AT
#undef KEY

#define AT(member) offsetof(struct hosts_entry, member)
#define KEY(key, member, type, ...) FIELD_AT(key, struct hosts_entry, member, type, __VA_ARGS__)
static const struct field hosts_keys[] = {
    CONDITION_FIELDS(0),
    KEY("dpm", is.dpm, FIELD_WORD, .words = automation_words, .given = AT(is.dpm_given),
        .meaning = "how far the service may put the hosts to standby and wake them by itself"),
    KEY("migrations_max", is.migrations_max, FIELD_COUNT, .min = 1, .max = 64,
        .meaning = "live migrations in and out of a host at a time"),
    KEY("reserve.cpu_mhz", is.reserve[RES_CPU], FIELD_NUMBER, .max = SIZE_MOST,
        .meaning = "MHz of CPU that a host needs itself at least"),
    KEY("reserve.mem_mb", is.reserve[RES_MEM], FIELD_NUMBER, .max = SIZE_MOST,
        .meaning = "MiB of memory that a host needs itself at least"),
    KEY("traits", is.traits, FIELD_IDS, .max = FACT_NAMES_MAX, .check = config_check_name,
        .meaning = "what the hosts can do, by name"),
    ATTRIBUTES_FIELD("attributes", AT(is.attributes), "what filters read of the hosts, by name"),
    KEY("quantities", is.quantities, FIELD_OWN, .read = quantities_read,
        .meaning = "what the hosts have of things that pipelines count, by name"),
};
#undef AT
#undef KEY

/* An entry with a condition and a setting. */
static int read_entry(const struct section *s, const struct node *n, const struct schema *keys,
                      const struct condition *condition, void *into)
{
    int e;

    if (n->kind != NODE_MAP)
        return reader_refuse(&s->reader, n, "a section with conditions and settings");
    if ((e = reader_object(&s->reader, n, keys, into)) < 0 ||
        (e = config_check_condition(&s->reader, n, condition)) < 0)
        return e;
    for (const struct node *k = n->first; k; k = k->next) {
        bool is_condition = strcmp(k->key, "name") == 0 || strcmp(k->key, "label") == 0 ||
                            strcmp(k->key, "tag") == 0 || strcmp(k->key, "folder") == 0;

        if (!is_condition)
            return 0;
    }
    return reader_complain(&s->reader, n, "has no setting, expected at least one, for example %s",
                           keys->fields[keys->n - 1].name);
}

static struct selector selector_of(const struct condition *c)
{
    return (struct selector){.conditions = c, .n = 1};
}

/* The reason stands where one could expect true or false: "never_move: false" must not hold VMs. */
static bool is_yes_or_no(const struct node *n)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off"};

    for (size_t i = 0; n && n->plain && i < sizeof words / sizeof *words; i++)
        if (strcasecmp(n->text, words[i]) == 0)
            return true;
    return false;
}

static int check_times(const struct section *s, const struct node *n, struct vms_entry *entry)
{
    char path[NODE_PATH_MAX];

    if (entry->is.never_move && is_yes_or_no(node_child(n, "never_move")))
        return reader_complain(&s->reader, node_child(n, "never_move"),
                               "is \"%s\", expected why the VMs are never moved; without the key they move",
                               entry->is.never_move);
    if (entry->is.never_move && strlen(entry->is.never_move) > REASON_BYTES_MAX)
        return reader_complain(&s->reader, node_child(n, "never_move"),
                               "is too long, expected at most %d bytes", REASON_BYTES_MAX);
    if (entry->is.never_move && entry->no_moves)
        return reader_complain(&s->reader, n, "has never_move and no_moves, expected one of them");
    if (!entry->no_moves)
        return 0;
    entry->is.no_moves.zone = s->config->schedule.zone;
    entry->is.no_moves.protects = true;
    (void)node_path(n, path);
    return config_read_windows(s, node_child(n, "no_moves"), arena_printf(s->reader.a, "%s.no_moves", path),
                               NULL, &entry->is.no_moves);
}

static int read_vms(const struct section *s, const struct node *n, void *ret)
{
    static const struct schema keys = SCHEMA_OF("", vms_keys);
    struct vms_entry *entry = arena_new(s->reader.a, struct vms_entry);
    int e = read_entry(s, n, &keys, &entry->condition, entry);

    if (e == 0)
        e = check_times(s, n, entry);
    if (e == 0)
        e = check_alloc(&s->reader, n, entry->is.set);
    if (sets_resources(entry->is.set) || entry->is.priority != PRIORITY_AS_SOURCE)
        warn_not_enforced(s, n, false);
    entry->is.vms = selector_of(&entry->condition);
    *(struct overlay_vms *)ret = entry->is;
    return e;
}

static int read_hosts(const struct section *s, const struct node *n, void *ret)
{
    static const struct schema keys = SCHEMA_OF("", hosts_keys);
    struct hosts_entry *entry = arena_new(s->reader.a, struct hosts_entry);
    int e = read_entry(s, n, &keys, &entry->condition, entry);

    entry->is.hosts = selector_of(&entry->condition);
    *(struct overlay_hosts *)ret = entry->is;
    return e;
}

/* ---- ha ---- */

static const char *const ha_words[] = {[HA_NONE] = "none",
                                       [HA_HOST_FAILURES] = "host_failures",
                                       [HA_PERCENT] = "percent",
                                       [HA_DEDICATED] = "dedicated",
                                       NULL};

#define AT(member) offsetof(struct overlay_ha, member)
#define KEY(key, member, type, ...) FIELD_AT(key, struct overlay_ha, member, type, __VA_ARGS__)
static const struct field ha_keys[] = {
    KEY("policy", policy, FIELD_WORD, .words = ha_words, .flags = FIELD_REQUIRED,
        .meaning = "what is kept free for failures"),
    KEY("hosts", hosts, FIELD_COUNT, .min = 1, .max = 1000,
        .meaning = "host_failures: how many hosts may fail at a time"),
    KEY("cpu_percent", percent[RES_CPU], FIELD_NUMBER, .max = 100, .meaning = "percent: of the CPU"),
    KEY("mem_percent", percent[RES_MEM], FIELD_NUMBER, .max = 100, .meaning = "percent: of the memory"),
    KEY("failover_hosts", failover_hosts, FIELD_OWN, .read = config_read_hosts,
        .meaning = "dedicated: the hosts that are kept empty"),
};
#undef AT
#undef KEY

/* The policy to which the key belongs. */
static enum ha_policy policy_of_key(const char *key)
{
    return strcmp(key, "hosts") == 0            ? HA_HOST_FAILURES
           : strcmp(key, "failover_hosts") == 0 ? HA_DEDICATED
                                                : HA_PERCENT;
}

static int read_ha(const struct section *s, const struct node *n, void *ret)
{
    static const struct schema keys = SCHEMA_OF("ha", ha_keys);
    struct overlay_ha *ha = ret;
    const struct reader *r = &s->reader;
    int e;

    if ((e = reader_object(r, n, &keys, ha)) < 0)
        return e;
    for (const struct node *k = n->first; k; k = k->next)
        if (strcmp(k->key, "policy") != 0 && policy_of_key(k->key) != ha->policy)
            return reader_complain(r, k, "is a key of the policy %s, and ha.policy is %s",
                                   ha_words[policy_of_key(k->key)], ha_words[ha->policy]);
    if (ha->policy == HA_HOST_FAILURES && ha->hosts == 0)
        ha->hosts = 1;
    if (ha->policy == HA_PERCENT && !(ha->percent[RES_CPU] > 0) && !(ha->percent[RES_MEM] > 0))
        return reader_complain(r, n, "keeps 0 %%, expected cpu_percent or mem_percent above 0");
    if (ha->policy == HA_DEDICATED && ha->failover_hosts.n == 0)
        return reader_complain(r, n, "has no failover_hosts, expected the hosts that are kept empty");
    return 0;
}

/* ---- the sections ---- */

static const struct kind {
    const char *name;
    enum node_kind kind;
    const char *expected;
    /* Reads the section, or one entry of a list. */
    int (*read)(const struct section *s, const struct node *n, void *ret);
    size_t at;      /* offset in struct config: of the section's struct, or of the pointer to the entries */
    size_t n, size; /* of a list: offset of the number of entries; of one */
    size_t most;    /* entries; 0: ENTRIES_MOST */
    int (*check)(const struct section *s, const struct node *n); /* after all entries; NULL: nothing */
} sections[] = {
#define LIST(of, list)                                                                                       \
    .at = offsetof(struct config, of list), .n = offsetof(struct config, of n_##list),                       \
    .size = sizeof *((struct config *)0)->of list
    {"rules", NODE_MAP, "a section with a rule below each name", read_rule, LIST(overlay., rules)},
    {"pools", NODE_MAP, "a section with a pool below each name", read_pool, LIST(overlay., pools),
     .most = POOLS_MOST, .check = check_pools},
    {"groups", NODE_MAP, "a section with a group below each name", config_read_group, LIST(overlay., groups)},
    {"units", NODE_MAP, "a section with an external unit below each name", config_read_unit, LIST(, units),
     .most = UNITS_MAX},
    {"pipelines", NODE_MAP, "a section with a pipeline below each name", config_read_pipeline,
     LIST(overlay., pipelines), .most = PIPELINES_MAX},
    {"ha", NODE_MAP, "a section with a policy", read_ha, .at = offsetof(struct config, overlay.ha)},
    {"vms", NODE_LIST, "a list of entries, each with a - in front", read_vms, LIST(overlay., vms)},
    {"hosts", NODE_LIST, "a list of entries, each with a - in front", read_hosts, LIST(overlay., hosts)},
#undef LIST
};

static int read_list(const struct section *s, const struct node *n, const struct kind *k)
{
    char *items = arena_alloc(s->reader.a, n->n, k->size);
    size_t *count = (void *)((char *)s->config + k->n);
    int e = 0;

    if (k->most > 0 && n->n > k->most)
        return reader_complain(&s->reader, n, "has %zu %s, expected at most %zu", n->n, k->name, k->most);
    memcpy((char *)s->config + k->at, &items, sizeof items);
    for (const struct node *entry = n->first; entry && e == 0; entry = entry->next)
        e = k->read(s, entry, items + (*count)++ * k->size);
    return e == 0 && k->check ? k->check(s, n) : e;
}

int config_read_overlay(const struct section *s)
{
    int e = 0;

    for (size_t i = 0; i < sizeof sections / sizeof *sections && e == 0; i++) {
        const struct node *n = node_child(s->root, sections[i].name);

        if (!n || node_is_null(n)) /* all its entries are commented out */
            continue;
        if (n->kind != sections[i].kind)
            return reader_refuse(&s->reader, n, sections[i].expected);
        if (n->n > ENTRIES_MOST)
            return reader_complain(&s->reader, n, "has %zu entries, expected at most %d", n->n, ENTRIES_MOST);
        e = sections[i].size > 0 ? read_list(s, n, &sections[i])
                                 : sections[i].read(s, n, (char *)s->config + sections[i].at);
    }
    return e;
}
