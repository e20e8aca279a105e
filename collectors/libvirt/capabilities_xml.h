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
    struct ids features;  /* of its CPU, those beyond its model */
    const char *cpu_xml;  /* its CPU, for libvirt to name all features; NULL: not known */
};

/* The features that the description of a CPU names; what cannot be read has none. */
struct ids capabilities_xml_features(const char *cpu_xml, struct arena *a);

/* -EFBIG, -EPROTO with the fault. */
int capabilities_xml_read(const char *text, struct arena *a, struct capabilities_xml *ret, struct err *err);

#endif
