/* rules.h: the rules in the form in which a move can be checked quickly (§3.3.1).
 *
 * - Where a VM may run at all (compatibility and mandatory VM-host rules together) is a bitmap over the
 * hosts.
 * - VMs that must stay together form components; the members of one that share a host move as one unit.
 *   VMs that take no part (off, or on a host that is not seen) are in none.
 * - VMs that must be kept apart form groups; the layout counts each group's members on each host.
 *
 * Rules that contradict each other are named in `conflicts`; the VMs they leave no way out for are held where
 * they are, and the other rules stay in force.
 */
#ifndef BALLAST_CORE_RULES_H
#define BALLAST_CORE_RULES_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

struct rule_conflict {
    uint32_t rule, other; /* other: the one that contradicts it; IX_NONE: all that holds of the VM together */
    uint32_t vm, with;    /* with: the VM that it must be with, and apart from (or no host may run both, then
                           * other is IX_NONE); IX_NONE: no host is left for vm */
};

/* A rule that keeps more VMs apart than there are hosts that could run any of them. */
struct rule_excess {
    uint32_t rule, vms, hosts;
};

struct rules {
    const struct snapshot *snap;
    bool with_preferred, placed_apart;
    uint32_t words;           /* of a bitmap over the hosts */
    const uint64_t **allowed; /* by VM; NULL: every host */
    const uint64_t **must;    /* the same by compatibility and mandatory rules alone */
    uint32_t *component;      /* by VM: the lowest member of its affine set, itself when it is alone */
    bool *held;               /* by VM: in a conflict, so not moved */
    uint32_t n_groups;        /* of anti-affinity */
    uint32_t *group_rule;
    uint32_t *groups_from, *groups_of; /* by VM: groups_of[groups_from[vm] ... groups_from[vm + 1]) */
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

/* Rules that are only preferred count as mandatory (the first of the two passes of §3.3.1). */
#define RULES_PREFERRED (1u << 0)
/* VMs that wait to be placed may be apart from those that they should be with: "DRS will violate them if
 * necessary to place VMs during power-on". */
#define RULES_PLACED_APART (1u << 1)

void rules_compile(const struct snapshot *snap, unsigned which, struct arena *a, struct rules *ret);

/* impossible.c: what cannot be kept whatever is moved: affine sets without a host for all, groups that are
 * too large. The last step of rules_compile(). */
void rules_find_impossible(struct rules *r, struct arena *a);

/* Names a conflict; its VMs are held where they are. */
void rules_add_conflict(struct rules *r, struct rule_conflict conflict, struct arena *a);

/* Whether a rule is in force in this compilation. */
bool rules_in_force(const struct rules *rules, const struct rule *rule);

static inline bool rules_allow(const struct rules *rules, uint32_t vm, uint32_t host)
{
    return !rules->allowed[vm] || bitmap_has(rules->allowed[vm], host);
}

/* The VM-host rule that keeps the VM off the host, a mandatory one if there is one; IX_NONE if compatibility
 * or nothing does. */
uint32_t rules_find_vm_host(const struct rules *rules, uint32_t vm, uint32_t host);

/* The VM-VM rule of this kind in force that both are in, or IX_NONE. */
uint32_t rules_find_vm_vm(const struct rules *rules, enum rule_kind kind, uint32_t vm, uint32_t other);

/* The first affine rule that ties the VM to another of its set, or IX_NONE. */
uint32_t rules_find_bond(const struct rules *rules, uint32_t vm);

bool rules_span_has(struct span s, uint32_t ix);

#endif
