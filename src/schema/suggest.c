/* suggest.c: the known word nearest to a mistyped one. */
#include "schema/suggest.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 64

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;

    return m < c ? m : c;
}

/* Optimal string alignment, three rows of the table at a time. */
unsigned suggest_distance(const char *a, const char *b)
{
    size_t n_a = strlen(a), n_b = strlen(b);
    unsigned rows[3][WORD_MAX + 1] = {0};

    if (n_a > WORD_MAX || n_b > WORD_MAX)
        return UINT_MAX;
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= n_b; j++)
        above[j] = (unsigned)j;
    for (size_t i = 1; i <= n_a; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        unsigned *spare = before;

        before = above;
        above = row;
        row = spare;
    }
    return above[n_b];
}

const char *suggest(const char *word, const char *const *words, size_t n)
{
    const char *best = NULL;
    unsigned best_distance = UINT_MAX;

    for (size_t i = 0; i < n; i++) {
        /* One edit in three letters; words of two letters are too short to compare. */
        size_t slips = (strlen(word) < strlen(words[i]) ? strlen(word) : strlen(words[i])) / 3;
        unsigned d = strcasecmp(word, words[i]) == 0 ? 0 : suggest_distance(word, words[i]);

        if (d <= slips && d < best_distance) {
            best = words[i];
            best_distance = d;
        }
    }
    return best;
}
