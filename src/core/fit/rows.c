/* rows.c: numbers distinct rows of values. */
#include "core/fit/rows.h"

#include <string.h>

#define HASH_START 14695981039346656037u
#define HASH_FACTOR 0x9e3779b97f4a7c15u /* odd; 2^64 / golden ratio */
#define TABLE_LEAST 64

/* The upper bits of a product depend on all of the word; the table reads the lower ones. */
static uint64_t hash_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * HASH_FACTOR;
    return h ^ (h >> 32);
}

/* Eight bytes at a time. */
static uint64_t hash_text(uint64_t h, const char *text)
{
    size_t n = strlen(text);
    uint64_t word;

    for (; n >= sizeof word; n -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        h = hash_word(h, word);
    }
    word = n; /* an empty text counts, too */
    memcpy((char *)&word + 1, text, n);
    return hash_word(h, word);
}

static uint64_t hash_value(uint64_t h, const struct value *v)
{
    uint64_t word = 0;

    switch (v->type) {
    case VALUE_ABSENT:
        return hash_word(h, VALUE_ABSENT);
    case VALUE_TRUTH:
        return hash_word(h, VALUE_TRUTH + (v->truth ? 2 * (uint64_t)VALUE_TEXTS : 0));
    case VALUE_NUMBER: /* no negative zero, no NaN: equal numbers have equal bytes */
        memcpy(&word, &v->number, sizeof word);
        return hash_word(h, word);
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

static uint32_t find(const struct fit_rows *r, const struct value *row, uint32_t n, uint64_t hash)
{
    for (size_t at = hash & (r->size - 1); r->slots[at] != 0; at = (at + 1) & (r->size - 1))
        if (same_row(&r->keys[r->slots[at] - 1], row, n, hash))
            return r->slots[at] - 1;
    return IX_NONE;
}

uint32_t fit_rows_find(const struct fit_rows *r, const struct value *row, uint32_t n)
{
    return r->n > 0 ? find(r, row, n, hash_row(row, n)) : IX_NONE;
}

uint32_t fit_rows_number(struct fit_rows *r, const struct value *row, uint32_t n, struct arena *a)
{
    uint64_t hash = hash_row(row, n);

    make_room(r, a);
    uint32_t known = find(r, row, n, hash);
    if (known != IX_NONE)
        return known;
    const struct value *kept = arena_copy(a, row, n, sizeof *kept);

    r->keys = arena_grow(a, r->keys, r->n, &r->cap, sizeof *r->keys);
    r->keys[r->n] = (struct fit_row){.row = kept, .n = n, .hash = hash};
    put_slot(r, r->n);
    return r->n++;
}
