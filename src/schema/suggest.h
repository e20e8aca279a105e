/* suggest.h: the known word nearest to a mistyped one. */
#ifndef BALLAST_SCHEMA_SUGGEST_H
#define BALLAST_SCHEMA_SUGGEST_H

#include <stddef.h>

/* The number of letters to add, drop, change or swap with a neighbour to turn a into b. Words longer than 64
 * bytes have the largest distance. */
unsigned suggest_distance(const char *a, const char *b);

/* The nearest word, or NULL if none is near enough. The first of several equally near words wins. */
const char *suggest(const char *word, const char *const *words, size_t n);

#endif
