/* field.h: what an object of a file may have, field by field.
 *
 * One table for each kind of object says what a field is called, what it may hold, where it is kept and what
 * it means. src/schema reads YAML and JSON by such tables; a plug-in declares its keys of the configuration
 * with one (source.h). */
#ifndef BALLAST_FIELD_H
#define BALLAST_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node;
struct reader;

enum field_type {
    FIELD_TEXT,    /* const char *; on one line */
    FIELD_PATH,    /* const char *; a relative one is meant from the file's folder */
    FIELD_SECRET,  /* FIELD_PATH, and what stands in the file goes to .secret; YAML */
    FIELD_URL,     /* const char *; .words are the schemes */
    FIELD_ADDRESS, /* const char *; host, host:port or [address]:port */
    FIELD_MAC,     /* const char *; of one network card */
    FIELD_CHOICE,  /* const char *; one of .words */
    FIELD_WORD,    /* int or an enum; the number of the word in .words */
    FIELD_NUMBER,  /* double; where .fallback is "auto", that word is FIELD_AUTO */
    FIELD_LIMIT,   /* double; null is NO_LIMIT */
    FIELD_INT,     /* int64_t; "auto" as in FIELD_NUMBER */
    FIELD_COUNT,   /* uint32_t */
    FIELD_BOOL,    /* bool */
    FIELD_INSTANT, /* instant_s */
    FIELD_LIST,    /* const char *const *; NULL at the end */
    FIELD_IDS,     /* struct ids */
    FIELD_LABELS,  /* struct labels */
    FIELD_FLAGS,   /* unsigned; a list of .words, each its bit */
    FIELD_CURVE,   /* struct power_curve */
    FIELD_OBJECT,  /* .inner, at .offset */
    FIELD_OBJECTS, /* struct objects; YAML: a section of sections, each .inner, by their names */
    FIELD_NODE,    /* const struct node *; YAML: read later */
    FIELD_ROWS,    /* struct objects; JSON: a list of objects, each .inner of .size bytes */
    FIELD_OWN,     /* whatever .read makes of it */
    FIELD_SKIPPED, /* known, but of no use here */
};

#define FIELD_AUTO (-1)

#define FIELD_REQUIRED (1u << 0)
#define FIELD_NULLABLE (1u << 1) /* null is read as if it were absent */
#define FIELD_OPTIONAL                                                                                       \
    (1u << 2)                   /* written only where it is known: not UNKNOWN, NULL, 0 or empty; an object, \
                                 * where all that is required of it is */
#define FIELD_RESTART (1u << 3) /* configuration: a change takes effect at the next start */
#define FIELD_READABLE (1u << 4)    /* configuration: the file must be there */
#define FIELD_ONE_HOST (1u << 5)    /* configuration: has no place in power.defaults */
#define FIELD_REREAD (1u << 6)      /* configuration: the plug-in reads the secret's file at each login */
#define FIELD_KNOWN_WORDS (1u << 7) /* FIELD_LIST: .check takes words of a fixed list only */
#define FIELD_DEFAULTED (1u << 8)   /* FIELD_ROWS: rows begin with the defaults of .inner */

typedef int field_reader(const struct reader *r, const struct node *n, void *at);

/* JSON: writes what .read reads. */
struct json_writer;
typedef void field_writer(struct json_writer *w, const char *key, const void *at);

/* Copies what .read reads, with all that it points to. */
struct arena;
typedef void field_copier(const void *from, void *to, struct arena *a);

/* What was expected where the text cannot be right; NULL: it can. */
typedef const char *field_check(const char *text);

/* .size bytes each; of FIELD_OBJECTS, each begins with its name (const char *). */
struct objects {
    const void *items;
    uint32_t n;
};

struct field {
    const char *name; /* "url"; "source.url" stands in a section source */
    enum field_type type;
    size_t offset;            /* in the object's struct */
    double min, max;          /* of numbers, inclusive; both 0: any */
    const char *const *words; /* NULL at the end; "" stands for a number that has no word here */
    field_reader *read;       /* FIELD_OWN */
    const char *meaning;      /* with its unit */
    const char *fallback;     /* the default as text; NULL: none */
    unsigned flags;
    const struct schema *inner; /* FIELD_OBJECT, FIELD_OBJECTS */
    size_t size;                /* FIELD_OBJECTS, FIELD_ROWS: of one */
    size_t given;               /* offset of a bool: whether the field is there at all; 0: not needed */
    size_t secret;              /* FIELD_SECRET: offset of the const char * */
    field_check *check;  /* FIELD_TEXT, FIELD_SECRET, words of FIELD_LIST and FIELD_IDS; NULL: any will do */
    field_writer *write; /* FIELD_OWN; NULL: no JSON has it */
    bool (*known)(const void *at); /* FIELD_OWN with FIELD_OPTIONAL: whether it is written */
    field_copier *copy;            /* FIELD_OWN; NULL: it is never copied */
};

struct schema {
    const char *what; /* "host"; "" where it is of no interest */
    const struct field *fields;
    size_t n;
};

#define SCHEMA_OF(text, array) ((struct schema){(text), (array), sizeof(array) / sizeof(array)[0]})

/* The same for fields that stand nowhere else. */
#define SCHEMA_WITH(text, ...) SCHEMA_OF(text, ((const struct field[]){__VA_ARGS__}))

/* A field of a struct, and what else it has; and one with the name of its member: "ipmi.address" for
 * ipmi.address. */
#define FIELD_AT(key, object, member, of_type, ...)                                                          \
    {                                                                                                        \
        .name = (key), .type = (of_type), .offset = offsetof(object, member), __VA_ARGS__                    \
    }
#define FIELD_OF(object, member, of_type, ...) FIELD_AT(#member, object, member, of_type, __VA_ARGS__)

/* The words of an enum, for a table: ENUM_WORDS(host_state, HOST_STATES) is host_state_words[]. */
#define ENUM_WORD(e, word, meaning) word,
#define ENUM_WORDS(name, LIST) static const char *const name##_words[] = {LIST(ENUM_WORD) NULL}

#endif
