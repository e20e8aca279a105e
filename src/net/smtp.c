/* smtp.c: one conversation with a mail server, by libcurl. */
#include "net/smtp.h"

#include "net/curl_setup.h"
#include "net/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#define CONNECT_MAX_MS 10000

struct conversation {
    const struct smtp_mail *mail;
    size_t sent;
    struct smtp_reply *reply;
    char detail[CURL_ERROR_SIZE];
};

static size_t give_text(char *to, size_t size, size_t n, void *ctx)
{
    struct conversation *c = ctx;
    size_t left = c->mail->len - c->sent, most = size * n;
    size_t some = left < most ? left : most;

    memcpy(to, c->mail->text + c->sent, some);
    c->sent += some;
    return some;
}

/* 4xx and 5xx but 50x, which is about commands: older servers know no EHLO. What comes before the login is
 * accepted is about that. */
static void note_refusal(struct smtp_reply *r)
{
    if ((r->text[0] == '4' || r->text[0] == '5') && r->text[1] != '0' && !r->refused[0])
        memcpy(r->refused, r->text, sizeof r->refused);
    else if (strncmp(r->text, "235", 3) == 0)
        r->refused[0] = '\0';
}

/* A line of the server, without an end in `text`. */
static size_t take_line(char *line, size_t size, size_t n, void *ctx)
{
    struct conversation *c = ctx;
    size_t len = size * n;

    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
        len--;
    if (len >= sizeof c->reply->text)
        len = sizeof c->reply->text - 1;
    memcpy(c->reply->text, line, len);
    c->reply->text[len] = '\0';
    note_refusal(c->reply);
    return size * n;
}

static size_t drop_body(char *data, size_t size, size_t n, void *ctx)
{
    (void)data, (void)ctx;
    return size * n;
}

static int watch(void *ctx, curl_off_t dl_total, curl_off_t dl, curl_off_t ul_total, curl_off_t ul)
{
    const struct conversation *c = ctx;

    (void)dl_total, (void)dl, (void)ul_total, (void)ul;
    return c->mail->stop && atomic_load(c->mail->stop);
}

static void set_peer(CURL *e, struct conversation *c, int64_t left_ms)
{
    const struct smtp_mail *m = c->mail;

    (void)curl_easy_setopt(e, CURLOPT_ERRORBUFFER, c->detail);
    (void)curl_easy_setopt(e, CURLOPT_URL, m->url);
    (void)curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    (void)curl_easy_setopt(e, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(e, CURLOPT_USE_SSL, (long)(m->starttls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
    (void)curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, m->tls_verify ? 1L : 0L);
    (void)curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, m->tls_verify ? 2L : 0L);
    if (m->ca_file) {
        (void)curl_easy_setopt(e, CURLOPT_CAINFO, m->ca_file);
        (void)curl_easy_setopt(e, CURLOPT_CAPATH, NULL); /* this CA and no other */
    }
    (void)curl_easy_setopt(e, CURLOPT_USERNAME, m->username);
    (void)curl_easy_setopt(e, CURLOPT_PASSWORD, m->password);
    (void)curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)left_ms);
    (void)curl_easy_setopt(e, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)(left_ms / 1000 + 1));
    (void)curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)(left_ms < CONNECT_MAX_MS ? left_ms : CONNECT_MAX_MS));
    (void)curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_line);
    (void)curl_easy_setopt(e, CURLOPT_HEADERDATA, c);
    (void)curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, drop_body);
    (void)curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, watch);
    (void)curl_easy_setopt(e, CURLOPT_XFERINFODATA, c);
}

/* The recipients; NULL: nothing is sent. */
static struct curl_slist *set_mail(CURL *e, struct conversation *c)
{
    const struct smtp_mail *m = c->mail;
    struct curl_slist *to = NULL;

    if (!m->text) {
        (void)curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, "NOOP");
        return NULL;
    }
    for (const char *const *address = m->to; *address; address++)
        to = curl_slist_append(to, *address);
    (void)curl_easy_setopt(e, CURLOPT_MAIL_FROM, m->from);
    (void)curl_easy_setopt(e, CURLOPT_MAIL_RCPT, to);
    (void)curl_easy_setopt(e, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L); /* the others get it */
    (void)curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
    (void)curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE, (curl_off_t)m->len);
    (void)curl_easy_setopt(e, CURLOPT_READFUNCTION, give_text);
    (void)curl_easy_setopt(e, CURLOPT_READDATA, c);
    return to;
}

static int why_not(CURL *e, const struct conversation *c, CURLcode code, struct err *err)
{
    const char *url = c->mail->url;
    const char *detail = c->detail[0] ? c->detail : curl_easy_strerror(code);
    const char *said = c->reply->refused[0] ? c->reply->refused : c->reply->text; /* which may be of QUIT */
    long os = 0;

    switch ((int)code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return err_set(
            err, -EHOSTUNREACH,
            "%s: the host's name cannot be resolved; see whether `getent hosts` knows it on this machine",
            url);
    case CURLE_COULDNT_CONNECT:
        (void)curl_easy_getinfo(e, CURLINFO_OS_ERRNO, &os);
        if (os == ECONNREFUSED)
            return err_set(err, -ECONNREFUSED, "%s: the connection was refused: nothing listens there", url);
        return err_set(err, -EHOSTUNREACH, "%s: no connection: %s", url, detail);
    case CURLE_OPERATION_TIMEDOUT:
        return err_set(err, -ETIMEDOUT, "%s: no answer in time: %s", url, detail);
    case CURLE_ABORTED_BY_CALLBACK:
        return err_set(err, -ECANCELED, "%s: cancelled, because the service stops", url);
    case CURLE_LOGIN_DENIED:
        return err_set(err, -EACCES, "%s: the login of %s is refused: %s", url,
                       c->mail->username ? c->mail->username : "no user", said[0] ? said : detail);
    case CURLE_PEER_FAILED_VERIFICATION:
        return err_set(err, -EKEYREJECTED,
                       "%s: the certificate cannot be trusted (%s): check ca_file and the host's name", url,
                       detail);
    case CURLE_SSL_CACERT_BADFILE:
        return err_set(err, -EKEYREJECTED, "%s: ca_file %s cannot be read as PEM certificates", url,
                       c->mail->ca_file ? c->mail->ca_file : "(the system's)");
    case CURLE_USE_SSL_FAILED:
        return err_set(err, -EKEYREJECTED, "%s: the server offers no STARTTLS: nothing was sent", url);
    case CURLE_SEND_ERROR: /* libcurl's for MAIL, RCPT and DATA that are refused, too */
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
        if (c->reply->code >= 400)
            return err_set(err, -EPERM, "%s: the server refuses the mail: %s", url, said);
        return err_set(err, -ECONNRESET, "%s: the connection broke: %s", url, detail);
    default:
        return err_set(err, -EPROTO, "%s: %s%s%s", url, detail, said[0] ? ": " : "", said);
    }
}

int smtp_send(const struct smtp_mail *m, struct smtp_reply *ret, struct err *err)
{
    struct conversation c = {.mail = m, .reply = ret};
    int64_t left_ms = m->deadline_ms - net_now_ms();

    *ret = (struct smtp_reply){0};
    if (left_ms <= 0)
        return err_set(err, -ETIMEDOUT, "%s: no time was left for the request", m->url);
    net_curl_set_up();
    CURL *e = curl_easy_init();

    if (!e)
        return err_set(err, -ENOMEM, "out of memory");
    set_peer(e, &c, left_ms);
    struct curl_slist *to = set_mail(e, &c);
    CURLcode code = curl_easy_perform(e);

    (void)curl_easy_getinfo(e, CURLINFO_RESPONSE_CODE, &ret->code);
    int r = code == CURLE_OK ? 0 : why_not(e, &c, code, err);

    curl_slist_free_all(to);
    curl_easy_cleanup(e);
    return r;
}
