/* stages.c: the facts of hosts and VMs as attributes and hints, what is counted, and the stages of a policy.
 *
 * What VMs take of a host is a count. An attribute "... base" is what the host reports, as it would be
 * without the VMs that run there; so an expression such as ['-', base, used] holds at each moment of a plan.
 */
#include "base/cleanup.h"
#include "dialect/ovirt/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- huge pages ---- */

/* The sizes that VMs ask for, each once. */
static void find_page_sizes(struct compiler *m)
{
    const struct cloud *c = m->c;
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
    m->sizes = ret;
    m->n_sizes = n;
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

    return engine && strcmp(h->status, "up") == 0 && h->he_configured && h->he_score > 0 &&
           !h->he_maintenance && engine->host != ix &&
           h->max_scheduling - h->coming.takes > engine->memory + engine->static_mb;
}

static void set_memory(const struct compiler *m, uint32_t ix)
{
    const struct host *h = HOST(m->c, ix);
    json_t *of = m->attributes[ix];
    double pending = isnan(h->pending_memory) ? 0 : h->pending_memory;
    double swap = trunc((h->swap_total - h->swap_free - h->mem_free) * 100 / h->memory);

    stages_set(of, "sched base", fmax(h->max_scheduling - pending, 0) + h->taken.takes);
    if (isnan(h->max_scheduling))
        (void)json_object_del(of, "sched base");
    stages_set(of, "memory base", h->mem_free + h->taken.overhead);
    stages_set(of, "swap free", isnan(h->swap_free) ? 0 : h->swap_free);
    stages_set(of, "swap used", swap);
    for (uint32_t k = 0; k < m->n_sizes; k++) {
        double size = m->sizes[k];
        double sum = pages_on(h, size);

        for (uint32_t i = 0; i < m->c->vms.n; i++)
            sum += VM(m->c, i)->host == ix && VM(m->c, i)->hugepages_kib == size ? VM(m->c, i)->pages : 0;
        stages_set(of, arena_printf(m->c->a, "pages %.0f", size), sum);
    }
}

/* The first host that has the same system. */
static uint32_t system_of(const struct cloud *c, const struct host *h)
{
    uint32_t i = 0;

    while (!HOST(c, i)->os_type || strcmp(HOST(c, i)->os_type, h->os_type) != 0)
        i++;
    return i;
}

static void set_ids(json_t *of, const char *name, const struct ids *ids)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < ids->n; i++)
        (void)json_array_append_new(list, json_string(ids->items[i]));
    (void)json_object_set_new(of, name, list);
}

static void set_text(json_t *of, const char *name, const char *text)
{
    if (text)
        (void)json_object_set_new(of, name, json_string(text));
}

static void set_true(json_t *of, const char *name, bool v)
{
    if (v)
        (void)json_object_set_new(of, name, json_true());
}

/* For the engine's words (words.c): the filter itself is a predicate. */
static void set_networks(const struct compiler *m, const struct vm *v, json_t *of)
{
    const char *display = CLUSTER(m->c, v->cluster)->display_network;
    const struct nic *nics = v->nics.items;
    const char **names = arena_array(m->c->a, const char *, v->nics.n);
    struct ids plugged = {names, 0};

    for (uint32_t i = 0; i < v->nics.n; i++)
        if (nics[i].network && !nics[i].unplugged && !ovirt_ids_have(&plugged, nics[i].network))
            names[plugged.n++] = nics[i].network;
    set_ids(of, "networks", &plugged);
    if (display && !ovirt_ids_have(&plugged, display))
        set_ids(of, "display", &(struct ids){&display, 1});
}

static void set_host(const struct compiler *m, uint32_t ix)
{
    const struct cloud *c = m->c;
    const struct host *h = HOST(c, ix);
    json_t *of = m->attributes[ix];

    double exclusive = h->exclusive - h->taken.exclusive;

    stages_set(of, "cores base", h->cpus - exclusive);
    stages_set(of, "shared base", h->per_cpu ? h->cpu_units.n - exclusive : h->cpus);
    stages_set(of, "per cpu", h->per_cpu);
    stages_set(of, "ha base", -h->coming.ha);
    stages_set(of, "plain base", h->per_cpu ? h->cpu_units.n - exclusive : h->plain_cpus);
    stages_set(of, "load base", h->load - h->taken.load);
    stages_set(of, "plain load base", h->plain_load - h->taken.load);
    stages_set(of, "load", h->eff);
    stages_set(of, "threshold minutes", h->threshold_s / S_OF_MINUTE);
    stages_set(of, "largest vm", h->largest_vm);
    stages_set(of, "guests base", isnan(h->active_vms) ? 0 : h->active_vms - h->taken.vms);
    stages_set(of, "spm", h->spm && strcmp(h->spm, "spm") == 0);
    stages_set(of, "score", h->he_score);
    stages_set(of, "sockets", h->sockets);
    stages_set(of, "all cores", h->sockets * h->cores);
    stages_set(of, "position", ix);
    if (h->os_type && !isnan(h->os_major)) {
        stages_set(of, "system", system_of(c, h));
        stages_set(of, "major", h->os_major);
    }
    stages_set(of, "spare", is_spare(c, ix));
    stages_set(of, "spares", CLUSTER(c, h->cluster)->spares);
    stages_set(of, "tsc", h->tsc_hz);
    set_true(of, "tsc scaling", h->tsc_scaling);
    set_text(of, "cluster", CLUSTER(c, h->cluster)->id);
    set_text(of, "name", h->name);
    set_true(of, "loopback", is_loopback(h->address));
    set_true(of, "in motion", h->in_motion);
    set_text(of, "address", h->address);
    set_ids(of, "machine", &h->machines);
    set_ids(of, "hook", &h->hooks);
    set_ids(of, "version", &h->versions);
    if (h->leases_given)
        set_ids(of, "lease", &h->leases);
    set_ids(of, "networks", &h->networks);
    set_ids(of, "addressed networks", &h->addressed_networks);
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
    stages_set(of, "takes", v->takes_mb);
    stages_set(of, "overhead", v->static_mb);
    stages_set(of, "physical", (v->pages > 0 ? 0 : v->memory) + v->static_mb);
    stages_set(of, "ha", v->ha && v->runs);
    set_text(of, "cluster", CLUSTER(m->c, v->cluster)->id);
    set_true(of, "paused", v->paused);
    if (strcmp(v->status, "up") != 0 || (v->affinity && strcmp(v->affinity, "migratable") != 0))
        (void)json_object_set_new(of, "migratable", json_false());
    set_true(of, "engine", v->engine);
    set_true(of, "pinned", v->affinity && strcmp(v->affinity, "pinned") == 0);
    set_true(of, "sized", v->dedicated || (v->type && strcmp(v->type, "high_performance") == 0));
    set_true(of, "highly available", v->ha);
    set_true(of, "reserved", v->ha && CLUSTER(m->c, v->cluster)->ha_reservation);
    set_true(of, "pages", v->pages > 0);
    set_text(of, "machine", v->machine);
    set_text(of, "hook", v->sap_agent ? "50_vhostmd" : NULL);
    set_text(of, "lease", v->lease_domain);
    if (!isnan(v->version_major))
        set_text(of, "version",
                 arena_printf(m->c->a, "%.0f.%.0f", v->version_major,
                              isnan(v->version_minor) ? 0 : v->version_minor));
    if (v->runs && v->tsc_hz > 0)
        stages_set(of, "tsc", v->tsc_hz);
    if (v->preferred.n > 0)
        set_ids(of, "preferred", &v->preferred);
    set_networks(m, v, of);
    const struct vm *engine = engine_of(m->c, v->cluster);

    if (engine)
        stages_set(of, "engine of the cluster", engine->memory + engine->static_mb);
    if (v->pages > 0)
        stages_set(of, arena_printf(m->c->a, "pages %.0f", v->hugepages_kib), v->pages);
    if (!home)
        return;
    set_text(of, "home", home->id);
    set_text(of, "home name", home->name);
    set_text(of, "home address", home->address);
    stages_set(of, "home score", home->he_score);
    if (home->os_type && !isnan(home->os_major)) {
        stages_set(of, "home system", system_of(m->c, home));
        stages_set(of, "home major", home->os_major);
    }
}

void stages_set_facts(struct compiler *m)
{
    find_page_sizes(m);
    for (uint32_t i = 0; i < m->c->hosts.n; i++)
        CLUSTER(m->c, HOST(m->c, i)->cluster)->spares += is_spare(m->c, i);
    for (uint32_t i = 0; i < m->c->hosts.n; i++)
        set_host(m, i);
    for (uint32_t i = 0; i < m->c->vms.n; i++)
        set_vm(m, i);
}

static void add_counts(struct compiler *m)
{
    static const struct {
        const char *fact, *text;
    } counts[] = {{"#memory need", "'%takes'"}, {"#memory overhead", "'%overhead'"},
                  {"#cpu load", "'%load'"},     {"#exclusive cpus", "'%exclusive'"},
                  {"#vcpus", "'%vcpus'"},       {"#guests", "1"},
                  {"#ha vms", "'%ha'"}};
    struct arena *a = m->c->a;

    for (size_t i = 0; i < COUNT_OF(counts); i++)
        if (!m->of_source || !sources_fact(counts[i].fact, strlen(counts[i].fact)))
            stages_add(m, counts[i].fact + 1, "count", units_text(m, counts[i].text));
    for (uint32_t k = 0; k < m->n_sizes; k++)
        stages_add(m, arena_printf(a, "pages %.0f", m->sizes[k]), "count",
                   stages_expression(m, "['default', '$vm.hints.pages %.0f', 0]", m->sizes[k]));
    affinity_add_counts(m);
}

/* ---- filters ---- */

static void add_external(struct compiler *m, const struct unit_use *use, bool filters)
{
    const struct external_unit *own = policies_external(m->c, use->id);
    bool ranks = policies_ranks(m->cluster->policy);
    json_t *stage = own && (own->enabled || !own->enabled_given)
                        ? json_pack("{s: s, s: s}", "name", own->name, "external", own->name)
                        : NULL;

    if (stage && filters)
        (void)json_object_update_new(stage,
                                     json_pack("{s: s, s: s}", "filter", "$answer", "on_failure", "ignore"));
    else if (stage)
        (void)json_object_update_new(
            stage, json_pack("{s: o, s: s, s: f}", "score",
                             stages_expression(m, "['-', 0, ['default', '$answer', 0]]"), "normalise",
                             ranks ? "rank_high" : "none", "multiplier", use->factor));
    if (stage)
        (void)json_array_append_new(m->stages, stage);
}

/* The policy's order: the first, those without an order, the last; then those of the user's own. */
static void add_filters(struct compiler *m)
{
    const struct objects *filters = &m->cluster->policy->filters;
    const struct unit_use *uses = filters->items;
    bool ranks;

    if (m->c->clusters.n > 1)
        stages_add(m, "cluster", "filter",
                   stages_expression(m, "['=', '$host.attributes.cluster', '$vm.hints.cluster']"));
    for (uint32_t i = 0; units_of_all(i); i++)
        if (units_of_all(i)->type == UNIT_MANDATORY)
            stages_add(m, units_of_all(i)->name, "filter", units_expression(m, units_of_all(i), &ranks));
    for (int position = -1; position <= 1; position++)
        for (uint32_t i = 0; i < filters->n; i++) {
            const struct unit *u = units_find(uses[i].id, UNIT_FILTER);

            if (!u || (int)uses[i].position != position ||
                (!m->c->settings.swap_check && strcmp(u->name, "Swap") == 0))
                continue;
            stages_add(m, u->name, "filter", units_expression(m, u, &ranks));
        }
    for (uint32_t i = 0; i < filters->n; i++)
        add_external(m, &uses[i], true);
}

/* ---- weights ---- */

/* Numbers of which the least is best, as scores. With the rank selector each unit gives a host as many points
 * as other hosts have no lower weight, times its factor; with the basic one the weights times the factors are
 * added up. A weight that is a rank is one more than the number of hosts that have less of it. */
static void add_weight(struct compiler *m, const struct unit *u, double factor)
{
    bool by_rank;
    bool ranks = policies_ranks(m->cluster->policy);
    json_t *x = units_expression(m, u, &by_rank);
    const char *name =
        units_named(u->name, UNIT_FILTER) ? arena_printf(m->c->a, "%s weight", u->name) : u->name;
    bool negative = ranks || !by_rank;

    if (!x)
        return;
    (void)json_array_append_new(m->stages,
                                json_pack("{s: s, s: o, s: s, s: f}", "name", name, "score",
                                          negative ? json_pack("[s, i, o]", "-", 0, x) : x, "normalise",
                                          ranks     ? "rank_high"
                                          : by_rank ? "rank"
                                                    : "none",
                                          "multiplier", negative ? factor : -factor));
}

/* The order of the list comes last: all other scores are whole numbers. */
static void add_weights(struct compiler *m)
{
    const struct objects *weights = &m->cluster->policy->weights;
    const struct unit_use *uses = weights->items;

    for (uint32_t i = 0; i < weights->n; i++) {
        const struct unit *u = units_find(uses[i].id, UNIT_WEIGHT);

        if (u)
            add_weight(m, u, uses[i].factor);
        else
            add_external(m, &uses[i], false);
    }
    if (m->of_source)
        return;
    json_t *order =
        stages_expression(m, "['/', ['-', 0, '$host.attributes.position'], %u]", m->c->hosts.n + 1);

    (void)json_array_append_new(m->stages,
                                json_pack("{s: s, s: o, s: s, s: [s]}", "name", "order of the list", "score",
                                          order, "normalise", "none", "applies", "place"));
}

void stages_add_all(struct compiler *m)
{
    const struct objects *balances = &m->cluster->policy->balances;
    const struct unit *balance =
        m->runs && balances->n > 0 ? units_find(((const struct unit_use *)balances->items)->id, UNIT_BALANCE)
                                   : NULL;

    add_counts(m);
    add_filters(m);
    add_weights(m);
    if (balance)
        balances_add(m, balance);
}
