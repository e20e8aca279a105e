/* harmless.c: what of a configuration is known to be harmless. It knows no secrets: it knows what cannot be
 * one.
 */
#include "config/harmless.h"

#include "config/keys.h"

#include <string.h>

#define NUMBER_MOST 20 /* bytes */

/* Below hosts and targets of alarms a key stands behind their names. NULL: no table has it. */
static const struct field *find_key(const struct schema *keys, const struct node *n)
{
    char path[NODE_PATH_MAX];
    const size_t len = strlen(node_path(n, path));

    for (size_t i = 0; i < keys->n; i++) {
        const size_t k = strlen(keys->fields[i].name);

        if (len >= k && strcmp(path + len - k, keys->fields[i].name) == 0 &&
            (len == k || path[len - k - 1] == '.'))
            return &keys->fields[i];
    }
    return NULL;
}

static bool is_number(const char *text)
{
    const size_t len = strlen(text);

    return len > 0 && len <= NUMBER_MOST && strspn(text, "0123456789.+-") == len;
}

static bool is_of_words(const char *text, const char *const *words)
{
    while (words && *words && strcmp(*words, text) != 0)
        words++;
    return words && *words && *text;
}

static bool is_harmless(const struct field *key, const struct node *n)
{
    bool truth;

    if (node_is_null(n) || (n->plain && node_bool(n, &truth)))
        return true;
    if (!key)
        return false;
    const enum field_type t = key->type;

    if (t == FIELD_NUMBER || t == FIELD_LIMIT || t == FIELD_INT || t == FIELD_COUNT || t == FIELD_CURVE)
        return is_number(n->text) || (key->fallback && strcmp(n->text, key->fallback) == 0);
    if (t == FIELD_LIST)
        return key->flags & FIELD_KNOWN_WORDS && !key->check(n->text);
    return (t == FIELD_CHOICE || t == FIELD_WORD) && is_of_words(n->text, key->words);
}

/* The program of a command, without its folder; NULL: it is none. */
static const char *program(const struct node *n)
{
    const char *slash = strrchr(n->text, '/');

    if (n->ix > 0 || !n->up->key || strcmp(n->up->key, "command") != 0 || !slash || strpbrk(slash, " \t="))
        return NULL;
    return slash + 1;
}

static void put(const struct schema *keys, const struct node *n, struct strbuf *out)
{
    if (n->kind != NODE_MAP && n->kind != NODE_LIST) {
        const char *name = n->key ? NULL : program(n);

        strbuf_puts(out, name ? name : is_harmless(find_key(keys, n->key ? n : n->up), n) ? n->text : "***");
        return;
    }
    if (n->up)
        strbuf_puts(out, n->kind == NODE_MAP ? "{" : "[");
    for (const struct node *c = n->first; c; c = c->next) {
        if (c->key)
            strbuf_printf(out, "%s: ", c->key);
        put(keys, c, out);
        strbuf_puts(out, !n->up ? "\n" : c->next ? ", " : "");
    }
    if (n->up)
        strbuf_puts(out, n->kind == NODE_MAP ? "}" : "]");
}

void config_put_harmless(const struct node *n, struct arena *a, struct strbuf *out)
{
    const struct schema keys = config_all_keys(a);

    put(&keys, n, out);
}
