/* reply_identity.c: whether the controllers of a host are known to be its own, as JSON. */
#include "daemon/replies/replies.h"

static void put(struct json_writer *w, const struct engine_identity *is)
{
    jw_begin(w, "identity", JW_OBJECT, JW_INLINE);
    jw_text(w, "state", host_identity_name(is->is));
    jw_text(w, "meaning", host_identity_meaning(is->is));
    jw_text(w, "controllers", is->controllers);
    jw_text(w, "why", is->why);
    jw_text(w, "confirmed_by", is->confirmed_by);
    jw_instant(w, "confirmed_at", is->confirmed_at);
    jw_end(w);
}

void reply_identity_put(struct json_writer *w, const struct engine *e, const char *host)
{
    struct engine_identity is;

    engine_identity(e, host, &is);
    put(w, &is);
}

void reply_identity(const struct engine_identity *is, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    put(&w, is);
    jw_end(&w);
}
