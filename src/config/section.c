/* What the checks ask of a section: lines, warnings, secrets. */
#include "config/section.h"

#include "config/secret.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

int section_refuse(const struct section *s, const char *key, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    return reader_complain_line(&s->reader, section_line(s, key), "%s%s%s%s", s->prefix, key,
                                text[0] == ':' ? "" : " ", text);
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

int section_secret(const struct section *s, const char *key, const char *path, const char **ret)
{
    bool exposed = false;

    if (!path || s->use == CONFIG_FOR_POLICY)
        return 0;
    unsigned line = section_line(s, key);
    int e = secret_read(path, s->reader.a, ret, &exposed, s->reader.err);

    if (e == -EACCES && s->use == CONFIG_FOR_CHECK) {
        section_warn(s, line, "%s%s: %s cannot be read by this user, so it was not checked", s->prefix, key,
                     path);
        return 0;
    }
    if (e < 0) {
        (void)err_widen(s->reader.err, "%s:%u: %s%s", s->reader.file, line, s->prefix, key);
        if (s->reader.err)
            s->reader.err->code = -EINVAL; /* it is the configuration that names the wrong file */
        return -EINVAL;
    }
    if (exposed)
        section_warn(s, line,
                     "%s%s: others on this machine can read or change %s, expected mode 0600 or 0640",
                     s->prefix, key, path);
    return 0;
}
