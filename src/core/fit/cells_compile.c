/* cells_compile.c: which device pools may serve which requests, by kind; where the rows of hosts begin. */
#include "core/fit/cells.h"

#include "core/fit/rows.h"

#include <string.h>

/* Values that make two pools, or two requests, alike. */
struct key {
    struct value *items;
    uint32_t n;
    size_t cap;
};

static void put(struct key *k, struct value v, struct arena *a)
{
    k->items = arena_grow(a, k->items, k->n, &k->cap, sizeof *k->items);
    k->items[k->n++] = v;
}

static void put_labels(struct key *k, const struct labels *l, struct arena *a)
{
    put(k, (struct value){.type = VALUE_NUMBER, .number = l->n}, a);
    for (uint32_t i = 0; i < l->n; i++) {
        put(k, (struct value){.type = VALUE_TEXT, .text = l->items[i].key}, a);
        put(k, (struct value){.type = VALUE_TEXT, .text = l->items[i].value}, a);
    }
}

/* The value of a property; NULL: none. */
static const char *property(const struct labels *l, const char *key)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i].key, key) == 0)
            return l->items[i].value;
    return NULL;
}

static bool has_value(const struct labels *l, const char *key, const char *value)
{
    const char *is = property(l, key);

    return is && value && strcmp(is, value) == 0;
}

static bool matches(const struct device_pool *pool, const struct device_request *q)
{
    const struct device_spec *specs = q->any_of.items;

    for (uint32_t i = 0; i < q->any_of.n; i++) {
        bool all = true;
        for (uint32_t k = 0; k < specs[i].properties.n; k++)
            all = all && has_value(&pool->properties, specs[i].properties.items[k].key,
                                   specs[i].properties.items[k].value);
        if (all)
            return true;
    }
    return false;
}

/* Whether the request names all that must be asked for. */
static bool is_open(const struct device_pool *pool, const struct device_request *q)
{
    const struct device_spec *specs = q->any_of.items;

    for (uint32_t i = 0; i < pool->on_request.n; i++) {
        const char *key = pool->on_request.items[i];
        bool named = false;
        for (uint32_t k = 0; k < q->any_of.n; k++)
            named = named || has_value(&specs[k].properties, key, property(&pool->properties, key));
        if (!named)
            return false;
    }
    return true;
}

/* One of each. */
struct kinds {
    struct fit_rows rows;
    const void **first;
    size_t cap;
    struct key key; /* scratch */
};

static uint32_t number(struct kinds *k, const void *of, struct arena *a)
{
    uint32_t kind = fit_rows_number(&k->rows, k->key.items, k->key.n, a);

    k->key.n = 0;
    if (kind + 1 == k->rows.n) {
        k->first = arena_grow(a, k->first, kind, &k->cap, sizeof *k->first);
        k->first[kind] = of;
    }
    return kind;
}

static void number_pools(struct fit_cells *c, struct kinds *kinds, struct arena *a)
{
    const struct snapshot *s = c->snap;
    uint32_t n = 0;

    c->pool_from = arena_array(a, uint32_t, (size_t)s->n_hosts + 1);
    for (uint32_t h = 0; h < s->n_hosts; h++)
        c->pool_from[h + 1] = c->pool_from[h] + s->hosts[h].is.device_pools.n;
    c->kind_of = arena_array(a, uint32_t, c->pool_from[s->n_hosts]);
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        const struct device_pool *pools = s->hosts[h].is.device_pools.items;
        for (uint32_t i = 0; i < s->hosts[h].is.device_pools.n; i++) {
            put_labels(&kinds->key, &pools[i].properties, a);
            put(&kinds->key, (struct value){.type = VALUE_TEXTS, .texts = pools[i].on_request}, a);
            c->kind_of[n++] = number(kinds, &pools[i], a);
        }
    }
    c->n_kinds = kinds->rows.n;
}

static void number_requests(struct fit_cells *c, struct kinds *specs, struct arena *a)
{
    const struct snapshot *s = c->snap;
    uint32_t n = 0;

    c->request_from = arena_array(a, uint32_t, (size_t)s->n_vms + 1);
    for (uint32_t v = 0; v < s->n_vms; v++)
        c->request_from[v + 1] = c->request_from[v] + s->vms[v].is.device_requests.n;
    c->spec_of = arena_array(a, uint32_t, c->request_from[s->n_vms]);
    for (uint32_t v = 0; v < s->n_vms; v++) {
        const struct device_request *requests = s->vms[v].is.device_requests.items;
        for (uint32_t i = 0; i < s->vms[v].is.device_requests.n; i++) {
            const struct device_spec *of = requests[i].any_of.items;
            for (uint32_t k = 0; k < requests[i].any_of.n; k++)
                put_labels(&specs->key, &of[k].properties, a);
            c->spec_of[n++] = number(specs, &requests[i], a);
        }
    }
}

void fit_cells_compile(const struct snapshot *snap, struct arena *a, struct fit_cells *ret)
{
    struct fit_cells c = {.snap = snap};
    struct kinds kinds = {0}, specs = {0};

    *ret = c;
    if (!snap->needs_cells)
        return;
    number_pools(&c, &kinds, a);
    number_requests(&c, &specs, a);
    c.match = arena_array(a, uint8_t, (size_t)specs.rows.n * c.n_kinds);
    for (uint32_t i = 0; i < specs.rows.n; i++)
        for (uint32_t k = 0; k < c.n_kinds; k++)
            c.match[(size_t)i * c.n_kinds + k] =
                (uint8_t)((matches(kinds.first[k], specs.first[i]) ? CELLS_MATCHES : 0) |
                          (is_open(kinds.first[k], specs.first[i]) ? CELLS_OPEN : 0));
    c.row_from = arena_array(a, uint32_t, (size_t)snap->n_hosts + 1);
    c.pages = arena_array(a, uint8_t, snap->n_hosts);
    for (uint32_t h = 0; h < snap->n_hosts; h++) {
        const struct host_facts *f = &snap->hosts[h].is;
        const struct numa_cell *cells = f->numa.items;
        for (uint32_t i = 0; i < f->numa.n; i++)
            c.pages[h] = cells[i].pages.n > c.pages[h] ? (uint8_t)cells[i].pages.n : c.pages[h];
        c.row_from[h + 1] = c.row_from[h] + f->numa.n * (CELLS_PAGES + c.pages[h]) + f->device_pools.n;
    }
    *ret = c;
}

uint32_t fit_cells_takes_max(const struct fit_cells *c, uint32_t vm)
{
    const struct vm_facts *v = &c->snap->vms[vm].is;
    const struct device_request *requests = v->device_requests.items;
    uint32_t n = v->numa.n * (CELLS_PAGES + 1);

    for (uint32_t i = 0; i < v->device_requests.n; i++)
        n += requests[i].count < DEVICE_POOLS_MAX ? requests[i].count : DEVICE_POOLS_MAX;
    return n;
}
