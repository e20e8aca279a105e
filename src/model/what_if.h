/* what_if.h: a cluster as it would be if something were different.
 *
 * Changes are made one by one to a copy of a snapshot; the snapshot itself stays as it is, and an ordinary
 * pass decides for the copy, which keeps all that snapshot.h promises. What changes nothing is refused: the
 * answer would be about a mistake of the one who asks.
 */
#ifndef BALLAST_MODEL_WHAT_IF_H
#define BALLAST_MODEL_WHAT_IF_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/snapshot.h>

struct what_if_change {
    enum change_kind kind;
    uint32_t host, vm; /* the one that it is about; the other one is IX_NONE */
    enum host_state state_before, state;
    double cpu_mhz_before, cpu_mhz; /* CHANGE_DEMAND */
};

struct what_if {
    const struct snapshot *base;
    struct snapshot snap; /* with the changes; indices mean the same as in base */
    struct what_if_change *changes;
    size_t n, cap;
    struct arena *a;
};

/* base must live as long. */
void what_if_init(struct what_if *w, const struct snapshot *base, struct arena *a);

/* The state of a host: CHANGE_HOST_OFF makes one that is on enter standby, CHANGE_MAINTENANCE enter
 * maintenance, so that its VMs leave; CHANGE_HOST_ON makes one on that is in, on the way to or on the way
 * back from either. The host is named by its id or its name (named.h). -EINVAL, with a sentence that names
 * what was expected: no such host, none in such a state, or changed before. */
int what_if_host(struct what_if *w, enum change_kind kind, const char *host_word, struct err *err);

/* The CPU that a VM wants, now and all through its windows; that its figures were missing or bad is
 * forgotten. Its host counts as it is after the changes made before. Named like a host. -EINVAL: no such VM,
 * one that takes no part in the pass, changed before, or no sensible number. */
int what_if_demand(struct what_if *w, const char *vm_word, double cpu_mhz, struct err *err);

#endif
