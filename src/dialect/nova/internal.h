/* internal.h: what the files of the folder share. Expressions are built as JSON (ballast/expression.h); a
 * filter that passes every host gives none. */
#ifndef BALLAST_DIALECT_NOVA_INTERNAL_H
#define BALLAST_DIALECT_NOVA_INTERNAL_H

#include "dialect/nova/nova.h"

#include <stdbool.h>
#include <stddef.h>

#define AGGREGATE "aggregate" /* the kind of groups */
#define ATTRIBUTE "$host.attributes."
#define META "$group.meta."
#define HOST ATTRIBUTE "host"   /* the name of the compute service: Nova's host, of which nodes are parts */
#define COUNT_MAX 1000000000000 /* of GB, and of vCPUs: more is a mistake */

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
    unsigned consumed;   /* 1 << enum consumed: what a stage counts */
};

/* What one VM asks for. Every reference is borrowed. */
struct request {
    const char *id, *project, *zone; /* NULL: not given */
    const char *image_id;
    const json_t *extra_specs; /* of its flavour; NULL: none */
    const char *flavor;        /* its name */
    const json_t *image;       /* the properties by their present names; never NULL */
    const json_t *hints;       /* NULL: none */
    const json_t *group;       /* its server group; NULL: none */
    const json_t *destination; /* requested_destination of a move; NULL: none */
};

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

/* ---- hosts.c ---- */

int hosts_read(struct cloud *c);

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

/* ---- filters.c and the files of filters ---- */

/* *ret: the expression; NULL: every host passes. */
typedef int filter_compile(struct cloud *c, const struct request *r, json_t **ret);

struct filter {
    const char *name;
    filter_compile *compile;
    bool only_place; /* what a move changes: it binds placing only */
};

/* NULL: Nova has no filter of this name, or it is not compiled here. */
const struct filter *filter_find(const char *name);

filter_compile nova_filter_extra_specs, nova_filter_image_isolation, nova_filter_tenants, nova_filter_type,
    nova_filter_zone;
filter_compile nova_filter_capabilities;
filter_compile nova_filter_image, nova_filter_isolated_hosts;
filter_compile nova_filter_different_host, nova_filter_same_host, nova_filter_cidr, nova_filter_affinity,
    nova_filter_anti_affinity;
filter_compile nova_filter_json;

/* The hosts on which any of these servers is. */
struct words hint_hosts(const struct cloud *c, const json_t *ids);

/* "affinity", "anti-affinity" and so on; "": none. */
const char *hint_group_policy(const json_t *group);

/* The most members on one host. */
int hint_group_limit(const struct cloud *c, const json_t *group, json_int_t *ret);

/* ---- consumed.c: what servers consume of their hosts ---- */

enum consumed {
    CONSUMED_RAM,
    CONSUMED_VCPUS,
    CONSUMED_DISK,
    CONSUMED_INSTANCES,
    CONSUMED_IO_OPS,
    CONSUMED_PCI,
    CONSUMED_KINDS
};

/* Adds a stage that counts, unless there is one of this name. takes, per: expressions; takes NULL: each
 * counts 1. */
void consumed_count(json_t *stages, const char *name, const char *takes, const char *per);

/* What the host has now, with the servers placed before, as an expression. Adds the stage that counts. */
json_t *consumed_now(struct cloud *c, enum consumed of, json_t *stages);

/* What a VM of this flavour takes, as attributes; the caller frees them. */
json_t *consumed_by_flavor(const struct cloud *c, const json_t *flavor);

/* -EINVAL: the flavour's aliases of PCI devices do not say how many. */
int consumed_check_devices(const struct cloud *c, const struct request *r);

/* Whether a host has PCI devices for servers. */
bool consumed_any_devices(const struct cloud *c);

/* The attributes that expressions of consumed_now() read; vms: as the snapshot has them. */
int consumed_set(struct cloud *c, const json_t *vms);

/* ---- weighers.c ---- */

/* Adds the stages of the weighers of nova.conf, and which of the best hosts is taken. */
int weighers_compile(struct cloud *c, const struct request *r, json_t *stages);

#endif
