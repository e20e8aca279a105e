/* overlay.h: the rules, pools, pipelines and settings of the configuration, laid over what the source says.
 *
 * `rules`, `pools`, `groups`, `pipelines`, `ha`, `vms` and `hosts` of the configuration name objects by
 * patterns (selector.h). overlay_apply() looks them up in an inventory and writes the result there: rules,
 * pools, groups and pipelines become those of the snapshot with an origin of their own, settings replace the
 * attributes that the source reports.
 * The snapshot holds all of it, so a decision is replayed without the configuration.
 *
 * Invariants, checked by tests/property/overlay.c:
 *   every rule of the source is in the result, unchanged; so are its groups and pipelines, the pipeline
 *   that it gives a VM, and its own policy of failover capacity;
 *   every pool of the source is in the result, with the same parent;
 *   an overlay without entries gives the reservations, limits, shares and pools of the source again;
 *   a second application changes nothing;
 *   snapshot_build() takes the result if it takes the inventory.
 */
#ifndef BALLAST_OVERLAY_OVERLAY_H
#define BALLAST_OVERLAY_OVERLAY_H

#include "overlay/selector.h"
#include "schedule/schedule.h"

struct overlay_rule {
    const char *name;
    enum rule_kind kind;
    bool mandatory;
    struct selector vms, hosts; /* hosts: of kinds between VMs and hosts */
};

/* Of one resource; what is not given stays as the source has it. */
struct overlay_alloc {
    struct alloc is;
    bool reservation_given, limit_given, shares_given, expandable_given;
};

/* An entry of `pools`: it overrides the pool of the source with this path or id, or adds a pool. */
struct overlay_pool {
    const char *path;    /* names from the root, with / between */
    struct selector vms; /* the VMs that it holds; n 0: not given */
    struct overlay_alloc set[RES_COUNT];
};

/* `ha`: the failover capacity to keep, beside that of the source. */
struct overlay_ha {
    enum ha_policy policy; /* HA_NONE: the key is not given */
    uint32_t hosts;
    double percent[RES_COUNT];
    struct selector failover_hosts;
};

/* An entry of `groups`. */
struct overlay_group {
    const char *name, *kind;
    struct selector hosts;
    struct labels meta;
};

/* An entry of `pipelines`. */
struct overlay_pipeline {
    const char *name;
    struct selector vms;     /* that are placed by it; n 0: only those that name it */
    struct seen_pipeline is; /* its stages */
};

/* How important a VM is where capacity is short: its shares of CPU and memory, by its size. */
enum vm_priority { PRIORITY_AS_SOURCE, PRIORITY_LOW, PRIORITY_NORMAL, PRIORITY_HIGH };

/* An entry of `vms`. Where several entries select a VM, the last one that sets a key counts. */
struct overlay_vms {
    struct selector vms;
    enum automation automation;
    bool automation_given;
    struct selector pin;    /* the VMs run on these hosts only; n 0: not given */
    const char *never_move; /* why; NULL: not given */
    struct overlay_alloc set[RES_COUNT];
    enum vm_priority priority;
    enum restart_priority restart_priority;
    struct schedule no_moves; /* the VMs are not moved while one of its windows is open; none: not given */
    const char *owner;        /* NULL: not given */
    struct attributes flavor, image, hints; /* by name, beside those of the source or in place of them */
    struct ids groups;                      /* of VMs, besides those of the source */
};

/* An entry of `hosts`; as for VMs. */
struct overlay_hosts {
    struct selector hosts;
    enum automation dpm;
    bool dpm_given;
    uint32_t migrations_max; /* 0: not given */
    double
        reserve[RES_COUNT]; /* MHz, MiB; what the source reserves and own use are within it; 0: not given */
    struct ids traits;      /* besides those of the source */
    struct attributes attributes;
    struct host_quantities quantities; /* by name, beside those of the source or in place of them */
};

/* What becomes of the tags that tags.h lists. */
enum proxlb_tags { PROXLB_OFF, PROXLB_PREFERRED, PROXLB_MANDATORY };

struct overlay {
    enum proxlb_tags proxlb_tags;
    struct overlay_ha ha;
    const struct overlay_rule *rules;
    const struct overlay_pool *pools;
    const struct overlay_group *groups;
    const struct overlay_pipeline *pipelines;
    const struct overlay_vms *vms;
    const struct overlay_hosts *hosts;
    size_t n_rules, n_pools, n_groups, n_pipelines, n_vms, n_hosts;
};

/* Entries of the configuration that select nothing in an inventory, contradict what is there, or set what no
 * hypervisor enforces: sentences for an admin. */
struct overlay_findings {
    const char **items; /* "rules.web selects no VM" */
    size_t n, cap;
};

/* Time windows are judged at inv->time. Rules, pools, groups and pipelines of the inventory whose origin is
 * not the source are replaced.
 * Everything is copied to the arena; the overlay may go afterwards. ret may be NULL. */
void overlay_apply(const struct overlay *o, struct inventory *inv, struct arena *a,
                   struct overlay_findings *ret);

#endif
