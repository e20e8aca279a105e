/* settings.c: the settings of the policy, flat ("dpm.enabled: true") or nested as in the service's
 * configuration. */
#include "sim/scenario/build.h"

#include <string.h>

static void warn_of_former(struct building *b, const struct node *n, const char *key)
{
    struct scenario *s = b->s;

    s->warnings = arena_grow(b->f.a, s->warnings, s->n_warnings, &b->cap_warnings, sizeof *s->warnings);
    s->warnings[s->n_warnings++] =
        arena_printf(b->f.a, "%s: " POLICY_FORMER_SETTING_WARNING, reader_place(&b->f, n->line), key);
}

static int set_one(struct building *b, const struct node *n, const char *key, struct policy *policy,
                   struct settings_given *given)
{
    const struct reader *f = &b->f;

    if (n->kind != NODE_SCALAR || node_is_null(n))
        return reader_refuse(f, n, "a word or a number");
    for (size_t i = 0; i < given->n; i++) {
        if (strcmp(given->items[i].key, key) == 0)
            return reader_complain(f, n, "is given twice, expected it once");
    }
    int r = policy_set(policy, key, n->text, f->err);

    if (r < 0) {
        (void)err_widen(f->err, "%s", reader_place(f, n->line));
        return r;
    }
    if (policy_is_former_setting(key)) {
        warn_of_former(b, n, key);
        return 0;
    }
    given->items = arena_grow(f->a, given->items, given->n, &given->cap, sizeof *given->items);
    given->items[given->n].key = key;
    given->items[given->n++].value = n->text;
    return 0;
}

int settings_read(struct building *b, const struct node *section, struct policy *policy,
                  struct settings_given *ret)
{
    const struct reader *f = &b->f;

    *ret = (struct settings_given){0};
    if (section->kind != NODE_MAP && !node_is_null(section))
        return reader_refuse(f, section, "{KEY: VALUE}");
    for (const struct node *n = section->first; n; n = n->next) {
        int r = 0;
        if (n->kind == NODE_MAP) {
            for (const struct node *c = n->first; r == 0 && c; c = c->next)
                r = set_one(b, c, arena_printf(f->a, "%.64s.%.64s", n->key, c->key), policy, ret);
        } else {
            r = set_one(b, n, arena_printf(f->a, "%.128s", n->key), policy, ret);
        }
        if (r < 0)
            return r;
    }
    return 0;
}
