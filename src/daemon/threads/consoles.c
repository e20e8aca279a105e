/* consoles.c: reads and stores the consoles of waking hosts. Opening them is console_opener.c's. */
#include "daemon/threads/consoles.h"

#include "base/cleanup.h"
#include "base/console_text.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "daemon/threads/console_opener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define STORE_EACH_S 10  /* while output arrives */
#define AGAIN_AFTER_S 15 /* interval between two connections to a console */
#define LOOK_AFTER_S 1   /* until a login of the wake itself has worked */
#define READ_AT_ONCE 4096
#define SHOWN_LINES 12 /* of a failed wake, in the log */

/* The capture of one waking host. */
struct capture {
    struct capture *next;
    struct consoles *all;
    uint64_t action;
    char *host;   /* its id */
    char *name;   /* of the host, or its id before it is known; for log lines */
    bool over;    /* the action has ended */
    bool opening; /* the opener is opening it */
    struct console *console;
    const struct power_host *at; /* as it was opened last */
    bool heard;                  /* something came from this connection */
    sd_event_source *io;
    instant_s open_at; /* earliest time to open a connection */
    char *kept;        /* CONSOLE_KEPT bytes at most */
    size_t n;
    struct err why; /* the error of the last connection */
    bool dirty;     /* has unstored output */
    instant_s stored;
};

struct consoles {
    sd_event *loop;
    struct store *store;
    const struct power_setup *power;
    struct console_opener *opener; /* exists without any console too: a reload may add one */
    struct queue opened;
    sd_event_source *opened_io;
    struct capture *first;
};

/* ---- what is kept ---------------------------------------------------------------------------- */

static void append_output(struct capture *x, const char *data, size_t n)
{
    if (n >= CONSOLE_KEPT) {
        data += n - CONSOLE_KEPT;
        n = CONSOLE_KEPT;
    }
    if (x->n + n > CONSOLE_KEPT) {
        size_t gone = x->n + n - CONSOLE_KEPT;

        memmove(x->kept, x->kept + gone, x->n - gone);
        x->n -= gone;
    }
    memcpy(x->kept + x->n, data, n);
    x->n += n;
    x->dirty = true;
}

static void store_capture(struct capture *x, instant_s now)
{
    const struct console_record r = {.action = x->action,
                                     .host = x->host,
                                     .time = now,
                                     .why = x->why.text[0] ? x->why.text : NULL,
                                     .data = x->kept,
                                     .n = x->n};
    struct err err = {0};

    x->stored = now;
    x->dirty = false;
    if (store_put_console(x->all->store, &r, &err) < 0)
        log_warning("console output of host %s not stored: %s", x->name, err.text);
}

/* ---- the connection -------------------------------------------------------------------------- */

static void close_console(struct capture *x)
{
    x->io = sd_event_source_disable_unref(x->io);
    console_opener_close(x->all->opener, x->console);
    x->console = NULL;
}

/* Reads the available output, at most CONSOLE_KEPT bytes at a time, so that one busy console cannot delay the
 * others. -EPIPE: the connection has ended. */
static int read_output(struct capture *x)
{
    char buffer[READ_AT_ONCE];
    size_t all = 0;
    ssize_t n;

    do {
        struct err err = {0};

        n = console_read(x->console, buffer, sizeof buffer, &err);
        if (n < 0) {
            x->why = err;
            x->dirty = true;
            power_console_result(&x->all->power->config, x->at, err.code);
        } else if (n > 0) {
            if (!x->heard)
                power_console_result(&x->all->power->config, x->at, 0);
            x->heard = true;
            append_output(x, buffer, (size_t)n);
            all += (size_t)n;
        }
    } while (n > 0 && all < CONSOLE_KEPT);
    return n < 0 ? (int)n : 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct capture *x = userdata;

    (void)source, (void)fd, (void)revents;
    if (read_output(x) < 0)
        close_console(x); /* reconnects after AGAIN_AFTER_S at the earliest */
    return 0;
}

static void fail_to_open(struct capture *x, const struct err *err)
{
    if (strcmp(x->why.text, err->text) != 0)
        log_info("cannot read the console of host %s: %s", x->name, err->text);
    x->why = *err;
    x->dirty = true;
}

static void open_console(struct capture *x, const struct snapshot *s, instant_s now)
{
    const struct power_host *h = power_setup_find(x->all->power, s, x->host);

    x->open_at = now + AGAIN_AFTER_S;
    free(x->name);
    x->name = xstrdup(snapshot_host_name(s, x->host));
    if (!h || !h->ipmi.console)
        return;
    struct err why = {0};
    int r = power_console_begin(&x->all->power->config, h, &why);

    if (r == -ENOTSUP) /* power.defaults ask for consoles, and this host has another method */
        return;
    if (r < 0) {
        x->open_at = r == -EAGAIN ? now + LOOK_AFTER_S : x->open_at;
        fail_to_open(x, &why);
        return;
    }
    x->opening = true;
    x->at = h;
    x->heard = false;
    console_opener_open(x->all->opener, x->action, h);
}

/* ---- captures -------------------------------------------------------------------------------- */

static struct capture *find_capture(struct consoles *c, uint64_t action)
{
    struct capture *x = c->first;

    while (x && x->action != action)
        x = x->next;
    return x;
}

static bool is_wanted(const struct consoles *c)
{
    for (size_t i = 0; i < c->power->config.n_hosts; i++) {
        if (c->power->config.hosts[i].ipmi.console)
            return true;
    }
    return false;
}

/* Closes a console whose capture has ended meanwhile. */
static void take_opened(struct consoles *c, struct opened_console *o)
{
    struct capture *x = find_capture(c, o->action);

    if (!x) {
        console_opener_close(c->opener, o->console);
        return;
    }
    x->opening = false;
    if (!o->console) {
        fail_to_open(x, &o->err);
        return;
    }
    x->console = o->console;
    int r = sd_event_add_io(c->loop, &x->io, console_fd(x->console), EPOLLIN, on_readable, x);

    if (r == 0)
        return;
    (void)err_set(&o->err, r, "cannot watch the console: %s", strerror(-r));
    fail_to_open(x, &o->err);
    close_console(x);
}

static int on_opened(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct consoles *c = userdata;
    struct opened_console *o;

    (void)source, (void)fd, (void)revents;
    while ((o = (struct opened_console *)queue_pop(&c->opened)) != NULL) {
        take_opened(c, o);
        free(o);
    }
    return 0;
}

static struct capture *begin_capture(struct consoles *c, const struct action_record *r)
{
    struct capture *x = xcalloc(1, sizeof *x);

    x->all = c;
    x->action = r->id;
    x->host = xstrdup(r->host);
    x->name = xstrdup(r->host);
    x->kept = xcalloc(1, CONSOLE_KEPT);
    x->next = c->first;
    c->first = x;
    return x;
}

static void end_capture(struct capture *x, instant_s now)
{
    if (x->console)
        (void)read_output(x);
    close_console(x);
    if (x->dirty)
        store_capture(x, now);
    free(x->kept);
    free(x->host);
    free(x->name);
    free(x);
}

static bool has_ended(enum action_state state)
{
    return state == ACTION_DONE || state == ACTION_FAILED || state == ACTION_CANCELLED ||
           state == ACTION_REJECTED || state == ACTION_EXPIRED;
}

/* Logs the last lines, cleaned; the store has the rest. */
static void log_last_lines(struct capture *x)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    unsigned lines = 0;

    if (x->console)
        (void)read_output(x);
    console_text_clean(x->kept, x->n, &text);
    if (text.len == 0) {
        log_warning("no console output from host %s%s%s", x->name, x->why.text[0] ? ": " : "", x->why.text);
        return;
    }
    char *from = text.text + text.len;

    while (from > text.text && (from[-1] != '\n' || from == text.text + text.len || ++lines < SHOWN_LINES))
        from--;
    log_warning("last console output of host %s (all of it: `ballast console %llu`):", x->name,
                (unsigned long long)x->action);
    for (char *line = strsep(&from, "\n"); line; line = strsep(&from, "\n")) {
        if (*line)
            log_warning("    %s", line);
    }
}

void consoles_on_event(struct consoles *c, const struct event *ev)
{
    const struct action_record *r = ev->action;

    if (!c || !r || r->kind != ACTION_POWER_ON)
        return;
    struct capture *x = find_capture(c, r->id);

    if (ev->kind == EVENT_ACTION && r->state == ACTION_STARTING && !x && is_wanted(c))
        (void)begin_capture(c, r);
    else if (x && ev->kind == EVENT_ACTION && (has_ended(r->state) || r->state == ACTION_APPROVED))
        x->over = true;
    else if (x && ev->kind == EVENT_WAKE_FAILED && (x->n > 0 || x->console || x->why.text[0]))
        log_last_lines(x);
}

static void resume(struct consoles *c, const struct action_record *r)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct console_record was;
    bool runs = r->state == ACTION_STARTING || r->state == ACTION_RUNNING || r->state == ACTION_VERIFYING;

    if (r->kind != ACTION_POWER_ON || !runs || !is_wanted(c) || find_capture(c, r->id))
        return;
    struct capture *x = begin_capture(c, r);

    if (store_get_console(c->store, r->id, &a, &was, NULL) < 0)
        return;
    append_output(x, was.data, was.n);
    x->dirty = false;
}

void consoles_resume(struct consoles *c, const struct engine *e)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct action_record **list;
    size_t n = engine_actions(e, &a, &list);

    for (size_t i = 0; i < n; i++)
        resume(c, list[i]);
}

void consoles_update(struct consoles *c, const struct snapshot *s, instant_s now)
{
    struct capture **at = c ? &c->first : NULL;

    while (at && *at) {
        struct capture *x = *at;

        if (x->over) {
            *at = x->next;
            end_capture(x, now);
            continue;
        }
        if (!x->console && !x->opening && now >= x->open_at && s)
            open_console(x, s, now);
        if (x->dirty && now - x->stored >= STORE_EACH_S)
            store_capture(x, now);
        at = &x->next;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static int start_consoles(struct consoles *c, struct err *err)
{
    int r = queue_init(&c->opened, false);

    if (r < 0)
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    if ((r = sd_event_add_io(c->loop, &c->opened_io, c->opened.fd, EPOLLIN, on_opened, c)) < 0)
        return err_set(err, r, "cannot watch for opened consoles: %s", strerror(-r));
    return console_opener_start(&c->opened, &c->opener, err);
}

int consoles_new(sd_event *loop, struct store *store, const struct power_setup *power, struct consoles **ret,
                 struct err *err)
{
    struct consoles *c = xcalloc(1, sizeof *c);
    int r;

    *c = (struct consoles){.loop = loop, .store = store, .power = power, .opened = {.fd = -1}};
    if ((r = start_consoles(c, err)) < 0) {
        consoles_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

void consoles_change(struct consoles *c, const struct power_setup *power)
{
    c->power = power;
}

int consoles_stop(struct consoles *c, instant_s now, int64_t deadline_s)
{
    if (!c)
        return 0;
    while (c->first) {
        struct capture *x = c->first;

        c->first = x->next;
        end_capture(x, now);
    }
    return c->opener ? console_opener_stop(c->opener, deadline_s) : 0;
}

static void opened_free(struct queue_item *item)
{
    free((struct opened_console *)item); /* the opener has closed the console */
}

void consoles_free(struct consoles *c)
{
    if (!c)
        return;
    (void)sd_event_source_disable_unref(c->opened_io);
    console_opener_free(c->opener);
    if (c->opened.fd >= 0)
        queue_release(&c->opened, opened_free);
    free(c);
}
