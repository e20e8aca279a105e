/* console_opener.c: the thread that opens and closes serial consoles. Reading them is consoles.c's. */
#include "daemon/threads/console_opener.h"

#include "base/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum verb { CONSOLE_OPEN, CONSOLE_CLOSE, CONSOLE_STOP };

struct request {
    struct queue_item item;
    enum verb verb;
    uint64_t action;
    const struct power_host *host;
    struct console *console;
};

struct console_opener {
    pthread_t thread;
    struct queue requests;
    struct queue *opened;
    atomic_bool stops; /* opens no more consoles */
};

static void open_one(struct console_opener *d, const struct request *q)
{
    struct opened_console *ret = xcalloc(1, sizeof *ret);

    ret->action = q->action;
    if (console_open(q->host, &ret->console, &ret->err) < 0)
        ret->console = NULL;
    queue_push(d->opened, &ret->item);
}

static void *console_opener_main(void *arg)
{
    struct console_opener *d = arg;
    bool over = false;

    while (!over) {
        struct request *q = (struct request *)queue_pop(&d->requests);

        if (!q)
            break;
        switch (q->verb) {
        case CONSOLE_OPEN:
            if (!atomic_load(&d->stops))
                open_one(d, q);
            break;
        case CONSOLE_CLOSE:
            console_close(q->console);
            break;
        case CONSOLE_STOP:
            over = true;
            break;
        }
        free(q);
    }
    /* results that were not popped before the stop */
    for (struct opened_console *left; (left = (struct opened_console *)queue_pop(d->opened)) != NULL;
         free(left))
        console_close(left->console);
    console_shutdown();
    return NULL;
}

int console_opener_start(struct queue *opened, struct console_opener **ret, struct err *err)
{
    struct console_opener *d = xcalloc(1, sizeof *d);
    int r = queue_init(&d->requests, true);

    d->opened = opened;
    if (r < 0) {
        free(d);
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    }
    r = pthread_create(&d->thread, NULL, console_opener_main, d);
    if (r != 0) {
        console_opener_free(d);
        return err_set(err, -r, "no thread to open consoles with: %s", strerror(r));
    }
    *ret = d;
    return 0;
}

static void send_command(struct console_opener *d, const struct request *what)
{
    struct request *q = xcalloc(1, sizeof *q);

    *q = *what;
    queue_push(&d->requests, &q->item);
}

void console_opener_open(struct console_opener *d, uint64_t action, const struct power_host *host)
{
    send_command(d, &(struct request){.verb = CONSOLE_OPEN, .action = action, .host = host});
}

void console_opener_close(struct console_opener *d, struct console *console)
{
    if (console)
        send_command(d, &(struct request){.verb = CONSOLE_CLOSE, .console = console});
}

int console_opener_stop(struct console_opener *d, int64_t deadline_s)
{
    const struct timespec until = {.tv_sec = deadline_s};

    atomic_store(&d->stops, true);
    send_command(d, &(struct request){.verb = CONSOLE_STOP});
    return pthread_timedjoin_np(d->thread, NULL, &until) == 0 ? 0 : -ETIMEDOUT;
}

static void request_free(struct queue_item *item)
{
    free((struct request *)item);
}

void console_opener_free(struct console_opener *d)
{
    if (!d)
        return;
    queue_release(&d->requests, request_free);
    free(d);
}
