/* compress.h: the texts of passes, made small. JSON of snapshots shrinks to about a tenth. */
#ifndef BALLAST_STORE_COMPRESS_H
#define BALLAST_STORE_COMPRESS_H

#include <ballast/arena.h>

#include <stddef.h>

struct compressed {
    unsigned char *data; /* malloc'ed; NULL for no text */
    size_t len;
    size_t text_len; /* what compress_restore() must be told */
};

/* 0 or -ENOMEM. NULL gives no data. */
int compress_text(const char *text, struct compressed *ret);
void compress_release(struct compressed *p);

/* -EIO if it was not compress_text() that made it, or it became damaged. */
int compress_restore(const void *data, size_t len, size_t text_len, struct arena *a, const char **ret);

#endif
