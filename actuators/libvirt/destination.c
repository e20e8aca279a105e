/* destination.c: what a destination must have before a VM is sent there. libvirt itself finds some of it only
 * after the copying; and some not at all. */
#include "actuators/libvirt/operations.h"

#include "base/cleanup.h"
#include "net/libvirt/connections.h"
#include "net/libvirt/domain_xml.h"

#include <errno.h>
#include <libvirt/virterror.h>
#include <stdlib.h>
#include <string.h>

static int check_vm_name(const struct vm_looks *l, struct err *err)
{
    virDomainPtr same = virDomainLookupByName(l->to.conn, l->from.name);

    if (!same)
        return 0;
    (void)virDomainFree(same);
    return err_set(err, -EPERM, "%s has another VM with the name %s", l->to.host, l->from.name);
}

/* A network of libvirt, or an interface of the host. */
static bool has_network(virConnectPtr conn, const char *name)
{
    virNetworkPtr net = virNetworkLookupByName(conn, name);
    virInterfacePtr nic = net ? NULL : virInterfaceLookupByName(conn, name);
    bool has = net ? virNetworkIsActive(net) == 1 : nic != NULL;

    if (net)
        (void)virNetworkFree(net);
    if (nic)
        (void)virInterfaceFree(nic);
    return has;
}

/* Only where the VM's own host shows the network in the same way: not every libvirt lists its interfaces. */
static int check_networks(const struct vm_looks *l, const struct domain_xml *d, struct err *err)
{
    for (uint32_t i = 0; i < d->networks.n; i++) {
        const char *name = d->networks.items[i];

        if (!has_network(l->to.conn, name) && has_network(l->from.conn, name))
            return err_set(err, -EPERM, "%s has no active network or bridge %s, which VM %s needs",
                           l->to.host, name, l->from.name);
    }
    return 0;
}

static int check_pools(const struct vm_looks *l, const struct domain_xml *d, struct err *err)
{
    for (size_t i = 0; i < d->n_disks; i++) {
        const char *name = d->disks[i].pool;
        virStoragePoolPtr pool = name ? virStoragePoolLookupByName(l->to.conn, name) : NULL;
        bool active = pool && virStoragePoolIsActive(pool) == 1;

        if (pool)
            (void)virStoragePoolFree(pool);
        if (name && !active)
            return err_set(err, -EPERM, "%s has no active storage pool %s, which VM %s needs", l->to.host,
                           name, l->from.name);
    }
    return 0;
}

static bool cannot_give(virConnectPtr conn, const struct domain_xml *d)
{
    return virConnectCompareHypervisorCPU(conn, NULL, d->arch, NULL, d->type, d->cpu_xml, 0) ==
           VIR_CPU_COMPARE_INCOMPATIBLE;
}

/* A comparison that the VM's own host fails, too, says nothing. */
static int check_cpu(const struct vm_looks *l, const struct domain_xml *d, struct err *err)
{
    if (d->cpu != DOMAIN_CPU_MODEL || !d->cpu_xml || !cannot_give(l->to.conn, d) ||
        cannot_give(l->from.conn, d))
        return 0;
    return err_set(err, -EPERM, "the CPU of %s lacks features of the CPU that VM %s runs with (%s)",
                   l->to.host, l->from.name, d->cpu_model ? d->cpu_model : "?");
}

int destination_check(const struct vm_looks *looks, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(freep) char *text = virDomainGetXMLDesc(looks->from.dom, 0);
    struct domain_xml d;
    int r;

    if (!text)
        return libvirt_connections_fail(err, looks->from.host);
    if ((r = domain_xml_read(text, &a, &d, err)) < 0)
        return err_widen(err, "VM %s", looks->from.name);
    if (d.immovable)
        return err_set(err, -EPERM, "VM %s stays on %s because of %s", looks->from.name, looks->from.host,
                       d.immovable);
    if ((r = check_vm_name(looks, err)) < 0 || (r = check_networks(looks, &d, err)) < 0 ||
        (r = check_pools(looks, &d, err)) < 0)
        return r;
    return looks->from.side.is == SIDE_RUNNING ? check_cpu(looks, &d, err) : 0;
}
