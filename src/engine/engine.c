/* engine.c: when to look and when to decide; the entry points for what happens. */
#include "engine/engine.h"

#include "base/xalloc.h"
#include "engine/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const event_words[event_kind_count] = {
#define EVENT_WORD(e, word, meaning) [e] = (word),
    EVENTS(EVENT_WORD)};
static const char *const event_meanings[event_kind_count] = {
#define EVENT_MEANING(e, word, meaning) [e] = (meaning),
    EVENTS(EVENT_MEANING)};

const char *event_kind_name(enum event_kind kind)
{
    return (unsigned)kind < event_kind_count ? event_words[kind] : "?";
}

const char *event_kind_meaning(enum event_kind kind)
{
    return (unsigned)kind < event_kind_count ? event_meanings[kind] : "?";
}

int event_kind_parse(const char *word, enum event_kind *ret)
{
    for (size_t i = 0; i < event_kind_count; i++) {
        if (strcmp(event_words[i], word) == 0) {
            *ret = (enum event_kind)i;
            return 0;
        }
    }
    return -EINVAL;
}

void publish(struct engine *e, const struct event *event)
{
    struct event whole = *event;

    if (!whole.snapshot)
        whole.snapshot = engine_snapshot(e);
    e->port.event_sink_ops->publish(e->port.event_sink, &whole);
    e->events_dirty = e->port.event_sink_ops->keep != NULL;
}

instant_s stale_after_s(const struct engine *e)
{
    instant_s limit = STALE_INTERVALS * e->settings.policy.interval_s;

    return limit > STALE_LEAST_S ? limit : STALE_LEAST_S;
}

instant_s back_off_s(unsigned failures)
{
    instant_s wait = RETRY_FIRST_S;

    for (unsigned i = 1; i < failures && wait < RETRY_MAX_S; i++)
        wait *= 2;
    return wait < RETRY_MAX_S ? wait : RETRY_MAX_S;
}

instant_s pause_s(int code, unsigned failures)
{
    return code == -EACCES ? RETRY_MAX_S : back_off_s(failures);
}

void want_look(struct engine *e, instant_s at)
{
    if (at < e->next_look)
        e->next_look = at;
}

instant_s look_period_s(const struct engine *e)
{
    instant_s period = e->settings.policy.interval_s / LOOK_PER_INTERVAL;

    if (e->settings.look_s > 0)
        return e->settings.look_s;
    return period < 1 ? 1 : period > LOOK_MAX_S ? LOOK_MAX_S : period;
}

/* ---- the source ------------------------------------------------------------------------------ */

static void runs_end(struct engine *e, int code, const struct err *err, uint64_t pass)
{
    if (e->asked_run <= e->runs_done)
        return;
    e->runs_done = e->asked_run;
    e->run_code = code;
    e->run_pass = pass;
    e->run_error = err ? *err : (struct err){0};
}

static void source_is_lost(struct engine *e, const struct err *why, instant_s now)
{
    e->source_error = *why;
    if (e->source == SOURCE_LOST)
        return;
    e->source = SOURCE_LOST;
    e->source_since = now;
    publish(e, &(struct event){.kind = EVENT_SOURCE_LOST, .time = now, .text = e->source_error.text});
}

static void source_failed(struct engine *e, const struct err *why, instant_s now)
{
    e->asking = false;
    e->source_failures++;
    e->next_ask = now + pause_s(why->code, e->source_failures);
    source_is_lost(e, why, now);
    if (e->asked_for_pass)
        e->pass_error = *why;
    runs_end(e, why->code ? why->code : -EIO, why, 0);
    placings_fail(e, e->serial, why, now);
}

static void source_works(struct engine *e, instant_s now)
{
    e->source_failures = 0;
    e->next_ask = 0;
    e->source_error = (struct err){0};
    if (e->source == SOURCE_UP)
        return;
    if (e->source == SOURCE_LOST)
        publish(e, &(struct event){
                       .kind = EVENT_SOURCE_BACK, .time = now, .text = "the cluster can be read again"});
    e->source = SOURCE_UP;
    e->source_since = now;
}

static bool run_is_wanted(const struct engine *e)
{
    return e->runs_wanted > e->runs_done;
}

/* Somebody waits for an inventory: that is not put off. */
static bool is_waited_for(const struct engine *e)
{
    return run_is_wanted(e) || placings_wait(e);
}

static bool source_is_silent(const struct engine *e, instant_s now)
{
    return e->asking && (e->source != SOURCE_LOST || is_waited_for(e)) &&
           now - e->asked_at > stale_after_s(e);
}

/* A collector has its own time limit; should it hang all the same, that is said. Its answer is still waited
 * for, but not with what somebody has asked for meanwhile: whoever does not know when it would be done has
 * given up, and VMs must not be powered on an hour later. */
static void notice_silence(struct engine *e, instant_s now)
{
    struct err err = {0};

    if (!source_is_silent(e, now))
        return;
    (void)err_set(&err, -ETIMEDOUT, "the source has not answered for %lld s", (long long)(now - e->asked_at));
    source_is_lost(e, &err, now);
    e->asked_run = e->runs_wanted;
    runs_end(e, err.code, &err, 0);
    placings_fail(e, UINT64_MAX, &err, now);
}

static void ask_if_due(struct engine *e, instant_s now)
{
    struct err err = {0};
    bool pass = run_is_wanted(e) || now >= e->next_pass;

    if (e->asking || (!is_waited_for(e) && (now < e->next_ask || (!pass && now < e->next_look))))
        return;
    e->serial++;
    e->asked_at = now;
    e->asked_for_pass = pass;
    e->asked_run = e->runs_wanted;
    e->asking = true;
    if (e->port.source_ops->ask(e->port.source, e->serial, &err) < 0)
        source_failed(e, &err, now);
}

/* After anything that happened: actions as far as they get, those that it may concern (a job's result: see
 * action_queue.h; else all), then what is to be asked, then what is to be
 * kept. */
static void proceed(struct engine *e, instant_s now)
{
    carry_on(e, now);
    pools_carry_on(e, now);
    meters_carry_on(e, now);
    ask_if_due(e, now);
    (void)storing_flush(e, NULL, now);
}

/* ---- what happens ---------------------------------------------------------------------------- */

void engine_tick(struct engine *e, instant_s now)
{
    e->ticked = now;
    notice_silence(e, now);
    placings_forget(e, now);
    storing_prune(e, now);
    agenda_add_all(e);
    proceed(e, now);
}

static void make_pass(struct engine *e, instant_s now)
{
    struct err err = {0};
    bool asked_for = e->asked_run > e->runs_done;
    const char *trigger = asked_for ? "run" : e->asked_for_pass ? "interval" : "overload";
    int r = decide(e, trigger, now, &err);

    e->passed_early = !asked_for && !e->asked_for_pass;
    e->next_pass = e->again ? now : e->asked_at + e->settings.policy.interval_s;
    e->pass_error = err;
    if (r < 0)
        publish(e, &(struct event){
                       .kind = EVENT_PASS_FAILED, .time = now, .pass = e->last_pass, .text = err.text});
    runs_end(e, r, &err, e->last_pass);
}

void engine_on_inventory(struct engine *e, uint64_t serial, struct collected *collected, instant_s now)
{
    struct err err = {0};
    struct view *v = NULL;

    if (!e->asking || serial != e->serial) {
        arena_release(&collected->arena);
        *collected = (struct collected){0};
        return;
    }
    e->asking = false;
    e->again = false;
    e->next_look = now + look_period_s(e);
    agenda_add_all(e);
    if (gather(e, collected, serial, now, &v, &err) < 0) {
        source_failed(e, &err, now);
        proceed(e, now);
        return;
    }
    source_works(e, now);
    view_unref(e->now_seen);
    e->now_seen = v;
    occupancy_look(e);
    learn_looks(e);
    draw_account(e, v, now);
    meters_look(e);
    carry_on(e, now); /* what has arrived is done, before anything new is decided */
    agenda_add_all(e);
    if (!placings_decide(e, serial, now) && (e->asked_for_pass || overload_is_new(e)))
        make_pass(e, now);
    if (e->again)
        want_look(e, now);
    proceed(e, now);
}

void engine_on_source_error(struct engine *e, uint64_t serial, const struct err *why, instant_s now)
{
    if (!e->asking || serial != e->serial)
        return;
    source_failed(e, why, now);
    agenda_add_all(e);
    proceed(e, now);
}

void engine_on_job_result(struct engine *e, const struct job *job, const struct job_result *result,
                          instant_s now)
{
    switch (job->kind) {
    case JOB_CHECK:
    case JOB_START:
    case JOB_POLL:
    case JOB_CANCEL:
        carry_result(e, job, result, now);
        proceed(e, now);
        return;
    case JOB_SET_POOLS:
        pools_result(e, job, result, now);
        proceed(e, now);
        return;
    case JOB_MEASURE:
        meters_result(e, job, result, now);
        meters_carry_on(e, now);
        return;
    }
}

static instant_s earlier(instant_s a, instant_s b)
{
    return a < b ? a : b;
}

static instant_s later(instant_s a, instant_s b)
{
    return a > b ? a : b;
}

instant_s engine_wakeup(const struct engine *e, instant_s now)
{
    instant_s at = e->next_prune;

    if (!e->asking)
        at = earlier(at, later(earlier(e->next_look, e->next_pass), e->next_ask));
    if (!e->asking && is_waited_for(e))
        at = now;
    if (e->asking && (e->source != SOURCE_LOST || is_waited_for(e)))
        at = earlier(at, e->asked_at + stale_after_s(e) + 1);
    if (e->store_error.code != 0)
        at = earlier(at, e->store_retry_at);
    const struct action_list *waiting = &e->occupancy.committed;

    for (size_t i = 0; i < waiting->n && at > e->ticked + POLL_S && at > now; i++) {
        const struct action *x = waiting->items[i];

        if (action_committed(x) && !x->job_out)
            at = earlier(at, later(x->retry_at, e->ticked + POLL_S));
    }
    return later(at, now);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void take_settings(struct engine *e, const struct engine_settings *settings)
{
    xstrset(&e->cluster, settings->cluster);
    xstrset(&e->source_name, settings->source);
    e->settings = *settings;
    e->settings.cluster = e->cluster;
    e->settings.source = e->source_name;
    patterns_configure(e);
}

int engine_create(const struct engine_settings *settings, const struct engine_ports *ports, instant_s now,
                  struct engine **ret, struct err *err)
{
    struct engine *e = xcalloc(1, sizeof *e);

    e->port = *ports;
    e->history = history_new();
    e->learned = learned_new();
    e->energy = energy_new();
    e->pattern = pattern_new();
    take_settings(e, settings);
    e->source_since = now;
    e->next_look = now;
    e->next_pass = now;
    int r = storing_load(e, now, err);

    if (r < 0) {
        engine_free(e);
        return r;
    }
    e->next_prune = now; /* at the first tick */
    *ret = e;
    return 0;
}

static void free_hold(void *value)
{
    free(value);
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->n_actions; i++)
        action_free(e->actions[i]);
    free(e->actions);
    action_list_release(&e->unstored_actions);
    agenda_release(e);
    occupancy_release(e);
    for (size_t i = 0; i < e->n_unstored; i++)
        unstored_release(&e->unstored[i]);
    free(e->unstored);
    idmap_release(&e->holds, free_hold);
    idmap_release(&e->host_holds, free_hold);
    idmap_release(&e->sleep_holds, free_hold);
    hosts_release(e);
    placings_free(e);
    pools_release(e);
    meters_release(e);
    energy_free(e->energy);
    history_free(e->history);
    learned_free(e->learned);
    patterns_release(e);
    view_unref(e->now_seen);
    view_unref(e->decided);
    free(e->instance);
    free(e->cluster);
    free(e->source_name);
    free(e);
}

void engine_configure(struct engine *e, const struct engine_settings *settings, instant_s now)
{
    instant_s interval = e->settings.policy.interval_s;

    take_settings(e, settings);
    e->next_pass =
        earlier(e->next_pass - interval + settings->policy.interval_s, now + settings->policy.interval_s);
    want_look(e, now + look_period_s(e));
    meters_configure(e);
    agenda_add_all(e);
    proceed(e, now);
}
