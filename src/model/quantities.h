/* quantities.h: what a host has of each resource class (ballast/facts.h: struct host_quantities), from files
 * and to JSON. */
#ifndef BALLAST_MODEL_QUANTITIES_H
#define BALLAST_MODEL_QUANTITIES_H

#include "base/json_writer.h"
#include "model/inventory_check.h"
#include "schema/reader.h"

#include <ballast/facts.h>

extern const struct schema quantities_schema; /* struct host_quantity, without its name */

/* *at: struct host_quantities. {NAME: {total, reserved, ratio, used_elsewhere}, ...}; not sorted yet. */
int quantities_read(const struct reader *r, const struct node *n, void *at);
void quantities_write(struct json_writer *w, const char *key, const void *at);
bool quantities_known(const void *at);

/* What a collector may have filled in wrong; sorted by name, refusing one that is given twice. */
int quantities_check(const struct place *at, const struct host_quantities *of);
int quantities_sort(const struct place *at, struct host_quantities *of, struct arena *a);

/* What VMs may take of it. */
static inline double quantity_limit(const struct host_quantity *q)
{
    return (q->total - q->reserved) * q->ratio - q->used_elsewhere;
}

#endif
