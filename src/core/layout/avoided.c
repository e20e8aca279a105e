/* Which destinations are avoided because moves there failed, and what a person rejected of a VM or a host
 * (snapshot.h: struct avoid). */
#include "core/layout/layout.h"

static bool holds(const struct snapshot *s, const struct avoid *x)
{
    return s->time < x->until && !x->is_rejection;
}

/* Whether the host of the VM must be emptied: the VM goes on to hosts where it has not failed yet. */
static bool must_leave(const struct snapshot *s, uint32_t vm)
{
    const struct host *h = s->vms[vm].host == IX_NONE ? NULL : &s->hosts[s->vms[vm].host];

    return h &&
           (h->failover || h->is.state == HOST_ENTERING_MAINTENANCE || h->is.state == HOST_ENTERING_STANDBY);
}

/* Whether the VM moves only if its host must be emptied, and that is not so. */
static bool holds_everywhere(const struct snapshot *s, const struct avoid *x, uint32_t vm)
{
    return x->host == IX_NONE && (x->vm == vm || (x->vm == IX_NONE && x->mandatory)) && !must_leave(s, vm);
}

/* The entry that lasts longest, so that what is said of it stays true. */
const struct avoid *layout_find_avoid(const struct snapshot *s, uint32_t vm, uint32_t host)
{
    const struct avoid *found = NULL;

    for (uint32_t i = 0; i < s->n_avoid; i++) {
        const struct avoid *x = &s->avoid[i];
        bool cluster = x->vm == IX_NONE && x->host == IX_NONE;
        bool asks_cluster = vm == IX_NONE && host == IX_NONE;
        bool matches = asks_cluster ? cluster
                                    : (!cluster && (x->vm == IX_NONE || x->vm == vm) && x->host == host) ||
                                          (vm != IX_NONE && holds_everywhere(s, x, vm));
        if (matches && holds(s, x) && (!found || x->until > found->until))
            found = x;
    }
    return found;
}

const struct avoid *layout_find_avoid_of_unit(const struct layout *l, uint32_t unit, uint32_t host)
{
    const struct avoid *found = NULL;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        const struct avoid *x = layout_find_avoid(l->snap, l->unit_vms[i], host);
        if (x && (!found || x->until > found->until))
            found = x;
    }
    return found;
}

/* Entries are sorted by VM, then by host. */
static const struct avoid *find_rejection(const struct snapshot *s, uint32_t vm, uint32_t host,
                                          enum reason reason)
{
    uint32_t low = 0;
    uint32_t high = s->n_avoid;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct avoid *x = &s->avoid[middle];
        if (x->vm < vm || (x->vm == vm && x->host < host))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->n_avoid && s->avoid[low].vm == vm && s->avoid[low].host == host; low++)
        if (s->avoid[low].is_rejection && s->time < s->avoid[low].until &&
            s->avoid[low].rejected == reason_purpose(reason))
            return &s->avoid[low];
    return NULL;
}

const struct avoid *layout_find_rejection(const struct snapshot *s, uint32_t vm, enum reason reason)
{
    return find_rejection(s, vm, IX_NONE, reason);
}

const struct avoid *layout_find_host_rejection(const struct snapshot *s, uint32_t host, enum reason reason)
{
    return find_rejection(s, IX_NONE, host, reason);
}

bool layout_is_rejected(const struct layout *l, uint32_t unit, enum reason reason)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (layout_find_rejection(l->snap, l->unit_vms[i], reason))
            return true;
    return false;
}

static void bitmap_add(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= (uint64_t)1 << i % 64;
}

static void avoid_host(const struct layout *l, uint64_t *hosts, uint32_t host)
{
    if (host != IX_NONE) {
        bitmap_add(hosts, host);
        return;
    }
    for (uint32_t h = 0; h < l->snap->n_hosts; h++)
        bitmap_add(hosts, h);
}

/* For all units but those whose host must be emptied. */
static void avoid_everywhere(struct layout *l)
{
    uint64_t *every = arena_array(l->a, uint64_t, l->rules->words);

    avoid_host(l, every, IX_NONE);
    for (uint32_t u = 0; u < l->n_units; u++)
        if (!must_leave(l->snap, l->unit_first[u]))
            l->unit_avoided[u] = every;
}

/* Entries are few: only the units that one names get a bitmap of their own. */
void layout_init_avoided(struct layout *l)
{
    const struct snapshot *s = l->snap;
    uint32_t words = l->rules->words;
    uint64_t *all = arena_array(l->a, uint64_t, words);
    bool any = false;

    for (uint32_t i = 0; i < s->n_avoid; i++)
        any = any || (holds(s, &s->avoid[i]) &&
                      (s->avoid[i].vm != IX_NONE || s->avoid[i].host != IX_NONE || s->avoid[i].mandatory));
    if (!any)
        return;
    l->unit_avoided = arena_array(l->a, uint64_t *, l->n_units);
    for (uint32_t i = 0; i < s->n_avoid; i++)
        if (s->avoid[i].vm == IX_NONE && s->avoid[i].host != IX_NONE && holds(s, &s->avoid[i]))
            bitmap_add(all, s->avoid[i].host);
    for (uint32_t u = 0; u < l->n_units; u++)
        l->unit_avoided[u] = all;
    for (uint32_t i = 0; i < s->n_avoid; i++) {
        const struct avoid *x = &s->avoid[i];
        uint32_t unit = x->vm == IX_NONE ? IX_NONE : l->vm_unit[x->vm];
        if (x->vm == IX_NONE && x->host == IX_NONE && x->mandatory && holds(s, x))
            avoid_everywhere(l);
        if (unit == IX_NONE || !holds(s, x) || (x->host == IX_NONE && !holds_everywhere(s, x, x->vm)))
            continue;
        if (l->unit_avoided[unit] == all) {
            l->unit_avoided[unit] = arena_array(l->a, uint64_t, words);
            for (uint32_t w = 0; w < words; w++)
                l->unit_avoided[unit][w] = all[w];
        }
        avoid_host(l, l->unit_avoided[unit], x->host);
    }
}
