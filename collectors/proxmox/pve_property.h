/* pve_property.h: the texts within the values of a guest's configuration and of HA's rules.
 *
 *     virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=20        properties; the first may have no name
 *     local-lvm:vm-100-disk-0,size=32G
 *     n1:2,n2                                             a list, each item with a number or none
 *     vm:100,ct:101;web                                   a list; separators are , ; and blanks
 *
 * Nothing here fails: what is malformed is not found. Source: pve-common (JSONSchema.pm,
 * parse_property_string, split_list). */
#ifndef BALLAST_COLLECTORS_PROXMOX_PVE_PROPERTY_H
#define BALLAST_COLLECTORS_PROXMOX_PVE_PROPERTY_H

#include <ballast/arena.h>

#include <stdbool.h>
#include <stddef.h>

/* The value of the property `name`, a copy in the arena; NULL: there is none. name NULL: the first value that
 * has no name. */
const char *pve_property(const char *text, const char *name, struct arena *a);

/* The next item of a list, a copy in the arena; NULL: there is none. Begin with *at at the text; NULL is an
 * empty list. */
const char *pve_list_next(const char **at, struct arena *a);

/* The next node of a list such as "n1:2,n2" and its priority, 0 where none is given. */
const char *pve_node_next(const char **at, unsigned *ret_priority, struct arena *a);

/* Whether the key is one of a family: "net" and digits. */
bool pve_is_of(const char *key, const char *family);

#endif
