/* field.h: a field's value as text, and copied. The tables are in ballast/field.h. */
#ifndef BALLAST_SCHEMA_FIELD_H
#define BALLAST_SCHEMA_FIELD_H

#include "schema/node.h"

#include <ballast/field.h>

/* The value as it could stand in a configuration; NULL where it is not known. */
const char *field_text(const struct field *f, const void *object, struct arena *a);

/* What stands in the file of a FIELD_SECRET; NULL: it is none, or was not read. */
const char *field_secret(const struct field *f, const void *object);

/* Copies the value from one object to another, with what it points to. */
void field_copy(const struct field *f, const void *from, void *to, struct arena *a);

#endif
