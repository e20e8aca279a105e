/* uuid.c: UUIDs of versions 4 and 5. */
#include "base/uuid.h"

#include <ctype.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define BYTES 16
#define SHA1_BYTES 20

/* Drawn once: of what Ballast itself names. */
static const uint8_t name_space[BYTES] = {0x6f, 0x0e, 0x2b, 0x1c, 0x58, 0x9a, 0x4c, 0x35,
                                          0xa7, 0x42, 0x1d, 0x93, 0xe8, 0x60, 0xb4, 0x7f};

static void write_text(uint8_t bytes[static BYTES], unsigned version, char ret[static UUID_TEXT])
{
    size_t at = 0;

    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | version << 4);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            ret[at++] = '-';
        (void)snprintf(ret + at, UUID_TEXT - at, "%02x", bytes[i]);
        at += 2;
    }
}

int uuid_random(char ret[static UUID_TEXT])
{
    uint8_t bytes[BYTES];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return -EIO;
    write_text(bytes, 4, ret);
    return 0;
}

void uuid_of(const void *bytes, size_t n, char ret[static UUID_TEXT])
{
    uint8_t sum[SHA1_BYTES] = {0};
    gnutls_hash_hd_t hash;

    if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA1) >= 0) {
        (void)gnutls_hash(hash, name_space, sizeof name_space);
        (void)gnutls_hash(hash, bytes, n);
        gnutls_hash_deinit(hash, sum);
    }
    write_text(sum, 5, ret);
}

bool uuid_is(const char *text)
{
    size_t i = 0;

    for (; i < UUID_TEXT - 1; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return false;
    return text[i] == '\0';
}
