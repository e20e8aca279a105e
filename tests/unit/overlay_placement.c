/* Groups, pipelines and what they read, from the configuration: what they become in an inventory. */
#include "unit.h"

#include "config/config.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "overlay/overlay.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <string.h>

#define SIM "cluster: a\nsource: {kind: sim}\n"
#define LESS(x) "[{name: s, filter: ['<', $host.cores, " #x "]}]"

struct world {
    struct arena a;
    struct inventory inv;
    struct overlay_findings found;
};

/* Hosts esx1 and esx2 (label rack: r2), VMs web-1, web-2 and db-1 on esx1. */
static void world_init(struct world *w)
{
    static const struct label rack = {"rack", "r2"};
    static const char *const vms[] = {"web-1", "web-2", "db-1"};

    *w = (struct world){.inv = {.cluster = "a", .time = 1767225600}};
    for (int i = 1; i <= 2; i++) {
        struct seen_host *h = inventory_add_host(&w->inv, &w->a);

        host_facts_default(&h->is);
        h->is.id = arena_printf(&w->a, "esx%d", i);
        h->is.state = HOST_ON;
        h->is.cores = 4;
        h->is.total[RES_CPU] = 10000;
        h->is.total[RES_MEM] = 65536;
    }
    w->inv.hosts[1].is.labels = (struct labels){&rack, 1};
    for (size_t i = 0; i < ELEMENTS(vms); i++) {
        struct seen_vm *v = inventory_add_vm(&w->inv, &w->a);

        v->is = (struct vm_facts){.vcpus = 1, .mem_mb = 1024};
        vm_facts_default(&v->is);
        v->is.id = vms[i];
        v->is.state = VM_ON;
        v->host = "esx1";
    }
}

/* The configuration is gone when the inventory is read. */
static void apply(struct world *w, const char *yaml)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config config;
    struct err err = {0};
    const char *text = arena_printf(&a, SIM "%s", yaml);

    if (config_parse("f.yaml", text, strlen(text), CONFIG_FOR_SERVICE, &a, &config, &err) < 0)
        fail_msg("%s", err.text);
    w->found = (struct overlay_findings){0};
    overlay_apply(&config.overlay, &w->inv, &w->a, &w->found);
}

/* The lines of the snapshot with one of these words. */
static const char *lines_with(struct world *w, const char *word)
{
    CLEANUP(strbuf_releasep) struct strbuf text = {0}, out = {0};
    struct snapshot s;
    struct err err = {0};
    char *save = NULL;

    if (snapshot_build(&w->inv, &w->a, &s, &err) < 0)
        fail_msg("%s", err.text);
    strbuf_init(&text, STRBUF_NO_LIMIT);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    snapshot_dump(&s, &text);
    for (char *line = strtok_r(text.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *from = strstr(line, word);
        size_t len = from ? strlen(from) : 0;

        if (from)
            strbuf_printf(&out, "%.*s\n", (int)(from[len - 1] == ',' ? len - 1 : len), from);
    }
    return arena_strdup(&w->a, out.text);
}

static const char *findings(struct world *w)
{
    const char *all = "";

    for (size_t i = 0; i < w->found.n; i++)
        all = arena_printf(&w->a, "%s%s\n", all, w->found.items[i]);
    return all;
}

static const char all[] =
    "groups:\n"
    "  r1: {kind: rack, hosts: ['*1', {label: rack=r2}], meta: {tenants: \"a,b\", ratio: 1.5}}\n"
    "  none: {kind: zone, hosts: esx9}\n"
    "pipelines:\n"
    "  web:\n"
    "    vms: \"web-*\"\n"
    "    stages:\n"
    "      - name: tier\n"
    "        filter: [\">=\", $host.attributes.tier, [default, $vm.flavor.tier, 1]]\n"
    "      - {name: owner, filter: [any_group, rack, [in, $vm.owner, [split, $group.meta.tenants]]],\n"
    "         applies: [place, move, correct]}\n"
    "  by-name: {stages: " LESS(
        3) "}\n"
           "vms:\n"
           "  - {name: web-1, owner: b, flavor: {tier: 2, gold: true}, image: {os: linux}, hints: {near: "
           "[db-1, x]}}\n"
           "  - {name: \"web-*\", flavor: {tier: 3}, groups: [web, all]}\n"
           "  - {name: web-1, groups: [web, first]}\n"
           "hosts:\n"
           "  - {name: esx1, traits: [AVX, SSE], attributes: {tier: 3, zone: \"3\"}}\n"
           "  - {name: \"*\", traits: AVX, quantities: {DISK: {total: 10, ratio: 2}, GPU: {total: 1}}}\n"
           "  - {name: esx1, quantities: {DISK: {total: 50, reserved: 5, used_elsewhere: 1}}}\n";

static void check_all(struct world *w)
{
    assert_string_equal(
        lines_with(w, "{\"id\": \"configuration:"),
        "{\"id\": \"configuration:none\", \"name\": \"none\", \"kind\": \"zone\", \"hosts\": [], \"origin\": "
        "\"configuration\"}\n"
        "{\"id\": \"configuration:r1\", \"name\": \"r1\", \"kind\": \"rack\", \"hosts\": [\"esx1\", "
        "\"esx2\"], "
        "\"meta\": {\"ratio\": \"1.5\", \"tenants\": \"a,b\"}, \"origin\": \"configuration\"}\n");
    assert_string_equal(
        lines_with(w, "{\"name\": "),
        "{\"name\": \"by-name\", \"stages\": [{\"name\": \"s\", \"filter\": [\"<\", \"$host.cores\", 3], "
        "\"applies\": [\"place\", \"move\"]}], \"origin\": \"configuration\"}\n"
        "{\"name\": \"web\", \"stages\": [{\"name\": \"tier\", \"filter\": [\">=\", "
        "\"$host.attributes.tier\", [\"default\", \"$vm.flavor.tier\", 1]], \"applies\": [\"place\", "
        "\"move\"]}, {\"name\": \"owner\", \"filter\": [\"any_group\", \"rack\", [\"in\", \"$vm.owner\", "
        "[\"split\", \"$group.meta.tenants\"]]], \"applies\": [\"place\", \"move\", \"correct\"]}], "
        "\"origin\": \"configuration\"}\n");
    assert_string_equal(lines_with(w, "\"traits\": "),
                        "\"traits\": [\"AVX\", \"SSE\"], \"attributes\": {\"tier\": 3, \"zone\": \"3\"}, "
                        "\"quantities\": {\"DISK\": {\"total\": 50, \"reserved\": 5, \"ratio\": 1, "
                        "\"used_elsewhere\": 1}, \"GPU\": {\"total\": 1, \"reserved\": 0, \"ratio\": 1, "
                        "\"used_elsewhere\": 0}}}\n"
                        "\"traits\": [\"AVX\"], \"quantities\": {\"DISK\": {\"total\": 10, "
                        "\"reserved\": 0, \"ratio\": 2, \"used_elsewhere\": 0}, \"GPU\": {\"total\": 1, "
                        "\"reserved\": 0, \"ratio\": 1, \"used_elsewhere\": 0}}}\n");
    assert_string_equal(
        lines_with(w, "\"pipeline\": "),
        "\"pipeline\": \"web\", \"owner\": \"b\", \"flavor\": {\"gold\": true, \"tier\": 3}, "
        "\"image\": {\"os\": \"linux\"}, \"hints\": {\"near\": [\"db-1\", \"x\"]}, \"groups\": "
        "[\"all\", \"first\", \"web\"]}\n"
        "\"pipeline\": \"web\", \"flavor\": {\"tier\": 3}, \"groups\": [\"all\", \"web\"]}\n");
    assert_string_equal(findings(w), "groups.none selects no host\n");
}

/* A second application changes nothing; one without the entries takes groups and pipelines away. */
static void test_becomes_part_of_the_inventory(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    apply(&w, all);
    check_all(&w);
    apply(&w, all);
    check_all(&w);
    apply(&w, "");
    assert_string_equal(lines_with(&w, "configuration"), "");
    assert_string_equal(lines_with(&w, "\"pipeline\": "), "");
    arena_release(&w.a);
}

static void add_pipeline(struct world *w, const char *name)
{
    struct seen_pipeline *p = inventory_add_pipeline(&w->inv, &w->a);

    p->name = name;
    w->inv.vms[0].pipeline = name;
}

/* The source's pipeline of a VM counts, and its name stays its own. */
static void test_beside_those_of_the_source(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_pipeline(&w, "p");
    for (int i = 0; i < 2; i++) {
        apply(&w,
              "pipelines: {p: {vms: 'web-*', stages: " LESS(9) "}, q: {vms: ['*-2', db-1, x], stages: " LESS(
                  8) "},"
                     " r: {vms: x, stages: " LESS(7) "}}");
        assert_string_equal(w.inv.vms[0].pipeline, "p");
        assert_string_equal(w.inv.vms[1].pipeline, "q");
        assert_string_equal(w.inv.vms[2].pipeline, "q");
        assert_string_equal(
            findings(&w),
            "pipelines.p selects web-1, which the source places by its own pipeline; that of the source "
            "counts\n"
            "pipelines.q selects web-2, which an earlier entry selects too; pipelines.q counts\n"
            "pipelines.r selects no VM\n");
        assert_string_equal(w.inv.pipelines[1].name, "p'");
    }
    arena_release(&w.a);
}

/* A kind of groups that is misspelt is told: it would count nothing. */
static void test_kinds_without_a_group(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    apply(&w,
          "groups: {r1: {kind: rack, hosts: '*'}}\n"
          "pipelines: {p: {vms: '*', stages: [{name: a, count: 1, limit: 2, over: rak}, {name: b, count: 1, "
          "limit: 2, over: rack}, {name: c, filter: [or, [all_groups, zon, [given, $group.meta.x]], "
          "[any_group, rack, [given, $group.meta.x]]]}]}}");
    assert_string_equal(findings(&w),
                        "pipelines.p: the stage a asks for groups of the kind rak, of which there is none\n"
                        "pipelines.p: the stage c asks for groups of the kind zon, of which there is none\n");
    arena_release(&w.a);
}

/* Filters read labels, too: without labels they would refuse hosts. */
static void test_needs_labels(void **state)
{
    static const struct {
        const char *yaml;
        bool needs;
    } cases[] = {
        {"groups: {g: {kind: rack, hosts: 'esx*'}}", false},
        {"groups: {g: {kind: rack, hosts: {label: rack}}}", true},
        {"pipelines: {p: {vms: 'web-*', stages: " LESS(3) "}}", false},
        {"pipelines: {p: {vms: {tag: web}, stages: " LESS(3) "}}", true},
        {"pipelines: {p: {stages: [{name: s, filter: true}, {name: t, filter: [given, $vm.labels.x]}]}}",
         true},
        {"pipelines: {p: {stages: [{name: s, filter: [not, [given, $host.labels.x]]}]}}", true},
        {"pipelines: {p: {stages: [{name: s, filter: [any_group, 'tag:rack', true]}]}}", true},
        {"pipelines: {p: {stages: [{name: s, filter: [any_group, rack, true]}]}}", false},
        {"pipelines: {p: {stages: [{name: s, count: 1, limit: 2, over: 'tag:rack'}]}}", true},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;

        world_init(&w);
        w.inv.labels_unread = "HTTP 503";
        apply(&w, arena_printf(&w.a, "proxlb_tags: off\n%s", cases[i].yaml));
        if ((w.inv.labels_unread != NULL) != cases[i].needs)
            fail_msg("%s", cases[i].yaml);
        arena_release(&w.a);
    }
}

/* An object with as many names as a snapshot takes keeps these, and a finding says so. */
static void test_too_many_names(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    struct attribute *full = arena_array(&w.a, struct attribute, ATTRIBUTES_MAX);

    for (int i = 0; i < ATTRIBUTES_MAX; i++)
        full[i] = (struct attribute){arena_printf(&w.a, "a%d", i), {.type = VALUE_NUMBER}};
    w.inv.hosts[0].is.attributes = (struct attributes){full, ATTRIBUTES_MAX};
    apply(&w, "hosts: [{name: esx1, attributes: {a5: 7, more: 1}}]");
    assert_int_equal(w.inv.hosts[0].is.attributes.n, ATTRIBUTES_MAX);
    assert_float_equal(w.inv.hosts[0].is.attributes.items[5].is.number, 7, 0);
    assert_string_equal(findings(&w), "hosts.0: esx1 has 1024 names already, the rest is left out\n");
    (void)lines_with(&w, "x");
    arena_release(&w.a);
}

/* A group of which some names match no host: a finding lists these names. */
static void test_names_that_match_nothing(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    apply(&w, "groups:\n"
              "  some: {kind: rack, hosts: [esx1, esx7, {name: [\"esx8*\", esx2]}]}\n"
              "  many: {kind: rack, hosts: [esx1, a, b, c, d, e, f, g]}\n"
              "  all: {kind: rack, hosts: [\"esx*\", {label: rack=r9}]}\n");
    assert_string_equal(findings(&w), "groups.some: no host has the name esx7, esx8*\n"
                                      "groups.many: no host has the name a, b, c, d, e and 2 more\n");
    arena_release(&w.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_that_match_nothing),
        cmocka_unit_test(test_becomes_part_of_the_inventory),
        cmocka_unit_test(test_kinds_without_a_group),
        cmocka_unit_test(test_beside_those_of_the_source),
        cmocka_unit_test(test_needs_labels),
        cmocka_unit_test(test_too_many_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
