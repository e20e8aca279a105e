/* pve_read.h: the answers of the API as rows. They come from a peer that is not trusted: texts are checked
 * where they become part of a path or an id, numbers are UNKNOWN where they cannot be right, and what is no
 * row is left out.
 *
 * Source: pve-manager (PVE/API2Tools.pm, PVE/API2/Cluster.pm), Proxmox VE 8.4 to 9.2. */
#ifndef BALLAST_COLLECTORS_PROXMOX_PVE_READ_H
#define BALLAST_COLLECTORS_PROXMOX_PVE_READ_H

#include <ballast/arena.h>
#include <ballast/err.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define PVE_NODES_MAX 1024
#define PVE_GUESTS_MAX 200000

/* Sizes in bytes, loads as fractions; UNKNOWN: not told. */
struct pve_node {
    const char *name;
    const char *status;  /* "online", "offline", "unknown" */
    const char *hastate; /* NULL: none */
    double cpu, maxcpu, mem, maxmem, uptime;
    double votes;
    bool in_members, online; /* by /cluster/status */
    bool local;              /* it answers */
};

struct pve_guest {
    const char *id; /* "100" */
    const char *name, *node, *status;
    bool container, is_template;
    double cpu, maxcpu, mem, maxmem, memhost, uptime;
    const char *tags, *lock, *pool, *hastate; /* NULL: none */
};

struct pve_storage {
    const char *name, *node, *content;
    bool shared, available;
};

struct pve_view {
    const char *cluster; /* its name; NULL: a node of its own */
    bool quorate;
    struct pve_node *nodes;
    struct pve_guest *guests;
    struct pve_storage *storages;
    size_t n_nodes, n_guests, n_storages;
};

/* Adds the rows of /cluster/resources. All texts live in the arena. -EPROTO: it is no list, or has too many
 * rows. */
int pve_read_resources(const json_t *data, struct arena *a, struct pve_view *ret, struct err *err);

/* Adds what /cluster/status knows to the nodes, which were read before: members, quorum, who answers. -EPROTO
 */
int pve_read_status(const json_t *data, struct arena *a, struct pve_view *view, struct err *err);

/* Adds the votes of /cluster/config/nodes. */
void pve_read_votes(const json_t *data, struct pve_view *view);

struct pve_node *pve_find_node(const struct pve_view *view, const char *name);

/* The major number of "9.1.11" or "pve-manager/9.1.11/0a1b2c3d"; 0: it is none. */
unsigned pve_major(const char *version);

/* Whether the effective privileges (/access/permissions) have this one at the path. */
bool pve_may(const json_t *permissions, const char *path, const char *privilege);

#endif
