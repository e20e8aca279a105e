/* observation.c: from what a collector saw to what a pass may trust. */
#include "engine/internal.h"

#include "base/xalloc.h"
#include "core/demand/demand.h"
#include "core/demand/guard.h"
#include "engine/knowledge/demand_correlation.h"
#include "model/freeze.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Indices of an inventory's objects, by id. */
struct finder {
    struct idmap vms, hosts;
};

static void finder_init(struct finder *f, struct inventory *inv)
{
    for (size_t i = 0; i < inv->n_vms; i++) {
        if (inv->vms[i].is.id)
            *idmap_slot(&f->vms, inv->vms[i].is.id) = &inv->vms[i];
    }
    for (size_t i = 0; i < inv->n_hosts; i++) {
        if (inv->hosts[i].is.id)
            *idmap_slot(&f->hosts, inv->hosts[i].is.id) = &inv->hosts[i];
    }
}

static void finder_release(struct finder *f)
{
    idmap_release(&f->vms, NULL);
    idmap_release(&f->hosts, NULL);
}

/* A thousand petahertz or an exabyte is no measurement. */
#define FIGURE_MOST 1e12

/* The figures of a sample, as a fault names them. */
static const struct {
    const char *what, *unit;
    size_t offset;
} figures[] = {
    {"the interval of its figures", "ms", offsetof(struct vm_sample, interval_ms)},
    {"its CPU use", "MHz", offsetof(struct vm_sample, cpu_used_mhz)},
    {"the time that it ran", "ms", offsetof(struct vm_sample, cpu_run_ms)},
    {"the time that it slept", "ms", offsetof(struct vm_sample, cpu_sleep_ms)},
    {"the time that it waited for a core", "ms", offsetof(struct vm_sample, cpu_ready_ms)},
    {"the speed of its cores", "MHz", offsetof(struct vm_sample, core_mhz)},
    {"its memory in use", "MiB", offsetof(struct vm_sample, mem_active_mb)},
    {"what its guest uses", "MiB", offsetof(struct vm_sample, mem_guest_used_mb)},
    {"the memory that backs it", "MiB", offsetof(struct vm_sample, mem_consumed_mb)},
    {"its hypervisor's memory for it", "MiB", offsetof(struct vm_sample, mem_overhead_mb)},
};

/* A figure that cannot have been measured, as a phrase; NULL: there is none. A snapshot could not even hold
 * it. What is merely more than the VM could use is found by the pass, which knows the hosts. */
static const char *find_impossible(const struct vm_sample *x, struct arena *a)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        double v;

        memcpy(&v, (const char *)x + figures[i].offset, sizeof v);
        if (v < 0 || v > FIGURE_MOST)
            return arena_printf(a, "%s is given as %.6g %s", figures[i].what, v, figures[i].unit);
    }
    return NULL;
}

static bool is_size(double v)
{
    return v >= 0 && v <= FIGURE_MOST;
}

/* Nothing of a sample with an impossible figure is believed; sizes that came of it become the usual ones. */
static void disbelieve(struct vm_facts *f, const char *why)
{
    f->sample_bad = why;
    if (!is_size(f->overhead_mb))
        f->overhead_mb = 0;
    if (!is_size(f->consumed_mb))
        f->consumed_mb = f->mem_mb;
    f->demand[RES_MEM] = f->consumed_mb + f->overhead_mb;
}

/* §2.3: what a VM wants, from what was measured of it. Where nothing was measured of its memory, it is taken
 * to want all that may be behind it: the most there can be is no guess that could do harm. CPU has no such
 * bound that would not turn the decisions upside down. */
static void fill_demand(struct seen_vm *v, double idle_percent, struct arena *a)
{
    if (v->is.state != VM_ON || !v->sample.present)
        return;
    const char *why = find_impossible(&v->sample, a);
    if (why) {
        disbelieve(&v->is, why);
        return;
    }
    double cpu = demand_cpu_mhz(&v->sample, v->is.vcpus);
    double mem = demand_mem_mb(&v->sample, idle_percent);

    v->is.demand[RES_MEM] = isnan(mem) ? v->is.consumed_mb + v->is.overhead_mb : mem;
    if (isnan(cpu))
        v->is.demand_unknown = true;
    else
        v->is.demand[RES_CPU] = cpu;
}

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

/* Whether the collector gave windows of its own: those that stand for "not known" repeat the present demand.
 */
static bool windows_given(const struct vm_facts *f)
{
    for (int w = 0; w < WINDOW_COUNT; w++) {
        for (int r = 0; r < RES_COUNT; r++) {
            const struct demand_stats *s = &f->window[w][r];

            if (s->stddev != 0 || s->min != f->demand[r] || s->max != f->demand[r])
                return true;
        }
    }
    return false;
}

/* The demand of every running VM, and what the last hour says of it. One whose figures are missing or
 * impossible weighs what it did when they were last known, where they were. */
static void fill_demands(const struct engine *e, struct inventory *inv, struct arena *a, instant_s now)
{
    struct together *all = arena_new(a, struct together);
    bool measured = false; /* otherwise what the source says holds, with its windows */

    for (size_t i = 0; i < inv->n_vms; i++) {
        struct seen_vm *v = &inv->vms[i];

        fill_demand(v, e->settings.policy.mem_idle_percent, a);
        if (v->is.state != VM_ON || !v->is.id)
            continue;
        if ((v->is.demand_unknown || v->is.sample_bad) &&
            !history_last(e->history, v->is.id, now, v->is.demand))
            continue;
        if (v->sample.present || !windows_given(&v->is)) {
            double stable_s;

            history_describe(e->history, v->is.id, now, v->is.demand, all, v->is.window, &stable_s);
            if (isnan(v->is.stable_s))
                v->is.stable_s = stable_s;
            measured = true;
        }
    }
    if (measured)
        inv->correlation = together_result(all);
}

/* Only what was checked becomes history, and only what can be right. */
static void keep_samples(struct engine *e, const struct snapshot *snap, struct arena *a, instant_s now)
{
    struct sample_record *kept = arena_array(a, struct sample_record, snap->n_vms);
    size_t n_kept = 0;

    for (uint32_t i = 0; i < snap->n_vms; i++) {
        const struct vm_facts *f = &snap->vms[i].is;
        struct finding wrong;

        if (!vm_takes_part(snap, &snap->vms[i]) || f->demand_unknown ||
            guard_find(snap, &e->settings.policy, i, &wrong))
            continue;
        if (history_add(e->history, f->id, now, f->demand))
            kept[n_kept++] = (struct sample_record){
                .vm = f->id, .time = now, .demand = {f->demand[RES_CPU], f->demand[RES_MEM]}};
    }
    storing_samples(e, kept, n_kept, now);
}

/* ---- what has moved ---- */

static bool is_ours(const struct engine *e, const char *vm, const char *to)
{
    const struct action_list *its = &vm_use(e, vm)->actions;

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

/* What others have moved since the last inventory: an admin, or a move of ours that had been given up. It
 * rests like any other, or the next pass would undo what somebody has just done. */
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
        hold_of(e, v->is.id)->moved = now;
        *ret = arena_grow(a, *ret, n, &cap, sizeof **ret);
        (*ret)[n++] = (struct migration_record){.vm = v->is.id,
                                                .from = arena_strdup(a, from),
                                                .to = v->host,
                                                .started = e->now_seen->snap.time,
                                                .ended = now,
                                                .mem_mb = UNKNOWN,
                                                .ok = true};
    }
    return n;
}

/* When a VM was moved last, or when a move of it last came to nothing: both keep it where it is for the
 * cool-down. What the source knows of moves by others counts too. An instant in the future tells of a clock
 * that was set back, and is taken for now: a rest is no longer than a rest. */
static void fill_last_migrated(const struct engine *e, struct inventory *inv, instant_s now)
{
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_facts *f = &inv->vms[i].is;
        struct hold *h = f->id ? idmap_get(&e->holds, f->id) : NULL;

        if (!h)
            continue;
        h->moved = h->moved < now ? h->moved : now;
        h->tried = h->tried < now ? h->tried : now;
        if (f->last_migrated < h->moved)
            f->last_migrated = h->moved;
        if (f->last_migrated < h->tried)
            f->last_migrated = h->tried;
    }
}

static bool migration_listed(const struct inventory *inv, const char *vm)
{
    for (size_t i = 0; i < inv->n_migrations; i++) {
        if (inv->migrations[i].vm && strcmp(inv->migrations[i].vm, vm) == 0)
            return true;
    }
    return false;
}

/* A VM has one action at a time; should it ever be given two, the first counts. */
static bool pending_listed(const struct inventory *inv, const char *vm)
{
    for (size_t i = 0; i < inv->n_pending; i++) {
        if (inv->pending[i].vm && strcmp(inv->pending[i].vm, vm) == 0)
            return true;
    }
    return false;
}

/* A move of ours: in flight, or approved and not begun. What the inventory contradicts (the VM or a host is
 * gone, the VM is elsewhere) is left out; the action finds out by itself. */
static void add_move(struct inventory *inv, struct arena *a, const struct finder *f, const struct action *x)
{
    struct seen_vm *v = idmap_get(&f->vms, x->r.vm);

    if (v && v->host && x->r.state != ACTION_APPROVED && strcmp(v->host, x->r.to) == 0)
        v->is.last_migrated = inv->time; /* it has just arrived */
    if (!v || v->is.state != VM_ON || !v->host || strcmp(v->host, x->r.from) != 0 ||
        !idmap_get(&f->hosts, x->r.from) || !idmap_get(&f->hosts, x->r.to) ||
        migration_listed(inv, x->r.vm) || pending_listed(inv, x->r.vm))
        return;
    if (x->r.state == ACTION_APPROVED) {
        *inventory_add_pending(inv, a) = (struct seen_pending){.action = ACTION_MIGRATE,
                                                               .vm = arena_strdup(a, x->r.vm),
                                                               .from = arena_strdup(a, x->r.from),
                                                               .to = arena_strdup(a, x->r.to)};
    } else {
        *inventory_add_migration(inv, a) = (struct seen_migration){.vm = arena_strdup(a, x->r.vm),
                                                                   .from = arena_strdup(a, x->r.from),
                                                                   .to = arena_strdup(a, x->r.to),
                                                                   .started = x->r.started};
    }
}

/* A VM that is to be powered on, begun or not: it weighs where it will be, until the inventory shows it run.
 */
static void add_start(struct inventory *inv, struct arena *a, const struct finder *f, const struct action *x)
{
    const struct seen_vm *v = idmap_get(&f->vms, x->r.vm);

    if (!v || v->is.state == VM_ON || !idmap_get(&f->hosts, x->r.to) || pending_listed(inv, x->r.vm))
        return;
    *inventory_add_pending(inv, a) = (struct seen_pending){
        .action = ACTION_PLACE, .vm = arena_strdup(a, x->r.vm), .to = arena_strdup(a, x->r.to)};
}

/* A host that is to be woken, or is being woken and does not show it yet. */
static void add_wake(struct inventory *inv, struct arena *a, const struct finder *f, const struct action *x)
{
    const struct seen_host *h = idmap_get(&f->hosts, x->r.host);

    if (h && h->is.state == HOST_STANDBY)
        *inventory_add_pending(inv, a) =
            (struct seen_pending){.action = ACTION_POWER_ON, .host = arena_strdup(a, x->r.host)};
}

/* A host that an admin wants out of service is to be evacuated, whether the source knows it yet or not. */
static void add_maintenance(const struct finder *f, const struct action *x)
{
    struct seen_host *h = idmap_get(&f->hosts, x->r.host);

    if (h && h->is.state == HOST_ON)
        h->is.state = HOST_ENTERING_MAINTENANCE;
    else if (h && h->is.state == HOST_STANDBY)
        h->is.dpm = AUTOMATION_DISABLED; /* somebody may be working on it: it is not woken */
}

/* One that is to sleep: nothing goes there any more, and what runs there leaves. */
static void add_standby(const struct finder *f, const struct action *x)
{
    struct seen_host *h = idmap_get(&f->hosts, x->r.host);

    if (h && h->is.state == HOST_ON)
        h->is.state = HOST_ENTERING_STANDBY;
}

static void fill_action(struct inventory *inv, struct arena *a, const struct finder *f,
                        const struct action *x)
{
    switch (x->r.kind) {
    case ACTION_MIGRATE:
        add_move(inv, a, f, x);
        return;
    case ACTION_PLACE:
        add_start(inv, a, f, x);
        return;
    case ACTION_POWER_ON:
        add_wake(inv, a, f, x);
        return;
    case ACTION_ENTER_MAINTENANCE:
        add_maintenance(f, x);
        return;
    case ACTION_POWER_OFF:
        add_standby(f, x);
        return;
    case ACTION_EXIT_MAINTENANCE:
    case action_kind_count:
        return;
    }
}

static void fill_actions(const struct engine *e, struct inventory *inv, struct arena *a)
{
    struct finder f = {0};

    finder_init(&f, inv);
    for (size_t i = 0; i < e->n_actions; i++) {
        if (action_committed(e->actions[i]))
            fill_action(inv, a, &f, e->actions[i]);
        else if (power_lingers(e, e->actions[i], inv->time))
            add_standby(&f, e->actions[i]);
    }
    finder_release(&f);
}

/* What the schedule says at this moment. What must be back is a part of what DPM may manage now: a host in
 * maintenance is not waited for. */
static void fill_schedule(const struct engine *e, struct snapshot *s)
{
    const struct schedule *schedule = e->settings.schedule;
    struct schedule_state state;

    if (!schedule || (schedule->n_windows == 0 && schedule->n_ready_by == 0))
        return;
    schedule_at(schedule, s->time, &state);
    s->schedule = (struct schedule_facts){.given = true,
                                          .power_off = state.power_off,
                                          .power_off_changes = state.changes,
                                          .ready_by = state.ready_by};
    for (uint32_t i = 0; i < s->n_hosts; i++)
        for (int r = 0; r < RES_COUNT && host_is_managed(&s->hosts[i], e->settings.policy.dpm.automation);
             r++)
            s->schedule.ready[r] += s->hosts[i].capacity[r] * schedule->ready_percent / 100;
}

int gather(struct engine *e, struct collected *collected, uint64_t serial, instant_s now, struct view **ret,
           struct err *err)
{
    struct view *v = xcalloc(1, sizeof *v);

    v->references = 1;
    v->seen = *collected;
    *collected = (struct collected){0};
    v->serial = serial;
    v->asked = e->asked_at;
    v->received = now;

    struct inventory *inv = &v->seen.inventory;
    struct arena *a = &v->seen.arena;

    inv->time = now;
    inv->cluster = arena_strdup(a, e->cluster);
    fill_ages(inv);
    fill_demands(e, inv, a, now);
    struct migration_record *moved;
    size_t n_moved = notice_moves(e, inv, a, now, &moved);

    fill_last_migrated(e, inv, now);
    learn_fill(e, inv, a);
    hosts_match(e, inv);
    hosts_fill(e, inv);
    regret_fill(e, inv);
    fill_actions(e, inv, a);
    meters_fill(e, inv);
    pools_fill(e, inv, a);
    int r = snapshot_freeze(inv, a, &v->snap, err);

    if (r < 0) {
        view_unref(v);
        return err_widen(err, "what the source says contradicts itself");
    }
    fill_schedule(e, &v->snap);
    hosts_look(e, &v->snap);
    regret_look(e, &v->snap);
    keep_samples(e, &v->snap, a, now);
    patterns_look(e, &v->snap, a, now);
    for (size_t i = 0; i < n_moved; i++)
        migration_note(e, &moved[i], false);
    *ret = v;
    return 0;
}

void view_unref(struct view *v)
{
    if (!v || --v->references > 0)
        return;
    arena_release(&v->seen.arena);
    free(v);
}
