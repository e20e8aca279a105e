/* internal.h: the engine's own state, shared by its files. README.md says which file does what. */
#ifndef BALLAST_ENGINE_INTERNAL_H
#define BALLAST_ENGINE_INTERNAL_H

#include "base/idmap.h"
#include "engine/actions/action_queue.h"
#include "engine/actions/slot_usage.h"
#include "engine/engine.h"
#include "engine/knowledge/demand_history.h"
#include "engine/knowledge/demand_profile.h"
#include "engine/knowledge/energy.h"
#include "engine/knowledge/migration_stats.h"

/* ---- constants of conduct -------------------------------------------------------------------- */

#define STALE_INTERVALS 2   /* older data than this many intervals is not acted on ... */
#define MANDATORY_HOLDS 6   /* times as long as another plan that must be done anyway */
#define STALE_LEAST_S 10    /* ... but collecting takes time, however short the interval */
#define LOOK_PER_INTERVAL 5 /* inventories between two passes, for the history ... */
#define LOOK_MAX_S 60       /* ... and no rarer than this */
#define RETRY_FIRST_S 2     /* waiting times after a failure: doubled from this ... */
#define RETRY_MAX_S 60      /* ... up to this */
#define STORE_RETRY_MAX_S 8 /* ... and for the store, without which nothing begins */
#define POLL_S 1            /* between two questions for a task's progress, in the beginning ... */
#define POLL_MAX_S 10       /* ... and for a long one */
#define HANG_FACTOR 5       /* a task is cancelled after this many times its estimate ... */
#define HANG_MIN_S 300      /* ... and not before this */
#define HANG_HOST_S 1800    /* maintenance, standby, and waking where it is not known how long a boot takes */
#define WAKE_FACTOR 3       /* a host that has not come after this many times its boot has failed to wake */
#define WAKE_MIN_S 60       /* ... and not before this */
#define WAKE_LOOKS 10       /* inventories during a boot, so that it is known to a tenth how long it takes */
#define SLEEP_SEEN_S 60     /* a host is put to standby on an inventory that came no longer ago than this */
#define LINGERS_S 300       /* a host that was asked to go and did not may be slow: no VMs for so long */
#define CLOCK_SLACK_S 5     /* what a clock may be corrected by between two processes */
#define WHY_ALL 2048        /* bytes that all that went wrong on the way may take, in one text */
#define START_TRIES 8       /* unclear starts in a row before an inventory decides */
#define VERIFY_LOOKS 3      /* inventories that may contradict a task's success before it counts as failed */
#define HOLD_MAX_S (4 * 3600)    /* the longest back-off of a VM whose moves fail ... */
#define HOLD_WAKE_MAX_S 3600     /* ... and of a host that does not wake */
#define ENDED_SHOWN_S 3600       /* how long an ended action stays at hand */
#define REMEMBERED_S (24 * 3600) /* how far back a restart reads at least */
#define PRUNE_S 3600
#define ENERGY_LOOKS 5    /* what was drawn is not known where looks are further apart than so many ... */
#define ENERGY_SLACK_S 60 /* ... and what a collection may take */
#define ENERGY_HOURS_KEPT_DAYS 8 /* what was drawn is kept by the hour for so long, then by the day */

/* ---- an action ------------------------------------------------------------------------------- */

/* How its copying went, as seen while it was carried out. */
struct copy {
    instant_s began;           /* 0: not by this process */
    instant_s ran;             /* last seen running */
    instant_s ended;           /* reported to have succeeded; 0: not yet */
    double mem_mb, dirty_mb_s; /* of the VM, when it began */
    bool shared;               /* another migration used one of its hosts at some time meanwhile */
};

/* The record and what need not outlive a restart. The strings of the record are the action's own. */
struct action {
    struct action_record r;
    bool dirty;            /* the store does not have this version yet: see action_changed() */
    bool job_out;          /* a worker has a job of it */
    enum job_kind job;     /* which */
    bool adopted;          /* from an earlier process */
    instant_s retry_at;    /* nothing is asked of the actuators before this */
    unsigned retries;      /* failures to learn anything, in a row */
    uint64_t look_after;   /* only an inventory with a higher serial says where it stands */
    bool only_adopt;       /* ACTION_STARTING: what does not run yet is not begun any more, or not now */
    unsigned looks;        /* inventories that contradicted the task's success */
    int percent;           /* the most that the hypervisor has said of its progress ... */
    instant_s advanced;    /* ... since when; 0: nothing yet */
    instant_s waits_since; /* ACTION_POWER_ON: its host has had time to come since then, which is later than
                            * it began, as nobody could be asked before; 0: since then */
    instant_s polled;      /* when the actuators last answered how far it is; 0: not yet, to this process */
    instant_s cancel_at;   /* the next time that a hanging task is asked to stop */
    bool refused;          /* at once, and nobody was asked before: nothing of it was begun */
    bool doubt;            /* ACTION_VERIFYING without a success reported: `r.why` says what is known */
    int doubt_code;        /* the errno behind it */
    struct copy copy;
    uint64_t judged;  /* the inventory with which it was last found to have to wait */
    uint64_t settled; /* ACTION_POWER_OFF: an inventory of a higher serial was asked for when nothing was left
                       * to be done on the host; 0: something is */
    struct action_list needed_by; /* those that depend on it; perhaps also some that do not any more */
    unsigned counted;             /* slot_usage.c: what it counts as */
    bool listed;                  /* ... and whether it is in the lists */
    bool due, queued;             /* action_queue.c: where it waits */
};

/* ---- what is known of the cluster ------------------------------------------------------------ */

/* An inventory, frozen. Shared by "now" and "the last pass", so it is counted. */
struct view {
    unsigned references;
    struct collected seen;
    struct snapshot snap;
    uint64_t serial;
    instant_s asked; /* when the inventory was asked for: nothing in it is older */
    struct plan plan;
    bool decided;               /* plan is there */
    double reserved[RES_COUNT]; /* of the VMs that run; see power_preconditions.c */
    bool reserved_known;
    instant_s received;
};

/* What is remembered of a VM because of its own moves, or of a host because it was to be woken. */
struct hold {
    instant_s moved;   /* last arrived somewhere, by an action of ours or somebody else's; or was woken */
    instant_s tried;   /* last failed or was refused by a person */
    instant_s until;   /* the engine does not try by itself before this */
    unsigned failures; /* in a row */
};

/* What waits to be stored beside actions. */
struct unstored_migration {
    struct migration_record r; /* strings its own */
    bool taught;               /* what is known of its hosts and its VM has changed */
};

/* VMs that an admin wants powered on: waits for an inventory, then holds what was decided until it is
 * fetched. */
struct placing {
    uint64_t ticket;
    uint64_t after; /* only an inventory with a higher serial decides it */
    char **names;
    size_t n_names;
    bool apply;
    char *by;
    bool decided;
    instant_s decided_at;
    int code; /* of the decision; < 0: error says why there is none */
    struct err error;
    struct view *view; /* what was decided from */
    struct arena arena;
    struct plan plan;
    const uint32_t *vms; /* by index */
    uint32_t n_vms, n_unplaced;
    uint64_t *ids; /* actions that were begun */
    size_t n_ids;
};

/* What pools have on the hosts (pool_settings.c). */
struct pools {
    struct idmap set; /* "host\npool" -> struct set_part: what was last set */
    bool dirty;       /* the store does not have all of it */

    struct pools_job **jobs; /* of the last pass, a host each; those that workers have come first */
    size_t n_jobs, n_out;
    uint64_t serial;            /* of the newest job */
    size_t n_hosts, n_settings; /* set since the last pass */
    size_t n_said;              /* failures told since the last pass */
    struct idmap failing;       /* host -> anything: the last try failed, and that was said */
    struct idmap unable;        /* host -> anything: has no pools that could be set */
    bool said_unable;
};

/* What is remembered of a host (hosts.c). */
struct known_host {
    struct host_record r;  /* `host` is the key of the map */
    enum host_state state; /* in the last inventory; host_state_count: not seen by this process */
    bool dirty;
    bool unseen; /* the last inventory had it as lost: its manager does, while we put it to standby */
};

/* Power-offs that did not pay (early_wake_penalty.c). */
struct regret_memory {
    struct regret is;         /* quiet_s: what was asked at `seen` */
    instant_s seen;           /* when demand last came back as it did then */
    double before[RES_COUNT]; /* what was wanted while it was quiet */
    instant_s stored_busy_at;
    bool dirty;
};

/* What hosts' meters say (meters.c). */
struct meters {
    struct idmap of;    /* host id -> struct meter */
    uint64_t serial;    /* of the newest question */
    unsigned n_out;     /* questions */
    uint32_t next;      /* the host of the newest inventory that is looked at next */
    bool round_is_over; /* all were looked at since the newest inventory */
    bool none;          /* the actuators have no meters at all */
};

struct engine {
    struct engine_ports port;
    struct engine_settings settings;
    char *cluster;
    char *source_name;
    char *instance;

    struct action **actions; /* by id */
    size_t n_actions, cap_actions;
    struct action_list unstored_actions; /* those that are dirty */
    struct occupancy occupancy;
    struct agenda agenda;
    uint64_t last_action, last_pass;
    struct idmap holds;       /* VM id -> struct hold */
    struct idmap host_holds;  /* the same of hosts, for waking them */
    struct idmap sleep_holds; /* and for putting them to standby */
    struct idmap hosts;       /* host id -> struct known_host */
    bool hosts_dirty;
    struct idmap ways; /* host id -> const struct host_way: of the hosts of the newest inventory */
    struct regret_memory regret;
    int64_t power_changes; /* hosts that are put to standby or woken now; see power_count() */
    struct history *history;
    struct learned *learned;
    struct pattern *pattern;
    struct zone *zone; /* that its days are of; NULL: UTC */
    char *zone_name;

    struct pools pools;
    struct energy *energy;
    struct engine_power power_now;
    struct meters meters;

    struct view *now_seen; /* the newest inventory */
    struct view *decided;  /* that of the last pass */

    enum source_state source;
    instant_s source_since;
    struct err source_error;
    unsigned source_failures;
    bool asking;
    bool asked_for_pass; /* the inventory under way is for a pass */
    uint64_t asked_run;  /* runs up to this ticket are answered by it */
    uint64_t serial;     /* of the newest ask */
    instant_s asked_at;
    instant_s next_ask;  /* not before this, after a failure */
    instant_s next_look; /* an inventory is wanted by then */
    instant_s next_pass;
    bool again; /* since the newest inventory, something was learned that the next pass is to begin with */

    uint64_t runs_wanted, runs_done; /* tickets */
    int run_code;                    /* of the last run */
    struct err run_error;
    uint64_t run_pass;
    struct err pass_error; /* of the newest attempt; code 0: it worked */
    instant_s last_pass_time;
    bool passed_early;     /* the last pass did not wait for its interval to end */
    uint64_t decided_pass; /* the number of the last pass; placements have numbers between */
    uint64_t passes_here;  /* made by this process */
    unsigned imbalanced_passes;

    struct placing **placings; /* in the order in which they were asked for */
    size_t n_placings;
    uint64_t last_placing; /* ticket */

    bool paused;
    instant_s paused_since;
    bool note_dirty;
    bool events_dirty; /* something was published that the event sink has not kept yet */

    struct unstored_migration *unstored;
    size_t n_unstored, cap_unstored;
    struct err store_error;  /* code 0: the store works */
    unsigned store_failures; /* in a row */
    instant_s store_retry_at;
    instant_s next_prune;
    instant_s ticked; /* the last tick: the next look at actions is due a while after it, however often
                         somebody asks meanwhile */
};

/* ---- engine.c -------------------------------------------------------------------------------- */

/* Wants an inventory by that time. */
void want_look(struct engine *e, instant_s at);
void publish(struct engine *e, const struct event *event);
instant_s look_period_s(const struct engine *e); /* between two inventories */
instant_s stale_after_s(const struct engine *e);
/* Seconds to wait before trying again after so many failures in a row. */
instant_s back_off_s(unsigned failures);
/* The same where a login may have been refused: that is not tried quickly again, because directories lock an
 * account after a few wrong passwords in a row. */
instant_s pause_s(int code, unsigned failures);

/* ---- action.c ------------------------------------------------------------------------------- */

struct action *action_add(struct engine *e, const struct action_record *r); /* copies; id 0: gets the next */
struct action *action_find(const struct engine *e, uint64_t id);
bool action_ended(const struct action *x);
bool action_under_way(const struct action *x); /* a hypervisor may be working on it: starting or running */
bool action_committed(const struct action *x); /* approved and not ended */
/* Whether it is approved only along with the others of its group. A host may be woken before anybody has said
 * that what is planned for it shall happen; that waits for the host in any case. */
bool action_needs_group(const struct action_record *r);
enum operation_kind action_operation(enum action_kind kind); /* what the actuators are asked for */
void action_free(struct action *x);
/* The states: each stores and publishes. `why` may be NULL. */
void action_enter(struct engine *e, struct action *x, enum action_state state, const char *why,
                  instant_s now);
void action_set_depends(struct engine *e, struct action *x, const uint64_t *ids, uint32_t n);
/* It is to be stored with the next transaction. */
void action_changed(struct engine *e, struct action *x);
/* Who depends on whom, of all: where numbers may have come before what they mean. */
void actions_link(struct engine *e);
/* Ends with actions that nothing needs any more. */
void actions_forget(struct engine *e, instant_s now);
/* What is remembered of a VM, or of that of an action, which may be a host; made if nothing is yet. */
struct hold *hold_of(struct engine *e, const char *vm);
struct hold *action_hold(struct engine *e, const struct action_record *r);
/* Those of VMs and hosts that nothing has happened to since then. */
void holds_forget(struct engine *e, instant_s before);
/* How long the engine does not try again by itself after so many failures in a row, or a rejection (1). */
instant_s hold_length_s(const struct engine *e, enum action_kind kind, unsigned failures);
/* Whether its end says something about the next one of its kind. */
bool action_leaves_hold(const struct action_record *r);
/* To be stored with the next transaction; copies. */
void migration_note(struct engine *e, const struct migration_record *r, bool taught);

/* ---- persist.c ------------------------------------------------------------------------------- */

/* Writes what is not stored yet, as one transaction. 0 when nothing is left; on failure it is tried again
 * later, and not before. `pass` and samples may be NULL/0. */
int storing_flush(struct engine *e, const struct pass_record *pass, instant_s now);
int storing_load(struct engine *e, instant_s now, struct err *err);
void storing_samples(struct engine *e, const struct sample_record *samples, size_t n, instant_s now);
void storing_prune(struct engine *e, instant_s now);
void unstored_release(struct unstored_migration *m);
void storing_failed(struct engine *e, const struct err *why, instant_s now);

/* ---- observation.c -------------------------------------------------------------------------------- */

/* Demand, history, windows, cool-down, moves under way: then frozen. Takes over *collected. */
int gather(struct engine *e, struct collected *collected, uint64_t serial, instant_s now, struct view **ret,
           struct err *err);
void view_unref(struct view *v);

/* ---- demand_watch.c ------------------------------------------------------------------------------ */

/* What the snapshot shows of the cluster's demand is remembered; what is expected next goes into it. */
void patterns_look(struct engine *e, struct snapshot *s, struct arena *a, instant_s now);
/* An action was approved: perhaps the wake of a host for what is expected. */
void patterns_approved(struct engine *e, const struct action_record *r, instant_s now);
/* Days are those of the schedule's zone (dpm.time_zone). */
void patterns_configure(struct engine *e);
void patterns_release(struct engine *e);
int patterns_store(const struct engine *e, struct err *err);
void patterns_recall(struct engine *e, const struct stored *s);

/* ---- commands.c ------------------------------------------------------------------------------ */

/* Whether the actuators can do that at all. -ENOTSUP with a sentence: no. */
int check_operation(const struct engine *e, const struct action_record *r, struct err *err);
/* -EIO with a sentence: what was `done` holds all the same, but a restart would not know. */
int not_stored(const struct engine *e, const char *done, struct err *err);

/* ---- recommendations.c ----------------------------------------------------------------------------- */

/* The record that says what the recommendation says; number, dependencies and the sentence apart. Borrows its
 * strings. */
struct action_record recommendation_record(const struct snapshot *s, const struct recommendation *rec,
                                           uint64_t pass);
/* Room for the number that each of the plan's recommendations is given, by its id in the plan; all 0. */
uint64_t *recommendation_numbers(const struct plan *plan, struct arena *a);
/* Translates what it depends on, and adds what the plan could not name: moves of earlier plans that make room
 * at its destination and have not ended. False: it depends on something that was dropped. */
bool recommendation_needs(struct engine *e, struct action *x, const struct recommendation *rec,
                          const uint64_t *number, struct arena *a);
/* Whether an action is under way, or waits, for the same VM. A pass knows of those and proposes nothing for
 * their VMs; should it ever do so, what was approved first wins. */
bool vm_is_taken(const struct engine *e, const char *vm);
/* The action that already does the same to the power of the same host, or NULL. */
const struct action *find_power_change(const struct engine *e, const struct action_record *r);
/* Gives every recommendation of the plan its number: ret_number[plan's id], 0 for one that was dropped. What
 * the pass does not recommend any more expires. */
void recommendations_take(struct engine *e, const struct view *v, uint64_t pass, struct arena *a,
                          uint64_t *ret_number, instant_s now);

/* ---- migration_timing.c ---------------------------------------------------------------------------------
 */

/* A migration is about to be begun; its task was asked for; it has ended well (whether that taught anything).
 */
void learn_begins(struct engine *e, struct action *x, instant_s now);
void learn_polled(struct action *x, enum task_state state, instant_s now);
bool learn_ends(struct engine *e, const struct action *x, instant_s now);
/* There is a new inventory. */
void learn_looks(struct engine *e);
/* Puts what was learned into an inventory that does not say it. */
void learn_fill(const struct engine *e, struct inventory *inv, struct arena *a);
/* Writes what is known of a migration's hosts and VM, and reads back all of it. */
int learn_store(const struct engine *e, const struct migration_record *m, struct err *err);
void learn_recall(struct engine *e, const struct stored *s);

/* ---- hosts.c --------------------------------------------------------------------------------- */

/* What is remembered of the host, or NULL. */
const struct known_host *hosts_find(const struct engine *e, const char *host);
/* Whether it has been seen to wake, last time too: by us, or as the source says. */
bool hosts_is_proven(const struct engine *e, const struct host_facts *f);
bool hosts_has_failed(const struct engine *e, const char *host); /* its last wake */
/* Puts what is remembered into an inventory that does not say it. A host that we put to standby sleeps,
 * though the source only sees that it has lost it, unless it says that a VM runs there. */
void hosts_fill(struct engine *e, struct inventory *inv);
bool hosts_is_unseen(const struct engine *e, const char *host);
/* Finds out which host each of the settings' ways is meant for. */
void hosts_match(struct engine *e, const struct inventory *inv);
/* Whether the actuators can do that to the host's power: ACTION_POWER_ON or ACTION_POWER_OFF. */
bool hosts_can(const struct engine *e, enum action_kind kind, const char *host);
/* By how much its wake may take longer than its boots, as it may be its last way that works. */
instant_s hosts_wake_tries_s(const struct engine *e, const char *host);
/* What a new inventory says of the hosts is remembered. */
void hosts_look(struct engine *e, const struct snapshot *s);
/* A wake of ours brought it back, after that time (UNKNOWN: it was not timed); did not; it sleeps by our own
 * action. */
void hosts_woken(struct engine *e, const char *host, double boot_s, instant_s now);
/* It is on, and was woken for that; or a person asks for what is so already. */
void hosts_wanted(struct engine *e, const char *host, enum reason reason, instant_s since);
void hosts_wake_failed(struct engine *e, const char *host, instant_s now);
void hosts_put_down(struct engine *e, const char *host, instant_s now);
/* For persist.c. */
int hosts_store(const struct engine *e, struct err *err);
void hosts_stored(struct engine *e);
void hosts_recall(struct engine *e, const struct stored *s, instant_s now);
void hosts_disown(struct engine *e, const struct stored *s, instant_s now);
void hosts_forget(struct engine *e, instant_s before); /* not seen since */
void hosts_release(struct engine *e);

/* ---- early_wake_penalty.c --------------------------------------------------------------------------------
 */

#define NOTE_REGRET "regret"

/* Puts what is remembered into an inventory. */
void regret_fill(const struct engine *e, struct inventory *inv);
/* What a new inventory says of power-offs: whether one that is being taken back did not pay, and whether it
 * is as busy as it was then. */
void regret_look(struct engine *e, const struct snapshot *s);
/* For persist.c. */
int regret_store(const struct engine *e, struct err *err);
void regret_stored(struct engine *e);
void regret_recall(struct engine *e, const char *text, instant_s now);

/* ---- power_preconditions.c
 * --------------------------------------------------------------------------------- */

/* Whether it was approved that the host goes to standby, and that has not ended. */
bool power_is_leaving(const struct engine *e, const char *host);
/* Whether the host may be put to standby, by the newest inventory: 0, or what stands in the way. x: the
 * action that would do it, or NULL. Does not ask whether it is empty. */
int power_may_sleep(const struct engine *e, uint32_t host, const struct action *x, struct err *err);
/* Whether the settings let the engine change the host's power without asking. */
bool power_is_automatic(const struct engine *e, const struct host_facts *h);
/* How many hosts change their power now, for dpm.changes_max: counted before actions are looked at, and kept
 * while they are. */
void power_count(struct engine *e);
void power_submitted(struct engine *e, const struct action *x);
/* An approved ACTION_POWER_OFF: when nothing is left on the host, asks for the inventory that proves it. */
void power_look(struct engine *e, struct action *x, instant_s now);
/* ACTION_STARTING: whether a start of it that perhaps nobody has heard may be repeated. */
bool power_sleep_is_safe(const struct engine *e, const struct action *x, instant_s now);
/* A move off a host that is to go to standby was cancelled, and its VM does not run there. */
bool power_has_left_anyway(const struct engine *e, const struct action *x);
/* How long it may take; how long until the next look whether the host is there. */
instant_s power_patience_s(const struct engine *e, const struct action *x);
instant_s power_look_pause_s(const struct engine *e, const struct action *x, unsigned looks);
/* Errors after which nobody knows whether the peer has heard us, or will hear us the next time. */
bool may_pass(int code);
/* What a job about a host's power says beside the action itself. */
void power_request(struct engine *e, struct action *x, enum job_kind kind, instant_s now,
                   struct operation *q);
/* No VM but agents is known to be on the host, on its way there, or not quite away. */
bool power_nothing_is_on(const struct engine *e, const char *host);
/* ACTION_RUNNING: whether an inventory shows already what the task is to bring about; asks for one where that
 * is to be known. */
bool power_is_there(struct engine *e, struct action *x, instant_s now);
/* Since when the host has had time to come. */
instant_s power_waits_since(const struct action *x);
/* Whether the task goes on at all, its time being over at `until`. */
bool task_has_time(const struct action *x, instant_s until, instant_s now);
/* Takes back one whose task says that nobody was asked for anything; false: it does not say so. */
bool power_was_not_asked(struct engine *e, struct action *x, const struct task_progress *p, instant_s now);
/* What a task that goes on says of itself: a new name, and what went wrong on the way. */
void task_goes_on(struct engine *e, struct action *x, const struct task_progress *p, instant_s now);
/* Puts one more sentence behind what is known of the action; used up as `why` of its next state. In the arena
 * of nobody: *buffer. */
const char *why_with(const struct action *x, const char *more, char buffer[WHY_ALL]);
/* It has ended without success, but had begun, and was not refused: the host may have heard it all the same,
 * and go when nobody waits for that any more. */
bool power_may_still_go(const struct action *x);
/* ... and that was so short a time ago that no VM should go there; the same of a host. */
bool power_lingers(const struct engine *e, const struct action *x, instant_s now);
bool power_host_lingers(const struct engine *e, const char *host, instant_s now);
/* ... and now its manager has lost it: it sleeps because of us, as far as can be known. */
bool power_went_late(const struct engine *e, const char *host);
/* What was to put the host down has ended otherwise, and it counts as asleep: what is to wake it after that
 * is needed all the more. */
bool power_went_anyway(const struct engine *e, const struct action *up, const struct action *down);
/* What its end means for the host. */
void power_ended(struct engine *e, const struct action *x, instant_s now);
/* Where a new plan wants more hosts on: takes back what would put others to standby and has not begun, as
 * many as the plan would wake; with `more`, or where the hosts are too full and none could be woken, all. Not
 * what an admin asked for. True: something was, and the plan does not know it. */
bool power_withdraw(struct engine *e, const struct plan *plan, bool more, instant_s now);

/* ---- host_power.c ---------------------------------------------------------------------------------- */

enum energy_phase draw_phase(enum host_state state);
/* The sights of all hosts, by index of the snapshot; and into the account. */
struct energy_sight *draw_look(struct engine *e, const struct view *v, struct arena *a, instant_s now);
void draw_account(struct engine *e, const struct view *v, instant_s now);

/* ---- meters.c -------------------------------------------------------------------------------- */

/* What was read, into an inventory that does not say it; after all that changes the states of its hosts. */
void meters_fill(struct engine *e, struct inventory *inv);
/* There is a new inventory: another round. */
void meters_look(struct engine *e);
/* Asks as many as may be asked now. */
void meters_carry_on(struct engine *e, instant_s now);
void meters_result(struct engine *e, const struct job *job, const struct job_result *result, instant_s now);
/* Those that had none may have got one. */
void meters_configure(struct engine *e);
void meters_release(struct engine *e);

/* ---- decide.c -------------------------------------------------------------------------------- */

int decide(struct engine *e, const char *trigger, instant_s now, struct err *err);

/* Whether VMs want more than there is on a host that had enough at the last pass: nobody should wait for the
 * interval to end then. One that stays short is no news, and after a pass that came early the next one comes
 * when it is due, so that restless demand does not make a pass of every look. */
bool overload_is_new(const struct engine *e);

/* Stores what was decided, with what it was decided from, and all that else is to be stored. On failure the
 * rest is tried again, the record is lost. */
int decision_store(struct engine *e, const struct plan *plan, uint64_t pass, const char *trigger,
                   instant_s now);

/* ---- placement.c ------------------------------------------------------------------------------- */

/* Some request waits for an inventory. */
bool placings_wait(const struct engine *e);
/* Decides what waited for this inventory. True: something was begun, so nothing else is to be decided from
 * it. */
bool placings_decide(struct engine *e, uint64_t serial, instant_s now);
/* What waits for this inventory, or an earlier one, waits in vain. */
void placings_fail(struct engine *e, uint64_t serial, const struct err *why, instant_s now);
void placings_forget(struct engine *e, instant_s now); /* what nobody fetches */
void placings_free(struct engine *e);

/* ---- action_states.c --------------------------------------------------------------------------------- */

/* Takes every action as far as it gets now. */
void carry_on(struct engine *e, instant_s now);
void carry_result(struct engine *e, const struct job *job, const struct job_result *result, instant_s now);
void action_cancel(struct engine *e, struct action *x, const char *why,
                   instant_s now); /* and what needs it */
void action_approve(struct engine *e, struct action *x, const char *by, instant_s now);

/* ---- pool_settings.c --------------------------------------------------------------------------------- */

/* Tells an inventory what was last set, unless its source sees that for itself. */
void pools_fill(const struct engine *e, struct inventory *inv, struct arena *a);
/* After a pass: what its plan wants set is what is to be done from now on. */
void pools_take(struct engine *e, const struct view *v);
/* Sets as much as may be set now. */
void pools_carry_on(struct engine *e, instant_s now);
void pools_result(struct engine *e, const struct job *job, const struct job_result *result, instant_s now);
/* For persist.c: what is not stored yet; it is now; what was found in the store (same: of this source). */
int pools_store(const struct engine *e, struct err *err);
void pools_stored(struct engine *e);
void pools_recall(struct engine *e, const struct stored *s, bool same);
void pools_release(struct engine *e);

#endif
