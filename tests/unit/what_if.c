/* What-if questions: each change is applied to a copy, and a change without effect is refused. */
#include "unit.h"

#include "base/strbuf.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "model/what_if.h"

#include <errno.h>
#include <string.h>

#define NOW 1767225600
#define EARLIER 1767000000

/* A host in each state, its id the state's word; v1 on the one that is on, v2 off, v3 not seen, v4 on the one
 * that is powering on, v5 a spare one. */
static void make_base(struct arena *a, struct snapshot *ret)
{
    static const char *const host_of[] = {"on", "on", "disconnected", "powering_on", "on"};
    static const char *const ids[] = {"v1", "v2", "v3", "v4", "v5"};
    struct inventory inv = {.cluster = "c", .time = NOW};
    struct err err = {0};

    for (int i = 0; i < (int)host_state_count; i++) {
        struct seen_host *h = inventory_add_host(&inv, a);
        h->is.id = host_state_name((enum host_state)i);
        h->is.state = (enum host_state)i;
        h->is.total[RES_CPU] = 10000;
        h->is.total[RES_MEM] = 4096;
        h->is.cores = 4;
        h->is.standby_since = h->is.on_since = EARLIER;
    }
    for (size_t i = 0; i < ELEMENTS(ids); i++) {
        struct seen_vm *v = inventory_add_vm(&inv, a);
        v->is.vcpus = 2;
        v->is.mem_mb = 1024;
        vm_facts_default(&v->is);
        v->is.id = ids[i];
        v->is.state = i == 1 ? VM_OFF : VM_ON;
        v->is.kind = i == 4 ? VM_SPARE : VM_NORMAL;
        v->is.demand[RES_CPU] = i == 1 ? 0 : 1000;
        vm_facts_windows(&v->is);
        v->host = host_of[i];
    }
    assert_int_equal(snapshot_build(&inv, a, ret, &err), 0);
}

static const struct {
    enum change_kind kind;
    const char *expected[host_state_count]; /* what becomes of a host in each state; NULL: refused */
} host_cases[] = {
    {CHANGE_HOST_OFF, {[HOST_ON] = "entering_standby"}},
    {CHANGE_MAINTENANCE, {[HOST_ON] = "entering_maintenance"}},
    {CHANGE_HOST_ON,
     {[HOST_MAINTENANCE] = "on",
      [HOST_ENTERING_MAINTENANCE] = "on",
      [HOST_STANDBY] = "on",
      [HOST_ENTERING_STANDBY] = "on",
      [HOST_POWERING_ON] = "on"}},
};

static void expect_host_change(const struct snapshot *base, enum change_kind kind, enum host_state state,
                               const char *expected)
{
    struct arena a = {0};
    struct what_if w;
    struct err err = {0};
    const char *id = host_state_name(state);
    uint32_t ix = snapshot_find_host(base, id);

    what_if_init(&w, base, &a);
    int r = what_if_host(&w, kind, id, &err);
    const struct host *h = &w.snap.hosts[ix];
    if (r != (expected ? 0 : -EINVAL) || strcmp(host_state_name(h->is.state), expected ? expected : id) != 0)
        fail_msg("%s of a host that is %s: %d, %s", change_kind_name(kind), id, r,
                 host_state_name(h->is.state));
    assert_int_equal(w.n, expected ? 1 : 0);
    assert_int_equal(base->hosts[ix].is.state, state); /* the original is as it was */
    bool was_off = state == HOST_STANDBY || state == HOST_MAINTENANCE || state == HOST_POWERING_ON;
    bool comes_up = expected && kind == CHANGE_HOST_ON && was_off;
    assert_int_equal(h->is.on_since, comes_up ? NOW : EARLIER);
    assert_int_equal(h->is.standby_since, comes_up ? 0 : EARLIER);
    if (expected) {
        assert_int_equal(w.changes[0].state_before, state);
        assert_int_equal(w.changes[0].state, h->is.state);
        assert_int_equal(what_if_host(&w, CHANGE_HOST_ON, id, &err), -EINVAL); /* not twice */
        assert_non_null(strstr(err.text, "changed already"));
        assert_int_equal(w.n, 1);
    }
    arena_release(&a);
}

static void test_hosts(void **state)
{
    struct arena a = {0};
    struct snapshot base;

    (void)state;
    make_base(&a, &base);
    for (size_t i = 0; i < ELEMENTS(host_cases); i++) {
        for (int s = 0; s < (int)host_state_count; s++)
            expect_host_change(&base, host_cases[i].kind, (enum host_state)s, host_cases[i].expected[s]);
    }
    arena_release(&a);
}

static void test_demand(void **state)
{
    struct arena a = {0};
    struct snapshot base;
    struct what_if w;
    struct err err = {0};

    (void)state;
    make_base(&a, &base);
    uint32_t ix = snapshot_find_vm(&base, "v1");
    base.vms[ix].is.demand_unknown = true;
    base.vms[ix].is.sample_bad = "its CPU use is given as -5 MHz";
    base.vms[ix].is.sample_age_s = 7200;
    base.vms[ix].is.window[WINDOW_5M][RES_CPU].stddev = 7;
    what_if_init(&w, &base, &a);
    assert_int_equal(what_if_demand(&w, "v1", 2500, &err), 0);
    const struct vm_facts *f = &w.snap.vms[ix].is;
    assert_true(f->demand[RES_CPU] == 2500 && !f->demand_unknown);
    assert_true(!f->sample_bad && isnan(f->sample_age_s));
    assert_true(f->demand[RES_MEM] == base.vms[ix].is.demand[RES_MEM]);
    for (int i = 0; i < WINDOW_COUNT; i++) {
        const struct demand_stats *s = &f->window[i][RES_CPU];
        assert_true(s->mean == 2500 && s->min == 2500 && s->max == 2500 && s->stddev == 0);
    }
    assert_true(isnan(w.changes[0].cpu_mhz_before) && w.changes[0].cpu_mhz == 2500);
    assert_true(base.vms[ix].is.demand[RES_CPU] == 1000 && base.vms[ix].is.demand_unknown);
    assert_int_equal(what_if_demand(&w, "v1", 2500, &err), -EINVAL);
    arena_release(&a);
}

static const struct {
    const char *vm;
    double cpu_mhz;
    const char *expected;
} refused_demands[] = {
    {"v9", 1, "no VM has the id or name \"v9\""},
    {"", 1, "no VM has the id or name \"\""},
    {"v2", 1, "\"v2\" is off, expected a VM that is on"},
    {"v3", 1, "\"v3\" is on a host in the state disconnected"},
    {"v4", 1, "\"v4\" is on a host in the state powering_on"},
    {"v5", 1, "\"v5\" is a spare VM, which stands for room"},
    {"v1", -1, "-1 MHz is no demand, expected 0 to"},
    {"v1", 1e13, "MHz is no demand"},
    {"v1", NAN, "MHz is no demand"},
};

static void test_refused(void **state)
{
    struct arena a = {0};
    struct snapshot base;
    struct what_if w;
    struct err err = {0};

    (void)state;
    make_base(&a, &base);
    what_if_init(&w, &base, &a);
    for (size_t i = 0; i < ELEMENTS(refused_demands); i++) {
        assert_int_equal(what_if_demand(&w, refused_demands[i].vm, refused_demands[i].cpu_mhz, &err),
                         -EINVAL);
        assert_non_null(strstr(err.text, refused_demands[i].expected));
    }
    assert_int_equal(what_if_host(&w, CHANGE_HOST_ON, "h9", &err), -EINVAL);
    assert_non_null(strstr(err.text, "no host has the id or name \"h9\""));
    assert_int_equal(w.n, 0);
    /* the host counts as it is after the changes before */
    assert_int_equal(what_if_host(&w, CHANGE_HOST_ON, "powering_on", &err), 0);
    assert_int_equal(what_if_demand(&w, "v4", 0, &err), 0);
    arena_release(&a);
}

/* With all its changes the copy is still a snapshot that freezes, and reads back as it is. */
static void test_still_a_snapshot(void **state)
{
    struct arena a = {0};
    struct snapshot base;
    struct snapshot again;
    struct what_if w;
    struct inventory inv;
    struct strbuf text[2];
    struct err err = {0};

    (void)state;
    make_base(&a, &base);
    what_if_init(&w, &base, &a);
    assert_int_equal(what_if_host(&w, CHANGE_HOST_OFF, "on", &err), 0);
    assert_int_equal(what_if_host(&w, CHANGE_HOST_ON, "standby", &err), 0);
    assert_int_equal(what_if_host(&w, CHANGE_HOST_ON, "entering_maintenance", &err), 0);
    assert_int_equal(what_if_demand(&w, "v1", 0.1, &err), 0);
    for (int i = 0; i < 2; i++)
        strbuf_init(&text[i], STRBUF_NO_LIMIT);
    snapshot_dump(&w.snap, &text[0]);
    assert_int_equal(snapshot_read_inventory(text[0].text, text[0].len, &a, &inv, NULL, &err), 0);
    assert_int_equal(snapshot_build(&inv, &a, &again, &err), 0);
    snapshot_dump(&again, &text[1]);
    assert_string_equal(text[0].text, text[1].text);
    for (int i = 0; i < 2; i++)
        strbuf_release(&text[i]);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_demand),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_still_a_snapshot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
