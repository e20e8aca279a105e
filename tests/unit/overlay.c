/* Rules and settings of the configuration: which objects they select, and what they change in an inventory.
 */
#include "unit.h"

#include "config/config.h"
#include "model/snapshot_build.h"
#include "overlay/overlay.h"
#include "overlay/selector.h"

#include "base/cleanup.h"
#include "base/rng.h"
#include "base/strbuf.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define SIM "cluster: a\nsource: {kind: sim}\n"

struct world {
    struct arena a;
    struct inventory inv;
    struct config config;
    struct overlay_findings found;
};

static struct seen_vm *add_vm(struct world *w, const char *id, const char *name, const char *folder)
{
    struct seen_vm *v = inventory_add_vm(&w->inv, &w->a);

    v->is = (struct vm_facts){.vcpus = 1, .mem_mb = 1024};
    vm_facts_default(&v->is);
    v->is.id = id;
    v->is.name = name;
    v->is.folder = folder;
    v->is.state = VM_ON;
    v->host = "h1";
    return v;
}

static void label(struct world *w, struct labels *l, const char *key, const char *value)
{
    struct label *items = arena_array(&w->a, struct label, l->n + 1);

    for (uint32_t i = 0; i < l->n; i++)
        items[i] = l->items[i];
    items[l->n] = (struct label){key, value};
    *l = (struct labels){.items = items, .n = l->n + 1};
}

/* Hosts h1 (esx1), h2 (esx2); VMs web-1, web-2, db-1, batch in folders, with labels. */
static void world_init(struct world *w)
{
    *w = (struct world){0};
    w->inv.cluster = "a";
    w->inv.time = 1767225600; /* 2026-01-01T00:00:00Z, a Thursday */
    for (int i = 1; i <= 2; i++) {
        struct seen_host *h = inventory_add_host(&w->inv, &w->a);

        host_facts_default(&h->is);
        h->is.id = arena_printf(&w->a, "h%d", i);
        h->is.name = arena_printf(&w->a, "esx%d", i);
        h->is.state = HOST_ON;
        h->is.cores = 4;
        h->is.total[RES_CPU] = 10000;
        h->is.total[RES_MEM] = 65536;
    }
    label(w, &w->inv.hosts[1].is.labels, "rack", "r2");
    (void)add_vm(w, "1", "web-1", "/prod/web");
    (void)add_vm(w, "2", "web-2", "/prod/web/new");
    (void)add_vm(w, "3", "db-1", "/prod");
    (void)add_vm(w, "4", "batch", NULL);
    label(w, &w->inv.vms[2].is.labels, "tier", "gold;licensed");
    label(w, &w->inv.vms[3].is.labels, "no-drs", "");
}

static void apply(struct world *w, const char *yaml)
{
    char text[2048];
    struct err err = {0};

    (void)snprintf(text, sizeof text, SIM "dpm: {time_zone: UTC}\n%s", yaml);
    if (config_parse("f.yaml", text, strlen(text), CONFIG_FOR_SERVICE, &w->a, &w->config, &err) < 0)
        fail_msg("%s", err.text);
    w->found = (struct overlay_findings){0};
    overlay_apply(&w->config.overlay, &w->inv, &w->a, &w->found);
}

/* "id kind! vms | hosts; ...": ! is mandatory. Then the findings. */
static const char *rules_of(struct world *w)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};

    strbuf_init(&out, STRBUF_NO_LIMIT);
    for (size_t i = 0; i < w->inv.n_rules; i++) {
        const struct seen_rule *r = &w->inv.rules[i];

        strbuf_printf(&out, "%s%s %s%s", i ? "; " : "", r->is.id, rule_kind_name(r->is.kind),
                      r->is.mandatory ? "!" : "");
        for (uint32_t k = 0; k < r->vms.n; k++)
            strbuf_printf(&out, " %s", r->vms.items[k]);
        for (uint32_t k = 0; k < r->hosts.n; k++)
            strbuf_printf(&out, "%s%s", k ? " " : " | ", r->hosts.items[k]);
    }
    for (size_t i = 0; i < w->found.n; i++)
        strbuf_printf(&out, "%s(%s)", out.len > 0 ? " " : "", w->found.items[i]);
    return arena_strdup(&w->a, out.text);
}

#define APART(vms) "rules: {r: {kind: anti-affinity, vms: " vms "}}"
#define APART_OF(ids) "configuration:r vm-vm-anti-affine! " ids

static const struct {
    const char *yaml, *expected;
} of_rules[] = {
    {"", ""},
    {APART("'web-*'"), APART_OF("1 2")},
    {APART("'Web-*'"), "(rules.r selects no VM)"},
    {APART("['web-1', batch]"), APART_OF("1 4")},
    {APART("{name: ['1', 'db*']}"), APART_OF("1 3")}, /* by id, too */
    {APART("{name: web-1}"), APART_OF("1 (rules.r selects only one VM)")},
    /* folders: those below, too; a * is one level */
    {APART("{folder: /prod}"), APART_OF("1 2 3")},
    {APART("{folder: /prod/web}"), APART_OF("1 2")},
    {APART("{folder: /pro}"), "(rules.r selects no VM)"},
    {APART("{folder: '/*/web'}"), APART_OF("1 2")},
    {APART("{folder: '/*/new'}"), "(rules.r selects no VM)"},
    {APART("{folder: /prod, name: '*-1'}"), APART_OF("1 3")},                    /* and */
    {APART("[{folder: /prod/web, name: '*-1'}, {tag: no-*}]"), APART_OF("1 4")}, /* or */
    /* labels and tags */
    {APART("[{label: tier}, {label: no-drs}]"), APART_OF("3 4")},
    {APART("[{label: tier=licensed}, {label: 'no-drs='}]"), APART_OF("3 4")},
    {APART("[{label: 'tier=gold;*'}, {label: tier=gold}, web-1]"), APART_OF("1 3")},
    {APART("{label: tier=silver}"), "(rules.r selects no VM)"},
    {APART("{label: tie}"), "(rules.r selects no VM)"},
    {APART("{tag: [licensed, no-drs]}"), APART_OF("3 4")},
    {APART("{tag: tier}"), "(rules.r selects no VM)"}, /* a category is no tag */
    /* kinds */
    {"rules: {x: {kind: host-affinity, mandatory: false, vms: '*', hosts: {label: rack=r2}}}",
     "configuration:x vm-host-affine 1 2 3 4 | h2"},
    {"rules: {x: {kind: host-anti-affinity, vms: batch, hosts: [esx1, h2]}}",
     "configuration:x vm-host-anti-affine! 4 | h1 h2"},
    {"rules: {x: {kind: host-affinity, vms: batch, hosts: esx9}}",
     "configuration:x vm-host-affine! 4 (rules.x selects no host)"},
    {"rules: {x: {kind: affinity, vms: 'web*'}, b: {kind: affinity, vms: [batch, db-1]}}",
     "configuration:x vm-vm-affine! 1 2; configuration:b vm-vm-affine! 3 4"},
    /* pins: the last one counts */
    {"vms: [{name: '*', pin: esx1}, {name: batch, pin: [esx2]}]",
     "configuration:vms.0.pin vm-host-affine! 1 2 3 | h1; configuration:vms.1.pin vm-host-affine! 4 | h2"},
    {"vms: [{name: nobody, automation: manual}]\nhosts: [{name: esx9, dpm: disabled}]",
     "(vms.0 selects no VM) (hosts.0 selects no host)"},
};

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(of_rules); i++) {
        struct world w;

        world_init(&w);
        apply(&w, of_rules[i].yaml);
        assert_string_equal(rules_of(&w), of_rules[i].expected);
        arena_release(&w.a);
    }
}

/* A rule of the source keeps its id; one of the configuration is replaced by the next application. */
static void test_beside_those_of_the_source(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    struct seen_rule *own = inventory_add_rule(&w.inv, &w.a);

    rule_facts_default(&own->is, RULE_VM_AFFINE);
    own->is.id = "configuration:r";
    own->vms = (struct ids){.items = (const char *const[]){"3", "4"}, .n = 2};
    for (int i = 0; i < 2; i++) {
        apply(&w, APART("'web-*'"));
        assert_string_equal(rules_of(&w), "configuration:r vm-vm-affine! 3 4; configuration:r' "
                                          "vm-vm-anti-affine! 1 2");
    }
    struct snapshot s;

    assert_int_equal(snapshot_build(&w.inv, &w.a, &s, NULL), 0);
    assert_int_equal(s.rules[0].is.origin, RULE_OF_SOURCE);
    assert_int_equal(s.rules[1].is.origin, RULE_OF_CONFIGURATION);
    arena_release(&w.a);
}

/* web-1: apart, pinned; web-2: apart, pinned; db-1: a tag of a category among others; batch: ignored. */
static void tag_all(struct world *w)
{
    label(w, &w->inv.vms[0].is.labels, "plb_anti_affinity_web", "");
    label(w, &w->inv.vms[0].is.labels, "plb_pin_esx2", "");
    label(w, &w->inv.vms[1].is.labels, "ProxLB",
          "plb_affinity_db;plb_anti_affinity_web;plb_pin_ESX2;plb_pin_h1");
    label(w, &w->inv.vms[2].is.labels, "other", "x;plb_affinity_db;plb_pin_gone;plb_affinity_alone");
    label(w, &w->inv.vms[3].is.labels, "plb_ignore_dev", "");
}

static void test_proxlb_tags(void **state)
{
    static const char *const expected[] = {
        [PROXLB_OFF] = "",
        [PROXLB_PREFERRED] = "tag:plb_affinity_db vm-vm-affine 2 3; "
                             "tag:plb_anti_affinity_web vm-vm-anti-affine 1 2; "
                             "tag:plb_pin_esx2 vm-host-affine 1 | h2; "
                             "tag:plb_pin_ESX2, plb_pin_h1 vm-host-affine 2 | h2 h1 "
                             "(the tag plb_pin_gone names no host)",
        [PROXLB_MANDATORY] = "tag:plb_affinity_db vm-vm-affine! 2 3; "
                             "tag:plb_anti_affinity_web vm-vm-anti-affine! 1 2; "
                             "tag:plb_pin_esx2 vm-host-affine! 1 | h2; "
                             "tag:plb_pin_ESX2, plb_pin_h1 vm-host-affine! 2 | h2 h1 "
                             "(the tag plb_pin_gone names no host)",
    };
    static const char *const yaml[] = {"proxlb_tags: off", "", "proxlb_tags: mandatory"};

    (void)state;
    for (int i = PROXLB_OFF; i <= PROXLB_MANDATORY; i++) {
        struct world w;

        world_init(&w);
        tag_all(&w);
        apply(&w, yaml[i]);
        assert_string_equal(rules_of(&w), expected[i]);
        if (i == PROXLB_OFF)
            assert_null(w.inv.vms[3].is.immovable);
        else
            assert_string_equal(w.inv.vms[3].is.mandatory_only, "the tag plb_ignore_dev");
        arena_release(&w.a);
    }
}

static void test_settings(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    w.inv.vms[2].is.automation = AUTOMATION_DISABLED;
    apply(&w, "vms: [{name: '*', automation: manual}, {tag: gold, automation: inherit}]\n"
              "hosts: [{name: 'esx*', dpm: disabled}, {label: rack, migrations_max: 2}]");
    assert_int_equal(w.inv.vms[0].is.automation, AUTOMATION_MANUAL);
    assert_int_equal(w.inv.vms[2].is.automation, AUTOMATION_INHERIT);
    assert_int_equal(w.inv.hosts[0].is.dpm, AUTOMATION_DISABLED);
    assert_int_equal(w.inv.hosts[1].is.dpm, AUTOMATION_DISABLED);
    assert_int_equal(w.inv.hosts[0].is.migrations_max, 0);
    assert_int_equal(w.inv.hosts[1].is.migrations_max, 2);
    const double had = w.inv.hosts[0].is.reserved[RES_MEM];
    const double total = w.inv.hosts[0].is.total[RES_CPU];

    apply(&w, arena_printf(&w.a,
                           "hosts: [{name: 'esx*', reserve: {cpu_mhz: %.0f, mem_mb: %.0f}}, {label: rack, "
                           "reserve: {cpu_mhz: %.0f}}]",
                           total / 4, had + 100, total));
    assert_float_equal(w.inv.hosts[0].is.reserved[RES_CPU], total / 4, 1e-9);
    assert_float_equal(w.inv.hosts[0].is.reserved[RES_MEM], had + 100, 1e-9);
    assert_float_equal(w.inv.hosts[1].is.reserved[RES_CPU], total / 4, 1e-9);
    assert_int_equal(w.found.n, 1);
    assert_string_equal(w.found.items[0], "hosts.1: reserve.cpu_mhz is left out for esx2, which has 10000");
    arena_release(&w.a);
}

static void test_immovable(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    w.inv.vms[1].is.immovable = "a passthrough device";
    apply(&w, "vms:\n- {name: 'web-*', never_move: dongle}\n- {name: db-1, no_moves: ['Thu 00:00 for 2h']}\n"
              "- {name: batch, no_moves: ['Thu 00:01 for 2h']}");
    assert_string_equal(w.inv.vms[0].is.immovable, "dongle (never_move of the configuration)");
    assert_string_equal(w.inv.vms[1].is.immovable, "a passthrough device");
    assert_string_equal(w.inv.vms[2].is.immovable,
                        "no_moves of the configuration, until 2026-01-01T02:00:00Z");
    assert_null(w.inv.vms[3].is.immovable);
    arena_release(&w.a);
}

/* What the source says of unread labels stands only where an entry needs labels. */
static void any_text(struct rng *rng, const char *letters, char ret[8])
{
    uint32_t n = rng_below(rng, 7);

    for (uint32_t i = 0; i < n; i++)
        ret[i] = letters[rng_below(rng, (uint32_t)strlen(letters))];
    ret[n] = '\0';
}

/* Names match patterns as fnmatch(3) says. */
static void test_patterns(void **state)
{
    struct rng rng = {3};
    int taken = 0;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char pattern[8], name[8];
        const char *const patterns[] = {pattern};
        const struct condition condition = {.names = {patterns, 1}};
        const struct selector s = {.conditions = &condition, .n = 1};

        any_text(&rng, "aab*?[]!-\\", pattern);
        any_text(&rng, "aab]-", name);
        bool takes = selector_takes_vm(&s, &(struct vm_facts){.id = name});

        taken += takes;
        if (takes != (fnmatch(pattern, name, 0) == 0))
            fail_msg("\"%s\" and \"%s\"", pattern, name);
    }
    assert_true(taken > 1000);
}

static void test_needs_labels(void **state)
{
    static const struct {
        const char *yaml;
        bool needs;
    } cases[] = {
        {"proxlb_tags: off\n", false},
        {"{}\n", true}, /* ProxLB's tags become rules, unless they are switched off */
        {"proxlb_tags: off\nvms:\n  - {name: \"web-*\", automation: manual}\n", false},
        {"proxlb_tags: off\nvms:\n  - {label: tier, automation: manual}\n", true},
        {"proxlb_tags: off\nhosts:\n  - {tag: old, dpm: manual}\n", true},
        {"proxlb_tags: off\nvms:\n  - {name: \"web-*\", pin: {tag: old}}\n", true},
        {"proxlb_tags: off\npools: {a: {vms: 'a*'}, b: {cpu: {limit: 9}}}\n", false},
        {"proxlb_tags: off\npools: {a: {vms: {label: tier}}}\n", true},
        {"proxlb_tags: off\nrules:\n  r: {kind: host-affinity, vms: web, hosts: {label: a=b}}\n", true},
        {"proxlb_tags: off\nrules:\n  r: {kind: affinity, vms: [web, {folder: /a, tag: x}]}\n", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;

        print_message("  %s", cases[i].yaml);
        world_init(&w);
        w.inv.labels_unread = "HTTP 503";
        apply(&w, strcmp(cases[i].yaml, "{}\n") == 0 ? "" : cases[i].yaml);
        assert_int_equal(w.inv.labels_unread != NULL, cases[i].needs);
        arena_release(&w.a);
    }
}

/* Pools of the source: prod (p1), prod/db (p2), test (p3). db-1 is in prod/db, batch in test. */
static void add_pools(struct world *w)
{
    static const struct {
        const char *id, *name, *parent;
    } pools[] = {{"p1", "prod", NULL}, {"p2", "db", "p1"}, {"p3", "test", NULL}};

    for (size_t i = 0; i < ELEMENTS(pools); i++) {
        struct seen_pool *p = inventory_add_pool(&w->inv, &w->a);

        pool_facts_default(&p->is);
        p->is.id = pools[i].id;
        p->is.name = pools[i].name;
        p->parent = pools[i].parent;
    }
    w->inv.pools[0].is.alloc[RES_CPU].reservation = 5000;
    w->inv.vms[2].pool = "p2";
    w->inv.vms[3].pool = "p3";
    w->inv.vms[3].is.alloc[RES_MEM].reservation = 500;
}

static void put_alloc(struct strbuf *out, const struct alloc *a)
{
    strbuf_printf(out, " %g/%g/%g%s", a->reservation, a->limit, a->shares, a->expandable ? "+" : "");
}

/* What differs from the source: "id<parent cpu|mem" of pools, "id<pool cpu|mem" of VMs, then the findings. */
static const char *resources_of(struct world *w)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};

    strbuf_init(&out, STRBUF_NO_LIMIT);
    for (size_t i = 0; i < w->inv.n_pools; i++) {
        const struct seen_pool *p = &w->inv.pools[i];

        if (!p->is.overridden && p->is.origin == RULE_OF_SOURCE)
            continue;
        strbuf_printf(&out, "%s%s<%s", out.len > 0 ? "; " : "", p->is.id, p->parent ? p->parent : "");
        for (int r = 0; r < RES_COUNT; r++)
            put_alloc(&out, &p->is.alloc[r]);
    }
    for (size_t i = 0; i < w->inv.n_vms; i++) {
        const struct seen_vm *v = &w->inv.vms[i];

        if (!v->is.overridden)
            continue;
        strbuf_printf(&out, "%s%s<%s", out.len > 0 ? "; " : "", v->is.id, v->pool ? v->pool : "");
        for (int r = 0; r < RES_COUNT; r++)
            put_alloc(&out, &v->is.alloc[r]);
    }
    for (size_t i = 0; i < w->found.n; i++)
        if (!strstr(w->found.items[i], "enforces"))
            strbuf_printf(&out, "%s(%s)", out.len > 0 ? " " : "", w->found.items[i]);
    return arena_strdup(&w->a, out.text);
}

#define NEW_POOL " 0/inf/4000+ 0/inf/163840+"
#define VM " 0/inf/1000 0/inf/10240"

static const struct {
    const char *yaml, *expected;
} of_resources[] = {
    {"", ""},
    /* VMs: what is not given stays; the last entry counts, key by key */
    {"vms: [{name: batch, cpu: {limit: 700, shares: 50}, mem: {reservation: 100, limit: 2048}}]",
     "4<p3 0/700/50 100/2048/10240"},
    {"vms: [{name: '*-1', cpu: {reservation: 9, limit: 99}}, {name: db-1, cpu: {reservation: 7}}]",
     "1< 9/99/1000 0/inf/10240; 3<p2 7/99/1000 0/inf/10240"},
    {"vms: [{name: batch, priority: high, cpu: {shares: 3}}]", "4<p3 0/inf/3 500/inf/20480"},
    {"vms: [{name: web-1, priority: low}]", "1< 0/inf/500 0/inf/5120"},
    {"vms: [{name: web-1, priority: normal}, {name: web-2, cpu: {limit: null}}]", ""}, /* as it is */
    /* a limit below what the source reserves; more memory than the VM has */
    {"vms: [{name: batch, mem: {limit: 300}}]",
     "4<p3 0/inf/1000 300/300/10240 (the reservation of batch is above the limit and counts as much as the "
     "limit)"},
    {"vms: [{name: web-*, mem: {reservation: 4000}}]",
     "1< 0/inf/1000 1024/inf/10240; 2< 0/inf/1000 1024/inf/10240 (the reservation of web-1 (and of 1 more) "
     "is "
     "above the memory size and counts as much as the size)"},
    /* pools of the source, by path and by id */
    {"pools: {prod: {cpu: {limit: 9000}}}", "p1< 5000/9000/4000+ 0/inf/163840+"},
    {"pools: {p2: {mem: {reservation: 64, expandable: false}}, prod/db: {cpu: {shares: 1}}}",
     "p2<p1 0/inf/1+ 64/inf/163840"},
    {"pools: {test: {cpu: {shares: 4000}}}", ""},
    {"pools: {prod: {cpu: {limit: 4000}}}", "p1< 4000/4000/4000+ 0/inf/163840+ (the reservation of prod is "
                                            "above the limit and counts as much as the "
                                            "limit)"},
    /* new pools: below the root, each other, and pools of the source */
    {"pools: {web: {vms: 'web-*', cpu: {reservation: 5, limit: 2000}}}",
     "configuration:web< 5/2000/4000+ 0/inf/163840+; 1<configuration:web" VM "; 2<configuration:web" VM},
    {"pools: {a/b: {vms: web-1}, a: {}, prod/db/x: {vms: db-1}}",
     "configuration:a<" NEW_POOL "; configuration:a/b<configuration:a" NEW_POOL
     "; configuration:prod/db/x<p2" NEW_POOL "; 1<configuration:a/b" VM "; 3<configuration:prod/db/x" VM},
    {"pools: {nowhere/x: {vms: web-1}}", "configuration:nowhere/x<" NEW_POOL "; 1<configuration:nowhere/x" VM
                                         " (there is no pool above pools.nowhere/x; it is below the root)"},
    {"pools: {prodd: {cpu: {limit: 5}}, x: {vms: app-*}}",
     "configuration:prodd< 0/5/4000+ 0/inf/163840+; configuration:x<" NEW_POOL
     " (pools.x selects no VM) (pools.prodd is no pool of the source and holds no VM)"},
    /* VMs into pools of the source; the deepest pool, the last of two branches */
    {"pools: {test: {vms: [web-1, batch]}}", "1<p3" VM},
    {"pools: {prod/db: {vms: {folder: /prod/web}}, prod: {vms: {folder: /prod}}}", "1<p2" VM "; 2<p2" VM},
    {"pools: {prod: {vms: {folder: /prod}}, test: {vms: '*-1'}}",
     "1<p3" VM "; 2<p1" VM "; 3<p3" VM
     " (pools.prod and pools.test both select web-1 and 1 more; pools.test counts)"},
};

/* Twice: what an application has added is replaced by the next one. */
static void test_resources(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(of_resources); i++) {
        struct world w;

        world_init(&w);
        add_pools(&w);
        for (int k = 0; k < 2; k++) {
            struct snapshot s;
            struct err err = {0};

            apply(&w, of_resources[i].yaml);
            assert_string_equal(resources_of(&w), of_resources[i].expected);
            if (snapshot_build(&w.inv, &w.a, &s, &err) < 0)
                fail_msg("%s", err.text);
        }
        apply(&w, "");
        assert_string_equal(resources_of(&w), "");
        assert_int_equal(w.inv.n_pools, 3);
        arena_release(&w.a);
    }
}

#define NEW(path) "pools." path " is no pool of the source, so no hypervisor enforces it; "
#define OTHER(path)                                                                                          \
    "pools." path " differs from the pool of the source, whose settings the hypervisor enforces; "

static const struct {
    const char *yaml, *expected;
} of_enforcement[] = {
    {"vms: [{name: '*', automation: manual}]\npools: {test: {cpu: {shares: 4000}}}", ""},
    {"pools: {test: {cpu: {shares: 5}}, a: {vms: batch}, prod/x: {vms: web-1}}",
     OTHER("test") NEW("a") NEW("prod/x")},
    {"pools: {prod/db: {vms: web-1}}",
     "pools.prod/db holds VMs that the source has elsewhere, so no hypervisor "
     "enforces it for them; "},
    {"vms: [{name: '*', cpu: {limit: 70}}, {name: batch, cpu: {limit: null}}, {name: web-1, priority: low}]",
     "vms.0 sets what the source does not have of 2 VMs, so no hypervisor enforces it; vms.2 sets what the "
     "source "
     "does not have of 1 VM, so no hypervisor enforces it; "},
};

static const char *not_enforced(struct world *w)
{
    const char *all = "";

    for (size_t i = 0; i < w->found.n; i++)
        if (strstr(w->found.items[i], "enforces"))
            all = arena_printf(&w->a, "%s%s; ", all, w->found.items[i]);
    return all;
}

/* What no hypervisor enforces is named; a pool of the source that hosts have parts of is set by Ballast. */
static void test_not_enforced(void **state)
{
    struct world w;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(of_enforcement); i++) {
        world_init(&w);
        add_pools(&w);
        apply(&w, of_enforcement[i].yaml);
        assert_string_equal(not_enforced(&w), of_enforcement[i].expected);
        arena_release(&w.a);
    }
    world_init(&w);
    add_pools(&w);
    struct seen_setting *set = inventory_add_setting(&w.inv, &w.a);

    set->host = "h1";
    set->pool = "p3";
    apply(&w, "pools: {test: {cpu: {shares: 5}}, prod: {cpu: {shares: 5}}}");
    assert_string_equal(not_enforced(&w), OTHER("prod"));
    arena_release(&w.a);
}

/* check-config knows no inventory: it names each entry of which a hypervisor may have nothing. */
static void test_named_by_check_config(void **state)
{
    static const char text[] = SIM "pools:\n  a: {vms: x}\nvms:\n- {name: x, automation: manual}\n"
                                   "- {name: y, priority: low}\n- {name: z, cpu: {limit: 5}}\n";
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};

    (void)state;
    assert_int_equal(config_parse("f.yaml", text, strlen(text), CONFIG_FOR_SERVICE, &a, &c, &err), 0);
    for (size_t i = 0; i < c.n_warnings; i++)
        assert_null(strstr(c.warnings[i], "enforces"));
    const size_t others = c.n_warnings;

    assert_int_equal(config_parse("f.yaml", text, strlen(text), CONFIG_FOR_CHECK, &a, &c, &err), 0);
    assert_int_equal(c.n_warnings, others + 3);
    size_t n = 0;
    static const char *const begins[] = {"f.yaml:4: pools.a: unless the source has this pool",
                                         "f.yaml:7: vms.1: where the source",
                                         "f.yaml:8: vms.2: where the source"};

    for (size_t i = 0; i < c.n_warnings; i++)
        if (strstr(c.warnings[i], "enforces")) {
            assert_int_equal(strncmp(c.warnings[i], begins[n], strlen(begins[n])), 0);
            n++;
        }
    assert_int_equal(n, 3);
}

/* A source may use any id. */
static void test_pool_beside_that_of_the_source(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_pools(&w);
    w.inv.pools[2].is.id = "configuration:web";
    w.inv.vms[3].pool = "configuration:web";
    apply(&w, "pools: {web: {vms: web-1}}");
    assert_string_equal(resources_of(&w), "configuration:web'<" NEW_POOL "; 1<configuration:web'" VM);
    arena_release(&w.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_beside_those_of_the_source),
        cmocka_unit_test(test_proxlb_tags),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_immovable),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_pool_beside_that_of_the_source),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_needs_labels),
        cmocka_unit_test(test_not_enforced),
        cmocka_unit_test(test_named_by_check_config),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
