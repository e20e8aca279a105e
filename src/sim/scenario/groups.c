/* groups.c: the common part of groups of hosts and groups of VMs. */
#include "sim/scenario/build.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_LEAST 3

const char *groups_member_name(struct arena *a, const char *name, uint32_t i, uint32_t n)
{
    int digits = snprintf(NULL, 0, "%u", n);

    return arena_printf(a, "%s-%0*u", name, digits < DIGITS_LEAST ? DIGITS_LEAST : digits, i + 1);
}

/* The index of the variant of a group's i-th member: variants alternate, or apply to blocks of equal size. */
static size_t variant_of(uint32_t i, uint32_t n, const struct node *cycle, const struct node *split)
{
    if (cycle)
        return i % cycle->n;
    return i / ((n + split->n - 1) / split->n);
}

int groups_read_variant(const struct reader *f, uint32_t i, uint32_t n, const struct node *cycle,
                        const struct node *split, const struct schema *keys, void *ret)
{
    const struct node *list = cycle ? cycle : split;

    if (!list)
        return 0;
    size_t ix = variant_of(i, n, cycle, split);
    const struct node *v = list->first;

    for (size_t k = 0; k < ix; k++)
        v = v->next;
    return reader_object(f, v, keys, ret);
}

int groups_check_name(const struct reader *f, const struct node *group, const char *name, const char *match)
{
    if (!name == !match)
        return reader_complain(f, group, ".name is missing, expected a name, or match with a snapshot");
    return 0;
}

struct called groups_host_called(const struct host_spec *h)
{
    return (struct called){h->seen.is.id, h->seen.is.name, h->group, h->kind};
}

struct called groups_vm_called(const struct vm_spec *v)
{
    return (struct called){v->seen.is.id, v->seen.is.name, v->group, v->kind};
}

bool groups_is_meant(const char *word, struct called o)
{
    const char *const words[] = {o.id, o.name, o.group, o.kind};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i] && strcmp(word, words[i]) == 0)
            return true;
    }
    return strpbrk(word, "*?[") && (fnmatch(word, o.id, 0) == 0 || (o.name && fnmatch(word, o.name, 0) == 0));
}

int groups_check_variants(const struct reader *f, const struct node *group, const struct node *cycle,
                          const struct node *split)
{
    const struct node *list = cycle ? cycle : split;
    int r;

    if (!list)
        return 0;
    if (cycle && split)
        return reader_complain(f, group, ".cycle and split stand together, expected one of them");
    if ((r = reader_list_check(f, list, "a list of variants", SCENARIO_GROUPS_MAX)) < 0)
        return r;
    if (list->n == 0)
        return reader_complain(f, list, "is empty, expected a list of variants");
    for (const struct node *v = list->first; v; v = v->next) {
        static const char *const of_group[] = {"name", "match", "count", "cycle", "split", "names"};
        for (size_t i = 0; v->kind == NODE_MAP && i < sizeof of_group / sizeof *of_group; i++) {
            if (node_child(v, of_group[i]))
                return reader_complain(f, v, ": %s is the group's, expected what differs", of_group[i]);
        }
    }
    return 0;
}

static int read_end(const struct reader *f, const struct node *n, double *ret)
{
    const struct field key = {.type = FIELD_NUMBER, .max = TIME_MOST};

    return reader_value(f, n, &key, ret);
}

struct uniform {
    const struct node *uniform;
};

static const struct field range_key_list[] = {
    {"uniform", FIELD_NODE, offsetof(struct uniform, uniform), .meaning = "[LEAST, MOST], in seconds"},
};

const struct schema range_keys = SCHEMA_OF("", range_key_list);

int groups_read_range(const struct reader *f, const struct node *n, void *at)
{
    struct range *ret = at;
    struct uniform u = {0};
    struct range range;
    int r;

    if (n->kind == NODE_SCALAR) {
        if ((r = read_end(f, n, &range.low)) == 0)
            *ret = (struct range){range.low, range.low};
        return r;
    }
    if ((r = reader_object(f, n, &range_keys, &u)) < 0)
        return r;
    if (!u.uniform || u.uniform->kind != NODE_LIST || u.uniform->n != 2)
        return reader_refuse(f, n, "a number of seconds or {uniform: [LEAST, MOST]}");
    if ((r = read_end(f, u.uniform->first, &range.low)) < 0 ||
        (r = read_end(f, u.uniform->first->next, &range.high)) < 0)
        return r;
    if (range.high < range.low)
        return reader_complain(f, n, ": %.12g is below %.12g, expected [LEAST, MOST]", range.high, range.low);
    *ret = range;
    return 0;
}

static const char *const shares_words[] = {"low", "normal", "high", NULL};

static int read_shares(const struct reader *f, const struct node *n, void *at)
{
    struct alloc_spec *ret = (struct alloc_spec *)((char *)at - offsetof(struct alloc_spec, shares));
    const struct field number = {.type = FIELD_NUMBER, .max = SIZE_MOST};

    for (int i = 0; n->kind == NODE_SCALAR && shares_words[i]; i++) {
        if (strcmp(n->text, shares_words[i]) == 0) {
            ret->level = (enum shares_level)i;
            return 0;
        }
    }
    if (n->kind == NODE_SCALAR && strpbrk(n->text, "0123456789")) {
        ret->level = SHARES_NUMBER;
        return reader_value(f, n, &number, at);
    }
    return reader_refuse(f, n, "low, normal, high or a number");
}

static const struct field alloc_key_list[] = {
    {"reservation", FIELD_NUMBER, offsetof(struct alloc_spec, reservation), 0, SIZE_MOST, NULL, NULL,
     "MHz or MiB that it has for sure"},
    {"limit", FIELD_LIMIT, offsetof(struct alloc_spec, limit), 0, SIZE_MOST, NULL, NULL,
     "MHz or MiB that it never gets more of; null: none"},
    {"shares", FIELD_OWN, offsetof(struct alloc_spec, shares), 0, SIZE_MOST, NULL, read_shares,
     "low, normal, high or a number"},
    {"expandable", FIELD_BOOL, offsetof(struct alloc_spec, expandable), 0, 0, NULL, NULL,
     "pools: children may reserve from the parent what the pool has not"},
};

const struct schema alloc_keys = SCHEMA_OF("", alloc_key_list);
