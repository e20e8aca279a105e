/* finding.h: why something is decided, or cannot be, as data: what was found, about whom, and the figures
 * that decided. src/render/wording says it in English; nothing below render has a sentence.
 *
 * The lists of subjects and figures end at the first entry that is 0. Each code names which of them its
 * sentence uses. Indices are those of the snapshot that the plan was made from.
 */
#ifndef BALLAST_FINDING_H
#define BALLAST_FINDING_H

#include <ballast/arena.h>
#include <ballast/expression.h>
#include <ballast/names.h>
#include <ballast/units.h>

enum finding_code {
    FIND_NONE,

    /* Recommendations. */
    FIND_MOVE,            /* of a VM, for `reason` */
    FIND_PLACEMENT,       /* of a VM that is powered on */
    FIND_ALTERNATIVE,     /* another host for it */
    FIND_WAKE,            /* of a host, for `reason` */
    FIND_WAKE_REGISTERED, /* ... because a VM to power on is registered there */
    FIND_WAKE_HIGH,       /* ... because the fullest host is too full */
    FIND_WAKE_EARLY,      /* ... because it will be */
    FIND_WAKE_READY,      /* ... for dpm.ready_by */
    FIND_SLEEP,           /* of a host */
    FIND_RESERVE_WAKE,    /* of a host: fewer hosts without VMs are on than a stage keeps */
    FIND_RESERVE_SLEEP,   /* ... more */
    FIND_OFF_VM,          /* of a VM that is off, before its host goes to standby */

    /* Faults. */
    FIND_HOST_UNSEEN,
    FIND_DISTRUSTED, /* the host, how often it was lost, and until when no VM comes to it for balance */
    FIND_QUARANTINE, /* the host, and how many VMs stay there */
    FIND_CLUSTER_OVERCOMMITTED,
    FIND_HOST_OVERCOMMITTED,
    FIND_POOL_OVERCOMMITTED, /* by another pool that could not give the rest, past its limit, or by itself */
    FIND_SAMPLES_DISTRUSTED,
    FIND_DEMAND_UNKNOWN,
    FIND_SAMPLE_DISTRUSTED, /* because of a FIND_SAMPLE_... */
    FIND_RULE_JOINS_PAIR,
    FIND_RULE_JOINS_APART,
    FIND_RULE_LEAVES_NO_HOST,
    FIND_RULE_NAMES_NO_HOST, /* none that is in the cluster */
    FIND_RULES_CONTRADICT,
    FIND_RULES_CONTRADICT_BOTH,
    FIND_RULES_CONTRADICT_CHAIN,
    FIND_RULE_JOINS_AGENT,
    FIND_RULE_TOO_LARGE,
    FIND_RULE_LEFT_OUT,
    FIND_RULE_OVERLOADS,
    FIND_RULE_WAKES,
    FIND_RULE_BROKEN,     /* and nothing mends it */
    FIND_RULE_BROKEN_YET, /* until a host that is being woken is there */
    FIND_RULE_BROKEN_BY_PLACEMENT,
    FIND_CANNOT_LEAVE,
    FIND_CANNOT_LEAVE_YET,
    FIND_NO_HOST_TO_LOSE,
    FIND_NO_RESTART,      /* no other host may run it */
    FIND_NO_RESTART_FIT,  /* no single host with the reservation and the NUMA cells, devices and counts */
    FIND_NO_RESTART_ROOM, /* nowhere in one piece; without a host: of a VM that stands for the room */
    FIND_FAILOVER_SHARE_MISSING,
    FIND_FAILOVER_HOST_OFF,
    FIND_FAILOVER_HOST_BUSY, /* the others lack headroom for the VMs that stay there */
    FIND_READY_MISSING,
    FIND_OVERLOAD_HELD,
    FIND_OVERLOAD_OF_ALL, /* all hosts that are on have less than their VMs want */
    FIND_NO_ROOM, /* of an overloaded host: the memory that is missing on another for one of its VMs */
    FIND_CANNOT_PLACE,
    FIND_CANNOT_PLACE_HALF,
    FIND_OTHER_BALANCER,
    FIND_OTHER_POWER,
    FIND_LABELS_UNREAD,
    FIND_SOURCE_FAULT,   /* in the source's words */
    FIND_POWER_METHOD,   /* of a host: host_facts.power_fault says what */
    FIND_VSAN,           /* of some hosts, or of all */
    FIND_SERVES_STORAGE, /* likewise */
    FIND_AVOID,          /* of a VM and a host, of one of the two, or of all optional moves */

    /* What is wrong with a VM's figures. */
    FIND_SAMPLE_MARKED, /* its source says so, in words */
    FIND_SAMPLE_CPU,
    FIND_SAMPLE_MEM,
    FIND_SAMPLE_CONSUMED,
    FIND_SAMPLE_OLD,

    /* Why a state is not even: phrases. */
    FIND_UNEVEN_IMBALANCE, /* above the target */
    FIND_UNEVEN_OUTLIER,   /* the fullest and the emptiest host differ too much */
    FIND_UNEVEN_HEADROOM,  /* of the host that lacks most of it */
    FIND_UNEVEN_LACK,      /* of a host whose VMs lack most, because its hypervisor divides it otherwise */
    FIND_UNEVEN_PLAN,      /* the same, for a move that the deep search proposes */
    FIND_UNEVEN_ELSEWHERE, /* behind a move between other hosts */

    FIND_ROOM,       /* for how many large VMs, before and after the plan */
    FIND_BOUND,      /* a lower bound of the imbalance after any plan of as many moves */
    FIND_RULE_MOVES, /* why a rule moves a VM, a phrase: how full the hosts are, and since when */
    FIND_ROOM_MADE,  /* why a VM moves for room, a phrase: how many spaces its move group makes on the host */

    /* Why a preferred rule is left out, beside the faults above. */
    FIND_LEAVES_NO_HOST,
    FIND_LEAVES_NO_COMMON_HOST,
    FIND_CONTRADICTS,

    /* Why a VM cannot be powered on, or moved. */
    FIND_RULES_HELD,
    FIND_NO_HOST,
    FIND_NO_OTHER_HOST,
    FIND_POOL_SHORTAGE,
    FIND_FAILOVER_SHARE_SHORT,
    FIND_NO_HOST_FITS, /* the stages of its pipeline leave none: `left` */
    FIND_WAITS_FOR_HOST,
    FIND_OUT_OF_REACH,  /* the host that has its definition */
    FIND_CLOSEST,       /* the host that comes closest, and the check that it fails */
    FIND_CLOSEST_SHORT, /* and how much of what is missing there */

    /* Explanations. */
    FIND_REFUSED,
    FIND_RATIO,   /* how much a move must gain at the threshold of the plan */
    FIND_CHOSEN,  /* what the move to the chosen host costs and gains */
    FIND_CHECK,   /* what `check` found */
    FIND_MEANING, /* `check` alone decides: there are no figures */
    /* CHECK_POLICY: how far a rule comes with the VM and the host, the nearest last. */
    FIND_RULE_NOT_FROM,
    FIND_RULE_NOT_VM,
    FIND_RULE_NOT_TO,
    FIND_RULE_NO_FIT,
    FIND_RULE_RANKED,   /* the pipeline ranks another host higher */
    FIND_RULE_OTHER_VM, /* the balance moves no more VMs in this pass */
    FIND_OFF_HERE,
    FIND_ON_NO_HOST,
    FIND_STAYS_ALONE,
    FIND_STAYS,
    FIND_POWER, /* what `power` found */
    FIND_DPM_OFF,
    FIND_STAYS_ON,
    FIND_OUTLOOK,
    FIND_OUTLOOK_OFF, /* dpm.proactive is false */

    finding_code_count
};

/* Subjects: the enumerator, its member in JSON, and what it is an index of. */
#define FINDING_SUBJECTS(X)                                                                                  \
    X(SUBJECT_VM, "vm", vms)                                                                                 \
    X(SUBJECT_OTHER_VM, "other_vm", vms)                                                                     \
    X(SUBJECT_FOR_VM, "for_vm", vms)                                                                         \
    X(SUBJECT_FT_PEER, "ft_peer", vms)                                                                       \
    X(SUBJECT_HOST, "host", hosts)                                                                           \
    X(SUBJECT_OTHER_HOST, "other_host", hosts)                                                               \
    X(SUBJECT_FROM, "from", hosts)                                                                           \
    X(SUBJECT_TO, "to", hosts)                                                                               \
    X(SUBJECT_CPU_FULLEST, "cpu_fullest", hosts)                                                             \
    X(SUBJECT_MEM_FULLEST, "mem_fullest", hosts)                                                             \
    X(SUBJECT_POOL, "pool", pools)                                                                           \
    X(SUBJECT_OTHER_POOL, "other_pool", pools)                                                               \
    X(SUBJECT_RULE, "rule", rules)                                                                           \
    X(SUBJECT_OTHER_RULE, "other_rule", rules)                                                               \
    X(SUBJECT_THIRD_RULE, "third_rule", rules)                                                               \
    X(SUBJECT_STAGE, "stage", stages)

/* Figures: the enumerator, its member in JSON, and its unit: PLAIN, as the member's name says; AMOUNT, MHz or
 * MiB by the finding's resource, which the member's name is completed with (_mhz, _mb); TIME, an instant. */
#define FINDING_FIGURES(X)                                                                                   \
    X(FIGURE_CPU_MHZ, "cpu_mhz", PLAIN)                                                                      \
    X(FIGURE_MEM_MB, "mem_mb", PLAIN)                                                                        \
    X(FIGURE_CPU_LOAD, "cpu_load", PLAIN)                                                                    \
    X(FIGURE_MEM_LOAD, "mem_load", PLAIN)                                                                    \
    X(FIGURE_CPU_LOAD_TO, "cpu_load_to", PLAIN)                                                              \
    X(FIGURE_MEM_LOAD_TO, "mem_load_to", PLAIN)                                                              \
    X(FIGURE_CPU_LOAD_FULLEST, "cpu_load_fullest", PLAIN)                                                    \
    X(FIGURE_MEM_LOAD_FULLEST, "mem_load_fullest", PLAIN)                                                    \
    X(FIGURE_LOAD, "load", PLAIN)                                                                            \
    X(FIGURE_LOAD_OTHER, "load_other", PLAIN)                                                                \
    X(FIGURE_LOAD_MAX, "load_max", PLAIN)                                                                    \
    X(FIGURE_LOAD_MIN, "load_min", PLAIN)                                                                    \
    X(FIGURE_CPU_HIGH, "cpu_high", PLAIN)                                                                    \
    X(FIGURE_MEM_HIGH, "mem_high", PLAIN)                                                                    \
    X(FIGURE_HIGH, "high", PLAIN)                                                                            \
    X(FIGURE_HIGH_AFTER, "high_after", PLAIN)                                                                \
    X(FIGURE_CPU_LOW, "cpu_low", PLAIN)                                                                      \
    X(FIGURE_MEM_LOW, "mem_low", PLAIN)                                                                      \
    X(FIGURE_CPU_LOW_AFTER, "cpu_low_after", PLAIN)                                                          \
    X(FIGURE_MEM_LOW_AFTER, "mem_low_after", PLAIN)                                                          \
    X(FIGURE_NEED, "need", AMOUNT)                                                                           \
    X(FIGURE_LEFT, "left", AMOUNT)                                                                           \
    X(FIGURE_LEFT_BELOW_LIMIT, "left_below_limit", AMOUNT)                                                   \
    X(FIGURE_KEPT, "kept", AMOUNT)                                                                           \
    X(FIGURE_HAS, "has", AMOUNT)                                                                             \
    X(FIGURE_LEAST, "least", AMOUNT)                                                                         \
    X(FIGURE_LIMIT, "limit", AMOUNT)                                                                         \
    X(FIGURE_MISSING, "missing", AMOUNT)                                                                     \
    X(FIGURE_EXCESS, "excess", AMOUNT)                                                                       \
    X(FIGURE_NOW, "now", AMOUNT)                                                                             \
    X(FIGURE_EXPECTED, "expected", AMOUNT)                                                                   \
    X(FIGURE_TAKES, "takes", PLAIN)                                                                          \
    X(FIGURE_USED, "used", PLAIN)                                                                            \
    X(FIGURE_AT_MOST, "at_most", PLAIN)                                                                      \
    X(FIGURE_CELL, "cell", PLAIN)                                                                            \
    X(FIGURE_CELLS, "cells", PLAIN)                                                                          \
    X(FIGURE_CELL_CPUS, "cell_cpus", PLAIN)                                                                  \
    X(FIGURE_CELL_DEDICATED, "cell_dedicated", PLAIN)                                                        \
    X(FIGURE_CELL_MEM, "cell_mem_mb", PLAIN)                                                                 \
    X(FIGURE_CELL_PAGES, "cell_pages_mb", PLAIN)                                                             \
    X(FIGURE_SCORE, "score", PLAIN)                                                                          \
    X(FIGURE_SCORE_OWN, "score_own", PLAIN)                                                                  \
    X(FIGURE_SCORE_CHOSEN, "score_chosen", PLAIN)                                                            \
    X(FIGURE_SCORE_WEIGHT, "score_weight", PLAIN)                                                            \
    X(FIGURE_SCORE_COST, "score_cost", PLAIN)                                                                \
    X(FIGURE_BUCKET, "bucket", PLAIN)                                                                        \
    X(FIGURE_BUCKET_OWN, "bucket_own", PLAIN)                                                                \
    X(FIGURE_CPU_NEED, "cpu_need_mhz", PLAIN)                                                                \
    X(FIGURE_MEM_NEED, "mem_need_mb", PLAIN)                                                                 \
    X(FIGURE_CPU_MISSING, "cpu_missing_mhz", PLAIN)                                                          \
    X(FIGURE_RECLAIMED, "reclaimed_mb", PLAIN)                                                               \
    X(FIGURE_MEM_MISSING, "mem_missing_mb", PLAIN)                                                           \
    X(FIGURE_CPU_WORSE, "cpu_worse_mhz", PLAIN)                                                              \
    X(FIGURE_MEM_WORSE, "mem_worse_mb", PLAIN)                                                               \
    X(FIGURE_CPU_WORSE_NOW, "cpu_worse_now_mhz", PLAIN)                                                      \
    X(FIGURE_MEM_WORSE_NOW, "mem_worse_now_mb", PLAIN)                                                       \
    X(FIGURE_CPU_COST, "cpu_cost_mhz_s", PLAIN)                                                              \
    X(FIGURE_MEM_COST, "mem_cost_mb_s", PLAIN)                                                               \
    X(FIGURE_CPU_BENEFIT, "cpu_benefit_mhz_s", PLAIN)                                                        \
    X(FIGURE_MEM_BENEFIT, "mem_benefit_mb_s", PLAIN)                                                         \
    X(FIGURE_STABLE_S, "stable_s", PLAIN)                                                                    \
    X(FIGURE_RATIO, "ratio", PLAIN)                                                                          \
    X(FIGURE_RATIO_MIN, "ratio_min", PLAIN)                                                                  \
    X(FIGURE_CORRELATION, "correlation", PLAIN)                                                              \
    X(FIGURE_WATTS, "watts", PLAIN)                                                                          \
    X(FIGURE_PERCENT, "percent", PLAIN)                                                                      \
    X(FIGURE_IMBALANCE, "imbalance", PLAIN)                                                                  \
    X(FIGURE_IMBALANCE_AFTER, "imbalance_after", PLAIN)                                                      \
    X(FIGURE_IMBALANCE_LEAST, "imbalance_least", PLAIN)                                                      \
    X(FIGURE_IMBALANCE_LEAST_RULED, "imbalance_least_ruled", PLAIN)                                          \
    X(FIGURE_MOVES, "moves", PLAIN)                                                                          \
    X(FIGURE_MOVES_LEAST, "moves_least", PLAIN)                                                              \
    X(FIGURE_DIFFERENCE_MAX, "difference_max", PLAIN)                                                        \
    X(FIGURE_IMBALANCE_CHOSEN, "imbalance_chosen", PLAIN)                                                    \
    X(FIGURE_TARGET, "target", PLAIN)                                                                        \
    X(FIGURE_GAIN, "gain", PLAIN)                                                                            \
    X(FIGURE_GAIN_MIN, "gain_min", PLAIN)                                                                    \
    X(FIGURE_THRESHOLD, "migration_threshold", PLAIN)                                                        \
    X(FIGURE_SPACES, "spaces", PLAIN)                                                                        \
    X(FIGURE_SPACES_AFTER, "spaces_after", PLAIN)                                                            \
    X(FIGURE_ROOM_CPUS, "room_cpus", PLAIN)                                                                  \
    X(FIGURE_ROOM_CELLS, "room_cells", PLAIN)                                                                \
    X(FIGURE_ROOM_MEM, "room_mem_mb", PLAIN)                                                                 \
    X(FIGURE_HOSTS, "hosts", PLAIN)                                                                          \
    X(FIGURE_HOSTS_ALL, "hosts_all", PLAIN)                                                                  \
    X(FIGURE_HOSTS_MIN, "hosts_min", PLAIN)                                                                  \
    X(FIGURE_HOSTS_ASLEEP, "hosts_asleep", PLAIN)                                                            \
    X(FIGURE_MISSING_MORE, "missing_more", PLAIN)                                                            \
    X(FIGURE_VMS, "vms", PLAIN)                                                                              \
    X(FIGURE_VMS_ALL, "vms_all", PLAIN)                                                                      \
    X(FIGURE_MOVES_MAX, "moves_max", PLAIN)                                                                  \
    X(FIGURE_FAILURES, "failed", PLAIN)                                                                      \
    X(FIGURE_DAYS, "days", PLAIN)                                                                            \
    X(FIGURE_DAYS_ALL, "days_all", PLAIN)                                                                    \
    X(FIGURE_TIMES, "times", PLAIN)                                                                          \
    X(FIGURE_TIMES_SUDDEN, "times_sudden", PLAIN)                                                            \
    X(FIGURE_IS_S, "is_s", PLAIN)                                                                            \
    X(FIGURE_LEAST_S, "least_s", PLAIN)                                                                      \
    X(FIGURE_DURATION_S, "duration_s", PLAIN)                                                                \
    X(FIGURE_OFF_S, "off_s", PLAIN)                                                                          \
    X(FIGURE_EVACUATE_S, "evacuate_s", PLAIN)                                                                \
    X(FIGURE_BOOT_S, "boot_s", PLAIN)                                                                        \
    X(FIGURE_AT, "at", TIME)                                                                                 \
    X(FIGURE_UNTIL, "until", TIME)                                                                           \
    X(FIGURE_READY_BY, "ready_by", TIME)

#define SUBJECT_ENUM(e, member, of) e,
#define FIGURE_ENUM(e, member, unit) e,
enum finding_subject { SUBJECT_END, FINDING_SUBJECTS(SUBJECT_ENUM) finding_subject_count };
enum finding_figure { FIGURE_END, FINDING_FIGURES(FIGURE_ENUM) finding_figure_count };

/* Why a stage of a pipeline refuses a host (CHECK_FIT_FILTER): the part of its expression that decides, and
 * the values of the variables in that part. */
struct known_value {
    uint32_t node; /* the variable */
    struct value is;
};

struct refusal {
    uint32_t stage;
    uint32_t node; /* of the stage's filter: the part that is not true */
    const struct known_value *values;
    uint32_t n_values;
    double limit;     /* the right side of the comparison that decides; UNKNOWN: it is none of numbers */
    const char *unit; /* the external unit whose answer decides; NULL: none */
    const struct unit_answer *answer; /* its answer; NULL: none */
};

/* The hosts that a stage and those before it leave. */
struct stage_left {
    uint32_t stage, hosts;
};

#define FINDING_SUBJECTS_MAX 7
#define FINDING_FIGURES_MAX 12

struct finding {
    enum finding_code code;
    enum reason reason;
    enum check check;
    enum power_check power;
    enum resource resource;
    enum alike_days alike; /* what FIGURE_DAYS and FIGURE_DAYS_ALL count */
    struct {
        enum finding_subject name;
        uint32_t ix; /* IX_NONE: there is none */
    } subjects[FINDING_SUBJECTS_MAX];
    struct {
        enum finding_figure name;
        double value; /* UNKNOWN: not known */
    } figures[FINDING_FIGURES_MAX];
    const char *peer;              /* the peer's words; NULL: none */
    const struct refusal *refusal; /* NULL: it is not about a stage */
    const struct stage_left *left; /* FIND_NO_HOST_FITS: in the order of the stages */
    uint32_t n_left;
    const bool *leave; /* FIND_SLEEP: the VMs that are off and do not stay on the host; NULL: none */
    const struct finding *because; /* NULL, or what is behind it */
};

/* Adds to the lists; there must be room. */
static inline void finding_subject(struct finding *f, enum finding_subject name, uint32_t ix)
{
    int i = 0;

    while (f->subjects[i].name != SUBJECT_END)
        i++;
    f->subjects[i].name = name;
    f->subjects[i].ix = ix;
}

static inline void finding_figure(struct finding *f, enum finding_figure name, double value)
{
    int i = 0;

    while (f->figures[i].name != FIGURE_END)
        i++;
    f->figures[i].name = name;
    f->figures[i].value = value;
}

/* IX_NONE: the finding has no such subject. */
static inline uint32_t finding_get_subject(const struct finding *f, enum finding_subject name)
{
    for (int i = 0; i < FINDING_SUBJECTS_MAX; i++)
        if (f->subjects[i].name == name)
            return f->subjects[i].ix;
    return IX_NONE;
}

/* Its index in figures; -1: the finding has no such figure. */
static inline int finding_find_figure(const struct finding *f, enum finding_figure name)
{
    for (int i = 0; i < FINDING_FIGURES_MAX; i++)
        if (f->figures[i].name == name)
            return i;
    return -1;
}

/* A copy that lives as long as the arena. */
static inline const struct finding *finding_keep(struct arena *a, struct finding f)
{
    struct finding *ret = arena_new(a, struct finding);

    *ret = f;
    return ret;
}

#endif
