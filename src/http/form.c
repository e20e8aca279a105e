/* form.c: reads a field of an HTML form. */
#include "http/form.h"

#include <errno.h>
#include <string.h>

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int decode(const char *from, size_t len, char *ret, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        int c = (unsigned char)from[i];

        if (c == '+') {
            c = ' ';
        } else if (c == '%') {
            const int high = i + 2 < len ? digit(from[i + 1]) : -1;
            const int low = i + 2 < len ? digit(from[i + 2]) : -1;

            if (high < 0 || low < 0)
                return -EINVAL;
            c = high << 4 | low;
            i += 2;
        }
        if (c < ' ' || c == 0x7f || n + 1 >= size)
            return -EINVAL;
        ret[n++] = (char)c;
    }
    ret[n] = '\0';
    return 0;
}

int form_field(const char *body, size_t len, const char *name, char *ret, size_t size)
{
    const size_t name_len = strlen(name);
    int r = -ENOENT;

    for (size_t at = 0; at < len;) {
        const char *end = memchr(body + at, '&', len - at);
        const size_t part = end ? (size_t)(end - body) - at : len - at;

        if (part > name_len && memcmp(body + at, name, name_len) == 0 && body[at + name_len] == '=') {
            if (r != -ENOENT)
                return -EINVAL;
            r = decode(body + at + name_len + 1, part - name_len - 1, ret, size);
        }
        at += part + 1;
    }
    return r;
}
