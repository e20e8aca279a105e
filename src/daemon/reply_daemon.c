/* reply_daemon.c: the broker, refused passwords, and a reload that waits for the end of power changes. */
#include "daemon/reply_daemon.h"

#include "base/cleanup.h"
#include "net/http.h"

static void put_broker(struct json_writer *w, const struct mqtt_status *b)
{
    if (!b) {
        jw_text(w, "mqtt", NULL);
        return;
    }
    jw_begin(w, "mqtt", JW_OBJECT, JW_INLINE);
    jw_text(w, "url", b->url);
    jw_bool(w, "connected", b->connected);
    jw_instant(w, "since", b->since);
    jw_text(w, "error", b->error);
    jw_int(w, "sent", (int64_t)b->sent);
    jw_int(w, "unsent", (int64_t)b->unsent);
    jw_int(w, "refused", (int64_t)b->refused);
    jw_int(w, "refused_kept", (int64_t)b->kept);
    jw_text(w, "refusal", b->refusal);
    jw_end(w);
}

void reply_daemon_put(struct json_writer *w, const struct daemon_state *d, instant_s now)
{
    CLEANUP(arena_releasep) struct arena a = {0};

    put_broker(w, d->broker);
    struct login_pause *list = NULL;
    size_t n = d->logins ? login_guards_paused(d->logins, net_now_ms(), &a, &list) : 0;

    jw_begin(w, "logins_paused", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "account", list[i].account);
        jw_instant(w, "next_try", now + list[i].left_s);
        jw_end(w);
    }
    jw_end(w);
    if (d->reload_by) {
        jw_begin(w, "reload_waits", JW_OBJECT, JW_INLINE);
        jw_instant(w, "since", d->reload_since);
        jw_text(w, "by", d->reload_by);
        jw_end(w);
    } else {
        jw_text(w, "reload_waits", NULL);
    }
}
