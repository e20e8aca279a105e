/* loads.h: hosts looked up in the figures of a state. */
#ifndef BALLAST_RENDER_LOADS_H
#define BALLAST_RENDER_LOADS_H

#include <ballast/plan.h>

#include <stddef.h>

/* The host that is loaded most (sign 1) or least (sign -1); NULL where no host can run VMs. */
static inline const struct host_load *loads_extreme(const struct metrics *m, enum resource r, int sign)
{
    const struct host_load *best = NULL;

    for (uint32_t i = 0; i < m->n_hosts; i++) {
        if (!best || sign * m->hosts[i].n[r] > sign * best->n[r])
            best = &m->hosts[i];
    }
    return best;
}

/* The host's own; NULL for one that cannot run VMs. */
static inline const struct host_load *loads_of_host(const struct metrics *m, uint32_t host)
{
    for (uint32_t i = 0; i < m->n_hosts; i++) {
        if (m->hosts[i].host == host)
            return &m->hosts[i];
    }
    return NULL;
}

#endif
