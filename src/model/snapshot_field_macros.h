/* snapshot_field_macros.h: how the tables of ballast-snapshot/1 are written. Only for snapshot_fields*.c and
 * numa_fields.c: the names are short. */
#ifndef BALLAST_MODEL_SNAPSHOT_FIELD_MACROS_H
#define BALLAST_MODEL_SNAPSHOT_FIELD_MACROS_H

#include "schema/field.h"

#include <stddef.h>

/* A pool, a group or a pipeline is the source's or the configuration's. */
extern const char *const snapshot_origin_words[];

#define SCHEMA(name, text, array) const struct schema name = SCHEMA_OF(text, array)

#define REQ FIELD_REQUIRED
#define NUL FIELD_NULLABLE
#define OPT (FIELD_NULLABLE | FIELD_OPTIONAL)

/* S is the struct that holds the fields of the next table. */
#define F(n, t, member, fl)                                                                                  \
    {                                                                                                        \
        .name = (n), .type = (t), .offset = offsetof(S, member), .flags = (fl)                               \
    }
#define W(n, member, list, fl)                                                                               \
    {                                                                                                        \
        .name = (n), .type = FIELD_WORD, .offset = offsetof(S, member), .flags = (fl), .words = (list)       \
    }
/* A field whose struct says in MEMBER_given whether it is there. */
#define GIVEN(n, t, member)                                                                                  \
    {                                                                                                        \
        .name = (n), .type = (t), .offset = offsetof(S, member), .flags = OPT,                               \
        .given = offsetof(S, member##_given)                                                                 \
    }
#define O(n, schema)                                                                                         \
    {                                                                                                        \
        .name = (n), .type = FIELD_OBJECT, .inner = &(schema)                                                \
    }
#define O_OPT(n, schema)                                                                                     \
    {                                                                                                        \
        .name = (n), .type = FIELD_OBJECT, .inner = &(schema), .flags = OPT                                  \
    }
#define O_GIVEN(n, schema, member)                                                                           \
    {                                                                                                        \
        .name = (n), .type = FIELD_OBJECT, .inner = &(schema), .flags = OPT, .given = offsetof(S, member)    \
    }
#define OFFER(n, member)                                                                                     \
    {                                                                                                        \
        .name = (n), .type = FIELD_IDS, .offset = offsetof(S, member.names), .flags = OPT,                   \
        .given = offsetof(S, member.known)                                                                   \
    }
#define ATTRIBUTES(n, member)                                                                                \
    {                                                                                                        \
        .name = (n), .type = FIELD_OWN, .offset = offsetof(S, member), .flags = OPT,                         \
        .read = attributes_read, .write = attributes_write, .known = attributes_known,                       \
        .copy = attributes_copy                                                                              \
    }
#define EXPRESSION(member, reader)                                                                           \
    {                                                                                                        \
        .name = #member, .type = FIELD_OWN, .offset = offsetof(S, member), .flags = OPT, .read = (reader),   \
        .write = expression_write, .known = expression_known, .copy = expression_copy                        \
    }
#define ROWS(n, member, of, type_of_row, most, fl, text)                                                     \
    {                                                                                                        \
        .name = (n), .type = FIELD_ROWS, .offset = offsetof(S, member), .inner = &(of),                      \
        .size = sizeof(type_of_row), .max = (most), .flags = (fl), .meaning = (text)                         \
    }
#define SKIPPED(n)                                                                                           \
    {                                                                                                        \
        .name = (n), .type = FIELD_SKIPPED                                                                   \
    }

#endif
