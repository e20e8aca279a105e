/* admin_tokens.h: the tokens of the API over HTTP, as admins make and revoke them: in the store, and in force
 * at the HTTP server. */
#ifndef BALLAST_DAEMON_CLIENTS_ADMIN_TOKENS_H
#define BALLAST_DAEMON_CLIENTS_ADMIN_TOKENS_H

#include "base/strbuf.h"
#include "http/http.h"
#include "request/request.h"

struct store;

struct admin_tokens {
    struct store *store;
    struct http *http; /* NULL: none; tokens may be made before */
    instant_s stored;  /* when the last uses were stored */
};

/* Puts the stored tokens in force. */
int admin_tokens_load(struct admin_tokens *t, struct err *err);

/* Stores when each token was used last, at most once a minute. */
void admin_tokens_store_use(struct admin_tokens *t, instant_s now, bool at_once);

/* Requests: write the reply. */
int admin_tokens_list(struct admin_tokens *t, instant_s now, struct strbuf *out, struct err *err);
int admin_tokens_create(struct admin_tokens *t, const struct request *q, const char *by, instant_s now,
                        struct strbuf *out, struct err *err);
int admin_tokens_revoke(struct admin_tokens *t, const char *name, const char *by, struct strbuf *out,
                        struct err *err);

#endif
