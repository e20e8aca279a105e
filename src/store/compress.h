/* compress.h: compresses the texts of passes. JSON of snapshots shrinks to about a tenth. */
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
void compress_release(struct compressed *p);

/* -EIO: the data is damaged, or not from compress_text(). */
int compress_restore(const void *data, size_t len, size_t text_len, struct arena *a, const char **ret);

#endif
