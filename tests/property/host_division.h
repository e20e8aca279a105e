/* host_division.h: what each VM gets of its host, as the host's own scheduler divides it. */
#ifndef BALLAST_TESTS_HOST_DIVISION_H
#define BALLAST_TESTS_HOST_DIVISION_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* Fills in what each VM that takes part gets on the host where it runs (0: the others), MHz or MiB: the
 * host's capacity divided by reservation, limit and shares of the VMs and of the parts that the pools have
 * there (core/divvy/pool_parts.h). What a VM reserves is wanted (core/demand/demand.h). */
void host_division(const struct snapshot *s, struct arena *a, double *ret_got[RES_COUNT]);

#endif
