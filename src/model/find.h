/* find.h: an object by its id. Inside model only: others have snapshot_find_host() and the like. */
#ifndef BALLAST_MODEL_FIND_H
#define BALLAST_MODEL_FIND_H

#include <ballast/snapshot.h>

/* The place of the id among n structs of `stride` bytes, sorted by their first member, which is the id;
 * IX_NONE. (It is the first of the facts, and these the first of each object of a snapshot.) */
uint32_t find_id(const void *items, uint32_t n, size_t stride, const char *id);

#endif
