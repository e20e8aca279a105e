/* Figures to codes of 16 bits, blocks of codes to bytes, and back; bytes that are no block. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/rng.h"
#include "store/series_block.h"

#include <errno.h>
#include <math.h>

/* ---- codes and blocks ------------------------------------------------------------------------- */

static void test_codes(void **state)
{
    (void)state;
    for (int f = 0; f < look_figure_count; f++) {
        for (uint32_t code = 0; code < SERIES_UNKNOWN; code++) {
            const double v = series_block_value((enum look_figure)f, (uint16_t)code);

            assert_int_equal(series_block_code((enum look_figure)f, v), code);
            assert_true(code == 0 || v > series_block_value((enum look_figure)f, (uint16_t)(code - 1)));
        }
        for (double v = look_figures[f].step; v < 1e12; v *= 1.0137)
            assert_true(
                fabs(series_block_value((enum look_figure)f, series_block_code((enum look_figure)f, v)) -
                     v) <= fmax(look_figures[f].step / 2 * 1.0001, v * 0.0005));
        assert_int_equal(series_block_code((enum look_figure)f, UNKNOWN), SERIES_UNKNOWN);
        assert_true(isnan(series_block_value((enum look_figure)f, SERIES_UNKNOWN)));
        assert_int_equal(series_block_code((enum look_figure)f, -5), 0);
        assert_int_equal(series_block_code((enum look_figure)f, INFINITY), SERIES_UNKNOWN - 1);
    }
}

static void test_blocks(void **state)
{
    struct rng rng = {3};

    (void)state;
    for (int round = 0; round < 200; round++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct series_block b = {.n_objects = 1 + rng_below(&rng, SERIES_OBJECTS),
                                 .n_steps = 1 + rng_below(&rng, SERIES_STEPS_MAX)};
        const size_t n = (size_t)b.n_objects * b.n_steps;
        struct series_block back;
        size_t len;

        for (int f = 0; f < look_figure_count; f++) {
            if (rng_below(&rng, 3) == 0)
                continue;
            b.codes[f] = arena_array(&a, uint16_t, n);
            for (size_t i = 0; i < n; i++)
                b.codes[f][i] = (uint16_t)(rng_below(&rng, 4) == 0 ? SERIES_UNKNOWN : rng_below(&rng, 65536));
        }
        const unsigned char *bytes = series_block_pack(&b, &a, &len);

        assert_true(len <= SERIES_BLOCK_BYTES_MAX);
        assert_int_equal(series_block_unpack(bytes, len, &a, &back), 0);
        assert_int_equal(back.n_objects, b.n_objects);
        assert_int_equal(back.n_steps, b.n_steps);
        for (int f = 0; f < look_figure_count; f++) {
            assert_int_equal(!b.codes[f], !back.codes[f]);
            if (b.codes[f])
                assert_memory_equal(b.codes[f], back.codes[f], n * sizeof *b.codes[f]);
        }
        assert_int_equal(series_block_unpack(bytes, len - 1, &a, &back), -EIO);
    }
}

static void test_damaged_blocks(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    static const struct {
        unsigned char bytes[12];
        size_t len;
    } wrong[] = {
        {{0}, 0},
        {{1, 0, 1, 0, 1}, 5},
        {{2, 0, 1, 0, 1, 0}, 6},                 /* another format */
        {{1, 0, 0, 0, 1, 0}, 6},                 /* no objects */
        {{1, 1, 1, 0, 1, 0}, 6},                 /* 257 objects */
        {{1, 0, 1, 0, 0, 0}, 6},                 /* no steps */
        {{1, 0, 1, 0, 65, 0}, 6},                /* too many */
        {{1, 0, 1, 0, 1, 1, 0, 0}, 8},           /* too short */
        {{1, 0, 1, 0, 1, 1, 0, 0, 0, 0}, 10},    /* too long */
        {{1, 0, 1, 0, 1, 2, 1, 0, 0, 0, 0}, 11}, /* not ascending */
        {{1, 0, 1, 0, 1, 2, 1, 1, 0, 0, 0, 0}, 12},
    };
    struct series_block b;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong); i++)
        assert_int_equal(series_block_unpack(wrong[i].bytes, wrong[i].len, &a, &b), -EIO);
    /* a figure of a later version is left out */
    assert_int_equal(
        series_block_unpack((const unsigned char[]){1, 0, 1, 0, 1, 2, 0, 200, 0, 2, 1, 1}, 12, &a, &b), 0);
    assert_int_equal(b.codes[0][0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_damaged_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
