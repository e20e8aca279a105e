/* fake_cluster_changes.c: a fake cluster changed by a test. */
#include "fake_cluster_changes.h"

#include "sim/fake_cluster/fake_cluster_internal.h"
#include "sim_changes.h"

#include <errno.h>

/* The VM's index, or IX_NONE; takes the lock in either case. */
static uint32_t enter(struct fake_cluster *p, const char *vm)
{
    fake_cluster_enter(p);
    uint32_t ix = snapshot_find_vm(&p->s.initial, vm);

    return ix != IX_NONE && cluster_has_vm(p->cluster, ix) ? ix : IX_NONE;
}

static int leave(struct fake_cluster *p, uint32_t ix)
{
    fake_cluster_leave(p);
    return ix == IX_NONE ? -ENOENT : 0;
}

int fake_cluster_set_fault(struct fake_cluster *p, const char *vm, enum fake_cluster_fault fault)
{
    static const enum sim_fault faults[] = {
        [FAKE_CLUSTER_OBEYS] = sim_fault_count,
        [FAKE_CLUSTER_REFUSES] = SIM_MIGRATION_REFUSED,
        [FAKE_CLUSTER_FAILS] = SIM_MIGRATION_FAILS,
        [FAKE_CLUSTER_HANGS] = SIM_MIGRATION_HANGS,
    };
    uint32_t ix = enter(p, vm);

    if (ix != IX_NONE)
        sim_set_fault(p->cluster, ix, faults[fault]);
    return leave(p, ix);
}

void fake_cluster_set_deaf(struct fake_cluster *p, bool deaf)
{
    static const enum sim_fault both[] = {SIM_SOURCE_DEAF, SIM_ACTUATOR_DEAF};

    fake_cluster_enter(p);
    for (size_t i = 0; i < 2; i++)
        cluster_strike(p->cluster, &(struct scripted_fault){.kind = both[i], .for_s = deaf ? INFINITY : 0});
    fake_cluster_leave(p);
}

int fake_cluster_set_demand(struct fake_cluster *p, const char *vm, double cpu_mhz, double mem_mb)
{
    uint32_t ix = enter(p, vm);

    if (ix != IX_NONE) {
        fake_cluster_set_level(&p->s, ix, cpu_mhz, mem_mb);
        cluster_demand_changed(p->cluster, ix);
    }
    return leave(p, ix);
}

int fake_cluster_remove_vm(struct fake_cluster *p, const char *vm)
{
    uint32_t ix = enter(p, vm);

    if (ix != IX_NONE)
        sim_remove_vm(p->cluster, ix);
    return leave(p, ix);
}

const char *fake_cluster_where(struct fake_cluster *p, const char *vm)
{
    uint32_t ix = enter(p, vm);
    uint32_t host = ix == IX_NONE ? IX_NONE : cluster_vm(p->cluster, ix)->host;

    (void)leave(p, ix);
    return host == IX_NONE ? NULL : p->s.initial.hosts[host].is.id;
}

unsigned fake_cluster_migrations_begun(struct fake_cluster *p)
{
    fake_cluster_enter(p);
    unsigned n = sim_vm_operations(p->cluster);

    fake_cluster_leave(p);
    return n;
}

int fake_cluster_refuse_settings(struct fake_cluster *p, const char *host, bool refuses)
{
    fake_cluster_enter(p);
    uint32_t ix = snapshot_find_host(&p->s.initial, host);

    if (ix != IX_NONE)
        sim_refuse_settings(p->cluster, ix, refuses);
    return leave(p, ix);
}

unsigned fake_cluster_settings_applied(struct fake_cluster *p)
{
    fake_cluster_enter(p);
    unsigned n = p->settings_applied;

    fake_cluster_leave(p);
    return n;
}
