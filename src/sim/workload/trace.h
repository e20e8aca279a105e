/* trace.h: reads measured demand from files.
 *
 * Four formats, each for one set of VMs:
 *   planetlab  a folder, one file a VM: one whole percentage of the VM's CPU a line, 300 s apart (CoMon's
 *              traces, as CloudSim has them)
 *   bitbrains  a folder, one file a VM: ts_s;cores;cpu_cap_mhz;cpu_used_mhz;mem_cap_kb;mem_used_kb (Grid
 *              Workloads Archive GWA-T-12)
 *   csv        a folder, one file a VM: time_s,value, counted from the beginning of the trace
 *   recorded   a file, or a folder with parts of it: time,vm,cpu_mhz,mem_mb, as `ballast samples` writes it
 * A path may also name a single file. The last three formats may begin with a line of headings. Times ascend
 * within a file (recorded: within a VM); of two samples of one time the later line counts. In a gap the value
 * before it holds. If times are dates, t = 0 is the earliest date of the whole set, so that VMs keep their
 * relative times. A file without samples is no VM, and neither is a Bitbrains file whose VM never had a core
 * or memory. */
#ifndef BALLAST_SIM_TRACE_H
#define BALLAST_SIM_TRACE_H

#include "sim/workload/workload.h"

#include <ballast/units.h>

#define TRACE_FORMATS(X)                                                                                     \
    X(TRACE_PLANETLAB, "planetlab", "whole percent of the VM's CPU, 300 s apart")                            \
    X(TRACE_BITBRAINS, "bitbrains", "ts_s;cores;cpu_cap_mhz;cpu_used_mhz;mem_cap_kb;mem_used_kb")            \
    X(TRACE_CSV, "csv", "time_s,value")                                                                      \
    X(TRACE_RECORDED, "recorded", "time,vm,cpu_mhz,mem_mb: what Ballast itself has seen")

NAME_DECLARE(trace_format, TRACE_FORMATS)

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
};

/* Reads the files of a folder, or one file, into the arena. -EINVAL with "FILE:LINE: ...", or the system's
 * error. */
int trace_set_read(const char *path, enum trace_format format, struct arena *a, struct trace_set *ret,
                   struct err *err);

/* Reads the text of one file; `file` names it in errors and is the VM's name. */
int trace_set_parse(const char *file, const char *text, size_t len, enum trace_format format, struct arena *a,
                    struct trace_set *ret, struct err *err);

#endif
