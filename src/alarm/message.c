/* message.c: events as a subject, as lines and as JSON. Choosing and sending them is done elsewhere. */
#include "alarm/message.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/rfc3339.h"
#include "base/utf8.h"
#include "mqtt/cloudevent.h"
#include "mqtt/topic.h"

#include <ballast/names.h>

#include <inttypes.h>
#include <string.h>

const char *alarm_line(const char *text, struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf line = STRBUF_EMPTY;
    const unsigned char *s = (const unsigned char *)(text ? text : "");

    while (*s) {
        bool safe;
        const size_t n = utf8_step(s, &safe);

        if (safe)
            strbuf_add(&line, s, n);
        else
            strbuf_puts(&line, utf8_length(s) > 0 ? " " : UTF8_REPLACEMENT);
        s += n;
    }
    return arena_strdup(a, line.text);
}

/* "2026-01-31 07:00:12" of an instant. */
static const char *time_text(instant_s t, struct arena *a)
{
    char text[RFC3339_MAX];
    char *copy = arena_strdup(a, rfc3339_format(t, text));
    char *letter = strchr(copy, 'T');

    if (letter && strlen(letter) > 9) {
        *letter = ' ';
        letter[9] = '\0';
    }
    return copy;
}

static const char *envelope(const struct alarm_origin *o, const struct alarm_message *m, const char *type,
                            const char *data, struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf json = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf source = STRBUF_EMPTY;

    strbuf_puts(&source, "/ballast/");
    topic_level(o->cluster, &source);
    const struct cloudevent ce = {
        .id = m->id, .source = source.text, .type = type, .time = m->time, .data = data};

    cloudevent_json(&ce, &json);
    return arena_strdup(a, json.text);
}

/* The members that all messages have. */
static void begin_data(struct json_writer *w, const struct alarm_origin *o, const char *severity,
                       const char *text)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(w, "cluster", o->cluster);
    jw_text(w, "target", o->target);
    jw_text(w, "severity", severity);
    jw_text(w, "text", text);
}

static const char *end_data(struct json_writer *w)
{
    struct strbuf *out = w->out;

    jw_end(w);
    if (out->len > 0 && out->text[out->len - 1] == '\n')
        out->text[--out->len] = '\0';
    return out->text;
}

/* ---- events ---------------------------------------------------------------------------------- */

static const char *events_json(const struct alarm_origin *o, const struct alarm_batch *b,
                               const struct alarm_message *m, struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf data = STRBUF_EMPTY;
    struct json_writer w = {.out = &data};

    begin_data(&w, o, b->worst, m->subject);
    jw_begin(&w, "events", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < b->n; i++)
        jw_raw(&w, NULL, b->listed[i].json);
    jw_end(&w);
    jw_int(&w, "more", (int64_t)b->more);
    return envelope(o, m, "alarm", end_data(&w), a);
}

void alarm_message_of_events(const struct alarm_origin *o, const struct alarm_batch *b, struct arena *a,
                             struct alarm_message *ret)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    const char *cluster = alarm_line(o->cluster, a);
    char since[RFC3339_MAX];
    uint64_t all = b->n + b->more;

    *ret = (struct alarm_message){
        .id = arena_printf(a, "%.32s-%s-%" PRIu64, o->instance, o->target, b->upto),
        .time = b->listed[b->n - 1].time,
    };
    const char *first = alarm_line(b->listed[0].text, a);

    ret->subject = all == 1 ? arena_printf(a, "[%s] %s: %s", cluster, b->worst, first)
                            : arena_printf(a, "[%s] %" PRIu64 " alarms, the worst: %s; first: %s", cluster,
                                           all, b->worst, first);
    strbuf_printf(&text, "Cluster %s, %" PRIu64 " alarm%s. Times are UTC.\n\n", cluster, all,
                  all == 1 ? "" : "s");
    for (size_t i = 0; i < b->n; i++) {
        const struct alarm_event *e = &b->listed[i];

        strbuf_printf(&text, "%s  %s  %s\n    %s\n", time_text(e->time, a), e->severity,
                      names_event_shown(e->kind), alarm_line(e->text, a));
    }
    if (b->more > 0)
        strbuf_printf(&text, "\nand %" PRIu64 " more: `ballast events --since %s` lists them.\n", b->more,
                      rfc3339_format(b->listed[0].time, since));
    ret->text = arena_strdup(a, text.text);
    ret->json = events_json(o, b, ret, a);
}

/* ---- digest and test ------------------------------------------------------------------------- */

void alarm_message_of_digest(const struct alarm_origin *o, instant_s since, instant_s until, const char *text,
                             const char *summary, struct arena *a, struct alarm_message *ret)
{
    CLEANUP(strbuf_releasep) struct strbuf data = STRBUF_EMPTY;
    const char *cluster = alarm_line(o->cluster, a);
    struct json_writer w = {.out = &data};

    *ret = (struct alarm_message){
        .id = arena_printf(a, "%.32s-%s-digest-%" PRId64, o->instance, o->target, (int64_t)until),
        .time = until,
        .subject = arena_printf(a, "[%s] digest: %.16s to %.16s UTC", cluster, time_text(since, a),
                                time_text(until, a)),
        .text = arena_strdup(a, text),
    };
    begin_data(&w, o, "info", text);
    jw_raw(&w, "summary", summary);
    ret->json = envelope(o, ret, "digest", end_data(&w), a);
}

void alarm_message_of_test(const struct alarm_origin *o, instant_s now, const char *by, uint64_t number,
                           struct arena *a, struct alarm_message *ret)
{
    CLEANUP(strbuf_releasep) struct strbuf data = STRBUF_EMPTY;
    const char *cluster = alarm_line(o->cluster, a);
    struct json_writer w = {.out = &data};

    *ret = (struct alarm_message){
        .id = arena_printf(a, "%.32s-%s-test-%" PRId64 "-%" PRIu64, o->instance, o->target, (int64_t)now,
                           number),
        .time = now,
        .subject = arena_printf(a, "[%s] test of the target %s", cluster, o->target),
        .text = arena_printf(a,
                             "This is a test, and no alarm: %s asked for it by `ballast alarm test %s`.\n"
                             "Alarms of the cluster %s arrive like this message.\n",
                             alarm_line(by, a), o->target, cluster),
    };
    begin_data(&w, o, "info", ret->subject);
    ret->json = envelope(o, ret, "test", end_data(&w), a);
}

void alarm_message_copy(const struct alarm_message *from, struct alarm_message *ret, struct arena *a)
{
    *ret = (struct alarm_message){.id = arena_strdup(a, from->id),
                                  .time = from->time,
                                  .subject = arena_strdup(a, from->subject),
                                  .text = arena_strdup(a, from->text),
                                  .json = arena_strdup(a, from->json)};
}
