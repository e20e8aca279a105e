/* Says which hosts Nova's filters leave to a request, for test_nova_oracle.py: each line of standard input is
 * a cloud as src/dialect/nova reads it, with a request or, as "moved", the id of a server. An answer is a
 * line with a "1" or "0" for each hypervisor, in their order in the cloud, or "!" and what is wrong.
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

static int build(const char *line, struct arena *a, struct snapshot *ret, const char **ret_vm,
                 struct err *err)
{
    json_t *cloud = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    json_t *made = NULL;
    struct inventory inv;
    const char *moved = json_string_value(json_object_get(cloud, "moved"));
    int e = nova_compile(cloud, a, &made, err);

    *ret_vm = moved ? arena_strdup(a, moved) : NOVA_REQUEST_ID;
    json_decref(cloud);
    if (e < 0)
        return e;
    char *text = json_dumps(made, JSON_COMPACT);

    json_decref(made);
    if ((e = snapshot_read_inventory(text, strlen(text), a, &inv, NULL, err)) == 0)
        e = snapshot_build(&inv, a, ret, err);
    free(text);
    return e;
}

/* The hypervisors are h00000, h00001 and so on: their order is that of the snapshot. */
static void answer(const struct snapshot *s, const char *id, struct arena *a)
{
    uint32_t vm = snapshot_find_vm(s, id);
    struct fit fit;

    fit_compile(s, a, &fit);
    for (uint32_t h = 0; h < s->n_hosts; h++)
        putchar(fit_refuses(&fit, FIT_PLACE, vm, h) ? '0' : '1');
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
    options_rank(&p, p.layout.vm_unit[vm], &o);
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
        struct snapshot s;
        const char *vm;
        struct err err = {0};

        if (build(line, &a, &s, &vm, &err) < 0)
            printf("!%s\n", err.text);
        else if (weights)
            answer_weights(&s, vm, &a);
        else
            answer(&s, vm, &a);
        arena_release(&a);
    }
    free(line);
    return 0;
}
