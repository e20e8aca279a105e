/* snapshot_fields.c: the tables of ballast-snapshot/1. */
#include "model/snapshot_fields.h"

#include "model/attributes.h"
#include "model/numa.h"
#include "model/quantities.h"
#include "model/snapshot_field_macros.h"

#include <ballast/inventory.h>

ENUM_WORDS(host_state, HOST_STATES);
ENUM_WORDS(vm_state, VM_STATES);
ENUM_WORDS(vm_kind, VM_KINDS);
ENUM_WORDS(rule_kind, RULE_KINDS);
ENUM_WORDS(ha_policy, HA_POLICIES);
ENUM_WORDS(action_kind, ACTION_KINDS);
ENUM_WORDS(alike_days, ALIKE_DAYS);
ENUM_WORDS(reason, REASONS);

const char *const automation_words[] = {
    [AUTOMATION_INHERIT] = "inherit", [AUTOMATION_DISABLED] = "disabled",   [AUTOMATION_MANUAL] = "manual",
    [AUTOMATION_PARTIAL] = "",        [AUTOMATION_AUTOMATIC] = "automatic", NULL};

const char *const restart_priority_words[] = {
    [RESTART_NOT_GIVEN] = "",    [RESTART_DISABLED] = "disabled", [RESTART_LOW] = "low",
    [RESTART_MEDIUM] = "medium", [RESTART_HIGH] = "high",         NULL};

static const char *const failure_detection_words[] = {[FAILURE_DETECTION_UNKNOWN] = "", /* absent */
                                                      [FAILURE_DETECTION_HEALTHY] = "healthy",
                                                      [FAILURE_DETECTION_UNHEALTHY] = "unhealthy",
                                                      NULL};

/* A rule without an origin is the source's. */
static const char *const rule_origin_words[] = {
    [RULE_OF_SOURCE] = "", [RULE_OF_CONFIGURATION] = "configuration", [RULE_OF_TAG] = "tag", NULL};

/* A pool, a group or a pipeline is the source's or the configuration's. */
const char *const snapshot_origin_words[] = {
    [RULE_OF_SOURCE] = "", [RULE_OF_CONFIGURATION] = "configuration", NULL};

/* By the numbers of the bits WAKE_*. */
static const char *const wake_words[] = {"ipmi", "redfish", "wol", "hypervisor", NULL};

/* clang-format off */
#define S struct inventory
SCHEMA(snapshot_fields_document, "snapshot",
    SKIPPED("format"), SKIPPED("policy"),
    F("cluster", FIELD_TEXT, cluster, REQ),
    F("time", FIELD_INSTANT, time, REQ),
    SKIPPED("hosts"), SKIPPED("vms"), SKIPPED("pools"), SKIPPED("rules"), SKIPPED("migrations"), SKIPPED("pending"), SKIPPED("standing"),
    SKIPPED("migration_rates"), SKIPPED("settings"), SKIPPED("avoid"), SKIPPED("forecast"), SKIPPED("quiet"),
    SKIPPED("groups"), SKIPPED("pipelines"), SKIPPED("answers"),
    O("ha", snapshot_fields_ha),
    O("schedule", snapshot_fields_schedule),
    O("balance", snapshot_fields_balance),
    O("correlation", snapshot_fields_correlation),
    O("conflicts", snapshot_fields_conflicts),
    F("labels_unread", FIELD_TEXT, labels_unread, OPT),
    F("source_faults", FIELD_IDS, source_faults, OPT),
    F("vm_controls", FIELD_BOOL, vm_controls, OPT),
    F("moves_off_vms", FIELD_BOOL, moves_off_vms, OPT),
);

static SCHEMA(ha_configured, "configured",
    W("policy", ha_configured.policy, ha_policy_words, REQ),
    F("hosts", FIELD_COUNT, ha_configured.hosts, OPT),
    F("cpu_percent", FIELD_NUMBER, ha_configured.percent[RES_CPU], FIELD_OPTIONAL),
    F("mem_percent", FIELD_NUMBER, ha_configured.percent[RES_MEM], FIELD_OPTIONAL),
    F("failover_hosts", FIELD_IDS, ha_configured.failover_hosts, OPT),
    F("conflicts", FIELD_IDS, ha_configured.conflicts, OPT),
);

SCHEMA(snapshot_fields_ha, "ha",
    W("policy", ha.policy, ha_policy_words, 0),
    F("hosts", FIELD_COUNT, ha.hosts, 0),
    F("hosts_on", FIELD_COUNT, ha.hosts_on, OPT),
    F("cpu_percent", FIELD_NUMBER, ha.percent[RES_CPU], 0),
    F("mem_percent", FIELD_NUMBER, ha.percent[RES_MEM], 0),
    F("failover_hosts", FIELD_IDS, ha_failover_hosts, NUL),
    O_GIVEN("configured", ha_configured, ha_configured.given),
);

SCHEMA(snapshot_fields_conflicts, "conflicts",
    F("balancer", FIELD_BOOL, conflicts.balancer, OPT),
    F("power", FIELD_BOOL, conflicts.power, OPT),
);

SCHEMA(snapshot_fields_schedule, "schedule",
    F("power_off", FIELD_BOOL, schedule.power_off, 0),
    F("power_off_changes", FIELD_INSTANT, schedule.power_off_changes, OPT),
    F("ready_by", FIELD_INSTANT, schedule.ready_by, OPT),
    F("ready_cpu_mhz", FIELD_NUMBER, schedule.ready[RES_CPU], 0),
    F("ready_mem_mb", FIELD_NUMBER, schedule.ready[RES_MEM], 0),
);

SCHEMA(snapshot_fields_balance, "balance",
    F("open", FIELD_BOOL, balance.open, 0),
    F("changes", FIELD_INSTANT, balance.changes, OPT),
);

#define CORRELATION(name, w)                                                                                 \
    static SCHEMA(name, "correlation over a window",                                                         \
        F("cpu", FIELD_NUMBER, correlation.of[w][RES_CPU], 0),                                               \
        F("mem", FIELD_NUMBER, correlation.of[w][RES_MEM], 0))
CORRELATION(correlation_5m, WINDOW_5M);
CORRELATION(correlation_40m, WINDOW_40M);
CORRELATION(correlation_60m, WINDOW_60M);
SCHEMA(snapshot_fields_correlation, "correlation", O("5m", correlation_5m), O("40m", correlation_40m), O("60m", correlation_60m));
#undef S

/* Of one resource, or of both, in a window. */
#define STATS(name, of, member)                                                                              \
    static SCHEMA(name, of " of a window",                                                                   \
        F("mean", FIELD_NUMBER, member.mean, 0),                                                             \
        F("stddev", FIELD_NUMBER, member.stddev, 0),                                                         \
        F("min", FIELD_NUMBER, member.min, 0),                                                               \
        F("max", FIELD_NUMBER, member.max, 0))
#define WINDOW(name, member)                                                                                 \
    STATS(name##_cpu, "cpu", member[RES_CPU]);                                                               \
    STATS(name##_mem, "mem", member[RES_MEM]);                                                               \
    static SCHEMA(name, "window", O("cpu", name##_cpu), O("mem", name##_mem))

#define S struct seen_host
static SCHEMA(woken, "wake of a host",
    F("at", FIELD_INSTANT, is.woken.at, REQ),
    W("reason", is.woken.reason, reason_words, REQ),
);
static SCHEMA(losses, "losses of a host",
    F("count", FIELD_COUNT, is.losses.n, REQ),
    F("last", FIELD_INSTANT, is.losses.last, REQ),
    F("distrusted_until", FIELD_INSTANT, is.losses.distrusted_until, OPT),
);
WINDOW(own_5m, is.own.window[WINDOW_5M]);
WINDOW(own_40m, is.own.window[WINDOW_40M]);
WINDOW(own_60m, is.own.window[WINDOW_60M]);
static SCHEMA(own_windows, "windows", O_OPT("5m", own_5m), O_OPT("40m", own_40m), O_OPT("60m", own_60m));
static SCHEMA(own, "own use of a host",
    F("at", FIELD_INSTANT, is.own.at, OPT),
    F("cpu_mhz", FIELD_NUMBER, is.own.now[RES_CPU], 0),
    F("mem_mb", FIELD_NUMBER, is.own.now[RES_MEM], 0),
    O_OPT("windows", own_windows),
);
SCHEMA(snapshot_fields_host, "host",
    F("id", FIELD_TEXT, is.id, REQ),
    F("name", FIELD_TEXT, is.name, NUL),
    W("state", is.state, host_state_words, REQ),
    F("cpu_mhz", FIELD_NUMBER, is.total[RES_CPU], REQ),
    F("cores", FIELD_COUNT, is.cores, REQ),
    F("mem_mb", FIELD_NUMBER, is.total[RES_MEM], REQ),
    F("cpu_reserved_mhz", FIELD_NUMBER, is.reserved[RES_CPU], 0),
    F("mem_reserved_mb", FIELD_NUMBER, is.reserved[RES_MEM], 0),
    F("mem_free_mb", FIELD_NUMBER, is.mem_free_mb, OPT),
    F("swap_in_mb_s", FIELD_NUMBER, is.swap_in_mb_s, OPT),
    F("mem_pressure", FIELD_NUMBER, is.mem_pressure, OPT),
    O_GIVEN("own", own, is.own.given),
    F("power_idle_w", FIELD_NUMBER, is.power_idle_w, OPT),
    F("power_peak_w", FIELD_NUMBER, is.power_peak_w, OPT),
    F("power_curve_w", FIELD_CURVE, is.power_curve_w, OPT),
    F("power_standby_w", FIELD_NUMBER, is.power_standby_w, OPT),
    F("power_w", FIELD_NUMBER, is.power_w, OPT),
    F("boot_s", FIELD_NUMBER, is.boot_s, OPT),
    F("wake_tries_s", FIELD_NUMBER, is.wake_tries_s, OPT),
    F("standby_since", FIELD_INSTANT, is.standby_since, OPT),
    F("on_since", FIELD_INSTANT, is.on_since, OPT),
    O_OPT("woken", woken),
    FIELD_AT("wake_methods", S, is.wake_methods, FIELD_FLAGS, .words = wake_words, .flags = OPT),
    F("wake_verified", FIELD_BOOL, is.wake_verified, 0),
    F("wake_failed_at", FIELD_INSTANT, is.wake_failed_at, OPT),
    F("wake_failed_last", FIELD_INSTANT, is.wake_failed_last, OPT),
    F("power_fault", FIELD_TEXT, is.power_fault, OPT),
    F("controller_doubted", FIELD_BOOL, is.controller_doubted, OPT),
    W("dpm", is.dpm, automation_words, 0),
    F("agents_required", FIELD_IDS, agents_required, OPT),
    F("labels", FIELD_LABELS, is.labels, OPT),
    F("migration_rate_mb_s", FIELD_NUMBER, is.migration_rate_mb_s, OPT),
    F("migrations_max", FIELD_COUNT, is.migrations_max, OPT),
    F("over_s", FIELD_NUMBER, is.over_s, OPT),
    OFFER("networks", is.networks),
    OFFER("datastores", is.datastores),
    OFFER("devices", is.devices),
    F("cpu_vendor", FIELD_TEXT, is.cpu_vendor, OPT),
    OFFER("cpu_modes", is.cpu_modes),
    F("quarantine", FIELD_BOOL, is.quarantine, OPT),
    O_OPT("losses", losses),
    W("failure_detection", is.failure_detection, failure_detection_words, OPT),
    F("vsan", FIELD_BOOL, is.vsan, OPT),
    F("serves_storage", FIELD_BOOL, is.serves_storage, OPT),
    F("disconnected_why", FIELD_TEXT, is.disconnected_why, OPT),
    F("hardware_uuid", FIELD_TEXT, is.hardware_uuid, OPT),
    F("left_inventory", FIELD_BOOL, is.left_inventory, OPT),
    F("traits", FIELD_IDS, is.traits, OPT),
    ATTRIBUTES("attributes", is.attributes),
    FIELD_AT("quantities", S, is.quantities, FIELD_OWN, .flags = OPT, .read = quantities_read,
             .write = quantities_write, .known = quantities_known),
    ROWS("numa", is.numa, numa_cell_schema, struct numa_cell, NUMA_CELLS_MAX, OPT, "its NUMA cells"),
    ROWS("device_pools", is.device_pools, device_pool_schema, struct device_pool, DEVICE_POOLS_MAX, OPT,
         "its devices for VMs"),
);
#undef S

#define S struct seen_vm
#define VM_RESOURCE(r)                                                                                       \
    F("reservation", FIELD_NUMBER, is.alloc[r].reservation, 0),                                              \
    F("limit", FIELD_LIMIT, is.alloc[r].limit, 0),                                                           \
    F("shares", FIELD_NUMBER, is.alloc[r].shares, 0),                                                        \
    F("demand", FIELD_NUMBER, is.demand[r], 0),                                                              \
    F("deviation", FIELD_NUMBER, is.deviation[r], OPT),                                                      \
    F("rise", FIELD_NUMBER, is.rise[r], OPT)
static SCHEMA(vm_cpu, "cpu of a vm", VM_RESOURCE(RES_CPU));
static SCHEMA(vm_mem, "mem of a vm",
    VM_RESOURCE(RES_MEM),
    F("consumed", FIELD_NUMBER, is.consumed_mb, 0),
    F("overhead", FIELD_NUMBER, is.overhead_mb, 0),
    F("no_reclaim", FIELD_BOOL, is.no_reclaim, OPT),
);
/* Reservation, limit and shares of one resource, and what else the table has. */
#define ALLOC(name, text, member, fl, ...)                                                                   \
    static SCHEMA(name, text,                                                                                \
        F("reservation", FIELD_NUMBER, member.reservation, fl),                                              \
        F("limit", FIELD_LIMIT, member.limit, fl),                                                           \
        F("shares", FIELD_NUMBER, member.shares, fl), __VA_ARGS__)
ALLOC(vm_source_cpu, "source", is.source_alloc[RES_CPU], REQ);
ALLOC(vm_source_mem, "source", is.source_alloc[RES_MEM], REQ);
static SCHEMA(vm_source, "source of a vm",
    F("pool", FIELD_TEXT, source_pool, NUL),
    O_REQ("cpu", vm_source_cpu),
    O_REQ("mem", vm_source_mem),
);
static SCHEMA(vm_set, "set of a vm",
    F("shares", FIELD_NUMBER, is.set.shares, REQ),
    F("limit", FIELD_LIMIT, is.set.limit, REQ),
);

WINDOW(window_5m, is.window[WINDOW_5M]);
WINDOW(window_40m, is.window[WINDOW_40M]);
WINDOW(window_60m, is.window[WINDOW_60M]);
static SCHEMA(windows, "windows", O("5m", window_5m), O("40m", window_40m), O("60m", window_60m));

SCHEMA(snapshot_fields_vm, "vm",
    F("id", FIELD_TEXT, is.id, REQ),
    F("name", FIELD_TEXT, is.name, NUL),
    F("host", FIELD_TEXT, host, NUL),
    W("state", is.state, vm_state_words, REQ),
    F("pool", FIELD_TEXT, pool, NUL),
    F("vcpus", FIELD_COUNT, is.vcpus, REQ),
    F("mem_mb", FIELD_NUMBER, is.mem_mb, REQ),
    W("kind", is.kind, vm_kind_words, 0),
    F("ft_peer", FIELD_TEXT, ft_peer, OPT),
    O("cpu", vm_cpu),
    O("mem", vm_mem),
    O_GIVEN("source", vm_source, is.overridden),
    O_GIVEN("set", vm_set, is.set.given),
    O("windows", windows),
    F("stable_s", FIELD_NUMBER, is.stable_s, OPT),
    F("ballooned_mb", FIELD_NUMBER, is.ballooned_mb, OPT),
    F("swapped_mb", FIELD_NUMBER, is.swapped_mb, OPT),
    F("swap_in_mb_s", FIELD_NUMBER, is.swap_in_mb_s, OPT),
    F("dirty_mb_s", FIELD_NUMBER, is.dirty_mb_s, OPT),
    F("disks_copied_mb", FIELD_NUMBER, is.disks_copied_mb, OPT),
    F("demand_unknown", FIELD_BOOL, is.demand_unknown, FIELD_OPTIONAL),
    F("sample_age_s", FIELD_NUMBER, is.sample_age_s, OPT),
    F("sample_bad", FIELD_TEXT, is.sample_bad, OPT),
    W("automation", is.automation, automation_words, 0),
    W("restart_priority", is.restart_priority, restart_priority_words, OPT),
    FIELD_AT("compatible_hosts", S, compatible_hosts, FIELD_IDS, .flags = OPT, .given = offsetof(S, compatible_given)),
    F("labels", FIELD_LABELS, is.labels, OPT),
    F("folder", FIELD_TEXT, is.folder, OPT),
    F("last_migrated", FIELD_INSTANT, is.last_migrated, OPT),
    F("left_host", FIELD_TEXT, left_host, OPT),
    F("networks", FIELD_IDS, is.networks, OPT),
    F("datastores", FIELD_IDS, is.datastores, OPT),
    F("devices", FIELD_IDS, is.devices, OPT),
    F("cpu_vendor", FIELD_TEXT, is.cpu_vendor, OPT),
    F("cpu_mode", FIELD_TEXT, is.cpu_mode, OPT),
    F("immovable", FIELD_TEXT, is.immovable, OPT),
    F("mandatory_only", FIELD_TEXT, is.mandatory_only, OPT),
    F("pipeline", FIELD_TEXT, pipeline, OPT),
    F("owner", FIELD_TEXT, is.owner, OPT),
    ATTRIBUTES("flavor", is.flavor),
    ATTRIBUTES("image", is.image),
    ATTRIBUTES("hints", is.hints),
    F("groups", FIELD_IDS, is.groups, OPT),
    ROWS("numa", is.numa, vm_numa_cell_schema, struct vm_numa_cell, NUMA_CELLS_MAX, OPT, "its NUMA cells"),
    ROWS("device_requests", is.device_requests, device_request_schema, struct device_request,
         DEVICE_REQUESTS_MAX, OPT, "the devices that it needs"),
);
#undef S

#define S struct seen_pool
#define POOL_ALLOC(name, text, member, fl)                                                                   \
    ALLOC(name, text, member, fl, F("expandable", FIELD_BOOL, member.expandable, 0))
POOL_ALLOC(pool_cpu, "pool_cpu of a pool", is.alloc[RES_CPU], 0);
POOL_ALLOC(pool_mem, "pool_mem of a pool", is.alloc[RES_MEM], 0);
POOL_ALLOC(pool_source_cpu, "source", is.source_alloc[RES_CPU], REQ);
POOL_ALLOC(pool_source_mem, "source", is.source_alloc[RES_MEM], REQ);
static SCHEMA(pool_source, "source of a pool",
    O_REQ("cpu", pool_source_cpu),
    O_REQ("mem", pool_source_mem),
);
SCHEMA(snapshot_fields_pool, "pool",
    F("id", FIELD_TEXT, is.id, REQ),
    F("name", FIELD_TEXT, is.name, NUL),
    F("parent", FIELD_TEXT, parent, NUL),
    O("cpu", pool_cpu),
    O("mem", pool_mem),
    F("scalable_shares", FIELD_BOOL, is.scalable_shares, 0),
    W("origin", is.origin, snapshot_origin_words, OPT),
    O_GIVEN("source", pool_source, is.overridden),
);
#undef S

#define S struct seen_rule
SCHEMA(snapshot_fields_rule, "rule",
    F("id", FIELD_TEXT, is.id, REQ),
    F("name", FIELD_TEXT, is.name, NUL),
    F("enabled", FIELD_BOOL, is.enabled, 0),
    W("kind", is.kind, rule_kind_words, REQ),
    F("mandatory", FIELD_BOOL, is.mandatory, 0),
    W("origin", is.origin, rule_origin_words, OPT),
    F("vms", FIELD_IDS, vms, REQ),
    F("hosts", FIELD_IDS, hosts, OPT),
);
#undef S

#define S struct seen_migration
SCHEMA(snapshot_fields_migration, "migration",
    F("vm", FIELD_TEXT, vm, REQ),
    F("from", FIELD_TEXT, from, REQ),
    F("to", FIELD_TEXT, to, REQ),
    F("started", FIELD_INSTANT, started, OPT),
);
#undef S

/* The objects of a plan: the pass ignores some of their fields. */
#define S struct seen_pending
#define ACTION_FIELDS                                                                                        \
    W("action", action, action_kind_words, REQ), F("vm", FIELD_TEXT, vm, OPT), F("from", FIELD_TEXT, from, OPT), \
        F("to", FIELD_TEXT, to, OPT), F("host", FIELD_TEXT, host, OPT)
SCHEMA(snapshot_fields_pending, "pending recommendation",
    ACTION_FIELDS,
    SKIPPED("id"), SKIPPED("priority"), SKIPPED("reason"), SKIPPED("rule"), SKIPPED("text"), SKIPPED("depends_on"),
    SKIPPED("group"), SKIPPED("imbalance_after"), SKIPPED("cost"), SKIPPED("benefit"), SKIPPED("duration_s"),
    SKIPPED("alternatives"),
);

SCHEMA(snapshot_fields_standing, "standing recommendation",
    ACTION_FIELDS,
    W("reason", reason, reason_words, REQ),
    F("group", FIELD_COUNT, group, 0),
    F("since", FIELD_INSTANT, since, REQ),
);
#undef S

#define S struct seen_migration_rate
SCHEMA(snapshot_fields_migration_rate, "migration rate",
    F("from", FIELD_TEXT, from, REQ),
    F("to", FIELD_TEXT, to, REQ),
    F("rate_mb_s", FIELD_NUMBER, rate_mb_s, REQ),
);
#undef S

/* As in a plan, so that the settings that a plan requests can be reported as applied. */
#define S struct seen_setting
ALLOC(setting_cpu, "setting_cpu of a host", alloc[RES_CPU], 0);
ALLOC(setting_mem, "setting_mem of a host", alloc[RES_MEM], 0);
SCHEMA(snapshot_fields_setting, "setting of a pool on a host",
    F("host", FIELD_TEXT, host, REQ),
    F("pool", FIELD_TEXT, pool, REQ),
    O("cpu", setting_cpu),
    O("mem", setting_mem),
);
#undef S

#define S struct seen_avoid
SCHEMA(snapshot_fields_avoid, "avoided move",
    F("vm", FIELD_TEXT, vm, OPT),
    F("host", FIELD_TEXT, host, OPT),
    F("until", FIELD_INSTANT, until, REQ),
    F("failures", FIELD_COUNT, failures, 0),
    F("mandatory", FIELD_BOOL, mandatory, OPT),
    F("reason", FIELD_TEXT, reason, OPT),
    F("rejected", FIELD_TEXT, rejected, OPT),
);
#undef S

#define S struct seen_group
SCHEMA(snapshot_fields_group, "group",
    F("id", FIELD_TEXT, is.id, REQ),
    F("name", FIELD_TEXT, is.name, NUL),
    F("kind", FIELD_TEXT, is.kind, REQ),
    F("hosts", FIELD_IDS, hosts, REQ),
    F("meta", FIELD_LABELS, is.meta, OPT),
    W("origin", is.origin, snapshot_origin_words, OPT),
);
#undef S

#define S struct expected
SCHEMA(snapshot_fields_expected, "expected demand",
    F("time", FIELD_INSTANT, time, REQ),
    F("cpu_mhz", FIELD_NUMBER, demand[RES_CPU], OPT),
    F("mem_mb", FIELD_NUMBER, demand[RES_MEM], OPT),
    F("days", FIELD_COUNT, days, REQ),
    F("of", FIELD_COUNT, of, OPT),
    W("alike", alike, alike_days_words, 0),
);
#undef S

#define S struct quiet
SCHEMA(snapshot_fields_quiet, "quiet time",
    F("cpu_mhz", FIELD_NUMBER, level[RES_CPU], OPT),
    F("mem_mb", FIELD_NUMBER, level[RES_MEM], OPT),
    F("lasts_s", FIELD_NUMBER, lasts_s, REQ),
    F("of", FIELD_COUNT, of, REQ),
    F("sudden", FIELD_COUNT, sudden, 0),
    F("rise", FIELD_NUMBER, rise, 0),
    F("age_s", FIELD_NUMBER, age_s, OPT),
    F("enough_s", FIELD_NUMBER, enough_s, OPT),
);
#undef S
/* clang-format on */
