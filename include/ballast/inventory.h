/* inventory.h: a cluster as its source describes it, before any check.
 *
 * A collector fills it from a hypervisor's answers, the snapshot reader from JSON: objects in the order of
 * the source, references by id. snapshot_build() (src/model/snapshot_build.h) checks it and builds the
 * snapshot. All strings and arrays live in the arena that the filler was given; no array has holes.
 *
 * A value that could not be read keeps its default and is marked (demand_unknown, HOST_DISCONNECTED),
 * never guessed. Samples are handed on as measured; the core checks later whether they can be right.
 */
#ifndef BALLAST_INVENTORY_H
#define BALLAST_INVENTORY_H

#include <ballast/arena.h>
#include <ballast/facts.h>
#include <ballast/field.h>

#include <stddef.h>

/* A hypervisor's measurements of a VM over the last interval; the engine computes the demand from them, by
 * the formula of §2.3 (src/core/demand). A collector that reads demand itself leaves present false. Each
 * field may be UNKNOWN. */
struct vm_sample {
    bool present;
    instant_s measured;  /* by the peer's clock; 0: just now, or not known */
    double interval_ms;  /* what the times below are measured over */
    double cpu_used_mhz; /* mean over the interval */
    double cpu_run_ms;   /* all vCPUs together */
    double cpu_sleep_ms;
    double cpu_ready_ms;      /* runnable, but not running */
    double core_mhz;          /* speed of one core of its host: turns ready time into MHz */
    double mem_active_mb;     /* touched recently */
    double mem_guest_used_mb; /* the guest's own figure (balloon statistics) */
    double mem_consumed_mb;   /* host memory that backs it */
    double mem_overhead_mb;
};

struct seen_host {
    struct host_facts is;
    struct ids agents_required;
    double cpu_used_mhz; /* of all that runs on it, over the interval of its VMs' samples; UNKNOWN */
    instant_s booted;    /* as the source says it; 0: not known */
};

struct seen_vm {
    struct vm_facts is;
    const char *host, *pool, *ft_peer; /* NULL: none */
    const char *source_pool;           /* of a VM that is overridden (facts.h): its pool in the source */
    const char *pipeline;              /* by which it is placed; NULL: none */
    const char *left_host;             /* the host that its last migration took it from; NULL: not known */
    bool if_all_sleep; /* it is off, and may run on a host that the source has never read: it is in the
                          inventory only if all of those are asleep by our doing, and so run nothing
                          (left_hosts.h) */
    bool unthrottled;  /* its migration does not slow it down: it has no end while the VM writes to its memory
                          faster than that is copied */
    double copy_most_mb_s; /* that its migration may use; 0: no limit */
    bool compatible_given; /* false: it can run on every host */
    struct ids compatible_hosts;
    struct vm_sample sample;
};

struct seen_pool {
    struct pool_facts is;
    const char *parent; /* NULL: the root */
};

struct seen_rule {
    struct rule_facts is;
    struct ids vms, hosts;
};

struct seen_migration {
    const char *vm, *from, *to;
    instant_s started;
};

/* A recommendation of an earlier pass that was approved and has not begun; or one that stands (snapshot.h).
 */
struct seen_pending {
    enum action_kind action;
    const char *vm, *from, *to, *host; /* NULL where the action has none */
    enum reason reason;                /* of a standing one, as what follows */
    uint32_t group;
    instant_s since;
};

/* Copy rate from one host to another, measured by past migrations between them. */
struct seen_migration_rate {
    const char *from, *to;
    double rate_mb_s;
};

/* What failed and is not tried again yet (snapshot.h: struct avoid). */
struct seen_avoid {
    const char *vm, *host; /* NULL: any */
    instant_s until;
    uint32_t failures;
    bool mandatory;
    const char *reason;
    const char *rejected; /* the reason whose moves a person rejected; NULL: something failed */
};

/* A pool's settings on a host (§3.1.7). */
struct seen_setting {
    const char *host, *pool;
    struct alloc alloc[RES_COUNT];
};

struct seen_group {
    struct group_facts is;
    struct ids hosts;
};

struct seen_pipeline {
    const char *name;
    struct objects stages; /* struct stage_facts, in the order in which they are asked */
    struct pipeline_balance balance;
    bool of_ovirt; /* a refusal by its filters is told in the words of oVirt's engine, too */
    enum rule_origin origin;
};

struct answer_scores {
    const double *items;
    uint32_t n;
};

/* What an external unit says of VMs (src/core/fit/README.md): hosts, or why there is no answer. */
struct seen_answer {
    const char *unit;
    struct ids vms;                   /* of which all of it is true */
    struct ids hosts;                 /* to which they may come; with scores: of these */
    struct answer_scores scores;      /* a number for each of the hosts, ... */
    struct answer_scores multipliers; /* ... and what it is multiplied by when it is normalised */
    bool hosts_given, scores_given, multipliers_given;
    instant_s at;      /* when the unit was asked */
    const char *words; /* of the unit, for a person; NULL: none */
    const char *error; /* why there is no answer; NULL: there is one */
};

/* Expected total demand of the cluster's VMs from `time` on, for FORECAST_SLOT_S: seen on `days` of the
 * last `of` days alike. demand: UNKNOWN where none is expected. */
struct expected {
    instant_s time;
    double demand[RES_COUNT];
    uint32_t days, of;
    enum alike_days alike;
};

#define FORECAST_SLOT_S 900

/* How long the total demand of the cluster's VMs is expected to stay at or below a level, by past times in
 * which it did: those that lasted longer than the present one has so far. */
struct quiet {
    double level[RES_COUNT]; /* MHz or MiB; UNKNOWN for the resource that this does not tell of */
    double lasts_s;          /* from now on: the lower quartile of those times */
    uint32_t of;             /* those times; 0: demand has never been above the level */
    uint32_t sudden;         /* of them: ended by a rise that was not foreseen */
    double rise;             /* demand at such a rise, on average: MHz or MiB */
    double age_s;            /* how long it has stayed there so far; UNKNOWN */
    double enough_s;         /* after so much longer the past keeps no host on any more; UNKNOWN */
};

struct ha_facts {
    enum ha_policy policy;
    uint32_t hosts;
    double percent[RES_COUNT];
    uint32_t hosts_on; /* hosts that must be on for the quorum to outlive the failure of one; 0: any number */
};

/* The failover capacity that the configuration asks for, beside that of the source: both are kept. */
struct ha_configured {
    bool given;
    enum ha_policy policy;
    uint32_t hosts;
    double percent[RES_COUNT];
    struct ids failover_hosts; /* ids */
    struct ids conflicts;      /* what of it cannot be kept: whole sentences */
};

struct inventory {
    const char *cluster;
    instant_s time;
    struct seen_host *hosts;
    struct seen_vm *vms;
    struct seen_pool *pools;
    struct seen_rule *rules;
    struct seen_migration *migrations;
    struct seen_pending *pending;
    struct seen_pending *standing; /* in the order of the plan */
    struct seen_migration_rate *migration_rates;
    struct seen_setting *settings; /* the pools' settings on the hosts; each pair once */
    struct seen_avoid *avoid;
    struct seen_group *groups;
    struct seen_pipeline *pipelines;
    struct seen_answer *answers;
    size_t n_groups, n_pipelines, n_answers, cap_groups, cap_pipelines, cap_answers;
    size_t n_hosts, n_vms, n_pools, n_rules, n_migrations, n_pending, n_migration_rates, n_settings, n_avoid,
        n_standing;
    size_t cap_hosts, cap_vms, cap_pools, cap_rules, cap_migrations, cap_pending, cap_migration_rates,
        cap_settings, cap_avoid, cap_standing;
    bool settings_seen; /* read from the hosts, which may have none; false: the caller that sets them must
                           remember them */
    bool vm_controls; /* hosts divide their CPU among VMs by vm_control, without pools, and Ballast sets it */
    bool moves_off_vms;        /* VMs that are off can be registered at another host */
    struct expected *forecast; /* by time; none twice */
    size_t n_forecast, cap_forecast;
    struct quiet *quiet;
    size_t n_quiet, cap_quiet;
    struct ha_facts ha;
    struct ids ha_failover_hosts;
    struct ha_configured ha_configured;
    struct schedule_facts schedule;
    struct balance_facts balance;
    struct correlation correlation; /* all 0: not known, VMs are taken to be independent */
    struct conflict_facts conflicts;
    const char *labels_unread; /* the source has labels or tags that could not be read yet: why, in the peer's
                                * words; NULL: all are known. Without them rules may be missing */
    struct ids source_faults;  /* what only a person can mend, each a whole sentence: hypervisors that
                                * contradict  each other, a VM that has stopped */
    const struct policy *policy; /* that the service decides with; NULL: not given */
    /* The cluster's own name for how far automation may go and how eagerly, where the source has one; for the
     * status page only, the settings of Ballast decide. NULL: it has none. */
    const char *source_automation;
};

/* Each appends one, set to its defaults, and returns it. It stays valid until the next of its kind is added.
 */
struct seen_host *inventory_add_host(struct inventory *inv, struct arena *a);
struct seen_vm *inventory_add_vm(struct inventory *inv, struct arena *a);
struct seen_pool *inventory_add_pool(struct inventory *inv, struct arena *a);
struct seen_rule *inventory_add_rule(struct inventory *inv, struct arena *a);
struct seen_migration *inventory_add_migration(struct inventory *inv, struct arena *a);
struct seen_pending *inventory_add_pending(struct inventory *inv, struct arena *a);
struct seen_pending *inventory_add_standing(struct inventory *inv, struct arena *a);
struct seen_migration_rate *inventory_add_migration_rate(struct inventory *inv, struct arena *a);
struct seen_setting *inventory_add_setting(struct inventory *inv, struct arena *a);
struct seen_avoid *inventory_add_avoid(struct inventory *inv, struct arena *a);
struct seen_group *inventory_add_group(struct inventory *inv, struct arena *a);
struct seen_pipeline *inventory_add_pipeline(struct inventory *inv, struct arena *a);
struct seen_answer *inventory_add_answer(struct inventory *inv, struct arena *a);
struct expected *inventory_add_expected(struct inventory *inv, struct arena *a);
struct quiet *inventory_add_quiet(struct inventory *inv, struct arena *a);

/* One more of source_faults; copies the sentence. */
void inventory_add_fault(struct inventory *inv, const char *text, struct arena *a);

#endif
