/* Wakes hosts in time for dpm.ready_by, and checks whether the schedule allows a power-off. */
#include "core/power/ready_by.h"

#include "core/plan/correct.h"
#include "core/plan/host_wakes.h"

#include <stdlib.h>

/* Two sums of the same numbers may differ by this share, because their order of addition differs. */
#define ROUNDING 1e-6

static const struct schedule_facts *schedule_of(const struct pass *p)
{
    return &p->snap->schedule;
}

static bool must_be_ready(const struct pass *p)
{
    return schedule_of(p)->given && schedule_of(p)->ready_by != 0 && p->policy.dpm.enabled;
}

static const struct host *host_of(const struct pass *p, uint32_t slot)
{
    return &p->snap->hosts[p->layout.slot_host[slot]];
}

static bool is_managed(const struct pass *p, uint32_t slot)
{
    return host_is_managed(host_of(p, slot), p->policy.dpm.automation);
}

static double boot_of(const struct pass *p, uint32_t slot)
{
    double boot_s = host_of(p, slot)->is.boot_s;

    return isnan(boot_s) ? (double)p->policy.dpm.boot_s : boot_s;
}

bool ready_by_forbids_standby(const struct pass *p)
{
    return schedule_of(p)->given && !schedule_of(p)->power_off;
}

/* From the first call until the host is usable, should only its last way to be woken work. */
static double wake_s_of(const struct pass *p, uint32_t slot)
{
    double tries_s = host_of(p, slot)->is.wake_tries_s;

    return boot_of(p, slot) + (isnan(tries_s) ? 0 : tries_s);
}

instant_s ready_by_wakes_at(const struct pass *p, uint32_t slot)
{
    return p->ready_by ? p->ready_by->wakes_at[slot] : 0;
}

/* ---- missing capacity ---- */

struct missing {
    double of[RES_COUNT];
};

static bool is_missing(const struct missing *m)
{
    return m->of[RES_CPU] > ROUNDING || m->of[RES_MEM] > ROUNDING;
}

static void count_in(const struct pass *p, uint32_t slot, struct missing *m)
{
    for (int r = 0; r < RES_COUNT; r++)
        m->of[r] -= host_of(p, slot)->capacity[r];
}

static struct missing begin_missing(const struct pass *p)
{
    return (struct missing){{schedule_of(p)->ready[RES_CPU], schedule_of(p)->ready[RES_MEM]}};
}

/* On and staying on, or waking. */
static bool will_be_on(const struct pass *p, uint32_t slot)
{
    const struct layout *l = &p->layout;

    return is_managed(p, slot) && (slot < l->n_on ? !l->closing[slot] : p->coming[slot] || l->waking[slot]);
}

/* Entering standby: it can be woken only after that. */
static bool is_going(const struct pass *p, uint32_t slot)
{
    enum host_state state = host_of(p, slot)->is.state;

    for (uint32_t i = 0; i < p->snap->n_pending && state == HOST_ON; i++)
        if (p->snap->pending[i].action == ACTION_POWER_OFF &&
            p->snap->pending[i].host == p->layout.slot_host[slot])
            return true;
    return state == HOST_ENTERING_STANDBY;
}

/* An admin put the host to standby after the ready_by time: its capacity is not missed. */
static bool was_put_down_since(const struct pass *p, uint32_t slot)
{
    const struct schedule_facts *s = schedule_of(p);
    const struct host_facts *h = &host_of(p, slot)->is;
    bool since = h->state == HOST_STANDBY ? h->standby_since > s->ready_by : is_going(p, slot);

    return s->ready_by <= p->snap->time && since;
}

/* ---- wake times ---- */

struct sleeper {
    uint32_t slot;
    double wake_s;
};

static int longest_first(const void *a, const void *b)
{
    const struct sleeper *x = a;
    const struct sleeper *y = b;

    if (x->wake_s != y->wake_s)
        return x->wake_s > y->wake_s ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* The number of n hosts that may boot at the same time. */
static uint32_t lanes_of(const struct pass *p, uint32_t n)
{
    int64_t most = dpm_changes_max(&p->policy.dpm, p->snap->n_hosts);

    return most == 0 || most > (int64_t)n ? n : (uint32_t)most;
}

/* Schedules backwards from ready_by: each host in the lane with the most free time, the slowest host last, so
 * that all lanes are about equally long. */
static void set_times(const struct pass *p, struct sleeper *list, uint32_t n, struct ready_by *ready)
{
    uint32_t n_lanes = lanes_of(p, n);
    double *free_s = arena_array(p->a, double, n_lanes); /* by lane: booked time before ready_by */

    qsort(list, n, sizeof list[0], longest_first);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = 0;
        for (uint32_t k = 1; k < n_lanes && free_s[lane] > 0; k++)
            if (free_s[k] < free_s[lane])
                lane = k;
        free_s[lane] += list[i].wake_s;
        ready->wakes_at[list[i].slot] =
            schedule_of(p)->ready_by - p->policy.interval_s - (instant_s)ceil(free_s[lane]);
    }
}

/* ---- waking ---- */

static void wake(struct pass *p, uint32_t slot)
{
    struct finding f = {.code = FIND_WAKE_READY,
                        .reason = REASON_READY_BY,
                        .subjects = {{SUBJECT_HOST, p->layout.slot_host[slot]}},
                        .figures = {{FIGURE_HOSTS, p->ready_by->n_by_then},
                                    {FIGURE_HOSTS_ALL, p->ready_by->n_managed},
                                    {FIGURE_BOOT_S, boot_of(p, slot)},
                                    {FIGURE_READY_BY, (double)schedule_of(p)->ready_by}}};

    host_wake_take(p, slot,
                   &(struct wake_why){REASON_READY_BY, IX_NONE, PRIORITY_MANDATORY, finding_keep(p->a, f)});
}

/* A host that DPM manages, is not on, and did not wake when it was tried last. */
static bool has_failed(const struct host *h, enum automation dpm)
{
    return (h->is.state == HOST_STANDBY || h->is.state == HOST_POWERING_ON) && h->is.wake_failed_last != 0 &&
           host_is_managed(h, dpm);
}

/* The first such host; IX_NONE. */
static uint32_t find_failed(const struct pass *p)
{
    for (uint32_t i = 0; i < p->snap->n_hosts; i++) {
        const struct host *h = &p->snap->hosts[i];
        bool left_alone = h->is.state == HOST_STANDBY && h->is.wake_failed_at != 0 &&
                          host_is_managed(h, p->policy.dpm.automation);

        if (left_alone || has_failed(h, p->policy.dpm.automation))
            return i;
    }
    return IX_NONE;
}

static void report_missing(struct pass *p, const struct missing *m)
{
    uint32_t failed = find_failed(p);

    plan_fault(p, FAULT_READY_BY, IX_NONE, failed, IX_NONE,
               (struct finding){.code = FIND_READY_MISSING,
                                .subjects = {{SUBJECT_HOST, failed}},
                                .figures = {{FIGURE_HOSTS, p->ready_by->n_by_then},
                                            {FIGURE_HOSTS_ALL, p->ready_by->n_managed},
                                            {FIGURE_CPU_MISSING, fmax(m->of[RES_CPU], 0)},
                                            {FIGURE_MEM_MISSING, fmax(m->of[RES_MEM], 0)},
                                            {FIGURE_READY_BY, (double)schedule_of(p)->ready_by}}});
}

/* First the hosts in standby, in the order of wakes, then those entering standby. */
static uint32_t list_candidates(struct pass *p, uint32_t *ret)
{
    const struct power w = {.p = p, .l = &p->layout}; /* ranking needs no other field */
    uint32_t n = rank_to_wake(&w, REASON_READY_BY, ret);

    for (uint32_t i = 0; i < p->layout.n_slots; i++)
        if (is_going(p, i))
            ret[n++] = i;
    return n;
}

/* Leaves out hosts that a later one makes unnecessary, because the next pass would put them to standby again.
 */
static uint32_t leave_out(const struct pass *p, struct sleeper *list, uint32_t n, struct missing *m)
{
    uint32_t left = 0;

    for (uint32_t i = n; i-- > 0 && !is_missing(m);) {
        struct missing without = *m;
        for (int r = 0; r < RES_COUNT; r++)
            without.of[r] += host_of(p, list[i].slot)->capacity[r];
        if (is_missing(&without))
            continue;
        *m = without;
        list[i].slot = IX_NONE;
    }
    for (uint32_t i = 0; i < n; i++)
        if (list[i].slot != IX_NONE)
            list[left++] = list[i];
    return left;
}

static bool may_fail(const struct pass *p, uint32_t slot)
{
    return has_failed(host_of(p, slot), p->policy.dpm.automation);
}

/* The hosts to be woken; `failed`: of those that did not wake when they were tried last, or of the others.
 * Appends them to the list, and returns its new length. */
static uint32_t choose(const struct pass *p, const uint32_t *order, uint32_t n_order, bool failed,
                       struct sleeper *list, uint32_t n, struct missing *m)
{
    uint32_t first = n;

    for (uint32_t i = 0; i < n_order && is_missing(m); i++) {
        if (!is_managed(p, order[i]) || was_put_down_since(p, order[i]) || may_fail(p, order[i]) != failed)
            continue;
        list[n++] = (struct sleeper){.slot = order[i], .wake_s = wake_s_of(p, order[i])};
        count_in(p, order[i], m);
    }
    return first + leave_out(p, list + first, n - first, m);
}

/* The hosts to wake, and their times. A host that did not wake when it was tried last does not count before
 * it is on: the fault stands as long as its capacity is missing, and not only between two tries. It is tried
 * again where no other host can come in its place. */
static void choose_all(struct pass *p, struct missing *m)
{
    uint32_t *order = arena_array(p->a, uint32_t, p->layout.n_slots);
    struct sleeper *list = arena_array(p->a, struct sleeper, p->layout.n_slots);
    uint32_t n_order = list_candidates(p, order);
    uint32_t n = choose(p, order, n_order, false, list, 0, m);

    p->ready_by->n_by_then += n;
    if (is_missing(m)) {
        struct missing at_best = *m;

        for (uint32_t i = p->layout.n_on; i < p->layout.n_slots; i++)
            if (may_fail(p, i) && will_be_on(p, i))
                count_in(p, i, &at_best);
        n = choose(p, order, n_order, true, list, n, &at_best);
    }
    set_times(p, list, n, p->ready_by);
}

/* Counts all managed hosts, those without a slot included. */
static uint32_t count_managed(const struct pass *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->snap->n_hosts; i++)
        n += host_is_managed(&p->snap->hosts[i], p->policy.dpm.automation);
    return n;
}

void ready_by_wake(struct pass *p)
{
    struct missing m = begin_missing(p);
    uint32_t n_on = 0;

    if (!must_be_ready(p) || p->stopped)
        return;
    for (uint32_t i = 0; i < p->layout.n_slots; i++) {
        bool comes = will_be_on(p, i) && !may_fail(p, i);

        if (comes || (is_managed(p, i) && was_put_down_since(p, i))) {
            count_in(p, i, &m);
            n_on += comes;
        }
    }
    if (!is_missing(&m))
        return;
    p->ready_by = arena_new(p->a, struct ready_by);
    p->ready_by->wakes_at = arena_array(p->a, instant_s, p->layout.n_slots);
    p->ready_by->n_by_then = n_on;
    p->ready_by->n_managed = count_managed(p);
    choose_all(p, &m);
    for (uint32_t i = p->layout.n_on; i < p->layout.n_slots; i++) /* the next pass would be too late */
        if (p->ready_by->wakes_at[i] != 0 && !is_going(p, i) &&
            p->snap->time + p->policy.interval_s > p->ready_by->wakes_at[i])
            wake(p, i);
    if (is_missing(&m))
        report_missing(p, &m);
}

const instant_s *ready_by_wake_times(const struct pass *p)
{
    if (!p->ready_by)
        return NULL;
    instant_s *ret = arena_array(p->a, instant_s, p->snap->n_hosts);
    for (uint32_t i = 0; i < p->layout.n_slots; i++)
        ret[p->layout.slot_host[i]] = p->ready_by->wakes_at[i];
    return ret;
}

/* ---- power-offs ---- */

/* Whether ready_by needs the host back: the remaining hosts are not enough. The slot is closed in the
 * what-if. */
static bool is_needed_back(const struct power *w)
{
    struct missing m = begin_missing(w->p);

    for (uint32_t i = 0; i < w->l->n_slots; i++)
        if (will_be_on(w->p, i))
            count_in(w->p, i, &m);
    return is_missing(&m);
}

/* How long before ready_by the host may be woken again, with all others in standby: in the last round, after
 * one wake of the slowest per earlier round. Two intervals: one is the margin, and the deciding pass may come
 * one interval early. The slot is closed in the what-if. */
static double lead_of(const struct power *w, uint32_t slot)
{
    const struct pass *p = w->p;
    uint32_t n = 0;
    double slowest = 0;

    for (uint32_t i = 0; i < w->l->n_slots; i++) {
        if (!is_managed(p, i) || will_be_on(p, i))
            continue;
        n++;
        slowest = fmax(slowest, wake_s_of(p, i));
    }
    double rounds = ceil((double)n / lanes_of(p, n));
    return (rounds - 1) * slowest + wake_s_of(p, slot) + 2 * (double)p->policy.interval_s;
}

/* It stays on shortly before ready_by, even where a host that failed before has come too: that one may fail
 * again. A wake for an earlier ready_by counts as well, because the time left for standby is as short. */
static bool was_woken_to_be_ready(const struct power *w, uint32_t slot)
{
    const struct woken *woken = &host_of(w->p, slot)->is.woken;

    return woken->at != 0 && woken->reason == REASON_READY_BY;
}

enum power_check ready_by_check(const struct power *w, uint32_t slot, struct power_verdict *v)
{
    const struct pass *p = w->p;
    const struct schedule_facts *s = schedule_of(p);
    double now = (double)p->snap->time;

    if (s->given && s->power_off_changes != 0 && now + v->worth.evacuate_s > (double)s->power_off_changes) {
        v->is = v->worth.evacuate_s;
        return POWER_WINDOW_ENDS;
    }
    if (!must_be_ready(p) || !is_managed(p, slot))
        return POWER_FINE;
    bool needed = is_needed_back(w);
    if (!needed && !was_woken_to_be_ready(w, slot))
        return POWER_FINE;
    double left =
        (double)s->ready_by - lead_of(w, slot) - now - v->worth.evacuate_s - (double)p->policy.dpm.standby_s;
    if (left < (double)p->policy.dpm.off_min_s) {
        v->is = fmax(left, 0);
        v->bound = (double)p->policy.dpm.off_min_s;
        return POWER_READY_SOON;
    }
    if (needed && left < v->worth.off_s) {
        for (int r = 0; r < RES_COUNT; r++)
            v->worth.benefit[r] *= left / v->worth.off_s;
        v->worth.off_s = left;
    }
    return POWER_FINE;
}

/* ---- findings ---- */

struct finding ready_by_finding(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    const struct schedule_facts *s = schedule_of(w->p);
    instant_s opens = s->power_off_changes;
    struct finding f = {.code = FIND_POWER, .power = v->check, .subjects = {{SUBJECT_HOST, host}}};

    if (v->check == POWER_WINDOW) {
        finding_figure(&f, FIGURE_UNTIL, opens == 0 ? UNKNOWN : (double)opens);
        return f;
    }
    if (v->check == POWER_WINDOW_ENDS) {
        finding_figure(&f, FIGURE_EVACUATE_S, v->is);
        finding_figure(&f, FIGURE_UNTIL, (double)opens);
        return f;
    }
    if (v->check == POWER_READY_SOON) {
        finding_figure(&f, FIGURE_IS_S, v->is);
        finding_figure(&f, FIGURE_LEAST_S, v->bound);
    } else {
        finding_figure(&f, FIGURE_AT, (double)ready_by_wakes_at(w->p, w->l->host_slot[host]));
    }
    finding_figure(&f, FIGURE_READY_BY, (double)s->ready_by);
    return f;
}
