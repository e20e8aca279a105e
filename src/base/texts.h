/* texts.h: compares texts that may be missing, their beginnings and ends, and finds a text among others. */
#ifndef BALLAST_BASE_TEXTS_H
#define BALLAST_BASE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Equal, or both NULL. */
static inline bool texts_same(const char *x, const char *y)
{
    return x == y || (x && y && strcmp(x, y) == 0);
}

static inline bool texts_end_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* What follows the prefix; NULL: the text does not begin with it. */
static inline const char *texts_after(const char *prefix, const char *text)
{
    const size_t n = strlen(prefix);

    return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

/* Whether one of n texts is this one. */
static inline bool texts_have(const char *const *texts, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(texts[i], text) == 0)
            return true;
    }
    return false;
}

/* The same of a list that ends with NULL. */
static inline bool texts_list_has(const char *const *list, const char *text)
{
    size_t n = 0;

    while (list[n])
        n++;
    return texts_have(list, n, text);
}

#endif
