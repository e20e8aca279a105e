/* service.h: the service that is simulated: an engine, its ports, and its death and return.
 *
 * Source and actuators are the cluster's collector and actuator. What the engine asks for is done and
 * answered at its next turn, in the same second, in the order in which it was asked; so a hypervisor takes no
 * time to answer, only to work. (What it asks for while it is told an answer is done a turn later still.)
 *
 * A service that is to be killed dies at one of the next answers, drawn by seed: before the job was carried
 * out, or after, when nobody is left to hear of it. The jobs behind it are lost, or carried out all the
 * same, each by lot. Nothing is said good-bye to. It begins anew on what it had stored.
 */
#ifndef BALLAST_SIM_SERVICE_H
#define BALLAST_SIM_SERVICE_H

#include "base/rng.h"
#include "engine/engine.h"
#include "sim/cluster/cluster.h"
#include "sim/run/simulate.h"

/* The engine's objects for its ports: each is part of the service. */
struct actuators {
    struct service *of;
};
struct source {
    struct service *of;
};
struct event_sink {
    struct service *of;
};

/* What was asked of the actuators and is not answered. */
struct waiting_jobs {
    struct job **items;
    size_t n, cap;
};

struct service {
    const struct scenario *scenario;
    struct arena *a; /* of the result */
    struct engine_settings settings;
    struct cluster *cluster;
    struct store *store;
    struct engine *engine; /* NULL: it is down */
    struct source source;
    struct actuators actuators;
    struct event_sink event_sink;
    uint32_t lives; /* how often it has begun */
    uint64_t asked; /* serial of the inventory that is wanted; 0: none */
    struct waiting_jobs waiting;

    struct rng rng;
    double *kills; /* when it is to be killed, ascending, and for how long it is down then */
    double *downs;
    size_t n_kills, next_kill;
    bool doomed;           /* it is to die at one of the next answers ... */
    uint32_t answers_left; /* ... after so many */
    double dies_by_s;      /* ... and by then in any case */
    double up_at_s;        /* it begins again; only while engine is NULL */

    bool pass_done; /* the engine has decided, and that was not written down yet */
    uint64_t pass_id;
    uint64_t passes; /* in all */
    struct pass_point *points;
    uint64_t *point_pass; /* their numbers in the store */
    size_t n_points, cap_points, cap_point_pass;
};

/* The engine is begun at once, at t = 0. Errors as of engine_create(). */
int service_init(struct service *v, const struct scenario *s, struct cluster *c, int64_t (*clock_us)(void),
                 struct arena *a, struct err *err);
void service_release(struct service *v);

/* The instant that the engine takes a time for: whole seconds. */
instant_s service_instant(const struct service *v, double t_s);

/* When it wants to be called next, later than t_s. */
double service_next_s(const struct service *v, double t_s);

/* Time has passed: the service begins, dies, ticks; whatever it asks for is done and answered until it asks
 * for nothing more. */
int service_turn(struct service *v, double t_s, struct err *err);

/* Answers only: after a command that was given to the engine. */
int service_answer(struct service *v, double t_s, struct err *err);

#endif
