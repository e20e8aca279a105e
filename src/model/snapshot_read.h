/* snapshot_read.h: helpers that the readers of JSON files share. Inside model only. */
#ifndef BALLAST_MODEL_SNAPSHOT_READ_H
#define BALLAST_MODEL_SNAPSHOT_READ_H

#include "model/snapshot_json.h"

/* Parses the text; the caller frees the JSON. Duplicate keys in an object are an error. */
int snapshot_read_json(const struct reader *r, const char *text, size_t len, json_t **ret);

/* Adds a VM, with the defaults that follow from its other fields. */
int snapshot_read_vm(const struct reader *r, const struct node *n, struct inventory *inv);

#endif
