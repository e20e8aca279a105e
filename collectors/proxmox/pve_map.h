/* pve_map.h: from a look at a cluster to an inventory. */
#ifndef BALLAST_COLLECTORS_PROXMOX_PVE_MAP_H
#define BALLAST_COLLECTORS_PROXMOX_PVE_MAP_H

#include "collectors/proxmox/pve_look.h"

#include <ballast/inventory.h>

/* Fills *ret; everything lives in the arena. */
void pve_map(struct pve_look *l, const struct pve_view *view, struct arena *a, struct inventory *ret);

/* ---- for the files of the map ---- */

struct pve_map {
    struct pve_look *look;
    const struct pve_view *view;
    struct arena *a;
    struct inventory *inv;
    struct idmap cpu_modes;  /* "CPU of a host": struct ids, the guests' CPU types that run on such hosts */
    struct idmap pressures;  /* by guest: its row of the node's list */
    struct idmap replicated; /* by guest: the node that has copies of its disks */
    struct idmap hosts;      /* by name: its index in the inventory plus 1 */
};

/* What hosts offer and guests need: bridges, storages, CPU types; and which guests stay where they are. First
 * the hosts, then the guests in the order of the inventory, then the hosts' CPU types. */
void pve_needs_of_host(struct pve_map *m, const struct pve_node *n, struct seen_host *h);
void pve_needs_of_guest(struct pve_map *m, const struct pve_guest *g, struct seen_vm *v);
void pve_needs_cpu_modes(struct pve_map *m);

/* HA's groups and rules. */
void pve_rules(struct pve_map *m);

#define PVE_NAMES_MAX 4096

/* Adds an item to a list that has each name once, at most so many, none longer than an inventory takes. */
void pve_add_name(struct ids *list, const char *name, struct arena *a);

struct seen_host *pve_map_host(const struct pve_map *m, const char *name);

/* The clock of one thread of the host in MHz; UNKNOWN. */
double pve_core_mhz(struct pve_look *l, const char *node);

#endif
