/* vs_inventory.h: the objects of a vSphere cluster as read, one by one, before their references are resolved.
 *
 * Answers come in pages and in any order, so a VM may come before its host. vs_inventory_read.c fills this
 * structure from the answers, vs_inventory_map.c makes the inventory of it. Numbers are the peer's,
 * converted to MHz and MiB; UNKNOWN where the peer gave none. Everything lives in one arena.
 */
#ifndef BALLAST_COLLECTORS_VSPHERE_VS_INVENTORY_H
#define BALLAST_COLLECTORS_VSPHERE_VS_INVENTORY_H

#include "net/vsphere/props.h"
#include "net/vsphere/task.h"

#include <ballast/inventory.h>

enum connection { CONNECTION_UNKNOWN, CONNECTION_CONNECTED, CONNECTION_LOST };
enum host_power { HOST_POWER_UNKNOWN, HOST_POWER_ON, HOST_POWER_OFF, HOST_POWER_STANDBY };
enum standby_mode { STANDBY_NONE, STANDBY_ENTERING, STANDBY_IN, STANDBY_EXITING };

/* Custom attributes: numbers with their values, or with their names. */
struct vs_inventory_custom_value {
    int64_t key;
    const char *text;
};

struct vs_inventory_custom {
    const struct vs_inventory_custom_value *items;
    size_t n;
};

struct vs_inventory_host {
    const char *id, *name;
    enum connection connection;
    enum host_power power;
    enum standby_mode standby;
    bool in_maintenance, entering_maintenance;
    bool can_standby;
    double core_mhz, cores, mem_mb; /* UNKNOWN */
    double mem_used_mb;             /* the host's own figure; UNKNOWN */
    instant_s boot;                 /* 0: not known */
    bool runs_vms;                  /* by the VMs' own host references */
    double vm_consumed_mb;          /* of the VMs that run on it */
    double power_w;                 /* current draw; UNKNOWN */
    double swap_in_mb_s;            /* the least of five minutes; 0: none, or not known */
    bool vsan, quarantine;
    bool networks_known, datastores_known, devices_known;
    struct ids networks, datastores; /* ids */
    struct ids vgpus;                /* profiles of its vGPUs */
    const char *cpu_model, *evc_mode, *evc_mode_max, *uuid;
    enum failure_detection failure_detection;
    struct vs_inventory_custom custom;
    struct labels tags; /* vs_tags.h */
};

/* Shares by level are resolved when the sizes are known. */
enum shares_level { SHARES_NORMAL, SHARES_LOW, SHARES_HIGH, SHARES_CUSTOM };

struct vs_inventory_alloc {
    bool given;
    double reservation, limit, shares;
    enum shares_level level;
    bool expandable;
};

struct vs_inventory_vm {
    const char *id, *name, *identity, *host, *pool;
    enum vm_state state;
    bool state_known, template_, connected, migrating;
    double vcpus, mem_mb; /* UNKNOWN: its configuration could not be read */
    struct vs_inventory_alloc alloc[RES_COUNT];
    enum vm_kind kind;
    bool required;                   /* an agent without which its host may run nothing else */
    struct ids ft_peers;             /* the other halves of its fault-tolerant pair, as it says; mostly one */
    struct vm_sample sample;         /* present: quick stats or counters were there */
    double ballooned_mb, swapped_mb; /* UNKNOWN: the quick stats do not tell */
    double counted_last_mhz;         /* CPU use in the last sample of the counters */
    struct ids networks, datastores; /* ids */
    const char *evc_mode;            /* that its host must have */
    const char *config_version;      /* changes with its configuration; NULL: could not be read */
    bool asks, migration_disabled;   /* it waits for an answer; a backup, say, has disabled its migration */
    bool latency_sensitive, consolidation_needed;
    struct vs_inventory_custom custom;
    struct labels tags;               /* vs_tags.h */
    const char *folder;               /* its id; NULL: none */
    const struct vm_devices *devices; /* vs_devices.h; NULL: not read */
};

struct vs_inventory_pool {
    const char *id, *name, *parent;
    struct vs_inventory_alloc alloc[RES_COUNT];
    bool scales_descendants;
};

struct vs_inventory_rule {
    const char *id, *name;
    bool enabled, mandatory;
    bool apart;                                  /* of two VMs; false: together */
    bool of_groups;                              /* a VM-host rule */
    struct ids vms;                              /* VM-VM rules */
    const char *vm_group, *on_hosts, *off_hosts; /* VM-host rules: names of groups; NULL */
};

struct vs_inventory_group {
    const char *name;
    bool of_hosts;
    struct ids members;
};

/* The kind of a group of hosts of the cluster's configuration; its id is "drs:NAME". */
#define VS_GROUP_KIND "drs"

struct vs_inventory_folder {
    const char *id, *name, *parent;
};

/* A network or a datastore. */
struct vs_inventory_named {
    const char *id, *name;
    bool datastore;
};

/* A CPU baseline of the vCenter. */
struct evc_mode {
    const char *key, *vendor;
    int64_t tier; /* among those of the vendor: one with a higher tier can do what lower ones can */
};

struct evc_modes {
    const struct evc_mode *items;
    size_t n;
};

struct vs_inventory_override {
    const char *id; /* of a VM, or of a host for DPM */
    bool of_host;
    enum automation automation;
};

/* The capacity that HA's admission control reserves for failures. */
struct vs_inventory_ha {
    struct ha_facts is;
    struct ids failover_hosts;
    const char *unknown; /* what the cluster does not tell, a phrase; NULL: it tells everything */
};

struct vs_inventory {
    struct arena *arena;
    const char *cluster, *root_pool;
    const char *automation; /* the cluster's own, for people */
    struct conflict_facts conflicts;
    const char
        *tags_unread;     /* why tags of hosts or VMs are not known yet; NULL: all are, or there are none */
    bool overrides_count; /* the cluster lets VMs have levels of their own */
    bool root_scales;
    double effective[RES_COUNT]; /* what the cluster says it has for VMs; UNKNOWN */
    struct vs_inventory_host *hosts;
    struct vs_inventory_vm *vms;
    struct vs_inventory_pool *pools;
    struct vs_inventory_rule *rules;
    struct vs_inventory_group *groups;
    struct vs_inventory_override *overrides;
    struct vs_inventory_ha ha;
    struct vsphere_task *tasks; /* those that are queued or running */
    struct vs_inventory_named *named;
    struct vs_inventory_folder *folders;
    struct vs_inventory_custom fields; /* names of custom attributes; none: not read */
    struct evc_modes evc;              /* none: not known; not reset by vs_inventory_begin() */
    size_t n_hosts, n_vms, n_pools, n_rules, n_groups, n_overrides, n_tasks, n_named, n_folders;
    size_t cap_hosts, cap_vms, cap_pools, cap_rules, cap_groups, cap_overrides, cap_tasks, cap_named,
        cap_folders;
    size_t unreadable;         /* properties that the peer refused */
    size_t rules_left_out;     /* rules that keep VMs on hosts, none of which exists */
    const char *rule_left_out; /* one of them */
};

void vs_inventory_init(struct vs_inventory *s, struct arena *a);

/* Callback of a vsphere_reader with ctx = the vs_inventory: reads one object of any kind. */
void vs_inventory_begin(void *ctx);
int vs_inventory_object(void *ctx, const struct vsphere_object *o, struct err *err);

/* Reads ClusterConfigInfoEx: rules, groups, automation levels of VMs and hosts, HA's admission control
 * (vs_inventory_config.c). */
void vs_inventory_config(struct vs_inventory *s, const xml_node *config);

/* A size that makes sense, or UNKNOWN. */
double vs_inventory_number(const xml_node *node);

/* All references of a list: <vm type="VirtualMachine">vm-1</vm>... */
struct ids vs_inventory_refs(struct vs_inventory *s, const xml_node *parent, const char *name);

/* An object's name, with the characters / \ % that vSphere writes as %2f %5c %25. NULL: it has none. */
const char *vs_inventory_name(const xml_node *node, struct arena *a);

/* The properties that vs_inventory_object() understands, from a cluster down. */
void vs_inventory_query(const char *cluster, unsigned page, struct vsphere_query *ret);

/* Reads the value of ServiceInstance.capability.supportedEVCMode. */
struct evc_modes vs_inventory_evc_modes(const xml_node *list, struct arena *a);

/* What the hosts offer and the VMs need, of objects that are in the inventory: host i of `s` is host i of
 * `inv`, and kept[v] says whether VM v is there, in order. (vs_inventory_compatibility.c) */
void vs_inventory_map_offers(const struct vs_inventory *s, struct inventory *inv);
void vs_inventory_map_needs(const struct vs_inventory *s, const bool *kept, struct inventory *inv);

/* Makes the inventory of the objects. -EPROTO: no cluster is among them. */
int vs_inventory_map(struct vs_inventory *s, struct inventory *ret, struct err *err);

#endif
