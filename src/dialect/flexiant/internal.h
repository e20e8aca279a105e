/* internal.h: a cloud as it was read, and what the files of this folder share. */
#ifndef BALLAST_DIALECT_FLEXIANT_INTERNAL_H
#define BALLAST_DIALECT_FLEXIANT_INTERNAL_H

#include "dialect/flexiant/flexiant.h"

#include <ballast/expression.h>
#include <ballast/field.h>

#define HIDDEN_SPECIAL '#'  /* begins the keys that are computed */
#define HIDDEN_RESERVED '_' /* begins the keys of nodes that customers' keys are compared with */
#define KEY_NAME_MAX 200

/* Begins the attribute of a host, or the hint of a VM, that holds the value of a key. */
#define KEY_PREFIX "key."

/* Begins the hint of a VM that holds the value of its copy of a sticky key. */
#define COPY_PREFIX "copy."

/* Begins the attribute of a host that holds the weight of a sticky key, or the hint of a VM with that of its
 * copy. */
#define STICKY_PREFIX "sticky."

/* In whose section of a resource the key stands. */
enum key_owner { KEY_SYSTEM, KEY_BILLING_ENTITY, KEY_CUSTOMER };

struct placement_key {
    const char *name;
    struct value value; /* absent: of a special key only, 0 */
    double weight;
    int owner; /* enum key_owner */
    bool owner_given;
    bool sticky; /* of nodes only */
};

enum cloud_kind {
    CLUSTERS,
    NODES,
    BILLING_ENTITIES,
    CUSTOMERS,
    PRODUCT_OFFERS,
    IMAGES,
    VDCS,
    NETWORKS,
    SERVERS,
    CLOUD_KINDS
};

/* Everything that has keys begins with these. */
struct keyed {
    const char *id;
    struct objects keys; /* struct placement_key */
};

struct cluster {
    struct keyed r;
    bool local_storage;
};

struct node_of_cloud {
    struct keyed r;
    const char *name, *cluster;
    int stopped;
    double ram_mb, ram_ratio, cpus, cpu_ratio, free_ram_mb, load;
};

struct billing_entity {
    struct keyed r;
    bool master;
};

/* A customer, an image, a virtual data centre, a network. */
struct owned {
    struct keyed r;
    const char *product_offer, *billing_entity, *customer, *cluster; /* NULL: it has none */
};

struct disk {
    struct keyed r;
    const char *product_offer, *node;
};

struct nic {
    struct keyed r;
    const char *product_offer, *network;
};

struct server {
    struct keyed r;
    const char *name, *vdc, *image, *product_offer, *node;
    double ram_mb;
    uint32_t cpus;
    int running;
    struct objects disks, nics;
    struct objects sticky_keys;  /* copied from the node at the last start */
    struct objects started_keys; /* the customer's compiled keys of the last start: names and values */
    bool started_known;
    double cpus_used, ram_used_mb; /* as measured; balancing needs it */
    bool cpus_used_known, ram_used_known;
};

struct cloud_settings {
    double ram_ratio, cpu_ratio, ram_overhead_mb, initial_msav, final_msav;
    uint32_t msav_steps, seed;
};

struct cloud {
    const char *name, *time;
    struct cloud_settings settings;
    struct objects lists[CLOUD_KINDS];
    const struct keyed **sorted[CLOUD_KINDS]; /* by id */
    struct arena *a;
    struct err *err;
};

/* ---- read.c ---- */

/* Reads and checks the whole cloud. */
int flexiant_read(const json_t *json, struct arena *a, struct cloud *ret, struct err *err);

/* The resource with this id; NULL: there is none, or id is NULL. */
const void *flexiant_find(const struct cloud *c, enum cloud_kind kind, const char *id);

/* The ith of a list. */
const void *flexiant_item(const struct cloud *c, enum cloud_kind kind, uint32_t i);

/* ---- keys.c ---- */

/* Whether these keys may stand on a resource of this kind, at this JSON pointer. Disks and NICs: SERVERS. */
int keys_check(const struct cloud *c, const struct keyed *r, enum cloud_kind kind, bool master,
               const char *pointer);

/* Keys of nodes: numbers, no owner, and the same names on all nodes of a cluster. */
int keys_check_nodes(const struct cloud *c);

/* Keys that a server was given at its last start: at this JSON pointer. */
int keys_check_copies(const struct cloud *c, const struct objects *keys, const char *pointer);

struct compiled_key {
    const char *name;
    double value, weight;
    bool own;  /* of the server's level or a lower one */
    bool copy; /* if the server has a copy of the sticky key, the copy counts instead */
};

/* By name, each once. */
struct compiled_keys {
    struct compiled_key *items;
    uint32_t n;
    size_t cap;
};

struct server_keys {
    struct compiled_keys system;
    struct compiled_keys customer; /* with those of the billing entity */
};

/* The lowest of the sixteen levels counts. */
struct server_keys keys_compile(const struct cloud *c, const struct server *s);

/* The value of the node's key; false: it has none with this name. */
bool keys_of_node(const struct node_of_cloud *n, const char *name, double *ret);

/* ---- stages.c ---- */

/* The stages by which the server is placed. -EINVAL: it has more keys than a pipeline has stages for. */
int stages_compile(const struct cloud *c, const struct server *s, json_t **ret);

/* The cluster of a server. */
const struct cluster *flexiant_cluster(const struct cloud *c, const struct server *s);

/* What the sum of the configured memory of servers on the node may be, with the overhead still left. */
double stages_ram_limit(const struct cloud *c, const struct node_of_cloud *n);

double stages_ram_ratio(const struct cloud *c, const struct node_of_cloud *n);
double stages_cpu_ratio(const struct cloud *c, const struct node_of_cloud *n);

#endif
