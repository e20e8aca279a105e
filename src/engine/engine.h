/* engine.h: one cluster's service, as a state machine.
 *
 * It gathers (asks for an inventory, keeps the history of demand), decides (builds a snapshot, runs a pass,
 * turns the plan into recommendations), lets an admin or the automation level approve, and carries actions
 * through their states until an inventory shows that they happened. ports.h lists all that it
 * asks of the world; one thread tells it events and the time by calling the functions below.
 *
 * What it keeps to:
 *   - Nothing is decided or started on data that is older than two intervals, or while the source is lost.
 *   - ACTION_STARTING is stored before a hypervisor is asked, its task's name after: whatever moment the
 *     process dies at, the next one finds the action and follows it; nothing is started twice.
 *   - An action is done when an inventory that was asked for afterwards shows it.
 *   - A VM has one action under way at most; host and cluster limits hold at every moment.
 *   - Each number given to a recommendation is given once. A pass that wants the same VM to leave its host
 * for the same reason keeps the number, whatever the destination; what a pass no longer recommends expires
 * unless it was approved.
 */
#ifndef BALLAST_ENGINE_ENGINE_H
#define BALLAST_ENGINE_ENGINE_H

#include "engine/ports.h"

#include <ballast/plan.h>
#include <ballast/policy.h>
#include <ballast/snapshot.h>

#include "overlay/overlay.h"
#include "schedule/schedule.h"

struct engine;

/* The power of a host, as the configuration says. */
struct host_draw {
    struct power_curve watts; /* n 0: nothing is said */
    double standby_w;         /* UNKNOWN */
};

/* How the actuators can switch one host by ways of its own, whatever the source's own operations are
 * (power.hosts). */
struct host_power_method {
    const char *name; /* the host's id, or its name where no other host has it, nor as its id */
    unsigned wakes,
        sleeps; /* by what: WAKE_* of facts.h; the hypervisor's operations too, if they are among them */
    const struct host_draw *draws;   /* counts before what the source says; NULL: nothing */
    uint64_t settings[WAKE_METHODS]; /* by bit of WAKE_*: tells the method's settings from others, also after
                                        a restart; 0 or more than that, at most INT64_MAX */
    instant_s tries_s;               /* by how much a wake may take longer because only its last way works */
};

/* What the configuration says. */
struct engine_settings {
    const char *cluster;             /* the service's name for it; copied */
    const char *source;              /* what is looked at and acted on; copied. NULL: always the same */
    struct policy policy;            /* of every pass */
    const struct schedule *schedule; /* when hosts may sleep and must be back; borrowed until the next
                                      * engine_configure(); NULL: always, never */
    const struct schedule *balance; /* when optional moves are carried out; borrowed likewise; NULL: always */
    const struct overlay *overlay;  /* rules and settings of VMs and hosts; borrowed likewise; NULL:
                                     * none */
    unsigned operations;            /* what the actuators can do: 1u << OPERATION_*; of actuator_ops */
    const struct host_power_method *ways; /* hosts that the actuators can switch by themselves; not copied */
    size_t n_ways;
    unsigned four_eyes;    /* what begins when two people have asked for it: 1u << FOUR_EYES_*; 0: nothing */
    instant_s four_eyes_s; /* and how long the request of the first counts */
    instant_s lock_wait_s; /* so long a placement waits for its decision ... */
    instant_s lock_hold_s; /* ... and holds room before anything of it begins; 0: without limit */
    bool sets_pools;       /* whether they can set what pools have on hosts */
    int64_t history_days;  /* actions and migrations kept in the store */
    uint32_t passes_kept;  /* passes kept in the store, with their snapshots; 0: these are not even made, and
                            * the store gets passes without texts */
    instant_s look_s;      /* an inventory is asked for as often as that; 0: five times an interval, and
                            * once a minute at least */
    int64_t (*clock_us)(void); /* for saying how long a pass took, and nothing else; may be NULL */
};

/* Reads the store and takes up where the last process stopped. The first pass is made of the first inventory.
 * The ports must live longer than the engine. */
int engine_create(const struct engine_settings *settings, const struct engine_ports *ports, instant_s now,
                  struct engine **ret, struct err *err);
void engine_free(struct engine *e);

/* New settings, from now on: also for a standby that is approved and has not begun, which is cancelled where
 * its host is not proven to wake with them. What is under way is carried on. */
void engine_configure(struct engine *e, const struct engine_settings *settings, instant_s now);

/* Publishes that a setting was changed, as EVENT_CONFIGURATION. The text names the setting and both values.
 */
void engine_tell_change(struct engine *e, const char *text, const char *by, instant_s now);

/* Publishes that a reload of the configuration failed, as EVENT_CONFIGURATION_FAILED, and why. */
void engine_tell_reload_failed(struct engine *e, const char *why, const char *by, instant_s now);

/* Publishes that alarms do not reach a target, or reach it again. */
void engine_tell_alarms(struct engine *e, bool failed, const char *target, const char *text, instant_s now);

/* Something makes it doubtful whether this service should act: until it is over (NULL) the engine approves
 * nothing by itself but wakes, and begins nothing else that it has approved; a person may. `why`: a sentence,
 * a fault of each pass. */
void engine_hold_back(struct engine *e, const char *why, instant_s now);

/* A person says that no other service moves the VMs of this cluster (other_service.h). False: that was not in
 * doubt. */
bool engine_confirm_alone(struct engine *e);

/* ---- what happens ---------------------------------------------------------------------------- */

/* Time has passed. To be called at engine_wakeup() at the latest; more often does no harm. */
void engine_tick(struct engine *e, instant_s now);
instant_s engine_wakeup(const struct engine *e, instant_s now);

/* The answers to ask(). The engine takes over *collected (and leaves it empty). */
void engine_on_inventory(struct engine *e, uint64_t serial, struct collected *collected, instant_s now);
void engine_on_source_error(struct engine *e, uint64_t serial, const struct err *why, instant_s now);

/* The answer to unit_port_ops.ask(): only the answers of the inventory, asked at `now` of that call. The
 * engine takes over *answers. */
void engine_on_answers(struct engine *e, uint64_t serial, struct collected *answers, instant_s now);

/* The source says that something has changed in the cluster: an inventory is asked for soon, however often
 * this is called (source_poll.h), and a pass may be made of it (early_pass.h). */
void engine_on_source_changed(struct engine *e, instant_s now);

void engine_on_job_result(struct engine *e, const struct job *job, const struct job_result *result,
                          instant_s now);

/* ---- what is asked for ----------------------------------------------------------------------- */

/* All of these return 0, or -EINVAL (no such thing: the request is wrong) or another negative errno (it
 * cannot be done now), with a sentence. -EIO: it was done, but could not be stored, so a restart forgets it.
 */

/* Whose requests follow, until the next call: the name that tells this person from others, NULL where none
 * does. Needed where engine_settings.four_eyes has the request's action; the name in `by` is for people. Then
 * the functions below can also fail with -ENOKEY: the request is noted as the first, and begins when another
 * person asks for the same (four_eyes.h has the other errors). */
void engine_set_person(struct engine *e, const char *person);

/* Asks for a pass on a fresh inventory. *ret_ticket: the pass has been made, or could not be made, when
 * engine_run_result() no longer returns -EINPROGRESS. */
int engine_run(struct engine *e, instant_s now, uint64_t *ret_ticket, struct err *err);

/* Forgets which moves failed or did harm: the next pass may try them all again. `by` is published, as
 * EVENT_RETRY; nothing where there is nothing to forget. */
void engine_retry(struct engine *e, const char *by, instant_s now);

/* Forgets how often the host, by its id or name, was lost (knowledge/host_losses.h): VMs may come to it as to
 * any other. `by` is published. -EINVAL: no loss of it counts. */
int engine_trust(struct engine *e, const char *host, const char *by, instant_s now, struct err *err);

/* 0: made; *ret_pass is its number. -EINPROGRESS: not yet. Else what prevented it. */
int engine_run_result(const struct engine *e, uint64_t ticket, uint64_t *ret_pass, struct err *err);

/* What is left as it was of several recommendations that a person decides on, and why; in the caller's arena,
 * which it names. */
struct left_out {
    uint64_t id;
    const char *why; /* a sentence */
};

struct left_outs {
    struct arena *a;
    struct left_out *list;
    size_t n;
};

/* Approves recommendations of the last pass. versions[i] is the version of ids[i] that was read; NULL: 1, the
 * destination that each was first recommended with. What one depends on, and the other moves of its group,
 * must be approved already or be among the ids. What cannot be approved is left out, with what needs it, and
 * *ret names it: what is gone; what goes to a host that was not read; what a placement has not counted with
 * (-ESTALE). An error where nothing is left. `by` is remembered. ret NULL: not asked for. */
int engine_approve(struct engine *e, const uint64_t *ids, const uint32_t *versions, size_t n, const char *by,
                   instant_s now, struct left_outs *ret, struct err *err);

/* Rejects recommendations, or takes back an approval of what has not begun; what depends on them, and the
 * rest of their groups, is rejected too. The VM or the host is left alone for that reason for so many seconds
 * (knowledge/rejections.h; 0: avoid.reject_s); but a rejected move off a host that the service empties for
 * maintenance or standby ends that. A wake that is needed is left out of several, and of what was selected
 * without its number, and rejected along with nothing. Those that have ended are left out, too, as in
 * engine_approve(); but for_s replaces how long a rejection holds. */
int engine_reject(struct engine *e, const uint64_t *ids, size_t n, bool selected, instant_s for_s,
                  const char *by, instant_s now, struct left_outs *ret, struct err *err);

/* Paused, the engine looks and recommends, but starts nothing; what runs is followed to its end. Outlives a
 * restart. */
int engine_pause(struct engine *e, const char *by, instant_s now, struct err *err);
int engine_resume(struct engine *e, const char *by, instant_s now, struct err *err);

/* Takes a host out of service: passes see it as entering maintenance and evacuate it (the moves, and moves
 * that must come before them, count as approved by `by`, whatever the automation level), and when nothing
 * runs on it any more the hypervisor is asked. Or puts it back; an evacuation that is under way ends, its
 * moves that run apart. *ret_id is the number of the action that was begun or ended, 0 where nothing had to
 * be; ret_power (or NULL) has those of the host's wake and its standby, 0 where there was none: one that has
 * not begun is cancelled by it, one that has begun goes on to its end. -ENOANO: it would take failover
 * capacity, which a person has to confirm first; nothing has begun. */
#define POWER_CHANGES 2
enum maintenance_mode { MAINTENANCE_EXIT, MAINTENANCE_ENTER, MAINTENANCE_ENTER_CONFIRMED };
int engine_maintenance(struct engine *e, const char *host, enum maintenance_mode mode, const char *by,
                       instant_s now, uint64_t *ret_id, uint64_t ret_power[POWER_CHANGES], struct err *err);

/* Maintenance of several hosts, one after another (maintenance_roll.h). */
#define ROLL_STEPS(X)                                                                                        \
    X(ROLL_WAITING, "waiting", "not begun yet")                                                              \
    X(ROLL_EMPTYING, "emptying", "its VMs are moved away")                                                   \
    X(ROLL_HANDED_OVER, "handed_over", "in maintenance, until its maintenance is ended")                     \
    X(ROLL_RETURNING, "returning", "on again, VMs are moved to it")                                          \
    X(ROLL_DONE, "done", "back in service")

NAME_DECLARE(roll_step, ROLL_STEPS)

struct roll_host {
    const char *id;
    enum roll_step step;
    instant_s since;
    uint64_t action; /* that takes it out of service; 0: none */
    uint64_t pass;   /* the last one when it came back */
};

struct engine_roll {
    const struct roll_host *hosts;
    size_t n_hosts;
    uint32_t at_once;
    const char *by;
    instant_s started, ended; /* ended 0: it goes on */
    const char *failed;       /* why it stopped; NULL: it did not */
    const char *waits;        /* what it waits for, where that is not for a person; NULL: nothing */
};

/* Begins one. -EBUSY: another one goes on, or a host is in no state for it. -EINVAL: no such host, or one
 * named twice. */
int engine_roll_begin(struct engine *e, const char *const *hosts, size_t n, uint32_t at_once, const char *by,
                      instant_s now, struct err *err);

/* Ends it: no further host is begun. why: what went wrong, a sentence; NULL: an admin ends it. -EINVAL: none
 * goes on. */
int engine_roll_stop(struct engine *e, const char *why, const char *by, instant_s now, struct err *err);

/* False: there never was one. */
bool engine_roll_state(const struct engine *e, struct engine_roll *ret);

/* Puts a host to standby: passes see it as entering standby and evacuate it, approved as for maintenance, and
 * when an inventory shows that nothing runs on it any more, and nothing else needs it, the hypervisor is
 * asked. Refused, with a sentence that names what is missing: -EPERM where too little would stay on
 * (dpm.hosts_min and the like, what is kept for failures), or where it was not proven that the host can be
 * woken. Holds until it is done, or taken back by engine_wake(). */
int engine_standby(struct engine *e, const char *host, const char *by, instant_s now, uint64_t *ret_id,
                   struct err *err);

#define WAKE_ACTIONS 2

/* Wakes a host from standby, or takes back what would put it there. It counts when an inventory shows it on.
 * verify: a host that is on is put to standby (under the same conditions, this proof apart) and woken; the
 * method that did it is proven then, as it is after every wake that only one method can have done. ret_ids:
 * the actions that do it, in order, the rest 0; all 0 where nothing had to be done, as the host is on. */
int engine_wake(struct engine *e, const char *host, bool verify, const char *by, instant_s now,
                uint64_t ret_ids[WAKE_ACTIONS], struct err *err);

/* What is known of one method that wakes a host. */
#define METHOD_PROOFS(X)                                                                                     \
    X(METHOD_NEVER, "never", "no wake has shown that it works")                                              \
    X(METHOD_PROVEN, "proven", "a wake succeeded that no other method can have done")                        \
    X(METHOD_EXPIRED, "expired", "it was proven with other settings than it has now")                        \
    X(METHOD_FAILED, "failed", "it did not wake the host when it was last tried")

NAME_DECLARE(method_proof, METHOD_PROOFS)

struct engine_method_proof {
    unsigned method; /* WAKE_* */
    enum method_proof is;
    instant_s proven; /* last; 0: never, or by the source's own word */
    instant_s failed; /* last, with its present settings and not since it was proven; 0: it did not */
    const char *why;  /* that failure, in the peer's words; NULL */
};

/* Of each method that can wake the host, by the number of its bit. The strings are the engine's, valid until
 * the next call that changes it. Returns how many. */
size_t engine_method_proofs(const struct engine *e, const char *host,
                            struct engine_method_proof ret[WAKE_METHODS]);

/* The same with verify, by this one method (WAKE_*). If it fails the host's other methods wake it, and the
 * wake action has failed all the same, and says why. -EINVAL: the host has no such method. */
int engine_test_wake_method(struct engine *e, const char *host, unsigned method, const char *by,
                            instant_s now, uint64_t ret_ids[WAKE_ACTIONS], struct err *err);

/* Whether a host's own controllers are known to be those of its machine: an address in the configuration may
 * be another machine's. Holds back standby, never a wake. */
#define HOST_IDENTITIES(X)                                                                                   \
    X(HOST_IDENTITY_HYPERVISOR, "hypervisor", "the hypervisor switches it, and knows which machine it is")   \
    X(HOST_IDENTITY_UNREAD, "unread", "its controllers were not asked yet, or do not answer")                \
    X(HOST_IDENTITY_MATCHES, "matches", "its controllers report its hardware UUID")                          \
    X(HOST_IDENTITY_CONFIRMED, "confirmed", "a person confirmed its controllers")                            \
    X(HOST_IDENTITY_UNKNOWN, "unknown", "nothing to compare: a person has to confirm its controllers once")  \
    X(HOST_IDENTITY_DIFFERS, "differs", "a controller reports another machine's hardware UUID")

NAME_DECLARE(host_identity, HOST_IDENTITIES)

struct engine_identity {
    enum host_identity is;
    const char *controllers;  /* as they describe themselves (identity_report.is); NULL: not read */
    const char *why;          /* a sentence: what stands in the way; NULL: nothing */
    const char *confirmed_by; /* NULL: no person confirmed controllers of the host */
    instant_s confirmed_at;
};

void engine_identity(const struct engine *e, const char *host, struct engine_identity *ret);

/* Keeps, in the name of `by`, that the controllers of the host are its own, as they last described
 * themselves, though they report no UUID or another machine's. *ret: what was confirmed, or what need not be.
 * -EAGAIN: they have not been read. */
int engine_confirm_controllers(struct engine *e, const char *host, const char *by, instant_s now,
                               struct engine_identity *ret, struct err *err);

/* Keeps, in the name of `by`, that the setting may be used, which waits for that since an upgrade
 * (engine_status.unconfirmed). -EINVAL: it does not. */
int engine_confirm_setting(struct engine *e, const char *setting, const char *by, instant_s now,
                           struct err *err);

/* Which VMs an admin wants powered on, and in whose name. Each VM is named by its id, or by its name where
 * that is not ambiguous. */
struct place_request {
    const char *const *vms;
    size_t n_vms;
    bool migrates; /* a migration instead: of one running VM to its best host (core/place/best.h) */
    bool apply;    /* carry it out; false: only find the host */
    const char *by;
};

/* Where VMs that are off or suspended would be powered on (core/place), decided on an inventory that is asked
 * for now. With apply the plan is begun as soon as it is made: its recommendations become approved actions
 * (§3.2: one coordinated recommendation), or nothing is begun because some VM cannot be placed, or because
 * the plan needs what the actuators cannot do. This is the only way in which VMs are powered on, at every
 * automation level: a person asks, and that is the approval. Without apply nothing is changed or stored.
 * A migration is decided and begun in the same way; nothing is begun where the VM is best where it runs.
 * *ret_ticket is for engine_place_result(). */
int engine_place(struct engine *e, const struct place_request *request, instant_s now, uint64_t *ret_ticket,
                 struct err *err);

struct placement {
    const struct plan *plan;
    const uint32_t *vms; /* that were asked for, by index, each once */
    uint32_t n_vms;
    uint32_t n_unplaced; /* of these, those for which there is no place: the plan's faults say why */
    uint32_t best;       /* of a migration: the best host, by index; else IX_NONE */
    const uint64_t *ids; /* the actions that were begun, in the order of the plan */
    size_t n_ids;
};

/* 0: decided, *ret is valid until engine_place_release() or engine_tick(). -EINPROGRESS: not yet. Else what
 * prevented it: -EINVAL no such VM, -EALREADY it runs or is being powered on or moved, -EBUSY it cannot be
 * migrated, -ENOSPC no host may run the VM that is to be migrated, or as of the other commands. */
int engine_place_result(const struct engine *e, uint64_t ticket, struct placement *ret, struct err *err);

/* The caller has read the result or does not need it; otherwise it is kept for a minute. What was begun goes
 * on; what was not decided yet is not begun. */
void engine_place_release(struct engine *e, uint64_t ticket);

/* ---- what can be seen ------------------------------------------------------------------------ */

enum source_state { SOURCE_UNKNOWN, SOURCE_UP, SOURCE_LOST };

/* An external unit that gave no answer about some VMs. */
struct failing_unit {
    const char *unit;
    instant_s since;
    const char *error; /* NULL: this process has not asked the unit yet */
    size_t vms;        /* number of VMs without an answer in the last snapshot */
    bool told;         /* the event unit_failed was published */
};

struct engine_status {
    const char *cluster;
    struct policy policy;
    const char *source_automation; /* what the source itself says, or NULL */
    enum source_state source;
    instant_s source_since;   /* it is in this state */
    const char *source_error; /* SOURCE_LOST: the last reason */
    instant_s seen;           /* the inventory that is known was asked for; 0: none yet */
    bool asking;              /* another one has been asked for */
    bool paused;
    instant_s paused_since;
    const char *paused_by; /* NULL: not paused, or by a version that did not store it */
    const char *restored;  /* the store is a copy or an older one: what is not known; NULL: it is not */
    const struct overlay_findings *overlay_findings; /* entries of the configuration that select nothing;
                                                        NULL: nothing was seen yet */
    const char *unconfirmed; /* the setting that waits for engine_confirm_setting(), a sentence; NULL: none */
    const char *zone;        /* dpm.time_zone, or the machine's; never NULL */
    const char *store_error; /* NULL: the store works */
    const struct failing_unit *failing_units; /* knowledge/unit_failures.h; by name */
    size_t n_failing_units;
    const char *last_night, *last_night_json; /* knowledge/nights.h; NULL: none was told yet */
    uint64_t last_pass;                       /* 0: none yet in this process */
    instant_s last_pass_time;
    const char *last_pass_error; /* why the newest attempt gave none; NULL */
    instant_s next_pass;
    uint32_t actions[action_state_count]; /* ended ones: of the last hour */
};

/* Everything is valid until the next call of a function that takes a struct engine * without const. */
void engine_status(const struct engine *e, struct engine_status *ret);

/* First requests that wait for a second person, oldest first; in the arena or the engine's, valid as above.
 */
struct engine_first_request {
    enum four_eyes_action action;
    uint64_t id;      /* FOUR_EYES_APPROVE: the recommendation and ... */
    uint32_t version; /* ... the version that was read; else 0 */
    const char *what; /* "put host esx-3 to standby" */
    const char *by;
    instant_s since, until;
};
size_t engine_first_requests(const struct engine *e, struct arena *a, struct engine_first_request **ret);

/* A running VM that is to leave its host, which goes to maintenance or standby. */
struct engine_left_vm {
    const char *host, *vm;   /* ids */
    enum action_state state; /* of its newest move off the host; action_state_count: there is none */
    const char *why;         /* why that failed or waits; NULL: not known */
    instant_s until;         /* it is not tried again by itself before this; 0: nothing holds it back */
};
/* By VM; in the arena or the engine's, valid as above. */
size_t engine_left_vms(const struct engine *e, instant_s now, struct arena *a, struct engine_left_vm **ret);

/* When the engine last dropped what is too old; 0: not yet, because the clock may be wrong. */
instant_s engine_pruned(const struct engine *e);

/* The newest inventory, frozen; NULL before the first. Its migrations and pending are as of that moment. */
const struct snapshot *engine_snapshot(const struct engine *e);

/* The last pass and what it was made from; NULL before the first of this process. */
const struct plan *engine_plan(const struct engine *e);

/* A snapshot for a reader in another thread: it stays as it is until it is released, whatever the engine does
 * meanwhile. All zero: none. */
struct kept_snapshot {
    struct snapshot is;
    struct observation *of;
    unsigned held_back; /* HELD_BACK_*: what the last pass left out */
};

/* Keeps what the last pass was made from, before the first pass the newest inventory. False: there is none
 * yet. Both in the engine's thread. */
bool engine_keep_snapshot(const struct engine *e, struct kept_snapshot *ret);
void engine_release_snapshot(struct kept_snapshot *kept);

/* A host that sleeps. */
struct asleep {
    const char *host;      /* id */
    const char *name;      /* the id where no name is known */
    instant_s since;       /* 0: before it was first seen */
    bool ours;             /* an action of ours put it there */
    bool there;            /* the newest inventory has it */
    double boot_s;         /* UNKNOWN */
    instant_s wake_failed; /* it was to be woken, and did not come; 0 */
};

/* The hosts in standby, and those that power on, by id: none that was put to standby is forgotten, whatever
 * the source says of it. Those that left the inventory are in engine_snapshot(), too
 * (host_facts.left_inventory). In the arena; the strings are the engine's. */
size_t engine_asleep(const struct engine *e, struct arena *a, struct asleep **ret);

/* A wake that is under way. */
struct engine_waking {
    unsigned method; /* WAKE_*: the one that is being tried now; 0: not known */
    const char *why; /* what methods before it have answered; NULL */
};

/* Whether the host is being woken by us. The strings are the engine's. */
bool engine_waking(const struct engine *e, const char *host, struct engine_waking *ret);

/* What the hosts draw, and what VMs lack, as of the newest inventory; energy_account.h says what is meant. */
struct engine_power {
    uint32_t hosts;
    uint32_t unknown;                           /* of them: power unknown, not in the watts */
    uint32_t measured;                          /* of them: by a meter */
    double watts, all_on_w;                     /* 0 before the first inventory */
    double wanted[RES_COUNT], unmet[RES_COUNT]; /* MHz, MiB */
    double used_wh, all_on_wh; /* accounted by this process so far: never less than before, so without what
                                * the first readings of meters correct of the time before it */
};

void engine_power(const struct engine *e, struct engine_power *ret);

/* The same of one host. */
struct engine_host_power {
    double watts;                               /* UNKNOWN */
    bool measured;                              /* by a meter */
    double wanted[RES_COUNT], unmet[RES_COUNT]; /* by the VMs on it: MHz, MiB */
};

/* False: no inventory of this process has shown the host. */
bool engine_host_power(const struct engine *e, const char *host, struct engine_host_power *ret);

/* What was expected of the demand of all VMs, what came, and what is expected next (demand_profile.h). */
struct engine_forecast {
    bool enabled, proactive; /* dpm.enabled, dpm.proactive */
    const char *zone;        /* dpm.time_zone, in which days are days */
    instant_s doubted; /* since then this day has not been as expected: nothing is decided by it for now; 0 */
    struct demand_profile_record
        *past; /* the slots that are over and the present one, as far as any is known */
    size_t n_past;
    const struct expected *ahead; /* those of the next ones of which something is expected */
    size_t n_ahead;
};

/* In the arena. */
void engine_forecast(const struct engine *e, instant_s now, instant_s back_s, instant_s ahead_s,
                     struct arena *a, struct engine_forecast *ret);

/* Whether a host is being put to standby or woken: the actuators have been asked, and their task is not over.
 */
bool engine_is_changing_power(const struct engine *e);

/* The actions that the engine has at hand (all that have not ended and those that ended a short time ago), in
 * the order of their ids, then the recommendations in that of the plan. In the arena; the strings are the
 * engine's. */
size_t engine_actions(const struct engine *e, struct arena *a, const struct action_record ***ret);

#endif
