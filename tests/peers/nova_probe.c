/* Says which hosts Nova's filters leave to a request, for test_nova_oracle.py: each line of standard input is
 * a cloud as src/dialect/nova reads it, with a request or, as "moved", the id of a server. An answer is a
 * line with a "1" or "0" for each hypervisor, in their order in the cloud, or "!" and what is wrong. */
#include "core/fit/fit.h"
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

int main(void)
{
    char *line = NULL;
    size_t cap = 0;

    while (getline(&line, &cap, stdin) > 0) {
        struct arena a = {0};
        struct snapshot s;
        const char *vm;
        struct err err = {0};

        if (build(line, &a, &s, &vm, &err) < 0)
            printf("!%s\n", err.text);
        else
            answer(&s, vm, &a);
        arena_release(&a);
    }
    free(line);
    return 0;
}
