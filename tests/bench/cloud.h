/* cloud.h: a cluster as a cloud has it: zones and aggregates of hosts, traits, owners, flavours, images,
 * hints and groups of VMs, and the pipeline that places all VMs by them: filters, counts and scores; NUMA
 * cells and devices of some hosts. No stage and no cell refuses a VM its own host. The loads are those of
 * SHAPE_SKEWED. */
#ifndef BALLAST_TESTS_BENCH_CLOUD_H
#define BALLAST_TESTS_BENCH_CLOUD_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/inventory.h>

int cloud_generate(uint32_t hosts, uint32_t vms, uint64_t seed, struct arena *a, struct inventory *ret,
                   struct err *err);

#endif
