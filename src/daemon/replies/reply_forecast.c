/* reply_forecast.c: expected and actual demand as JSON. */
#include "daemon/replies/replies.h"

#include "base/cleanup.h"

#define HOUR_S 3600
#define AHEAD_S (24 * HOUR_S)

static const char *const res_word[RES_COUNT] = {[RES_CPU] = "cpu_mhz", [RES_MEM] = "mem_mb"};

static void put_demand(struct json_writer *w, const char *key, const double demand[RES_COUNT])
{
    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    for (int r = 0; r < RES_COUNT; r++)
        jw_figure(w, res_word[r], demand[r]); /* null: no value, or a gap */
    jw_end(w);
}

static void put_past(struct json_writer *w, const struct demand_profile_record *s)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_instant(w, "time", s->time);
    put_demand(w, "expected", s->expected);
    put_demand(w, "came", s->peak);
    put_demand(w, "mean", s->mean);
    jw_int(w, "days", s->days);
    jw_int(w, "of", s->of);
    jw_int(w, "woken", s->woken);
    jw_end(w);
}

static void put_ahead(struct json_writer *w, const struct expected *x)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_instant(w, "time", x->time);
    put_demand(w, "expected", x->demand);
    jw_int(w, "days", x->days);
    jw_int(w, "of", x->of);
    jw_text(w, "alike", alike_days_name(x->alike));
    jw_end(w);
}

void reply_forecast_put(struct json_writer *w, const struct engine *e, unsigned hours, instant_s now)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct engine_forecast f;

    engine_forecast(e, now, (instant_s)hours * HOUR_S, AHEAD_S, &a, &f);
    jw_begin(w, "forecast", JW_OBJECT, JW_INLINE);
    jw_instant(w, "time", now);
    jw_text(w, "time_zone", f.zone);
    jw_bool(w, "dpm", f.enabled);
    jw_bool(w, "proactive", f.proactive);
    jw_instant(w, "doubted_since", f.doubted);
    jw_int(w, "slot_s", FORECAST_SLOT_S);
    jw_begin(w, "past", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < f.n_past; i++)
        put_past(w, &f.past[i]);
    jw_end(w);
    jw_begin(w, "ahead", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < f.n_ahead; i++)
        put_ahead(w, &f.ahead[i]);
    jw_end(w);
    jw_end(w);
}
