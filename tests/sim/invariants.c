#include "invariants.h"

#include "engine/engine.h"
#include "sim_contradiction.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* However deaf everybody is in between: faults last minutes, and whatever hangs is asked to stop. */
#define ENDS_WITHIN_S (4 * 3600.0)
#define SHORT_SHARE 0.95        /* of what the hosts that are on have is wanted: capacity is short ... */
#define SHORT_FOR_S 3600.0      /* ... and must not stay so with hosts asleep that can be woken */
#define LEFT_ALONE_S (4 * 3600) /* after a wake-up that failed, at most */
#define LATE_S 5                /* between an inventory and who sees it */

/* What was seen of a VM. */
struct known_vm {
    uint32_t moves; /* migrations that had ended well by the last tick */
    uint32_t begun; /* actions that move it */
    uint32_t asked; /* the same with starts that were repeated because nobody knew whether they were heard */
    double moved_s; /* when the last one of them was seen; -INFINITY */
};

void invariants_init(struct invariants *inv, const struct scenario *s)
{
    *inv = (struct invariants){.scenario = s, .short_since_s = NAN};
    inv->vms = calloc(s->initial.n_vms + 1, sizeof *inv->vms);
    inv->power_offs = calloc(s->initial.n_hosts, sizeof *inv->power_offs);
    inv->power_ons = calloc(s->initial.n_hosts, sizeof *inv->power_ons);
    inv->out_s = calloc(s->initial.n_hosts, sizeof *inv->out_s);
    inv->put_down = calloc(s->initial.n_hosts, sizeof *inv->put_down);
    for (uint32_t i = 0; i < s->initial.n_vms; i++)
        inv->vms[i].moved_s = -INFINITY;
}

void invariants_release(struct invariants *inv)
{
    free(inv->actions);
    free(inv->vms);
    free(inv->power_offs);
    free(inv->power_ons);
    free(inv->put_down);
    free(inv->out_s);
    free(inv->refused);
}

static bool wrong(struct invariants *inv, double t_s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool wrong(struct invariants *inv, double t_s, const char *format, ...)
{
    int n = snprintf(inv->failure, sizeof inv->failure, "at %.0f s: ", t_s);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(inv->failure + n, sizeof inv->failure - (size_t)n, format, args);
    va_end(args);
    return false;
}

/* What a tick is judged by. */
struct tick {
    const struct engine *engine;
    const struct cluster *cluster;
    const struct snapshot *seen; /* the engine's newest; NULL: none yet in this life */
    struct engine_status status;
    const struct action_record **actions;
    size_t n;
    double t_s;
    instant_s now;
};

static bool is_open(enum action_state state)
{
    return state == ACTION_APPROVED || state == ACTION_STARTING || state == ACTION_RUNNING ||
           state == ACTION_VERIFYING;
}

static bool is_under_way(enum action_state state)
{
    return state == ACTION_STARTING || state == ACTION_RUNNING;
}

/* ---- what begins ----------------------------------------------------------------------------- */

static bool begins_on_fresh_data(struct invariants *inv, const struct tick *t, const struct action_record *r)
{
    instant_s limit = 2 * inv->scenario->policy.interval_s + LATE_S;

    if (t->status.source == SOURCE_LOST && t->status.source_since < t->now)
        return wrong(inv, t->t_s, "action %llu was begun while the source was lost",
                     (unsigned long long)r->id);
    if (t->status.seen == 0 || t->now - t->status.seen > limit)
        return wrong(inv, t->t_s, "action %llu was begun on data of %lld s ago", (unsigned long long)r->id,
                     (long long)(t->now - t->status.seen));
    return true;
}

static bool goes_to_a_host_that_stays(struct invariants *inv, const struct tick *t,
                                      const struct action_record *r)
{
    uint32_t to = snapshot_find_host(&inv->scenario->initial, r->to);
    enum host_state state = cluster_host(t->cluster, to)->state;

    if (state == HOST_ON || cluster_host(t->cluster, to)->dead || state == HOST_DISCONNECTED)
        return true; /* that a host is dead nobody knows before the next inventory */
    return wrong(inv, t->t_s, "action %llu moves VM %s to host %s, which is %s", (unsigned long long)r->id,
                 r->vm, r->to, host_state_name(state));
}

static bool has_rested(struct invariants *inv, const struct tick *t, const struct action_record *r,
                       const struct known_vm *v)
{
    double rested_s = (double)(r->started - inv->scenario->start) - v->moved_s;

    if ((r->reason != REASON_BALANCE_CPU && r->reason != REASON_BALANCE_MEM) ||
        rested_s >= (double)inv->scenario->policy.cool_down_s)
        return true;
    return wrong(inv, t->t_s, "action %llu moves VM %s for balance %.0f s after its last move",
                 (unsigned long long)r->id, r->vm, rested_s);
}

/* Hosts that go to sleep at the same moment count too. */
static bool leaves_enough_on(struct invariants *inv, const struct tick *t, const struct action_record *r)
{
    int64_t on = 0;

    for (uint32_t i = 0; i < inv->scenario->initial.n_hosts; i++) {
        const char *id = inv->scenario->initial.hosts[i].is.id;
        bool leaves = false;

        for (size_t k = 0; k < t->n; k++)
            leaves = leaves || (t->actions[k]->kind == ACTION_POWER_OFF &&
                                is_under_way(t->actions[k]->state) && strcmp(t->actions[k]->host, id) == 0);
        on += !leaves && cluster_host(t->cluster, i)->state == HOST_ON;
    }
    if (on >= inv->scenario->policy.dpm.hosts_min)
        return true;
    return wrong(inv, t->t_s, "action %llu puts host %s to standby and leaves %lld hosts",
                 (unsigned long long)r->id, r->host, (long long)on);
}

/* Where the destination refused the VM a short while ago, and has been in service since. */
static bool has_not_just_failed(struct invariants *inv, const struct tick *t, const struct action_record *r)
{
    const struct snapshot *s = &inv->scenario->initial;
    uint32_t vm = snapshot_find_vm(s, r->vm);
    uint32_t to = snapshot_find_host(s, r->to);

    for (size_t i = 0; i < inv->n_refused; i++) {
        const struct refused_move *x = &inv->refused[i];
        double since_s = (double)(r->started - inv->scenario->start) - x->at_s;

        if (x->vm == vm && x->host == to && inv->out_s[to] < x->at_s && since_s > 0 &&
            since_s < (double)inv->scenario->policy.avoid.pause_s)
            return wrong(inv, t->t_s, "action %llu moves VM %s to host %s, which refused it %.0f s before",
                         (unsigned long long)r->id, r->vm, r->to, since_s);
    }
    return true;
}

static void note_refusal(struct invariants *inv, const struct action_record *r)
{
    const struct snapshot *s = &inv->scenario->initial;
    const struct refused_move x = {.vm = snapshot_find_vm(s, r->vm),
                                   .host = snapshot_find_host(s, r->to),
                                   .at_s = (double)(r->ended - inv->scenario->start)};
    size_t i = 0;

    while (i < inv->n_refused && (inv->refused[i].vm != x.vm || inv->refused[i].host != x.host))
        i++;
    if (i == inv->cap_refused) {
        inv->cap_refused = inv->cap_refused ? inv->cap_refused * 2 : 64;
        inv->refused = reallocarray(inv->refused, inv->cap_refused, sizeof *inv->refused);
    }
    inv->n_refused += i == inv->n_refused;
    inv->refused[i] = x;
    inv->refusals++;
}

static bool begin(struct invariants *inv, const struct tick *t, const struct action_record *r)
{
    const struct snapshot *s = &inv->scenario->initial;
    struct known_vm *v = r->vm ? &inv->vms[snapshot_find_vm(s, r->vm)] : NULL;

    inv->begun++;
    if (r->kind == ACTION_MIGRATE)
        v->begun++;
    if (r->started != t->now) /* by a service that died before anybody could look */
        return r->kind != ACTION_MIGRATE || has_rested(inv, t, r, v);
    if (!begins_on_fresh_data(inv, t, r))
        return false;
    switch (r->kind) {
    case ACTION_MIGRATE:
        return goes_to_a_host_that_stays(inv, t, r) && has_rested(inv, t, r, v) &&
               has_not_just_failed(inv, t, r);
    case ACTION_PLACE:
        return goes_to_a_host_that_stays(inv, t, r);
    case ACTION_POWER_OFF:
        return leaves_enough_on(inv, t, r);
    case ACTION_POWER_ON:
    case ACTION_ENTER_MAINTENANCE:
    case ACTION_EXIT_MAINTENANCE:
    case action_kind_count:
        return true;
    }
    return true;
}

/* ---- each action ----------------------------------------------------------------------------- */

static struct known_action *know(struct invariants *inv, uint64_t id, double t_s)
{
    while (inv->cap_actions <= id) {
        size_t cap = inv->cap_actions ? inv->cap_actions * 2 : 1024;

        inv->actions = reallocarray(inv->actions, cap, sizeof *inv->actions);
        memset(&inv->actions[inv->cap_actions], 0, (cap - inv->cap_actions) * sizeof *inv->actions);
        inv->cap_actions = cap;
    }
    for (; inv->n_actions <= id; inv->n_actions++)
        inv->actions[inv->n_actions].seen_s = t_s;
    return &inv->actions[id];
}

/* An end is an end, and what was begun is not begun anew. */
static bool state_makes_sense(struct invariants *inv, const struct tick *t, const struct action_record *r,
                              const struct known_action *k, bool is_new)
{
    if (!is_new && k->kind != r->kind)
        return wrong(inv, t->t_s, "action %llu has become another one", (unsigned long long)r->id);
    if (!is_new && !is_open(k->state) && k->state != ACTION_RECOMMENDED && k->state != r->state)
        return wrong(inv, t->t_s, "action %llu was %s and is %s", (unsigned long long)r->id,
                     action_state_name(k->state), action_state_name(r->state));
    if (k->begun && r->state == ACTION_APPROVED)
        return wrong(inv, t->t_s, "action %llu was begun, and waits to be begun", (unsigned long long)r->id);
    if (is_under_way(r->state) && t->t_s - k->begun_s > ENDS_WITHIN_S && k->begun)
        return wrong(inv, t->t_s, "action %llu (%s) is %s since %.0f s", (unsigned long long)r->id,
                     action_kind_name(r->kind), action_state_name(r->state), k->begun_s);
    return true;
}

static void count_attempts(struct invariants *inv, const struct action_record *r, struct known_action *k)
{
    const struct snapshot *s = &inv->scenario->initial;
    unsigned more = r->attempts > k->attempts ? r->attempts - k->attempts : 0;

    k->attempts += more;
    if (r->kind == ACTION_MIGRATE)
        inv->vms[snapshot_find_vm(s, r->vm)].asked += more;
    else if (r->kind == ACTION_POWER_OFF)
        inv->power_offs[snapshot_find_host(s, r->host)] += more;
    else if (r->kind == ACTION_POWER_ON)
        inv->power_ons[snapshot_find_host(s, r->host)] += more;
}

static bool look_at_action(struct invariants *inv, const struct tick *t, const struct action_record *r)
{
    bool is_new = inv->n_actions <= r->id;
    struct known_action *k = know(inv, r->id, t->t_s);

    if (!state_makes_sense(inv, t, r, k, is_new))
        return false;
    bool ended_well = r->state == ACTION_DONE && (is_new || k->state != r->state);

    if (inv->talks && (is_new || k->state != r->state))
        printf("%8.0f  %llu %s %s%s %s%s %s: %s\n", t->t_s, (unsigned long long)r->id,
               action_state_name(r->state), action_kind_name(r->kind), r->host ? " " : "",
               r->host ? r->host : r->vm, r->to ? " to" : "", r->to ? r->to : "", r->why ? r->why : r->text);
    if (r->kind == ACTION_MIGRATE && r->state == ACTION_FAILED && (is_new || k->state != r->state) &&
        r->why && strstr(r->why, "refused the VM"))
        note_refusal(inv, r);
    k->state = r->state;
    k->kind = r->kind;
    count_attempts(inv, r, k);
    if (ended_well && r->kind == ACTION_POWER_OFF)
        inv->put_down[snapshot_find_host(&inv->scenario->initial, r->host)] = true;
    if (r->started == 0 || k->begun)
        return true;
    k->begun = true;
    k->begun_s = t->t_s;
    return begin(inv, t, r);
}

/* ---- actions together ------------------------------------------------------------------------ */

/* The second move of a VM that waits on a third host while others change places (an exchange). */
static bool waits_for(const struct action_record *x, const struct action_record *first)
{
    for (uint32_t i = 0; i < x->n_depends_on; i++)
        if (x->depends_on[i] == first->id)
            return x->started == 0 && x->kind == ACTION_MIGRATE && x->group != 0 && x->group == first->group;
    return false;
}

static bool one_for_each_vm(struct invariants *inv, const struct tick *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct action_record *x = t->actions[i];

        for (size_t k = 0; k < i && x->vm && is_open(x->state); k++) {
            const struct action_record *y = t->actions[k];

            if (y->vm && is_open(y->state) && strcmp(x->vm, y->vm) == 0 && !waits_for(x, y))
                return wrong(inv, t->t_s, "VM %s has actions %llu and %llu", x->vm, (unsigned long long)y->id,
                             (unsigned long long)x->id);
        }
    }
    return true;
}

static bool within_limits(struct invariants *inv, const struct tick *t)
{
    const struct snapshot *s = &inv->scenario->initial;
    const struct policy *p = &t->status.policy;
    int64_t in_all = 0;

    for (uint32_t h = 0; h < s->n_hosts; h++) {
        int64_t most = s->hosts[h].is.migrations_max ? s->hosts[h].is.migrations_max : p->migrations_per_host;
        int64_t n = 0;

        for (size_t i = 0; i < t->n; i++) {
            const struct action_record *r = t->actions[i];

            if (r->kind != ACTION_MIGRATE || !is_under_way(r->state))
                continue;
            in_all += h == 0;
            n += strcmp(r->from, s->hosts[h].is.id) == 0 || strcmp(r->to, s->hosts[h].is.id) == 0;
        }
        if (n > most)
            return wrong(inv, t->t_s, "%lld migrations at host %s, and %lld are allowed", (long long)n,
                         s->hosts[h].is.id, (long long)most);
    }
    if (p->migrations_per_cluster > 0 && in_all > p->migrations_per_cluster)
        return wrong(inv, t->t_s, "%lld migrations, and %lld are allowed", (long long)in_all,
                     (long long)p->migrations_per_cluster);
    return true;
}

/* ---- the cluster ----------------------------------------------------------------------------- */

/* As often as something was begun, at most, it happened. A start that may not have been heard is repeated; if
 * it was heard and had failed by then, it happens a second time, but succeeds once. */
static bool nothing_twice(struct invariants *inv, const struct tick *t)
{
    const struct snapshot *s = &inv->scenario->initial;

    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm_totals *v = cluster_vm_totals(t->cluster, i);
        uint32_t moves = v->migrations + v->migrations_failed + cluster_vm(t->cluster, i)->migrating;

        if (v->migrations > inv->vms[i].begun || moves > inv->vms[i].asked)
            return wrong(inv, t->t_s,
                         "VM %s was migrated %u times (%u failed), begun %u times, asked for %u times",
                         s->vms[i].is.id, moves, v->migrations_failed, inv->vms[i].begun, inv->vms[i].asked);
    }
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct host_totals *h = cluster_host_totals(t->cluster, i);

        if (h->power_offs > inv->power_offs[i] || h->power_ons + h->failures > inv->power_ons[i])
            return wrong(inv, t->t_s, "host %s went to sleep or woke more often than was begun",
                         s->hosts[i].is.id);
    }
    return true;
}

/* One that was started elsewhere after its host had died was moved by nobody. */
static void follow_vms(struct invariants *inv, const struct tick *t)
{
    for (uint32_t i = 0; i < inv->scenario->initial.n_vms; i++) {
        uint32_t moves = cluster_vm_totals(t->cluster, i)->migrations;

        if (moves > inv->vms[i].moves)
            inv->vms[i].moved_s = t->t_s;
        inv->vms[i].moves = moves;
    }
    for (uint32_t i = 0; i < inv->scenario->initial.n_hosts; i++)
        if (cluster_host(t->cluster, i)->state != HOST_ON)
            inv->out_s[i] = t->t_s;
}

/* One that sleeps and is not left alone because it did not wake when it was asked to, or was lost so often
 * that no VM comes to it for balance. */
static bool some_could_wake(const struct invariants *inv, const struct tick *t, struct arena *a)
{
    struct asleep *list;
    size_t n = engine_asleep(t->engine, a, &list);

    for (size_t i = 0; i < n; i++) {
        uint32_t host = snapshot_find_host(&inv->scenario->initial, list[i].host);

        uint32_t seen = t->seen ? snapshot_find_host(t->seen, list[i].host) : IX_NONE;

        if (cluster_host(t->cluster, host)->state == HOST_STANDBY &&
            t->now - list[i].wake_failed > LEFT_ALONE_S &&
            (seen == IX_NONE || !host_is_distrusted(t->seen, seen)))
            return true;
    }
    return false;
}

/* Nobody forgets a host that sleeps, whoever died and came back since it was put there. */
static bool sleepers_are_known(struct invariants *inv, const struct tick *t, struct arena *a)
{
    struct asleep *list;
    size_t n = engine_asleep(t->engine, a, &list);

    for (uint32_t h = 0; t->seen && h < inv->scenario->initial.n_hosts; h++) {
        const char *id = inv->scenario->initial.hosts[h].is.id;
        size_t i = 0;

        while (i < n && strcmp(list[i].host, id) != 0)
            i++;
        bool slept = cluster_host(t->cluster, h)->state == HOST_STANDBY;

        inv->put_down[h] = inv->put_down[h] && slept;
        if (inv->put_down[h] && (i == n || !list[i].ours))
            return wrong(inv, t->t_s,
                         "host %s was put to standby by an action, and is taken for somebody else's", id);
        /* one that has just fallen asleep, or is about to wake, the next inventory shows */
        if (i == n && slept && t->now - t->status.seen < inv->scenario->policy.interval_s &&
            t->seen->hosts[snapshot_find_host(t->seen, id)].is.state == HOST_STANDBY)
            return wrong(inv, t->t_s, "host %s sleeps, and is forgotten", id);
    }
    return true;
}

/* A cluster that lacks capacity has its hosts back before long. */
static bool capacity_is_back(struct invariants *inv, const struct tick *t, struct arena *a)
{
    const struct snapshot *s = &inv->scenario->initial;
    double wanted = 0;
    double there = 0;

    for (uint32_t i = 0; i < s->n_vms; i++)
        wanted += cluster_vm(t->cluster, i)->wants[RES_CPU];
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct host_now *h = cluster_host(t->cluster, i);

        there += h->state == HOST_ON && !h->dead ? s->hosts[i].capacity[RES_CPU] : 0;
    }
    if (wanted < SHORT_SHARE * there || !some_could_wake(inv, t, a)) {
        inv->short_since_s = NAN;
        return true;
    }
    if (isnan(inv->short_since_s))
        inv->short_since_s = t->t_s;
    inv->short_most_s = fmax(inv->short_most_s, t->t_s - inv->short_since_s);
    if (t->t_s - inv->short_since_s < SHORT_FOR_S)
        return true;
    return wrong(inv, t->t_s, "%.0f MHz are wanted of %.0f since %.0f s, and hosts are asleep", wanted, there,
                 inv->short_since_s);
}

/* ---- a tick ---------------------------------------------------------------------------------- */

/* By number, then the recommendations in the order of the plan. */
static bool come_in_order(const struct action_record *x, const struct action_record *y)
{
    if (x->state == ACTION_RECOMMENDED)
        return y->state == ACTION_RECOMMENDED && x->position <= y->position && x->id != y->id;
    return y->state == ACTION_RECOMMENDED || x->id < y->id;
}

static bool tick(struct invariants *inv, struct tick *t, struct arena *a)
{
    const char *nonsense = sim_contradiction(t->cluster, a);

    if (nonsense)
        return wrong(inv, t->t_s, "%s", nonsense);
    t->n = engine_actions(t->engine, a, &t->actions);
    for (size_t i = 0; i < t->n; i++) {
        if (i > 0 && !come_in_order(t->actions[i - 1], t->actions[i]))
            return wrong(inv, t->t_s, "actions %llu and %llu are not in order",
                         (unsigned long long)t->actions[i - 1]->id, (unsigned long long)t->actions[i]->id);
        if (!look_at_action(inv, t, t->actions[i]))
            return false;
    }
    if (!one_for_each_vm(inv, t) || !within_limits(inv, t) || !nothing_twice(inv, t))
        return false;
    follow_vms(inv, t);
    return sleepers_are_known(inv, t, a) && capacity_is_back(inv, t, a);
}

int invariants_watch(void *ctx, const struct engine *engine, const struct cluster *cluster, double t_s)
{
    struct invariants *inv = ctx;
    struct arena a = {0};
    struct tick t = {.engine = engine,
                     .cluster = cluster,
                     .seen = engine_snapshot(engine),
                     .t_s = t_s,
                     .now = inv->scenario->start + (instant_s)t_s};

    engine_status(engine, &t.status);
    inv->ticks++;
    bool right = tick(inv, &t, &a);

    arena_release(&a);
    return right ? 0 : -1;
}

bool invariants_end(struct invariants *inv, double quiet_s)
{
    double end_s = inv->scenario->duration_s;

    for (uint64_t id = 1; id < inv->n_actions; id++) {
        const struct known_action *k = &inv->actions[id];

        if (!is_open(k->state) || k->seen_s > end_s - quiet_s || k->kind == ACTION_ENTER_MAINTENANCE)
            continue;
        return wrong(inv, end_s, "action %llu (%s) of %.0f s is still %s", (unsigned long long)id,
                     action_kind_name(k->kind), k->seen_s, action_state_name(k->state));
    }
    return true;
}
