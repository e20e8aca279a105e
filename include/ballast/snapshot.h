/* snapshot.h: the immutable cluster from which a pass decides.
 *
 * snapshot_build() makes it of an inventory. Hosts, VMs, pools and rules are sorted by id (byte order), so
 * that the source's order cannot change a decision; references are indices into these arrays, IX_NONE for
 * none. Every index is valid, every number finite unless its comment says otherwise, 0 <= reservation <=
 * limit everywhere, and the pools form a tree.
 */
#ifndef BALLAST_SNAPSHOT_H
#define BALLAST_SNAPSHOT_H

#include <ballast/facts.h>
#include <ballast/inventory.h>

struct span {
    const uint32_t *items; /* ascending */
    uint32_t n;
};

/* Whether the span holds the index. Binary search. */
bool span_has(struct span s, uint32_t ix);

struct host {
    struct host_facts is;
    double capacity[RES_COUNT]; /* total - reserved: what VMs and the host's own use can have */
    struct own_use own;         /* beyond `reserved`, at most the capacity; 0 unless the host is up */
    bool failover;              /* kept empty for failures (HA_DEDICATED) */
    struct span agents_required;
    struct span vms; /* the VMs in state on that run here */
};

static inline double host_core_mhz(const struct host *h) /* 0: not known */
{
    return h->is.cores > 0 ? h->is.total[RES_CPU] / h->is.cores : 0;
}

/* What the host's VMs can have now. */
static inline double host_room(const struct host *h, int r)
{
    return h->capacity[r] - h->own.now[r];
}

struct vm {
    struct vm_facts is;
    uint32_t host, pool, ft_peer;
    uint32_t source_pool; /* the hypervisor's own; differs from `pool` where the configuration says so */
    uint32_t left_host;   /* the host that its last migration took it from; IX_NONE: not known */
    uint32_t pipeline;    /* IX_NONE: none */
    bool compatible_given;
    struct span compatible_hosts;
    /* The hosts that offer what it needs (facts.h), a bit each; NULL: all. VMs that need the same share it.
     */
    const uint64_t *offered;
    const struct unit_answer *const *answers; /* of external units, one of each unit at most */
    uint32_t n_answers;
};

struct pool {
    struct pool_facts is;
    uint32_t parent; /* IX_NONE: the root */
};

struct rule {
    struct rule_facts is;
    struct span vms, hosts;
};

struct migration {
    uint32_t vm, from, to;
    instant_s started;
};

/* An approved recommendation that has not begun. Or one of the last pass that stands: nobody has approved it
 * yet, so it locks nothing, and is preferred to others while it passes (src/core/plan/standing.c). */
struct pending {
    enum action_kind action;
    uint32_t vm, from, to, host;
    enum reason reason; /* of a standing one, as what follows */
    uint32_t group;     /* 0: none; those that only make sense together share one, and follow each other */
    instant_s since;    /* when this destination was first recommended */
};

/* Of an ordered pair of hosts; rate > 0. */
struct migration_rate {
    uint32_t from, to;
    double rate_mb_s;
};

/* What failed and is not tried again yet: the moves of a VM to a host, of a VM to any host unless its host
 * must be emptied (host IX_NONE), of any VM to a host (vm IX_NONE), or all optional moves of the cluster
 * (both IX_NONE). It holds while the snapshot's time is before `until`. */
struct avoid {
    uint32_t vm, host;
    instant_s until;
    uint32_t failures;    /* that led to it; 0: another cause, which `reason` names */
    bool mandatory;       /* of the cluster's moves: also the mandatory ones, unless a host must be emptied */
    bool is_rejection;    /* nothing failed: a person wants no move of the VM, or (without one) no standby or
                           * wake of the host, for the reason that follows */
    enum reason rejected; /* as reason_purpose() gives it */
    const char *reason;   /* the peer's words about the last failure; NULL: not known */
};

/* A rejected move tells of all moves of the VM for the same purpose: those for balance, or for reservations,
 * have several reasons, and little turns the one into the other. */
static inline enum reason reason_purpose(enum reason r)
{
    if (r == REASON_BALANCE_MEM || r == REASON_EXCHANGE || r == REASON_ROOM)
        return REASON_BALANCE_CPU;
    return r == REASON_AGENT ? REASON_HOST_OVERCOMMITTED : r;
}

/* Whether a move for this reason empties a host that goes to standby. */
static inline bool reason_is_standby(enum reason r)
{
    return r == REASON_STANDBY || r == REASON_CONSOLIDATE || r == REASON_OFF_VM;
}

/* A pool's settings on one host: its part of the cluster-wide reservation, limit and shares (§3.1.7). */
struct host_setting {
    uint32_t host, pool;
    struct alloc alloc[RES_COUNT];
};

struct host_group {
    struct group_facts is;
    struct span hosts;
};

struct stage {
    struct stage_facts is;
    uint32_t pipeline;
};

/* Stages that choose the hosts of a VM, one after the other (src/core/fit). */
struct pipeline {
    const char *name;
    uint32_t first, n; /* its stages: stages[first ... first + n) */
    enum rule_origin origin;
    struct pipeline_balance balance;
    bool of_ovirt; /* struct seen_pipeline */
};

/* What an external unit says of VMs: kept, scores, or neither. */
struct unit_answer {
    const char *unit;
    uint32_t ix; /* in the snapshot */
    struct span vms;
    const uint64_t *kept;               /* hosts to which they may come, a bit each */
    const double *scores, *multipliers; /* by host; UNKNOWN: none. multipliers NULL: none */
    instant_s at;
    const char *words, *error; /* NULL: none */
    bool outdated;             /* older than ANSWER_AGE_MAX_S: it does not count */
};

/* The failover capacity that is kept: what the source's policy and that of the configuration promise
 * together. Dedicated failover hosts are host.failover. */
struct failover_promise {
    uint32_t hosts;            /* that may fail at a time; 0: none */
    double percent[RES_COUNT]; /* of the capacity; the larger of both policies */
    bool by_admission; /* failover slots keep the memory that VMs need by policy.mem_admission; false: their
                          reservations */
    bool by_source;    /* the source promises every reservation, whatever the restart priority */
    bool in_capacity;  /* failover slots stay within the real memory, whatever policy.mem_overcommit: a VM
                          reserves some, which no host can admit beyond it */
};

struct snapshot {
    const char *cluster;
    instant_s time;
    struct host *hosts;
    struct vm *vms;
    struct pool *pools;
    struct rule *rules;
    struct migration *migrations;
    struct pending *pending;
    struct pending *standing;               /* in the order of the plan */
    struct migration_rate *migration_rates; /* by `from`, then `to`; one of a pair at most */
    struct host_setting *settings;          /* the hosts' present settings; by host, then pool */
    struct avoid *avoid;                    /* by VM, then host, then time; IX_NONE last */
    uint32_t n_hosts, n_vms, n_pools, n_rules, n_migrations, n_pending, n_migration_rates, n_settings,
        n_avoid, n_standing;
    struct host_group *groups;   /* by id */
    struct pipeline *pipelines;  /* by name */
    struct stage *stages;        /* by pipeline */
    struct unit_answer *answers; /* in the order of the inventory */
    uint32_t n_groups, n_pipelines, n_stages, n_answers;
    struct expected *forecast; /* ascending times */
    uint32_t n_forecast;
    struct quiet *quiet; /* of CPU, then of memory; ascending levels */
    uint32_t n_quiet;
    struct ha_facts ha; /* the source's own */
    struct span ha_failover_hosts;
    struct ha_configured ha_configured;
    struct failover_promise promise;
    struct balance_facts balance;
    struct schedule_facts schedule;
    struct correlation correlation; /* all 0: not known, VMs are taken to be independent */
    struct conflict_facts conflicts;
    bool
        vm_controls; /* hosts divide their CPU among VMs, without pools, by what the plans' vm_settings say */
    bool moves_off_vms; /* VMs that are off can be registered at another host */
    bool overridden; /* a VM or a pool has other settings than in the source, or a pool is the configuration's
                      */
    bool needs_cells;            /* a VM has NUMA cells, or needs devices */
    struct ids source_faults;    /* sentences */
    const char *labels_unread;   /* why rules by labels or tags may be missing; NULL: they are not */
    const struct policy *policy; /* that the service decides with, for commands that are given none; a pass
                                  * does not look at it. NULL: not given */
};

/* Whether the instant was less than this ago. Clocks differ, so it may lie a little in the future; one that
 * is further away than the length was not, because whatever began then would not have ended for ages. 0:
 * none. */
static inline bool snapshot_is_within(const struct snapshot *s, instant_s at, double length_s)
{
    double age_s = (double)(s->time - at);

    return at != 0 && age_s < length_s && -age_s < length_s;
}

/* How long ago the instant was; 0: it lies in the future. */
static inline double snapshot_age_s(const struct snapshot *s, instant_s at)
{
    return s->time > at ? (double)(s->time - at) : 0;
}

/* Whether the host offers what the VM needs. */
static inline bool vm_is_offered(const struct vm *v, uint32_t host)
{
    return !v->offered || (v->offered[host / 64] >> (host % 64) & 1);
}

/* Whether the VM may come to the host, by what the source says of both. */
static inline bool vm_is_compatible(const struct vm *v, uint32_t host)
{
    return vm_is_offered(v, host) && (!v->compatible_given || span_has(v->compatible_hosts, host));
}

/* Whether the host is degraded, so that it receives no VM and its VMs leave where rules and load allow: in
 * quarantine, or on and not watched for failures. */
static inline bool host_is_avoided(const struct host *h)
{
    return h->is.quarantine ||
           (h->is.state == HOST_ON && h->is.failure_detection == FAILURE_DETECTION_UNHEALTHY);
}

/* Whether the host was lost so often that VMs come to it only where they must, and then last. */
static inline bool host_is_distrusted(const struct snapshot *s, uint32_t host)
{
    return s->time < s->hosts[host].is.losses.distrusted_until;
}

/* Whether the host counts: in the imbalance, and in the capacity that is divided. One that is designated for
 * failover "is not used for running VMs except during failover" (§3.3.2). */
static inline bool host_can_run_vms(const struct host *h)
{
    return h->is.state == HOST_ON && !h->failover && !host_is_avoided(h);
}

/* Whether the host is one that DPM may put to standby and wake, and is neither lost nor out of service.
 * level: dpm.automation, for hosts that do not say otherwise. */
static inline bool host_is_managed(const struct host *h, enum automation level)
{
    bool there = h->is.state == HOST_ON || h->is.state == HOST_STANDBY ||
                 h->is.state == HOST_ENTERING_STANDBY || h->is.state == HOST_POWERING_ON;

    return there && !h->failover && !host_is_avoided(h) &&
           (h->is.dpm == AUTOMATION_INHERIT ? level : h->is.dpm) != AUTOMATION_DISABLED;
}

/* Whether VMs run on the host now and are visible, though they may be about to leave. */
static inline bool host_is_up(const struct host *h)
{
    return h->is.state == HOST_ON || h->is.state == HOST_ENTERING_MAINTENANCE ||
           h->is.state == HOST_ENTERING_STANDBY;
}

/* Memory that the host has taken from its VMs by balloons, or swapped out, MiB. */
static inline double host_squeezes_mb(const struct snapshot *s, uint32_t host)
{
    double mb = 0;

    for (uint32_t i = 0; i < s->hosts[host].vms.n; i++)
        mb += s->vms[s->hosts[host].vms.items[i]].is.ballooned_mb +
              s->vms[s->hosts[host].vms.items[i]].is.swapped_mb;
    return mb;
}

/* Whether the VM takes part in the divvy: it runs, on a host that is seen and up, though perhaps leaving.
 * Spare VMs want nothing: they stand for room. */
static inline bool vm_takes_part(const struct snapshot *s, const struct vm *v)
{
    return v->is.state == VM_ON && v->host != IX_NONE && v->is.kind != VM_SPARE &&
           host_is_up(&s->hosts[v->host]);
}

/* Whether the setting is empty: the pool has no VM on that host any more. A pool with VMs has one share at
 * least. */
static inline bool host_setting_is_nothing(const struct host_setting *h)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (h->alloc[r].reservation > 0 || h->alloc[r].limit < NO_LIMIT || h->alloc[r].shares > 0)
            return false;
    return true;
}

/* Whether a stage asks an external unit. */
static inline bool snapshot_asks_units(const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_stages; i++)
        if (s->stages[i].is.external)
            return true;
    return false;
}

/* Whether the answer is one that stages read. */
static inline bool answer_counts(const struct unit_answer *x)
{
    return !x->error && !x->outdated;
}

/* Whether the VM is about to be powered on and has no host yet: only in the what-if snapshot of a placement.
 */
static inline bool vm_waits(const struct vm *v)
{
    return v->is.state == VM_ON && v->host == IX_NONE && v->is.kind != VM_SPARE;
}

/* Index of the object with this id, or IX_NONE. Binary search. */
uint32_t snapshot_find_host(const struct snapshot *s, const char *id);
uint32_t snapshot_find_vm(const struct snapshot *s, const char *id);
uint32_t snapshot_find_pool(const struct snapshot *s, const char *id);

/* The name of the object with this id; the id itself without a name or a snapshot (NULL). */
const char *snapshot_host_name(const struct snapshot *s, const char *id);
const char *snapshot_vm_name(const struct snapshot *s, const char *id);

#endif
