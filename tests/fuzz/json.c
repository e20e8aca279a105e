/* JSON texts: jansson agrees on what is JSON and on every value, and the pieces in which a text arrives make
 * no difference. */
#include "schema/json_tree.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A text in pieces of any size. */
struct pieces {
    const char *at;
    size_t left, next;
};

static ssize_t read_piece(void *from, void *into, size_t size)
{
    struct pieces *p = from;
    size_t n = 1 + p->next++ * 7 % 11;

    n = n > size ? size : n;
    n = n > p->left ? p->left : n;
    if (n > 0)
        memcpy(into, p->at, n);
    p->at += n;
    p->left -= n;
    return (ssize_t)n;
}

static bool is_same(const struct node *n, json_t *json)
{
    const struct node *c = n->first;
    const char *key;
    json_t *value;
    size_t i;

    switch (n->kind) {
    case NODE_MAP:
        if (!json_is_object(json) || json_object_size(json) != n->n)
            return false;
        json_object_foreach(json, key, value)
        {
            c = node_child(n, key);
            if (!c || !is_same(c, value))
                return false;
        }
        return true;
    case NODE_LIST:
        if (!json_is_array(json) || json_array_size(json) != n->n)
            return false;
        json_array_foreach(json, i, value)
        {
            if (c->ix != i || !is_same(c, value))
                return false;
            c = c->next;
        }
        return true;
    case NODE_SCALAR:
        return json_is_string(json) && strcmp(json_string_value(json), n->text) == 0;
    case NODE_NUMBER: {
        double v = json_number_value(json);
        return json_is_number(json) && memcmp(&v, &n->number, sizeof v) == 0;
    }
    case NODE_BOOL:
        return json_is_boolean(json) && json_boolean_value(json) == n->truth;
    case NODE_NULL:
        return json_is_null(json);
    }
    return false;
}

static bool is_equal(const struct node *x, const struct node *y)
{
    const struct node *d = y->first;

    if (x->kind != y->kind || x->n != y->n || x->number != y->number || x->truth != y->truth ||
        (x->kind == NODE_SCALAR && strcmp(x->text, y->text) != 0) || !x->key != !y->key ||
        (x->key && strcmp(x->key, y->key) != 0))
        return false;
    for (const struct node *c = x->first; c; c = c->next, d = d->next)
        if (!is_equal(c, d))
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct err err[2] = {{0}, {0}};
    struct pieces pieces = {.at = (const char *)data, .left = size};
    const struct json_source whole = {.text = (const char *)data, .len = size};
    const struct json_source parts = {.read = read_piece, .from = &pieces};
    struct node *n[2];
    json_t *json = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    int e[2] = {json_tree_read(&whole, NULL, &a, &n[0], &err[0]),
                json_tree_read(&parts, NULL, &a, &n[1], &err[1])};

    if (e[0] != e[1] || strcmp(err[0].text, err[1].text) != 0 || (e[0] == 0) != (json != NULL))
        abort();
    if (json && (!is_same(n[0], json) || !is_equal(n[0], n[1])))
        abort();
    json_decref(json);
    arena_release(&a);
    return 0;
}
