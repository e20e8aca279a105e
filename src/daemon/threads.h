/* threads.h: the threads that talk to the cluster, so that the main one never waits.
 *
 * One collects, a few act. They are given orders through queues, and what they learn arrives as news on a
 * queue of the main thread's. They implement the engine's source and actuators ports.
 */
#ifndef BALLAST_DAEMON_THREADS_H
#define BALLAST_DAEMON_THREADS_H

#include "daemon/queue.h"
#include "engine/ports.h"

#include <ballast/actuator.h>
#include <ballast/collector.h>

enum news_kind { NEWS_INVENTORY, NEWS_SOURCE_ERROR, NEWS_ORDER_RESULT, NEWS_SETTINGS_RESULT, NEWS_MEASURED };

/* What a thread has learned. */
struct news {
    struct queue_item item;
    enum news_kind kind;
    uint64_t serial;                 /* NEWS_INVENTORY, NEWS_SOURCE_ERROR */
    struct collected collected;      /* NEWS_INVENTORY */
    struct err err;                  /* NEWS_SOURCE_ERROR */
    struct order_result result;      /* NEWS_ORDER_RESULT */
    struct settings_result settings; /* NEWS_SETTINGS_RESULT */
    struct measure_result measured;  /* NEWS_MEASURED; host is `host` */
    char *host;                      /* its own */
};

void news_free(struct queue_item *item);

/* ---- the collecting thread ------------------------------------------------------------------- */

/* Checks the configuration and starts the thread. cfg must live longer than it; *cfg->stop is what ends a
 * collection early. */
int collecting_start(const struct collector_ops *ops, const struct source_config *cfg, struct queue *news,
                     struct source **ret, struct err *err);

/* Ends the thread, waiting until the deadline (CLOCK_REALTIME, seconds) at the longest. -ETIMEDOUT: it still
 * runs, so nothing that it uses may be freed. From here on what is asked for is not done. NULL is fine. */
int collecting_stop(struct source *s, int64_t deadline_s);
void collecting_free(struct source *s); /* once it has stopped; NULL is fine */

extern const struct source_ops collecting_ops;

/* ---- the acting threads ---------------------------------------------------------------------- */

/* Those that read meters are others than those that act: a controller that hangs must not keep a VM from
 * being moved. ops NULL: a source that can only be looked at; every order fails. */
int acting_start(const struct actuator_ops *ops, const struct source_config *cfg, struct queue *news,
                 struct actuators **ret, struct err *err);
/* From now on orders are carried out by other functions, or with another configuration; those that wait or
 * are under way keep to theirs, so that both must live as long as the actuators. cfg->stop is the first
 * one's. */
int acting_change(struct actuators *h, const struct actuator_ops *ops, const struct source_config *cfg,
                  struct err *err);
int acting_stop(struct actuators *h, int64_t deadline_s);
void acting_free(struct actuators *h);

/* From now on an actuator that wants to know is told what a host is called before each order about it: what
 * name() says when the order is given, on the thread that gives it. NULL: not known. */
void acting_names(struct actuators *h, const char *(*name)(void *ctx, const char *host), void *ctx);

extern const struct actuators_ops acting_ops;

#endif
