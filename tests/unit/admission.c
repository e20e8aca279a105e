/* The capacity that a pool may still reserve: fixed and expandable pools, chains of pools, limits, several
 * VMs. */
#include "unit.h"

#include "core/divvy/admission.h"
#include "small_cluster.h"

#include <string.h>

#define CAPACITY 10000

struct pool_case {
    const char *id, *parent;
    double reservation, limit;
    bool expandable;
};

static void add_pool(struct small *s, const struct pool_case *c)
{
    struct seen_pool *p = small_pool(s, c->id, c->parent);

    for (int r = 0; r < RES_COUNT; r++) {
        p->is.alloc[r].reservation = r == RES_CPU ? c->reservation : 0;
        p->is.alloc[r].limit = r == RES_CPU ? c->limit : NO_LIMIT;
        p->is.alloc[r].expandable = r == RES_CPU ? c->expandable : true;
    }
}

static struct seen_vm *add_vm(struct small *s, const char *id, const char *pool, double reservation, bool on)
{
    struct seen_vm *v = small_vm(s, id, on ? "h1" : NULL, 0, 1024);

    v->pool = pool;
    v->is.alloc[RES_CPU].reservation = reservation;
    if (!on) {
        v->is.state = VM_OFF;
        v->is.demand[RES_MEM] = 0;
    }
    return v;
}

static const char *pool_id(const struct small *s, uint32_t pool)
{
    return pool == IX_NONE ? "-" : s->snap.pools[pool].is.id;
}

/* 10 GHz; the new VM asks in "low", which is below "high" where there is one. */
static const struct {
    const char *what;
    struct pool_case low, high; /* high: no id, there is none */
    double in_low, in_high;     /* reserved there by VMs that run */
    double in_root;
    double left;
    enum admission_end end;
    const char *where;
} left_cases[] = {
    {"its own", {"low", NULL, 4000, NO_LIMIT, false}, {0}, 1000, 0, 0, 3000, ADMISSION_FIXED, "low"},
    {"none of its own", {"low", NULL, 0, NO_LIMIT, false}, {0}, 0, 0, 0, 0, ADMISSION_FIXED, "low"},
    {"it has too little already",
     {"low", NULL, 1000, NO_LIMIT, false},
     {0},
     3000,
     0,
     0,
     0,
     ADMISSION_FIXED,
     "low"},
    {"expands at the root",
     {"low", NULL, 4000, NO_LIMIT, true},
     {0},
     1000,
     0,
     0,
     9000,
     ADMISSION_CAPACITY,
     "-"},
    {"the root gives what is left",
     {"low", NULL, 4000, NO_LIMIT, true},
     {0},
     1000,
     0,
     5000,
     4000,
     ADMISSION_CAPACITY,
     "-"},
    {"its limit is nearer", {"low", NULL, 4000, 5000, true}, {0}, 1000, 0, 0, 4000, ADMISSION_LIMIT, "low"},
    {"a limit at the reservation",
     {"low", NULL, 4000, 4000, false},
     {0},
     1000,
     0,
     0,
     3000,
     ADMISSION_LIMIT,
     "low"},
    {"the parent gives",
     {"low", "high", 1000, NO_LIMIT, true},
     {"high", NULL, 5000, NO_LIMIT, false},
     0,
     2000,
     0,
     3000,
     ADMISSION_FIXED,
     "high"},
    {"the parent is used up",
     {"low", "high", 1000, NO_LIMIT, true},
     {"high", NULL, 3000, NO_LIMIT, false},
     0,
     2000,
     0,
     1000,
     ADMISSION_FIXED,
     "high"},
    {"a parent that may not expand stands in the way of the root",
     {"low", "high", 1000, NO_LIMIT, true},
     {"high", NULL, 1000, NO_LIMIT, false},
     500,
     0,
     0,
     500,
     ADMISSION_FIXED,
     "high"},
    {"up to the root",
     {"low", "high", 0, NO_LIMIT, true},
     {"high", NULL, 0, NO_LIMIT, true},
     1000,
     2000,
     3000,
     4000,
     ADMISSION_CAPACITY,
     "-"},
    {"the parent's limit",
     {"low", "high", 1000, NO_LIMIT, true},
     {"high", NULL, 2000, 4000, true},
     0,
     1000,
     0,
     3000,
     ADMISSION_LIMIT,
     "high"},
    {"what is its own is no burden above",
     {"low", "high", 3000, NO_LIMIT, false},
     {"high", NULL, 3000, 3000, false},
     1000,
     0,
     7000,
     2000,
     ADMISSION_FIXED,
     "low"},
};

static void test_left(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(left_cases); i++) {
        struct small s;
        struct admission ad;
        enum admission_end end;
        uint32_t where;
        small_init(&s);
        small_host(&s, "h1", CAPACITY, 65536);
        add_pool(&s, &left_cases[i].low);
        if (left_cases[i].high.id)
            add_pool(&s, &left_cases[i].high);
        add_vm(&s, "v1", "low", left_cases[i].in_low, true);
        add_vm(&s, "v2", left_cases[i].high.id, left_cases[i].in_high, true);
        add_vm(&s, "v3", NULL, left_cases[i].in_root, true);
        small_build(&s);
        admission_init(&s.snap, &s.a, &ad);
        uint32_t low = snapshot_find_pool(&s.snap, "low");
        double left = admission_left(&ad, RES_CPU, low, &end, &where);
        if (!(fabs(left - left_cases[i].left) < 1e-9) || end != left_cases[i].end ||
            strcmp(pool_id(&s, where), left_cases[i].where) != 0)
            fail_msg("%s: %g left, ends as %d at %s; expected %g, %d, %s", left_cases[i].what, left, end,
                     pool_id(&s, where), left_cases[i].left, left_cases[i].end, left_cases[i].where);
        small_release(&s);
    }
}

/* Each is asked for when the ones before it have been taken; VMs that are off reserve nothing. */
static void test_one_after_the_other(void **state)
{
    static const struct pool_case low = {"low", "high", 2000, NO_LIMIT, true};
    static const struct pool_case high = {"high", NULL, 4000, NO_LIMIT, false};
    struct small s;
    struct admission ad;
    struct shortage shortage = {0};

    (void)state;
    small_init(&s);
    small_host(&s, "h1", CAPACITY, 65536);
    add_pool(&s, &low);
    add_pool(&s, &high);
    add_vm(&s, "v1", "low", 1500, true);
    add_vm(&s, "v2", "low", 1500, false);
    add_vm(&s, "v3", "low", 1500, false);
    add_vm(&s, "v4", "low", 0, false);
    small_build(&s);
    admission_init(&s.snap, &s.a, &ad);
    uint32_t v2 = small_vm_ix(&s, "v2");
    uint32_t v3 = small_vm_ix(&s, "v3");
    assert_true(admission_fits(&ad, v2, &shortage)); /* 500 of low's own, 1000 of high's */
    admission_take(&ad, v2);
    assert_false(admission_fits(&ad, v3, &shortage));
    assert_int_equal(shortage.r, RES_CPU);
    assert_int_equal(shortage.end, ADMISSION_FIXED);
    assert_string_equal(pool_id(&s, shortage.pool), "high");
    assert_true(shortage.need == 1500 && shortage.left == 1000 && shortage.by == 500);
    admission_take(&ad, v3); /* all the same */
    assert_true(admission_left(&ad, RES_CPU, s.snap.vms[v2].pool, NULL, NULL) == 0);
    assert_true(admission_fits(&ad, small_vm_ix(&s, "v4"), NULL)); /* it reserves nothing */
    admission_give_back(&ad, v2);
    assert_true(admission_fits(&ad, v2, NULL) == false);
    admission_give_back(&ad, v3);
    assert_true(admission_fits(&ad, v2, NULL));
    small_release(&s);
}

/* What is in a pool past its limit is no burden above: the parent gives no more than the limit. */
static void test_past_its_limit(void **state)
{
    static const struct pool_case low = {"low", "high", 0, 2000, true};
    static const struct pool_case high = {"high", NULL, 4500, NO_LIMIT, false};
    struct small s;
    struct admission ad;

    (void)state;
    small_init(&s);
    small_host(&s, "h1", CAPACITY, 65536);
    add_pool(&s, &low);
    add_pool(&s, &high);
    add_vm(&s, "v1", "low", 4000, true);
    small_build(&s);
    admission_init(&s.snap, &s.a, &ad);
    assert_true(admission_left(&ad, RES_CPU, snapshot_find_pool(&s.snap, "low"), NULL, NULL) == 0);
    assert_true(admission_left(&ad, RES_CPU, snapshot_find_pool(&s.snap, "high"), NULL, NULL) == 2500);
    small_release(&s);
}

static void test_memory_and_hosts(void **state)
{
    struct small s;
    struct admission ad;
    struct shortage shortage = {0};

    (void)state;
    small_init(&s);
    small_host(&s, "h1", CAPACITY, 1024);
    small_host(&s, "h2", CAPACITY, 4096)->is.state = HOST_STANDBY;
    struct seen_vm *v = add_vm(&s, "v1", NULL, 0, false);
    v->is.mem_mb = 2048;
    v->is.alloc[RES_MEM].reservation = 2048;
    small_build(&s);
    admission_init(&s.snap, &s.a, &ad);
    assert_false(admission_fits(&ad, 0, &shortage));
    assert_int_equal(shortage.r, RES_MEM);
    assert_int_equal(shortage.end, ADMISSION_CAPACITY);
    assert_true(shortage.pool == IX_NONE && shortage.by == 1024);
    admission_add_host(&ad, small_host_ix(&s, "h2"));
    assert_true(admission_fits(&ad, 0, NULL));
    small_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_past_its_limit),
        cmocka_unit_test(test_memory_and_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
