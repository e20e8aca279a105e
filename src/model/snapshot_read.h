/* snapshot_read.h: helpers that the readers of JSON files share. Inside model only. */
#ifndef BALLAST_MODEL_SNAPSHOT_READ_H
#define BALLAST_MODEL_SNAPSHOT_READ_H

#include "model/snapshot_json.h"
#include "model/vms_json.h"
#include "schema/json_tree.h"

/* As snapshot_read_inventory() and vms_read(), from any source. */
int snapshot_read_source(const struct json_source *source, struct arena *a, struct inventory *ret,
                         struct unknown_fields *unknown, struct err *err);
int vms_read_source(const struct json_source *source, const struct snapshot *cluster, struct arena *a,
                    struct vms_to_place *ret, struct unknown_fields *unknown, struct err *err);

/* Adds a VM, with the defaults that follow from its other fields. */
int snapshot_read_vm(const struct reader *r, const struct node *n, struct inventory *inv);

#endif
