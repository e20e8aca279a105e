/* attributes.h: typed values by name (ballast/expression.h: struct attributes), from files and to JSON. */
#ifndef BALLAST_MODEL_ATTRIBUTES_H
#define BALLAST_MODEL_ATTRIBUTES_H

#include "base/json_writer.h"
#include "model/inventory_check.h"
#include "schema/reader.h"

#include <ballast/expression.h>

/* *at: struct attributes. {NAME: number, text, true, false or a list of texts, ...}; not sorted yet. */
int attributes_read(const struct reader *r, const struct node *n, void *at);
void attributes_write(struct json_writer *w, const char *key, const void *at);
bool attributes_known(const void *at);
void attributes_copy(const void *from, void *to, struct arena *a);

/* The value with this name; absent: there is none. Binary search in sorted attributes. */
struct value attributes_find(const struct attributes *of, const char *name);

/* One value: a number, a text, a truth. */
int attributes_read_value(const struct reader *r, const struct node *n, struct value *ret);

struct value attributes_copy_value(const struct value *v, struct arena *a);

/* One value as JSON; absent: null. */
void attributes_write_value(struct json_writer *w, const char *key, const struct value *v);

/* What a collector may have filled in wrong; sorted by name, refusing one that is given twice. */
int attributes_check(const struct place *at, const char *field, const struct attributes *of);
int attributes_sort(const struct place *at, const char *field, struct attributes *of, struct arena *a);

#endif
