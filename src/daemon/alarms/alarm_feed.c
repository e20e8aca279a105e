/* alarm_feed.c: chooses events for each target, keeps its position, and starts attempts when they are due.
 * The attempts themselves run in alarm_thread.c. */
#include "daemon/alarms/alarm_feed.h"

#include "alarm/progress.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "daemon/alarms/alarm_contents.h"
#include "daemon/alarms/alarm_news.h"
#include "daemon/alarms/alarm_thread.h"
#include "store/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define NOTE "alarms"   /* the progress of each target, as JSON */
#define PAGE 256        /* events that are read at once */
#define SAVE_EVERY 1024 /* events that no target asked for, until the position is stored */
#define GATHER_S 2      /* from the first event to its message: most of a storm comes within it */
#define US_PER_S UINT64_C(1000000)

struct target {
    struct config_alarm is; /* of `memory` */
    struct arena memory;
    struct alarm_progress at;
    uint64_t scanned;      /* events up to this one were looked at */
    struct arena batch_of; /* holds the strings of `batch` */
    struct alarm_batch batch;
    instant_s first_seen; /* the first event of the batch was found then */
    struct arena message_of;
    struct alarm_message message; /* id NULL: none */
    struct alarm_thread *thread;  /* an attempt is under way */
    struct err error;             /* of the last attempt; code 0: it succeeded */
    bool logged;                  /* the failure is in the log */
    bool logged_partly;           /* as well, that a mail server takes no mail for a recipient */
};

struct alarm_feed {
    struct alarm_feed_options o;
    struct arena arena;
    const char *instance;
    struct target **targets;
    size_t n;
    struct alarm_thread *threads; /* all that run */
    struct queue results;
    sd_event_source *io, *timer;
    struct alarm_tests tests;
    struct alarm_news *news; /* for the engine's events */
    uint64_t last;
    bool read_failed, save_failed;
};

/* ---- the store ------------------------------------------------------------------------------- */

/* When storing fails, what is under way may be sent once more after a restart. */
static void save(struct alarm_feed *f)
{
    json_t *all = json_object();
    struct err err = {0};

    for (size_t i = 0; i < f->n; i++)
        (void)json_object_set_new(all, f->targets[i]->is.name, alarm_progress_json(&f->targets[i]->at));
    char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
    int r = store_sqlite.put(
        f->o.store, &(struct record){RECORD_NOTE, .note = &(struct note){NOTE, text ? text : "{}"}}, &err);

    if (r < 0 && !f->save_failed)
        log_warning("alarms: the position of the last delivery was not stored: %s", err.text);
    f->save_failed = r < 0;
    free(text);
    json_decref(all);
}

static json_t *load(struct alarm_feed *f)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *note = NULL;
    struct err err = {0};

    if (store_get_note(f->o.store, NOTE, &a, &note, &err) < 0)
        log_warning("alarms: the positions of delivery cannot be read, so only new events are sent: %s",
                    err.text);
    return note ? json_loads(note, 0, NULL) : NULL;
}

/* ---- targets --------------------------------------------------------------------------------- */

static void free_target(struct target *t)
{
    arena_release(&t->memory);
    arena_release(&t->batch_of);
    arena_release(&t->message_of);
    free(t);
}

static void drop_batch(struct target *t)
{
    arena_release(&t->batch_of);
    t->batch = (struct alarm_batch){0};
    t->first_seen = 0;
}

static void drop_message(struct target *t)
{
    arena_release(&t->message_of);
    t->message = (struct alarm_message){0};
}

static struct target *find(const struct alarm_feed *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++) {
        if (strcmp(f->targets[i]->is.name, name) == 0)
            return f->targets[i];
    }
    return NULL;
}

static struct target *new_target(const struct alarm_feed *f, const struct config_alarm *is,
                                 const json_t *stored, instant_s now)
{
    struct target *t = xcalloc(1, sizeof *t);

    config_alarm_copy(is, &t->is, &t->memory);
    if (!alarm_progress_read(json_object_get(stored, is->name), f->last, now, &t->at))
        t->at = (struct alarm_progress){.position = f->last, .digested = now};
    t->scanned = t->at.position;
    return t;
}

/* A target that is known keeps its position, and is tried at once: its settings may have been corrected. */
static void renew_target(struct target *t, const struct config_alarm *is)
{
    arena_release(&t->memory);
    config_alarm_copy(is, &t->is, &t->memory);
    if (!t->thread)
        alarm_progress_retry(&t->at);
    if (t->message.id) /* it goes on as it was made */
        return;
    drop_batch(t);
    t->scanned = t->at.position;
}

static void set_targets(struct alarm_feed *f, const struct config *c, const json_t *stored, instant_s now)
{
    struct target **list = xcalloc(c->n_alarms + 1, sizeof *list);
    struct target **old = f->targets;
    size_t n_old = f->n;

    for (size_t i = 0; i < c->n_alarms; i++) {
        struct target *known = find(f, c->alarms[i].name);

        if (known)
            renew_target(known, &c->alarms[i]);
        list[i] = known ? known : new_target(f, &c->alarms[i], stored, now);
    }
    f->targets = list;
    f->n = c->n_alarms;
    for (size_t i = 0; i < n_old; i++) {
        if (old[i] != find(f, old[i]->is.name)) /* its attempt goes on, without an owner */
            free_target(old[i]);
    }
    free(old);
}

void alarm_feed_change(struct alarm_feed *f, const struct config *c, instant_s now)
{
    if (!f)
        return;
    set_targets(f, c, NULL, now);
    save(f);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* One page. True: there are more before `until`. */
static bool scan(struct alarm_feed *f, struct target *t, uint64_t until, instant_s now)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct event_query q = {.after = t->scanned, .limit = PAGE};
    struct event_record *list = NULL;
    struct err err = {0};
    size_t n = 0;

    if (t->scanned >= until)
        return false;
    int r = store_list_events(f->o.store, &q, &a, &list, &n, &err);

    if (r < 0 && !f->read_failed)
        log_warning("alarms: %s", err.text);
    f->read_failed = r < 0;
    if (r < 0)
        return false;
    for (size_t i = 0; i < n && list[i].id <= until; i++) {
        if (alarm_contents_add(&t->batch, &t->is, &list[i], &t->batch_of) && t->first_seen == 0)
            t->first_seen = now;
        t->scanned = list[i].id;
    }
    if (n < PAGE) /* events may be missing at the end: numbers are given once */
        t->scanned = until;
    t->batch.upto = t->scanned;
    return t->scanned < until;
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct alarm_origin origin_of(const struct alarm_feed *f, const struct config *c,
                                     const struct target *t)
{
    return (struct alarm_origin){.cluster = c->cluster, .instance = f->instance, .target = t->is.name};
}

static void make_events_message(struct alarm_feed *f, const struct config *c, struct target *t, instant_s now)
{
    const struct alarm_origin o = origin_of(f, c, t);

    alarm_message_of_events(&o, &t->batch, &t->message_of, &t->message);
    if (!alarm_progress_is_under_way(&t->at)) {
        alarm_progress_begin_events(&t->at, t->batch.upto, now);
        save(f);
    }
}

static void make_digest(struct alarm_feed *f, const struct config *c, const struct engine *e,
                        struct target *t, instant_s until, instant_s now)
{
    const struct alarm_origin o = origin_of(f, c, t);
    struct err err = {0};
    int r = alarm_contents_digest(e, f->o.store, c->history_days, &o, t->at.digested, until, &t->message_of,
                                  &t->message, &err);

    if (r < 0) {
        log_warning("alarms: no digest for %s: %s", t->is.name, err.text);
        t->at.digested = until; /* the next one has that time, too, but for what could not be read */
        return;
    }
    if (!alarm_progress_is_under_way(&t->at)) {
        alarm_progress_begin_digest(&t->at, until, now);
        save(f);
    }
}

/* The one under way before a restart is made again, with the same id. */
static void make_again(struct alarm_feed *f, const struct config *c, const struct engine *e, struct target *t,
                       instant_s now)
{
    if (t->at.digest_until != 0) {
        make_digest(f, c, e, t, t->at.digest_until, now);
        return;
    }
    while (scan(f, t, t->at.upto, now))
        ;
    if (t->scanned < t->at.upto) /* the store cannot be read now */
        return;
    if (t->batch.n > 0) {
        t->batch.upto = t->at.upto;
        make_events_message(f, c, t, now);
        return;
    }
    alarm_progress_skip(&t->at, t->at.upto); /* the configuration asks for none of them any more */
    save(f);
}

/* The instant of the newest digest that is due; 0: none. */
static instant_s digest_due(const struct target *t, instant_s now)
{
    instant_s at = 0;

    return t->is.digest && calendar_last_due(&t->is.digest_at, now, &at) && at > t->at.digested ? at : 0;
}

static void make_message(struct alarm_feed *f, const struct config *c, const struct engine *e,
                         struct target *t, instant_s now)
{
    const instant_s interval_ends = t->at.delivered_at != 0 ? t->at.delivered_at + t->is.interval_s : 0;
    const instant_s digest = digest_due(t, now);

    if (alarm_progress_is_under_way(&t->at)) {
        make_again(f, c, e, t, now);
    } else if (digest != 0) { /* before events: these may come without end */
        make_digest(f, c, e, t, digest, now);
    } else if (t->batch.n > 0) {
        if (now >= t->first_seen + GATHER_S && now >= interval_ends)
            make_events_message(f, c, t, now);
    } else {
        if (t->scanned > t->at.position + SAVE_EVERY) {
            t->at.position = t->scanned;
            save(f);
        } else if (t->scanned > t->at.position) {
            t->at.position = t->scanned;
        }
        if (!t->is.digest)
            t->at.digested = now; /* one that is asked for later begins then */
    }
}

static void start_attempt(struct alarm_feed *f, struct target *t, instant_s now)
{
    struct err err = {0};

    if (!t->message.id || t->thread || now < t->at.next)
        return;
    if (alarm_thread_start(&t->is, &t->message, now, 0, &f->results, &t->thread, &err) < 0) {
        (void)alarm_progress_failed(&t->at, false, 0, now);
        t->error = err;
        return;
    }
    t->thread->next = f->threads;
    f->threads = t->thread;
}

/* ---- results --------------------------------------------------------------------------------- */

static void take_failure(struct alarm_feed *f, struct target *t, const struct alarm_answer *answer,
                         instant_s now)
{
    const uint64_t n = t->at.upto != 0 ? t->batch.n + t->batch.more : 0;
    const bool first = t->at.failing == 0;

    t->error = answer->text;
    if (!t->logged)
        log_warning("alarms: %s: %s; the delivery will be retried", t->is.name, answer->text.text);
    t->logged = true;
    switch (alarm_progress_failed(&t->at, answer->refused, answer->retry_after_s, now)) {
    case ALARM_FAILS:
        if (first)
            save(f);
        return;
    case ALARM_FAILS_TELL:
        alarm_news_add(&f->news, true, t->is.name, "alarms cannot be delivered to %s: %s", t->is.name,
                       answer->text.text);
        save(f);
        return;
    case ALARM_FAILS_GIVEN_UP:
        if (n > 0)
            alarm_news_add(&f->news, true, t->is.name,
                           "%llu alarm%s for %s could not be delivered and will not be sent: %s",
                           (unsigned long long)n, n == 1 ? "" : "s", t->is.name, answer->text.text);
        else
            alarm_news_add(&f->news, true, t->is.name,
                           "a digest for %s could not be delivered and will not be sent: %s", t->is.name,
                           answer->text.text);
        drop_message(t);
        drop_batch(t);
        t->scanned = t->at.position;
        save(f);
        return;
    }
}

static void take_answer(struct alarm_feed *f, struct target *t, const struct alarm_answer *answer,
                        instant_s now)
{
    if (answer->code == -ECANCELED) /* the service stops */
        return;
    if (answer->code < 0) {
        take_failure(f, t, answer, now);
        return;
    }
    if (t->logged)
        log_notice("alarms: %s: delivered again", t->is.name);
    t->logged = false;
    if (answer->partly && !t->logged_partly)
        log_warning("alarms: %s: %s", t->is.name, answer->text.text);
    t->logged_partly = answer->partly;
    t->error = (struct err){0};
    bool events = t->at.upto != 0;

    if (alarm_progress_delivered(&t->at, now))
        alarm_news_add(&f->news, false, t->is.name, "alarms are delivered to %s again", t->is.name);
    drop_message(t);
    if (events) {
        drop_batch(t);
        t->scanned = t->at.position;
    }
    save(f);
}

static void forget_thread(struct alarm_feed *f, struct alarm_thread *t)
{
    struct alarm_thread **at = &f->threads;

    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
}

static void take_results(struct alarm_feed *f, instant_s now)
{
    struct alarm_thread *done;

    while ((done = (struct alarm_thread *)queue_pop(&f->results)) != NULL) {
        forget_thread(f, done);
        if (done->ticket != 0)
            alarm_tests_take(&f->tests, done->ticket, &done->answer);
        for (size_t i = 0; i < f->n; i++) {
            if (f->targets[i]->thread != done)
                continue;
            f->targets[i]->thread = NULL;
            take_answer(f, f->targets[i], &done->answer, now);
        }
        alarm_thread_free(done);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

static int on_result(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct alarm_feed *f = userdata;

    (void)source, (void)fd, (void)revents;
    f->o.wake(f->o.ctx);
    return 0;
}

static int on_due(sd_event_source *source, uint64_t usec, void *userdata)
{
    struct alarm_feed *f = userdata;

    (void)source, (void)usec;
    f->o.wake(f->o.ctx);
    return 0;
}

static instant_s earlier(instant_s x, instant_s y)
{
    return x == 0 || (y != 0 && y < x) ? y : x;
}

/* When there is something to do for the target; 0: after the next event. */
static instant_s due_at(const struct target *t, instant_s now)
{
    instant_s digest = 0;

    if (t->thread)
        return 0;
    if (t->message.id || alarm_progress_is_under_way(&t->at))
        return t->at.next > now ? t->at.next : now + 1;
    if (t->is.digest &&
        calendar_next_due(&t->is.digest_at, t->at.digested > now ? t->at.digested : now, &digest))
        digest = digest > now ? digest : now + 1;
    if (t->batch.n == 0)
        return digest;
    instant_s gathered = t->first_seen + GATHER_S;
    instant_s interval_ends = t->at.delivered_at + t->is.interval_s;

    return earlier(digest, gathered > interval_ends ? gathered : interval_ends);
}

static void set_timer(struct alarm_feed *f, bool more, instant_s now)
{
    instant_s due = 0;

    for (size_t i = 0; i < f->n; i++)
        due = earlier(due, due_at(f->targets[i], now));
    if (due == 0 && !more) {
        (void)sd_event_source_set_enabled(f->timer, SD_EVENT_OFF);
        return;
    }
    (void)sd_event_source_set_time_relative(f->timer, more        ? 0
                                                      : due > now ? (uint64_t)(due - now) * US_PER_S
                                                                  : US_PER_S);
    (void)sd_event_source_set_enabled(f->timer, SD_EVENT_ONESHOT);
}

void alarm_feed_update(struct alarm_feed *f, struct engine *e, const struct config *c, uint64_t last,
                       instant_s now)
{
    bool more = false;

    if (!f)
        return;
    f->last = last;
    take_results(f, now);
    alarm_news_tell(&f->news, e, now);
    for (size_t i = 0; i < f->n; i++) {
        struct target *t = f->targets[i];

        if (!t->message.id) {
            if (!alarm_progress_is_under_way(&t->at))
                more = scan(f, t, last, now) || more;
            if (!more)
                make_message(f, c, e, t, now);
        }
        start_attempt(f, t, now);
    }
    set_timer(f, more, now);
}

/* ---- what the others ask --------------------------------------------------------------------- */

uint64_t alarm_feed_sent(const struct alarm_feed *f)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; f && i < f->n; i++)
        least = f->targets[i]->at.position < least ? f->targets[i]->at.position : least;
    return least;
}

void alarm_feed_skip(struct alarm_feed *f, uint64_t id)
{
    bool changed = false;

    for (size_t i = 0; f && i < f->n; i++) {
        struct target *t = f->targets[i];

        if (t->at.position >= id)
            continue;
        /* what was read already is sent all the same */
        if (t->batch.n == 0 && !t->thread)
            alarm_progress_skip(&t->at, id);
        if (t->scanned < id)
            t->scanned = id;
        changed = true;
    }
    if (changed)
        save(f);
}

size_t alarm_feed_count(const struct alarm_feed *f)
{
    return f ? f->n : 0;
}

void alarm_feed_status(const struct alarm_feed *f, size_t i, struct arena *a, struct alarm_status *ret)
{
    const struct target *t = f->targets[i];

    *ret = (struct alarm_status){.name = t->is.name,
                                 .address = alarm_address(&t->is, a),
                                 .failing = t->at.failing != 0,
                                 .failing_since = t->at.failing,
                                 .delivered_at = t->at.delivered_at,
                                 .waiting = t->batch.n + t->batch.more,
                                 .delivered = t->at.delivered,
                                 .failed = t->at.attempts_failed,
                                 .given_up = t->at.given_up,
                                 .error = t->error.code != 0 ? t->error.text : NULL,
                                 .next_attempt = t->message.id && !t->thread ? t->at.next : 0};
}

/* ---- tests ----------------------------------------------------------------------------------- */

int alarm_feed_test(struct alarm_feed *f, const struct config *c, const char *target, const char *by,
                    instant_s now, uint64_t *ret_ticket, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct target *t = f ? find(f, target) : NULL;
    struct alarm_thread *thread = NULL;
    struct alarm_message m;

    if (!t)
        return err_set(err, -ENOENT,
                       "there is no target \"%.40s\" below alarms: in the configuration in force", target);
    const struct alarm_origin o = origin_of(f, c, t);
    const uint64_t ticket = alarm_tests_begin(&f->tests);

    if (ticket == 0)
        return err_set(err, -EUSERS, "%d tests of targets are under way already", ALARM_TESTS_MAX);
    alarm_message_of_test(&o, now, by, f->tests.next, &a, &m);
    int r = alarm_thread_start(&t->is, &m, now, ticket, &f->results, &thread, err);

    if (r < 0) {
        alarm_tests_release(&f->tests, ticket);
        return r;
    }
    thread->next = f->threads;
    f->threads = thread;
    *ret_ticket = ticket;
    return 0;
}

struct alarm_tests *alarm_feed_tests(struct alarm_feed *f)
{
    return &f->tests;
}

/* ---- start and stop -------------------------------------------------------------------------- */

static int open_feed(struct alarm_feed *f, struct err *err)
{
    int r = store_instance(f->o.store, &f->arena, &f->instance, err);

    if (r < 0)
        return r;
    if ((r = queue_init(&f->results, false)) < 0)
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    if ((r = sd_event_add_io(f->o.loop, &f->io, f->results.fd, EPOLLIN, on_result, f)) < 0 ||
        (r = sd_event_add_time_relative(f->o.loop, &f->timer, CLOCK_MONOTONIC, 0, 0, on_due, f)) < 0 ||
        (r = sd_event_source_set_enabled(f->timer, SD_EVENT_OFF)) < 0)
        return err_set(err, r, "the event loop cannot be set up for alarms: %s", strerror(-r));
    return 0;
}

int alarm_feed_start(const struct config *c, const struct alarm_feed_options *options, uint64_t last,
                     instant_s now, struct alarm_feed **ret, struct err *err)
{
    struct alarm_feed *f = xcalloc(1, sizeof *f);

    f->o = *options;
    f->last = last;
    f->results.fd = -1;
    int r = open_feed(f, err);

    if (r < 0) {
        alarm_feed_free(f);
        return r;
    }
    json_t *stored = load(f);

    set_targets(f, c, stored, now);
    if (c->n_alarms > 0 || stored)
        save(f);
    json_decref(stored);
    *ret = f;
    return 0;
}

int alarm_feed_stop(struct alarm_feed *f, int64_t deadline_s)
{
    int r = 0;

    if (!f)
        return 0;
    for (struct alarm_thread *t = f->threads; t; t = t->next)
        atomic_store(&t->stop, true);
    for (struct alarm_thread *t = f->threads; t && r == 0; t = t->next)
        r = alarm_thread_wait(t, deadline_s);
    if (r == 0)
        take_results(f, (instant_s)time(NULL)); /* what has just arrived is not sent again */
    return r;
}

void alarm_feed_free(struct alarm_feed *f)
{
    if (!f)
        return;
    (void)sd_event_source_disable_unref(f->io);
    (void)sd_event_source_disable_unref(f->timer);
    for (size_t i = 0; i < f->n; i++)
        free_target(f->targets[i]);
    free(f->targets);
    alarm_news_free(f->news);
    if (f->results.fd >= 0)
        queue_release(&f->results, NULL);
    arena_release(&f->arena);
    free(f);
}
