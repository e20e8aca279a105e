/* capabilities.c: ComputeCapabilitiesFilter: extra specs against the host's state and its statistics. */
#include "dialect/nova/internal.h"

#include "base/number.h"

#include <string.h>

#define SCOPE "capabilities:"
#define UNSCOPED "capability:" /* of attributes: no name that another filter gives */

/* What str() writes around each text of a list. */
static const char *list_item(const json_t *item, struct arena *a)
{
    const char *text = nova_python_str(item, a);

    return json_is_string(item) ? arena_printf(a, "'%s'", text) : text;
}

/* The items of a list, which are added to *all too. */
static json_t *list_of(struct cloud *c, const json_t *list, struct words *all)
{
    json_t *ret = json_array();
    size_t i;
    const json_t *item;

    json_array_foreach(list, i, item)
    {
        const char *text = list_item(item, c->a);

        if (!text)
            continue;
        (void)json_array_append_new(ret, json_string(text));
        if (!nova_words_have(all, text))
            nova_words_add(all, text, c->a);
    }
    return ret;
}

/* The items of lists that have the part. */
static json_t *items_with(const struct cloud *c, const char *variable, const struct words *items,
                          const char *part)
{
    struct words found = {0};

    for (size_t i = 0; i < items->n; i++)
        if (strstr(items->items[i], part))
            nova_words_add(&found, items->items[i], c->a);
    return nova_expression_in(json_string(variable), &found, c->a);
}

/* Of a host that has a list: Python prints it as "['a', 'b']". */
static json_t *list_expression(const struct cloud *c, const char *variable, const struct words *items,
                               const char *requirement)
{
    struct words words = nova_words_split(requirement, c->a);
    bool of_parts =
        words.n > 1 && (strcmp(words.items[0], "<in>") == 0 || strcmp(words.items[0], "<all-in>") == 0);
    size_t last = words.n > 1 && strcmp(words.items[0], "<in>") == 0 ? 2 : words.n;

    if (!of_parts) /* the first letter decides; every text comes after "" */
        return extra_spec_matches("[", requirement, c->a)
                   ? json_pack("[s, [s, s], [s, [s, s, s]]]", "and", "given", variable, "not",
                               "s>=", variable, "")
                   : json_false();
    json_t *all = json_pack("[s]", "and");

    for (size_t i = 1; i < last; i++)
        (void)json_array_append_new(all, items_with(c, variable, items, words.items[i]));
    return all;
}

/* What the hosts have. */
struct found {
    struct words items; /* of those that have a list */
    struct words odd;   /* numbers to Python, and not to an expression: "inf", " 12", "1_000" */
};

/* Gives every host the attribute of the key. */
static void set_capability(struct cloud *c, const char *key, const struct words *path, bool scoped,
                           struct found *ret)
{
    double number;

    size_t i;
    const json_t *state;

    json_array_foreach(c->states, i, state)
    {
        json_t *parsed;
        const json_t *found = host_state_find(state, path, &parsed);
        const char *text = nova_python_str(found, c->a);

        if (text && nova_python_float(text, c->a, &number) && !number_parse(text, &number) &&
            !nova_words_have(&ret->odd, text))
            nova_words_add(&ret->odd, text, c->a);
        if (text)
            host_set(c, i, key, json_string(text));
        else if (json_is_array(found))
            host_set(c, i, key, list_of(c, found, &ret->items));
        else if (!scoped && json_object_get(json_object_get(state, "stats"), path->items[0]))
            host_set(c, i, key, json_false()); /* there, and agrees with nothing */
        json_decref(parsed);
    }
}

/* The odd numbers that agree. */
static json_t *odd_expression(const struct cloud *c, const char *variable, const struct words *odd,
                              const char *requirement)
{
    struct words agree = {0};

    for (size_t i = 0; i < odd->n; i++)
        if (extra_spec_matches(odd->items[i], requirement, c->a))
            nova_words_add(&agree, odd->items[i], c->a);
    return nova_expression_in(json_string(variable), &agree, c->a);
}

/* Of a field that servers consume, as it is now; NULL: it is no such field. Within a request of many Nova
 * asks this filter once, before the first of them. */
static json_t *live_capability(struct cloud *c, const struct request *r, const struct words *path,
                               const char *requirement)
{
    json_t *now = path->n == 1 && !r->of_many ? consumed_field(c, path->items[0]) : NULL;

    return now ? extra_spec_number_expression(now, requirement, c->a) : NULL;
}

static json_t *capability(struct cloud *c, const struct request *r, const char *key, const char *requirement)
{
    bool scoped = strchr(key, ':') != NULL;
    struct words path = nova_parts_split(scoped ? key + strlen(SCOPE) : key, ':', c->a);
    json_t *live = live_capability(c, r, &path, requirement);

    if (live)
        return live;
    const char *attribute = scoped ? key : arena_printf(c->a, UNSCOPED "%s", key);
    const char *variable = arena_printf(c->a, ATTRIBUTE "%s", attribute);
    struct found found = {0};

    set_capability(c, attribute, &path, scoped, &found);
    json_t *ret = extra_spec_expression(variable, requirement, c->a);

    if (found.items.n > 0)
        ret = json_pack("[s, o, o]", "or", ret, list_expression(c, variable, &found.items, requirement));
    if (found.odd.n > 0)
        ret = json_pack("[s, o, o]", "or", ret, odd_expression(c, variable, &found.odd, requirement));
    if (!scoped && !host_state_has(key))
        ret = json_pack("[s, [s, [s, s]], o]", "or", "not", "given", variable, ret);
    return ret;
}

int nova_filter_capabilities(struct cloud *c, const struct request *r, json_t **ret)
{
    const char *key;
    json_t *value;

    *ret = json_pack("[s]", "and");
    json_object_foreach((json_t *)r->extra_specs, key, value)
    {
        const char *requirement = nova_python_str(value, c->a);

        if (!strchr(key, ':') || strncmp(key, SCOPE, strlen(SCOPE)) == 0)
            (void)json_array_append_new(*ret, capability(c, r, key, requirement ? requirement : ""));
    }
    return 0;
}
