/* Places VMs one by one, fault-tolerant pairs together; keeps the best of several attempts. */
#include "core/place/place.h"

#include "base/cleanup.h"
#include "base/order.h"
#include "core/pass.h"
#include "core/place/attempt.h"
#include "core/place/starting.h"
#include "core/plan/correct.h"
#include "core/plan/host_wakes.h"
#include "core/plan/prerequisite_moves.h"

#include <errno.h>

/* ---- the snapshot with the waiting VMs ---- */

/* The cluster's fastest core, because the VM's host is not known yet. */
static double core_mhz(const struct snapshot *s)
{
    double most = 0;

    for (uint32_t i = 0; i < s->n_hosts; i++)
        most = fmax(most, host_core_mhz(&s->hosts[i]));
    return most;
}

static int make_what_if(const struct snapshot *snap, const uint32_t *vms, uint32_t n_vms, struct arena *a,
                        struct snapshot *ret, struct err *err)
{
    double mhz = core_mhz(snap);

    *ret = *starting_counted(snap, a);
    ret->vms = arena_copy(a, ret->vms, snap->n_vms, sizeof *ret->vms);
    for (uint32_t i = 0; i < n_vms; i++) {
        if (vms[i] >= snap->n_vms)
            return err_set(err, -EINVAL, "there is no such VM in the snapshot");
        struct vm *v = &ret->vms[vms[i]];
        for (uint32_t k = 0; k < snap->n_pending; k++)
            if (snap->pending[k].vm == vms[i])
                return err_set(err, -EINVAL, "%s is being powered on already", v->is.id);
        if (v->is.state == VM_ON)
            return err_set(err, -EINVAL, "%s runs already, expected a VM that is off or suspended", v->is.id);
        if (v->is.kind == VM_SPARE)
            return err_set(err, -EINVAL, "%s is a spare VM, which stands for room and is never powered on",
                           v->is.id);
        starting_assume_all(v, mhz);
    }
    return 0;
}

/* ---- one unit ---- */

static void cannot_place(struct attempt *t, uint32_t unit, uint32_t host, struct finding why)
{
    struct pass *p = &t->p;
    const struct layout *l = &p->layout;
    const struct finding *because = finding_keep(p->a, why);

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        t->n_failed++;
        plan_fault(
            p, FAULT_CANNOT_PLACE, vm, host, IX_NONE,
            (struct finding){.code = FIND_CANNOT_PLACE, .subjects = {{SUBJECT_VM, vm}}, .because = because});
    }
}

static struct finding find_shortage(const struct shortage *s)
{
    bool limit = s->end == ADMISSION_LIMIT;

    return (struct finding){.code = FIND_POOL_SHORTAGE,
                            .resource = s->r,
                            .subjects = {{SUBJECT_POOL, s->pool}},
                            .figures = {{FIGURE_NEED, s->need},
                                        {limit ? FIGURE_LEFT_BELOW_LIMIT : FIGURE_LEFT, s->left},
                                        {FIGURE_MISSING, s->by}}};
}

/* Whether the pools can give the reservations of all VMs of the unit; takes them. */
static bool pools_give(struct pass *p, uint32_t unit, struct shortage *ret_short)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        if (admission_fits(&p->admission, l->unit_vms[i], ret_short)) {
            admission_take(&p->admission, l->unit_vms[i]);
            continue;
        }
        while (i-- > l->unit_from[unit])
            admission_give_back(&p->admission, l->unit_vms[i]);
        return false;
    }
    return true;
}

static bool admit(struct attempt *t, uint32_t unit)
{
    struct shortage s;
    bool given = pools_give(&t->p, unit, &s);

    if (!given)
        cannot_place(t, unit, IX_NONE, find_shortage(&s));
    return given;
}

static void give_back(struct attempt *t, uint32_t unit)
{
    const struct layout *l = &t->p.layout;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        admission_give_back(&t->p.admission, l->unit_vms[i]);
}

static void take(struct attempt *t, uint32_t unit, const struct prerequisite_moves *way)
{
    struct pass *p = &t->p;
    uint32_t move_group = p->move_group;

    attempt_wake_own(t, unit);
    if (way->to_slot >= p->layout.n_on && !p->layout.waking[way->to_slot]) {
        host_wake_for(p, way->to_slot, REASON_PLACEMENT, p->layout.unit_first[unit]);
        admission_add_host(&p->admission, p->layout.slot_host[way->to_slot]);
    }
    (void)prerequisite_moves_take(p, unit, way);
    (void)plan_move(p, unit, way->to_slot, REASON_PLACEMENT, IX_NONE, PRIORITY_MANDATORY);
    p->move_group = move_group;
}

/* percent: whether too little capacity stays unreserved with the unit, and another (or IX_NONE). ret_f: the
 * shortage; may be NULL. */
static bool lacks_spare(const struct pass *p, uint32_t unit, uint32_t other, struct finding *ret_f)
{
    for (int r = 0; r < RES_COUNT; r++) {
        double percent;
        double excess = failover_gap_excess(&p->layout.failover, (enum resource)r, unit, other, &percent);
        if (excess <= 1e-6)
            continue;
        if (ret_f)
            *ret_f = (struct finding){.code = FIND_FAILOVER_SHARE_SHORT,
                                      .resource = (enum resource)r,
                                      .figures = {{FIGURE_PERCENT, percent}, {FIGURE_MISSING, excess}}};
        return true;
    }
    return false;
}

/* percent: whether the capacity of the slot's host ends the shortage. */
static bool wakes_enough(struct pass *p, uint32_t unit, uint32_t slot)
{
    bool waking = p->layout.waking[slot];

    p->layout.waking[slot] = true;
    bool enough = !lacks_spare(p, unit, IX_NONE, NULL);
    p->layout.waking[slot] = waking;
    return enough;
}

/* Whether pools and failover capacity admit the unit, perhaps with a host that is to be woken. */
static bool admit_or_wake(struct attempt *t, uint32_t unit, uint32_t *ret_woken)
{
    struct pass *p = &t->p;
    struct shortage s;
    bool given = pools_give(p, unit, &s);

    *ret_woken = IX_NONE;
    uint32_t slot = !given && s.end == ADMISSION_CAPACITY ? attempt_find_wake(t, unit) : IX_NONE;
    if (slot != IX_NONE && !p->layout.waking[slot] && wakes_enough(p, unit, slot)) {
        admission_add_host(&p->admission, p->layout.slot_host[slot]);
        given = pools_give(p, unit, &s);
        *ret_woken = given ? slot : IX_NONE;
        admission_drop_host(&p->admission, p->layout.slot_host[slot]); /* take() adds it */
    }
    if (!given)
        cannot_place(t, unit, IX_NONE, find_shortage(&s));
    return given;
}

/* Finds a destination: the host that must be woken for the unit anyway, a host with the capacity, else one
 * that prerequisite moves clear, else one to wake. */
static bool find_way(struct attempt *t, uint32_t unit, struct prerequisite_moves *ret)
{
    struct pass *p = &t->p;
    bool spare = !lacks_spare(p, unit, IX_NONE, NULL);
    struct options o;

    *ret = (struct prerequisite_moves){.to_slot = attempt_own_slot(t, unit)};
    if (ret->to_slot != IX_NONE && (spare || wakes_enough(p, unit, ret->to_slot)))
        return true;
    if (t->rankings) {
        rankings_best(t->rankings, unit, &o);
    } else {
        options_rank(&p->layout, unit, p->a, &o);
        t->first = o;
    }
    if (o.cut_by != 0) /* another host would be no better */
        return false;
    *ret = (struct prerequisite_moves){.to_slot = o.n > 0 ? o.items[0].slot : IX_NONE};
    if (spare && (o.n > 0 || prerequisite_moves_find(p, unit, IX_NONE, NULL, ret)))
        return true;
    *ret = (struct prerequisite_moves){.to_slot = attempt_find_wake(t, unit)};
    return ret->to_slot != IX_NONE && (spare || wakes_enough(p, unit, ret->to_slot));
}

/* Whether rules and managers allow a start at all. False: why not, and on which host. */
static bool may_start(const struct attempt *t, uint32_t unit, uint32_t *ret_host, struct finding *ret_why)
{
    const struct layout *l = &t->p.layout;

    *ret_host = IX_NONE;
    *ret_why = (struct finding){.code = FIND_RULES_HELD};
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (t->p.rules.held[l->unit_vms[i]])
            return false;
    return attempt_can_start(t, unit, ret_host, ret_why);
}

static bool place_unit(struct attempt *t, uint32_t unit)
{
    struct pass *p = &t->p;
    struct prerequisite_moves way;
    struct finding why;
    uint32_t host;

    if (!may_start(t, unit, &host, &why)) {
        cannot_place(t, unit, host, why);
        return false;
    }
    uint32_t woken;
    if (!admit_or_wake(t, unit, &woken))
        return false;
    if (woken != IX_NONE) {
        take(t, unit, &(struct prerequisite_moves){.to_slot = woken});
        return true;
    }
    if (find_way(t, unit, &way)) {
        take(t, unit, &way);
        return true;
    }
    give_back(t, unit);
    uint32_t coming = host_wake_under_way(p, unit);
    if (coming != IX_NONE) {
        host = p->layout.slot_host[coming];
        cannot_place(t, unit, host,
                     (struct finding){.code = FIND_WAITS_FOR_HOST, .subjects = {{SUBJECT_HOST, host}}});
        return false;
    }
    if (!lacks_spare(p, unit, IX_NONE, &why))
        why = options_none(p, unit, &host);
    cannot_place(t, unit, host, why);
    return false;
}

/* ---- fault-tolerant pairs ---- */

/* A secondary may run only where the primary may, to take over from it. */
static void narrow_to_both(struct pass *p, uint32_t primary, uint32_t secondary)
{
    struct layout *l = &p->layout;
    const uint64_t *mine = l->unit_allowed[secondary];
    const uint64_t *theirs = l->unit_allowed[primary];

    if (!theirs)
        return;
    uint64_t *both = arena_array(p->a, uint64_t, p->rules.words);
    for (uint32_t w = 0; w < p->rules.words; w++)
        both[w] = mine ? mine[w] & theirs[w] : theirs[w];
    l->unit_allowed[secondary] = both;
}

/* The best host for the primary that leaves a host for the secondary: "If no secondary host can be found, it
 * considers the second-best host for the primary and tries again" (§3.2). */
static bool find_both(struct pass *p, uint32_t primary, uint32_t secondary, uint32_t *ret_first,
                      uint32_t *ret_second)
{
    CLEANUP(arena_releasep) struct arena mine = {0};
    CLEANUP(arena_releasep) struct arena theirs = {0};
    struct options o;
    bool found = false;

    options_rank(&p->layout, primary, &mine, &o);
    options_sort_others(&o);
    for (uint32_t i = 0; i < o.n && !found; i++) {
        struct options other;
        struct layout_mark mark;
        failover_undo_begin(
            &p->layout.failover); /* the primary's reservation is not available to the secondary */
        failover_capacity_follow(&p->layout.failover, primary, o.items[i].slot);
        layout_try(&p->layout, primary, o.items[i].slot, &mark);
        arena_reset(&theirs);
        options_rank(&p->layout, secondary, &theirs, &other);
        layout_undo(&p->layout, &mark);
        failover_undo(&p->layout.failover);
        found = other.n > 0;
        *ret_first = o.items[i].slot;
        *ret_second = found ? other.items[0].slot : IX_NONE;
    }
    return found;
}

/* Places a pair of two units. If no two hosts have the capacity, each is placed by itself, with prerequisite
 * moves. */
static void place_pair(struct attempt *t, uint32_t primary_vm, uint32_t secondary_vm)
{
    struct pass *p = &t->p;
    uint32_t primary = p->layout.vm_unit[primary_vm];
    uint32_t secondary = p->layout.vm_unit[secondary_vm];
    uint32_t first;
    uint32_t second;
    struct finding why;

    narrow_to_both(p, primary, secondary);
    if (may_start(t, primary, &first, &why) && may_start(t, secondary, &second, &why) &&
        find_both(p, primary, secondary, &first, &second) && !lacks_spare(p, primary, secondary, NULL)) {
        if (!admit(t, primary)) {
            t->half = secondary_vm;
            return;
        }
        if (!admit(t, secondary)) {
            t->half = primary_vm;
            return;
        }
        p->move_group = ++p->n_move_groups;
        take(t, primary, &(struct prerequisite_moves){.to_slot = first});
        take(t, secondary, &(struct prerequisite_moves){.to_slot = second});
        p->move_group = 0;
        return;
    }
    if (!place_unit(t, primary))
        t->half = secondary_vm;
    else if (!place_unit(t, secondary))
        t->half = primary_vm;
}

/* ---- all of them ---- */

static void find_largest(const struct layout *l, double ret[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++) {
        ret[r] = 0;
        for (uint32_t i = 0; i < l->n_slots; i++)
            ret[r] = fmax(ret[r], l->snap->hosts[l->slot_host[i]].capacity[r]);
    }
}

/* The largest of its needs, relative to the largest host. */
static double size_of(const struct layout *l, uint32_t unit, const double largest[RES_COUNT])
{
    double size = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double need = fmax(l->unit_demand[r][unit], l->unit_reserved[r][unit]);
        size = fmax(size, largest[r] > 0 ? need / largest[r] : 0);
    }
    return size;
}

/* An agent that a host requires is powered on at that host. */
static void bind_agents(struct pass *p)
{
    const struct snapshot *s = p->snap;
    struct layout *l = &p->layout;

    for (uint32_t i = 0; i < l->list[l->outside].n; i++) {
        uint32_t u = l->list[l->outside].items[i];
        uint64_t *hosts = arena_array(p->a, uint64_t, p->rules.words);
        bool required = false;
        for (uint32_t h = 0; h < s->n_hosts && layout_is_agent(l, u); h++) {
            if (!span_has(s->hosts[h].agents_required, l->unit_first[u]))
                continue;
            required = true;
            if (!l->unit_allowed[u] || bitmap_has(l->unit_allowed[u], h))
                hosts[h / 64] |= (uint64_t)1 << (h % 64);
        }
        if (required)
            l->unit_allowed[u] = hosts;
    }
}

static uint32_t list_waiting(const struct pass *p, struct sized *ret)
{
    const struct layout *l = &p->layout;
    double largest[RES_COUNT];
    uint32_t n = 0;

    find_largest(l, largest);
    for (uint32_t i = 0; i < l->list[l->outside].n; i++) {
        uint32_t u = l->list[l->outside].items[i];
        ret[n++] = (struct sized){.size = size_of(l, u, largest), .index = u};
    }
    order_sort(ret, n, sizeof ret[0], order_largest);
    return n;
}

static bool still_waits(const struct layout *l, uint32_t vm)
{
    return l->vm_unit[vm] != IX_NONE && l->unit_slot[l->vm_unit[vm]] == l->outside;
}

/* A half in this unit whose other half waits in another unit; IX_NONE. */
static uint32_t waiting_half(const struct layout *l, uint32_t unit)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t peer = l->snap->vms[l->unit_vms[i]].ft_peer;
        if (peer != IX_NONE && still_waits(l, peer) && l->vm_unit[peer] != unit)
            return l->unit_vms[i];
    }
    return IX_NONE;
}

static void place_one(struct attempt *t, uint32_t unit)
{
    const struct layout *l = &t->p.layout;
    uint32_t half = waiting_half(l, unit);

    if (l->unit_slot[unit] != l->outside || t->left_out[l->unit_first[unit]])
        return;
    if (half == IX_NONE)
        (void)place_unit(t, unit);
    else if (l->snap->vms[half].is.kind == VM_FT_PRIMARY)
        place_pair(t, half, l->snap->vms[half].ft_peer);
    else
        place_pair(t, l->snap->vms[half].ft_peer, half);
}

/* A placed VM whose other half was to be placed and was not; in sets with several pairs. */
static uint32_t find_half(const struct pass *p)
{
    for (uint32_t i = 0; i < p->snap->n_vms; i++) {
        uint32_t peer = p->snap->vms[i].ft_peer;
        if (peer != IX_NONE && vm_waits(&p->snap->vms[i]) && !still_waits(&p->layout, i) &&
            still_waits(&p->layout, peer))
            return i;
    }
    return IX_NONE;
}

/* What is asked, beside the rules that an attempt keeps. */
struct question {
    const struct snapshot *seen, *what_if; /* without and with the waiting VMs */
    const struct policy *policy;
    struct arena *a;
};

static struct attempt *place_all(const struct question *q, unsigned rules, const bool *left_out)
{
    struct attempt *t = arena_new(q->a, struct attempt);

    t->seen = q->seen;
    t->left_out = left_out;
    t->half = IX_NONE;
    pass_prepare(&t->p, q->what_if, q->policy, rules, IX_NONE, q->a);
    bind_agents(&t->p);
    struct sized *waiting = arena_array(q->a, struct sized, t->p.layout.n_units);
    uint32_t n = list_waiting(&t->p, waiting);
    t->rankings = n > 1 && !t->p.layout.distrusted ? rankings_new(&t->p) : NULL;
    for (uint32_t i = 0; i < n && t->half == IX_NONE; i++)
        place_one(t, waiting[i].index);
    if (t->rankings)
        rankings_release(t->rankings);
    t->half = t->half == IX_NONE ? find_half(&t->p) : t->half;
    return t;
}

/* Faults of VMs that later attempts leave out. */
struct given_up {
    bool *left_out;
    struct fault *faults;
    size_t n, cap;
};

static const struct fault *fault_of(const struct pass *p, uint32_t vm)
{
    for (size_t i = 0; i < p->n_faults; i++)
        if (p->faults[i].vm == vm)
            return &p->faults[i];
    return NULL;
}

/* Leaves out all VMs of the unit, which would be placed together. */
static void give_up(struct given_up *g, const struct attempt *t, uint32_t half)
{
    const struct pass *p = &t->p;
    const struct layout *l = &p->layout;
    uint32_t other = p->snap->vms[half].ft_peer;
    uint32_t unit = l->vm_unit[half];

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        const struct fault *said = fault_of(p, vm);
        struct fault f = {.code = FAULT_CANNOT_PLACE,
                          .vm = vm,
                          .host = IX_NONE,
                          .rule = IX_NONE,
                          .found =
                              finding_keep(p->a, (struct finding){.code = FIND_CANNOT_PLACE_HALF,
                                                                  .subjects = {{SUBJECT_VM, vm},
                                                                               {SUBJECT_FT_PEER, half},
                                                                               {SUBJECT_OTHER_VM, other}}})};
        g->left_out[vm] = true;
        g->faults = arena_grow(p->a, g->faults, g->n, &g->cap, sizeof g->faults[0]);
        g->faults[g->n++] = said ? *said : f;
    }
}

/* An attempt; repeated without a pair of which only one half found a host. */
static struct attempt *attempt(const struct question *q, unsigned rules)
{
    struct given_up g = {.left_out = arena_array(q->a, bool, q->seen->n_vms)};

    for (;;) {
        struct attempt *t = place_all(q, rules, g.left_out);
        if (t->half != IX_NONE) {
            give_up(&g, t, q->seen->vms[t->half].ft_peer);
            give_up(&g, t, t->half);
            continue;
        }
        for (size_t i = 0; i < g.n; i++)
            plan_fault(&t->p, g.faults[i].code, g.faults[i].vm, g.faults[i].host, g.faults[i].rule,
                       *g.faults[i].found);
        t->n_failed += (uint32_t)g.n;
        return t;
    }
}

/* Of RULES_PREFERRED and RULES_PLACED_APART, those that change anything in this cluster. */
static unsigned find_choices(const struct snapshot *s)
{
    unsigned ret = 0;

    for (uint32_t i = 0; i < s->n_rules; i++) {
        const struct rule *rule = &s->rules[i];

        if (!rule->is.enabled)
            continue;
        ret |= rule->is.mandatory ? 0 : RULES_PREFERRED;
        for (uint32_t k = 0; rule->is.kind == RULE_VM_AFFINE && k < rule->vms.n; k++)
            ret |= vm_waits(&s->vms[rule->vms.items[k]]) ? RULES_PLACED_APART : 0;
    }
    return ret;
}

/* First with all rules, then without preferred rules, then without affinity rules. An attempt that could only
 * repeat another is left out. */
static struct attempt *best_attempt(const struct question *q)
{
    static const unsigned rules[] = {RULES_PREFERRED, 0, RULES_PREFERRED | RULES_PLACED_APART,
                                     RULES_PLACED_APART};
    unsigned choices = find_choices(q->what_if);
    struct attempt *best = NULL;

    for (size_t i = 0; i < sizeof rules / sizeof *rules && (!best || best->n_failed > 0); i++) {
        bool repeats = false;
        for (size_t k = 0; k < i; k++)
            repeats = repeats || ((rules[i] ^ rules[k]) & choices) == 0;
        if (repeats)
            continue;
        struct attempt *t = attempt(q, rules[i]);
        if (!best || t->n_failed < best->n_failed)
            best = t;
    }
    return best;
}

int place_run(const struct snapshot *snap, const struct policy *policy, const uint32_t *vms, uint32_t n_vms,
              struct arena *a, struct plan *ret, struct err *err)
{
    struct snapshot *what_if = arena_new(a, struct snapshot);
    int r = make_what_if(snap, vms, n_vms, a, what_if, err);

    if (r < 0)
        return r;
    struct attempt *t =
        best_attempt(&(struct question){.seen = snap, .what_if = what_if, .policy = policy, .a = a});
    struct plan plan = {
        .snap = snap, .policy = t->p.policy, .before = t->p.before, .end = CHECK_MANDATORY_ONLY};
    pass_order(&t->p, &plan);
    attempt_order_wakes(t, &plan);
    attempt_report_broken(t);
    if (n_vms == 1)
        attempt_add_alternatives(t, vms[0], &plan);
    plan.n_candidates = t->first.n;
    plan.faults = t->p.faults;
    plan.n_faults = (uint32_t)t->p.n_faults;
    plan.stats = t->p.stats;
    *ret = plan;
    return 0;
}
