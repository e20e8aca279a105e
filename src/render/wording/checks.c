/* Why a VM does not go to a host, with the figures that decided. */
#include "render/wording/sentence.h"

/* ---- what holds the VM where it is ---- */

static const char *not_running(const struct sentence *w)
{
    return arena_printf(w->a, "It is %s; only running VMs are migrated.",
                        vm_state_name(w->snap->vms[wording_subject(w, SUBJECT_VM)].is.state));
}

static const char *unseen(const struct sentence *w)
{
    return arena_printf(w->a, "Its host %s is %s, so nothing is known about it.",
                        wording_name(w, SUBJECT_HOST), wording_host_state(w, SUBJECT_HOST));
}

static const char *migrating(const struct sentence *w)
{
    if (wording_subject(w, SUBJECT_FROM) == IX_NONE)
        return arena_printf(w->a, "An approved migration takes it to %s.", wording_name(w, SUBJECT_TO));
    return arena_printf(w->a, "It is being migrated from %s to %s.", wording_name(w, SUBJECT_FROM),
                        wording_name(w, SUBJECT_TO));
}

static const char *kind(const struct sentence *w)
{
    enum vm_kind kind = w->snap->vms[wording_subject(w, SUBJECT_VM)].is.kind;

    return arena_printf(w->a, "It is of the kind %s (%s).", vm_kind_name(kind), vm_kind_meaning(kind));
}

static const char *sample_bad(const struct sentence *w)
{
    return wording_sentence(w->a, wording_because(w));
}

static const char *ft(const struct sentence *w)
{
    return arena_printf(w->a, "It is half of a fault-tolerant pair with %s, and moved only when it must be.",
                        wording_name(w, SUBJECT_FT_PEER));
}

static const char *cool_down(const struct sentence *w)
{
    return arena_printf(w->a, "It was migrated %.0f minutes ago, and rests for %.0f.",
                        floor(wording_figure(w, FIGURE_IS_S) / SECONDS_PER_MINUTE),
                        ceil(wording_figure(w, FIGURE_LEAST_S) / SECONDS_PER_MINUTE));
}

static const char *rules(const struct sentence *w)
{
    const char *rule = wording_name(w, SUBJECT_RULE);

    if (wording_subject(w, SUBJECT_OTHER_RULE) == IX_NONE)
        return arena_printf(w->a, "The rule \"%s\" leaves it no host to run on.", rule);
    return arena_printf(w->a, "The rules \"%s\" and \"%s\" contradict each other for it.", rule,
                        wording_name(w, SUBJECT_OTHER_RULE));
}

static const char *held(const struct sentence *w)
{
    return arena_printf(w->a, "%s, which must stay together with it, cannot be moved: %s.",
                        wording_name(w, SUBJECT_OTHER_VM), check_meaning(w->f->because->check));
}

/* ---- what keeps it off the host ---- */

static const char *not_on(const struct sentence *w)
{
    return arena_printf(w->a, "%s is %s.", wording_name(w, SUBJECT_HOST),
                        wording_host_state(w, SUBJECT_HOST));
}

static const char *host_sleeps(const struct sentence *w)
{
    return arena_printf(w->a, "%s is put to standby by the plan.", wording_name(w, SUBJECT_HOST));
}

static const char *failover(const struct sentence *w)
{
    return arena_printf(w->a, "%s is kept empty for failures.", wording_name(w, SUBJECT_HOST));
}

static const char *incompatible(const struct sentence *w)
{
    return arena_printf(w->a, "%s can run on %u of the %u hosts, and %s is none of them.",
                        wording_name(w, SUBJECT_OTHER_VM), wording_count(w, FIGURE_HOSTS),
                        wording_count(w, FIGURE_HOSTS_ALL), wording_name(w, SUBJECT_HOST));
}

static const char *agent(const struct sentence *w)
{
    const struct vm_facts *agent = &w->snap->vms[wording_subject(w, SUBJECT_OTHER_VM)].is;

    return arena_printf(w->a, "The agent VM %s, which %s requires, is %s.", agent->name,
                        wording_name(w, SUBJECT_HOST),
                        agent->state == VM_ON ? "not there" : vm_state_name(agent->state));
}

static const char *vm_host(const struct sentence *w)
{
    return arena_printf(w->a, "The rule \"%s\" keeps %s off %s.", wording_name(w, SUBJECT_RULE),
                        wording_name(w, SUBJECT_OTHER_VM), wording_name(w, SUBJECT_HOST));
}

static const char *apart(const struct sentence *w)
{
    bool to = wording_subject(w, SUBJECT_TO) != IX_NONE;
    bool from = wording_subject(w, SUBJECT_FROM) != IX_NONE;

    return arena_printf(w->a, "The rule \"%s\" keeps %s apart from %s, which is %s %s.",
                        wording_name(w, SUBJECT_RULE), wording_name(w, SUBJECT_VM),
                        wording_name(w, SUBJECT_OTHER_VM),
                        to     ? "on its way to"
                        : from ? "on its way from"
                               : "on",
                        wording_name(w, to     ? SUBJECT_TO
                                        : from ? SUBJECT_FROM
                                               : SUBJECT_HOST));
}

static const char *ft_peer(const struct sentence *w)
{
    return arena_printf(w->a, "%s, the other half of the fault-tolerant pair of %s, is on %s.",
                        wording_name(w, SUBJECT_FT_PEER), wording_name(w, SUBJECT_OTHER_VM),
                        wording_name(w, SUBJECT_HOST));
}

static const char *together(const struct sentence *w)
{
    return arena_printf(w->a, "It must be together with %s, which is on %s.",
                        wording_name(w, SUBJECT_OTHER_VM), wording_name(w, SUBJECT_OTHER_HOST));
}

/* ---- room ---- */

static const char *reservation(const struct sentence *w)
{
    return arena_printf(w->a, "It reserves %s, and %s has %s left to reserve.",
                        wording_amount(w, FIGURE_NEED), wording_name(w, SUBJECT_HOST),
                        wording_amount(w, FIGURE_LEFT));
}

static const char *spare_capacity(const struct sentence *w)
{
    if (!wording_has(w, FIGURE_KEPT))
        return arena_printf(w->a, "Should %s fail, there would be no room on another host to restart it.",
                            wording_name(w, SUBJECT_HOST));
    return arena_printf(w->a,
                        "It reserves %s, and of the %s that %s has left to reserve, %s are kept for restarts "
                        "after a failure.",
                        wording_amount(w, FIGURE_NEED), wording_amount(w, FIGURE_LEFT),
                        wording_name(w, SUBJECT_HOST), wording_amount(w, FIGURE_KEPT));
}

static const char *memory(const struct sentence *w)
{
    return arena_printf(w->a, "It takes %s, and %s has %s of %s left.", wording_amount(w, FIGURE_NEED),
                        wording_name(w, SUBJECT_HOST), wording_amount(w, FIGURE_LEFT),
                        wording_amount(w, FIGURE_LIMIT));
}

static const char *memory_free(const struct sentence *w)
{
    return arena_printf(w->a, "It needs %s of host memory, and only %s is free on %s.",
                        wording_amount(w, FIGURE_NEED), wording_amount(w, FIGURE_LEFT),
                        wording_name(w, SUBJECT_HOST));
}

/* ---- whether it is worth it ---- */

static const char *mandatory_only(const struct sentence *w)
{
    if (wording_has(w, FIGURE_THRESHOLD))
        return "At migration threshold 1 only mandatory moves are made.";
    return arena_printf(w->a,
                        "The figures of %u of %u VMs are missing or wrong: only mandatory moves are made.",
                        wording_count(w, FIGURE_VMS), wording_count(w, FIGURE_VMS_ALL));
}

static const char *target(const struct sentence *w)
{
    return arena_printf(w->a, "The imbalance is %.4f, and %.4f is even enough.",
                        wording_figure(w, FIGURE_IMBALANCE), wording_figure(w, FIGURE_TARGET));
}

static const char *no_gain(const struct sentence *w)
{
    return arena_printf(w->a, "The imbalance would not be lower: %.4f, and %.4f now.",
                        wording_figure(w, FIGURE_IMBALANCE_AFTER), wording_figure(w, FIGURE_IMBALANCE));
}

static const char *goodness(const struct sentence *w)
{
    return arena_printf(w->a, "It would lower the imbalance by %.4f, and %.4f is the least for a migration.",
                        wording_figure(w, FIGURE_GAIN), wording_figure(w, FIGURE_GAIN_MIN));
}

/* Without a sign before what rounds to nothing. */
static double whole(const struct sentence *w, enum finding_figure name)
{
    double x = wording_figure(w, name);

    return fabs(x) < 0.5 ? 0 : x;
}

static const char *cost_benefit(const struct sentence *w)
{
    return arena_printf(w->a, "It costs %.0f MHz s and %.0f MiB s, and gains %.0f MHz s and %.0f MiB s.",
                        whole(w, FIGURE_CPU_COST), whole(w, FIGURE_MEM_COST), whole(w, FIGURE_CPU_BENEFIT),
                        whole(w, FIGURE_MEM_BENEFIT));
}

static const char *worst_case(const struct sentence *w)
{
    return arena_printf(w->a, "In the worst case %s and %s more would go unserved than now.",
                        wording_mhz(w, FIGURE_CPU_WORSE), wording_mb(w, FIGURE_MEM_WORSE));
}

static const char *moves_max(const struct sentence *w)
{
    double most = wording_figure(w, FIGURE_MOVES_MAX);

    return arena_printf(w->a, "The plan may have %.0f move%s, and none is left for it.", most,
                        most == 1 ? "" : "s");
}

static const char *less_gain(const struct sentence *w)
{
    return arena_printf(w->a, "The imbalance would be %.4f, and is %.4f with it on %s.",
                        wording_figure(w, FIGURE_IMBALANCE_AFTER), wording_figure(w, FIGURE_IMBALANCE_CHOSEN),
                        wording_name(w, SUBJECT_TO));
}

/* A check that is not here comes without figures: its meaning says it all. */
static const char *(*const sentences[check_count])(const struct sentence *) = {
    [CHECK_VM_NOT_RUNNING] = not_running,
    [CHECK_VM_HOST_UNSEEN] = unseen,
    [CHECK_VM_MIGRATING] = migrating,
    [CHECK_VM_KIND] = kind,
    [CHECK_VM_SAMPLE_BAD] = sample_bad,
    [CHECK_VM_FT] = ft,
    [CHECK_VM_COOL_DOWN] = cool_down,
    [CHECK_VM_RULES] = rules,
    [CHECK_UNIT_HELD] = held,
    [CHECK_HOST_NOT_ON] = not_on,
    [CHECK_HOST_SLEEPS] = host_sleeps,
    [CHECK_FAILOVER_HOST] = failover,
    [CHECK_INCOMPATIBLE] = incompatible,
    [CHECK_AGENT_MISSING] = agent,
    [CHECK_RULE_VM_HOST] = vm_host,
    [CHECK_RULE_ANTI_AFFINITY] = apart,
    [CHECK_FT_PEER] = ft_peer,
    [CHECK_RULE_AFFINITY] = together,
    [CHECK_RESERVATION_CPU] = reservation,
    [CHECK_RESERVATION_MEM] = reservation,
    [CHECK_SPARE_CAPACITY] = spare_capacity,
    [CHECK_MEMORY] = memory,
    [CHECK_MEMORY_FREE] = memory_free,
    [CHECK_MANDATORY_ONLY] = mandatory_only,
    [CHECK_TARGET_REACHED] = target,
    [CHECK_NO_GAIN] = no_gain,
    [CHECK_MIN_GOODNESS] = goodness,
    [CHECK_COST_BENEFIT] = cost_benefit,
    [CHECK_WORST_CASE] = worst_case,
    [CHECK_MOVES_MAX] = moves_max,
    [CHECK_LESS_GAIN] = less_gain,
};

const char *wording_check(const struct sentence *w)
{
    if (w->f->code == FIND_CHECK && sentences[w->f->check])
        return sentences[w->f->check](w);
    return w->f->code == FIND_CHECK || w->f->code == FIND_MEANING
               ? wording_sentence(w->a, check_meaning(w->f->check))
               : NULL;
}
