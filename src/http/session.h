/* session.h: sessions of browsers: a token is shown once, a cookie stands for it from then on.
 *
 * A browser has no safe place for a token: what a script may read, an injected script may take away. So the
 * sign-in exchanges the token for a session: 256 random bits in a cookie that no script reads, of which only
 * the SHA-256 is kept here. A session does what its token may do at the moment, and ends with it. Sessions
 * are in memory: a restart of the service ends them.
 *
 * Any page can make a browser send a request with the cookie. So each session has a second secret, the CSRF
 * token, which the service's own pages read and send along with what changes something (synchronizer token
 * pattern, OWASP Cross-Site Request Forgery Prevention Cheat Sheet). */
#ifndef BALLAST_HTTP_SESSION_H
#define BALLAST_HTTP_SESSION_H

#include "http/token.h"

#define SESSION_TEXT_SIZE 65
#define SESSIONS_MOST 1000
#define SESSIONS_PER_TOKEN 10 /* a person's browsers; one more ends the one that was used least lately */

struct session {
    struct token token; /* as it is now */
    instant_s since;
    instant_s expires; /* at the latest */
    instant_s idle_s;  /* without a request it ends after this time */
    char csrf[SESSION_TEXT_SIZE];
    unsigned char hash[TOKEN_HASH_BYTES]; /* of its cookie */
};

/* All sessions. The list of tokens is borrowed. Any thread, as all below. */
struct session_list;
struct session_list *session_list_new(struct token_list *tokens, instant_s most_s, instant_s idle_s);
void session_list_free(struct session_list *s); /* NULL is fine */

/* A new session of a token that is in force. ret_cookie: its secret. -EUSERS: there are SESSIONS_MOST in use;
 * another negative errno: no random numbers. */
int session_begin(struct session_list *s, const struct token *token, instant_s now,
                  char ret_cookie[SESSION_TEXT_SIZE], struct session *ret);

/* The session of a cookie; notes the use. -ENOENT: there is none; -EKEYEXPIRED: its time is over; -ESTALE:
 * its token was revoked or has expired. In the last two cases it is forgotten, *ret says which it was. */
int session_check(struct session_list *s, const char *cookie, instant_s now, struct session *ret);

/* Whether it is still there and in time. Notes no use. */
bool session_lasts(struct session_list *s, const unsigned char hash[TOKEN_HASH_BYTES], instant_s now);

void session_end(struct session_list *s, const unsigned char hash[TOKEN_HASH_BYTES]);

/* The value of the cookie in a Cookie header (RFC 6265, section 4.2.1). -ENOENT: the header (NULL: none) does
 * not have it; -EINVAL: it is there twice, or is no text of SESSION_TEXT_SIZE - 1 hexadecimal digits. */
int session_cookie(const char *header, const char *name, char ret[SESSION_TEXT_SIZE]);

#endif
