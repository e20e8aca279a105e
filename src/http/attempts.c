/* attempts.c: a small table of addresses, each with the tries that it has left. */
#include "http/attempts.h"

#include "base/xalloc.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESSES 256 /* the one that has tried least lately makes room */
#define BURST 10
#define EVERY_S 1 /* one more */

struct address {
    uint64_t key; /* 0: free */
    unsigned left, unlogged;
    time_t since; /* `left` is as of then */
};

struct attempts {
    pthread_mutex_t lock;
    struct address list[ADDRESSES];
};

struct attempts *attempts_new(void)
{
    struct attempts *a = xcalloc(1, sizeof *a);

    (void)pthread_mutex_init(&a->lock, NULL);
    return a;
}

void attempts_free(struct attempts *a)
{
    if (a)
        (void)pthread_mutex_destroy(&a->lock);
    free(a);
}

static uint64_t key_of(const struct sockaddr *from)
{
    uint64_t key = 0;

    if (from && from->sa_family == AF_INET)
        key = ((const struct sockaddr_in *)from)->sin_addr.s_addr;
    else if (from && from->sa_family == AF_INET6)
        memcpy(&key, &((const struct sockaddr_in6 *)from)->sin6_addr, sizeof key);
    return key | UINT64_C(1) << 63;
}

static struct address *find(struct attempts *a, uint64_t key)
{
    struct address *oldest = &a->list[0];

    for (size_t i = 0; i < ADDRESSES; i++) {
        if (a->list[i].key == key)
            return &a->list[i];
        if (a->list[i].since < oldest->since)
            oldest = &a->list[i];
    }
    *oldest = (struct address){.key = key, .left = BURST};
    return oldest;
}

bool attempts_note(struct attempts *a, const struct sockaddr *from, time_t now, unsigned *ret_unlogged)
{
    (void)pthread_mutex_lock(&a->lock);
    struct address *x = find(a, key_of(from));
    time_t more = x->since != 0 && now > x->since ? (now - x->since) / EVERY_S : 0;
    bool allowed;

    x->left = more >= BURST || x->left + (unsigned)more > BURST ? BURST : x->left + (unsigned)more;
    x->since = now;
    allowed = x->left > 0;
    *ret_unlogged = x->unlogged;
    if (allowed) {
        x->left--;
        x->unlogged = 0;
    } else {
        x->unlogged++;
    }
    (void)pthread_mutex_unlock(&a->lock);
    return allowed;
}
