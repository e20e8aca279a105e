/* domain_xml.h: the description of a domain, as far as Ballast uses it.
 *
 * The text comes from a host and may be anything: its size is bounded here, the rest by net/xml.h. What
 * cannot be read keeps its default. All strings live in the arena. */
#ifndef BALLAST_NET_LIBVIRT_DOMAIN_XML_H
#define BALLAST_NET_LIBVIRT_DOMAIN_XML_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/facts.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Above all that libvirt sends (4 MiB a string). */
#define LIBVIRT_XML_BYTES_MAX ((size_t)4 << 20)

enum domain_cpu {
    DOMAIN_CPU_NONE,  /* QEMU's default, or not readable */
    DOMAIN_CPU_MODEL, /* a model and features, also of host-model once the domain runs */
    DOMAIN_CPU_HOST,  /* the host's own: host-passthrough, maximum */
};

struct domain_disk {
    const char *path;   /* a file or a device of the host; NULL: none */
    const char *pool;   /* a volume of this storage pool; NULL: none */
    const char *volume; /* its name; NULL: none is given */
    bool optional;      /* a medium without which it starts, too */
    const char *target; /* as what the guest has it, "vda"; NULL: not known */
    bool copyable;      /* a migration can copy it: the domain's own, and written to */
    double size_mb;     /* of what a copy sends; 0: not known. Not in the description */
};

struct domain_xml {
    const char *uuid, *name;
    const char *type; /* "kvm", "qemu" */
    const char *arch, *machine;
    uint32_t vcpus;
    double mem_mb; /* configured */
    enum domain_cpu cpu;
    const char *cpu_xml; /* of DOMAIN_CPU_MODEL: in one spelling, for libvirt to compare and to tell apart */
    const char *cpu_model;
    double shares;       /* 0: the host's default */
    double vcpu_quota;   /* CPUs that each vCPU may use; NO_LIMIT */
    double global_quota; /* CPUs that the domain may use; NO_LIMIT */
    bool set;            /* these three are Ballast's (controls.h); the admin's own ones: */
    double own_shares, own_vcpu_quota, own_global_quota; /* as the three; the same, if not set */
    double hard_limit_mb;                                /* NO_LIMIT */
    double min_guarantee_mb;                             /* 0: none */
    bool locked;                                         /* its memory */
    struct objects numa; /* struct vm_numa_cell: those whose memory must be in one NUMA node of the host */
    struct ids networks; /* names of networks, bridges and interfaces */
    struct domain_disk *disks; /* those on the network, which every host reaches, are left out */
    size_t n_disks;
    struct labels labels;
    const char *owner;                      /* by OpenStack's metadata: the project's id; NULL: none */
    struct attributes flavor, image;        /* likewise: name, mem_mb, vcpus and so on; the image's id */
    struct ids left_over;                   /* tasks of which something may be left over (settings.h) */
    const char *immovable, *mandatory_only; /* as in facts.h */
};

/* MiB of so many units; NULL: KiB. UNKNOWN: no such unit, or not more than 0. */
double domain_xml_mb(int64_t v, const char *unit);

/* -EFBIG, -EPROTO with the fault. */
int domain_xml_read(const char *text, struct arena *a, struct domain_xml *ret, struct err *err);

#endif
