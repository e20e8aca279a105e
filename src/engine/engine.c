/* engine.c: when to look and when to decide; the entry points for what happens. */
#include "engine/engine.h"

#include "base/instant.h"
#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/actions/migration_timing.h"
#include "engine/actions/move_result.h"
#include "engine/actions/pool_updates.h"
#include "engine/actions/power_outcome.h"
#include "engine/actions/standby_maintenance.h"
#include "engine/decide.h"
#include "engine/early_pass.h"
#include "engine/evacuations.h"
#include "engine/events.h"
#include "engine/external_units.h"
#include "engine/four_eyes.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/identities.h"
#include "engine/knowledge/knowledge.h"
#include "engine/knowledge/meters.h"
#include "engine/maintenance_roll.h"
#include "engine/observation.h"
#include "engine/persist.h"
#include "engine/placement.h"
#include "engine/proofs.h"
#include "engine/reclaim_confirm.h"
#include "engine/source_poll.h"
#include "engine/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After anything that happened: actions as far as they get, those that it may concern (a job's result: see
 * action_queue.h; else all), then what is to be asked, then what is to be
 * kept. */
static void proceed(struct engine *e, instant_s now)
{
    action_states_advance(e, now);
    pool_updates_carry_on(e, now);
    meters_ask(e->knowledge->meters, &e->port, engine_snapshot(e), now);
    identities_ask(e->knowledge->identities, e->knowledge->hosts, &e->port, engine_snapshot(e), now);
    source_poll_ask(e, now);
    four_eyes_expire(e, now);
    (void)persist_flush(e, NULL, now);
}

/* ---- what happens ---------------------------------------------------------------------------- */

void engine_tick(struct engine *e, instant_s now)
{
    e->ticked = now;
    source_poll_notice_silence(e, now);
    placement_expire(e, now);
    persist_prune(e, now);
    action_queue_add_all(e->actions);
    proceed(e, now);
}

/* early: why it does not wait for the interval to end; NULL: it was asked for, or has ended. */
static void make_pass(struct engine *e, const char *early, instant_s now)
{
    struct err err = {0};
    bool asked_for = e->poll->asked_run > e->passes->runs_done;
    int r = decide(e, early ? early : asked_for ? "run" : "interval", now, &err);

    e->passes->early = early != NULL;
    source_poll_decided(e);
    e->passes->next = e->passes->again ? now : e->poll->asked_at + e->settings.policy.interval_s;
    evacuations_want_pass(e, now);
    e->passes->error = err;
    if (r < 0)
        events_publish(
            e, &(struct event){
                   .kind = EVENT_PASS_FAILED, .time = now, .pass = e->passes->last, .text = err.text});
    decide_end_runs(e, r, &err, e->passes->last);
}

/* A pass, or a placement, unless something was approved while units were asked: then the next inventory
 * decides, in which that counts. */
static void decide_on(struct engine *e, uint64_t serial, instant_s now)
{
    if (e->now_seen->outdated) {
        if (e->poll->asked_for_pass)
            e->passes->next = now;
        source_poll_want(e, now);
        return;
    }
    if (placement_decide(e, serial, now))
        return;
    const char *early = e->poll->asked_for_pass ? NULL : early_pass_trigger(e, now);

    if (e->poll->asked_for_pass || early)
        make_pass(e, early, now);
}

void engine_take_observation(struct engine *e, struct observation *v, instant_s now)
{
    source_poll_answered(e, now);
    source_poll_worked(e, now);
    observation_unref(e->now_seen);
    e->now_seen = v;
    slot_usage_observe(e->actions, &e->now_seen->snap);
    migration_timing_observe(e->actions);
    move_result_observe(e, now);
    action_queue_add_all(e->actions);
    action_states_advance(e, now); /* what has arrived is done, before anything new is decided */
    standby_maintenance_end(e, now);
    power_outcome_look_again(e, now);
    action_queue_add_all(e->actions);
    decide_on(e, v->serial, now);
    maintenance_roll_step(e, now);
    if (e->passes->again)
        source_poll_want(e, now);
    proceed(e, now);
}

void engine_on_inventory(struct engine *e, uint64_t serial, struct collected *collected, instant_s now)
{
    struct err err = {0};
    struct observation *v = NULL;

    if (!e->poll->asking || serial != e->poll->serial || e->awaits) {
        arena_release(&collected->arena);
        *collected = (struct collected){0};
        return;
    }
    e->passes->again = false;
    action_queue_add_all(e->actions);
    if (observation_build(e, collected, serial, now, &v, &err) < 0) {
        source_poll_answered(e, now);
        source_poll_failed(e, &err, now);
        proceed(e, now);
        return;
    }
    if (!external_units_ask(e, v, now))
        engine_take_observation(e, v, now);
}

void engine_on_source_error(struct engine *e, uint64_t serial, const struct err *why, instant_s now)
{
    if (!e->poll->asking || serial != e->poll->serial)
        return;
    source_poll_failed(e, why, now);
    action_queue_add_all(e->actions);
    proceed(e, now);
}

void engine_on_source_changed(struct engine *e, instant_s now)
{
    source_poll_changed(e, now);
    source_poll_ask(e, now);
}

/* A host without its meter goes on in the energy account by its model, as an estimate. */
static void tell_of_meter(struct engine *e, const struct job *job, const struct job_result *result,
                          enum meter_change change, instant_s now)
{
    const char *name = snapshot_host_name(engine_snapshot(e), job->measure.host);
    char text[ERR_TEXT_MAX + 256];

    if (change == METER_UNCHANGED)
        return;
    if (change == METER_BACK)
        (void)snprintf(text, sizeof text, "the power meter of host %.100s is read again", name);
    else
        (void)snprintf(text, sizeof text, "the power meter of host %.100s cannot be read any more: %s", name,
                       result->code < 0 ? result->err.text : "it reads 0 W although the host is on");
    events_publish(e, &(struct event){.kind = change == METER_BACK ? EVENT_METER_BACK : EVENT_METER_LOST,
                                      .time = now,
                                      .host = job->measure.host,
                                      .text = text});
}

void engine_on_job_result(struct engine *e, const struct job *job, const struct job_result *result,
                          instant_s now)
{
    switch (job->kind) {
    case JOB_CHECK:
    case JOB_START:
    case JOB_POLL:
    case JOB_CANCEL:
        action_states_result(e, job, result, now);
        proceed(e, now);
        return;
    case JOB_SET_POOLS:
        pool_updates_result(e, job, result, now);
        proceed(e, now);
        return;
    case JOB_MEASURE:
        tell_of_meter(e, job, result, meters_result(e->knowledge->meters, job, result, now), now);
        meters_ask(e->knowledge->meters, &e->port, engine_snapshot(e), now);
        return;
    case JOB_IDENTIFY:
        if (identities_result(e->knowledge->identities, job, result, now) && result->code == 0 &&
            !result->identity.why.text[0])
            hosts_controllers_answered(e->knowledge->hosts, job->identify.host);
        identities_ask(e->knowledge->identities, e->knowledge->hosts, &e->port, engine_snapshot(e), now);
        return;
    }
}

instant_s engine_wakeup(const struct engine *e, instant_s now)
{
    instant_s at = e->persist->next_prune;

    at = instant_earlier(at, source_poll_wakeup(e, now));
    at = instant_earlier(at, four_eyes_wakeup(e));
    at = instant_earlier(at, placement_wakeup(e));
    if (e->persist->error.code != 0)
        at = instant_earlier(at, e->persist->retry_at);
    const struct action_list *waiting = &e->actions->usage.committed;

    for (size_t i = 0; i < waiting->n && at > e->ticked + ACTION_POLL_S && at > now; i++) {
        const struct action *x = waiting->items[i];

        if (action_committed(x) && !x->job_out)
            at = instant_earlier(at, instant_later(x->retry_at, e->ticked + ACTION_POLL_S));
    }
    return instant_later(at, now);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void take_settings(struct engine *e, const struct engine_settings *settings)
{
    xstrset(&e->cluster, settings->cluster);
    xstrset(&e->source_name, settings->source);
    e->settings = *settings;
    e->settings.cluster = e->cluster;
    e->settings.source = e->source_name;
    knowledge_configure(e->knowledge, &e->settings);
}

int engine_create(const struct engine_settings *settings, const struct engine_ports *ports, instant_s now,
                  struct engine **ret, struct err *err)
{
    struct engine *e = xcalloc(1, sizeof *e);

    e->port = *ports;
    e->poll = xcalloc(1, sizeof *e->poll);
    e->passes = xcalloc(1, sizeof *e->passes);
    e->placements = xcalloc(1, sizeof *e->placements);
    e->roll = maintenance_roll_new();
    e->proofs = proofs_new();
    e->four_eyes = four_eyes_new();
    e->persist = xcalloc(1, sizeof *e->persist);
    e->actions = xcalloc(1, sizeof *e->actions);
    e->pool_updates = pool_updates_new();
    e->knowledge = knowledge_new();
    take_settings(e, settings);
    e->poll->since = now;
    e->poll->next_look = now;
    e->passes->next = now;
    int r = persist_load(e, now, err);

    if (r < 0) {
        engine_free(e);
        return r;
    }
    *ret = e;
    return 0;
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    maintenance_roll_free(e->roll);
    proofs_free(e->proofs);
    four_eyes_free(e->four_eyes);
    placement_free(e->placements);
    actions_free(e->actions);
    persist_free(e->persist);
    pool_updates_free(e->pool_updates);
    knowledge_free(e->knowledge);
    observation_unref(e->now_seen);
    observation_unref(e->awaits);
    observation_unref(e->passes->decided);
    free(e->passes);
    free(e->poll);
    free(e->paused_by);
    free(e->restored);
    free(e->unconfirmed);
    free(e->held_back);
    free(e->others_act);
    free(e->cluster);
    free(e->source_name);
    free(e);
}

void engine_hold_back(struct engine *e, const char *why, instant_s now)
{
    if (!why == !e->held_back)
        return;
    xstrset(&e->held_back, why);
    e->changes++;
    e->passes->next = now;
    source_poll_want(e, now);
    action_queue_add_all(e->actions);
    proceed(e, now);
}

void engine_configure(struct engine *e, const struct engine_settings *settings, instant_s now)
{
    instant_s interval = e->settings.policy.interval_s;

    take_settings(e, settings);
    reclaim_confirm_configured(e);
    e->changes++;
    if (e->now_seen)
        hosts_match_entries(e->knowledge->hosts, &e->now_seen->snap);
    action_states_reconfigured(e);
    e->passes->next = instant_earlier(e->passes->next - interval + settings->policy.interval_s,
                                      now + settings->policy.interval_s);
    source_poll_reconfigured(e, now);
    action_queue_add_all(e->actions);
    proceed(e, now);
}
