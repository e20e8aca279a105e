/* proofs.c: chooses the host that is proven to wake next, and what follows an approval. */
#include "engine/proofs.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/actions/power_preconditions.h"
#include "engine/decide.h"
#include "engine/knowledge/cluster_demand.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/identities.h"
#include "engine/knowledge/nights.h"
#include "engine/knowledge/rejections.h"
#include "engine/observation.h"
#include "engine/obstacle.h"
#include "engine/other_service.h"
#include "engine/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRIED_AGAIN_S 3600   /* after an obstacle, or a proof that was taken back before it began */
#define FAILED_AGAIN_S 86400 /* after a standby that failed or was rejected: not twice in a night */
#define PERCENT 100.0
#define DATE_LENGTH 10 /* of 2026-01-31T07:00:00Z */

struct proofs {
    char *host, *text;      /* the chosen one; NULL: none */
    bool automatic;         /* without a person's approval */
    double duration_s;      /* until it is on again, as expected */
    struct idmap not_until; /* id -> instant_s: where an obstacle was found */
};

struct proofs *proofs_new(void)
{
    return xcalloc(1, sizeof(struct proofs));
}

static void drop_choice(struct proofs *p)
{
    xstrset(&p->host, NULL);
    xstrset(&p->text, NULL);
    p->automatic = false;
}

void proofs_free(struct proofs *p)
{
    if (!p)
        return;
    drop_choice(p);
    idmap_release(&p->not_until, free);
    free(p);
}

bool proofs_is_proof(const struct action_record *r)
{
    return r->kind == ACTION_POWER_OFF && r->reason == REASON_WAKE_TEST && r->pass != 0;
}

/* ---- which host is due ----------------------------------------------------------------------- */

static void put_off(struct proofs *p, const char *host, instant_s until)
{
    void **slot = idmap_slot(&p->not_until, host);

    if (!*slot)
        *slot = xcalloc(1, sizeof(instant_s));
    *(instant_s *)*slot = until;
}

/* Whether it was tried a while ago, and did not come to a proof, or a person wants none. */
static bool was_tried(const struct engine *e, const char *host, instant_s now)
{
    const instant_s *until = idmap_get(&e->proofs->not_until, host);
    const struct backoff *b = idmap_get(&e->actions->standby_backoff, host);

    const struct action_record proof = {.kind = ACTION_POWER_OFF, .reason = REASON_WAKE_TEST, .host = host};

    if ((until && now < *until) || (b && (now < b->until || now < b->tried + FAILED_AGAIN_S)) ||
        rejections_find(e->knowledge->failed_moves, &proof, now) != 0)
        return true;
    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action_record *r = &e->actions->list[i]->r;

        if (proofs_is_proof(r) && r->state == ACTION_CANCELLED && now < r->ended + TRIED_AGAIN_S &&
            strcmp(r->host, host) == 0)
            return true;
    }
    return false;
}

static bool sleeps_anyway(const struct plan *plan, uint32_t host)
{
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *r = &plan->recommendations[i];

        if (r->action == ACTION_POWER_OFF && r->host == host)
            return true;
    }
    return false;
}

/* When its proof was, or is due; 0: never. */
static instant_s due_of(const struct engine *e, const struct host *h)
{
    const struct known_host *k = hosts_find(e->knowledge->hosts, h->is.id);

    if (!k || k->r.woke == 0 || h->is.state != HOST_ON ||
        !host_is_managed(h, e->settings.policy.dpm.automation))
        return 0;
    return k->r.woke + e->settings.schedule->prove_every_s;
}

static bool can_be_proven(const struct engine *e, const struct host *h)
{
    return hosts_is_proven(e->knowledge->hosts, &h->is) &&
           hosts_can(e->knowledge->hosts, ACTION_POWER_OFF, h->is.id) &&
           hosts_can(e->knowledge->hosts, ACTION_POWER_ON, h->is.id);
}

/* Of those that may be tried now, the one that is due for longest; IX_NONE. *ret_oldest: of all. */
static uint32_t find_due(const struct engine *e, const struct observation *v, instant_s now,
                         uint32_t *ret_oldest)
{
    uint32_t best = IX_NONE;
    instant_s best_due = 0;
    instant_s oldest_due = 0;

    *ret_oldest = IX_NONE;
    for (uint32_t i = 0; i < v->snap.n_hosts; i++) {
        const struct host *h = &v->snap.hosts[i];
        const instant_s due = due_of(e, h);

        if (due == 0 || due > v->snap.time)
            continue;
        if (*ret_oldest == IX_NONE || due < oldest_due) {
            *ret_oldest = i;
            oldest_due = due;
        }
        if ((best == IX_NONE || due < best_due) && can_be_proven(e, h) && !was_tried(e, h->is.id, now) &&
            !sleeps_anyway(&v->plan, i)) {
            best = i;
            best_due = due;
        }
    }
    return best;
}

/* ---- what stands against it ------------------------------------------------------------------ */

/* Other hosts that change their power or are serviced, or are needed. */
static const char *find_other_work(const struct engine *e, const struct observation *v, struct arena *a)
{
    struct engine_roll roll;

    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action *x = e->actions->list[i];

        if (action_committed(x) && x->r.kind != ACTION_MIGRATE && x->r.kind != ACTION_PLACE)
            return arena_printf(a, "host %s is being switched or serviced",
                                snapshot_host_name(&v->snap, x->r.host));
    }
    if (engine_roll_state(e, &roll) && roll.ended == 0)
        return "a roll of maintenance is in progress";
    for (uint32_t i = 0; i < v->snap.n_hosts; i++) {
        const struct host_facts *f = &v->snap.hosts[i].is;

        if (f->state != HOST_ON && f->state != HOST_STANDBY && f->state != HOST_DISCONNECTED)
            return arena_printf(a, "host %s is %s", f->name, host_state_name(f->state));
    }
    for (uint32_t i = 0; i < v->plan.n_recommendations; i++) {
        if (v->plan.recommendations[i].action == ACTION_POWER_ON)
            return "another host is to be woken";
    }
    return v->snap.labels_unread ? "labels could not be read, so rules may be missing" : NULL;
}

/* Whether the time is a quiet one; *ret_why: why it will not be found to be one, NULL: it may come. */
static bool is_quiet(const struct engine *e, const struct snapshot *s, struct demand_day *ret_day,
                     const char **ret_why)
{
    *ret_why = NULL;
    *ret_day = (struct demand_day){UNKNOWN, UNKNOWN, UNKNOWN};
    if (s->schedule.given && !s->schedule.power_off)
        return false;
    if (s->schedule.ready_by != 0 && s->schedule.ready_by <= s->time) /* late hosts are still needed */
        return false;
    if (e->settings.schedule->n_windows > 0)
        return true;
    if (!demand_profile_day(cluster_demand_profile(e->knowledge->cluster), s->time, ret_day)) {
        *ret_why = "no quiet hour is known yet: dpm.windows has none, and demand was watched for less than a "
                   "day";
        return false;
    }
    return ret_day->last <= ret_day->quiet;
}

/* Whether the host is back in time, should only its last way to be woken work, and demand stays low until
 * then. */
static const char *find_hurry(const struct engine *e, const struct snapshot *s, uint32_t host, double moves_s,
                              const struct demand_day *day, struct arena *a)
{
    const struct dpm_policy *dpm = &e->settings.policy.dpm;
    const struct host_facts *f = &s->hosts[host].is;
    const instant_s back = s->time + (instant_s)moves_s + dpm->standby_s +
                           hosts_wake_limit_s(e->knowledge->hosts, f->id, f->boot_s) +
                           e->settings.policy.interval_s;
    double capacity = 0;

    if (s->schedule.ready_by != 0 && back > s->schedule.ready_by)
        return "it might not be back by dpm.ready_by";
    if (e->settings.schedule->n_windows > 0 && s->schedule.power_off_changes != 0 &&
        back > s->schedule.power_off_changes)
        return "it might not be back before the window (dpm.windows) closes";
    for (uint32_t i = 0; i < s->n_hosts; i++)
        capacity += i != host && host_can_run_vms(&s->hosts[i]) ? s->hosts[i].capacity[RES_CPU] : 0;
    for (uint32_t i = 0; i < s->n_forecast && s->forecast[i].time < back; i++) {
        const double cpu = s->forecast[i].demand[RES_CPU];

        if (cpu > day->half || cpu * PERCENT > capacity * (dpm->target + dpm->tolerance))
            return arena_printf(a, "CPU demand is expected to rise to %.0f MHz", cpu);
    }
    return NULL;
}

static uint32_t count_wakes(const struct plan *plan)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan->n_recommendations; i++)
        n += plan->recommendations[i].action == ACTION_POWER_ON;
    return n;
}

static double moves_s(const struct plan *plan)
{
    double sum = 0;

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        if (plan->recommendations[i].action == ACTION_MIGRATE && !isnan(plan->recommendations[i].duration_s))
            sum += plan->recommendations[i].duration_s;
    }
    return sum;
}

/* As for power-offs of DPM, what must stay on stays on, and no host rises above the target range, or has to
 * be woken in its place. */
static const char *find_obstacle(const struct engine *e, const struct snapshot *s, uint32_t host,
                                 const struct demand_day *day, struct arena *a)
{
    const struct action probe = {
        .r = {.kind = ACTION_POWER_OFF, .reason = REASON_WAKE_TEST, .host = s->hosts[host].is.id}};
    struct plan now, then;
    struct err err = {0};
    const char *why;

    if (identities_check(e->knowledge->identities, e->knowledge->hosts, probe.r.host, &err) < 0 ||
        power_preconditions_check_standby(e, host, &probe, &err) < 0)
        return arena_strdup(a, err.text);
    if ((why = obstacle_find(e, CHANGE_HOST_OFF, probe.r.host, a, &now, &then)))
        return why;
    if (count_wakes(&then) > count_wakes(&now))
        return "another host would have to be woken in its place";
    for (int r = 0; r < RES_COUNT; r++) {
        if (then.after.dpm_high[r] > 0)
            return "hosts would be loaded above the target range (dpm.target, dpm.tolerance)";
    }
    e->proofs->duration_s = moves_s(&then);
    return find_hurry(e, s, host, moves_s(&then), day, a);
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* Whether the service may move all that runs there without asking. */
static bool vms_may_move(const struct engine *e, const struct snapshot *s, uint32_t host, instant_s now)
{
    for (uint32_t i = 0; i < s->hosts[host].vms.n; i++) {
        const struct vm *v = &s->vms[s->hosts[host].vms.items[i]];
        const struct backoff *b = idmap_get(&e->actions->vm_backoff, v->is.id);

        if (v->is.kind == VM_AGENT)
            continue;
        if (e->settings.policy.automation != AUTOMATION_FULL || v->is.automation == AUTOMATION_MANUAL ||
            v->is.automation == AUTOMATION_DISABLED || (b && b->until > now))
            return false;
    }
    return true;
}

static void choose(struct engine *e, const struct snapshot *s, uint32_t host, instant_s now)
{
    struct proofs *p = e->proofs;
    const struct host_facts *f = &s->hosts[host].is;
    const double boot_s = isnan(f->boot_s) ? (double)e->settings.policy.dpm.boot_s : f->boot_s;
    CLEANUP(arena_releasep) struct arena a = {0};
    char woke[RFC3339_MAX];

    (void)rfc3339_format(hosts_find(e->knowledge->hosts, f->id)->r.woke, woke);
    xstrset(&p->host, f->id);
    xstrset(&p->text, arena_printf(&a,
                                   "a proof that it wakes is due (dpm.prove_every): its last wake was on "
                                   "%.*s; it is put to standby and woken at once",
                                   DATE_LENGTH, woke));
    p->duration_s += (double)e->settings.policy.dpm.standby_s + boot_s;
    p->automatic = !e->paused && power_preconditions_are_automatic(e, f) && vms_may_move(e, s, host, now) &&
                   slot_usage_of_host(e->actions, f->id)->arriving == 0;
}

/* The proof is over when an inventory shows the host on. */
bool proofs_go_on(const struct engine *e)
{
    const struct action_list *power = &e->actions->usage.power;

    for (size_t i = 0; i < power->n; i++) {
        if (power->items[i]->r.reason == REASON_WAKE_TEST && action_committed(power->items[i]))
            return true;
    }
    return false;
}

void proofs_choose(struct engine *e, const struct observation *v, bool watched, instant_s now)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct demand_day day;
    const char *why = NULL;
    uint32_t oldest;

    drop_choice(e->proofs);
    if (!e->settings.schedule || e->settings.schedule->prove_every_s == 0 ||
        !e->settings.policy.dpm.enabled || !watched || proofs_go_on(e))
        return;
    const uint32_t host = find_due(e, v, now, &oldest);

    if (host == IX_NONE)
        return;
    const bool quiet = is_quiet(e, &v->snap, &day, &why);

    if (quiet)
        why = find_other_work(e, v, &a);
    const char *hurry = quiet && !why ? find_hurry(e, &v->snap, host, 0, &day, &a) : NULL;

    if (hurry) {
        why = hurry;
    } else if (quiet && !why) {
        why = find_obstacle(e, &v->snap, host, &day, &a);
        if (why)
            put_off(e->proofs, v->snap.hosts[host].is.id, now + TRIED_AGAIN_S);
        else
            choose(e, &v->snap, host, now);
        if (!why && !e->proofs->automatic)
            why = "its recommendation was not approved";
    }
    if (why && host == oldest)
        nights_proof_waits(e->knowledge->nights, v->snap.hosts[host].is.id, why, hurry != NULL);
}

bool proofs_come_first(const struct engine *e)
{
    return e->proofs->host && e->proofs->automatic;
}

/* ---- the recommendation ---------------------------------------------------------------------- */

bool proofs_recommendation(const struct engine *e, uint64_t pass, struct action_record *ret)
{
    const struct proofs *p = e->proofs;

    if (!p->host)
        return false;
    *ret = (struct action_record){
        .pass = pass,
        .state = ACTION_RECOMMENDED,
        .kind = ACTION_POWER_OFF,
        .priority = PRIORITY_MANDATORY,
        .host = p->host,
        .reason = REASON_WAKE_TEST,
        .text = p->text,
        .imbalance_after = UNKNOWN,
        .duration_s = p->duration_s,
        .created = e->now_seen->snap.time,
        .seen = e->now_seen->snap.time,
    };
    return true;
}

void proofs_approve(struct engine *e, instant_s now)
{
    for (size_t i = 0; e->proofs->host && e->proofs->automatic && !engine_held_back(e) && i < e->actions->n;
         i++) {
        struct action *x = e->actions->list[i];

        if (x->r.state != ACTION_RECOMMENDED || !proofs_is_proof(&x->r) ||
            strcmp(x->r.host, e->proofs->host) != 0)
            continue;
        action_approve(e, x, APPROVED_BY_ENGINE, now);
        return;
    }
}

/* The wake belongs to no pass: it is not given up because the plan is old. */
void proofs_approved(struct engine *e, const struct action *down, instant_s now)
{
    const struct action_record r = {
        .kind = ACTION_POWER_ON,
        .state = ACTION_RECOMMENDED,
        .priority = PRIORITY_MANDATORY,
        .host = down->r.host,
        .reason = REASON_WAKE_TEST,
        .text = down->r.text,
        .imbalance_after = UNKNOWN,
        .created = now,
        .seen = now,
    };
    const uint64_t id = down->r.id;
    struct action *up = action_add(e, &r);

    action_set_depends(e, up, &id, 1);
    action_approve(e, up, down->r.approved_by, now);
    decide_pass_at_once(e, now);
}
