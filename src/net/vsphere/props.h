/* vsphere/props.h: reading properties of managed objects through the PropertyCollector.
 *
 * One RetrievePropertiesEx reads whatever a set of traversal specs reaches from one object; what does not fit
 * into one answer comes in pages. Objects are handed over one by one while their page is in memory, so that a
 * cluster of any size costs one page.
 *
 * Source: vSphere Web Services API, PropertyCollector, PropertyFilterSpec, TraversalSpec.
 */
#ifndef BALLAST_NET_VSPHERE_PROPS_H
#define BALLAST_NET_VSPHERE_PROPS_H

#include "net/vsphere/session.h"

struct vsphere_object {
    const char *type, *value; /* "VirtualMachine", "vm-42" */
    const xml_node *content;  /* its ObjectContent */
};

/* The value of a property as it was asked for, or NULL: not set, not readable, or not asked for. */
const xml_node *vsphere_prop(const struct vsphere_object *o, const char *path);

/* What receives the objects. begin is called first, and again when everything starts anew because the session
 * expired between two pages: it drops what was gathered. object returns 0, or an error that ends the reading.
 * Everything that o points to is gone after the call. */
struct vsphere_reader {
    void (*begin)(void *ctx);
    int (*object)(void *ctx, const struct vsphere_object *o, struct err *err);
    void *ctx;
};

/* Which properties of which type; paths is NULL at the end. */
struct vsphere_wanted {
    const char *type;
    const char *const *paths;
};

/* Objects that are reached from the start: of `type`, along `path`, and from there on by the steps that
 * `then` names. */
struct vsphere_step {
    const char *name, *type, *path;
    const char *const *then; /* names of steps, NULL at the end; NULL: none */
};

struct vsphere_query {
    const char *start_type, *start;
    bool skip_start;
    const struct vsphere_wanted *wanted;
    size_t n_wanted;
    const struct vsphere_step *steps; /* all of them, each once, by name */
    size_t n_steps;
    const char *const *first; /* names of the steps from the start; NULL: none */
    unsigned page;            /* objects an answer; 0: as the peer likes */
};

/* Errors of vsphere_call(), of reader->object, and -EFBIG: more objects than a cluster can have. */
int vsphere_retrieve(struct vsphere *v, const struct vsphere_query *q, const struct vsphere_reader *reader,
                     struct err *err);

/* Takes one answer apart (payload of RetrievePropertiesExResponse or its Continue sibling); ret_token is ""
 * at the last page. -EKEYEXPIRED: properties are missing because nobody is logged in. */
int vsphere_read_page(const xml_node *payload, const struct vsphere_reader *reader, char *ret_token,
                      size_t token_size, size_t *count, struct err *err);

/* A few properties of one object. ret_object points into ret_answer, which the caller releases, and into a.
 * -ENOENT: there is no such object. */
int vsphere_get(struct vsphere *v, const char *type, const char *value, const char *const *paths,
                struct arena *a, struct soap_answer *ret_answer, struct vsphere_object *ret_object,
                struct err *err);

#endif
