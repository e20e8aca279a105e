/* rules.h: rules compiled so that a move is checked quickly (§3.3.1).
 *
 * - The hosts that a VM may run on (by compatibility, its pipeline and mandatory VM-host rules) are a bitmap.
 * - VMs under affinity rules form components; the members of a component on one host move as one unit. VMs
 *   that take no part (off, or on a disconnected host) are in no component.
 * - VMs under anti-affinity rules form groups; the layout counts each group's members on each host.
 *
 * Contradictory rules are listed in `conflicts`. VMs without a solution are held on their host; all other
 * rules stay in force. */
#ifndef BALLAST_CORE_RULES_H
#define BALLAST_CORE_RULES_H

#include "core/fit/fit.h"

#include <ballast/arena.h>
#include <ballast/snapshot.h>

struct rule_conflict {
    uint32_t rule, other; /* other: the contradicting rule; IX_NONE: all rules of the VM together */
    uint32_t vm, with;    /* with: the VM that must share a host with vm and may not (or no host allows both;
                             then other is IX_NONE); IX_NONE: no host allows vm */
};

/* An anti-affinity rule for more VMs than there are hosts that could run any of them. */
struct rule_excess {
    uint32_t rule, vms, hosts;
};

/* By VM: of[from[vm] ... from[vm + 1]), ascending. */
struct rules_by_vm {
    const uint32_t *from, *of;
};

struct rules {
    const struct snapshot *snap;
    struct fit fit; /* what the VMs' pipelines leave */
    bool with_preferred, placed_apart;
    uint32_t words;           /* length of a bitmap of hosts */
    const uint64_t **allowed; /* by VM; NULL: all hosts */
    const uint64_t **must;    /* likewise, without preferred rules */
    const uint64_t **restart; /* by VM: the hosts of `must` at which it can be powered on */
    uint32_t *component;      /* by VM: the lowest member of its affine set; itself if alone */
    bool *held;               /* by VM: held by a conflict */
    uint32_t n_groups;        /* anti-affinity groups */
    uint32_t *group_rule;
    struct rules_by_vm of_vm;  /* the rules that name it, in force or not */
    struct rules_by_vm groups; /* the anti-affinity groups that it is in */
    struct rule_conflict *conflicts;
    uint32_t n_conflicts;
    size_t cap_conflicts;
    struct rule_excess *too_large;
    uint32_t n_too_large;
};

static inline bool bitmap_has(const uint64_t *bits, uint32_t i)
{
    return (bits[i / 64] >> (i % 64)) & 1;
}

/* The rules that name the VM, in force or not. */
static inline struct span rules_of(const struct rules *rules, uint32_t vm)
{
    const struct rules_by_vm *x = &rules->of_vm;

    return (struct span){x->of + x->from[vm], x->from[vm + 1] - x->from[vm]};
}

/* Preferred rules count as mandatory (the first pass of §3.3.1). */
#define RULES_PREFERRED (1u << 0)
/* VMs that wait for placement may violate affinity rules: "DRS will violate them if necessary to place VMs
 * during power-on". */
#define RULES_PLACED_APART (1u << 1)

void rules_compile(const struct snapshot *snap, unsigned which, struct arena *a, struct rules *ret);

/* impossible.c: rules that cannot be satisfied by any move. The last step of rules_compile(). */
void rules_find_impossible(struct rules *r, struct arena *a);

/* Adds a conflict; its VMs are held. */
void rules_add_conflict(struct rules *r, struct rule_conflict conflict, struct arena *a);

/* Whether the rule is in force in this compilation. */
bool rules_in_force(const struct rules *rules, const struct rule *rule);

static inline bool rules_allow(const struct rules *rules, uint32_t vm, uint32_t host)
{
    return !rules->allowed[vm] || bitmap_has(rules->allowed[vm], host);
}

/* What the VM's pipeline binds now: where it is powered on, or where it moves. A spare VM stands for
 * restarts. */
static inline enum fit_use rules_fit_use(const struct vm *v)
{
    bool is_off = v->is.state != VM_ON && v->is.kind != VM_SPARE;

    return is_off || vm_waits(v) ? FIT_PLACE : FIT_MOVE;
}

/* Whether the VM's pipeline keeps it from coming to the host. */
bool rules_fit_refuses(const struct rules *rules, uint32_t vm, uint32_t host);

/* Whether the VM's pipeline wants it away from its host (FIT_CORRECT). */
bool rules_fit_evicts(const struct rules *rules, uint32_t vm);

/* The VM-host rule that forbids the host to the VM, a mandatory one if any; IX_NONE: none does. */
uint32_t rules_find_vm_host(const struct rules *rules, uint32_t vm, uint32_t host);

/* The VM-VM rule of this kind in force for both VMs; IX_NONE. */
uint32_t rules_find_vm_vm(const struct rules *rules, enum rule_kind kind, uint32_t vm, uint32_t other);

/* The first affinity rule that joins the VM with another of its set; IX_NONE. */
uint32_t rules_find_bond(const struct rules *rules, uint32_t vm);

/* Whether the VM-host rule allows its VMs on the host. */
bool rules_lets_run(const struct rule *rule, uint32_t host);

#endif
