/* service.h: the simulated service: an engine and its ports, and the service's death and restart.
 *
 * Source and actuators are the cluster's collector and actuator. A job is carried out and answered at the
 * engine's next turn, in the same second, in the order of submission: the hypervisor answers at once, only
 * its operations take time. (A job submitted during an answer waits for the turn after that.)
 *
 * A kill takes effect at one of the next answers, drawn by seed: either before the job is carried out, or
 * after, so that its answer is lost. Each job behind it is lost or still carried out, drawn one by one. No
 * shutdown code runs. The next engine starts from the stored records. */
#ifndef BALLAST_SIM_SERVICE_H
#define BALLAST_SIM_SERVICE_H

#include "base/rng.h"
#include "engine/engine.h"
#include "sim/cluster/cluster.h"
#include "sim/run/simulate.h"

/* The objects behind the engine's ports: each points to its service. */
struct actuators {
    struct service *of;
};
struct source {
    struct service *of;
};
struct event_sink {
    struct service *of;
};

/* Jobs of the actuators without an answer. */
struct waiting_jobs {
    struct job **items;
    size_t n, cap;
};

struct service {
    const struct scenario *scenario;
    struct arena *a; /* of the result */
    struct engine_settings settings;
    struct cluster *cluster;
    struct store_ops store_ops; /* counted_store; without put_look if no caller reads looks */
    struct store *store;
    struct engine *engine; /* NULL: the service is down */
    struct source source;
    struct actuators actuators;
    struct event_sink event_sink;
    uint32_t lives; /* number of starts */
    uint64_t asked; /* serial of the requested inventory; 0: none */
    /* Carries out the jobs, where actuators stand between service and cluster; NULL: cluster_run_job(). */
    void (*run_job)(void *ctx, const struct job *job, struct job_result *ret);
    /* Changes what the collector read, before the engine sees it; NULL: nothing. */
    void (*edit_inventory)(void *ctx, struct inventory *inv);
    void *hooks_ctx; /* of both */
    double ahead_s;  /* of its clock, of the cluster's; changes only while the service is down */
    struct waiting_jobs waiting;

    struct rng rng;
    double *kills; /* times of the kills, ascending; `downs`: the length of each outage */
    double *downs;
    size_t n_kills, next_kill;
    bool doomed;           /* dies at one of the next answers ... */
    uint32_t answers_left; /* ... after this many ... */
    double dies_by_s;      /* ... and at this time at the latest */
    double up_at_s;        /* time of the next start; only while engine is NULL */

    bool pass_done; /* the engine has decided, and the pass is not yet in points */
    uint64_t pass_id;
    uint64_t passes; /* of all lives */
    struct pass_point *points;
    uint64_t *point_pass; /* their ids in the store */
    size_t n_points, cap_points, cap_point_pass;
};

/* Starts the engine at t = 0. Released after an error, too. Errors as of engine_create(). */
int service_init(struct service *v, const struct scenario *s, struct cluster *c,
                 const struct simulate_options *options, struct arena *a, struct err *err);
void service_release(struct service *v);

/* The engine's clock at t_s, in whole seconds. */
instant_s service_instant(const struct service *v, double t_s);

/* The next time, later than t_s, at which service_turn() is due. */
double service_next_s(const struct service *v, double t_s);

/* Starts, kills or ticks the service; carries out and answers its jobs until it submits no more. */
int service_turn(struct service *v, double t_s, struct err *err);

/* Answers only, after a command to the engine. */
int service_answer(struct service *v, double t_s, struct err *err);

#endif
