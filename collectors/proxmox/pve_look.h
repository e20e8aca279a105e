/* pve_look.h: one look at a cluster: which requests it makes, and what is known after it.
 *
 * A look asks for the state of everything in a few requests for the whole cluster. What changes seldom, or
 * takes a request for each node or guest, is asked for in rotation: at most two requests a node and ten for
 * the cluster in a look, however many guests there are. Only what was never read, and guests that have
 * changed, come on top, as long as a third of the look's time lasts.
 */
#ifndef BALLAST_COLLECTORS_PROXMOX_PVE_LOOK_H
#define BALLAST_COLLECTORS_PROXMOX_PVE_LOOK_H

#include "base/idmap.h"
#include "collectors/proxmox/pve_cache.h"
#include "collectors/proxmox/pve_read.h"
#include "net/proxmox/session.h"

#define PVE_CLUSTER_REQUESTS 10 /* of a look, for the cluster */

/* How old an answer may be and still be used. */
#define PVE_PRESSURE_MS (INT64_C(180) * 1000)
#define PVE_ARC_MS (INT64_C(900) * 1000)
#define PVE_BALLOON_MS (INT64_C(3600) * 1000)
#define PVE_FACTS_MS (INT64_C(6) * 3600 * 1000)
#define PVE_CONFIG_MS (INT64_C(24) * 3600 * 1000)

/* Above this part of a node's memory, pvestatd may have taken some from its guests by their balloons: it does
 * so above 80 %. */
#define PVE_SQUEEZES 0.75

/* What is remembered of a node and of a guest beyond single answers. */
struct pve_node_memory {
    double mhz; /* the highest clock seen; 0: none */
    bool hung;  /* it did not answer the last request */
};

struct pve_guest_memory {
    uint64_t print;        /* of what would change with its configuration */
    double maxcpu, maxmem; /* as last told; 0: never */
    double uptime;         /* of its process */
    bool on;               /* when its node was last seen */
    bool seen;
};

struct pve_look {
    const struct source_config *cfg;
    struct pve *api;
    struct pve_cache cache;
    struct idmap nodes, guests; /* struct pve_node_memory, struct pve_guest_memory */
    size_t guests_before;       /* of the last look */
    bool has_qdevice;           /* a node knew one, at some time */
    size_t compare_next;        /* the address whose cluster is compared in the next look */
    const char *answers;        /* the address of the last look */
    int64_t now_ms;             /* of this look */
    struct idmap slow_nodes;    /* those that have failed to answer in this look */
};

void pve_look_release(struct pve_look *l);

/* Reads the cluster. *ret and the answers in the cache belong together until the next look. -EPERM: without a
 * privilege what is there cannot be told from what is not; and the errors of pve_get(). */
int pve_look(struct pve_look *l, struct arena *a, struct pve_view *ret, struct err *err);

/* The paths of answers in the cache. */
#define PVE_OPTIONS "/cluster/options"
#define PVE_HA_RESOURCES "/cluster/ha/resources"
#define PVE_HA_RULES "/cluster/ha/rules"
#define PVE_HA_GROUPS "/cluster/ha/groups"
#define PVE_HA_STATUS "/cluster/ha/status/manager_status"
#define PVE_PERMISSIONS "/access/permissions"
#define PVE_VOTES "/cluster/config/nodes"
#define PVE_QDEVICE "/cluster/config/qdevice"
#define PVE_CEPH "/cluster/ceph/metadata"
#define PVE_REPLICATION "/cluster/replication"

/* An answer about a node ("status", "network?type=any_bridge", "qemu", "rrddata?timeframe=hour") or a guest
 * ("config", "status/current"); NULL: none that is young enough. */
const json_t *pve_look_of_node(const struct pve_look *l, const char *node, const char *what,
                               int64_t oldest_ms);
const json_t *pve_look_of_guest(const struct pve_look *l, const struct pve_guest *g, const char *what,
                                int64_t oldest_ms);

#define PVE_STATUS "status"
#define PVE_NETWORK "network?type=any_bridge"
#define PVE_QEMU "qemu"
#define PVE_RRD "rrddata?timeframe=hour"
#define PVE_CONFIG "config"
#define PVE_CURRENT "status/current"

/* The major version of a node; 0: not known. */
unsigned pve_look_major(const struct pve_look *l, const char *node);

struct pve_node_memory *pve_look_node_memory(struct pve_look *l, const char *node);
struct pve_guest_memory *pve_look_guest_memory(struct pve_look *l, const char *id);

#endif
