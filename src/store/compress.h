/* compress.h: compresses the texts of passes, and blocks of series. JSON of snapshots shrinks to about a
 * sixth.
 */
#ifndef BALLAST_STORE_COMPRESS_H
#define BALLAST_STORE_COMPRESS_H

#include <ballast/arena.h>

#include <stddef.h>

struct compressed {
    unsigned char *data; /* malloc'ed; NULL for no text */
    size_t len;
    size_t text_len; /* size before compression, for compress_restore() */
};

/* 0 or -ENOMEM. text NULL: ret->data is NULL. */
int compress_text(const char *text, struct compressed *ret);
int compress_bytes(const void *bytes, size_t len, struct compressed *ret);
void compress_release(struct compressed *p);

/* -EIO: the data is damaged, or not from compress_...(). A NUL stands behind it. */
int compress_restore(const void *data, size_t len, size_t text_len, struct arena *a, const char **ret);

#endif
