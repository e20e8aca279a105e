/* standby_maintenance.c: the maintenance mode of a host that a standby begins. */
#include "engine/actions/standby_maintenance.h"

#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/actions/power_outcome.h"
#include "engine/actions/preconditions.h"
#include "engine/knowledge/hosts.h"
#include "engine/observation.h"
#include "engine/source_poll.h"
#include "engine/state.h"

#include <stdio.h>
#include <string.h>

#define AGAIN_S 60 /* after a failure; once more so long for each that is remembered */

static bool is_marked(const struct engine *e, const char *host)
{
    const struct known_host *k = hosts_find(e->knowledge->hosts, host);

    return k && k->r.our_maintenance != 0;
}

/* A host whose standby failed may still go down for a while: it stays in maintenance mode until then. */
static bool is_going_down(const struct engine *e, const char *host, instant_s now)
{
    return action_list_powers_off(&slot_usage_of_host(e->actions, host)->actions, host) ||
           power_outcome_host_off_uncertain(e, host, now);
}

bool standby_maintenance_is_stored(const struct engine *e, const char *host)
{
    return is_marked(e, host) && !hosts_find(e->knowledge->hosts, host)->known.dirty;
}

static void mark(struct engine *e, const char *host, instant_s since)
{
    if (is_marked(e, host) != (since != 0))
        hosts_change(e->knowledge->hosts, host)->r.our_maintenance = since;
}

/* Whether our maintenance mode ended before this inventory was asked for: where it shows one, it is another.
 */
static bool has_ended(const struct engine *e, const char *host)
{
    const struct action_list *its = &slot_usage_of_host(e->actions, host)->actions;

    for (size_t i = 0; i < its->n; i++) {
        const struct action *x = its->items[i];

        if (x->r.kind == ACTION_EXIT_MAINTENANCE && x->r.state == ACTION_VERIFYING && x->r.unclear == 0 &&
            x->inventory_after < e->poll->serial)
            return true;
    }
    return false;
}

bool standby_maintenance_explain(struct engine *e, struct host_facts *f, instant_s now)
{
    bool entered = f->state == HOST_MAINTENANCE;

    if (!is_marked(e, f->id) || (!entered && f->state != HOST_ENTERING_MAINTENANCE && f->state != HOST_ON))
        return false;
    bool going_down = is_going_down(e, f->id, now);

    if (f->state == HOST_ON) {
        if (!going_down)
            mark(e, f->id, 0);
        return false;
    }
    /* what a person wants from now on, or has begun since */
    if (slot_usage_of_host(e->actions, f->id)->to_maintenance > 0 || has_ended(e, f->id)) {
        mark(e, f->id, 0);
        return false;
    }
    f->state = going_down ? HOST_ENTERING_STANDBY : HOST_POWERING_ON;
    return entered && !going_down;
}

/* ---- its end --------------------------------------------------------------------------------- */

/* Whether one ends it just now, or has failed to so recently that it is not tried again yet. */
static bool is_tried(const struct engine *e, const char *host, instant_s now)
{
    instant_s pause = 0;
    instant_s failed = 0;

    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action *x = e->actions->list[i];

        if (x->r.kind != ACTION_EXIT_MAINTENANCE || strcmp(x->r.host, host) != 0)
            continue;
        if (!action_ended(x))
            return true;
        if (x->r.state == ACTION_DONE)
            pause = 0;
        else
            pause += AGAIN_S;
        failed = x->r.ended;
    }
    return now < failed + pause;
}

void standby_maintenance_end(struct engine *e, instant_s now)
{
    const struct snapshot *s = &e->now_seen->snap;

    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const char *host = s->hosts[i].is.id;

        if (s->hosts[i].is.state != HOST_POWERING_ON || !hosts_is_held(e->knowledge->hosts, host) ||
            is_tried(e, host, now))
            continue;
        const struct action_record r = {
            .kind = ACTION_EXIT_MAINTENANCE,
            .state = ACTION_RECOMMENDED,
            .priority = 1,
            .host = host,
            .reason = REASON_STANDBY,
            .text = "ends the maintenance mode that the host was given for its standby",
            .imbalance_after = UNKNOWN,
            .created = now,
            .seen = now,
        };

        action_approve(e, action_add(e, &r), APPROVED_BY_ENGINE, now);
    }
}

/* ---- what the task says ---------------------------------------------------------------------- */

void standby_maintenance_note(struct engine *e, struct action *x, const struct task_progress *p,
                              instant_s now)
{
    char text[WHY_MAX];
    char all[WHY_ALL];

    switch (p->maintenance) {
    case MAINTENANCE_NO_NEWS:
        return;
    case MAINTENANCE_NOT_OURS:
        mark(e, x->r.host, 0);
        return;
    case MAINTENANCE_BEGINS:
        break;
    }
    mark(e, x->r.host, now);
    (void)snprintf(text, sizeof text,
                   "host %s enters maintenance mode before it is switched off, so that its hypervisor does "
                   "not take it for lost",
                   snapshot_host_name(engine_snapshot(e), x->r.host));
    action_enter(e, x, ACTION_RUNNING, action_append_why(x, text, all), now);
}
