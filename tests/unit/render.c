/* Rendering of plans, entitlements and explanations made by hand: the exact text, and the JSON by its
 * members. */
#include "unit.h"

#include "base/strbuf.h"
#include "model/snapshot_build.h"
#include "render/render.h"
#include "render/table.h"

#include <jansson.h>
#include <string.h>

/* Two hosts, two VMs in a pool, one rule. */
static void make_snapshot(struct arena *a, struct snapshot *ret)
{
    static const char *const names[] = {"web", "database"};
    struct inventory inv = {.cluster = "prod", .time = 1767225600};
    struct err err = {0};

    for (int i = 0; i < 2; i++) {
        struct seen_host *h = inventory_add_host(&inv, a);
        h->is.id = i == 0 ? "h1" : "h2";
        h->is.name = i == 0 ? "esx-one" : "esx-two";
        h->is.total[RES_CPU] = 10000;
        h->is.total[RES_MEM] = 4096;
        h->is.cores = 4;
        struct seen_vm *v = inventory_add_vm(&inv, a);
        v->is.vcpus = 1;
        v->is.mem_mb = 1024;
        vm_facts_default(&v->is);
        v->is.id = i == 0 ? "v1" : "v2";
        v->is.name = names[i];
        v->host = "h1";
        v->pool = "p1";
    }
    struct seen_pool *p = inventory_add_pool(&inv, a);
    p->is.id = "p1";
    p->is.name = "gold";
    struct seen_rule *r = inventory_add_rule(&inv, a);
    r->is.id = "r1";
    assert_int_equal(snapshot_build(&inv, a, ret, &err), 0);
}

static struct host_load loads_before[] = {{0, {0.9, 0.5}}, {1, {0.1, 0.5}}};
static struct host_load loads_after[] = {{0, {0.6, 0.5}}, {1, {0.4, 0.5}}};
static const uint32_t first_only[] = {1};

static const struct finding leaves = {
    .code = FIND_MOVE,
    .reason = REASON_CONSOLIDATE,
    .subjects = {{SUBJECT_VM, 1}, {SUBJECT_RULE, IX_NONE}, {SUBJECT_FROM, 0}, {SUBJECT_TO, 1}},
    .figures = {
        {FIGURE_MEM_MB, 512}, {FIGURE_CPU_MHZ, 2500}, {FIGURE_CPU_LOAD_TO, 0.4}, {FIGURE_MEM_LOAD_TO, 0.5}}};
static const struct finding sleeps = {
    .code = FIND_SLEEP,
    .subjects = {{SUBJECT_MEM_FULLEST, 1}, {SUBJECT_CPU_FULLEST, 1}, {SUBJECT_HOST, 0}},
    .figures = {{FIGURE_CPU_LOAD, 0.1},
                {FIGURE_MEM_LOAD, 0.2},
                {FIGURE_OFF_S, 3600},
                {FIGURE_VMS, 1},
                {FIGURE_WATTS, UNKNOWN},
                {FIGURE_CPU_LOAD_FULLEST, 0.6},
                {FIGURE_MEM_LOAD_FULLEST, 0.5}}};
static const struct finding too_large = {
    .code = FIND_RULE_TOO_LARGE,
    .subjects = {{SUBJECT_RULE, 0}},
    .figures = {{FIGURE_VMS, 2}, {FIGURE_HOSTS, 1}, {FIGURE_LIMIT, UNKNOWN}}};
static struct recommendation recommendations[] = {
    {.id = 1,
     .action = ACTION_MIGRATE,
     .priority = 2,
     .vm = 1,
     .from = 0,
     .to = 1,
     .host = IX_NONE,
     .rule = IX_NONE,
     .reason = REASON_BALANCE_CPU,
     .found = &leaves,
     .imbalance_after = 0.1,
     .cost = {10, 20},
     .benefit = {1e6, 2.5},
     .duration_s = 1.0 / 3},
    {.id = 2,
     .action = ACTION_POWER_OFF,
     .priority = 1,
     .vm = IX_NONE,
     .from = IX_NONE,
     .to = IX_NONE,
     .host = 0,
     .rule = 0,
     .reason = REASON_CONSOLIDATE,
     .found = &sleeps,
     .depends_on = first_only,
     .n_depends_on = 1,
     .group = 4,
     .imbalance_after = 0.05},
};
static struct host_setting settings[] = {
    {0,
     0,
     {{.reservation = 5, .limit = NO_LIMIT, .shares = 10}, {.reservation = 6, .limit = 7, .shares = 8}}}};
static struct fault faults[] = {{FAULT_RULE_VIOLATED, 1, IX_NONE, 0, &too_large}};

static void make_plan(const struct snapshot *s, struct plan *ret)
{
    *ret = (struct plan){
        .snap = s,
        .before = {.imbalance = 0.2,
                   .imbalance_of = {0.4, 0},
                   .weight = {0.5, 0.5},
                   .target = 0.2,
                   .hosts = loads_before,
                   .n_hosts = 2},
        .after = {.imbalance = 0.05,
                  .imbalance_of = {0.1, 0},
                  .weight = {0.5, 0.5},
                  .target = 0.2,
                  .hosts = loads_after,
                  .n_hosts = 2},
        .recommendations = recommendations,
        .n_recommendations = ELEMENTS(recommendations),
        .settings = settings,
        .n_settings = 1,
        .faults = faults,
        .n_faults = 1,
        .end = CHECK_TARGET_REACHED,
        .stats = {.candidates = 2, .evaluated = 2, .decide_us = 17},
    };
    policy_default(&ret->policy);
    ret->stats.rejected[CHECK_NO_GAIN] = 1;
    ret->stats.rejected[CHECK_NONE] = 1;
}

static json_t *parse(const struct strbuf *text)
{
    json_error_t e;
    json_t *document = json_loadb(text->text, text->len, JSON_REJECT_DUPLICATES, &e);

    if (!document)
        fail_msg("%s in %s", e.text, text->text);
    return document;
}

/* The names of the members, in their order, with a blank after each. */
static void expect_members(const json_t *object, const char *expected)
{
    struct strbuf found;
    const char *key;
    json_t *value;

    assert_non_null(object);
    strbuf_init(&found, STRBUF_NO_LIMIT);
    json_object_foreach((json_t *)object, key, value) strbuf_printf(&found, "%s ", key);
    assert_string_equal(found.text, expected);
    strbuf_release(&found);
}

static void test_plan_json(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct plan plan;
    struct strbuf out;

    (void)state;
    make_snapshot(&a, &s);
    make_plan(&s, &plan);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    render_plan_json(&plan, &out);
    json_t *p = parse(&out);
    expect_members(p, "format cluster time policy before after recommendations settings faults end stats ");
    expect_members(json_object_get(p, "before"),
                   "imbalance imbalance_cpu imbalance_mem weight_cpu weight_mem target dpm hosts uneven ");
    expect_members(json_object_get(p, "stats"), "candidates evaluated rejected decide_us ");
    expect_members(json_object_get(json_object_get(p, "stats"), "rejected"), "no_gain ");
    json_t *r = json_array_get(json_object_get(p, "recommendations"), 0);
    expect_members(r, "id action priority vm from to host reason rule text subjects figures depends_on group "
                      "imbalance_after "
                      "cost benefit duration_s ");
    assert_string_equal(json_string_value(json_object_get(r, "vm")), "v2");
    assert_true(json_is_null(json_object_get(r, "host")) && json_is_null(json_object_get(r, "rule")) &&
                json_is_null(json_object_get(r, "group")));
    assert_non_null(strstr(out.text, "\"duration_s\": 0.333333333333}"));
    r = json_array_get(json_object_get(p, "recommendations"), 1);
    assert_true(json_is_null(json_object_get(r, "vm")) &&
                json_integer_value(json_object_get(r, "group")) == 4);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(r, "depends_on"), 0)), 1);
    r = json_array_get(json_object_get(p, "settings"), 0);
    expect_members(r, "host pool cpu mem ");
    assert_true(json_is_null(json_object_get(json_object_get(r, "cpu"), "limit")));
    expect_members(json_array_get(json_object_get(p, "faults"), 0),
                   "code vm host rule text subjects figures ");
    expect_members(json_object_get(json_array_get(json_object_get(p, "faults"), 0), "figures"), "hosts vms ");
    r = json_array_get(json_object_get(p, "recommendations"), 1);
    expect_members(json_object_get(r, "subjects"), "host cpu_fullest mem_fullest ");
    assert_string_equal(json_string_value(json_object_get(json_object_get(r, "subjects"), "host")), "h1");
    expect_members(json_object_get(r, "figures"),
                   "cpu_load mem_load cpu_load_fullest mem_load_fullest vms off_s ");
    json_decref(p);
    strbuf_release(&out);
    arena_release(&a);
}

/* Every setting of the table, with the type that JSON has for it. */
static void test_policy_json(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct plan plan;
    struct strbuf out;

    (void)state;
    make_snapshot(&a, &s);
    make_plan(&s, &plan);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    render_plan_json(&plan, &out);
    json_t *p = parse(&out);
    for (size_t i = 0; i < policy_settings.n; i++) {
        const struct field *f = &policy_settings.fields[i];
        const char *dot = strchr(f->name, '.');
        const json_t *in = json_object_get(p, "policy");
        if (dot)
            in = json_object_get(in, arena_strndup(&a, f->name, (size_t)(dot - f->name)));
        const json_t *value = json_object_get(in, dot ? dot + 1 : f->name);
        assert_non_null(value);
        bool word = f->type == FIELD_WORD || strcmp(f->fallback, "auto") == 0;
        assert_int_equal(json_is_string(value), word);
        assert_int_equal(json_is_boolean(value), f->type == FIELD_BOOL);
    }
    json_decref(p);
    strbuf_release(&out);
    arena_release(&a);
}

static const char plan_text[] =
    "Cluster prod at 2026-01-01T00:00:00Z: 2 of 2 hosts on, 2 of 2 VMs on\n"
    "Imbalance 0.2000 now, 0.0500 after the plan; target 0.2000 (threshold 3)\n"
    "\n"
    "  LOAD           SPREAD  WEIGHT  FULLEST HOST    EMPTIEST HOST\n"
    "  CPU before     0.4000    0.50  90.0 % esx-one  10.0 % esx-two\n"
    "  CPU after      0.1000    0.50  60.0 % esx-one  40.0 % esx-two\n"
    "  memory before  0.0000    0.50  50.0 % esx-one  50.0 % esx-one\n"
    "  memory after   0.0000    0.50  50.0 % esx-one  50.0 % esx-one\n"
    "\n"
    "2 recommendations\n"
    "\n"
    "  ID  PRIO  ACTION     VM        FROM       TO       REASON       IMBALANCE\n"
    "   1     2  migrate    database  esx-one -> esx-two  balance_cpu     0.1000\n"
    "      database (2.5 GHz, 512 MiB) moves from esx-one to esx-two (CPU 40 %,\n"
    "      memory 50 %), so that esx-one can go to standby.\n"
    "   2     1  power_off  -         -          esx-one  consolidate     0.0500\n"
    "      Needs 1; group 4. esx-one (its VMs want 10 % of CPU, 20 % of memory) is\n"
    "      evacuated (1 VM) and put to standby for about 60 min. That costs nothing.\n"
    "      Afterwards the VMs of the fullest host want CPU 60 % (esx-two) and memory\n"
    "      50 % (esx-two).\n"
    "\n"
    "1 fault\n"
    "\n"
    "  rule_violated: The rule \"r1\" keeps 2 VMs apart, but only 1 host can run them.\n"
    "\n"
    "1 setting of pools on hosts to change\n"
    "\n"
    "  HOST     POOL  RESOURCE    RESERVATION  LIMIT  SHARES\n"
    "  esx-one  gold  CPU MHz               5      -      10\n"
    "                 memory MiB            6      7       8\n";

static void test_plan_text(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct plan plan;
    struct strbuf out;

    (void)state;
    make_snapshot(&a, &s);
    make_plan(&s, &plan);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    render_plan_text(&plan, &out);
    assert_string_equal(out.text, plan_text);
    strbuf_release(&out);
    arena_release(&a);
}

/* Above the target, or, unless it is even, with a host that lacks headroom. */
static void make_uneven(struct metrics *m, bool above, bool even)
{
    static const struct finding imbalance = {.code = FIND_UNEVEN_IMBALANCE,
                                             .figures = {{FIGURE_IMBALANCE, 0.3}, {FIGURE_TARGET, 0.2}}};
    static const struct finding full = {.code = FIND_UNEVEN_HEADROOM,
                                        .resource = RES_MEM,
                                        .subjects = {{SUBJECT_HOST, 0}},
                                        .figures = {{FIGURE_LOAD, 0.92}, {FIGURE_LOAD_MAX, 0.8}}};

    m->n_uneven = above || !even;
    m->uneven[0] = above ? (struct unevenness){UNEVEN_IMBALANCE, &imbalance}
                         : (struct unevenness){UNEVEN_HEADROOM, &full};
}

/* Why nothing is recommended, or not more. */
static void test_reasons(void **state)
{
    static const struct {
        uint32_t n;
        double after;
        enum check end;
        bool looked;
        const char *expected; /* NULL: nothing to say */
        uint32_t n_hosts;     /* 0: three */
        bool no_faults;
        bool even; /* within the target no host lacks headroom */
    } cases[] = {
        {0, 0.1, CHECK_TARGET_REACHED, true,
         "\nNothing is recommended: the imbalance is within the target.\n", 3, true},
        {0, 0.1, CHECK_TARGET_REACHED, true,
         "\nNothing is recommended for balance: the imbalance is within the target.\n"},
        {0, 0.1, CHECK_TARGET_REACHED, true, "\nNothing is recommended: fewer than two hosts can run VMs.\n",
         1, true},
        {2, 0.1, CHECK_TARGET_REACHED, true, NULL},
        {0, 0.3, CHECK_NONE, true,
         "\nNothing is recommended, although the imbalance of 0.3000 is above the target of\n"
         "0.2000.\nRejected "
         "moves, by reason:\n  no_gain (1): the move would not lower the imbalance\n"},
        {0, 0.3, CHECK_NONE, false, "target of\n0.2000: no move would lower the imbalance.\n"},
        {2, 0.3, CHECK_NONE, true,
         "\nNothing else is recommended, although the imbalance of 0.3000 is above"},
        {0, 0.1, CHECK_NONE, true,
         "\nNothing is recommended, although esx-one lacks headroom (memory 92.0 %, above\n80 %).\nRejected"},
        {2, 0.1, CHECK_NONE, true, "\nNothing else is recommended, although esx-one lacks headroom"},
        {0, 0.1, CHECK_MANDATORY_ONLY, true, "\nNothing is recommended: only mandatory moves are made.\n", 3,
         false, true},
        {0, 0.3, CHECK_MANDATORY_ONLY, true, "target of\n0.2000: only mandatory moves are made.\n"},
        {2, 0.1, CHECK_MANDATORY_ONLY, true, NULL, 3, false, true},
        {2, 0.3, CHECK_MOVES_MAX, true,
         "\ntarget of 0.2000: the plan has reached its maximum number of moves.\n"},
    };
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_snapshot(&a, &s);
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct strbuf out;
        struct plan plan;
        make_plan(&s, &plan);
        make_uneven(&plan.after, cases[i].after > 0.2, cases[i].even);
        plan.n_recommendations = cases[i].n;
        plan.after.imbalance = cases[i].after;
        plan.end = cases[i].end;
        plan.before.n_hosts = cases[i].n_hosts ? cases[i].n_hosts : 3;
        plan.before.hosts = arena_array(&a, struct host_load, plan.before.n_hosts);
        plan.n_faults = cases[i].no_faults ? 0 : plan.n_faults;
        plan.stats.rejected[CHECK_NO_GAIN] = cases[i].looked;
        strbuf_init(&out, STRBUF_NO_LIMIT);
        render_plan_text(&plan, &out);
        if (!cases[i].expected)
            assert_null(strstr(out.text, "recommended"));
        else if (!strstr(out.text, cases[i].expected))
            fail_msg("case %zu: %s", i, out.text);
        strbuf_release(&out);
    }
    arena_release(&a);
}

static struct divvy_node nodes[] = {
    {DIVVY_POOL,
     IX_NONE,
     IX_NONE,
     0,
     1,
     1,
     {.reservation = 10000, .limit = 10000, .shares = 4000},
     3000,
     {10000, 10000, 4000},
     10000},
    {DIVVY_POOL, 0, 0, 1, 2, 2, {.limit = NO_LIMIT, .shares = 4000}, 3000, {0, 10000, 4000}, 2750.5},
    {DIVVY_VM, 0, 1, 2, 0, 0, {.reservation = 5.5, .limit = NO_LIMIT, .shares = 1000}, 0, {0, 5000, 2000}, 0},
    {DIVVY_VM, 1, 1, 2, 0, 0, {.limit = 4000, .shares = 1000}, 3000, {0, 4000, 2000}, 2750.5},
};
static struct divvy_tree tree = {
    .nodes = nodes, .n = ELEMENTS(nodes), .overcommitted = true, .overcommitted_node = 1};

static const char entitlements_text[] =
    "CPU, in MHz\n"
    "\n"
    "  NAME          RESERVED  LIMIT  SHARES  DEMAND  ENTITLED    MET\n"
    "  the cluster      10000  10000    4000    3000     10000  100 %\n"
    "    gold/              0      -    4000    3000      2750   92 %\n"
    "      database         0   4000    1000    3000      2750   92 %\n"
    "      web          5.500      -    1000       0         0      -\n"
    "\n"
    "  The reservations in pool gold exceed its capacity and were scaled down.\n";

static const char entitlements_wide_title[] =
    "  NAME          RESERVED  LIMIT  SHARES  DIVVIED RES.  DIVVIED LIMIT  DEMAND  ENTITLED    MET\n";

static void test_entitlements(void **state)
{
    const struct divvy_tree *const trees[RES_COUNT] = {&tree, NULL};
    struct arena a = {0};
    struct snapshot s;
    struct strbuf out;

    (void)state;
    make_snapshot(&a, &s);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    render_entitlements_text(&s, trees, false, &out);
    assert_string_equal(out.text, entitlements_text);
    strbuf_clear(&out);
    render_entitlements_text(&s, trees, true, &out);
    assert_non_null(strstr(out.text, entitlements_wide_title));
    strbuf_clear(&out);
    render_entitlements_json(&s, trees, &out);
    json_t *e = parse(&out);
    expect_members(e, "format cpu ");
    const json_t *list = json_object_get(e, "cpu");
    assert_int_equal(json_array_size(list), ELEMENTS(nodes));
    expect_members(json_array_get(list, 0), "kind id parent depth set demand divvied entitlement ");
    assert_true(json_is_null(json_object_get(json_array_get(list, 0), "id")));
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "parent")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 3), "parent")), "p1");
    json_decref(e);
    strbuf_release(&out);
    arena_release(&a);
}

static const struct finding here = {.code = FIND_OFF_HERE};
static const struct finding stays = {.code = FIND_STAYS_ALONE,
                                     .subjects = {{SUBJECT_VM, 0}, {SUBJECT_HOST, 0}}};

static struct candidate candidates[] = {
    {0, VERDICT_CURRENT, CHECK_CURRENT_HOST, &here, UNKNOWN, {UNKNOWN, UNKNOWN}, {UNKNOWN, UNKNOWN}},
    {1, VERDICT_REJECTED, CHECK_COST_BENEFIT, NULL, 0.25, {1, 2}, {3, 4}},
};
static const struct explanation explanation = {.vm = 0, .candidates = candidates, .n = 2, .summary = &stays};

static const char explain_text[] = "web stays on esx-one: there is no other host.\n"
                                   "\n"
                                   "  HOST     VERDICT   CHECK         IMBALANCE\n"
                                   "  esx-one  current   current_host          -\n"
                                   "        The VM is on this host and does not run.\n"
                                   "  esx-two  rejected  cost_benefit     0.2500\n"
                                   "        the migration would gain too little for its cost\n";

static void test_explain(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct strbuf out;

    (void)state;
    make_snapshot(&a, &s);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    render_explain_text(&s, &explanation, &out);
    assert_string_equal(out.text, explain_text);
    strbuf_clear(&out);
    render_explain_json(&s, &explanation, &out);
    json_t *e = parse(&out);
    expect_members(e, "format vm host summary candidates ");
    const json_t *c = json_array_get(json_object_get(e, "candidates"), 0);
    expect_members(c, "host verdict check text subjects figures imbalance_after cost benefit ");
    assert_true(json_is_null(json_object_get(c, "imbalance_after")) &&
                json_is_null(json_object_get(c, "cost")));
    c = json_array_get(json_object_get(e, "candidates"), 1);
    expect_members(json_object_get(c, "benefit"), "cpu_mhz_s mem_mb_s ");
    json_decref(e);
    strbuf_release(&out);
    arena_release(&a);
}

/* Hosts that one check rejects in the same words are one row; another rule, another verdict or only two of
 * them are not. */
static const char alike_text[] =
    "web stays on h0.example.com: there is no other host.\n"
    "\n"
    "  HOST     VERDICT   CHECK                   IMBALANCE\n"
    "  h0       current   current_host                    -\n"
    "        The VM is on this host and does not run.\n"
    "  4 hosts  rejected  min_goodness     0.1000 to 0.1300\n"
    "        The move would lower the imbalance by 0.0001 to 0.0004; at least\n"
    "        0.0010 is required. Hosts: h1, h2, h4, h10.\n"
    "  h3       rejected  no_gain                    0.2000\n"
    "        The move would not lower the imbalance: 0.2000 after it, 0.1500 now.\n"
    "  3 hosts  rejected  memory                          -\n"
    "        The VM needs 8.0 GiB of memory, but each host has only 512 MiB to\n"
    "        2.0 GiB of 64.0 GiB left. Hosts: h5, h6, h11.\n"
    "  3 hosts  rejected  host_quarantine                 -\n"
    "        Each host is in quarantine and receives no VMs. Hosts: h7, h8, h9.\n"
    "  h12      rejected  cost_benefit               0.1200\n"
    "        the migration would gain too little for its cost\n"
    "  h13      rejected  cost_benefit               0.1200\n"
    "        the migration would gain too little for its cost\n";

static struct candidate make_candidate(struct arena *a, uint32_t i)
{
    static const double left[] = {[5] = 2048, [6] = 512, [11] = 1024, [13] = 0};
    static const double gains[] = {[1] = 0.0002, [2] = 0.0001, [4] = 0.0004, [10] = 0.0003, [13] = 0};
    struct finding f = {.code = FIND_CHECK, .resource = RES_MEM, .subjects = {{SUBJECT_HOST, i}}};
    struct candidate ret = {.host = i, .verdict = VERDICT_REJECTED, .imbalance_after = UNKNOWN};

    if (left[i] > 0) {
        f.check = CHECK_MEMORY;
        finding_figure(&f, FIGURE_NEED, 8192);
        finding_figure(&f, FIGURE_LEFT, left[i]);
        finding_figure(&f, FIGURE_LIMIT, 65536);
    } else if (gains[i] > 0) {
        f.check = CHECK_MIN_GOODNESS;
        finding_figure(&f, FIGURE_GAIN, gains[i]);
        finding_figure(&f, FIGURE_GAIN_MIN, 0.001);
        ret.imbalance_after = 0.09 + 100 * gains[i];
    } else if (i == 3) {
        f.check = CHECK_NO_GAIN;
        finding_figure(&f, FIGURE_IMBALANCE_AFTER, 0.2);
        finding_figure(&f, FIGURE_IMBALANCE, 0.15);
        ret.imbalance_after = 0.2;
    } else if (i >= 12) {
        f.check = CHECK_COST_BENEFIT;
        ret.imbalance_after = 0.12;
    } else {
        f.check = CHECK_HOST_QUARANTINE;
    }
    ret.check = f.check;
    ret.found = i >= 12 ? NULL : finding_keep(a, f);
    if (i == 0) {
        ret.verdict = VERDICT_CURRENT;
        ret.check = CHECK_CURRENT_HOST;
        ret.found = &here;
    }
    return ret;
}

static void make_alike(struct arena *a, struct snapshot *ret, struct candidate *list, uint32_t n)
{
    struct inventory inv = {.cluster = "prod", .time = 1767225600};
    struct err err = {0};

    for (uint32_t i = 0; i < n; i++) {
        struct seen_host *h = inventory_add_host(&inv, a);
        h->is.id = arena_printf(a, "host-%02u", i);
        h->is.name = arena_printf(a, "h%u.example.com", i);
        h->is.total[RES_CPU] = 10000;
        h->is.total[RES_MEM] = 65536;
        h->is.cores = 4;
        list[i] = make_candidate(a, i);
    }
    struct seen_vm *v = inventory_add_vm(&inv, a);
    v->is.vcpus = 1;
    v->is.mem_mb = 8192;
    vm_facts_default(&v->is);
    v->is.id = "v1";
    v->is.name = "web";
    v->host = "host-00";
    assert_int_equal(snapshot_build(&inv, a, ret, &err), 0);
}

static void test_explain_groups(void **state)
{
    struct candidate list[14];
    const struct explanation e = {.vm = 0, .candidates = list, .n = 14, .summary = &stays};
    struct arena a = {0};
    struct snapshot s;
    struct strbuf out;

    (void)state;
    make_alike(&a, &s, list, e.n);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    render_explain_text(&s, &e, &out);
    assert_string_equal(out.text, alike_text);
    strbuf_clear(&out);
    render_explain_json(&s, &e, &out);
    json_t *all = parse(&out);
    assert_int_equal(json_array_size(json_object_get(all, "candidates")), e.n);
    json_decref(all);
    strbuf_release(&out);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_json),      cmocka_unit_test(test_policy_json),
        cmocka_unit_test(test_plan_text),      cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_entitlements),   cmocka_unit_test(test_explain),
        cmocka_unit_test(test_explain_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
