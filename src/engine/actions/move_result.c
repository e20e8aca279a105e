/* move_result.c: the loads of a move's hosts, predicted and observed. */
#include "engine/actions/move_result.h"

#include "engine/actions/action.h"
#include "engine/actions/preconditions.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/knowledge.h"
#include "engine/knowledge/migration_stats.h"
#include "engine/observation.h"
#include "engine/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OBSERVED_AFTER_S 600
#define OBSERVED_BEFORE_S 1200
#define RELATIVE 0.2  /* of the prediction */
#define ABSOLUTE 0.01 /* of the host's capacity */
#define LACK 0.1      /* of the VM's CPU demand, more than before */

/* ---- loads ---- */

static double wanted(const struct snapshot *s, uint32_t vm, enum resource r)
{
    const struct vm_facts *v = &s->vms[vm].is;

    return v->state == VM_ON ? fmin(v->window[WINDOW_5M][r].mean, vm_facts_limit_in_force(v, (int)r)) : 0;
}

static double part(const struct snapshot *s, uint32_t vm, uint32_t host, enum resource r)
{
    return wanted(s, vm, r) / s->hosts[host].capacity[r];
}

static double load(const struct snapshot *s, uint32_t host, enum resource r)
{
    const struct span vms = s->hosts[host].vms;
    double sum = s->hosts[host].own.now[r] / s->hosts[host].capacity[r];

    for (uint32_t i = 0; i < vms.n; i++)
        sum += part(s, vms.items[i], host, r);
    return sum;
}

/* What the approved moves that have not arrived will add to the host, or take from it. */
static double underway(const struct engine *e, uint32_t host, enum resource r)
{
    const struct snapshot *s = engine_snapshot(e);
    const char *id = s->hosts[host].is.id;
    const struct action_list *there = &slot_usage_of_host(e->actions, id)->actions;
    double sum = 0;

    for (size_t i = 0; i < there->n; i++) {
        const struct action *y = there->items[i];
        uint32_t vm =
            y->r.kind == ACTION_MIGRATE && action_committed(y) ? snapshot_find_vm(s, y->r.vm) : IX_NONE;

        if (vm == IX_NONE)
            continue;
        if (s->vms[vm].host == host && strcmp(y->r.from, id) == 0)
            sum -= part(s, vm, host, r);
        else if (s->vms[vm].host != host && strcmp(y->r.to, id) == 0)
            sum += part(s, vm, host, r);
    }
    return sum;
}

static bool is_comparable(const struct snapshot *s, uint32_t host)
{
    return host != IX_NONE && s->hosts[host].is.state != HOST_DISCONNECTED &&
           s->hosts[host].capacity[RES_CPU] > 0 && s->hosts[host].capacity[RES_MEM] > 0;
}

/* The part of its CPU demand that the VM does not get, as its source measures it; UNKNOWN. What its own limit
 * keeps from it is not lacking. */
static double vm_lack(const struct engine *e, uint32_t vm)
{
    const struct vm_facts *v = &engine_snapshot(e)->vms[vm].is;
    const struct inventory *inv = &e->now_seen->seen.inventory;
    double due = fmin(v->demand[RES_CPU], v->alloc[RES_CPU].limit);

    for (size_t i = 0; i < inv->n_vms; i++) {
        const struct vm_sample *sample = &inv->vms[i].sample;

        if (strcmp(inv->vms[i].is.id, v->id) != 0)
            continue;
        if (!sample->present || isnan(sample->cpu_used_mhz) || isnan(due))
            return UNKNOWN;
        return due > sample->cpu_used_mhz ? 1 - sample->cpu_used_mhz / due : 0;
    }
    return UNKNOWN;
}

/* ---- predicted ---- */

void move_result_predict(const struct engine *e, struct action *x)
{
    const struct snapshot *s = engine_snapshot(e);
    struct move_result *m = &x->r.result;

    if (!s || !action_copies(x))
        return;
    uint32_t vm = snapshot_find_vm(s, x->r.vm);
    uint32_t from = snapshot_find_host(s, x->r.from);
    uint32_t to = snapshot_find_host(s, x->r.to);

    if (vm == IX_NONE || !is_comparable(s, from) || !is_comparable(s, to) || s->vms[vm].host != from)
        return;
    *m = (struct move_result){.predicted_at = s->time,
                              .duration_s = UNKNOWN,
                              .overhead_s = migration_stats_overhead_s(e->knowledge->migrations),
                              .downtime_s = UNKNOWN,
                              .harm = UNKNOWN,
                              .vm_lack = {vm_lack(e, vm), UNKNOWN}};
    for (int i = 0; i < RES_COUNT; i++) {
        enum resource r = (enum resource)i;

        m->predicted[MOVE_FROM][r] = fmax(load(s, from, r) + underway(e, from, r), 0);
        m->predicted[MOVE_TO][r] = load(s, to, r) + underway(e, to, r);
    }
}

/* It ended somewhere between the last two questions, if the hypervisor has not measured it. What this process
 * did not watch from beginning to end has no known duration. */
void move_result_end(struct action *x)
{
    const struct copy_timing *c = &x->copy;

    if (c->took_s > 0) {
        x->r.result.duration_s = c->took_s;
        return;
    }
    if (c->began == 0 || c->ended == 0 || x->r.attempts != 1)
        return;
    instant_s ran = c->ran > c->began ? c->ran : c->began;

    x->r.result.duration_s = ((double)(ran - c->began) + (double)(c->ended - c->began)) / 2;
}

/* ---- observed ---- */

static bool came_or_left(const struct action *y, instant_s since)
{
    bool moves = y->r.kind == ACTION_MIGRATE || y->r.kind == ACTION_PLACE;

    if (!moves || y->r.started == 0)
        return false;
    return action_committed(y) || (y->r.state == ACTION_DONE && y->r.ended >= since);
}

static bool ours_overlap(const struct action_list *there, const struct action *x)
{
    for (size_t i = 0; i < there->n; i++) {
        if (there->items[i] != x && came_or_left(there->items[i], x->r.result.predicted_at))
            return true;
    }
    return false;
}

/* Moves of others, too: inventories tell when a VM was last moved. A VM that only rests, because a person
 * rejected its move, looks the same. */
static bool theirs_overlap(const struct snapshot *s, uint32_t vm, uint32_t from, uint32_t to, instant_s since)
{
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *v = &s->vms[i];
        bool here = v->host == from || v->host == to || v->left_host == from || v->left_host == to;

        if (i != vm && here && v->is.last_migrated >= since)
            return true;
    }
    for (uint32_t i = 0; i < s->n_migrations; i++) {
        const struct migration *m = &s->migrations[i];

        if (m->from == from || m->from == to || m->to == from || m->to == to)
            return true;
    }
    return vm == IX_NONE || s->vms[vm].host != to;
}

/* What both hosts lack now, more than they would if the VM were back: with the demand of now, so that a rise
 * of the load is no harm, and other moves of the same hours are what they are for both. */
static double harm_of_hosts(const struct snapshot *s, uint32_t vm, uint32_t from, uint32_t to)
{
    double harm = 0;

    for (int i = 0; i < RES_COUNT; i++) {
        enum resource r = (enum resource)i;
        double capacity_from = s->hosts[from].capacity[r], capacity_to = s->hosts[to].capacity[r];
        double of_from = load(s, from, r), of_to = load(s, to, r);
        double moved =
            move_result_shortage(of_from) * capacity_from + move_result_shortage(of_to) * capacity_to;
        double stayed = move_result_shortage(of_from + part(s, vm, from, r)) * capacity_from +
                        move_result_shortage(of_to - part(s, vm, to, r)) * capacity_to;

        harm += (moved - stayed) / fmin(capacity_from, capacity_to);
    }
    return harm;
}

bool move_result_harmed(const struct move_result *r)
{
    bool has_room = r->observed[MOVE_TO][RES_CPU] <= 1;

    return r->harm > ABSOLUTE || (has_room && r->vm_lack[1] > r->vm_lack[0] + LACK);
}

/* An evacuation had to be, whatever it did. Moves of others at the same hosts do not matter: the VM is put
 * back in thought, and nothing else is. */
static void judge(struct engine *e, const struct action *x, instant_s now)
{
    const struct move_result *m = &x->r.result;
    const struct snapshot *s = engine_snapshot(e);
    char why[WHY_MAX];

    if (failed_moves_empties_host(&x->r) || isnan(m->harm))
        return;
    if (m->harm > ABSOLUTE)
        (void)snprintf(why, sizeof why,
                       "hosts %s and %s lack %.1f %% of capacity more than if VM %s had stayed",
                       snapshot_host_name(s, x->r.from), snapshot_host_name(s, x->r.to), m->harm * 100,
                       snapshot_vm_name(s, x->r.vm));
    else
        (void)snprintf(
            why, sizeof why,
            "VM %s lacks %.1f %% of its CPU demand on host %s, which seems to have room, and lacked "
            "%.1f %% on host %s",
            snapshot_vm_name(s, x->r.vm), m->vm_lack[1] * 100, snapshot_host_name(s, x->r.to),
            m->vm_lack[0] * 100, snapshot_host_name(s, x->r.from));
    failed_moves_judge(e->knowledge->failed_moves, x->r.priority == PRIORITY_MANDATORY,
                       move_result_harmed(m) ? why : NULL, now);
}

static void observe(struct engine *e, struct action *x, instant_s now)
{
    const struct snapshot *s = engine_snapshot(e);
    struct move_result *m = &x->r.result;
    uint32_t from = snapshot_find_host(s, x->r.from);
    uint32_t to = snapshot_find_host(s, x->r.to);

    if (!is_comparable(s, from) || !is_comparable(s, to))
        return; /* perhaps with the next inventory */
    for (int i = 0; i < RES_COUNT; i++) {
        m->observed[MOVE_FROM][i] = load(s, from, (enum resource)i);
        m->observed[MOVE_TO][i] = load(s, to, (enum resource)i);
    }
    uint32_t vm = snapshot_find_vm(s, x->r.vm);

    if (vm != IX_NONE && s->vms[vm].host == to && s->vms[vm].is.state == VM_ON) {
        m->harm = harm_of_hosts(s, vm, from, to);
        m->vm_lack[1] = vm_lack(e, vm);
    }
    m->observed_at = now;
    m->overlaps = ours_overlap(&slot_usage_of_host(e->actions, x->r.from)->actions, x) ||
                  ours_overlap(&slot_usage_of_host(e->actions, x->r.to)->actions, x) ||
                  theirs_overlap(s, vm, from, to, m->predicted_at);
    judge(e, x, now);
    action_changed(e, x);
}

bool move_result_is_awaited(const struct action_record *r, instant_s now)
{
    return r->result.predicted_at != 0 && r->result.observed_at == 0 && now < r->ended + OBSERVED_BEFORE_S;
}

void move_result_observe(struct engine *e, instant_s now)
{
    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *x = e->actions->list[i];

        if (x->r.kind == ACTION_MIGRATE && x->r.state == ACTION_DONE &&
            now >= x->r.ended + OBSERVED_AFTER_S && move_result_is_awaited(&x->r, now))
            observe(e, x, now);
    }
}

/* ---- held against each other ---- */

bool move_result_agrees(const struct move_result *r)
{
    for (int h = 0; h < MOVE_HOSTS; h++) {
        for (int k = 0; k < RES_COUNT; k++) {
            double off = fabs(r->observed[h][k] - r->predicted[h][k]);

            if (!(off <= fmax(RELATIVE * r->predicted[h][k], ABSOLUTE)))
                return false;
        }
    }
    return true;
}

double move_result_predicted_action_s(const struct action_record *r)
{
    return r->duration_s + r->result.overhead_s;
}

double move_result_action_s(const struct action_record *r)
{
    return (double)(r->ended - r->started);
}

static const char *seconds(double s, struct arena *a)
{
    if (isnan(s))
        return "not known";
    return s < 10 ? arena_printf(a, "%.1f s", s) : arena_printf(a, "%.0f s", s);
}

const char *move_result_times(const struct action_record *r, struct arena *a)
{
    if (r->result.predicted_at == 0)
        return "";
    return arena_printf(a, "took %s, copying %s; predicted: %s, copying %s",
                        seconds(move_result_action_s(r), a), seconds(r->result.duration_s, a),
                        seconds(move_result_predicted_action_s(r), a), seconds(r->duration_s, a));
}

bool move_result_duration_agrees(const struct move_result *r, double predicted_s)
{
    return fabs(r->duration_s - predicted_s) <= RELATIVE * predicted_s;
}

double move_result_shortage(double load)
{
    return load > 1 ? load - 1 : 0;
}
