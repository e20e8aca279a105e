/* preflight.h: the hosts as items for an admin, before the service starts. */
#ifndef BALLAST_COLLECTORS_LIBVIRT_PREFLIGHT_H
#define BALLAST_COLLECTORS_LIBVIRT_PREFLIGHT_H

#include "collectors/libvirt/host_look.h"
#include "collectors/libvirt/libvirt_settings.h"

/* look: of the one collect() before; NULL: it did not answer, *err says why. */
void libvirt_preflight_host(const struct libvirt_host_settings *host, const struct host_look *look,
                            const struct err *err, struct preflight *ret);

/* VMs that stay where they are; inv: NULL if no host answered. */
void libvirt_preflight_vms(const struct inventory *inv, struct preflight *ret);

#endif
