/* login_guards.c: the table of guards. Guards are made, never removed: there are as many as accounts. */
#include "net/login_guards.h"

#include "base/idmap.h"
#include "base/order.h"
#include "base/xalloc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct login_guards {
    pthread_mutex_t lock; /* of the table */
    struct idmap of;      /* account -> struct login_guard */
};

struct login_guards *login_guards_new(void)
{
    struct login_guards *all = xcalloc(1, sizeof *all);

    (void)pthread_mutex_init(&all->lock, NULL);
    return all;
}

static void guard_free(void *value)
{
    login_guard_free(value);
}

void login_guards_free(struct login_guards *all)
{
    if (!all)
        return;
    idmap_release(&all->of, guard_free);
    (void)pthread_mutex_destroy(&all->lock);
    free(all);
}

struct login_guard *login_guards_of(struct login_guards *all, const char *account)
{
    (void)pthread_mutex_lock(&all->lock);
    void **slot = idmap_slot(&all->of, account);

    if (!*slot)
        *slot = login_guard_new(true);
    struct login_guard *g = *slot;

    (void)pthread_mutex_unlock(&all->lock);
    return g;
}

void login_guards_forget(struct login_guards *all)
{
    (void)pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->of.cap; i++) {
        if (all->of.entries[i].value)
            login_guard_forget(all->of.entries[i].value);
    }
    (void)pthread_mutex_unlock(&all->lock);
}

size_t login_guards_paused(struct login_guards *all, int64_t now_ms, struct arena *a,
                           struct login_pause **ret)
{
    size_t n = 0;

    (void)pthread_mutex_lock(&all->lock);
    struct login_pause *list = arena_array(a, struct login_pause, all->of.n);

    for (size_t i = 0; i < all->of.cap; i++) {
        const char *account = all->of.entries[i].key;
        struct login_guard *g = all->of.entries[i].value;
        int64_t left_s = account && g ? login_guard_left_s(g, now_ms) : 0;

        if (left_s > 0)
            list[n++] = (struct login_pause){arena_strdup(a, account), left_s};
    }
    (void)pthread_mutex_unlock(&all->lock);
    if (n > 0)
        qsort(list, n, sizeof *list, order_texts);
    *ret = list;
    return n;
}
