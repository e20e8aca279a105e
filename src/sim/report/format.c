/* format.c: numbers, durations and sentences as people read them. Which metrics there are is metric.c's. */
#include "sim/report/format.h"

#include <math.h>
#include <string.h>

#define S_PER_MIN 60.0
#define S_PER_H 3600.0
#define S_PER_DAY 86400.0
#define DIGITS_MAX 64
#define TINY 1e-4 /* smaller values are written with an exponent */

/* Amounts over time are reckoned per second and shown per hour, in larger units. */
static const struct shown_unit {
    const char *unit, *shown;
    double per_shown;
} shown_units[] = {
    {"MHz s", "GHz h", 1000 * S_PER_H},
    {"MiB s", "GiB h", 1024 * S_PER_H},
};

static const struct shown_unit *find_shown(const char *unit)
{
    for (size_t i = 0; i < sizeof shown_units / sizeof *shown_units; i++) {
        if (strcmp(shown_units[i].unit, unit) == 0)
            return &shown_units[i];
    }
    return NULL;
}

bool format_is_duration(const char *unit)
{
    return strcmp(unit, "s") == 0;
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

/* Three significant digits, never fewer than the whole number has; percentages have two decimals, so that
 * "nearly all" is not 100 %. */
static const char *plain_number(struct arena *a, double v, int decimals_least)
{
    double size = fabs(v);
    int decimals;

    if (size <= 0 || (fabs(v - round(v)) < METRIC_SAME * size && size >= 1))
        decimals = 0;
    else if (size < TINY)
        return arena_printf(a, "%.2e", v);
    else
        decimals = (int)fmax(2 - floor(log10(size)), decimals_least);
    return thousands(a, without_zeros(a, arena_printf(a, "%.*f", decimals, v + 0.0))); /* no negative zero */
}

static const char *two_units(struct arena *a, double v, double large, const char *of_large, double small,
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
        text = two_units(a, size, S_PER_MIN, "min", 1, "s");
    else if (size < S_PER_DAY - S_PER_MIN / 2)
        text = two_units(a, size, S_PER_H, "h", S_PER_MIN, "min");
    else
        text = two_units(a, size, S_PER_DAY, "d", S_PER_H, "h");
    return v < 0 && size >= 0.5 ? arena_printf(a, "-%s", text) : text;
}

const char *format_number(struct arena *a, double value, const char *unit)
{
    if (isinf(value) && format_is_duration(unit))
        return "never";
    if (!isfinite(value))
        return NULL;
    if (format_is_duration(unit))
        return duration(a, value);
    const struct shown_unit *shown = find_shown(unit);
    if (shown)
        value /= shown->per_shown;
    return plain_number(a, value, strcmp(unit, "%") == 0 ? 2 : fabs(value) < 1000 ? 1 : 0);
}

const char *format_unit(const char *unit)
{
    const struct shown_unit *shown = find_shown(unit);

    return shown ? shown->shown : format_is_duration(unit) ? "" : unit;
}

const char *format_figure(struct arena *a, double value, const char *unit)
{
    const char *number = format_number(a, value, unit);

    if (!number)
        return "-";
    return *format_unit(unit) ? arena_printf(a, "%s %s", number, format_unit(unit)) : number;
}

const char *format_difference(struct arena *a, double from, double to, const char *unit)
{
    if (!isfinite(from) || !isfinite(to))
        return NULL;
    double d = fabs(to - from) <= METRIC_SAME * fmax(fabs(from), fabs(to)) ? 0 : to - from;
    return arena_printf(a, "%s%s", d > 0 ? "+" : "", format_number(a, d, unit));
}

#define PERCENT_TELLS_MAX 1000.0 /* beyond this a percentage says no more than the two figures */

const char *format_percent(struct arena *a, double from, double to)
{
    if (!isfinite(from) || !isfinite(to) || fabs(from) <= 0)
        return NULL;
    double percent = 100 * (to - from) / fabs(from);
    if (fabs(percent) >= PERCENT_TELLS_MAX)
        return NULL;
    return arena_printf(a, "%s%.1f %%", percent >= 0.05 ? "+" : "", fabs(percent) < 0.05 ? 0.0 : percent);
}

const char *format_count(struct arena *a, double n, const char *what)
{
    return arena_printf(a, "%s %s%s", plain_number(a, n, 0), what,
                        fabs(n - 1) < METRIC_SAME       ? ""
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

const char *format_run(struct arena *a, const struct run_set *set)
{
    const struct simulation *run = &set->runs[0];
    const struct scenario *s = run->scenario;
    double passes = metric_spread(set, METRIC_passes).median;
    const char *left_out = s->measure_from_s > 0 ? arena_printf(a, " (the first %s are not in the figures)",
                                                                format_number(a, s->measure_from_s, "s"))
                                                 : "";

    return arena_printf(
        a, "%s, %s, %s%s%s; %s.", format_count(a, s->initial.n_hosts, "host"),
        format_count(a, s->initial.n_vms, "VM"), format_number(a, s->duration_s, "s"), left_out,
        isfinite(passes) ? arena_printf(a, ", %s", format_count(a, passes, "pass")) : "", seeds_text(a, set));
}

const char *format_policy(struct arena *a, const struct scenario *s)
{
    const struct policy *p = &s->policy;

    if (!s->ballast)
        return "Ballast is off: no VM is moved, and no host changes its power.";
    const char *dpm = !p->dpm.enabled
                          ? "hosts stay on"
                          : arena_printf(a, "idle hosts sleep (DPM %s)", automation_name(p->dpm.automation));
    return arena_printf(a, "Automation %s, migration threshold %lld, a pass every %s; %s.",
                        automation_name(p->automation), (long long)p->migration_threshold,
                        format_number(a, (double)p->interval_s, "s"), dpm);
}

static bool any_rate(const struct scenario *s)
{
    for (int f = 0; f < sim_fault_count; f++) {
        if (s->rates[f].rate > 0)
            return true;
    }
    return s->n_faults > 0;
}

const char *format_assumptions(struct arena *a, const struct scenario *s)
{
    const char *power = metric_has_power_model(s) ? "" : " No host has a power model, so energy is left out.";
    const char *moves = s->migration.kind == MIGRATION_FIXED
                            ? "A migration takes the VM's memory divided by the rate."
                            : "Migrations copy in rounds and share the hosts' links.";
    static const char *const divisions[] = {
        [SCHEDULER_SHARES] = " A host that is short divides by reservations, limits and shares.",
        [SCHEDULER_PROPORTIONAL] = " A host that is short scales all requests alike.",
        [SCHEDULER_WEIGHTS] = " A host that is short divides by the weights of its VMs.",
    };
    const char *division = divisions[s->scheduler];

    return arena_printf(a, "%s%s%s%s", moves, division, any_rate(s) ? " Faults happen." : " Nothing fails.",
                        power);
}
