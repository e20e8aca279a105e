/* Says how Ballast places servers of clouds of Flexiant, for flexiant.py: each line of standard input is
 * {"cloud": CLOUD, "servers": [ID, ...]}, each answer a line of JSON: {"error": TEXT}, or a list with
 * {"eligible", "system", "survivors", "customer", "chosen", "refused"} for each server. */
#include "core/pass.h"
#include "core/place/options.h"
#include "core/place/starting.h"
#include "dialect/flexiant/flexiant.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int build(const json_t *cloud, struct arena *a, struct snapshot *ret, struct err *err)
{
    json_t *made = NULL;
    struct inventory inv;
    int e = flexiant_compile(cloud, a, &made, err);

    if (e < 0)
        return e;
    char *text = json_dumps(made, JSON_COMPACT);

    json_decref(made);
    if ((e = snapshot_read_inventory(text, strlen(text), a, &inv, NULL, err)) == 0)
        e = snapshot_build(&inv, a, ret, err);
    free(text);
    return e;
}

/* The hosts that are left, with the scores that the pipeline gives them up to its nth stage, or all (0). */
static void rank(const struct snapshot *s, uint32_t vm, uint32_t n, struct arena *a, struct pass *p,
                 struct options *ret)
{
    struct snapshot now = *s;

    now.pipelines = arena_array(a, struct pipeline, s->n_pipelines);
    memcpy(now.pipelines, s->pipelines, s->n_pipelines * sizeof *s->pipelines);
    if (n > 0)
        now.pipelines[s->vms[vm].pipeline].n = n;
    now.vms = arena_array(a, struct vm, s->n_vms);
    memcpy(now.vms, s->vms, s->n_vms * sizeof *s->vms);
    if (s->vms[vm].is.state != VM_ON)
        starting_assume_all(&now.vms[vm], 1000);
    struct snapshot *kept = arena_new(a, struct snapshot);

    *kept = now;
    pass_prepare(p, kept, s->policy, 0, IX_NONE, a);
    options_rank(&p->layout, p->layout.vm_unit[vm], a, ret);
}

static json_t *scores(const struct pass *p, const struct options *o)
{
    json_t *ret = json_object();

    for (uint32_t i = 0; i < o->n; i++)
        (void)json_object_set_new(ret, p->snap->hosts[p->layout.slot_host[o->items[i].slot]].is.id,
                                  json_real(o->items[i].fit.score));
    return ret;
}

/* Stages of the pipeline before its cut; 0: it has none. */
static uint32_t before_cut(const struct snapshot *s, uint32_t vm)
{
    const struct pipeline *p = &s->pipelines[s->vms[vm].pipeline];

    for (uint32_t i = 0; i < p->n; i++)
        if (s->stages[p->first + i].is.cut.given)
            return i;
    return 0;
}

static json_t *ask(const struct snapshot *s, const char *id)
{
    struct arena a = {0};
    uint32_t vm = snapshot_find_vm(s, id);
    struct pass *p = arena_new(&a, struct pass);
    struct options o;
    json_t *refused = json_object();

    rank(s, vm, before_cut(s, vm), &a, p, &o);
    json_t *system = scores(p, &o);

    for (uint32_t i = 0; i < p->layout.n_on; i++)
        (void)json_object_set_new(
            refused, p->snap->hosts[p->layout.slot_host[i]].is.id,
            json_string(check_name(layout_check(&p->layout, p->layout.vm_unit[vm], i))));
    rank(s, vm, 0, &a, p, &o);
    json_t *ret =
        json_pack("{s: o, s: o, s: o}", "system", system, "customer", scores(p, &o), "refused", refused);

    if (o.n > 0)
        (void)json_object_set_new(ret, "chosen",
                                  json_string(s->hosts[p->layout.slot_host[o.items[0].slot]].is.id));
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

    if (build(json_object_get(asked, "cloud"), a, &s, &err) < 0) {
        json_decref(ret);
        return json_pack("{s: s}", "error", err.text);
    }
    json_array_foreach(json_object_get(asked, "servers"), i, id)(void)
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
