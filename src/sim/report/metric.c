/* metric.c: each metric's label, group and direction, and what a set of runs has of it. How a number is
 * written is format.c's. */
#include "sim/report/metric.h"

#include "base/cleanup.h"
#include "base/order.h"
#include "sim/report/format.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

const struct metric_row metric_rows[] = {
    {METRIC_payload_cpu, GROUP_DELIVERED, 1, WHEN_ALWAYS, "CPU delivered, of what all hosts have"},
    {METRIC_payload_cpu_bound, GROUP_DELIVERED, 0, WHEN_ALWAYS, "  the most that was possible"},
    {METRIC_payload_mem, GROUP_DELIVERED, 1, WHEN_ALWAYS, "memory delivered, of what all hosts have"},
    {METRIC_payload_mem_bound, GROUP_DELIVERED, 0, WHEN_ALWAYS, "  the most that was possible"},
    {METRIC_happiness_mean, GROUP_DELIVERED, 1, WHEN_ALWAYS, "CPU that VMs got of their entitlement"},
    {METRIC_happy_share, GROUP_DELIVERED, 1, WHEN_ALWAYS, "VMs that got 95 % of it or more"},
    {METRIC_unmet_mhz_s, GROUP_DELIVERED, -1, WHEN_ALWAYS, "missing CPU"},
    {METRIC_slav, GROUP_DELIVERED, -1, WHEN_ALWAYS, "  of what VMs wanted (SLAV)"},
    {METRIC_unmet_mb_s, GROUP_DELIVERED, -1, WHEN_ALWAYS, "missing memory"},
    {METRIC_host_above_90_s, GROUP_DELIVERED, -1, WHEN_ALWAYS, "any host above 90 % of CPU or memory"},
    {METRIC_unplaced, GROUP_DELIVERED, -1, WHEN_SOME, "times that a VM found no place"},
    {METRIC_migrations, GROUP_MOVES, -1, WHEN_ALWAYS, "that ended well"},
    {METRIC_migrations_failed, GROUP_MOVES, -1, WHEN_ALWAYS, "that failed"},
    {METRIC_moves_per_vm_day, GROUP_MOVES, -1, WHEN_ALWAYS, "per VM and day"},
    {METRIC_gb_moved, GROUP_MOVES, -1, WHEN_ALWAYS, "copied for them"},
    {METRIC_moves_observed, GROUP_MOVES, 0, WHEN_SOME, "looked at ten minutes later"},
    {METRIC_moves_as_predicted, GROUP_MOVES, 1, WHEN_KNOWN, "  hosts loaded as predicted"},
    {METRIC_moves_timed_as_predicted, GROUP_MOVES, 1, WHEN_KNOWN, "  took as long as predicted"},
    {METRIC_moves_overlapping, GROUP_MOVES, 0, WHEN_SOME, "looked at, with others at their hosts"},
    {METRIC_moves_overlapping_as_predicted, GROUP_MOVES, 1, WHEN_KNOWN, "  hosts loaded as predicted"},
    {METRIC_moves_overlapping_timed_as_predicted, GROUP_MOVES, 1, WHEN_KNOWN, "  took as long as predicted"},
    {METRIC_moves_harmful, GROUP_MOVES, -1, WHEN_SOME, "that did harm"},
    {METRIC_passes, GROUP_MOVES, 0, WHEN_ASKED, "passes"},
    {METRIC_decide_ms_total, GROUP_MOVES, 0, WHEN_ASKED, "time that deciding took"},
    {METRIC_imbalance_mean, GROUP_BALANCE, -1, WHEN_ALWAYS, "imbalance, mean over time"},
    {METRIC_imbalance_max, GROUP_BALANCE, -1, WHEN_ALWAYS, "imbalance at its worst"},
    {METRIC_imbalance_final, GROUP_BALANCE, -1, WHEN_ALWAYS, "imbalance at the end"},
    {METRIC_score_mean, GROUP_BALANCE, 1, WHEN_KNOWN, "score of VMs on their hosts, mean"},
    {METRIC_time_above_target_s, GROUP_BALANCE, -1, WHEN_ALWAYS, "imbalance above the target"},
    {METRIC_time_to_target_s, GROUP_BALANCE, -1, WHEN_ALWAYS, "from the worst to the target"},
    {METRIC_time_below_0_1_s, GROUP_BALANCE, -1, WHEN_ALWAYS, "from the worst to below 0.1 for good"},
    {METRIC_time_below_0_05_s, GROUP_BALANCE, -1, WHEN_ALWAYS, "from the worst to below 0.05 for good"},
    {METRIC_kwh, GROUP_POWER, -1, WHEN_POWER, "energy"},
    {METRIC_kwh_idle_off, GROUP_POWER, -1, WHEN_POWER, "  if hosts without demand were off"},
    {METRIC_kwh_all_on, GROUP_POWER, 0, WHEN_POWER, "  if all hosts had been on"},
    {METRIC_hosts_on_mean, GROUP_POWER, 0, WHEN_ALWAYS, "hosts on, mean over time"},
    {METRIC_host_power_offs, GROUP_POWER, 0, WHEN_DPM, "hosts put to sleep"},
    {METRIC_power_cycles_per_host_day, GROUP_POWER, -1, WHEN_DPM, "  per host and day"},
    {METRIC_host_power_ons, GROUP_POWER, 0, WHEN_DPM, "hosts woken"},
    {METRIC_sleep_shortest_s, GROUP_POWER, 1, WHEN_DPM, "shortest sleep of a host"},
    {METRIC_sleep_median_s, GROUP_POWER, 1, WHEN_DPM, "median sleep"},
    {METRIC_sleeps_under_1h, GROUP_POWER, -1, WHEN_DPM, "sleeps shorter than an hour"},
    {METRIC_wake_failures, GROUP_POWER, -1, WHEN_SOME, "wake-ups that failed"},
    {METRIC_account_kwh, GROUP_POWER, 0, WHEN_ASKED, "energy, by Ballast's account"},
    {METRIC_account_kwh_all_on, GROUP_POWER, 0, WHEN_ASKED, "  if all hosts had been on"},
    {METRIC_account_unmet_mhz_s, GROUP_DELIVERED, 0, WHEN_ASKED, "missing CPU, by Ballast's account"},
    {METRIC_slatah, GROUP_LITERATURE, -1, WHEN_ALWAYS, "active hosts' time short of CPU (SLATAH)"},
    {METRIC_pdm, GROUP_LITERATURE, -1, WHEN_ALWAYS, "CPU lost to migrations (PDM)"},
    {METRIC_sla, GROUP_LITERATURE, -1, WHEN_ALWAYS, "SLATAH times PDM (SLA)"},
    {METRIC_esv, GROUP_LITERATURE, -1, WHEN_POWER, "energy times SLATAH times PDM (ESV)"},
};
static_assert(sizeof metric_rows / sizeof *metric_rows == METRIC_COUNT, "each metric has its line above");

static const struct {
    const char *name, *unit, *meaning;
    size_t offset;
} facts[METRIC_COUNT] = {
#define METRIC_FACTS(id, unit, meaning) {#id, unit, meaning, offsetof(struct metrics_of_run, id)},
    METRICS(METRIC_FACTS)
#undef METRIC_FACTS
};

static const char *const group_titles[GROUP_COUNT] = {
#define GROUP_TITLE(id, title) title,
    METRIC_GROUPS(GROUP_TITLE)
#undef GROUP_TITLE
};

const char *metric_name(enum metric_id id)
{
    return facts[id].name;
}

const char *metric_unit(enum metric_id id)
{
    return facts[id].unit;
}

static bool is_no_sleep(double value, enum metric_id id)
{
    return isinf(value) && (id == METRIC_sleep_shortest_s || id == METRIC_sleep_median_s);
}

const char *metric_number(struct arena *a, double value, enum metric_id id)
{
    return is_no_sleep(value, id) ? "none" : format_number(a, value, facts[id].unit);
}

const char *metric_figure(struct arena *a, double value, enum metric_id id)
{
    return is_no_sleep(value, id) ? "none" : format_figure(a, value, facts[id].unit);
}

const char *metric_meaning(enum metric_id id)
{
    return facts[id].meaning;
}

const char *metric_group_title(enum metric_group group)
{
    return group_titles[group];
}

double metric_of(const struct simulation *s, enum metric_id id)
{
    double v = *(const double *)((const char *)&s->metrics + facts[id].offset);

    return isnan(v) && format_is_duration(facts[id].unit) ? INFINITY : v;
}

struct spread metric_spread_of(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i]))
            return (struct spread){NAN, NAN, NAN};
    }
    qsort(values, n, sizeof *values, order_numbers);
    double upper = values[n / 2];
    double lower = values[(n - 1) / 2];
    return (struct spread){.median = (lower + upper) / 2, .least = values[0], .most = values[n - 1]};
}

struct spread metric_spread(const struct run_set *set, enum metric_id id)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};
    double *values = arena_array(&scratch, double, set->n);

    for (size_t i = 0; i < set->n; i++)
        values[i] = metric_of(&set->runs[i], id);
    return metric_spread_of(values, set->n);
}

bool metric_has_power_model(const struct scenario *s)
{
    for (uint32_t i = 0; i < s->initial.n_hosts; i++) {
        if (s->hosts[i].n_watts > 0)
            return true;
    }
    return false;
}

static bool any_is_not_0(const struct run_set *set, enum metric_id id)
{
    for (size_t i = 0; i < set->n; i++) {
        double v = metric_of(&set->runs[i], id);
        if (v < 0 || v > 0)
            return true;
    }
    return false;
}

static bool any_is_known(const struct run_set *set, enum metric_id id)
{
    for (size_t i = 0; i < set->n; i++) {
        if (!isnan(metric_of(&set->runs[i], id)))
            return true;
    }
    return false;
}

static bool power_changes(const struct run_set *set)
{
    return set->runs[0].scenario->policy.dpm.enabled || any_is_not_0(set, METRIC_host_power_offs) ||
           any_is_not_0(set, METRIC_host_power_ons);
}

bool metric_applies(const struct run_set *set, const struct metric_row *m)
{
    switch (m->when) {
    case WHEN_ALWAYS:
        return true;
    case WHEN_POWER:
        return metric_has_power_model(set->runs[0].scenario);
    case WHEN_DPM:
        return power_changes(set);
    case WHEN_SOME:
        return any_is_not_0(set, m->id);
    case WHEN_KNOWN:
        return any_is_known(set, m->id);
    case WHEN_ASKED:
        return false;
    }
    return true;
}

int metric_judge(const struct metric_row *m, double a, double b)
{
    if (isnan(a) || isnan(b) || (isinf(a) && isinf(b)) ||
        (isfinite(a) && isfinite(b) && fabs(b - a) <= METRIC_SAME * fmax(fabs(a), fabs(b))))
        return 0;
    return b > a ? m->better : -m->better;
}
