/* engine_world.h: fake ports for the engine's tests: a virtual clock, a cluster in memory, a store that
 * survives restarts, workers that answer on the test's command, and a pass with the recommendations that
 * the test prescribes.
 *
 * The process can die at any call of the engine (crash_in): from that call on no call has any effect, as if
 * the process had been killed; world_restart() then begins a new engine on what is left. */
#ifndef BALLAST_TESTS_UNIT_ENGINE_WORLD_H
#define BALLAST_TESTS_UNIT_ENGINE_WORLD_H

#include "unit.h"

#include "engine/engine.h"
#include "engine/knowledge/demand_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORLD_HOSTS 6
#define WORLD_FAILURES 60
#define WORLD_VMS 40
#define WORLD_TASKS 400
#define WORLD_JOBS 200
#define WORLD_ACTIONS 2000
#define WORLD_RATES ((WORLD_HOSTS + 1) * WORLD_HOSTS)
#define WORLD_START 1000000
#define WORLD_EVENTS 1000
#define WORLD_POOLS 2 /* p0, and p1 below it */
#define WORLD_PARTS (WORLD_HOSTS * WORLD_POOLS)
#define WORLD_NOTHING (-1.0)
#define WORLD_ENERGY 64

struct world_question {
    enum job_kind kind; /* JOB_MEASURE, JOB_IDENTIFY */
    uint64_t serial;
    char host[16];
};

struct world_vm {
    char id[16];
    int host; /* -1: not there */
    double cpu, mem;
    double mem_mb;      /* 0: as all */
    unsigned may_be_at; /* bits of the hosts where a placement may put it; 0: all */
    double cpu_limit;   /* 0: none */
    enum automation automation;
    bool off;
    int agent_of; /* required by that host, from 1; 0: an ordinary VM */
};

struct world_task {
    char name[32], uid[96];
    enum operation_kind kind;
    int vm, to; /* vm: -1 for operations of a host, which is `to` then */
    instant_s ends;
    enum task_state state;
    bool stuck; /* until it is cancelled */
    bool forgotten;
};

struct world_move {
    enum action_kind kind; /* a migration, unless it says otherwise */
    int vm, to;            /* to: also the host that is woken, or put to standby */
    unsigned priority;
    unsigned depends_on;      /* place in the script, from 1; 0: none */
    unsigned depends_also_on; /* likewise, a later place */
    unsigned group;
    int from; /* the host that it starts on, from 1: where an earlier move of the VM ends; 0: where the VM is
               */
    bool evacuates; /* because of maintenance or standby, and not for the balance */
    bool empties;   /* the host that the group puts to standby, which waits for all such moves */
    bool off_vm;    /* the VM is off; without a group: once its host enters standby */
    bool for_load;  /* ACTION_POWER_ON: because of high utilization */
    bool early;     /* a host is woken for what is expected */
    bool has_vm;    /* a host is woken for a VM that is registered there */
    bool otherwise; /* only if nothing that stands before it is recommended */
    int place;      /* its own, from 1; filled in */
};

#define WORLD_PATTERNS DEMAND_SLOTS

struct world {
    instant_s now;
    struct engine *engine;
    struct engine_settings settings;
    struct arena memory; /* of the store and of the scripts */

    int n_hosts, n_vms;
    enum host_state host_state[WORLD_HOSTS];
    instant_s booted[WORLD_HOSTS]; /* 0: the source does not tell */
    bool gone[WORLD_HOSTS];        /* not in the inventory */
    bool unread[WORLD_HOSTS]; /* the source has never read it: it is listed as disconnected, without its size
                               */
    enum automation host_dpm[WORLD_HOSTS];
    struct ha_facts ha;
    double reserved_mb;                /* of memory, by each VM */
    bool unproven;                     /* the source does not say of any host that it wakes */
    bool hides;                        /* the source shows a host that sleeps as one that it has lost */
    double host_rate_mb_s, dirty_mb_s; /* what the source says of every host and VM; 0: nothing */
    bool unthrottled;                  /* the same, of migrations of VMs */
    double copy_most_mb_s;
    double vm_mem_mb;                 /* of every VM; 0: 1000 */
    const char *host_name;            /* of every host; NULL: its id */
    const char *name_of[WORLD_HOSTS]; /* of this host; NULL: as all */
    const char *uuid_of[WORLD_HOSTS]; /* of the hardware; NULL: not known */
    const char *vm_name;              /* of every VM; NULL: its id */
    const char *vm_identity;          /* the same; NULL: not known */
    const char *labels_unread;        /* what the source says of its labels */
    bool apart;                       /* a rule keeps vm00 and vm01 on different hosts */
    struct world_vm vms[WORLD_VMS];

    struct world_move script[WORLD_VMS];
    int n_script;
    struct world_move places[WORLD_VMS]; /* what a placement recommends, of the VMs that it is asked for */
    int n_places, placements;
    double room_mb; /* instead: on the first host with room left of so much for VMs; 0: the script counts */
    bool greedy;    /* instead of the script: level the number of VMs */
    double imbalance, target, hottest;
    int passes, passes_mandatory_only, passes_without_sleep;

    struct action_record actions[WORLD_ACTIONS]; /* stored; by id - 1 */
    struct action_record shadow[WORLD_ACTIONS];  /* before the transaction */
    uint64_t n_actions, n_shadow;
    int n_migrations, n_samples, n_passes;
    struct migration_record migrations[WORLD_TASKS];
    struct rate_record rates[WORLD_RATES];
    struct dirty_record dirties[WORLD_VMS];
    int n_rates, n_dirties;
    struct failure_record failures[WORLD_FAILURES], failures_shadow[WORLD_FAILURES];
    int n_failures, n_failures_shadow;
    struct host_record known[WORLD_HOSTS]; /* what the store has of hosts */
    int n_known;
    struct host_record known_shadow[WORLD_HOSTS]; /* before the transaction */
    int n_known_shadow;
    struct demand_profile_record patterns[WORLD_PATTERNS]; /* stored; by number of the slot */
    char start_notes[WORLD_VMS][256];                      /* "start_keys/ID" */
    char failing_units_note[256], down_note[64];
    char paused_note[40], paused_by_note[40], restored_note[256], source_note[80], roll_note[1024],
        reclaim_note[800], others_note[800], four_eyes_note[40000], four_eyes_shadow[40000], night_note[4096],
        last_night_note[4096];
    const char *lost; /* a person who may not act any more; NULL: none */
    bool in_transaction, store_broken;
    instant_s kept_since; /* by the last pruning */
    instant_s newest_record;
    int n_refused; /* calls that a broken store has refused */
    uint64_t last_pass;

    int n_pools;                             /* that are there */
    double pool_limit;                       /* of p0, in MHz, which all VMs are then in; 0: there is none */
    double wanted[WORLD_HOSTS][WORLD_POOLS]; /* what passes want reserved, in MHz; or WORLD_NOTHING */
    double has[WORLD_HOSTS][WORLD_POOLS];    /* what the peer's hosts have */
    bool settings_seen;                      /* the source tells what they have */
    struct job settings_jobs[WORLD_HOSTS];
    int n_settings_jobs;
    int settings_calls[WORLD_HOSTS]; /* by host: how often the peer was asked */
    int settings_code;               /* what it answers; 0: it obeys */
    struct setting_record parts[WORLD_PARTS], parts_shadow[WORLD_PARTS]; /* stored; before the transaction */
    int n_parts, n_parts_shadow;

    bool figures; /* hosts say 100 W to 200 W, and 10 W in standby */
    bool meters;  /* the actuators have some */
    double meter_w[WORLD_HOSTS];
    int meter_code[WORLD_HOSTS];   /* what the meter answers; 0: its watts */
    bool meter_hangs[WORLD_HOSTS]; /* it does not answer before this is over */
    struct world_question questions[WORLD_HOSTS];
    int n_questions, questions_most, n_measured[WORLD_HOSTS];
    struct energy_record energy[WORLD_ENERGY],
        energy_shadow[WORLD_ENERGY]; /* stored; before the transaction */
    int n_energy, n_energy_shadow;

    uint64_t asked; /* 0: nothing is asked */
    bool source_down, source_silent;
    int source_code; /* why it is down; 0: the connection was refused */
    int n_asks;

    bool units;                       /* an external unit is asked about each VM; set before it begins */
    bool units_silent;                /* ... and does not answer */
    uint64_t units_asked;             /* the serial of the question; 0: nothing is asked */
    int n_units_asks;                 /* so often */
    const char *unit_error;           /* why there is no answer; NULL: */
    unsigned unit_keeps;              /* bits of the hosts to which VMs may come */
    const struct snapshot *unit_sees; /* about which is asked */

    struct job jobs[WORLD_JOBS];
    int n_jobs;
    struct world_task tasks[WORLD_TASKS];
    int n_tasks;
    int starts[WORLD_VMS];  /* tasks begun, by VM */
    int wakes[WORLD_HOSTS]; /* by host */
    int downs[WORLD_HOSTS]; /* put to standby */
    double high;            /* what passes report of utilization before */
    double high_without;    /* ... and after, while a host is to be emptied */
    instant_s awake_at[WORLD_HOSTS], boot_s;
    int check_code, start_code; /* what the next ones answer */
    int ahead_code, n_ahead; /* what controllers answer before a host is emptied; how often they were asked */
    bool controllers;        /* hosts have some that tell which machine they belong to: */
    struct identity_report identity;
    int identity_code;     /* 0: they say it */
    const char *confirmed; /* what a person confirmed, as the last request had it */
    int percent;           /* what every running task says of itself */
    bool (*actuators)(const struct job *o, struct job_result *ret); /* asked first; NULL: none */
    unsigned may_have_woken, method_failed; /* what the task of a wake says of methods */
    int method_code;                        /* why that one failed */
    unsigned method;                        /* the one that the last wake is to test */
    bool start_lost;                        /* the next start begins, and its answer gets lost */
    bool tasks_fail, tasks_stick, cannot_cancel;
    unsigned refusing;      /* 1 << host: tasks fail whose VM comes there */
    int task_error;         /* why they fail; 0: -EIO */
    bool tasks_lie;         /* they succeed, and nothing has changed */
    bool lands_where_it_is; /* a VM starts where it is registered, whatever was asked */
    instant_s task_s;

    bool dead;
    int crash_in; /* calls until the process dies; 0: never */
    bool crash_before_effect;
    bool jobs_survive; /* what the workers had been given was still carried out, and the engine never read the
                        * answer
                        */
    char events[64][24];
    int n_events;
    uint32_t n_redirected;          /* recommendations, as passes told */
    char last_by[32];               /* who asked for what the last event tells of that a person asked for */
    bool keeps;                     /* the event sink keeps events in the store; set before it begins */
    char waiting[WORLD_EVENTS][24]; /* not kept yet; gone with the process */
    char stored[WORLD_EVENTS][24];  /* as in events[] */
    int n_waiting, n_stored, n_stored_shadow;
};

/* ---- the world as the tests see it ----------------------------------------------------------- */

extern struct world *W; /* the one that is on; the pass has no other way to it */

/* Hosts h0, h1, ... and VMs vm00, vm01, ..., all of them on h0. The engine is begun when the settings are
 * made. */
void world_init(struct world *w, int n_hosts, int n_vms);
void world_begin_engine(void);

/* Four hosts; vm02 and vm03 are on h2, which the pass wants to sleep, and everything is automatic: moves 1
 * and 2, and 3, which waits for them. */
void world_init_standby(struct world *w);
void world_release(void);

/* One second: the peer works, answers come, the clock ticks. */
void world_second(void);
void world_run(instant_s seconds);

/* The process is killed, and another one begins. */
void world_restart(void);

/* What becomes of the call at which the process dies, and of the jobs that the workers had. */
enum crash_mode { CRASH_BEFORE_EFFECT, CRASH_AFTER_EFFECT, CRASH_JOBS_SURVIVE, CRASH_MODES };

/* The process is killed at its at-th call from now on, if it comes to that within so many seconds (true),
 * else at their end. Another one begins three seconds later; the peer has gone on meanwhile. */
bool world_killed(enum crash_mode mode, int at, int within_s);

/* The parts of a second, for tests that look between them. */
void world_answer(void); /* what is asked of the source, unless that is silent */
void world_work(void);   /* the workers' jobs */

/* Asks for a placement or a migration, and lets the source answer. The result is valid until the clock ticks.
 */
int world_place(const struct place_request *q, struct placement *ret, struct err *err);

void w_answer_identity(const struct world_question *q);
void w_tell_methods(const struct operation *q, struct task_progress *ret);
struct job_result w_carry_out(const struct job *o);
int w_carry_out_settings(const struct job *o, struct err *err);
void w_tasks_go_on(void); /* the peer's own time: what began goes on, whether anybody watches or not */

const struct action_record *world_action(uint64_t id);
enum action_state world_state(uint64_t id); /* action_state_count: there is none */
int world_apply(uint64_t id);
int world_running(int host); /* moves at the peer now, at this host or (-1) in all */
int w_count_events(const char *line);

/* ---- between the files of the world ---------------------------------------------------------- */

double w_mem_mb(int vm);
int w_vm(const char *id);   /* -1: none */
int w_host(const char *id); /* -1: none */
bool w_alive(void);         /* counts a call; whether it has an effect */
void w_host_id(int i, char ret[16]);
struct store {
    int unused; /* all of it is in the world */
};
extern const struct store_ops w_store_ops;

/* engine_world_units.c */
extern const struct unit_port_ops w_unit_ops;
extern const struct people_ops w_people_ops;
void w_fill_units(struct inventory *inv,
                  struct arena *a); /* if there is one: a pipeline of each VM that asks */
void w_answer_units(void);          /* what is asked, unless the unit is silent */

/* engine_world_pools.c */
void w_fill_rule(struct inventory *inv, struct arena *a);
void w_fill_pools(struct inventory *inv, struct arena *a);
void w_fill_migration(struct seen_vm *v, bool off); /* what the source says of its migrations */
void w_plan_pools(const struct snapshot *s, struct arena *a, struct plan *ret);
int w_submit_settings(const struct job *o);
void w_put_setting(const struct setting_record *r);
void w_forget_setting(const char *host, const char *pool);

#endif
