/* series_block.c: figures to bytes and back. It knows no database. */
#include "store/series_block.h"

#include <errno.h>
#include <math.h>

/* The bytes: this version, the objects and the steps in two bytes each, the number of figures, the figures,
 * ascending; then of each figure the high bytes of all its differences, then the low bytes. */
#define FORMAT 1
#define HEADER 6

#define CODES_EXACT 2048 /* steps that have a code each */
#define CODES_DOUBLING (CODES_EXACT / 2)
#define CODE_MOST 0xfffe

/* ---- values and codes ------------------------------------------------------------------------ */

uint16_t series_block_code(enum look_figure f, double value)
{
    if (isnan(value))
        return SERIES_UNKNOWN;
    double steps = fmax(value, 0) / look_figures[f].step;

    if (rint(steps) < CODES_EXACT)
        return (uint16_t)rint(steps);
    if (isinf(steps))
        return CODE_MOST;
    int exponent = 0;

    steps = fmax(steps, CODES_EXACT);
    (void)frexp(steps, &exponent); /* steps in [2^(e-1), 2^e) */
    int doublings = exponent - 11;
    double mantissa = rint(ldexp(steps, -doublings)); /* of CODES_DOUBLING ... CODES_EXACT */
    double code = CODES_EXACT + (double)(doublings - 1) * CODES_DOUBLING + (mantissa - CODES_DOUBLING);

    return code < CODE_MOST ? (uint16_t)code : CODE_MOST;
}

double series_block_value(enum look_figure f, uint16_t code)
{
    if (code == SERIES_UNKNOWN)
        return UNKNOWN;
    if (code < CODES_EXACT)
        return code * look_figures[f].step;
    int doublings = (code - CODES_EXACT) / CODES_DOUBLING + 1;
    int mantissa = (code - CODES_EXACT) % CODES_DOUBLING + CODES_DOUBLING;

    return ldexp(mantissa, doublings) * look_figures[f].step;
}

/* ---- differences ----------------------------------------------------------------------------- */

/* The figure that another is most often equal to; itself: none. It comes before the other. Part of the
 * format.
 */
static enum look_figure near_figure(enum look_figure f)
{
    switch (f) {
    case LOOK_CPU_ENTITLEMENT:
    case LOOK_CPU_DELIVERED:
    case LOOK_CPU_DEMAND_MAX:
        return LOOK_CPU_DEMAND;
    case LOOK_MEM_ENTITLEMENT:
    case LOOK_MEM_DELIVERED:
    case LOOK_MEM_DEMAND_MAX:
        return LOOK_MEM_DEMAND;
    case LOOK_CPU_SCORE_MIN:
        return LOOK_CPU_SCORE;
    case LOOK_MEM_SCORE_MIN:
        return LOOK_MEM_SCORE;
    case LOOK_CPU_DEMAND:
    case LOOK_MEM_DEMAND:
    case LOOK_CPU_SCORE:
    case LOOK_MEM_SCORE:
    case LOOK_CPU_CAPACITY:
    case LOOK_MEM_CAPACITY:
    case LOOK_POWER:
    case LOOK_HOSTS_ON:
    case LOOK_HOSTS_STANDBY:
    case LOOK_HOSTS_OTHER:
    case LOOK_IMBALANCE_BEFORE:
    case LOOK_IMBALANCE_AFTER:
    case LOOK_VMS_FROM_99:
    case LOOK_VMS_FROM_95:
    case LOOK_VMS_FROM_80:
    case LOOK_VMS_BELOW_80:
    case LOOK_VMS_UNKNOWN:
    case look_figure_count:
        break;
    }
    return f;
}

/* What stands at place i by what was written before it: the step before, and the near figure's change. */
static uint16_t expected(const uint16_t *codes, const uint16_t *near, size_t i, uint32_t n_steps)
{
    const bool first = i % n_steps == 0;

    if (!near)
        return first ? 0 : codes[i - 1];
    return first ? near[i] : (uint16_t)(near[i] + codes[i - 1] - near[i - 1]);
}

/* Small differences of either sign become small numbers. */
static uint16_t fold(uint16_t difference)
{
    return (uint16_t)((uint16_t)(difference << 1) ^ (difference & 0x8000 ? 0xffff : 0));
}

static uint16_t unfold(uint16_t folded)
{
    return (uint16_t)((folded >> 1) ^ (folded & 1 ? 0xffff : 0));
}

static const uint16_t *near_codes(const struct series_block *b, int f)
{
    const int near = near_figure((enum look_figure)f);

    return near == f ? NULL : b->codes[near];
}

/* ---- bytes ----------------------------------------------------------------------------------- */

const unsigned char *series_block_pack(const struct series_block *b, struct arena *a, size_t *ret_len)
{
    const size_t n = (size_t)b->n_objects * b->n_steps;
    unsigned char *bytes = arena_array(a, unsigned char, HEADER + look_figure_count * (1 + 2 * n));
    unsigned n_figures = 0;
    unsigned char *at;

    for (int f = 0; f < look_figure_count; f++) {
        if (b->codes[f])
            bytes[HEADER + n_figures++] = (unsigned char)f;
    }
    bytes[0] = FORMAT;
    bytes[1] = (unsigned char)(b->n_objects >> 8);
    bytes[2] = (unsigned char)b->n_objects;
    bytes[3] = (unsigned char)(b->n_steps >> 8);
    bytes[4] = (unsigned char)b->n_steps;
    bytes[5] = (unsigned char)n_figures;
    at = bytes + HEADER + n_figures;
    for (int f = 0; f < look_figure_count; f++) {
        const uint16_t *codes = b->codes[f];

        for (size_t i = 0; codes && i < n; i++) {
            uint16_t folded = fold((uint16_t)(codes[i] - expected(codes, near_codes(b, f), i, b->n_steps)));

            at[i] = (unsigned char)(folded >> 8);
            at[n + i] = (unsigned char)folded;
        }
        at += codes ? 2 * n : 0;
    }
    *ret_len = (size_t)(at - bytes);
    return bytes;
}

static void unpack_figure(const unsigned char *at, size_t n, const uint16_t *near, uint32_t n_steps,
                          uint16_t *codes)
{
    for (size_t i = 0; i < n; i++)
        codes[i] = (uint16_t)(expected(codes, near, i, n_steps) + unfold((uint16_t)(at[i] << 8 | at[n + i])));
}

int series_block_unpack(const unsigned char *bytes, size_t len, struct arena *a, struct series_block *ret)
{
    struct series_block b = {0};

    if (len < HEADER || bytes[0] != FORMAT)
        return -EIO;
    const unsigned n_figures = bytes[5];

    b.n_objects = (uint32_t)(bytes[1] << 8 | bytes[2]);
    b.n_steps = (uint32_t)(bytes[3] << 8 | bytes[4]);
    if (b.n_objects == 0 || b.n_objects > SERIES_OBJECTS || b.n_steps == 0 || b.n_steps > SERIES_STEPS_MAX)
        return -EIO;
    const size_t n = (size_t)b.n_objects * b.n_steps;

    if (len != HEADER + n_figures * (1 + 2 * n))
        return -EIO;
    for (unsigned i = 0; i < n_figures; i++) {
        const unsigned f = bytes[HEADER + i];

        if (i > 0 && f <= bytes[HEADER + i - 1])
            return -EIO;
        if (f >= look_figure_count)
            continue;
        b.codes[f] = arena_array(a, uint16_t, n);
        unpack_figure(bytes + HEADER + n_figures + i * 2 * n, n, near_codes(&b, (int)f), b.n_steps,
                      b.codes[f]);
    }
    *ret = b;
    return 0;
}
