/* png.c: encodes an image with a palette as PNG. */
#include "sim/report/png.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <zlib.h>

#define COLOUR_PALETTE 3 /* IHDR: each pixel is an index */

static void put_u32(struct strbuf *out, uint32_t v)
{
    const uint8_t bytes[] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};

    strbuf_add(out, bytes, sizeof bytes);
}

/* A chunk: length, type, data, and the checksum of type and data. */
static void put_chunk(struct strbuf *out, const char type[4], const void *data, size_t len)
{
    put_u32(out, (uint32_t)len);
    size_t from = out->len;
    strbuf_add(out, type, 4);
    strbuf_add(out, data, len);
    put_u32(out, (uint32_t)crc32(0, (const Bytef *)out->text + from, (uInt)(out->len - from)));
}

static void put_header(const struct png *image, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf header = {0};

    strbuf_init(&header, STRBUF_NO_LIMIT);
    put_u32(&header, image->width);
    put_u32(&header, image->height);
    strbuf_add(&header, (const uint8_t[]){8, COLOUR_PALETTE, 0, 0, 0}, 5); /* bits an index; not interlaced */
    put_chunk(out, "IHDR", header.text, header.len);
}

/* Each row after its filter: none. */
static void put_pixels(const struct png *image, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf rows = {0};
    static const uint8_t no_filter = 0;

    strbuf_init(&rows, STRBUF_NO_LIMIT);
    for (uint32_t y = 0; y < image->height; y++) {
        strbuf_add(&rows, &no_filter, 1);
        strbuf_add(&rows, image->pixels + (size_t)y * image->width, image->width);
    }
    uLongf len = compressBound((uLong)rows.len);
    CLEANUP(freep) Bytef *packed = malloc(len);
    int r = Z_MEM_ERROR;
    if (packed)
        r = compress2(packed, &len, (const Bytef *)rows.text, (uLong)rows.len, Z_BEST_COMPRESSION);
    if (r != Z_OK) { /* out of memory is the only possible failure; end as the arena does */
        (void)fprintf(stderr, "out of memory: an image of %zu bytes could not be packed\n", rows.len);
        abort();
    }
    put_chunk(out, "IDAT", packed, len);
}

static void put_base64(const struct strbuf *data, struct strbuf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < data->len; i += 3) {
        size_t left = data->len - i;
        uint32_t v = (uint32_t)(uint8_t)data->text[i] << 16;
        v |= left > 1 ? (uint32_t)(uint8_t)data->text[i + 1] << 8 : 0;
        v |= left > 2 ? (uint8_t)data->text[i + 2] : 0;
        const char four[] = {digits[v >> 18], digits[v >> 12 & 63], left > 1 ? digits[v >> 6 & 63] : '=',
                             left > 2 ? digits[v & 63] : '='};
        strbuf_add(out, four, sizeof four);
    }
}

void png_put_data_url(const struct png *image, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf bytes = {0};
    static const uint8_t transparent = 0; /* index 0; the others are opaque */

    strbuf_init(&bytes, STRBUF_NO_LIMIT);
    strbuf_add(&bytes, "\x89PNG\r\n\x1a\n", 8);
    put_header(image, &bytes);
    put_chunk(&bytes, "PLTE", image->palette, (size_t)image->n_colours * 3);
    put_chunk(&bytes, "tRNS", &transparent, 1);
    put_pixels(image, &bytes);
    put_chunk(&bytes, "IEND", NULL, 0);
    strbuf_puts(out, "data:image/png;base64,");
    put_base64(&bytes, out);
}
