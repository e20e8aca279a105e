/* generate_parts.h: types and helpers that the files of the generator share. */
#ifndef BALLAST_MODEL_GENERATE_PARTS_H
#define BALLAST_MODEL_GENERATE_PARTS_H

#include "base/rng.h"
#include "model/generate.h"

struct generation {
    const struct generate_options *options;
    struct arena *a;
    struct inventory inv;
    struct rng rng;
    uint32_t *host_of;    /* VM -> host */
    uint32_t *vms_of;     /* VMs, host by host */
    uint32_t *first_of;   /* host -> the index of its first VM in vms_of; one entry more than hosts */
    double *cpu_capacity; /* of each host, available to VMs */
    double *mem_capacity;
};

/* "h007" for number 7 of 1,000: padded, so that ids sort by number. */
const char *generate_id(struct generation *g, const char *prefix, uint32_t number, uint32_t of);

/* Sets demand and the fields that follow from it: memory in use, windows, stable time, dirty rate. cpu_before
 * is the demand before the last change; equal to the demand if there was no change. */
struct vm_use {
    double cpu_mhz, cpu_before_mhz, cpu_most_mhz;
    double consumed_mb, active_mb;
};
void generate_use(struct generation *g, struct vm_facts *f, const struct vm_use *use);

/* The VMs of §5.2, and their pools. */
void generate_spike_vms(struct generation *g);

/* A pool tree over the existing VMs, and rules that no VM violates. */
void generate_pools(struct generation *g);
void generate_pools_rules(struct generation *g);

#endif
