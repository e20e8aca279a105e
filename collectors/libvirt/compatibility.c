/* compatibility.c: what hosts offer and domains need: networks, storage, CPUs, kinds of machines; and which
 * domains stay where they are. */
#include "collectors/libvirt/inventory.h"

#include "base/fingerprint.h"
#include "base/texts.h"
#include "net/libvirt/migration_settings.h"

#include <stdlib.h>
#include <string.h>

static struct ids copy_ids(const struct ids *from, struct arena *a)
{
    return (struct ids){.items = arena_texts(a, from->items, from->n), .n = from->n};
}

/* ---- CPUs ----------------------------------------------------------------------------------------- */

/* A name that people can read, and that differs where the features do. */
static const char *cpu_name(const char *type, const char *arch, const char *cpu_xml, struct arena *a)
{
    uint64_t print = fingerprint_add(fingerprint_add(fingerprint_add(FINGERPRINT_NONE, type), arch), cpu_xml);
    const char *model = strstr(cpu_xml, "'forbid'>"); /* as domain_xml.c writes it */
    size_t len = 0;

    model = model ? model + strlen("'forbid'>") : "?";
    len = strcspn(model, "<");
    return arena_printf(a, "%.*s (%08x)", (int)(len > 100 ? 100 : len), model,
                        (unsigned)(print ^ print >> 32));
}

static struct offer cpus_of(const struct host_look *l, struct arena *a)
{
    const char **items = arena_array(a, const char *, l->n_verdicts + 1);
    uint32_t n = 0;

    for (size_t i = 0; i < l->n_verdicts; i++) {
        if (l->verdicts[i].fits)
            items[n++] = cpu_name(l->verdicts[i].type, l->verdicts[i].arch, l->verdicts[i].cpu_xml, a);
    }
    if (l->caps.host_cpu)
        items[n++] = arena_strdup(a, l->caps.host_cpu);
    return (struct offer){.names = {.items = items, .n = n}, .known = true};
}

/* Whether the domain's own host compares its CPU as one that it can give: only then the comparison tells
 * something of other hosts. */
static bool fits_its_host(const struct host_look *l, const struct domain_xml *x)
{
    for (size_t i = 0; i < l->n_verdicts; i++) {
        const struct cpu_verdict *v = &l->verdicts[i];

        if (strcmp(v->type, x->type) == 0 && strcmp(v->arch, x->arch) == 0 &&
            strcmp(v->cpu_xml, x->cpu_xml) == 0)
            return v->fits;
    }
    return false;
}

static void need_cpu(const struct host_look *l, const struct domain_look *d, struct arena *a,
                     struct vm_facts *to)
{
    const struct domain_xml *x = &d->xml;
    bool kvm = x->type && strcmp(x->type, "kvm") == 0;

    if (!d->active)
        return; /* it starts with whatever CPU it finds */
    if (kvm && l->caps.vendor)
        to->cpu_vendor = arena_strdup(a, l->caps.vendor);
    if (x->cpu == DOMAIN_CPU_HOST && kvm && l->caps.host_cpu)
        to->cpu_mode = arena_strdup(a, l->caps.host_cpu);
    else if (x->cpu == DOMAIN_CPU_MODEL && x->type && x->arch && fits_its_host(l, x))
        to->cpu_mode = cpu_name(x->type, x->arch, x->cpu_xml, a);
}

/* ---- storage -------------------------------------------------------------------------------------- */

/* What is shared under a name of a pool is the same storage where name and folder agree. */
static const char *pool_name(const struct storage_pool *p, struct arena *a)
{
    if (!p->path || strlen(p->name) + strlen(p->path) + 3 > FACT_NAME_BYTES_MAX)
        return arena_strdup(a, p->name);
    return arena_printf(a, "%s (%s)", p->name, p->path);
}

static void add_need(const char **items, uint32_t *n, const char *name)
{
    struct ids so_far = {.items = items, .n = *n};

    if (!texts_have(so_far.items, so_far.n, name))
        items[(*n)++] = name;
}

/* libvirt copies no disk without being asked to: where another host has another file under the same path, the
 * guest would go on with that one. So what is not known to be shared keeps its domain where it is, unless its
 * disks may be copied (libvirt_migration.copy_storage). */
static void need_storage(const struct host_look *l, const struct domain_look *d,
                         const struct libvirt_settings *s, struct arena *a, struct vm_facts *to)
{
    const bool copies = libvirt_migration_of(s, d->uuid, d->name).copy_storage != LIBVIRT_COPY_NO;
    const char **items = arena_array(a, const char *, d->xml.n_disks);
    uint32_t n = 0;

    for (size_t i = 0; i < d->xml.n_disks; i++) {
        const struct domain_disk *disk = &d->xml.disks[i];
        const struct storage_pool *pool = storage_pool_of(&l->pools, disk);
        const bool shared = storage_is_shared(disk, pool, s->shared_paths);
        const bool copied = copies && d->active && !shared && disk->copyable;

        if (pool && (pool->shared || copied))
            add_need(items, &n, pool_name(pool, a));
        if (copied)
            to->disks_copied_mb += disk->size_mb;
        else if (!shared && !disk->optional && !to->immovable)
            to->immovable = arena_printf(
                a, "a disk that is not known to be on shared storage (%.200s; source.shared_paths)",
                disk->path ? disk->path : disk->pool);
    }
    to->datastores = (struct ids){.items = items, .n = n};
}

/* A pool that is not shared is of use to VMs whose disks may be copied. */
static struct offer stores_of(const struct host_look *l, const struct libvirt_settings *s, struct arena *a)
{
    const char **items = arena_array(a, const char *, l->pools.n);
    const bool copies = libvirt_migration_copies(s);
    uint32_t n = 0;

    for (size_t i = 0; i < l->pools.n; i++) {
        if (l->pools.items[i].shared || copies)
            items[n++] = pool_name(&l->pools.items[i], a);
    }
    return (struct offer){.names = {.items = items, .n = n}, .known = l->pools.known};
}

/* ---- states --------------------------------------------------------------------------------------- */

static const char *why_paused(int reason)
{
    switch (reason) {
    case VIR_DOMAIN_PAUSED_IOERROR:
        return "its pause after an I/O error";
    case VIR_DOMAIN_PAUSED_MIGRATION:
    case VIR_DOMAIN_PAUSED_POSTCOPY:
    case VIR_DOMAIN_PAUSED_STARTING_UP:
        return "a migration or a start that has not ended";
    case VIR_DOMAIN_PAUSED_POSTCOPY_FAILED:
        return "a post-copy migration that has failed";
    case VIR_DOMAIN_PAUSED_WATCHDOG:
        return "its pause by a watchdog";
    case VIR_DOMAIN_PAUSED_CRASHED:
        return "its pause after a crash";
    case VIR_DOMAIN_PAUSED_SNAPSHOT:
    case VIR_DOMAIN_PAUSED_SAVE:
    case VIR_DOMAIN_PAUSED_DUMP:
        return "its pause while its memory is saved";
    default: /* by a person, and what later versions add */
        return "its pause";
    }
}

static const char *why_state(const struct domain_look *d)
{
    switch (d->stats.state) {
    case VIR_DOMAIN_PAUSED:
        return why_paused(d->stats.reason);
    case VIR_DOMAIN_SHUTDOWN:
        return "its shutdown, which has not ended";
    case VIR_DOMAIN_CRASHED:
        return "its crash";
    case VIR_DOMAIN_PMSUSPENDED:
        return "its suspension by the guest";
    default: /* it runs, or is off */
        return d->saved ? "its saved memory in a file of its host" : NULL;
    }
}

/* ---- the whole ------------------------------------------------------------------------------------ */

void libvirt_compatibility_offers(const struct libvirt_seen_host *h, const struct libvirt_settings *settings,
                                  struct arena *a, struct host_facts *to)
{
    const struct host_look *l = h->look;

    to->networks = (struct offer){.names = copy_ids(&l->networks.names, a), .known = l->networks.known};
    to->datastores = stores_of(l, settings, a);
    to->cpu_modes = cpus_of(l, a);
    to->cpu_vendor = l->caps.vendor ? arena_strdup(a, l->caps.vendor) : NULL;
    to->traits = copy_ids(&l->traits, a);
    to->hardware_uuid = l->caps.uuid ? arena_strdup(a, l->caps.uuid) : NULL;
}

void libvirt_compatibility_needs(const struct libvirt_seen_host *h, const struct domain_look *d,
                                 const struct libvirt_settings *settings, struct arena *a,
                                 struct vm_facts *to)
{
    to->immovable = why_state(d);
    if (!to->immovable && d->xml_fault)
        to->immovable = arena_printf(a, "its description, which is not known: %.300s", d->xml_fault);
    if (!to->immovable)
        to->immovable = d->xml.immovable; /* a constant */
    to->mandatory_only = d->xml.mandatory_only;
    to->networks = copy_ids(&d->xml.networks, a);
    need_storage(h->look, d, settings, a, to);
    need_cpu(h->look, d, a, to);
}

void libvirt_compatibility_hosts(const struct libvirt_seen_host *hosts, size_t n, const struct domain_look *d,
                                 struct arena *a, struct seen_vm *to)
{
    const char **items = arena_array(a, const char *, n);
    uint32_t have = 0;

    if (!d->xml.arch || !d->xml.machine)
        return;
    const char *machine = arena_printf(a, "%s/%s", d->xml.arch, d->xml.machine);

    for (size_t i = 0; i < n; i++) {
        if (!hosts[i].look || hosts[i].look->caps.machines.n == 0 ||
            texts_have(hosts[i].look->caps.machines.items, hosts[i].look->caps.machines.n, machine))
            items[have++] = hosts[i].settings->name;
    }
    if (have == n || have == 0) /* 0: not even its own host names it, so the names tell nothing */
        return;
    to->compatible_given = true;
    to->compatible_hosts = (struct ids){.items = items, .n = have};
}
