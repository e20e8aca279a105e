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

/* In one spelling. NULL: it may be another file than its name says. */
static const char *normal_path(const char *path, struct arena *a)
{
    char *ret = arena_strdup(a, path);
    size_t n = 0;

    for (const char *p = path; *p;) {
        size_t len = strcspn(p + 1, "/");

        if (*p != '/' || (len == 2 && p[1] == '.' && p[2] == '.'))
            return NULL;
        if (len > 0 && !(len == 1 && p[1] == '.')) {
            memmove(ret + n, p, len + 1);
            n += len + 1;
        }
        p += len + 1;
    }
    ret[n] = '\0';
    return n > 0 ? ret : NULL;
}

static const char *path_of_volume(virConnectPtr conn, const struct storage_pools *pools,
                                  const struct domain_disk *disk, struct arena *a)
{
    virStoragePoolPtr pool = disk->volume ? virStoragePoolLookupByName(conn, disk->pool) : NULL;
    virStorageVolPtr volume = pool ? virStorageVolLookupByName(pool, disk->volume) : NULL;
    CLEANUP(freep) char *path = volume ? virStorageVolGetPath(volume) : NULL;
    const struct storage_pool *known = storage_pool_of(pools, disk);

    if (volume)
        (void)virStorageVolFree(volume);
    if (pool)
        (void)virStoragePoolFree(pool);
    if (path)
        return normal_path(path, a);
    return disk->volume && known && known->path /* there is none of this name yet */
               ? normal_path(arena_printf(a, "%s/%s", known->path, disk->volume), a)
               : NULL;
}

/* Where the destination has the disk, or would have it. NULL: that cannot be known. */
static const char *path_there(const struct vm_looks *l, const struct storage_pools *pools,
                              const struct domain_disk *disk, struct arena *a)
{
    return disk->path ? normal_path(disk->path, a) : path_of_volume(l->to.conn, pools, disk, a);
}

/* The description names it in some other way: a file that an image is based on, the target of a copy. */
static bool mentions(const char *text, const char *path, struct arena *a)
{
    return strstr(text, arena_printf(a, "'%s'", path)) != NULL;
}

/* flags: the VM as it runs, or as it is defined: a disk may be in one of the two only. */
static int check_description(const struct vm_looks *l, const struct storage_pools *pools, virDomainPtr dom,
                             unsigned flags, const char *path, struct arena *a, struct err *err)
{
    CLEANUP(freep) char *text = virDomainGetXMLDesc(dom, flags);
    const char *name = virDomainGetName(dom);
    struct domain_xml d;
    struct err why = {0};

    if (!text && libvirt_connections_fail(&why, l->to.host) == -ENOENT)
        return 0; /* it has gone */
    if (!text || domain_xml_read(text, a, &d, &why) < 0)
        return err_set(
            err, -EPERM,
            "VM %s cannot be copied to %s: whether it would write over a disk of VM %s there cannot "
            "be known: %s",
            l->from.name, l->to.host, name ? name : "?", why.text);
    bool same = mentions(text, path, a);

    for (size_t i = 0; i < d.n_disks && !same; i++) {
        const struct domain_disk *disk = &d.disks[i];
        const char *other = path_there(l, pools, disk, a);

        if (!other)
            return err_set(
                err, -EPERM,
                "VM %s cannot be copied to %s: whether it would write over disk %s of VM %s there "
                "cannot be known: where that is, its description and the storage pools do not tell",
                l->from.name, l->to.host, disk->target ? disk->target : "?", name ? name : "?");
        same = strcmp(other, path) == 0;
    }
    return same ? err_set(err, -EPERM,
                          "VM %s cannot be copied to %s: VM %s there has a disk with the same path %s",
                          l->from.name, l->to.host, name ? name : "?", path)
                : 0;
}

/* What libvirt finds under the path it takes for the disk, and writes to it: also the disk of a VM that is
 * off. The VM itself has no definition there. */
static int check_path(const struct vm_looks *l, const struct storage_pools *pools, const char *path,
                      struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    virDomainPtr *list = NULL;
    int n = virConnectListAllDomains(l->to.conn, &list, 0);
    int r = n < 0 ? libvirt_connections_fail(err, l->to.host) : 0;

    for (int i = 0; i < n; i++) {
        if (r == 0)
            r = check_description(l, pools, list[i], 0, path, &a, err);
        if (r == 0 && virDomainIsPersistent(list[i]) == 1)
            r = check_description(l, pools, list[i], VIR_DOMAIN_XML_INACTIVE, path, &a, err);
        (void)virDomainFree(list[i]);
    }
    free(list);
    return r;
}

static int check_disk(const struct vm_looks *l, const struct storage_pools *pools,
                      const struct domain_disk *disk, struct arena *a, struct err *err)
{
    const char *path = path_there(l, pools, disk, a);

    return path ? check_path(l, pools, path, err)
                : err_set(err, -EPERM,
                          "VM %s cannot be copied to %s: where its disk %s would be there cannot be known",
                          l->from.name, l->to.host, disk->target);
}

int copied_disks_find(const struct migrations *m, const char *vm, const struct vm_looks *l, struct arena *a,
                      struct call_disks *ret, struct err *err)
{
    const struct libvirt_migration how = migrations_settings(m, vm, l->from.name);
    struct domain_xml d;
    struct storage_pools pools, there;

    *ret = (struct call_disks){0};
    if (how.copy_storage == LIBVIRT_COPY_NO)
        return 0;
    int r = read_disks(&l->from, a, &d, err);

    if (r < 0)
        return err_widen(err, "VM %s", l->from.name);
    storage_pools_read(l->from.conn, a, &pools);
    storage_pools_read(l->to.conn, a, &there);
    const char **targets = arena_array(a, const char *, d.n_disks);

    *ret = (struct call_disks){.targets.items = targets};
    for (size_t i = 0; i < d.n_disks && r == 0; i++) {
        const struct domain_disk *disk = &d.disks[i];
        const char *path = disk->path     ? disk->path
                           : disk->volume ? arena_printf(a, "%s of pool %s", disk->volume, disk->pool)
                                          : disk->pool;

        if (!disk->copyable ||
            storage_is_shared(disk, storage_pool_of(&pools, disk), migrations_shared_paths(m)))
            continue;
        targets[ret->targets.n++] = disk->target;
        ret->images = ret->images ? arena_printf(a, "%s, %s", ret->images, path) : path;
        r = check_disk(l, &there, disk, a, err);
    }
    return r;
}
