/* yaml_tree.c: from the events of libyaml to a tree of nodes. */
#include "schema/yaml_tree.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MAX 16
#define NODES_MAX 100000

struct builder {
    yaml_parser_t parser;
    const char *file, *text;
    size_t len;
    struct arena *a;
    struct err *err;
    size_t n_nodes;
};

static void eventp(yaml_event_t *e)
{
    yaml_event_delete(e);
}

static unsigned line_of(yaml_mark_t mark)
{
    return (unsigned)mark.line + 1;
}

static int refuse(const struct builder *b, unsigned line, const char *what)
{
    return err_set(b->err, -EINVAL, "%s:%u: %s", b->file, line, what);
}

static const char *expected_syntax(const char *problem)
{
    if (strstr(problem, "tab character") || strstr(problem, "cannot start any token"))
        return "spaces before a key, no tab";
    if (strstr(problem, "mapping values") || strstr(problem, "find expected key"))
        return "`key: value` with a space, and a section's keys in one column, here and in the line above";
    return "`key: value`";
}

/* The error of libyaml. Its reader reports an offset only, its scanner and parser a line. */
static int refuse_syntax(const struct builder *b)
{
    const yaml_parser_t *p = &b->parser;
    const char *problem = p->problem ? p->problem : "it cannot be read";
    unsigned line = line_of(p->problem_mark);

    if (p->error == YAML_MEMORY_ERROR)
        return err_set(b->err, -ENOMEM, "%s: out of memory", b->file);
    if (p->error == YAML_READER_ERROR) {
        line = 1;
        for (size_t i = 0; i < p->problem_offset && i < b->len; i++)
            line += b->text[i] == '\n';
        return err_set(b->err, -EINVAL, "%s:%u: this is not text: %s, expected YAML in UTF-8", b->file, line,
                       problem);
    }
    if (p->context)
        return err_set(b->err, -EINVAL, "%s:%u: not valid YAML: %s (%s, line %u), expected %s", b->file, line,
                       problem, p->context, line_of(p->context_mark), expected_syntax(problem));
    return err_set(b->err, -EINVAL, "%s:%u: not valid YAML: %s, expected %s", b->file, line, problem,
                   expected_syntax(problem));
}

static int next_event(struct builder *b, yaml_event_t *ret)
{
    return yaml_parser_parse(&b->parser, ret) ? 0 : refuse_syntax(b);
}

/* Anchors without aliases are harmless; a tag would change the meaning of a value. */
static int check_tag(const struct builder *b, const yaml_event_t *e, const yaml_char_t *tag)
{
    return tag ? refuse(b, line_of(e->start_mark), "a tag (!...) has no place here, expected a plain value")
               : 0;
}

static int add_node(struct builder *b, enum node_kind kind, const yaml_event_t *e, const struct node *up,
                    struct node **ret)
{
    if (++b->n_nodes > NODES_MAX)
        return refuse(b, line_of(e->start_mark), "too many values, expected a configuration of a sane size");
    struct node *n = arena_new(b->a, struct node);

    n->kind = kind;
    n->line = line_of(e->start_mark);
    n->up = up;
    *ret = n;
    return 0;
}

static int scalar_text(struct builder *b, const yaml_event_t *e, const char **ret)
{
    const char *value = (const char *)e->data.scalar.value;

    if (memchr(value, '\0', e->data.scalar.length))
        return refuse(b, line_of(e->start_mark), "a NUL byte has no place in a value");
    *ret = arena_strdup(b->a, value);
    return 0;
}

static int by_key_and_place(const void *x, const void *y)
{
    const struct node *a = *(const struct node *const *)x, *b = *(const struct node *const *)y;
    int order = strcmp(a->key, b->key);

    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int check_duplicates(const struct builder *b, const struct node *map)
{
    if (map->n < 2)
        return 0;
    const struct node **sorted = arena_array(b->a, const struct node *, map->n);
    size_t n = 0;

    for (const struct node *c = map->first; c; c = c->next)
        sorted[n++] = c;
    qsort(sorted, n, sizeof(sorted[0]), by_key_and_place);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            return err_set(b->err, -EINVAL,
                           "%s:%u: \"%s\" is given twice (first in line %u), expected it once", b->file,
                           sorted[i]->line, sorted[i]->key, sorted[i - 1]->line);
    }
    return 0;
}

/* Errors and logs show keys, so a key must not have control characters. */
static bool is_printable(const char *key)
{
    while (*key && !iscntrl((unsigned char)*key))
        key++;
    return *key == '\0';
}

static int build(struct builder *b, const yaml_event_t *e, unsigned depth, const struct node *up,
                 struct node **ret);

static int build_map(struct builder *b, struct node *map, unsigned depth)
{
    for (struct node **end = &map->first;; end = &(*end)->next) {
        CLEANUP(eventp) yaml_event_t key = {0};
        CLEANUP(eventp) yaml_event_t value = {0};
        const char *name = NULL;
        int r = next_event(b, &key);

        if (r < 0)
            return r;
        if (key.type == YAML_MAPPING_END_EVENT)
            return check_duplicates(b, map);
        if (key.type != YAML_SCALAR_EVENT)
            return refuse(b, line_of(key.start_mark), "this cannot be a key, expected a word");
        if ((r = scalar_text(b, &key, &name)) < 0)
            return r;
        if (!is_printable(name))
            return refuse(b, line_of(key.start_mark), "a key has a control character in it, expected a word");
        if ((r = next_event(b, &value)) < 0 || (r = build(b, &value, depth + 1, map, end)) < 0)
            return r;
        (*end)->key = name;
        (*end)->line = line_of(key.start_mark);
        map->n++;
    }
}

static int build_list(struct builder *b, struct node *list, unsigned depth)
{
    for (struct node **end = &list->first;; end = &(*end)->next) {
        CLEANUP(eventp) yaml_event_t e = {0};
        int r = next_event(b, &e);

        if (r < 0)
            return r;
        if (e.type == YAML_SEQUENCE_END_EVENT)
            return 0;
        if ((r = build(b, &e, depth + 1, list, end)) < 0)
            return r;
        (*end)->ix = list->n++;
    }
}

/* The node that begins with this event, with its subtree. The depth is bounded, so the recursion is. */
static int build(struct builder *b, const yaml_event_t *e, unsigned depth, const struct node *up,
                 struct node **ret)
{
    int r;

    if (depth > DEPTH_MAX)
        return refuse(b, line_of(e->start_mark), "nested too deeply, expected a few levels at most");
    if (e->type == YAML_ALIAS_EVENT)
        return refuse(b, line_of(e->start_mark),
                      "an alias (*...) has no place here, expected the value itself");
    if (e->type == YAML_SCALAR_EVENT) {
        if ((r = check_tag(b, e, e->data.scalar.tag)) < 0 || (r = add_node(b, NODE_SCALAR, e, up, ret)) < 0)
            return r;
        (*ret)->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return scalar_text(b, e, &(*ret)->text);
    }
    if (e->type == YAML_MAPPING_START_EVENT) {
        if ((r = check_tag(b, e, e->data.mapping_start.tag)) < 0 ||
            (r = add_node(b, NODE_MAP, e, up, ret)) < 0)
            return r;
        (*ret)->plain = e->data.mapping_start.style != YAML_FLOW_MAPPING_STYLE;
        return build_map(b, *ret, depth);
    }
    if (e->type == YAML_SEQUENCE_START_EVENT) {
        if ((r = check_tag(b, e, e->data.sequence_start.tag)) < 0 ||
            (r = add_node(b, NODE_LIST, e, up, ret)) < 0)
            return r;
        return build_list(b, *ret, depth);
    }
    return refuse(b, line_of(e->start_mark), "a value is missing here");
}

static int build_document(struct builder *b, struct node **ret)
{
    struct node *root = NULL;

    for (;;) {
        CLEANUP(eventp) yaml_event_t e = {0};
        int r = next_event(b, &e);

        if (r < 0)
            return r;
        if (e.type == YAML_STREAM_END_EVENT)
            break;
        if (e.type == YAML_STREAM_START_EVENT || e.type == YAML_DOCUMENT_END_EVENT)
            continue;
        if (e.type == YAML_DOCUMENT_START_EVENT) {
            if (root)
                return refuse(b, line_of(e.start_mark), "a second document begins here, expected only one");
            continue;
        }
        if ((r = build(b, &e, 1, NULL, &root)) < 0)
            return r;
        if (root->kind == NODE_SCALAR && root->plain && root->text[0] == '\0')
            root->kind = NODE_MAP; /* "---" and nothing else */
        if (root->kind != NODE_MAP)
            return refuse(b, root->line, "there are no keys at the top, expected `key: value`");
    }
    if (!root) {
        root = arena_new(b->a, struct node);
        root->kind = NODE_MAP;
        root->line = 1;
    }
    *ret = root;
    return 0;
}

int yaml_tree_parse(const char *file, const char *text, size_t len, struct arena *a, struct node **ret,
                    struct err *err)
{
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* the byte order mark of some editors */
        text += 3;
        len -= 3;
    }
    struct builder b = {.file = file, .text = text, .len = len, .a = a, .err = err};

    if (!yaml_parser_initialize(&b.parser))
        return err_set(err, -ENOMEM, "%s: out of memory", file);
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, len);
    int r = build_document(&b, ret);

    yaml_parser_delete(&b.parser);
    return r;
}
