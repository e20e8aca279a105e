/* action_queue.h: which actions are to be looked at, and in which order.
 *
 * An approved action waits for what it depends on, a slot, a host to be empty, its VM to be free; or for an
 * inventory, time, or the service to be resumed. The latter concern all: then everything is due. The former
 * is given up by one action, which wakes those that may have waited for it: those that share a host or the VM
 * with it, those that depend on it, and where a host's power was being changed, those that change one, too.
 *
 * Rounds: what is due is taken in the order of priority, then number. What is found to be due behind the
 * place that a round has reached is for the next one, so that no round can go on for ever. A slot in the
 * cluster, of which there may be few for thousands, is offered to one after the other of those that wait for
 * one. */
#ifndef BALLAST_ENGINE_ACTIONS_ACTION_QUEUE_H
#define BALLAST_ENGINE_ACTIONS_ACTION_QUEUE_H

#include "engine/actions/slot_usage.h"

struct actions;

struct action_queue {
    struct action_list due;   /* a heap: the first is the next one */
    struct action_list later; /* for the next round */
    struct action_list queue; /* a heap: those that found the cluster full */
    const struct action *at;  /* in a round: the last that was taken */
    bool all;                 /* everything is due */
};

void action_queue_add(struct actions *all, struct action *x);
void action_queue_add_all(struct actions *all);
/* It waits until the cluster is not full any more, perhaps among other things. */
void action_queue_queue(struct actions *all, struct action *x);
/* x has given something up. */
void action_queue_wake(struct actions *all, const struct action *x);

/* A round: until action_queue_next() returns NULL, which ends it. */
void action_queue_begin(struct actions *all);
struct action *action_queue_next(struct actions *all, bool full);

/* Not in a round: what has ended is about to be forgotten. */
void action_queue_forget(struct actions *all);
void action_queue_release(struct actions *all);

#endif
