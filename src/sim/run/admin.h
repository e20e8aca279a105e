/* admin.h: the simulated administrator. Powers arriving VMs on, services hosts, and changes settings, at the
 * scenario's times, through the engine's commands.
 *
 * VMs that arrive together are requested together (one plan, §3.2). If some find no host, the others are
 * requested again without them, and the rest again after each pass. A VM whose start failed, or whose request
 * was lost when the service was killed, is requested again as well.
 *
 * Without Ballast the admin starts each VM on the host with the most memory not configured for VMs, tries the
 * next host after a refusal, and repeats after a minute if all hosts refuse. */
#ifndef BALLAST_SIM_ADMIN_H
#define BALLAST_SIM_ADMIN_H

#include "sim/run/service.h"

struct newcomer {
    uint32_t vm;
    bool ready;          /* to be requested now ... */
    uint64_t pass;       /* ... or once more passes than this are done ... */
    double not_before_s; /* ... and this time is reached */
    bool asked;          /* part of the pending request */
    uint32_t host;       /* without Ballast: the host of the running start; IX_NONE: none */
};

struct admin {
    const struct scenario *scenario;
    struct cluster *cluster;
    double *arrivals_s; /* ascending */
    uint32_t n_arrivals, next_arrival;
    struct newcomer *newcomers; /* VMs that do not run yet, in order of arrival */
    size_t n_newcomers, cap_newcomers;
    uint64_t ticket; /* 0: no request is pending */
    uint32_t life;   /* the service's `lives` at the request */
    double *due_s;   /* of each step of the script, later if it was refused; INFINITY: done */
    double again_s;  /* without Ballast: the next try to start a VM */
    uint32_t unplaced;
};

/* Call it before the cluster's first advance. */
void admin_init(struct admin *ad, const struct scenario *s, struct cluster *c);
void admin_release(struct admin *ad);

/* The next arrival or step of the script after t_s; INFINITY: none. */
double admin_next_s(const struct admin *ad, double t_s);

/* Takes all steps that are due. v: NULL without Ballast. Fails on an error of the scenario (a refused
 * setting) or of service_answer(). */
int admin_turn(struct admin *ad, struct service *v, double t_s, struct err *err);

#endif
