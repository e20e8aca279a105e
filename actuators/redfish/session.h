/* session.h: a conversation with one Redfish service: the session, and requests with a time limit.
 *
 * The service root is read without credentials and says where sessions are created (where it needs a login
 * itself, they are at the standard's place); every other request carries a session's token. The session is
 * kept as long as the conversation, and the conversation between calls (kept_methods.h): a controller has few
 * sessions. When the service has forgotten the token (401), a GET is repeated once with a new one. A POST is
 * not: another machine may answer at the address by now. A service that has no sessions, or none left, gets
 * user and password with each request. The session ends with the conversation; one that cannot be ended is
 * logged.
 *
 * Requests go to the configured host only; redirects within it are followed. While the service is busy (503,
 * 429), a GET or a login is repeated after the time that it asks for, as long as the call may last.
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

/* Ends a call. The session stays; so does the connection, unless the process has very many. */
void redfish_session_rest(struct redfish_session *t);

struct redfish_reply {
    long status;                  /* 0: no answer came */
    json_t *body;                 /* NULL: empty, or, of what is no GET, not JSON */
    struct redfish_path location; /* "": none */
    char etag[REDFISH_ETAG_MAX];  /* of the resource that was read; "": none */
    unsigned retry_s;             /* Retry-After; 0: none */
    instant_s clock;              /* of the service, as it told it with the answer; 0: it did not */
    bool full;                    /* refused because the service has no session left */
    bool session_ended;           /* a POST was not carried out because of that */
};

static inline void redfish_reply_release(struct redfish_reply *r)
{
    json_decref(r->body);
    r->body = NULL;
}

/* Both log in first where needed. On failure they release nothing of *ret, and set its status, retry_s and
 * full. An unsuccessful answer is an error with the service's own words. A POST is sent once, also where the
 * session turns out to have ended (session_ended; the next request logs in again), and has two
 * thirds of the time that is left for its answer. if_match: an ETag; NULL: none. same_peer: as in
 * http.h, -ESTALE. */
int redfish_get(struct redfish_session *t, const struct redfish_path *path, struct redfish_reply *ret,
                struct err *err);
int redfish_post(struct redfish_session *t, const struct redfish_path *path, const char *body,
                 const char *if_match, bool same_peer, struct redfish_reply *ret, struct err *err);

/* The fingerprint of the service's certificate, as http_fingerprint(). */
const char *redfish_fingerprint(const struct redfish_session *t);

/* The service root, and where its systems are. */
int redfish_root(struct redfish_session *t, struct redfish_reply *ret, struct err *err);
int redfish_systems(struct redfish_session *t, struct redfish_path *ret, struct err *err);

/* Whether the service said that it is busy just now, and did not carry the request out. */
bool redfish_is_busy(const struct redfish_reply *r);
/* Waits as long as the reply asks for. -ETIMEDOUT, at once: the call may not last so long; -ECANCELED. */
int redfish_wait_retry(struct redfish_session *t, const struct redfish_reply *r, unsigned otherwise_s);

/* Waits, at most until the call's time limit. -ETIMEDOUT: no time is left; -ECANCELED: the service stops. */
int redfish_wait(struct redfish_session *t, int64_t ms);

#endif
