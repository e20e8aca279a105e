#include "oracle.h"

#include "naive_fit.h"

#include "core/demand/demand.h"
#include "core/divvy/divvy.h"

#include <string.h>

/* Sums of the same numbers in another order. */
#define ROUNDING 1e-6

static bool rule_counts(const struct rule *r, bool with_preferred)
{
    return r->is.enabled && (r->is.mandatory || with_preferred);
}

static bool names(struct span s, uint32_t ix)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (s.items[i] == ix)
            return true;
    return false;
}

static void set_going(struct oracle *o, uint32_t vm, uint32_t from, uint32_t to)
{
    uint32_t other = o->home[vm] == to ? from : to;

    o->in_flight[vm] = true;
    if (o->home[vm] == IX_NONE) { /* it arrives though its source is not seen any more */
        bool comes = o->snap->vms[vm].is.state == VM_ON && o->snap->vms[vm].is.kind != VM_SPARE;
        if (comes && o->snap->hosts[to].is.state != HOST_DISCONNECTED)
            o->home_also[vm] = to;
        return;
    }
    if (other == IX_NONE || o->home[vm] == other || o->snap->hosts[other].is.state == HOST_DISCONNECTED)
        return;
    o->home_also[vm] = other;
    o->arrived[vm] = o->home[vm] == to;
}

/* One that runs already was powered on in the meantime. */
static void set_starting(struct oracle *o, uint32_t vm, uint32_t to)
{
    o->in_flight[vm] = true;
    if (o->home[vm] != IX_NONE || o->snap->hosts[to].is.state == HOST_DISCONNECTED)
        return;
    o->starts[vm] = true;
    o->home_also[vm] = to;
}

static void entitle(struct oracle *o, const struct snapshot *s)
{
    for (int r = 0; r < RES_COUNT; r++) {
        double *demand = arena_array(o->a, double, s->n_vms);
        o->entitlement[r] = arena_array(o->a, double, s->n_vms);
        demand_estimate(s, (enum resource)r, demand);
        (void)divvy_entitle(s, (enum resource)r, demand, o->a, o->entitlement[r]);
    }
}

void oracle_init(struct oracle *o, const struct snapshot *snap, const struct policy *policy, struct arena *a)
{
    *o = (struct oracle){.snap = snap, .policy = policy, .a = a};
    entitle(o, snap);
    o->home = arena_array(a, uint32_t, snap->n_vms);
    o->home_also = arena_array(a, uint32_t, snap->n_vms);
    o->at = arena_array(a, uint32_t, snap->n_vms);
    o->also = arena_array(a, uint32_t, snap->n_vms);
    o->in_flight = arena_array(a, bool, snap->n_vms);
    o->starts = arena_array(a, bool, snap->n_vms);
    o->woken = arena_array(a, bool, snap->n_hosts);
    o->asleep = arena_array(a, bool, snap->n_hosts);
    o->arrived = arena_array(a, bool, snap->n_vms);
    for (uint32_t i = 0; i < snap->n_vms; i++) {
        o->home[i] = vm_takes_part(snap, &snap->vms[i]) ? snap->vms[i].host : IX_NONE;
        o->home_also[i] = IX_NONE;
    }
    for (uint32_t i = 0; i < snap->n_migrations; i++)
        set_going(o, snap->migrations[i].vm, snap->migrations[i].from, snap->migrations[i].to);
    for (uint32_t i = 0; i < snap->n_pending; i++)
        if (snap->pending[i].action == ACTION_MIGRATE)
            set_going(o, snap->pending[i].vm, IX_NONE, snap->pending[i].to);
        else if (snap->pending[i].action == ACTION_PLACE)
            set_starting(o, snap->pending[i].vm, snap->pending[i].to);
    oracle_reset(o);
}

static double core_mhz(const struct host *h)
{
    return h->is.total[RES_CPU] / h->is.cores;
}

/* VMs that others have placed take part in the division of what there is, each with all it may use. */
static void entitle_approved(struct oracle *o)
{
    struct snapshot s = *o->snap;

    s.vms = arena_array(o->a, struct vm, s.n_vms);
    for (uint32_t i = 0; i < s.n_vms; i++) {
        struct vm *v = &s.vms[i];
        *v = o->snap->vms[i];
        if (!o->starts[i])
            continue;
        v->host = o->home_also[i];
        v->is.state = VM_ON;
        v->is.demand[RES_CPU] = v->is.vcpus * core_mhz(&s.hosts[v->host]);
        v->is.demand[RES_MEM] = v->is.mem_mb;
    }
    entitle(o, &s);
}

void oracle_expect(struct oracle *o, const uint32_t *vms, uint32_t n)
{
    double core = 0;

    entitle_approved(o);
    for (uint32_t h = 0; h < o->snap->n_hosts; h++)
        core = fmax(core, core_mhz(&o->snap->hosts[h]));
    for (uint32_t i = 0; i < n; i++) {
        const struct vm_facts *v = &o->snap->vms[vms[i]].is;
        const double most[RES_COUNT] = {[RES_CPU] = v->vcpus * core, [RES_MEM] = v->mem_mb};
        o->starts[vms[i]] = true;
        for (int r = 0; r < RES_COUNT; r++)
            o->entitlement[r][vms[i]] = fmin(fmax(most[r], v->alloc[r].reservation), v->alloc[r].limit);
    }
}

void oracle_reset(struct oracle *o)
{
    for (uint32_t h = 0; h < o->snap->n_hosts; h++) {
        o->woken[h] = false;
        o->asleep[h] = false;
    }
    for (uint32_t i = 0; i < o->snap->n_vms; i++) {
        o->at[i] = o->home[i];
        o->also[i] = o->home_also[i];
    }
}

void oracle_begin(struct oracle *o, const struct recommendation *rec)
{
    if (!oracle_is_power(rec))
        o->also[rec->vm] = rec->to;
}

void oracle_end(struct oracle *o, const struct recommendation *rec)
{
    if (rec->action == ACTION_POWER_ON)
        o->woken[rec->host] = !o->snap->hosts[rec->host].failover;
    if (rec->action == ACTION_POWER_OFF)
        o->asleep[rec->host] = true;
    if (oracle_is_power(rec))
        return;
    o->at[rec->vm] = rec->to;
    o->also[rec->vm] = IX_NONE;
}

bool oracle_receives(const struct oracle *o, uint32_t host)
{
    struct span agents = o->snap->hosts[host].agents_required;

    for (uint32_t i = 0; i < o->snap->n_pending; i++) {
        enum action_kind action = o->snap->pending[i].action;
        if ((action == ACTION_POWER_OFF || action == ACTION_ENTER_MAINTENANCE) &&
            o->snap->pending[i].host == host)
            return false;
    }
    for (uint32_t i = 0; i < agents.n && !o->woken[host]; i++) {
        const struct vm *agent = &o->snap->vms[agents.items[i]];
        if (agent->is.state != VM_ON || agent->host != host)
            return false;
    }
    return oracle_runs_vms(o, host);
}

/* Of agents that do not run yet; what they will use is not there yet. */
static double kept_for_agents(const struct oracle *o, uint32_t host, enum oracle_need need)
{
    struct span agents = o->snap->hosts[host].agents_required;
    double sum = 0;

    for (uint32_t i = 0; i < agents.n; i++) {
        const struct vm *agent = &o->snap->vms[agents.items[i]];
        if (agent->is.state != VM_ON && agent->host == host && need != ORACLE_PHYSICAL)
            sum += oracle_needs(o, agents.items[i], need);
    }
    return sum;
}

double oracle_taken(const struct oracle *o, uint32_t host, enum oracle_need need)
{
    double sum = kept_for_agents(o, host, need);

    for (uint32_t i = 0; i < o->snap->n_vms; i++) {
        if (need != ORACLE_PHYSICAL) {
            sum += oracle_is_on(o, i, host) ? oracle_needs(o, i, need) : 0;
            continue;
        }
        if (o->home[i] == host && !oracle_is_on(o, i, host))
            sum -= oracle_frees(o, i, need);
        if (o->home[i] != host && oracle_is_on(o, i, host) && !o->arrived[i])
            sum += oracle_needs(o, i, need);
    }
    return sum;
}

double oracle_own_use(const struct oracle *o, uint32_t host, enum oracle_need need)
{
    const struct own_use *own = &o->snap->hosts[host].own;
    enum resource r = need == ORACLE_CPU_RESERVED ? RES_CPU : RES_MEM;

    return need == ORACLE_MEM ? own->now[r] : fmin(own->now[r], own->window[WINDOW_40M][r].mean);
}

double oracle_limit(const struct oracle *o, uint32_t host, enum oracle_need need)
{
    const struct host *h = &o->snap->hosts[host];

    switch (need) {
    case ORACLE_CPU_RESERVED:
        return h->capacity[RES_CPU] - oracle_own_use(o, host, need);
    case ORACLE_MEM_RESERVED:
        return h->capacity[RES_MEM] - oracle_own_use(o, host, need);
    case ORACLE_MEM:
        return h->capacity[RES_MEM] * o->policy->mem_overcommit - oracle_own_use(o, host, need);
    case ORACLE_PHYSICAL:
        return isnan(h->is.mem_free_mb) ? NO_LIMIT : h->is.mem_free_mb + oracle_idle_on(o, host, true);
    case ORACLE_NEEDS:
        break;
    }
    return 0;
}

enum fit_use oracle_fit_use(const struct oracle *o, uint32_t vm, bool runs_there)
{
    const struct vm_facts *v = &o->snap->vms[vm].is;
    bool has_host = v->state == VM_ON || v->kind == VM_SPARE; /* a spare VM stands for restarts */

    for (uint32_t i = 0; i < o->snap->n_pending; i++)
        has_host = has_host || o->snap->pending[i].vm == vm;
    return runs_there ? FIT_CORRECT : has_host ? FIT_MOVE : FIT_PLACE;
}

/* off: VMs that are off count where they are listed, unless they are started. */
static bool is_on(const void *with, uint32_t vm, uint32_t host, bool off)
{
    const struct oracle *o = with;
    const struct vm *v = &o->snap->vms[vm];

    return oracle_is_on(o, vm, host) ||
           (off && v->is.state != VM_ON && v->is.kind != VM_SPARE && !o->starts[vm] && v->host == host &&
            o->snap->hosts[host].is.state != HOST_DISCONNECTED);
}

bool oracle_counts_allow(const struct oracle *o, uint32_t vm, uint32_t host, enum fit_use use)
{
    const struct naive_state state = {.is_on = is_on, .with = o};

    return naive_counts_allow(o->snap, use, vm, host, &state);
}

/* The VM comes to the host, and perhaps others with it, which then are there. */
struct coming {
    const struct oracle *o;
    uint32_t host;
    const bool *with; /* by VM; NULL: alone */
};

static bool comes_with(const struct coming *c, uint32_t vm)
{
    return c->with && c->with[vm];
}

static bool other_is_on(const void *with, uint32_t vm, uint32_t host, bool off)
{
    const struct coming *c = with;

    return comes_with(c, vm) ? host == c->host : is_on(c->o, vm, host, off);
}

static double other_load(const void *with, uint32_t vm, uint32_t host)
{
    const struct coming *c = with;
    double sum = c->o->snap->hosts[host].own.now[RES_CPU];

    for (uint32_t i = 0; i < c->o->snap->n_vms; i++)
        if (i != vm && (oracle_is_on(c->o, i, host) || comes_with(c, i)))
            sum += c->o->entitlement[RES_CPU][i];
    return round(sum / c->o->snap->hosts[host].capacity[RES_CPU] * 1e6) / 1e6;
}

static double other_free_mem(const void *with, uint32_t vm, uint32_t host)
{
    const struct coming *c = with;
    const struct oracle *o = c->o;
    double free = oracle_limit(o, host, ORACLE_PHYSICAL) - oracle_taken(o, host, ORACLE_PHYSICAL) -
                  oracle_idle_on(o, host, false);

    for (uint32_t i = 0; i < o->snap->n_vms; i++)
        if (i == vm && oracle_is_on(o, i, host) && o->home[i] != host && !o->arrived[i])
            free += oracle_needs(o, i, ORACLE_PHYSICAL) + oracle_idle(o, i);
        else if (i != vm && comes_with(c, i) && !oracle_is_on(o, i, host))
            free -= oracle_needs(o, i, ORACLE_PHYSICAL) + oracle_idle(o, i);
    return isnan(o->snap->hosts[host].is.mem_free_mb) ? NAN : round(free * 1e3) / 1e3;
}

bool oracle_live_allows_at(const struct oracle *o, uint32_t vm, uint32_t host, enum fit_use use,
                           const bool *with, unsigned *ret_asked)
{
    const struct coming c = {o, host, with};
    const struct naive_state state = {other_is_on, other_load, other_free_mem, &c};

    return naive_live_allows(o->snap, use, vm, host, &state, ret_asked);
}

/* The VMs that rules keep together with this one. */
static void kept_together(const struct oracle *o, uint32_t vm, bool *ret)
{
    const struct snapshot *s = o->snap;

    ret[vm] = true;
    for (uint32_t i = 0; i < s->n_rules; i++) {
        const struct span vms = s->rules[i].vms;

        if (s->rules[i].is.kind != RULE_VM_AFFINE || !s->rules[i].is.enabled || !span_has(vms, vm))
            continue;
        for (uint32_t k = 0; k < vms.n; k++)
            if (!ret[vms.items[k]])
                kept_together(o, vms.items[k], ret);
    }
}

bool oracle_live_allows(const struct oracle *o, const struct plan *plan, const struct recommendation *rec,
                        unsigned *ret_asked)
{
    bool *with = arena_array(o->a, bool, o->snap->n_vms);
    bool *affine = arena_array(o->a, bool, o->snap->n_vms);

    kept_together(o, rec->vm, affine);

    for (uint32_t i = 0; rec->group != 0 && i < plan->n_recommendations; i++) {
        const struct recommendation *r = &plan->recommendations[i];
        if (r->vm != IX_NONE && affine[r->vm] && r->action == rec->action && r->group == rec->group &&
            r->from == rec->from && r->to == rec->to)
            with[r->vm] = true;
    }
    return oracle_live_allows_at(o, rec->vm, rec->to, rec->action == ACTION_PLACE ? FIT_PLACE : FIT_MOVE,
                                 with, ret_asked);
}

bool oracle_fits(const struct oracle *o, uint32_t vm, uint32_t host)
{
    for (int need = 0; need < ORACLE_NEEDS; need++) {
        double mine = oracle_needs(o, vm, (enum oracle_need)need);
        if (mine > 0 && oracle_taken(o, host, (enum oracle_need)need) + mine >
                            oracle_limit(o, host, (enum oracle_need)need) + ROUNDING)
            return false;
    }
    unsigned asked = 0;

    return oracle_counts_allow(o, vm, host, oracle_fit_use(o, vm, false)) &&
           oracle_live_allows_at(o, vm, host, oracle_fit_use(o, vm, false), NULL, &asked);
}

static bool has_name(const struct ids *names, const char *name)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static bool has_all(const struct offer *offer, const struct ids *needs)
{
    for (uint32_t i = 0; offer->known && i < needs->n; i++)
        if (!has_name(&offer->names, needs->items[i]))
            return false;
    return true;
}

bool oracle_offers(const struct snapshot *s, uint32_t vm, uint32_t host)
{
    const struct vm_facts *v = &s->vms[vm].is;
    const struct host_facts *h = &s->hosts[host].is;
    const struct ids mode = {.items = &v->cpu_mode, .n = v->cpu_mode != NULL};

    return has_all(&h->networks, &v->networks) && has_all(&h->datastores, &v->datastores) &&
           has_all(&h->devices, &v->devices) && has_all(&h->cpu_modes, &mode) &&
           (!v->cpu_vendor || !h->cpu_vendor || strcmp(v->cpu_vendor, h->cpu_vendor) == 0);
}

bool oracle_forbids(const struct snapshot *s, const struct recommendation *rec)
{
    if (rec->action != ACTION_MIGRATE && rec->action != ACTION_PLACE)
        return false;
    const struct vm_facts *v = &s->vms[rec->vm].is;
    bool moves = rec->action == ACTION_MIGRATE;

    return !oracle_offers(s, rec->vm, rec->to) ||
           !naive_fits(s, moves ? FIT_MOVE : FIT_PLACE, rec->vm, rec->to) || (moves && v->immovable) ||
           (moves && v->mandatory_only && rec->priority != PRIORITY_MANDATORY);
}

bool oracle_may_run(const struct oracle *o, uint32_t vm, uint32_t host, bool with_preferred)
{
    const struct vm *v = &o->snap->vms[vm];

    bool runs_there = v->is.state == VM_ON && v->host == host;

    if (v->compatible_given && !names(v->compatible_hosts, host))
        return false;
    if (!runs_there && !oracle_offers(o->snap, vm, host))
        return false;
    if (!naive_fits(o->snap, oracle_fit_use(o, vm, runs_there), vm, host))
        return false;
    for (uint32_t i = 0; i < o->snap->n_rules; i++) {
        const struct rule *r = &o->snap->rules[i];
        if (!rule_counts(r, with_preferred) || !names(r->vms, vm))
            continue;
        if ((r->is.kind == RULE_HOST_AFFINE && !names(r->hosts, host)) ||
            (r->is.kind == RULE_HOST_ANTI_AFFINE && names(r->hosts, host)))
            return false;
    }
    return true;
}

bool oracle_kept_apart(const struct oracle *o, uint32_t x, uint32_t y, bool with_preferred)
{
    if (o->snap->vms[x].ft_peer == y)
        return true;
    for (uint32_t i = 0; i < o->snap->n_rules; i++) {
        const struct rule *r = &o->snap->rules[i];
        if (r->is.kind == RULE_VM_ANTI_AFFINE && rule_counts(r, with_preferred) && names(r->vms, x) &&
            names(r->vms, y))
            return true;
    }
    return false;
}

bool oracle_meets(const struct oracle *o, uint32_t vm, uint32_t host, bool with_preferred)
{
    for (uint32_t i = 0; i < o->snap->n_vms; i++)
        if (i != vm && oracle_is_on(o, i, host) && oracle_kept_apart(o, vm, i, with_preferred))
            return true;
    return false;
}

double oracle_norm(const struct oracle *o, uint32_t host, enum resource r)
{
    double sum = o->snap->hosts[host].own.now[r];

    for (uint32_t i = 0; i < o->snap->n_vms; i++)
        sum += oracle_is_on(o, i, host) ? o->entitlement[r][i] : 0;
    return sum / o->snap->hosts[host].capacity[r];
}

void oracle_weights(const struct oracle *o, double ret_weight[RES_COUNT])
{
    bool over[RES_COUNT] = {false};

    for (uint32_t h = 0; h < o->snap->n_hosts; h++)
        for (int r = 0; r < RES_COUNT; r++)
            over[r] = over[r] || (oracle_runs_vms(o, h) && oracle_norm(o, h, (enum resource)r) > 1 + 1e-9);
    ret_weight[RES_CPU] = over[RES_CPU] == over[RES_MEM] ? 0.5 : over[RES_CPU] ? 0.75 : 0.25;
    ret_weight[RES_MEM] = 1 - ret_weight[RES_CPU];
}

double oracle_sigma(const struct oracle *o, enum resource r)
{
    double sum = 0;
    double squares = 0;
    uint32_t n = 0;

    for (uint32_t h = 0; h < o->snap->n_hosts; h++) {
        if (!oracle_runs_vms(o, h))
            continue;
        sum += oracle_norm(o, h, r);
        n++;
    }
    for (uint32_t h = 0; h < o->snap->n_hosts; h++) {
        if (!oracle_runs_vms(o, h))
            continue;
        double d = oracle_norm(o, h, r) - sum / n;
        squares += d * d;
    }
    return n > 0 ? sqrt(squares / n) : 0;
}

double oracle_imbalance_at(const struct oracle *o, const double weight[RES_COUNT])
{
    return weight[RES_CPU] * oracle_sigma(o, RES_CPU) + weight[RES_MEM] * oracle_sigma(o, RES_MEM);
}

double oracle_imbalance(const struct oracle *o)
{
    double weight[RES_COUNT];

    oracle_weights(o, weight);
    return oracle_imbalance_at(o, weight);
}

/* The VMs in state on, host by host. */
static void link_vms(struct snapshot *s, struct arena *a)
{
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        uint32_t *items = arena_array(a, uint32_t, s->n_vms);
        uint32_t n = 0;
        for (uint32_t i = 0; i < s->n_vms; i++)
            if (s->vms[i].host == h && s->vms[i].is.state == VM_ON)
                items[n++] = i;
        s->hosts[h].vms = (struct span){.items = items, .n = n};
    }
}

void oracle_carried_out(const struct plan *plan, instant_s moved_at, struct arena *a, struct snapshot *ret)
{
    const struct snapshot *s = plan->snap;
    struct oracle o;

    oracle_init(&o, s, &plan->policy, a);
    *ret = *s;
    ret->hosts = arena_array(a, struct host, s->n_hosts);
    ret->vms = arena_array(a, struct vm, s->n_vms);
    for (uint32_t i = 0; i < s->n_hosts; i++)
        ret->hosts[i] = s->hosts[i];
    for (uint32_t i = 0; i < s->n_vms; i++)
        ret->vms[i] = s->vms[i];
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        if (rec->action == ACTION_POWER_ON) {
            ret->hosts[rec->host].is.state = HOST_ON;
            ret->hosts[rec->host].is.on_since = moved_at;
            ret->hosts[rec->host].is.woken = (struct woken){.at = moved_at, .reason = rec->reason};
            continue;
        }
        if (rec->action == ACTION_POWER_OFF) {
            ret->hosts[rec->host].is.state = HOST_STANDBY;
            ret->hosts[rec->host].is.standby_since = moved_at;
            ret->hosts[rec->host].is.woken = (struct woken){0};
            continue;
        }
        ret->vms[rec->vm].host = rec->to;
        ret->vms[rec->vm].is.last_migrated = moved_at;
        ret->vms[rec->vm].left_host = rec->action == ACTION_MIGRATE ? rec->from : IX_NONE;
        double idle = oracle_idle(&o, rec->vm);
        ret->hosts[rec->to].is.mem_free_mb -= oracle_needs(&o, rec->vm, ORACLE_PHYSICAL) + idle;
        ret->hosts[rec->from].is.mem_free_mb += oracle_frees(&o, rec->vm, ORACLE_PHYSICAL) + idle;
    }
    link_vms(ret, a);
}

static bool same_finding(const struct finding *x, const struct finding *y)
{
    if (!x || !y)
        return x == y;
    bool same = x->code == y->code && x->reason == y->reason && x->check == y->check &&
                x->power == y->power && x->resource == y->resource;
    for (int i = 0; i < FINDING_SUBJECTS_MAX; i++)
        same = same && x->subjects[i].name == y->subjects[i].name && x->subjects[i].ix == y->subjects[i].ix;
    for (int i = 0; i < FINDING_FIGURES_MAX; i++)
        same = same && x->figures[i].name == y->figures[i].name &&
               (x->figures[i].value == y->figures[i].value ||
                (isnan(x->figures[i].value) && isnan(y->figures[i].value)));
    return same && same_finding(x->because, y->because);
}

static bool same_recommendation(const struct recommendation *x, const struct recommendation *y)
{
    bool same = x->id == y->id && x->action == y->action && x->priority == y->priority && x->vm == y->vm &&
                x->from == y->from && x->to == y->to && x->host == y->host && x->rule == y->rule &&
                x->reason == y->reason && x->group == y->group && x->imbalance_after == y->imbalance_after &&
                x->duration_s == y->duration_s && x->n_depends_on == y->n_depends_on &&
                same_finding(x->found, y->found);

    for (uint32_t i = 0; same && i < x->n_depends_on; i++)
        same = x->depends_on[i] == y->depends_on[i];
    for (int r = 0; r < RES_COUNT; r++)
        same = same && x->cost[r] == y->cost[r] && x->benefit[r] == y->benefit[r];
    return same;
}

bool oracle_same_plan(const struct plan *x, const struct plan *y)
{
    bool same = x->n_recommendations == y->n_recommendations && x->n_faults == y->n_faults;

    for (uint32_t i = 0; same && i < x->n_recommendations; i++)
        same = same_recommendation(&x->recommendations[i], &y->recommendations[i]);
    for (uint32_t i = 0; same && i < x->n_faults; i++)
        same = same_finding(x->faults[i].found, y->faults[i].found);
    return same;
}
