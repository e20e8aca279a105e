/* vs_preflight.h: what an admin should know of a vCenter before the service starts (ballast/collector.h). */
#ifndef BALLAST_COLLECTORS_VSPHERE_PREFLIGHT_H
#define BALLAST_COLLECTORS_VSPHERE_PREFLIGHT_H

#include "collectors/vsphere/vs_tags.h"
#include "net/vsphere/session.h"

#include <ballast/inventory.h>
#include <ballast/preflight.h>

/* What the collector has learnt by its collect(). */
struct vs_seen {
    const struct source_config *cfg;
    struct vsphere *vsphere;
    const struct vs_tags *tags;
    const char *cluster;         /* its id; "": not found */
    const struct inventory *inv; /* NULL: collect() has failed, ... */
    const struct err *err;       /* ... with this */
    size_t unreadable;           /* properties that the user may not read */
    bool no_counters;            /* quick stats are used instead */
    bool no_attributes;          /* the names of custom attributes cannot be read */
    bool no_devices;
};

/* operations: 1u << OPERATION_* that the service carries out by itself. */
void vs_preflight(const struct vs_seen *seen, unsigned operations, struct preflight *ret);

#endif
