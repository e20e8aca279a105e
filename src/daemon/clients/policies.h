/* policies.h: the scheduling policies of oVirt that a service keeps, and the one that is attached to its
 * cluster.
 *
 * They are a note of the store. The attached one is one more entry of `pipelines` for all VMs, before those
 * of the configuration, which therefore count for the VMs that they select. */
#ifndef BALLAST_DAEMON_CLIENTS_POLICIES_H
#define BALLAST_DAEMON_CLIENTS_POLICIES_H

#include "base/strbuf.h"
#include "config/config.h"
#include "request/request.h"

#include <jansson.h>

struct store;

struct policies {
    struct store *store;
    json_t *document, *units;
    char broken[ERR_TEXT_MAX];   /* why the note cannot be read: nothing is changed then; "": it can */
    struct arena memory, former; /* of the overlay in force, and of the one before it */
    struct overlay overlay;
    bool attached;
};

/* Reads the note. -EIO: the store cannot be read; policies that cannot be read are told, and none is
 * attached. */
int policies_open(struct policies *p, struct store *store, const struct config *c, struct err *err);
void policies_close(struct policies *p);

/* After a change of the configuration. Nothing that was given before is used any more at the next call. */
void policies_configure(struct policies *p, const struct config *c);

/* The configuration's own while no policy is attached. */
const struct overlay *policies_overlay(const struct policies *p, const struct config *c);

/* {"ok": true, "policies": {...}} */
int policies_reply(const struct policies *p, const struct config *c, struct strbuf *out, struct err *err);

/* Makes the change, keeps it, and answers. *told: what was changed, and policies_overlay() has it; NULL:
 * nothing. -EINVAL, -ENOENT, -EEXIST: stored_change(); -EIO: it could not be kept. */
int policies_change(struct policies *p, const struct config *c, const struct request *q, struct arena *a,
                    const char **told, struct strbuf *out, struct err *err);

#endif
