/* session.h: a conversation with one Redfish service: the session, and requests with a time limit.
 *
 * The service root is read without credentials and says where sessions are created; every other request
 * carries a session's token. When the service has forgotten the token (401), the request is repeated once
 * with a new one: a request answered with 401 was not executed. Only a service without sessions gets user and
 * password with each request. The session ends with the conversation, because a controller has few of them.
 *
 * Requests go to the configured host only; redirects are not followed.
 */
#ifndef BALLAST_REDFISH_SESSION_H
#define BALLAST_REDFISH_SESSION_H

#include "actuators/redfish/answer.h"

#include <stdint.h>

struct redfish_session;

/* No network yet. -EINVAL: the configuration. host stays valid until redfish_session_free(). */
int redfish_session_new(const struct power_host *host, struct redfish_session **ret, struct err *err);
void redfish_session_free(struct redfish_session *t); /* logs out; NULL is fine */

/* Begins a call: all its requests share host->timeout_s from now. */
void redfish_session_begin(struct redfish_session *t);

struct redfish_reply {
    long status;                  /* 0: no answer came */
    json_t *body;                 /* NULL: empty, or, of what is no GET, not JSON */
    struct redfish_path location; /* "": none */
    unsigned retry_s;             /* Retry-After; 0: none */
};

static inline void redfish_reply_release(struct redfish_reply *r)
{
    json_decref(r->body);
    r->body = NULL;
}

/* Both log in first where needed. On failure they release nothing of *ret, and set its status. An
 * unsuccessful answer is an error with the service's own words. `once` must not arrive twice. */
int redfish_get(struct redfish_session *t, const struct redfish_path *path, struct redfish_reply *ret,
                struct err *err);
int redfish_post(struct redfish_session *t, const struct redfish_path *path, const char *body,
                 struct redfish_reply *ret, struct err *err);

/* Where the service's systems are. */
int redfish_systems(struct redfish_session *t, struct redfish_path *ret, struct err *err);

/* Waits, at most until the call's time limit. -ETIMEDOUT: no time is left; -ECANCELED: the service stops. */
int redfish_wait(struct redfish_session *t, int64_t ms);

#endif
