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
    case REASON_CONSOLIDATE:
    case REASON_HIGH_UTILIZATION:
    case REASON_PLACEMENT:
    case REASON_AGENT:
    case reason_count:
        break;
    }
    return arena_printf(p->a, " (%s)", reason_meaning(d->reason));
}

static const char *text_wake(const struct pass *p, const struct decision *d)
{
    const char *host = host_name(p, d->to_slot);

    if (d->reason == REASON_SPARE_CAPACITY)
        return d->for_vm == IX_NONE
                   ? arena_printf(p->a, "%s is woken, because the spare capacity for failures is missing.",
                                  host)
                   : arena_printf(p->a, "%s is woken, to keep room there for a restart of %s.", host,
                                  p->snap->vms[d->for_vm].is.name);
    return arena_printf(p->a, "%s is woken, because no other host has room for %s.", host,
                        p->snap->vms[d->for_vm].is.name);
}

/* One sentence that stands by itself: who leaves what, why, and for where. By how much the imbalance falls is
 * a figure of the recommendation. */
const char *text_decision(const struct pass *p, const struct decision *d, uint32_t vm)
{
    if (d->action == ACTION_POWER_ON)
        return text_wake(p, d);
    if (d->action == ACTION_PLACE)
        return arena_printf(p->a, "%s is powered on at %s %s.", text_vm(p, vm), host_name(p, d->to_slot),
                            text_load(p, d->load_to));
    return arena_printf(p->a, "%s leaves %s%s for %s %s.", text_vm(p, vm), host_name(p, d->from_slot),
                        text_leaving(p, d, vm), host_name(p, d->to_slot), text_load(p, d->load_to));
}

/* ---- why not ---- */

static const char *text_memory(const struct pass *p, uint32_t unit, uint32_t slot, enum check check)
{
    const struct layout *l = &p->layout;
    const char *name = host_name(p, slot);

    if (check == CHECK_MEMORY)
        return arena_printf(p->a, "It takes %s, and %s has %s of %s left.", text_mb(p->a, l->unit_mem[unit]),
                            name, text_mb(p->a, fmax(l->mem_limit[slot] - l->mem_taken[slot], 0)),
                            text_mb(p->a, l->mem_limit[slot]));
    if (check == CHECK_MEMORY_FREE)
        return arena_printf(p->a, "It needs %s of host memory, and only %s is free on %s.",
                            text_mb(p->a, l->unit_phys[unit]), text_mb(p->a, fmax(l->mem_free[slot], 0)),
                            name);
    enum resource r = check == CHECK_RESERVATION_CPU ? RES_CPU : RES_MEM;
    const char *(*text)(struct arena *, double) = r == RES_CPU ? text_mhz : text_mb;
    double capacity = p->snap->hosts[l->slot_host[slot]].capacity[r];
    return arena_printf(p->a, "It reserves %s, and %s has %s left to reserve.",
                        text(p->a, l->unit_reserved[r][unit]), name,
                        text(p->a, fmax(capacity - l->reserved[r][slot], 0)));
}

static const char *text_rule(const struct pass *p, uint32_t vm, uint32_t unit, uint32_t slot,
                             enum check check)
{
    uint32_t host = p->layout.slot_host[slot];

    if (check == CHECK_RULE_VM_HOST) {
        uint32_t rule = IX_NONE;
        uint32_t who = vm;
        for (uint32_t i = p->layout.unit_from[unit]; i < p->layout.unit_from[unit + 1] && rule == IX_NONE;
             i++) {
            who = p->layout.unit_vms[i];
            rule = rules_find_vm_host(&p->rules, who, host);
        }
        if (rule != IX_NONE)
            return arena_printf(p->a, "The rule \"%s\" keeps %s off %s.", p->snap->rules[rule].is.name,
                                p->snap->vms[who].is.name, p->snap->hosts[host].is.name);
    }
    uint32_t mine = vm;
    uint32_t other = IX_NONE;
    if (check == CHECK_RULE_ANTI_AFFINITY && layout_apart_conflict(&p->layout, unit, slot, &mine, &other) &&
        other != IX_NONE) {
        uint32_t rule = rules_find_vm_vm(&p->rules, RULE_VM_ANTI_AFFINE, mine, other);
        return arena_printf(p->a, "The rule \"%s\" keeps %s apart from %s, which is on %s.",
                            rule == IX_NONE ? "?" : p->snap->rules[rule].is.name, p->snap->vms[mine].is.name,
                            p->snap->vms[other].is.name, p->snap->hosts[host].is.name);
    }
    return NULL;
}

static const char *text_worth(const struct pass *p, enum check check, const struct worth *w)
{
    const char *figures =
        arena_printf(p->a, "costs %.0f MHz s and %.0f MiB s, and gains %.0f MHz s and %.0f MiB s",
                     w->cost[RES_CPU], w->cost[RES_MEM], w->benefit[RES_CPU], w->benefit[RES_MEM]);

    if (check == CHECK_COST_BENEFIT)
        return arena_printf(p->a, "It %s.", figures);
    return arena_printf(p->a, "In the worst case %s and %s more would go unserved than now.",
                        text_mhz(p->a, w->worse_of[RES_CPU]), text_mb(p->a, w->worse_of[RES_MEM]));
}

/* Why a host cannot receive VMs. */
static const char *text_not_on(const struct pass *p, uint32_t host)
{
    const char *state = NULL;

    switch (p->snap->hosts[host].is.state) {
    case HOST_ON:
        state = "about to be switched off or serviced";
        break;
    case HOST_MAINTENANCE:
        state = "in maintenance";
        break;
    case HOST_ENTERING_MAINTENANCE:
        state = "entering maintenance";
        break;
    case HOST_STANDBY:
        state = "in standby";
        break;
    case HOST_ENTERING_STANDBY:
        state = "entering standby";
        break;
    case HOST_POWERING_ON:
        state = "being woken";
        break;
    case HOST_DISCONNECTED:
        state = "not seen";
        break;
    case host_state_count:
        break;
    }
    return arena_printf(p->a, "%s is %s.", p->snap->hosts[host].is.name, state);
}

/* The meanings are phrases: as a sentence they begin with a capital and end with a stop. */
static const char *sentence(struct arena *a, const char *phrase)
{
    return arena_printf(a, "%c%s.", phrase[0] >= 'a' && phrase[0] <= 'z' ? phrase[0] - 'a' + 'A' : phrase[0],
                        phrase + 1);
}

const char *text_on_closest(const struct pass *p, uint32_t host, const char *text)
{
    bool name = strncmp(text, "It ", 3) != 0 && strncmp(text, "The ", 4) != 0; /* names keep their case */

    return arena_printf(p->a, "On %s, which comes closest, %c%s", p->snap->hosts[host].is.name,
                        name ? text[0] : text[0] - 'A' + 'a', text + 1);
}

const char *text_obstacle(const struct pass *p, struct obstacle why)
{
    if (why.slot == IX_NONE)
        return why.check == CHECK_HOST_NOT_ON ? "No other host can run VMs."
                                              : sentence(p->a, check_meaning(why.check));
    const char *host = host_name(p, why.slot);
    if (why.unit == IX_NONE)
        return arena_printf(p->a, "On %s, which comes closest, %s.", host, check_meaning(why.check));
    uint32_t at = p->layout.slot_host[why.slot];
    return text_on_closest(p, at, text_check(p, p->layout.unit_first[why.unit], at, why.check, NULL));
}

const char *text_check(const struct pass *p, uint32_t vm, uint32_t host, enum check check,
                       const struct worth *worth)
{
    uint32_t slot = p->layout.host_slot[host];
    uint32_t unit = p->layout.vm_unit[vm];
    const char *text = NULL;

    if (slot != IX_NONE && unit != IX_NONE) {
        if (check == CHECK_MEMORY || check == CHECK_MEMORY_FREE || check == CHECK_RESERVATION_CPU ||
            check == CHECK_RESERVATION_MEM)
            text = text_memory(p, unit, slot, check);
        if (check == CHECK_RULE_VM_HOST || check == CHECK_RULE_ANTI_AFFINITY)
            text = text_rule(p, vm, unit, slot, check);
        if ((check == CHECK_COST_BENEFIT || check == CHECK_WORST_CASE) && worth)
            text = text_worth(p, check, worth);
    }
    if (text)
        return text;
    const char *bad = check == CHECK_VM_SAMPLE_BAD ? p->snap->vms[vm].is.sample_bad : NULL;

    if (check == CHECK_HOST_NOT_ON)
        return text_not_on(p, host);
    return sentence(p->a, bad ? bad : check_meaning(check));
}
