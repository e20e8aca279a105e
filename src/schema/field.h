/* field.h: a field's value as text; copies of values. The tables are in ballast/field.h. */
#ifndef BALLAST_SCHEMA_FIELD_H
#define BALLAST_SCHEMA_FIELD_H

#include "schema/node.h"

#include <ballast/field.h>

/* The value in the syntax of a configuration; NULL if unknown. */
const char *field_text(const struct field *f, const void *object, struct arena *a);

/* The secret that a FIELD_SECRET's file holds; NULL: the field is no secret, or the file was not read. */
const char *field_secret(const struct field *f, const void *object);

/* Whether a number may also be the word "auto", and whether it is. */
bool field_has_auto(const struct field *f);
bool field_is_auto(const struct field *f, const void *object);

/* Copies the value, with its strings and lists, from one object to another. */
void field_copy(const struct field *f, const void *from, void *to, struct arena *a);

#endif
