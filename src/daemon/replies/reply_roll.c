/* reply_roll.c: the roll of maintenance as JSON. */
#include "daemon/replies/replies.h"

#include "model/named.h"

void reply_roll_put(struct json_writer *w, const struct engine *e)
{
    const struct snapshot *s = engine_snapshot(e);
    struct engine_roll roll;

    if (!jw_begin_known(w, "roll", engine_roll_state(e, &roll)))
        return;
    jw_int(w, "at_once", roll.at_once);
    jw_text(w, "by", roll.by);
    jw_instant(w, "started", roll.started);
    jw_instant(w, "ended", roll.ended);
    jw_text(w, "failed", roll.failed);
    jw_text(w, "waits", roll.waits);
    jw_begin(w, "hosts", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < roll.n_hosts; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "id", roll.hosts[i].id);
        jw_text(w, "name", snapshot_host_name(s, roll.hosts[i].id));
        jw_text(w, "step", roll_step_name(roll.hosts[i].step));
        jw_text(w, "meaning", roll_step_meaning(roll.hosts[i].step));
        jw_instant(w, "since", roll.hosts[i].since);
        jw_end(w);
    }
    jw_end(w);
    jw_end(w);
}

void reply_roll(const struct engine *e, struct strbuf *out)
{
    const struct snapshot *s = engine_snapshot(e);
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_text(&w, "host_domain", s ? named_host_domain(s) : "");
    reply_roll_put(&w, e);
    jw_end(&w);
}
