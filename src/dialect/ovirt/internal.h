/* internal.h: a cloud as it was read, and what the files of this folder share.
 *
 * Memory is in MiB behind read.c, as oVirt's scheduler has it; a figure that is not known is UNKNOWN. */
#ifndef BALLAST_DIALECT_OVIRT_INTERNAL_H
#define BALLAST_DIALECT_OVIRT_INTERNAL_H

#include "dialect/ovirt/members.h"
#include "dialect/ovirt/ovirt.h"

#include <ballast/expression.h>
#include <ballast/facts.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#define NONE UINT32_MAX
#define CPUS_MAX 4096 /* of a host */

enum unit_type { UNIT_FILTER, UNIT_WEIGHT, UNIT_BALANCE, UNIT_TYPES, UNIT_MANDATORY };

struct unit_use {
    const char *id;
    double position, factor;
};

struct policy {
    const char *id, *name, *clone_of, *selector;
    bool ranks; /* hosts by each unit; else weights times factors are added up */
    bool is_default, properties_given, uses_given[UNIT_TYPES];
    struct objects properties;       /* struct property */
    struct objects uses[UNIT_TYPES]; /* struct unit_use */
};

#define TEXT_MEMBER const char *
#define TRUTH_MEMBER bool
#define NUMBER_MEMBER double
#define RANGE_MEMBER double
#define IDS_MEMBER struct ids
#define ROWS_MEMBER struct objects
#define DECLARED(S, type, name, member, ...) type##_MEMBER member;

/* clang-format off */
struct property { OF_PROPERTY(DECLARED, ) };
struct external_unit { OF_EXTERNAL_UNIT(DECLARED, ) }; /* of the user's own */
struct numa_node { OF_NUMA_NODE(DECLARED, ) };
struct cpu_unit { OF_CPU_UNIT(DECLARED, ) };
struct amount { OF_AMOUNT(DECLARED, ) };
struct host_device { OF_HOST_DEVICE(DECLARED, ) };
struct nic { OF_NIC(DECLARED, ) };
struct cpu_pin { OF_CPU_PIN(DECLARED, ) };
struct affinity_label { OF_AFFINITY_LABEL(DECLARED, ) };
struct cpu_type { OF_CPU_TYPE(DECLARED, ) };
/* clang-format on */

struct cluster {
    OF_CLUSTER(DECLARED, )
    const struct policy *policy;
    const struct vm *engine; /* NULL: it is not there */
    uint32_t spares;         /* hosts on which it could start again */
};

struct host {
    OF_HOST(DECLARED, )
    bool leases_given;
    uint32_t cluster;
    double cpus, plain_cpus; /* plain: where a thread is no CPU, whatever the cluster says */
    double largest_vm;       /* vCPUs of the largest VM there that shares CPUs */
    struct taken {
        double takes, overhead, load, exclusive, vms, ha;
    } taken, coming; /* by the VMs that run there; by those that are pending */
    bool in_motion;  /* a VM is on its way there, or off it */
};

struct vm {
    OF_VM(DECLARED, )
    uint32_t cluster, host, pending_host;
    bool runs, engine, dedicated;
    double vcpus, static_mb, need_mb, takes_mb, pages, load; /* takes_mb: with whole huge pages */
};

struct affinity_group {
    OF_AFFINITY_GROUP(DECLARED, )
    bool *has_vm, *has_host; /* by index; with the members of its labels */
};

struct cloud {
    OF_CLOUD(DECLARED, )
    const struct policy *all; /* policies: the built-in ones, then its own, as they are in force */
    size_t n_all;
    bool idle; /* properties, ovirt_read() */
    struct arena *a;
    struct err *err;
};

/* ---- read.c ---- */

/* Reads the cloud. Finds what its references name. idle: a policy may have properties that are of none of its
 * units now. */
int ovirt_read(const json_t *json, bool idle, struct arena *a, struct cloud *ret, struct err *err);

extern const struct schema host_schema, vm_schema;

#define ROWS_OF(type, objects) ((type *)(uintptr_t)(objects).items)
#define CLUSTER(c, i) (&ROWS_OF(struct cluster, (c)->clusters)[i])
#define HOST(c, i) (&ROWS_OF(struct host, (c)->hosts)[i])
#define VM(c, i) (&ROWS_OF(struct vm, (c)->vms)[i])
#define USES(policy, type) ROWS_OF(struct unit_use, (policy)->uses[type])
#define GROUP(c, i) (&ROWS_OF(struct affinity_group, (c)->groups)[i])

bool ovirt_ids_have(const struct ids *ids, const char *id);

/* ---- policies.c ---- */

/* Puts the built-in policies before the cloud's own, gives clones what they do not have themselves, checks
 * all, and finds the policy of each cluster. */
int policies_choose(struct cloud *c);

/* The value that the cluster's policy has; NULL, or `otherwise`, where it has none. */
const char *policies_value(const struct cluster *cl, const char *name);
double policies_number(const struct cluster *cl, const char *name, double otherwise);

/* All of them in REST's words, with `locked`. */
json_t *policies_json(const struct cloud *c);
bool policies_is_built_in(const char *id);

const struct external_unit *policies_external(const struct cloud *c, const char *id, enum unit_type type);

/* ---- units.c ---- */

struct unit {
    const char *id, *name; /* name: of its stage */
    enum unit_type type;
    const char *properties; /* the names of its properties, between blanks */
    const char *text;       /* of its stage */
};

const struct unit *units_at(uint32_t i); /* NULL behind the last */

/* NULL: none of oVirt's own has this id. */
const struct unit *units_find(const char *id, enum unit_type type);

/* All that have an id, in REST's words. */
json_t *units_json(void);

/* What is being made. */
struct compiler {
    struct cloud *c;
    const struct cluster *cluster; /* whose pipeline */
    bool runs;                     /* it is for VMs that run, else for those that start */
    bool of_source;                /* for VMs of any source, that run or start; no cloud of oVirt is there */
    double mem_overcommit;         /* of the source */
    json_t **attributes, **hints;  /* by host, by VM */
    json_t *known;                 /* predicates that were asked for, by name: whether any host is refused */
    json_t *stages;
    /* What texts have a part for each of, by name: `sizes` of huge pages (KiB); `groups`, one if there are
     * any of VMs; their `colours`, no VM is in two groups of one; likewise of `companies`, those with which a
     * VM is in positive groups; `slots` of soft groups of hosts. */
    json_t *series;
    /* of the unit whose text is expanded */
    bool true_everywhere; /* all conditions so far */
    bool by_rank;         /* the weight is the hosts' rank by it */
};

#define SERIES_EMPTY                                                                                         \
    json_pack("{s: {}, s: {}, s: {}, s: {}, s: {}}", "sizes", "groups", "colours", "companies", "slots")

json_t *units_text(struct compiler *m, const char *text); /* a text with parts, such as theirs */

/* The condition of a filter, or a weight; NULL: it is the same for all hosts. */
json_t *units_expression(struct compiler *m, const struct unit *u);

/* ---- facts.c ---- */

int facts_find(const struct cloud *c);        /* what VMs need, and take of hosts */
void facts_set_all(const struct compiler *m); /* attributes, hints, and sizes of pages */

/* Sets the value, if it is not NULL, which belongs to the object then. */
void facts_set(json_t *of, json_t *value, const char *format, ...) __attribute__((format(printf, 3, 4)));
void facts_append(json_t *of, const char *name, const char *text); /* to a list of texts */

/* ---- predicates.c: conditions that moves do not change ---- */

/* Whether one of the texts is this number. */
bool predicates_names(const struct ids *names, double number);

/* Whether any host is refused to any VM. Sets the attributes and hints that {pass:NAME} reads then. */
bool predicates_refuse(struct compiler *m, const char *name);

/* ---- affinity.c ---- */

void affinity_find(const struct compiler *m);  /* sets hints, groups, colours, companies and slots */
json_t *affinity_rules(const struct cloud *c); /* hard groups as rules, which correct what breaks them */

/* ---- compile.c, balances.c, sources.c ---- */

void compile_stages(struct compiler *m); /* of the cluster's policy */

/* The stages of the unit of balance; what its rules have in common. */
void balances_add(struct compiler *m, const struct unit *u);
json_t *balances_common(struct compiler *m);
/* Whether a weight wants what the balance does; else the weights may send VMs back, or nowhere. */
bool balances_agree(const struct policy *p);

/* {"stages": [...], "balance": {...}} of the first cluster's policy, for VMs of any source; the caller frees
 * it. *agrees: balances_agree(). */
void sources_pipeline(struct cloud *c, double mem_overcommit, json_t **ret, bool *agrees);

/* What a part, or the fact "@load", "#guests" or "%home", is on a source; NULL: as in a cloud. */
const char *sources_fact(const char *name, size_t n);

#endif
