/* call.h: libvirt's calls that move or start a VM. Each returns when the move or the start has ended. */
#ifndef BALLAST_ACTUATORS_LIBVIRT_CALL_H
#define BALLAST_ACTUATORS_LIBVIRT_CALL_H

#include "actuators/libvirt/decide.h"
#include "actuators/libvirt/task_name.h"
#include "net/libvirt/settings.h"

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/facts.h>

struct libvirt_connections;

struct call_host {
    char *name;
    char *peer_uri;      /* where the other hosts reach its libvirt */
    char *migration_uri; /* where their QEMU sends memory to; NULL: libvirt decides */
};

/* Disks that are copied with the memory, because they are not on shared storage. */
struct call_disks {
    struct ids targets; /* as what the guest has them; n 0: none */
    const char *images; /* that stay on the source: "PATH, PATH" */
};

struct call {
    struct task_name task;
    struct libvirt_migration how;
    struct call_disks disks; /* in the arena */
    struct arena arena;
    size_t from_ix, to_ix; /* of the connections */
    const struct call_host *from, *to;
    bool (*may_ask)(void *ctx); /* asked right before libvirt is */
    void *ctx;
};

/* CALL_DONE; CALL_REFUSED with what libvirt said (-ECANCELED: the job was cancelled); CALL_NONE: the
 * connection was lost, and nothing is known. */
enum call_state call_run(struct libvirt_connections *conns, const struct call *c, struct err *err);

/* ---- for tests ---- */

unsigned call_flags(const struct call *c);

#endif
