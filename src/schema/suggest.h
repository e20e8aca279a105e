/* suggest.h: what somebody who mistyped a key may have meant. */
#ifndef BALLAST_SCHEMA_SUGGEST_H
#define BALLAST_SCHEMA_SUGGEST_H

#include <stddef.h>

/* How many letters must be added, dropped, changed or swapped with their neighbour to make b of a. Words
 * longer than 64 bytes are as far apart as can be. */
unsigned suggest_distance(const char *a, const char *b);

/* The word that is near enough to be meant, or NULL. Ties go to the first. */
const char *suggest(const char *word, const char *const *words, size_t n);

#endif
