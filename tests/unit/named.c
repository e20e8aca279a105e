/* Finding a host or VM by a user's text: the id takes precedence over the name, and an ambiguous name is
 * refused. */
#include "unit.h"

#include "model/named.h"
#include "model/snapshot_build.h"

#include <errno.h>
#include <string.h>

/* h1 is called like h2's id; h3 and h4 have the same name. VMs likewise. */
static const char *const ids[] = {"1", "2", "3", "4", "5"};
static const char *const names[] = {"2", "two", "same", "same", "five"};

static void make_base(struct arena *a, struct snapshot *ret)
{
    struct inventory inv = {.cluster = "c", .time = 1767225600};
    struct err err = {0};

    for (size_t i = 0; i < ELEMENTS(ids); i++) {
        struct seen_host *h = inventory_add_host(&inv, a);
        h->is.id = arena_printf(a, "h%s", ids[i]);
        h->is.name = i == 0 ? "h2" : names[i];
        h->is.total[RES_CPU] = 10000;
        h->is.total[RES_MEM] = 4096;
        h->is.cores = 4;
        struct seen_vm *v = inventory_add_vm(&inv, a);
        v->is.vcpus = 2;
        v->is.mem_mb = 1024;
        vm_facts_default(&v->is);
        v->is.id = arena_printf(a, "v%s", ids[i]);
        v->is.name = i == 0 ? "v2" : names[i];
        v->is.state = VM_OFF;
    }
    assert_int_equal(snapshot_build(&inv, a, ret, &err), 0);
}

static const struct {
    const char *word; /* without the letter of its kind where it is an id */
    bool id;
    const char *found;    /* the id; NULL: refused */
    const char *expected; /* then: part of the sentence */
} cases[] = {
    {"1", true, "1", NULL},
    {"2", true, "2", NULL}, /* not the first one, whose name that is */
    {"two", false, "2", NULL},
    {"five", false, "5", NULL},
    {"3", true, "3", NULL},
    {"same", false, NULL, "have the name \"same\", expected an id, such as "},
    {"Five", false, NULL, "has the id or name \"Five\", did you mean \"five\"?"},
    {"elsewhere", false, NULL, "has the id or name \"elsewhere\", expected one of the snapshot"},
    {"", false, NULL, "has the id or name \"\""},
    {"fivee", false, NULL, "did you mean \"five\"?"},
};

static void test_named(void **state)
{
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_base(&a, &s);
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        for (int of_host = 0; of_host < 2; of_host++) {
            const char *kind = of_host ? "h" : "v";
            const char *word = arena_printf(&a, "%s%s", cases[i].id ? kind : "", cases[i].word);
            struct err err = {0};
            uint32_t ix = 77;
            int r = of_host ? named_host(&s, word, &ix, &err) : named_vm(&s, word, &ix, &err);
            if (!cases[i].found) {
                assert_int_equal(r, -EINVAL);
                assert_int_equal(ix, 77);
                assert_non_null(strstr(err.text, cases[i].expected));
                continue;
            }
            assert_int_equal(r, 0);
            assert_string_equal(of_host ? s.hosts[ix].is.id : s.vms[ix].is.id,
                                arena_printf(&a, "%s%s", kind, cases[i].found));
        }
    }
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_named)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
