/* login_guard.c: one login at a time, and pauses after refused ones. It sends nothing. */
#include "net/login_guard.h"

#include "base/clock.h"
#include "base/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_AGAIN_MS 200 /* how often a waiting login looks at its deadline */

struct login_guard {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool parallel;  /* logins with a password that was accepted do not wait for each other */
    unsigned busy;  /* logins under way */
    char *accepted; /* the password that was accepted last; NULL: none since the last refusal */
    char *refused;  /* the password that was refused last; NULL: none since the last login that worked */
    unsigned refusals;
    int64_t until_ms;
};

struct login_guard *login_guard_new(bool parallel)
{
    struct login_guard *g = xcalloc(1, sizeof *g);

    g->parallel = parallel;
    (void)pthread_mutex_init(&g->lock, NULL);
    (void)pthread_cond_init(&g->ended, NULL);
    return g;
}

static void keep_secret(char **secret, const char *now)
{
    if (*secret)
        explicit_bzero(*secret, strlen(*secret));
    free(*secret);
    *secret = xstrdup(now);
}

void login_guard_free(struct login_guard *g)
{
    if (!g)
        return;
    keep_secret(&g->refused, NULL);
    keep_secret(&g->accepted, NULL);
    (void)pthread_cond_destroy(&g->ended);
    (void)pthread_mutex_destroy(&g->lock);
    free(g);
}

int login_guard_open(const struct source_config *cfg, void **ret, struct err *err)
{
    (void)cfg, (void)err;
    *ret = login_guard_new(false);
    return 0;
}

void login_guard_close(void *guard)
{
    login_guard_free(guard);
}

static bool is_accepted(const struct login_guard *g, const char *password)
{
    return g->parallel && g->accepted && strcmp(g->accepted, password) == 0;
}

/* Waits for the login that is under way; returns the time after it. */
static int wait_for_turn(struct login_guard *g, const char *password, int64_t *now_ms, int64_t deadline_ms,
                         const atomic_bool *stop)
{
    while (g->busy > 0 && !is_accepted(g, password)) {
        struct timespec until;
        int64_t began_us = clock_us(CLOCK_MONOTONIC);

        if (stop && atomic_load(stop))
            return -ECANCELED;
        if (*now_ms >= deadline_ms)
            return -ETIMEDOUT;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_AGAIN_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        (void)pthread_cond_timedwait(&g->ended, &g->lock, &until);
        *now_ms += (clock_us(CLOCK_MONOTONIC) - began_us) / 1000;
    }
    return 0;
}

static int64_t left_s(const struct login_guard *g, int64_t now_ms)
{
    return g->until_ms > now_ms ? (g->until_ms - now_ms + 999) / 1000 : 0;
}

int login_guard_begin(struct login_guard *g, const char *password, int64_t now_ms, int64_t deadline_ms,
                      const atomic_bool *stop, int64_t *ret_left_s)
{
    *ret_left_s = 0;
    (void)pthread_mutex_lock(&g->lock);
    int r = wait_for_turn(g, password, &now_ms, deadline_ms, stop);
    if (r == 0 && g->refused && strcmp(g->refused, password) == 0 && left_s(g, now_ms) > 0) {
        *ret_left_s = left_s(g, now_ms);
        r = -EACCES;
    }
    if (r == 0)
        g->busy++;
    (void)pthread_mutex_unlock(&g->lock);
    return r;
}

int64_t login_guard_end(struct login_guard *g, const char *password, bool accepted, bool refused,
                        int64_t now_ms)
{
    int64_t pause_s = LOGIN_PAUSE_FIRST_S;

    (void)pthread_mutex_lock(&g->lock);
    if (accepted || refused) {
        keep_secret(&g->refused, NULL);
        keep_secret(&g->accepted, accepted ? password : NULL);
    }
    if (accepted)
        g->refusals = 0;
    if (refused) {
        for (unsigned i = 0; i < g->refusals && pause_s < LOGIN_PAUSE_MOST_S; i++)
            pause_s *= 2;
        pause_s = pause_s < LOGIN_PAUSE_MOST_S ? pause_s : LOGIN_PAUSE_MOST_S;
        g->refusals++;
        keep_secret(&g->refused, password);
        g->until_ms = now_ms + pause_s * 1000;
    }
    g->busy--;
    (void)pthread_cond_broadcast(&g->ended);
    (void)pthread_mutex_unlock(&g->lock);
    return refused ? pause_s : 0;
}

bool login_guard_accepts(struct login_guard *g, const char *password)
{
    (void)pthread_mutex_lock(&g->lock);
    bool accepts = g->accepted && strcmp(g->accepted, password) == 0;
    (void)pthread_mutex_unlock(&g->lock);
    return accepts;
}

int64_t login_guard_left_s(struct login_guard *g, int64_t now_ms)
{
    (void)pthread_mutex_lock(&g->lock);
    int64_t s = g->refused ? left_s(g, now_ms) : 0;
    (void)pthread_mutex_unlock(&g->lock);
    return s;
}

void login_guard_forget(struct login_guard *g)
{
    (void)pthread_mutex_lock(&g->lock);
    keep_secret(&g->refused, NULL);
    g->refusals = 0;
    (void)pthread_mutex_unlock(&g->lock);
}
