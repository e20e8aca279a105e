/* object_read.h: one JSON object, read by its table (schema.h).
 *
 * Used by the readers of files. Complaints are "JSON-pointer: what is wrong, what was expected".
 */
#ifndef BALLAST_MODEL_OBJECT_READ_H
#define BALLAST_MODEL_OBJECT_READ_H

#include "model/schema.h"
#include "model/snapshot_json.h"

#include <jansson.h>

struct reader {
    struct arena *a;
    struct unknown_fields *unknown; /* NULL: nobody asks */
    struct err *err;
};

/* Where the reader is: a key of an object or an item of an array, and what that is in. {0}: the document. */
struct at {
    const struct at *up;
    const char *key; /* NULL: an item */
    size_t ix;
};

/* The text as JSON, which is the caller's; no key is given twice in an object. */
int read_json(const struct reader *r, const char *text, size_t len, json_t **ret);

/* Both return -EINVAL. */
int read_complaint(const struct reader *r, const struct at *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int read_wrong_type(const struct reader *r, const struct at *at, const json_t *value, const char *expected);

/* Fills in what the object has of the table's fields, in the table's order; what is left over is unknown. */
int read_object(const struct reader *r, const struct at *at, const json_t *object,
                const struct schema *schema, void *into);

/* snapshot_read.c: adds a VM, with what follows from its other fields. */
int read_vm(const struct reader *r, const struct at *at, const json_t *object, struct inventory *inv);

#endif
