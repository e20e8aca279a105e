/* quantities.c: the quantities of a host: read, checked, sorted and written. */
#include "model/quantities.h"

#include "base/order.h"
#include "schema/writer.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const struct field quantity_fields[] = {
    FIELD_OF(struct host_quantity, total, FIELD_NUMBER, .max = QUANTITY_MAX, .flags = FIELD_REQUIRED),
    FIELD_OF(struct host_quantity, reserved, FIELD_NUMBER, .max = QUANTITY_MAX, .flags = FIELD_NULLABLE),
    FIELD_OF(struct host_quantity, ratio, FIELD_NUMBER, .max = QUANTITY_MAX, .flags = FIELD_NULLABLE),
    FIELD_OF(struct host_quantity, used_elsewhere, FIELD_NUMBER, .max = QUANTITY_MAX,
             .flags = FIELD_NULLABLE),
};
const struct schema quantities_schema = SCHEMA_OF("quantity of a host", quantity_fields);

int quantities_read(const struct reader *r, const struct node *map, void *at)
{
    struct host_quantities *ret = at;
    uint32_t i = 0;
    int e = 0;

    if (map->kind != NODE_MAP)
        return reader_refuse(r, map, "{NAME: {\"total\": NUMBER}, ...}");
    if (map->n > QUANTITIES_MAX)
        return reader_complain(r, map, "%s%zu entries, expected at most %d", map->json ? "" : "has ", map->n,
                               QUANTITIES_MAX);
    struct host_quantity *items = arena_array(r->a, struct host_quantity, map->n);

    for (const struct node *n = map->first; n && e == 0; n = n->next, i++) {
        items[i] = (struct host_quantity){.name = arena_strdup(r->a, n->key), .ratio = 1};
        e = reader_object(r, n, &quantities_schema, &items[i]);
    }
    *ret = (struct host_quantities){.items = items, .n = i};
    return e;
}

void quantities_write(struct json_writer *w, const char *key, const void *at)
{
    const struct host_quantities *of = at;

    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    for (uint32_t i = 0; i < of->n; i++)
        writer_object(w, of->items[i].name, &quantities_schema, &of->items[i]);
    jw_end(w);
}

bool quantities_known(const void *at)
{
    return ((const struct host_quantities *)at)->n > 0;
}

static bool is_size(double v)
{
    return isfinite(v) && v >= 0 && v <= QUANTITY_MAX;
}

int quantities_check(const struct place *at, const struct host_quantities *of)
{
    if (of->n > QUANTITIES_MAX)
        return inventory_check_refuse(at, "quantities", "%u entries, expected at most %d", of->n,
                                      QUANTITIES_MAX);
    for (uint32_t i = 0; i < of->n; i++) {
        const struct host_quantity *q = &of->items[i];

        if (!inventory_check_is_name(q->name))
            return inventory_check_refuse(at, "quantities", "entry %u has no name of 1 to %d bytes", i,
                                          FACT_NAME_BYTES_MAX);
        if (!is_size(q->total) || !is_size(q->reserved) || !is_size(q->ratio) || !is_size(q->used_elsewhere))
            return inventory_check_refuse(at, "quantities", "of \"%s\" a figure is no size, expected 0 to %g",
                                          q->name, QUANTITY_MAX);
    }
    return 0;
}

int quantities_sort(const struct place *at, struct host_quantities *of, struct arena *a)
{
    const void *items = of->items;
    int r = inventory_check_sort(at, "quantities", of->items, of->n, sizeof *of->items, a, &items);

    of->items = items;
    return r;
}
