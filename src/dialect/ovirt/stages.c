/* stages.c: the facts of hosts and VMs as attributes and hints, what is counted, and the filters.
 *
 * What VMs take of a host is a count. An attribute "... base" is what the host reports, as it would be
 * without the VMs that run there; so an expression such as ['-', base, used] holds at each moment of a plan.
 */
#include "base/cleanup.h"
#include "dialect/ovirt/internal.h"
#include "dialect/ovirt/texts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MB_OF_KIB(kib) ((kib) / 1024.0)
#define S_OF_MINUTE 60

json_t *stages_expression(const struct compiler *m, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_array(m->c->a, char, (size_t)n + 1);

    va_start(args, format);
    (void)vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return json_loads(text, JSON_DECODE_ANY, NULL);
}

void stages_set(json_t *of, const char *name, double number)
{
    if (isfinite(number))
        (void)json_object_set_new(of, name, json_real(number));
}

void stages_add(struct compiler *m, const char *name, const char *kind, json_t *expression)
{
    if (expression)
        (void)json_array_append_new(m->stages, json_pack("{s: s, s: o}", "name", name, kind, expression));
}

const char *stages_text_here(const struct compiler *m, const char *then, const char *otherwise)
{
    return m->runs
               ? arena_printf(m->c->a, "['if', ['=', '$host.id', '$vm.hints.home'], %s, %s]", then, otherwise)
               : otherwise;
}

/* ---- huge pages ---- */

/* The sizes that VMs ask for, each once, ascending by their first VM. NaN ends the list. */
static const double *page_sizes(const struct cloud *c)
{
    double *ret = arena_array(c->a, double, (size_t)c->vms.n + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->vms.n; i++) {
        double size = VM(c, i)->pages > 0 ? VM(c, i)->hugepages_kib : 0;
        uint32_t k = 0;

        while (k < n && ret[k] != size)
            k++;
        if (k == n && size > 0)
            ret[n++] = size;
    }
    ret[n] = UNKNOWN;
    return ret;
}

static double pages_on(const struct host *h, double size)
{
    const struct amount *of = h->hugepages.items;

    for (uint32_t i = 0; i < h->hugepages.n; i++)
        if (strtod(of[i].name, NULL) == size)
            return isnan(of[i].n) ? 0 : of[i].n;
    return 0;
}

/* ---- facts ---- */

static bool is_loopback(const char *address)
{
    return address && (strncmp(address, "127.", 4) == 0 || strcmp(address, "localhost") == 0 ||
                       strcmp(address, "::1") == 0);
}

static const struct vm *engine_of(const struct cloud *c, uint32_t cluster)
{
    for (uint32_t i = 0; i < c->vms.n; i++)
        if (VM(c, i)->engine && VM(c, i)->cluster == cluster)
            return VM(c, i);
    return NULL;
}

/* Whether the engine could start again there. */
static bool is_spare(const struct cloud *c, uint32_t ix)
{
    const struct host *h = HOST(c, ix);
    const struct vm *engine = engine_of(c, h->cluster);

    return engine && h->he_configured && h->he_score > 0 && !h->he_maintenance && engine->host != ix &&
           h->max_scheduling > engine->memory + engine->static_mb;
}

static void set_memory(const struct compiler *m, uint32_t ix)
{
    const struct host *h = HOST(m->c, ix);
    json_t *of = m->attributes[ix];
    double pending = isnan(h->pending_memory) ? 0 : h->pending_memory;
    double swap = trunc((h->swap_total - h->swap_free - h->mem_free) * 100 / h->memory);

    stages_set(of, "sched base", fmax(h->max_scheduling - pending, 0) + h->taken.need);
    if (isnan(h->max_scheduling))
        (void)json_object_del(of, "sched base");
    stages_set(of, "memory base", h->mem_free + h->taken.overhead);
    stages_set(of, "swap free", isnan(h->swap_free) ? 0 : h->swap_free);
    stages_set(of, "swap used", swap);
    for (const double *size = page_sizes(m->c); !isnan(*size); size++) {
        double sum = pages_on(h, *size);

        for (uint32_t i = 0; i < m->c->vms.n; i++)
            sum += VM(m->c, i)->host == ix && VM(m->c, i)->hugepages_kib == *size ? VM(m->c, i)->pages : 0;
        stages_set(of, arena_printf(m->c->a, "pages %.0f", *size), sum);
    }
}

static void set_host(const struct compiler *m, uint32_t ix)
{
    const struct cloud *c = m->c;
    const struct host *h = HOST(c, ix);
    json_t *of = m->attributes[ix];

    double exclusive = h->exclusive - h->taken.exclusive;

    stages_set(of, "cores base", h->cpus - exclusive);
    stages_set(of, "shared base", (h->cpu_units.n > 0 ? h->cpu_units.n : h->cpus) - exclusive);
    stages_set(of, "load base", h->load - h->taken.load);
    stages_set(of, "load", h->eff);
    stages_set(of, "threshold seconds", h->threshold_s);
    stages_set(of, "largest vm", h->largest_vm);
    stages_set(of, "guests base", isnan(h->active_vms) ? 0 : h->active_vms - h->taken.vms);
    stages_set(of, "spm", h->spm && strcmp(h->spm, "spm") == 0);
    stages_set(of, "score", h->he_score);
    stages_set(of, "sockets", h->sockets);
    stages_set(of, "cores of socket", h->cores);
    stages_set(of, "position", ix);
    stages_set(of, "spare", is_spare(c, ix));
    (void)json_object_set_new(of, "cluster", json_string(CLUSTER(c, h->cluster)->id));
    (void)json_object_set_new(of, "name", json_string(h->name));
    (void)json_object_set_new(of, "loopback", json_boolean(is_loopback(h->address)));
    if (h->address)
        (void)json_object_set_new(of, "address", json_string(h->address));
    set_memory(m, ix);
}

static void set_vm(const struct compiler *m, uint32_t ix)
{
    const struct vm *v = VM(m->c, ix);
    const struct host *home = v->host == NONE ? NULL : HOST(m->c, v->host);
    json_t *of = m->hints[ix];

    stages_set(of, "vcpus", v->vcpus);
    stages_set(of, "shared cpus", v->dedicated ? 0 : v->sockets * v->cores);
    stages_set(of, "exclusive", v->dedicated ? v->vcpus : 0);
    stages_set(of, "load", v->load);
    stages_set(of, "memory", v->memory);
    stages_set(of, "need", v->need_mb);
    stages_set(of, "overhead", v->static_mb);
    stages_set(of, "physical", (v->pages > 0 ? 0 : v->memory) + v->static_mb);
    stages_set(of, "ha", v->ha);
    (void)json_object_set_new(of, "cluster", json_string(CLUSTER(m->c, v->cluster)->id));
    if (v->paused)
        (void)json_object_set_new(of, "paused", json_true());
    if (v->engine)
        (void)json_object_set_new(of, "engine", json_true());
    if (v->affinity && strcmp(v->affinity, "pinned") == 0)
        (void)json_object_set_new(of, "pinned", json_true());
    if (v->dedicated && v->type && strcmp(v->type, "high_performance") == 0)
        (void)json_object_set_new(of, "high performance alone", json_true());
    if (v->pages > 0)
        stages_set(of, arena_printf(m->c->a, "pages %.0f", v->hugepages_kib), v->pages);
    if (!home)
        return;
    (void)json_object_set_new(of, "home", json_string(home->id));
    (void)json_object_set_new(of, "home name", json_string(home->name));
    if (home->address)
        (void)json_object_set_new(of, "home address", json_string(home->address));
}

void stages_set_facts(struct compiler *m)
{
    for (uint32_t i = 0; i < m->c->hosts.n; i++)
        set_host(m, i);
    for (uint32_t i = 0; i < m->c->vms.n; i++)
        set_vm(m, i);
}

void stages_add_counts(struct compiler *m)
{
    struct arena *a = m->c->a;

    stages_add(m, "memory need", "count", json_string("$vm.hints.need"));
    stages_add(m, "memory overhead", "count", json_string("$vm.hints.overhead"));
    stages_add(m, "cpu load", "count", json_string("$vm.hints.load"));
    stages_add(m, "exclusive cpus", "count", json_string("$vm.hints.exclusive"));
    stages_add(m, "vcpus", "count", json_string("$vm.hints.vcpus"));
    stages_add(m, "guests", "count", json_integer(1));
    stages_add(m, "ha vms", "count", json_string("$vm.hints.ha"));
    for (const double *size = page_sizes(m->c); !isnan(*size); size++)
        stages_add(m, arena_printf(a, "pages %.0f", *size), "count",
                   stages_expression(m, "['default', '$vm.hints.pages %.0f', 0]", *size));
    affinity_add_counts(m);
}

/* ---- filters ---- */

#define NEEDS_PAGES "['default', '$vm.hints.pages %.0f', 0]"
#define FREE_PAGES "['-', '$host.attributes.pages %.0f', '$host.used.pages %.0f']"

static json_t *filter_cpu(const struct compiler *m)
{
    return stages_expression(
        m, "['>=', ['-', '$host.attributes.cores base', '$host.used.exclusive cpus'], ['+', "
           "'$vm.hints.exclusive', ['max', '$host.attributes.largest vm', '$vm.hints.shared cpus']]]");
}

static json_t *filter_overloaded(const struct compiler *m)
{
    return stages_expression(
        m,
        "['or', ['<=', '$host.attributes.load', %.17g], ['and', ['given', "
        "'$host.attributes.load'], ['not', ['>=', '$host.attributes.threshold seconds', %.17g]]]]",
        policies_number(m->cluster, "HighUtilization", 90),
        S_OF_MINUTE * policies_number(m->cluster, "CpuOverCommitDurationMinutes", 2));
}

/* Pages that are missing are taken from memory. */
static json_t *filter_memory(const struct compiler *m)
{
    CLEANUP(strbuf_releasep) struct strbuf missing = STRBUF_EMPTY;

    strbuf_puts(&missing, "['+', 0, 0");
    for (const double *size = page_sizes(m->c); !isnan(*size); size++)
        strbuf_printf(&missing, ", ['*', %.17g, ['max', 0, ['-', " NEEDS_PAGES ", " FREE_PAGES "]]]",
                      MB_OF_KIB(*size), *size, *size, *size);
    strbuf_puts(&missing, "]");
    const char *left = arena_printf(
        m->c->a, "['-', ['-', '$host.attributes.memory base', '$host.used.memory overhead'], %s]",
        missing.text);

    return stages_expression(m,
                             "['or', ['default', '$vm.hints.paused', false], %s['and', ['>=', %s, 0], ['<=', "
                             "'$vm.hints.physical', ['+', %s, '$host.attributes.swap free']], ['<=', "
                             "'$vm.hints.need', " SCHEDULABLE "]]]",
                             m->runs ? IS_HERE ", " : "", left, left);
}

static json_t *filter_swap(const struct compiler *m)
{
    if (!m->c->settings.swap_check)
        return NULL;
    return stages_expression(m,
                             "['or', ['default', '$vm.hints.paused', false], ['not', ['given', "
                             "'$host.attributes.swap used']], ['<=', '$host.attributes.swap used', %.17g]]",
                             policies_number(m->cluster, "MaximumAllowedSwapUsage", 0));
}

static json_t *filter_migration(const struct compiler *m)
{
    if (!m->runs)
        return NULL;
    return stages_expression(
        m, "['or', " IS_HERE ", ['and', ['!=', '$host.attributes.name', '$vm.hints.home name'], "
           "['not', ['=', '$host.attributes.address', '$vm.hints.home address']], ['not', "
           "'$host.attributes.loopback']]]");
}

static json_t *filter_pages(const struct compiler *m)
{
    CLEANUP(strbuf_releasep) struct strbuf all = STRBUF_EMPTY;
    const double *size = page_sizes(m->c);

    if (isnan(*size))
        return NULL;
    strbuf_puts(&all, "['and', true");
    for (; !isnan(*size); size++)
        strbuf_printf(&all, ", ['or', %s['=', " NEEDS_PAGES ", 0], ['<=', " NEEDS_PAGES ", " FREE_PAGES "]]",
                      m->runs ? IS_HERE ", " : "", *size, *size, *size, *size);
    strbuf_puts(&all, "]");
    return stages_expression(m, "%s", all.text);
}

static json_t *filter_spares(const struct compiler *m)
{
    uint32_t cluster = (uint32_t)(m->cluster - CLUSTER(m->c, 0));
    const struct vm *engine = engine_of(m->c, cluster);
    double wanted = policies_number(m->cluster, "HeSparesCount", 0);
    uint32_t spares = 0;

    for (uint32_t i = 0; i < m->c->hosts.n; i++)
        spares += HOST(m->c, i)->cluster == cluster && is_spare(m->c, i);
    if (wanted == 0 || !engine || spares > wanted)
        return NULL;
    return stages_expression(
        m,
        "['or', ['default', '$vm.hints.engine', false], ['=', '$host.attributes.spare', 0], ['>', "
        "" SCHEDULABLE ", ['+', '$vm.hints.memory', '$vm.hints.overhead', %.17g]]]",
        engine->memory + engine->static_mb);
}

typedef json_t *filter_fn(const struct compiler *m);

static const struct {
    const char *name;
    filter_fn *make;
} filters[] = {
    {"CPU", filter_cpu},
    {"CPUOverloaded", filter_overloaded},
    {"Memory", filter_memory},
    {"Swap", filter_swap},
    {"Migration", filter_migration},
    {"HugePages", filter_pages},
    {"HostedEngineSpares", filter_spares},
    {"VmAffinityGroups", affinity_filter},
};

static json_t *make_filter(struct compiler *m, const char *name)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (strcmp(filters[i].name, name) == 0)
            return filters[i].make(m);
    return classes_expression(m, name);
}

/* The policy's order: the first, those without an order, the last. */
static void add_policy(struct compiler *m, const struct policy *p)
{
    const struct unit_use *uses = p->filters.items;

    for (int position = -1; position <= 1; position++)
        for (uint32_t i = 0; i < p->filters.n; i++) {
            const struct unit *u = policies_unit(uses[i].id, UNIT_FILTER);
            if (u && (int)uses[i].position == position)
                stages_add(m, u->name, "filter", make_filter(m, u->name));
        }
}

void stages_add_filters(struct compiler *m)
{
    static const char *const mandatory[] = {"PinToHost", "CPUTopology",           "CpuPinning",
                                            "CPU-Level", "Compatibility-Version", "HostDevice",
                                            "MDevice",   "VM leases ready"};
    const struct policy *p = m->cluster->policy;
    const struct unit_use *uses = p->filters.items;

    if (m->c->clusters.n > 1)
        stages_add(m, "cluster", "filter",
                   stages_expression(m, "['=', '$host.attributes.cluster', '$vm.hints.cluster']"));
    for (size_t i = 0; i < sizeof mandatory / sizeof *mandatory; i++)
        stages_add(m, mandatory[i], "filter", classes_expression(m, mandatory[i]));
    add_policy(m, p);
    for (uint32_t i = 0; i < p->filters.n; i++) {
        const struct external_unit *own = policies_external(m->c, uses[i].id);
        if (own && (own->enabled || !own->enabled_given))
            (void)json_array_append_new(m->stages,
                                        json_pack("{s: s, s: s, s: s, s: s}", "name", own->name, "external",
                                                  own->name, "filter", "$answer", "on_failure", "ignore"));
    }
}
