/* placement.c: the initial host of each VM. */
#include "sim/scenario/build.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums of loads have rounding errors. */
#define ROUNDING 1e-9

struct room {
    double reserved[RES_COUNT];  /* reservations of the host's VMs, with their overhead */
    double requested[RES_COUNT]; /* their full CPU and configured memory */
    uint32_t n;
};

struct placement {
    struct building *b;
    struct room *rooms; /* by host */
    uint32_t *usable;   /* the hosts that the VM may begin on */
    uint32_t n_usable;
    const struct vm_spec *asked; /* the VM of that list: the VMs of a group have equal lists */
    struct ids named, resolved;  /* the last words of `compatible`, and their ids */
};

static double capacity_of(const struct host_spec *h, int r)
{
    return h->seen.is.total[r] - h->seen.is.reserved[r];
}

static double wanted(const struct vm_spec *v, const struct host_spec *h, int r)
{
    return r == RES_CPU ? v->seen.is.vcpus * fmin(v->vcpu_mhz, h->core_mhz)
                        : v->seen.is.mem_mb + v->seen.is.overhead_mb;
}

static double reserved(const struct vm_spec *v, int r)
{
    return v->seen.is.alloc[r].reservation + (r == RES_MEM ? v->seen.is.overhead_mb : 0);
}

static bool is_on(const struct host_spec *h)
{
    return h->seen.is.state == HOST_ON;
}

static bool reservations_fit(const struct placement *p, const struct vm_spec *v, uint32_t host)
{
    const struct host_spec *h = &p->b->hosts[host];

    for (int r = 0; r < RES_COUNT; r++) {
        if (p->rooms[host].reserved[r] + reserved(v, r) > capacity_of(h, r) * (1 + ROUNDING))
            return false;
    }
    return true;
}

/* Whether the host has the VM's largest possible demand free. */
static bool requests_fit(const struct placement *p, const struct vm_spec *v, uint32_t host)
{
    const struct host_spec *h = &p->b->hosts[host];
    const struct room *room = &p->rooms[host];

    for (int r = 0; r < RES_COUNT; r++) {
        double fill = r == RES_CPU && room->n > 0 ? v->at.fill_to : 1;
        if (room->requested[r] + wanted(v, h, r) > capacity_of(h, r) * fill * (1 + ROUNDING))
            return false;
    }
    return (!v->vcpu_mhz_given || v->vcpu_mhz <= h->core_mhz) && reservations_fit(p, v, host);
}

/* As in CloudSim: an empty host draws its power without load, so waking a host costs nothing by itself. */
static double more_watts(const struct placement *p, const struct vm_spec *v, uint32_t host)
{
    const struct host_spec *h = &p->b->hosts[host];
    double total = h->seen.is.total[RES_CPU];
    double now = p->rooms[host].requested[RES_CPU];

    return host_model_watts(&h->model, (now + wanted(v, h, RES_CPU)) / total) -
           host_model_watts(&h->model, now / total);
}

static uint32_t pick_random(const struct placement *p, const struct vm_spec *v)
{
    struct rng r = {.state = workload_seed(p->b->seed, v->seen.is.id, "host")};
    uint32_t fitting = 0;

    for (uint32_t i = 0; i < p->n_usable; i++)
        fitting += reservations_fit(p, v, p->usable[i]);
    if (fitting == 0)
        return IX_NONE;
    uint32_t chosen = rng_below(&r, fitting);

    for (uint32_t i = 0;; i++) {
        if (reservations_fit(p, v, p->usable[i]) && chosen-- == 0)
            return p->usable[i];
    }
}

static uint32_t pick_emptiest(const struct placement *p, const struct vm_spec *v)
{
    uint32_t best = IX_NONE;

    for (uint32_t i = 0; i < p->n_usable; i++) {
        uint32_t h = p->usable[i];
        if ((best == IX_NONE || p->rooms[h].n < p->rooms[best].n) && reservations_fit(p, v, h))
            best = h;
    }
    return best;
}

static uint32_t pick_first_fit(const struct placement *p, const struct vm_spec *v)
{
    for (uint32_t i = 0; i < p->n_usable; i++) {
        if (requests_fit(p, v, p->usable[i]))
            return p->usable[i];
    }
    return IX_NONE;
}

static uint32_t pick_least_power(const struct placement *p, const struct vm_spec *v)
{
    uint32_t best = IX_NONE;
    double least = INFINITY;

    for (uint32_t i = 0; i < p->n_usable; i++) {
        uint32_t h = p->usable[i];
        if (!requests_fit(p, v, h))
            continue;
        double more = more_watts(p, v, h);
        if (more < least) {
            least = more;
            best = h;
        }
    }
    return best;
}

static uint32_t pick(const struct placement *p, const struct vm_spec *v)
{
    switch ((enum how)v->at.how) {
    case HOW_RANDOM:
        return pick_random(p, v);
    case HOW_SPREAD:
        return pick_emptiest(p, v);
    case HOW_FIRST_FIT:
        return pick_first_fit(p, v);
    case HOW_LEAST_POWER:
        return pick_least_power(p, v);
    }
    return IX_NONE;
}

static void take(struct placement *p, struct vm_spec *v, uint32_t host)
{
    const struct host_spec *h = &p->b->hosts[host];

    v->seen.host = h->seen.is.id;
    for (int r = 0; r < RES_COUNT; r++) {
        p->rooms[host].reserved[r] += reserved(v, r);
        p->rooms[host].requested[r] += wanted(v, h, r);
    }
    p->rooms[host].n++;
}

/* The hosts that match words; each word must match one at least. */
static int meant_hosts(const struct building *b, const struct ids *words, unsigned line, const char *key,
                       bool only_on, uint32_t *ret, uint32_t *ret_n)
{
    bool *in = arena_array(b->f.a, bool, b->n_hosts);

    for (uint32_t w = 0; w < words->n; w++) {
        bool any = false;
        for (size_t h = 0; h < b->n_hosts; h++) {
            const struct host_spec *host = &b->hosts[h];
            if (groups_is_meant(words->items[w], groups_host_called(host)))
                any = in[h] = true;
        }
        if (!any)
            return reader_complain_line(
                &b->f, line, "%s: there is no host or group of hosts \"%.64s\"%s", key, words->items[w],
                strcmp(key, "at") == 0 ? ", expected one, or random, spread, first_fit or least_power"
                                       : ", expected one that is there");
    }
    *ret_n = 0;
    for (uint32_t h = 0; h < b->n_hosts; h++) {
        if ((words->n == 0 || in[h]) && (!only_on || is_on(&b->hosts[h])))
            ret[(*ret_n)++] = h;
    }
    return 0;
}

static bool same_list(const struct ids *a, const struct ids *b)
{
    return a->items == b->items && a->n == b->n;
}

static int resolve_compatible(struct placement *p, struct vm_spec *v)
{
    struct building *b = p->b;
    struct ids *ids = &v->seen.compatible_hosts;

    if (!same_list(ids, &p->named)) {
        uint32_t n;
        int r = meant_hosts(b, ids, v->line, "compatible", false, p->usable, &n);
        if (r < 0)
            return r;
        const char **items = arena_array(b->f.a, const char *, n);

        for (uint32_t i = 0; i < n; i++)
            items[i] = b->hosts[p->usable[i]].seen.is.id;
        p->named = *ids;
        p->resolved = (struct ids){.items = items, .n = n};
    }
    *ids = p->resolved;
    return 0;
}

/* Keeps the usable hosts that can run the VM. */
static void keep_compatible(struct placement *p, const struct vm_spec *v)
{
    const struct ids *ids = &v->seen.compatible_hosts;
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_usable; i++) {
        const char *id = p->b->hosts[p->usable[i]].seen.is.id;
        for (uint32_t k = 0; k < ids->n; k++) {
            if (strcmp(ids->items[k], id) == 0) {
                p->usable[n++] = p->usable[i];
                break;
            }
        }
    }
    p->n_usable = n;
}

static bool asks_alike(const struct vm_spec *a, const struct vm_spec *b)
{
    return a && same_list(&a->at.hosts, &b->at.hosts) &&
           a->seen.compatible_given == b->seen.compatible_given &&
           same_list(&a->seen.compatible_hosts, &b->seen.compatible_hosts);
}

static int place_one(struct placement *p, struct vm_spec *v)
{
    struct building *b = p->b;
    int r;

    if (!asks_alike(p->asked, v)) {
        if ((r = meant_hosts(b, &v->at.hosts, v->line, "at", true, p->usable, &p->n_usable)) < 0)
            return r;
        if (v->seen.compatible_given)
            keep_compatible(p, v);
        p->asked = v;
    }
    uint32_t host = pick(p, v);

    if (p->n_usable == 0)
        return reader_complain_line(&b->f, v->line, "VM \"%s\" may begin on none of the hosts that are on",
                                    v->seen.is.id);
    if (host == IX_NONE)
        return reader_complain_line(&b->f, v->line,
                                    "VM \"%s\" fits on none of the %u hosts that it may begin on",
                                    v->seen.is.id, p->n_usable);
    take(p, v, host);
    return 0;
}

static int by_id(const void *key, const void *item)
{
    return strcmp(key, ((const struct host_spec *)item)->seen.is.id);
}

/* The hosts in the snapshot; snapshot_build() refuses a missing host. */
static void take_present(struct placement *p, struct vm_spec *v)
{
    const struct building *b = p->b;
    const struct host_spec *h = bsearch(v->seen.host, b->hosts, b->n_snapshot_hosts, sizeof *b->hosts, by_id);

    if (h)
        take(p, v, (uint32_t)(h - b->hosts));
}

int placement_build(struct building *b)
{
    struct placement p = {
        .b = b,
        .rooms = arena_array(b->f.a, struct room, b->n_hosts),
        .usable = arena_array(b->f.a, uint32_t, b->n_hosts),
    };
    int r = 0;

    for (size_t i = 0; i < b->n_vms; i++) {
        struct vm_spec *v = &b->vms[i];
        if (v->compatible_named && (r = resolve_compatible(&p, v)) < 0)
            return r;
        if (!v->at.given && v->seen.host && v->seen.is.state == VM_ON)
            take_present(&p, v);
    }
    for (size_t i = 0; r == 0 && i < b->n_vms; i++) {
        struct vm_spec *v = &b->vms[i];
        if (v->seen.is.state == VM_ON && (!v->seen.host || v->at.given))
            r = place_one(&p, v);
    }
    return r;
}
