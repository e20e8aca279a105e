/* talk.h: a conversation with one Redfish service: the session, and requests with a time limit.
 *
 * The service root is read without credentials and says where sessions are created; every other request
 * carries a session's token. When the service has forgotten the token (401), the request is repeated once
 * with a new one: a request answered with 401 was not executed. Only a service without sessions gets user and
 * password with each request. The session ends with the conversation, because a controller has few of them.
 *
 * Requests go to the configured host only; redirects are not followed.
 */
#ifndef BALLAST_REDFISH_TALK_H
#define BALLAST_REDFISH_TALK_H

#include "actuators/redfish/answer.h"

#include <stdint.h>

struct redfish_talk;

/* No network yet. -EINVAL: the configuration. host stays valid until redfish_talk_free(). */
int redfish_talk_new(const struct power_host *host, struct redfish_talk **ret, struct err *err);
void redfish_talk_free(struct redfish_talk *t); /* logs out; NULL is fine */

/* Begins a call: all its requests share host->timeout_s from now. */
void redfish_talk_begin(struct redfish_talk *t);

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
int redfish_get(struct redfish_talk *t, const struct redfish_path *path, struct redfish_reply *ret,
                struct err *err);
int redfish_post(struct redfish_talk *t, const struct redfish_path *path, const char *body,
                 struct redfish_reply *ret, struct err *err);

/* Where the service's systems are. */
int redfish_systems(struct redfish_talk *t, struct redfish_path *ret, struct err *err);

/* Waits, at most until the call's time limit. -ETIMEDOUT: no time is left; -ECANCELED: the service stops. */
int redfish_wait(struct redfish_talk *t, int64_t ms);

#endif
