/* reply_passes.c: lists the passes that are kept. Making one again is decisions.c's. */
#include "daemon/replies/replies.h"

#include "base/cleanup.h"
#include "store/passes.h"

#include <string.h>

static void put_pass(struct json_writer *w, const struct kept_pass *p)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_int(w, "id", (int64_t)p->is.id);
    jw_instant(w, "time", p->is.time);
    jw_text(w, "trigger", p->is.trigger);
    jw_figure(w, "imbalance_before", p->is.imbalance_before);
    jw_figure(w, "imbalance_after", p->is.imbalance_after);
    jw_figure(w, "target", p->is.target);
    jw_int(w, "recommendations", p->is.n_recommendations);
    jw_int(w, "faults", p->is.n_faults);
    jw_int(w, "decide_us", p->is.decide_us);
    jw_bool(w, "replayable", p->has_snapshot && pass_trigger_is_pass(p->is.trigger));
    jw_end(w);
}

int reply_passes(struct store *store, const struct request *q, struct strbuf *out, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct pass_query query = {.since = q->since, .before = q->before, .limit = q->limit};
    struct kept_pass *list = NULL;
    struct json_writer w = {.out = out};
    uint64_t more = 0;
    size_t n = 0;
    int r = store_list_passes(store, &query, &a, &list, &n, &more, err);

    if (r < 0)
        return r;
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_begin(&w, "passes", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++)
        put_pass(&w, &list[i]);
    jw_end(&w);
    jw_int(&w, "more", (int64_t)more);
    reply_page_put_next(&w, more > 0, "before", n > 0 ? list[n - 1].is.id : 0);
    jw_end(&w);
    return 0;
}
