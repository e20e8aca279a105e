/* action.h: an action, the list of all, and the one way for it to change its state. */
#ifndef BALLAST_ENGINE_ACTIONS_ACTION_H
#define BALLAST_ENGINE_ACTIONS_ACTION_H

#include "engine/actions/action_queue.h"
#include "engine/actions/backoff.h"
#include "engine/actions/copy_progress.h"
#include "engine/actions/slot_usage.h"
#include "engine/ports.h"

struct engine;

#define WHY_ALL 2048 /* bytes of one text with all errors on the way */

/* How its copying went, as seen while it was carried out. */
struct copy_timing {
    instant_s began;           /* 0: not by this process */
    instant_s ran;             /* last seen running */
    instant_s ended;           /* reported to have succeeded; 0: not yet */
    double took_s;             /* of copying, by the hypervisor itself; 0: not known */
    double mem_mb, dirty_mb_s; /* of the VM, when it began */
    double disks_mb;           /* that are copied with it; 0: none */
    bool shared;               /* another migration used one of its hosts at some time meanwhile */
};

/* The record, and the fields that a restart may lose. The strings of the record are the action's own. */
struct action {
    struct action_record r;
    bool dirty;                /* the store does not have this version yet: see action_changed() */
    bool job_out;              /* a worker has a job of it */
    enum job_kind job;         /* which */
    bool recalled;             /* from an earlier process */
    instant_s retry_at;        /* nothing is asked of the actuators before this */
    unsigned retries;          /* failures to learn anything, in a row */
    uint64_t inventory_after;  /* only an inventory with a higher serial says where it stands */
    bool only_adopt;           /* ACTION_STARTING: what does not run yet is not begun any more, or not now */
    unsigned inventories_seen; /* inventories that contradicted the task's success */
    instant_s advanced;        /* when it last got on; 0: not yet */
    instant_s waits_since;   /* ACTION_POWER_ON: its host has had time to come since then, which is later than
                              * it began, as no method could be tried before; 0: since then */
    unsigned method_now;     /* ACTION_POWER_ON: WAKE_*, the method that is being tried now; 0: not known */
    unsigned may_have_woken; /* ACTION_POWER_ON: task_progress.may_have_woken, when it last answered ... */
    uint64_t
        settings; /* ... and hosts_method_settings() then, if that is a single method; 0: not known then */
    bool is_back; /* ACTION_POWER_ON: an inventory shows the host on */
    instant_s polled;    /* when the actuators last answered how far it is; 0: not yet, to this process */
    instant_s cancel_at; /* the next time that a hanging task is asked to stop */
    bool blames_peer;    /* ACTION_FAILED: of the VM or the host (retry_blames_peer()) */
    bool start_refused;  /* ACTION_PLACE that failed: surely it was not begun, so another host may be asked */
    struct copy_timing copy;
    struct copy_progress progress;
    uint64_t waited_serial;   /* the inventory with which it was last found to have to wait */
    uint64_t emptied_serial;  /* ACTION_POWER_OFF: an inventory of a higher serial was asked for when nothing
                               * was left to be done on the host; 0: something is */
    bool controllers_checked; /* ACTION_POWER_OFF: its host's controllers have answered as they should, so
                               * that the host may be emptied; true, too, where it has none */
    bool check_is_old;        /* the JOB_CHECK that is out was asked by former settings */
    struct action_list needed_by; /* those that depend on it; perhaps also some that do not any more */
    unsigned counted;             /* slot_usage.c: the uses it is counted in */
    bool listed;                  /* ... and whether it is in the lists */
    bool due, queued;             /* action_queue.c: where it waits */
};

struct actions {
    struct action **list; /* by id */
    size_t n, cap;
    uint64_t last_id;
    char *instance;              /* the store's name, part of every uid */
    struct action_list unstored; /* those that are dirty */
    struct slot_usage usage;
    struct action_queue queue;
    uint64_t released;     /* actions so far that held resources of hosts, and have ended */
    int64_t power_changes; /* hosts that are put to standby or woken now; see
                              power_preconditions_count_changes() */
    struct idmap vm_backoff, wake_backoff, standby_backoff; /* id -> struct backoff */
};

/* How long an ended action stays at hand. */
#define ACTION_ENDED_SHOWN_S 3600

struct action *action_add(struct engine *e, const struct action_record *r); /* copies; id 0: gets the next */
struct action *action_find(const struct engine *e, uint64_t id);
bool action_is_of_power(const struct action *x);
bool action_ended(const struct action *x);
bool action_under_way(const struct action *x); /* a hypervisor may be working on it: starting or running */
bool action_committed(const struct action *x); /* approved and not ended */

/* Whether one of them is a power-off of the host that has begun and not ended. */
bool action_list_powers_off(const struct action_list *list, const char *host);
/* Whether it is approved only along with the others of its group. A host may be woken before anybody has said
 * that what is planned for it shall happen; that waits for the host in any case. */
bool action_needs_group(const struct action_record *r);
/* Whether this other action must be done before it. */
bool action_depends_on(const struct action_record *r, uint64_t id);
static inline bool action_copies(const struct action *x) /* a VM that runs moves */
{
    return x->r.kind == ACTION_MIGRATE && x->r.reason != REASON_OFF_VM;
}

enum operation_kind action_operation(enum action_kind kind); /* what the actuators are asked for */
/* The states: each stores and publishes. `why` may be NULL. */
void action_enter(struct engine *e, struct action *x, enum action_state state, const char *why,
                  instant_s now);
/* The end that it comes to next, or was asked to stop for, is this person's wish. */
void action_set_ended_by(struct engine *e, struct action *x, const char *by);
/* The action's `why` so far with one more sentence behind it, in *buffer: the `why` of its next state. */
const char *action_append_why(const struct action *x, const char *more, char buffer[WHY_ALL]);
void action_set_depends(struct engine *e, struct action *x, const uint64_t *ids, uint32_t n);
/* It is to be stored with the next transaction. */
void action_changed(struct engine *e, struct action *x);
/* Who depends on whom, of all: where numbers may have come before what they mean. */
void actions_link(struct engine *e);
/* Ends with actions that nothing needs any more. */
void actions_forget(struct engine *e, instant_s now);

void actions_free(struct actions *all);

#endif
