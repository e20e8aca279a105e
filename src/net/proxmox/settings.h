/* settings.h: the configuration of a Proxmox VE cluster (`source: kind: proxmox`), beside what all sources
 * have. */
#ifndef BALLAST_NET_PROXMOX_SETTINGS_H
#define BALLAST_NET_PROXMOX_SETTINGS_H

struct proxmox_settings {
    const char *const *other_urls;   /* of other nodes of the cluster, NULL at the end; NULL: none */
    const char *const *fingerprints; /* of certificates, as http.h has them; NULL or empty: none */
};

#endif
