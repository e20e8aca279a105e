/* vs_rest.h: requests to vCenter's other API, JSON over HTTP ("vSphere Automation API"), which alone has the
 * tags.
 *
 * It has sessions of its own. One is made for a reading and ended after it, so none is left to expire. The
 * paths are those of vSphere 6.5 to 8.0 below /rest, and where the peer has none, those below /api (from 7.0
 * U2 on). */
#ifndef BALLAST_COLLECTORS_VSPHERE_REST_H
#define BALLAST_COLLECTORS_VSPHERE_REST_H

#include "net/vsphere/session.h"

#include <jansson.h>

struct vs_rest;

/* Logs in; cfg and v are borrowed until vs_rest_free(). All requests end by deadline_ms. -EACCES: the peer
 * did not accept the password, or not a while ago; -ENOTSUP: the peer has no such API; else errors of
 * vs_rest_get(). */
int vs_rest_new(const struct source_config *cfg, struct vsphere *v, int64_t deadline_ms, struct vs_rest **ret,
                struct err *err);
void vs_rest_free(struct vs_rest *r); /* NULL is fine. Logs out, within 2 s */

/* A request to the services below cis/tagging: object "tag", "category" or "tag-association"; GET of an id,
 * or POST of a body with an action. The caller releases *ret with json_decref(). -EACCES (the session is
 * gone), -EPERM, -ENOENT: the peer refuses it, or has no such object; -EPROTO: its answer is no JSON; errors
 * of http_send(). */
int vs_rest_get(struct vs_rest *r, const char *object, const char *id, json_t **ret, struct err *err);
int vs_rest_post(struct vs_rest *r, const char *object, const char *action, const json_t *body, json_t **ret,
                 struct err *err);

#endif
