/* writer.h: from structs to JSON, by the tables that they are read by (field.h). */
#ifndef BALLAST_SCHEMA_WRITER_H
#define BALLAST_SCHEMA_WRITER_H

#include "base/json_writer.h"
#include "base/rfc3339.h"
#include "schema/field.h"

/* On one line; the key as for jw_begin(). */
void writer_object(struct json_writer *w, const char *key, const struct schema *schema, const void *from);

void writer_instant(struct json_writer *w, const char *key, instant_s t);

#endif
