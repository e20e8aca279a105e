/* facts.c: what the texts of units.c read of hosts and VMs: attributes and hints.
 *
 * Members that are a FACT (members.h) keep REST's names. The others are computed here. An attribute
 * "... base" is what the host reports, as it would be without the VMs that run there; what VMs take is a
 * count. So an expression such as ['-', base, used] holds at each moment of a plan. */
#include "base/cleanup.h"
#include "base/texts.h"
#include "dialect/ovirt/internal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define KIB_OF_MIB 1024.0
#define MB_OF_VCPU 8 /* also of an I/O thread */

static double known(double v)
{
    return isnan(v) ? 0 : v;
}

void facts_set(json_t *of, json_t *value, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    CLEANUP(json_decrefp) json_t *name = json_vsprintf(format, args);
    va_end(args);
    (void)json_object_set_new(of, json_string_value(name), value);
}

static void set_number(json_t *of, const char *name, double number)
{
    (void)json_object_set_new(of, name, json_real(number)); /* none: it is UNKNOWN */
}

static void set_true(json_t *of, const char *name, bool v)
{
    (void)json_object_set_new(of, name, v ? json_true() : NULL);
}

void facts_append(json_t *of, const char *name, const char *text)
{
    json_t *list = json_object_get(of, name);

    if (!list)
        (void)json_object_set_new(of, name, list = json_array());
    (void)json_array_append_new(list, json_string(text));
}

/* The members that are facts, where they are known. */
static void set_members(json_t *of, const struct schema *schema, const void *from)
{
    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        const void *at = (const char *)from + f->offset;
        json_t *value = NULL;

        if (!(f->flags & FIELD_OPTIONAL))
            continue;
        if (f->type == FIELD_TEXT)
            value = json_string(*(const char *const *)at);
        else if (f->type == FIELD_NUMBER)
            value = json_real(*(const double *)at);
        else if (f->type == FIELD_BOOL && *(const bool *)at)
            value = json_true();
        else if (f->given && *(const bool *)((const char *)from + f->given))
            value = json_array();
        (void)json_object_set_new(of, f->name, value);
        for (uint32_t k = 0; f->type == FIELD_IDS && k < ((const struct ids *)at)->n; k++)
            facts_append(of, f->name, ((const struct ids *)at)->items[k]);
    }
}

/* ---- VMs ---- */

static double static_overhead(const struct cloud *c, const struct vm *v)
{
    const char *architecture = CLUSTER(c, v->cluster)->architecture;

    if (!isnan(c->vm_overhead_mb))
        return c->vm_overhead_mb;
    if (architecture && strncmp(architecture, "ppc", 3) == 0)
        return 100 + floor(exp2(ceil(log2(v->memory))) / 64);
    return floor(v->memory / 512) + 64;
}

static int find_vm(const struct cloud *c, uint32_t ix)
{
    static const char *const off[] = {"down", "suspended", "image_locked", "image_illegal", NULL};
    struct vm *v = VM(c, ix);
    struct cluster *cl = CLUSTER(c, v->cluster);

    v->runs = !texts_list_has(off, v->status);
    if (v->runs != (v->host != NONE))
        return err_set(c->err, -EINVAL,
                       "/vms/%u/host: %s, expected the host of a VM that runs, and of no other", ix,
                       v->runs ? "missing" : "given");
    v->engine = texts_same(v->origin, "hosted_engine") || texts_same(v->origin, "managed_hosted_engine");
    cl->engine = v->engine && !cl->engine ? v : cl->engine;
    v->dedicated =
        texts_same(v->pinning_policy, "dedicated") || texts_same(v->pinning_policy, "isolate_threads");
    v->static_mb = static_overhead(c, v);
    v->need_mb = v->memory + v->static_mb;
    if (isnan(c->vm_overhead_mb))
        v->need_mb += v->video_memory + MB_OF_VCPU * (v->vcpus + v->io_threads);
    v->pages = v->hugepages_kib > 0 ? ceil(v->memory * KIB_OF_MIB / v->hugepages_kib) : 0;
    v->takes_mb = v->need_mb + (v->pages > 0 ? v->pages * v->hugepages_kib / KIB_OF_MIB - v->memory : 0);
    v->load = v->runs ? known(v->cpu_percent) : c->vcpu_percent * v->vcpus;
    return 0;
}

/* For the engine's words (src/render/wording/ovirt.c): the filter itself is a predicate. */
static void set_networks(const struct cloud *c, const struct vm *v, json_t *of)
{
    const char *display = CLUSTER(c, v->cluster)->display_network;
    const struct nic *nics = v->nics.items;
    const char **names = arena_array(c->a, const char *, v->nics.n);
    uint32_t n = 0;

    for (uint32_t i = 0; i < v->nics.n; i++)
        if (nics[i].network && !nics[i].unplugged && !texts_have(names, n, nics[i].network)) {
            names[n++] = nics[i].network;
            facts_append(of, "networks", nics[i].network);
        }
    if (display && !texts_have(names, n, display))
        facts_append(of, "display", display);
}

/* What its filters and weights ask of the host on which it runs. */
static void set_home(json_t *of, const char *id, json_t *host)
{
    static const char *const names[] = {"name", "address", "hosted_engine.score", "system", "major"};

    (void)json_object_set_new(of, "home", json_string(id));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        facts_set(of, json_incref(json_object_get(host, names[i])), "home %s", names[i]);
}

/* Also of the host on which it runs: those that are free there are its attribute already. */
static void set_pages(const struct compiler *m, const struct vm *v, json_t *of)
{
    const char *size = arena_printf(m->c->a, "%.0f", v->hugepages_kib);
    const char *name = arena_printf(m->c->a, "pages %s", size);
    json_t *host = v->host == NONE ? NULL : m->attributes[v->host];

    facts_set(json_object_get(m->series, "sizes"), json_true(), "%s", size);
    set_number(of, "pages", v->pages);
    set_number(of, name, v->pages);
    set_number(host, name, json_real_value(json_object_get(host, name)) + v->pages);
}

static void set_vm(const struct compiler *m, uint32_t ix)
{
    const struct vm *v = VM(m->c, ix);
    const struct cluster *cl = CLUSTER(m->c, v->cluster);
    json_t *of = m->hints[ix];

    set_members(of, &vm_schema, v);
    set_number(of, "shared cpus", v->dedicated ? 0 : v->sockets * v->cores);
    set_number(of, "exclusive", v->dedicated ? v->vcpus : 0);
    set_number(of, "load", v->load);
    set_number(of, "need", v->need_mb);
    set_number(of, "takes", v->takes_mb);
    set_number(of, "overhead", v->static_mb);
    set_number(of, "ha", v->ha && v->runs);
    set_number(of, "engine of the cluster",
               cl->engine ? cl->engine->memory + cl->engine->static_mb : UNKNOWN);
    set_true(of, "engine", v->engine);
    if (strcmp(v->status, "up") != 0 || (v->affinity && strcmp(v->affinity, "migratable") != 0))
        (void)json_object_set_new(of, "migratable", json_false());
    set_true(of, "pinned", texts_same(v->affinity, "pinned"));
    set_true(of, "sized", v->dedicated || texts_same(v->type, "high_performance"));
    set_true(of, "reserved", v->ha && cl->ha_reservation);
    set_networks(m->c, v, of);
    if (!isnan(v->version_major))
        facts_set(of, json_sprintf("%.0f.%.0f", v->version_major, v->version_minor), "version");
    if (v->host != NONE)
        set_home(of, HOST(m->c, v->host)->id, m->attributes[v->host]);
    if (v->pages > 0)
        set_pages(m, v, of);
}

/* ---- hosts ---- */

static void take(const struct vm *v, struct taken *ret)
{
    ret->takes += v->takes_mb;
    ret->overhead += v->static_mb;
    ret->load += v->load;
    ret->exclusive += v->dedicated ? v->vcpus : 0;
    ret->vms++;
    ret->ha += v->ha && v->runs;
}

/* The memory of the host's NUMA nodes that the pinned nodes of a pending VM will take. */
static void take_nodes(const struct vm *v, const struct host *h)
{
    const struct numa_node *wanted = v->numa.items;
    struct numa_node *has = ROWS_OF(struct numa_node, h->numa);

    for (uint32_t i = 0; i < v->numa.n; i++)
        for (uint32_t k = 0; k < h->numa.n; k++)
            if (predicates_names(&wanted[i].pins, has[k].index)) {
                has[k].free = (isnan(has[k].free) ? has[k].memory : has[k].free) - wanted[i].memory;
                break;
            }
}

static void add_vm(const struct cloud *c, const struct vm *v)
{
    const uint32_t at[] = {v->host, v->pending_host};

    for (int i = 0; i < 2; i++) {
        if (at[i] == NONE)
            continue;
        struct host *h = HOST(c, at[i]);

        h->in_motion = h->in_motion || i == 1 || texts_same(v->status, "migrating");
        take(v, i == 0 ? &h->taken : &h->coming);
        if (i == 1)
            take_nodes(v, h);
        if (!v->dedicated)
            h->largest_vm = fmax(h->largest_vm, v->sockets * v->cores);
    }
}

/* CPUs that no VM holds alone, and their load. VMs that are pending and hold CPUs alone will have the lowest
 * free ones. */
static void set_cpus(const struct cloud *c, const struct host *h, json_t *of)
{
    const struct cpu_unit *units = h->cpu_units.items;
    bool per_cpu = false; /* the load of each CPU is known */
    double exclusive = h->cpu_units.n > 0 ? 0 : h->taken.exclusive;
    double coming = h->coming.exclusive;
    double load = 0;

    for (uint32_t i = 0; i < h->cpu_units.n; i++) {
        per_cpu = per_cpu || !isnan(units[i].load);
        exclusive += units[i].exclusive;
        load += units[i].exclusive || coming > 0 ? 0 : known(units[i].load);
        coming -= !units[i].exclusive;
    }
    double online = per_cpu ? h->cpu_units.n : h->cpus;
    double shared = online - (per_cpu ? exclusive + h->coming.exclusive : 0);

    double spm = texts_same(h->spm, "spm") ? c->spm_vcpus * c->vcpu_percent : 0;
    double plain_load = (load > 0 ? load : (h->cpu_user + h->cpu_system) * h->plain_cpus) + spm;

    load = (load > 0 ? load : (h->cpu_user + h->cpu_system) * h->cpus) + spm;
    exclusive -= h->taken.exclusive;
    set_number(of, "load", shared > 0 ? ceil(load / shared) : UNKNOWN);
    set_number(of, "load base", load - h->taken.load);
    set_number(of, "plain load base", plain_load - h->taken.load);
    set_number(of, "cores base", h->cpus - exclusive);
    set_number(of, "shared base", online - (per_cpu ? exclusive : 0));
    set_number(of, "plain base", per_cpu ? online - exclusive : h->plain_cpus);
    set_number(of, "per cpu", per_cpu);
}

/* Whether the engine could start again there. */
static bool is_spare(const struct cloud *c, uint32_t ix)
{
    const struct host *h = HOST(c, ix);
    const struct vm *engine = CLUSTER(c, h->cluster)->engine;

    return engine && texts_same(h->status, "up") && h->he_configured && h->he_score > 0 &&
           !h->he_maintenance && engine->host != ix &&
           h->max_scheduling - h->coming.takes > engine->memory + engine->static_mb;
}

/* The first host that has the same system. */
static double system_of(const struct cloud *c, const struct host *h)
{
    uint32_t i = 0;

    while (!texts_same(HOST(c, i)->os_type, h->os_type))
        i++;
    return i;
}

static void set_host(const struct compiler *m, uint32_t ix)
{
    const struct host *h = HOST(m->c, ix);
    const struct amount *pages = h->hugepages.items;
    bool has_system = h->os_type && !isnan(h->os_major);
    json_t *of = m->attributes[ix];

    set_members(of, &host_schema, h);
    set_cpus(m->c, h, of);
    set_true(of, "in motion", h->in_motion);
    set_number(of, "position", -(double)ix / (m->c->hosts.n + 1));
    set_number(of, "memory taken", h->taken.takes);
    set_number(of, "memory base", h->mem_free + h->taken.overhead);
    set_number(of, "guests base", known(h->active_vms - h->taken.vms));
    set_number(of, "ha base", -h->coming.ha);
    set_number(of, "largest vm", h->largest_vm);
    set_number(of, "system", has_system ? system_of(m->c, h) : UNKNOWN);
    set_number(of, "major", has_system ? h->os_major : UNKNOWN);
    set_number(of, "spare", is_spare(m->c, ix));
    set_number(of, "spares", CLUSTER(m->c, h->cluster)->spares);
    for (uint32_t i = 0; i < h->hugepages.n; i++)
        facts_set(of, json_real(pages[i].n), "pages %s", pages[i].name);
}

int facts_find(const struct cloud *c)
{
    int e = 0;

    for (uint32_t i = 0; e == 0 && i < c->vms.n; i++)
        e = find_vm(c, i);
    for (uint32_t i = 0; e == 0 && i < c->vms.n; i++)
        add_vm(c, VM(c, i));
    for (uint32_t i = 0; i < c->hosts.n; i++) {
        struct host *h = HOST(c, i);
        bool threads = CLUSTER(c, h->cluster)->threads_as_cores;

        h->plain_cpus = isnan(h->threads) ? UNKNOWN : h->sockets * h->cores;
        h->cpus = threads ? h->plain_cpus * h->threads : h->plain_cpus;
        CLUSTER(c, h->cluster)->spares += is_spare(c, i);
    }
    return e;
}

void facts_set_all(const struct compiler *m)
{
    for (uint32_t i = 0; i < m->c->hosts.n; i++)
        set_host(m, i);
    for (uint32_t i = 0; i < m->c->vms.n; i++)
        set_vm(m, i);
}
