/* schema.h: the objects of ballast-snapshot/1, field by field.
 *
 * One table for each kind of object says what a field is called, what it may hold and where it is kept. The
 * reader and the writer both follow it, so that what one writes the other reads.
 */
#ifndef BALLAST_MODEL_SCHEMA_H
#define BALLAST_MODEL_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#define SNAPSHOT_FORMAT "ballast-snapshot/1"

enum field_type {
    FIELD_TEXT,    /* const char * */
    FIELD_NUMBER,  /* double */
    FIELD_LIMIT,   /* double; null is NO_LIMIT */
    FIELD_COUNT,   /* uint32_t */
    FIELD_BOOL,    /* bool */
    FIELD_INSTANT, /* instant_s */
    FIELD_WORD,    /* an enum; .words */
    FIELD_IDS,     /* struct ids */
    FIELD_LABELS,  /* struct labels */
    FIELD_WAKE,    /* unsigned, WAKE_* */
    FIELD_CURVE,   /* struct power_curve */
    FIELD_OBJECT,  /* .inner, which keeps its fields in the same struct */
    FIELD_SKIPPED, /* known, but of no use here */
};

#define FIELD_REQUIRED (1u << 0)
#define FIELD_NULLABLE (1u << 1) /* null is read as if it were absent */
#define FIELD_OPTIONAL                                                                                       \
    (1u << 2) /* written only where it is known: not UNKNOWN, NULL, 0 or empty; an object,                   \
               * where all that is required of it is */

/* The words that a field may hold, and the enum behind them. */
struct words {
    int (*parse)(const char *word, int *ret);
    const char *(*name)(int value);
    int n;
    unsigned allowed; /* 1u << value */
};

struct schema;

struct field {
    const char *name;
    enum field_type type;
    size_t offset;
    unsigned flags;
    const struct words *words;
    const struct schema *inner;
    size_t given; /* offset of a bool: whether the field is there at all; 0: nobody asks */
};

struct schema {
    const char *what; /* "host" */
    const struct field *fields;
    size_t n;
};

extern const struct schema schema_document;                   /* struct inventory; its lists are skipped */
extern const struct schema schema_ha;                         /* struct inventory */
extern const struct schema schema_correlation, schema_regret; /* struct inventory */
extern const struct schema schema_host;                       /* struct seen_host */
extern const struct schema schema_vm;                         /* struct seen_vm, and so on */
extern const struct schema schema_schedule; /* struct inventory; .schedule.given is not part of it */
extern const struct schema schema_pool;
extern const struct schema schema_rule;
extern const struct schema schema_migration;
extern const struct schema schema_pending;
extern const struct schema schema_migration_rate;
extern const struct schema schema_setting;
extern const struct schema schema_expected; /* struct expected */

struct wake_word {
    const char *word;
    unsigned bit;
};

extern const struct wake_word wake_words[];
extern const size_t n_wake_words;

#endif
