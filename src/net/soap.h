/* soap.h: writes and reads SOAP 1.1 envelopes.
 *
 * A caller writes the content of a Body with the soap_put_*() helpers, which escape text. soap_call() wraps
 * and sends the body and returns the payload (the first element of the answer's Body) or the fault. A fault
 * is a valid answer, whatever the HTTP status; an answer that is no SOAP envelope is an error. */
#ifndef BALLAST_NET_SOAP_H
#define BALLAST_NET_SOAP_H

#include "net/http.h"
#include "net/xml.h"

#define SOAP_NS_ENVELOPE "http://schemas.xmlsoap.org/soap/envelope/"

/* <name>escaped text</name> */
void soap_put_text(struct strbuf *b, const char *name, const char *text);
/* Adds the text, escaped for an element or an attribute. Bytes that XML does not allow are left out. */
void soap_put_escaped(struct strbuf *b, const char *text);

struct soap_fault {
    bool present;
    char type[64];      /* of the fault's detail: "NotAuthenticated"; "" without a detail */
    char text[256];     /* the peer's message */
    char object[128];   /* the managed object that the fault is about; "" */
    char privilege[64]; /* the one that the user lacks; "" */
};

struct soap_answer {
    xml_doc *doc;
    const xml_node *payload; /* NULL with a fault */
    struct soap_fault fault;
};

/* Reads an envelope. -EPROTO: the text is no XML, or no SOAP envelope. */
int soap_parse(const char *text, size_t len, struct soap_answer *ret, struct err *err);
void soap_answer_release(struct soap_answer *answer);

static inline void soap_answer_releasep(struct soap_answer *answer)
{
    soap_answer_release(answer);
}

struct soap_endpoint {
    struct http_session *http;
    const char *url;
    const char *action;    /* the SOAPAction header */
    size_t answer_max;     /* 0: HTTP_ANSWER_MAX */
    bool once;             /* as in struct http_request ... */
    int64_t after_stop_ms; /* ... and this */
};

/* Sends the body and reads the answer. The sent text is wiped, because it may hold a password. method names
 * the call in errors. Errors of http_send(), -EACCES (HTTP 401, 403), -EPROTO (the answer is no SOAP
 * envelope). */
int soap_call(const struct soap_endpoint *e, const char *method, const struct strbuf *body,
              int64_t deadline_ms, struct soap_answer *ret, struct err *err);

#endif
