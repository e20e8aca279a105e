/* reply_schedule.c: the schedule and the planned wakes as JSON. */
#include "daemon/replies/replies.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/natural.h"
#include "base/rfc3339.h"
#include "render/schedule_json.h"
#include "schedule/zone.h"

#include <stdlib.h>

static int compare_names(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;
    const uint32_t *x = a;
    const uint32_t *y = b;

    return natural_compare(s->hosts[*x].is.name, s->hosts[*y].is.name);
}

/* Adds the hosts in standby that must be woken for ready_by, as of the last pass. */
static void put_wakes(struct json_writer *w, const struct plan *plan, const char *zone)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    uint32_t n_hosts = plan && plan->ready_wakes ? plan->snap->n_hosts : 0;
    uint32_t *order = arena_array(&a, uint32_t, (size_t)n_hosts + 1);
    char text[RFC3339_MAX];
    char local[ZONE_TEXT_MAX];
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_hosts; i++)
        if (plan->ready_wakes[i] != 0)
            order[n++] = i;
    if (n > 0)
        qsort_r(order, n, sizeof *order, compare_names, (void *)plan->snap);
    jw_begin(w, "wakes", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < n; i++) {
        const struct host_facts *h = &plan->snap->hosts[order[i]].is;
        instant_s latest = plan->ready_wakes[order[i]];

        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "host", h->id);
        jw_text(w, "name", h->name);
        jw_text(w, "at_the_latest", rfc3339_format(latest, text));
        jw_text(w, "at_the_latest_local", zone_text(zone, latest, local));
        jw_figure(w, "boot_s", isnan(h->boot_s) ? (double)plan->policy.dpm.boot_s : h->boot_s);
        jw_bool(w, "boot_measured", !isnan(h->boot_s));
        jw_end(w);
    }
    jw_end(w);
}

void reply_schedule(const struct engine *e, const struct config *c, instant_s now, unsigned n,
                    struct strbuf *out)
{
    struct json_writer w = {.out = out};

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
    if (!jw_begin_known(w, "balance", s && s->balance.given))
        return;
    jw_bool(w, "open", s->balance.open);
    jw_instant(w, "changes", s->balance.changes);
    jw_end(w);
}
