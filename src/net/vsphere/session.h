/* vsphere/session.h: a session with a vCenter (or an ESXi host), shared by collector and actuator.
 *
 * Nothing is sent before the first vsphere_call(). It logs in by itself then, and once more when the peer
 * says that the session has expired; a call that was answered so was not carried out, so repeating it is
 * safe. What lives in the peer's session (the token of a paged answer) is lost with it: the caller sees
 * -EKEYEXPIRED from vsphere_call_once() and begins anew.
 *
 * Source: vSphere Web Services API 6.5 to 8.0, managed objects ServiceInstance, SessionManager.
 */
#ifndef BALLAST_NET_VSPHERE_SESSION_H
#define BALLAST_NET_VSPHERE_SESSION_H

#include "net/soap.h"

#include <ballast/source.h>

#define VIM_NS "urn:vim25"

struct vsphere; /* one thread uses it at a time */

/* The peer's own objects, by role. "" for what it does not have. */
struct vsphere_content {
    char root_folder[128];
    char property_collector[128];
    char session_manager[128];
    char perf_manager[128];
    char event_manager[128];
    char api_version[32];
    bool is_vcenter;
};

/* cfg stays valid until vsphere_free(). -EINVAL: url, username or password are missing or malformed. */
int vsphere_new(const struct source_config *cfg, struct vsphere **ret, struct err *err);
void vsphere_free(struct vsphere *v); /* NULL is fine; logs out if that is quick */

const char *vsphere_url(const struct vsphere *v);
/* Valid after the first call that succeeded, until the next login. */
const struct vsphere_content *vsphere_content(const struct vsphere *v);

/* The deadline that cfg->timeout_s gives, counted from now. */
void vsphere_deadline_from_config(struct vsphere *v);

/* Logs in if there is no session. -EACCES: user name or password are wrong. */
int vsphere_login(struct vsphere *v, struct err *err);

/* Begins a request: <Method xmlns="urn:vim25"><_this type="type">value</_this>. */
void vsphere_begin(struct strbuf *b, const char *method, const char *type, const char *value);
void vsphere_end(struct strbuf *b, const char *method);
/* <name type="type">value</name> */
void vsphere_put_ref(struct strbuf *b, const char *name, const char *type, const char *value);

/* Sends it. A fault is an error: its type decides the code, ret->fault tells it in full (released or not, ret
 * is the caller's to release when the call returned 0 only). -ENOENT ManagedObjectNotFound, -EPERM
 * NoPermission, -EBUSY TaskInProgress, -ENOTSUP NotSupported or no such method, -EHOSTDOWN HostNotConnected
 * and its like, -EREMOTEIO any other fault; and the errors of soap_call(). */
int vsphere_call(struct vsphere *v, const char *method, const struct strbuf *body, struct soap_answer *ret,
                 struct err *err);

/* The same without a second login: -EKEYEXPIRED when the session has expired. */
int vsphere_call_once(struct vsphere *v, const char *method, const struct strbuf *body,
                      struct soap_answer *ret, struct err *err);

/* The fault of the last call that ended in one; .object says whom it is about. */
const struct soap_fault *vsphere_fault(const struct vsphere *v);

/* Forgets the session, because an answer showed that it has expired. */
void vsphere_expired(struct vsphere *v);

#endif
