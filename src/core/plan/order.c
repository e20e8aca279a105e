/* Turns decisions into recommendations: one per VM, with its dependencies and the imbalance after it.
 *
 * The decisions are in an order in which they can be carried out one by one. Migrations may overlap, and any
 * that depends_on allows may start first. So a move names every earlier move that frees the capacity it
 * needs, and no other (§3.1.5). For a move to host d, all earlier arrivals at d count as arrived, and of the
 * VMs that left d only the named ones count as gone. If each move fits under this assumption, every set of
 * moves fits at every moment: the last move of the set in plan order has already counted all the others.
 *
 * A filter that reads what moves change may be true of any state, so its host keeps the plan's order: such a
 * move waits for all earlier moves to and from its destination, and all later ones there wait for it. */
#include "core/plan/findings.h"
#include "core/plan/plan.h"

/* Two sums of the same numbers may differ by this share, because their order of addition differs. */
#define ROUNDING 1e-6

/* The capacities that a host must have for a VM. */
enum need { NEED_CPU_RESERVED, NEED_MEM_RESERVED, NEED_MEM, NEED_PHYS, NEED_COUNT };

struct departure {
    uint32_t rec;  /* index into the recommendations */
    uint32_t next; /* of the same host; IX_NONE: the last */
};

/* The layout of the ordering has single VMs as units: an affine set that moves together still gets one
 * recommendation per VM. */
struct ordering {
    struct pass *p;
    struct rules single; /* the pass's rules, with every VM in a component of its own */
    struct layout now;   /* after the moves so far */
    bool hosts_change;   /* the plan has woken hosts or put hosts to standby so far */
    struct plan *plan;
    double (*taken)[NEED_COUNT]; /* by slot: at the start, plus all arrivals so far */
    uint32_t *first_departure;   /* by slot */
    uint32_t *woken_by;          /* by slot: the id of the recommendation that wakes its host; 0: none */
    uint32_t *group_of;          /* by move_group; 0: not numbered yet */
    uint32_t n_groups;
    struct departure *departures; /* by recommendation */
    uint32_t *moved_by;           /* by VM: the id of its last move; 0: none */
    bool *off_leave;              /* by VM that is off: it is registered elsewhere */
    double *given_mb;        /* by host: the memory of VMs that are off and come to be registered there */
    uint32_t *watched;       /* by slot: the id of the last move there that a live filter binds; 0: none */
    uint32_t *watched_cells; /* likewise, of a VM that takes cells or devices */
    int64_t *used; /* layout.used at the start, plus all arrivals so far; NULL: nothing is counted */
};

static void needs_of(const struct layout *l, uint32_t u, bool leaving, double ret[NEED_COUNT])
{
    ret[NEED_CPU_RESERVED] = l->unit_reserved[RES_CPU][u];
    ret[NEED_MEM_RESERVED] = l->unit_reserved[RES_MEM][u];
    ret[NEED_MEM] = l->unit_mem[u];
    ret[NEED_PHYS] = leaving ? l->unit_backed[u] : l->unit_phys[u];
}

/* The capacity of the slot without the failover reservations at the time of the decision. Failover slots
 * released later belong to VMs that have not arrived yet. Failover slots found later had room beside all
 * arrivals, or lie on the host that their VM left. */
static void limits_of(const struct layout *l, uint32_t slot, const double kept[RES_COUNT],
                      double ret[NEED_COUNT])
{
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];
    bool by_admission = l->snap->promise.by_admission;

    ret[NEED_CPU_RESERVED] = h->capacity[RES_CPU] - kept[RES_CPU];
    ret[NEED_MEM_RESERVED] = h->capacity[RES_MEM] - (by_admission ? 0 : kept[RES_MEM]);
    ret[NEED_MEM] = l->mem_limit[slot] - (by_admission ? kept[RES_MEM] : 0);
    ret[NEED_PHYS] = l->mem_free0[slot];
}

/* The need that exceeds its limit most after the named departures, except needs that no departure reduces;
 * NEED_COUNT: all fit. Reservations do not matter to a VM that reserves nothing. */
static int tightest(const double taken[NEED_COUNT], const double mine[NEED_COUNT],
                    const double freed[NEED_COUNT], const double limit[NEED_COUNT],
                    const bool hopeless[NEED_COUNT])
{
    int worst = NEED_COUNT;
    double worst_part = 0;

    for (int k = 0; k < NEED_COUNT; k++) {
        double excess = taken[k] + mine[k] - freed[k] - limit[k];
        if (!(mine[k] > 0) || !(excess > ROUNDING) || hopeless[k])
            continue;
        double part = excess / mine[k];
        if (worst == NEED_COUNT || part > worst_part) {
            worst = k;
            worst_part = part;
        }
    }
    return worst;
}

/* An anti-affinity rule separates them, or they are the halves of a fault-tolerant pair. */
static bool kept_apart(const struct rules *rules, uint32_t x, uint32_t y)
{
    if (rules->snap->vms[x].ft_peer == y)
        return true;
    for (uint32_t i = rules->groups.from[x]; i < rules->groups.from[x + 1]; i++)
        for (uint32_t j = rules->groups.from[y]; j < rules->groups.from[y + 1]; j++)
            if (rules->groups.of[i] == rules->groups.of[j])
                return true;
    return false;
}

static int64_t takes_of(const struct fit_counts *counts, uint32_t vm, uint32_t counter)
{
    for (uint32_t k = counts->shares_from[vm]; k < counts->shares_from[vm + 1]; k++)
        if (counts->shares[k].counter == counter)
            return counts->shares[k].takes;
    return 0;
}

/* A counter of a host that is above the VM's limit on the slot after the named departures; IX_NONE: none. */
static uint32_t counter_short(const struct ordering *o, uint32_t vm, uint32_t slot, const bool *named)
{
    const struct fit *fit = &o->p->rules.fit;
    const struct fit_counts *counts = &fit->counts;

    const struct fit_bound *b;

    for (uint32_t n = o->used ? fit_bounds(fit, vm, &b) : 0; n > 0; n--, b++)
        for (uint32_t i = counts->shares_from[vm]; i < counts->shares_from[vm + 1]; i++) {
            const struct fit_share *mine = &counts->shares[i];

            if (counts->counters[mine->counter].from ||
                !fit_limits(fit, b, mine, rules_fit_use(&fit->snap->vms[vm])))
                continue;
            int64_t excess = o->used[o->now.used_from[mine->counter] + slot] + mine->takes -
                             fit_limit(fit, vm, b->stage, o->now.slot_host[slot]);
            for (uint32_t d = o->first_departure[slot]; d != IX_NONE; d = o->departures[d].next)
                excess -= named[d] ? takes_of(counts, o->plan->recommendations[d].vm, mine->counter) : 0;
            if (excess > 0)
                return mine->counter;
        }
    return IX_NONE;
}

/* Of the departures not yet named, the one that takes most of the counter. */
static uint32_t taking_most(const struct ordering *o, uint32_t slot, const bool *named, uint32_t counter)
{
    uint32_t best = IX_NONE;
    int64_t most = 0;

    for (uint32_t d = o->first_departure[slot]; d != IX_NONE; d = o->departures[d].next) {
        int64_t takes = takes_of(&o->p->rules.fit.counts, o->plan->recommendations[d].vm, counter);
        if (!named[d] && takes > most) {
            best = d;
            most = takes;
        }
    }
    return best;
}

static void add_freed(const struct ordering *o, uint32_t rec, double by, double freed[NEED_COUNT])
{
    double theirs[NEED_COUNT];

    needs_of(&o->now, o->now.vm_unit[o->plan->recommendations[rec].vm], true, theirs);
    for (int k = 0; k < NEED_COUNT; k++)
        freed[k] += by * theirs[k];
}

/* Of the departures not yet named, the one that frees most of the short capacity. */
static uint32_t most_useful(const struct ordering *o, uint32_t slot, const bool *named, int need)
{
    uint32_t best = IX_NONE;
    double best_freed = 0;

    for (uint32_t d = o->first_departure[slot]; d != IX_NONE; d = o->departures[d].next) {
        double theirs[NEED_COUNT];
        if (named[d])
            continue;
        needs_of(&o->now, o->now.vm_unit[o->plan->recommendations[d].vm], true, theirs);
        if (theirs[need] > best_freed) {
            best = d;
            best_freed = theirs[need];
        }
    }
    return best;
}

static bool moves_at(const struct recommendation *r, uint32_t host)
{
    return (r->action == ACTION_MIGRATE || r->action == ACTION_PLACE) && (r->from == host || r->to == host);
}

/* Keeps the plan's order on hosts where a filter reads what moves change. */
static void order_watched(struct ordering *o, const struct recommendation *rec, uint32_t from, uint32_t to,
                          bool *ids)
{
    const struct rules *rules = &o->p->rules;
    bool binds = fit_has_live(&rules->fit, rules_fit_use(&o->p->snap->vms[rec->vm]), rec->vm);

    for (uint32_t i = o->watched[to]; binds && i + 1 < rec->id; i++)
        ids[i + 1] = ids[i + 1] || moves_at(&o->plan->recommendations[i], rec->to);
    ids[o->watched[from]] = true; /* [0]: no id */
    ids[o->watched[to]] = true;
    if (binds)
        o->watched[to] = rec->id;
}

/* Keeps the plan's order among VMs that take cells or devices: which of them a VM gets depends on those
 * before it. */
static void order_cells(struct ordering *o, const struct recommendation *rec, uint32_t from, uint32_t to,
                        bool *ids)
{
    const struct fit_cells *cells = &o->p->rules.fit.cells;

    for (uint32_t i = o->watched_cells[to]; i + 1 < rec->id; i++) {
        const struct recommendation *r = &o->plan->recommendations[i];
        ids[i + 1] = ids[i + 1] || (moves_at(r, rec->to) && fit_cells_binds(cells, r->vm));
    }
    ids[o->watched_cells[from]] = true; /* [0]: no id */
    ids[o->watched_cells[to]] = true;
    o->watched_cells[to] = rec->id;
}

/* By id: the earlier recommendations that the move waits for whatever capacity it needs. NULL: none. */
static bool *keep_order(struct ordering *o, const struct recommendation *rec, uint32_t from, uint32_t to)
{
    bool watched = o->p->rules.fit.live_from;
    bool cells = fit_cells_binds(&o->p->rules.fit.cells, rec->vm);

    if (!watched && !cells && o->moved_by[rec->vm] == 0)
        return NULL;
    bool *ids = arena_array(o->p->a, bool, (size_t)rec->id + 1);
    ids[o->moved_by[rec->vm]] = true; /* a VM that waited on a third host goes on from there */
    if (watched)
        order_watched(o, rec, from, to, ids);
    if (cells)
        order_cells(o, rec, from, to, ids);
    return ids;
}

/* Names the departures that the move needs beside those that it waits for anyway (by id; NULL: none). `named`
 * is scratch, all false before and after. */
static void find_dependencies(struct ordering *o, struct recommendation *rec, uint32_t slot,
                              const double mine[NEED_COUNT], const double limit[NEED_COUNT],
                              const bool *waits, bool *named)
{
    double freed[NEED_COUNT] = {0};
    bool hopeless[NEED_COUNT] = {false};
    bool *must = o->first_departure[slot] == IX_NONE ? NULL : arena_array(o->p->a, bool, rec->id);

    for (uint32_t d = o->first_departure[slot]; d != IX_NONE; d = o->departures[d].next) {
        const struct recommendation *left = &o->plan->recommendations[d];
        if (!(waits && waits[left->id]) && !kept_apart(&o->p->rules, rec->vm, left->vm))
            continue;
        named[d] = true;
        must[d] = true;
        add_freed(o, d, 1, freed);
    }
    for (;;) {
        int need = tightest(o->taken[slot], mine, freed, limit, hopeless);
        uint32_t d = need == NEED_COUNT ? IX_NONE : most_useful(o, slot, named, need);
        if (need == NEED_COUNT)
            break;
        if (d == IX_NONE) {
            hopeless[need] = true;
            continue;
        }
        named[d] = true;
        add_freed(o, d, 1, freed);
    }
    uint32_t counter;
    while ((counter = counter_short(o, rec->vm, slot, named)) != IX_NONE) {
        uint32_t d = taking_most(o, slot, named, counter);
        if (d == IX_NONE)
            break;
        named[d] = true;
        add_freed(o, d, 1, freed);
    }
    /* a larger departure named later may make an earlier one unnecessary: remove those */
    uint32_t n = 0;
    for (uint32_t d = o->first_departure[slot]; d != IX_NONE; d = o->departures[d].next) {
        if (!named[d])
            continue;
        if (!must[d]) {
            add_freed(o, d, -1, freed);
            named[d] = false;
            if (tightest(o->taken[slot], mine, freed, limit, hopeless) == NEED_COUNT &&
                counter_short(o, rec->vm, slot, named) == counter)
                continue;
            named[d] = true;
            add_freed(o, d, 1, freed);
        }
        n++;
    }
    bool wakes = o->woken_by[slot] != 0; /* the move depends on the wake of its host */
    uint32_t *ids = arena_array(o->p->a, uint32_t, (size_t)n + wakes);
    if (wakes)
        ids[0] = o->woken_by[slot];
    rec->n_depends_on = wakes;
    for (uint32_t d = o->first_departure[slot]; d != IX_NONE; d = o->departures[d].next) {
        if (named[d])
            ids[wakes + --n] = o->plan->recommendations[d].id; /* the list runs backwards */
        rec->n_depends_on += named[d];
        named[d] = false;
    }
    rec->depends_on = ids;
}

/* Adds the earlier recommendations (by id) to those that rec depends on. */
static void depend_on(struct ordering *o, struct recommendation *rec, bool *ids)
{
    uint32_t *list = arena_array(o->p->a, uint32_t, o->plan->n_recommendations);
    uint32_t n = 0;

    for (uint32_t i = 0; i < rec->n_depends_on; i++)
        ids[rec->depends_on[i]] = true;
    for (uint32_t id = 1; id < rec->id; id++)
        if (ids[id])
            list[n++] = id;
    rec->depends_on = list;
    rec->n_depends_on = n;
}

static struct recommendation *begin_recommendation(struct ordering *o, const struct decision *d, uint32_t vm,
                                                   uint32_t group)
{
    struct recommendation *rec = &o->plan->recommendations[o->plan->n_recommendations++];

    *rec = (struct recommendation){.id = o->plan->n_recommendations,
                                   .action = d->action,
                                   .priority = d->priority,
                                   .vm = vm,
                                   .from = IX_NONE,
                                   .to = IX_NONE,
                                   .host = IX_NONE,
                                   .rule = d->rule,
                                   .reason = d->reason,
                                   .found = decision_finding(o->p, d, vm),
                                   .group = group};
    return rec;
}

static double imbalance_now(const struct ordering *o)
{
    double of[RES_COUNT];
    double weight[RES_COUNT];

    return o->hosts_change ? layout_imbalance_woken(&o->now, of, weight) : layout_imbalance(&o->now);
}

static void add_wake(struct ordering *o, const struct decision *d, uint32_t group)
{
    struct recommendation *rec = begin_recommendation(o, d, IX_NONE, group);
    const struct host *h = &o->p->snap->hosts[o->now.slot_host[d->to_slot]];

    rec->host = o->now.slot_host[d->to_slot];
    rec->duration_s = isnan(h->is.boot_s) ? 0 : h->is.boot_s;
    o->woken_by[d->to_slot] = rec->id;
    o->now.waking[d->to_slot] = !h->failover; /* a failover host stays empty */
    o->hosts_change = true;
    rec->imbalance_after = imbalance_now(o);
    o->departures[rec->id - 1] = (struct departure){.rec = rec->id - 1, .next = IX_NONE};
}

/* The VMs that are off leave the host of the slot. ret_group: theirs, which is made for the first one if it
 * is 0; NULL: they have none. */
static void add_off_vms(struct ordering *o, uint32_t slot, unsigned priority, uint32_t *ret_group)
{
    struct pass *p = o->p;
    const uint32_t host = o->now.slot_host[slot];

    for (uint32_t vm = 0; p->off_vms_leave && vm < p->snap->n_vms; vm++) {
        const struct vm *v = &p->snap->vms[vm];
        uint32_t to = v->host == host ? plan_off_vm_host(p, vm, o->given_mb) : IX_NONE;
        if (to == IX_NONE)
            continue;
        if (ret_group && *ret_group == 0)
            *ret_group = ++o->n_groups;
        const struct decision d = {
            .action = ACTION_MIGRATE,
            .rule = IX_NONE,
            .reason = REASON_OFF_VM,
            .priority = priority,
            .found = finding_keep(
                p->a,
                (struct finding){.code = FIND_OFF_VM,
                                 .reason = REASON_OFF_VM,
                                 .subjects = {{SUBJECT_VM, vm}, {SUBJECT_FROM, host}, {SUBJECT_TO, to}}})};
        struct recommendation *rec = begin_recommendation(o, &d, vm, ret_group ? *ret_group : 0);
        rec->from = host;
        rec->to = to;
        rec->imbalance_after = imbalance_now(o);
        o->departures[rec->id - 1] = (struct departure){.rec = rec->id - 1, .next = o->first_departure[slot]};
        o->first_departure[slot] = rec->id - 1;
        o->given_mb[to] += v->is.mem_mb;
        o->off_leave[vm] = true;
    }
}

/* A power-off depends on all moves away from the host, for whatever reason. */
static void add_sleep(struct ordering *o, const struct decision *d, uint32_t group)
{
    add_off_vms(o, d->to_slot, d->priority, &group);
    struct recommendation *rec = begin_recommendation(o, d, IX_NONE, group);
    struct finding found = *rec->found;
    uint32_t n = 0;

    found.leave = o->off_leave;
    rec->found = finding_keep(o->p->a, found);
    for (uint32_t i = o->first_departure[d->to_slot]; i != IX_NONE; i = o->departures[i].next)
        n++;
    uint32_t *ids = arena_array(o->p->a, uint32_t, n);
    rec->depends_on = ids;
    rec->n_depends_on = n;
    for (uint32_t i = o->first_departure[d->to_slot]; i != IX_NONE; i = o->departures[i].next)
        ids[--n] = o->plan->recommendations[i].id; /* the list runs backwards */
    rec->host = o->now.slot_host[d->to_slot];
    rec->duration_s = d->worth.duration_s;
    for (int r = 0; r < RES_COUNT; r++) {
        rec->cost[r] = d->worth.cost[r];
        rec->benefit[r] = d->worth.benefit[r];
    }
    o->now.closing[d->to_slot] = true;
    o->now.asleep[d->to_slot] = true;
    o->hosts_change = true;
    rec->imbalance_after = imbalance_now(o);
    o->departures[rec->id - 1] = (struct departure){.rec = rec->id - 1, .next = IX_NONE};
}

/* All VMs of a unit release their failover slots with the unit's first move, but the later ones have not
 * arrived yet: their reservations must be free from the first move on. */
static void add_rest_of_unit(const struct ordering *o, const struct decision *d, uint32_t vm,
                             double with[NEED_COUNT])
{
    const struct layout *l = &o->p->layout;
    bool after = false;

    for (uint32_t m = l->unit_from[d->unit]; m < l->unit_from[d->unit + 1] && l->failover.active; m++) {
        const struct alloc *set = l->snap->vms[l->unit_vms[m]].is.alloc;
        with[NEED_CPU_RESERVED] += after && with[NEED_CPU_RESERVED] > 0 ? set[RES_CPU].reservation : 0;
        with[NEED_MEM_RESERVED] += after && with[NEED_MEM_RESERVED] > 0 ? set[RES_MEM].reservation : 0;
        after = after || l->unit_vms[m] == vm;
    }
}

static void add_recommendation(struct ordering *o, const struct decision *d, uint32_t vm, uint32_t group,
                               bool *named)
{
    struct layout *l = &o->now;
    uint32_t n = o->plan->n_recommendations;
    uint32_t unit = l->vm_unit[vm];
    uint32_t members = o->p->layout.unit_from[d->unit + 1] - o->p->layout.unit_from[d->unit];
    struct recommendation *rec = begin_recommendation(o, d, vm, group);
    double mine[NEED_COUNT];

    rec->from = l->slot_host[d->from_slot];
    rec->to = l->slot_host[d->to_slot];
    rec->duration_s = d->worth.duration_s / members;
    /* cost and benefit are those of the unit: equal parts for its VMs, so that the plan's sums are right */
    for (int r = 0; r < RES_COUNT; r++) {
        rec->cost[r] = d->worth.cost[r] / members;
        rec->benefit[r] = d->worth.benefit[r] / members;
    }
    needs_of(l, unit, false, mine);
    double with[NEED_COUNT] = {mine[NEED_CPU_RESERVED], mine[NEED_MEM_RESERVED], mine[NEED_MEM],
                               mine[NEED_PHYS]};
    double limit[NEED_COUNT];
    limits_of(&o->p->layout, d->to_slot, d->failover_reserved, limit);
    add_rest_of_unit(o, d, vm, with);
    bool *waits = keep_order(o, rec, d->from_slot, d->to_slot);
    find_dependencies(o, rec, d->to_slot, with, limit, waits, named);
    if (waits)
        depend_on(o, rec, waits);
    o->moved_by[vm] = rec->id;
    for (int k = 0; k < NEED_COUNT; k++)
        o->taken[d->to_slot][k] += mine[k];
    o->departures[n] = (struct departure){.rec = n, .next = o->first_departure[d->from_slot]};
    o->first_departure[d->from_slot] = n;
    if (o->used)
        layout_count_shares(l, o->used, vm, d->to_slot, 1);
    layout_move(l, unit, d->to_slot);
    rec->imbalance_after = imbalance_now(o);
}

/* Adds the recommendations of a decision: one per VM of the unit, or one for a host. */
static void add_decision(struct ordering *o, const struct decision *d, bool *named)
{
    const struct layout *l = &o->p->layout;
    bool alone = d->unit == IX_NONE || l->unit_from[d->unit + 1] - l->unit_from[d->unit] == 1;
    uint32_t group = 0;

    if (d->move_group != 0 && o->group_of[d->move_group] == 0)
        o->group_of[d->move_group] = ++o->n_groups;
    if (d->move_group != 0)
        group = o->group_of[d->move_group];
    else if (!alone)
        group = ++o->n_groups;
    if (d->unit == IX_NONE) {
        if (d->action == ACTION_POWER_ON)
            add_wake(o, d, group);
        else
            add_sleep(o, d, group);
        return;
    }
    for (uint32_t m = l->unit_from[d->unit]; m < l->unit_from[d->unit + 1]; m++)
        add_recommendation(o, d, l->unit_vms[m], group, named);
}

static uint32_t count_actions(const struct pass *p)
{
    uint32_t n = 0;

    for (size_t i = 0; i < p->n_decisions; i++) {
        uint32_t u = p->decisions[i].unit;
        n += u == IX_NONE ? 1 : p->layout.unit_from[u + 1] - p->layout.unit_from[u];
    }
    for (uint32_t i = 0; p->off_vms_leave && i < p->snap->n_vms; i++)
        n += p->snap->vms[i].is.state == VM_OFF;
    return n;
}

static void begin(struct ordering *o, uint32_t n)
{
    struct pass *p = o->p;
    uint32_t *alone = arena_array(p->a, uint32_t, p->snap->n_vms);

    for (uint32_t i = 0; i < p->snap->n_vms; i++)
        alone[i] = i;
    o->single = p->rules;
    o->single.component = alone;
    layout_init_bare(&o->now, p->snap, &p->policy, &o->single, p->entitlement, p->a);
    size_t slots = (size_t)o->now.n_slots + 1;
    o->taken = arena_alloc(p->a, slots, sizeof o->taken[0]);
    o->first_departure = arena_array(p->a, uint32_t, slots);
    o->woken_by = arena_array(p->a, uint32_t, slots);
    o->watched = arena_array(p->a, uint32_t, slots);
    o->watched_cells = arena_array(p->a, uint32_t, slots);
    o->moved_by = arena_array(p->a, uint32_t, p->snap->n_vms);
    o->off_leave = arena_array(p->a, bool, p->snap->n_vms);
    o->given_mb = arena_array(p->a, double, p->snap->n_hosts);
    o->group_of = arena_array(p->a, uint32_t, (size_t)p->n_move_groups + 1);
    o->departures = arena_array(p->a, struct departure, n);
    if (o->now.used)
        o->used = arena_copy(p->a, o->now.used, o->now.n_used, sizeof *o->used);
    for (uint32_t i = 0; i < slots; i++) {
        o->first_departure[i] = IX_NONE;
        o->taken[i][NEED_CPU_RESERVED] = o->now.reserved[RES_CPU][i];
        o->taken[i][NEED_MEM_RESERVED] = o->now.reserved[RES_MEM][i];
        o->taken[i][NEED_MEM] = o->now.mem_taken[i];
        o->taken[i][NEED_PHYS] = 0; /* the limit is the memory that is free at the start */
    }
}

const struct layout *plan_order(struct pass *p, struct plan *ret)
{
    uint32_t n = count_actions(p);
    struct ordering *o = arena_new(p->a, struct ordering);

    o->p = p;
    o->plan = ret;
    begin(o, n);
    ret->recommendations = arena_array(p->a, struct recommendation, n);
    bool *named = arena_array(p->a, bool, n);
    for (size_t i = 0; i < p->n_decisions; i++)
        add_decision(o, &p->decisions[i], named);
    for (uint32_t i = p->layout.n_on; i < p->layout.n_slots; i++)
        if (p->snap->hosts[p->layout.slot_host[i]].is.state == HOST_ENTERING_STANDBY)
            add_off_vms(o, i, PRIORITY_PREFERRED, NULL);
    return &o->now;
}
