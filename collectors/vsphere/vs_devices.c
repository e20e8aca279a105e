/* vs_devices.c: reads the devices of VMs in batches, only where a configuration has changed. */
#include "collectors/vsphere/vs_devices.h"

#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 250   /* VMs in a call: some 3 MB */
#define GONE_MAX 16 /* VMs of one batch that may vanish before the batch is given up */

struct vs_devices_cache {
    struct arena arena;
    struct idmap by_vm; /* struct vm_devices, in the arena */
};

static void cache_release(struct vs_devices_cache *c)
{
    idmap_release(&c->by_vm, NULL);
    arena_release(&c->arena);
}

void vs_devices_cache_free(struct vs_devices_cache *c)
{
    if (!c)
        return;
    cache_release(c);
    free(c);
}

/* ---- one list -------------------------------------------------------------------------------- */

static void keep(const char **to, const char *reason)
{
    if (!*to)
        *to = reason;
}

static void add_vgpu(struct arena *a, const xml_node *profile, struct vm_devices *ret)
{
    const char *name = xml_text(profile, a);
    const char **items = arena_array(a, const char *, (size_t)ret->vgpus.n + 1);

    if (!name || !name[0])
        return;
    for (uint32_t i = 0; i < ret->vgpus.n; i++)
        items[i] = ret->vgpus.items[i];
    items[ret->vgpus.n] = name;
    ret->vgpus = (struct ids){.items = items, .n = ret->vgpus.n + 1};
    keep(&ret->mandatory_only, arena_printf(a, "a vGPU (%s)", name));
}

/* Only a vGPU can be moved with its VM, to a host that has its profile. */
static void read_passthrough(const xml_node *device, struct arena *a, struct vm_devices *ret)
{
    const xml_node *backing = xml_child(device, "backing");

    if (xml_type_is(backing, "VirtualPCIPassthroughVmiopBackingInfo"))
        add_vgpu(a, xml_child(backing, "vgpu"), ret);
    else
        keep(&ret->immovable, "a passthrough device");
}

static void read_device(const xml_node *device, struct arena *a, struct vm_devices *ret)
{
    const xml_node *bus = xml_child(device, "sharedBus");

    if (xml_type_is(device, "VirtualPCIPassthrough"))
        read_passthrough(device, a, ret);
    else if (xml_type_is(device, "VirtualSriovEthernetCard"))
        keep(&ret->immovable, "an SR-IOV network card");
    else if (xml_type_is(device, "VirtualSCSIPassthrough"))
        keep(&ret->immovable, "a SCSI device of its host");
    else if (xml_text_is(bus, "virtualSharing"))
        keep(&ret->immovable, "a SCSI bus that it shares with VMs of its host");
    else if (xml_text_is(bus, "physicalSharing"))
        keep(&ret->mandatory_only, "a SCSI bus that it shares with VMs of other hosts");
    else if (xml_type_is(xml_child(device, "backing"), "VirtualDiskRawDiskMappingVer1BackingInfo"))
        keep(&ret->mandatory_only, "a raw device mapping");
}

void vs_devices_read(const xml_node *list, struct arena *a, struct vm_devices *ret)
{
    for (const xml_node *n = xml_child(list, "VirtualDevice"); n; n = xml_again(n))
        read_device(n, a, ret);
}

/* ---- all VMs --------------------------------------------------------------------------------- */

struct reading {
    struct vs_devices_cache *to;
    const char **ids; /* of the VMs to read */
    size_t n;
    pthread_mutex_t lock; /* of `to` */
};

static void read_begin(void *ctx)
{
    (void)ctx; /* read twice is put twice, with the same result */
}

static int read_object(void *ctx, const struct vsphere_object *o, struct err *err)
{
    struct reading *r = ctx;

    (void)err;
    (void)pthread_mutex_lock(&r->lock);
    struct vm_devices *d = idmap_get(&r->to->by_vm, o->value);
    if (d) {
        *d = (struct vm_devices){.version = d->version};
        vs_devices_read(vsphere_prop(o, "config.hardware.device"), &r->to->arena, d);
    }
    (void)pthread_mutex_unlock(&r->lock);
    return 0;
}

/* Takes the VM that a fault names out of the batch. */
static bool drop_gone(const char **ids, size_t *n, const char *id)
{
    for (size_t i = 0; i < *n; i++) {
        if (strcmp(ids[i], id) == 0) {
            ids[i] = ids[--*n];
            return true;
        }
    }
    return false;
}

static int read_batch(void *ctx, struct vsphere *v, size_t i, struct err *err)
{
    static const char *const paths[] = {"config.hardware.device", NULL};
    static const struct vsphere_wanted wanted = {"VirtualMachine", paths};
    struct reading *r = ctx;
    const struct vsphere_reader reader = {.begin = read_begin, .object = read_object, .ctx = r};
    const char **ids = r->ids + i * BATCH;
    size_t n = r->n - i * BATCH < BATCH ? r->n - i * BATCH : BATCH;
    int code = -ENOENT;

    for (int tries = 0; code == -ENOENT && n > 0 && tries < GONE_MAX; tries++) {
        const struct vsphere_query q = {
            .start_type = "VirtualMachine", .starts = ids, .n_starts = n, .wanted = &wanted, .n_wanted = 1};

        code = vsphere_retrieve(v, &q, &reader, err);
        if (code == -ENOENT && !drop_gone(ids, &n, vsphere_fault(v)->object))
            return code;
    }
    return n == 0 ? 0 : code;
}

static bool copy_known(struct vs_devices_cache *from, struct vs_devices_cache *to,
                       const struct vs_inventory_vm *vm, struct vm_devices *ret)
{
    const struct vm_devices *known = idmap_get(&from->by_vm, vm->id);
    struct arena *a = &to->arena;

    if (!known || strcmp(known->version, vm->config_version) != 0)
        return false;
    *ret = *known;
    ret->version = arena_strdup(a, known->version);
    ret->immovable = arena_strdup(a, known->immovable);
    ret->mandatory_only = arena_strdup(a, known->mandatory_only);
    ret->vgpus.items = arena_texts(a, known->vgpus.items, known->vgpus.n);
    return true;
}

/* An entry for each VM, taken over where its configuration is the same; the others' ids go to r->ids. */
static void list_vms(struct vs_devices_cache *from, struct vs_devices_cache *to, const struct vs_inventory *s,
                     struct reading *r)
{
    for (size_t i = 0; i < s->n_vms; i++) {
        const struct vs_inventory_vm *vm = &s->vms[i];
        if (!vm->config_version || vm->template_)
            continue;
        struct vm_devices *d = arena_new(&to->arena, struct vm_devices);
        void **slot = idmap_slot(&to->by_vm, vm->id);
        if (*slot)
            continue;
        *slot = d;
        if (copy_known(from, to, vm, d))
            continue;
        *d = (struct vm_devices){.version = arena_strdup(&to->arena, vm->config_version)};
        r->ids[r->n++] = vm->id;
    }
}

int vs_devices_collect(struct vs_devices_cache **c, struct parallel **p, struct vsphere *v,
                       struct vs_inventory *s, struct err *err)
{
    CLEANUP(arena_releasep) struct arena work = {0};
    struct vs_devices_cache fresh = {0};

    if (!*c)
        *c = xcalloc(1, sizeof **c);
    struct reading r = {.to = &fresh, .ids = arena_array(&work, const char *, s->n_vms)};
    list_vms(*c, &fresh, s, &r);
    (void)pthread_mutex_init(&r.lock, NULL);
    int code = parallel_run(p, v, (r.n + BATCH - 1) / BATCH, read_batch, &r, err);
    (void)pthread_mutex_destroy(&r.lock);
    if (code < 0) {
        cache_release(&fresh);
        return code;
    }
    cache_release(*c);
    **c = fresh;
    for (size_t i = 0; i < s->n_vms; i++)
        s->vms[i].devices = idmap_get(&fresh.by_vm, s->vms[i].id);
    return 0;
}
