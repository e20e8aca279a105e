/* source_poll.c: asks the source for inventories: in time, on request, and less often while it fails. */
#include "engine/source_poll.h"

#include "base/instant.h"
#include "engine/decide.h"
#include "engine/events.h"
#include "engine/placement.h"
#include "engine/retry.h"
#include "engine/state.h"

#include <errno.h>

#define STALE_INTERVALS 2   /* older data than this many intervals is not acted on ... */
#define STALE_LEAST_S 10    /* ... but collecting takes time, however short the interval */
#define LOOK_PER_INTERVAL 5 /* inventories between two passes, for the history ... */
#define LOOK_MAX_S 60       /* ... and no rarer than this */

instant_s source_poll_stale_after_s(const struct engine *e)
{
    instant_s limit = STALE_INTERVALS * e->settings.policy.interval_s;

    return limit > STALE_LEAST_S ? limit : STALE_LEAST_S;
}

void source_poll_want(struct engine *e, instant_s at)
{
    if (at < e->poll->next_look)
        e->poll->next_look = at;
}

instant_s source_poll_period_s(const struct engine *e)
{
    instant_s period = e->settings.policy.interval_s / LOOK_PER_INTERVAL;

    if (e->settings.look_s > 0)
        return e->settings.look_s;
    return period < 1 ? 1 : period > LOOK_MAX_S ? LOOK_MAX_S : period;
}

void source_poll_changed(struct engine *e, instant_s now)
{
    struct source_poll *p = e->poll;

    if (!p->changed)
        p->changed_at = now;
    p->changed = p->changed_since_pass = true;
}

/* When an inventory is wanted, by the clock or because of a change. */
static instant_s look_due(const struct source_poll *p)
{
    if (!p->changed)
        return p->next_look;
    instant_s settled = instant_later(p->changed_at + SOURCE_SETTLE_S, p->asked_at + SOURCE_CHANGE_GAP_S);

    return instant_earlier(p->next_look, instant_later(settled, p->asked_at + p->took * SOURCE_CHANGE_SHARE));
}

void source_poll_answered(struct engine *e, instant_s now)
{
    e->poll->asking = false;
    e->poll->took = now - e->poll->asked_at;
    e->poll->next_look = now + source_poll_period_s(e);
}

void source_poll_decided(struct engine *e)
{
    e->poll->changed_since_pass = e->poll->changed; /* those of before are part of it */
}

static void source_is_lost(struct engine *e, const struct err *why, instant_s now)
{
    e->poll->error = *why;
    if (e->poll->state == SOURCE_LOST)
        return;
    e->poll->state = SOURCE_LOST;
    e->poll->since = now;
    events_publish(e, &(struct event){.kind = EVENT_SOURCE_LOST, .time = now, .text = e->poll->error.text});
}

void source_poll_failed(struct engine *e, const struct err *why, instant_s now)
{
    e->poll->asking = false;
    e->poll->failures++;
    if (e->poll->asked_for_change)
        source_poll_changed(e, now);
    e->poll->asked_for_change = false;
    e->poll->next_ask = now + retry_wait_after_s(why->code, e->poll->failures);
    source_is_lost(e, why, now);
    if (e->poll->asked_for_pass)
        e->passes->error = *why;
    decide_end_runs(e, why->code ? why->code : -EIO, why, 0);
    placement_fail(e, e->poll->serial, why, now);
}

void source_poll_worked(struct engine *e, instant_s now)
{
    e->poll->failures = 0;
    e->poll->asked_for_change = false;
    e->poll->next_ask = 0;
    e->poll->error = (struct err){0};
    if (e->poll->state == SOURCE_UP)
        return;
    if (e->poll->state == SOURCE_LOST)
        events_publish(
            e,
            &(struct event){.kind = EVENT_SOURCE_BACK, .time = now, .text = "the cluster can be read again"});
    e->poll->state = SOURCE_UP;
    e->poll->since = now;
}

void source_poll_reconfigured(struct engine *e, instant_s now)
{
    bool lost = e->poll->state == SOURCE_LOST; /* what failed may be what the admin has just mended */

    if (lost)
        e->poll->next_ask = now;
    source_poll_want(e, lost ? now : now + source_poll_period_s(e));
}

static bool run_is_wanted(const struct engine *e)
{
    return e->passes->runs_wanted > e->passes->runs_done;
}

/* A client waits for an inventory: the look is not put off. */
static bool is_waited_for(const struct engine *e)
{
    return run_is_wanted(e) || placement_wait(e);
}

static bool source_is_silent(const struct engine *e, instant_s now)
{
    return e->poll->asking && (e->poll->state != SOURCE_LOST || is_waited_for(e)) &&
           now - e->poll->asked_at > source_poll_stale_after_s(e);
}

/* A collector has its own time limit; should it hang all the same, that is said. Its answer is still waited
 * for, but requests made meanwhile are dropped: VMs must not be powered on an hour after an admin has
 * given up. */
void source_poll_notice_silence(struct engine *e, instant_s now)
{
    struct err err = {0};

    if (!source_is_silent(e, now))
        return;
    (void)err_set(&err, -ETIMEDOUT, "the source has not answered for %lld s",
                  (long long)(now - e->poll->asked_at));
    source_is_lost(e, &err, now);
    e->poll->asked_run = e->passes->runs_wanted;
    decide_end_runs(e, err.code, &err, 0);
    placement_fail(e, UINT64_MAX, &err, now);
}

void source_poll_ask(struct engine *e, instant_s now)
{
    struct err err = {0};
    bool pass = run_is_wanted(e) || now >= e->passes->next;

    if (e->poll->asking ||
        (!is_waited_for(e) && (now < e->poll->next_ask || (!pass && now < look_due(e->poll)))))
        return;
    e->poll->serial++;
    e->poll->asked_at = now;
    e->poll->asked_for_pass = pass;
    e->poll->asked_run = e->passes->runs_wanted;
    e->poll->asked_for_change = e->poll->changed;
    e->poll->changed = false;
    e->poll->asking = true;
    if (e->port.source_ops->ask(e->port.source, e->poll->serial, &err) < 0)
        source_poll_failed(e, &err, now);
}

instant_s source_poll_wakeup(const struct engine *e, instant_s now)
{
    const struct source_poll *p = e->poll;

    if (!p->asking && is_waited_for(e))
        return now;
    if (!p->asking)
        return instant_later(instant_earlier(look_due(p), e->passes->next), p->next_ask);
    if (p->state != SOURCE_LOST || is_waited_for(e))
        return p->asked_at + source_poll_stale_after_s(e) + 1;
    return INT64_MAX;
}
