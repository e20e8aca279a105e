/* rows.h: distinct rows of values, numbered as they come. For fit/ only. */
#ifndef BALLAST_CORE_FIT_ROWS_H
#define BALLAST_CORE_FIT_ROWS_H

#include "core/fit/expression.h"

struct fit_row {
    const struct value *row;
    uint32_t n;
    uint64_t hash;
};

/* Open addressing; at most half full. A zeroed struct is empty. */
struct fit_rows {
    struct fit_row *keys;
    uint32_t n;
    size_t cap;
    uint32_t *slots; /* a number + 1; 0: free */
    size_t size;
};

/* The number of the row; a new one is copied. */
uint32_t fit_rows_number(struct fit_rows *r, const struct value *row, uint32_t n, struct arena *a);

/* The number of the row; IX_NONE: it has none. */
uint32_t fit_rows_find(const struct fit_rows *r, const struct value *row, uint32_t n);

#endif
