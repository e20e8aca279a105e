/* section.c: lines, warnings and secrets of a section, for the checks. */
#include "config/section.h"

#include "config/harmless.h"
#include "config/key_order.h"

#include "base/cleanup.h"
#include "base/secret.h"
#include "base/service_user.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MISSING "is missing"

struct section section_at(const struct section *like, const char *prefix, const struct node *root)
{
    struct section s = *like;

    s.prefix = prefix;
    s.root = root;
    return s;
}

unsigned section_line(const struct section *s, const char *path)
{
    const struct node *n = s->root ? node_find(s->root, path) : NULL;

    if (!n && s->root)
        n = node_child(s->root, arena_strndup(s->reader.a, path, strcspn(path, ".")));
    if (!n && s->root && s->root->key)
        n = s->root;
    return n ? n->line : 1;
}

bool section_has(const struct section *s, const char *path)
{
    return s->root && node_find(s->root, path);
}

static size_t levels(const char *path)
{
    size_t n = 1;

    for (; *path; path++)
        n += *path == '.';
    return n;
}

/* A name in the middle of the path may have dots in it, "power.hosts.esx1.example.ipmi"; a last one may not,
 * or it would be any key below. */
const char *section_example(const char *path)
{
    const struct key_example *best = NULL;

    for (const struct key_example *x = config_key_examples; x->path; x++) {
        bool whole = x->path[strlen(x->path) - 1] == '*' && levels(x->path) != levels(path);

        if (!whole && fnmatch(x->path, path, FNM_NOESCAPE) == 0 &&
            (!best || strlen(x->path) > strlen(best->path)))
            best = x;
    }
    return best ? best->value : NULL;
}

int section_refuse(const struct section *s, const char *key, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    const char *path = arena_printf(s->reader.a, "%s%s", s->prefix, key);
    bool missing = strncmp(text, MISSING, strlen(MISSING)) == 0; /* else the key fits no other, or its file */

    return reader_complain_line(&s->reader, section_line(s, key), "%s%s%s%s", path, text[0] == ':' ? "" : " ",
                                text, missing ? reader_example(&s->reader, path) : "");
}

void section_warn(const struct section *s, unsigned line, const char *format, ...)
{
    struct config *c = s->config;
    const char **all = s->notes->items;
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    all = arena_grow(s->reader.a, all, c->n_warnings, &s->notes->cap, sizeof(all[0]));
    all[c->n_warnings++] = arena_printf(s->reader.a, "%s:%u: %s", s->reader.file, line, text);
    s->notes->items = all;
    c->warnings = all;
}

static bool is_forgiven(const struct section *s, int error, const char *key, const char *path)
{
    if (error != EACCES || s->use != CONFIG_FOR_CHECK || service_user_of(s->reader.file) == SERVICE_USER_SELF)
        return false;
    section_warn(s, section_line(s, key), "%s%s: %s cannot be read by this user, so it was not checked",
                 s->prefix, key, path);
    return true;
}

void section_warn_if_kept_away(const struct section *s, unsigned line, const char *path)
{
    if (s->use == CONFIG_FOR_CHECK && service_user_of(s->reader.file) == SERVICE_USER_SELF &&
        service_user_is_kept_from(path))
        section_warn(
            s, line,
            "the service's unit hides %s from it (ProtectHome, PrivateTmp): keep the file in /etc/ballast",
            path);
}

static int read_secret(const struct section *s, const struct field *f, const char *path, const char **ret)
{
    unsigned line = section_line(s, f->name);
    bool exposed = false;
    int e = secret_read(path, s->reader.a, ret, &exposed, s->reader.err);

    if (e < 0 && is_forgiven(s, -e, f->name, path))
        return 0;
    if (e < 0) {
        (void)err_widen(s->reader.err, "%s:%u: %s%s", s->reader.file, line, s->prefix, f->name);
        if (s->reader.err)
            s->reader.err->code = -EINVAL; /* the wrong path is an error of the configuration */
        return -EINVAL;
    }
    if (exposed)
        section_warn(s, line,
                     "%s%s: others on this machine can read or change %s, expected mode 0600 or 0640",
                     s->prefix, f->name, path);
    const char *expected = f->check ? f->check(*ret) : NULL;

    return expected ? section_refuse(s, f->name, ": what %s holds is not what was expected, expected %s",
                                     path, expected)
                    : 0;
}

/* A missing file would otherwise fail at the first connection, without the line that names it. */
static int check_readable(const struct section *s, const struct field *f, const char *path)
{
    char advice[SERVICE_USER_ADVICE_MAX];
    int error = access(path, R_OK) == 0 ? 0 : errno;

    if (error == 0 || is_forgiven(s, error, f->name, path))
        return 0;
    if (error == EACCES)
        return section_refuse(s, f->name, ": %s cannot be read: %s; %s", path, strerror(error),
                              service_user_advice(path, advice));
    return section_refuse(s, f->name, ": %s cannot be read: %s, expected %.*s", path, strerror(error),
                          (int)strcspn(f->meaning, ";"), f->meaning);
}

int section_files(const struct section *s, const struct schema *keys, const char *below, void *object)
{
    int e = 0;

    for (size_t i = 0; i < keys->n && e == 0 && s->use != CONFIG_FOR_POLICY; i++) {
        const struct field *f = &keys->fields[i];

        if (strncmp(f->name, below, strlen(below)) != 0 || !section_has(s, f->name))
            continue;
        const char *path = field_text(f, object, s->reader.a);

        if (f->type == FIELD_SECRET || f->flags & FIELD_READABLE)
            section_warn_if_kept_away(s, section_line(s, f->name), path);
        if (f->type == FIELD_SECRET)
            e = read_secret(s, f, path, (const char **)((char *)object + f->secret));
        else if (f->flags & FIELD_READABLE)
            e = check_readable(s, f, path);
    }
    return e;
}

static void put_node(const struct node *n, struct strbuf *out)
{
    if (n->kind != NODE_MAP && n->kind != NODE_LIST) {
        strbuf_puts(out, n->text ? n->text : "");
        return;
    }
    strbuf_puts(out, n->kind == NODE_MAP ? "{" : "[");
    for (const struct node *child = n->first; child; child = child->next) {
        if (n->kind == NODE_MAP)
            strbuf_printf(out, "%s: ", child->key);
        put_node(child, out);
        strbuf_puts(out, child->next ? ", " : "");
    }
    strbuf_puts(out, n->kind == NODE_MAP ? "}" : "]");
}

int section_hidden_text(const struct reader *r, const struct node *n, void *at)
{
    CLEANUP(strbuf_releasep) struct strbuf shown = STRBUF_EMPTY;
    struct hidden_text *ret = at;

    config_put_harmless(n, r->a, &shown);
    ret->shown = node_is_null(n) ? NULL : arena_strdup(r->a, shown.text);
    return section_text(r, n, &ret->all);
}

int section_text(const struct reader *r, const struct node *n, void *at)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;

    put_node(n, &text);
    *(const char **)at = node_is_null(n) ? NULL : arena_strdup(r->a, text.text);
    return 0;
}
