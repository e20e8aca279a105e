/* alarm_news.h: what is to be told as events about the targets of alarms, at the next update of the engine.
 */
#ifndef BALLAST_DAEMON_ALARMS_ALARM_NEWS_H
#define BALLAST_DAEMON_ALARMS_ALARM_NEWS_H

#include "engine/engine.h"

#include <stdbool.h>

struct alarm_news;

/* Adds a sentence: alarms do not reach the target (failed), or reach it again. NULL is an empty list. */
void alarm_news_add(struct alarm_news **list, bool failed, const char *target, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Publishes all, oldest first. */
void alarm_news_tell(struct alarm_news **list, struct engine *e, instant_s now);
void alarm_news_free(struct alarm_news *list);

#endif
