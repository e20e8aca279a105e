/* snapshot_build_avoid.c: resolves what earlier passes left behind: recommendations that stand, in their
 * order, and what is avoided because it failed, sorted. */
#include "base/order.h"
#include "model/inventory_check.h"
#include "model/snapshot_build.h"

#include <errno.h>
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
    if (x->is_rejection != y->is_rejection || x->rejected != y->rejected)
        return x->is_rejection == y->is_rejection ? (int)x->rejected - (int)y->rejected
                                                  : y->is_rejection - x->is_rejection;
    return strcmp(x->reason ? x->reason : "", y->reason ? y->reason : "");
}

static int resolve(const struct place *at, const char *field, const char *id,
                   uint32_t (*find)(const struct snapshot *, const char *), const struct snapshot *s,
                   uint32_t *ret)
{
    *ret = id ? find(s, id) : IX_NONE;
    if (!id || *ret != IX_NONE)
        return 0;
    return inventory_check_refuse(at, field, "\"%s\" is not there, expected the id of a %s", id,
                                  strcmp(field, "vm") == 0 ? "vm" : "host");
}

static int build_standing(const struct place *at, const struct seen_pending *seen, const struct snapshot *s,
                          struct pending *x)
{
    const bool of_vm = seen->action == ACTION_MIGRATE;
    int r;

    *x = (struct pending){
        .action = seen->action, .reason = seen->reason, .group = seen->group, .since = seen->since};
    if (of_vm ? !seen->vm || !seen->from || !seen->to : !seen->host)
        return inventory_check_refuse(at, of_vm ? "vm" : "host", "missing, expected %s",
                                      of_vm ? "the VM, \"from\" and \"to\" of a migration"
                                            : "the host of an action that is no migration");
    if ((r = resolve(at, "vm", seen->vm, snapshot_find_vm, s, &x->vm)) < 0 ||
        (r = resolve(at, "from", seen->from, snapshot_find_host, s, &x->from)) < 0 ||
        (r = resolve(at, "to", seen->to, snapshot_find_host, s, &x->to)) < 0)
        return r;
    return resolve(at, "host", seen->host, snapshot_find_host, s, &x->host);
}

static int build_all_standing(const struct inventory *inv, struct arena *a, struct snapshot *s,
                              struct err *err)
{
    int r = 0;

    s->n_standing = (uint32_t)inv->n_standing;
    s->standing = arena_array(a, struct pending, s->n_standing);
    for (uint32_t i = 0; i < s->n_standing && r == 0; i++)
        r = build_standing(&(const struct place){.kind = "standing", .ix = i, .err = err}, &inv->standing[i],
                           s, &s->standing[i]);
    return r;
}

static int take_rejection(const struct place *at, const struct seen_avoid *seen, struct avoid *x)
{
    x->is_rejection = seen->rejected != NULL;
    if (seen->rejected && reason_parse(seen->rejected, &x->rejected) < 0)
        return inventory_check_refuse(at, "rejected", "\"%.40s\" is no reason, expected one such as %s",
                                      seen->rejected, reason_name(REASON_BALANCE_CPU));
    if (seen->rejected && !seen->vm == !seen->host)
        return inventory_check_refuse(at, "rejected",
                                      "of a VM and a host, or of neither: expected one of them");
    x->rejected = reason_purpose(x->rejected);
    return 0;
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
            (r = resolve(&at, "host", seen->host, snapshot_find_host, s, &x->host)) < 0 ||
            (r = take_rejection(&at, seen, x)) < 0)
            return r;
    }
    order_sort(s->avoid, s->n_avoid, sizeof *s->avoid, avoid_order);
    return build_all_standing(inv, a, s, err);
}
