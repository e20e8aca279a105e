/* mask.c: finds what may be a secret, word by word. When in doubt it masks. */
#include "base/mask.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define MASK "***"
#define TOKEN_PREFIX "ballast_"
#define TOKEN_DIGITS 64
#define WORD_MOST 8
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const schemes[] = {"Basic", "Bearer"};
static const char *const keys[] = {"password",   "passphrase", "passwd", "pwd",     "secret",
                                   "token",      "api_key",    "apikey", "api-key", "access_key",
                                   "access-key", "credential", "cookie", "session", "authorization"};
/* `source.url is "...", expected`: a value that stands in the wrong place. */
static const char *const quoting[] = {"is", "has"};
/* Of curl, wget and the like: a login, a cookie, a header. */
static const char *const options[] = {"-u", "-p", "-b", "-H", "--user", "--header"};

struct input {
    const char *at, *end;
};

static size_t left(const struct input *in)
{
    return (size_t)(in->end - in->at);
}

static void take(struct input *in, size_t n, struct strbuf *out)
{
    strbuf_add(out, in->at, n);
    in->at += n;
}

static void hide(struct input *in, size_t n, struct strbuf *out)
{
    if (n > 0)
        strbuf_puts(out, MASK);
    in->at += n;
}

/* The length of the text before the first byte that `ends`. */
static size_t until(const struct input *in, const char *ends)
{
    size_t n = 0;

    while (n < left(in) && !strchr(ends, in->at[n]) && (unsigned char)in->at[n] > ' ')
        n++;
    return n;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The length of the first part of a path if that is a word such as sdk or redfish: longer ones, and such with
 * digits, may be keys. */
static size_t word_after_slash(const struct input *in)
{
    size_t n = 0;

    while (n + 1 < left(in) && islower((unsigned char)in->at[n + 1]))
        n++;
    const bool ends =
        n + 1 >= left(in) || strchr("/?#\"'<>,`", in->at[n + 1]) || (unsigned char)in->at[n + 1] <= ' ';

    return ends && n <= WORD_MOST ? n : 0;
}

/* At "://": what follows, up to the end of the URL. */
static void put_url(struct input *in, struct strbuf *out)
{
    take(in, 3, out);
    size_t authority = until(in, "/?#\"'<>,`");
    const char *user = memrchr(in->at, '@', authority);

    if (user)
        hide(in, (size_t)(user - in->at), out);
    take(in, until(in, "/?#\"'<>,`"), out);
    if (left(in) > 0 && *in->at == '/') {
        take(in, 1 + word_after_slash(in), out);
        size_t rest = until(in, "?#\"'<>,`");

        hide(in, rest == 1 && *in->at == '/' ? 0 : rest, out);
    }
    if (left(in) > 0 && (*in->at == '?' || *in->at == '#')) {
        take(in, 1, out);
        hide(in, until(in, "\"'<>,`"), out);
    }
}

static size_t count_blanks(const struct input *in)
{
    size_t n = 0;

    while (n < left(in) && (in->at[n] == ' ' || in->at[n] == '\t'))
        n++;
    return n;
}

/* After a key: ": value", "=value", "\": \"value\"". The value goes to the end of the line or of its quotes.
 */
static void put_value(struct input *in, struct strbuf *out)
{
    size_t n = 0;
    char quote = '\0';

    if (n < left(in) && (in->at[n] == '"' || in->at[n] == '\''))
        n++;
    while (n < left(in) && in->at[n] == ' ')
        n++;
    if (n >= left(in) || (in->at[n] != ':' && in->at[n] != '='))
        return;
    take(in, n + 1, out);
    take(in, count_blanks(in), out);
    if (left(in) > 0 && (*in->at == '"' || *in->at == '\'')) {
        quote = *in->at;
        take(in, 1, out);
    }
    for (n = 0; n < left(in) && in->at[n] != '\n' && in->at[n] != quote; n++)
        ;
    hide(in, n, out);
}

static bool ends_as_key(const char *word, size_t n)
{
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        size_t k = strlen(keys[i]);

        if (n >= k && strncasecmp(word + n - k, keys[i], k) == 0)
            return true;
    }
    return false;
}

static bool is_one_of(const char *const *words, size_t n_words, const char *word, size_t n)
{
    for (size_t i = 0; i < n_words; i++) {
        if (n == strlen(words[i]) && strncasecmp(word, words[i], n) == 0)
            return true;
    }
    return false;
}

static bool is_end_of_quotes(const struct input *in, size_t n, char quote)
{
    return in->at[n] == quote || (in->at[n] == '\\' && n + 1 < left(in) && in->at[n + 1] == quote);
}

/* The next word, in a line or in a list, with blanks in it where it is quoted. */
static void put_next_word(struct input *in, bool quoted_only, struct strbuf *out)
{
    size_t n = 0;
    char quote = '\0';

    for (; n < left(in) && strchr(" \t,\"'\\", in->at[n]); n++)
        quote = in->at[n] == '"' || in->at[n] == '\'' ? in->at[n] : quote;
    if (n == 0 || (quoted_only && !quote))
        return;
    take(in, n, out);
    for (n = 0; n < left(in) && in->at[n] != '\n'; n++) {
        if (quote ? is_end_of_quotes(in, n, quote) : strchr(" \t,]", in->at[n]) != NULL)
            break;
    }
    hide(in, n, out);
}

static bool is_token(const char *word, size_t n)
{
    const size_t prefix = strlen(TOKEN_PREFIX);

    if (n < prefix + TOKEN_DIGITS || memcmp(word, TOKEN_PREFIX, prefix) != 0)
        return false;
    for (size_t i = prefix; i < prefix + TOKEN_DIGITS; i++) {
        if (!isxdigit((unsigned char)word[i]))
            return false;
    }
    return true;
}

static void put_word(struct input *in, struct strbuf *out)
{
    const char *word = in->at;
    size_t n = 0;

    while (n < left(in) && is_word(word[n]))
        n++;
    if (is_token(word, n)) {
        hide(in, n, out);
        return;
    }
    take(in, n, out);
    const char *before = in->at;
    const bool is_key = ends_as_key(word, n);

    if (is_key)
        put_value(in, out);
    if (in->at != before)
        return;
    if (*word == '-' && (is_key || is_one_of(options, COUNT_OF(options), word, n))) {
        put_next_word(in, false, out);
    } else if (is_one_of(quoting, COUNT_OF(quoting), word, n)) {
        put_next_word(in, true, out);
    } else if (is_one_of(schemes, COUNT_OF(schemes), word, n) && count_blanks(in) > 0) {
        take(in, count_blanks(in), out);
        hide(in, until(in, "\"'"), out);
    }
}

void mask_secrets(const char *text, size_t len, struct strbuf *out)
{
    struct input in = {text, text + len};

    while (left(&in) > 0) {
        if (left(&in) >= 3 && memcmp(in.at, "://", 3) == 0)
            put_url(&in, out);
        else if (is_word(*in.at))
            put_word(&in, out);
        else
            take(&in, 1, out);
    }
}
