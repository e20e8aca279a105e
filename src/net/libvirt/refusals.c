/* refusals.c: finds in libvirt's errors which login, key or certificate was refused, and by whom. The texts
 * are those of libvirt 9.0, which never translates them here, and of OpenSSH 9. */
#include "net/libvirt/refusals.h"

#include "base/cleanup.h"
#include "net/curl_setup.h"
#include "net/libvirt/connections.h"
#include "net/xml.h"

#include <curl/curl.h>
#include <errno.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <string.h>

#define FETCH_S 5L
#define TLS_PORT "16514"
#define CA_SYSTEM "/etc/pki/CA/cacert.pem"
#define PATH_BYTES_MAX 1024

#define PEER_CERTIFICATE "Failed to verify peer's certificate"
#define ASKS "it asks for a user and a password"
#define REFUSES "it refuses the user"

/* The first that fits. `sentence` NULL: libvirt's own text says it well. */
static const struct sign {
    const char *in_text, *sentence;
} signs[] = {
    {PEER_CERTIFICATE,
     "its certificate is not accepted: it has expired, is not signed by the CA in cacert.pem, or is not for "
     "the host name in the URI"},
    /* the host closes the connection once it has seen the client's certificate */
    {"Unable to read TLS confirmation",
     "it does not accept the certificate of this machine, which must be signed by the host's CA and, where "
     "the host has a tls_allowed_dn_list, be in that list"},
    {"Failed to collect auth credentials", ASKS ": set source.username and source.password_file"},
    {"Host key verification failed",
     "ssh does not know its host key, or knows another one: see known_hosts of the service's user and "
     "/etc/ssh/ssh_known_hosts"},
    {"Failed to connect socket to", NULL}, /* with its path; "Permission denied" there is one, too */
    {"Permission denied", "it refuses the ssh key of the service's user, or keyfile= in the URI"},
    {"ertificate", NULL},
    {"uthentication failed", NULL},
};

bool libvirt_refusals_explain(const char *text, const char *username, char *ret, size_t size)
{
    const char *login = "authentication failed: authentication failed";

    if (strcmp(text, login) == 0) {
        (void)snprintf(ret, size, REFUSES " %.64s or the password", username ? username : "(none)");
        return true;
    }
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (!strstr(text, signs[i].in_text))
            continue;
        if (signs[i].sentence)
            (void)snprintf(ret, size, "%s (%.120s)", signs[i].sentence, text);
        else
            (void)snprintf(ret, size, "%s", text);
        return strcmp(signs[i].in_text, "Failed to connect socket to") != 0 ||
               strstr(text, "Permission denied");
    }
    (void)snprintf(ret, size, "%s", text);
    return false;
}

bool libvirt_refusals_is_about_user(const char *error)
{
    return strstr(error, ": " ASKS) || strstr(error, ": " REFUSES);
}

/* ---- the host's certificate ----------------------------------------------------------------------- */

static void url_free(CURLU **u)
{
    curl_url_cleanup(*u);
}

static void curl_text_free(char **text)
{
    curl_free(*text);
}

/* The CA by which libvirt judges the host. */
static void find_ca(CURLU *u, char *ret, size_t size)
{
    CLEANUP(curl_text_free) char *query = NULL;
    const char *at = NULL;

    (void)snprintf(ret, size, "%s", CA_SYSTEM);
    if (curl_url_get(u, CURLUPART_QUERY, &query, CURLU_URLDECODE) == CURLUE_OK)
        at = strstr(query, "pkipath=");
    if (at)
        (void)snprintf(ret, size, "%.*s/cacert.pem", (int)strcspn(at + 8, "&;"), at + 8);
}

static void easy_free(CURL **c)
{
    curl_easy_cleanup(*c);
}

static CURLcode begin_tls(const char *https, const char *ca, char said[CURL_ERROR_SIZE])
{
    CLEANUP(easy_free) CURL *c = curl_easy_init();

    if (!c)
        return CURLE_OUT_OF_MEMORY;
    (void)curl_easy_setopt(c, CURLOPT_URL, https);
    (void)curl_easy_setopt(c, CURLOPT_CAINFO, ca);
    (void)curl_easy_setopt(c, CURLOPT_CONNECT_ONLY, 1L);
    (void)curl_easy_setopt(c, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(c, CURLOPT_TIMEOUT, FETCH_S);
    (void)curl_easy_setopt(c, CURLOPT_ERRORBUFFER, said);
    return curl_easy_perform(c);
}

/* The error of the certificate of the host of a +tls URI, in libcurl's words, in ret; false: none was found,
 * or the host cannot be reached. */
static bool certificate_error(const char *uri, char *ret, size_t size)
{
    net_curl_set_up();
    CLEANUP(url_free) CURLU *u = curl_url();
    CLEANUP(curl_text_free) char *host = NULL, *port = NULL;
    char ca[PATH_BYTES_MAX], https[PATH_BYTES_MAX], said[CURL_ERROR_SIZE] = "";

    if (!u || curl_url_set(u, CURLUPART_URL, uri, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
        curl_url_get(u, CURLUPART_HOST, &host, 0) != CURLUE_OK)
        return false;
    (void)curl_url_get(u, CURLUPART_PORT, &port, 0);
    find_ca(u, ca, sizeof ca);
    (void)snprintf(https, sizeof https, "https://%s:%s/", host, port ? port : TLS_PORT);
    if (begin_tls(https, ca, said) != CURLE_PEER_FAILED_VERIFICATION || !said[0])
        return false;
    net_one_line(said, ret, size);
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

int libvirt_refusals_fail(struct err *err, const char *host, const char *uri, const char *username)
{
    const virError *e = virGetLastError();
    char text[ERR_TEXT_MAX / 2], sentence[ERR_TEXT_MAX - 64], detail[CURL_ERROR_SIZE];
    int r = libvirt_connections_fail(err, host);

    net_one_line(e && e->message ? e->message : "", text, sizeof text);
    if (!text[0])
        return r;
    if (strstr(text, PEER_CERTIFICATE) && certificate_error(uri, detail, sizeof detail))
        return err_set(err, -EACCES, "%s: its certificate is not accepted: %.200s", host, detail);
    if (libvirt_refusals_explain(text, username, sentence, sizeof sentence))
        r = -EACCES;
    return err_set(err, r, "%s: %s", host, sentence);
}
