/* series_block.h: the figures of up to 256 objects at one or more times, packed into bytes and back.
 *
 * Most figures repeat another one: a VM is entitled to its demand and gets it, and its memory hardly
 * changes. So a figure is written as its difference to the one that it is most likely equal to, high and low
 * bytes apart, and deflate leaves little of that (README.md has bytes a VM).
 *
 * A value becomes a code of 16 bits: the number of steps of its figure (look.h) up to 2047, above that in
 * steps of 0.05 to 0.1 % of itself, so an error is at most half a step or 0.05 %. Codes grow with values. */
#ifndef BALLAST_STORE_SERIES_BLOCK_H
#define BALLAST_STORE_SERIES_BLOCK_H

#include "engine/look.h"

#define SERIES_OBJECTS 256
#define SERIES_STEPS_MAX 64
#define SERIES_UNKNOWN 0xffff

/* What no block exceeds, unpacked. */
#define SERIES_BLOCK_BYTES_MAX (256 + 256 * 2 * SERIES_OBJECTS * SERIES_STEPS_MAX)

struct series_block {
    uint32_t n_objects, n_steps;
    uint16_t *codes[look_figure_count]; /* by object, then step; NULL: the figure is not there */
};

/* Never negative; a figure beyond the largest code becomes that. */
uint16_t series_block_code(enum look_figure f, double value);
double series_block_value(enum look_figure f, uint16_t code);

/* The bytes, in the arena. */
const unsigned char *series_block_pack(const struct series_block *b, struct arena *a, size_t *ret_len);

/* -EIO: not made by series_block_pack(). Figures of later versions are left out. */
int series_block_unpack(const unsigned char *bytes, size_t len, struct arena *a, struct series_block *ret);

#endif
