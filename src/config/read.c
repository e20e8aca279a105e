#include "config/read.h"

#include "config/keys.h"
#include "config/secret.h"
#include "config/suggest.h"

#include "base/mac.h"
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 1024
#define PATH_LENGTH_MAX 4095
#define WORDS_MAX 32
#define SHOWN_MAX 60 /* of a wrong value, in a sentence */

static const struct config_key *find_key(const struct reader *r, const char *path)
{
    for (size_t i = 0; i < r->n_keys; i++) {
        if (strcmp(r->keys[i].path, path) == 0)
            return &r->keys[i];
    }
    return NULL;
}

/* ---- sentences ---- */

static int refuse(const struct reader *r, const struct node *n, const struct config_key *key,
                  const char *what, const char *expected)
{
    return err_set(r->err, -EINVAL, "%s:%u: %s%s %s, expected %s", r->file, n->line, r->prefix, key->path,
                   what, expected);
}

/* "is "tru"", with what was written cut to a sane length and stripped of what would upset a terminal. */
static const char *quoted(const struct reader *r, const char *text)
{
    char *shown = arena_printf(r->a, "is \"%.*s\"%s", SHOWN_MAX, text, strlen(text) > SHOWN_MAX ? "..." : "");

    for (char *c = shown; *c; c++) {
        if (iscntrl((unsigned char)*c))
            *c = '?';
    }
    return shown;
}

static const char *alternatives(const struct reader *r, const char *const *words)
{
    const char *all = words[0];

    for (size_t i = 1; words[i]; i++)
        all = arena_printf(r->a, "%s%s%s", all, words[i + 1] ? ", " : " or ", words[i]);
    return all;
}

static const char *url_forms(const struct reader *r, const char *const *schemes)
{
    const char *all = "";

    for (size_t i = 0; schemes[i]; i++)
        all = arena_printf(r->a, "%s%s%s://HOST[:PORT]", all, i ? " or " : "", schemes[i]);
    return all;
}

const char *read_kind_of(const struct node *n)
{
    switch (n->kind) {
    case NODE_SCALAR:
        return node_is_null(n) ? "has no value" : "is a single value";
    case NODE_MAP:
        return "is a section";
    case NODE_LIST:
        return "is a list";
    }
    return "";
}

void config_warn(const struct reader *r, unsigned line, const char *format, ...)
{
    struct config *c = r->config;
    const char **all = r->notes->items;
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    all = arena_grow(r->a, all, c->n_warnings, &r->notes->cap, sizeof(all[0]));
    all[c->n_warnings++] = arena_printf(r->a, "%s:%u: %s", r->file, line, text);
    r->notes->items = all;
    c->warnings = all;
}

static bool is_printable(const char *text)
{
    while (*text && !iscntrl((unsigned char)*text))
        text++;
    return *text == '\0';
}

/* ---- values: each takes the scalar's text and puts the value at its place ---- */

static void *place(const struct reader *r, const struct config_key *key)
{
    return (char *)r->base + key->offset;
}

static int read_text(const struct reader *r, const struct config_key *key, const struct node *n)
{
    if (strlen(n->text) > TEXT_MAX)
        return refuse(r, n, key, "is too long", "at most 1024 bytes");
    if (!is_printable(n->text))
        return refuse(r, n, key, "has a control character in it", "text on one line");
    *(const char **)place(r, key) = n->text;
    return 0;
}

/* A relative path is meant from the file's own folder: the service's working directory is nobody's business.
 */
static int read_path(const struct reader *r, const struct config_key *key, const struct node *n)
{
    const char *slash = strrchr(r->file, '/');
    const char *path = n->text;

    if (!is_printable(path))
        return refuse(r, n, key, "has a control character in it", "a path");
    if (path[0] != '/' && slash)
        path = arena_printf(r->a, "%.*s/%s", (int)(slash - r->file), r->file, path);
    if (strlen(path) > PATH_LENGTH_MAX)
        return refuse(r, n, key, "is too long", "a path of at most 4095 bytes");
    *(const char **)place(r, key) = path;
    return 0;
}

bool read_is_authority(const char *s, size_t len)
{
    size_t host = 0;

    if (len && s[0] == '[') {
        while (host < len && s[host] != ']')
            host++;
        if (host < 3 || host == len)
            return false;
        host++;
    } else {
        while (host < len && (isalnum((unsigned char)s[host]) || strchr("-._", s[host])))
            host++;
        if (host == 0)
            return false;
    }
    if (host == len)
        return true;
    if (s[host] != ':' || len - host < 2 || len - host > 6)
        return false;
    unsigned port = 0;

    for (size_t i = host + 1; i < len; i++) {
        if (!isdigit((unsigned char)s[i]))
            return false;
        port = port * 10 + (unsigned)(s[i] - '0');
    }
    return port >= 1 && port <= 65535;
}

static int read_url(const struct reader *r, const struct config_key *key, const struct node *n)
{
    const char *rest = strstr(n->text, "://");
    bool known = false;

    for (size_t i = 0; rest && key->words[i]; i++)
        known = known || (strlen(key->words[i]) == (size_t)(rest - n->text) &&
                          strncmp(n->text, key->words[i], strlen(key->words[i])) == 0);
    if (!known)
        return refuse(r, n, key, quoted(r, n->text), url_forms(r, key->words));
    rest += strlen("://");
    size_t authority = strcspn(rest, "/?#");

    if (memchr(rest, '@', authority)) /* not quoted back: there may be a password in it */
        return refuse(r, n, key, "has a user or a password in it", "them in username and password_file");
    if (!read_is_authority(rest, authority))
        return refuse(r, n, key, quoted(r, n->text), "HOST, HOST:PORT or [ADDRESS]:PORT after the scheme");
    return read_text(r, key, n);
}

static int read_bool(const struct reader *r, const struct config_key *key, const struct node *n)
{
    bool is_true = strcmp(n->text, "true") == 0;

    if (!n->plain || (!is_true && strcmp(n->text, "false") != 0))
        return refuse(r, n, key, quoted(r, n->text), "true or false, without quotes");
    *(bool *)place(r, key) = is_true;
    return 0;
}

static int read_int(const struct reader *r, const struct config_key *key, const struct node *n)
{
    const char *expected =
        arena_printf(r->a, "a whole number from %lld to %lld", (long long)key->min, (long long)key->max);
    char *end = NULL;

    errno = 0;
    long long value = strtoll(n->text, &end, 10);
    bool number = n->plain && (isdigit((unsigned char)n->text[0]) || n->text[0] == '-') && *end == '\0';

    if (!number || errno || value < key->min || value > key->max)
        return refuse(r, n, key, quoted(r, n->text), expected);
    *(int64_t *)place(r, key) = value;
    return 0;
}

static int read_number(const struct reader *r, const struct config_key *key, const struct node *n,
                       double *ret)
{
    double v;

    if (n->kind != NODE_SCALAR || !n->plain || !number_parse(n->text, &v) || v < (double)key->min ||
        v > (double)key->max)
        return refuse(
            r, n, key, n->kind == NODE_SCALAR ? quoted(r, n->text) : read_kind_of(n),
            arena_printf(r->a, "a number from %lld to %lld", (long long)key->min, (long long)key->max));
    *ret = v;
    return 0;
}

static int read_watts(const struct reader *r, const struct config_key *key, const struct node *n)
{
    if (n->kind != NODE_LIST)
        return refuse(r, n, key, read_kind_of(n), "a list such as [120, 310]");
    if (n->n < 2 || n->n > POWER_POINTS_MAX)
        return refuse(r, n, key, arena_printf(r->a, "is a list of %zu", n->n),
                      "2 to 101 numbers, from no load to full load");
    double *watts = arena_array(r->a, double, n->n);
    uint32_t i = 0;
    int e = 0;

    for (const struct node *c = n->first; e == 0 && c; c = c->next)
        e = read_number(r, key, c, &watts[i++]);
    if (e == 0 && watts[n->n - 1] < watts[0])
        return refuse(r, n, key, "is less at full load than without any", "watts from no load to full load");
    if (e == 0)
        *(struct power_curve *)place(r, key) = (struct power_curve){watts, (uint32_t)n->n};
    return e;
}

static int read_word(const struct reader *r, const struct config_key *key, const struct node *n)
{
    for (size_t i = 0; key->words[i]; i++) {
        if (strcmp(key->words[i], n->text) == 0) {
            *(const char **)place(r, key) = key->words[i];
            return 0;
        }
    }
    return refuse(r, n, key, quoted(r, n->text), alternatives(r, key->words));
}

static int read_mac(const struct reader *r, const struct config_key *key, const struct node *n)
{
    struct mac mac;

    if (mac_parse(n->text, &mac) < 0)
        return refuse(r, n, key, quoted(r, n->text), "an Ethernet address like \"02:00:00:00:00:01\"");
    if (!mac_is_station(&mac))
        return refuse(r, n, key, quoted(r, n->text), "the address of one network card");
    return read_text(r, key, n);
}

/* policy_set() knows types and ranges; only what YAML alone can tell apart is checked here. */
static int read_policy(const struct reader *r, const struct config_key *key, const struct node *n)
{
    if (!n->plain && key->setting->type != SETTING_WORD)
        return refuse(r, n, key, "is text in quotes", "the value without quotes");
    if (strlen(n->text) > SHOWN_MAX || !is_printable(n->text)) /* policy_set() would say it back whole */
        return refuse(r, n, key, quoted(r, n->text), "a word or a number");
    int e = policy_set(&r->config->policy, key->path, n->text, r->err);

    if (e < 0)
        (void)err_widen(r->err, "%s:%u", r->file, n->line);
    return e;
}

static int read_words(const struct reader *r, const struct config_key *key, const struct node *n)
{
    if (n->kind != NODE_LIST)
        return refuse(r, n, key, read_kind_of(n), "a list such as [ONE, TWO]");
    if (n->n > WORDS_MAX)
        return refuse(r, n, key, "is too long", "at most 32 words");
    const char **words = arena_array(r->a, const char *, n->n + 1);
    size_t i = 0;

    for (const struct node *c = n->first; c; c = c->next) {
        if (c->kind != NODE_SCALAR || node_is_null(c))
            return refuse(r, c, key, "has something in it that is not a word", "a list of words");
        int e = read_text(r, key, c);

        if (e < 0)
            return e;
        words[i++] = c->text;
    }
    *(const char *const **)place(r, key) = words;
    return 0;
}

int read_secret(const struct reader *r, const char *key, const char *path, const char **ret)
{
    bool exposed = false;

    if (!path || r->use == CONFIG_FOR_POLICY)
        return 0;
    unsigned line = r->lines[find_key(r, key) - r->keys];
    int e = secret_read(path, r->a, ret, &exposed, r->err);

    if (e == -EACCES && r->use == CONFIG_FOR_CHECK) {
        config_warn(r, line, "%s%s: %s cannot be read by this user, so it was not checked", r->prefix, key,
                    path);
        return 0;
    }
    if (e < 0) {
        (void)err_widen(r->err, "%s:%u: %s%s", r->file, line, r->prefix, key);
        if (r->err)
            r->err->code = -EINVAL; /* it is the configuration that names the wrong file */
        return -EINVAL;
    }
    if (exposed)
        config_warn(r, line, "%s%s: others on this machine can read or change %s, expected mode 0600 or 0640",
                    r->prefix, key, path);
    return 0;
}

static int read_value(const struct reader *r, const struct config_key *key, const struct node *n)
{
    if (key->type == CONFIG_WORDS)
        return read_words(r, key, n);
    if (key->type == CONFIG_WATTS)
        return read_watts(r, key, n);
    if (key->type == CONFIG_POWER_HOSTS || key->type == CONFIG_POWER_DEFAULTS) {
        if (n->kind == NODE_MAP)
            return 0; /* read_power() comes back to it */
        return refuse(r, n, key, read_kind_of(n),
                      key->type == CONFIG_POWER_HOSTS ? "a section with an entry for each host"
                                                      : "a section");
    }
    if (n->kind != NODE_SCALAR)
        return refuse(r, n, key, read_kind_of(n), "a single value");
    if (node_is_null(n) || n->text[0] == '\0')
        return refuse(r, n, key, "has no value", key->meaning);
    switch (key->type) {
    case CONFIG_TEXT:
        return read_text(r, key, n);
    case CONFIG_PATH:
        return read_path(r, key, n);
    case CONFIG_URL:
        return read_url(r, key, n);
    case CONFIG_BOOL:
        return read_bool(r, key, n);
    case CONFIG_INT:
        return read_int(r, key, n);
    case CONFIG_NUMBER:
        return read_number(r, key, n, place(r, key));
    case CONFIG_WORD:
        return read_word(r, key, n);
    case CONFIG_MAC:
        return read_mac(r, key, n);
    case CONFIG_POLICY:
        return read_policy(r, key, n);
    case CONFIG_WORDS:
    case CONFIG_WATTS:
    case CONFIG_POWER_HOSTS:
    case CONFIG_POWER_DEFAULTS:
        break; /* above */
    }
    return 0;
}

/* ---- sections ---- */

static bool is_section(const struct reader *r, const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < r->n_keys; i++) {
        if (strncmp(r->keys[i].path, path, len) == 0 && r->keys[i].path[len] == '.')
            return true;
    }
    return false;
}

/* The names that a section may have below it; "" is the whole. Sections are there once for each key in them,
 * which does not matter to suggest(). */
static size_t names_in(const struct reader *r, const char *section, const char **ret)
{
    size_t len = strlen(section), n = 0;

    for (size_t i = 0; i < r->n_keys; i++) {
        const char *path = r->keys[i].path;

        if (strncmp(path, section, len) == 0)
            ret[n++] = arena_strndup(r->a, path + len, strcspn(path + len, "."));
    }
    return n;
}

/* The key that ends with this word, in another section. */
static const char *elsewhere(const struct reader *r, const char *word)
{
    for (size_t i = 0; i < r->n_keys; i++) {
        const char *dot = strrchr(r->keys[i].path, '.');

        if (strcmp(dot ? dot + 1 : r->keys[i].path, word) == 0)
            return r->keys[i].path;
    }
    return NULL;
}

static int refuse_unknown(const struct reader *r, const char *section, const struct node *n)
{
    const char **names = arena_array(r->a, const char *, r->n_keys);
    size_t n_names = names_in(r, section, names);
    const char *near = suggest(n->key, names, n_names);
    const char *other = find_key(r, n->key) ? n->key : elsewhere(r, n->key);
    const char *hint;

    if (near)
        hint = arena_printf(r->a, "did you mean \"%s\"", near);
    else if (other && strchr(n->key, '.'))
        hint = arena_printf(r->a, "expected it nested, \"%.*s:\" and the rest below it",
                            (int)strcspn(n->key, "."), n->key);
    else if (other)
        hint = arena_printf(r->a, "did you mean \"%s%s\"", r->prefix, other);
    else
        hint = section[0] || r->prefix[0]
                   ? arena_printf(r->a, "expected one of the keys of %s%.*s", r->prefix,
                                  (int)(section[0] ? strlen(section) - 1 : 0), section)
                   : "expected one of those in conf/ballast.yaml";
    return err_set(r->err, -EINVAL, "%s:%u: \"%s%s%.64s\" is not a known key, %s%s", r->file, n->line,
                   r->prefix, section, n->key, hint, near || (other && !strchr(n->key, '.')) ? "?" : "");
}

static int read_below(const struct reader *r, const struct node *map, const char *section)
{
    for (const struct node *n = map->first; n; n = n->next) {
        const char *path = arena_printf(r->a, "%s%.128s", section, n->key);
        const struct config_key *key = strchr(n->key, '.') ? NULL : find_key(r, path);
        int e;

        if (key) {
            r->lines[key - r->keys] = n->line;
            e = read_value(r, key, n);
        } else if (!is_section(r, path) || strchr(n->key, '.')) {
            e = refuse_unknown(r, section, n);
        } else if (n->kind == NODE_MAP || node_is_null(n)) { /* a section of which all is commented out */
            e = read_below(r, n, arena_printf(r->a, "%s.", path));
        } else {
            e = err_set(r->err, -EINVAL, "%s:%u: %s%s %s, expected a section", r->file, n->line, r->prefix,
                        path, read_kind_of(n));
        }
        if (e < 0)
            return e;
    }
    return 0;
}

int read_section(const struct reader *r, const struct node *map)
{
    return read_below(r, map, "");
}

struct reader reader_make(const struct reader *like, const char *prefix, const struct config_key *keys,
                          size_t n, void *base)
{
    struct reader r = *like;

    r.prefix = prefix;
    r.keys = keys;
    r.n_keys = n;
    r.lines = arena_array(like->a, unsigned, n);
    r.base = base;
    return r;
}

void read_defaults(const struct reader *r)
{
    static const char *const no_words[] = {NULL};

    for (size_t i = 0; i < r->n_keys; i++) {
        const struct config_key *key = &r->keys[i];
        struct node n = {.text = key->fallback, .plain = true};

        if (key->type == CONFIG_WORDS)
            *(const char *const **)place(r, key) = no_words;
        else if (key->type == CONFIG_NUMBER && !key->fallback)
            *(double *)place(r, key) = UNKNOWN;
        else if (key->type != CONFIG_POLICY && key->fallback)
            (void)read_value(r, key, &n); /* the table's own values fit; a test proves it */
    }
}

unsigned read_line(const struct reader *r, const struct node *root, const char *path)
{
    const struct config_key *key = find_key(r, path);

    if (key && r->lines[key - r->keys])
        return r->lines[key - r->keys];
    const struct node *section = tree_child(root, arena_strndup(r->a, path, strcspn(path, ".")));

    return section ? section->line : 1;
}

bool read_given(const struct reader *r, const char *path)
{
    const struct config_key *key = find_key(r, path);

    return key && r->lines[key - r->keys];
}
