/* Computes the reservations that pools can still give, up the tree to the root. */
#include "core/divvy/admission.h"

/* Two sums of the same numbers may differ by this much, because their order of addition differs: a Hz, a
 * byte. */
#define ROUNDING 1e-6

static uint32_t place_of(const struct admission *ad, uint32_t pool)
{
    return pool == IX_NONE ? ad->snap->n_pools : pool;
}

/* What a pool takes from its parent while its children reserve `used`. */
static double charge(const struct alloc *set, double used)
{
    return set->expandable ? fmin(fmax(set->reservation, used), set->limit) : set->reservation;
}

/* Adds a reservation to a pool, and to its ancestors what the pool expands by. */
static void reserve(struct admission *ad, enum resource r, uint32_t pool, double more)
{
    while (pool != IX_NONE && more != 0) {
        const struct pool *p = &ad->snap->pools[pool];
        double before = charge(&p->is.alloc[r], ad->used[r][pool]);
        ad->used[r][pool] += more;
        more = charge(&p->is.alloc[r], ad->used[r][pool]) - before;
        pool = p->parent;
    }
    if (more != 0)
        ad->used[r][ad->snap->n_pools] += more;
}

/* Children before parents: a pool follows the last of its children. */
static void order_pools(struct admission *ad, struct arena *a)
{
    const struct snapshot *s = ad->snap;
    uint32_t *waiting = arena_array(a, uint32_t, s->n_pools);
    uint32_t n = 0;

    ad->order = arena_array(a, uint32_t, s->n_pools);
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (s->pools[i].parent != IX_NONE)
            waiting[s->pools[i].parent]++;
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (waiting[i] == 0)
            ad->order[n++] = i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = s->pools[ad->order[i]].parent;
        if (parent != IX_NONE && --waiting[parent] == 0)
            ad->order[n++] = parent;
    }
}

/* A VM that does not take part yet, because it is to be powered on, or migrates from a disconnected host. */
static void count_arrival(struct admission *ad, double *used, enum resource r, uint32_t vm, uint32_t to)
{
    const struct vm *v = &ad->snap->vms[vm];

    if (!vm_takes_part(ad->snap, v) && v->is.kind != VM_SPARE &&
        ad->snap->hosts[to].is.state != HOST_DISCONNECTED)
        used[place_of(ad, v->pool)] += v->is.alloc[r].reservation;
}

void admission_init(const struct snapshot *snap, struct arena *a, struct admission *ret)
{
    *ret = (struct admission){.snap = snap};
    order_pools(ret, a);
    for (int r = 0; r < RES_COUNT; r++) {
        double *used = arena_array(a, double, (size_t)snap->n_pools + 1);
        for (uint32_t i = 0; i < snap->n_vms; i++)
            if (vm_takes_part(snap, &snap->vms[i]))
                used[place_of(ret, snap->vms[i].pool)] += snap->vms[i].is.alloc[r].reservation;
        for (uint32_t i = 0; i < snap->n_migrations; i++)
            count_arrival(ret, used, (enum resource)r, snap->migrations[i].vm, snap->migrations[i].to);
        for (uint32_t i = 0; i < snap->n_pending; i++) {
            const struct pending *p = &snap->pending[i];
            if (p->action == ACTION_PLACE || p->action == ACTION_MIGRATE)
                count_arrival(ret, used, (enum resource)r, p->vm, p->to);
        }
        for (uint32_t i = 0; i < snap->n_pools; i++) {
            const struct pool *p = &snap->pools[ret->order[i]];
            used[place_of(ret, p->parent)] += charge(&p->is.alloc[r], used[ret->order[i]]);
        }
        ret->used[r] = used;
    }
    for (uint32_t i = 0; i < snap->n_hosts; i++)
        if (host_can_run_vms(&snap->hosts[i]))
            admission_add_host(ret, i);
}

void admission_add_host(struct admission *ad, uint32_t host)
{
    for (int r = 0; r < RES_COUNT; r++)
        ad->capacity[r] += host_room(&ad->snap->hosts[host], r);
}

void admission_drop_host(struct admission *ad, uint32_t host)
{
    for (int r = 0; r < RES_COUNT; r++)
        ad->capacity[r] -= host_room(&ad->snap->hosts[host], r);
}

double admission_left(const struct admission *ad, enum resource r, uint32_t pool, enum admission_end *ret_end,
                      uint32_t *ret_pool)
{
    double given = 0; /* by the pools so far, from their own reservations */
    double most = NO_LIMIT;
    enum admission_end end = ADMISSION_CAPACITY;
    uint32_t at = IX_NONE;
    bool expands = true;

    for (; pool != IX_NONE && expands; pool = ad->snap->pools[pool].parent) {
        const struct alloc *set = &ad->snap->pools[pool].is.alloc[r];
        double used = ad->used[r][pool];
        double room = fmax(set->limit - used, 0); /* for more than the descendants have */
        if (given + room < most) {
            most = given + room;
            end = ADMISSION_LIMIT;
            at = pool;
        }
        given += fmax(set->reservation - used, 0);
        expands = set->expandable;
        if (!expands && given < most) {
            most = given;
            end = ADMISSION_FIXED;
            at = pool;
        }
    }
    double free = fmax(ad->capacity[r] - ad->used[r][ad->snap->n_pools], 0);
    if (expands && given + free < most) {
        most = given + free;
        end = ADMISSION_CAPACITY;
        at = IX_NONE;
    }
    if (ret_end)
        *ret_end = end;
    if (ret_pool)
        *ret_pool = at;
    return most;
}

bool admission_fits(const struct admission *ad, uint32_t vm, struct shortage *ret_short)
{
    const struct vm *v = &ad->snap->vms[vm];

    for (int r = 0; r < RES_COUNT; r++) {
        struct shortage s = {.r = (enum resource)r, .need = v->is.alloc[r].reservation};
        s.left = admission_left(ad, s.r, v->pool, &s.end, &s.pool);
        s.by = s.need - s.left;
        if (s.need <= 0 || s.by <= ROUNDING)
            continue;
        if (ret_short)
            *ret_short = s;
        return false;
    }
    return true;
}

void admission_take(struct admission *ad, uint32_t vm)
{
    for (int r = 0; r < RES_COUNT; r++)
        reserve(ad, (enum resource)r, ad->snap->vms[vm].pool, ad->snap->vms[vm].is.alloc[r].reservation);
}

void admission_give_back(struct admission *ad, uint32_t vm)
{
    for (int r = 0; r < RES_COUNT; r++)
        reserve(ad, (enum resource)r, ad->snap->vms[vm].pool, -ad->snap->vms[vm].is.alloc[r].reservation);
}
