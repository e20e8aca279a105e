/* capabilities_xml.h: what a host says of itself, as far as Ballast uses it. The text may be anything, as
 * those of domain_xml.h. */
#ifndef BALLAST_COLLECTORS_LIBVIRT_CAPABILITIES_XML_H
#define BALLAST_COLLECTORS_LIBVIRT_CAPABILITIES_XML_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/facts.h>

#include <stdbool.h>
#include <stdint.h>

struct capabilities_xml {
    const char *uuid;     /* NULL: none */
    const char *arch;     /* NULL: none */
    const char *vendor;   /* "intel", "amd", or as libvirt has it, in small letters; NULL: not known */
    const char *host_cpu; /* a name for the CPU that host-passthrough gives: equal hosts have equal names */
    double tsc_mhz;       /* the nominal clock; UNKNOWN */
    struct objects numa;  /* struct numa_cell: its NUMA nodes; none: not known, or not plausible */
    struct ids machines;  /* "x86_64/pc-q35-7.2" */
};

/* -EFBIG, -EPROTO with the fault. */
int capabilities_xml_read(const char *text, struct arena *a, struct capabilities_xml *ret, struct err *err);

#endif
