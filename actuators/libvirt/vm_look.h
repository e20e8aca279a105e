/* vm_look.h: what one host shows of a VM. Calls block until the host
 * answers or its connection is closed. */
#ifndef BALLAST_ACTUATORS_LIBVIRT_VM_LOOK_H
#define BALLAST_ACTUATORS_LIBVIRT_VM_LOOK_H

#include "actuators/libvirt/decide.h"
#include "actuators/libvirt/migrations.h"

/* The progress of a migration, from the statistics of its job. */
struct job_progress {
    int percent;       /* -1: not known */
    double elapsed_s;  /* UNKNOWN, here and below */
    double downtime_s; /* of the guest; of a completed job */
    double copied_mb;
    double left_mb, rate_mb_s,
        dirty_mb_s;       /* that remains of the present round; of copying; that the VM writes */
    double round, slowed; /* number; percent that the guest is slowed down */
};

/* The VM on one host. */
struct vm_look {
    struct side side;
    virConnectPtr conn; /* NULL: the host does not answer */
    virDomainPtr dom;   /* NULL: it has no such domain */
    char name[256];     /* of the VM; "": not known */
    bool autostart;     /* it starts with this host */
    const char *host;
    struct migrations *of; /* whose connection it is, to the host `at` */
    size_t at;
    struct job_progress job; /* of side.moving_out */
    struct err err;          /* SIDE_SILENT: why */
};

void vm_look_take(struct migrations *m, size_t host, const char *vm, int64_t deadline_ms,
                  struct vm_look *ret);
void vm_look_release(struct vm_look *look);

/* The statistics of the last migration, on the host where the VM arrived. False: there are none. */
bool vm_look_completed(const struct vm_look *look, struct job_progress *ret);

/* Both hosts of a task; where they are one, `from` shows nothing. */
struct vm_looks {
    struct vm_look from, to;
};

/* The source first: a VM handed over in between shows on the destination then. Without `all` the
 * destination is not asked while the source migrates the VM away. */
void vm_look_take_both(struct migrations *m, const struct task_name *t, bool all, struct vm_looks *ret);
/* Its name, where a host has told it; else vm. */
const char *vm_look_name(const struct vm_looks *l, const char *vm);
void vm_look_release_both(struct vm_looks *looks);

/* ---- pure parts, for tests ---- */

void vm_look_read_job(const virTypedParameter *params, int n, struct job_progress *ret);

#endif
