/* internal.h: a cloud as it was read, and what the files of this folder share.
 *
 * Memory is in MiB behind read.c, as oVirt's scheduler has it; a figure that is not known is UNKNOWN. */
#ifndef BALLAST_DIALECT_OVIRT_INTERNAL_H
#define BALLAST_DIALECT_OVIRT_INTERNAL_H

#include "base/strbuf.h"
#include "dialect/ovirt/ovirt.h"

#include <ballast/expression.h>
#include <ballast/facts.h>
#include <ballast/field.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#define NONE UINT32_MAX
#define CPUS_MAX 4096 /* of a host */

struct property {
    const char *name, *value;
};

struct unit_use {
    const char *id;
    double position, factor;
};

struct policy {
    const char *id, *name, *clone_of, *selector;
    bool is_default;
    bool properties_given, filters_given, weights_given, balances_given;
    struct objects properties;                 /* struct property */
    struct objects filters, weights, balances; /* struct unit_use */
};

/* A unit of the user's own. */
struct external_unit {
    const char *id, *name, *type;
    bool disabled, enabled, enabled_given;
};

struct cluster {
    const char *id, *name, *policy_id, *display_network;
    bool threads_as_cores, ha_reservation;
    double major, minor;
    const char *architecture;
    struct objects properties; /* struct property: these instead of the policy's */
    const struct policy *policy;
    uint32_t spares; /* hosts on which the engine could start again */
};

struct numa_node {
    double index, memory, free;
    struct ids cpus; /* numbers of CPUs, or ranges */
    struct ids pins; /* of a VM: the nodes of the host */
};

struct cpu_unit {
    double cpu_id, load;
    bool exclusive;
};

struct amount {
    const char *name;
    double n;
};

struct host_device {
    const char *name, *capability;
    bool used;
};

struct host {
    const char *id, *name, *address, *status, *cluster_id, *spm, *os_type, *cpu_type;
    double sockets, cores, threads; /* cores of a socket, threads of a core */
    double memory, max_scheduling, mem_free, swap_total, swap_free, cpu_user, cpu_system;
    double threshold_s; /* since when the CPU load is above the upper limit or below the lower one */
    double active_vms, pending_memory, os_major, he_score, tsc_hz;
    bool he_configured, he_maintenance, tsc_scaling, device_passthrough;
    bool leases_given, networks_given;
    struct objects numa, cpu_units, devices, mdevs, hugepages, virtual_functions;
    struct ids networks, addressed_networks, machines, versions, hooks, leases, cpu_flags;
    /* computed by facts.c */
    uint32_t cluster;
    double cpus, exclusive, load, eff; /* effective CPUs; those held exclusively; L, without pending load */
    bool per_cpu;                      /* the load of each CPU is known */
    double plain_cpus, plain_load;     /* cpus and load where a thread is no CPU, whatever the cluster says */
    struct taken {
        double takes, overhead, load, exclusive, vms, ha;
    } taken, coming;   /* by the VMs that run there; by those that are pending */
    double largest_vm; /* vCPUs of the largest VM there that shares CPUs */
    bool in_motion;    /* a VM is on its way there, or off it */
};

struct nic {
    const char *network;
    bool unplugged, pass_through;
};

struct cpu_pin {
    double vcpu;
    const char *cpu_set;
};

struct vm {
    const char *id, *name, *status, *host_id, *pending_host_id, *cluster_id, *type, *affinity, *machine;
    const char *cpu_type, *cpu_mode, *pinning_policy, *numa_mode, *lease_domain, *origin;
    double memory, sockets, cores, threads, cpu_percent, io_threads, video_memory, hugepages_kib, tsc_hz;
    double version_major, version_minor;
    bool ha, sap_agent;
    struct ids preferred, devices, mdevs, cpu_flags;
    struct objects nics, cpu_pins, numa;
    /* computed by facts.c */
    uint32_t cluster, host, pending_host;
    bool runs, paused, engine, dedicated;
    double vcpus, static_mb, need_mb, takes_mb, pages, load; /* takes_mb: with whole huge pages */
};

struct affinity_group {
    const char *id;
    bool vms_enabled, vms_positive, vms_enforcing, hosts_enabled, hosts_positive, hosts_enforcing;
    double priority;
    struct ids vms, hosts, vm_labels, host_labels;
    bool *has_vm, *has_host; /* by index; with the members of its labels */
};

struct affinity_label {
    const char *id;
    struct ids vms, hosts;
};

struct cpu_type {
    const char *name, *vendor;
    double level;
};

struct settings {
    double vcpu_percent, spm_vcpus, vm_overhead_mb;
    bool swap_check;
};

struct cloud {
    const char *name, *time;
    struct settings settings;
    struct objects clusters, policies, units, hosts, vms, groups, labels, cpu_types;
    struct arena *a;
    struct err *err;
};

/* ---- read.c ---- */

/* Reads the cloud, with the built-in policies before its own. Finds what its references name. */
int ovirt_read(const json_t *json, struct arena *a, struct cloud *ret, struct err *err);

#define ROWS_OF(type, objects) ((type *)(uintptr_t)(objects).items)
#define CLUSTER(c, i) (&ROWS_OF(struct cluster, (c)->clusters)[i])
#define HOST(c, i) (&ROWS_OF(struct host, (c)->hosts)[i])
#define VM(c, i) (&ROWS_OF(struct vm, (c)->vms)[i])
#define GROUP(c, i) (&ROWS_OF(struct affinity_group, (c)->groups)[i])

bool ovirt_ids_have(const struct ids *ids, const char *id);

/* ---- facts.c ---- */

/* What the scheduler computes of hosts and VMs before any unit is asked. */
int facts_find(struct cloud *c);

/* ---- policies.c ---- */

enum unit_type { UNIT_FILTER, UNIT_WEIGHT, UNIT_BALANCE, UNIT_MANDATORY };

/* The built-in policies; ret: room for POLICIES_BUILT_IN. */
#define POLICIES_BUILT_IN 5
void policies_built_in(struct policy *ret, struct arena *a);

/* Checks a policy at this JSON pointer, and gives one that is cloned what it does not have itself. */
int policies_check(const struct cloud *c, struct policy *p, const char *pointer);
int policies_check_properties(const struct cloud *c, const struct policy *p, const struct objects *properties,
                              const char *pointer);

/* Whether hosts are ranked by each unit; else weights times factors are added up. */
bool policies_ranks(const struct policy *p);

/* The value that the cluster's policy has; NULL, or `otherwise`, where it has none. */
const char *policies_value(const struct cluster *cl, const char *name);
double policies_number(const struct cluster *cl, const char *name, double otherwise);

const struct external_unit *policies_external(const struct cloud *c, const char *id);

/* ---- units.c ---- */

struct unit {
    const char *id, *name;
    enum unit_type type;
    const char *properties; /* the names of its properties, between blanks */
    const char *text;       /* of its stage */
};

#define FILTERS_OF_ALL 15                    /* that all built-in policies have; they come first */
const struct unit *units_of_all(uint32_t i); /* NULL behind the last */

/* NULL: none of oVirt's own has this id. */
const struct unit *units_find(const char *id, enum unit_type type);
bool units_named(const char *name, enum unit_type type); /* whether one is */

/* The condition of a filter, or a weight; NULL: it is the same for all hosts. ret_ranks: the hosts' rank by
 * it is the weight. */
struct compiler;
json_t *units_expression(struct compiler *m, const struct unit *u, bool *ret_ranks);
json_t *units_text(struct compiler *m, const char *text); /* a text with parts, such as theirs */

/* ---- predicates.c, classes.c: conditions that moves do not change ---- */

struct pair {
    const struct cloud *c;
    const struct vm *vm;
    const struct host *host;
};

struct predicate {
    const char *name; /* that of the unit, if it is a filter */
    bool (*passes)(const struct pair *p);
};
extern const struct predicate predicates[];

/* Whether one of the texts is this number. */
bool predicates_names(const struct ids *names, double number);

/* Whether the host passes, as an expression over attributes of hosts and hints of VMs; NULL: each host does
 * for every VM. Sets these attributes and hints. */
json_t *classes_expression(struct compiler *m, const char *name);

/* ---- stages.c ---- */

/* What is being made. */
struct compiler {
    struct cloud *c;
    const struct cluster *cluster; /* whose pipeline */
    bool runs;                     /* it is for VMs that run, else for those that start */
    bool of_source;                /* for VMs of any source, that run or start; no cloud of oVirt is there */
    double mem_overcommit;         /* of the source */
    json_t **attributes, **hints;  /* by host, by VM */
    json_t *known;                 /* predicates that were asked for, by name */
    json_t *stages;
    uint32_t colours;   /* of groups of VMs: no VM is in two groups of one */
    uint32_t companies; /* likewise of companies: those with which a VM is in positive groups */
    uint32_t soft_slots;
    const double *sizes; /* of huge pages, KiB */
    uint32_t n_sizes;
    bool true_everywhere; /* all conditions of the unit so far */
};

/* An expression from a text in which ' stands for ". */
json_t *stages_expression(const struct compiler *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void stages_set(json_t *of, const char *name, double number); /* unless it is UNKNOWN */
void stages_set_facts(struct compiler *m);                    /* attributes and hints that stages read */
void stages_add(struct compiler *m, const char *name, const char *kind, json_t *expression);
void stages_add_all(struct compiler *m); /* of the cluster's policy */

/* balances.c: the stages of the unit of balance; what its rules have in common */
void balances_add(struct compiler *m, const struct unit *u);
json_t *balances_common(struct compiler *m);

/* sources.c: what a part, or the fact "@load", "#guests" or "%home", is on a source; NULL: as in a cloud */
const char *sources_fact(const char *name, size_t n);

/* affinity.c */
void affinity_find(struct compiler *m); /* colours, hints */
void affinity_add_counts(struct compiler *m);
json_t *affinity_rules(const struct cloud *c); /* hard groups as rules, which correct what breaks them */
bool affinity_refuses(const struct cloud *c, uint32_t vm, uint32_t host); /* a hard group of hosts */

#endif
