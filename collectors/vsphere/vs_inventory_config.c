/* vs_inventory_config.c: reads the cluster's configuration: rules, groups, automation levels, and the
 * capacity that HA reserves. It resolves no reference. */
#include "collectors/vsphere/vs_inventory.h"

#include <string.h>

#define VS_INVENTORY_ADD(s, items, n, cap)                                                                   \
    ((s)->items = arena_grow((s)->arena, (s)->items, (s)->n, &(s)->cap, sizeof *(s)->items),                 \
     &(s)->items[(s)->n++])

static const char *text_or_null(struct vs_inventory *s, const xml_node *node)
{
    const char *t = xml_text(node, s->arena);

    return t && t[0] ? t : NULL;
}

static void read_rule(struct vs_inventory *s, const xml_node *n)
{
    bool affine = xml_type_is(n, "ClusterAffinityRuleSpec");
    bool apart = xml_type_is(n, "ClusterAntiAffinityRuleSpec");
    bool of_groups = xml_type_is(n, "ClusterVmHostRuleInfo");
    const char *key = text_or_null(s, xml_child(n, "key"));

    if (!affine && !apart && !of_groups) /* dependencies of restarts, and what later versions bring */
        return;
    struct vs_inventory_rule *r = VS_INVENTORY_ADD(s, rules, n_rules, cap_rules);
    *r = (struct vs_inventory_rule){
        .id =
            key ? arena_printf(s->arena, "rule-%s", key) : arena_printf(s->arena, "rule-at-%zu", s->n_rules),
        .name = text_or_null(s, xml_child(n, "name")),
        .enabled = xml_bool(xml_child(n, "enabled")),
        .mandatory = !of_groups || xml_bool(xml_child(n, "mandatory")), /* DRS always keeps VM-VM rules */
        .apart = apart,
        .of_groups = of_groups,
        .vms = vs_inventory_refs(s, n, "vm"),
        .vm_group = text_or_null(s, xml_child(n, "vmGroupName")),
        .on_hosts = text_or_null(s, xml_child(n, "affineHostGroupName")),
        .off_hosts = text_or_null(s, xml_child(n, "antiAffineHostGroupName")),
    };
}

static void read_group(struct vs_inventory *s, const xml_node *n)
{
    bool of_hosts = xml_type_is(n, "ClusterHostGroup");
    const char *name = text_or_null(s, xml_child(n, "name"));

    if (!name || (!of_hosts && !xml_type_is(n, "ClusterVmGroup")))
        return;
    for (size_t i = 0; i < s->n_groups; i++)
        if (s->groups[i].of_hosts == of_hosts && strcmp(s->groups[i].name, name) == 0)
            return; /* vCenter has no two of a name */
    *VS_INVENTORY_ADD(s, groups, n_groups, cap_groups) = (struct vs_inventory_group){
        .name = name, .of_hosts = of_hosts, .members = vs_inventory_refs(s, n, of_hosts ? "host" : "vm")};
}

static const struct {
    const char *word;
    enum automation automation;
} behaviors[] = {
    {"fullyAutomated", AUTOMATION_AUTOMATIC},
    {"automated", AUTOMATION_AUTOMATIC},       /* DPM's word */
    {"partiallyAutomated", AUTOMATION_MANUAL}, /* automatic when it is powered on only */
    {"manual", AUTOMATION_MANUAL},
};

static void read_override(struct vs_inventory *s, const xml_node *n, bool of_host)
{
    const char *id = text_or_null(s, xml_child(n, "key"));
    const xml_node *enabled = xml_child(n, "enabled");
    enum automation automation = AUTOMATION_INHERIT;

    for (size_t i = 0; i < sizeof behaviors / sizeof behaviors[0]; i++) {
        if (xml_text_is(xml_child(n, "behavior"), behaviors[i].word))
            automation = behaviors[i].automation;
    }
    if (enabled && !xml_bool(enabled))
        automation = AUTOMATION_DISABLED;
    if (id)
        *VS_INVENTORY_ADD(s, overrides, n_overrides, cap_overrides) =
            (struct vs_inventory_override){.id = id, .of_host = of_host, .automation = automation};
}

/* More hosts than a cluster has anyway. */
#define FAILURES_MOST 10000

/* How many hosts may fail: one, where it is not said. UNKNOWN: nonsense. */
static double failures_of(const xml_node *policy)
{
    const xml_node *level = xml_child(policy, "failoverLevel");
    double n = level ? vs_inventory_number(level) : 1;

    return n <= FAILURES_MOST ? n : UNKNOWN;
}

static void read_failures(struct vs_inventory_ha *ha, const xml_node *policy)
{
    double n = failures_of(policy);

    if (isnan(n))
        ha->unknown = "how many host failures it is to survive is not told";
    else
        ha->is = (struct ha_facts){.policy = HA_HOST_FAILURES, .hosts = (uint32_t)n};
}

/* The number of failures for which vCenter computes its percentages; used while it has not computed them
 * yet. */
static void read_percentages(struct vs_inventory_ha *ha, const xml_node *policy)
{
    double cpu = vs_inventory_number(xml_child(policy, "cpuFailoverResourcesPercent"));
    double mem = vs_inventory_number(xml_child(policy, "memoryFailoverResourcesPercent"));

    if (xml_bool(xml_child(policy, "autoComputePercentages")) && !(cpu > 0 && mem > 0))
        read_failures(ha, policy);
    else if (cpu <= 100 && mem <= 100)
        ha->is = (struct ha_facts){.policy = HA_PERCENT, .percent = {[RES_CPU] = cpu, [RES_MEM] = mem}};
    else
        ha->unknown = "the percentages that it reserves are not told";
}

static void read_ha(struct vs_inventory *s, const xml_node *das)
{
    const xml_node *admission = xml_child(das, "admissionControlEnabled");
    const xml_node *policy = xml_child(das, "admissionControlPolicy");

    if (!xml_bool(xml_child(das, "enabled")) || (admission && !xml_bool(admission)))
        return;
    if (!admission)
        s->ha.unknown = "whether its admission control is on is not told";
    else if (xml_type_is(policy, "ClusterFailoverLevelAdmissionControlPolicy"))
        read_failures(&s->ha, policy);
    else if (xml_type_is(policy, "ClusterFailoverResourcesAdmissionControlPolicy"))
        read_percentages(&s->ha, policy);
    else if (xml_type_is(policy, "ClusterFailoverHostAdmissionControlPolicy"))
        s->ha = (struct vs_inventory_ha){.is = {.policy = HA_DEDICATED},
                                         .failover_hosts = vs_inventory_refs(s, policy, "failoverHosts")};
    else
        s->ha.unknown = "the policy of its admission control is none that is known";
}

static bool is_automated(const xml_node *behavior)
{
    return !behavior || xml_text_is(behavior, "automated");
}

/* DPM switches hosts without asking: all, or those that have the level automated. Otherwise it only
 * recommends. */
static bool dpm_acts(const xml_node *config)
{
    const xml_node *dpm = xml_child(config, "dpmConfigInfo");

    if (!xml_bool(xml_child(dpm, "enabled")))
        return false;
    if (is_automated(xml_child(dpm, "defaultDpmBehavior")))
        return true;
    for (const xml_node *n = xml_child(config, "dpmHostConfig"); n; n = xml_again(n)) {
        const xml_node *enabled = xml_child(n, "enabled");
        if (xml_text_is(xml_child(n, "behavior"), "automated") && (!enabled || xml_bool(enabled)))
            return true;
    }
    return false;
}

void vs_inventory_config(struct vs_inventory *s, const xml_node *config)
{
    const xml_node *drs = xml_child(config, "drsConfig");
    const xml_node *own_levels = xml_child(drs, "enableVmBehaviorOverrides");
    const char *behavior = text_or_null(s, xml_child(drs, "defaultVmBehavior"));
    const char *rate = text_or_null(s, xml_child(drs, "vmotionRate"));

    for (const xml_node *n = xml_child(config, "rule"); n; n = xml_again(n))
        read_rule(s, n);
    for (const xml_node *n = xml_child(config, "group"); n; n = xml_again(n))
        read_group(s, n);
    for (const xml_node *n = xml_child(config, "drsVmConfig"); n; n = xml_again(n))
        read_override(s, n, false);
    for (const xml_node *n = xml_child(config, "dpmHostConfig"); n; n = xml_again(n))
        read_override(s, n, true);
    read_ha(s, xml_child(config, "dasConfig"));
    s->overrides_count = !own_levels || xml_bool(own_levels);
    s->root_scales = xml_text_is(xml_child(drs, "scaleDescendantsShares"), "scaleCpuAndMemoryShares");
    s->conflicts.balancer =
        xml_bool(xml_child(drs, "enabled")) && behavior && strcmp(behavior, "fullyAutomated") == 0;
    s->conflicts.power = dpm_acts(config);
    if (!drs)
        return;
    if (!xml_bool(xml_child(drs, "enabled")))
        s->automation = "DRS off";
    else if (behavior)
        s->automation = rate ? arena_printf(s->arena, "DRS %s, rate %s", behavior, rate)
                             : arena_printf(s->arena, "DRS %s", behavior);
    else
        s->automation = "DRS on";
}
