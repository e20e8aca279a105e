/* queue.c: a queue between threads with an eventfd. */
#include "daemon/queue.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

int queue_init(struct queue *q, bool blocks)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE | (blocks ? 0 : EFD_NONBLOCK));

    if (fd < 0)
        return -errno;
    *q = (struct queue){.fd = fd};
    (void)pthread_mutex_init(&q->lock, NULL); /* cannot fail on Linux */
    return 0;
}

void queue_push(struct queue *q, struct queue_item *item)
{
    const uint64_t one = 1;

    item->next = NULL;
    (void)pthread_mutex_lock(&q->lock);
    if (q->last)
        q->last->next = item;
    else
        q->first = item;
    q->last = item;
    (void)pthread_mutex_unlock(&q->lock);
    /* after adding the item, so that a reader of the count finds it; 2^64 items do not fit in memory */
    ssize_t n = write(q->fd, &one, sizeof one);

    assert(n == sizeof one);
    (void)n;
}

struct queue_item *queue_pop(struct queue *q)
{
    uint64_t count;
    ssize_t n;

    do
        n = read(q->fd, &count, sizeof count); /* counts one down */
    while (n < 0 && errno == EINTR);
    if (n != sizeof count)
        return NULL;
    (void)pthread_mutex_lock(&q->lock);
    struct queue_item *item = q->first;

    assert(item);
    q->first = item->next;
    if (!q->first)
        q->last = NULL;
    (void)pthread_mutex_unlock(&q->lock);
    return item;
}

void queue_release(struct queue *q, void (*dispose)(struct queue_item *item))
{
    struct queue_item *next;

    for (struct queue_item *item = q->first; item; item = next) {
        next = item->next;
        dispose(item);
    }
    (void)close(q->fd);
    (void)pthread_mutex_destroy(&q->lock);
    *q = (struct queue){.fd = -1};
}
