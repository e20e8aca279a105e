/* proxmox.h: the collector of a Proxmox VE cluster, by its REST API (`source: kind: proxmox`). See README.md.
 */
#ifndef BALLAST_COLLECTORS_PROXMOX_H
#define BALLAST_COLLECTORS_PROXMOX_H

#include <ballast/plugin.h>

extern const struct source_kind proxmox_source;
extern const struct collector_ops proxmox_collector;
extern const struct plugin proxmox_plugin;

#endif
