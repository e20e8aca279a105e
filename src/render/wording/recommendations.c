/* What is said of a recommendation: who leaves what, why, and for where. By how much the imbalance falls is a
 * figure of its own. */
#include "render/wording/sentence.h"

/* "a (2.0 GHz, 4.0 GiB)" */
static const char *vm_with_share(const struct sentence *w)
{
    return arena_printf(w->a, "%s (%s, %s)", wording_name(w, SUBJECT_VM), wording_mhz(w, FIGURE_CPU_MHZ),
                        wording_mb(w, FIGURE_MEM_MB));
}

/* "(CPU 40 %, memory 50 %)" */
static const char *load(const struct sentence *w, enum finding_figure cpu, enum finding_figure mem)
{
    return arena_printf(w->a, "(CPU %.0f %%, memory %.0f %%)", PERCENT * wording_figure(w, cpu),
                        PERCENT * wording_figure(w, mem));
}

static const char *load_from(const struct sentence *w)
{
    return load(w, FIGURE_CPU_LOAD, FIGURE_MEM_LOAD);
}

static const char *leaving_for_rule(const struct sentence *w)
{
    if (wording_subject(w, SUBJECT_RULE) != IX_NONE)
        return arena_printf(w->a, ", where it violates the rule \"%s\",", wording_name(w, SUBJECT_RULE));
    return wording_subject(w, SUBJECT_FT_PEER) != IX_NONE
               ? ", where the other half of its fault-tolerant pair runs,"
               : ", which it is not compatible with,";
}

/* What is said of the host that the VM leaves. */
static const char *leaving(const struct sentence *w)
{
    bool for_other = wording_subject(w, SUBJECT_FOR_VM) != IX_NONE;

    switch (w->f->reason) {
    case REASON_MAINTENANCE:
        return ", which is entering maintenance,";
    case REASON_STANDBY:
        return ", which is entering standby,";
    case REASON_RULE:
        return leaving_for_rule(w);
    case REASON_HOST_OVERCOMMITTED:
        return ", whose reservations add up to more than it has,";
    case REASON_BALANCE_CPU:
    case REASON_BALANCE_MEM:
        return arena_printf(w->a, " %s", load_from(w));
    case REASON_SPARE_CAPACITY:
        return !for_other ? ", which is kept empty for failures,"
                          : arena_printf(w->a, ", to keep room there for a restart of %s,",
                                         wording_name(w, SUBJECT_FOR_VM));
    case REASON_PREREQUISITE:
        if (for_other && wording_subject(w, SUBJECT_FOR_VM) != wording_subject(w, SUBJECT_VM))
            return arena_printf(w->a, ", to make room there for %s,", wording_name(w, SUBJECT_FOR_VM));
        break;
    case REASON_AGENT:
        return ", whose agent VM needs what it reserves there,";
    case REASON_CONSOLIDATE:
        return ", which can sleep then,";
    case REASON_HIGH_UTILIZATION:
        return arena_printf(w->a, ", which has more to do than it should %s,", load_from(w));
    case REASON_EXPECTED_DEMAND:
        return arena_printf(w->a, ", which is expected to have more to do than it should soon %s,",
                            load_from(w));
    case REASON_PLACEMENT:
    case REASON_ASKED:
    case REASON_WAKE_TEST:
    case REASON_READY_BY:
    case reason_count:
        break;
    }
    return arena_printf(w->a, " (%s)", reason_meaning(w->f->reason));
}

static const char *move(const struct sentence *w)
{
    return arena_printf(w->a, "%s leaves %s%s for %s %s.", vm_with_share(w), wording_name(w, SUBJECT_FROM),
                        leaving(w), wording_name(w, SUBJECT_TO),
                        load(w, FIGURE_CPU_LOAD_TO, FIGURE_MEM_LOAD_TO));
}

static const char *wake(const struct sentence *w)
{
    const char *host = wording_name(w, SUBJECT_HOST);
    const char *vm = wording_name(w, SUBJECT_FOR_VM);

    if (w->snap->hosts[wording_subject(w, SUBJECT_HOST)].failover)
        return arena_printf(w->a, "%s is woken, because it is kept for failures.", host);
    if (w->f->reason != REASON_SPARE_CAPACITY)
        return arena_printf(w->a, "%s is woken, because no other host can take %s.", host, vm);
    return wording_subject(w, SUBJECT_FOR_VM) == IX_NONE
               ? arena_printf(w->a, "%s is woken, because the spare capacity for failures is missing.", host)
               : arena_printf(w->a, "%s is woken, to keep room there for a restart of %s.", host, vm);
}

/* Whether a host is above the range even with the one that is woken. */
static bool is_high_after(const struct sentence *w)
{
    return wording_figure(w, FIGURE_CPU_HIGH) > 0 || wording_figure(w, FIGURE_MEM_HIGH) > 0;
}

static const char *wake_high(const struct sentence *w)
{
    return arena_printf(w->a,
                        "%s is woken, because the fullest host is at %s (mean of 5 minutes and two standard "
                        "deviations; at most %.0f %% is wanted); with it %s.",
                        wording_name(w, SUBJECT_HOST), wording_fullest(w),
                        PERCENT * wording_figure(w, FIGURE_LOAD_MAX),
                        is_high_after(w) ? "part of that is mended" : "none is above that");
}

static const char *wake_early(const struct sentence *w)
{
    return arena_printf(w->a,
                        "%s is woken early: %s (now %s); %s, and %.0f %% is the most that is wanted on any. "
                        "With it %s.",
                        wording_name(w, SUBJECT_HOST), wording_expected(w), wording_amount(w, FIGURE_NOW),
                        wording_load_then(w), PERCENT * wording_figure(w, FIGURE_LOAD_MAX),
                        is_high_after(w) ? "part of that is met" : "none is above that");
}

static const char *wake_ready(const struct sentence *w)
{
    const struct host_facts *h = &w->snap->hosts[wording_subject(w, SUBJECT_HOST)].is;
    bool late = wording_figure(w, FIGURE_READY_BY) <= (double)w->snap->time;

    return arena_printf(w->a, "%s is woken%s %u of %u hosts %s on by %s (dpm.ready_by); it %s %s to boot.",
                        h->name, late ? ":" : ", so that", wording_count(w, FIGURE_HOSTS),
                        wording_count(w, FIGURE_HOSTS_ALL), late ? "were to be" : "are",
                        wording_instant(w, FIGURE_READY_BY), isnan(h->boot_s) ? "is taken to need" : "takes",
                        wording_seconds(w, FIGURE_BOOT_S));
}

static const char *times_its_cost(const struct sentence *w, enum finding_figure cost,
                                  enum finding_figure benefit)
{
    if (!(wording_figure(w, cost) > 0))
        return "costs nothing";
    return arena_printf(w->a, "gains %.0f times its cost",
                        wording_figure(w, benefit) / wording_figure(w, cost));
}

static const char *worth_of_sleep(const struct sentence *w)
{
    if (!(wording_figure(w, FIGURE_CPU_COST) > 0) && !(wording_figure(w, FIGURE_MEM_COST) > 0))
        return "which costs nothing";
    return arena_printf(w->a, "which for CPU %s, for memory %s (asked: %.0f times)",
                        times_its_cost(w, FIGURE_CPU_COST, FIGURE_CPU_BENEFIT),
                        times_its_cost(w, FIGURE_MEM_COST, FIGURE_MEM_BENEFIT),
                        wording_figure(w, FIGURE_RATIO_MIN));
}

static const char *sleep_of_host(const struct sentence *w)
{
    uint32_t n = wording_count(w, FIGURE_VMS);
    const char *vms = n == 0   ? "has no VMs and is"
                      : n == 1 ? "is emptied of its VM and"
                               : arena_printf(w->a, "is emptied of its %u VMs and", n);
    const char *saves = wording_has(w, FIGURE_WATTS)
                            ? arena_printf(w->a, ", saving about %.0f W", wording_figure(w, FIGURE_WATTS))
                            : "";
    double off_s = wording_figure(w, FIGURE_OFF_S);
    bool short_while = off_s < 2 * SECONDS_PER_MINUTE;

    return arena_printf(w->a,
                        "%s %s %s put to standby for about %.0f %s%s, %s. When all is done the fullest host "
                        "is at %s.",
                        wording_name(w, SUBJECT_HOST), load_from(w), vms,
                        short_while ? off_s : off_s / SECONDS_PER_MINUTE, short_while ? "seconds" : "minutes",
                        saves, worth_of_sleep(w), wording_fullest(w));
}

const char *wording_recommendation(const struct sentence *w)
{
    switch ((int)w->f->code) { /* only those of recommendations */
    case FIND_MOVE:
        return move(w);
    case FIND_PLACEMENT:
        return arena_printf(w->a, "%s is powered on at %s %s.", vm_with_share(w), wording_name(w, SUBJECT_TO),
                            load(w, FIGURE_CPU_LOAD_TO, FIGURE_MEM_LOAD_TO));
    case FIND_ALTERNATIVE:
        return arena_printf(w->a, "%s would do as well %s.", wording_name(w, SUBJECT_HOST), load_from(w));
    case FIND_WAKE:
        return wake(w);
    case FIND_WAKE_HIGH:
        return wake_high(w);
    case FIND_WAKE_EARLY:
        return wake_early(w);
    case FIND_WAKE_READY:
        return wake_ready(w);
    case FIND_SLEEP:
        return sleep_of_host(w);
    default:
        return NULL;
    }
}
