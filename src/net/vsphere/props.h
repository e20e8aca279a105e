/* vsphere/props.h: reads properties of managed objects through the PropertyCollector.
 *
 * One RetrievePropertiesEx reads all objects that a set of traversal specs reaches from one object. A long
 * answer comes in pages; each object is passed on while its page is in memory, so memory is bounded by one
 * page for a cluster of any size.
 *
 * Source: vSphere Web Services API, PropertyCollector, PropertyFilterSpec, TraversalSpec. */
#ifndef BALLAST_NET_VSPHERE_PROPS_H
#define BALLAST_NET_VSPHERE_PROPS_H

#include "net/vsphere/session.h"

struct vsphere_object {
    const char *type, *value; /* "VirtualMachine", "vm-42" */
    const xml_node *content;  /* its ObjectContent */
};

/* The value of the property at this path; NULL: not set, not readable, or not requested. */
const xml_node *vsphere_prop(const struct vsphere_object *o, const char *path);

/* Receives the objects. begin is called first, and again when reading restarts because the session expired
 * between two pages: it drops all objects so far. object returns 0, or an error that ends the reading. *o is
 * valid during the call only. */
struct vsphere_reader {
    void (*begin)(void *ctx);
    int (*object)(void *ctx, const struct vsphere_object *o, struct err *err);
    void *ctx;
};

/* The properties to read of a type; paths ends with NULL. */
struct vsphere_wanted {
    const char *type;
    const char *const *paths;
};

/* One traversal: from objects of `type` along `path`. The steps named in `then` continue from the objects
 * found. */
struct vsphere_step {
    const char *name, *type, *path;
    const char *const *then; /* names of steps, NULL at the end; NULL: none */
};

struct vsphere_query {
    const char *start_type, *start;
    const char *const *starts; /* instead of start: ids of several objects */
    size_t n_starts;
    bool skip_start;
    const struct vsphere_wanted *wanted;
    size_t n_wanted;
    const struct vsphere_step *steps; /* every step once; names are unique */
    size_t n_steps;
    const char *const *first; /* names of the steps that begin at the start; NULL: none */
    unsigned page;            /* objects a page; 0: the peer chooses */
};

/* Errors of vsphere_call(), of reader->object, and -EFBIG: more objects than a cluster can have. */
int vsphere_retrieve(struct vsphere *v, const struct vsphere_query *q, const struct vsphere_reader *reader,
                     struct err *err);

/* Reads one page (the payload of RetrievePropertiesExResponse or ContinueRetrievePropertiesExResponse).
 * ret_token is "" at the last page. -EKEYEXPIRED: properties are missing because the session has expired. */
int vsphere_read_page(const xml_node *payload, const struct vsphere_reader *reader, char *ret_token,
                      size_t token_size, size_t *count, struct err *err);

/* Reads properties of one object, for vsphere_prop(). ret_object points into ret_answer, which the caller
 * releases, and has neither type nor value. -ENOENT: the object does not exist. */
int vsphere_get(struct vsphere *v, const char *type, const char *value, const char *const *paths,
                struct soap_answer *ret_answer, struct vsphere_object *ret_object, struct err *err);

#endif
