#include "sim/report/shown.h"

#include "base/rfc3339.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define S_PER_MIN 60.0
#define S_PER_H 3600.0
#define S_PER_DAY 86400.0
#define DIGITS_MAX 64
#define TINY 1e-4 /* below that the zeros are too many to be counted */
#define SAME 1e-9 /* of the larger: what rounding may make of equal figures */

const struct metric_shown metrics_shown[] = {
    {METRIC_payload_cpu, GROUP_DELIVERED, 1, WHEN_ALWAYS, "CPU delivered, of what all hosts have"},
    {METRIC_payload_cpu_bound, GROUP_DELIVERED, 0, WHEN_ALWAYS, "  the most that was possible"},
    {METRIC_payload_mem, GROUP_DELIVERED, 1, WHEN_ALWAYS, "memory delivered, of what all hosts have"},
    {METRIC_payload_mem_bound, GROUP_DELIVERED, 0, WHEN_ALWAYS, "  the most that was possible"},
    {METRIC_happiness_mean, GROUP_DELIVERED, 1, WHEN_ALWAYS, "CPU that VMs got of their entitlement"},
    {METRIC_happy_share, GROUP_DELIVERED, 1, WHEN_ALWAYS, "VMs that got 95 % of it or more"},
    {METRIC_unmet_mhz_s, GROUP_DELIVERED, -1, WHEN_ALWAYS, "CPU wanted and not got"},
    {METRIC_unmet_mb_s, GROUP_DELIVERED, -1, WHEN_ALWAYS, "memory wanted and not got"},
    {METRIC_unplaced, GROUP_DELIVERED, -1, WHEN_SOME, "times that a VM found no place"},
    {METRIC_migrations, GROUP_MOVES, -1, WHEN_ALWAYS, "that ended well"},
    {METRIC_migrations_failed, GROUP_MOVES, -1, WHEN_ALWAYS, "that failed"},
    {METRIC_gb_moved, GROUP_MOVES, -1, WHEN_ALWAYS, "copied for them"},
    {METRIC_passes, GROUP_MOVES, 0, WHEN_ASKED, "passes"},
    {METRIC_decide_ms_total, GROUP_MOVES, 0, WHEN_ASKED, "time that deciding took"},
    {METRIC_imbalance_mean, GROUP_BALANCE, -1, WHEN_ALWAYS, "imbalance, mean over time"},
    {METRIC_imbalance_max, GROUP_BALANCE, -1, WHEN_ALWAYS, "imbalance at its worst"},
    {METRIC_imbalance_final, GROUP_BALANCE, -1, WHEN_ALWAYS, "imbalance at the end"},
    {METRIC_time_to_target_s, GROUP_BALANCE, -1, WHEN_ALWAYS, "from the worst to the target"},
    {METRIC_time_below_0_1_s, GROUP_BALANCE, -1, WHEN_ALWAYS, "from the worst to below 0.1 for good"},
    {METRIC_time_below_0_05_s, GROUP_BALANCE, -1, WHEN_ALWAYS, "from the worst to below 0.05 for good"},
    {METRIC_kwh, GROUP_POWER, -1, WHEN_POWER, "energy"},
    {METRIC_kwh_idle_off, GROUP_POWER, -1, WHEN_POWER, "  if hosts without demand were off"},
    {METRIC_kwh_all_on, GROUP_POWER, 0, WHEN_POWER, "  if all hosts had been on"},
    {METRIC_hosts_on_mean, GROUP_POWER, 0, WHEN_ALWAYS, "hosts on, mean over time"},
    {METRIC_host_power_offs, GROUP_POWER, 0, WHEN_DPM, "hosts put to sleep"},
    {METRIC_host_power_ons, GROUP_POWER, 0, WHEN_DPM, "hosts woken"},
    {METRIC_wake_failures, GROUP_POWER, -1, WHEN_SOME, "wake-ups that failed"},
    {METRIC_account_kwh, GROUP_POWER, 0, WHEN_ASKED, "energy, by Ballast's account"},
    {METRIC_account_kwh_all_on, GROUP_POWER, 0, WHEN_ASKED, "  if all hosts had been on"},
    {METRIC_account_unmet_mhz_s, GROUP_DELIVERED, 0, WHEN_ASKED, "CPU wanted and not got, by its account"},
    {METRIC_slatah, GROUP_LITERATURE, -1, WHEN_ALWAYS, "active hosts' time short of CPU (SLATAH)"},
    {METRIC_pdm, GROUP_LITERATURE, -1, WHEN_ALWAYS, "CPU lost to migrations (PDM)"},
    {METRIC_sla, GROUP_LITERATURE, -1, WHEN_ALWAYS, "SLATAH times PDM (SLA)"},
    {METRIC_slav, GROUP_LITERATURE, -1, WHEN_ALWAYS, "CPU wanted and not got (SLAV)"},
    {METRIC_esv, GROUP_LITERATURE, -1, WHEN_POWER, "energy times SLATAH times PDM (ESV)"},
};
static_assert(sizeof metrics_shown / sizeof *metrics_shown == METRIC_COUNT, "each metric has its line above");

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

const char *metric_meaning(enum metric_id id)
{
    return facts[id].meaning;
}

const char *metric_group_title(enum metric_group group)
{
    return group_titles[group];
}

static bool is_duration(const char *unit)
{
    return strcmp(unit, "s") == 0;
}

double metric_of(const struct simulation *s, enum metric_id id)
{
    double v = *(const double *)((const char *)&s->metrics + facts[id].offset);

    return isnan(v) && is_duration(facts[id].unit) ? INFINITY : v;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

struct spread spread_of(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i]))
            return (struct spread){NAN, NAN, NAN};
    }
    qsort(values, n, sizeof *values, by_size);
    double upper = values[n / 2];
    double lower = values[(n - 1) / 2];
    return (struct spread){.median = (lower + upper) / 2, .least = values[0], .most = values[n - 1]};
}

struct spread metric_spread(const struct run_set *set, enum metric_id id)
{
    struct arena scratch = {0};
    double *values = arena_array(&scratch, double, set->n);

    for (size_t i = 0; i < set->n; i++)
        values[i] = metric_of(&set->runs[i], id);
    struct spread spread = spread_of(values, set->n);
    arena_release(&scratch);
    return spread;
}

bool has_power(const struct scenario *s)
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

static bool power_changes(const struct run_set *set)
{
    return set->runs[0].scenario->policy.dpm.enabled || any_is_not_0(set, METRIC_host_power_offs) ||
           any_is_not_0(set, METRIC_host_power_ons);
}

bool metric_applies(const struct run_set *set, const struct metric_shown *m)
{
    switch (m->when) {
    case WHEN_ALWAYS:
        return true;
    case WHEN_POWER:
        return has_power(set->runs[0].scenario);
    case WHEN_DPM:
        return power_changes(set);
    case WHEN_SOME:
        return any_is_not_0(set, m->id);
    case WHEN_ASKED:
        return false;
    }
    return true;
}

int metric_judge(const struct metric_shown *m, double a, double b)
{
    if (isnan(a) || isnan(b) || (isinf(a) && isinf(b)) ||
        (isfinite(a) && isfinite(b) && fabs(b - a) <= SAME * fmax(fabs(a), fabs(b))))
        return 0;
    return b > a ? m->better : -m->better;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Digits in groups of three: "1234567.5" is "1,234,567.5". */
static const char *thousands(struct arena *a, const char *digits)
{
    char text[DIGITS_MAX];
    size_t n = 0;
    bool minus = *digits == '-';
    size_t whole = strcspn(digits + minus, ".");

    if (whole + whole / 3 + strlen(digits) >= sizeof text)
        return arena_strdup(a, digits);
    if (minus)
        text[n++] = '-';
    digits += minus;
    for (size_t i = 0; digits[i]; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0)
            text[n++] = ',';
        text[n++] = digits[i];
    }
    return arena_strndup(a, text, n);
}

/* "0.100" is "0.1". */
static const char *without_zeros(struct arena *a, const char *digits)
{
    size_t n = strlen(digits);

    if (!strchr(digits, '.'))
        return digits;
    while (digits[n - 1] == '0')
        n--;
    return arena_strndup(a, digits, digits[n - 1] == '.' ? n - 1 : n);
}

/* Three digits that tell something, never fewer than the whole number has; of percent two decimals, so that
 * what is nearly all is not all. */
static const char *plain_number(struct arena *a, double v, int decimals_least)
{
    double size = fabs(v);
    int decimals;

    if (size <= 0 || (fabs(v - round(v)) < SAME * size && size >= 1))
        decimals = 0;
    else if (size < TINY)
        return arena_printf(a, "%.2e", v);
    else
        decimals = (int)fmax(2 - floor(log10(size)), decimals_least);
    return thousands(a, without_zeros(a, arena_printf(a, "%.*f", decimals, v + 0.0))); /* no negative zero */
}

static const char *parts(struct arena *a, double v, double large, const char *of_large, double small,
                         const char *of_small)
{
    double n = floor(v / large);
    double rest = round((v - n * large) / small);

    if (rest * small >= large) {
        n += 1;
        rest = 0;
    }
    if (rest < 1)
        return arena_printf(a, "%s %s", thousands(a, arena_printf(a, "%.0f", n)), of_large);
    return arena_printf(a, "%s %s %.0f %s", thousands(a, arena_printf(a, "%.0f", n)), of_large, rest,
                        of_small);
}

/* The two largest units. */
static const char *duration(struct arena *a, double v)
{
    double size = fabs(v);
    const char *text;

    if (size < S_PER_MIN - 0.5)
        text = arena_printf(a, "%.0f s", size);
    else if (size < S_PER_H - 0.5)
        text = parts(a, size, S_PER_MIN, "min", 1, "s");
    else if (size < S_PER_DAY - S_PER_MIN / 2)
        text = parts(a, size, S_PER_H, "h", S_PER_MIN, "min");
    else
        text = parts(a, size, S_PER_DAY, "d", S_PER_H, "h");
    return v < 0 && size >= 0.5 ? arena_printf(a, "-%s", text) : text;
}

const char *shown_number(struct arena *a, double value, const char *unit)
{
    if (isinf(value) && is_duration(unit))
        return "never";
    if (!isfinite(value))
        return NULL;
    if (is_duration(unit))
        return duration(a, value);
    return plain_number(a, value, strcmp(unit, "%") == 0 ? 2 : fabs(value) < 1000 ? 1 : 0);
}

const char *shown_unit(const char *unit)
{
    return is_duration(unit) ? "" : unit;
}

const char *shown_figure(struct arena *a, double value, const char *unit)
{
    const char *number = shown_number(a, value, unit);

    if (!number)
        return "-";
    return *shown_unit(unit) ? arena_printf(a, "%s %s", number, shown_unit(unit)) : number;
}

const char *shown_difference(struct arena *a, double from, double to, const char *unit)
{
    if (!isfinite(from) || !isfinite(to))
        return NULL;
    double d = fabs(to - from) <= SAME * fmax(fabs(from), fabs(to)) ? 0 : to - from;
    return arena_printf(a, "%s%s", d > 0 ? "+" : "", shown_number(a, d, unit));
}

#define PERCENT_TELLS_MAX 1000.0 /* from there on "ten times as much" says no more than the two figures */

const char *shown_percent(struct arena *a, double from, double to)
{
    if (!isfinite(from) || !isfinite(to) || fabs(from) <= 0)
        return NULL;
    double percent = 100 * (to - from) / fabs(from);
    if (fabs(percent) >= PERCENT_TELLS_MAX)
        return NULL;
    return arena_printf(a, "%s%.1f %%", percent >= 0.05 ? "+" : "", fabs(percent) < 0.05 ? 0.0 : percent);
}

const char *shown_count(struct arena *a, double n, const char *what)
{
    return arena_printf(a, "%s %s%s", plain_number(a, n, 0), what,
                        fabs(n - 1) < SAME              ? ""
                        : what[strlen(what) - 1] == 's' ? "es"
                                                        : "s");
}

/* ---- sentences ------------------------------------------------------------------------------- */

static const char *seeds_text(struct arena *a, const struct run_set *set)
{
    unsigned long long first = set->runs[0].scenario->seed;

    if (set->n == 1)
        return arena_printf(a, "seed %llu", first);
    return arena_printf(a, "%zu runs, seeds %llu to %llu", set->n, first, first + set->n - 1);
}

const char *shown_what(struct arena *a, const struct run_set *set)
{
    const struct simulation *run = &set->runs[0];
    const struct scenario *s = run->scenario;
    double passes = metric_spread(set, METRIC_passes).median;
    const char *left_out = s->measure_from_s > 0 ? arena_printf(a, " (the first %s are not in the figures)",
                                                                shown_number(a, s->measure_from_s, "s"))
                                                 : "";

    return arena_printf(a, "%s, %s, %s%s%s; %s.", shown_count(a, s->initial.n_hosts, "host"),
                        shown_count(a, s->initial.n_vms, "VM"), shown_number(a, s->duration_s, "s"), left_out,
                        isfinite(passes) ? arena_printf(a, ", %s", shown_count(a, passes, "pass")) : "",
                        seeds_text(a, set));
}

const char *shown_policy(struct arena *a, const struct scenario *s)
{
    const struct policy *p = &s->policy;

    if (!s->ballast)
        return "Ballast is off: nobody moves a VM, and no host changes its power.";
    const char *dpm = !p->dpm.enabled
                          ? "hosts stay on"
                          : arena_printf(a, "idle hosts sleep (DPM %s)", automation_name(p->dpm.automation));
    return arena_printf(a, "Automation %s, migration threshold %lld, a pass every %s; %s.",
                        automation_name(p->automation), (long long)p->migration_threshold,
                        shown_number(a, (double)p->interval_s, "s"), dpm);
}

static bool any_rate(const struct scenario *s)
{
    for (int f = 0; f < sim_fault_count; f++) {
        if (s->rates[f].rate > 0)
            return true;
    }
    return s->n_faults > 0;
}

const char *shown_assumptions(struct arena *a, const struct scenario *s)
{
    const char *power = has_power(s) ? "" : " No host has a power model, so energy is left out.";
    const char *moves = s->migration.kind == MIGRATION_FIXED
                            ? "A migration takes the VM's memory divided by the rate."
                            : "Migrations copy in rounds and share the hosts' links.";
    const char *division = s->scheduler == SCHEDULER_PROPORTIONAL
                               ? " A host that is short scales all requests alike."
                               : " A host that is short divides by reservations, limits and shares.";

    return arena_printf(a, "%s%s%s%s", moves, division, any_rate(s) ? " Faults happen." : " Nothing fails.",
                        power);
}
