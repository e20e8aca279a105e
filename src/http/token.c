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

static int hash(const char *text, unsigned char ret[TOKEN_HASH_BYTES])
{
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), ret) < 0 ? -EIO : 0;
}

int token_make(char ret[TOKEN_TEXT_SIZE], unsigned char ret_hash[TOKEN_HASH_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[RANDOM_BYTES];
    char *at = ret + sizeof TOKEN_PREFIX - 1;

    if (getrandom(random, sizeof random, 0) != sizeof random)
        return -errno;
    memcpy(ret, TOKEN_PREFIX, sizeof TOKEN_PREFIX - 1);
    for (size_t i = 0; i < sizeof random; i++) {
        *at++ = digits[random[i] >> 4];
        *at++ = digits[random[i] & 15];
    }
    *at = '\0';
    explicit_bzero(random, sizeof random);
    return hash(ret, ret_hash);
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

int token_list_check(struct token_list *t, const char *text, instant_s now, struct token *ret)
{
    unsigned char of[TOKEN_HASH_BYTES];
    int r = -ENOENT;

    if (strlen(text) >= TOKEN_TEXT_SIZE || hash(text, of) < 0)
        return -ENOENT;
    (void)pthread_mutex_lock(&t->lock);
    struct token *found = find(t, of);

    if (found) {
        r = found->expires != 0 && found->expires <= now ? -EKEYEXPIRED : 0;
        if (r == 0)
            found->used = now;
        *ret = *found;
    }
    (void)pthread_mutex_unlock(&t->lock);
    return r;
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
