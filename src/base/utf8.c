/* utf8.c: the length of characters, and which of them mislead. */
#include "base/utf8.h"

size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 4;

    if (n == 4 && (s[0] < 0xf0 || s[0] > 0xf4))
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

uint32_t utf8_code_point(const unsigned char *s, size_t len)
{
    uint32_t c = len == 1 ? s[0] : s[0] & (0x7fu >> len);

    for (size_t i = 1; i < len; i++)
        c = c << 6 | (s[i] & 0x3fu);
    return c;
}

/* Controls; then marks of direction (Unicode Standard Annex #9), line separators, blanks without a width or
 * without ink, interlinear marks, noncharacters, tags. */
static bool misleads(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x115f, 0x1160},
                  {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
                  {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff}};

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    }
    return false;
}

size_t utf8_step(const unsigned char *s, bool *ret_safe)
{
    const size_t n = utf8_length(s);

    *ret_safe = n == 1 ? *s >= ' ' && *s < 0x7f : n > 0 && !misleads(utf8_code_point(s, n));
    return n > 0 ? n : 1;
}

void utf8_put_json(struct strbuf *out, const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text, *const end = s + len;

    while (s < end) {
        bool safe;
        const size_t n = utf8_step(s, &safe);
        const uint32_t c = utf8_length(s) > 0 ? utf8_code_point(s, n) : 0;

        if (safe || c < 0x7f) /* layout, and bytes of no character */
            strbuf_add(out, s, n);
        else if (c < 0x10000)
            strbuf_printf(out, "\\u%04x", c);
        else
            strbuf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
        s += n;
    }
}
