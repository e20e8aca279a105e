/* engine_world_pass.c: replaces the core: a pass and a placement that recommend what the test prescribes. */
#include "engine_world.h"

#include "core/pass.h"
#include "core/place/best.h"
#include "core/place/place.h"

void w_host_id(int i, char ret[16])
{
    (void)snprintf(ret, 16, "h%d", i);
}

static bool w_is_busy(const struct snapshot *s, uint32_t vm)
{
    for (uint32_t i = 0; i < s->n_migrations; i++) {
        if (s->migrations[i].vm == vm)
            return true;
    }
    for (uint32_t i = 0; i < s->n_pending; i++) {
        if (s->pending[i].vm == vm)
            return true;
    }
    return false;
}

/* A finding without subjects. */
static const struct finding script_says = {.code = FIND_RULES_HELD};
static const struct finding has_vm = {.code = FIND_WAKE_REGISTERED};

static struct recommendation *w_add(struct plan *p, const struct world_move *m)
{
    struct recommendation *r = &p->recommendations[p->n_recommendations++];

    *r = (struct recommendation){.id = p->n_recommendations,
                                 .action = m->kind,
                                 .priority = m->priority,
                                 .vm = IX_NONE,
                                 .from = IX_NONE,
                                 .to = IX_NONE,
                                 .host = IX_NONE,
                                 .rule = IX_NONE,
                                 .group = m->group,
                                 .duration_s = 10,
                                 .found = m->has_vm ? &has_vm : &script_says};
    return r;
}

/* Whether there is anything to do: the VM is not there yet and not on its way, the host sleeps. A host that
 * is woken already is recommended again as long as it sleeps. */
static bool w_makes_sense(const struct snapshot *s, const struct world_move *m, uint32_t vm, uint32_t host)
{
    if (host == IX_NONE)
        return false;
    if (m->kind == ACTION_POWER_ON)
        return s->hosts[host].is.state == HOST_STANDBY && s->hosts[host].is.wake_failed_at == 0;
    if (m->kind == ACTION_POWER_OFF)
        return s->hosts[host].is.state == HOST_ON;
    if (m->empties && vm != IX_NONE && s->vms[vm].host != IX_NONE &&
        s->hosts[s->vms[vm].host].is.state != HOST_ON) /* it is approved, or over */
        return false;
    if (vm == IX_NONE || w_is_busy(s, vm))
        return false;
    if (m->off_vm && m->group == 0 && s->hosts[s->vms[vm].host].is.state != HOST_ENTERING_STANDBY)
        return false;
    return m->kind == ACTION_PLACE ? s->vms[vm].is.state != VM_ON : s->vms[vm].host != host;
}

/* A host goes to standby when all that empties it has been done. */
static void w_wait_for_moves(const struct plan *p, struct recommendation *r, const struct world_move *m,
                             struct arena *a)
{
    uint32_t *deps = arena_array(a, uint32_t, p->n_recommendations);
    uint32_t n = 0;

    for (uint32_t i = 0; i + 1 < p->n_recommendations; i++) {
        if (p->recommendations[i].action == ACTION_MIGRATE && p->recommendations[i].group == m->group)
            deps[n++] = p->recommendations[i].id;
    }
    r->depends_on = deps;
    r->n_depends_on = n;
}

static void w_depend(struct recommendation *r, const struct world_move *m, const uint32_t *given,
                     struct arena *a)
{
    const unsigned places[] = {m->depends_on, m->depends_also_on};
    uint32_t *deps = arena_array(a, uint32_t, 2);
    uint32_t n = 0;

    for (int i = 0; i < 2 && given; i++)
        if (places[i] > 0 && given[(int)places[i] - m->place] != 0)
            deps[n++] = given[(int)places[i] - m->place];
    if (n > 0) {
        r->depends_on = deps;
        r->n_depends_on = n;
    }
}

/* given: ids of the script's recommendations so far, by place from 1; 0: there was none. */
static void w_recommend(const struct snapshot *s, struct plan *p, struct arena *a, const struct world_move *m,
                        uint32_t *given)
{
    char to[16];
    bool power = m->kind == ACTION_POWER_ON || m->kind == ACTION_POWER_OFF;
    uint32_t vm = power ? IX_NONE : snapshot_find_vm(s, W->vms[m->vm].id);

    w_host_id(m->to, to);
    uint32_t host = snapshot_find_host(s, to);

    if (!w_makes_sense(s, m, vm, host) || (m->otherwise && p->n_recommendations > 0))
        return;
    struct recommendation *r = w_add(p, m);

    if (given)
        *given = r->id;
    r->vm = vm;
    *(power ? &r->host : &r->to) = host;
    r->from = m->kind == ACTION_MIGRATE ? s->vms[vm].host : IX_NONE;
    if (m->from > 0) {
        w_host_id(m->from - 1, to);
        r->from = snapshot_find_host(s, to);
    }
    r->reason = m->off_vm                                   ? REASON_OFF_VM
                : m->kind == ACTION_PLACE                   ? REASON_PLACEMENT
                : m->kind == ACTION_POWER_ON && m->for_load ? REASON_HIGH_UTILIZATION
                : m->early                                  ? REASON_EXPECTED_DEMAND
                : m->kind == ACTION_POWER_ON                ? REASON_SPARE_CAPACITY
                : m->kind == ACTION_POWER_OFF || m->empties ? REASON_CONSOLIDATE
                : m->evacuates && s->hosts[r->from].is.state == HOST_ENTERING_STANDBY ? REASON_STANDBY
                : m->evacuates                                                        ? REASON_MAINTENANCE
                                                                                      : REASON_BALANCE_CPU;
    if (given && m->kind == ACTION_POWER_OFF)
        w_wait_for_moves(p, r, m, a);
    w_depend(r, m, given, a);
}

/* One move, from the host with most VMs to the one with fewest. */
static bool w_greedy_move(const struct snapshot *s, struct world_move *ret)
{
    uint32_t most = 0;
    uint32_t least = 0;

    for (uint32_t h = 1; h < s->n_hosts; h++) {
        if (s->hosts[h].vms.n > s->hosts[most].vms.n)
            most = h;
        if (s->hosts[h].is.state == HOST_ON &&
            (s->hosts[least].is.state != HOST_ON || s->hosts[h].vms.n < s->hosts[least].vms.n))
            least = h;
    }
    if (s->hosts[most].vms.n < s->hosts[least].vms.n + 2)
        return false;
    for (uint32_t i = 0; i < s->hosts[most].vms.n; i++) {
        uint32_t vm = s->hosts[most].vms.items[i];

        if (w_is_busy(s, vm) || (s->vms[vm].is.last_migrated && s->time - s->vms[vm].is.last_migrated < 60))
            continue;
        *ret = (struct world_move){
            .vm = w_vm(s->vms[vm].is.id), .to = w_host(s->hosts[least].is.id), .priority = 2};
        return true;
    }
    return false;
}

static void w_begin_plan(const struct snapshot *snap, const struct policy *policy, struct arena *a,
                         struct plan *ret)
{
    *ret = (struct plan){.snap = snap, .policy = *policy};
    ret->before = (struct metrics){.imbalance = W->imbalance, .target = W->target};
    ret->after = (struct metrics){.imbalance = W->target, .target = W->target};
    ret->before.hosts = ret->after.hosts = arena_array(a, struct host_load, 1);
    ret->before.n_hosts = ret->after.n_hosts = 1;
    ret->before.hosts[0].n[RES_CPU] = W->hottest;
    ret->before.dpm_high[RES_CPU] = ret->after.dpm_high[RES_CPU] = W->high;
    for (uint32_t i = 0; i < snap->n_hosts; i++)
        if (snap->hosts[i].is.state == HOST_ENTERING_STANDBY)
            ret->after.dpm_high[RES_CPU] += W->high_without;
    ret->recommendations = arena_array(a, struct recommendation, WORLD_VMS);
}

int pass_run(const struct snapshot *snap, const struct policy *policy, struct arena *a, struct plan *ret,
             struct err *err)
{
    uint32_t given[WORLD_VMS + 1] = {0};
    struct world_move m;

    (void)err;
    W->passes++;
    w_begin_plan(snap, policy, a, ret);
    if (!policy->optional_moves)
        W->passes_mandatory_only++;
    if (!policy->dpm.may_sleep)
        W->passes_without_sleep++;
    if (W->greedy && policy->optional_moves && w_greedy_move(snap, &m))
        w_recommend(snap, ret, a, &m, NULL);
    for (int i = 0; !W->greedy && i < W->n_script; i++) {
        W->script[i].place = i + 1;
        if (policy->optional_moves || W->script[i].priority == 1)
            w_recommend(snap, ret, a, &W->script[i], &given[i + 1]);
    }
    w_plan_pools(snap, a, ret);
    return 0;
}

static bool w_is_asked_for(const struct snapshot *s, const struct world_move *m, const uint32_t *vms,
                           uint32_t n)
{
    bool asked = m->kind != ACTION_PLACE;

    for (uint32_t i = 0; i < n; i++)
        asked = asked || strcmp(s->vms[vms[i]].is.id, W->vms[m->vm].id) == 0;
    return asked;
}

/* The first move of the VM in the script of placements; without one it is best where it runs, and without a
 * host of its own nowhere. */
int best_host_find(const struct snapshot *snap, const struct policy *policy, uint32_t vm, struct arena *a,
                   struct best_host *ret, struct plan *ret_plan, struct err *err)
{
    uint32_t given = 0;

    W->placements++;
    w_begin_plan(snap, policy, a, ret_plan);
    if (snap->vms[vm].is.state != VM_ON)
        return err_set(err, -EBUSY, "%s cannot be migrated: it does not run", snap->vms[vm].is.name);
    *ret = (struct best_host){.host = snap->vms[vm].host, .why = &script_says};
    for (int i = 0; i < W->n_places; i++) {
        if (strcmp(snap->vms[vm].is.id, W->vms[W->places[i].vm].id) != 0)
            continue;
        ret->host = W->places[i].to < 0 ? IX_NONE : (uint32_t)W->places[i].to;
        W->places[i].place = i + 1;
        if (ret->host != IX_NONE)
            w_recommend(snap, ret_plan, a, &W->places[i], &given);
        break;
    }
    return 0;
}

double w_mem_mb(int vm)
{
    return W->vms[vm].mem_mb > 0 ? W->vms[vm].mem_mb : W->vm_mem_mb > 0 ? W->vm_mem_mb : 1000;
}

/* Memory on the host of VMs that run or are on their way. */
static double w_taken_mb(const struct snapshot *s, const struct plan *p, uint32_t host)
{
    double sum = 0;

    for (uint32_t i = 0; i < s->n_vms; i++)
        sum += s->vms[i].is.state == VM_ON && s->vms[i].host == host ? s->vms[i].is.mem_mb : 0;
    for (uint32_t i = 0; i < s->n_pending; i++)
        sum += s->pending[i].to == host ? s->vms[s->pending[i].vm].is.mem_mb : 0;
    for (uint32_t i = 0; p && i < p->n_recommendations; i++)
        sum += p->recommendations[i].to == host ? s->vms[p->recommendations[i].vm].is.mem_mb : 0;
    return sum;
}

static bool w_may_be_at(const struct snapshot *s, const struct plan *p, uint32_t vm, uint32_t host)
{
    unsigned hosts = W->vms[w_vm(s->vms[vm].is.id)].may_be_at;
    const uint64_t *offered = s->vms[vm].offered;

    return (!offered || offered[0] >> host & 1) && (hosts == 0 || hosts >> host & 1) &&
           w_taken_mb(s, p, host) + s->vms[vm].is.mem_mb <= W->room_mb;
}

static void w_place_by_room(const struct snapshot *s, struct plan *ret, struct arena *a, uint32_t vm)
{
    struct world_move m = {.kind = ACTION_PLACE, .vm = w_vm(s->vms[vm].is.id), .priority = 1};

    while (m.to < (int)s->n_hosts && !w_may_be_at(s, ret, vm, (uint32_t)m.to))
        m.to++;
    if (m.to < (int)s->n_hosts)
        w_recommend(s, ret, a, &m, NULL);
    for (uint32_t h = 0; h < s->n_hosts; h++)
        ret->n_candidates += w_may_be_at(s, NULL, vm, h);
}

static bool w_offers(const struct snapshot *s, const struct world_move *m)
{
    uint32_t vm = m->vm < 0 ? IX_NONE : snapshot_find_vm(s, W->vms[m->vm].id);

    return m->kind != ACTION_PLACE || vm == IX_NONE || !s->vms[vm].offered ||
           s->vms[vm].offered[0] >> m->to & 1;
}

/* What the placements' script says; a VM that it does not say anything of cannot be placed. */
int place_run(const struct snapshot *snap, const struct policy *policy, const uint32_t *vms, uint32_t n_vms,
              struct arena *a, struct plan *ret, struct err *err)
{
    uint32_t given[WORLD_VMS + 1] = {0};

    (void)err;
    W->placements++;
    w_begin_plan(snap, policy, a, ret);
    ret->faults = arena_array(a, struct fault, n_vms);
    for (int i = 0; i < W->n_places; i++) {
        W->places[i].place = i + 1;
        if (w_is_asked_for(snap, &W->places[i], vms, n_vms) && w_offers(snap, &W->places[i]))
            w_recommend(snap, ret, a, &W->places[i], &given[i + 1]);
    }
    for (uint32_t i = 0; i < n_vms; i++) {
        bool placed = false;

        if (W->room_mb > 0)
            w_place_by_room(snap, ret, a, vms[i]);

        assert_int_not_equal(snap->vms[vms[i]].is.state, VM_ON);
        for (uint32_t k = 0; k < ret->n_recommendations; k++)
            placed = placed || ret->recommendations[k].vm == vms[i];
        if (placed)
            continue;
        ret->faults[ret->n_faults++] = (struct fault){.code = FAULT_CANNOT_PLACE,
                                                      .vm = vms[i],
                                                      .host = IX_NONE,
                                                      .rule = IX_NONE,
                                                      .found = &script_says};
    }
    return 0;
}

int world_place(const struct place_request *q, struct placement *ret, struct err *err)
{
    uint64_t ticket;
    int r = engine_place(W->engine, q, W->now, &ticket, err);

    if (r < 0)
        return r;
    do
        world_answer(); /* what was asked before may still be on its way */
    while ((r = engine_place_result(W->engine, ticket, ret, err)) == -EINPROGRESS);
    if (r < 0)
        engine_place_release(W->engine, ticket);
    return r;
}
