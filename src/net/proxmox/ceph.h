/* proxmox/ceph.h: what Ceph runs on a node, by the answer to /cluster/ceph/metadata. Pure.
 *
 *     {"mon":{"n1@n1":{"hostname":"n1",...}},"mgr":{...},"mds":{...},"osd":[{"id":0,"hostname":"n1",...}]}
 *
 * A service that is not up may lack its host's name; then its key has it. Source: pve-manager
 * (PVE/API2/Cluster/Ceph.pm, PVE/Ceph/Tools.pm). */
#ifndef BALLAST_NET_PROXMOX_CEPH_H
#define BALLAST_NET_PROXMOX_CEPH_H

#include <jansson.h>
#include <stdbool.h>

/* Whether a request failed because the node that was asked has no Ceph, or the cluster no configuration of
 * it. code, reason: as in struct err. Nothing follows for other nodes. */
bool pve_ceph_is_missing(int code, const char *reason);

/* Whether the answer has all kinds of services, and the host of each: else one that it does not show may run
 * anywhere. */
bool pve_ceph_is_whole(const json_t *metadata);

/* service: "mon", "mgr", "mds" or "osd". */
bool pve_ceph_runs(const json_t *metadata, const char *service, const char *node);

#endif
