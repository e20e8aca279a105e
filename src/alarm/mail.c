/* mail.c: writes the headers and the text of a mail. */
#include "alarm/mail.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LINE_MOST 76           /* RFC 2045, RFC 2047; without the line's end */
#define WORD_BYTES 45          /* of an encoded word: 60 digits, with its frame 72 */
#define SUBJECT_BYTES_MOST 400 /* a longer one is cut: the text has all of it */
#define PLAIN_LINE_MOST 900    /* RFC 5322: 998 */

static bool is_ascii(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text >= 0x80)
            return false;
    }
    return true;
}

/* ---- the subject ----------------------------------------------------------------------------- */

/* The most whole characters that have so many bytes at most. */
static size_t whole_characters(const char *text, size_t most)
{
    size_t len = 0;

    while (text[len]) {
        size_t n = utf8_length((const unsigned char *)text + len);

        n = n > 0 ? n : 1;
        if (len + n > most)
            break;
        len += n;
    }
    return len;
}

static void put_encoded(const char *text, size_t len, const char *eol, struct strbuf *out)
{
    unsigned char digits[2 * WORD_BYTES];

    for (size_t n; len > 0; text += n, len -= n) {
        n = whole_characters(text, len < WORD_BYTES ? len : WORD_BYTES);
        n = n > 0 ? n : 1;
        (void)EVP_EncodeBlock(digits, (const unsigned char *)text, (int)n);
        strbuf_printf(out, " =?UTF-8?B?%s?=%s", (const char *)digits, n < len ? eol : "");
    }
}

/* "=?" in plain text could be taken for an encoded word. */
static void put_subject(const char *subject, const char *eol, struct strbuf *out)
{
    size_t len = whole_characters(subject, SUBJECT_BYTES_MOST);

    strbuf_puts(out, "Subject:");
    if (is_ascii(subject) && !strstr(subject, "=?")) {
        strbuf_puts(out, " ");
        strbuf_add(out, subject, len);
    } else {
        put_encoded(subject, len, eol, out);
    }
    strbuf_puts(out, eol);
}

/* ---- the text -------------------------------------------------------------------------------- */

static bool is_plain(const char *text)
{
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");

        if (len > PLAIN_LINE_MOST)
            return false;
        line += len + (line[len] == '\n');
    }
    return is_ascii(text);
}

static void put_plain(const char *text, const char *eol, struct strbuf *out)
{
    for (; *text; text++) {
        if (*text == '\n')
            strbuf_puts(out, eol);
        else if (*text != '\r')
            strbuf_add(out, text, 1);
    }
}

static void put_quoted_printable(const char *text, const char *eol, struct strbuf *out)
{
    char unit[8];
    size_t column = 0;

    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        bool literal =
            (c > ' ' && c < 0x7f && c != '=') || ((c == ' ' || c == '\t') && text[1] && text[1] != '\n');

        if (c == '\n') {
            strbuf_puts(out, eol);
            column = 0;
            continue;
        }
        (void)snprintf(unit, sizeof unit, literal ? "%c" : "=%02X", c);
        if (column + strlen(unit) > LINE_MOST - 1) { /* one place for the "=" of a soft line break */
            strbuf_printf(out, "=%s", eol);
            column = 0;
        }
        strbuf_puts(out, unit);
        column += strlen(unit);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* RFC 5322, section 3.3; names of days and months whatever the locale. */
static void put_date(instant_s now, const char *eol, struct strbuf *out)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const time_t t = (time_t)now;
    struct tm tm = {0};

    (void)gmtime_r(&t, &tm);
    strbuf_printf(out, "Date: %s, %02d %s %04d %02d:%02d:%02d +0000%s", days[tm.tm_wday], tm.tm_mday,
                  months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec, eol);
}

static void put_to(const char *const *to, const char *eol, struct strbuf *out)
{
    if (!*to)
        return;
    strbuf_puts(out, "To: ");
    for (const char *const *address = to; *address; address++) {
        strbuf_puts(out, *address);
        strbuf_printf(out, "%s%s%s", address[1] ? "," : "", eol, address[1] ? " " : "");
    }
}

void alarm_mail(const struct alarm_message *m, const struct mail_route *route, instant_s now,
                struct strbuf *out)
{
    const char *eol = route->eol;
    const char *domain = route->from ? strchr(route->from, '@') : NULL;
    const bool plain = is_plain(m->text);

    put_date(now, eol, out);
    if (route->from)
        strbuf_printf(out, "From: %s%s", route->from, eol);
    put_to(route->to, eol, out);
    put_subject(m->subject, eol, out);
    strbuf_printf(out, "Message-ID: <%s%s>%s", m->id, domain ? domain : "@ballast.invalid", eol);
    strbuf_printf(out, "Auto-Submitted: auto-generated%s", eol);
    strbuf_printf(out, "MIME-Version: 1.0%sContent-Type: text/plain; charset=%s%s", eol,
                  plain ? "us-ascii" : "utf-8", eol);
    strbuf_printf(out, "Content-Transfer-Encoding: %s%s%s", plain ? "7bit" : "quoted-printable", eol, eol);
    if (plain)
        put_plain(m->text, eol, out);
    else
        put_quoted_printable(m->text, eol, out);
}
