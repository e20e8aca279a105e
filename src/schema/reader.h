/* reader.h: from a file's values to structs, by tables of fields (field.h).
 *
 * Errors are -EINVAL with one sentence: "FILE:LINE: PATH is "x", expected ..." in YAML, "JSON-POINTER: "x",
 * expected ..." in JSON, where the caller adds the file. An unknown field is an error in YAML, with the
 * nearest known name; in JSON it is ignored and noted once for each kind of object.
 *
 * Reading a second object into a struct replaces the fields that the object has and keeps the others.
 */
#ifndef BALLAST_SCHEMA_READER_H
#define BALLAST_SCHEMA_READER_H

#include "schema/field.h"

#include <ballast/err.h>

/* A field that the reader did not know, in one kind of object. */
struct unknown_field {
    const char *pointer; /* its first occurrence: "/hosts/0/foo" */
    const char *what;    /* the kind of object: "host" */
    const char *name;
    size_t n; /* objects of this kind with this field */
};

/* A zeroed struct is empty. Lives in the arena of the reading. */
struct unknown_fields {
    struct unknown_field *items;
    size_t n, cap;
    size_t more; /* unknown fields that are not listed */
};

/* The mistakes of a file, each a whole sentence, in the arena of the reading. A zeroed struct is empty. */
struct mistakes {
    const char **items;
    size_t n, cap;
};

struct reader {
    const char *file; /* YAML; for errors, and the base of relative paths; NULL: there is none */
    const char *(*place)(const struct reader *r, unsigned line); /* NULL: "FILE:LINE" */
    const char *(*example)(const char *path); /* YAML: what may be written there; NULL: errors give none */
    const void *context;                      /* for the fields' own readers */
    struct unknown_fields *unknown;           /* JSON; NULL: unknown fields are not noted */
    struct mistakes *mistakes; /* not NULL: reading goes on after a wrong key, and lists it here */
    struct arena *a;
    struct err *err;
};

/* Reads the object, in the order of the file. */
int reader_object(const struct reader *r, const struct node *n, const struct schema *schema, void *into);

/* Whether reading ends with this result: 0 to go on, also after a mistake that is now listed. */
int reader_note_mistake(const struct reader *r, int result);

/* Reads one value into *at, by the field's type, range, words, meaning and own reader. */
int reader_value(const struct reader *r, const struct node *n, const struct field *f, void *at);

/* Reads the text as YAML has it, of the key at the path ("dpm.target"), also where null is no value of it. */
int reader_set(const struct reader *r, const struct schema *schema, const char *path, const char *text,
               void *into);

/* Sets fields to their defaults, and lists to empty lists. */
void reader_defaults(const struct reader *r, const struct schema *schema, void *into);

/* YAML: refuses a node that is no list, or has more than this many entries; null is an empty list. */
int reader_list_check(const struct reader *r, const struct node *n, const char *expected, size_t most);

/* "a, b or c". */
const char *reader_words(const struct reader *r, const char *const *words);

/* "FILE:LINE". */
const char *reader_place(const struct reader *r, unsigned line);

/* ", for example 300", as an error of the key ends; "" where none is known. */
const char *reader_example(const struct reader *r, const char *path);

/* Errors of a value. All return -EINVAL. */
int reader_refuse(const struct reader *r, const struct node *n, const char *expected);
int reader_complain(const struct reader *r, const struct node *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int reader_complain_line(const struct reader *r, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The warning about one unknown field: "/hosts/0/foo: unknown field, ignored". */
const char *reader_unknown_text(const struct unknown_field *u, struct arena *a);

#endif
