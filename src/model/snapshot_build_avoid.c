/* snapshot_build_avoid.c: resolves and sorts what is avoided because it failed. */
#include "model/inventory_check.h"
#include "model/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* By all fields, so that the order of the source changes nothing. */
static int avoid_order(const void *a, const void *b)
{
    const struct avoid *x = a;
    const struct avoid *y = b;

    if (x->vm != y->vm)
        return x->vm < y->vm ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->until != y->until)
        return x->until < y->until ? -1 : 1;
    if (x->failures != y->failures)
        return x->failures < y->failures ? -1 : 1;
    return strcmp(x->reason ? x->reason : "", y->reason ? y->reason : "");
}

static int resolve(const struct place *at, const char *field, const char *id,
                   uint32_t (*find)(const struct snapshot *, const char *), const struct snapshot *s,
                   uint32_t *ret)
{
    *ret = id ? find(s, id) : IX_NONE;
    if (!id || *ret != IX_NONE)
        return 0;
    return inventory_check_refuse(at, field, "\"%s\" is not there, expected the id of a %s", id, field);
}

int snapshot_build_avoid(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err)
{
    if (inv->n_avoid >= IX_NONE)
        return err_set(err, -EINVAL, "/avoid: %zu are absurd, expected fewer than %u", inv->n_avoid, IX_NONE);
    s->n_avoid = (uint32_t)inv->n_avoid;
    s->avoid = arena_array(a, struct avoid, s->n_avoid);
    for (uint32_t i = 0; i < s->n_avoid; i++) {
        const struct place at = {.kind = "avoid", .ix = i, .err = err};
        const struct seen_avoid *seen = &inv->avoid[i];
        struct avoid *x = &s->avoid[i];
        int r;

        *x = (struct avoid){.until = seen->until,
                            .failures = seen->failures,
                            .mandatory = seen->mandatory,
                            .reason = seen->reason};
        if ((r = resolve(&at, "vm", seen->vm, snapshot_find_vm, s, &x->vm)) < 0 ||
            (r = resolve(&at, "host", seen->host, snapshot_find_host, s, &x->host)) < 0)
            return r;
    }
    if (s->n_avoid > 0)
        qsort(s->avoid, s->n_avoid, sizeof *s->avoid, avoid_order);
    return 0;
}
