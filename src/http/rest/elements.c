/* elements.c: the table of elements. Their members are written in this order. */
#include "http/rest/elements.h"

#include "base/texts.h"

#define TEXT(name, ...)                                                                                      \
    {                                                                                                        \
        name, REST_TEXT, __VA_ARGS__                                                                         \
    }
#define NUMBER(name, ...)                                                                                    \
    {                                                                                                        \
        name, REST_NUMBER, __VA_ARGS__                                                                       \
    }
#define TRUTH(name)                                                                                          \
    {                                                                                                        \
        name, REST_TRUTH                                                                                     \
    }
#define OBJECT(name, kind, ...)                                                                              \
    {                                                                                                        \
        name, REST_OBJECT, .inner = (kind), __VA_ARGS__                                                      \
    }
#define REFERENCE(name, kind, ...)                                                                           \
    {                                                                                                        \
        name, REST_REFERENCE, .inner = (kind), __VA_ARGS__                                                   \
    }
#define LIST(name, kind, ...)                                                                                \
    {                                                                                                        \
        name, REST_LIST, .inner = (kind), __VA_ARGS__                                                        \
    }
#define LINK(name, ...)                                                                                      \
    {                                                                                                        \
        name, REST_LINK, __VA_ARGS__                                                                         \
    }
#define LINK_TO(name, kind, ...)                                                                             \
    {                                                                                                        \
        name, REST_LINK, .inner = (kind), __VA_ARGS__                                                        \
    }
#define ACTION(name) LINK(name, REST_ACTIONS)
#define HREF_AND_ID TEXT("href", REST_ATTRIBUTE), TEXT("id", REST_ATTRIBUTE)
#define IDENTITY HREF_AND_ID, TEXT("name"), TEXT("description")
#define PROPERTIES(name) LIST(name, REST_PROPERTY)
#define UNIT REFERENCE("scheduling_policy_unit", REST_SCHEDULING_POLICY_UNIT, .flags = REST_OWN_ID)

#define MEMBERS(...)                                                                                         \
    .members = (const struct rest_member[])                                                                  \
    {                                                                                                        \
        __VA_ARGS__,                                                                                         \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }

static const struct rest_element elements[REST_KINDS] = {
    [REST_NONE] = {"", "", NULL, (const struct rest_member[]){{0}}},
    [REST_API] = {"api", "apis", "",
                  MEMBERS(LINK("clusters", REST_SEARCH), LINK("datacenters"), LINK("hosts", REST_SEARCH),
                          LINK("vms", REST_SEARCH), LINK("schedulingpolicies"), LINK("schedulingpolicyunits"),
                          LINK("affinitylabels"), OBJECT("product_info", REST_PRODUCT_INFO), TEXT("time"))},
    [REST_SCHEDULING_POLICY] = {"scheduling_policy", "scheduling_policies", "schedulingpolicies",
                                MEMBERS(IDENTITY, TRUTH("default_policy"), TRUTH("locked"),
                                        LINK_TO("filters", REST_FILTER), LINK_TO("weights", REST_WEIGHT),
                                        LINK_TO("balances", REST_BALANCE), LINK("clusters", REST_ONLY_V3),
                                        REFERENCE("clone_of", REST_SCHEDULING_POLICY), TEXT("selector"),
                                        TEXT("policy", REST_ONLY_V3),
                                        OBJECT("thresholds", REST_THRESHOLDS, .flags = REST_ONLY_V3),
                                        PROPERTIES("properties"))},
    [REST_FILTER] = {"filter", "filters", NULL, MEMBERS(HREF_AND_ID, NUMBER("position"), UNIT)},
    [REST_WEIGHT] = {"weight", "weights", NULL, MEMBERS(HREF_AND_ID, NUMBER("factor"), UNIT)},
    [REST_BALANCE] = {"balance", "balances", NULL, MEMBERS(HREF_AND_ID, UNIT)},
    [REST_SCHEDULING_POLICY_UNIT] = {"scheduling_policy_unit", "scheduling_policy_units",
                                     "schedulingpolicyunits",
                                     MEMBERS(TEXT("type", REST_ATTRIBUTE_V3), IDENTITY, TRUTH("internal"),
                                             TRUTH("enabled"), PROPERTIES("properties"))},
    [REST_CLUSTER] = {"cluster", "clusters", "clusters",
                      MEMBERS(IDENTITY, LINK_TO("affinitygroups", REST_AFFINITY_GROUP),
                              OBJECT("cpu", REST_CPU), REFERENCE("data_center", REST_DATA_CENTER),
                              OBJECT("version", REST_VERSION), TRUTH("threads_as_cores"),
                              TRUTH("ha_reservation"), OBJECT("scheduling_policy", REST_SCHEDULING_POLICY),
                              PROPERTIES("custom_scheduling_policy_properties"))},
    [REST_DATA_CENTER] = {"data_center", "data_centers", "datacenters",
                          MEMBERS(IDENTITY, LINK("clusters"), TRUTH("local"), TEXT("status", REST_STATE_V3),
                                  OBJECT("version", REST_VERSION))},
    [REST_HOST] = {"host", "hosts", "hosts",
                   MEMBERS(IDENTITY, ACTION("activate"), ACTION("deactivate"), ACTION("fence"),
                           LINK_TO("statistics", REST_STATISTIC), TEXT("address"),
                           TEXT("status", REST_STATE_V3), TEXT("external_status", REST_STATE_V3),
                           TEXT("type"), REFERENCE("cluster", REST_CLUSTER), OBJECT("cpu", REST_CPU),
                           NUMBER("memory"), NUMBER("max_scheduling_memory"), OBJECT("summary", REST_SUMMARY),
                           OBJECT("spm", REST_STATE), OBJECT("power_management", REST_POWER_MANAGEMENT),
                           OBJECT("device_passthrough", REST_SWITCH))},
    [REST_VM] = {"vm", "vms", "vms",
                 MEMBERS(IDENTITY, ACTION("start"), ACTION("migrate"), ACTION("stop"), ACTION("shutdown"),
                         ACTION("reboot"), ACTION("ticket"), ACTION("cancelmigration"),
                         LINK_TO("statistics", REST_STATISTIC), TEXT("status", REST_STATE_V3), TEXT("type"),
                         REFERENCE("cluster", REST_CLUSTER), REFERENCE("host", REST_HOST),
                         OBJECT("cpu", REST_CPU), NUMBER("memory"),
                         OBJECT("memory_policy", REST_MEMORY_POLICY),
                         OBJECT("high_availability", REST_SWITCH),
                         OBJECT("placement_policy", REST_PLACEMENT_POLICY))},
    [REST_STATISTIC] = {"statistic", "statistics", NULL,
                        MEMBERS(IDENTITY, TEXT("kind"), TEXT("type"), TEXT("unit"),
                                LIST("values", REST_VALUE), REFERENCE("host", REST_HOST),
                                REFERENCE("vm", REST_VM))},
    [REST_AFFINITY_GROUP] = {"affinity_group", "affinity_groups", NULL,
                             MEMBERS(IDENTITY, LINK_TO("vms", REST_VM, .flags = REST_REFERENCES),
                                     LINK_TO("hosts", REST_HOST, .flags = REST_REFERENCES),
                                     REFERENCE("cluster", REST_CLUSTER), NUMBER("priority"),
                                     TRUTH("positive"), TRUTH("enforcing"), OBJECT("vms_rule", REST_RULE),
                                     OBJECT("hosts_rule", REST_RULE))},
    [REST_AFFINITY_LABEL] = {"affinity_label", "affinity_labels", "affinitylabels",
                             MEMBERS(IDENTITY, LINK_TO("vms", REST_VM, .flags = REST_REFERENCES),
                                     LINK_TO("hosts", REST_HOST, .flags = REST_REFERENCES))},
    [REST_ACTION] = {"action", "actions", NULL,
                     MEMBERS(HREF_AND_ID, TEXT("status", REST_STATE_V3), TRUTH("async"), TRUTH("force"),
                             TRUTH("filter"), REFERENCE("cluster", REST_CLUSTER),
                             REFERENCE("host", REST_HOST), OBJECT("vm", REST_VM), TEXT("reason"),
                             OBJECT("fault", REST_FAULT))},
    [REST_FAULT] = {"fault", "faults", NULL, MEMBERS(TEXT("reason"), TEXT("detail"))},
    [REST_PROPERTY] = {"property", "properties", NULL, MEMBERS(TEXT("name"), TEXT("value"))},
    [REST_THRESHOLDS] = {"thresholds", "", NULL,
                         MEMBERS(NUMBER("low", REST_ATTRIBUTE), NUMBER("high", REST_ATTRIBUTE),
                                 NUMBER("duration", REST_ATTRIBUTE))},
    [REST_PRODUCT_INFO] = {"product_info", "", NULL,
                           MEMBERS(TEXT("name"), TEXT("vendor"), OBJECT("version", REST_VERSION))},
    [REST_VERSION] = {"version", "versions", NULL,
                      MEMBERS(NUMBER("major", REST_ATTRIBUTE_V3), NUMBER("minor", REST_ATTRIBUTE_V3),
                              NUMBER("build", REST_ATTRIBUTE_V3), NUMBER("revision", REST_ATTRIBUTE_V3),
                              TEXT("full_version"))},
    [REST_CPU] = {"cpu", "", NULL,
                  MEMBERS(TEXT("architecture"), TEXT("name"), TEXT("type"), NUMBER("speed"),
                          OBJECT("topology", REST_TOPOLOGY))},
    [REST_TOPOLOGY] = {"topology", "", NULL,
                       MEMBERS(NUMBER("sockets", REST_ATTRIBUTE_V3), NUMBER("cores", REST_ATTRIBUTE_V3),
                               NUMBER("threads", REST_ATTRIBUTE_V3))},
    [REST_SUMMARY] = {"summary", "", NULL, MEMBERS(NUMBER("active"), NUMBER("migrating"), NUMBER("total"))},
    [REST_STATE] = {"spm", "", NULL, MEMBERS(NUMBER("priority"), TEXT("status", REST_STATE_V3))},
    [REST_SWITCH] = {"switch", "", NULL, MEMBERS(TRUTH("enabled"), NUMBER("priority"))},
    [REST_POWER_MANAGEMENT] = {"power_management", "", NULL,
                               MEMBERS(TRUTH("enabled"), TRUTH("automatic_pm_enabled"))},
    [REST_MEMORY_POLICY] = {"memory_policy", "", NULL,
                            MEMBERS(NUMBER("guaranteed"), NUMBER("max"), TRUTH("ballooning"))},
    [REST_PLACEMENT_POLICY] = {"placement_policy", "", NULL,
                               MEMBERS(TEXT("affinity"), LIST("hosts", REST_HOST, .flags = REST_REFERENCES))},
    [REST_VALUE] = {"value", "values", NULL, MEMBERS(NUMBER("datum"))},
    [REST_RULE] = {"rule", "", NULL, MEMBERS(TRUTH("enabled"), TRUTH("positive"), TRUTH("enforcing"))},
};

const struct rest_element *rest_element(enum rest_kind kind)
{
    return &elements[kind];
}

enum rest_kind rest_kind_of_element(const char *name)
{
    enum rest_kind kind = REST_KINDS;

    while (--kind > REST_NONE && !texts_same(elements[kind].name, name))
        ;
    return kind;
}

enum rest_kind rest_kind_of_collection(const char *segment)
{
    enum rest_kind kind = REST_KINDS;

    while (--kind > REST_NONE && !(segment && *segment && texts_same(elements[kind].collection, segment)))
        ;
    return kind;
}

const struct rest_member *rest_own_id(const struct rest_element *element)
{
    for (const struct rest_member *m = element->members; m->name; m++) {
        if (m->flags & REST_OWN_ID)
            return m;
    }
    return NULL;
}
