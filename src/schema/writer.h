/* writer.h: from structs to JSON, by the reader's tables (field.h). */
#ifndef BALLAST_SCHEMA_WRITER_H
#define BALLAST_SCHEMA_WRITER_H

#include "base/json_writer.h"
#include "base/rfc3339.h"
#include "schema/field.h"

/* Writes the object on one line; key as in jw_begin(). */
void writer_object(struct json_writer *w, const char *key, const struct schema *schema, const void *from);

/* Writes the object with a line for each field, and its sections: "dpm.target" is {"dpm": {"target": ...}}.
 */
void writer_lines(struct json_writer *w, const char *key, const struct schema *schema, const void *from);

/* Writes its fields into the object that is open. */
void writer_fields(struct json_writer *w, const struct schema *schema, const void *from);

void writer_instant(struct json_writer *w, const char *key, instant_s t);

#endif
