/* override.c: --set: replaces or adds values of the file before it is read. */
#include "sim/scenario/override.h"

#include "schema/suggest.h"
#include "schema/yaml_tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SHOWN_MAX 60
#define VALUE_BYTES_MAX 65536

/* Lines from here on are the overrides, by number. */
#define OVERRIDE_LINES 0x80000000u

const char *override_place(const struct reader *r, unsigned line)
{
    const struct building *b = r->context;

    if (line < OVERRIDE_LINES)
        return arena_printf(r->a, "%s:%u", r->file, line);
    const struct scenario_override *o = &b->options->overrides[line - OVERRIDE_LINES];

    return arena_printf(r->a, "--%s %.*s", o->option ? o->option : "set", PATH_SHOWN_MAX, o->path);
}

static bool is_key(const struct schema *keys, const char *word)
{
    for (size_t i = 0; i < keys->n; i++) {
        if (strcmp(keys->fields[i].name, word) == 0)
            return true;
    }
    return false;
}

static void set_lines(struct node *n, unsigned line)
{
    n->line = line;
    for (struct node *c = n->first; c; c = c->next)
        set_lines(c, line);
}

/* The child at the start of the path; *ret_rest is the remaining path, NULL: none. Keys may have dots
 * (dpm.enabled), so the longest matching key wins. */
static struct node *find_child(struct node *map, const char *path, const char **ret_rest)
{
    struct node *found = NULL;
    size_t longest = 0;

    for (struct node *c = map->first; c; c = c->next) {
        size_t len = strlen(c->key);
        if (strncmp(path, c->key, len) != 0 || (path[len] != '.' && path[len] != '\0') || len < longest)
            continue;
        found = c;
        longest = len;
        *ret_rest = path[len] == '.' ? path + len + 1 : NULL;
    }
    return found;
}

static struct node *add_child(const struct reader *f, struct node *map, const char *key, unsigned line)
{
    struct node *n = arena_new(f->a, struct node);
    struct node **end = &map->first;

    *n = (struct node){.kind = NODE_SCALAR, .line = line, .up = map, .key = key, .text = "", .plain = true};
    while (*end)
        end = &(*end)->next;
    *end = n;
    map->n++;
    return n;
}

/* The entry of a list, by number or name. */
static int find_entry(const struct reader *f, struct node *list, const char *path, unsigned line,
                      const char **ret_rest, struct node **ret)
{
    size_t len = strcspn(path, ".");
    char *end;
    unsigned long number = strtoul(path, &end, 10);
    bool counted = isdigit((unsigned char)path[0]) && end == path + len;
    unsigned long i = 0;

    *ret_rest = path[len] == '.' ? path + len + 1 : NULL;
    for (struct node *c = list->first; c; c = c->next, i++) {
        const struct node *name = c->kind == NODE_MAP ? node_child(c, "name") : NULL;
        bool named = name && name->kind == NODE_SCALAR && strlen(name->text) == len &&
                     strncmp(name->text, path, len) == 0;
        if (named || (counted && number == i)) {
            *ret = c;
            return 0;
        }
    }
    return reader_complain_line(
        f, line, "there is no \"%.*s\" in the list, expected %s", (int)len, path,
        list->n ? arena_printf(f->a, "a number from 0 to %zu or the name of an entry", list->n - 1)
                : "one with entries");
}

/* The node for the value; missing sections are created. In `settings` the remaining path is one key. */
static int find_place(const struct reader *f, struct node *root, const char *path, unsigned line,
                      struct node **ret)
{
    struct node *at = root;
    bool settings = false;

    for (const char *rest = path; rest;) {
        const char *next = NULL;
        struct node *child = NULL;

        if (node_is_null(at))
            *at = (struct node){.kind = NODE_MAP,
                                .line = at->line,
                                .up = at->up,
                                .key = at->key,
                                .ix = at->ix,
                                .next = at->next};
        if (at->kind == NODE_SCALAR)
            return reader_complain_line(f, line, "there is nothing below %.*s, it is a single value",
                                        (int)(rest - path) - 1, path);
        if (at->kind == NODE_LIST) {
            int r = find_entry(f, at, rest, line, &next, &child);
            if (r < 0)
                return r;
        } else if (!(child = find_child(at, rest, &next))) {
            size_t len = settings ? strlen(rest) : strcspn(rest, ".");
            child = add_child(f, at, arena_strndup(f->a, rest, len), line);
            next = rest[len] == '.' ? rest + len + 1 : NULL;
        }
        settings = child->key && (strcmp(child->key, "settings") == 0 || strcmp(child->key, "set") == 0);
        at = child;
        rest = next;
    }
    *ret = at;
    return 0;
}

static const char *nearest_setting(const char *path, struct arena *a)
{
    const char **names = arena_array(a, const char *, policy_recorded.n);

    for (size_t i = 0; i < policy_recorded.n; i++)
        names[i] = policy_recorded.fields[i].name;
    return suggest(path, names, policy_recorded.n);
}

static int apply_one(struct building *b, const struct schema *top, struct node *root, unsigned line)
{
    const struct scenario_override *o = &b->options->overrides[line - OVERRIDE_LINES];
    const struct reader *f = &b->f;
    const char *path = o->path;
    struct node *value = NULL;
    struct node *place = NULL;
    const char *near;
    int r;

    if (path[0] == '\0' || path[0] == '.' || path[strlen(path) - 1] == '.' || strstr(path, ".."))
        return reader_complain_line(f, line, "this is no path, expected keys with dots between them");
    if (strlen(o->value) > VALUE_BYTES_MAX)
        return reader_complain_line(f, line, "the value is too long, expected at most %d bytes",
                                    VALUE_BYTES_MAX);
    if (!is_key(top, arena_strndup(f->a, path, strcspn(path, "."))) && is_key(&policy_recorded, path))
        path = arena_printf(f->a, "settings.%s", path);
    else if (!is_key(top, arena_strndup(f->a, path, strcspn(path, "."))) &&
             (near = nearest_setting(path, f->a)) != NULL)
        return reader_complain_line(f, line, "this is not a known setting, did you mean \"%s\"?", near);
    const char *text = arena_printf(f->a, "v: %s", o->value);

    if ((r = yaml_tree_parse(reader_place(f, line), text, strlen(text), f->a, &value, f->err)) < 0)
        return r;
    if (value->n != 1)
        return reader_complain_line(f, line, "this is more than one value, expected one");
    if ((r = find_place(f, root, path, line, &place)) < 0)
        return r;
    struct node *new = value->first;

    set_lines(new, line);
    new->up = place->up;
    new->key = place->key;
    new->ix = place->ix;
    new->next = place->next;
    *place = *new;
    return 0;
}

int override_apply(struct building *b, const struct schema *top, struct node *root)
{
    int r = 0;

    for (size_t i = 0; r == 0 && b->options && i < b->options->n_overrides; i++)
        r = apply_one(b, top, root, OVERRIDE_LINES + (unsigned)i);
    return r;
}
