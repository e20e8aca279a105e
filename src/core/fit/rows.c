/* rows.c: numbers distinct rows of values. */
#include "core/fit/rows.h"

#include <string.h>

#define HASH_START 14695981039346656037u /* FNV-1a, 64 bits */
#define HASH_FACTOR 1099511628211u
#define TABLE_LEAST 64

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * HASH_FACTOR;
    return h;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    return hash_bytes(h, text, strlen(text) + 1);
}

static uint64_t hash_value(uint64_t h, const struct value *v)
{
    unsigned char type = (unsigned char)v->type;

    h = hash_bytes(h, &type, 1);
    switch (v->type) {
    case VALUE_ABSENT:
        return h;
    case VALUE_TRUTH:
        return hash_bytes(h, &v->truth, sizeof v->truth);
    case VALUE_NUMBER: /* no negative zero, no NaN: equal numbers have equal bytes */
        return hash_bytes(h, &v->number, sizeof v->number);
    case VALUE_TEXT:
    case VALUE_PARTS:
        return hash_text(h, v->text);
    case VALUE_TEXTS:
        break;
    }
    for (uint32_t i = 0; i < v->texts.n; i++)
        h = hash_text(h, v->texts.items[i]);
    return h;
}

static uint64_t hash_row(const struct value *row, uint32_t n)
{
    uint64_t h = HASH_START;

    for (uint32_t i = 0; i < n; i++)
        h = hash_value(h, &row[i]);
    return h;
}

static bool same_row(const struct fit_row *k, const struct value *row, uint32_t n, uint64_t hash)
{
    bool same = k->hash == hash && k->n == n;

    for (uint32_t i = 0; same && i < n; i++)
        same = expression_value_same(&k->row[i], &row[i]);
    return same;
}

static void put_slot(struct fit_rows *r, uint32_t number)
{
    size_t at = r->keys[number].hash & (r->size - 1);

    while (r->slots[at] != 0)
        at = (at + 1) & (r->size - 1);
    r->slots[at] = number + 1;
}

static void make_room(struct fit_rows *r, struct arena *a)
{
    if ((size_t)r->n * 2 < r->size)
        return;
    r->size = r->size ? r->size * 2 : TABLE_LEAST;
    r->slots = arena_array(a, uint32_t, r->size);
    for (uint32_t i = 0; i < r->n; i++)
        put_slot(r, i);
}

uint32_t fit_rows_number(struct fit_rows *r, const struct value *row, uint32_t n, struct arena *a)
{
    uint64_t hash = hash_row(row, n);

    make_room(r, a);
    for (size_t at = hash & (r->size - 1); r->slots[at] != 0; at = (at + 1) & (r->size - 1))
        if (same_row(&r->keys[r->slots[at] - 1], row, n, hash))
            return r->slots[at] - 1;
    struct value *kept = arena_array(a, struct value, n);

    if (n > 0)
        memcpy(kept, row, n * sizeof *kept);
    r->keys = arena_grow(a, r->keys, r->n, &r->cap, sizeof *r->keys);
    r->keys[r->n] = (struct fit_row){.row = kept, .n = n, .hash = hash};
    put_slot(r, r->n);
    return r->n++;
}
