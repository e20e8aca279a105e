/* session.c: addresses, login and requests of a Proxmox VE cluster. It does not know what the answers mean.
 */
#include "net/proxmox/session.h"

#include "base/cleanup.h"
#include "base/peer_identities.h"
#include "base/secret.h"
#include "base/xalloc.h"
#include "net/certificate.h"
#include "net/http.h"
#include "net/login_guard.h"
#include "net/peer_json.h"
#include "net/proxmox/answer.h"
#include "net/proxmox/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BASE "/api2/json"
#define ANSWER_MAX ((size_t)32 * 1024 * 1024)
#define TIMEOUT_DEFAULT_S 60
#define TICKET_MAX 2048
#define CSRF_MAX 256
#define RENEW_MS (INT64_C(3600) * 1000) /* a ticket lives for two hours */
#define ADDRESSES_MAX 64
#define PEERS_TRIED 3       /* of an address behind which several nodes answer in turn */
#define LOGIN_LEAST_MS 5000 /* a refusal takes 3 s, and must be seen lest the password is sent again */

struct pve {
    const struct source_config *cfg;
    struct http_session *http;
    const char *urls[ADDRESSES_MAX];
    size_t n_urls, at; /* at: the address that is asked */
    struct login_guard *guard, *own_guard;
    bool by_token;
    char ticket[TICKET_MAX];                    /* "": none */
    char csrf[CSRF_MAX];                        /* sent with the ticket, in requests that change something */
    char compared[CERTIFICATE_FINGERPRINT_MAX]; /* of the peer whose cluster was compared last; "": none */
    size_t compared_at;                         /* its address */
    bool doubted;                               /* the peer that answered last is another one than that */
    char *wrong[ADDRESSES_MAX]; /* why nothing is asked of the address: it is of another cluster; NULL */
    int64_t ticket_ms;          /* when it was given */
    int64_t deadline_ms;
    unsigned requests, answers;
};

struct question {
    const char *method, *path;
    const char *body;   /* NULL: none */
    const char *secret; /* of the token; NULL: none */
    bool login;
    bool same_peer; /* as in struct http_request */
    int64_t at_most_ms;
};

/* ---- the object ---- */

static int take_addresses(struct pve *p, struct err *err)
{
    const struct proxmox_settings *settings = p->cfg->settings;

    p->urls[p->n_urls++] = p->cfg->url;
    for (const char *const *u = settings ? settings->other_urls : NULL; u && *u; u++) {
        if (p->n_urls == ADDRESSES_MAX)
            return err_set(err, -EINVAL, "more than %d addresses", ADDRESSES_MAX);
        p->urls[p->n_urls++] = *u;
    }
    for (size_t i = 0; i < p->n_urls; i++) {
        int r = http_url_check(p->urls[i], err);
        if (r < 0)
            return r;
        if (strncasecmp(p->urls[i], "https://", 8) != 0)
            return err_set(err, -EINVAL, "%s: expected https://HOST:8006", p->urls[i]);
    }
    return 0;
}

int pve_new(const struct source_config *cfg, struct pve **ret, struct err *err)
{
    const struct proxmox_settings *settings = cfg->settings;
    const bool pinned = settings && settings->fingerprints && settings->fingerprints[0];
    const struct http_options options = {.ca_file = cfg->ca_file,
                                         .tls_verify = true,
                                         .fingerprints = pinned ? settings->fingerprints : NULL,
                                         .stop = cfg->stop};

    if (!cfg->username || !strchr(cfg->username, '@'))
        return err_set(err, -EINVAL, "the username is not USER@REALM or USER@REALM!TOKEN");
    if (!cfg->password || !cfg->password[0])
        return err_set(err, -EINVAL, "the password is missing (password_file)");
    struct pve *p = xcalloc(1, sizeof *p);
    p->cfg = cfg;
    p->by_token = strchr(cfg->username, '!') != NULL;
    p->guard = cfg->shared ? cfg->shared : (p->own_guard = login_guard_new(false));
    int r = take_addresses(p, err);
    if (r == 0)
        r = http_session_new(&options, &p->http, err);
    if (r < 0) {
        pve_free(p);
        return r;
    }
    pve_begin(p);
    *ret = p;
    return 0;
}

void pve_free(struct pve *p)
{
    if (!p)
        return;
    http_session_free(p->http);
    login_guard_free(p->own_guard);
    for (size_t i = 0; i < p->n_urls; i++)
        free(p->wrong[i]);
    explicit_bzero(p->ticket, sizeof p->ticket); /* it cannot be ended at the peer: it expires */
    explicit_bzero(p->csrf, sizeof p->csrf);
    free(p);
}

void pve_begin(struct pve *p)
{
    p->deadline_ms =
        net_now_ms() + 1000 * (int64_t)(p->cfg->timeout_s ? p->cfg->timeout_s : TIMEOUT_DEFAULT_S);
    p->requests = 0;
}

int64_t pve_left_ms(const struct pve *p)
{
    return p->deadline_ms - net_now_ms();
}

unsigned pve_requests(const struct pve *p)
{
    return p->requests;
}

const char *pve_url(const struct pve *p)
{
    return p->urls[p->at];
}

size_t pve_turn(struct pve *p)
{
    p->at = (p->at + 1) % p->n_urls;
    return p->n_urls;
}

/* ---- one request ---- */

static int ask(struct pve *p, const struct question *q, json_t **ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf url = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf login = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf csrf = STRBUF_EMPTY;
    const char *headers[5] = {"Accept: application/json"};
    struct http_answer answer = {0};
    const char *at = p->urls[p->at];
    size_t n = 1, len = strlen(at);

    strbuf_printf(&url, "%.*s" BASE "%s", (int)(len > 0 && at[len - 1] == '/' ? len - 1 : len), at, q->path);
    const bool changes = strcmp(q->method, "GET") != 0;

    if (q->body)
        headers[n++] = "Content-Type: application/x-www-form-urlencoded";
    if (q->login) {
        ; /* the body has the password */
    } else if (q->secret) {
        strbuf_printf(&login, "Authorization: PVEAPIToken=%s=%s", p->cfg->username, q->secret);
        headers[n++] = login.text;
    } else {
        strbuf_puts(&login, "Cookie: PVEAuthCookie=");
        pve_escape(&login, p->ticket);
        headers[n++] = login.text;
        strbuf_printf(&csrf, "CSRFPreventionToken: %s", p->csrf);
        if (changes)
            headers[n++] = csrf.text;
    }
    int64_t until = q->at_most_ms > 0 ? net_now_ms() + q->at_most_ms : p->deadline_ms;
    const struct http_request request = {
        .method = q->method,
        .url = url.text,
        .headers = headers,
        .body = q->body,
        .body_len = q->body ? strlen(q->body) : 0,
        .deadline_ms = until < p->deadline_ms ? until : p->deadline_ms,
        .answer_max = ANSWER_MAX,
        .once = changes, /* nor must a wrong password arrive twice */
        .same_peer = q->same_peer,
    };
    p->requests++;
    int r = http_send(p->http, &request, &answer, err);
    if (login.text)
        explicit_bzero(login.text, login.len);
    if (csrf.text)
        explicit_bzero(csrf.text, csrf.len);
    if (r < 0)
        return r;
    p->answers++;
    p->doubted = p->compared_at != p->at || strcmp(p->compared, http_fingerprint(p->http)) != 0;
    r = pve_answer_read(url.text, &answer, changes && !q->login, ret, err);
    strbuf_release(&answer.body);
    return r;
}

/* ---- the login ---- */

/* It becomes part of a header, escaped. */
static int take_ticket(struct pve *p, const json_t *data, struct err *err)
{
    const char *ticket = peer_json_text(data, "ticket");

    if (peer_json_flag(data, "NeedTFA"))
        return err_set(err, -EACCES,
                       "%s: %s needs a second factor, which a service does not have: use a token", pve_url(p),
                       p->cfg->username);
    if (!ticket || !ticket[0] || strlen(ticket) >= sizeof p->ticket)
        return err_set(err, -EPROTO, "%s: the login was answered without a ticket", pve_url(p));
    const char *csrf = peer_json_text(data, "CSRFPreventionToken");

    (void)snprintf(p->ticket, sizeof p->ticket, "%s", ticket);
    (void)snprintf(p->csrf, sizeof p->csrf, "%s", csrf && !strpbrk(csrf, "\r\n") ? csrf : "");
    p->ticket_ms = net_now_ms();
    return 0;
}

/* With a password, or with a ticket that is still valid in its place. */
static int send_login(struct pve *p, const char *password, int64_t until_ms, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    CLEANUP(json_decrefp) json_t *data = NULL;
    const int64_t left_ms = until_ms - net_now_ms();

    strbuf_puts(&body, "username=");
    pve_escape(&body, p->cfg->username);
    strbuf_puts(&body, "&password=");
    pve_escape(&body, password);
    int r = ask(p,
                &(struct question){.method = "POST",
                                   .path = "/access/ticket",
                                   .body = body.text,
                                   .login = true,
                                   .at_most_ms = left_ms > 0 ? left_ms : 1},
                &data, err);
    explicit_bzero(body.text, body.len);
    return r < 0 ? r : take_ticket(p, data, err);
}

static int say_refused(const struct pve *p, int64_t left_s, struct err *err)
{
    return err_set(err, -EACCES,
                   "%s: the login of %s was refused: user name or password are wrong; the next try is in "
                   "%lld min, or once password_file has changed",
                   pve_url(p), p->cfg->username, (long long)(left_s + 59) / 60);
}

static int log_in(struct pve *p, const char *password, int64_t until_ms, struct err *err)
{
    int64_t left_s = 0;
    int r = login_guard_begin(p->guard, password, net_now_ms(), until_ms, p->cfg->stop, &left_s);

    if (r == -EACCES)
        return say_refused(p, left_s, err);
    if (r < 0)
        return err_set(err, r, "%s: another login is under way and has not ended in time", pve_url(p));
    r = send_login(p, password, until_ms, err);
    left_s = login_guard_end(p->guard, password, r == 0, r == -EACCES, net_now_ms());
    return r == -EACCES && left_s > 0 ? say_refused(p, left_s, err) : r;
}

/* For a share of the time, so that an address that hangs leaves some to the others. No node hands a login on,
 * so the address is at fault if it is not answered, and what was to be asked has not been sent there. */
static int need_ticket(struct pve *p, const char *password, struct err *err)
{
    const int64_t share_ms = pve_left_ms(p) / (int64_t)p->n_urls;
    int64_t until_ms = net_now_ms() + (share_ms > LOGIN_LEAST_MS ? share_ms : LOGIN_LEAST_MS);
    char old[TICKET_MAX];

    until_ms = until_ms < p->deadline_ms ? until_ms : p->deadline_ms;
    if (p->ticket[0] && net_now_ms() - p->ticket_ms > RENEW_MS) {
        memcpy(old, p->ticket, sizeof old);
        if (send_login(p, old, until_ms, NULL) < 0)
            p->ticket[0] = '\0';
        explicit_bzero(old, sizeof old);
    }
    int r = p->ticket[0] ? 0 : log_in(p, password, until_ms, err);
    if (r == -ETIMEDOUT || r == -ECONNRESET)
        err->code = r = -EHOSTUNREACH;
    return r;
}

/* ---- whose cluster it is ---- */

#define CERTIFICATES "/nodes/localhost/certificates/info"

/* What a row of the list has under `key`, where it has this text under `name`; "": no row has. */
static const char *text_of_row(const json_t *list, const char *name, const char *text, const char *key)
{
    json_t *row;
    size_t i;

    json_array_foreach(list, i, row)
    {
        const char *is = peer_json_text(row, name), *wanted = peer_json_text(row, key);

        if (is && wanted && strcmp(is, text) == 0)
            return wanted;
    }
    return "";
}

static bool is_refusal(int r)
{
    return r == -EPERM || r == -EOPNOTSUPP || r == -EREMOTEIO;
}

/* All nodes of a cluster have the certificate authority that its first node made, and tell it to every user.
 * Where none is told, the cluster's name must do. */
static int compare_cluster(struct pve *p, const struct question *q, struct err *err)
{
    CLEANUP(json_decrefp) json_t *certificates = NULL;
    CLEANUP(json_decrefp) json_t *status = NULL;
    const char *is, *peer = "cluster";
    char address[HTTP_ADDRESS_MAX];
    struct err why = {0};
    struct question own = {
        .method = "GET", .path = CERTIFICATES, .secret = q->secret, .at_most_ms = q->at_most_ms};
    int r = ask(p, &own, &certificates, err);

    if (r < 0 && !is_refusal(r))
        return r;
    is = text_of_row(certificates, "filename", "pve-root-ca.pem", "fingerprint");
    if (!is[0]) {
        own.path = "/cluster/status";
        if ((r = ask(p, &own, &status, err)) < 0 && !is_refusal(r))
            return r;
        peer = "cluster name";
        is = text_of_row(status, "type", "cluster", "name");
    }
    r = peer_identities_check(p->cfg->identities, peer, is, &why);
    if (r < 0)
        (void)err_widen(&why, "%s", pve_url(p));
    xstrset(&p->wrong[p->at], r < 0 ? why.text : NULL);
    if (r < 0)
        return err_set(err, r, "%s", why.text);
    http_address(p->http, address);
    peer_identities_offer_name(p->cfg->identities, is[0] && !status ? is : address);
    (void)snprintf(p->compared, sizeof p->compared, "%s", http_fingerprint(p->http));
    p->compared_at = p->at;
    p->doubted = false;
    return 0;
}

static int read_compared(struct pve *p, const struct question *q, json_t **ret, struct err *err)
{
    const unsigned before = p->answers;
    int r = ask(p, q, ret, err);

    if (p->answers == before || !p->doubted)
        return r;
    int other = compare_cluster(p, q, r < 0 ? NULL : err);

    if (other == 0 || (r < 0 && other != -EKEYREJECTED))
        return r;
    json_decref(*ret);
    *ret = NULL;
    return r < 0 ? err_set(err, other, "%s", p->wrong[p->at]) : other;
}

/* An answer counts once the peer's cluster was compared, and what changes something is sent only to a peer
 * whose cluster was. */
static int ask_compared(struct pve *p, const struct question *q, json_t **ret, struct err *err)
{
    struct question own = *q;
    int r = -ESTALE;

    if (!p->cfg->identities)
        return ask(p, q, ret, err);
    if (strcmp(q->method, "GET") == 0)
        return read_compared(p, q, ret, err);
    own.same_peer = true;
    for (int tries = 0; r == -ESTALE && tries < PEERS_TRIED; tries++) {
        const bool known = !p->doubted && p->compared_at == p->at && p->compared[0];

        if (!known && (r = compare_cluster(p, q, err)) < 0)
            return r;
        r = ask(p, &own, ret, err);
        p->doubted = p->doubted || r == -ESTALE;
    }
    return r == -ESTALE ? err_set(err, -EKEYREJECTED, "%s: another peer answers each time", pve_url(p)) : r;
}

size_t pve_addresses(const struct pve *p)
{
    return p->n_urls;
}

const char *pve_wrong_address(const struct pve *p, size_t at)
{
    return p->wrong[at];
}

/* ---- at whichever address answers ---- */

static int ask_here(struct pve *p, const struct question *q, json_t **ret, struct err *err)
{
    char secret[SECRET_MAX + 1];
    struct question own = *q;
    int r = 0;

    secret_now(p->cfg->password_file, p->cfg->password, "secret", secret);
    for (int tries = 0; tries < 2; tries++) {
        own.secret = p->by_token ? secret : NULL;
        r = p->by_token ? 0 : need_ticket(p, secret, err);
        if (r == 0)
            r = ask_compared(p, &own, ret, err);
        else
            break;
        if (r != -EACCES || p->by_token)
            break;
        p->ticket[0] = '\0'; /* it has expired, or the node's clock thinks so: once more with the password */
    }
    explicit_bzero(secret, sizeof secret);
    if (r == -EACCES && p->by_token)
        r = err_set(err, -EACCES, "%s: the token %s was refused: its name or its secret is wrong", pve_url(p),
                    p->cfg->username);
    return r;
}

/* The address is at fault, not what was asked. */
static bool blames_address(int r, bool limited)
{
    return r == -ECONNREFUSED || r == -EHOSTUNREACH || r == -ECONNRESET || r == -EKEYREJECTED ||
           r == -EPROTO || r == -EFBIG || (r == -ETIMEDOUT && !limited);
}

/* Whether another address is asked. A request that changes something goes there only if it cannot have
 * arrived at the first. */
static bool may_move_on(const struct question *q, bool reads, int r)
{
    return reads ? blames_address(r, q->at_most_ms > 0)
                 : r == -ECONNREFUSED || r == -EHOSTUNREACH || r == -EKEYREJECTED;
}

static int ask_in_turn(struct pve *p, const struct question *q, json_t **ret, struct err *err)
{
    const bool reads = strcmp(q->method, "GET") == 0;
    struct question own = *q;
    struct err first = {0};
    size_t began = p->at;

    for (size_t i = 0; i < p->n_urls; i++) {
        struct err now = {0};

        /* a share for each of those that are left, so that one that hangs is not the end */
        if (reads && q->at_most_ms <= 0)
            own.at_most_ms = pve_left_ms(p) / (int64_t)(p->n_urls - i);
        int r = ask_here(p, &own, ret, &now);

        if (r == 0 || !may_move_on(q, reads, r)) {
            if (r < 0 && err)
                *err = now;
            return r;
        }
        if (i == 0)
            first = now;
        p->at = (p->at + 1) % p->n_urls;
        if (pve_left_ms(p) <= 0 || (reads && p->cfg->stop && atomic_load(p->cfg->stop)))
            break;
    }
    p->at = (began + 1) % p->n_urls; /* the next call does not wait for the same one */
    if (err)
        *err = first;
    if (reads && p->n_urls > 1)
        (void)err_widen(err, "none of %zu addresses answers", p->n_urls);
    return first.code;
}

int pve_get(struct pve *p, const char *path, int64_t at_most_ms, json_t **ret, struct err *err)
{
    return ask_in_turn(p, &(struct question){.method = "GET", .path = path, .at_most_ms = at_most_ms}, ret,
                       err);
}

int pve_post(struct pve *p, const char *path, const char *form, json_t **ret, struct err *err)
{
    return ask_in_turn(p, &(struct question){.method = "POST", .path = path, .body = form ? form : ""}, ret,
                       err);
}

int pve_post_everywhere(struct pve *p, const char *path, struct err *err)
{
    struct err first = {0};
    size_t began = p->at;
    int n = 0;

    for (size_t i = 0; i < p->n_urls; i++) {
        CLEANUP(json_decrefp) json_t *answer = NULL;
        struct err now = {0};
        int64_t share = pve_left_ms(p) / (int64_t)(p->n_urls - i);

        p->at = (began + i) % p->n_urls;
        int r =
            ask_here(p, &(struct question){.method = "POST", .path = path, .body = "", .at_most_ms = share},
                     &answer, &now);
        n += r == 0;
        if (r < 0 && first.code == 0)
            first = now;
    }
    p->at = began;
    if (n == 0 && err)
        *err = first;
    return n > 0 ? n : first.code;
}

int pve_compare_address(struct pve *p, size_t at, int64_t at_most_ms, struct err *err)
{
    CLEANUP(json_decrefp) json_t *certificates = NULL;
    const size_t began = p->at;

    if (at >= p->n_urls)
        return err_set(err, -ENOENT, "there are %zu addresses", p->n_urls);
    p->at = at;
    int r = ask_here(p, &(struct question){.method = "GET", .path = CERTIFICATES, .at_most_ms = at_most_ms},
                     &certificates, err);
    p->at = began;
    return is_refusal(r) ? 0 : r;
}

int pve_delete(struct pve *p, const char *path, struct err *err)
{
    CLEANUP(json_decrefp) json_t *nothing = NULL;

    return ask_in_turn(p, &(struct question){.method = "DELETE", .path = path}, &nothing, err);
}
