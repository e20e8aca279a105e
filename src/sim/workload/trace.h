/* trace.h: demand that was measured, from files.
 *
 * Four formats, one set of VMs each:
 *   planetlab  a folder, a file a VM: one whole percentage a line, of the VM's CPU, 300 s apart (CoMon's
 *              traces, as CloudSim has them)
 *   bitbrains  a folder, a file a VM: ts_s;cores;cpu_cap_mhz;cpu_used_mhz;mem_cap_kb;mem_used_kb (Grid
 *              Workloads Archive GWA-T-12)
 *   csv        a folder, a file a VM: time_s,value from the beginning of the trace
 *   recorded   a file, or a folder with parts of it: time,vm,cpu_mhz,mem_mb, as `ballast samples` writes it
 * A path may also be that of a single file. The last three may begin with a line of headings. Times ascend
 * within a file (recorded: those of one VM); of two samples of the same time the later line counts. A gap
 * keeps the value before it. Where times are dates, t = 0 is the earliest of the whole set, so that VMs keep
 * their places in time among each other. A file without samples is no VM, nor is one
 * of Bitbrains that never had a core or memory.
 */
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

/* What was measured of one VM. */
struct traced_vm {
    const char *name;           /* of the file, without .csv and the like; recorded: of the VM */
    struct trace of[RES_COUNT]; /* n 0: nothing. csv: the same in both */
    uint32_t vcpus;             /* the most; 0: not known, as below */
    double cpu_mhz, mem_mb;     /* that it was given, the most */
};

struct trace_set {
    struct traced_vm *vms; /* by name */
    uint32_t n;
};

/* Reads a folder's files, or the one file. Everything is in the arena. -EINVAL with "FILE:LINE: ...", or what
 * the system says. */
int trace_set_read(const char *path, enum trace_format format, struct arena *a, struct trace_set *ret,
                   struct err *err);

/* The same from the text of one file; file is for sentences and the VM's name. */
int trace_set_parse(const char *file, const char *text, size_t len, enum trace_format format, struct arena *a,
                    struct trace_set *ret, struct err *err);

#endif
