/* alarms.c: connects to a target of alarms and logs in; sends nothing. */
#include "preflight/internal.h"

#include "alarm/attempt.h"

void preflight_alarm(void *part)
{
    struct alarm_part *p = part;
    const struct config_alarm *t = p->target;
    struct preflight *found = &p->found.list;
    struct err err = {0};

    const char *file = t->password_file && !t->password ? t->password_file
                       : t->secret_file && !t->secret   ? t->secret_file
                                                        : NULL;

    if (file) {
        preflight_add(found, PREFLIGHT_ALARMS, PREFLIGHT_PROBLEM, "%s is not asked: %s cannot be read",
                      t->name, file);
        preflight_advise_unread(found, file);
        return;
    }
    bool well = alarm_connect(t, &err) == 0;

    preflight_add(found, PREFLIGHT_ALARMS, well ? PREFLIGHT_OK : PREFLIGHT_PROBLEM, "%s: %s", t->name,
                  err.text);
    if (!well)
        preflight_advise(found, "correct alarms.%s; alarms wait in the store for a day meanwhile", t->name);
}
