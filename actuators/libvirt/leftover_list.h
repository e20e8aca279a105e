/* leftover_list.h: what migrations and starts may have left over, one entry for each pair of hosts: `from` is
 * the host that may have something of the VM still, `to` the host where the VM is now, or may be. Several
 * hosts may have something of one VM. Pure; a caller with several threads locks it. */
#ifndef BALLAST_ACTUATORS_LIBVIRT_LEFTOVER_LIST_H
#define BALLAST_ACTUATORS_LIBVIRT_LEFTOVER_LIST_H

#include "actuators/libvirt/task_name.h"

#include <stddef.h>

struct leftover {
    struct task_name task; /* each once */
    uint64_t number;       /* ascending */
    uint64_t said;         /* fingerprint of the fault that was logged last */
};

struct leftover_list {
    struct leftover *items;
    size_t n;
    uint64_t last_number;
};

void leftover_list_release(struct leftover_list *l);

/* Whether both are about the same VM, kind and hosts. */
bool leftover_list_is_same(const struct task_name *x, const struct task_name *y);

/* A task that is there already keeps its number, and learns that the VM has arrived. */
void leftover_list_add(struct leftover_list *l, const struct task_name *t);

/* The VM runs on this host now, and on no other: what other hosts have of it is left over. */
void leftover_list_moved(struct leftover_list *l, const char *vm, const char *host);

/* The next one between these hosts after number `after`; NULL: none. */
struct leftover *leftover_list_next(struct leftover_list *l, const char *from, const char *to,
                                    uint64_t after);

/* Removes it, unless it is about other hosts by now. */
void leftover_list_drop(struct leftover_list *l, const struct task_name *t);

#endif
