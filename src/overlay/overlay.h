/* overlay.h: the rules and settings of the configuration, laid over what the source says.
 *
 * `rules`, `vms` and `hosts` of the configuration name objects by patterns (selector.h). overlay_apply()
 * looks them up in an inventory and writes the result there: rules become rules of the snapshot with an
 * origin of their own, settings replace the attributes that the source reports. The snapshot holds all of it,
 * so a decision is replayed without the configuration.
 *
 * Invariants, checked by tests/property/overlay.c:
 *   every rule of the source is in the result, unchanged;
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

/* An entry of `vms`. Where several entries select a VM, the last one that sets a key counts. */
struct overlay_vms {
    struct selector vms;
    enum automation automation;
    bool automation_given;
    struct selector pin;      /* the VMs run on these hosts only; n 0: not given */
    const char *never_move;   /* why; NULL: not given */
    struct schedule no_moves; /* the VMs are not moved while one of its windows is open; none: not given */
};

/* An entry of `hosts`; as for VMs. */
struct overlay_hosts {
    struct selector hosts;
    enum automation dpm;
    bool dpm_given;
    uint32_t migrations_max; /* 0: not given */
};

/* What becomes of the tags that tags.h lists. */
enum proxlb_tags { PROXLB_OFF, PROXLB_PREFERRED, PROXLB_MANDATORY };

struct overlay {
    enum proxlb_tags proxlb_tags;
    const struct overlay_rule *rules;
    const struct overlay_vms *vms;
    const struct overlay_hosts *hosts;
    size_t n_rules, n_vms, n_hosts;
};

/* What the entries of the configuration select in an inventory: sentences for an admin. */
struct overlay_findings {
    const char **items; /* "rules.web selects no VM" */
    size_t n, cap;
};

/* Whether an entry selects by labels or tags, or tags become rules: without labels the result lacks rules and
 * settings. overlay_apply() clears labels_unread of the inventory otherwise. */
bool overlay_needs_labels(const struct overlay *o);

/* Time windows are judged at inv->time. Rules of the inventory whose origin is not the source are replaced.
 * Everything is copied to the arena; the overlay may go afterwards. ret may be NULL. */
void overlay_apply(const struct overlay *o, struct inventory *inv, struct arena *a,
                   struct overlay_findings *ret);

#endif
