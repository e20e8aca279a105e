/* units.c: one question to all external units at once: writes, waits, reads and gathers what they say. */
#include "units/units.h"

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/xalloc.h"
#include "model/snapshot_json.h"
#include "units/answer.h"
#include "units/worker.h"

#include <ballast/inventory.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BATCH 100    /* VMs in one line */
#define WATCH_MS 100 /* between two looks at *stop */
#define LINES 4096   /* that one answer may take, with what is left of earlier ones */
#define READ_AT_ONCE (1 << 20)
#define S_US INT64_C(1000000)

struct units {
    struct worker *workers;
    size_t n;
    const atomic_bool *stop;
    uint64_t last_id;
};

/* What one unit is being asked. */
struct question {
    struct worker *worker;
    uint32_t *vms; /* ascending */
    uint32_t n, next;
    struct batch batch;
    const struct strbuf *snapshot; /* the line before the batches */
    struct strbuf line;            /* of the batch */
    size_t sent;                   /* of both */
    size_t received;
    unsigned lines;
    int64_t deadline_us;
    bool done;
};

struct asking {
    struct units *u;
    const struct snapshot *s;
    instant_s at;
    struct arena *a;
    struct inventory *ret;
};

struct units *units_new(const struct unit_config *list, size_t n, const atomic_bool *stop)
{
    struct units *u = xcalloc(1, sizeof *u);

    u->workers = xcalloc(n, sizeof *u->workers);
    u->n = n;
    u->stop = stop;
    for (size_t i = 0; i < n; i++)
        worker_init(&u->workers[i], &list[i]);
    return u;
}

void units_free(struct units *u)
{
    if (!u)
        return;
    for (size_t i = 0; i < u->n; i++)
        worker_end(&u->workers[i]);
    free(u->workers);
    free(u);
}

/* ---- which units are asked ---- */

static bool asks(const struct snapshot *s, uint32_t vm, const char *unit)
{
    const struct pipeline *p = s->vms[vm].pipeline == IX_NONE ? NULL : &s->pipelines[s->vms[vm].pipeline];

    for (uint32_t i = 0; p && i < p->n; i++) {
        const char *external = s->stages[p->first + i].is.external;

        if (external && strcmp(external, unit) == 0)
            return true;
    }
    return false;
}

static uint32_t find_vms(const struct asking *x, const char *unit, uint32_t **ret)
{
    uint32_t *vms = arena_array(x->a, uint32_t, x->s->n_vms);
    uint32_t n = 0;

    for (uint32_t vm = 0; vm < x->s->n_vms; vm++)
        if (asks(x->s, vm, unit))
            vms[n++] = vm;
    *ret = vms;
    return n;
}

static void add(const struct asking *x, const char *unit, const struct seen_answer *answer)
{
    struct seen_answer *to = inventory_add_answer(x->ret, x->a);

    *to = *answer;
    to->unit = unit;
    to->at = x->at;
}

static void add_error(const struct asking *x, const char *unit, const uint32_t *vms, uint32_t n,
                      const char *why)
{
    const char **ids = arena_array(x->a, const char *, n);

    for (uint32_t i = 0; i < n; i++)
        ids[i] = x->s->vms[vms[i]].is.id;
    if (n > 0)
        add(x, unit, &(struct seen_answer){.vms = {ids, n}, .error = arena_strdup(x->a, why)});
}

/* ---- one unit ---- */

static void give_up(const struct asking *x, struct question *q)
{
    uint32_t from = (uint32_t)(q->batch.vms - q->vms);

    add_error(x, q->worker->config->name, q->vms + from, q->n - from, q->worker->why);
    q->done = true;
}

/* The line of the next batch; done without one. */
static void next_batch(const struct asking *x, struct question *q)
{
    struct json_writer w = {.out = &q->line};

    q->batch.vms = q->vms + q->next;
    q->batch.n = q->n - q->next < BATCH ? q->n - q->next : BATCH;
    q->next += q->batch.n;
    q->batch.id = ++x->u->last_id;
    q->received = 0;
    q->lines = 0;
    q->done = q->batch.n == 0;
    strbuf_clear(&q->line);
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_int(&w, "id", (int64_t)q->batch.id);
    jw_begin(&w, "vms", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < q->batch.n; i++)
        jw_text(&w, NULL, x->s->vms[q->batch.vms[i]].is.id);
    jw_end(&w);
    jw_end(&w);
    while (q->line.len > 0 && q->line.text[q->line.len - 1] == '\n')
        q->line.text[--q->line.len] = '\0';
    strbuf_puts(&q->line, "\n");
}

static size_t left_to_send(const struct question *q)
{
    return q->snapshot->len + q->line.len - q->sent;
}

/* False: the unit has failed. */
static bool send_more(struct question *q, int64_t now_us)
{
    while (left_to_send(q) > 0) {
        bool first = q->sent < q->snapshot->len;
        const struct strbuf *of = first ? q->snapshot : &q->line;
        size_t at = first ? q->sent : q->sent - q->snapshot->len;
        ssize_t n = send(q->worker->io, of->text + at, of->len - at, MSG_NOSIGNAL);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n < 0 && errno != EPIPE && errno != ECONNRESET) {
            worker_fail(q->worker, now_us, "nothing can be written to it: %s", strerror(errno));
            return false;
        }
        if (n < 0) /* its end is told by what is read */
            return true;
        q->sent += (size_t)n;
    }
    return true;
}

/* The lines that are there. False: the unit has failed. */
static bool take_lines(const struct asking *x, struct question *q, int64_t now_us)
{
    const char *line;
    size_t len;

    while (!q->done && (line = worker_line(q->worker, &len))) {
        struct seen_answer *answers;
        struct err err = {0};
        size_t n;
        int r = answer_read(line, len, x->s, &q->batch, x->a, &answers, &n, &err);

        if (r < 0 && (r != -EALREADY || ++q->lines > LINES)) {
            if (r == -EALREADY)
                worker_fail(q->worker, now_us, "it wrote more than %d lines that answer no question", LINES);
            else
                worker_fail(q->worker, now_us, "its answer is wrong: %.300s", err.text);
            return false;
        }
        if (r < 0)
            continue;
        if (left_to_send(q) > 0) {
            worker_fail(q->worker, now_us, "it answered before it had read the question");
            return false;
        }
        for (size_t i = 0; i < n; i++)
            add(x, q->worker->config->name, &answers[i]);
        next_batch(x, q);
        q->sent = q->snapshot->len;
    }
    return true;
}

static bool read_more(const struct asking *x, struct question *q, int64_t now_us)
{
    size_t n;

    if (!worker_read(q->worker, READ_AT_ONCE, &n, now_us))
        return false;
    q->received += n;
    if (q->received > WORKER_LINE_MAX) {
        worker_fail(q->worker, now_us, "it wrote more than %zu MiB to one question", WORKER_LINE_MAX >> 20);
        return false;
    }
    return take_lines(x, q, now_us);
}

static void step(const struct asking *x, struct question *q)
{
    int64_t now_us = clock_us(CLOCK_MONOTONIC);
    bool works = read_more(x, q, now_us) && (q->done || send_more(q, now_us));

    if (works && !q->done && now_us >= q->deadline_us) {
        worker_fail(q->worker, now_us, "no answer within %lld s", (long long)q->worker->config->timeout_s);
        works = false;
    }
    if (works && !q->done && x->u->stop && atomic_load(x->u->stop)) {
        worker_fail(q->worker, now_us, "the service stops");
        works = false;
    }
    if (!works)
        give_up(x, q);
    else if (q->done)
        worker_succeed(q->worker);
}

/* ---- all units ---- */

/* Those that have still to answer, until there are none. */
static void converse(const struct asking *x, struct question *list, size_t n)
{
    struct pollfd *fds = arena_array(x->a, struct pollfd, n);

    for (;;) {
        int64_t now_us = clock_us(CLOCK_MONOTONIC);
        int64_t wait_ms = WATCH_MS;
        bool any = false;

        for (size_t i = 0; i < n; i++) {
            struct question *q = &list[i];
            int64_t left_ms = (q->deadline_us - now_us) / 1000 + 1;

            fds[i] = (struct pollfd){.fd = q->done ? -1 : q->worker->io, .events = POLLIN};
            if (q->done)
                continue;
            any = true;
            if (left_to_send(q) > 0)
                fds[i].events |= POLLOUT;
            wait_ms = left_ms < wait_ms ? left_ms : wait_ms;
        }
        if (!any)
            return;
        (void)poll(fds, (nfds_t)n, wait_ms > 0 ? (int)wait_ms : 0);
        for (size_t i = 0; i < n; i++)
            if (!list[i].done)
                step(x, &list[i]);
    }
}

/* The snapshot as one line. */
static void write_snapshot(const struct snapshot *s, struct strbuf *ret)
{
    strbuf_init(ret, STRBUF_NO_LIMIT);
    strbuf_puts(ret, "{\"snapshot\": ");
    snapshot_dump(s, ret);
    for (size_t i = 0; i < ret->len; i++)
        if (ret->text[i] == '\n') /* only between members: texts have \n */
            ret->text[i] = ' ';
    strbuf_puts(ret, "}\n");
}

static bool begin(const struct asking *x, struct worker *w, const struct strbuf *snapshot, struct question *q)
{
    int64_t now_us = clock_us(CLOCK_MONOTONIC);
    uint32_t *vms;
    uint32_t n = find_vms(x, w->config->name, &vms);

    if (n == 0)
        return false;
    if (!worker_start(w, now_us)) {
        add_error(x, w->config->name, vms, n, *w->why ? w->why : "its former process has not ended yet");
        return false;
    }
    *q = (struct question){.worker = w,
                           .vms = vms,
                           .n = n,
                           .snapshot = snapshot,
                           .deadline_us = now_us + w->config->timeout_s * S_US};
    strbuf_init(&q->line, STRBUF_NO_LIMIT);
    next_batch(x, q);
    return true;
}

/* Stages name units that the configuration does not have. */
static void answer_for_unknown(const struct asking *x)
{
    for (uint32_t i = 0; i < x->s->n_stages; i++) {
        const char *unit = x->s->stages[i].is.external;
        bool known = !unit;
        uint32_t *vms;
        uint32_t n;

        for (size_t k = 0; !known && x->u && k < x->u->n; k++)
            known = strcmp(x->u->workers[k].config->name, unit) == 0;
        for (uint32_t k = 0; !known && k < i; k++)
            known = x->s->stages[k].is.external && strcmp(x->s->stages[k].is.external, unit) == 0;
        if (known)
            continue;
        n = find_vms(x, unit, &vms);
        add_error(x, unit, vms, n, "the configuration has no such unit");
    }
}

void units_ask(struct units *u, const struct snapshot *s, instant_s at, struct arena *a,
               struct inventory *ret)
{
    const struct asking x = {u, s, at, a, ret};
    struct strbuf snapshot;
    struct question *list = u ? xcalloc(u->n, sizeof *list) : NULL;
    size_t n = 0;

    answer_for_unknown(&x);
    write_snapshot(s, &snapshot);
    for (size_t i = 0; u && i < u->n; i++)
        n += begin(&x, &u->workers[i], &snapshot, &list[n]);
    converse(&x, list, n);
    for (size_t i = 0; i < n; i++)
        strbuf_release(&list[i].line);
    strbuf_release(&snapshot);
    free(list);
}
