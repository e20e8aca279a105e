/* alarm_contents.c: gathers stored events for a message; a summary of a time as a message. */
#include "daemon/alarms/alarm_contents.h"

#include "alarm/selection.h"
#include "base/cleanup.h"
#include "daemon/events/event_json.h"
#include "daemon/replies/replies.h"
#include "render/summary.h"
#include "store/sqlite.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_BYTES_MAX 4096 /* of an event's data; a longer one is sent without its details */

static const char *text_of(const char *data, struct arena *a)
{
    json_t *root = json_loads(data ? data : "", 0, NULL);
    const char *text = arena_strdup(a, json_string_value(json_object_get(root, "text")));

    json_decref(root);
    return text ? text : "";
}

/* As in a reply; of a long one only its severity and its sentence. */
static const char *record_json(const struct event_record *r, const char *text, struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    struct event_record copy = *r;

    if (strlen(r->data) > EVENT_BYTES_MAX) {
        json_t *brief = json_pack("{s:s, s:s}", "severity", r->severity, "text", text);
        char *dump = json_dumps(brief, JSON_COMPACT);

        copy.data = arena_strdup(a, dump ? dump : "{}");
        free(dump);
        json_decref(brief);
    }
    event_json_record(&copy, &out);
    return arena_strndup(a, out.text, strcspn(out.text, "\n"));
}

bool alarm_contents_add(struct alarm_batch *b, const struct config_alarm *t, const struct event_record *r,
                        struct arena *a)
{
    const struct alarm_candidate e = {r->kind, r->severity, r->vm, r->host, r->to_host, r->data};

    if (!alarm_selects(t, &e))
        return false;
    if (!b->worst || alarm_severity_of(r->severity) > alarm_severity_of(b->worst))
        b->worst = arena_strdup(a, r->severity);
    if (b->n == ALARM_LISTED_MAX) {
        b->more++;
        return true;
    }
    const char *text = text_of(r->data, a);

    b->listed[b->n++] = (struct alarm_event){.time = r->time,
                                             .severity = arena_strdup(a, r->severity),
                                             .kind = arena_strdup(a, r->kind),
                                             .text = text,
                                             .json = record_json(r, text, a)};
    return true;
}

int alarm_contents_digest(const struct engine *e, struct store *store, int64_t days,
                          const struct alarm_origin *o, instant_s since, instant_s until, struct arena *a,
                          struct alarm_message *ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf reply = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;

    int r = reply_summary(e, &store_sqlite, store, since, days, until, &reply, err);

    if (r < 0)
        return r;
    json_t *root = json_loadb(reply.text, reply.len, 0, NULL);
    char *summary = json_dumps(json_object_get(root, "summary"), JSON_COMPACT);

    if (!summary) {
        json_decref(root);
        return err_set(err, -EPROTO, "the summary cannot be read");
    }
    strbuf_printf(&text, "What happened in the cluster %s:\n\n", alarm_line(o->cluster, a));
    summary_text(root, a, &text);
    alarm_message_of_digest(o, since, until, text.text, summary, a, ret);
    free(summary);
    json_decref(root);
    return 0;
}
