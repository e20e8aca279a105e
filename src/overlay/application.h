/* application.h: one application of an overlay to an inventory. Inside overlay only. */
#ifndef BALLAST_OVERLAY_APPLICATION_H
#define BALLAST_OVERLAY_APPLICATION_H

#include "overlay/overlay.h"

struct application {
    const struct overlay *o;
    struct inventory *inv;
    struct arena *a;
    struct overlay_findings *found;
};

/* Adds a sentence; it must live as long as the arena. */
void application_find(struct application *p, const char *text);

/* Adds a rule without VMs and hosts, mandatory or not. */
struct seen_rule *application_add_rule(struct application *p, enum rule_kind kind, enum rule_origin origin,
                                       const char *name, bool mandatory);

#endif
