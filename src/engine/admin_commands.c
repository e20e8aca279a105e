/* Runs a pass for an admin, pauses and resumes, and answers what the engine knows. Approving is approval.c.
 */
#include "engine/admin_commands.h"

#include "base/order.h"
#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/decide.h"
#include "engine/events.h"
#include "engine/host_commands.h"
#include "engine/knowledge/cluster_demand.h"
#include "engine/knowledge/energy_account.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/host_losses.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/nights.h"
#include "engine/knowledge/unit_failures.h"
#include "engine/observation.h"
#include "engine/persist.h"
#include "engine/source_poll.h"
#include "engine/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 256

int engine_run(struct engine *e, instant_s now, uint64_t *ret_ticket, struct err *err)
{
    (void)err;
    *ret_ticket = ++e->passes->runs_wanted;
    source_poll_want(e, now);
    engine_tick(e, now);
    return 0;
}

void engine_retry(struct engine *e, const char *by, instant_s now)
{
    size_t n = failed_moves_forgive(e->knowledge->failed_moves, NULL, NULL);
    char text[TEXT_MAX];

    if (n == 0)
        return;
    (void)snprintf(text, sizeof text,
                   "what failed may be tried again, at the request of %s: %zu pause%s or count%s forgotten",
                   by, n, n == 1 ? "" : "s", n == 1 ? "" : "s");
    events_publish(e, &(struct event){.kind = EVENT_RETRY, .time = now, .by = by, .text = text});
}

int engine_trust(struct engine *e, const char *host, const char *by, instant_s now, struct err *err)
{
    const struct host_facts *h;
    char text[TEXT_MAX];
    int r;

    if ((r = host_commands_find(e, host, &h, err)) < 0)
        return r;
    if (!host_losses_forgive(e->knowledge->failed_moves, h->id, now))
        return err_set(err, -EINVAL, "no loss of host %.100s counts: it is trusted", h->name);
    (void)snprintf(text, sizeof text, "%s trusts host %.100s again, which was lost %u times", by, h->name,
                   h->losses.n);
    events_publish(e,
                   &(struct event){.kind = EVENT_RETRY, .time = now, .by = by, .host = h->id, .text = text});
    e->passes->next = now;
    source_poll_want(e, now);
    engine_tick(e, now);
    return e->persist->error.code != 0 ? admin_command_not_stored(e, "trusted", err) : 0;
}

int engine_run_result(const struct engine *e, uint64_t ticket, uint64_t *ret_pass, struct err *err)
{
    if (ticket > e->passes->runs_done)
        return err_set(err, -EINPROGRESS, "the pass is being made");
    if (e->passes->run_code < 0) {
        if (err)
            *err = e->passes->run_error;
        return e->passes->run_code;
    }
    *ret_pass = e->passes->run_pass;
    return 0;
}

/* The command is in effect, but would be lost at a restart: the caller is told. */
int admin_command_not_stored(const struct engine *e, const char *done, struct err *err)
{
    return err_set(err, -EIO, "%s, but that could not be stored and is forgotten at a restart: %s", done,
                   e->persist->error.text);
}

/* ---- pause ----------------------------------------------------------------------------------- */

static int set_paused(struct engine *e, bool paused, const char *by, instant_s now, struct err *err)
{
    const char *done = paused ? "paused" : "resumed";
    char text[TEXT_MAX];

    if (e->paused == paused)
        return 0;
    e->paused = paused;
    e->paused_since = paused ? now : 0;
    xstrset(&e->paused_by, paused ? by : NULL);
    if (!paused)
        xstrset(&e->restored, NULL);
    e->persist->notes_dirty = true;
    (void)snprintf(text, sizeof text, "%s by %s: %s", done, by,
                   paused ? "nothing is started until `ballast resume`" : "actions are started again");
    events_publish(
        e,
        &(struct event){.kind = paused ? EVENT_PAUSED : EVENT_RESUMED, .time = now, .by = by, .text = text});
    engine_tick(e, now);
    return e->persist->notes_dirty ? admin_command_not_stored(e, done, err) : 0;
}

int engine_pause(struct engine *e, const char *by, instant_s now, struct err *err)
{
    return set_paused(e, true, by, now, err);
}

int engine_resume(struct engine *e, const char *by, instant_s now, struct err *err)
{
    return set_paused(e, false, by, now, err);
}

void engine_tell_change(struct engine *e, const char *text, const char *by, instant_s now)
{
    events_publish(e, &(struct event){.kind = EVENT_CONFIGURATION, .time = now, .by = by, .text = text});
}

void engine_tell_reload_failed(struct engine *e, const char *why, const char *by, instant_s now)
{
    char text[TEXT_MAX + ERR_TEXT_MAX];

    (void)snprintf(text, sizeof text,
                   "configuration not reloaded (asked for by %s), the old one stays in force: %s", by, why);
    events_publish(e,
                   &(struct event){.kind = EVENT_CONFIGURATION_FAILED, .time = now, .by = by, .text = text});
    engine_tick(e, now); /* stores it */
}

void engine_tell_alarms(struct engine *e, bool failed, const char *target, const char *text, instant_s now)
{
    events_publish(e, &(struct event){.kind = failed ? EVENT_ALARM_FAILED : EVENT_ALARM_BACK,
                                      .time = now,
                                      .target = target,
                                      .text = text});
    engine_tick(e, now); /* stores it */
}

/* ---- what can be seen ------------------------------------------------------------------------ */

void engine_status(const struct engine *e, struct engine_status *ret)
{
    *ret = (struct engine_status){
        .cluster = e->cluster,
        .policy = e->settings.policy,
        .source_automation = e->now_seen ? e->now_seen->seen.inventory.source_automation : NULL,
        .source = e->poll->state,
        .source_since = e->poll->since,
        .source_error = e->poll->state == SOURCE_LOST ? e->poll->error.text : NULL,
        .seen = e->now_seen ? e->now_seen->asked : 0,
        .asking = e->poll->asking,
        .paused = e->paused,
        .paused_since = e->paused_since,
        .paused_by = e->paused_by,
        .restored = e->restored,
        .overlay_findings = e->now_seen ? &e->now_seen->overlay_findings : NULL,
        .unconfirmed = e->unconfirmed,
        .zone = cluster_demand_zone(e->knowledge->cluster),
        .store_error = e->persist->error.code != 0 ? e->persist->error.text : NULL,
        .last_night = nights_last_text(e->knowledge->nights),
        .last_night_json = nights_last_json(e->knowledge->nights),
        .last_pass = e->passes->n_here > 0 ? e->passes->decided_id : 0,
        .last_pass_time = e->passes->last_time,
        .last_pass_error = e->passes->error.code != 0 ? e->passes->error.text : NULL,
        .next_pass = e->passes->next,
    };
    ret->n_failing_units = unit_failures_list(e->knowledge->units, &ret->failing_units);
    for (size_t i = 0; i < e->actions->n; i++)
        ret->actions[e->actions->list[i]->r.state]++;
}

instant_s engine_pruned(const struct engine *e)
{
    return e->persist->pruned;
}

const struct snapshot *engine_snapshot(const struct engine *e)
{
    return e->now_seen ? &e->now_seen->snap : NULL;
}

const struct plan *engine_plan(const struct engine *e)
{
    return e->passes->decided ? &e->passes->decided->plan : NULL;
}

/* The snapshot is copied, but not its arrays: later settings replace its policy, nothing else ever changes.
 */
bool engine_keep_snapshot(const struct engine *e, struct kept_snapshot *ret)
{
    struct observation *v = e->passes->decided ? e->passes->decided : e->now_seen;

    if (!v)
        return false;
    v->references++;
    *ret = (struct kept_snapshot){.is = v->snap, .of = v, .held_back = e->passes->held_back};
    return true;
}

void engine_release_snapshot(struct kept_snapshot *kept)
{
    observation_unref(kept->of);
    kept->of = NULL;
}

/* Recommendations come last, in the order of the plan: the figures of each hold after those before it. */
static int by_plan(const void *a, const void *b)
{
    const struct action_record *x = *(const struct action_record *const *)a;
    const struct action_record *y = *(const struct action_record *const *)b;

    if ((x->state == ACTION_RECOMMENDED) != (y->state == ACTION_RECOMMENDED))
        return x->state == ACTION_RECOMMENDED ? 1 : -1;
    if (x->state == ACTION_RECOMMENDED && x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

size_t engine_actions(const struct engine *e, struct arena *a, const struct action_record ***ret)
{
    *ret = arena_array(a, const struct action_record *, e->actions->n);
    for (size_t i = 0; i < e->actions->n; i++)
        (*ret)[i] = &e->actions->list[i]->r;
    order_sort(*ret, e->actions->n, sizeof **ret, by_plan);
    return e->actions->n;
}

size_t engine_asleep(const struct engine *e, struct arena *a, struct asleep **ret)
{
    return hosts_asleep(e->knowledge->hosts, engine_snapshot(e), a, ret);
}

bool engine_waking(const struct engine *e, const char *host, struct engine_waking *ret)
{
    const struct action_list *power = &e->actions->usage.power;

    for (size_t i = 0; i < power->n; i++) {
        const struct action *x = power->items[i];

        if (x->r.kind != ACTION_POWER_ON || !action_under_way(x) || strcmp(x->r.host, host) != 0)
            continue;
        *ret = (struct engine_waking){.method = x->method_now, .why = x->r.why};
        return true;
    }
    return false;
}

void engine_power(const struct engine *e, struct engine_power *ret)
{
    *ret = *energy_account_now(e->knowledge->energy);
}

bool engine_host_power(const struct engine *e, const char *host, struct engine_host_power *ret)
{
    struct energy_sample is;

    if (!energy_account_last_sample(e->knowledge->energy, host, &is))
        return false;
    *ret = (struct engine_host_power){.watts = is.watts, .measured = is.measured};
    for (int r = 0; r < RES_COUNT; r++) {
        ret->wanted[r] = is.wanted[r];
        ret->unmet[r] = is.unmet[r];
    }
    return true;
}

void engine_forecast(const struct engine *e, instant_s now, instant_s back_s, instant_s ahead_s,
                     struct arena *a, struct engine_forecast *ret)
{
    const struct demand_profile *profile = cluster_demand_profile(e->knowledge->cluster);
    uint32_t slots = (uint32_t)(ahead_s / DEMAND_SLOT_S) + 1;

    *ret = (struct engine_forecast){
        .enabled = e->settings.policy.dpm.enabled,
        .proactive = e->settings.policy.dpm.proactive,
        .zone = cluster_demand_zone(e->knowledge->cluster),
        .doubted = demand_forecast_doubted_since(profile, now),
    };
    ret->n_past = demand_profile_slots(profile, now - back_s, now, a, &ret->past);
    struct expected *ahead = arena_array(a, struct expected, slots);
    for (uint32_t i = 1; i < slots; i++) /* doubted or not: that may be over until then */
        ret->n_ahead +=
            demand_forecast_at(profile, now + (instant_s)i * DEMAND_SLOT_S, now, &ahead[ret->n_ahead]);
    ret->ahead = ahead;
}
