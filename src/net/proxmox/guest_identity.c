/* guest_identity.c: finds the identity in the properties of a configuration. */
#include "net/proxmox/guest_identity.h"

#include "net/peer_json.h"

#include <stdio.h>
#include <string.h>

/* The value of a property of a list such as "uuid=6d...,base64=1"; NULL: the list has none. */
static const char *property(const char *list, const char *name, size_t *ret_len)
{
    const size_t len = strlen(name);

    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, name, len) == 0 && at[len] == '=') {
            *ret_len = strcspn(at + len + 1, ",");
            return at + len + 1;
        }
    }
    return NULL;
}

/* "virtio=BC:24:11:00:00:01,bridge=vmbr0", of a container "name=eth0,bridge=vmbr0,hwaddr=BC:24:..." */
static const char *mac_of(const char *net, size_t *ret_len)
{
    const char *hwaddr = property(net, "hwaddr", ret_len), *model = net ? strchr(net, '=') : NULL;

    if (hwaddr || !model)
        return hwaddr;
    *ret_len = strcspn(model + 1, ",");
    return *ret_len == strlen("BC:24:11:00:00:01") && model[3] == ':' ? model + 1 : NULL;
}

void pve_guest_identity(const json_t *config, char ret[PVE_IDENTITY_MAX])
{
    const char *generation = peer_json_text(config, "vmgenid");
    size_t len = 0;
    const char *is = property(peer_json_text(config, "smbios1"), "uuid", &len);

    if (!is && generation && strlen(generation) > 1) { /* "0": switched off */
        is = generation;
        len = strlen(generation);
    }
    if (!is)
        is = mac_of(peer_json_text(config, "net0"), &len);
    (void)snprintf(ret, PVE_IDENTITY_MAX, "%.*s", is ? (int)len : 0, is ? is : "");
}
