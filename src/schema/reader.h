/* reader.h: from a file's values to structs, by tables of fields (field.h).
 *
 * Errors are -EINVAL with one sentence: "FILE:LINE: PATH is "x", expected ..." in YAML, "JSON-POINTER: "x",
 * expected ..." in JSON, before which the caller puts the file. A field that no table has is an error in
 * YAML, with what was probably meant; in JSON it is passed over and noted once for each kind of object.
 *
 * Reading an object again into the same struct replaces what it gives and leaves the rest. */
#ifndef BALLAST_SCHEMA_READER_H
#define BALLAST_SCHEMA_READER_H

#include "schema/field.h"

#include <ballast/err.h>

/* A field that the reader did not know, in one kind of object. */
struct unknown_field {
    const char *pointer; /* where it was met first: "/hosts/0/foo" */
    const char *what;    /* the kind of object: "host" */
    const char *name;
    size_t n; /* objects of this kind that have it */
};

/* Zeroed, it is empty. Lives in the arena of the reading. */
struct unknown_fields {
    struct unknown_field *items;
    size_t n, cap;
    size_t more; /* kinds of unknown fields past the ones that are listed */
};

struct reader {
    const char *file; /* YAML; for sentences, and what relative paths begin at */
    const char *(*place)(const struct reader *r, unsigned line); /* NULL: "FILE:LINE" */
    const void *context;                                         /* for the fields' own readers */
    struct unknown_fields *unknown;                              /* JSON; NULL: nobody asks */
    struct arena *a;
    struct err *err;
};

/* Reads the object, in the order of the file. */
int reader_object(const struct reader *r, const struct node *n, const struct schema *schema, void *into);

/* Reads one value into *at; of the field only type, range, words, meaning and own reader count. */
int reader_value(const struct reader *r, const struct node *n, const struct field *f, void *at);

/* Sets what has a default to it, and lists to empty ones. */
void reader_defaults(const struct reader *r, const struct schema *schema, void *into);

/* YAML: the node is a list of at most so many entries; null is an empty one. */
int reader_list_check(const struct reader *r, const struct node *n, const char *expected, size_t most);

/* "a, b or c". */
const char *reader_words(const struct reader *r, const char *const *words);

/* "FILE:LINE". */
const char *reader_place(const struct reader *r, unsigned line);

/* What is wrong with a value. All return -EINVAL. */
int reader_refuse(const struct reader *r, const struct node *n, const char *expected);
int reader_complain(const struct reader *r, const struct node *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int reader_complain_line(const struct reader *r, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The sentence for one unknown field: "/hosts/0/foo: unknown field, ignored". */
const char *reader_unknown_text(const struct unknown_field *u, struct arena *a);

#endif
