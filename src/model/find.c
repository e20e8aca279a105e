/* find.c: an object by its id, and an index in a span, by binary search. */
#include "model/find.h"

#include <string.h>

uint32_t find_id(const void *items, uint32_t n, size_t stride, const char *id)
{
    uint32_t low = 0;
    uint32_t high = n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const char *const *at = (const void *)((const char *)items + mid * stride);
        int order = strcmp(*at, id);
        if (order == 0)
            return mid;
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return IX_NONE;
}

bool span_has(struct span s, uint32_t ix)
{
    uint32_t from = 0;
    uint32_t to = s.n;

    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (s.items[mid] < ix)
            from = mid + 1;
        else
            to = mid;
    }
    return from < s.n && s.items[from] == ix;
}

uint32_t snapshot_find_host(const struct snapshot *s, const char *id)
{
    return find_id(s->hosts, s->n_hosts, sizeof *s->hosts, id);
}

uint32_t snapshot_find_vm(const struct snapshot *s, const char *id)
{
    return find_id(s->vms, s->n_vms, sizeof *s->vms, id);
}

uint32_t snapshot_find_pool(const struct snapshot *s, const char *id)
{
    return find_id(s->pools, s->n_pools, sizeof *s->pools, id);
}

const char *snapshot_host_name(const struct snapshot *s, const char *id)
{
    uint32_t ix = s && id ? snapshot_find_host(s, id) : IX_NONE;

    return ix == IX_NONE ? id : s->hosts[ix].is.name;
}

const char *snapshot_vm_name(const struct snapshot *s, const char *id)
{
    uint32_t ix = s && id ? snapshot_find_vm(s, id) : IX_NONE;

    return ix == IX_NONE ? id : s->vms[ix].is.name;
}
