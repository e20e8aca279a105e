/* version.c: compares versions such as "6.2.1" with conditions such as ">=6.0, <7". */
#include "model/expression.h"

#include <ctype.h>
#include <string.h>

/* Digits, then dots between digits; *end: behind them. */
static bool is_version(const char *at, const char **end)
{
    while (isdigit((unsigned char)*at)) {
        while (isdigit((unsigned char)*at))
            at++;
        if (*at != '.') {
            *end = at;
            return true;
        }
        at++;
    }
    return false;
}

/* The digits of the next number without leading zeros; *at goes behind it and its dot. */
static size_t next_number(const char **at, const char **ret)
{
    size_t n = 0;

    while (**at == '0')
        (*at)++;
    *ret = *at;
    while (isdigit((unsigned char)(*ret)[n]))
        n++;
    *at = *ret + n + ((*ret)[n] == '.');
    return n;
}

/* Number by number; of any length. */
static int compare(const char *a, const char *b)
{
    while (isdigit((unsigned char)*a) || isdigit((unsigned char)*b)) {
        const char *x;
        const char *y;
        size_t n = next_number(&a, &x);
        size_t m = next_number(&b, &y);
        int order = n != m ? (n > m) - (n < m) : strncmp(x, y, n);

        if (order != 0)
            return order;
    }
    return 0;
}

static bool holds(int order, const char *op, size_t length)
{
    if (op[0] == '<')
        return length == 1 ? order < 0 : order <= 0;
    if (op[0] == '>')
        return length == 1 ? order > 0 : order >= 0;
    return op[0] == '!' ? order != 0 : order == 0;
}

/* <, <=, >, >=, =, == or !=: its length; 0: another. */
static size_t operator_length(const char *at)
{
    size_t n = strspn(at, "<>=!");
    bool known = (n == 1 && at[0] != '!') || (n == 2 && at[1] == '=');

    return known ? n : 0;
}

bool version_agrees(const char *version, const char *conditions, bool *ret)
{
    const char *end;
    const char *at = conditions;
    bool agrees = is_version(version, &end) && *end == '\0';

    for (;;) {
        at += strspn(at, " ");
        const char *op = at;
        size_t length = operator_length(at);

        at += length;
        at += strspn(at, " ");
        if (length == 0 || !is_version(at, &end))
            return false;
        agrees = agrees && holds(compare(version, at), op, length);
        at = end + strspn(end, " ");
        if (*at == '\0')
            break;
        if (*at++ != ',')
            return false;
    }
    *ret = agrees;
    return true;
}
