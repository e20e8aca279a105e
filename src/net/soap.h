/* soap.h: SOAP 1.1 envelopes, out and in.
 *
 * A request is the inside of a Body, written with the soap_put_*() helpers, which escape what they are given;
 * soap_call() wraps it, sends it and takes the answer apart: the payload (first element of its Body), or a
 * fault. A fault is an ordinary answer, whatever its HTTP status; anything that is neither is an error.
 */
#ifndef BALLAST_NET_SOAP_H
#define BALLAST_NET_SOAP_H

#include "net/http.h"
#include "net/xml.h"

#define SOAP_NS_ENVELOPE "http://schemas.xmlsoap.org/soap/envelope/"

/* <name>escaped text</name> */
void soap_put_text(struct strbuf *b, const char *name, const char *text);
/* The text alone, escaped for an element or an attribute; bytes that XML has no place for are left out. */
void soap_put_escaped(struct strbuf *b, const char *text);

struct soap_fault {
    bool present;
    char type[64];    /* of the detail, e.g. "NotAuthenticated"; "" when it has none */
    char text[256];   /* what the peer says to a person */
    char object[128]; /* the managed object that it is about; "" */
};

struct soap_answer {
    xml_doc *doc;
    const xml_node *payload; /* NULL with a fault */
    struct soap_fault fault;
};

/* Takes an answer apart. -EPROTO: not XML, or no SOAP envelope. */
int soap_parse(const char *text, size_t len, struct soap_answer *ret, struct err *err);
void soap_answer_release(struct soap_answer *answer);

static inline void soap_answer_releasep(struct soap_answer *answer)
{
    soap_answer_release(answer);
}

struct soap_endpoint {
    struct http_session *http;
    const char *url;
    const char *action; /* the SOAPAction header */
    size_t answer_max;  /* 0: HTTP_ANSWER_MAX */
    bool once, parting; /* as in struct http_request */
};

/* Sends one body and takes the answer apart; what was sent is wiped, for it may hold a password. method is
 * for the errors. Errors of http_send(), -EACCES (HTTP 401, 403), -EPROTO (an answer that is no SOAP). */
int soap_call(const struct soap_endpoint *e, const char *method, const struct strbuf *body,
              int64_t deadline_ms, struct soap_answer *ret, struct err *err);

#endif
