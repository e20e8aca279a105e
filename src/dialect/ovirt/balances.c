/* balances.c: the balance of a policy as stages of its pipeline: rules that move VMs, and the reserve of
 * hosts.
 *
 * Of a rule `from` says which hosts VMs leave, `to` where they may go, `fits` whether the VM may go there;
 * src/core/fit/README.md has the rest. The least loaded VM is tried first. */
#include "dialect/ovirt/internal.h"

#include <string.h>

/* A rule of a unit. needs: it has a meaning where the policy has this property. */
static const struct {
    const char *unit, *name, *needs, *from, *to, *first, *gap;
} rules[] = {
    {"OptimalForEvenDistribution", "cpu over", NULL, "['or', {over:high}, {crowded}]", "{under:margin}",
     "{busy}", NULL},
    {"OptimalForEvenDistribution", "memory short", "MinFreeMemoryForUnderUtilized", "{short}", "{ample}",
     NULL, NULL},
    {"OptimalForPowerSaving", "cpu over", NULL, "{plain over:margin}", "['not', {plain over:high}]", NULL,
     NULL},
    {"OptimalForPowerSaving", "cpu under", NULL, "['and', {under:low}, ['>', {guests}, 0]]",
     "['not', {plain over:high}]", NULL, NULL},
    {"OptimalForPowerSaving", "memory short", "MaxFreeMemoryForOverUtilized", "{short}", "{enough}", NULL,
     NULL},
    {"OptimalForPowerSaving", "memory ample", "MinFreeMemoryForUnderUtilized",
     "['and', {ample}, ['>', {guests}, 0]]", "{enough}", NULL, NULL},
    {"OptimalForEvenGuestDistribution", "most guests", NULL, "['>=', {slots}, {HighVmCount=10}]", "true",
     "{slots}", "{MigrationThreshold=5}"},
};

static void set(struct compiler *m, json_t *stage, const char *key, const char *text)
{
    if (text)
        (void)json_object_set_new(stage, key, units_text(m, text));
}

void balances_add(struct compiler *m, const struct unit *u)
{
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (strcmp(rules[i].unit, u->name) != 0 ||
            (rules[i].needs && !policies_value(m->cluster, rules[i].needs)))
            continue;
        json_t *stage = json_pack("{s: s}", "name", rules[i].name);

        set(m, stage, "from", arena_printf(m->c->a, "['and', {still}, %s]", rules[i].from));
        set(m, stage, "first", rules[i].first);
        set(m, stage, "smallest", "'$vm.cpu_mhz'");
        set(m, stage, "vms", "['default', '%migratable', true]");
        set(m, stage, "to", arena_printf(m->c->a, "['and', {still}, %s]", rules[i].to));
        set(m, stage, "fits", "{fits}");
        set(m, stage, "gap", rules[i].gap);
        (void)json_array_append_new(m->stages, stage);
    }
    const char *parks = policies_value(m->cluster, "EnableAutomaticHostPowerManagement");

    if (parks && strcmp(parks, "true") == 0)
        (void)json_array_append_new(m->stages, json_pack("{s: s, s: o, s: o}", "name", "hosts in reserve",
                                                         "reserve", units_text(m, "['given', '$host.id']"),
                                                         "keep", units_text(m, "{HostsInReserve=0}")));
}

json_t *balances_common(struct compiler *m)
{
    return json_pack("{s: i, s: o, s: o}", "moves", 1, "high", units_text(m, "{high}"), "low",
                     units_text(m, "{low}"));
}

bool balances_agree(const struct policy *p)
{
    static const struct {
        const char *balance, *weights;
    } agreeing[] = {
        {"OptimalForEvenDistribution", " OptimalForCpuEvenDistribution OptimalForMemoryEvenDistribution "},
        {"OptimalForPowerSaving", " OptimalForCpuPowerSaving OptimalForMemoryPowerSaving "},
        {"OptimalForEvenGuestDistribution", " OptimalForEvenGuestDistribution "},
    };
    const struct unit *u =
        p->uses[UNIT_BALANCE].n > 0 ? units_find(USES(p, UNIT_BALANCE)->id, UNIT_BALANCE) : NULL;
    size_t k = 0;

    while (u && k < COUNT_OF(agreeing) && strcmp(agreeing[k].balance, u->name) != 0)
        k++;
    if (!u || k == COUNT_OF(agreeing))
        return true;
    for (uint32_t i = 0; i < p->uses[UNIT_WEIGHT].n; i++) {
        const struct unit *weight = units_find(USES(p, UNIT_WEIGHT)[i].id, UNIT_WEIGHT);
        if (weight && USES(p, UNIT_WEIGHT)[i].factor > 0 && strstr(agreeing[k].weights, weight->name))
            return true;
    }
    return false;
}
