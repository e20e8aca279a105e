/* metrics.h: figures of the service and its cluster for Prometheus, in its text format (0.0.4).
 *
 * Gauges come from the engine's state when they are asked for. Counters count from the start of the process:
 * Prometheus expects counters to begin anew. Units are Prometheus' base units: seconds,
 * bytes, hertz, joules, watts, ratios of 1. Times are given as instants, so that the age of data is
 * time() - ballast_inventory_timestamp_seconds at the moment of the query.
 *
 * No series is of a single VM: 30,000 VMs that move and come and go would be more series than all else. */
#ifndef BALLAST_DAEMON_REPLIES_METRICS_H
#define BALLAST_DAEMON_REPLIES_METRICS_H

#include "base/strbuf.h"
#include "daemon/replies/reply_daemon.h"
#include "engine/engine.h"
#include "store/stats.h"

#define METRICS_BOUNDS 12

struct metrics_histogram {
    uint64_t counts[METRICS_BOUNDS + 1]; /* of each bucket alone; the last has no bound */
    uint64_t n;
    int64_t sum_us;
};

/* What is counted. All zero at the start; used by the main thread. */
struct service_metrics {
    uint64_t events[event_kind_count];
    uint64_t actions[action_kind_count][action_state_count]; /* that came to this end */
    uint64_t moves[reason_count][action_state_count];        /* of these, by reason */
    uint64_t collections_failed;
    struct metrics_histogram collections, passes;
    uint64_t last_pass;       /* that is in `passes` */
    struct arena counted;     /* holds `store` */
    struct store_stats store; /* as of the last time that its rows were counted */
    instant_s store_counted;  /* 0: never */
};

void metrics_on_event(struct service_metrics *m, const struct event *ev);
void metrics_on_collection(struct service_metrics *m, int64_t took_us, bool failed);

/* Counts the last pass, if it is a new one. To be called at least once between two passes. */
void metrics_on_pass(struct service_metrics *m, const struct engine *e);

/* Writes all metrics. The rows of the store are counted every five minutes at most. */
void metrics_write(struct service_metrics *m, const struct engine *e, struct store *store,
                   const struct daemon_state *daemon, instant_s now, struct strbuf *out);

void metrics_release(struct service_metrics *m);

#endif
