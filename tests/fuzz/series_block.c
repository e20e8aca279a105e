/* A row of figures over time, after a disk has changed it: refused, or a block that is the same after it was
 * packed once more. */
#include "store/series_block.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check_values(const uint16_t *codes, size_t n, enum look_figure f)
{
    for (size_t i = 0; i < n; i++) {
        const double v = series_block_value(f, codes[i]);

        if (isnan(v) != (codes[i] == SERIES_UNKNOWN) || v < 0 || isinf(v) ||
            series_block_code(f, v) != codes[i])
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct series_block b, again;
    size_t len;

    if (series_block_unpack(data, size, &a, &b) < 0)
        return 0;
    if (size > SERIES_BLOCK_BYTES_MAX || b.n_objects == 0 || b.n_objects > SERIES_OBJECTS || b.n_steps == 0 ||
        b.n_steps > SERIES_STEPS_MAX)
        abort();
    const size_t n = (size_t)b.n_objects * b.n_steps;
    const unsigned char *bytes = series_block_pack(&b, &a, &len);

    if (len > size || (len == size && memcmp(bytes, data, len) != 0) ||
        series_block_unpack(bytes, len, &a, &again) < 0)
        abort();
    for (int f = 0; f < look_figure_count; f++) {
        if (!b.codes[f] != !again.codes[f])
            abort();
        if (!b.codes[f])
            continue;
        if (memcmp(b.codes[f], again.codes[f], n * sizeof *b.codes[f]) != 0)
            abort();
        check_values(b.codes[f], n, (enum look_figure)f);
    }
    return 0;
}
