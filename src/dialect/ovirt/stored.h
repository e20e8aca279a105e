/* stored.h: the scheduling policies that a service keeps, and what oVirt's REST API does to them.
 *
 * The document is JSON: {"scheduling_policies": [...], "clusters": [{"scheduling_policy": {"id"},
 * "custom_scheduling_policy_properties": [...]}]}, in REST's words of version 4. Its policies are whole: none
 * is a clone of another. The built-in ones are not in it. `units` are those of the configuration, as
 * scheduling_policy_units: id, name, type ("filter", "weight", "load_balancing"). Lists are plain arrays. */
#ifndef BALLAST_DIALECT_OVIRT_STORED_H
#define BALLAST_DIALECT_OVIRT_STORED_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/inventory.h>

#include <jansson.h>

/* Without a policy of its own, and none attached. The caller frees it. */
json_t *stored_new(void);

/* What may be read: {"scheduling_policies", "scheduling_policy_units", "clusters"}, each policy with its
 * units, properties and `locked`. The caller frees it. NULL: the document is wrong, and why. */
json_t *stored_show(const json_t *document, const json_t *units, struct err *err);

/* A change, as a request has it: "POST", "PUT" or "DELETE"; the path without the API's own, such as
 * "schedulingpolicies/ID/filters"; the element of the body, NULL: none. */
struct stored_request {
    const char *method, *path;
    const json_t *is;
};

/* What is answered: the status, and the element with its kind, NULL: only that it is done. `told`: what was
 * changed, a sentence. The arena has the texts, and *is must be freed. */
struct stored_answer {
    int status;
    const char *kind;
    json_t *is;
    const char *told;
};

/* The document after the change, in *ret; the caller frees it. It is checked as a whole. -EINVAL: what is
 * wrong, -ENOENT: no such object, -EEXIST: in use; the sentence is for the fault's detail. */
int stored_change(const json_t *document, const json_t *units, const struct stored_request *asked,
                  struct arena *a, json_t **ret, struct stored_answer *answer, struct err *err);

/* The pipeline of the policy that is attached, in the arena. 1: there is one, 0: none is attached. *agrees: a
 * weight wants what its balance does. */
int stored_pipeline(const json_t *document, const json_t *units, double mem_overcommit, struct arena *a,
                    struct seen_pipeline *ret, bool *agrees, struct err *err);

#endif
