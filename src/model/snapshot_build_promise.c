/* snapshot_build_promise.c: what the source's policy of failover capacity and that of the configuration
 * promise together. */
#include "model/snapshot_build.h"

#include <math.h>

/* Both policies are kept. Slots for the loss of hosts are slots for each VM by itself as well; where only the
 * source asks for the former, they keep what its policy promises: reservations. */
void snapshot_build_promise(struct snapshot *s)
{
    const struct ha_facts *source = &s->ha;
    const struct ha_configured *own = &s->ha_configured;
    uint32_t of_source = source->policy == HA_HOST_FAILURES ? source->hosts : 0;
    uint32_t of_own = own->policy == HA_HOST_FAILURES ? own->hosts : 0;

    s->promise =
        (struct failover_promise){.hosts = of_source > of_own ? of_source : of_own,
                                  .by_admission = of_own > 0 || (own->policy == HA_PERCENT && of_source == 0),
                                  .by_source = of_source > 0 || source->policy == HA_PERCENT};
    for (uint32_t i = 0; i < s->n_vms && !s->promise.in_capacity; i++)
        s->promise.in_capacity = s->vms[i].is.alloc[RES_MEM].reservation > 0;
    for (int r = 0; r < RES_COUNT; r++)
        s->promise.percent[r] = fmax(source->policy == HA_PERCENT ? source->percent[r] : 0,
                                     own->policy == HA_PERCENT ? own->percent[r] : 0);
}
