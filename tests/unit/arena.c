/* Memory by lifetime: zeroed, aligned, valid until the release. */
#include "unit.h"

#include <ballast/arena.h>

#include <stdalign.h>
#include <string.h>

static const struct {
    size_t n, size;
} sizes[] = {{1, 1}, {3, 5}, {1, 64}, {1000, 8}, {1, 100000}, {1, 3000000}, {0, 8}, {7, 1}};

static void test_zeroed_and_aligned(void **state)
{
    struct arena a = {0};

    (void)state;
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < ELEMENTS(sizes); i++) {
            size_t bytes = sizes[i].n * sizes[i].size;
            unsigned char *p = arena_alloc(&a, sizes[i].n, sizes[i].size);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
            for (size_t k = 0; k < bytes; k++)
                assert_int_equal(p[k], 0);
            memset(p, 0xff, bytes);
        }
    }
    assert_true(arena_size(&a) >= 5 * 3000000u);
    arena_release(&a);
    assert_int_equal(arena_size(&a), 0);
    arena_release(&a); /* an empty one may be released again */
}

static void test_reserve_takes_no_more(void **state)
{
    struct arena a = {0};

    (void)state;
    arena_reserve(&a, 1000000);
    unsigned char *first = arena_alloc(&a, 999984, 1);
    assert_ptr_equal(arena_alloc(&a, 16, 1), first + 999984);
    assert_in_range(arena_size(&a), 1000000, 1000100);
    arena_release(&a);
}

static void test_grow_keeps_items(void **state)
{
    struct arena a = {0};
    uint32_t *items = NULL;
    size_t cap = 0;

    (void)state;
    for (uint32_t n = 0; n < 5000; n++) {
        items = arena_grow(&a, items, n, &cap, sizeof *items);
        assert_true(cap > n);
        items[n] = n;
    }
    for (uint32_t n = 0; n < 5000; n++)
        assert_int_equal(items[n], n);
    arena_release(&a);
}

/* A large array grows without a copy of it staying behind, beside what else the arena holds. */
static void test_grow_large(void **state)
{
    const uint32_t most = 6000000;
    struct arena a = {0};
    uint32_t *items[2] = {NULL, NULL};
    size_t cap[2] = {0, 0};
    char *text = NULL;

    (void)state;
    for (uint32_t n = 0; n < most; n++) {
        for (uint32_t k = 0; k < 2; k++) {
            items[k] = arena_grow(&a, items[k], n, &cap[k], sizeof *items[k]);
            if (items[k][n] != 0)
                fail_msg("item %u is not zeroed", n);
            items[k][n] = n + k;
        }
        if (n % 100000 == 0)
            text = arena_printf(&a, "%u", n);
    }
    for (uint32_t n = 0; n < most; n++)
        if (items[0][n] != n || items[1][n] != n + 1)
            fail_msg("item %u is lost", n);
    assert_string_equal(text, "5900000");
    assert_true(arena_size(&a) < (size_t)2 * most * sizeof **items * 3 / 2 + (size_t)32 * 1024 * 1024);
    arena_reset(&a);
    assert_int_equal(*arena_array(&a, uint32_t, 1), 0);
    arena_release(&a);
}

static void test_join(void **state)
{
    struct arena a = {0};
    struct arena b = {0};

    (void)state;
    arena_join(&a, &b); /* both are empty */
    assert_int_equal(arena_size(&a), 0);
    for (int i = 0; i < 3; i++) {
        char *mine = i > 0 ? arena_strdup(&a, "mine") : NULL; /* at first one is empty */
        char *other = arena_strdup(&b, "other");
        (void)arena_alloc(&b, 1, 3000000);
        size_t sum = arena_size(&a) + arena_size(&b);
        arena_join(&a, &b);
        assert_int_equal(arena_size(&a), sum);
        assert_int_equal(arena_size(&b), 0);
        char *next = arena_strdup(&a, "next");
        assert_string_equal(other, "other");
        assert_string_equal(next, "next");
        if (mine)
            assert_string_equal(mine, "mine");
    }
    arena_release(&b);
    arena_release(&a);
}

static void test_strings(void **state)
{
    struct arena a = {0};

    (void)state;
    assert_null(arena_strdup(&a, NULL));
    assert_string_equal(arena_strdup(&a, ""), "");
    assert_string_equal(arena_strdup(&a, "esx1"), "esx1");
    assert_string_equal(arena_strndup(&a, "esx1", 3), "esx");
    assert_string_equal(arena_strndup(&a, "esx1", 30), "esx1");
    assert_string_equal(arena_printf(&a, "%s-%d", "vm", 7), "vm-7");
    assert_int_equal(strlen(arena_printf(&a, "%70000d", 1)), 70000);
    arena_release(&a);
}

static void test_reset_keeps_the_newest_block(void **state)
{
    struct arena a = {0};
    size_t size = 0;

    (void)state;
    arena_reset(&a); /* an empty one, too */
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 3; i++) { /* several blocks at first, one in the end */
            unsigned char *p = arena_alloc(&a, 60000, 1);
            for (size_t k = 0; k < 60000; k++)
                assert_int_equal(p[k], 0);
            memset(p, 0xff, 60000);
        }
        if (round >= 2)
            assert_true(arena_size(&a) <= size);
        size = arena_size(&a);
        arena_reset(&a);
        assert_true(arena_size(&a) > 0 && arena_size(&a) <= size);
    }
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed_and_aligned),
        cmocka_unit_test(test_reserve_takes_no_more),
        cmocka_unit_test(test_grow_keeps_items),
        cmocka_unit_test(test_grow_large),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_reset_keeps_the_newest_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
