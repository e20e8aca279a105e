/* arena.c: memory that is handed out in pieces and released all at once. It frees nothing singly. */
#include <ballast/arena.h>

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small for one request; large enough that a snapshot of thousands of VMs needs few blocks. */
#define BLOCK_MIN_BYTES ((size_t)64 * 1024)
#define TEXT_LIKELY ((size_t)512)
#define BLOCK_MAX_BYTES ((size_t)4 * 1024 * 1024)
#define ALIGN alignof(max_align_t)

struct arena_block {
    struct arena_block *next;
    size_t size;   /* of data */
    bool of_array; /* a large array alone */
    alignas(max_align_t) unsigned char data[];
};

static _Noreturn void out_of_memory(size_t bytes)
{
    (void)fprintf(stderr, "out of memory: %zu more bytes could not be had\n", bytes);
    abort();
}

static void add_block_of(struct arena *a, size_t size)
{
    /* calloc: allocations are zeroed, and the system zeroes large blocks for free */
    struct arena_block *b = calloc(1, sizeof *b + size);
    if (!b)
        out_of_memory(size);
    b->size = size;
    b->next = a->head;
    a->head = b;
    a->used = 0;
}

static void add_block(struct arena *a, size_t at_least)
{
    size_t size = a->head ? a->head->size * 2 : BLOCK_MIN_BYTES;

    if (size > BLOCK_MAX_BYTES)
        size = BLOCK_MAX_BYTES;
    add_block_of(a, size < at_least ? at_least : size);
}

void arena_reserve(struct arena *a, size_t bytes)
{
    if (!a->head || a->head->size - a->used < bytes)
        add_block_of(a, bytes);
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
        out_of_memory(SIZE_MAX);
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!a->head || a->head->size - a->used < bytes)
        add_block(a, bytes);
    void *p = a->head->data + a->used;
    a->used += bytes;
    return p;
}

void *arena_copy(struct arena *a, const void *from, size_t n, size_t size)
{
    void *copy = arena_alloc(a, n, size);

    if (n > 0)
        memcpy(copy, from, n * size);
    return copy;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    if (!s)
        return NULL;
    size_t len = strnlen(s, n);
    char *copy = arena_alloc(a, len + 1, 1);

    memcpy(copy, s, len);
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

const char **arena_texts(struct arena *a, const char *const *texts, size_t n)
{
    const char **copy = arena_array(a, const char *, n + 1);

    for (size_t i = 0; i < n; i++)
        copy[i] = arena_strdup(a, texts[i]);
    return copy;
}

const char **arena_list(struct arena *a, const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return arena_texts(a, list, n);
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list ap;

    /* most texts are short and fit in place */
    if (!a->head || a->head->size - a->used < TEXT_LIKELY)
        add_block(a, TEXT_LIKELY);
    size_t room = a->head->size - a->used;
    char *text = (char *)a->head->data + a->used;
    va_start(ap, format);
    int len = vsnprintf(text, room, format, ap);
    va_end(ap);
    if (len < 0) {
        memset(text, 0, room);
        len = 0;
    }
    if ((size_t)len < room) {
        text = arena_alloc(a, (size_t)len + 1, 1);
        text[len] = '\0';
        return text;
    }
    memset(text, 0, room); /* later allocations are zeroed */
    text = arena_alloc(a, (size_t)len + 1, 1);
    va_start(ap, format);
    (void)vsnprintf(text, (size_t)len + 1, format, ap);
    va_end(ap);
    return text;
}

/* A large array has a block of its own, behind the head, which the system enlarges in place. */
static void *grow_large(struct arena *a, void *items, size_t used, size_t bytes)
{
    if (!a->head)
        add_block(a, BLOCK_MIN_BYTES);
    struct arena_block **link = &a->head->next;

    while (*link && !((*link)->of_array && (*link)->data == items))
        link = &(*link)->next;
    const bool is_new = !*link;
    struct arena_block *b = realloc(*link, sizeof *b + bytes);

    if (!b)
        out_of_memory(bytes);
    if (is_new) {
        b->next = NULL;
        b->of_array = true;
        memcpy(b->data, items, used);
    }
    memset(b->data + used, 0, bytes - used);
    b->size = bytes;
    *link = b;
    return b->data;
}

void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return items;
    const bool is_large = *cap > BLOCK_MAX_BYTES / 2 / size;
    size_t more = is_large ? *cap + *cap / 4 : *cap ? *cap * 2 : 8;
    void *bigger = is_large ? grow_large(a, items, n * size, more * size) : arena_alloc(a, more, size);

    if (!is_large && n > 0)
        memcpy(bigger, items, n * size);
    *cap = more;
    return bigger;
}

size_t arena_size(const struct arena *a)
{
    size_t sum = 0;

    for (const struct arena_block *b = a->head; b; b = b->next)
        sum += b->size;
    return sum;
}

void arena_join(struct arena *a, struct arena *from)
{
    if (!a->head) {
        *a = *from;
    } else {
        struct arena_block **last = &a->head->next;
        while (*last)
            last = &(*last)->next;
        *last = from->head;
    }
    *from = (struct arena){0};
}

void arena_release(struct arena *a)
{
    struct arena_block *next;

    for (struct arena_block *b = a->head; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (struct arena){0};
}

void arena_reset(struct arena *a)
{
    struct arena_block *kept = a->head;

    if (!kept)
        return;
    struct arena older = {.head = kept->next};

    arena_release(&older);
    kept->next = NULL;
    memset(kept->data, 0, a->used); /* allocations are zeroed */
    a->used = 0;
}
