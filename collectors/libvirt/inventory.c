/* inventory.c: puts the looks at all hosts together: which of several domains with one UUID counts, what
 * stays known of a host that does not answer, and which answers contradict each other. */
#include "collectors/libvirt/inventory.h"

#include "base/cleanup.h"
#include "base/idmap.h"
#include "net/libvirt/controls.h"
#include "net/libvirt/migration_settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One domain as one host shows it. */
struct instance {
    const struct libvirt_seen_host *host;
    const struct domain_look *d;
};

struct map {
    struct libvirt_seen_host *hosts;
    size_t n;
    const struct libvirt_settings *settings;
    struct arena *a;
    struct inventory *inv;
    struct libvirt_faults *faults;
    bool some_unseen; /* a host has not answered since the start */
};

static void add_fault(struct map *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_fault(struct map *m, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    m->faults->items =
        arena_grow(m->a, m->faults->items, m->faults->n, &m->faults->cap, sizeof *m->faults->items);
    m->faults->items[m->faults->n++] = arena_strdup(m->a, text);
}

/* ---- hosts ---------------------------------------------------------------------------------------- */

/* Two hosts with one UUID are one libvirt that is reached twice, or cloned machines: libvirt itself refuses
 * to migrate between them. Either way neither is touched. */
static void disconnect_twins(struct map *m)
{
    struct idmap by_uuid = {0};

    for (size_t i = 0; i < m->n; i++) {
        struct libvirt_seen_host *h = &m->hosts[i];

        if (!h->answered || !h->look->caps.uuid)
            continue;
        void **slot = idmap_slot(&by_uuid, h->look->caps.uuid);
        struct libvirt_seen_host *twin = *slot;

        if (!twin) {
            *slot = h;
            continue;
        }
        add_fault(
            m,
            "hosts %s and %s have the same UUID %s: one libvirt is named twice, or its host_uuid was copied; "
            "neither is touched",
            twin->settings->name, h->settings->name, h->look->caps.uuid);
        h->rejected = twin->rejected = m->faults->items[m->faults->n - 1];
    }
    idmap_release(&by_uuid, NULL);
}

static bool is_on(const struct libvirt_seen_host *h)
{
    return h->answered && !h->rejected;
}

/* Cores as many as make up the configured MHz: where several hosts share a machine, each has a part of it. */
static void map_size(const struct libvirt_seen_host *h, struct host_facts *to)
{
    const struct host_look *l = h->look;

    if (l && !isnan(l->core_mhz)) {
        to->cores = l->cpus;
        to->total[RES_CPU] = l->cpus * l->core_mhz;
    }
    if (l)
        to->total[RES_MEM] = l->mem_mb;
    if (!isnan(h->settings->mem_mb))
        to->total[RES_MEM] = h->settings->mem_mb;
    if (isnan(h->settings->cpu_mhz))
        return;
    to->total[RES_CPU] = h->settings->cpu_mhz;
    if (l && l->core_mhz > 0) {
        double cores = floor(h->settings->cpu_mhz / l->core_mhz);
        to->cores = cores < 1 ? 1 : cores < l->cpus ? (uint32_t)cores : l->cpus;
    }
}

static double core_mhz_of(const struct host_facts *h)
{
    return h->cores > 0 ? h->total[RES_CPU] / h->cores : UNKNOWN;
}

/* A configured size is a part of the machine, whose free memory is not that of the host. */
static double mem_free_of(const struct libvirt_seen_host *h, const struct host_facts *f)
{
    double used = 0;

    if (isnan(h->settings->mem_mb))
        return h->look->mem_free_mb;
    for (size_t i = 0; i < h->look->n_domains; i++) {
        const struct domain_look *d = &h->look->domains[i];
        if (d->active)
            used += isnan(d->stats.rss_mb) ? d->xml.mem_mb : d->stats.rss_mb;
    }
    double left = f->total[RES_MEM] - used;
    return left < 0 ? 0 : left;
}

/* Errors begin with the host's name. */
static const char *why_disconnected(const struct libvirt_seen_host *h)
{
    const char *why = h->answered ? h->rejected : h->why;
    size_t len = strlen(h->settings->name);

    if (h->answered && !why)
        return "the clock of its CPUs is not known: set cpu_mhz";
    if (!why || !*why)
        return NULL;
    return strncmp(why, h->settings->name, len) == 0 && strncmp(why + len, ": ", 2) == 0 ? why + len + 2
                                                                                         : why;
}

static struct objects copy_of(struct objects from, size_t size, struct arena *a)
{
    void *items = arena_alloc(a, from.n, size);

    if (from.n > 0)
        memcpy(items, from.items, from.n * size);
    return (struct objects){items, from.n};
}

static struct objects copy_cells(struct objects from, struct arena *a)
{
    struct objects to = copy_of(from, sizeof(struct numa_cell), a);
    struct numa_cell *cells = (struct numa_cell *)to.items;

    for (uint32_t i = 0; i < to.n; i++)
        cells[i].pages = copy_of(cells[i].pages, sizeof(struct numa_pages), a);
    return to;
}

static void map_hosts(struct map *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct libvirt_seen_host *h = &m->hosts[i];
        struct seen_host *seen = inventory_add_host(m->inv, m->a);
        struct host_facts *to = &seen->is;

        to->id = to->name = arena_strdup(m->a, h->settings->name);
        map_size(h, to);
        to->state = is_on(h) && to->total[RES_CPU] > 0 ? HOST_ON : HOST_DISCONNECTED;
        if (to->state == HOST_DISCONNECTED)
            to->disconnected_why = arena_strdup(m->a, why_disconnected(h));
        if (h->look)
            libvirt_compatibility_offers(h, m->settings, m->a, to);
        if (h->look)
            to->numa = copy_cells(h->look->caps.numa, m->a);
        if (to->state == HOST_ON)
            to->mem_free_mb = mem_free_of(h, to);
        if (h->look && isnan(h->settings->mem_mb) &&
            isnan(h->settings->cpu_mhz)) /* not of a part of the machine */
            seen->cpu_used_mhz = h->look->cpu_used_mhz;
    }
}

/* ---- VMs ------------------------------------------------------------------------------------------ */

/* The hypervisor divides CPU time among domains, whatever the number of their vCPUs. */
static double shares_of(const struct instance *x, double weight)
{
    double known = x->host->look->weight_default;
    double normal = known > 0 ? known : LIBVIRT_WEIGHT_UNKNOWN;

    return weight > 0 ? weight / normal * LIBVIRT_SHARES_NORMAL : LIBVIRT_SHARES_NORMAL;
}

static double limit_of(double vcpu_quota, double global_quota, uint32_t vcpus, double core_mhz)
{
    double cpus = fmin(vcpu_quota * vcpus, global_quota);

    return cpus > 0 && cpus < vcpus && !isnan(core_mhz) ? cpus * core_mhz : NO_LIMIT;
}

static void map_controls(const struct instance *x, struct vm_facts *to, double core_mhz)
{
    const struct domain_xml *d = &x->d->xml;

    double shares = shares_of(x, d->shares);
    double limit = limit_of(d->vcpu_quota, d->global_quota, to->vcpus, core_mhz);

    if (d->set) {
        to->set = (struct vm_control){true, shares, limit};
        shares = shares_of(x, d->own_shares);
        limit = limit_of(d->own_vcpu_quota, d->own_global_quota, to->vcpus, core_mhz);
    }
    to->alloc[RES_CPU].shares = shares;
    to->alloc[RES_CPU].limit = limit;
    if (d->hard_limit_mb < to->mem_mb)
        to->alloc[RES_MEM].limit = d->hard_limit_mb;
    to->alloc[RES_MEM].reservation = d->locked ? to->mem_mb : fmin(d->min_guarantee_mb, to->mem_mb);
    if (to->alloc[RES_MEM].reservation > to->alloc[RES_MEM].limit)
        to->alloc[RES_MEM].reservation = to->alloc[RES_MEM].limit;
}

static struct labels copy_labels(const struct labels *from, struct arena *a)
{
    struct label *items = arena_array(a, struct label, from->n);

    for (uint32_t i = 0; i < from->n; i++)
        items[i] = (struct label){.key = arena_strdup(a, from->items[i].key),
                                  .value = arena_strdup(a, from->items[i].value)};
    return (struct labels){.items = items, .n = from->n};
}

static struct attributes copy_attributes(const struct attributes *from, struct arena *a)
{
    struct attribute *items = arena_array(a, struct attribute, from->n);

    for (uint32_t i = 0; i < from->n; i++) {
        items[i] = from->items[i];
        items[i].name = arena_strdup(a, items[i].name);
        if (items[i].is.type == VALUE_TEXT)
            items[i].is.text = arena_strdup(a, items[i].is.text);
    }
    return (struct attributes){items, from->n};
}

/* On a host with a configured size a core may be smaller than it is. */
static void map_sample(const struct instance *x, struct seen_vm *to, double core_mhz)
{
    const struct vm_sample *s = &x->d->sample;
    double most = to->is.vcpus * core_mhz;

    to->is.dirty_mb_s = x->d->stats.dirty_mb_s;
    if (!isnan(x->d->stats.rss_mb))
        to->is.consumed_mb = fmin(x->d->stats.rss_mb, to->is.mem_mb);
    to->is.demand_unknown = !s->present || !is_on(x->host) || x->d->xml_fault;
    if (!s->present)
        return;
    to->sample = *s;
    to->sample.measured = x->host->look->measured;
    to->sample.core_mhz = core_mhz;
    if (to->sample.cpu_used_mhz > most)
        to->sample.cpu_used_mhz = most;
    if (!isnan(s->mem_overhead_mb))
        to->is.overhead_mb = s->mem_overhead_mb;
}

static const struct host_facts *facts_of(const struct map *m, const struct libvirt_seen_host *h)
{
    return &m->inv->hosts[h - m->hosts].is;
}

static struct seen_vm *map_vm(struct map *m, const struct instance *x)
{
    const struct domain_look *d = x->d;
    struct seen_vm *to = inventory_add_vm(m->inv, m->a);
    double core_mhz = core_mhz_of(facts_of(m, x->host));

    to->is.vcpus = d->xml.vcpus > 0 ? d->xml.vcpus : 1;
    to->is.mem_mb = d->xml.mem_mb > 0 ? d->xml.mem_mb : d->stats.rss_mb > 0 ? d->stats.rss_mb : 1;
    vm_facts_default(&to->is);
    to->is.id = arena_strdup(m->a, d->uuid);
    to->is.name = arena_strdup(m->a, d->name);
    to->is.state = d->active ? VM_ON : d->saved ? VM_SUSPENDED : VM_OFF;
    to->host = facts_of(m, x->host)->id;
    to->is.labels = copy_labels(&d->xml.labels, m->a);
    to->is.numa = copy_of(d->xml.numa, sizeof(struct vm_numa_cell), m->a);
    to->is.owner = d->xml.owner ? arena_strdup(m->a, d->xml.owner) : NULL;
    to->is.flavor = copy_attributes(&d->xml.flavor, m->a);
    to->is.image = copy_attributes(&d->xml.image, m->a);
    map_controls(x, &to->is, core_mhz);
    libvirt_compatibility_needs(x->host, d, m->settings, m->a, &to->is);
    libvirt_compatibility_hosts(m->hosts, m->n, d, m->a, to);
    const struct libvirt_migration how = libvirt_migration_of(m->settings, d->uuid, d->name);

    to->unthrottled = !how.auto_converge && !how.post_copy;
    to->copy_most_mb_s = how.bandwidth_mbs;
    if (d->active)
        map_sample(x, to, core_mhz);
    return to;
}

/* Not the side of a migration that waits for the other one. */
static bool runs_here(const struct instance *x)
{
    int reason = x->d->stats.reason;

    if (!x->d->active)
        return false;
    return x->d->stats.state != VIR_DOMAIN_PAUSED ||
           (reason != VIR_DOMAIN_PAUSED_MIGRATION && reason != VIR_DOMAIN_PAUSED_POSTCOPY &&
            reason != VIR_DOMAIN_PAUSED_STARTING_UP);
}

/* Looks at two hosts are not of one moment: a VM that moved in between was still seen on its old host, and
 * already on its new one. Only what the looks before these showed, too, is no migration. */
static bool ran_before(const struct instance *x)
{
    if (!x->host->before) /* not known */
        return true;
    const struct domain_look *d = host_look_find(x->host->before, x->d->uuid);

    return d && runs_here(&(struct instance){.host = x->host, .d = d});
}

/* Neither is touched, and both hosts have to stay on: so it is there twice, under two ids. */
static void map_twice(struct map *m, const struct instance *x, const struct instance *also)
{
    const char *why = arena_printf(m->a, "its running on two hosts at once, %.100s and %.100s",
                                   x->host->settings->name, also->host->settings->name);
    struct seen_vm *to = map_vm(m, x);

    to->is.immovable = why;
    to = map_vm(m, also);
    to->is.id = arena_printf(m->a, "%s@%s", also->d->uuid, also->host->settings->name);
    to->is.immovable = why;
    add_fault(m,
              "VM %s (%s) runs on %s and on %s at once, on the same disks perhaps: it is moved from neither; "
              "stop one "
              "of the two",
              x->d->name, x->d->uuid, x->host->settings->name, also->host->settings->name);
}

/* A migration under way, of Ballast or of a person: both hosts are needed until it ends, after the hand-over
 * of a post-copy, too, when the source has pages that the guest still lacks. A service of our own knows more
 * of its own ones. */
static void map_migration(struct map *m, const struct seen_vm *vm, const struct instance *from,
                          const struct instance *to)
{
    *inventory_add_migration(m->inv, m->a) = (struct seen_migration){.vm = vm->is.id,
                                                                     .from = facts_of(m, from->host)->id,
                                                                     .to = facts_of(m, to->host)->id,
                                                                     .started = from->host->look->measured};
}

static bool is_source_of_post_copy(const struct instance *x)
{
    return x->d->stats.state == VIR_DOMAIN_PAUSED && x->d->stats.reason == VIR_DOMAIN_PAUSED_POSTCOPY;
}

/* What only a person can mend. */
static void say_stopped(struct map *m, const struct instance *x)
{
    const struct domain_stats *s = &x->d->stats;

    if (s->state != VIR_DOMAIN_PAUSED || !is_on(x->host))
        return;
    if (s->reason == VIR_DOMAIN_PAUSED_IOERROR)
        add_fault(m,
                  "VM %s (%s) on %s is paused after an I/O error: mend its storage, then resume it with "
                  "`virsh resume`",
                  x->d->name, x->d->uuid, x->host->settings->name);
    else if (s->reason == VIR_DOMAIN_PAUSED_POSTCOPY_FAILED)
        add_fault(m,
                  "VM %s (%s) on %s is paused, because a post-copy migration has failed: a part of its "
                  "memory is on "
                  "the other host still, which must not be switched off",
                  x->d->name, x->d->uuid, x->host->settings->name);
}

static void say_defined_twice(struct map *m, const struct instance *x, const struct instance *also)
{
    add_fault(
        m,
        "VM %s (%s) is off, and is defined on %s and on %s: remove the definition that is not valid any more "
        "with `virsh undefine`",
        x->d->name, x->d->uuid, x->host->settings->name, also->host->settings->name);
}

/* The state of one UUID, of all that show it: first[0] ... first[n - 1], in the order of the configuration.
 */
static void map_uuid(struct map *m, const struct instance *list, size_t n)
{
    const struct instance *runner = NULL, *second = NULL, *moving = NULL, *last_known = NULL, *off = NULL;
    const struct instance *defined[2] = {NULL, NULL};

    for (size_t i = 0; i < n; i++) {
        const struct instance *x = &list[i];

        say_stopped(m, x);
        if (!x->d->active && is_on(x->host))
            defined[defined[0] ? 1 : 0] = x;
        if (x->d->active && !x->host->answered)
            last_known = last_known ? last_known : x;
        else if (runs_here(x))
            *(runner ? &second : &runner) = x;
        else if (x->d->active)
            moving = moving ? moving : x;
        else if (!off || (x->d->saved && !off->d->saved) || (is_on(x->host) && !is_on(off->host)))
            off = x;
    }
    if (defined[1] && !runner && !moving && !last_known)
        say_defined_twice(m, defined[0], defined[1]);
    if (second && ran_before(runner) && ran_before(second)) {
        map_twice(m, runner, second);
    } else if (second) { /* the new one is where it has arrived */
        const struct instance *from = ran_before(second) ? second : runner;
        const struct instance *arrived = from == second ? runner : second;
        struct seen_vm *to = map_vm(m, arrived);

        to->is.automation = AUTOMATION_DISABLED;
        map_migration(m, to, from, arrived);
    } else if (runner || moving) {
        struct seen_vm *to = map_vm(m, runner ? runner : moving);

        if (moving) /* a migration, whose destination takes over soon: no second one beside it */
            to->is.automation = AUTOMATION_DISABLED;
        if (runner && moving)
            map_migration(m, to, is_source_of_post_copy(moving) ? moving : runner,
                          is_source_of_post_copy(moving) ? runner : moving);
    } else if (last_known) {
        (void)map_vm(m, last_known);
    } else if (off && off->d->xml.vcpus > 0) {
        /* it may run on a host that was not seen, unless that one is asleep: it must not be started */
        map_vm(m, off)->if_all_sleep = m->some_unseen;
    }
}

static int by_uuid(const void *a, const void *b)
{
    const struct instance *x = a, *y = b;
    int r = strcmp(x->d->uuid, y->d->uuid);

    return r ? r : (x->host > y->host) - (x->host < y->host);
}

static void map_vms(struct map *m)
{
    struct instance *all;
    size_t n = 0, to = 0;

    for (size_t i = 0; i < m->n; i++)
        n += m->hosts[i].look ? m->hosts[i].look->n_domains : 0;
    all = arena_array(m->a, struct instance, n);
    for (size_t i = 0; i < m->n; i++) {
        for (size_t k = 0; m->hosts[i].look && k < m->hosts[i].look->n_domains; k++)
            all[to++] = (struct instance){.host = &m->hosts[i], .d = &m->hosts[i].look->domains[k]};
    }
    if (n > 0)
        qsort(all, n, sizeof *all, by_uuid);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(all[end].d->uuid, all[i].d->uuid) == 0;)
            end++;
        map_uuid(m, &all[i], end - i);
    }
}

void libvirt_inventory(struct libvirt_seen_host *hosts, size_t n, const struct libvirt_settings *settings,
                       struct arena *a, struct inventory *ret, struct libvirt_faults *faults)
{
    struct map m = {.hosts = hosts, .n = n, .settings = settings, .a = a, .inv = ret, .faults = faults};

    for (size_t i = 0; i < n; i++)
        m.some_unseen = m.some_unseen || !hosts[i].look;
    ret->vm_controls = settings->cpu_controls != LIBVIRT_CONTROLS_OFF;
    ret->settings_seen = true; /* with the VMs */
    disconnect_twins(&m);
    map_hosts(&m);
    map_vms(&m);
}
