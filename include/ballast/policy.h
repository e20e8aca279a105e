/* policy.h: the settings that a pass runs with.
 *
 * One table (policy_settings) gives every setting its key, type, range, default and meaning. The command's
 * --set, the configuration file, the plan's "policy" object and conf/names.md are all made from it.
 */
#ifndef BALLAST_POLICY_H
#define BALLAST_POLICY_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/field.h>
#include <ballast/names.h>
#include <ballast/units.h>

#include <stdbool.h>
#include <stddef.h>

struct thread_pool; /* src/base/thread_pool.h */

/* moves_max: as many as can end within one interval; the pass computes the number. */
#define MOVES_AUTO FIELD_AUTO

/* policy.target: set by migration_threshold and the number of hosts. */
#define TARGET_AUTO ((double)FIELD_AUTO)

/* dpm.changes_max: by the size of the cluster; dpm_changes_max() computes the number. */
#define CHANGES_AUTO MOVES_AUTO

struct dpm_policy {
    bool enabled;
    enum automation automation; /* disabled, manual or automatic */
    double target, tolerance;   /* percent of a host */
    double ratio;
    int64_t hosts_min;
    double min[RES_COUNT];     /* cpu_min_mhz, mem_min_mb */
    int64_t asked_on_s;        /* what a person has woken stays on for so long at least */
    int64_t low_s;             /* demand was low for so long before hosts are put to standby */
    int64_t off_min_s;         /* demand stays low at least as long */
    int64_t boot_s, standby_s; /* to wake a host that does not say how long it takes; to put one down */
    int64_t watch_s;           /* a cluster is watched for so long before hosts are put to standby */
    bool bursts;               /* hosts that stay on must be able to serve the bursts of their VMs */
    bool may_sleep;            /* false: it has not been yet, hosts are only woken in this pass */
    bool proactive;            /* hosts are woken, and stay on, for what is expected of the next hours */
    bool wake_for_vms;         /* a host with which a VM went down is woken at once */
    int64_t changes_max; /* hosts that are put to standby or woken at a time; 0: no limit; CHANGES_AUTO */
};

/* What is not tried again for a while because it failed, or a person rejected it
 * (src/engine/knowledge/failed_moves.h). */
struct avoid_policy {
    int64_t reject_s; /* 0: only the VM's cool-down follows a rejection */
    int64_t pause_s, pause_max_s;
    int64_t host_failures;    /* 0: no host, and no VM as a whole, is avoided */
    int64_t cluster_failures; /* 0: optional moves never pause for it */
};

/* The size of the VMs that room is made for (src/core/room); 0 in cpus or mem_mb: it takes none of it. */
struct room_policy {
    int64_t cpus;
    double mem_mb;
    int64_t cells;    /* NUMA cells, with equal parts of both; 0: anywhere in a host */
    double cpu_ratio; /* vCPUs that may share a core of a host */
    int64_t free;     /* spaces to keep free beside balancing; 0: none */
};

struct policy {
    enum automation automation;  /* manual, partial or full */
    int64_t migration_threshold; /* 1 ... 5 */
    double target;               /* imbalance at which balancing ends, or TARGET_AUTO */
    int64_t moves_max;           /* 0: no limit; MOVES_AUTO */
    bool cost_benefit, min_goodness;
    double score_weight; /* κ: what a lower score in the pipeline costs a move for balance */
    bool optional_moves; /* false: this pass makes mandatory moves only, and what DPM wants */
    enum mem_admission mem_admission;
    double mem_overcommit;              /* times the capacity */
    double mem_idle_percent;            /* of consumed but idle memory that counts as demand */
    double headroom_percent[RES_COUNT]; /* of a host, that should stay free */
    int64_t interval_s;                 /* between two passes */
    int64_t cool_down_s;                /* before a VM is moved for balance again */
    int64_t horizon_s;                  /* how far ahead a migration's benefit is counted */
    double migration_rate_mb_s;
    int64_t migrations_per_host;    /* live migrations in and out of a host at a time */
    int64_t migrations_per_cluster; /* 0: no limit */
    int64_t seed;
    enum balancer balancer;          /* whose moves for balance are made */
    enum objective objective;        /* of the moves that need not be */
    enum search_kind search;         /* of moves for balance */
    int64_t search_budget;           /* evaluations of a search */
    bool bound;                      /* the plan has a lower bound of the imbalance */
    int64_t threads;                 /* of a pass, the calling one included; makes `thread_pool` */
    struct thread_pool *thread_pool; /* no setting: for the loops of this pass; NULL: none */
    struct room_policy room;
    struct avoid_policy avoid;
    struct dpm_policy dpm;
};

/* dpm.changes_max automatically: a quarter of the hosts, but so many at least. */
#define CHANGES_PART 4
#define CHANGES_LEAST 8

/* How many hosts may be put to standby or woken at a time, of so many that there are; 0: no limit. */
static inline int64_t dpm_changes_max(const struct dpm_policy *dpm, uint32_t n_hosts)
{
    int64_t part = n_hosts / CHANGES_PART;

    if (dpm->changes_max != CHANGES_AUTO)
        return dpm->changes_max;
    return part > CHANGES_LEAST ? part : CHANGES_LEAST;
}

/* The settings, their offsets in struct policy; and with those of earlier versions behind them, which are not
 * used any more: FIELD_SKIPPED. */
extern const struct schema policy_settings, policy_recorded;

void policy_default(struct policy *ret);

/* Sets one by its key ("dpm.target"), by the text that a configuration would have. -EINVAL, with a sentence
 * that names what was expected: no such key, not a number, out of range. Accepts and ignores former settings,
 * and whatever reads settings warns of them. */
int policy_set(struct policy *p, const char *key, const char *value, struct err *err);

/* The present value as text, in the form that policy_set() reads. */
const char *policy_get(const struct policy *p, const struct field *setting, struct arena *a);

bool policy_is_former_setting(const char *key);
#define POLICY_FORMER_SETTING_WARNING "%s is not used any more"

/* A setting that is possible and probably a mistake: a sentence for a warning, without line or key before it;
 * *ret_key is the setting's key. NULL: none. */
const char *policy_warning(const struct policy *p, const char **ret_key);

#endif
