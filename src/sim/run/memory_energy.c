#include "sim/run/memory_energy.h"

#include "base/xalloc.h"
#include "engine/knowledge/energy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void row_free(void *value)
{
    struct energy_record *r = value;

    if (!r)
        return;
    free((void *)(uintptr_t)r->host);
    free(r);
}

void memory_energy_release(struct memory_energy *m)
{
    idmap_release(&m->rows, row_free);
}

void memory_energy_put(struct memory_energy *m, const struct energy_record *r)
{
    size_t n = strlen(r->host) + 32;
    char *key = xcalloc(n, 1);
    struct energy_record *copy = xcalloc(1, sizeof *copy);

    (void)snprintf(key, n, "%" PRId64 "\n%s", r->time, r->host);
    void **slot = idmap_slot(&m->rows, key);

    *copy = *r;
    copy->host = xstrdup(r->host);
    row_free(*slot);
    *slot = copy;
    free(key);
}

static bool is_cluster(const struct energy_record *r)
{
    return *r->host == '\0';
}

struct pruning {
    struct energy_record *gone;
    instant_s before;
};

static bool keep(const char *key, void *value, void *ctx)
{
    const struct pruning *p = ctx;
    const struct energy_record *r = value;

    (void)key;
    if (r->time + r->length_s > p->before)
        return true;
    if (is_cluster(r))
        energy_add(p->gone, r);
    row_free(value);
    return false;
}

void memory_energy_prune(struct memory_energy *m, instant_s before)
{
    struct pruning p = {.gone = &m->gone, .before = before};

    idmap_keep(&m->rows, keep, &p);
}

static int by_time_then_host(const void *x, const void *y)
{
    const struct energy_record *a = x;
    const struct energy_record *b = y;

    return a->time != b->time ? (a->time > b->time) - (a->time < b->time) : strcmp(a->host, b->host);
}

void memory_energy_load(const struct memory_energy *m, instant_s since, struct arena *a, struct stored *ret)
{
    ret->energy = arena_array(a, struct energy_record, m->rows.n);
    for (size_t i = 0; i < m->rows.cap; i++) {
        const struct energy_record *r = m->rows.entries[i].value;

        if (!r || r->time < since)
            continue;
        ret->energy[ret->n_energy] = *r;
        ret->energy[ret->n_energy++].host = arena_strdup(a, r->host);
    }
    if (ret->n_energy > 0)
        qsort(ret->energy, ret->n_energy, sizeof *ret->energy, by_time_then_host);
}

struct energy_record memory_energy_sum(const struct memory_energy *m)
{
    struct energy_record sum = m->gone;

    for (size_t i = 0; i < m->rows.cap; i++) {
        const struct energy_record *r = m->rows.entries[i].value;

        if (r && is_cluster(r))
            energy_add(&sum, r);
    }
    return sum;
}
