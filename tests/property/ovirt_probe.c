/* Says what Ballast makes of clouds of oVirt, for ovirt.py: each line of standard input is {"cloud": CLOUD,
 * "vms": [ID, ...]}, each answer a line of JSON: {"error": TEXT}, or for each VM {"refused": {HOST: STAGE},
 * "weights": {STAGE: {HOST: NUMBER}}, "points": {HOST: NUMBER}, "order": [HOST, ...]}. */
#include "core/pass.h"
#include "core/place/options.h"
#include "core/place/starting.h"
#include "dialect/ovirt/ovirt.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int build(const json_t *asked, struct arena *a, struct snapshot *ret, struct err *err)
{
    json_t *made = json_incref(json_object_get(asked, "snapshot"));
    struct inventory inv;
    int e = made ? 0 : ovirt_compile(json_object_get(asked, "cloud"), a, &made, err);

    if (e < 0)
        return e;
    char *text = json_dumps(made, JSON_COMPACT);

    json_decref(made);
    if ((e = snapshot_read_inventory(text, strlen(text), a, &inv, NULL, err)) == 0)
        e = snapshot_build(&inv, a, ret, err);
    free(text);
    return e;
}

/* Of the stage alone, as it is; IX_NONE: of all stages. */
static void prepare(const struct snapshot *s, uint32_t vm, uint32_t alone, struct arena *a, struct pass *p)
{
    struct snapshot *now = arena_new(a, struct snapshot);

    *now = *s;
    now->stages = arena_array(a, struct stage, s->n_stages);
    memcpy(now->stages, s->stages, s->n_stages * sizeof *s->stages);
    for (uint32_t i = 0; alone != IX_NONE && i < s->n_stages; i++) {
        struct stage_facts *is = &now->stages[i].is;

        if (is->score.n > 0 && i != alone)
            is->applies = 0;
        is->normalise = NORMALISE_NONE;
        is->multiplier.n = 0;
    }
    now->vms = arena_array(a, struct vm, s->n_vms);
    memcpy(now->vms, s->vms, s->n_vms * sizeof *s->vms);
    if (s->vms[vm].is.state != VM_ON)
        starting_assume_all(&now->vms[vm], 1000);
    pass_prepare(p, now, s->policy, 0, IX_NONE, a);
}

static json_t *ranked(const struct pass *p, uint32_t vm, double by, struct arena *a, json_t **ret_order)
{
    struct options o;
    json_t *ret = json_object();
    json_t *order = json_array();

    options_rank(&p->layout, p->layout.vm_unit[vm], a, &o);
    options_sort_others(&o);
    for (uint32_t i = 0; i < o.n; i++) {
        const char *host = p->snap->hosts[p->layout.slot_host[o.items[i].slot]].is.id;

        (void)json_object_set_new(ret, host, json_real(by * o.items[i].fit.score));
        (void)json_array_append_new(order, json_string(host));
    }
    if (ret_order)
        *ret_order = order;
    else
        json_decref(order);
    return ret;
}

static json_t *refused(const struct pass *p, uint32_t vm, struct arena *a)
{
    const struct snapshot *s = p->snap;
    const struct fit_live live = layout_live(&p->layout);
    json_t *ret = json_object();

    for (uint32_t h = 0; h < s->n_hosts; h++) {
        enum fit_use use = s->vms[vm].host == IX_NONE ? FIT_PLACE : FIT_MOVE;
        const struct refusal *why = fit_refusal(&p->rules.fit, use, vm, h, &live, a);

        if (why)
            (void)json_object_set_new(ret, s->hosts[h].is.id, json_string(s->stages[why->stage].is.name));
    }
    return ret;
}

static json_t *ask(const struct snapshot *s, const char *id)
{
    struct arena a = {0};
    uint32_t vm = snapshot_find_vm(s, id);
    struct pass *p = arena_new(&a, struct pass);
    const struct pipeline *line = &s->pipelines[s->vms[vm].pipeline];
    json_t *weights = json_object();
    json_t *order;

    for (uint32_t i = line->first; i < line->first + line->n; i++) {
        if (s->stages[i].is.score.n == 0)
            continue;
        prepare(s, vm, i, &a, p);
        (void)json_object_set_new(weights, s->stages[i].is.name, ranked(p, vm, -1, &a, NULL));
    }
    prepare(s, vm, IX_NONE, &a, p);
    json_t *points = ranked(p, vm, 1, &a, &order);
    json_t *ret = json_pack("{s: o, s: o, s: o, s: o}", "refused", refused(p, vm, &a), "weights", weights,
                            "points", points, "order", order);

    arena_release(&a);
    return ret;
}

static json_t *answer(const json_t *asked, struct arena *a)
{
    struct snapshot s;
    struct err err = {0};
    json_t *ret = json_array();
    size_t i;
    const json_t *id;

    if (build(asked, a, &s, &err) < 0) {
        json_decref(ret);
        return json_pack("{s: s}", "error", err.text);
    }
    json_array_foreach(json_object_get(asked, "vms"), i, id)(void)
        json_array_append_new(ret, ask(&s, json_string_value(id)));
    return ret;
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;

    while (getline(&line, &cap, stdin) > 0) {
        struct arena a = {0};
        json_t *asked = json_loads(line, 0, NULL);
        json_t *told = answer(asked, &a);

        (void)json_dumpf(told, stdout, JSON_COMPACT);
        (void)putchar('\n');
        (void)fflush(stdout);
        json_decref(told);
        json_decref(asked);
        arena_release(&a);
    }
    free(line);
    return 0;
}
