/* admin.h: acts for the people of a scenario: powers arriving VMs on, services hosts, and changes settings,
 * at the scenario's times, through the engine's commands.
 *
 * VMs that arrive together are requested together (one plan, §3.2). If some have no place, the others are
 * requested again without them, and those without a place again after each pass. So is a VM whose start
 * failed, or whose request was lost with the service.
 *
 * Without Ballast the admin starts each VM on the host with the most memory not configured for VMs, on the
 * next one if that refuses, and tries again a minute later if all refuse. */
#ifndef BALLAST_SIM_ADMIN_H
#define BALLAST_SIM_ADMIN_H

#include "sim/run/service.h"

struct newcomer {
    uint32_t vm;
    bool ready;          /* it is to be asked for ... */
    uint64_t pass;       /* ... or will be, when more passes than this have been made ... */
    double not_before_s; /* ... and it is as late as this */
    bool asked;          /* it is part of the request that waits for its answer */
    uint32_t host;       /* without Ballast: where it is being started; IX_NONE: nowhere */
};

struct admin {
    const struct scenario *scenario;
    struct cluster *cluster;
    double *arrivals_s; /* ascending */
    uint32_t n_arrivals, next_arrival;
    struct newcomer *newcomers; /* that do not run yet; in the order in which they came */
    size_t n_newcomers, cap_newcomers;
    uint64_t ticket; /* 0: nothing is asked for */
    uint32_t life;   /* of the service that was asked */
    double
        *due_s; /* of each operation of the script, later again where it was refused; INFINITY: it is done */
    double again_s; /* without Ballast: the next try to start a VM */
    uint32_t unplaced;
};

/* Nothing happens before the cluster's first advance. */
void admin_init(struct admin *ad, const struct scenario *s, struct cluster *c);
void admin_release(struct admin *ad);

/* When the next one arrives or something is to be done, after t_s; INFINITY: never. */
double admin_next_s(const struct admin *ad, double t_s);

/* Does what is due. v: NULL without Ballast. An error is one of the scenario (a setting that is refused) or
 * of service_answer(). */
int admin_turn(struct admin *ad, struct service *v, double t_s, struct err *err);

#endif
