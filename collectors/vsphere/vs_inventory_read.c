/* vs_inventory_read.c: reads ObjectContent into the structs of vs_inventory.h. It resolves no reference. */
#include "collectors/vsphere/vs_inventory.h"

#include "collectors/vsphere/vs_labels.h"

#include "base/rfc3339.h"

#include <errno.h>
#include <string.h>

/* A number beyond these is not a measurement. */
#define NUMBER_ABSURD 1e12
#define BYTES_ABSURD 1e16

#define VS_INVENTORY_ADD(s, items, n, cap)                                                                   \
    ((s)->items = arena_grow((s)->arena, (s)->items, (s)->n, &(s)->cap, sizeof *(s)->items),                 \
     &(s)->items[(s)->n++])

static const char *const cluster_paths[] = {"name", "resourcePool", "configurationEx", "summary", NULL};
static const char *const host_paths[] = {"name",
                                         "runtime.connectionState",
                                         "runtime.powerState",
                                         "runtime.inMaintenanceMode",
                                         "runtime.standbyMode",
                                         "runtime.bootTime",
                                         "summary.hardware.cpuMhz",
                                         "summary.hardware.numCpuCores",
                                         "summary.hardware.memorySize",
                                         "summary.quickStats.overallMemoryUsage",
                                         "capability.standbySupported",
                                         "config.vsanHostConfig.enabled",
                                         "network",
                                         "datastore",
                                         "config.sharedPassthruGpuTypes",
                                         "summary.hardware.cpuModel",
                                         "summary.currentEVCModeKey",
                                         "summary.maxEVCModeKey",
                                         "hardware.systemInfo.uuid",
                                         "runtime.inQuarantineMode",
                                         "runtime.dasHostState",
                                         "customValue",
                                         NULL};
static const char *const vm_paths[] = {"name",
                                       "runtime.host",
                                       "runtime.powerState",
                                       "runtime.connectionState",
                                       "resourcePool",
                                       "config.template",
                                       "config.instanceUuid",
                                       "config.hardware.numCPU",
                                       "config.hardware.memoryMB",
                                       "config.cpuAllocation",
                                       "config.memoryAllocation",
                                       "config.ftInfo",
                                       "config.managedBy",
                                       "summary.quickStats",
                                       "network",
                                       "datastore",
                                       "disabledMethod",
                                       "runtime.minRequiredEVCModeKey",
                                       "runtime.question",
                                       "runtime.consolidationNeeded",
                                       "config.latencySensitivity",
                                       "config.changeVersion",
                                       "config.modified",
                                       "customValue",
                                       "parent",
                                       NULL};
static const char *const pool_paths[] = {"name", "parent", "config", NULL};
static const char *const folder_paths[] = {"name", "parent", NULL};
static const char *const task_paths[] = {"info", NULL};
static const char *const named_paths[] = {"name", NULL};

static const struct vsphere_wanted wanted[] = {
    {"ClusterComputeResource", cluster_paths},
    {"HostSystem", host_paths},
    {"VirtualMachine", vm_paths},
    {"ResourcePool", pool_paths}, /* and VirtualApp, which is one */
    {"Task", task_paths},
    {"Network", named_paths}, /* and DistributedVirtualPortgroup, OpaqueNetwork */
    {"Datastore", named_paths},
    {"Folder", folder_paths},
};

static const char *const first[] = {"hosts", "root", "networks", "datastores", NULL};
static const char *const below_host[] = {"host_tasks", NULL};
static const char *const below_pool[] = {"pools", "vms", NULL};
static const char *const below_vm[] = {"vm_tasks", "vm_folder", NULL};
static const char *const above_folder[] = {"folder", NULL};

static const struct vsphere_step steps[] = {
    {"hosts", "ComputeResource", "host", below_host},
    {"root", "ComputeResource", "resourcePool", below_pool},
    {"networks", "ComputeResource", "network", NULL},
    {"datastores", "ComputeResource", "datastore", NULL},
    {"pools", "ResourcePool", "resourcePool", below_pool},
    {"vms", "ResourcePool", "vm", below_vm},
    {"host_tasks", "HostSystem", "recentTask", NULL},
    {"vm_tasks", "VirtualMachine", "recentTask", NULL},
    {"vm_folder", "VirtualMachine", "parent", above_folder},
    {"folder", "Folder", "parent", above_folder},
};

void vs_inventory_query(const char *cluster, unsigned page, struct vsphere_query *ret)
{
    *ret = (struct vsphere_query){.start_type = "ClusterComputeResource",
                                  .start = cluster,
                                  .wanted = wanted,
                                  .n_wanted = sizeof wanted / sizeof wanted[0],
                                  .steps = steps,
                                  .n_steps = sizeof steps / sizeof steps[0],
                                  .first = first,
                                  .page = page};
}

void vs_inventory_init(struct vs_inventory *s, struct arena *a)
{
    *s = (struct vs_inventory){
        .arena = a, .overrides_count = true, .effective = {[RES_CPU] = UNKNOWN, [RES_MEM] = UNKNOWN}};
}

void vs_inventory_begin(void *ctx)
{
    struct vs_inventory *s = ctx;
    const struct evc_modes evc = s->evc;

    vs_inventory_init(s, s->arena); /* objects of a first try stay in the arena, unused */
    s->evc = evc;
}

static double number_up_to(const xml_node *node, double most)
{
    int64_t v;

    if (xml_int(node, &v) < 0 || v < 0 || (double)v > most)
        return UNKNOWN;
    return (double)v;
}

double vs_inventory_number(const xml_node *node)
{
    return number_up_to(node, NUMBER_ABSURD);
}

const char *vs_inventory_name(const xml_node *node, struct arena *a)
{
    static const struct {
        const char *code;
        char is;
    } hidden[] = {{"%2f", '/'}, {"%5c", '\\'}, {"%25", '%'}};
    char *name = xml_text(node, a);
    char *to = name;

    if (!name || !name[0])
        return NULL;
    for (const char *from = name; *from; from++, to++) {
        *to = *from;
        for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
            if (strncasecmp(from, hidden[i].code, 3) == 0) {
                *to = hidden[i].is;
                from += 2;
                break;
            }
        }
    }
    *to = '\0';
    return name;
}

static const char *text(struct vs_inventory *s, const xml_node *node)
{
    const char *t = xml_text(node, s->arena);

    return t && t[0] ? t : NULL;
}

/* A name as the user wrote it: vSphere encodes three characters. */
static const char *name_of(struct vs_inventory *s, const struct vsphere_object *o)
{
    return vs_inventory_name(vsphere_prop(o, "name"), s->arena);
}

struct ids vs_inventory_refs(struct vs_inventory *s, const xml_node *parent, const char *name)
{
    const char **items = NULL;
    size_t n = 0;
    size_t cap = 0;

    for (const xml_node *r = xml_child(parent, name); r; r = xml_again(r)) {
        const char *id = text(s, r);
        if (!id)
            continue;
        items = arena_grow(s->arena, items, n, &cap, sizeof *items);
        items[n++] = id;
    }
    return (struct ids){.items = items, .n = (uint32_t)n};
}

static void read_alloc(const xml_node *node, struct vs_inventory_alloc *ret)
{
    const xml_node *level = xml_child(node, "shares/level");
    int64_t limit = -1;

    if (!node)
        return;
    double reservation = vs_inventory_number(xml_child(node, "reservation"));
    (void)xml_int(xml_child(node, "limit"), &limit);
    *ret = (struct vs_inventory_alloc){
        .given = true,
        .reservation = isnan(reservation) ? 0 : reservation,
        .limit = limit < 0 || (double)limit > NUMBER_ABSURD ? NO_LIMIT : (double)limit,
        .shares = vs_inventory_number(xml_child(node, "shares/shares")),
        .level = xml_text_is(level, "custom") ? SHARES_CUSTOM
                 : xml_text_is(level, "low")  ? SHARES_LOW
                 : xml_text_is(level, "high") ? SHARES_HIGH
                                              : SHARES_NORMAL,
        .expandable = xml_bool(xml_child(node, "expandableReservation")),
    };
}

/* The states of HA's agent (ClusterDasFdmAvailabilityState). One that is starting, or electing, says nothing
 * yet; without HA there is none. */
static enum failure_detection agent_state(const xml_node *state)
{
    static const char *const bad[] = {
        "fdmUnreachable",      "networkIsolated",       "networkPartitionedFromMaster",
        "initializationError", "uninitializationError", "hostDown"};

    if (xml_text_is(state, "master") || xml_text_is(state, "connectedToMaster"))
        return FAILURE_DETECTION_HEALTHY;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (xml_text_is(state, bad[i]))
            return FAILURE_DETECTION_UNHEALTHY;
    }
    return FAILURE_DETECTION_UNKNOWN;
}

static void read_offers(struct vs_inventory *s, const struct vsphere_object *o, struct vs_inventory_host *h)
{
    const xml_node *networks = vsphere_prop(o, "network");
    const xml_node *datastores = vsphere_prop(o, "datastore");
    const xml_node *vgpus = vsphere_prop(o, "config.sharedPassthruGpuTypes");

    h->uuid = text(s, vsphere_prop(o, "hardware.systemInfo.uuid"));
    h->networks_known = networks != NULL;
    h->networks = vs_inventory_refs(s, networks, "ManagedObjectReference");
    h->datastores_known = datastores != NULL;
    h->datastores = vs_inventory_refs(s, datastores, "ManagedObjectReference");
    h->devices_known = h->uuid != NULL; /* its configuration can be read, so no list means that it has none */
    h->vgpus = vs_inventory_refs(s, vgpus, "string");
    h->cpu_model = text(s, vsphere_prop(o, "summary.hardware.cpuModel"));
    h->evc_mode = text(s, vsphere_prop(o, "summary.currentEVCModeKey"));
    h->evc_mode_max = text(s, vsphere_prop(o, "summary.maxEVCModeKey"));
    h->quarantine = xml_bool(vsphere_prop(o, "runtime.inQuarantineMode"));
    h->failure_detection = agent_state(xml_child(vsphere_prop(o, "runtime.dasHostState"), "state"));
}

static void read_host(struct vs_inventory *s, const struct vsphere_object *o)
{
    struct vs_inventory_host *h = VS_INVENTORY_ADD(s, hosts, n_hosts, cap_hosts);
    const xml_node *connection = vsphere_prop(o, "runtime.connectionState");
    const xml_node *power = vsphere_prop(o, "runtime.powerState");
    const xml_node *standby = vsphere_prop(o, "runtime.standbyMode");
    const char *boot = text(s, vsphere_prop(o, "runtime.bootTime"));
    double bytes = number_up_to(vsphere_prop(o, "summary.hardware.memorySize"), BYTES_ABSURD);

    *h = (struct vs_inventory_host){
        .id = arena_strdup(s->arena, o->value),
        .name = name_of(s, o),
        .connection = xml_text_is(connection, "connected") ? CONNECTION_CONNECTED
                      : connection                         ? CONNECTION_LOST
                                                           : CONNECTION_UNKNOWN,
        .power = xml_text_is(power, "poweredOn")    ? HOST_POWER_ON
                 : xml_text_is(power, "standBy")    ? HOST_POWER_STANDBY
                 : xml_text_is(power, "poweredOff") ? HOST_POWER_OFF
                                                    : HOST_POWER_UNKNOWN,
        .standby = xml_text_is(standby, "in")         ? STANDBY_IN
                   : xml_text_is(standby, "entering") ? STANDBY_ENTERING
                   : xml_text_is(standby, "exiting")  ? STANDBY_EXITING
                                                      : STANDBY_NONE,
        .in_maintenance = xml_bool(vsphere_prop(o, "runtime.inMaintenanceMode")),
        .can_standby = xml_bool(vsphere_prop(o, "capability.standbySupported")),
        .core_mhz = vs_inventory_number(vsphere_prop(o, "summary.hardware.cpuMhz")),
        .cores = vs_inventory_number(vsphere_prop(o, "summary.hardware.numCpuCores")),
        .mem_mb = bytes / BYTES_PER_MIB,
        .mem_used_mb = vs_inventory_number(vsphere_prop(o, "summary.quickStats.overallMemoryUsage")),
        .power_w = UNKNOWN,
        .vsan = xml_bool(vsphere_prop(o, "config.vsanHostConfig.enabled")),
    };
    if (boot)
        (void)rfc3339_parse(boot, &h->boot);
    h->custom = vs_labels_read(vsphere_prop(o, "customValue"), s->arena);
    read_offers(s, o, h);
}

/* A VM's owner tells its purpose (VirtualMachineConfigInfo.managedBy). EAM's agent VMs belong to their
 * host and must run there before any other VM. Those of vSphere Cluster Services (vCLS, by EAM until 8.0
 * U2, by vCenter itself from 8.0 U3 on) serve the cluster: one to three of them, on hosts that vCenter
 * chooses. */
static const struct {
    const char *extension, *type; /* NULL: any */
    bool required;
} agents[] = {
    {"com.vmware.vim.eam", "cluster-agent", false},
    {"VirtualCenter", "vcls-entity", false},
    {"com.vmware.vim.eam", NULL, true},
};

static bool is_agent(const struct vsphere_object *o, bool *ret_required)
{
    const xml_node *owner = vsphere_prop(o, "config.managedBy");

    for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++) {
        if (!xml_text_is(xml_child(owner, "extensionKey"), agents[i].extension) ||
            (agents[i].type && !xml_text_is(xml_child(owner, "type"), agents[i].type)))
            continue;
        *ret_required = agents[i].required;
        return true;
    }
    return false;
}

static void read_kind(struct vs_inventory *s, const struct vsphere_object *o, struct vs_inventory_vm *v)
{
    const xml_node *ft = vsphere_prop(o, "config.ftInfo");
    int64_t role = 0;

    if (ft && xml_int(xml_child(ft, "role"), &role) == 0) {
        bool primary = role == 1;
        v->kind = primary ? VM_FT_PRIMARY : VM_FT_SECONDARY;
        if (!xml_bool(xml_child(ft, "orphaned"))) /* its primary does not know it any more */
            v->ft_peers = vs_inventory_refs(s, ft, primary ? "secondaries" : "primaryVM");
    } else if (is_agent(o, &v->required)) {
        v->kind = VM_AGENT;
    }
}

static bool lists(const xml_node *list, const char *const *words)
{
    for (const xml_node *n = xml_child(list, "string"); n; n = xml_again(n)) {
        for (const char *const *word = words; *word; word++) {
            if (xml_text_is(n, *word))
                return true;
        }
    }
    return false;
}

static void read_needs(struct vs_inventory *s, const struct vsphere_object *o, struct vs_inventory_vm *v)
{
    static const char *const moves[] = {"MigrateVM_Task", "RelocateVM_Task", NULL};
    const char *version = text(s, vsphere_prop(o, "config.changeVersion"));
    const char *modified = text(s, vsphere_prop(o, "config.modified"));

    v->networks = vs_inventory_refs(s, vsphere_prop(o, "network"), "ManagedObjectReference");
    v->datastores = vs_inventory_refs(s, vsphere_prop(o, "datastore"), "ManagedObjectReference");
    v->migration_disabled = lists(vsphere_prop(o, "disabledMethod"), moves);
    v->evc_mode = text(s, vsphere_prop(o, "runtime.minRequiredEVCModeKey"));
    v->asks = vsphere_prop(o, "runtime.question") != NULL;
    v->consolidation_needed = xml_bool(vsphere_prop(o, "runtime.consolidationNeeded"));
    v->latency_sensitive =
        xml_text_is(xml_child(vsphere_prop(o, "config.latencySensitivity"), "level"), "high");
    if (version || modified)
        v->config_version = arena_printf(s->arena, "%s %s", version ? version : "", modified ? modified : "");
}

static void read_vm(struct vs_inventory *s, const struct vsphere_object *o)
{
    struct vs_inventory_vm *v = VS_INVENTORY_ADD(s, vms, n_vms, cap_vms);
    const xml_node *power = vsphere_prop(o, "runtime.powerState");
    const xml_node *stats = vsphere_prop(o, "summary.quickStats");

    *v = (struct vs_inventory_vm){
        .id = arena_strdup(s->arena, o->value),
        .name = name_of(s, o),
        .identity = text(s, vsphere_prop(o, "config.instanceUuid")),
        .host = text(s, vsphere_prop(o, "runtime.host")),
        .pool = text(s, vsphere_prop(o, "resourcePool")),
        .state = xml_text_is(power, "poweredOn")   ? VM_ON
                 : xml_text_is(power, "suspended") ? VM_SUSPENDED
                                                   : VM_OFF,
        .state_known = power != NULL,
        .template_ = xml_bool(vsphere_prop(o, "config.template")),
        .connected = xml_text_is(vsphere_prop(o, "runtime.connectionState"), "connected"),
        .vcpus = vs_inventory_number(vsphere_prop(o, "config.hardware.numCPU")),
        .mem_mb = vs_inventory_number(vsphere_prop(o, "config.hardware.memoryMB")),
    };
    v->custom = vs_labels_read(vsphere_prop(o, "customValue"), s->arena);
    v->folder = text(s, vsphere_prop(o, "parent"));
    read_kind(s, o, v);
    read_needs(s, o, v);
    read_alloc(vsphere_prop(o, "config.cpuAllocation"), &v->alloc[RES_CPU]);
    read_alloc(vsphere_prop(o, "config.memoryAllocation"), &v->alloc[RES_MEM]);
    double consumed = vs_inventory_number(xml_child(stats, "hostMemoryUsage"));
    v->sample = (struct vm_sample){
        .present = stats != NULL,
        .interval_ms = UNKNOWN,
        .cpu_used_mhz = vs_inventory_number(xml_child(stats, "overallCpuUsage")),
        .cpu_run_ms = UNKNOWN,
        .cpu_sleep_ms = UNKNOWN,
        .cpu_ready_ms = UNKNOWN,
        .core_mhz = UNKNOWN,
        .mem_active_mb = vs_inventory_number(xml_child(stats, "guestMemoryUsage")),
        .mem_guest_used_mb = UNKNOWN,
        .mem_consumed_mb = consumed > 0 ? consumed : UNKNOWN, /* no VM runs on no memory: not measured yet */
        .mem_overhead_mb = vs_inventory_number(xml_child(stats, "consumedOverheadMemory")),
    };
    v->ballooned_mb = vs_inventory_number(xml_child(stats, "balloonedMemory"));
    v->swapped_mb = vs_inventory_number(xml_child(stats, "swappedMemory"));
}

static void read_pool(struct vs_inventory *s, const struct vsphere_object *o)
{
    struct vs_inventory_pool *p = VS_INVENTORY_ADD(s, pools, n_pools, cap_pools);
    const xml_node *config = vsphere_prop(o, "config");

    *p = (struct vs_inventory_pool){
        .id = arena_strdup(s->arena, o->value),
        .name = name_of(s, o),
        .parent = text(s, vsphere_prop(o, "parent")),
        .scales_descendants =
            xml_text_is(xml_child(config, "scaleDescendantsShares"), "scaleCpuAndMemoryShares"),
    };
    read_alloc(xml_child(config, "cpuAllocation"), &p->alloc[RES_CPU]);
    read_alloc(xml_child(config, "memoryAllocation"), &p->alloc[RES_MEM]);
}

static void read_cluster(struct vs_inventory *s, const struct vsphere_object *o)
{
    const xml_node *summary = vsphere_prop(o, "summary");

    s->cluster = name_of(s, o);
    s->root_pool = text(s, vsphere_prop(o, "resourcePool"));
    s->effective[RES_CPU] = vs_inventory_number(xml_child(summary, "effectiveCpu"));
    s->effective[RES_MEM] = vs_inventory_number(xml_child(summary, "effectiveMemory"));
    vs_inventory_config(s, vsphere_prop(o, "configurationEx"));
}

static void read_task(struct vs_inventory *s, const struct vsphere_object *o)
{
    struct vsphere_task t;

    /* a task that ended between two answers has no info any more, and is not needed */
    if (vsphere_task_read(vsphere_prop(o, "info"), &t, NULL) < 0 || !vsphere_task_is_active(&t))
        return;
    *VS_INVENTORY_ADD(s, tasks, n_tasks, cap_tasks) = t;
}

static void read_named(struct vs_inventory *s, const struct vsphere_object *o)
{
    *VS_INVENTORY_ADD(s, named, n_named, cap_named) =
        (struct vs_inventory_named){.id = arena_strdup(s->arena, o->value),
                                    .name = name_of(s, o),
                                    .datastore = strcmp(o->type, "Datastore") == 0};
}

static void read_folder(struct vs_inventory *s, const struct vsphere_object *o)
{
    *VS_INVENTORY_ADD(s, folders, n_folders, cap_folders) =
        (struct vs_inventory_folder){.id = arena_strdup(s->arena, o->value),
                                     .name = name_of(s, o),
                                     .parent = text(s, vsphere_prop(o, "parent"))};
}

static const struct {
    const char *type;
    void (*read)(struct vs_inventory *s, const struct vsphere_object *o);
} readers[] = {
    {"VirtualMachine", read_vm},   {"HostSystem", read_host}, {"ResourcePool", read_pool},
    {"VirtualApp", read_pool},     {"Task", read_task},       {"ClusterComputeResource", read_cluster},
    {"Network", read_named},       {"Datastore", read_named}, {"DistributedVirtualPortgroup", read_named},
    {"OpaqueNetwork", read_named}, {"Folder", read_folder},
};

int vs_inventory_object(void *ctx, const struct vsphere_object *o, struct err *err)
{
    struct vs_inventory *s = ctx;

    (void)err;
    for (const xml_node *m = xml_child(o->content, "missingSet"); m; m = xml_again(m)) {
        if (xml_type_is(xml_child(m, "fault/fault"), "NoPermission"))
            s->unreadable++;
    }
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (strcmp(o->type, readers[i].type) == 0)
            readers[i].read(s, o);
    }
    return 0;
}
