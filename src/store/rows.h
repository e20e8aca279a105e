/* rows.h: converts records of engine/ports.h to rows and back, by a table of columns. */
#ifndef BALLAST_STORE_ROWS_H
#define BALLAST_STORE_ROWS_H

#include "engine/ports.h"

#include "base/strbuf.h"

#include <sqlite3.h>

enum column_type {
    COLUMN_U64,
    COLUMN_U32,
    COLUMN_BOOL,
    COLUMN_I64,   /* an instant or a duration */
    COLUMN_REAL,  /* UNKNOWN is NULL */
    COLUMN_LIMIT, /* a REAL; NO_LIMIT is NULL */
    COLUMN_TEXT,  /* may be NULL. The types from here on are stored as text */
    COLUMN_STATE,
    COLUMN_KIND,
    COLUMN_REASON,
    COLUMN_NEEDS, /* depends_on of an action: "3,4" */
};

struct sql_column {
    const char *name;
    enum column_type type;
    size_t offset; /* in the record */
};

struct sql_table {
    const char *name;
    const struct sql_column *columns; /* the key first */
    int n;
};

extern const struct sql_table table_notes;                                             /* struct note */
extern const struct sql_table table_setting_keys, table_note_keys, table_failure_keys; /* the key columns */
extern const struct sql_table table_failures;    /* struct failure_record */
extern const struct sql_table table_actions;     /* struct action_record */
extern const struct sql_table table_action_ends; /* struct action_record: what a summary of ends needs */
extern const struct sql_table table_migrations;  /* struct migration_record */
extern const struct sql_table table_rates;       /* struct rate_record */
extern const struct sql_table table_dirties;     /* struct dirty_record */
extern const struct sql_table table_settings;    /* struct setting_record */
extern const struct sql_table table_hosts;       /* struct host_record */
extern const struct sql_table table_samples;     /* struct sample_record */
extern const struct sql_table table_passes;      /* struct pass_record without its texts */
extern const struct sql_table table_energy;      /* struct energy_record */
extern const struct sql_table table_energy_sums; /* sums of energy, read with GROUP BY */
extern const struct sql_table table_patterns;    /* struct demand_profile_record */
extern const struct sql_table table_events, table_new_events; /* struct event_record; without its number */
extern const struct sql_table table_faults;                   /* struct fault_event: events of faults */
extern const struct sql_table table_looks;                    /* struct series_time */

/* "a, b, c". */
void row_column_names(const struct sql_table *t, struct strbuf *out);

/* "?, ?, ?". */
void row_placeholders(const struct sql_table *t, struct strbuf *out);

/* Binds the record to the statement's first parameters. An SQLite code. */
int row_bind(sqlite3_stmt *st, const struct sql_table *t, const void *record);

/* Reads the statement's first columns. -EIO: a value that this version never writes. */
int row_read(sqlite3_stmt *st, const struct sql_table *t, struct arena *a, void *record, struct err *err);

#endif
