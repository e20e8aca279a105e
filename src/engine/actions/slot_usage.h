/* slot_usage.h: which actions use which host and VM, so that no action has to search all others.
 *
 * It is kept, not computed: slot_usage_update() is called with whatever changes an action's state, or whether
 * an order of it is out, and adds and takes away what differs; slot_usage_observe() with each new inventory,
 * for what others move; slot_usage_rebuild() when actions are forgotten, which keeps the maps from growing
 * for ever.
 *
 * Invariants, between two calls of the engine, checked by tests/unit/slot_usage.c against a count by hand:
 *   each number is that of the actions in all for which its comment holds;
 *   each list holds, in no particular order, at least the actions for which its comment holds, each once;
 * what was put there stays until the next rebuild, so a reader of a list checks the states; seen[] counts
 * the migrations of the newest inventory, `theirs` of those the ones that are no move of ours under way.
 *
 * Looking up is one hash of an id; a change costs as much as the action has hosts and VMs. */
#ifndef BALLAST_ENGINE_ACTIONS_SLOT_USAGE_H
#define BALLAST_ENGINE_ACTIONS_SLOT_USAGE_H

#include "base/idmap.h"

#include <stdbool.h>
#include <stdint.h>

struct action;
struct actions;
struct policy;
struct snapshot;

struct action_list {
    struct action **items;
    size_t n, cap;
};

void action_list_add(struct action_list *l, struct action *x);
void action_list_release(struct action_list *l);

/* Of a host. "Under way" is starting or running. */
struct host_use {
    struct action_list actions; /* committed or done, with the host at one of their ends */
    uint32_t slots;             /* moves in or out that take a slot: under way, or with a job out */
    uint32_t arriving;          /* committed moves and starts to it */
    uint32_t departing; /* moves off it, under way or being verified; of VMs that are off, approved, too */
    uint32_t to_sleep;  /* committed ACTION_POWER_OFF */
    uint32_t to_maintenance; /* committed ACTION_ENTER_MAINTENANCE */
};

struct vm_use {
    struct action_list actions; /* committed or done */
    uint32_t committed;
    uint32_t moves; /* moves under way or being verified: a migration of the VM is ours */
    uint32_t busy;  /* under way, being verified, or with a slot */
};

/* Of a host, by index: migrations that the newest inventory shows. */
struct seen_use {
    uint32_t in, out;
    uint32_t theirs; /* in or out */
};

struct slot_usage {
    struct idmap hosts;           /* id -> struct host_use */
    struct idmap vms;             /* id -> struct vm_use */
    struct action_list committed; /* all */
    struct action_list power;     /* committed ACTION_POWER_ON and _OFF */
    uint32_t *power_host;         /* by item of it: its host in the newest inventory, or IX_NONE */
    uint32_t slots;               /* moves of ours that take a slot */
    uint32_t power_changes;       /* hosts whose power is being changed, or for which a job is out */
    const struct snapshot *snap;  /* the newest inventory; NULL before the first */
    struct seen_use *seen;
    uint32_t n_seen;
    uint32_t theirs;
};

/* Of the action, by its state: it is added, taken away or changed. Returns whether it gave something up that
 * another one may have waited for. */
bool slot_usage_update(struct actions *all, struct action *x);
void slot_usage_observe(struct actions *all, const struct snapshot *s);
void slot_usage_rebuild(struct actions *all);
void slot_usage_release(struct actions *all);

/* Never NULL: of what no action is about, an empty one. Valid until the next change. */
const struct host_use *slot_usage_of_host(const struct actions *all, const char *host);
const struct vm_use *slot_usage_of_vm(const struct actions *all, const char *vm);

/* Whether the move that wants to begin gets a slot at both of its hosts and in the cluster. There must be an
 * inventory. */
bool slot_usage_has_slot(const struct actions *all, const struct policy *p, const struct action *wants);
/* Whether the newest inventory shows a migration of another VM in or out of a host of this move. */
bool slot_usage_sees_others(const struct actions *all, const struct action *move);
/* Whether the cluster has no free slot. */
bool slot_usage_is_full(const struct actions *all, const struct policy *p);

#endif
