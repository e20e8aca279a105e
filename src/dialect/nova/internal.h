/* internal.h: what the files of the folder share. Expressions are built as JSON (ballast/expression.h); a
 * filter that passes every host gives none. */
#ifndef BALLAST_DIALECT_NOVA_INTERNAL_H
#define BALLAST_DIALECT_NOVA_INTERNAL_H

#include "dialect/nova/nova.h"

#include <stdbool.h>
#include <stddef.h>

#define AGGREGATE "aggregate" /* the kind of groups */
#define SERVICE "service"     /* the kind of groups of nodes with one compute service */
#define ATTRIBUTE "$host.attributes."
#define MHZ_OF_CORE 1000 /* Nova knows no clock rate: a vCPU is as much everywhere */
#define META "$group.meta."
#define HOST ATTRIBUTE "host"   /* the name of the compute service: Nova's host, of which nodes are parts */
#define COUNT_MAX 1000000000000 /* of GB, and of vCPUs: more is a mistake */
#define CPU_RATIO_INITIAL 16.0  /* of vCPUs to cores, where nothing says another */

/* Texts in the arena. */
struct words {
    const char **items;
    size_t n, cap;
};

struct cloud {
    struct arena *a;
    struct err *err;
    json_t *conf;        /* {section: {option: value}} */
    const json_t *lists; /* the document */
    json_t *states;      /* of each hypervisor: Nova's host state */
    json_t *attributes;  /* of each hypervisor: what the expressions read */
    json_t *metadata;    /* of each aggregate, without blanks around commas */
    json_t *nodes;       /* {host: [node, ...]} */
    json_t *groups;      /* {server: its server group} */
    json_t *given;       /* {variable: true}: what any VM of the cloud has by vm_set() */
    json_t *inventories; /* of each hypervisor: {resource class: {total, reserved, ...}} */
    json_t *servers_at;  /* {node: how many servers are listed there} */
    json_t *found;       /* what cloud_keep() keeps */
    json_t *host_of;     /* {server: the compute service that it is on} */
    bool shares_nodes;   /* a compute service has several nodes */
    json_t *topologies;  /* of each hypervisor: its NUMA topology; null: none */
    json_t *pools;       /* of each hypervisor: its pools of PCI devices */
    const json_t *moves; /* the listed server that the request moves; NULL: none */
    bool keeps_source;   /* which counts where it is until it has moved */
    unsigned consumed;   /* 1 << enum consumed: what a stage counts */
    json_t *stages;      /* those so far of the request that is being compiled */
};

/* What one VM asks for. Every reference is borrowed. */
struct request {
    const char *where, *hints_where; /* in the document, for errors */
    const char *id, *project, *zone; /* NULL: not given */
    const char *host, *node;         /* where it must be; NULL: anywhere */
    const char *image_id;
    const json_t *extra_specs; /* of its flavour; NULL: none */
    const char *flavor;        /* its name */
    const json_t *flavor_json; /* vcpus, ram, disk and so on */
    const json_t *image;       /* the properties by their present names; never NULL */
    const json_t *image_json;  /* NULL: none */
    const json_t *hints;       /* NULL: none */
    const json_t *group;       /* its server group; NULL: none */
    const json_t *destination; /* requested_destination of a move; NULL: none */
    const char *home;          /* the compute service that it moves from; NULL: it does not move */
    const char *left;          /* the compute service that it leaves in any case; NULL: none */
    const char *cell;          /* that it does not leave; NULL: it may */
    const json_t *live_from;   /* the state of the host that it leaves while it runs; NULL: it does not */
    bool of_volume;            /* its root disk is a volume */
    bool forced;               /* to the host, past all filters */
    bool bypasses;             /* and past all but the amounts of the placement service */
    bool stays;                /* where it is, with what it has there */
    bool rebuilds;             /* it stays, with another image: few filters are asked */
    bool of_many;              /* asked for together with others */
    bool is_new;               /* asked for: no server has it yet */
    json_t *vm;                /* flavor, image, hints and groups of the VM, as filters have set them */
};

/* ---- servers.c ---- */

/* A server, listed or asked for. */
struct server {
    const json_t *json;
    struct request asks;
    json_t *image; /* owned: asks.image */
};

/* hints: those beside the request's server; a listed server has its own. */
int server_read(const struct cloud *c, const json_t *json, const json_t *hints, const char *where,
                struct server *ret);

/* Of the request: where it is to be. */
int server_read_destination(const struct cloud *c, const json_t *json, struct server *ret);

/* The document's requested_destination. */
void server_take_destination(const struct cloud *c, struct request *ret);

/* A VM of the snapshot without a state. */
json_t *server_vm(const struct server *s, const char *id, const char *name);

/* The load of a VM that runs; without diagnostics it is not known. */
void server_set_demand(const json_t *server, json_t *vm);

bool server_is_on(const json_t *server);

/* A deleted server takes nothing, and is no VM. */
bool server_is_deleted(const json_t *server);

/* The node of a listed server; NULL: it is on none. */
const char *server_node(const struct cloud *c, const json_t *server);

void servers_read_groups(struct cloud *c);

/* Counts the listed servers by node, and notes the host of each. -EINVAL: a host is no hypervisor's. */
int servers_count(struct cloud *c);

/* -EINVAL: the project of a new server is not known, and `what` decides by it. */
int server_need_project(const struct cloud *c, const struct request *r, const char *what);

/* ---- actions.c: requests to move a server that is there ---- */

/* Reads the action that the document asks for, and notes the server that moves. *ret_is: false: there is
 * none. The caller frees ret->image. */
int action_read(struct cloud *c, struct server *ret, bool *ret_is);

/* ---- cloud.c ---- */

/* -EINVAL: a member that is not known, or of another type, or a list that is only a part. */
int cloud_check(const struct cloud *c);

/* The object of the list whose key has this text; NULL: none. */
const json_t *cloud_find(const struct cloud *c, const char *list, const char *key, const char *wanted);

/* What is the same for all requests is found out once: the value that was kept under this key; NULL: none
 * yet. */
json_t *cloud_found(const struct cloud *c, const char *key);

/* Whether the key is asked for the first time: what is set of all hosts is set once, not for each request. */
bool cloud_first(struct cloud *c, const char *key);

/* Keeps the value, which it takes, and returns it, borrowed. */
json_t *cloud_keep(struct cloud *c, const char *key, json_t *value);

/* NULL: not given, or empty. */
const char *cloud_text(const json_t *object, const char *key);

/* ---- vm.c ---- */

/* Gives the VM of the request a value; `object` is "flavor", "image" or "hints". Takes the value. Returns its
 * variable. Filters run twice for each request: at first so that the values are known of all VMs. */
const char *vm_set(struct cloud *c, const struct request *r, const char *object, const char *name,
                   json_t *value);

/* Sets `numa` or `device_requests` of the VM; takes the value. vm_given() knows the member too. */
void vm_set_needs(struct cloud *c, const struct request *r, const char *member, json_t *value);

/* Whether a VM of the cloud has the variable. */
bool vm_given(const struct cloud *c, const char *variable);

/* The condition holds, or the VM does not have the variable. Takes the condition. */
json_t *vm_unless_given(const char *variable, json_t *condition);

/* Whether a value of `of` is one of the texts, which become the hint `name` of the VM; a VM without the hint
 * passes. texts NULL: this VM asks for none. negated: whether it is none of them. Takes `of`; NULL: no VM of
 * the cloud asks. */
json_t *vm_texts_have(struct cloud *c, const struct request *r, const char *name, json_t *of,
                      const struct words *texts, bool negated);

/* ---- conf.c ---- */

/* The options of a text in the form of nova.conf: {section: {option: text}}. */
int nova_conf_read(const char *text, struct arena *a, json_t **ret, struct err *err);

/* NULL or the default: not given. */
const char *conf_text(const struct cloud *c, const char *section, const char *option);
struct words conf_list(const struct cloud *c, const char *section, const char *option, const char *fallback);
int conf_bool(const struct cloud *c, const char *section, const char *option, bool fallback, bool *ret);
int conf_whole(const struct cloud *c, const char *section, const char *option, json_int_t fallback,
               json_int_t *ret);
int conf_number(const struct cloud *c, const char *section, const char *option, double fallback, double *ret);

/* ---- text.c: texts as Python has them ---- */

char *nova_stripped(const char *text, size_t n, const char *blanks, struct arena *a); /* str.strip(blanks) */
void nova_words_add(struct words *w, const char *text, struct arena *a);
bool nova_words_have(const struct words *w, const char *text);
struct words nova_words_split(const char *text, struct arena *a);                 /* str.split() */
struct words nova_parts_split(const char *text, char separator, struct arena *a); /* stripped */
bool nova_python_float(const char *text, struct arena *a, double *ret);           /* float(text) */
bool nova_python_int(const char *text, struct arena *a, json_int_t *ret);         /* int(text) */
const char *nova_python_str(const json_t *value, struct arena *a);                /* str(value); NULL: none */

/* The text as a constant: one that begins with "$" would be a variable. */
const char *nova_constant(const char *text, struct arena *a);

/* Whether a value of `of`, an expression that it takes, is one of the texts. */
json_t *nova_expression_in(json_t *of, const struct words *texts, struct arena *a);

/* ---- extra_specs.c: the operators of extra specs ---- */

/* Whether the value agrees with the requirement: extra_specs_ops.match(). What raises an error is false. */
bool extra_spec_matches(const char *value, const char *requirement, struct arena *a);

/* The same of a variable that is a text. */
json_t *extra_spec_expression(const char *variable, const char *requirement, struct arena *a);

/* The same of an expression that is a whole number, which it takes. NULL: the operator orders it as a text.
 */
json_t *extra_spec_number_expression(json_t *value, const char *requirement, struct arena *a);

/* ---- hosts.c ---- */

int hosts_read(struct cloud *c);

/* Hosts that report no number of instances have as many as are listed. */
void hosts_take_listed(struct cloud *c);

/* Sets an attribute of one host. Takes the value. */
void host_set(struct cloud *c, size_t host, const char *name, json_t *value);

/* The value at the path in the state of a host, which holds it or *ret_parsed, which the caller frees. NULL:
 * none. */
const json_t *host_state_find(const json_t *state, const struct words *path, json_t **ret_parsed);

/* Whether every host's state has a value of this name, be it null. */
bool host_state_has(const char *name);

/* ---- image.c ---- */

/* The image's properties by their present names, as texts; the caller frees them. */
int image_properties_read(const struct cloud *c, const json_t *image, json_t **ret);

/* ---- aggregates.c ---- */

/* Appends the aggregates as groups, and notes their metadata. -EINVAL: a host is no hypervisor's. */
int aggregates_read(struct cloud *c, json_t *groups);

/* ---- filters.c and the files of filters ---- */

/* *ret: the expression; or an object with the members of a stage that counts; NULL: every host passes. */
typedef int filter_compile(struct cloud *c, const struct request *r, json_t **ret);

struct filter {
    const char *name;
    filter_compile *compile;
    filter_compile *count; /* a further stage, of requests for several servers; NULL: none */
    bool on_rebuild;       /* also asked when a server gets another image where it is */
    bool always;           /* also asked of a request that bypasses the scheduler */
};

/* NULL: Nova has no filter of this name, or it is not compiled here. */
const struct filter *filter_find(const char *name);

/* Whether [filter_scheduler] available_filters has every filter of the name. */
int filter_check_available(const struct cloud *c, const struct words *enabled);

/* The class of this name among available_filters that is none of Nova's own; NULL: none. */
const char *filter_custom(const struct cloud *c, const char *name);

/* ---- prefilters.c: what Nova asks of the placement service before its filters ---- */

extern const struct filter prefilters[];
extern const size_t n_prefilters;

/* Traits of each host, as the attribute of the snapshot. */
json_t *prefilter_traits(const struct cloud *c, size_t host);

/* ---- quantities.c: resource classes: inventories, and what VMs take ---- */

int quantities_read_inventories(struct cloud *c);

/* Sets what the VM takes. */
int quantities_ask(struct cloud *c, const struct request *r);

/* Appends the stages of all resource classes. */
void quantities_add_stages(struct cloud *c, json_t *stages);

/* Quantities of a host. taken: {class: {"on": n, "off": n}} of the listed servers there; NULL: none. */
json_t *quantities_of_host(const struct cloud *c, size_t host, const json_t *taken);

/* The greatest allocation ratio of memory. */
double quantities_mem_ratio(const struct cloud *c);

/* Adds what the server's VM takes to `taken` of its node. */
void quantities_take(json_t *taken, const json_t *vm, bool on);

filter_compile nova_filter_extra_specs, nova_filter_image_isolation, nova_filter_tenants, nova_filter_type,
    nova_filter_zone;
filter_compile nova_filter_capabilities;
filter_compile nova_filter_image, nova_filter_isolated_hosts;
filter_compile nova_filter_different_host, nova_filter_same_host, nova_filter_cidr, nova_filter_affinity,
    nova_filter_anti_affinity;
filter_compile nova_filter_json;

/* "affinity", "anti-affinity" and so on; "": none. */
const char *hint_group_policy(const json_t *group);

/* ---- numa.c, pci.c, numa_hosts.c: NUMA cells and devices, which the snapshot has, and stages name ---- */

filter_compile nova_filter_numa, nova_filter_pci;

/* Sets the devices that the flavour asks for. */
int pci_ask(struct cloud *c, const struct request *r);

/* Topologies and pools of all hypervisors. */
int numa_hosts_read(struct cloud *c);

/* As a snapshot has them; the caller frees them. */
json_t *numa_hosts_cells(struct cloud *c, size_t host);
json_t *pci_pools_of_host(struct cloud *c, size_t host);

/* The VM of a listed server that runs has some of its host's cells and devices: notes which, and takes them
 * from what is used elsewhere. */
void numa_hosts_give(struct cloud *c, json_t *cells, const json_t *server, json_t *vm);
void pci_give(json_t *pools, json_t *vm);

/* ---- consumed.c: what servers consume of their hosts ---- */

enum consumed {
    CONSUMED_RAM,
    CONSUMED_VCPUS, /* what is left of them */
    CONSUMED_VCPUS_USED,
    CONSUMED_DISK,
    CONSUMED_INSTANCES,
    CONSUMED_IO_OPS,
    CONSUMED_PCI,
    CONSUMED_KINDS
};

/* Adds a stage that counts, unless there is one of this name. takes, per: expressions; takes NULL: each
 * counts 1; per, over NULL: not given. */
void consumed_count(json_t *stages, const char *name, const char *takes, const char *per, const char *over);

/* What the host has now, with the servers placed before, as an expression. Adds the stage that counts. */
json_t *consumed_now(struct cloud *c, enum consumed of, json_t *stages);

/* The value of a field of the hosts' states, likewise; NULL: it does not change, or a host has no number
 * there.
 */
json_t *consumed_field(struct cloud *c, const char *field);

/* Sets what the VM takes, and the server group with which it is counted. */
void consumed_ask(struct cloud *c, const struct request *r);

/* -EINVAL: the flavour's aliases of PCI devices do not say how many. */
int consumed_check_devices(const struct cloud *c, const struct request *r);

/* Whether a host has PCI devices for servers. */
bool consumed_any_devices(struct cloud *c);

/* The attributes that expressions of consumed_now() read; vms: as the snapshot has them. */
int consumed_set(struct cloud *c, const json_t *vms);

/* ---- custom.c: classes of the user's own ---- */

/* The class of a path such as "acme.filters.AcmeFilter"; NULL: it is one of Nova's own, or no path. */
const char *custom_class(const char *path);

/* A stage that asks the external unit with the name of the class; hosts and the VM get what a class reads. */
json_t *custom_filter(struct cloud *c, const struct request *r, const char *class);
json_t *custom_weigher(struct cloud *c, const struct request *r, const char *class);

/* ---- weighers.c ---- */

/* A metric as Nova keeps it: percentages are reported as parts of 1, and kept as whole numbers. */
double weighers_metric_value(const char *name, const json_t *value);

/* Adds the stages of the weighers of nova.conf, and which of the best hosts is taken. */
int weighers_compile(struct cloud *c, const struct request *r, json_t *stages);

#endif
