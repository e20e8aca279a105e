/* preflight.c: connection, login and figures of each host as items for an admin. It asks no host itself. */
#include "collectors/libvirt/preflight.h"

#include "net/libvirt/refusals.h"

#include <errno.h>
#include <string.h>

#define VMS_LISTED_MOST 3

static const char *advice_for_login(const char *uri, bool about_user)
{
    if (!about_user && strstr(uri, "+tls://"))
        return "this machine's certificates are /etc/pki/CA/cacert.pem, /etc/pki/libvirt/clientcert.pem and "
               "/etc/pki/libvirt/private/clientkey.pem, or cacert.pem, clientcert.pem and clientkey.pem in "
               "the "
               "folder of pkipath= in the URI";
    if (strstr(uri, "+ssh://"))
        return "try `sudo -u ballast ssh -o BatchMode=yes HOST true`, ballast being the user of the service";
    if (strstr(uri, "+unix://"))
        return "the user of the service needs the group of the socket, usually libvirt";
    return "check source.username and source.password_file";
}

static void add_no_answer(const char *uri, const struct err *err, struct preflight *ret)
{
    preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM, "%s", err->text);
    bool about_user = err->code == -EACCES && libvirt_refusals_is_about_user(err->text);

    preflight_about(ret, about_user ? "source.password_file" : "source.hosts", NULL);
    switch (err->code) {
    case -EACCES:
        preflight_advise(ret, "%s", advice_for_login(uri, about_user));
        break;
    case -ETIMEDOUT:
        preflight_advise(
            ret, "check that the host is on and that no firewall drops its port (qemu+tls 16514, qemu+tcp "
                 "16509, ssh 22); a host that is only slow may have source.host_timeout_s");
        break;
    default:
        preflight_advise(ret, "check the host's uri, and that its libvirtd or its sockets run and listen");
        break;
    }
}

/* Without a driver in the guest nothing tells how much of its memory it uses. */
static size_t count_silent(const struct host_look *look)
{
    size_t n = 0;

    for (size_t i = 0; i < look->n_domains; i++)
        n += look->domains[i].active && isnan(look->domains[i].stats.guest_used_mb);
    return n;
}

void libvirt_preflight_host(const struct libvirt_host_settings *host, const struct host_look *look,
                            const struct err *err, struct preflight *ret)
{
    if (!look) {
        add_no_answer(host->uri, err, ret);
        return;
    }
    preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_OK,
                  "%s answers: libvirt %lu.%lu.%lu, %zu domains, %u CPUs of %.0f MHz", host->name,
                  look->libvirt_version / 1000000, look->libvirt_version / 1000 % 1000,
                  look->libvirt_version % 1000, look->n_domains, look->cpus, look->core_mhz);
    if (strstr(host->uri, "+tcp://")) {
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM, "THE CONNECTION TO %s IS NOT ENCRYPTED",
                      host->name);
        preflight_advise(ret, "use qemu+tls or qemu+ssh, outside of a laboratory");
    }
    if (isnan(look->core_mhz)) {
        preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_PROBLEM,
                      "%s does not report the clock rate of its CPUs, so it counts as disconnected",
                      host->name);
        preflight_advise(ret, "set cpu_mhz of the host in source.hosts");
    }
    if (!look->networks.known)
        preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE,
                      "%s does not list all its interfaces: whether it has a VM's bridge shows only when the "
                      "VM is moved",
                      host->name);
    size_t silent = count_silent(look);
    if (silent > 0) {
        preflight_add(
            ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE,
            "%zu VMs on %s do not say how much of their memory they use: all that QEMU holds for them counts",
            silent, host->name);
        preflight_advise(ret, "give them <memballoon model='virtio'><stats period='10'/></memballoon>");
    }
}

void libvirt_preflight_vms(const struct inventory *inv, struct preflight *ret)
{
    size_t listed = 0;

    for (size_t i = 0; inv && i < inv->n_vms; i++) {
        const struct vm_facts *v = &inv->vms[i].is;

        if (v->state != VM_ON || !v->immovable)
            continue;
        if (listed++ < VMS_LISTED_MOST)
            preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE, "VM %s stays on its host because of %s",
                          v->name, v->immovable);
    }
    if (listed > VMS_LISTED_MOST)
        preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE, "%zu more VMs stay on their hosts",
                      listed - VMS_LISTED_MOST);
}
