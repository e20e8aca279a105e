/* tags.h: the tags by which users of ProxLB say how VMs are placed. Inside overlay only.
 *
 *   plb_affinity_X        VMs with this tag run on one host
 *   plb_anti_affinity_X   no two VMs with this tag run on one host
 *   plb_ignore_X          the VM is moved only when it must be
 *   plb_pin_HOST          the VM runs on this host, or on one of several such hosts
 *
 * ProxLB's documentation, "Affinity & Anti-Affinity Rules". */
#ifndef BALLAST_OVERLAY_TAGS_H
#define BALLAST_OVERLAY_TAGS_H

#include "overlay/application.h"

void tags_apply(struct application *p);

#endif
