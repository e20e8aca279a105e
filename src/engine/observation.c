/* observation.c: from what a collector saw to what a pass may trust. */
#include "engine/observation.h"

#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/actions/action_facts.h"
#include "engine/actions/power_preconditions.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/vm_demand.h"
#include "engine/knowledge/vm_stops.h"
#include "engine/other_service.h"
#include "engine/persist.h"
#include "engine/reclaim_confirm.h"
#include "engine/source_poll.h"
#include "engine/state.h"
#include "model/snapshot_build.h"

#include <stdlib.h>
#include <string.h>

/* How old each sample is, by the peer's own clock: the newest of all is taken for its present, so that a
 * difference between its clock and ours is no age. */
static void fill_ages(struct inventory *inv)
{
    instant_s newest = 0;

    for (size_t i = 0; i < inv->n_vms; i++)
        newest = inv->vms[i].sample.measured > newest ? inv->vms[i].sample.measured : newest;
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct seen_vm *v = &inv->vms[i];

        if (v->is.state == VM_ON && v->sample.present && v->sample.measured > 0)
            v->is.sample_age_s = (double)(newest - v->sample.measured);
    }
}

/* ---- what has moved ---- */

static bool is_ours(const struct engine *e, const char *vm, const char *to)
{
    const struct action_list *its = &slot_usage_of_vm(e->actions, vm)->actions;

    for (size_t i = 0; i < its->n; i++) {
        const struct action *x = its->items[i];

        if (x->r.kind == ACTION_MIGRATE && (action_under_way(x) || x->r.state == ACTION_VERIFYING) &&
            strcmp(x->r.to, to) == 0)
            return true;
    }
    return false;
}

/* A VM that was restarted elsewhere because its host was lost has not been moved by anybody. */
static bool is_on(const struct inventory *inv, const char *host)
{
    for (size_t i = 0; i < inv->n_hosts; i++) {
        if (inv->hosts[i].is.id && strcmp(inv->hosts[i].is.id, host) == 0)
            return inv->hosts[i].is.state == HOST_ON;
    }
    return false;
}

/* Where the last inventory saw a VM run that now runs elsewhere; NULL: it has not moved, or not while it ran.
 */
static const char *moved_from(const struct snapshot *before, const struct seen_vm *v)
{
    uint32_t ix = v->is.id && v->host && v->is.state == VM_ON ? snapshot_find_vm(before, v->is.id) : IX_NONE;

    if (ix == IX_NONE || before->vms[ix].is.state != VM_ON || before->vms[ix].host == IX_NONE)
        return NULL;
    const char *from = before->hosts[before->vms[ix].host].is.id;

    return strcmp(from, v->host) == 0 ? NULL : from;
}

/* What others have moved since the last inventory: an admin, or a move of ours that had been given up. The
 * cool-down applies to these too, or the next pass would undo an admin's move. */
static size_t notice_moves(struct engine *e, const struct inventory *inv, struct arena *a, instant_s now,
                           struct migration_record **ret)
{
    size_t n = 0;
    size_t cap = 0;

    *ret = NULL;
    for (size_t i = 0; e->now_seen && i < inv->n_vms; i++) {
        const struct seen_vm *v = &inv->vms[i];
        const char *from = moved_from(&e->now_seen->snap, v);

        if (!from || is_ours(e, v->is.id, v->host) || !is_on(inv, from))
            continue;
        backoff_moved(backoff_of_vm(e->actions, v->is.id), from, now);
        failed_moves_take(e->knowledge->failed_moves,
                          &(struct move_end){.vm = v->is.id, .from = from, .to = v->host, .at = now});
        *ret = arena_grow(a, *ret, n, &cap, sizeof **ret);
        (*ret)[n++] = (struct migration_record){.vm = v->is.id,
                                                .from = arena_strdup(a, from),
                                                .to = v->host,
                                                .started = e->now_seen->snap.time,
                                                .ended = now,
                                                .mem_mb = UNKNOWN,
                                                .ok = true};
        other_service_moved(e, &(*ret)[n - 1], now);
    }
    return n;
}

/* What the schedule says at this moment. What must be back is a part of what DPM may manage now: a host in
 * maintenance is not waited for. */
static void fill_balance(const struct engine *e, struct snapshot *s)
{
    const struct schedule *balance = e->settings.balance;
    struct schedule_state state;

    if (!balance || balance->n_windows == 0)
        return;
    schedule_at(balance, s->time, &state);
    s->balance = (struct balance_facts){.given = true, .open = state.open, .changes = state.changes};
}

static void fill_schedule(const struct engine *e, struct snapshot *s)
{
    const struct schedule *schedule = e->settings.schedule;
    struct schedule_state state;

    if (!schedule || (schedule->n_windows == 0 && schedule->n_ready_by == 0))
        return;
    schedule_at(schedule, s->time, &state);
    s->schedule = (struct schedule_facts){.given = true,
                                          .power_off = state.open,
                                          .power_off_changes = state.changes,
                                          .ready_by = state.ready_by};
    for (uint32_t i = 0; i < s->n_hosts; i++)
        for (int r = 0; r < RES_COUNT && host_is_managed(&s->hosts[i], e->settings.policy.dpm.automation);
             r++)
            s->schedule.ready[r] += s->hosts[i].capacity[r] * schedule->ready_percent / 100;
}

static bool sleeps_by_us(const struct engine *e, const char *host)
{
    const struct known_host *k = hosts_find(e->knowledge->hosts, host);

    return (k && k->r.put_down != 0) || power_preconditions_standby_approved(e, host);
}

int observation_build(struct engine *e, struct collected *collected, uint64_t serial, instant_s now,
                      struct observation **ret, struct err *err)
{
    struct observation *v = xcalloc(1, sizeof *v);

    v->references = 1;
    v->seen = *collected;
    *collected = (struct collected){0};
    v->serial = serial;
    v->asked = e->poll->asked_at;
    v->received = now;

    struct inventory *inv = &v->seen.inventory;
    struct arena *a = &v->seen.arena;

    inv->time = now;
    inv->cluster = arena_strdup(a, e->cluster);
    fill_ages(inv);
    struct migration_record *moved;
    size_t n_moved = notice_moves(e, inv, a, now, &moved);
    struct knowledge_context c = {.engine = e,
                                  .settings = &e->settings,
                                  .known = e->knowledge,
                                  .inventory = inv,
                                  .before = engine_snapshot(e),
                                  .look_period_s = source_poll_period_s(e)};

    hosts_add_left(e->knowledge->hosts, inv, a);
    if (e->settings.overlay)
        overlay_apply(e->settings.overlay, inv, a, &v->overlay_findings);
    else
        inv->labels_unread = NULL; /* no rule needs them */
    vm_stops_settle(e->knowledge->stops, inv, sleeps_by_us, e);
    action_facts_explain_lost_hosts(e, inv);
    c.n_waking = action_facts_wakes(e, a, &c.waking);
    knowledge_fill(e->knowledge, &c, inv, a);
    reclaim_confirm_fill(e, inv);
    if (engine_held_back(e))
        inventory_add_fault(inv, engine_held_back(e), a);
    action_facts_fill(e, inv, a);
    int r = snapshot_build(inv, a, &v->snap, err);

    if (r < 0) {
        observation_unref(v);
        return err_widen(err, "what the source says contradicts itself");
    }
    fill_balance(e, &v->snap);
    observation_set_policy(v, &e->settings.policy);
    fill_schedule(e, &v->snap);
    knowledge_observe(e->knowledge, &c, &v->snap, a);
    size_t n_kept;
    const struct sample_record *kept = vm_demand_kept(e->knowledge->vms, &n_kept);

    persist_samples(e, v, kept, n_kept, now);
    for (size_t i = 0; i < n_moved; i++)
        persist_migration(e, &moved[i]);
    *ret = v;
    return 0;
}

void observation_set_policy(struct observation *v, const struct policy *policy)
{
    struct policy *own = arena_new(&v->seen.arena, struct policy);

    *own = *policy;
    v->snap.policy = own;
}

void observation_unref(struct observation *v)
{
    if (!v || --v->references > 0)
        return;
    arena_release(&v->seen.arena);
    arena_release(&v->answers.arena);
    free(v);
}
