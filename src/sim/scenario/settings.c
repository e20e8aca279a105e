/* The settings of the policy, flat ("dpm.enabled: true") or nested as in the service's configuration. */
#include "sim/scenario/build.h"

#include <string.h>

#define VALUE_LENGTH_MAX 60 /* policy_set() says a wrong one back whole */

static int set_one(const struct source_file *f, const struct node *n, const char *key, const char *path,
                   struct policy *policy, struct settings_given *given)
{
    if (n->kind != NODE_SCALAR || node_is_null(n) || strlen(n->text) > VALUE_LENGTH_MAX)
        return file_refuse(f, n->line, "%s.%s %s, expected a word or a number", path, key, node_shown(f, n));
    for (size_t i = 0; i < given->n; i++) {
        if (strcmp(given->items[i].key, key) == 0)
            return file_refuse(f, n->line, "%s.%s is given twice, expected it once", path, key);
    }
    int r = policy_set(policy, key, n->text, f->err);

    if (r < 0) {
        (void)err_widen(f->err, "%s", file_place(f, n->line));
        return r;
    }
    given->items = arena_grow(f->a, given->items, given->n, &given->cap, sizeof *given->items);
    given->items[given->n].key = key;
    given->items[given->n++].value = n->text;
    return 0;
}

int settings_read(const struct source_file *f, const struct node *section, const char *path,
                  struct policy *policy, struct settings_given *ret)
{
    *ret = (struct settings_given){0};
    if (section->kind != NODE_MAP && !node_is_null(section))
        return file_refuse(f, section->line, "%s %s, expected {KEY: VALUE}", path, node_shown(f, section));
    for (const struct node *n = section->first; n; n = n->next) {
        int r = 0;
        if (n->kind == NODE_MAP) {
            for (const struct node *c = n->first; r == 0 && c; c = c->next)
                r = set_one(f, c, arena_printf(f->a, "%.64s.%.64s", n->key, c->key), path, policy, ret);
        } else {
            r = set_one(f, n, arena_printf(f->a, "%.128s", n->key), path, policy, ret);
        }
        if (r < 0)
            return r;
    }
    return 0;
}
