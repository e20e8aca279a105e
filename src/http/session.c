/* session.c: a table of sessions. Cookies and answers are sign_in.c's. */
#include "http/session.h"

#include "base/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(SESSION_TEXT_SIZE == TOKEN_RANDOM_SIZE, "random text");

struct entry {
    struct session is;
    instant_s used;
    bool taken;
};

struct session_list {
    struct token_list *tokens;
    instant_s most_s, idle_s;
    pthread_mutex_t lock; /* of what follows */
    struct entry list[SESSIONS_MOST];
};

struct session_list *session_list_new(struct token_list *tokens, instant_s most_s, instant_s idle_s)
{
    struct session_list *s = xcalloc(1, sizeof *s);

    s->tokens = tokens;
    s->most_s = most_s;
    s->idle_s = idle_s;
    (void)pthread_mutex_init(&s->lock, NULL);
    return s;
}

void session_list_free(struct session_list *s)
{
    if (!s)
        return;
    (void)pthread_mutex_destroy(&s->lock);
    explicit_bzero(s->list, sizeof s->list);
    free(s);
}

/* ---- under the lock --------------------------------------------------------------------------- */

static bool is_over(const struct entry *x, instant_s now)
{
    return now >= x->is.expires || now >= x->used + x->is.idle_s;
}

static struct entry *find(struct session_list *s, const unsigned char hash[TOKEN_HASH_BYTES])
{
    for (size_t i = 0; i < SESSIONS_MOST; i++) {
        if (s->list[i].taken && memcmp(s->list[i].is.hash, hash, TOKEN_HASH_BYTES) == 0)
            return &s->list[i];
    }
    return NULL;
}

static void forget(struct entry *x)
{
    explicit_bzero(x, sizeof *x);
}

/* A place for one more of this token. NULL: there is none. */
static struct entry *find_place(struct session_list *s, const struct token *token, instant_s now)
{
    struct entry *place = NULL;
    struct entry *oldest = NULL;
    unsigned n = 0;

    for (size_t i = 0; i < SESSIONS_MOST; i++) {
        struct entry *x = &s->list[i];

        if (x->taken &&
            (is_over(x, now) || token_list_find(s->tokens, x->is.token.hash, now, TOKEN_LOOKED_AT, NULL) < 0))
            forget(x);
        if (!x->taken) {
            place = place ? place : x;
        } else if (memcmp(x->is.token.hash, token->hash, TOKEN_HASH_BYTES) == 0) {
            n++;
            if (!oldest || x->used < oldest->used)
                oldest = x;
        }
    }
    return n >= SESSIONS_PER_TOKEN ? oldest : place;
}

/* ---- sessions --------------------------------------------------------------------------------- */

int session_begin(struct session_list *s, const struct token *token, instant_s now,
                  char ret_cookie[SESSION_TEXT_SIZE], struct session *ret)
{
    struct session is = {.token = *token, .since = now, .expires = now + s->most_s, .idle_s = s->idle_s};
    int r = token_random(ret_cookie);

    if (r < 0 || (r = token_random(is.csrf)) < 0 || (r = token_hash(ret_cookie, is.hash)) < 0)
        return r;
    if (token->expires != 0 && token->expires < is.expires)
        is.expires = token->expires;
    (void)pthread_mutex_lock(&s->lock);
    struct entry *x = find_place(s, token, now);

    if (x)
        *x = (struct entry){.is = is, .used = now, .taken = true};
    (void)pthread_mutex_unlock(&s->lock);
    if (!x)
        return -EUSERS;
    *ret = is;
    return 0;
}

int session_check(struct session_list *s, const char *cookie, instant_s now, struct session *ret)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    int r = token_hash(cookie, hash);

    if (r < 0)
        return -ENOENT;
    (void)pthread_mutex_lock(&s->lock);
    struct entry *x = find(s, hash);

    if (!x) {
        r = -ENOENT;
    } else {
        if (is_over(x, now))
            r = -EKEYEXPIRED;
        else if (token_list_find(s->tokens, x->is.token.hash, now, TOKEN_USED, &x->is.token) < 0)
            r = -ESTALE;
        *ret = x->is;
        if (r < 0)
            forget(x);
        else
            x->used = now;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return r;
}

bool session_lasts(struct session_list *s, const unsigned char hash[TOKEN_HASH_BYTES], instant_s now)
{
    (void)pthread_mutex_lock(&s->lock);
    const struct entry *x = find(s, hash);
    const bool lasts = x && !is_over(x, now);

    (void)pthread_mutex_unlock(&s->lock);
    return lasts;
}

void session_end(struct session_list *s, const unsigned char hash[TOKEN_HASH_BYTES])
{
    (void)pthread_mutex_lock(&s->lock);
    struct entry *x = find(s, hash);

    if (x)
        forget(x);
    (void)pthread_mutex_unlock(&s->lock);
}

/* ---- cookies ---------------------------------------------------------------------------------- */

int session_cookie(const char *header, const char *name, char ret[SESSION_TEXT_SIZE])
{
    const size_t name_len = strlen(name);
    bool found = false;

    for (const char *at = header; at && *at; at += *at == ';') {
        at += strspn(at, " \t");
        const size_t len = strcspn(at, ";");

        if (len > name_len && strncmp(at, name, name_len) == 0 && at[name_len] == '=') {
            const char *value = at + name_len + 1;
            size_t value_len = len - name_len - 1;

            while (value_len > 0 && strchr(" \t", value[value_len - 1]))
                value_len--;
            if (found || value_len != SESSION_TEXT_SIZE - 1 || strspn(value, "0123456789abcdef") < value_len)
                return -EINVAL;
            memcpy(ret, value, value_len);
            ret[value_len] = '\0';
            found = true;
        }
        at += len;
    }
    return found ? 0 : -ENOENT;
}
