#include "sim/pretend/pretend_internal.h"

#include "model/freeze.h"
#include "model/snapshot_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static double machine_clock(void *clock)
{
    struct timespec t;

    (void)clock;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

instant_s pretend_instant(const struct pretend *p)
{
    return p->epoch ? p->epoch + (instant_s)p->now_s(p->clock) : (instant_s)time(NULL);
}

static int fill(struct pretend *p, const struct pretend_options *o, struct err *err)
{
    if (o->file)
        return snapshot_load(o->file, &p->arena, &p->snap, NULL, err);
    struct inventory inv = {.time = pretend_instant(p)};

    pretend_fill(&inv, &p->arena, "pretend");
    return snapshot_freeze(&inv, &p->arena, &p->snap, err);
}

int pretend_new(const struct pretend_options *options, struct pretend **ret, struct err *err)
{
    struct pretend *p = calloc(1, sizeof *p);
    int r;

    if (!p)
        return err_set(err, -ENOMEM, "out of memory");
    p->speed = options->speed > 0 ? options->speed : 1;
    p->seed = options->seed;
    p->now_s = options->now_s ? options->now_s : machine_clock;
    p->clock = options->clock;
    p->epoch = options->epoch;
    if ((r = fill(p, options, err)) < 0) {
        arena_release(&p->arena);
        free(p);
        return r;
    }
    if (options->cluster)
        p->snap.cluster = arena_strdup(&p->arena, options->cluster);
    if (getrandom(&p->instance, sizeof p->instance, 0) != (ssize_t)sizeof p->instance)
        p->instance = (unsigned)time(NULL);
    p->faults = arena_array(&p->arena, enum pretend_fault, p->snap.n_vms + 1);
    p->removed = arena_array(&p->arena, bool, p->snap.n_vms + 1);
    p->refuses_settings = arena_array(&p->arena, bool, p->snap.n_hosts + 1);
    p->cap_settings = p->snap.n_settings;
    (void)pthread_mutex_init(&p->lock, NULL);
    *ret = p;
    return 0;
}

void pretend_free(struct pretend *p)
{
    if (!p)
        return;
    (void)pthread_mutex_destroy(&p->lock);
    free(p->tasks);
    arena_release(&p->arena);
    free(p);
}

/* ---- what a test does to it ---- */

/* The VM, with the lock held, whatever comes of it; IX_NONE if there is none. */
static uint32_t enter(struct pretend *p, const char *vm)
{
    (void)pthread_mutex_lock(&p->lock);
    pretend_settle(p);
    uint32_t ix = snapshot_find_vm(&p->snap, vm);

    return ix != IX_NONE && p->removed[ix] ? IX_NONE : ix;
}

static int leave(struct pretend *p, uint32_t vm)
{
    (void)pthread_mutex_unlock(&p->lock);
    return vm == IX_NONE ? -ENOENT : 0;
}

int pretend_set_fault(struct pretend *p, const char *vm, enum pretend_fault fault)
{
    uint32_t ix = enter(p, vm);

    if (ix != IX_NONE)
        p->faults[ix] = fault;
    return leave(p, ix);
}

void pretend_set_deaf(struct pretend *p, bool deaf)
{
    (void)pthread_mutex_lock(&p->lock);
    p->deaf = deaf;
    (void)pthread_mutex_unlock(&p->lock);
}

int pretend_set_demand(struct pretend *p, const char *vm, double cpu_mhz, double mem_mb)
{
    uint32_t ix = enter(p, vm);

    if (ix != IX_NONE) {
        p->snap.vms[ix].is.demand[RES_CPU] = cpu_mhz;
        p->snap.vms[ix].is.demand[RES_MEM] = mem_mb;
    }
    return leave(p, ix);
}

int pretend_remove_vm(struct pretend *p, const char *vm)
{
    uint32_t ix = enter(p, vm);

    if (ix != IX_NONE)
        p->removed[ix] = true;
    return leave(p, ix);
}

const char *pretend_where(struct pretend *p, const char *vm)
{
    uint32_t ix = enter(p, vm);
    const char *host = NULL;

    if (ix != IX_NONE && p->snap.vms[ix].host != IX_NONE)
        host = p->snap.hosts[p->snap.vms[ix].host].is.id;
    (void)leave(p, ix);
    return host;
}

unsigned pretend_migrations_begun(struct pretend *p)
{
    (void)pthread_mutex_lock(&p->lock);
    unsigned n = p->begun;

    (void)pthread_mutex_unlock(&p->lock);
    return n;
}

int pretend_refuse_settings(struct pretend *p, const char *host, bool refuses)
{
    (void)pthread_mutex_lock(&p->lock);
    uint32_t ix = snapshot_find_host(&p->snap, host);

    if (ix != IX_NONE)
        p->refuses_settings[ix] = refuses;
    (void)pthread_mutex_unlock(&p->lock);
    return ix == IX_NONE ? -ENOENT : 0;
}

unsigned pretend_settings_applied(struct pretend *p)
{
    (void)pthread_mutex_lock(&p->lock);
    unsigned n = p->settings_applied;

    (void)pthread_mutex_unlock(&p->lock);
    return n;
}
