/* storage.c: reads storage pools, and compares paths of disks with them. */
#include "net/libvirt/storage.h"

#include "base/cleanup.h"
#include "base/texts.h"
#include "net/xml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- pools ---------------------------------------------------------------------------------------- */

/* Whether what has this name is reached over a network by all hosts that have it. */
static bool is_shared_type(const char *type)
{
    static const char *const types[] = {"netfs",    "iscsi",   "iscsi-direct", "rbd",
                                        "sheepdog", "gluster", "mpath",        "vstorage"};

    return type && texts_have(types, sizeof types / sizeof types[0], type);
}

int storage_pool_read(const char *text, struct arena *a, struct storage_pool *ret, struct err *err)
{
    xml_doc *doc = NULL;
    size_t len = strlen(text);

    if (len > LIBVIRT_XML_BYTES_MAX)
        return err_set(err, -EFBIG, "the properties of a storage pool have %zu bytes, expected at most %zu",
                       len, LIBVIRT_XML_BYTES_MAX);
    int r = xml_parse(text, len, &doc, err);

    if (r < 0)
        return err_widen(err, "the properties of a storage pool cannot be read");
    const xml_node *root = xml_root(doc);
    struct storage_pool p = {.name = xml_line_of(xml_child(root, "name"), a),
                             .path = xml_line_of(xml_child(root, "target/path"), a),
                             .shared = is_shared_type(xml_attribute(root, "type", a))};

    if (!xml_is(root, "pool") || !p.name || strlen(p.name) > FACT_NAME_BYTES_MAX)
        r = err_set(err, -EPROTO, "the properties of a storage pool have no name");
    xml_free(doc);
    if (r == 0)
        *ret = p;
    return r;
}

void storage_pools_read(virConnectPtr conn, struct arena *a, struct storage_pools *ret)
{
    virStoragePoolPtr *list = NULL;
    int n = virConnectListAllStoragePools(conn, &list, VIR_CONNECT_LIST_STORAGE_POOLS_ACTIVE);

    *ret = (struct storage_pools){.known = n >= 0,
                                  .items = arena_array(a, struct storage_pool, n > 0 ? (size_t)n : 0)};
    for (int i = 0; i < n; i++) {
        CLEANUP(freep) char *text = virStoragePoolGetXMLDesc(list[i], 0);

        if (text && storage_pool_read(text, a, &ret->items[ret->n], NULL) == 0)
            ret->n++;
        (void)virStoragePoolFree(list[i]);
    }
    free(list);
}

/* ---- disks ---------------------------------------------------------------------------------------- */

/* Whether the path is the folder, or in it. */
static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    while (len > 1 && folder[len - 1] == '/')
        len--;
    return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0' || len == 1) &&
           !strstr(path, "/../");
}

const struct storage_pool *storage_pool_of(const struct storage_pools *pools, const struct domain_disk *d)
{
    for (size_t i = 0; i < pools->n; i++) {
        const struct storage_pool *p = &pools->items[i];

        if (d->pool ? strcmp(p->name, d->pool) == 0
                    : d->path && p->path && strcmp(p->path, "/dev") != 0 && is_below(d->path, p->path))
            return p;
    }
    return NULL;
}

static bool is_in_one(const char *path, const char *const *folders)
{
    for (const char *const *p = folders; path && p && *p; p++) {
        if (is_below(path, *p))
            return true;
    }
    return false;
}

bool storage_is_shared(const struct domain_disk *disk, const struct storage_pool *pool,
                       const char *const *shared_paths)
{
    return (pool && (pool->shared || is_in_one(pool->path, shared_paths))) ||
           is_in_one(disk->path, shared_paths);
}
