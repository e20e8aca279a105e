/* find.h: an object by its id. Inside model only: other folders call snapshot_find_host() and so on. */
#ifndef BALLAST_MODEL_FIND_H
#define BALLAST_MODEL_FIND_H

#include <ballast/snapshot.h>

/* The index of the id among n structs of `stride` bytes, sorted by their first member, the id; or IX_NONE.
 * (The id is the first fact, and the facts are the first member of each object of a snapshot.) */
uint32_t find_id(const void *items, uint32_t n, size_t stride, const char *id);

#endif
