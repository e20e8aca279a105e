#include "sim/report/png.h"

#include "base/cleanup.h"

#define ADLER_BASE 65521u
#define CRC_POLYNOMIAL 0xedb88320u
#define STORED_MAX 65535u
#define COLOUR_PALETTE 3 /* IHDR: each pixel is an index */

static void put_u32(struct strbuf *out, uint32_t v)
{
    const uint8_t bytes[] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};

    strbuf_add(out, bytes, sizeof bytes);
}

static void put_u8(struct strbuf *out, unsigned v)
{
    const uint8_t byte = (uint8_t)v;

    strbuf_add(out, &byte, 1);
}

static uint32_t crc_of(const char *data, size_t n)
{
    uint32_t crc = 0xffffffffu;

    for (size_t i = 0; i < n; i++) {
        crc ^= (uint8_t)data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
    }
    return ~crc;
}

/* Length, type and data, and the sum over the latter two. */
static void put_chunk(struct strbuf *out, const char type[4], const struct strbuf *data)
{
    put_u32(out, (uint32_t)data->len);
    size_t from = out->len;
    strbuf_add(out, type, 4);
    strbuf_add(out, data->text, data->len);
    put_u32(out, crc_of(out->text + from, out->len - from));
}

/* Each row after its filter: none. */
static void put_rows(const struct png *image, struct strbuf *rows)
{
    for (uint32_t y = 0; y < image->height; y++) {
        put_u8(rows, 0);
        strbuf_add(rows, image->pixels + (size_t)y * image->width, image->width);
    }
}

static void put_stored(const struct strbuf *raw, struct strbuf *out)
{
    uint32_t a = 1;
    uint32_t b = 0;

    put_u8(out, 0x78); /* deflate, window of 32 KiB */
    put_u8(out, 0x01);
    for (size_t at = 0; at < raw->len;) {
        size_t n = raw->len - at < STORED_MAX ? raw->len - at : STORED_MAX;
        put_u8(out, at + n == raw->len); /* the last block; stored */
        put_u8(out, (unsigned)n & 0xff);
        put_u8(out, (unsigned)n >> 8);
        put_u8(out, ~(unsigned)n & 0xff);
        put_u8(out, (~(unsigned)n >> 8) & 0xff);
        strbuf_add(out, raw->text + at, n);
        at += n;
    }
    for (size_t i = 0; i < raw->len; i++) {
        a = (a + (uint8_t)raw->text[i]) % ADLER_BASE;
        b = (b + a) % ADLER_BASE;
    }
    put_u32(out, b << 16 | a);
}

static void put_image(const struct png *image, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf part = {0};
    CLEANUP(strbuf_releasep) struct strbuf rows = {0};

    strbuf_init(&part, STRBUF_NO_LIMIT);
    strbuf_init(&rows, STRBUF_NO_LIMIT);
    strbuf_add(out, "\x89PNG\r\n\x1a\n", 8);
    put_u32(&part, image->width);
    put_u32(&part, image->height);
    put_u8(&part, 8); /* bits an index */
    put_u8(&part, COLOUR_PALETTE);
    strbuf_add(&part, "\0\0\0", 3); /* the only compression and filtering there are; not interlaced */
    put_chunk(out, "IHDR", &part);
    strbuf_clear(&part);
    strbuf_add(&part, image->palette, (size_t)image->n_colours * 3);
    put_chunk(out, "PLTE", &part);
    strbuf_clear(&part);
    put_u8(&part, 0); /* index 0 is transparent; the others are opaque */
    put_chunk(out, "tRNS", &part);
    strbuf_clear(&part);
    put_rows(image, &rows);
    put_stored(&rows, &part);
    put_chunk(out, "IDAT", &part);
    strbuf_clear(&part);
    put_chunk(out, "IEND", &part);
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

    strbuf_init(&bytes, STRBUF_NO_LIMIT);
    put_image(image, &bytes);
    strbuf_puts(out, "data:image/png;base64,");
    put_base64(&bytes, out);
}
