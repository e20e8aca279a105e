/* trace.h: reads measured demand from files.
 *
 * Formats, each for one set of VMs:
 *   planetlab  a folder, one file a VM: one whole percentage of the VM's CPU a line, 300 s apart (CoMon's
 *              traces, as CloudSim has them)
 *   bitbrains  a folder, one file a VM: ts_s;cores;cpu_cap_mhz;cpu_used_mhz;mem_cap_kb;mem_used_kb (Grid
 *              Workloads Archive GWA-T-12)
 *   csv        a folder, one file a VM: time_s,value, counted from the beginning of the trace
 *   recorded   a file, or a folder with parts of it: time,vm,cpu_mhz,mem_mb, as `ballast samples` writes it
 *   prometheus files or folders with answers to range queries, one query for each figure (struct
 *              trace_columns)
 *   table      files or folders with separated values, whose columns have names (struct trace_columns)
 * A path may also name a single file; /dev/stdin is read once and kept. bitbrains, csv and recorded may begin
 * with a line of headings. Times ascend within a file of planetlab, bitbrains and csv, and come in any order
 * in the others; of two samples of one time the later line counts. In a gap the value before it holds. If
 * times are dates, t = 0 is the earliest date of the whole set, so that VMs keep their relative times. A file
 * without samples is no VM, and neither is a Bitbrains file whose VM never had a core or memory. */
#ifndef BALLAST_SIM_TRACE_H
#define BALLAST_SIM_TRACE_H

#include "sim/workload/workload.h"

#include <ballast/units.h>

#include <stddef.h>

#define TRACE_FORMATS(X)                                                                                     \
    X(TRACE_PLANETLAB, "planetlab", "whole percent of the VM's CPU, 300 s apart")                            \
    X(TRACE_BITBRAINS, "bitbrains", "ts_s;cores;cpu_cap_mhz;cpu_used_mhz;mem_cap_kb;mem_used_kb")            \
    X(TRACE_CSV, "csv", "time_s,value")                                                                      \
    X(TRACE_RECORDED, "recorded", "time,vm,cpu_mhz,mem_mb: what Ballast itself has seen")                    \
    X(TRACE_PROMETHEUS, "prometheus", "answers of Prometheus to range queries")                              \
    X(TRACE_TABLE, "table", "separated values in columns with names")

NAME_DECLARE(trace_format, TRACE_FORMATS)

/* ---- prometheus and table: what the figures mean --------------------------------------------- */

/* Never guessed: 50 may be half a core, 50 cores or 50 MHz. */
#define TRACE_UNITS(X)                                                                                       \
    X(TRACE_UNIT_NONE, "", "not given")                                                                      \
    X(TRACE_MHZ, "mhz", "MHz")                                                                               \
    X(TRACE_CORES, "cores", "cores of the VM: times vcpu_mhz")                                               \
    X(TRACE_PERCENT, "percent", "percent of the most that the VM can use")                                   \
    X(TRACE_SECONDS, "seconds", "a counter of seconds of CPU: its rise is cores")                            \
    X(TRACE_BYTES, "bytes", "bytes")                                                                         \
    X(TRACE_KIB, "kib", "KiB")                                                                               \
    X(TRACE_MIB, "mib", "MiB")                                                                               \
    X(TRACE_GIB, "gib", "GiB")

NAME_DECLARE(trace_unit, TRACE_UNITS)

/* The figures of a VM that can be read: its demand, and its sizes. */
enum trace_part { TRACE_CPU, TRACE_MEM, TRACE_VCPUS, TRACE_MEM_SIZE, TRACE_PARTS };

/* "cpu", "mem", "vcpus", "mem_size". */
extern const char *const trace_part_words[TRACE_PARTS];

bool trace_unit_fits(enum trace_unit unit, enum trace_part part);

struct trace_column {
    bool given;
    const char *path; /* a file or a folder */
    const char *name; /* table: the column's heading or number; prometheus: only series of this metric, NULL:
                         of any */
    enum trace_unit unit;
};

struct trace_columns {
    const char *vm;   /* prometheus: the label, table: the column with the VM's id or name */
    const char *time; /* table: the column; RFC 3339, or numbers in time_unit_s */
    double time_unit_s;
    char delimiter;
    bool header;   /* table: the first line names the columns; else they are called 1, 2, ... */
    double from_s; /* the date of t = 0, since 1970; UNKNOWN: the earliest sample */
    struct trace_column of[TRACE_PARTS];
};

/* ---- texts instead of files ------------------------------------------------------------------ */

/* Texts by path, looked up before the file system: what a program has made itself, and standard input once it
 * was read, since a scenario may be read several times. */
struct trace_text {
    const char *path, *text;
    size_t len;
};

struct trace_texts {
    struct trace_text *items;
    size_t n, cap;
    struct arena *a; /* outlives the scenarios that read from here */
};

/* NULL: there is none of this path. texts may be NULL. */
const struct trace_text *trace_texts_find(const struct trace_texts *texts, const char *path);
void trace_texts_add(struct trace_texts *texts, const char *path, const char *text, size_t len);

/* ---- sets ------------------------------------------------------------------------------------ */

/* The measured demand of one VM. */
struct traced_vm {
    const char *name;           /* the file's name without its suffix (.csv); recorded: the VM's name */
    struct trace of[RES_COUNT]; /* n 0: not measured. csv: the same trace for both resources */
    uint32_t vcpus;             /* the highest number; 0: not known */
    double cpu_mhz, mem_mb;     /* the highest size assigned; 0: not known */
};

struct trace_set {
    struct traced_vm *vms; /* by name */
    uint32_t n;
    double from_s;    /* t = 0 in the files' time: since 1970 if those are dates, else 0 */
    const char *note; /* prometheus, table: its warning, gaps, samples that were replaced or missing; NULL */
};

/* Reads the files of a folder, or one file, into the arena. -EINVAL with "FILE:LINE: ...", or the system's
 * error. from_s: the date of t = 0 of the formats with dates; UNKNOWN: the earliest. texts: NULL, or what is
 * looked up first. */
int trace_set_read(const char *path, enum trace_format format, double from_s, struct trace_texts *texts,
                   struct arena *a, struct trace_set *ret, struct err *err);

/* The same for prometheus and table. Errors within JSON have a JSON pointer instead of a line. */
int trace_set_read_columns(const struct trace_columns *columns, enum trace_format format,
                           struct trace_texts *texts, struct arena *a, struct trace_set *ret,
                           struct err *err);

#endif
