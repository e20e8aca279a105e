/* find_cluster.h: the managed object id of the cluster that the configuration means. */
#ifndef BALLAST_COLLECTORS_VSPHERE_FIND_CLUSTER_H
#define BALLAST_COLLECTORS_VSPHERE_FIND_CLUSTER_H

#include "net/vsphere/session.h"

#define CLUSTER_ID_MAX 128

/* `wanted` is a name, a path (/Datacenter/host/folder/name, as vCenter writes the names: a slash within one
 * is %2f) or an id (domain-c8); NULL or "": the only cluster. -EINVAL: several clusters are meant, the error
 * lists their paths; -ENOENT: none that this user may see. */
int find_cluster(struct vsphere *v, const char *wanted, char ret[CLUSTER_ID_MAX], struct err *err);

/* Whether the text is the id of a cluster, which needs no search: searching takes the right to read the
 * folders above the cluster. */
bool find_cluster_is_id(const char *wanted);

struct cluster_place {
    const char *path, *id;
};

/* All clusters that the user may see, with their paths. Errors of vsphere_call(). */
int find_cluster_list(struct vsphere *v, struct arena *a, struct cluster_place **ret, size_t *ret_n,
                      struct err *err);

#endif
