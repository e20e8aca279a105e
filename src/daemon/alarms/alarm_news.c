/* alarm_news.c: keeps sentences until the engine can publish them. */
#include "daemon/alarms/alarm_news.h"

#include "alarm/message.h"
#include "base/cleanup.h"
#include "base/xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct alarm_news {
    struct alarm_news *next;
    bool failed;
    char *target, *text;
};

void alarm_news_add(struct alarm_news **list, bool failed, const char *target, const char *format, ...)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct alarm_news *n = xcalloc(1, sizeof *n);
    char text[2 * ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    n->failed = failed;
    n->target = xstrdup(target);
    n->text = xstrdup(alarm_line(text, &a));
    while (*list)
        list = &(*list)->next;
    *list = n;
}

static void free_one(struct alarm_news *n)
{
    free(n->target);
    free(n->text);
    free(n);
}

void alarm_news_tell(struct alarm_news **list, struct engine *e, instant_s now)
{
    struct alarm_news *n;

    while ((n = *list) != NULL) {
        *list = n->next;
        engine_tell_alarms(e, n->failed, n->target, n->text, now);
        free_one(n);
    }
}

void alarm_news_free(struct alarm_news *list)
{
    while (list) {
        struct alarm_news *n = list;

        list = n->next;
        free_one(n);
    }
}
