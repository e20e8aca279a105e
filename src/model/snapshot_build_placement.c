/* snapshot_build_placement.c: the groups of an inventory, sorted by id; its pipelines, sorted by name, and
 * all their stages in a row. */
#include "model/snapshot_build.h"

#include "base/order.h"
#include "model/find.h"
#include "model/inventory_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
    const struct seen_group *const *x = a;
    const struct seen_group *const *y = b;
    int order = strcmp((*x)->is.id, (*y)->is.id);

    return order != 0 ? order : (*x > *y) - (*x < *y);
}

int snapshot_build_sort_labels(const struct place *at, const char *field, struct labels *l, struct arena *a)
{
    const void *items = l->items;
    int r = inventory_check_sort(at, field, l->items, l->n, sizeof *l->items, a, &items);

    l->items = items;
    return r;
}

static int resolve_hosts(const struct snapshot *s, const struct place *at, struct ids ids, struct arena *a,
                         struct span *ret)
{
    uint32_t *items = arena_array(a, uint32_t, ids.n);
    char field[64];

    for (uint32_t i = 0; i < ids.n; i++) {
        items[i] = snapshot_find_host(s, ids.items[i]);
        if (items[i] != IX_NONE)
            continue;
        (void)snprintf(field, sizeof field, "hosts/%u", i);
        return inventory_check_refuse(
            at, field, "no object of /hosts has the id \"%s\", expected one that is there", ids.items[i]);
    }
    order_sort(items, ids.n, sizeof *items, order_indexes);
    for (uint32_t i = 1; i < ids.n; i++)
        if (items[i - 1] == items[i])
            return inventory_check_refuse(at, "hosts", "\"%s\" is listed twice, expected once",
                                          s->hosts[items[i]].is.id);
    *ret = (struct span){.items = items, .n = ids.n};
    return 0;
}

int snapshot_build_groups(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err)
{
    const struct seen_group **sorted = arena_array(a, const struct seen_group *, inv->n_groups);

    if (inv->n_groups == 0)
        return 0;
    for (size_t i = 0; i < inv->n_groups; i++)
        sorted[i] = &inv->groups[i];
    qsort(sorted, inv->n_groups, sizeof(*sorted), by_id);
    s->n_groups = (uint32_t)inv->n_groups;
    s->groups = arena_array(a, struct host_group, s->n_groups);
    for (uint32_t i = 0; i < s->n_groups; i++) {
        const struct place at = {.kind = "groups", .ix = (size_t)(sorted[i] - inv->groups), .err = err};
        struct host_group *g = &s->groups[i];
        int r;

        if (i > 0 && strcmp(sorted[i - 1]->is.id, sorted[i]->is.id) == 0)
            return inventory_check_refuse(&at, "id",
                                          "\"%s\" is the id of /groups/%zu already, expected another",
                                          sorted[i]->is.id, (size_t)(sorted[i - 1] - inv->groups));
        g->is = sorted[i]->is;
        if (!g->is.name)
            g->is.name = g->is.id;
        if ((r = resolve_hosts(s, &at, sorted[i]->hosts, a, &g->hosts)) < 0 ||
            (r = snapshot_build_sort_labels(&at, "meta", &g->is.meta, a)) < 0)
            return r;
    }
    return 0;
}

int snapshot_build_find_pipeline(const struct snapshot *s, const struct place *at, const char *name,
                                 uint32_t *ret)
{
    *ret = name ? find_id(s->pipelines, s->n_pipelines, sizeof *s->pipelines, name) : IX_NONE;
    return name && *ret == IX_NONE
               ? inventory_check_refuse(at, "pipeline",
                                        "no pipeline has the name \"%s\", expected one that is there", name)
               : 0;
}

int snapshot_build_pipelines(const struct inventory *inv, struct arena *a, struct snapshot *s,
                             struct err *err)
{
    struct seen_pipeline *sorted = arena_copy(a, inv->pipelines, inv->n_pipelines, sizeof *sorted);
    uint32_t n_stages = 0;

    if (inv->n_pipelines == 0)
        return 0;
    qsort(sorted, inv->n_pipelines, sizeof *sorted, order_texts);
    for (size_t i = 0; i < inv->n_pipelines; i++) {
        if (i > 0 && strcmp(sorted[i - 1].name, sorted[i].name) == 0)
            return err_set(err, -EINVAL, "/pipelines: \"%s\" is the name of two, expected it once",
                           sorted[i].name);
        n_stages += sorted[i].stages.n;
    }
    s->n_pipelines = (uint32_t)inv->n_pipelines;
    s->pipelines = arena_array(a, struct pipeline, s->n_pipelines);
    s->stages = arena_array(a, struct stage, n_stages);
    for (uint32_t i = 0; i < s->n_pipelines; i++) {
        const struct stage_facts *stages = sorted[i].stages.items;

        s->pipelines[i] = (struct pipeline){sorted[i].name,   s->n_stages,       sorted[i].stages.n,
                                            sorted[i].origin, sorted[i].balance, sorted[i].of_ovirt};
        for (uint32_t k = 0; k < sorted[i].stages.n; k++) {
            struct stage *stage = &s->stages[s->n_stages++];

            *stage = (struct stage){.is = stages[k], .pipeline = i};
            stage->is.id = arena_printf(a, "%s/%s", sorted[i].name, stages[k].name);
            if (stage->is.applies == 0)
                stage->is.applies =
                    stage_kind_of(&stage->is) == STAGE_CUT || stage_kind_of(&stage->is) == STAGE_PICK
                        ? 1u << FIT_PLACE
                        : 1u << FIT_PLACE | 1u << FIT_MOVE;
        }
    }
    return 0;
}
