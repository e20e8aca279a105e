/* host_look.h: what one host said at one time, and the calls that ask it.
 *
 * A look is filled by one thread and not changed afterwards, so that any number of threads may read it. It is
 * counted: the look before it is needed for the differences of counters. */
#ifndef BALLAST_COLLECTORS_LIBVIRT_HOST_LOOK_H
#define BALLAST_COLLECTORS_LIBVIRT_HOST_LOOK_H

#include "collectors/libvirt/capabilities_xml.h"
#include "net/libvirt/storage.h"

#include <ballast/inventory.h>

#include <libvirt/libvirt.h>
#include <stdatomic.h>

#define LIBVIRT_UUID_MAX VIR_UUID_STRING_BUFLEN

/* The counters of a running domain; UNKNOWN: not reported. */
struct domain_counters {
    int64_t at_ms;           /* net_now_ms() */
    double cpu_ms;           /* all of its process: vCPUs and emulator */
    double run_ms, delay_ms; /* of all vCPUs: running; runnable, but not running */
};

struct domain_stats {
    int state, reason; /* VIR_DOMAIN_*; the reason is of that state */
    struct domain_counters counters;
    double rss_mb;          /* UNKNOWN */
    double guest_used_mb;   /* by the balloon driver; UNKNOWN: none, or it is silent */
    double guest_said_s;    /* when that was, by the host's clock, which may be wrong */
    int64_t guest_heard_ms; /* when guest_said_s was new */
    double dirty_mb_s;      /* as measured last; UNKNOWN */
    bool dirty_running;
};

struct domain_look {
    char uuid[LIBVIRT_UUID_MAX];
    const char *name;
    bool active;
    bool saved; /* off, and its memory is in a file of its host */
    struct domain_stats stats;
    struct domain_xml xml;
    const char *xml_fault;  /* why its description is not known, then xml is empty; NULL: it is */
    int64_t dirty_asked_ms; /* when its dirty rate was last asked for; 0: never */
    struct vm_sample sample;
};

/* The result of a comparison of a CPU (domain_xml.cpu_xml) with the host's. */
struct cpu_verdict {
    const char *type, *arch, *cpu_xml;
    bool fits; /* or the host cannot tell */
    bool sure; /* it can */
};

struct host_look {
    atomic_uint holders;
    struct arena arena;
    const char *host; /* the name in the configuration */
    instant_s measured;
    int64_t at_ms;
    unsigned long libvirt_version, qemu_version;
    struct capabilities_xml caps;
    struct ids traits; /* of its CPU, sorted */
    uint32_t cpus;
    double core_mhz, mem_mb, mem_free_mb;
    int64_t cpu_at_ms, cpu_busy_ns; /* of all CPUs since the host is up; 0: not known */
    double cpu_used_mhz;            /* since the look before; UNKNOWN */
    struct domain_look *domains;
    size_t n_domains;
    struct offer networks;
    struct storage_pools pools;
    struct cpu_verdict *verdicts;
    size_t n_verdicts, cap_verdicts;
    bool verdicts_only;    /* it says nothing else */
    bool disks;            /* their sizes are asked for */
    double weight_default; /* CPU shares of a domain that has none of its own: 1024 or 100; 0: not known */
};

/* CPUs that some domains of the cluster have. */
struct cpu_list {
    struct arena arena;
    struct cpu_verdict *items;
    size_t n, cap;
};

/* Adds those of the look that are not there yet. */
void host_look_add_cpus(struct cpu_list *list, const struct host_look *look);

/* Compares those that the look has no verdict on. It must not be shared yet. */
void host_look_compare_cpus(virConnectPtr conn, struct host_look *look, const struct host_look *before,
                            const struct cpu_list *cpus);

/* A look of the same CPU and hypervisor, for host_look_compare_cpus(). It cannot be told apart from the
 * host's otherwise: verdicts_only. */
struct host_look *host_look_of_verdicts(const struct host_look *look);

/* Takes over the verdicts. `to` must not be shared yet. */
void host_look_add_verdicts(struct host_look *to, const struct host_look *from);

struct host_look *host_look_hold(struct host_look *look); /* NULL is fine, here and below */
void host_look_release(struct host_look *look);

/* The domain with this UUID; NULL: none. */
const struct domain_look *host_look_find(const struct host_look *look, const char *uuid);

/* Asks the host for everything but CPUs. disks: the sizes of disks, too. before: the look before this one, or
 * NULL. Blocks until the host has answered or the connection is closed. Where counters cannot be compared
 * with `before`, it waits a second and reads them twice. */
int host_look_take(virConnectPtr conn, const char *host, bool disks, const struct host_look *before,
                   struct host_look **ret, struct err *err);

/* Has the dirty rates of a few domains measured, the last part of a look. */
void host_look_measure_dirty(virConnectPtr conn, struct host_look *look, const struct host_look *before);

/* ---- pure parts, for tests ---- */

/* Reads the answer about one domain. */
void host_look_read_stats(const virTypedParameter *params, int n, int64_t at_ms, struct domain_stats *ret);

/* A guest whose figures stay the same ones for long is not believed. before: of the look before; NULL: none,
 * then its figures are as much older as the host's newest ones (guest_said_s) say. */
void host_look_mark_silent(const struct domain_stats *before, double newest_said_s, struct domain_stats *now);

/* Reads domain_disk.size_mb. */
void host_look_read_disks(const virTypedParameter *params, int n, struct domain_xml *d);

/* The sample of the time between two readings. Not present: they cannot be compared. */
struct vm_sample host_look_sample(const struct domain_counters *before, const struct domain_stats *now,
                                  uint32_t vcpus, double core_mhz, double mem_mb);

#endif
