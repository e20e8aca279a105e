/* selection.h: whether a target asked for an event. */
#ifndef BALLAST_ALARM_SELECTION_H
#define BALLAST_ALARM_SELECTION_H

#include "config/config.h"

/* An event as it is stored. */
struct alarm_candidate {
    const char *kind, *severity;     /* words */
    const char *vm, *host, *to_host; /* ids; NULL */
    const char *data;                /* JSON */
};

/* An event about the target's own failures is never sent to it. */
bool alarm_selects(const struct config_alarm *t, const struct alarm_candidate *e);

/* The number of the word; an unknown one counts as an error. */
enum alarm_severity alarm_severity_of(const char *word);

#endif
