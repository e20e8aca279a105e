/* selector.c: matches the patterns of a selector with the facts of a VM or a host. */
#include "overlay/selector.h"

#include <fnmatch.h>
#include <string.h>

#define LABEL_TEXT_MAX 512 /* longer tags and values match no pattern */

static bool is_special(char c)
{
    return c == '*' || c == '?' || c == '[' || c == '\\';
}

/* Every entry is compared with every VM, and nearly all differ in their first letters: these need no
 * fnmatch(), which measures both texts first. */
static bool matches(const char *pattern, const char *text)
{
    while (*pattern && *pattern == *text && !is_special(*pattern)) {
        pattern++;
        text++;
    }
    if (!is_special(*pattern))
        return *pattern == *text;
    return fnmatch(pattern, text, 0) == 0;
}

static bool matches_any(const struct ids *patterns, const char *text)
{
    for (uint32_t i = 0; i < patterns->n; i++)
        if (matches(patterns->items[i], text))
            return true;
    return false;
}

/* A folder's VMs are also in the folders around it. */
static bool is_in_folder(const struct ids *folders, const char *path)
{
    for (uint32_t i = 0; path && i < folders->n; i++)
        if (fnmatch(folders->items[i], path, FNM_PATHNAME | FNM_LEADING_DIR) == 0)
            return true;
    return false;
}

/* ---- labels and tags ---- */

bool selector_next_tag(const struct label *l, size_t *at, const char **ret, size_t *ret_len)
{
    const char *text = l->value[0] ? l->value : l->key;
    size_t len = strlen(text);

    if (*at > len)
        return false;
    const char *begin = text + *at;
    const char *end = l->value[0] ? strchr(begin, LABEL_SEPARATOR) : NULL;

    *ret = begin;
    *ret_len = end ? (size_t)(end - begin) : strlen(begin);
    *at += *ret_len + 1;
    return true;
}

/* Whether one of the tags that the label holds matches the pattern. */
static bool tag_matches(const struct label *l, const char *pattern)
{
    char tag[LABEL_TEXT_MAX];
    const char *text;
    size_t at = 0, len;

    while (selector_next_tag(l, &at, &text, &len)) {
        if (len >= sizeof tag)
            continue;
        memcpy(tag, text, len);
        tag[len] = '\0';
        if (matches(pattern, tag))
            return true;
    }
    return false;
}

/* "KEY" or "KEY=VALUE". A value that is a list of tags is matched as a whole and tag by tag. */
static bool label_matches(const struct label *l, const char *wanted)
{
    size_t key_len = strcspn(wanted, "=");

    if (strlen(l->key) != key_len || strncmp(l->key, wanted, key_len) != 0)
        return false;
    if (!wanted[key_len])
        return true;
    const char *pattern = wanted + key_len + 1;

    return matches(pattern, l->value) || (l->value[0] && tag_matches(l, pattern));
}

static bool has_label(const struct ids *wanted, const struct labels *labels)
{
    for (uint32_t i = 0; i < wanted->n; i++)
        for (uint32_t k = 0; k < labels->n; k++)
            if (label_matches(&labels->items[k], wanted->items[i]))
                return true;
    return false;
}

static bool has_tag(const struct ids *wanted, const struct labels *labels)
{
    for (uint32_t i = 0; i < wanted->n; i++)
        for (uint32_t k = 0; k < labels->n; k++)
            if (tag_matches(&labels->items[k], wanted->items[i]))
                return true;
    return false;
}

/* ---- selectors ---- */

bool selector_condition_given(const struct condition *c)
{
    return c->names.n + c->folders.n + c->labels.n + c->tags.n > 0;
}

bool selector_needs_labels(const struct selector *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->conditions[i].labels.n + s->conditions[i].tags.n > 0)
            return true;
    return false;
}

static bool takes(const struct selector *s, const char *id, const char *name, const char *folder,
                  const struct labels *labels)
{
    for (uint32_t i = 0; id && i < s->n; i++) {
        const struct condition *c = &s->conditions[i];

        if (selector_condition_given(c) &&
            (c->names.n == 0 || matches_any(&c->names, id) || (name && matches_any(&c->names, name))) &&
            (c->folders.n == 0 || is_in_folder(&c->folders, folder)) &&
            (c->labels.n == 0 || has_label(&c->labels, labels)) &&
            (c->tags.n == 0 || has_tag(&c->tags, labels)))
            return true;
    }
    return false;
}

bool selector_takes_vm(const struct selector *s, const struct vm_facts *vm)
{
    return takes(s, vm->id, vm->name, vm->folder, &vm->labels);
}

bool selector_takes_host(const struct selector *s, const struct host_facts *host)
{
    return takes(s, host->id, host->name, NULL, &host->labels);
}
