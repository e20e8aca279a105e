/* hardware_uuid.c: parses and compares the UUIDs of machines. It does not decide what follows. */
#include "base/hardware_uuid.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hardware_uuid_parse(const char *text, struct hardware_uuid *ret)
{
    struct hardware_uuid u;
    size_t n = 0;

    if (!text)
        return -EINVAL;
    const bool braces = text[0] == '{';

    for (text += braces; n < HARDWARE_UUID_BYTES; n++) {
        text += n > 0 && *text == '-';
        int high = hex(text[0]);
        int low = high < 0 ? -1 : hex(text[1]);

        if (low < 0)
            return -EINVAL;
        u.byte[n] = (uint8_t)(high << 4 | low);
        text += 2;
    }
    if (strcmp(text, braces ? "}" : "") != 0)
        return -EINVAL;
    *ret = u;
    return 0;
}

void hardware_uuid_print(const struct hardware_uuid *u, char ret[HARDWARE_UUID_TEXT])
{
    char *to = ret;

    for (size_t i = 0; i < HARDWARE_UUID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        (void)snprintf(to, 3, "%02x", (unsigned)u->byte[i]);
        to += 2;
    }
}

/* RFC 4122's order from SMBIOS's, and back. */
static struct hardware_uuid swap_fields(const struct hardware_uuid *u)
{
    static const uint8_t from[HARDWARE_UUID_BYTES] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    struct hardware_uuid ret;

    for (size_t i = 0; i < HARDWARE_UUID_BYTES; i++)
        ret.byte[i] = u->byte[from[i]];
    return ret;
}

static struct hardware_uuid reverse(const struct hardware_uuid *u)
{
    struct hardware_uuid ret;

    for (size_t i = 0; i < HARDWARE_UUID_BYTES; i++)
        ret.byte[i] = u->byte[HARDWARE_UUID_BYTES - 1 - i];
    return ret;
}

static bool equal(const struct hardware_uuid *a, const struct hardware_uuid *b)
{
    return memcmp(a->byte, b->byte, HARDWARE_UUID_BYTES) == 0;
}

bool hardware_uuid_same(const struct hardware_uuid *a, const struct hardware_uuid *b)
{
    const struct hardware_uuid swapped = swap_fields(a);
    const struct hardware_uuid reversed = reverse(a);
    const struct hardware_uuid swapped_reversed = reverse(&swapped);
    const struct hardware_uuid reversed_swapped = swap_fields(&reversed);

    return equal(a, b) || equal(&swapped, b) || equal(&reversed, b) || equal(&swapped_reversed, b) ||
           equal(&reversed_swapped, b);
}

/* Each byte is the one before it plus the same: 00..00, FF..FF, 00 01 02 .. 0F, 00 11 22 .. FF. */
static bool only_counts(const struct hardware_uuid *u)
{
    const uint8_t step = (uint8_t)(u->byte[1] - u->byte[0]);

    for (size_t i = 1; i < HARDWARE_UUID_BYTES; i++) {
        if ((uint8_t)(u->byte[i] - u->byte[i - 1]) != step)
            return false;
    }
    return true;
}

bool hardware_uuid_is_placeholder(const struct hardware_uuid *u)
{
    static const char *const known[] = {
        "00020003-0004-0005-0006-000700080009", /* AMI's firmware, where a vendor set none */
        "12345678-1234-5678-90ab-cddeefaabbcc", "12345678-1234-5678-90ab-cdefaabbccdd",
        "12345678-1234-1234-1234-123456789abc", "12345678-90ab-cdef-1234-567890abcdef",
        "01234567-89ab-cdef-0123-456789abcdef", "01234567-8910-1112-1314-151617181920",
        "a1234567-89ab-cdef-a123-456789abcdef", /* OpenIPMI's example */
    };

    if (only_counts(u))
        return true;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct hardware_uuid k;

        if (hardware_uuid_parse(known[i], &k) == 0 && hardware_uuid_same(&k, u))
            return true;
    }
    return false;
}
