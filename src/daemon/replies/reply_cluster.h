/* reply_cluster.h: hosts, VMs and pools as JSON. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_CLUSTER_H
#define BALLAST_DAEMON_REPLIES_REPLY_CLUSTER_H

#include "base/json_writer.h"
#include "engine/engine.h"
#include "request/request.h"

/* Of the newest inventory, which there must be. The member "hosts", "vms" or "pools" of the object that is
 * open, by the request's kind: each with demand and entitlement, by name (base/natural.h). */
void reply_cluster_put(struct json_writer *w, const struct engine *e, enum request_kind kind);

/* "waking": the method that is being tried to wake the host, and why not another; null: it is not being
 * woken.
 */
void reply_cluster_put_waking(struct json_writer *w, const struct engine *e, const char *host);

#endif
