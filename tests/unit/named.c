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
    {"elsewhere", false, NULL, "has the id or name \"elsewhere\""},
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

/* What all names of hosts end with, and which short names are enough. */
static const struct {
    const char *names[3]; /* up to NULL */
    const char *domain;
    const char *word; /* NULL: not asked */
    uint32_t found;   /* IX_NONE: refused */
} domains[] = {
    {{"esx1.dc1.example.com", "esx2.dc1.example.com"}, ".dc1.example.com", "esx2", 1},
    {{"esx1.dc1.example.com", "esx2.dc2.example.com"}, ".example.com", "esx2.dc2", 1},
    {{"esx1.dc1.example.com", "esx1.dc2.example.com"}, ".example.com", "esx1", IX_NONE},
    {{"esx1.dc1.example.com", "esx1"}, "", "esx1", 1},
    {{"esx1.dc1.example.com", "esx2"}, "", "esx1", 0},
    {{"esx1.dc1.example.com", "esx10.dc1.example.com"}, ".dc1.example.com", "esx1", 0},
    {{"esx1.dc1.example.com"}, "", "esx1", 0},
    {{"esx1.dc1.example.com", "esx2.dc1.example.com"}, ".dc1.example.com", "esx", IX_NONE},
    {{"same.example.com", "same.example.com"}, ".example.com", "same", IX_NONE},
    {{"10.0.0.1", "10.0.1.1"}, "", "10", IX_NONE},
    {{".example.com", "a.example.com"}, ".com", NULL, 0},
    {{"a.", "b."}, "", NULL, 0},
    {{"x", "y"}, "", "y", 1},
};

static void test_domain(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(domains); i++) {
        struct arena a = {0};
        struct inventory inv = {.cluster = "c", .time = 1767225600};
        struct snapshot s;
        struct err err = {0};
        uint32_t found = IX_NONE;

        for (size_t k = 0; k < ELEMENTS(domains[i].names) && domains[i].names[k]; k++) {
            struct seen_host *h = inventory_add_host(&inv, &a);
            h->is.id = arena_printf(&a, "host-%zu", k);
            h->is.name = domains[i].names[k];
            h->is.total[RES_CPU] = 10000;
            h->is.total[RES_MEM] = 4096;
            h->is.cores = 4;
        }
        assert_int_equal(snapshot_build(&inv, &a, &s, &err), 0);
        assert_string_equal(named_host_domain(&s), domains[i].domain);
        if (domains[i].word) {
            int r = named_host(&s, domains[i].word, &found, &err);
            if (found != domains[i].found || (r < 0) != (found == IX_NONE))
                fail_msg("case %zu: %s: %u", i, domains[i].word, found);
        }
        arena_release(&a);
    }
}

/* What a log line calls them. */
static void test_labels(void **state)
{
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_base(&a, &s);
    assert_string_equal(named_host_label(&s, "h5", &a), "five");
    assert_string_equal(named_host_label(&s, "h3", &a), "same (h3)");
    assert_string_equal(named_vm_label(&s, "v4", &a), "same (v4)");
    assert_string_equal(named_vm_label(&s, "v2", &a), "two");
    assert_string_equal(named_vm_label(&s, "v99", &a), "v99");
    assert_string_equal(named_vm_label(NULL, "v2", &a), "v2");
    assert_null(named_host_label(&s, NULL, &a));
    assert_string_equal(named_host_word(&s, 4), "five");
    assert_string_equal(named_host_word(&s, 3), "h4");
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_named), cmocka_unit_test(test_domain),
                                       cmocka_unit_test(test_labels)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
