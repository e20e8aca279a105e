/* Prints the occurrences of calendar expressions, for test_calendar.py: each line of standard input has the
 * first instant, the number of occurrences and the expression ("1774656000 8 *-*-* 02:30
 * Europe/Berlin"). An answer is a line of instants: those of a search forwards, then "|" and those of a
 * search backwards from the last one; or "!". */
#include "schedule/calendar.h"
#include "schedule/span.h"

#include <stdio.h>
#include <string.h>

static void answer(const struct calendar *c, long long from, int n)
{
    instant_s at = from;
    int found = 0;

    while (found < n && calendar_next(c, at, &at)) {
        printf("%lld ", (long long)at);
        found++;
    }
    printf("|");
    for (; found > 0 && calendar_last(c, at, &at); found--, at--)
        printf(" %lld", (long long)at);
    printf("\n");
}

int main(void)
{
    char line[1024];

    while (fgets(line, sizeof line, stdin)) {
        struct arena a = {0};
        struct calendar c;
        long long from;
        int64_t span;
        int n;
        int used = 0;

        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%lld %d %n", &from, &n, &used) < 2)
            return 2;
        if (n == 0 && span_parse(line + used, &span, NULL) == 0)
            printf("%lld\n", (long long)span);
        else if (n > 0 && calendar_parse(line + used, "UTC", &a, &c, NULL) == 0)
            answer(&c, from, n);
        else
            printf("!\n");
        arena_release(&a);
    }
    return 0;
}
