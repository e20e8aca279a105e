/* What groups of hosts and groups of VMs have in common. */
#include "sim/scenario/build.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_LEAST 3
#define WORDS_MAX 10000

const char *member_name(struct arena *a, const char *name, uint32_t i, uint32_t n)
{
    int digits = snprintf(NULL, 0, "%u", n);

    return arena_printf(a, "%s-%0*u", name, digits < DIGITS_LEAST ? DIGITS_LEAST : digits, i + 1);
}

/* The index of a group's i-th member in a list of variants: by turns, or in blocks of equal size. */
static size_t variant_of(uint32_t i, uint32_t n, const struct node *cycle, const struct node *split)
{
    if (cycle)
        return i % cycle->n;
    return i / ((n + split->n - 1) / split->n);
}

int variant_read(const struct source_file *f, uint32_t i, uint32_t n, const struct node *cycle,
                 const struct node *split, const char *path, struct keys keys, void *ret)
{
    const struct node *list = cycle ? cycle : split;

    if (!list)
        return 0;
    size_t ix = variant_of(i, n, cycle, split);
    const struct node *v = list->first;

    for (size_t k = 0; k < ix; k++)
        v = v->next;
    return keys_read(f, v, arena_printf(f->a, "%s%s.%zu.", path, list->key, ix), keys, ret);
}

int name_check(const struct source_file *f, const struct node *group, const char *path, const char *name,
               const char *match)
{
    if (!name == !match)
        return file_refuse(f, group->line, "%sname is missing, expected a name, or match with a snapshot",
                           path);
    return 0;
}

struct called host_called(const struct host_spec *h)
{
    return (struct called){h->seen.is.id, h->seen.is.name, h->group, h->kind};
}

struct called vm_called(const struct vm_spec *v)
{
    return (struct called){v->seen.is.id, v->seen.is.name, v->group, v->kind};
}

bool is_meant(const char *word, struct called o)
{
    const char *const words[] = {o.id, o.name, o.group, o.kind};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i] && strcmp(word, words[i]) == 0)
            return true;
    }
    return strpbrk(word, "*?[") && (fnmatch(word, o.id, 0) == 0 || (o.name && fnmatch(word, o.name, 0) == 0));
}

int variants_check(const struct source_file *f, const struct node *group, const char *path,
                   const struct node *cycle, const struct node *split)
{
    const struct node *list = cycle ? cycle : split;
    int r;

    if (!list)
        return 0;
    if (cycle && split)
        return file_refuse(f, group->line, "%scycle and split stand together, expected one of them", path);
    if ((r = list_check(f, list, arena_printf(f->a, "%s%s", path, list->key), "a list of variants",
                        SCENARIO_GROUPS_MAX)) < 0)
        return r;
    if (list->n == 0)
        return file_refuse(f, list->line, "%s%s is empty, expected a list of variants", path, list->key);
    for (const struct node *v = list->first; v; v = v->next) {
        static const char *const of_group[] = {"name", "match", "count", "cycle", "split", "names"};
        for (size_t i = 0; v->kind == NODE_MAP && i < sizeof of_group / sizeof *of_group; i++) {
            if (tree_child(v, of_group[i]))
                return file_refuse(f, v->line, "%s%s: %s is the group's, expected what differs", path,
                                   list->key, of_group[i]);
        }
    }
    return 0;
}

int read_words_list(const struct source_file *f, const struct node *n, const char *path, void *at)
{
    const struct key word = {.type = KEY_TEXT, .meaning = "a name"};
    struct ids *ret = at;
    size_t i = 0;

    if (n->kind == NODE_SCALAR) { /* one of them needs no brackets */
        const char **one = arena_array(f->a, const char *, 1);
        int r = key_read(f, n, path, &word, one);
        if (r == 0)
            *ret = (struct ids){.items = one, .n = 1};
        return r;
    }
    int r = list_check(f, n, path, "a name or a list of names", WORDS_MAX);
    if (r < 0)
        return r;
    const char **items = arena_array(f->a, const char *, n->n);

    for (const struct node *c = n->first; r == 0 && c; c = c->next, i++)
        r = key_read(f, c, arena_printf(f->a, "%s.%zu", path, i), &word, &items[i]);
    if (r == 0)
        *ret = (struct ids){.items = items, .n = (uint32_t)n->n};
    return r;
}

static int read_end(const struct source_file *f, const struct node *n, const char *path, double *ret)
{
    const struct key key = {.type = KEY_NUMBER, .max = TIME_MOST};

    return key_read(f, n, path, &key, ret);
}

struct uniform {
    const struct node *uniform;
};

static const struct key range_key_list[] = {
    {"uniform", KEY_NODE, offsetof(struct uniform, uniform), .meaning = "[LEAST, MOST], in seconds"},
};

const struct keys range_keys = KEYS_OF(range_key_list);

int read_range(const struct source_file *f, const struct node *n, const char *path, void *at)
{
    struct range *ret = at;
    struct uniform u = {0};
    struct range range;
    int r;

    if (n->kind == NODE_SCALAR) {
        if ((r = read_end(f, n, path, &range.low)) == 0)
            *ret = (struct range){range.low, range.low};
        return r;
    }
    if ((r = keys_read(f, n, arena_printf(f->a, "%s.", path), range_keys, &u)) < 0)
        return r;
    if (!u.uniform || u.uniform->kind != NODE_LIST || u.uniform->n != 2)
        return file_refuse(f, n->line, "%s %s, expected a number of seconds or {uniform: [LEAST, MOST]}",
                           path, node_shown(f, n));
    if ((r = read_end(f, u.uniform->first, path, &range.low)) < 0 ||
        (r = read_end(f, u.uniform->first->next, path, &range.high)) < 0)
        return r;
    if (range.high < range.low)
        return file_refuse(f, n->line, "%s: %.12g is below %.12g, expected [LEAST, MOST]", path, range.high,
                           range.low);
    *ret = range;
    return 0;
}

static const char *const shares_words[] = {"low", "normal", "high", NULL};

static int read_shares(const struct source_file *f, const struct node *n, const char *path, void *at)
{
    struct alloc_spec *ret = (struct alloc_spec *)((char *)at - offsetof(struct alloc_spec, shares));
    const struct key number = {.type = KEY_NUMBER, .max = SIZE_MOST};

    for (int i = 0; n->kind == NODE_SCALAR && shares_words[i]; i++) {
        if (strcmp(n->text, shares_words[i]) == 0) {
            ret->level = (enum shares_level)i;
            return 0;
        }
    }
    if (n->kind == NODE_SCALAR && strpbrk(n->text, "0123456789")) {
        ret->level = SHARES_NUMBER;
        return key_read(f, n, path, &number, at);
    }
    return file_refuse(f, n->line, "%s %s, expected low, normal, high or a number", path, node_shown(f, n));
}

static int read_limit(const struct source_file *f, const struct node *n, const char *path, void *at)
{
    const struct key number = {.type = KEY_NUMBER, .max = SIZE_MOST};

    if (node_is_null(n)) {
        *(double *)at = NO_LIMIT;
        return 0;
    }
    return key_read(f, n, path, &number, at);
}

static const struct key alloc_key_list[] = {
    {"reservation", KEY_NUMBER, offsetof(struct alloc_spec, reservation), 0, SIZE_MOST, NULL, NULL,
     "MHz or MiB that it has for sure"},
    {"limit", KEY_OWN, offsetof(struct alloc_spec, limit), 0, SIZE_MOST, NULL, read_limit,
     "MHz or MiB that it never gets more of; null: none"},
    {"shares", KEY_OWN, offsetof(struct alloc_spec, shares), 0, SIZE_MOST, NULL, read_shares,
     "low, normal, high or a number"},
    {"expandable", KEY_BOOL, offsetof(struct alloc_spec, expandable), 0, 0, NULL, NULL,
     "pools: children may reserve from the parent what the pool has not"},
};

const struct keys alloc_keys = KEYS_OF(alloc_key_list);

int read_alloc(const struct source_file *f, const struct node *n, const char *path, void *at)
{
    return keys_read(f, n, arena_printf(f->a, "%s.", path), alloc_keys, at);
}

int read_labels(const struct source_file *f, const struct node *n, const char *path, void *at)
{
    const struct key text = {.type = KEY_TEXT, .meaning = "text"};
    struct labels *ret = at;
    uint32_t i = 0;

    if (n->kind != NODE_MAP)
        return file_refuse(f, n->line, "%s %s, expected {KEY: VALUE, ...}", path, node_shown(f, n));
    struct label *items = arena_array(f->a, struct label, n->n);

    for (const struct node *c = n->first; c; c = c->next, i++) {
        int r = key_read(f, c, arena_printf(f->a, "%s.%.64s", path, c->key), &text, &items[i].value);
        if (r < 0)
            return r;
        items[i].key = c->key;
    }
    *ret = (struct labels){.items = items, .n = i};
    return 0;
}

static const char *const automation_words[] = {"inherit", "disabled", "manual", "automatic", NULL};

int read_automation(const struct source_file *f, const struct node *n, const char *path, void *at)
{
    const struct key word = {.type = KEY_WORD, .words = automation_words};
    int chosen;
    int r = key_read(f, n, path, &word, &chosen);

    if (r == 0)
        (void)automation_parse(automation_words[chosen], at);
    return r;
}
