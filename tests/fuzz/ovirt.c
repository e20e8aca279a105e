/* Clouds for src/dialect/ovirt: compiled, read as a snapshot, and their pipelines applied. */
#include "dialect/ovirt/ovirt.h"
#include "core/fit/fit.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What the dialect makes may go beyond a limit of snapshots, and is JSON in any case. */
static void apply(const json_t *made, struct arena *a)
{
    char *text = json_dumps(made, JSON_COMPACT);
    struct inventory inv;
    struct snapshot s;
    struct fit fit;
    struct err err = {0};

    if (!text)
        abort();
    if (snapshot_read_inventory(text, strlen(text), a, &inv, NULL, &err) == 0 &&
        snapshot_build(&inv, a, &s, &err) == 0)
        fit_compile(&s, a, &fit);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct err err = {0};
    json_t *made = NULL;
    json_t *cloud = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    int e = cloud ? ovirt_compile(cloud, &a, &made, &err) : 0;

    if (cloud && ((e < 0) != (err.code != 0) || (e == 0) != (made != NULL) || (e < 0 && err.text[0] != '/')))
        abort();
    if (made)
        apply(made, &a);
    json_decref(made);
    json_decref(cloud);
    arena_release(&a);
    return 0;
}
