/* application.h: one application of an overlay to an inventory. Inside overlay only. */
#ifndef BALLAST_OVERLAY_APPLICATION_H
#define BALLAST_OVERLAY_APPLICATION_H

#include "base/idmap.h"
#include "overlay/overlay.h"

struct application {
    const struct overlay *o;
    struct inventory *inv;
    struct arena *a;
    struct overlay_findings *found;
    struct idmap rule_ids;  /* of all rules; the values say only that there is one */
    size_t *set_by;         /* by VM: the last entry of `vms` that sets reservation, limit or shares, + 1 */
    const char **found_vms; /* room for the ids of all VMs, for one selection at a time */
};

/* resources.c: reservations, limits, shares and pools. Both begin with what the source has. */
void application_restore_source(struct application *p);
void application_set_vm(struct application *p, const struct overlay_vms *entry, struct seen_vm *vm);
void application_set_pools(struct application *p);

/* The ids that a selector selects. */
struct ids application_select_hosts(struct application *p, const struct selector *s);

/* ha.c: the failover capacity of the configuration, beside that of the source. */
void application_set_ha(struct application *p);

/* placement.c: groups and pipelines, and what the stages of pipelines read of VMs and hosts. */
void application_set_placement(struct application *p);
void application_set_vm_facts(struct application *p, size_t entry, struct vm_facts *vm);
void application_set_host_facts(struct application *p, size_t entry, struct host_facts *host);

/* Names what cannot be as it is set, and mends it. */
void application_check_resources(struct application *p);

/* Adds a sentence; it must live as long as the arena. */
void application_find(struct application *p, const char *text);

/* Adds a rule without VMs and hosts, mandatory or not. */
struct seen_rule *application_add_rule(struct application *p, enum rule_kind kind, enum rule_origin origin,
                                       const char *name, bool mandatory);

#endif
