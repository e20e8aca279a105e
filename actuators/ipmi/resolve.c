/* resolve.c: resolves names in a thread of its own, so that a caller waits no longer than it may. */
#include "resolve.h"

#include "base/thread.h"
#include "base/xalloc.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_MS 5

/* Shared by the caller and the resolving thread; the last one to leave frees it. */
struct look_up {
    pthread_mutex_t lock;
    bool done, abandoned;
    int result;
    struct sockaddr_storage address;
    socklen_t len;
    char host[256], port[6];
};

static int ask(const char *host, const char *port, int flags, struct sockaddr_storage *ret,
               socklen_t *ret_len)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int r = getaddrinfo(host, port, &hints, &found);

    if (r != 0)
        return r;
    memcpy(ret, found->ai_addr, found->ai_addrlen);
    *ret_len = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

static void release(struct look_up *l)
{
    (void)pthread_mutex_destroy(&l->lock);
    free(l);
}

static void *look_up(void *argument)
{
    struct look_up *l = argument;
    int r = ask(l->host, l->port, AI_ADDRCONFIG, &l->address, &l->len);

    (void)pthread_mutex_lock(&l->lock);
    l->result = r;
    l->done = true;
    bool ours = l->abandoned;
    (void)pthread_mutex_unlock(&l->lock);
    if (ours)
        release(l);
    return NULL;
}

static int begin(struct look_up *l)
{
    (void)pthread_mutex_init(&l->lock, NULL);
    return thread_begin(look_up, l);
}

static bool wait_for(struct look_up *l, const struct deadline *d)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    for (;;) {
        bool over = call_timeout_left_ms(d) == 0 || call_timeout_stopped(d);
        (void)pthread_mutex_lock(&l->lock);
        bool done = l->done;
        l->abandoned = !done && over;
        (void)pthread_mutex_unlock(&l->lock);
        if (done || over)
            return done;
        (void)nanosleep(&pause, NULL);
    }
}

int ipmi_resolve(const char *host, const char *port, const struct deadline *d, struct sockaddr_storage *ret,
                 socklen_t *ret_len, struct err *err)
{
    if (ask(host, port, AI_NUMERICHOST, ret, ret_len) == 0)
        return 0;
    struct look_up *l = xcalloc(1, sizeof *l);
    (void)strncpy(l->host, host, sizeof l->host - 1);
    (void)strncpy(l->port, port, sizeof l->port - 1);
    int r = begin(l);
    if (r < 0) {
        release(l);
        return err_set(err, r, "no thread can be had to look up the name %s", host);
    }
    if (!wait_for(l, d)) {
        if (call_timeout_stopped(d))
            return err_set(err, -ECANCELED, "the service is going down");
        return err_set(err, -ETIMEDOUT, "the name %s was not looked up in time: does the name server answer?",
                       host);
    }
    r = l->result;
    *ret = l->address;
    *ret_len = l->len;
    release(l);
    if (r != 0)
        return err_set(err, -EHOSTUNREACH, "the name %s cannot be resolved: %s", host, gai_strerror(r));
    return 0;
}

int ipmi_address_write(const struct sockaddr_storage *address, socklen_t len, char to[IPMI_PEER_MAX],
                       struct err *err)
{
    char host[56] = "", port[6] = "";

    if (getnameinfo((const struct sockaddr *)address, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return err_set(err, -EHOSTUNREACH, "its address cannot be written down");
    (void)snprintf(to, IPMI_PEER_MAX, address->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return 0;
}
