/* pack.h: the texts of passes, made small. JSON of snapshots shrinks to about a tenth. */
#ifndef BALLAST_STORE_PACK_H
#define BALLAST_STORE_PACK_H

#include <ballast/arena.h>

#include <stddef.h>

struct packed {
    unsigned char *data; /* malloc'ed; NULL for no text */
    size_t len;
    size_t text_len; /* what unpack() must be told */
};

/* 0 or -ENOMEM. NULL gives no data. */
int pack(const char *text, struct packed *ret);
void packed_release(struct packed *p);

/* -EIO if it was not pack() that made it, or it became damaged. */
int unpack(const void *data, size_t len, size_t text_len, struct arena *a, const char **ret);

#endif
