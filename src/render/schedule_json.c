/* schedule_json.c: the power-management schedule as JSON. */
#include "render/schedule_json.h"

#include "schedule/zone.h"

/* Windows may follow each other so fast that nothing ever changes. */
#define STEPS_MAX 1000

/* The same on the clocks of the schedule's zone. */
static void put_local(struct json_writer *w, const char *key, const struct schedule *s, instant_s t)
{
    char local[ZONE_TEXT_MAX];

    jw_text(w, key, t != 0 ? zone_text(s->zone, t, local) : NULL);
}

static void put_event(struct json_writer *w, const struct schedule *s, instant_s t, const char *what)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_instant(w, "time", t);
    put_local(w, "local", s, t);
    jw_text(w, "what", what);
    jw_end(w);
}

/* What is next: power_off begins or ends, or capacity must be back. Both at once: it must be back first. */
static instant_s next_event(const struct schedule *s, instant_s from, instant_s change, instant_s *ret_ready)
{
    *ret_ready = 0;
    if (!schedule_next_ready(s, from, ret_ready))
        return change;
    return change != 0 && change < *ret_ready ? change : *ret_ready;
}

static void put_events(struct json_writer *w, const struct schedule *s, instant_s now, unsigned n)
{
    instant_s at = now;
    struct schedule_state state;

    schedule_at(s, now, &state);
    for (unsigned i = 0; i < n && i < STEPS_MAX; i++) {
        instant_s ready;
        instant_s next = next_event(s, at, state.changes, &ready);
        if (next == 0)
            return;
        if (next == ready)
            put_event(w, s, next, "ready_by");
        if (next == state.changes && (next != ready || ++i < n))
            put_event(w, s, next, state.open ? "ends" : "begins");
        schedule_at(s, next, &state);
        at = next;
    }
}

static void put_texts(struct json_writer *w, const struct schedule *s)
{
    jw_begin(w, "windows", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < s->n_windows; i++)
        jw_text(w, NULL, s->windows[i].text);
    jw_end(w);
    jw_begin(w, "ready_by_expressions", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < s->n_ready_by; i++)
        jw_text(w, NULL, s->ready_by[i].text);
    jw_end(w);
}

void render_schedule_json(const struct schedule *s, bool enabled, instant_s now, unsigned n,
                          struct json_writer *w)
{
    struct schedule_state state;

    schedule_at(s, now, &state);
    jw_instant(w, "now", now);
    jw_text(w, "time_zone", s->zone);
    jw_bool(w, "enabled", enabled);
    put_texts(w, s);
    jw_figure(w, "ready_percent", s->ready_percent);
    jw_bool(w, "power_off", state.open);
    jw_instant(w, "power_off_changes", state.changes);
    put_local(w, "power_off_changes_local", s, state.changes);
    jw_instant(w, "ready_by", state.ready_by);
    jw_begin(w, "next", JW_ARRAY, JW_LINES);
    put_events(w, s, now, n);
    jw_end(w);
}
