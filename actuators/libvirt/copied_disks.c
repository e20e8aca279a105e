/* copied_disks.c: which disks of a VM are copied with it: those that are not known to be on shared storage.
 * libvirt would copy all that the VM writes to, also onto themselves. */
#include "actuators/libvirt/operations.h"

#include "base/cleanup.h"
#include "net/libvirt/connections.h"
#include "net/libvirt/storage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_disks(const struct vm_look *l, struct arena *a, struct domain_xml *ret, struct err *err)
{
    CLEANUP(freep) char *text = virDomainGetXMLDesc(l->dom, 0);

    return text ? domain_xml_read(text, a, ret, err) : libvirt_connections_fail(err, l->host);
}

static bool has_path(virDomainPtr dom, const char *path, struct arena *a)
{
    CLEANUP(freep) char *text = virDomainGetXMLDesc(dom, 0);
    struct domain_xml d;

    if (!text || domain_xml_read(text, a, &d, NULL) < 0)
        return false;
    for (size_t i = 0; i < d.n_disks; i++) {
        if (d.disks[i].path && strcmp(d.disks[i].path, path) == 0)
            return true;
    }
    return false;
}

/* What libvirt finds under the path it takes for the disk, and writes to it: also the disk of a VM that is
 * off. The VM itself has no definition there. */
static int check_path(const struct vm_looks *l, const char *path, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    virDomainPtr *list = NULL;
    int n = virConnectListAllDomains(l->to.conn, &list, 0);
    int r = n < 0 ? libvirt_connections_fail(err, l->to.host) : 0;

    for (int i = 0; i < n; i++) {
        const char *name = virDomainGetName(list[i]);

        if (r == 0 && has_path(list[i], path, &a))
            r = err_set(err, -EPERM,
                        "VM %s cannot be copied to %s: VM %s there has a disk with the same path %s",
                        l->from.name, l->to.host, name ? name : "?", path);
        (void)virDomainFree(list[i]);
    }
    free(list);
    return r;
}

int copied_disks_find(const struct migrations *m, const char *vm, const struct vm_looks *l, struct arena *a,
                      struct call_disks *ret, struct err *err)
{
    const struct libvirt_migration how = migrations_settings(m, vm, l->from.name);
    struct domain_xml d;
    struct storage_pools pools;

    *ret = (struct call_disks){0};
    if (how.copy_storage == LIBVIRT_COPY_NO)
        return 0;
    int r = read_disks(&l->from, a, &d, err);

    if (r < 0)
        return err_widen(err, "VM %s", l->from.name);
    storage_pools_read(l->from.conn, a, &pools);
    const char **targets = arena_array(a, const char *, d.n_disks);

    *ret = (struct call_disks){.targets.items = targets};
    for (size_t i = 0; i < d.n_disks && r == 0; i++) {
        const struct domain_disk *disk = &d.disks[i];
        const char *path = disk->path ? disk->path : disk->pool;

        if (!disk->copyable ||
            storage_is_shared(disk, storage_pool_of(&pools, disk), migrations_shared_paths(m)))
            continue;
        targets[ret->targets.n++] = disk->target;
        ret->images = ret->images ? arena_printf(a, "%s, %s", ret->images, path) : path;
        r = disk->path ? check_path(l, disk->path, err) : 0;
    }
    return r;
}
