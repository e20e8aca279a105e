/* thread_results.h: messages from collector and actuator threads to the main thread. */
#ifndef BALLAST_DAEMON_THREADS_THREAD_RESULTS_H
#define BALLAST_DAEMON_THREADS_THREAD_RESULTS_H

#include "daemon/queue.h"
#include "engine/ports.h"

enum news_kind { NEWS_INVENTORY, NEWS_SOURCE_ERROR, NEWS_SOURCE_CHANGED, NEWS_JOB_RESULT, NEWS_ANSWERS };

struct news {
    struct queue_item item;
    enum news_kind kind;
    uint64_t serial;            /* NEWS_INVENTORY, NEWS_SOURCE_ERROR, NEWS_ANSWERS */
    int64_t took_us;            /* the same: what the collection took */
    struct collected collected; /* NEWS_INVENTORY, NEWS_ANSWERS */
    struct err err;             /* NEWS_SOURCE_ERROR */
    struct job *job;            /* NEWS_JOB_RESULT: owned copy */
    struct job_result result;   /* NEWS_JOB_RESULT */
};

void thread_results_free(struct queue_item *item);

#endif
