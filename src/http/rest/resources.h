/* resources.h: the service's replies as elements of oVirt's REST API, in the neutral form (elements.h).
 *
 * Hosts and VMs have the UUID that their source gave them; else one that follows from the cluster's name and
 * the source's id. That id is kept in the member "own id", which is not written. */
#ifndef BALLAST_HTTP_REST_RESOURCES_H
#define BALLAST_HTTP_REST_RESOURCES_H

#include "base/strbuf.h"
#include "http/list_text.h"
#include "http/rest/elements.h"

#include <jansson.h>
#include <stdbool.h>

/* What the elements are made for. */
struct rest_source {
    const char *cluster; /* its name */
    bool statistics;     /* with those of hosts and VMs */
    bool all;            /* a cluster with the whole of its policy */
    bool below;          /* what stands below an element is asked for: with its lists */
    unsigned version;
};

json_t *rest_api(void);

/* All elements of the collection, of the replies that it needs: hosts; VMs and hosts; else policies. The
 * caller releases them. NULL: no such collection, or no such reply. */
json_t *rest_elements(enum rest_kind kind, struct list_text *const *replies,
                      const struct rest_source *source);

/* An element that a change of policies has answered with. */
json_t *rest_changed(enum rest_kind kind, const json_t *is, const struct rest_source *source);

/* The kind of the list that stands below an element; REST_NONE: none does. */
enum rest_kind rest_kind_of_list(enum rest_kind kind, const char *segment);

/* By the UUID, or the source's id; NULL: there is none. */
const json_t *rest_find(const json_t *list, const char *id);
const char *rest_own_id_of(const json_t *element); /* NULL of NULL */
bool rest_is_cluster(const char *name, const char *id);

/* Why VMs of a placement have no host, host by host, in the engine's words where there are any. */
void rest_put_refusal(const json_t *reply, struct strbuf *out);

#endif
