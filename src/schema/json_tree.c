/* json_tree.c: from the tokens of a JSON text to a tree of nodes, or to one tree after the other. */
#include "schema/json_tree.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_COMPARED 64 /* objects with more members are sorted to find a name that is given twice */

struct builder {
    struct json_text text;
    const struct json_entries *entries;
    struct arena entry; /* the nodes of one entry */
    struct err *err;
};

/* What is at the present place of the text. n: the value that it belongs to. */
static int refuse(const struct builder *b, const struct node *n, const char *expected)
{
    const struct json_text *t = &b->text;
    char path[NODE_PATH_MAX], found[32] = "the text ends";

    if (t->error == -EFBIG)
        return err_set(b->err, -EFBIG, "/: too large, expected at most %zu bytes", t->source.most);
    if (t->error < 0)
        return err_set(b->err, t->error, "cannot be read: %s", strerror(-t->error));
    if (t->at < t->end) {
        unsigned char c = (unsigned char)*t->at;

        (void)snprintf(found, sizeof found, c > ' ' && c < 0x7f ? "'%c'" : "byte 0x%02x", c);
    }
    return err_set(b->err, -EINVAL, "%s: line %zu, column %zu: %s, expected %s", node_path(n, path), t->line,
                   json_text_column(t), found, expected);
}

static int refuse_twice(const struct builder *b, const struct node *n)
{
    char path[NODE_PATH_MAX];

    return err_set(b->err, -EINVAL, "%s: line %zu, column %zu: given twice, expected once",
                   node_path(n, path), b->text.line, json_text_column(&b->text));
}

/* ---- names that are given twice ---- */

/* A bit for the name: a name whose bit no other one has is new. */
static uint64_t name_bit(const char *name)
{
    uint64_t h = 0;

    for (; *name; name++)
        h = h * 31 + (unsigned char)*name;
    return (uint64_t)1 << (h * 0x9e3779b97f4a7c15u >> 58);
}

static int by_key(const void *x, const void *y)
{
    const struct node *a = *(const struct node *const *)x, *b = *(const struct node *const *)y;

    return strcmp(a->key, b->key);
}

static int check_many(const struct builder *b, const struct node *map)
{
    const struct node **sorted = malloc(map->n * sizeof(*sorted));
    const struct node *twice = NULL;
    size_t n = 0;

    if (!sorted)
        return err_set(b->err, -ENOMEM, "out of memory");
    for (const struct node *c = map->first; c; c = c->next)
        sorted[n++] = c;
    qsort(sorted, n, sizeof(*sorted), by_key);
    for (size_t i = 1; i < n && !twice; i++)
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            twice = sorted[i];
    free(sorted);
    return twice ? refuse_twice(b, twice) : 0;
}

/* ---- values ---- */

static int build(struct builder *b, struct arena *a, struct node *n, unsigned level);

/* The member's name and the colon behind it. *names has the bits of the names before it. */
static int build_name(struct builder *b, struct arena *a, const struct node *map, struct node *member,
                      uint64_t *names)
{
    const char *wrong = json_text_string(&b->text, a, &member->key);

    if (wrong)
        return refuse(b, map, wrong);
    uint64_t bit = name_bit(member->key);

    if (*names & bit && map->n < NAMES_COMPARED && node_child(map, member->key)) {
        b->text.at = b->text.token;
        return refuse_twice(b, member);
    }
    *names |= bit;
    if (json_text_peek(&b->text) != ':')
        return refuse(b, member, ":");
    b->text.at++;
    return 0;
}

static int build_map(struct builder *b, struct arena *a, struct node *map, unsigned level)
{
    struct node **end = &map->first;
    uint64_t names = 0;
    int r;

    b->text.at++;
    for (int c = json_text_peek(&b->text); c != '}' || map->n > 0; c = json_text_peek(&b->text)) {
        if (c != '"')
            return refuse(b, map, map->n == 0 ? "a name in quotes or }" : "a name in quotes");
        struct node *member = arena_new(a, struct node);

        member->up = map;
        member->json = true;
        if ((r = build_name(b, a, map, member, &names)) < 0 || (r = build(b, a, member, level + 1)) < 0)
            return r;
        *end = member;
        end = &member->next;
        map->n++;
        if ((c = json_text_peek(&b->text)) == '}')
            break;
        if (c != ',')
            return refuse(b, map, ", or }");
        b->text.at++;
    }
    b->text.at++;
    return map->n > NAMES_COMPARED ? check_many(b, map) : 0;
}

static bool is_taken(const struct builder *b, const struct node *list)
{
    bool of_document = !list->up || (!list->up->up && list->up->kind == NODE_MAP);

    return b->entries && of_document && b->entries->taken(b->entries->context, list);
}

/* An entry, into the list or to the function that takes entries. */
static int build_entry(struct builder *b, struct arena *a, struct node *list, bool taken, unsigned level,
                       struct node ***end)
{
    struct node *entry = arena_new(taken ? &b->entry : a, struct node);

    entry->up = list;
    entry->json = true;
    entry->ix = list->n;
    int r = build(b, taken ? &b->entry : a, entry, level);

    if (r < 0)
        return r;
    list->n++;
    if (taken) {
        b->entries->entry(b->entries->context, entry);
        arena_reset(&b->entry);
    } else {
        **end = entry;
        *end = &entry->next;
    }
    return 0;
}

static int build_list(struct builder *b, struct arena *a, struct node *list, unsigned level)
{
    struct node **end = &list->first;
    const bool taken = is_taken(b, list);

    b->text.at++;
    for (int c = json_text_peek(&b->text); c != ']' || list->n > 0;) {
        int r = build_entry(b, a, list, taken, level + 1, &end);

        if (r < 0)
            return r;
        if ((c = json_text_peek(&b->text)) == ']')
            break;
        if (c != ',')
            return refuse(b, list, ", or ]");
        b->text.at++;
    }
    b->text.at++;
    return 0;
}

static int build_word(struct builder *b, struct node *n, const char *word, enum node_kind kind)
{
    const char *wrong = json_text_word(&b->text, word);

    n->kind = kind;
    n->truth = word[0] == 't';
    return wrong ? refuse(b, n, wrong) : 0;
}

/* The value at the present place. The levels are bounded, so the recursion is. */
static int build(struct builder *b, struct arena *a, struct node *n, unsigned level)
{
    int c = json_text_peek(&b->text);
    const char *wrong = NULL;

    if (level > JSON_LEVELS_MAX)
        return refuse(b, n, "fewer levels");
    switch (c) {
    case '{':
        n->kind = NODE_MAP;
        return build_map(b, a, n, level);
    case '[':
        n->kind = NODE_LIST;
        return build_list(b, a, n, level);
    case 't':
        return build_word(b, n, "true", NODE_BOOL);
    case 'f':
        return build_word(b, n, "false", NODE_BOOL);
    case 'n':
        return build_word(b, n, "null", NODE_NULL);
    case '"':
        n->kind = NODE_SCALAR;
        wrong = json_text_string(&b->text, a, &n->text);
        break;
    default:
        n->kind = NODE_NUMBER;
        wrong = c == '-' || (c >= '0' && c <= '9') ? json_text_number(&b->text, &n->number) : "a JSON value";
        break;
    }
    return wrong ? refuse(b, n, wrong) : 0;
}

int json_tree_read(const struct json_source *source, const struct json_entries *entries, struct arena *a,
                   struct node **ret, struct err *err)
{
    struct builder b = {.entries = entries, .err = err};
    struct node *document = arena_new(a, struct node);

    document->json = true;
    json_text_init(&b.text, source);
    int r = build(&b, a, document, 1);

    if (r == 0 && (json_text_peek(&b.text) >= 0 || b.text.error < 0))
        r = refuse(&b, document, "the end of the text");
    json_text_release(&b.text);
    arena_release(&b.entry);
    *ret = document;
    return r;
}

int json_tree_parse(const char *text, struct arena *a, struct node **ret, struct err *err)
{
    const struct json_source source = {.text = text, .len = strlen(text)};

    return json_tree_read(&source, NULL, a, ret, err);
}
