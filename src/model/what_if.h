/* what_if.h: a cluster with assumed changes.
 *
 * Changes apply one by one to a copy of a snapshot; the snapshot itself does not change. An ordinary pass
 * decides on the copy, which keeps all promises of snapshot.h. A change without effect is refused: it is a
 * mistake of the user.
 */
#ifndef BALLAST_MODEL_WHAT_IF_H
#define BALLAST_MODEL_WHAT_IF_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/snapshot.h>

struct what_if_change {
    enum change_kind kind;
    uint32_t host, vm; /* the changed object; the other index is IX_NONE */
    enum host_state state_before, state;
    double cpu_mhz_before, cpu_mhz; /* CHANGE_DEMAND */
};

struct what_if {
    const struct snapshot *base;
    struct snapshot snap; /* with the changes; indices are those of base */
    struct what_if_change *changes;
    size_t n, cap;
    struct arena *a;
};

/* base must live as long as the result. */
void what_if_init(struct what_if *w, const struct snapshot *base, struct arena *a);

/* Changes the state of a host. CHANGE_HOST_OFF: from on to entering standby; CHANGE_MAINTENANCE: from on to
 * entering maintenance, so that its VMs leave; CHANGE_HOST_ON: to on, from standby, maintenance, or the way
 * to or back from either. The host is given by id or name (named.h). -EINVAL with a sentence: no such host,
 * not in a state in which the change is possible, or changed before. */
int what_if_host(struct what_if *w, enum change_kind kind, const char *host_word, struct err *err);

/* Sets the CPU demand of a VM, now and in all its windows; missing or bad samples are forgotten. The host's
 * state after earlier changes counts. The VM is given by id or name. -EINVAL: no such VM, a VM that takes no
 * part in the pass, a VM changed before, or an absurd number. */
int what_if_demand(struct what_if *w, const char *vm_word, double cpu_mhz, struct err *err);

#endif
