/* event_json.c: an event's data, type and subject as JSON. The envelope is mqtt/cloudevent.c's. */
#include "daemon/events/event_json.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "daemon/events/event_log.h"
#include "daemon/replies/action_json.h"
#include "daemon/replies/replies.h"

static void put_fault(struct json_writer *w, const struct event *ev)
{
    jw_text(w, "code", ev->fault == fault_code_count ? NULL : fault_code_name(ev->fault));
    jw_text(w, "vm", ev->vm);
    jw_text(w, "vm_name", snapshot_vm_name(ev->snapshot, ev->vm));
    jw_text(w, "host", ev->host);
    jw_text(w, "host_name", snapshot_host_name(ev->snapshot, ev->host));
}

static void put_host_name(struct json_writer *w, const struct event *ev)
{
    jw_text(w, "host", ev->host);
    jw_text(w, "host_name", snapshot_host_name(ev->snapshot, ev->host));
}

static void put_host(struct json_writer *w, const struct event *ev)
{
    put_host_name(w, ev);
    jw_text(w, "was", ev->was == host_state_count ? NULL : host_state_name(ev->was));
    jw_text(w, "state", ev->is == host_state_count ? NULL : host_state_name(ev->is));
}

static void put_changes(struct json_writer *w, const struct event *ev)
{
    const struct recommendation_changes *c = ev->changes;

    jw_int(w, "new", c->n_new);
    jw_int(w, "gone", c->n_gone);
    jw_begin(w, "redirected", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < c->n_redirected; i++) {
        const struct action_record *r = c->redirected[i];

        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_int(w, "id", (int64_t)r->id);
        jw_int(w, "version", r->version);
        jw_text(w, "to", r->to);
        jw_text(w, "to_name", snapshot_host_name(ev->snapshot, r->to));
        jw_end(w);
    }
    jw_end(w);
}

void event_json_data(const struct event *ev, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct json_writer w = {.out = &text};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(&w, "severity", event_log_severity(ev));
    jw_text(&w, "text", ev->text);
    if (ev->pass != 0)
        jw_int(&w, "pass", (int64_t)ev->pass);
    if (ev->kind == EVENT_FAULT || ev->kind == EVENT_FAULT_CLEARED)
        put_fault(&w, ev);
    else if (ev->kind == EVENT_HOST || ev->kind == EVENT_HOST_LOST || ev->kind == EVENT_HOST_BACK)
        put_host(&w, ev);
    else if (ev->kind == EVENT_METER_LOST || ev->kind == EVENT_VM_WENT_DOWN || ev->kind == EVENT_METER_BACK ||
             (ev->kind == EVENT_MAINTENANCE_ROLL && ev->host))
        put_host_name(&w, ev);
    if (ev->kind == EVENT_PAUSED || ev->kind == EVENT_RESUMED || ev->kind == EVENT_RETRY ||
        ev->kind == EVENT_FIRST_REQUEST || ev->kind == EVENT_CONFIGURATION ||
        ev->kind == EVENT_CONFIGURATION_FAILED)
        jw_text(&w, "by", ev->by);
    if (ev->target)
        jw_text(&w, "target", ev->target);
    if (ev->unit)
        jw_text(&w, "unit", ev->unit);
    if (ev->night)
        jw_raw(&w, "night", ev->night);
    if (ev->changes)
        put_changes(&w, ev);
    if (ev->action)
        action_json(&w, "action", ev->snapshot, ev->action);
    jw_end(&w);
    strbuf_add(out, text.text, text.len - 1);
}

void event_json_gap(const struct event *ev, uint64_t from, uint64_t n, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct json_writer w = {.out = &text};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(&w, "severity", event_log_severity(ev));
    jw_text(&w, "text", ev->text);
    jw_int(&w, "count", (int64_t)n);
    if (from != 0) {
        jw_int(&w, "from", (int64_t)from);
        jw_int(&w, "to", (int64_t)(from + n - 1));
    }
    jw_end(&w);
    strbuf_add(out, text.text, text.len - 1);
}

void event_json_type(const struct event *ev, struct strbuf *out)
{
    strbuf_puts(out, event_kind_name(ev->kind));
    if (ev->kind == EVENT_ACTION)
        strbuf_printf(out, ".%s", action_state_name(ev->action->state));
    else if (ev->kind == EVENT_HOST)
        strbuf_printf(out, ".%s", host_state_name(ev->is));
}

const char *event_json_subject(const struct event *ev)
{
    if (ev->kind == EVENT_ACTION)
        return ev->action->vm ? ev->action->vm : ev->action->host;
    return ev->vm ? ev->vm : ev->host;
}

const char *event_json_vm(const struct event *ev)
{
    return ev->action ? ev->action->vm : ev->vm;
}

const char *event_json_host(const struct event *ev)
{
    if (!ev->action)
        return ev->host;
    return ev->action->from ? ev->action->from : ev->action->host;
}

const char *event_json_to_host(const struct event *ev)
{
    return ev->action ? ev->action->to : NULL;
}

static void put_record(struct json_writer *w, const struct event_record *e)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_int(w, "id", (int64_t)e->id);
    jw_instant(w, "time", e->time);
    jw_text(w, "kind", e->kind);
    jw_text(w, "type", e->type);
    jw_text(w, "severity", e->severity);
    jw_text(w, "subject", e->subject);
    jw_raw(w, "data", e->data);
    jw_end(w);
}

void event_json_record(const struct event_record *e, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    put_record(&w, e);
}

void event_json_reply(const struct event_record *list, size_t n, uint64_t earlier, bool more,
                      struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_begin(&w, "events", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++)
        put_record(&w, &list[i]);
    jw_end(&w);
    jw_int(&w, "earlier", (int64_t)earlier);
    reply_page_put_next(&w, more, "after", n > 0 ? list[n - 1].id : 0);
    jw_end(&w);
}
