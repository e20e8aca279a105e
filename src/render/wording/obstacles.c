/* What is said of what is in the way of a VM, and of figures that cannot be right; behind another sentence.
 */
#include "render/wording/sentence.h"

#include <string.h>

/* "On h2, which comes closest, it reserves ..." */
static const char *closest(const struct sentence *w)
{
    static const char *const words[] = {"It ", "Its ", "The ", "Should "}; /* names keep their case */
    const char *host = wording_name(w, SUBJECT_HOST);
    const char *text = wording_because(w);
    bool lower = false;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        lower = lower || strncmp(text, words[i], strlen(words[i])) == 0;
    return arena_printf(w->a, "On %s, which comes closest, %c%s", host, lower ? text[0] - 'A' + 'a' : text[0],
                        text + 1);
}

static const char *closest_meaning(const struct sentence *w)
{
    return arena_printf(w->a, "On %s, which comes closest, %s.", wording_name(w, SUBJECT_HOST),
                        check_meaning(w->f->check));
}

static const char *closest_short(const struct sentence *w)
{
    const char *of = w->f->check == CHECK_RESERVATION_CPU   ? "unreserved CPU"
                     : w->f->check == CHECK_RESERVATION_MEM ? "unreserved memory"
                     : w->f->check == CHECK_MEMORY          ? "memory"
                                                            : "free memory";

    return arena_printf(w->a, "On %s, which comes closest, %s of %s is missing. %s",
                        wording_name(w, SUBJECT_HOST), wording_amount(w, FIGURE_MISSING), of,
                        wording_because(w));
}

static const char *pool_shortage(const struct sentence *w)
{
    bool below_limit = wording_has(w, FIGURE_LEFT_BELOW_LIMIT);
    const char *of = wording_subject(w, SUBJECT_POOL) == IX_NONE
                         ? "the cluster"
                         : arena_printf(w->a, "the pool %s", wording_name(w, SUBJECT_POOL));

    return arena_printf(w->a, "It reserves %s of %s, and %s has %s left%s: %s is missing.",
                        wording_amount(w, FIGURE_NEED), wording_resource(w), of,
                        wording_amount(w, below_limit ? FIGURE_LEFT_BELOW_LIMIT : FIGURE_LEFT),
                        below_limit ? " below its limit" : " to reserve", wording_amount(w, FIGURE_MISSING));
}

/* A phrase, not a sentence. */
static const char *sample(const struct sentence *w)
{
    const struct vm_facts *v = &w->snap->vms[wording_subject(w, SUBJECT_VM)].is;

    switch ((int)w->f->code) { /* only those of figures */
    case FIND_SAMPLE_MARKED:
        return v->sample_bad;
    case FIND_SAMPLE_CPU:
        return arena_printf(w->a,
                            "its CPU demand is given as %.0f MHz, and its %u vCPU%s can use %.0f MHz on %s",
                            wording_figure(w, FIGURE_NEED), v->vcpus, v->vcpus == 1 ? "" : "s",
                            wording_figure(w, FIGURE_LIMIT), wording_name(w, SUBJECT_HOST));
    case FIND_SAMPLE_MEM:
        return arena_printf(w->a, "its memory demand is given as %.0f MiB, and it has %.0f MiB",
                            wording_figure(w, FIGURE_NEED), wording_figure(w, FIGURE_LIMIT));
    case FIND_SAMPLE_CONSUMED:
        return arena_printf(w->a, "it is said to consume %.0f MiB of memory, and it has %.0f MiB",
                            wording_figure(w, FIGURE_NEED), wording_figure(w, FIGURE_LIMIT));
    default:
        return arena_printf(w->a, "its figures were measured %.0f minutes ago",
                            wording_figure(w, FIGURE_IS_S) / SECONDS_PER_MINUTE);
    }
}

const char *wording_obstacle(const struct sentence *w)
{
    const char *vm = wording_name(w, SUBJECT_VM);

    switch ((int)w->f->code) { /* only those of obstacles */
    case FIND_SAMPLE_MARKED:
    case FIND_SAMPLE_CPU:
    case FIND_SAMPLE_MEM:
    case FIND_SAMPLE_CONSUMED:
    case FIND_SAMPLE_OLD:
        return sample(w);
    case FIND_LEAVES_NO_HOST:
        return arena_printf(w->a, "It leaves %s no host to run on.", vm);
    case FIND_LEAVES_NO_COMMON_HOST:
        return arena_printf(w->a, "No host may run both %s and %s.", wording_name(w, SUBJECT_OTHER_VM), vm);
    case FIND_CONTRADICTS:
        return arena_printf(w->a, "For %s it contradicts the rule \"%s\".", vm,
                            wording_name(w, SUBJECT_RULE));
    case FIND_RULES_HELD:
        return "Its rules contradict each other.";
    case FIND_NO_HOST:
        return "No host can run VMs.";
    case FIND_NO_OTHER_HOST:
        return "No other host can run VMs.";
    case FIND_POOL_SHORTAGE:
        return pool_shortage(w);
    case FIND_FAILOVER_SHARE_SHORT:
        return arena_printf(w->a, "The %.0f %% of the %s that are kept for failures would be short by %s.",
                            wording_figure(w, FIGURE_PERCENT), wording_resource(w),
                            wording_amount(w, FIGURE_MISSING));
    case FIND_WAITS_FOR_HOST:
        return arena_printf(w->a, "It has to wait for %s, which is being woken.",
                            wording_name(w, SUBJECT_HOST));
    case FIND_CLOSEST:
        return w->f->because ? closest(w) : closest_meaning(w);
    case FIND_CLOSEST_SHORT:
        return closest_short(w);
    default:
        return NULL;
    }
}
