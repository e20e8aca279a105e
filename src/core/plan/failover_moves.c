/* Closes gaps in failover capacity (§3.3.2): moves VMs away so that one host has a failover slot in one
 * piece, or wakes a host. Adds a fault for each remaining gap. Moves are made only if the cluster lacks less
 * after them, when all failover slots are found anew; what is lacking falls with each of them, so passes do
 * not undo each other's. None takes a host's headroom, and none returns a VM to the host that it just left.
 */
#include "core/plan/correct.h"
#include "core/plan/host_wakes.h"
#include "core/plan/plan.h"
#include "core/plan/prerequisite_moves.h"

#include <stdlib.h>

#define ROUNDING 1e-6

/* The best destination of each unit in the present layout, found when it is first asked for. In a full
 * cluster, nearly every gap asks for the destinations of all units, and nothing changes between two gaps that
 * stay. */
struct destinations {
    uint32_t *of;   /* by unit */
    bool *is_known; /* by unit */
};

/* The search for moves that close gaps. */
struct closing {
    struct destinations destinations;
    struct prerequisite_moves *ways; /* scratch, by slot */
    double lack;                     /* what the cluster lacks now, as the next pass would find it */
};

static void destinations_forget(const struct pass *p, struct destinations *d)
{
    for (uint32_t u = 0; u < p->layout.n_units; u++)
        d->is_known[u] = false;
}

/* After a further reservation, which adds no destination: units without one still have none. */
static void destinations_forget_found(const struct pass *p, struct destinations *d)
{
    for (uint32_t u = 0; u < p->layout.n_units; u++)
        d->is_known[u] = d->is_known[u] && d->of[u] == IX_NONE;
}

/* d NULL: the layout has moves that are only tried. */
static uint32_t destination_of(const struct pass *p, uint32_t unit, struct destinations *d)
{
    if (!d)
        return quarantine_best_target(p, unit);
    if (!d->is_known[unit])
        d->of[unit] = quarantine_best_target(p, unit);
    d->is_known[unit] = true;
    return d->of[unit];
}

/* The movable unit that frees most of the shortage; of the units that free all of it, the one with the least
 * memory to copy. IX_NONE: no unit frees anything. */
static uint32_t unit_to_clear(const struct pass *p, uint32_t slot, const double more[RES_COUNT],
                              const double left[RES_COUNT], struct destinations *d, uint32_t *ret_to)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;
    double best_part = 0;
    bool best_enough = false;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        double part = 0;
        bool enough = true;
        for (int r = 0; r < RES_COUNT; r++) {
            double lack = more[r] - left[r];
            if (!(more[r] > 0) || lack <= ROUNDING)
                continue;
            part += fmin(l->failover.unit_takes[r][u] / lack, 1);
            enough = enough && l->failover.unit_takes[r][u] >= lack - ROUNDING;
        }
        bool better = best == IX_NONE || (enough != best_enough ? enough
                                          : enough              ? l->unit_backed[u] < l->unit_backed[best]
                                                                : part > best_part);
        if (!(part > 0) || !better || l->unit_held[u] == CHECK_RULE_AFFINITY || !correct_can_move(l, u) ||
            layout_is_rejected(l, u, REASON_SPARE_CAPACITY))
            continue;
        uint32_t to = destination_of(p, u, d);
        if (to == IX_NONE)
            continue;
        best = u;
        best_part = part;
        best_enough = enough;
        *ret_to = to;
    }
    return best;
}

/* The units that would have to leave the slot so that it can hold the gap's VM. Restores the layout. */
static bool way_to_clear(struct pass *p, const struct failover_gap *gap, uint32_t slot,
                         struct destinations *d, struct prerequisite_moves *ret)
{
    struct layout *l = &p->layout;
    struct prerequisite_moves way = {.to_slot = slot};
    struct layout_mark marks[PREREQUISITE_MOVES_MAX];
    double more[RES_COUNT];
    double left[RES_COUNT];
    bool good = failover_gap_measure(&l->failover, gap, slot, more, left);
    bool found = good && failover_gap_fits(more, left);

    while (good && !found && way.n < PREREQUISITE_MOVES_MAX) {
        uint32_t to = IX_NONE;
        uint32_t u = unit_to_clear(p, slot, more, left, way.n == 0 ? d : NULL, &to);
        if (u == IX_NONE)
            break;
        layout_try(l, u, to, &marks[way.n]);
        way.out[way.n++] = (struct move){.unit = u, .to_slot = to};
        way.copied_mb += l->unit_backed[u];
        good = failover_gap_measure(&l->failover, gap, slot, more, left);
        found = good && failover_gap_fits(more, left);
    }
    for (uint32_t i = way.n; i-- > 0;)
        layout_undo(l, &marks[i]);
    *ret = way;
    return found;
}

/* Whether the cluster lacks less after these moves; *lack becomes what it then lacks. Restores the layout. */
static bool lacks_less(struct pass *p, const struct prerequisite_moves *way, double *lack)
{
    struct layout *l = &p->layout;
    struct layout_mark marks[PREREQUISITE_MOVES_MAX];
    uint64_t trials = (uint64_t)l->n_units * l->n_slots;

    if (p->failover_trials < trials)
        return false;
    p->failover_trials -= trials;
    for (uint32_t i = 0; i < way->n; i++)
        layout_try(l, way->out[i].unit, way->out[i].to_slot, &marks[i]);
    double then = plan_failover_lack(l);
    for (uint32_t i = way->n; i-- > 0;)
        layout_undo(l, &marks[i]);
    if (then >= *lack - ROUNDING)
        return false;
    *lack = then;
    return true;
}

static int fewest_moves_first(const void *a, const void *b)
{
    const struct prerequisite_moves *x = a;
    const struct prerequisite_moves *y = b;

    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    if (x->copied_mb != y->copied_mb)
        return x->copied_mb < y->copied_mb ? -1 : 1;
    return (x->to_slot > y->to_slot) - (x->to_slot < y->to_slot);
}

/* The slot with the fewest moves, then the least memory to copy, of those after whose moves the cluster lacks
 * less. */
static bool clear_some_slot(struct pass *p, const struct failover_gap *gap, struct closing *c,
                            struct prerequisite_moves *ret)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->layout.n_on; i++)
        n += way_to_clear(p, gap, i, &c->destinations, &c->ways[n]);
    qsort(c->ways, n, sizeof c->ways[0], fewest_moves_first);
    for (uint32_t i = 0; i < n; i++) {
        if (!lacks_less(p, &c->ways[i], &c->lack))
            continue;
        *ret = c->ways[i];
        return true;
    }
    return false;
}

/* A host in standby that could be the holder: the largest first, then the lower id. */
static uint32_t host_to_wake(struct pass *p, const struct failover_gap *gap)
{
    struct layout *l = &p->layout;
    uint32_t best = IX_NONE;

    for (uint32_t i = l->n_on; i < l->n_slots; i++) {
        double more[RES_COUNT];
        double left[RES_COUNT];
        bool waking = l->waking[i];
        if (!host_wake_is_allowed(p, i, REASON_SPARE_CAPACITY) || !host_wake_comes_first(p, i, best))
            continue;
        l->waking[i] = true;
        bool would = gap->vm == IX_NONE || (failover_gap_measure(&l->failover, gap, i, more, left) &&
                                            failover_gap_fits(more, left));
        l->waking[i] = waking;
        if (would && !(gap->vm == IX_NONE && waking))
            best = i;
    }
    return best;
}

/* A host whose wake is under way and that will close the gap; IX_NONE: none. */
static uint32_t coming_for(struct pass *p, const struct failover_gap *gap)
{
    struct layout *l = &p->layout;

    for (uint32_t i = l->n_on; i < l->n_slots; i++) {
        double more[RES_COUNT];
        double left[RES_COUNT];
        if (!p->coming[i])
            continue;
        bool waking = l->waking[i];
        l->waking[i] = true;
        bool would = gap->vm == IX_NONE || (failover_gap_measure(&l->failover, gap, i, more, left) &&
                                            failover_gap_fits(more, left));
        l->waking[i] = waking;
        if (would)
            return i;
    }
    return IX_NONE;
}

/* The fault about other VMs for the same reason; NULL: there is none yet. */
static struct fault *fault_like(struct pass *p, const struct finding *f)
{
    for (size_t i = p->n_faults; i-- > 0;) {
        const struct finding *other = p->faults[i].found;
        if (p->faults[i].code == FAULT_SPARE_MISSING && other->code == f->code &&
            (finding_get_subject(other, SUBJECT_HOST) == IX_NONE) ==
                (finding_get_subject(f, SUBJECT_HOST) == IX_NONE))
            return &p->faults[i];
    }
    return NULL;
}

/* Names the VM's host, or another, that fails together with the lost one. A VM that may run nowhere else is
 * lost with its own. Returns how many fail together; 0: not asked. */
static uint32_t name_lost(const struct pass *p, const struct failover_gap *gap, struct finding *f)
{
    const bool *counted = p->layout.failover.counted_on;
    uint32_t unit = gap->vm == IX_NONE ? IX_NONE : p->layout.vm_unit[gap->vm];
    uint32_t other = unit == IX_NONE ? gap->lost : p->layout.unit_slot[unit]; /* a spare VM runs nowhere */
    uint32_t n = 1;

    if (gap->lost == IX_NONE || (gap->hopeless && other == gap->lost))
        return 0;
    for (uint32_t i = 0; i < p->layout.n_on; i++)
        if (counted[i] && i != gap->lost) {
            other = other == gap->lost ? i : other;
            n++;
        }
    if (n > 1) {
        finding_subject(f, SUBJECT_FROM, p->layout.slot_host[other]);
        finding_figure(f, FIGURE_HOSTS, n);
    }
    return n;
}

/* One fault for each reason, about the first VM; it counts a VM once, however many losses leave it a gap.
 * `said`: by VM, a bit for each reason. */
static void still_missing(struct pass *p, const struct failover_gap *gap, uint8_t *said)
{
    const struct layout *l = &p->layout;
    uint32_t coming = coming_for(p, gap);
    uint32_t host = gap->lost == IX_NONE ? IX_NONE : l->slot_host[gap->lost];
    struct finding f = {
        .code = gap->vm == IX_NONE                        ? FIND_NO_HOST_TO_LOSE
                : host != IX_NONE && gap->hopeless        ? FIND_NO_RESTART
                : failover_gap_is_live(&l->failover, gap) ? FIND_NO_RESTART_FIT
                                                          : FIND_NO_RESTART_ROOM,
        .subjects = {{SUBJECT_VM, gap->vm},
                     {SUBJECT_HOST, host},
                     {SUBJECT_OTHER_HOST, coming == IX_NONE ? IX_NONE : l->slot_host[coming]}}};
    uint32_t lost = 0;

    if (gap->vm == IX_NONE) {
        finding_figure(&f, FIGURE_HOSTS, l->n_on);
        finding_figure(&f, FIGURE_HOSTS_MIN, p->snap->promise.hosts);
    } else {
        finding_figure(&f, FIGURE_VMS, 1);
        finding_figure(&f, FIGURE_CPU_NEED, gap->need[RES_CPU]);
        finding_figure(&f, FIGURE_MEM_NEED, gap->need[RES_MEM]);
        lost = name_lost(p, gap, &f);
    }
    const struct finding none = {.code = FIND_NO_HOST_TO_LOSE, .subjects = {{SUBJECT_HOST, IX_NONE}}};

    /* that none of the hosts is left says so of all VMs */
    if (lost == l->n_on && fault_like(p, &none))
        return;
    struct fault *like = fault_like(p, &f);
    uint8_t bit = (uint8_t)(1 << (f.code - FIND_NO_HOST_TO_LOSE));
    if (!like) {
        plan_fault(p, FAULT_SPARE_MISSING, IX_NONE, IX_NONE, IX_NONE, f);
    } else if (gap->vm != IX_NONE && !(said[gap->vm] & bit)) {
        struct finding more = *like->found;
        more.figures[finding_find_figure(&more, FIGURE_VMS)].value++;
        like->found = finding_keep(p->a, more);
    }
    if (gap->vm != IX_NONE)
        said[gap->vm] |= bit;
}

static bool take_way(struct pass *p, const struct failover_gap *gap, const struct prerequisite_moves *way)
{
    p->move_group = way->n > 1 ? ++p->n_move_groups : 0;
    p->for_vm = gap->vm;
    for (uint32_t i = 0; i < way->n; i++)
        if (!plan_move(p, way->out[i].unit, way->out[i].to_slot, REASON_SPARE_CAPACITY, IX_NONE,
                       PRIORITY_MANDATORY))
            return false;
    p->move_group = 0;
    p->for_vm = IX_NONE;
    return true;
}

/* False: the pass stops here. */
static bool close_gap(struct pass *p, struct failover_gap *gap, struct closing *c)
{
    struct failover_capacity *s = &p->layout.failover;
    struct destinations *d = &c->destinations;
    struct prerequisite_moves way = {.to_slot = IX_NONE};

    if (gap->vm != IX_NONE && failover_gap_close(s, gap)) {
        destinations_forget_found(p, d);
        return true;
    }
    if (gap->vm != IX_NONE && clear_some_slot(p, gap, c, &way)) {
        destinations_forget(p, d);
        if (!take_way(p, gap, &way))
            return false;
        (void)failover_gap_close(s, gap); /* if not, the next round of corrections finds all slots anew */
        return true;
    }
    uint32_t slot = coming_for(p, gap) != IX_NONE ? IX_NONE : host_to_wake(p, gap);
    if (slot == IX_NONE)
        return true;
    destinations_forget(p, d);
    host_wake_for(p, slot, REASON_SPARE_CAPACITY, gap->vm);
    if (gap->vm == IX_NONE)
        failover_gap_dismiss(s, gap);
    else
        failover_gap_close(s, gap);
    c->lack = plan_failover_lack(&p->layout);
    return true;
}

/* percent: the unreserved share of the cluster is too small, so more hosts are needed. */
static void wake_for_percent(struct pass *p)
{
    struct layout *l = &p->layout;

    for (int r = 0; r < RES_COUNT; r++) {
        struct failover_gap none = {.vm = IX_NONE, .lost = IX_NONE};
        uint32_t slot = IX_NONE;
        double percent;
        while (failover_gap_excess(&l->failover, (enum resource)r, IX_NONE, IX_NONE, NULL) > ROUNDING &&
               (slot = host_to_wake(p, &none)) != IX_NONE)
            host_wake_for(p, slot, REASON_SPARE_CAPACITY, IX_NONE);
        double excess = failover_gap_excess(&l->failover, (enum resource)r, IX_NONE, IX_NONE, &percent);
        if (excess > ROUNDING)
            plan_fault(p, FAULT_SPARE_MISSING, IX_NONE, IX_NONE, IX_NONE,
                       (struct finding){.code = FIND_FAILOVER_SHARE_MISSING,
                                        .resource = (enum resource)r,
                                        .figures = {{FIGURE_PERCENT, percent}, {FIGURE_MISSING, excess}}});
    }
}

/* dedicated: wakes a failover host in standby; adds a fault for a failover host that is not on otherwise. */
static void want_failover_hosts(struct pass *p)
{
    for (uint32_t i = 0; i < p->snap->n_hosts; i++) {
        const struct host *h = &p->snap->hosts[i];
        uint32_t slot = p->layout.host_slot[i];
        if (!h->failover || (h->is.state == HOST_ON && !host_is_avoided(h)))
            continue;
        if (h->is.state == HOST_STANDBY && !host_is_avoided(h) && h->is.dpm != AUTOMATION_DISABLED &&
            h->is.wake_failed_at == 0 && !layout_find_host_rejection(p->snap, i, REASON_SPARE_CAPACITY)) {
            if (!p->coming[slot])
                host_wake_record(
                    p, slot, &(struct wake_why){REASON_SPARE_CAPACITY, IX_NONE, PRIORITY_MANDATORY, NULL}, 0);
            p->coming[slot] = true;
            if (h->is.wake_failed_last == 0) /* else the fault stands until it is on */
                continue;
        }
        plan_fault(p, FAULT_SPARE_MISSING, IX_NONE, i, IX_NONE,
                   (struct finding){.code = FIND_FAILOVER_HOST_OFF, .subjects = {{SUBJECT_HOST, i}}});
    }
}

bool correct_failover(struct pass *p)
{
    struct failover_capacity *s = &p->layout.failover;
    struct closing c = {0};
    uint8_t *said = arena_array(p->a, uint8_t, p->snap->n_vms);

    if (s->had_gaps && p->n_decisions > 0)
        failover_capacity_renew(s);
    if (s->n_gaps > 0)
        c = (struct closing){.destinations = {.of = arena_array(p->a, uint32_t, p->layout.n_units),
                                              .is_known = arena_array(p->a, bool, p->layout.n_units)},
                             .ways = arena_array(p->a, struct prerequisite_moves, p->layout.n_on),
                             .lack = failover_gaps_lack(s)};
    s->unsaid = false;
    p->layout.moves_are_optional = true; /* they may not open other gaps */
    for (uint32_t i = 0; i < s->n_gaps; i++) {
        struct failover_gap *gap = &s->gaps[i];
        if (!gap->closed && !gap->hopeless && !close_gap(p, gap, &c))
            return false;
        if (!gap->closed)
            still_missing(p, gap, said);
    }
    p->layout.moves_are_optional = false;
    wake_for_percent(p);
    want_failover_hosts(p);
    return true;
}

static bool has_gap(const struct failover_capacity *s, const struct failover_gap *gap)
{
    for (uint32_t i = 0; i < s->n_gaps; i++)
        if (s->gaps[i].vm == gap->vm && s->gaps[i].lost == gap->lost)
            return true;
    return false;
}

/* There was no gap, and the moves kept all reservations. But they may have taken cells, devices or counts
 * that restarts need. A gap of reservations alone is a miss of the search. */
static void review_live(struct pass *p, uint8_t *said)
{
    struct failover_capacity *s = &p->layout.failover;
    const struct failover_capacity decided = *s;

    failover_capacity_renew(s);
    const struct failover_capacity found = *s;
    if (found.n_gaps > 0)
        failover_capacity_renew_reservations(s);
    for (uint32_t i = 0; i < found.n_gaps; i++)
        if (found.gaps[i].vm != IX_NONE && !has_gap(s, &found.gaps[i])) {
            const struct failover_capacity reservations = *s;
            *s = found;
            still_missing(p, &found.gaps[i], said);
            *s = reservations;
        }
    *s = decided;
}

void correct_failover_review(struct pass *p)
{
    struct failover_capacity *s = &p->layout.failover;
    uint8_t *said = arena_array(p->a, uint8_t, p->snap->n_vms);
    size_t kept = 0;

    if (!s->had_gaps && s->live)
        review_live(p, said);
    if (!s->had_gaps)
        return;
    for (size_t i = 0; i < p->n_faults; i++)
        if (p->faults[i].code != FAULT_SPARE_MISSING ||
            finding_get_subject(p->faults[i].found, SUBJECT_VM) == IX_NONE)
            p->faults[kept++] = p->faults[i];
    p->n_faults = kept;
    struct failover_capacity decided = *s; /* the moves were checked against these reservations */
    failover_capacity_renew(s);
    for (uint32_t i = 0; i < s->n_gaps; i++)
        if (s->gaps[i].vm != IX_NONE)
            still_missing(p, &s->gaps[i], said);
    *s = decided;
}
