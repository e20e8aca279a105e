/* queue.h: passes values from one thread to another. Threads share nothing else.
 *
 * First in, first out. The queue owns a pushed item, the caller a popped one. An eventfd counts the items, so
 * that an event loop can watch it and a worker can block on it. */
#ifndef BALLAST_DAEMON_QUEUE_H
#define BALLAST_DAEMON_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

/* First member of every item. */
struct queue_item {
    struct queue_item *next;
};

struct queue {
    pthread_mutex_t lock;
    struct queue_item *first, *last;
    int fd; /* eventfd, counts the items */
};

/* blocks: pop() waits for an item (workers); otherwise it returns NULL from an empty queue (the loop). A
 * negative errno: no file descriptor is left. */
int queue_init(struct queue *q, bool blocks);

/* Any thread. */
void queue_push(struct queue *q, struct queue_item *item);
struct queue_item *queue_pop(struct queue *q);

/* Disposes of remaining items, and closes. No other thread may use the queue any more. */
void queue_release(struct queue *q, void (*dispose)(struct queue_item *item));

#endif
