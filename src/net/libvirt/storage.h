/* storage.h: the storage pools of a host, and which disks of a domain are the same on all hosts. */
#ifndef BALLAST_NET_LIBVIRT_STORAGE_H
#define BALLAST_NET_LIBVIRT_STORAGE_H

#include "net/libvirt/domain_xml.h"

#include <libvirt/libvirt.h>

struct storage_pool {
    const char *name;
    const char *path; /* of its volumes; NULL: they are no files */
    bool shared;      /* its volumes are the same ones on each host that has it */
};

struct storage_pools {
    struct storage_pool *items;
    size_t n;
    bool known; /* the host lists them */
};

/* Those that are active. Blocks until the host answers. */
void storage_pools_read(virConnectPtr conn, struct arena *a, struct storage_pools *ret);

/* The description of one. -EFBIG, -EPROTO with the fault. */
int storage_pool_read(const char *text, struct arena *a, struct storage_pool *ret, struct err *err);

/* The pool of the disk; NULL: it is in none that is known. */
const struct storage_pool *storage_pool_of(const struct storage_pools *pools, const struct domain_disk *disk);

/* Whether the disk is known to be the same on all hosts: by its pool, or by a folder of shared_paths (NULL at
 * the end). pool: that of the disk, or NULL. */
bool storage_is_shared(const struct domain_disk *disk, const struct storage_pool *pool,
                       const char *const *shared_paths);

#endif
