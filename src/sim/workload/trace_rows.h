/* trace_rows.h: parses the lines of a trace file, for the files of workload only. */
#ifndef BALLAST_SIM_TRACE_ROWS_H
#define BALLAST_SIM_TRACE_ROWS_H

#include "sim/workload/trace.h"

#define PLANETLAB_STEP_S 300.0

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
};

/* Appends the rows of one file; vm is their VM unless the format names the VM in each line. -EINVAL with
 * "FILE:LINE: ...". */
int trace_rows_parse(const char *file, const char *vm, const char *text, size_t len, enum trace_format format,
                     struct arena *a, struct trace_rows *rows, struct err *err);

#endif
