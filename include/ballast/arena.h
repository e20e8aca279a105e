/* arena.h: memory by lifetime.
 *
 * An arena hands out zeroed memory that lives until the whole arena is released: one each for the
 * configuration, a snapshot, a pass, a request. Nothing is freed singly, so what points into an arena must
 * not outlive it.
 *
 * arena_alloc() and its friends never return NULL: when the machine is out of memory the process ends with a
 * message. Sizes that come from outside are capped where they are read, not here.
 */
#ifndef BALLAST_ARENA_H
#define BALLAST_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head; /* newest first */
    size_t used;              /* bytes handed out from the head */
};

/* An arena that was zeroed ({0}) is empty and ready; nothing needs to be called first. */

/* Takes this many bytes from the system at once, if fewer are left: for large data of known size, because an
 * arena otherwise grows by doubling. */
void arena_reserve(struct arena *a, size_t bytes);

/* Zeroed, aligned for any type; n * size is checked for overflow. */
void *arena_alloc(struct arena *a, size_t n, size_t size);

/* A copy of an array; `from` may be NULL where n is 0. */
void *arena_copy(struct arena *a, const void *from, size_t n, size_t size);

/* A copy of the string; NULL gives NULL. */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A copy of n texts, with NULL at its end; and of a list that ends with NULL. list NULL: an empty one. */
const char **arena_texts(struct arena *a, const char *const *texts, size_t n);
const char **arena_list(struct arena *a, const char *const *list);

/* Grows an array when it is full (n == *cap), to twice its capacity, a large one by a quarter, and returns
 * the new place; the old one must not be used any more. For arrays that are filled one by one:
 * a->items = arena_grow(...); */
void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t size);

/* Bytes taken from the system so far. */
size_t arena_size(const struct arena *a);

/* What is in `from` lives as long as `a` from now on; `from` is empty. For work of another thread, which has
 * an arena of its own. */
void arena_join(struct arena *a, struct arena *from);

/* Gives everything back; the arena is empty and can be used again. */
void arena_release(struct arena *a);

/* Empties it for the next use and keeps the newest block, so that what is needed over and over, and is about
 * the same each time, is taken from the system once. */
void arena_reset(struct arena *a);

#define arena_new(a, type) ((type *)arena_alloc((a), 1, sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_alloc((a), (n), sizeof(type)))

#endif
