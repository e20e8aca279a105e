/* cloudevent.c: writes the CloudEvents envelope around an event's JSON. */
#include "mqtt/cloudevent.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/rfc3339.h"

void cloudevent_json(const struct cloudevent *ce, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf type = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct json_writer w = {.out = &text};
    char time[RFC3339_MAX];

    strbuf_printf(&type, CLOUDEVENT_TYPE_PREFIX "%s", ce->type);
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(&w, "specversion", "1.0");
    jw_text(&w, "id", ce->id);
    jw_text(&w, "source", ce->source);
    jw_text(&w, "type", type.text);
    jw_text(&w, "time", rfc3339_format(ce->time, time));
    if (ce->subject && *ce->subject) /* an attribute must not be empty, or null */
        jw_text(&w, "subject", ce->subject);
    jw_text(&w, "datacontenttype", "application/json");
    jw_raw(&w, "data", ce->data);
    jw_end(&w);
    strbuf_add(out, text.text, text.len - 1); /* without the writer's newline */
}
