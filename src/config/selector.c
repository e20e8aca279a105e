/* selector.c: reads conditions, and refuses what could never select anything. */
#include "config/selector.h"

#include <string.h>

static const struct field vm_condition[] = {CONDITION_FIELDS(0), CONDITION_FOLDER(0)};
static const struct field host_condition[] = {CONDITION_FIELDS(0)};

int config_check_condition(const struct reader *r, const struct node *n, const struct condition *c)
{
    for (uint32_t i = 0; i < c->folders.n; i++) {
        const char *folder = c->folders.items[i];
        size_t len = strlen(folder);

        if (folder[0] != '/')
            return reader_complain(r, node_child(n, "folder"),
                                   "is \"%s\", expected a path that begins with a /, such as /prod/db",
                                   folder);
        if (len > 1 && folder[len - 1] == '/')
            return reader_complain(r, node_child(n, "folder"),
                                   "is \"%s\", expected it without the / at its end; the folders below are "
                                   "included",
                                   folder);
    }
    for (uint32_t i = 0; i < c->labels.n; i++)
        if (c->labels.items[i][0] == '=')
            return reader_complain(r, node_child(n, "label"), "is \"%s\", expected KEY or KEY=VALUE",
                                   c->labels.items[i]);
    return selector_condition_given(c)
               ? 0
               : reader_complain(r, n, "has no condition, expected at least one, for example name");
}

static int read_condition(const struct reader *r, const struct node *n, const struct schema *keys,
                          struct condition *ret)
{
    int e;

    if (n->kind == NODE_SCALAR) /* the short form: a pattern of names */
        return reader_value(r, n, &keys->fields[0], &ret->names);
    if (n->kind != NODE_MAP)
        return reader_refuse(r, n, "a pattern of names, or a section with conditions");
    if ((e = reader_object(r, n, keys, ret)) < 0)
        return e;
    return config_check_condition(r, n, ret);
}

/* One condition, or a list of them. */
static int read_selector(const struct reader *r, const struct node *n, const struct schema *keys,
                         struct selector *ret)
{
    bool list = n->kind == NODE_LIST;
    struct condition *c = arena_array(r->a, struct condition, list ? n->n : 1);
    uint32_t i = 0;
    int e = 0;

    if (list && (n->n == 0 || n->n > PATTERNS_MOST))
        return reader_complain(r, n, "has %zu entries, expected 1 to %d", n->n, PATTERNS_MOST);
    if (!list)
        e = read_condition(r, n, keys, &c[i++]);
    for (const struct node *item = list ? n->first : NULL; item && e == 0; item = item->next)
        e = read_condition(r, item, keys, &c[i++]);
    *ret = (struct selector){.conditions = c, .n = i};
    return e;
}

int config_read_vms(const struct reader *r, const struct node *n, void *at)
{
    const struct schema keys = SCHEMA_OF("", vm_condition);

    return read_selector(r, n, &keys, at);
}

int config_read_hosts(const struct reader *r, const struct node *n, void *at)
{
    const struct schema keys = SCHEMA_OF("", host_condition);

    return read_selector(r, n, &keys, at);
}
