/* Why a host stays as it is, with the figures that decided; and what is expected of the next hours. Times of
 * a day are UTC. */
#include "render/wording/sentence.h"

#define MINUTES_PER_HOUR 60
#define HOURS_PER_DAY 24

static double minutes(const struct sentence *w, enum finding_figure name)
{
    return wording_figure(w, name) / SECONDS_PER_MINUTE;
}

static double percent(const struct sentence *w, enum finding_figure name)
{
    return PERCENT * wording_figure(w, name);
}

/* "CPU 62 % (h1) and memory 48 % (h2)" */
const char *wording_fullest(const struct sentence *w)
{
    if (wording_subject(w, SUBJECT_CPU_FULLEST) == IX_NONE)
        return "nothing";
    return arena_printf(w->a, "CPU %.0f %% (%s) and memory %.0f %% (%s)", percent(w, FIGURE_CPU_LOAD_FULLEST),
                        wording_name(w, SUBJECT_CPU_FULLEST), percent(w, FIGURE_MEM_LOAD_FULLEST),
                        wording_name(w, SUBJECT_MEM_FULLEST));
}

/* ---- what is expected ---- */

/* "08:15 UTC" */
static const char *time_of_day(const struct sentence *w, enum finding_figure name)
{
    instant_s whole = (instant_s)wording_figure(w, name) / (instant_s)SECONDS_PER_MINUTE;

    return arena_printf(w->a, "%02lld:%02lld UTC", (long long)(whole / MINUTES_PER_HOUR % HOURS_PER_DAY),
                        (long long)(whole % MINUTES_PER_HOUR));
}

/* "9 of the last 10 working days" */
static const char *days(const struct sentence *w)
{
    uint32_t n = wording_count(w, FIGURE_DAYS);
    uint32_t of = wording_count(w, FIGURE_DAYS_ALL);

    switch (w->f->alike) {
    case ALIKE_WORKING_DAYS:
        return arena_printf(w->a, "%u of the last %u working days", n, of);
    case ALIKE_WEEKENDS:
        return arena_printf(w->a, "%u of the last %u days of a weekend", n, of);
    case ALIKE_WEEKDAY:
        return arena_printf(w->a, "the same weekday of %u of the last %u weeks", n, of);
    case alike_days_count:
        break;
    }
    return "";
}

/* "by 08:00 UTC 78.0 GHz of CPU are expected, as on 9 of the last 10 working days" */
const char *wording_expected(const struct sentence *w)
{
    const char *when = wording_figure(w, FIGURE_AT) > (double)w->snap->time ? "by" : "since";

    return arena_printf(w->a, "%s %s %s of %s are expected, as on %s", when, time_of_day(w, FIGURE_AT),
                        wording_amount(w, FIGURE_EXPECTED), wording_resource(w), days(w));
}

const char *wording_load_then(const struct sentence *w)
{
    uint32_t n = wording_count(w, FIGURE_HOSTS);

    return n == 1 ? arena_printf(w->a, "the host that is on would be at %.0f %%", percent(w, FIGURE_LOAD))
                  : arena_printf(w->a, "the %u hosts that are on or coming would be at %.0f %% in the mean",
                                 n, percent(w, FIGURE_LOAD));
}

/* The first letter is that of "By" or "Since". */
static const char *rise(const struct sentence *w)
{
    return wording_sentence(w->a,
                            arena_printf(w->a, "%s; %s then", wording_expected(w), wording_load_then(w)));
}

static const char *needed_soon(const struct sentence *w)
{
    return wording_sentence(
        w->a, arena_printf(w->a,
                           "%s; without %s the hosts that are left would be at %.0f %% then, "
                           "and it would be woken again before being off has paid",
                           wording_expected(w), wording_name(w, SUBJECT_HOST), percent(w, FIGURE_LOAD)));
}

static const char *outlook(const struct sentence *w)
{
    return arena_printf(
        w->a, "What is expected of all VMs until %s is %s of CPU at most, at %s, as on %s; now they want %s.",
        time_of_day(w, FIGURE_UNTIL), wording_mhz(w, FIGURE_EXPECTED), time_of_day(w, FIGURE_AT), days(w),
        wording_mhz(w, FIGURE_NOW));
}

/* ---- why not ---- */

static const char *uptime(const struct sentence *w)
{
    return arena_printf(w->a, "%s has been on for %.0f minutes; it stays so for %.0f at least.",
                        wording_name(w, SUBJECT_HOST), minutes(w, FIGURE_IS_S), minutes(w, FIGURE_LEAST_S));
}

static const char *woken(const struct sentence *w)
{
    const char *name = wording_name(w, SUBJECT_HOST);
    double ago = minutes(w, FIGURE_IS_S);
    double least = minutes(w, FIGURE_LEAST_S);

    if (w->f->reason == REASON_ASKED)
        return arena_printf(
            w->a,
            "An admin asked for %s to be woken %.0f minutes ago; it stays on for %.0f at least "
            "(dpm.asked_on_s). `ballast standby %s` puts it to standby before.",
            name, ago, least, name);
    if (w->f->reason == REASON_EXPECTED_DEMAND)
        return arena_printf(
            w->a,
            "%s was woken %.0f minutes ago for a rise that is expected; it stays on until that "
            "is through, %.0f minutes after it was woken.",
            name, ago, least);
    return arena_printf(
        w->a,
        "%s was woken %.0f minutes ago: %s. It stays on until that is %.0f minutes ago, as far "
        "back as power-off looks.",
        name, ago, reason_meaning(w->f->reason), least);
}

static const char *minimum(const struct sentence *w)
{
    double hosts = wording_figure(w, FIGURE_HOSTS);

    if (w->f->power == POWER_HOSTS_MIN)
        return arena_printf(w->a, "%.0f host%s would be on without it, and %.0f always are.", hosts,
                            hosts == 1 ? "" : "s", wording_figure(w, FIGURE_HOSTS_MIN));
    return arena_printf(w->a, "The hosts would have %s of %s without it, and %s %s.",
                        wording_amount(w, FIGURE_HAS), wording_resource(w), wording_amount(w, FIGURE_LEAST),
                        w->f->power == POWER_RESERVED ? "are reserved" : "always stay on");
}

/* What keeps the VM, by the checks of a move. */
static const char *vm_stays(const struct sentence *w)
{
    const char *vm = wording_name(w, SUBJECT_VM);
    const char *host = wording_name(w, SUBJECT_HOST);

    if (w->f->check == CHECK_NONE)
        return arena_printf(w->a, "%s is moved by a person only, and %s would have to wait for that.", vm,
                            host);
    return arena_printf(w->a, "%s stays on %s: %s.", vm, host, check_meaning(w->f->check));
}

static const char *scores(const struct sentence *w)
{
    if (w->f->power == POWER_RAISES_HIGH)
        return arena_printf(w->a, "Without it the high score of %s would rise from %.3f to %.3f.",
                            wording_resource(w), wording_figure(w, FIGURE_HIGH),
                            wording_figure(w, FIGURE_HIGH_AFTER));
    return arena_printf(w->a, "Without it the low scores would go from %.3f to %.3f (CPU) and %.3f to %.3f.",
                        wording_figure(w, FIGURE_CPU_LOW), wording_figure(w, FIGURE_CPU_LOW_AFTER),
                        wording_figure(w, FIGURE_MEM_LOW), wording_figure(w, FIGURE_MEM_LOW_AFTER));
}

static const char *no_room(const struct sentence *w)
{
    const char *vm = wording_name(w, SUBJECT_VM);

    if (wording_subject(w, SUBJECT_VM) == IX_NONE)
        return scores(w);
    if (w->f->power == POWER_RAISES_HIGH)
        return arena_printf(w->a, "%s could only go to hosts that would then be above %.0f %%.", vm,
                            percent(w, FIGURE_LOAD_MAX));
    if (!w->f->because)
        return arena_printf(w->a, "%s finds no room on the others any more once they have taken the rest.",
                            vm);
    return arena_printf(w->a, "%s can go nowhere else. %s", vm, wording_because(w));
}

static const char *cost_benefit(const struct sentence *w)
{
    bool cpu = w->f->resource == RES_CPU;

    if (wording_has(w, FIGURE_EVACUATE_S))
        return arena_printf(w->a,
                            "Emptying it takes %.0f minutes; demand is expected to change before it is off.",
                            minutes(w, FIGURE_EVACUATE_S));
    double cost = wording_figure(w, cpu ? FIGURE_CPU_COST : FIGURE_MEM_COST);
    double benefit = wording_figure(w, cpu ? FIGURE_CPU_BENEFIT : FIGURE_MEM_BENEFIT);
    const char *why =
        wording_has(w, FIGURE_CORRELATION)
            ? arena_printf(
                  w->a,
                  " The demands of the VMs rise and fall together (correlation %.2f): at their worst "
                  "%s of %s would be missing.",
                  wording_figure(w, FIGURE_CORRELATION), wording_amount(w, FIGURE_MISSING),
                  wording_resource(w))
            : "";
    return arena_printf(
        w->a, "In %.0f minutes off it saves %.4g %s and costs %.4g, which is %.1f times; %.0f are asked.%s",
        minutes(w, FIGURE_OFF_S), benefit, cpu ? "MHz s" : "MiB s", cost, benefit / cost,
        wording_figure(w, FIGURE_RATIO_MIN), why);
}

static const char *missed(const struct sentence *w)
{
    return arena_printf(
        w->a,
        "At %s hosts were missed soon after they had been put to standby: %s of CPU and %s of memory were "
        "wanted. It has been quiet for %.0f minutes since; until it has been for %.0f, those that stay must "
        "be able to give as much, and without %s they would lack %s of %s.",
        wording_instant(w, FIGURE_AT), wording_mhz(w, FIGURE_CPU_NEED), wording_mb(w, FIGURE_MEM_NEED),
        minutes(w, FIGURE_IS_S), minutes(w, FIGURE_LEAST_S), wording_name(w, SUBJECT_HOST),
        wording_amount(w, FIGURE_MISSING), wording_resource(w));
}

static const char *high(const struct sentence *w)
{
    return arena_printf(w->a, "The fullest host is at %s, and %.0f %% is the most that is wanted.",
                        wording_fullest(w), percent(w, FIGURE_LOAD_MAX));
}

static const char *others_coming(const struct sentence *w)
{
    return arena_printf(w->a, "%s is being woken: what it will relieve is not seen yet.",
                        wording_name(w, SUBJECT_OTHER_HOST));
}

static const char *not_low(const struct sentence *w)
{
    bool both = w->f->resource == RES_COUNT;
    const char *of = both ? "CPU and memory" : w->f->resource == RES_CPU ? "CPU" : "Memory";

    return arena_printf(
        w->a, "%s %s below %.0f %% on no host%s: the hosts that are on are needed.", of, both ? "are" : "is",
        percent(w, FIGURE_LOAD_MIN),
        wording_figure(w, FIGURE_HOSTS_ASLEEP) > 0 ? " but those that the plan puts to standby" : "");
}

static const char *moves_max(const struct sentence *w)
{
    uint32_t n = wording_count(w, FIGURE_VMS);

    return arena_printf(w->a, "It has %u VM%s to be moved, and the plan may have %.0f more.", n,
                        n == 1 ? "" : "s", wording_figure(w, FIGURE_MOVES_MAX));
}

/* ---- the schedule ---- */

static const char *window_closed(const struct sentence *w)
{
    if (!wording_has(w, FIGURE_UNTIL))
        return "Hosts are not put to standby now (dpm.windows and dpm.ready_by), and no time is known from "
               "which on they may be.";
    return arena_printf(w->a, "Hosts are not put to standby before %s (dpm.windows and dpm.ready_by).",
                        wording_instant(w, FIGURE_UNTIL));
}

static const char *window_ends(const struct sentence *w)
{
    return arena_printf(w->a, "Emptying %s takes %s, and the window ends at %s.",
                        wording_name(w, SUBJECT_HOST), wording_seconds(w, FIGURE_EVACUATE_S),
                        wording_instant(w, FIGURE_UNTIL));
}

static const char *ready_soon(const struct sentence *w)
{
    return arena_printf(
        w->a,
        "It would be off for %s before it had to be woken to be on by %s (dpm.ready_by), and %s is "
        "the least (dpm.off_min_s).",
        wording_seconds(w, FIGURE_IS_S), wording_instant(w, FIGURE_READY_BY),
        wording_seconds(w, FIGURE_LEAST_S));
}

static const char *ready_later(const struct sentence *w)
{
    return arena_printf(w->a, "%s sleeps, and is woken at %s at the latest to be on by %s (dpm.ready_by).",
                        wording_name(w, SUBJECT_HOST), wording_instant(w, FIGURE_AT),
                        wording_instant(w, FIGURE_READY_BY));
}

static const char *rule_last(const struct sentence *w)
{
    return arena_printf(w->a, "Of the hosts that the rule \"%s\" allows no other one is on.",
                        wording_name(w, SUBJECT_RULE));
}

/* A check that is not here comes without figures: its meaning says it all. */
static const char *(*const sentences[power_check_count])(const struct sentence *) = {
    [POWER_UPTIME] = uptime,
    [POWER_WOKEN] = woken,
    [POWER_HOSTS_MIN] = minimum,
    [POWER_CPU_MIN] = minimum,
    [POWER_MEM_MIN] = minimum,
    [POWER_RESERVED] = minimum,
    [POWER_RULE_LAST] = rule_last,
    [POWER_VM_STAYS] = vm_stays,
    [POWER_VM_NO_ROOM] = no_room,
    [POWER_RAISES_HIGH] = no_room,
    [POWER_KEEPS_LOW] = scores,
    [POWER_COST_BENEFIT] = cost_benefit,
    [POWER_MISSED_BEFORE] = missed,
    [POWER_HIGH] = high,
    [POWER_NOT_LOW] = not_low,
    [POWER_MOVES_MAX] = moves_max,
    [POWER_OTHERS_COMING] = others_coming,
    [POWER_WINDOW] = window_closed,
    [POWER_WINDOW_ENDS] = window_ends,
    [POWER_READY_SOON] = ready_soon,
    [POWER_READY_LATER] = ready_later,
    [POWER_EXPECTED] = rise,
    [POWER_NEEDED_SOON] = needed_soon,
};

const char *wording_power(const struct sentence *w)
{
    switch ((int)w->f->code) { /* only those of hosts' power */
    case FIND_POWER:
        return sentences[w->f->power] ? sentences[w->f->power](w)
                                      : wording_sentence(w->a, power_check_meaning(w->f->power));
    case FIND_OUTLOOK:
        return outlook(w);
    case FIND_OUTLOOK_OFF:
        return "What is expected of the next hours is not looked at: dpm.proactive is false.";
    default:
        return NULL;
    }
}
