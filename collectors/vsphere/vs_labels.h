/* vs_labels.h: what people wrote about VMs and hosts: custom attributes as labels, and folders of VMs. */
#ifndef BALLAST_COLLECTORS_VSPHERE_LABELS_H
#define BALLAST_COLLECTORS_VSPHERE_LABELS_H

#include "collectors/vsphere/vs_inventory.h"

/* Of a VM or a host: its property customValue; the keys are numbers. */
struct vs_inventory_custom vs_labels_read(const xml_node *list, struct arena *a);

/* The names of the custom attributes, CustomFieldsManager.field, by which vs_labels_map() names labels. */
struct vs_inventory_custom vs_labels_fields(const xml_node *list, struct arena *a);

/* Host i of `s` is host i of `inv`; kept[v] says whether VM v is there, in order. Hosts with the same tag
 * also become a group of the kind "tag:CATEGORY". */
void vs_labels_map(const struct vs_inventory *s, const bool *kept, struct inventory *inv);

#endif
