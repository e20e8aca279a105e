/* ports.h: everything that the engine asks of the world.
 *
 * The engine (engine.h) is a state machine: it is told what happened and what time it is, and what it wants
 * it asks of one of the five ports below. It has no thread, clock, file or socket of its own, so the daemon,
 * the simulator and the tests run the very same code on different worlds.
 *
 *   store      what must outlive a restart; called and answered at once
 *   source     "look at the cluster"; the answer comes back as engine_on_inventory() or _on_source_error()
 *   actuators  one call of an actuator: an operation, settings of pools, a measurement; the answer comes
 *              back as engine_on_job_result()
 *   units      external units, about the VMs of a snapshot; the answer comes back as engine_on_answers(). May
 *              be missing: then stages that ask units find no answer
 *   event_sink what happened, for the log and other subscribers; no answer
 *
 * A port is a const table of functions and an object that belongs to the table's implementation. Every call
 * comes from the one thread that the engine runs in. A port must not call back into the engine from within
 * one of its functions: answers are delivered later, from the loop.
 */
#ifndef BALLAST_ENGINE_PORTS_H
#define BALLAST_ENGINE_PORTS_H

#include "engine/look.h"

#include <ballast/actuator.h>
#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/inventory.h>
#include <ballast/names.h>
#include <ballast/snapshot.h>
#include <ballast/units.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what is stored -------------------------------------------------------------------------- */

enum move_host { MOVE_FROM, MOVE_TO, MOVE_HOSTS };

/* What a move was expected to do, and did (actions/move_result.h): the loads of its hosts, as parts of their
 * capacity. */
struct move_result {
    instant_s predicted_at; /* 0: nothing was predicted, and the rest means nothing */
    instant_s observed_at;  /* 0: not yet; the loads and `overlaps` mean nothing */
    double predicted[MOVE_HOSTS][RES_COUNT], observed[MOVE_HOSTS][RES_COUNT];
    double vm_lack[2]; /* part of its CPU demand that the VM did not get: when the move began, when it was
                        * observed; UNKNOWN: not measured */
    double harm;       /* what both hosts lack more than if the VM had stayed, as a part of the smaller one's
                        * capacity, CPU and memory together; below 0: less. UNKNOWN: not reckoned */
    double duration_s; /* of copying, that it took; UNKNOWN: not watched from beginning to end */
    double overhead_s; /* predicted: of the action beyond copying; UNKNOWN: no earlier migration taught it */
    double downtime_s; /* that the VM stood still; UNKNOWN: the hypervisor does not say */
    bool overlaps;     /* another VM came to one of the hosts, or left it, meanwhile */
};

/* A recommendation and, once it is approved, the action that carries it out: one record, one number, one row,
 * from ACTION_RECOMMENDED to its end. Strings may be NULL where it says so. */
#define APPROVED_BY_ENGINE "engine"

struct action_record {
    uint64_t id;      /* 1, 2, ...: grows for ever, never used twice in one store; what `apply` is given */
    uint32_t version; /* 1, 2, ...: which destination it has; an approval is for one version (approval.h) */
    const char *uid;  /* unique for ever and everywhere: what the hypervisor's task is recognised by */
    uint64_t pass;    /* the pass, or the placement, that recommended it last; 0: asked for by an admin */
    enum action_state state;
    enum action_kind kind;
    unsigned priority;
    const char *vm, *from, *to; /* ids; NULL unless the kind has them */
    const char *identity;       /* of the VM (vm_facts.identity): it is about this one; NULL: not known */
    const char *host;           /* id; NULL unless the kind has one */
    enum reason reason;
    const char *rule;           /* id or NULL */
    const char *text;           /* the sentence that an admin judges by */
    const uint64_t *depends_on; /* ids of actions that must be done first; ascending */
    uint32_t n_depends_on;
    uint32_t group;    /* within its pass; 0: none */
    uint32_t position; /* in the plan of its pass: 1, 2, ...; 0: not known; not stored */
    double imbalance_after;
    double cost[RES_COUNT], benefit[RES_COUNT]; /* MHz s, MiB s */
    double duration_s;                          /* estimated; of ACTION_MIGRATE: of copying alone */
    const char *approved_by; /* APPROVED_BY_ENGINE, or who said `apply`; NULL: not approved */
    const char *ended_by;    /* who rejected it or had it cancelled; NULL: no person did */
    const char *task;        /* the hypervisor's own name of it; NULL until it is known */
    const char *why;         /* the last thing worth knowing: why it failed, waits, ...; NULL */
    unsigned attempts;       /* how often start was called */
    bool cancel_asked;       /* it took too long, or an admin wants it stopped */
    uint32_t unclear;        /* ACTION_VERIFYING: 0: the hypervisor reported success; else the errno
                              * because of which no end was reported, about which `why` says more.
                              * ACTION_FAILED, of a VM: the errno of the cause; 0: not known */
    bool refused;            /* ACTION_FAILED: it was refused, so that nothing was begun */
    const char *former_to;   /* the destination before the present one; NULL: it never had another */
    instant_s redirected;    /* since then it has the present one; 0: since it was created */
    instant_s created;       /* first recommended */
    instant_s seen;          /* time of the last snapshot that it was recommended from */
    instant_s approved, started, ended; /* 0: not yet */
    struct move_result result;          /* of ACTION_MIGRATE */
    uint32_t wake_method; /* ACTION_POWER_ON: WAKE_*, the method that is to be tested; 0: none */
    int percent; /* the most that the hypervisor has said of its progress; 0: nothing yet; not stored */
};

/* A migration that happened (`ok`) or did not. */
struct migration_record {
    uint64_t action; /* 0: not ours, seen in inventories */
    const char *vm, *from, *to;
    instant_s started, ended;
    double
        mem_mb; /* what the VM had consumed: with the time it took, the rate of this pair of hosts; UNKNOWN */
    bool ok;
};

/* The moving average of how fast memory was copied from one host to another; of a host with any other: to is
 * "". */
struct rate_record {
    const char *from, *to;
    double mb_s;
    instant_s learned; /* last */
};

/* ... of how fast a VM writes to its memory. */
struct dirty_record {
    const char *vm;
    double mb_s;
    instant_s learned;
};

struct sample_record {
    const char *vm;
    instant_s time;
    double demand[RES_COUNT];
};

/* Failures of moves, and until when they are avoided (knowledge/failed_moves.h): of a VM to a host; of any VM
 * to a host (vm ""), of a VM to any host (host ""), of the cluster (both ""). Instants: 0 where there is
 * none. */
struct failure_record {
    const char *vm, *host;
    const char *from;   /* of a VM and a host: the host that the last move was to take it from; NULL */
    uint32_t failures;  /* in a row; of the cluster: of its last moves */
    uint32_t pauses;    /* without a success between them: each is twice as long */
    uint64_t recent;    /* of the cluster: its last moves, the newest in bit 0; 1: failed */
    instant_s failed;   /* the last */
    instant_s until;    /* it is avoided before this */
    instant_s arrived;  /* the VM's last move, or the last to the host, that succeeded */
    instant_s departed; /* the last move off the host that succeeded */
    const char *reason; /* the peer's words about the last failure; NULL */
};

/* What was last set for a pool on a host (§3.1.7). */
struct setting_record {
    const char *host, *pool;
    struct alloc alloc[RES_COUNT];
};

/* What wakes of ours have shown of one method of a host. All of it is of the method as it was configured
 * then: with other settings it shows nothing. */
struct wake_proof {
    uint64_t settings;    /* host_power_method.settings; 0: of an older store, taken for the present ones */
    instant_s proven;     /* a wake succeeded that no other method can have done */
    instant_s failed;     /* it did not wake the host, and has not since */
    uint32_t failed_code; /* its errno */
    const char *why;      /* that failure, in the peer's words; NULL: none */
};

/* What is known of a host's power beyond what its source says. Instants: 0 where there is none. */
struct host_record {
    const char *host;
    instant_s on_since, standby_since; /* as far as inventories have shown it */
    instant_s put_down;                /* an action of ours put it to standby, and it was not seen up since */
    instant_s our_maintenance; /* since then its maintenance mode is that of a standby of ours, and ends with
                                  it */
    instant_s maintenance; /* since then it is in maintenance, where its hypervisor has no such mode; 0: it is
                              not */
    instant_s woke;        /* a wake of ours last brought it back */
    uint32_t woke_by;      /* in a store of an older version: WOKE_BY_OLDER, WAKE_*; 0: proofs[] say it */
    instant_s wake_failed; /* the last wake of ours did not */
    double boot_s;         /* moving average of its wakes; UNKNOWN */
    instant_s seen;        /* in an inventory; to the day */
    struct woken woken;    /* the reason of its last wake, since it came up; by us or by a person */
    const char
        *confirmed; /* the host's controllers that a person confirmed (identity_report.is); NULL: none */
    const char *confirmed_by;
    instant_s confirmed_at;
    const char *facts; /* of a host that sleeps: what was last known of it while it was on, as a host of
                        * ballast-snapshot/1 (model/host_json.h); NULL: nothing */
    struct wake_proof proofs[WAKE_METHODS]; /* by the number of the bit of WAKE_* */
};

/* host_record.woke_by: the host was woken before there were proofs of single methods, when it had the other
 * methods (WAKE_*) of these bits; none: not known. */
#define WOKE_BY_OLDER (1u << 31)

#define ENERGY_HOUR_S 3600
#define ENERGY_DAY_S 86400

/* What a host drew and lacked in an hour or, later on, a day; of the whole cluster: host is "".
 * energy_account.h defines the figures. Of the cluster they are the sums of its hosts, span_s apart. */
struct energy_record {
    const char *host;
    instant_s time;     /* the beginning of the hour, or of the day (UTC) */
    instant_s length_s; /* ENERGY_HOUR_S, ENERGY_DAY_S */
    instant_s until;    /* what happened until then is in it */
    double span_s;      /* of that time, what was accounted: without the gaps between inventories */
    double host_s;      /* the same, by host */
    double unknown_s;   /* of host_s: its power was unknown; not in the Wh */
    double measured_s;  /* of host_s: by a meter */
    double asleep_s;    /* of host_s: in standby */
    double used_wh, all_on_wh;
    double wanted[RES_COUNT], unmet[RES_COUNT]; /* MHz s, MiB s */
    double scale; /* meter / model, while it was on; UNKNOWN: it has not been measured yet. Not summed */
};

/* A quarter of an hour of the cluster (demand_profile.h). */
struct demand_profile_record {
    instant_s time;             /* its beginning */
    double mean[RES_COUNT];     /* of what all VMs wanted together; UNKNOWN: a gap */
    double peak[RES_COUNT];     /* the highest mean of a minute */
    double size[RES_COUNT];     /* of the VMs: vCPUs, configured MiB */
    double expected[RES_COUNT]; /* shortly before it began; UNKNOWN: nothing */
    uint32_t days, of;          /* that this rested on */
    uint32_t woken;             /* hosts that were woken in it for what was expected after it */
};

/* What a pass left out, though its settings allow it. */
#define HELD_BACK_OPTIONAL_MOVES (1u << 0) /* the cluster had just become uneven (full automation) */
#define HELD_BACK_STANDBY (1u << 1)        /* not watched for long enough, or a host proves that it wakes */

/* A pass with all that is needed to run it again. Both texts are the JSON of the contract. */
struct pass_record {
    uint64_t id; /* 1, 2, ... */
    instant_s time;
    const char *trigger; /* "interval", "run", "overload": a host was short all at once; "change": VMs or
                          * hosts came or went; or no pass: "place": VMs that an admin had powered on,
                          * "migrate": a VM that an admin had migrated */
    double imbalance_before, imbalance_after, target;
    uint32_t n_recommendations, n_faults;
    int64_t decide_us;    /* 0: not measured */
    unsigned held_back;   /* HELD_BACK_*; not in lists */
    const char *snapshot; /* ballast-snapshot/1; NULL in lists, and where no passes are kept */
    const char *plan;     /* ballast-plan/1, with the whole policy; the same */
};

/* A word to remember across restarts, by key. */
struct note {
    const char *key, *value;
};

/* The note of a store that is a copy, or older than what the service had: a sentence of what is not known. */
#define NOTE_RESTORED "restored"

enum record_kind {
    RECORD_ACTION,
    RECORD_MIGRATION,
    RECORD_RATE,
    RECORD_DIRTY,
    RECORD_HOST,
    RECORD_SAMPLE,
    RECORD_PASS,
    RECORD_SETTING,
    RECORD_NOTE,
    RECORD_ENERGY,
    RECORD_PATTERN,
    RECORD_FAILURE,
    record_kind_count
};

/* One of them, borrowed. */
struct record {
    enum record_kind kind;
    union {
        const void *any; /* for implementations that go by a table of kinds */
        const struct action_record *action;
        const struct migration_record *migration;
        const struct rate_record *rate;
        const struct dirty_record *dirty;
        const struct host_record *host;
        const struct sample_record *sample;
        const struct pass_record *pass;
        const struct setting_record *setting;
        const struct note *note;
        const struct energy_record *energy;
        const struct demand_profile_record *pattern;
        const struct failure_record *failure;
    };
};

/* What people ask the store for. */
enum record_query {
    QUERY_SAMPLES,     /* all that are kept, oldest first; those of one time by VM */
    QUERY_PASSES,      /* so many without their texts, newest first */
    QUERY_PASS,        /* the one with this number, with its texts; -ENOENT */
    QUERY_ENERGY,      /* of the cluster, by time: what was drawn since then, hours and days that began
                        * earlier and end later included */
    QUERY_HOST_ENERGY, /* each host's sum since then, by id; time is the earliest, length_s the sum */
    record_query_count
};

/* The answer; in the arena of the question. */
struct records {
    union {
        void *any;
        struct sample_record *samples;
        struct pass_record *passes;
        struct energy_record *energy;
    };
    size_t n;
};

/* What a restart begins with; strings and arrays are in the arena that load() was given. */
struct stored {
    const char *instance; /* a random name that the store was given when it was created; part of every uid */
    instant_s newest;     /* the time of its newest record; 0: not known */
    uint64_t last_action,
        last_pass;                 /* the highest ids given out so far, whatever was pruned since; 0: none */
    struct action_record *actions; /* by id: all that have not ended, and those that ended since `since` */
    size_t n_actions;
    struct migration_record *migrations; /* ended since `since`; oldest first */
    size_t n_migrations;
    struct rate_record *rates; /* all */
    size_t n_rates;
    struct dirty_record *dirties; /* all */
    size_t n_dirties;
    struct setting_record *settings; /* all, by host, then pool */
    size_t n_settings;
    struct host_record *hosts; /* all */
    size_t n_hosts;
    struct sample_record *samples; /* taken since `samples_since`; by VM, then oldest first */
    size_t n_samples;
    struct note *notes;
    size_t n_notes;
    struct energy_record *energy; /* of hours that were not over an hour before `samples_since`, by time */
    size_t n_energy;
    struct demand_profile_record *patterns; /* all */
    size_t n_patterns;
    struct failure_record *failures; /* all, by VM, then host */
    size_t n_failures;
};

/* The value of a note, or NULL. */
const char *ports_find_note(const struct stored *s, const char *key);

/* What is dropped; 0: nothing. Of what is old the oldest tenth at a time; INT64_MAX: all, at once. */
struct retention {
    instant_s samples_before;     /* samples older than this are dropped, all at once; see put_look() */
    instant_s ended_before;       /* and actions and migrations that ended before this */
    instant_s learned_before;     /* and rates that were last learned before this */
    instant_s hosts_before;       /* and hosts last seen before this, unless we put them to standby */
    uint32_t passes_kept;         /* and all but this many of the newest passes, with their snapshots */
    instant_s energy_before;      /* and what was drawn before this */
    instant_s energy_days_before; /* a whole day (UTC); what was drawn before it is kept by day */
    instant_s patterns_before;    /* and quarters of an hour that began before this */
    instant_s looks_before;       /* and means of looks before this; INT64_MAX: and all looks */
};

/* ---- store ----------------------------------------------------------------------------------- */

struct store; /* each implementation defines its own; created and destroyed by the program */

/* Every function returns 0 or a negative errno and a sentence; -EIO where the disk or the database is to
 * blame. What a failed call was to write is not written, in part or whole. Records and strings passed in are
 * borrowed for the call; what is returned is copied into the arena.
 *
 * A put() outside begin() ... commit() is a transaction of its own, and durable (fsync) when it returns 0:
 * the engine stores ACTION_STARTING before it asks a hypervisor for anything, and relies on finding it again
 * after a power failure. Between begin() and commit() the puts become durable together, at commit(). */
struct store_ops {
    /* Everything that a restart needs. Called once, first. An empty store gives a name and nothing else. */
    int (*load)(struct store *s, instant_s since, instant_s samples_since, struct arena *a,
                struct stored *ret, struct err *err);

    /* Not nested. When a put within fails, the engine calls rollback(); after a failed commit() nothing of
     * the transaction is stored and no rollback() is needed. */
    int (*begin)(struct store *s, struct err *err);
    int (*commit)(struct store *s, struct err *err);
    void (*rollback)(struct store *s);

    /* Inserts it, or replaces the one with the same key: the id of an action or a pass, the host of a host,
     * the hosts of a rate, host and pool of a setting, VM and host of a failure, host and time of energy, VM
     * and time of a sample. A migration is always added. */
    int (*put)(struct store *s, const struct record *record, struct err *err);
    /* Drops the setting, the failure or the note with the key of this one. */
    int (*forget)(struct store *s, const struct record *record, struct err *err);

    int (*prune)(struct store *s, const struct retention *keep, struct err *err);

    /* of: the number, instant or pass that the question names; 0. NULL where it is not used. */
    int (*list)(struct store *s, enum record_query query, int64_t of, struct arena *a, struct records *ret,
                struct err *err);

    /* Drops samples of the oldest looks. Keeps the figures of a look, and thins those of earlier ones: a part
     * of that work with each. Replaces a look at the same time. NULL: none are kept, so that none need to be
     * taken. */
    int (*put_look)(struct store *s, const struct look *look, struct err *err);

    /* Whether what the host said on its console is kept with the action. NULL: nothing is. */
    bool (*has_console)(struct store *s, uint64_t action);
};

/* ---- source ---------------------------------------------------------------------------------- */

struct source;

struct source_ops {
    /* Begins one collection. The engine asks for one at a time, and waits for its answer before the next. An
     * error means that none was begun; the engine asks again later. */
    int (*ask)(struct source *s, uint64_t serial, struct err *err);
};

/* An inventory with the memory that it lives in; handed over whole. */
struct collected {
    struct arena arena;
    struct inventory inventory;
};

/* ---- actuators ------------------------------------------------------------------------------- */

struct actuators;

struct actuators_ops {
    /* Hands the job to a worker, which calls the actuator's function for it (job.h); copies all of it. There
     * is at most one job under way for an action. Each job that was taken comes back once, with its result.
     * An error means that it was not taken; -EAGAIN: too many at once; -ENOTSUP: no such job ever will be. */
    int (*submit)(struct actuators *x, const struct job *job, struct err *err);
};

/* ---- external units -------------------------------------------------------------------------- */

struct unit_port;

struct unit_port_ops {
    /* Begins to ask; one question at a time. The snapshot stays as it is until the answer, which always
     * comes, with an error for each VM about which a unit does not answer in time. */
    void (*ask)(struct unit_port *u, uint64_t serial, const struct snapshot *snapshot);
};

/* ---- event sink ------------------------------------------------------------------------------ */

/* What a pass changed of the recommendations that wait for an approval. Each one that is new or gone is an
 * event of its own; one whose destination changed is not, or each pass of a large cluster would be hundreds.
 */
struct recommendation_changes {
    uint32_t n_new, n_gone;
    uint32_t n_redirected;
    const struct action_record *const *redirected; /* with another destination than before */
};

struct event {
    enum event_kind kind;
    instant_s time;
    const struct action_record *action;           /* EVENT_ACTION */
    const struct recommendation_changes *changes; /* EVENT_PASS_DONE */
    uint64_t pass;    /* the last one, or that of the action; 0 where none has to do with it */
    const char *text; /* one whole sentence */
    const char *by;   /* EVENT_PAUSED, EVENT_RESUMED, EVENT_RETRY, EVENT_CONFIGURATION...: who asked for it;
                         NULL: not known */
    const char *vm, *host; /* ids: the subject of EVENT_FAULT..., EVENT_HOST..., EVENT_METER...; else NULL */
    const char *target;    /* EVENT_ALARM_...: the name of the target */
    const char *unit;      /* EVENT_UNIT_...: the name of the external unit */
    const char *night;     /* EVENT_NIGHT: as JSON (knowledge/night_record.h) */
    enum fault_code fault; /* EVENT_FAULT, EVENT_FAULT_CLEARED; fault_code_count: more than are listed */
    enum host_state was, is;         /* EVENT_HOST...: host_state_count: not seen before (was); lost (is) */
    const struct snapshot *snapshot; /* says what a person calls these; NULL before the first inventory */
};

struct event_sink;

struct event_sink_ops {
    /* Everything is borrowed for the call. Cannot fail: what cannot be delivered is the event sink's problem.
     */
    void (*publish)(struct event_sink *o, const struct event *event);

    /* For an event sink that keeps what was published in the engine's store; NULL otherwise. keep() puts it
     * there, between begin() and commit() of the engine's own transaction: what has happened and the news of
     * it are stored together or not at all. What it put may be rolled back, after which it is called again;
     * once it is durable, kept() says so. */
    int (*keep)(struct event_sink *o, struct err *err);
    void (*kept)(struct event_sink *o);
};

/* ---- people ---------------------------------------------------------------------------------- */

struct people;

struct people_ops {
    /* Why the person or program that asked for an action then, as the engine was told (`by`), may not ask for
     * it now; NULL: it may. */
    const char *(*lost_right)(struct people *p, const char *by, instant_s asked);
};

struct engine_ports {
    const struct store_ops *store_ops;
    struct store *store;
    const struct source_ops *source_ops;
    struct source *source;
    const struct actuators_ops *actuators_ops;
    struct actuators *actuators;
    const struct event_sink_ops *event_sink_ops;
    struct event_sink *event_sink;
    const struct unit_port_ops *unit_ops; /* NULL: nothing asks units */
    struct unit_port *units;
    const struct people_ops *people_ops; /* NULL: no person loses a right */
    struct people *people;
};

#endif
