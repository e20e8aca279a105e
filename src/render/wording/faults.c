/* What is said of a fault: what could not be done, and why. */
#include "render/wording/sentence.h"

static const char *pool_overcommitted(const struct sentence *w)
{
    const char *pool = wording_name(w, SUBJECT_POOL);
    const char *need = wording_amount(w, FIGURE_NEED);
    const char *has = wording_amount(w, FIGURE_HAS);

    if (wording_subject(w, SUBJECT_OTHER_POOL) != IX_NONE)
        return arena_printf(
            w->a, "What is in pool %s reserves %s of %s; it has %s, and pool %s could not give the rest.",
            pool, need, wording_resource(w), has, wording_name(w, SUBJECT_OTHER_POOL));
    if (wording_has(w, FIGURE_LIMIT))
        return arena_printf(w->a, "What is in pool %s reserves %s of %s, past the pool's limit of %s.", pool,
                            need, wording_resource(w), wording_amount(w, FIGURE_LIMIT));
    return arena_printf(w->a, "What is in pool %s reserves %s of %s; it has %s and may not expand.", pool,
                        need, wording_resource(w), has);
}

static const char *overcommitted(const struct sentence *w)
{
    if (w->f->code == FIND_POOL_OVERCOMMITTED)
        return pool_overcommitted(w);
    if (w->f->code == FIND_CLUSTER_OVERCOMMITTED)
        return arena_printf(
            w->a,
            "The %s reservations add up to %s, and the hosts have %s; each was scaled down in proportion.",
            wording_resource(w), wording_amount(w, FIGURE_NEED), wording_amount(w, FIGURE_HAS));
    return arena_printf(w->a,
                        "The %s reservations on %s exceed what it has by %s, and no VM can leave it. %s",
                        wording_resource(w), wording_name(w, SUBJECT_HOST), wording_amount(w, FIGURE_EXCESS),
                        wording_because(w));
}

static const char *host_unseen(const struct sentence *w)
{
    const char *host = wording_name(w, SUBJECT_HOST);
    uint32_t n = wording_count(w, FIGURE_VMS);

    return n == 1 ? arena_printf(w->a, "%s is not seen; its VM was left alone.", host)
                  : arena_printf(w->a, "%s is not seen; its %u VMs were left alone.", host, n);
}

/* ---- rules that contradict each other ---- */

static const char *rule_joins(const struct sentence *w)
{
    const char *rule = wording_name(w, SUBJECT_RULE);
    const char *vm = wording_name(w, SUBJECT_VM);
    const char *other = wording_name(w, SUBJECT_OTHER_VM);

    if (w->f->code == FIND_RULE_JOINS_PAIR)
        return arena_printf(w->a,
                            "The rule \"%s\" keeps %s with %s, the other half of its fault-tolerant pair; "
                            "they were left alone.",
                            rule, vm, other);
    if (w->f->code == FIND_RULE_JOINS_APART)
        return arena_printf(
            w->a, "The rule \"%s\" keeps %s with %s, and no host may run both; they were left alone.", rule,
            vm, other);
    return arena_printf(w->a,
                        "The rule \"%s\" cannot keep %s with %s: that is an agent VM, part of its host.",
                        rule, vm, other);
}

static const char *rules_contradict(const struct sentence *w)
{
    const char *rule = wording_name(w, SUBJECT_RULE);
    const char *second = wording_name(w, SUBJECT_OTHER_RULE);
    const char *vm = wording_name(w, SUBJECT_VM);
    const char *other = wording_name(w, SUBJECT_OTHER_VM);

    if (w->f->code == FIND_RULES_CONTRADICT)
        return arena_printf(
            w->a, "The rules \"%s\" and \"%s\" contradict each other for %s; it was left where it is.", rule,
            second, vm);
    if (w->f->code == FIND_RULES_CONTRADICT_BOTH)
        return arena_printf(
            w->a, "The rules \"%s\" and \"%s\" contradict each other for %s and %s; both were left alone.",
            rule, second, other, vm);
    return arena_printf(w->a,
                        "The rule \"%s\" contradicts \"%s\" and \"%s\", which keep %s with %s by way of "
                        "other VMs; both were left alone.",
                        rule, wording_name(w, SUBJECT_THIRD_RULE), second, other, vm);
}

static const char *rule_too_large(const struct sentence *w)
{
    uint32_t hosts = wording_count(w, FIGURE_HOSTS);

    return arena_printf(w->a, "The rule \"%s\" keeps %u VMs apart, and only %u host%s could run them.",
                        wording_name(w, SUBJECT_RULE), wording_count(w, FIGURE_VMS), hosts,
                        hosts == 1 ? "" : "s");
}

static const char *rule_left_out(const struct sentence *w)
{
    return arena_printf(w->a, "The rule \"%s\" is only preferred and was left out. %s",
                        wording_name(w, SUBJECT_RULE),
                        w->f->because ? wording_because(w) : "With it more would be left unmet.");
}

static const char *rule_broken(const struct sentence *w)
{
    const char *how = w->f->code == FIND_RULE_BROKEN
                          ? arena_printf(w->a, "and cannot be moved elsewhere. %s", wording_because(w))
                          : arena_printf(w->a, "and waits for %s, which is being woken.",
                                         wording_name(w, SUBJECT_OTHER_HOST));
    const char *what = wording_subject(w, SUBJECT_RULE) != IX_NONE
                           ? arena_printf(w->a, "violates the rule \"%s\"", wording_name(w, SUBJECT_RULE))
                       : wording_subject(w, SUBJECT_FT_PEER) != IX_NONE
                           ? "is beside the other half of its fault-tolerant pair"
                           : "is on a host that it is not compatible with";

    return arena_printf(w->a, "%s on %s %s %s", wording_name(w, SUBJECT_VM), wording_name(w, SUBJECT_HOST),
                        what, how);
}

static const char *rule_broken_by_placement(const struct sentence *w)
{
    bool mandatory = w->snap->rules[wording_subject(w, SUBJECT_RULE)].is.mandatory;

    return arena_printf(
        w->a, "%s is powered on though that breaks the%s rule \"%s\": there is no place that keeps it.",
        wording_name(w, SUBJECT_VM), mandatory ? "" : " preferred", wording_name(w, SUBJECT_RULE));
}

/* ---- capacity that is kept for failures ---- */

/* "12.0 GHz and 4.0 GiB", or the one that is needed. */
static const char *needs(const struct sentence *w)
{
    bool cpu = wording_figure(w, FIGURE_CPU_NEED) > 0;
    bool mem = wording_figure(w, FIGURE_MEM_NEED) > 0;

    if (cpu && mem)
        return arena_printf(w->a, "%s and %s", wording_mhz(w, FIGURE_CPU_NEED),
                            wording_mb(w, FIGURE_MEM_NEED));
    return cpu ? wording_mhz(w, FIGURE_CPU_NEED) : wording_mb(w, FIGURE_MEM_NEED);
}

static const char *no_host_to_lose(const struct sentence *w)
{
    uint32_t n = wording_count(w, FIGURE_HOSTS);

    return arena_printf(w->a, "%s, and the policy is to stand the loss of %u: no host would be left.",
                        n == 0   ? "No host runs VMs"
                        : n == 1 ? "One host runs VMs"
                                 : arena_printf(w->a, "%u hosts run VMs", n),
                        wording_count(w, FIGURE_HOSTS_MIN));
}

static const char *no_restart(const struct sentence *w)
{
    const char *host = wording_name(w, SUBJECT_HOST);
    const char *vm = wording_name(w, SUBJECT_VM);
    const char *text;

    if (w->f->code == FIND_NO_HOST_TO_LOSE)
        text = no_host_to_lose(w);
    else if (w->f->code == FIND_NO_RESTART)
        text =
            arena_printf(w->a, "Were %s lost, %s could not restart: it may run on no other host.", host, vm);
    else if (wording_subject(w, SUBJECT_HOST) == IX_NONE)
        text = arena_printf(w->a, "There is no host with %s left to reserve in one piece, for %s.", needs(w),
                            vm);
    else
        text = arena_printf(
            w->a, "Were %s lost, %s could not restart: no other host has %s left to reserve in one piece.",
            host, vm, needs(w));
    if (wording_subject(w, SUBJECT_OTHER_HOST) == IX_NONE)
        return text;
    return arena_printf(w->a, "%s It waits for %s, which is being woken.", text,
                        wording_name(w, SUBJECT_OTHER_HOST));
}

static const char *failover_share_missing(const struct sentence *w)
{
    return arena_printf(
        w->a,
        "The %s reservations leave less than the %.0f %% that are kept for failures: %s more would have to "
        "be free.",
        wording_resource(w), wording_figure(w, FIGURE_PERCENT), wording_amount(w, FIGURE_MISSING));
}

static const char *ready_missing(const struct sentence *w)
{
    bool failed = wording_subject(w, SUBJECT_HOST) != IX_NONE;

    return arena_printf(
        w->a, "By %s no more than %u of %u hosts can be on: %s of CPU and %s of memory are missing%s%s%s.",
        wording_instant(w, FIGURE_READY_BY), wording_count(w, FIGURE_HOSTS),
        wording_count(w, FIGURE_HOSTS_ALL), wording_mhz(w, FIGURE_CPU_MISSING),
        wording_mb(w, FIGURE_MEM_MISSING), failed ? "; " : "", failed ? wording_name(w, SUBJECT_HOST) : "",
        failed ? " did not wake" : "");
}

/* ---- VMs that cannot be powered on ---- */

static const char *no_place_for_half(const struct sentence *w)
{
    bool own = wording_subject(w, SUBJECT_FT_PEER) == wording_subject(w, SUBJECT_VM);
    const char *whose =
        own ? "its pair"
            : arena_printf(w->a, "the pair of %s, which it must be with", wording_name(w, SUBJECT_FT_PEER));

    return arena_printf(w->a, "%s cannot be powered on. There is no place for %s, the other half of %s.",
                        wording_name(w, SUBJECT_VM), wording_name(w, SUBJECT_OTHER_VM), whose);
}

/* The faults of rules; NULL: it is none. */
static const char *rule_fault(const struct sentence *w)
{
    switch ((int)w->f->code) { /* only those of rules */
    case FIND_RULE_JOINS_PAIR:
    case FIND_RULE_JOINS_APART:
    case FIND_RULE_JOINS_AGENT:
        return rule_joins(w);
    case FIND_RULE_LEAVES_NO_HOST:
        return arena_printf(
            w->a, "The rule \"%s\" leaves %s none of the hosts that it may run on; it was left where it is.",
            wording_name(w, SUBJECT_RULE), wording_name(w, SUBJECT_VM));
    case FIND_RULES_CONTRADICT:
    case FIND_RULES_CONTRADICT_BOTH:
    case FIND_RULES_CONTRADICT_CHAIN:
        return rules_contradict(w);
    case FIND_RULE_TOO_LARGE:
        return rule_too_large(w);
    case FIND_RULE_LEFT_OUT:
        return rule_left_out(w);
    case FIND_RULE_BROKEN:
    case FIND_RULE_BROKEN_YET:
        return rule_broken(w);
    case FIND_RULE_BROKEN_BY_PLACEMENT:
        return rule_broken_by_placement(w);
    default:
        return NULL;
    }
}

const char *wording_fault(const struct sentence *w)
{
    const char *vm = wording_name(w, SUBJECT_VM);
    const char *host = wording_name(w, SUBJECT_HOST);

    switch ((int)w->f->code) { /* only those of faults */
    case FIND_HOST_UNSEEN:
        return host_unseen(w);
    case FIND_CLUSTER_OVERCOMMITTED:
    case FIND_HOST_OVERCOMMITTED:
    case FIND_POOL_OVERCOMMITTED:
        return overcommitted(w);
    case FIND_SAMPLES_DISTRUSTED:
        return arena_printf(w->a,
                            "The figures of %u of %u VMs are missing, old or impossible, which is more than "
                            "a tenth: only mandatory moves are made.",
                            wording_count(w, FIGURE_VMS), wording_count(w, FIGURE_VMS_ALL));
    case FIND_DEMAND_UNKNOWN:
        return arena_printf(w->a, "What %s needs could not be read; it is not moved for balance.", vm);
    case FIND_SAMPLE_DISTRUSTED:
        return arena_printf(w->a, "%s is not moved for balance: %s.", vm, wording_because(w));
    case FIND_CANNOT_LEAVE:
        return arena_printf(w->a, "%s cannot leave %s. %s", vm, host, wording_because(w));
    case FIND_CANNOT_LEAVE_YET:
        return arena_printf(w->a, "%s cannot leave %s yet: it waits for %s, which is being woken.", vm, host,
                            wording_name(w, SUBJECT_OTHER_HOST));
    case FIND_NO_HOST_TO_LOSE:
    case FIND_NO_RESTART:
    case FIND_NO_RESTART_ROOM:
        return no_restart(w);
    case FIND_FAILOVER_SHARE_MISSING:
        return failover_share_missing(w);
    case FIND_FAILOVER_HOST_OFF:
        return arena_printf(w->a, "%s is kept for failures and cannot help: it is %s.", host,
                            wording_host_state(w, SUBJECT_HOST));
    case FIND_READY_MISSING:
        return ready_missing(w);
    case FIND_CANNOT_PLACE:
        return arena_printf(w->a, "%s cannot be powered on. %s", vm, wording_because(w));
    case FIND_CANNOT_PLACE_HALF:
        return no_place_for_half(w);
    default:
        return rule_fault(w);
    }
}
