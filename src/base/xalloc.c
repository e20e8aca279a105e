/* xalloc.c: malloc and its like, ending the process when memory runs out. */
#include "base/xalloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *p, size_t n, size_t size)
{
    if (!p) {
        (void)fprintf(stderr, "out of memory: %zu x %zu bytes could not be had\n", n, size);
        abort();
    }
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    if (n == 0)
        n = 1;
    return need(calloc(n, size), n, size);
}

void *xreallocarray(void *p, size_t n, size_t size)
{
    if (n == 0)
        n = 1;
    return need(reallocarray(p, n, size), n, size);
}

void *xalloc_grow(void *items, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return items;
    *cap = *cap ? *cap * 2 : 8;
    return xreallocarray(items, *cap, size);
}

char *xstrdup(const char *s)
{
    return s ? need(strdup(s), 1, strlen(s) + 1) : NULL;
}

void xstrset(char **place, const char *s)
{
    char *copy = xstrdup(s);

    free(*place);
    *place = copy;
}

void xalloc_set_text(const char **place, const char *s)
{
    char *own = (char *)(uintptr_t)*place;

    xstrset(&own, s);
    *place = own;
}
