/* Sentences that an admin can judge. */
#include "core/plan/correct.h"

#include <string.h>

#define MHZ_PER_GHZ 1000.0
#define MB_PER_GB 1024.0
#define PERCENT 100.0

const char *text_mhz(struct arena *a, double mhz)
{
    return mhz >= MHZ_PER_GHZ ? arena_printf(a, "%.1f GHz", mhz / MHZ_PER_GHZ)
                              : arena_printf(a, "%.0f MHz", mhz);
}

const char *text_mb(struct arena *a, double mb)
{
    return mb >= MB_PER_GB ? arena_printf(a, "%.1f GiB", mb / MB_PER_GB) : arena_printf(a, "%.0f MiB", mb);
}

static const char *text_vm(const struct pass *p, uint32_t vm)
{
    return arena_printf(p->a, "%s (%s, %s)", p->snap->vms[vm].is.name,
                        text_mhz(p->a, p->entitlement[RES_CPU][vm]),
                        text_mb(p->a, p->entitlement[RES_MEM][vm]));
}

static const char *host_name(const struct pass *p, uint32_t slot)
{
    return p->snap->hosts[p->layout.slot_host[slot]].is.name;
}

/* What its levels of load are, in parentheses. */
static const char *text_load(const struct pass *p, const double load[RES_COUNT])
{
    return arena_printf(p->a, "(CPU %.0f %%, memory %.0f %%)", PERCENT * load[RES_CPU],
                        PERCENT * load[RES_MEM]);
}

/* What is said of the host that the VM leaves. */
static const char *text_leaving(const struct pass *p, const struct decision *d, uint32_t vm)
{
    switch (d->reason) {
    case REASON_MAINTENANCE:
        return ", which is entering maintenance,";
    case REASON_STANDBY:
        return ", which is entering standby,";
    case REASON_RULE:
        if (d->rule != IX_NONE)
            return arena_printf(p->a, ", where it violates the rule \"%s\",",
                                p->snap->rules[d->rule].is.name);
        return correct_beside_its_peer(p, d->unit, d->from_slot)
                   ? ", where the other half of its fault-tolerant pair runs,"
                   : ", which it is not compatible with,";
    case REASON_HOST_OVERCOMMITTED:
        return ", whose reservations add up to more than it has,";
    case REASON_BALANCE_CPU:
    case REASON_BALANCE_MEM:
        return arena_printf(p->a, " %s", text_load(p, d->load_from));
    case REASON_SPARE_CAPACITY:
        return d->for_vm == IX_NONE ? ", which is kept empty for failures,"
                                    : arena_printf(p->a, ", to keep room there for a restart of %s,",
                                                   p->snap->vms[d->for_vm].is.name);
    case REASON_PREREQUISITE:
        if (d->for_vm != IX_NONE && d->for_vm != vm)
            return arena_printf(p->a, ", to make room there for %s,", p->snap->vms[d->for_vm].is.name);
        break;
    case REASON_AGENT:
        return ", whose agent VM needs what it reserves there,";
    case REASON_CONSOLIDATE:
        return ", which can sleep then,";
    case REASON_HIGH_UTILIZATION:
        return arena_printf(p->a, ", which has more to do than it should %s,", text_load(p, d->load_from));
    case REASON_EXPECTED_DEMAND:
        return arena_printf(p->a, ", which is expected to have more to do than it should soon %s,",
                            text_load(p, d->load_from));
    case REASON_PLACEMENT:
    case REASON_ASKED:
    case REASON_WAKE_TEST:
    case REASON_READY_BY:
    case reason_count:
        break;
    }
    return arena_printf(p->a, " (%s)", reason_meaning(d->reason));
}

static const char *text_wake(const struct pass *p, const struct decision *d)
{
    const char *host = host_name(p, d->to_slot);

    if (p->snap->hosts[p->layout.slot_host[d->to_slot]].failover)
        return arena_printf(p->a, "%s is woken, because it is kept for failures.", host);
    if (d->reason == REASON_SPARE_CAPACITY)
        return d->for_vm == IX_NONE
                   ? arena_printf(p->a, "%s is woken, because the spare capacity for failures is missing.",
                                  host)
                   : arena_printf(p->a, "%s is woken, to keep room there for a restart of %s.", host,
                                  p->snap->vms[d->for_vm].is.name);
    return arena_printf(p->a, "%s is woken, because no other host can take %s.", host,
                        p->snap->vms[d->for_vm].is.name);
}

/* One sentence that stands by itself: who leaves what, why, and for where. By how much the imbalance falls is
 * a figure of the recommendation. */
const char *text_decision(const struct pass *p, const struct decision *d, uint32_t vm)
{
    if (d->text)
        return d->text;
    if (d->action == ACTION_POWER_ON)
        return text_wake(p, d);
    if (d->action == ACTION_PLACE)
        return arena_printf(p->a, "%s is powered on at %s %s.", text_vm(p, vm), host_name(p, d->to_slot),
                            text_load(p, d->load_to));
    return arena_printf(p->a, "%s leaves %s%s for %s %s.", text_vm(p, vm), host_name(p, d->from_slot),
                        text_leaving(p, d, vm), host_name(p, d->to_slot), text_load(p, d->load_to));
}

/* ---- why not ---- */

const char *text_sentence(struct arena *a, const char *phrase)
{
    return arena_printf(a, "%c%s.", phrase[0] >= 'a' && phrase[0] <= 'z' ? phrase[0] - 'a' + 'A' : phrase[0],
                        phrase + 1);
}

const char *text_on_closest(const struct pass *p, uint32_t host, const char *text)
{
    static const char *const words[] = {"It ", "Its ", "The ", "Should "}; /* names keep their case */
    bool lower = false;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        lower = lower || strncmp(text, words[i], strlen(words[i])) == 0;
    return arena_printf(p->a, "On %s, which comes closest, %c%s", p->snap->hosts[host].is.name,
                        lower ? text[0] - 'A' + 'a' : text[0], text + 1);
}

const char *text_obstacle(const struct pass *p, struct obstacle why)
{
    if (why.slot == IX_NONE)
        return why.check == CHECK_HOST_NOT_ON ? "No other host can run VMs."
                                              : text_sentence(p->a, check_meaning(why.check));
    const char *host = host_name(p, why.slot);
    if (why.unit == IX_NONE)
        return arena_printf(p->a, "On %s, which comes closest, %s.", host, check_meaning(why.check));
    uint32_t at = p->layout.slot_host[why.slot];
    return text_on_closest(p, at, text_check(p, p->layout.unit_first[why.unit], at, why.check, NULL));
}
