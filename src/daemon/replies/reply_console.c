/* reply_console.c: a captured console, cleaned, as JSON. */
#include "daemon/replies/replies.h"

#include "base/cleanup.h"
#include "base/console_text.h"
#include "base/json_writer.h"
#include "base/rfc3339.h"
#include "store/consoles.h"

int reply_console(struct store *store, const struct snapshot *s, uint64_t action, struct strbuf *out,
                  struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    char time[RFC3339_MAX];
    struct console_record r;
    struct json_writer w = {.out = out};
    int code = store_get_console(store, action, &a, &r, err);

    if (code < 0)
        return code;
    console_text_clean(r.data, r.n, &text);
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_begin(&w, "console", JW_OBJECT, JW_INLINE);
    jw_int(&w, "action", (int64_t)action);
    jw_text(&w, "host", r.host);
    jw_text(&w, "host_name", snapshot_host_name(s, r.host));
    jw_text(&w, "time", rfc3339_format(r.time, time));
    jw_int(&w, "bytes", (int64_t)r.n);
    jw_text(&w, "text", text.text);
    jw_text(&w, "why", r.why);
    jw_end(&w);
    jw_end(&w);
    return 0;
}
