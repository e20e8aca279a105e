/* domain_numa.h: the NUMA nodes of its host that a domain is bound to. Of domain_xml.c. */
#ifndef BALLAST_NET_LIBVIRT_DOMAIN_NUMA_H
#define BALLAST_NET_LIBVIRT_DOMAIN_NUMA_H

#include "net/libvirt/domain_xml.h"

struct _xmlNode;

/* Sets ret->numa; after its vCPUs and memory are known. */
void domain_numa_read(const struct _xmlNode *root, struct arena *a, struct domain_xml *ret);

#endif
