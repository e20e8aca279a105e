/* token.c: makes tokens, and finds the one that a request has. Storing them is store/tokens.c's. */
#include "http/token.h"

#include "base/xalloc.h"

#include <ctype.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define RANDOM_BYTES 32

struct token_list {
    pthread_mutex_t lock;
    struct token *list;
    size_t n;
};

int token_hash(const char *text, unsigned char ret[TOKEN_HASH_BYTES])
{
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), ret) < 0 ? -EIO : 0;
}

int token_random(char ret[TOKEN_RANDOM_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[RANDOM_BYTES];

    if (getrandom(random, sizeof random, 0) != sizeof random)
        return -errno;
    for (size_t i = 0; i < sizeof random; i++) {
        *ret++ = digits[random[i] >> 4];
        *ret++ = digits[random[i] & 15];
    }
    *ret = '\0';
    explicit_bzero(random, sizeof random);
    return 0;
}

int token_make(char ret[TOKEN_TEXT_SIZE], unsigned char ret_hash[TOKEN_HASH_BYTES])
{
    int r = token_random(ret + sizeof TOKEN_PREFIX - 1);

    memcpy(ret, TOKEN_PREFIX, sizeof TOKEN_PREFIX - 1);
    return r < 0 ? r : token_hash(ret, ret_hash);
}

bool token_name_is_good(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
            return false;
    }
    return len > 0 && len < TOKEN_NAME_MAX;
}

struct token_list *token_list_new(void)
{
    struct token_list *t = xcalloc(1, sizeof *t);

    (void)pthread_mutex_init(&t->lock, NULL);
    return t;
}

void token_list_free(struct token_list *t)
{
    if (!t)
        return;
    (void)pthread_mutex_destroy(&t->lock);
    free(t->list);
    free(t);
}

static struct token *find(struct token_list *t, const unsigned char *of)
{
    for (size_t i = 0; i < t->n; i++) {
        if (gnutls_memcmp(t->list[i].hash, of, TOKEN_HASH_BYTES) == 0)
            return &t->list[i];
    }
    return NULL;
}

void token_list_set(struct token_list *t, const struct token *list, size_t n)
{
    struct token *fresh = xcalloc(n + 1, sizeof *fresh);

    if (n > 0)
        memcpy(fresh, list, n * sizeof *fresh);
    (void)pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < n; i++) {
        const struct token *known = find(t, fresh[i].hash);

        if (known && known->used > fresh[i].used)
            fresh[i].used = known->used;
    }
    free(t->list);
    t->list = fresh;
    t->n = n;
    (void)pthread_mutex_unlock(&t->lock);
}

int token_list_find(struct token_list *t, const unsigned char hash[TOKEN_HASH_BYTES], instant_s now,
                    enum token_look look, struct token *ret)
{
    int r = -ENOENT;

    (void)pthread_mutex_lock(&t->lock);
    struct token *found = find(t, hash);

    if (found) {
        r = found->expires != 0 && found->expires <= now ? -EKEYEXPIRED : 0;
        if (r == 0 && look == TOKEN_USED)
            found->used = now;
        if (ret)
            *ret = *found;
    }
    (void)pthread_mutex_unlock(&t->lock);
    return r;
}

int token_list_check(struct token_list *t, const char *text, instant_s now, struct token *ret)
{
    unsigned char hash[TOKEN_HASH_BYTES];

    if (strlen(text) >= TOKEN_TEXT_SIZE || token_hash(text, hash) < 0)
        return -ENOENT;
    return token_list_find(t, hash, now, TOKEN_USED, ret);
}

instant_s token_list_used(struct token_list *t, const char *name)
{
    instant_s used = 0;

    (void)pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->n; i++) {
        if (strcmp(t->list[i].name, name) == 0)
            used = t->list[i].used;
    }
    (void)pthread_mutex_unlock(&t->lock);
    return used;
}
