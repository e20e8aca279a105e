/* stats.h: how large the store is. */
#ifndef BALLAST_STORE_STATS_H
#define BALLAST_STORE_STATS_H

#include "engine/ports.h"

struct store_table {
    const char *name;
    uint64_t rows;
};

struct store_stats {
    uint64_t bytes;             /* of the database, without its write-ahead log */
    struct store_table *tables; /* by name */
    size_t n_tables;
};

/* 0 or a negative errno and a sentence; results are in the arena. Counts each row: 20 ms a million. */
int store_stats(struct store *s, struct arena *a, struct store_stats *ret, struct err *err);

#endif
