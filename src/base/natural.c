/* natural.c: compares names with their numbers as numbers. */
#include "base/natural.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static size_t digits(const char *s)
{
    size_t n = 0;

    while (isdigit((unsigned char)s[n]))
        n++;
    return n;
}

/* Compares the numbers with which both begin, and moves behind them. */
static int compare_numbers(const char **a, const char **b)
{
    *a += strspn(*a, "0");
    *b += strspn(*b, "0");
    size_t n = digits(*a);
    size_t m = digits(*b);
    int order = n != m ? (n > m) - (n < m) : memcmp(*a, *b, n);

    *a += n;
    *b += m;
    return order;
}

int natural_compare(const char *a, const char *b)
{
    const char *x = a;
    const char *y = b;

    while (*x && *y) {
        if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
            int order = compare_numbers(&x, &y);
            if (order != 0)
                return order;
        } else if (*x != *y) {
            break;
        } else {
            x++;
            y++;
        }
    }
    if (*x != *y)
        return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
    return strcmp(a, b);
}
