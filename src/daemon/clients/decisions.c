/* decisions.c: questions on their way to the thread that decides, and replies on their way back. Deciding is
 * ../decision's. */
#include "daemon/clients/decisions.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/xalloc.h"
#include "daemon/clients/apart.h"
#include "daemon/events/subject.h"
#include "daemon/queue.h"
#include "decision/decision.h"
#include "model/named.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Marks tickets of decisions, to distinguish them from other tickets. */
#define DECISION ((uint64_t)1 << 61)
#define NICE 10 /* as HTTP's threads: a pass comes first */

/* Viewers wait for each other only. */
enum lane_of { LANE_OPERATORS, LANE_VIEWERS, lane_count };

/* A question and its reply. Of one place at a time: the list of those that wait, the thread, the list of
 * those that are done. */
struct question {
    struct queue_item item; /* first */
    struct question *next;
    enum lane_of lane;
    uint64_t ticket; /* 0 in the thread's queue: the thread ends */
    struct request q;
    struct kept_snapshot last; /* none: pass */
    struct stored_snapshot pass;
    struct shared_text *reply; /* NULL: err */
    struct err err;
};

struct lane {
    pthread_t thread;
    bool runs;    /* the thread */
    bool limited; /* in a process of its own (apart.h) */
    struct queue asked, *done;
    struct question *waiting; /* the oldest first */
    uint64_t at_work;         /* the ticket that the thread has; 0: none */
    atomic_bool unwanted;     /* at_work was cancelled */
};

struct decisions {
    struct lane lanes[lane_count];
    struct queue done;
    sd_event_source *io;
    void (*tell)(void *ctx);
    void *ctx;
    uint64_t last_ticket;
    struct question *finished; /* whose clients have not been answered yet */
};

static void question_free(struct question *j)
{
    engine_release_snapshot(&j->last);
    store_snapshot_release(&j->pass);
    shared_text_unref(j->reply);
    free(j);
}

static void item_free(struct queue_item *item)
{
    question_free((struct question *)item);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static const char **words_of(const struct request *q, struct request_words w, struct arena *a)
{
    const char **list = arena_array(a, const char *, w.n);
    const char *at = q->vms + w.at;

    for (size_t i = 0; i < w.n; i++) {
        list[i] = at;
        at += strlen(at) + 1;
    }
    return list;
}

static struct decision_question question_of(const struct request *q, struct arena *a)
{
    struct decision_question is = {.kind = q->kind == REQUEST_PLAN      ? DECISION_PLAN
                                           : q->kind == REQUEST_EXPLAIN ? DECISION_EXPLAIN
                                           : q->kind == REQUEST_WHAT_IF ? DECISION_WHAT_IF
                                                                        : DECISION_ENTITLEMENTS,
                                   .sets = words_of(q, q->sets, a),
                                   .n_sets = q->sets.n,
                                   .vm = q->vm[0] ? q->vm : NULL,
                                   .host = q->host[0] ? q->host : NULL,
                                   .wide = q->wide};
    struct decision_change *changes;

    for (unsigned k = 0; k < change_kind_count; k++)
        is.n_changes += q->changes[k].n;
    is.changes = changes = arena_array(a, struct decision_change, is.n_changes);
    for (unsigned k = 0; k < change_kind_count; k++) {
        const char **words = words_of(q, q->changes[k], a);

        for (size_t i = 0; i < q->changes[k].n; i++)
            *changes++ = (struct decision_change){.kind = (enum change_kind)k, .word = words[i]};
    }
    for (int r = 0; r < RES_COUNT; r++)
        is.resources[r] = !q->without[r];
    return is;
}

static int build_pass(const struct question *j, struct arena *a, struct snapshot *ret, struct err *err)
{
    const char *text = NULL;
    struct inventory inv;
    int r = store_snapshot_text(&j->pass, a, &text);

    if (r < 0)
        return err_set(err, r, "the stored pass is damaged");
    r = snapshot_read_inventory(text, j->pass.text_len, a, &inv, NULL, err);
    return r < 0 ? r : snapshot_build(&inv, a, ret, err);
}

/* One that cannot be read is a mistake of the service, not of the client. */
static int read_pass(const struct question *j, struct arena *a, struct snapshot *ret, struct err *err)
{
    if (build_pass(j, a, ret, err) == 0)
        return 0;
    (void)err_widen(err, "the snapshot of the pass cannot be read");
    return err->code = -EIO;
}

/* The settings are those that it was decided with, and what that pass left out is left out again: an
 * explanation agrees with what the service recommends. */
static int find_snapshot(const struct question *j, struct arena *a, struct snapshot *ret,
                         struct policy *ret_policy, struct err *err)
{
    int r;

    if (j->last.of)
        *ret = j->last.is;
    else if ((r = read_pass(j, a, ret, err)) < 0)
        return r;
    if (ret->policy)
        *ret_policy = *ret->policy;
    else
        policy_default(ret_policy);
    const unsigned held_back = j->last.of ? j->last.held_back : j->pass.held_back;

    ret_policy->optional_moves = !(held_back & HELD_BACK_OPTIONAL_MOVES);
    ret_policy->dpm.may_sleep = !(held_back & HELD_BACK_STANDBY);
    return 0;
}

static void put_reply(const struct request *q, const struct strbuf *json, const struct strbuf *text,
                      const struct decision_warnings *warnings, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_text(&w, request_kind_name(q->kind), json->text);
    jw_text(&w, "text", text->text);
    jw_texts(&w, "warnings", warnings->items, warnings->n, JW_INLINE);
    jw_end(&w);
    strbuf_puts(out, "\n");
}

/* The sentence names the field, as those of request.c do. */
static int name_field(const struct request *q, const char *field, struct err *err)
{
    const struct err why = *err;

    if (!field)
        return why.code;
    (void)err_set(err, why.code, "\"%s\": %s", field, why.text);
    return subject_refuse(
        why.code,
        (q->vm_in_path && strcmp(field, "vm") == 0) || (q->host_in_path && strcmp(field, "host") == 0), err);
}

/* What a past pass decided from, as it was stored. */
static int put_pass(const struct question *j, struct arena *a, struct strbuf *out, struct err *err)
{
    const char *text = NULL;
    struct snapshot snap;
    struct json_writer w = {.out = out};
    int r = read_pass(j, a, &snap, err);

    if (r < 0)
        return r;
    (void)store_snapshot_text(&j->pass, a, &text); /* was read just now */
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_text(&w, "host_domain", named_host_domain(&snap));
    jw_text(&w, "snapshot", text);
    jw_end(&w);
    strbuf_puts(out, "\n");
    return 0;
}

static int decide(const struct question *j, struct arena *a, struct strbuf *out, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf json = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    const struct decision_question question = question_of(&j->q, a);
    struct decision_warnings warnings = {0};
    const char *field = NULL;
    struct snapshot snap;
    struct policy policy;
    int r = find_snapshot(j, a, &snap, &policy, err);

    if (r < 0)
        return r;
    if ((r = decision_change_settings(question.sets, question.n_sets, a, &policy, &warnings, err)) < 0)
        return name_field(&j->q, "set", err);
    const struct decision_output output = {.json = &json, .text = &text};

    if ((r = decision_answer(&question, &snap, &policy, a, &output, &field, err)) < 0)
        return name_field(&j->q, field, err);
    put_reply(&j->q, &json, &text, &warnings, out);
    return 0;
}

static int answer(const void *question, struct strbuf *out, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct question *j = question;

    return (j->q.kind == REQUEST_SNAPSHOT ? put_pass : decide)(j, &a, out, err);
}

static void *decisions_main(void *arg)
{
    struct lane *l = arg;

    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    for (;;) {
        CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
        struct question *j = (struct question *)queue_pop(&l->asked);

        if (!j)
            break;
        if (j->ticket == 0) {
            question_free(j);
            break;
        }
        if ((l->limited ? apart_run(answer, j, &l->unwanted, &out, &j->err) : answer(j, &out, &j->err)) == 0)
            j->reply = shared_text_new(&out);
        queue_push(l->done, &j->item);
    }
    return NULL;
}

/* ---- the main thread ------------------------------------------------------------------------- */

/* One at a time, so that one that waits can still be taken back. */
static void give_next(struct lane *l)
{
    struct question *j = l->waiting;

    if (!j || l->at_work != 0)
        return;
    l->waiting = j->next;
    l->at_work = j->ticket;
    atomic_store(&l->unwanted, false);
    queue_push(&l->asked, &j->item);
}

static int on_done(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct decisions *d = userdata;
    struct question *j;

    (void)source, (void)fd, (void)revents;
    while ((j = (struct question *)queue_pop(&d->done)) != NULL) {
        struct lane *l = &d->lanes[j->lane];

        l->at_work = 0;
        if (atomic_load(&l->unwanted)) {
            question_free(j);
        } else {
            j->next = d->finished;
            d->finished = j;
        }
        give_next(l);
    }
    d->tell(d->ctx);
    return 0;
}

int decisions_start(sd_event *loop, void (*done)(void *ctx), void *ctx, struct decisions **ret,
                    struct err *err)
{
    struct decisions *d = *ret = xcalloc(1, sizeof *d);
    int r;

    d->tell = done;
    d->ctx = ctx;
    d->done.fd = -1;
    for (int i = 0; i < lane_count; i++)
        d->lanes[i] = (struct lane){.limited = i == LANE_VIEWERS, .asked.fd = -1, .done = &d->done};
    if ((r = queue_init(&d->done, false)) < 0 ||
        (r = sd_event_add_io(loop, &d->io, d->done.fd, EPOLLIN, on_done, d)) < 0)
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    for (struct lane *l = d->lanes; l < d->lanes + lane_count; l++) {
        if ((r = queue_init(&l->asked, true)) < 0)
            return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
        if ((r = pthread_create(&l->thread, NULL, decisions_main, l)) != 0)
            return err_set(err, -r, "no thread for decisions can be started: %s", strerror(r));
        l->runs = true;
    }
    return 0;
}

uint64_t decisions_ask(struct decisions *d, enum role role, const struct request *q,
                       const struct kept_snapshot *last, struct stored_snapshot *pass)
{
    struct question *j = xcalloc(1, sizeof *j);

    j->lane = role == ROLE_VIEWER ? LANE_VIEWERS : LANE_OPERATORS;
    struct question **end = &d->lanes[j->lane].waiting;

    j->ticket = ++d->last_ticket | DECISION;
    j->q = *q;
    j->last = *last;
    j->pass = *pass;
    *pass = (struct stored_snapshot){0};
    while (*end)
        end = &(*end)->next;
    *end = j;
    give_next(&d->lanes[j->lane]);
    return d->last_ticket | DECISION;
}

bool decisions_owns(uint64_t ticket)
{
    return (ticket & DECISION) != 0;
}

/* Takes it off the list. NULL: it is not there. */
static struct question *take(struct question **list, uint64_t ticket)
{
    struct question **at = list;

    while (*at && (*at)->ticket != ticket)
        at = &(*at)->next;
    struct question *j = *at;

    if (j)
        *at = j->next;
    return j;
}

int decisions_result(struct decisions *d, uint64_t ticket, struct shared_text **ret, struct err *err)
{
    struct question *j = take(&d->finished, ticket);

    if (!j)
        return -EINPROGRESS;
    const int r = j->reply ? 0 : j->err.code;

    *err = j->err;
    *ret = j->reply;
    j->reply = NULL;
    question_free(j);
    return r;
}

void decisions_cancel(struct decisions *d, uint64_t ticket)
{
    struct question *j = d ? take(&d->finished, ticket) : NULL;

    for (int i = 0; d && i < lane_count && !j; i++) {
        if (d->lanes[i].at_work == ticket)
            atomic_store(&d->lanes[i].unwanted, true);
        else
            j = take(&d->lanes[i].waiting, ticket);
    }
    if (j)
        question_free(j);
}

int decisions_stop(struct decisions *d, int64_t deadline_s)
{
    const struct timespec until = {.tv_sec = deadline_s};

    for (int i = 0; d && i < lane_count; i++) {
        struct lane *l = &d->lanes[i];

        if (!l->runs)
            continue;
        struct question *end = xcalloc(1, sizeof *end);

        atomic_store(&l->unwanted, true);
        queue_push(&l->asked, &end->item);
        if (pthread_timedjoin_np(l->thread, NULL, &until) != 0)
            return -ETIMEDOUT;
        l->runs = false;
    }
    return 0;
}

static void free_list(struct question *list)
{
    for (struct question *next; list; list = next) {
        next = list->next;
        question_free(list);
    }
}

void decisions_free(struct decisions *d)
{
    if (!d)
        return;
    (void)sd_event_source_disable_unref(d->io);
    for (int i = 0; i < lane_count; i++) {
        if (d->lanes[i].asked.fd >= 0)
            queue_release(&d->lanes[i].asked, item_free);
        free_list(d->lanes[i].waiting);
    }
    if (d->done.fd >= 0)
        queue_release(&d->done, item_free);
    free_list(d->finished);
    free(d);
}
