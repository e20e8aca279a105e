/* Rendering of placements and of long lists of settings, made by hand: the exact text, and the JSON by its
 * members. */
#include "unit.h"

#include "base/strbuf.h"
#include "model/snapshot_build.h"
#include "render/render.h"

#include <jansson.h>
#include <string.h>

enum { HOSTS = 30, VMS = 15, POOL = 0 };

/* Thirty hosts h00 ... h29, fifteen VMs v00 ... v14 that are off, one pool. */
static void make_snapshot(struct arena *a, struct snapshot *ret)
{
    struct inventory inv = {.cluster = "prod", .time = 1767225600};
    struct err err = {0};

    for (int i = 0; i < HOSTS; i++) {
        struct seen_host *h = inventory_add_host(&inv, a);
        h->is.id = arena_printf(a, "h%02d", i);
        h->is.total[RES_CPU] = 10000;
        h->is.total[RES_MEM] = 4096;
        h->is.cores = 4;
    }
    for (int i = 0; i < VMS; i++) {
        struct seen_vm *v = inventory_add_vm(&inv, a);
        v->is.vcpus = 1;
        v->is.mem_mb = 1024;
        vm_facts_default(&v->is);
        v->is.id = arena_printf(a, "v%02d", i);
        v->is.state = VM_OFF;
    }
    inventory_add_pool(&inv, a)->is.id = "p1";
    assert_int_equal(snapshot_build(&inv, a, ret, &err), 0);
}

static const struct finding makes_room = {
    .code = FIND_MOVE,
    .reason = REASON_PREREQUISITE,
    .subjects = {{SUBJECT_VM, 3}, {SUBJECT_FOR_VM, 0}, {SUBJECT_FROM, 0}, {SUBJECT_TO, 1}},
    .figures = {
        {FIGURE_CPU_MHZ, 100}, {FIGURE_MEM_MB, 1024}, {FIGURE_CPU_LOAD_TO, 0}, {FIGURE_MEM_LOAD_TO, 0}}};
static const struct finding wakes = {.code = FIND_WAKE, .subjects = {{SUBJECT_HOST, 4}, {SUBJECT_FOR_VM, 0}}};
static const struct finding has_room = {
    .code = FIND_PLACEMENT,
    .subjects = {{SUBJECT_VM, 0}, {SUBJECT_TO, 4}},
    .figures = {
        {FIGURE_CPU_MHZ, 100}, {FIGURE_MEM_MB, 1024}, {FIGURE_CPU_LOAD_TO, 0}, {FIGURE_MEM_LOAD_TO, 0}}};
static const struct finding would_do = {.code = FIND_ALTERNATIVE,
                                        .subjects = {{SUBJECT_HOST, 2}},
                                        .figures = {{FIGURE_CPU_LOAD, 0.1}, {FIGURE_MEM_LOAD, 0.2}}};
static const struct finding no_memory = {
    .code = FIND_CHECK,
    .check = CHECK_MEMORY,
    .resource = RES_MEM,
    .subjects = {{SUBJECT_HOST, 2}},
    .figures = {{FIGURE_NEED, 2048}, {FIGURE_LEFT, 1024}, {FIGURE_LIMIT, 4096}}};
static const struct finding closest = {
    .code = FIND_CLOSEST, .check = CHECK_MEMORY, .subjects = {{SUBJECT_HOST, 2}}, .because = &no_memory};
static const struct finding no_place = {
    .code = FIND_CANNOT_PLACE, .subjects = {{SUBJECT_VM, 1}}, .because = &closest};

static const struct alternative others[] = {{2, 0.25, &would_do}, {3, UNKNOWN, NULL}};
static const uint32_t first_two[] = {1, 2};

/* What must come first, and one VM that is placed. */
static struct recommendation recommendations[] = {
    {.id = 1,
     .action = ACTION_MIGRATE,
     .priority = 1,
     .vm = 3,
     .from = 0,
     .to = 1,
     .host = IX_NONE,
     .rule = IX_NONE,
     .reason = REASON_PREREQUISITE,
     .found = &makes_room,
     .imbalance_after = 0.3},
    {.id = 2,
     .action = ACTION_POWER_ON,
     .priority = 1,
     .vm = IX_NONE,
     .from = IX_NONE,
     .to = IX_NONE,
     .host = 4,
     .rule = IX_NONE,
     .reason = REASON_PREREQUISITE,
     .found = &wakes,
     .imbalance_after = 0.2},
    {.id = 3,
     .action = ACTION_PLACE,
     .priority = 1,
     .vm = 0,
     .from = IX_NONE,
     .to = 4,
     .host = IX_NONE,
     .rule = IX_NONE,
     .reason = REASON_PLACEMENT,
     .found = &has_room,
     .depends_on = first_two,
     .n_depends_on = 2,
     .imbalance_after = 0.1,
     .alternatives = others,
     .n_alternatives = 2},
};
static struct fault faults[] = {{FAULT_CANNOT_PLACE, 1, IX_NONE, IX_NONE, &no_place}};

static void make_plan(const struct snapshot *s, struct plan *ret)
{
    *ret = (struct plan){
        .snap = s,
        .before = {.weight = {0.5, 0.5}},
        .after = {.weight = {0.5, 0.5}},
        .recommendations = recommendations,
        .n_recommendations = ELEMENTS(recommendations),
        .faults = faults,
        .n_faults = ELEMENTS(faults),
    };
    policy_default(&ret->policy);
}

static const char place_text[] =
    "v00 can be powered on at h04. First 1 VM must move to make room, and 1 host must\n"
    "be woken.\n"
    "\n"
    "Cluster prod at 2026-01-01T00:00:00Z: 0 of 30 hosts on, 0 of 15 VMs on\n"
    "Imbalance 0.0000 now, 0.0000 after the plan; target 0.0000 (threshold 3)\n"
    "\n"
    "  LOAD           SPREAD  WEIGHT  FULLEST HOST  EMPTIEST HOST\n"
    "  CPU before     0.0000    0.50  -             -\n"
    "  CPU after      0.0000    0.50  -             -\n"
    "  memory before  0.0000    0.50  -             -\n"
    "  memory after   0.0000    0.50  -             -\n"
    "\n"
    "3 recommendations\n"
    "\n"
    "  ID  PRIO  ACTION    VM   FROM    TO   REASON        IMBALANCE  NEEDS  GROUP\n"
    "   1     1  migrate   v03  h00  -> h01  prerequisite     0.3000  -      -\n"
    "      v03 (100 MHz, 1.0 GiB) moves from h00 to h01 (CPU 0 %, memory 0 %), to\n"
    "      make room on h00 for v00.\n"
    "   2     1  power_on  -    -       h04  prerequisite     0.2000  -      -\n"
    "      h04 is woken, because no other host can run v00.\n"
    "   3     1  place     v00  -       h04  placement        0.1000  1,2    -\n"
    "      v00 (100 MHz, 1.0 GiB) is powered on at h04 (CPU 0 %, memory 0 %).\n"
    "\n"
    "Other hosts for v00, best first\n"
    "\n"
    "  HOST  IMBALANCE\n"
    "  h02      0.2500\n"
    "        h02 (CPU 10 %, memory 20 %) can run the VM as well.\n"
    "  h03           -\n"
    "\n"
    "1 fault\n"
    "\n"
    "  cannot_place: v01 cannot be powered on. The best candidate is h02. The VM\n"
    "    needs 2.0 GiB of memory, but h02 has only 1.0 GiB of 4.0 GiB left.\n";

static void test_place_text(void **state)
{
    const uint32_t vms[] = {0};
    struct arena a = {0};
    struct snapshot s;
    struct plan plan;
    struct strbuf out;

    (void)state;
    make_snapshot(&a, &s);
    make_plan(&s, &plan);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    render_place_text(&plan, vms, 1, NULL, &out);
    assert_string_equal(out.text, place_text);
    strbuf_release(&out);
    arena_release(&a);
}

/* The first line, for so many VMs. */
static void test_answers(void **state)
{
    static const struct {
        uint32_t n, n_recommendations;
        uint32_t vms[VMS];
        uint32_t unplaced;
        const char *expected;
    } cases[] = {
        {0, 0, {0}, 0, "There is no VM to place.\n"},
        {1, 0, {1}, 1, "v01 cannot be powered on.\n"},
        {1,
         2,
         {1},
         1,
         "v01 cannot be powered on. First 1 VM must move to make room, and 1 host must be\n"
         "woken.\n"},
        {2, 3, {0, 0}, 0, "All 2 VMs can be powered on. First "},
        {3, 3, {2, 0, 1}, 2, "1 of 3 VMs can be powered on, but not v02, v01. First "},
        {13,
         0,
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
         13,
         "0 of 13 VMs can be powered on, but not v01, v02, v03, v04, v05, v06, v07, v08,\nv09, v10 and 3 "
         "more.\n"},
    };
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_snapshot(&a, &s);
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct strbuf out;
        struct plan plan;
        make_plan(&s, &plan);
        plan.n_recommendations = cases[i].n_recommendations;
        strbuf_init(&out, STRBUF_NO_LIMIT);
        render_place_text(&plan, cases[i].vms, cases[i].n, NULL, &out);
        if (strncmp(out.text, cases[i].expected, strlen(cases[i].expected)) != 0)
            fail_msg("case %zu: %s", i, out.text);
        assert_int_equal(render_unplaced_count(&plan, cases[i].vms, cases[i].n), cases[i].unplaced);
        strbuf_release(&out);
    }
    arena_release(&a);
}

/* Alternatives are there only where there are some. */
static void test_json(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct plan plan;
    struct strbuf out;
    json_error_t e;

    (void)state;
    make_snapshot(&a, &s);
    make_plan(&s, &plan);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    render_plan_json(&plan, &out);
    json_t *p = json_loads(out.text, JSON_REJECT_DUPLICATES, &e);
    assert_non_null(p);
    const json_t *behind = json_object_get(json_array_get(json_object_get(p, "faults"), 0), "because");
    assert_string_equal(json_string_value(json_object_get(behind, "check")), "memory");
    const json_t *figures = json_object_get(json_object_get(behind, "because"), "figures");
    assert_int_equal(json_object_size(figures), 3);
    assert_true(json_number_value(json_object_get(figures, "need_mb")) == 2048);
    const json_t *list = json_object_get(p, "recommendations");
    assert_null(json_object_get(json_array_get(list, 0), "alternatives"));
    const json_t *wake = json_array_get(list, 1);
    assert_string_equal(json_string_value(json_object_get(wake, "action")), "power_on");
    assert_string_equal(json_string_value(json_object_get(wake, "host")), "h04");
    assert_true(json_is_null(json_object_get(wake, "vm")) && json_is_null(json_object_get(wake, "to")));
    const json_t *place = json_array_get(list, 2);
    assert_string_equal(json_string_value(json_object_get(place, "action")), "place");
    assert_string_equal(json_string_value(json_object_get(place, "to")), "h04");
    assert_true(json_is_null(json_object_get(place, "from")) && json_is_null(json_object_get(place, "host")));
    const json_t *alternatives = json_object_get(place, "alternatives");
    assert_int_equal(json_array_size(alternatives), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(alternatives, 0), "host")), "h02");
    assert_true(json_number_value(json_object_get(json_array_get(alternatives, 0), "imbalance_after")) ==
                0.25);
    assert_true(json_is_null(json_object_get(json_array_get(alternatives, 1), "imbalance_after")));
    json_decref(p);
    strbuf_release(&out);
    arena_release(&a);
}

/* Settings are shown as far as a screen goes. */
static void test_settings(void **state)
{
    struct host_setting settings[HOSTS];
    struct arena a = {0};
    struct snapshot s;
    struct plan plan;
    struct strbuf out;

    (void)state;
    make_snapshot(&a, &s);
    make_plan(&s, &plan);
    for (uint32_t i = 0; i < HOSTS; i++)
        settings[i] = (struct host_setting){i,
                                            POOL,
                                            {{.reservation = 5, .limit = NO_LIMIT, .shares = 10},
                                             {.reservation = 6, .limit = 7, .shares = 8}}};
    plan.settings = settings;
    plan.n_settings = HOSTS;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    render_plan_text(&plan, &out);
    assert_non_null(strstr(out.text, "\n30 settings of pools on hosts to change\n\n"));
    assert_non_null(strstr(out.text, "  h19   p1    CPU MHz               5      -      10\n"
                                     "              memory MiB            6      7       8\n"
                                     "  ... and 10 more; --format json lists them all\n"));
    assert_null(strstr(out.text, "  h20 "));
    strbuf_release(&out);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place_text),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
