/* weights.c: the weights: numbers of which the least is best, as scores. With the rank selector each unit
 * gives a host as many points as other hosts have no lower weight, times its factor; with the basic one the
 * weights times the factors are added up. Ties end by the order of the cloud's list. */
#include "dialect/ovirt/internal.h"
#include "dialect/ovirt/texts.h"

#include <string.h>

#define WORST 1000
#define ABSENT "['/', 1, 0]"
#define HE_SCORE_MOST 3400
#define FAR 1e12 /* MiB: where no limit is given */

/* floor(x + 0.5) */
static const char *rounded(const struct compiler *m, const char *x)
{
    return arena_printf(m->c->a, "['floor', ['+', %s, 0.5]]", x);
}

/* From 1, the least of the hosts, to 1000, the most; 1 if all are equal; without a number 1000. */
static const char *stretched(const struct compiler *m, const char *x)
{
    return arena_printf(
        m->c->a,
        "['default', ['if', ['=', %s, ['least_of_hosts', %s]], 1, ['floor', ['+', 1.5, ['/', ['*', "
        "999, ['-', %s, ['least_of_hosts', %s]]], ['-', ['most_of_hosts', %s], ['least_of_hosts', "
        "%s]]]]]], %d]",
        x, x, x, x, x, x, WORST);
}

/* The load with the VM, by the CPUs that are left to others. */
#define LOAD_WITH                                                                                            \
    "['/', ['+', '$host.attributes.load base', '$host.used.cpu load', '$vm.hints.load'], ['-', " SHARED      \
    ", '$vm.hints.exclusive']]"

static const char *cpu_even(const struct compiler *m)
{
    double ratio = policies_number(m->cluster, "VCpuToPhysicalCpuRatio", 0);
    const char *load = LOAD_WITH;

    if (ratio > 0)
        load = arena_printf(
            m->c->a,
            "['*', ['if', ['>=', ['+', '$host.used.vcpus', '$vm.hints.vcpus'], ['*', %.17g, " SHARED
            "]], 1000, 1], " LOAD_WITH "]",
            ratio);
    return stretched(m, rounded(m, load));
}

/* Hosts above the limit are the worst, and count for no other. The limit is a whole number, so load need not
 * be rounded up. */
static const char *cpu_power(const struct compiler *m)
{
    const char *x = arena_printf(
        m->c->a,
        "['if', ['<=', ['/', ['+', '$host.attributes.load base', '$host.used.cpu load', %s], " SHARED
        "], %.17g], ['-', 0, %s], " ABSENT "]",
        stages_text_here(m, "['number', '$vm.hints.load']", "0"),
        policies_number(m->cluster, "HighUtilization", 90), rounded(m, LOAD_WITH));

    return stretched(m, x);
}

/* On its own host the VM has its memory already. */
#define MEMORY_LEFT "['-', " SCHEDULABLE ", '$vm.hints.need']"

static const char *most_memory(const struct compiler *m)
{
    return arena_printf(m->c->a, "['most_of_hosts', %s]",
                        m->runs ? stages_text_here(m, MEMORY_LEFT, SCHEDULABLE) : SCHEDULABLE);
}

static const char *memory_even(const struct compiler *m)
{
    const char *most = most_memory(m);
    const char *part =
        arena_printf(m->c->a, "['/', ['*', ['-', " MEMORY_LEFT ", 1], 999], ['-', %s, 1]]", most);

    return arena_printf(m->c->a, "['default', ['if', ['>', %s, 1], ['-', 1000, %s], %d], 0]", most,
                        rounded(m, part), WORST);
}

static const char *memory_power(const struct compiler *m)
{
    double low = policies_number(m->cluster, "MaxFreeMemoryForOverUtilized", 0);
    double high = policies_number(m->cluster, "MinFreeMemoryForUnderUtilized", FAR);
    const char *most = arena_printf(m->c->a, "['*', 1.1, %s]", most_memory(m));

    return arena_printf(m->c->a,
                        "['default', ['+', ['floor', ['*', ['/', ['if', ['<', " MEMORY_LEFT
                        ", %.17g], ['min', %s, ['-', %.17g, " MEMORY_LEFT "]], " MEMORY_LEFT
                        "], %s], 999]], 1], %d]",
                        low, most, high + low, most, WORST);
}

static const char *guests(const struct compiler *m)
{
    return arena_printf(m->c->a,
                        "['+', '$host.attributes.guests base', '$host.used.guests', %s, ['*', "
                        "'$host.attributes.spm', %.17g]]",
                        stages_text_here(m, "1", "0"), policies_number(m->cluster, "SpmVmGrace", 5));
}

static const char *ha_reservation(const struct compiler *m)
{
    const char *n = arena_printf(m->c->a, "['+', '$host.used.ha vms', %s]", stages_text_here(m, "1", "0"));
    const char *part =
        rounded(m, arena_printf(m->c->a, "['/', ['*', 100, %s], ['most_of_hosts', %s]]", n, n));

    if (!m->cluster->ha_reservation)
        return NULL;
    return arena_printf(m->c->a,
                        "['default', ['if', ['=', '$vm.hints.ha', 1], ['-', 0, ['floor', ['-', 0, ['/', %s, "
                        "%.17g]]]], 0], 0]",
                        part, policies_number(m->cluster, "ScaleDown", 1));
}

static const char *engine(const struct compiler *m)
{
    for (uint32_t i = 0; i < m->c->vms.n; i++)
        if (VM(m->c, i)->engine)
            return arena_printf(
                m->c->a, "['if', ['default', '$vm.hints.engine', false], ['-', 1000, %s], 1]",
                rounded(m, arena_printf(m->c->a,
                                        "['/', ['*', ['default', '$host.attributes.score', 0], 1000], %d]",
                                        HE_SCORE_MOST)));
    return NULL;
}

static const char *dump(const struct compiler *m, json_t *x)
{
    char *text = x ? json_dumps(x, JSON_ENCODE_ANY) : NULL;
    const char *ret = text ? arena_strdup(m->c->a, text) : NULL;

    free(text);
    json_decref(x);
    return ret;
}

/* NULL: each host passes. */
static const char *by_predicate(struct compiler *m, const char *name, int passes, int fails)
{
    const char *x = dump(m, classes_expression(m, name));

    return x ? arena_printf(m->c->a, "['if', %s, %d, %d]", x, passes, fails) : NULL;
}

static const char *preferred(struct compiler *m)
{
    return m->runs ? NULL : by_predicate(m, "is preferred", 0, 10000);
}

static const char *high_performance(struct compiler *m)
{
    const char *fits = by_predicate(m, "fits topology", 1, WORST);
    const char *size =
        stretched(m, "['+', ['*', 1000, '$host.attributes.sockets'], '$host.attributes.cores of socket']");

    for (uint32_t i = 0; i < m->c->vms.n; i++)
        if (json_object_get(m->hints[i], "high performance alone"))
            return arena_printf(m->c->a,
                                "['if', ['default', '$vm.hints.high performance alone', false], %s, %s]",
                                size, fits ? fits : "1");
    return fits;
}

static const char *pinning(struct compiler *m)
{
    return by_predicate(m, "pinnings agree", 1, WORST);
}

static const char *single_node(struct compiler *m)
{
    return by_predicate(m, "fits a NUMA node", 1, WORST);
}

static const char *upgrade(struct compiler *m)
{
    const char *newest = dump(m, classes_expression(m, "is newest"));
    const char *older = m->runs ? by_predicate(m, "is not older", 100000, 1000000) : "1000000";

    return newest ? arena_printf(m->c->a, "['if', %s, 0, %s]", newest, older ? older : "100000") : NULL;
}

static const struct {
    const char *name;
    const char *(*make)(const struct compiler *m);
    const char *(*make_of_predicate)(struct compiler *m);
} weights[] = {
    {"OptimalForCpuEvenDistribution", cpu_even, NULL},
    {"OptimalForMemoryEvenDistribution", memory_even, NULL},
    {"OptimalForCpuPowerSaving", cpu_power, NULL},
    {"OptimalForMemoryPowerSaving", memory_power, NULL},
    {"OptimalForEvenGuestDistribution", guests, NULL},
    {"PreferredHosts", NULL, preferred},
    {"OptimalForHaReservation", ha_reservation, NULL},
    {"HA", engine, NULL},
    {"CPU for high performance VMs", NULL, high_performance},
    {"CPU and NUMA pinning compatibility", NULL, pinning},
    {"Fit VM to single host NUMA node", NULL, single_node},
    {"InClusterUpgrade", NULL, upgrade},
};

static void add_score(struct compiler *m, const char *name, json_t *score, const char *normalise, double by)
{
    (void)json_array_append_new(m->stages, json_pack("{s: s, s: o, s: s, s: f}", "name", name, "score", score,
                                                     "normalise", normalise, "multiplier", by));
}

static const char *stage_name(const struct compiler *m, const struct unit *u)
{
    return policies_unit_named(u->name, UNIT_FILTER) ? arena_printf(m->c->a, "%s weight", u->name) : u->name;
}

/* A rank of its own: one more than the number of hosts that break less. */
static void add_affinity(struct compiler *m, const struct unit *u, double factor)
{
    json_t *broken = strcmp(u->name, "VmAffinityGroups") == 0 ? affinity_broken(m) : affinity_broken_hosts(m);

    if (!broken)
        return;
    if (policies_ranks(m->cluster->policy))
        add_score(m, stage_name(m, u), json_pack("[s, i, o]", "-", 0, broken), "rank_high", factor);
    else
        add_score(m, stage_name(m, u), broken, "rank", -factor);
}

static void add_weight(struct compiler *m, const struct unit *u, double factor)
{
    bool ranks = policies_ranks(m->cluster->policy);
    const char *x = NULL;

    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        if (strcmp(weights[i].name, u->name) == 0)
            x = weights[i].make ? weights[i].make(m) : weights[i].make_of_predicate(m);
    if (x)
        add_score(m, stage_name(m, u), stages_expression(m, "['-', 0, %s]", x), ranks ? "rank_high" : "none",
                  factor);
}

static void add_external(struct compiler *m, const struct external_unit *own, double factor)
{
    json_t *stage =
        json_pack("{s: s, s: s, s: o, s: s, s: f}", "name", own->name, "external", own->name, "score",
                  stages_expression(m, "['-', 0, ['default', '$answer', 0]]"), "normalise",
                  policies_ranks(m->cluster->policy) ? "rank_high" : "none", "multiplier", factor);

    (void)json_array_append_new(m->stages, stage);
}

/* All other scores are whole numbers. */
static void add_order(struct compiler *m)
{
    json_t *score =
        stages_expression(m, "['/', ['-', 0, '$host.attributes.position'], %u]", m->c->hosts.n + 1);

    (void)json_array_append_new(m->stages,
                                json_pack("{s: s, s: o, s: s, s: [s]}", "name", "order of the list", "score",
                                          score, "normalise", "none", "applies", "place"));
}

void weights_add(struct compiler *m)
{
    const struct unit_use *uses = m->cluster->policy->weights.items;

    for (uint32_t i = 0; i < m->cluster->policy->weights.n; i++) {
        const struct unit *u = policies_unit(uses[i].id, UNIT_WEIGHT);
        const struct external_unit *own = u ? NULL : policies_external(m->c, uses[i].id);

        if (u &&
            (strcmp(u->name, "VmAffinityGroups") == 0 || strcmp(u->name, "VmToHostsAffinityGroups") == 0))
            add_affinity(m, u, uses[i].factor);
        else if (u)
            add_weight(m, u, uses[i].factor);
        else if (own->enabled || !own->enabled_given)
            add_external(m, own, uses[i].factor);
    }
    add_order(m);
}
