/* proxmox/session.h: requests to the API of a Proxmox VE cluster, at whichever of its nodes answers.
 *
 * Every node answers for the whole cluster. The address that answered last is asked first; where it does not
 * answer, the others are, in turn. A user name with an exclamation mark (ballast@pve!name) is that of a
 * token, and the password is the token's secret. Any other user logs in with its password and gets a ticket,
 * which is renewed before it expires, and when a node does not accept it any more.
 *
 * What failed is said on the status line of an answer ("500 VM is locked (backup)"), and is kept as the
 * reason.
 *
 * Before an answer of a peer counts, or a request that changes something is sent to it, its cluster is
 * compared with that of earlier peers (peer_identities.h); an address of another cluster is passed over.
 *
 * Source: pve-http-server (PVE/APIServer/AnyEvent.pm), pve-docs (pveum.adoc), Proxmox VE 8.4 to 9.2. */
#ifndef BALLAST_NET_PROXMOX_SESSION_H
#define BALLAST_NET_PROXMOX_SESSION_H

#include "base/strbuf.h"

#include <ballast/err.h>
#include <ballast/source.h>

#include <jansson.h>
#include <stdint.h>

struct pve; /* used by one thread at a time */

/* cfg is borrowed until pve_free(); cfg->settings is a struct proxmox_settings, cfg->shared the login_guard
 * of all sessions of the source. NULL: the session has one of its own. Sends nothing. -EINVAL, -ENOMEM. */
int pve_new(const struct source_config *cfg, struct pve **ret, struct err *err);
void pve_free(struct pve *p); /* NULL is fine */

/* Begins a call of a plug-in: all requests that follow end within cfg->timeout_s, and are counted from 0. */
void pve_begin(struct pve *p);
int64_t pve_left_ms(const struct pve *p);
unsigned pve_requests(const struct pve *p);

/* The address that answered last, or is asked next. */
const char *pve_url(const struct pve *p);

/* From now on the next address is asked, though this one answers: it may be that of a node that is about to
 * go. The number of addresses. */
size_t pve_turn(struct pve *p);

/* Asks this one of the addresses (0: cfg->url) whose cluster it is. -ENOENT: there are no more;
 * -EKEYREJECTED: of another one; and the errors of pve_get(). */
int pve_compare_address(struct pve *p, size_t at, int64_t at_most_ms, struct err *err);
size_t pve_addresses(const struct pve *p);
/* Why nothing is asked of the address: it is of another cluster than that of cfg->identities. NULL: it is
 * not, as far as is known. */
const char *pve_wrong_address(const struct pve *p, size_t at);

/* Asks for a path below /api2/json, and gives what the answer has as "data"; the caller releases it with
 * json_decref(). at_most_ms: for this request, which a node that hangs must not make longer; 0: what is left.
 * -EACCES: user, password or token are wrong; -EPERM: a privilege is missing (403); -EOPNOTSUPP: this version
 * has no such path (501); -EHOSTDOWN: the node that the request was forwarded to does not answer (595 to
 * 599); -EAGAIN: the node waited too long for a lock ("got timeout"); -EREMOTEIO: refused, the sentence has
 * the reason; and the errors of http_send(). */
int pve_get(struct pve *p, const char *path, int64_t at_most_ms, json_t **ret, struct err *err);

/* A request that changes something. It is carried out at most once: it goes to another address only if it
 * cannot have arrived at the first, and is sent again only with a new ticket, because a node that refuses the
 * old one has done nothing. form: parameters, made with pve_form_add(); NULL: none. Errors as of pve_get();
 * and -ECONNRESET if the answer was lost behind another node or a proxy (502 and more). After -ECONNRESET and
 * -ETIMEDOUT the request may have been carried out. */
int pve_post(struct pve *p, const char *path, const char *form, json_t **ret, struct err *err);
int pve_delete(struct pve *p, const char *path, struct err *err);

/* Posts to every address, with a share of the time for each: for requests that the asked node carries out
 * itself, and that do no harm when repeated. Returns the number of addresses that accepted, or the first
 * error. */
int pve_post_everywhere(struct pve *p, const char *path, struct err *err);

/* Adds a parameter to a form, or the text to a path, escaped. */
void pve_form_add(struct strbuf *form, const char *key, const char *value);
void pve_escape(struct strbuf *b, const char *text);

#define PVE_NODE_MAX 64 /* bytes of a node's name, with its end */

/* Whether the text is a node's name, so that it can be part of a path. */
bool pve_is_node_name(const char *text);

#endif
