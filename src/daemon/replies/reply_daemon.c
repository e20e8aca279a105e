/* reply_daemon.c: the broker, refused passwords, and a reload that waits for the end of power changes. */
#include "daemon/replies/reply_daemon.h"

#include "base/cleanup.h"
#include "net/http.h"

static void put_commands(struct json_writer *w, const struct mqtt_status *b, const char *const *words)
{
    jw_begin(w, "commands", JW_ARRAY, JW_INLINE);
    for (; words && *words; words++)
        jw_text(w, NULL, *words);
    jw_end(w);
    jw_int(w, "commands_accepted", (int64_t)b->commands_accepted);
    jw_int(w, "commands_refused", (int64_t)b->commands_refused);
}

static void put_broker(struct json_writer *w, const struct mqtt_status *b, const char *const *commands)
{
    if (!jw_begin_known(w, "mqtt", b != NULL))
        return;
    jw_text(w, "url", b->url);
    jw_bool(w, "connected", b->connected);
    jw_instant(w, "since", b->since);
    jw_text(w, "error", b->error);
    jw_int(w, "sent", (int64_t)b->sent);
    jw_int(w, "unsent", (int64_t)b->unsent);
    jw_int(w, "refused", (int64_t)b->refused);
    jw_int(w, "refused_kept", (int64_t)b->kept);
    jw_text(w, "refusal", b->refusal);
    put_commands(w, b, commands);
    jw_end(w);
}

static void put_store(struct json_writer *w, const struct store_size *is, struct arena *a)
{
    jw_begin(w, "store", JW_OBJECT, JW_INLINE);
    jw_int(w, "used_bytes", (int64_t)is->used_bytes);
    jw_int(w, "limit_bytes", (int64_t)is->limit_bytes);
    jw_int(w, "disk_free_bytes", (int64_t)is->disk_free_bytes);
    jw_text(w, "warning", store_size_warning(is, a));
    jw_end(w);
}

static void put_alarms(struct json_writer *w, const struct alarm_feed *f)
{
    CLEANUP(arena_releasep) struct arena a = {0};

    jw_begin(w, "alarms", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < alarm_feed_count(f); i++) {
        struct alarm_status st;

        alarm_feed_status(f, i, &a, &st);
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "target", st.name);
        jw_text(w, "address", st.address);
        jw_instant(w, "failing_since", st.failing_since);
        jw_text(w, "error", st.error);
        jw_instant(w, "next_attempt", st.next_attempt);
        jw_instant(w, "delivered_at", st.delivered_at);
        jw_int(w, "waiting", (int64_t)st.waiting);
        jw_int(w, "delivered", (int64_t)st.delivered);
        jw_int(w, "failed_attempts", (int64_t)st.failed);
        jw_int(w, "given_up", (int64_t)st.given_up);
        jw_end(w);
    }
    jw_end(w);
}

void reply_daemon_put(struct json_writer *w, const struct daemon_state *d, instant_s now)
{
    CLEANUP(arena_releasep) struct arena a = {0};

    put_broker(w, d->broker, d->commands);
    put_alarms(w, d->alarms);
    put_store(w, &d->store, &a);
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
    if (jw_begin_known(w, "reload_waits", d->reload_by != NULL)) {
        jw_instant(w, "since", d->reload_since);
        jw_text(w, "by", d->reload_by);
        jw_end(w);
    }
}
