/* soap.c: writes SOAP envelopes and reads payloads and faults. */
#include "net/soap.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ENVELOPE_BEGIN                                                                                       \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"                                                             \
    "<soapenv:Envelope xmlns:soapenv=\"" SOAP_NS_ENVELOPE "\" xmlns:xsi=\"" XML_NS_XSI "\""                  \
    " xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\"><soapenv:Body>"
#define ENVELOPE_END "</soapenv:Body></soapenv:Envelope>"

void soap_put_escaped(struct strbuf *b, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            strbuf_puts(b, "&amp;");
            break;
        case '<':
            strbuf_puts(b, "&lt;");
            break;
        case '>':
            strbuf_puts(b, "&gt;");
            break;
        case '"':
            strbuf_puts(b, "&quot;");
            break;
        case '\'':
            strbuf_puts(b, "&apos;");
            break;
        default:
            if ((unsigned char)*text >= 0x20 || *text == '\t' || *text == '\n')
                strbuf_add(b, text, 1);
            else if (*text == '\r')
                strbuf_puts(b, "&#13;"); /* a bare CR would be read as a line feed */
        }
    }
}

void soap_put_text(struct strbuf *b, const char *name, const char *text)
{
    strbuf_printf(b, "<%s>", name);
    soap_put_escaped(b, text);
    strbuf_printf(b, "</%s>", name);
}

static void read_fault(const xml_node *node, struct soap_fault *ret)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const xml_node *detail = xml_first(xml_child(node, "detail"));

    *ret = (struct soap_fault){.present = true};
    xml_line(xml_child(node, "faultstring"), ret->text, sizeof ret->text);
    if (!detail)
        return;
    const char *type = xml_type(detail, &a);
    net_one_line(type ? type : xml_name(detail), ret->type, sizeof ret->type);
    size_t len = strlen(ret->type);
    if (!type && len > 5 && strcmp(ret->type + len - 5, "Fault") == 0)
        ret->type[len - 5] = '\0'; /* "InvalidLoginFault" carries an InvalidLogin */
    xml_line(xml_child(detail, "obj"), ret->object, sizeof ret->object);
    xml_line(xml_child(detail, "privilegeId"), ret->privilege, sizeof ret->privilege);
}

int soap_parse(const char *text, size_t len, struct soap_answer *ret, struct err *err)
{
    xml_doc *doc = NULL;
    int r = xml_parse(text, len, &doc, err);

    if (r < 0)
        return r;
    const xml_node *root = xml_root(doc);
    const xml_node *body = xml_child(root, "Body");
    const xml_node *payload = xml_first(body);
    if (!xml_is_ns(root, SOAP_NS_ENVELOPE, "Envelope") || !xml_is_ns(body, SOAP_NS_ENVELOPE, "Body") ||
        !payload) {
        r = err_set(err, -EPROTO, "the answer is XML (<%.60s>), but no SOAP envelope with something in it",
                    xml_name(root));
        xml_free(doc);
        return r;
    }
    *ret = (struct soap_answer){.doc = doc};
    if (xml_is_ns(payload, SOAP_NS_ENVELOPE, "Fault"))
        read_fault(payload, &ret->fault);
    else
        ret->payload = payload;
    return 0;
}

void soap_answer_release(struct soap_answer *answer)
{
    xml_free(answer->doc);
    *answer = (struct soap_answer){0};
}

/* The error of an answer that is no envelope: the HTTP status says more than its text. */
static int status_error(const struct soap_endpoint *e, const struct http_answer *http, struct err *err)
{
    char said[120];

    net_one_line(http->body.text, said, sizeof said);
    switch (http->status) {
    case 401:
    case 403:
        return err_set(err, -EACCES, "%s: access refused (HTTP %ld)", e->url, http->status);
    case 404:
        return err_set(err, -EPROTO,
                       "%s: there is no such page (HTTP 404): is the path right (/sdk for vSphere)?", e->url);
    default:
        if (http->status >= 300 && http->status < 400)
            return err_set(err, -EPROTO, "%s: redirects are not followed (HTTP %ld)", e->url, http->status);
        return err_set(err, -EPROTO, "%s: the server answered HTTP %ld without a SOAP fault: %s", e->url,
                       http->status, said[0] ? said : "(nothing)");
    }
}

int soap_call(const struct soap_endpoint *e, const char *method, const struct strbuf *body,
              int64_t deadline_ms, struct soap_answer *ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf action = STRBUF_EMPTY;
    /* Allocated at full size: growing would leave copies of a password behind. */
    size_t len = strlen(ENVELOPE_BEGIN) + body->len + strlen(ENVELOPE_END);
    char *envelope = malloc(len + 1);

    if (!envelope)
        return err_set(err, -ENOMEM, "out of memory");
    (void)snprintf(envelope, len + 1, "%s%s%s", ENVELOPE_BEGIN, body->text, ENVELOPE_END);
    strbuf_printf(&action, "SOAPAction: \"%s\"", e->action);
    const char *headers[] = {"Content-Type: text/xml; charset=utf-8", action.text, NULL};
    struct http_request request = {.method = "POST",
                                   .url = e->url,
                                   .headers = headers,
                                   .body = envelope,
                                   .body_len = len,
                                   .deadline_ms = deadline_ms,
                                   .answer_max = e->answer_max,
                                   .once = e->once,
                                   .after_stop_ms = e->after_stop_ms};
    struct http_answer http;
    int r = http_send(e->http, &request, &http, err);

    explicit_bzero(envelope, len);
    free(envelope);
    if (r < 0)
        return r;
    r = soap_parse(http.body.text, http.body.len, ret, err);
    if (r < 0 && http.status != 200)
        r = status_error(e, &http, err);
    else if (r < 0)
        r = err_widen(err, "%s: %s", e->url, method);
    strbuf_release(&http.body);
    return r;
}
