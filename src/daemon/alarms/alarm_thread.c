/* alarm_thread.c: runs one attempt. It never touches engine or store. */
#include "daemon/alarms/alarm_thread.h"

#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *alarm_thread_main(void *arg)
{
    struct alarm_thread *t = arg;

    alarm_attempt(&t->target, &t->message, t->now, &t->stop, &t->answer);
    queue_push(t->results, &t->item);
    return NULL;
}

int alarm_thread_start(const struct config_alarm *target, const struct alarm_message *message, instant_s now,
                       uint64_t ticket, struct queue *results, struct alarm_thread **ret, struct err *err)
{
    struct alarm_thread *t = xcalloc(1, sizeof *t);

    config_alarm_copy(target, &t->target, &t->memory);
    alarm_message_copy(message, &t->message, &t->memory);
    t->now = now;
    t->ticket = ticket;
    t->results = results;
    int r = pthread_create(&t->thread, NULL, alarm_thread_main, t);

    if (r != 0) {
        arena_release(&t->memory);
        free(t);
        return err_set(err, -r, "cannot start a thread for alarms: %s", strerror(r));
    }
    *ret = t;
    return 0;
}

int alarm_thread_wait(struct alarm_thread *t, int64_t deadline_s)
{
    const struct timespec until = {.tv_sec = deadline_s};

    if (t->thread == 0)
        return 0;
    if (pthread_timedjoin_np(t->thread, NULL, &until) != 0)
        return -ETIMEDOUT;
    t->thread = 0;
    return 0;
}

void alarm_thread_free(struct alarm_thread *t)
{
    if (t->thread != 0)
        (void)pthread_join(t->thread, NULL);
    arena_release(&t->memory);
    free(t);
}
