/* answer.c: what an answer of the API says, and the texts of which paths and forms are made. */
#include "net/proxmox/answer.h"

#include "base/cleanup.h"
#include "net/peer_json.h"
#include "net/proxmox/session.h"

#include <errno.h>
#include <string.h>

#define DEPTH_MAX 16u

void pve_escape(struct strbuf *b, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
            strchr("-_.~", *c))
            strbuf_add(b, c, 1);
        else
            strbuf_printf(b, "%%%02X", (unsigned)*c);
    }
}

void pve_form_add(struct strbuf *form, const char *key, const char *value)
{
    if (form->len > 0)
        strbuf_puts(form, "&");
    strbuf_puts(form, key);
    strbuf_puts(form, "=");
    pve_escape(form, value);
}

/* A request that changes something may have been carried out if another node or a proxy has lost the answer.
 * A read that waited too long for a lock of the node is repeated later. */
static int code_of(long status, bool changes, const char *reason)
{
    return changes && status >= 502                    ? -ECONNRESET
           : status == 401                             ? -EACCES
           : status == 403                             ? -EPERM
           : status == 501                             ? -EOPNOTSUPP
           : status >= 595                             ? -EHOSTDOWN
           : !changes && strstr(reason, "got timeout") ? -EAGAIN
                                                       : -EREMOTEIO;
}

/* The reason stands on the status line; which parameter was wrong, only in the body. */
static int refused(const char *url, const struct http_answer *answer, bool changes, struct err *err)
{
    CLEANUP(json_decrefp) json_t *o = NULL;
    const char *key = NULL;
    char reason[HTTP_REASON_MAX];
    json_t *value;

    (void)snprintf(reason, sizeof reason, "%s", answer->reason);
    for (char *c = reason; *c; c++)
        *c = (signed char)*c < ' ' ? '?' : *c; /* what is no ASCII need not be UTF-8 */
    if (answer->status == 400 &&
        peer_json_read(answer->body.text, answer->body.len, DEPTH_MAX, &o, NULL) == 0) {
        json_object_foreach(json_object_get(o, "errors"), key, value)
        {
            if (json_is_string(value))
                return err_set(err, -EREMOTEIO, "%s: %s %s: %.200s (HTTP 400)", url, reason, key,
                               json_string_value(value));
        }
    }
    return err_set(err, code_of(answer->status, changes, reason), "%s: %s (HTTP %ld)", url,
                   reason[0] ? reason : "refused without a reason", answer->status);
}

int pve_answer_read(const char *url, const struct http_answer *answer, bool changes, json_t **ret,
                    struct err *err)
{
    json_t *o = NULL;

    if (answer->status < 200 || answer->status > 299)
        return refused(url, answer, changes, err);
    int r = peer_json_read(answer->body.text ? answer->body.text : "", answer->body.len, DEPTH_MAX, &o, err);
    if (r < 0)
        return err_widen(err, "%s", url);
    json_t *data = json_object_get(o, "data");
    *ret = data ? json_incref(data) : NULL;
    json_decref(o);
    return data ? 0
                : err_set(err, -EPROTO, "%s: the answer has no \"data\": no Proxmox VE answers there", url);
}

bool pve_is_node_name(const char *text)
{
    size_t len = text ? strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") : 0;

    return len > 0 && len < PVE_NODE_MAX && !text[len] && text[0] != '-';
}
