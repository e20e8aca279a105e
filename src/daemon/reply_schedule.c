/* reply_schedule.c: the schedule and the planned wakes as JSON. */
#include "daemon/reply_schedule.h"

#include "base/json_writer.h"
#include "base/rfc3339.h"
#include "render/schedule_json.h"
#include "schedule/zone.h"

/* Adds the hosts in standby that must be woken for ready_by, as of the last pass. */
static void put_wakes(struct json_writer *w, const struct plan *plan, const char *zone)
{
    char text[RFC3339_MAX];
    char local[ZONE_TEXT_MAX];

    jw_begin(w, "wakes", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; plan && plan->ready_wakes && i < plan->snap->n_hosts; i++) {
        if (plan->ready_wakes[i] == 0)
            continue;
        const struct host_facts *h = &plan->snap->hosts[i].is;
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "host", h->id);
        jw_text(w, "name", h->name);
        jw_text(w, "at_the_latest", rfc3339_format(plan->ready_wakes[i], text));
        jw_text(w, "at_the_latest_local", zone_text(zone, plan->ready_wakes[i], local));
        jw_figure(w, "boot_s", isnan(h->boot_s) ? (double)plan->policy.dpm.boot_s : h->boot_s);
        jw_bool(w, "boot_measured", !isnan(h->boot_s));
        jw_end(w);
    }
    jw_end(w);
}

void reply_schedule(const struct engine *e, const struct config *c, instant_s now, unsigned n,
                    struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_begin(&w, "schedule", JW_OBJECT, JW_INLINE);
    render_schedule_json(&c->schedule, c->policy.dpm.enabled, now, n, &w);
    put_wakes(&w, engine_plan(e), c->schedule.zone);
    jw_end(&w);
    jw_end(&w);
}

void reply_schedule_put_balance(struct json_writer *w, const struct snapshot *s)
{
    if (!s || !s->balance.given) {
        jw_text(w, "balance", NULL);
        return;
    }
    jw_begin(w, "balance", JW_OBJECT, JW_INLINE);
    jw_bool(w, "open", s->balance.open);
    jw_instant(w, "changes", s->balance.changes);
    jw_end(w);
}
