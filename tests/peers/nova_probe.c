/* Says which hosts Nova's filters leave to a request, for test_nova_oracle.py: each line of standard input is
 * a cloud as src/dialect/nova reads it, with a request, or one to move a server, or, as "moved", the id of a
 * server. An answer is a line with a "1" or "0" for each hypervisor, in their order in the cloud, or "!" and
 * what is wrong. "stages" of a cloud: only these stages are asked.
 *
 * nova_probe weights: the weight of each hypervisor as a JSON list, null for those on which the request
 * cannot be placed, for test_nova_weighers.py. */
#include "core/fit/fit.h"
#include "core/pass.h"
#include "core/place/options.h"
#include "core/place/starting.h"
#include "dialect/nova/nova.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct question {
    struct snapshot s;
    const char *vm;
    const json_t *stages; /* NULL: all */
};

static int build(json_t *cloud, struct arena *a, struct question *ret, struct err *err)
{
    json_t *made = NULL;
    struct inventory inv;
    const char *moved = json_string_value(json_object_get(cloud, "moved"));
    json_t *stages = json_incref(json_object_get(cloud, "stages"));

    struct nova_move move;
    const char *named = moved ? moved : nova_find_move(cloud, &move) ? move.server : NULL;

    ret->vm = named ? arena_strdup(a, named) : NOVA_REQUEST_ID;
    (void)json_object_del(cloud, "moved"); /* both are of this program, not of the cloud */
    (void)json_object_del(cloud, "stages");
    int e = nova_compile(cloud, a, &made, err);

    if (stages)
        (void)json_object_set_new(cloud, "stages", stages);
    ret->stages = stages;
    if (e < 0)
        return e;
    char *text = json_dumps(made, JSON_COMPACT);

    json_decref(made);
    if ((e = snapshot_read_inventory(text, strlen(text), a, &inv, NULL, err)) == 0)
        e = snapshot_build(&inv, a, &ret->s, err);
    free(text);
    return e;
}

static bool asks_for(const struct question *q, uint32_t stage)
{
    size_t i;
    const json_t *name;

    json_array_foreach(q->stages, i, name)
    {
        if (strcmp(json_string_value(name), q->s.stages[stage].is.name) == 0)
            return true;
    }
    return !q->stages;
}

static int64_t takes_of(const struct fit *fit, uint32_t vm, uint32_t counter)
{
    for (uint32_t i = fit->counts.shares_from[vm]; i < fit->counts.shares_from[vm + 1]; i++)
        if (fit->counts.shares[i].counter == counter)
            return fit->counts.shares[i].takes;
    return 0;
}

/* $host.used.STAGE of a stage without `per` and `over`. */
static double used_there(const void *with, uint32_t vm, const struct expression_node *variable, uint32_t host)
{
    const struct fit *fit = with;
    uint32_t counter = fit->counts.whole[fit->counts.measure_of[variable->column]];
    int64_t sum = 0;

    for (uint32_t v = 0; counter != IX_NONE && v < fit->snap->n_vms; v++)
        if (v != vm && fit->snap->vms[v].host == host)
            sum += takes_of(fit, v, counter);
    return (double)sum / FIT_AMOUNT_ONE;
}

static bool filter_refuses(const struct question *q, const struct fit *fit, uint32_t vm, uint32_t host)
{
    const struct pipeline *p = &q->s.pipelines[q->s.vms[vm].pipeline];
    const struct expression_live live = {.value = used_there, .with = fit};
    const struct expression_scope scope = fit_live_scope(fit, vm, host, &live);

    for (uint32_t i = p->first; i < p->first + p->n; i++)
        if (fit_filters(fit, i, FIT_PLACE) && asks_for(q, i) &&
            !expression_is_true(&fit->parts[PART_FILTER][i].x, &scope))
            return true;
    return false;
}

/* Whether a host is counted together with the other. */
static bool counts_there(const struct fit_counter *c, uint32_t host, uint32_t other)
{
    if (!c->from || host == other)
        return host == other;
    for (uint32_t i = c->from[host]; i < c->from[host + 1]; i++)
        for (uint32_t k = c->from[other]; k < c->from[other + 1]; k++)
            if (c->groups[i] == c->groups[k])
                return true;
    return false;
}

/* Whether the limit keeps the VM off the host. */
static bool exceeds(const struct question *q, const struct fit *fit, const struct fit_bound *b,
                    const struct fit_share *share, uint32_t vm, uint32_t host)
{
    const struct fit_counter *c = &fit->counts.counters[share->counter];
    int64_t limit = fit_limit(fit, vm, b->stage, host);
    int64_t sum = share->takes;

    if (q->s.vms[vm].host != IX_NONE && counts_there(c, host, q->s.vms[vm].host))
        return false; /* where the VM is, it counts already */
    for (uint32_t v = 0; v < q->s.n_vms; v++)
        if (v != vm && q->s.vms[v].host != IX_NONE && counts_there(c, host, q->s.vms[v].host) &&
            (q->s.vms[v].is.state == VM_ON || fit_counts_off(fit, share->counter)))
            sum += takes_of(fit, v, share->counter);
    return limit == FIT_NOTHING || sum > limit;
}

static bool count_refuses(const struct question *q, const struct fit *fit, uint32_t vm, uint32_t host)
{
    const struct fit_bound *b;

    for (uint32_t n = fit_bounds(fit, vm, &b); n > 0; n--, b++)
        for (uint32_t i = fit->counts.shares_from[vm]; i < fit->counts.shares_from[vm + 1]; i++)
            if (asks_for(q, b->stage) && fit_limits(fit, b, &fit->counts.shares[i], FIT_PLACE) &&
                exceeds(q, fit, b, &fit->counts.shares[i], vm, host))
                return true;
    return false;
}

/* Whether NUMA cells or devices keep the VM off the host, besides the VMs that run there. */
static bool cells_refuse(const struct question *q, const struct fit_cells *cells, uint32_t vm, uint32_t host)
{
    int64_t row[CELLS_ROW_MAX];

    if (!fit_cells_binds(cells, vm))
        return false;
    fit_cells_begin(cells, host, row);
    for (uint32_t v = 0; v < q->s.n_vms; v++)
        if (q->s.vms[v].host == host && q->s.vms[v].is.state == VM_ON && fit_cells_binds(cells, v) &&
            !fit_cells_take_known(cells, v, host, row))
            fit_cells_take_anyway(cells, v, host, row);
    return fit_cells_take(cells, vm, host, row, NULL) != CHECK_NONE;
}

/* The hypervisors are h00000, h00001 and so on: their order is that of the snapshot. */
static void answer(const struct question *q, struct arena *a)
{
    uint32_t vm = snapshot_find_vm(&q->s, q->vm);
    bool piped = q->s.vms[vm].pipeline != IX_NONE;
    struct fit fit;

    fit_compile(&q->s, a, &fit);
    for (uint32_t h = 0; h < q->s.n_hosts; h++) {
        bool refuses = (piped && (filter_refuses(q, &fit, vm, h) || count_refuses(q, &fit, vm, h))) ||
                       cells_refuse(q, &fit.cells, vm, h);
        putchar(refuses ? '0' : '1');
    }
    putchar('\n');
}

/* The hosts ranked as for a power-on. */
static void answer_weights(struct snapshot *s, const char *id, struct arena *a)
{
    uint32_t vm = snapshot_find_vm(s, id);
    struct policy policy;
    struct pass p;
    struct options o;

    policy_default(&policy);
    starting_assume_all(&s->vms[vm], 0);
    pass_prepare(&p, s, &policy, RULES_PREFERRED, IX_NONE, a);
    options_rank(&p.layout, p.layout.vm_unit[vm], a, &o);
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        const struct option *of = NULL;

        for (uint32_t i = 0; i < o.n && !of; i++)
            of = p.layout.slot_host[o.items[i].slot] == h ? &o.items[i] : NULL;
        (void)fputs(h == 0 ? "[" : ", ", stdout);
        if (of)
            (void)printf("%.17g", of->fit.score);
        else
            (void)fputs("null", stdout);
    }
    (void)puts("]");
}

int main(int argc, char **argv)
{
    bool weights = argc > 1 && strcmp(argv[1], "weights") == 0;
    char *line = NULL;
    size_t cap = 0;

    while (getline(&line, &cap, stdin) > 0) {
        struct arena a = {0};
        struct question q = {0};
        struct err err = {0};
        json_t *cloud = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

        if (build(cloud, &a, &q, &err) < 0)
            printf("!%s\n", err.text);
        else if (weights)
            answer_weights(&q.s, q.vm, &a);
        else
            answer(&q, &a);
        json_decref(cloud);
        arena_release(&a);
    }
    free(line);
    return 0;
}
