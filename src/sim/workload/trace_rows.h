/* trace_rows.h: parses the lines of a trace file, for the files of workload only. */
#ifndef BALLAST_SIM_TRACE_ROWS_H
#define BALLAST_SIM_TRACE_ROWS_H

#include "sim/workload/trace.h"

#define PLANETLAB_STEP_S 300.0
#define TRACE_NAME_LENGTH_MAX 256

struct trace_row {
    const char *vm;
    uint32_t order; /* order of first appearance */
    uint32_t vcpus;
    double time_s;           /* as in the file; may be a date */
    double value[RES_COUNT]; /* UNKNOWN: empty, the value before holds */
    double cpu_mhz, mem_mb;  /* 0: not known */
};

struct trace_rows {
    struct trace_row *items;
    size_t n, cap;
    size_t missing;      /* prometheus, table: figures that are empty, NaN or infinite */
    const char *warning; /* prometheus: the first warning of the answer; NULL: none */
};

/* Appends the rows of one file; vm is their VM unless the format names the VM in each line. -EINVAL with
 * "FILE:LINE: ...". */
int trace_rows_parse(const char *file, const char *vm, const char *text, size_t len, enum trace_format format,
                     struct arena *a, struct trace_rows *rows, struct err *err);

/* The same for answers to a range query of one figure. */
int trace_prometheus_parse(const char *file, const char *text, size_t len,
                           const struct trace_columns *columns, enum trace_part part, struct arena *a,
                           struct trace_rows *rows, struct err *err);

/* ... and for separated values, with the figures whose bits (1u << part) are in `parts`. */
int trace_table_parse(const char *file, const char *text, size_t len, const struct trace_columns *columns,
                      unsigned parts, struct arena *a, struct trace_rows *rows, struct err *err);

/* ---- shared by the parsers ------------------------------------------------------------------- */

struct trace_field {
    const char *text;
    size_t len;
};

/* Leaves out the byte order mark with which spreadsheets begin a text. */
void trace_rows_skip_mark(const char **text, size_t *len);

struct trace_field trace_rows_trimmed(const char *text, size_t len);

/* A number from 0 to `most`. */
bool trace_rows_number(const struct trace_field *f, double most, double *ret);

/* A date, or seconds since 1970. */
bool trace_rows_instant(const struct trace_field *f, double *ret);

/* Appends a row. -EFBIG if there are too many; `place` is where. */
int trace_rows_add(struct trace_rows *rows, const struct trace_row *row, struct arena *a, const char *file,
                   unsigned line, struct err *err);

/* Puts a figure into the row: MHz, MiB, cores, percent or seconds. False: it is not within
 * trace_columns_range(). */
bool trace_row_set(struct trace_row *row, enum trace_part part, enum trace_unit unit, double value);

/* "from 0 to 1e9 MiB". */
const char *trace_columns_range(enum trace_part part, enum trace_unit unit);

#endif
