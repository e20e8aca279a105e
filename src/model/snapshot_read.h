/* snapshot_read.h: what the readers of JSON files share. Inside model only. */
#ifndef BALLAST_MODEL_SNAPSHOT_READ_H
#define BALLAST_MODEL_SNAPSHOT_READ_H

#include "model/snapshot_json.h"

/* The text as JSON, which is the caller's; no key is given twice in an object. */
int snapshot_read_json(const struct reader *r, const char *text, size_t len, json_t **ret);

/* Adds a VM, with what follows from its other fields. */
int snapshot_read_vm(const struct reader *r, const struct node *n, struct inventory *inv);

#endif
