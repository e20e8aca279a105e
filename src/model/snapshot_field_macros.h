/* snapshot_field_macros.h: how the tables of ballast-snapshot/1 are written. Only for snapshot_fields*.c and
 * numa_fields.c: the names are short. */
#ifndef BALLAST_MODEL_SNAPSHOT_FIELD_MACROS_H
#define BALLAST_MODEL_SNAPSHOT_FIELD_MACROS_H

#include "schema/field.h"

#include <stddef.h>

/* A pool, a group or a pipeline is the source's or the configuration's. */
extern const char *const snapshot_origin_words[];

/* A schema of the fields that follow. */
#define SCHEMA(name, text, ...) const struct schema name = SCHEMA_WITH(text, __VA_ARGS__)

#define REQ FIELD_REQUIRED
#define NUL FIELD_NULLABLE
#define OPT (FIELD_NULLABLE | FIELD_OPTIONAL)

/* S is the struct that holds the fields of the next table. */
#define F(n, t, member, fl) FIELD_AT(n, S, member, t, .flags = (fl))
#define W(n, member, list, fl) FIELD_AT(n, S, member, FIELD_WORD, .flags = (fl), .words = (list))
/* A field whose struct says in MEMBER_given whether it is there. */
#define GIVEN(n, t, member) FIELD_AT(n, S, member, t, .flags = OPT, .given = offsetof(S, member##_given))
#define W_GIVEN(n, member, list)                                                                             \
    FIELD_AT(n, S, member, FIELD_WORD, .flags = OPT, .words = (list), .given = offsetof(S, member##_given))
/* Objects, whose fields are in the same struct. */
#define O(n, schema, ...)                                                                                    \
    {                                                                                                        \
        .name = (n), .type = FIELD_OBJECT, .inner = &(schema), __VA_ARGS__                                   \
    }
#define O_REQ(n, schema) O(n, schema, .flags = REQ)
#define O_OPT(n, schema) O(n, schema, .flags = OPT)
#define O_GIVEN(n, schema, member) O(n, schema, .flags = OPT, .given = offsetof(S, member))
#define OFFER(n, member)                                                                                     \
    FIELD_AT(n, S, member.names, FIELD_IDS, .flags = OPT, .given = offsetof(S, member.known))
#define ATTRIBUTES(n, member)                                                                                \
    FIELD_AT(n, S, member, FIELD_OWN, .flags = OPT, .read = attributes_read, .write = attributes_write,      \
             .known = attributes_known, .copy = attributes_copy)
#define EXPRESSION(member, reader)                                                                           \
    FIELD_OF(S, member, FIELD_OWN, .flags = OPT, .read = (reader), .write = expression_write,                \
             .known = expression_known, .copy = expression_copy)
#define ROWS(n, member, of, type_of_row, most, fl, text)                                                     \
    FIELD_AT(n, S, member, FIELD_ROWS, .inner = &(of), .size = sizeof(type_of_row), .max = (most),           \
             .flags = (fl), .meaning = (text))
#define SKIPPED(n)                                                                                           \
    {                                                                                                        \
        .name = (n), .type = FIELD_SKIPPED                                                                   \
    }

#endif
