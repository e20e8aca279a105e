/* node.c: values of YAML and JSON files: their children and their paths. */
#include "schema/node.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEY_SHOWN_MAX 128 /* bytes of a key in a path */
#define SHOWN_MAX 60      /* bytes of a value in a sentence */

struct node node_absent(const struct node *in, const char *key)
{
    return (struct node){.kind = NODE_NULL, .line = in->line, .up = in, .key = key, .json = in->json};
}

/* ---- children ---- */

const struct node *node_child(const struct node *map, const char *key)
{
    for (const struct node *c = map->first; c; c = c->next) {
        if (c->key && strcmp(c->key, key) == 0)
            return c;
    }
    return NULL;
}

const struct node *node_find(const struct node *map, const char *path)
{
    for (const struct node *c = map->first; c; c = c->next) {
        size_t len = c->key ? strlen(c->key) : 0;

        if (len == 0 || strncmp(c->key, path, len) != 0)
            continue;
        if (path[len] == '\0')
            return c;
        if (path[len] == '.')
            return node_find(c, path + len + 1);
    }
    return NULL;
}

/* Most files have the keys in one order, so the search begins at `*next`. */
static const struct node *find_next(const struct node *map, const char *key, const struct node **next)
{
    const struct node *found = *next;

    while (found && strcmp(found->key, key) != 0)
        found = found->next;
    if (!found)
        found = node_child(map, key);
    *next = found ? found->next : NULL;
    return found;
}

bool node_same(const struct node *x, const struct node *y)
{
    const struct node *next = y->first;

    if (x->kind != y->kind || x->n != y->n)
        return false;
    if (x->kind == NODE_SCALAR)
        return x->plain == y->plain && strcmp(x->text, y->text) == 0;
    for (const struct node *c = x->first; c; c = c->next) {
        const struct node *other = next;

        if (x->kind == NODE_MAP)
            other = find_next(y, c->key, &next);
        else
            next = next->next;
        if (!other || !node_same(c, other))
            return false;
    }
    return true;
}

bool node_has(const struct node *map, const char *key)
{
    return node_child(map, key) != NULL;
}

/* ---- values ---- */

bool node_is_null(const struct node *n)
{
    if (n->json)
        return n->kind == NODE_NULL;
    return n->kind == NODE_SCALAR && n->plain &&
           (n->text[0] == '\0' || strcmp(n->text, "~") == 0 || strcmp(n->text, "null") == 0);
}

const char *node_text(const struct node *n)
{
    return n->kind == NODE_SCALAR && !node_is_null(n) ? n->text : NULL;
}

bool node_number(const struct node *n, double *ret)
{
    if (n->kind == NODE_NUMBER) {
        *ret = n->number;
        return true;
    }
    return n->kind == NODE_SCALAR && n->plain && number_parse(n->text, ret) && isfinite(*ret);
}

bool node_bool(const struct node *n, bool *ret)
{
    const char *word = n->kind == NODE_SCALAR && n->plain ? n->text : "";

    if (n->kind != NODE_BOOL && strcmp(word, "true") != 0 && strcmp(word, "false") != 0)
        return false;
    *ret = n->kind == NODE_BOOL ? n->truth : strcmp(word, "true") == 0;
    return true;
}

/* ---- for sentences ---- */

/* A key with a "/" or a "~" in it is escaped in a pointer (RFC 6901). */
static size_t put_key(const struct node *n, const char *key, char ret[NODE_PATH_MAX], size_t len)
{
    size_t most = n->json ? NODE_PATH_MAX : KEY_SHOWN_MAX;

    for (size_t i = 0; key[i] && i < most && len + 2 < NODE_PATH_MAX; i++) {
        bool escaped = n->json && (key[i] == '~' || key[i] == '/');

        if (escaped)
            ret[len++] = '~';
        ret[len++] = !escaped ? key[i] : key[i] == '~' ? '0' : '1';
    }
    return len;
}

static size_t put_path(const struct node *n, char ret[NODE_PATH_MAX])
{
    char number[24];

    if (!n->up)
        return 0;
    size_t len = put_path(n->up, ret);

    (void)snprintf(number, sizeof number, "%zu", n->ix);
    if ((n->json || len > 0) && len + 1 < NODE_PATH_MAX)
        ret[len++] = n->json ? '/' : '.';
    return put_key(n, n->former_key ? n->former_key : n->key ? n->key : number, ret, len);
}

const char *node_path(const struct node *n, char ret[NODE_PATH_MAX])
{
    size_t len = put_path(n, ret);

    if (len == 0 && n->json)
        ret[len++] = '/';
    ret[len] = '\0';
    return ret;
}

static const char *quoted(const char *text, const char *before, struct arena *a)
{
    char *shown =
        arena_printf(a, "%s\"%.*s\"%s", before, SHOWN_MAX, text, strlen(text) > SHOWN_MAX ? "..." : "");

    for (char *c = shown; *c; c++) {
        if (iscntrl((unsigned char)*c))
            *c = '?';
    }
    return shown;
}

const char *node_shown(const struct node *n, struct arena *a)
{
    switch (n->kind) {
    case NODE_MAP:
        return n->json ? "an object" : "is a section";
    case NODE_LIST:
        return n->json ? "an array" : "is a list";
    case NODE_SCALAR:
        return node_is_null(n) ? "has no value" : quoted(n->text, n->json ? "" : "is ", a);
    case NODE_NUMBER:
        return arena_printf(a, "%.12g", n->number);
    case NODE_BOOL:
        return n->truth ? "true" : "false";
    case NODE_NULL:
        break;
    }
    return "null";
}
