/* alarm_digest.c: the summary of a time as a message. */
#include "daemon/alarms/alarm_digest.h"

#include "base/cleanup.h"
#include "daemon/replies/replies.h"
#include "render/summary.h"
#include "store/sqlite.h"

#include <errno.h>
#include <stdlib.h>

int alarm_digest(const struct engine *e, struct store *store, int64_t days, const struct alarm_origin *o,
                 instant_s since, instant_s until, struct arena *a, struct alarm_message *ret,
                 struct err *err)
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
