/* reserve.c: one step towards as many hosts without VMs as a stage of a pipeline keeps on. */
#include "core/power/power.h"

#include "core/plan/host_wakes.h"
#include "core/plan/plan.h"

bool reserve_decides(const struct pass *p)
{
    for (uint32_t i = 0; rule_moves_decide(p) && i < p->snap->n_stages; i++)
        if (p->snap->stages[i].is.reserve.n > 0)
            return true;
    return false;
}

static bool is_of(const struct power *w, uint32_t stage, uint32_t slot)
{
    const struct fit_live live = layout_live(w->l);
    struct value v =
        fit_rule_value(&w->p->rules.fit, PART_RESERVE, stage, IX_NONE, w->l->slot_host[slot], &live.is);

    return v.type == VALUE_TRUTH && v.truth;
}

static bool runs_none(const struct layout *l, uint32_t slot)
{
    for (uint32_t i = 0; i < l->list[slot].n; i++)
        if (!layout_is_agent(l, l->list[slot].items[i]))
            return false;
    return true;
}

/* empty: hosts without VMs, with those that are being woken. */
static struct finding find_step(const struct power *w, uint32_t stage, uint32_t slot, uint32_t empty)
{
    uint32_t kept = w->p->snap->stages[stage].is.keep;

    return (struct finding){.code = empty < kept ? FIND_RESERVE_WAKE : FIND_RESERVE_SLEEP,
                            .reason = empty < kept ? REASON_RESERVE : REASON_CONSOLIDATE,
                            .subjects = {{SUBJECT_HOST, w->l->slot_host[slot]}, {SUBJECT_STAGE, stage}},
                            .figures = {{FIGURE_HOSTS, empty}, {FIGURE_HOSTS_MIN, kept}}};
}

static void keep(struct power *w, uint32_t stage, bool may_sleep)
{
    const struct layout *l = w->l;
    const bool *busy = rule_moves_busy(w->p);
    uint32_t n = 0, wake = IX_NONE, kept = w->p->snap->stages[stage].is.keep;

    for (uint32_t i = 0; i < l->n_slots; i++) {
        if (!is_of(w, stage, i))
            continue;
        n += i < l->n_on ? !busy[i] && !l->closing[i] && runs_none(l, i) : w->p->coming[i] || l->waking[i];
        if (host_wake_is_allowed(w->p, i, REASON_RESERVE) && wake_check_host(w, i) == POWER_FINE &&
            host_wake_comes_first(w->p, i, wake))
            wake = i;
    }
    if (n < kept && wake != IX_NONE)
        host_wake_take(w->p, wake,
                       &(struct wake_why){REASON_RESERVE, IX_NONE, PRIORITY_WAKE,
                                          finding_keep(w->p->a, find_step(w, stage, wake, n))});
    for (uint32_t i = 0; may_sleep && n > kept && i < l->n_on; i++) {
        if (busy[i] || l->closing[i] || !runs_none(l, i) || !is_of(w, stage, i))
            continue;
        w->verdicts[i].check = sleep_try_empty(w, i, &w->verdicts[i]);
        if (w->verdicts[i].check != POWER_FINE)
            continue;
        sleep_moves_record(w, i, 0, find_step(w, stage, i, n));
        return;
    }
}

void reserve_step(struct power *w, bool may_sleep)
{
    for (uint32_t i = 0; i < w->p->snap->n_stages; i++)
        if (w->p->snap->stages[i].is.reserve.n > 0)
            keep(w, i, may_sleep);
}
