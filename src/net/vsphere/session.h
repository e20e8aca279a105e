/* vsphere/session.h: a session with a vCenter or an ESXi host, for collector and actuator.
 *
 * The first vsphere_call() logs in. When the peer reports an expired session, the call logs in again and is
 * repeated once; this is safe, because the peer did not carry out the refused call. Session state at the peer
 * (the token of a paged answer) is lost with the session: vsphere_call_once() then returns -EKEYEXPIRED and
 * the caller starts again.
 *
 * Source: vSphere Web Services API 6.5 to 8.0, managed objects ServiceInstance, SessionManager. */
#ifndef BALLAST_NET_VSPHERE_SESSION_H
#define BALLAST_NET_VSPHERE_SESSION_H

#include "net/http.h"
#include "net/soap.h"

#include <ballast/source.h>

#define VIM_NS "urn:vim25"

struct vsphere; /* used by one thread at a time */

/* The peer's service objects, by role; "": the peer has none. */
struct vsphere_content {
    char root_folder[128];
    char property_collector[128];
    char session_manager[128];
    char perf_manager[128];
    char event_manager[128];
    char provisioning_checker[128];
    char authorization_manager[128];
    char api_version[32];
    bool is_vcenter;
};

/* cfg is borrowed until vsphere_free(); cfg->shared is the login_guard of all sessions of the source. NULL:
 * the session has one of its own. -EINVAL: url, username or password is missing or malformed. */
int vsphere_new(const struct source_config *cfg, struct vsphere **ret, struct err *err);
void vsphere_free(struct vsphere *v); /* NULL is fine. Logs out, within 2 s */

const char *vsphere_url(const struct vsphere *v);
/* The address of the peer that answered last; as http_address(). */
void vsphere_address(const struct vsphere *v, char ret[HTTP_ADDRESS_MAX]);
/* Valid from the first successful call until the next login. */
const struct vsphere_content *vsphere_content(const struct vsphere *v);

/* Whether there is a session, as far as is known. */
bool vsphere_is_logged_in(const struct vsphere *v);

/* Sets the deadline of the calls that follow: cfg->timeout_s from now. */
void vsphere_deadline_from_config(struct vsphere *v);

/* Sleeps. -ECANCELED: the service goes down; -ETIMEDOUT: the deadline comes first. */
int vsphere_sleep(const struct vsphere *v, int64_t ms, struct err *err);

/* Logs in unless a session exists, with what password_file holds now. -EACCES: user name or password is
 * wrong, or they were a while ago (login_guard.h). */
int vsphere_login(struct vsphere *v, struct err *err);

/* Another login with the same credentials, for vCenter's other API: `send` gets the password that
 * password_file holds now, and returns 0 or an error; *ret_refused: the peer did not accept the password. The
 * guard of the source keeps it from being sent again too soon, by whichever API. Errors of `send` and of
 * vsphere_login(). */
int vsphere_guarded_login(struct vsphere *v, int64_t deadline_ms,
                          int (*send)(void *ctx, const char *password, bool *ret_refused, struct err *err),
                          void *ctx, struct err *err);

/* Begins a request: <Method xmlns="urn:vim25"><_this type="type">value</_this>. */
void vsphere_begin(struct strbuf *b, const char *method, const char *type, const char *value);
void vsphere_end(struct strbuf *b, const char *method);
/* <name type="type">value</name> */
void vsphere_put_ref(struct strbuf *b, const char *name, const char *type, const char *value);

/* Sends the request. A fault is an error: its type gives the code, vsphere_fault() the whole fault. The
 * caller releases *ret only after 0. -ENOENT ManagedObjectNotFound, -EPERM NoPermission, -EBUSY
 * TaskInProgress, -ENOTSUP NotSupported or an unknown method, -EHOSTDOWN HostNotConnected and similar,
 * -EREMOTEIO any other fault; and the errors of soap_call(). */
int vsphere_call(struct vsphere *v, const char *method, const struct strbuf *body, struct soap_answer *ret,
                 struct err *err);

/* As vsphere_call(), without a second login: -EKEYEXPIRED when the session has expired. */
int vsphere_call_once(struct vsphere *v, const char *method, const struct strbuf *body,
                      struct soap_answer *ret, struct err *err);

/* The fault of the last call that failed with one; .object is the managed object concerned. */
const struct soap_fault *vsphere_fault(const struct vsphere *v);

/* A second connection in the session of `v`, for requests at the same time (parallel.h). It neither logs in
 * nor out: when the session has expired, its calls return -EKEYEXPIRED. It uses the configuration, so it is
 * freed before `v`. */
int vsphere_new_connection(const struct vsphere *v, struct vsphere **ret, struct err *err);
/* Before requests: takes over the present session and deadline of `v`, which is logged in. */
void vsphere_connect_to_session(struct vsphere *connection, const struct vsphere *v);

/* Drops the session, because an answer showed that it has expired. */
void vsphere_expired(struct vsphere *v);

#endif
