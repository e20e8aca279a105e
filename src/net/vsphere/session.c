/* session.c: logs in to a vCenter, renews the session, and maps SOAP faults to errno. */
#include "net/vsphere/session.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/peer_identities.h"
#include "base/secret.h"
#include "base/xalloc.h"
#include "net/login_guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOGOUT_MS 2000
#define TIMEOUT_DEFAULT_S 60
#define SLEEP_PIECE_MS 100

/* The oldest API version with all calls used here; requested until the peer's version is known. */
#define ACTION_OLDEST "urn:vim25/6.0"

struct vsphere {
    const struct source_config *cfg;
    struct http_session *http;
    struct login_guard *guard;     /* that of all sessions of the source, or own_guard */
    struct login_guard *own_guard; /* NULL: the source has one */
    char action[64];
    bool logged_in;
    bool joined; /* a connection in the session of another */
    int64_t deadline_ms;
    struct vsphere_content content;
    struct soap_fault fault;
};

static const struct {
    const char *type;
    int code;
} fault_codes[] = {
    {"InvalidLogin", -EACCES},          {"NotAuthenticated", -EKEYEXPIRED}, {"NoPermission", -EPERM},
    {"ManagedObjectNotFound", -ENOENT}, {"TaskInProgress", -EBUSY},         {"NotSupported", -ENOTSUP},
    {"NotImplemented", -ENOTSUP},       {"MethodNotFound", -ENOTSUP},       {"HostNotConnected", -EHOSTDOWN},
    {"HostNotReachable", -EHOSTDOWN},   {"HostCommunication", -EHOSTDOWN},
};

int vsphere_new(const struct source_config *cfg, struct vsphere **ret, struct err *err)
{
    int r = http_url_check(cfg->url, err);

    if (r < 0)
        return r;
    if (!cfg->username || !cfg->username[0])
        return err_set(err, -EINVAL, "the username is missing");
    if (!cfg->password || !cfg->password[0])
        return err_set(err, -EINVAL, "the password is missing (password_file)");
    struct vsphere *v = xcalloc(1, sizeof *v);
    struct http_options options = {.ca_file = cfg->ca_file, .tls_verify = cfg->tls_verify, .stop = cfg->stop};

    r = http_session_new(&options, &v->http, err);
    if (r < 0) {
        free(v);
        return r;
    }
    v->guard = cfg->shared ? cfg->shared : (v->own_guard = login_guard_new(false));
    v->cfg = cfg;
    (void)snprintf(v->action, sizeof v->action, "%s", ACTION_OLDEST);
    vsphere_deadline_from_config(v);
    if (strncasecmp(cfg->url, "http:", 5) == 0)
        log_warning("%s is not encrypted: the password is sent in clear text", cfg->url);
    *ret = v;
    return 0;
}

int vsphere_new_connection(const struct vsphere *v, struct vsphere **ret, struct err *err)
{
    struct http_options options = {
        .ca_file = v->cfg->ca_file, .tls_verify = v->cfg->tls_verify, .stop = v->cfg->stop};
    struct vsphere *c = xcalloc(1, sizeof *c);
    int r = http_session_new(&options, &c->http, err);

    if (r < 0) {
        free(c);
        return r;
    }
    c->cfg = v->cfg;
    c->joined = true;
    *ret = c;
    return 0;
}

void vsphere_connect_to_session(struct vsphere *connection, const struct vsphere *v)
{
    http_share(connection->http, v->http);
    memcpy(connection->action, v->action, sizeof connection->action);
    connection->content = v->content;
    connection->deadline_ms = v->deadline_ms;
    connection->logged_in = v->logged_in;
}

const char *vsphere_url(const struct vsphere *v)
{
    return v->cfg->url;
}

const struct vsphere_content *vsphere_content(const struct vsphere *v)
{
    return &v->content;
}

bool vsphere_is_logged_in(const struct vsphere *v)
{
    return v->logged_in;
}

const struct soap_fault *vsphere_fault(const struct vsphere *v)
{
    return &v->fault;
}

void vsphere_deadline_from_config(struct vsphere *v)
{
    unsigned timeout_s = v->cfg->timeout_s ? v->cfg->timeout_s : TIMEOUT_DEFAULT_S;

    v->deadline_ms = net_now_ms() + (int64_t)timeout_s * 1000;
}

int vsphere_sleep(const struct vsphere *v, int64_t ms, struct err *err)
{
    const int64_t until = net_now_ms() + ms;

    if (until > v->deadline_ms)
        return err_set(err, -ETIMEDOUT, "%s: no time was left for the request", v->cfg->url);
    for (int64_t now = net_now_ms(); now < until; now = net_now_ms()) {
        int64_t piece = until - now < SLEEP_PIECE_MS ? until - now : SLEEP_PIECE_MS;
        const struct timespec t = {.tv_sec = 0, .tv_nsec = (long)piece * 1000000L};

        if (v->cfg->stop && atomic_load(v->cfg->stop))
            return err_set(err, -ECANCELED, "%s: cancelled, because the service stops", v->cfg->url);
        (void)nanosleep(&t, NULL);
    }
    return 0;
}

void vsphere_address(const struct vsphere *v, char ret[HTTP_ADDRESS_MAX])
{
    http_address(v->http, ret);
}

void vsphere_expired(struct vsphere *v)
{
    v->logged_in = false;
    http_forget(v->http);
}

void vsphere_put_ref(struct strbuf *b, const char *name, const char *type, const char *value)
{
    strbuf_printf(b, "<%s type=\"%s\">", name, type);
    soap_put_escaped(b, value);
    strbuf_printf(b, "</%s>", name);
}

void vsphere_begin(struct strbuf *b, const char *method, const char *type, const char *value)
{
    strbuf_printf(b, "<%s xmlns=\"" VIM_NS "\">", method);
    vsphere_put_ref(b, "_this", type, value);
}

void vsphere_end(struct strbuf *b, const char *method)
{
    strbuf_printf(b, "</%s>", method);
}

static int fault_error(struct vsphere *v, const char *method, struct err *err)
{
    const struct soap_fault *f = &v->fault;

    if (f->privilege[0] && strcmp(f->type, "NoPermission") == 0)
        return err_set(err, -EPERM, "%s: %s was refused: %s lacks the privilege %s", v->cfg->url, method,
                       v->cfg->username, f->privilege);
    for (size_t i = 0; i < sizeof fault_codes / sizeof fault_codes[0]; i++) {
        if (strcmp(f->type, fault_codes[i].type) == 0)
            return err_set(err, fault_codes[i].code, "%s: %s was refused: %s (%s)", v->cfg->url, method,
                           f->text[0] ? f->text : "no reason given", f->type);
    }
    return err_set(err, -EREMOTEIO, "%s: %s was refused: %s (%s)", v->cfg->url, method,
                   f->text[0] ? f->text : "no reason given", f->type[0] ? f->type : "a fault without a type");
}

/* Whether the method starts a task: all such methods end in _Task. */
static bool starts_task(const char *method)
{
    size_t len = strlen(method);

    return len > 5 && strcmp(method + len - 5, "_Task") == 0;
}

/* What begins or ends a session. A login whose answer is not awaited leaves one behind. */
static bool is_of_session(const char *method)
{
    return strcmp(method, "Login") == 0 || strcmp(method, "Logout") == 0;
}

/* Sends one request and reads the answer; no login. */
static int exchange(struct vsphere *v, const char *method, const struct strbuf *body, struct soap_answer *ret,
                    struct err *err)
{
    struct soap_endpoint e = {.http = v->http,
                              .url = v->cfg->url,
                              .action = v->action,
                              .once = starts_task(method),
                              .after_stop_ms = is_of_session(method) ? LOGOUT_MS : 0};
    struct soap_answer answer = {0};
    char expected[80];
    int r = soap_call(&e, method, body, v->deadline_ms, &answer, err);

    if (r < 0)
        return r;
    (void)snprintf(expected, sizeof expected, "%sResponse", method);
    if (answer.fault.present) {
        v->fault = answer.fault;
        r = fault_error(v, method, err);
    } else if (!xml_is(answer.payload, expected)) {
        r = err_set(err, -EPROTO, "%s: %s was answered with <%.60s>, expected <%s>", v->cfg->url, method,
                    xml_name(answer.payload), expected);
    }
    if (r < 0)
        soap_answer_release(&answer);
    else
        *ret = answer;
    return r;
}

/* Chooses the newest version that both sides support. 7.0 is the newest that has a property used here. */
static void choose_version(struct vsphere *v)
{
    unsigned major = 0;
    unsigned minor = 0;

    if (sscanf(v->content.api_version, "%3u.%3u", &major, &minor) != 2)
        return;
    if (major >= 7)
        (void)snprintf(v->action, sizeof v->action, "urn:vim25/7.0");
    else if (major == 6 && minor > 7) /* vCenters of cloud services report versions between 6.7 and 7.0 */
        (void)snprintf(v->action, sizeof v->action, "urn:vim25/6.7");
    else
        (void)snprintf(v->action, sizeof v->action, "urn:vim25/%u.%u", major, minor);
}

static int read_content(struct vsphere *v, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_content c = {0};
    char api_type[32], uuid[64];

    vsphere_begin(&body, "RetrieveServiceContent", "ServiceInstance", "ServiceInstance");
    vsphere_end(&body, "RetrieveServiceContent");
    (void)snprintf(v->action, sizeof v->action, "%s", ACTION_OLDEST);
    int r = exchange(v, "RetrieveServiceContent", &body, &answer, err);
    if (r < 0)
        return r;
    const xml_node *n = xml_child(answer.payload, "returnval");
    xml_line(xml_child(n, "rootFolder"), c.root_folder, sizeof c.root_folder);
    xml_line(xml_child(n, "propertyCollector"), c.property_collector, sizeof c.property_collector);
    xml_line(xml_child(n, "sessionManager"), c.session_manager, sizeof c.session_manager);
    xml_line(xml_child(n, "perfManager"), c.perf_manager, sizeof c.perf_manager);
    xml_line(xml_child(n, "eventManager"), c.event_manager, sizeof c.event_manager);
    xml_line(xml_child(n, "vmProvisioningChecker"), c.provisioning_checker, sizeof c.provisioning_checker);
    xml_line(xml_child(n, "authorizationManager"), c.authorization_manager, sizeof c.authorization_manager);
    xml_line(xml_child(n, "about/apiVersion"), c.api_version, sizeof c.api_version);
    xml_line(xml_child(n, "about/apiType"), api_type, sizeof api_type);
    xml_line(xml_child(n, "about/instanceUuid"), uuid, sizeof uuid);
    c.is_vcenter = strcmp(api_type, "VirtualCenter") == 0;
    if (!c.root_folder[0] || !c.property_collector[0] || !c.session_manager[0])
        return err_set(err, -EPROTO,
                       "%s: this is no vSphere API: it names no rootFolder, propertyCollector or "
                       "sessionManager",
                       v->cfg->url);
    r = peer_identities_check(v->cfg->identities, "vCenter", uuid, err);
    if (r < 0)
        return err_widen(err, "%s", v->cfg->url);
    v->content = c;
    choose_version(v);
    return 0;
}

static int send_login(void *ctx, const char *password, bool *ret_refused, struct err *err)
{
    struct vsphere *v = ctx;
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};

    http_forget(v->http);
    int r = read_content(v, err);
    if (r < 0)
        return r;
    vsphere_begin(&body, "Login", "SessionManager", v->content.session_manager);
    soap_put_text(&body, "userName", v->cfg->username);
    soap_put_text(&body, "password", password);
    vsphere_end(&body, "Login");
    r = exchange(v, "Login", &body, &answer, err);
    explicit_bzero(body.text, body.len);
    *ret_refused = r == -EACCES || r == -EKEYEXPIRED;
    return *ret_refused ? -EACCES : r;
}

/* The login was refused, now or before. */
static int say_refused(const struct vsphere *v, int64_t left_s, struct err *err)
{
    return err_set(err, -EACCES,
                   "%s: the login of %s was refused: user name or password are wrong; the next try is in "
                   "%lld min, or once password_file has changed",
                   v->cfg->url, v->cfg->username, (long long)(left_s + 59) / 60);
}

int vsphere_guarded_login(struct vsphere *v, int64_t deadline_ms,
                          int (*send)(void *ctx, const char *password, bool *ret_refused, struct err *err),
                          void *ctx, struct err *err)
{
    char password[SECRET_MAX + 1];
    bool refused = false;
    int64_t left_s = 0;

    secret_now(v->cfg->password_file, v->cfg->password, "password", password);
    int r = login_guard_begin(v->guard, password, net_now_ms(), deadline_ms, v->cfg->stop, &left_s);
    if (r == 0) {
        r = send(ctx, password, &refused, err);
        left_s = login_guard_end(v->guard, password, r == 0, refused, net_now_ms());
    } else if (r == -EACCES) {
        refused = true;
    } else {
        (void)err_set(err, r, "%s: another login is under way and has not ended in time", v->cfg->url);
    }
    explicit_bzero(password, sizeof password);
    return refused ? say_refused(v, left_s, err) : r;
}

int vsphere_login(struct vsphere *v, struct err *err)
{
    if (v->logged_in)
        return 0;
    if (v->joined)
        return err_set(err, -EKEYEXPIRED, "%s: the session has expired", v->cfg->url);
    int r = vsphere_guarded_login(v, v->deadline_ms, send_login, v, err);
    v->logged_in = r == 0;
    if (r == 0)
        log_debug("%s: logged in as %s, API %s", v->cfg->url, v->cfg->username, v->content.api_version);
    return r;
}

int vsphere_call_once(struct vsphere *v, const char *method, const struct strbuf *body,
                      struct soap_answer *ret, struct err *err)
{
    int r = vsphere_login(v, err);

    if (r < 0)
        return r;
    r = exchange(v, method, body, ret, err);
    if (r == -EKEYEXPIRED)
        vsphere_expired(v);
    return r;
}

int vsphere_call(struct vsphere *v, const char *method, const struct strbuf *body, struct soap_answer *ret,
                 struct err *err)
{
    int r = vsphere_call_once(v, method, body, ret, err);

    if (r == -EKEYEXPIRED)
        r = vsphere_call_once(v, method, body, ret, err);
    return r;
}

void vsphere_free(struct vsphere *v)
{
    if (!v)
        return;
    if (v->logged_in && !v->joined) {
        CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
        CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};

        vsphere_begin(&body, "Logout", "SessionManager", v->content.session_manager);
        vsphere_end(&body, "Logout");
        v->deadline_ms = net_now_ms() + LOGOUT_MS;
        (void)exchange(v, "Logout", &body, &answer, NULL);
    }
    http_session_free(v->http);
    login_guard_free(v->own_guard);
    free(v);
}
