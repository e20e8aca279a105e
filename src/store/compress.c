/* compress.c: deflates and inflates with zlib. */
#include "store/compress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The fastest level: it gives nearly all of the gain, and the service waits for it. */
#define LEVEL 1

/* No snapshot is larger (SNAPSHOT_BYTES_MAX); a larger value is a damaged row. */
#define TEXT_MOST ((size_t)4095 * 1024 * 1024)

int compress_text(const char *text, struct compressed *ret)
{
    *ret = (struct compressed){0};
    return text ? compress_bytes(text, strlen(text), ret) : 0;
}

int compress_bytes(const void *bytes, size_t text_len, struct compressed *ret)
{
    *ret = (struct compressed){0};
    uLongf len = compressBound(text_len);
    unsigned char *data = malloc(len);

    if (!data)
        return -ENOMEM;
    if (compress2(data, &len, bytes, text_len, LEVEL) != Z_OK) {
        free(data);
        return -ENOMEM;
    }
    *ret = (struct compressed){.data = data, .len = len, .text_len = text_len};
    return 0;
}

void compress_release(struct compressed *p)
{
    free(p->data);
    *p = (struct compressed){0};
}

int compress_restore(const void *data, size_t len, size_t text_len, struct arena *a, const char **ret)
{
    uLongf got = text_len;

    if (text_len > TEXT_MOST)
        return -EIO;
    char *text = arena_array(a, char, text_len + 1);

    if (uncompress((Bytef *)text, &got, data, len) != Z_OK || got != text_len)
        return -EIO;
    *ret = text;
    return 0;
}
