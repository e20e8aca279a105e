/* enforced.c: copies of a snapshot with what the source has in place of what the configuration sets. */
#include "core/divvy/enforced.h"

#include <string.h>

static void restore_vm(struct vm *v)
{
    if (!v->is.overridden)
        return;
    v->pool = v->source_pool;
    memcpy(v->is.alloc, v->is.source_alloc, sizeof v->is.alloc);
}

/* keeps: what the configuration sets is in force. */
static void restore_pool(struct pool *p, bool keeps)
{
    for (int r = 0; r < RES_COUNT && p->is.origin != RULE_OF_SOURCE; r++)
        p->is.alloc[r] = (struct alloc){.limit = NO_LIMIT};
    if (p->is.overridden && !keeps)
        memcpy(p->is.alloc, p->is.source_alloc, sizeof p->is.alloc);
}

static const struct snapshot *view(const struct snapshot *snap, bool wanted, struct arena *a)
{
    if (!snap->overridden)
        return snap;
    struct snapshot *ret = arena_new(a, struct snapshot);
    bool *set = arena_array(a, bool, snap->n_pools);

    *ret = *snap;
    ret->vms = arena_array(a, struct vm, snap->n_vms);
    ret->pools = arena_array(a, struct pool, snap->n_pools);
    for (uint32_t i = 0; i < snap->n_settings; i++)
        set[snap->settings[i].pool] = true;
    for (uint32_t i = 0; i < snap->n_vms; i++) {
        ret->vms[i] = snap->vms[i];
        restore_vm(&ret->vms[i]);
    }
    for (uint32_t i = 0; i < snap->n_pools; i++) {
        ret->pools[i] = snap->pools[i];
        restore_pool(&ret->pools[i], wanted || set[i]);
    }
    return ret;
}

const struct snapshot *enforced_view(const struct snapshot *snap, struct arena *a)
{
    return view(snap, false, a);
}

const struct snapshot *enforced_wanted(const struct snapshot *snap, struct arena *a)
{
    return view(snap, true, a);
}
