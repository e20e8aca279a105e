/* fit.h: the hosts that the stages of a pipeline leave to each VM.
 *
 * VMs with the same pipeline and equal values of all that its stages read of a VM are a request class and
 * share their bitmaps of hosts. src/core/rules ANDs these into the hosts that a VM may run on, so that every
 * step of a pass obeys. README.md says what else will come here. */
#ifndef BALLAST_CORE_FIT_H
#define BALLAST_CORE_FIT_H

#include "core/fit/cells.h"
#include "core/fit/rows.h"

#include <ballast/finding.h>

/* The variables of one owner that any stage reads, each once. */
struct fit_columns {
    const struct expression_node **items;
    uint32_t n;
    size_t cap;
};

/* The expressions of a stage. What those before PART_COUNT read of a VM makes its request class. */
enum fit_part {
    PART_FILTER,
    PART_LIMIT,
    PART_SCORE,
    PART_MULTIPLIER,
    PART_BUCKET,
    PART_COUNT,
    PART_PER,
    PART_FROM, /* of rules, from here on */
    PART_FIRST,
    PART_VMS,
    PART_SMALLEST,
    PART_TO,
    PART_FITS,
    PART_RESERVE,
    PARTS
};
#define PARTS_OF_CLASS PART_COUNT

/* The hosts by one of their columns, or by their groups: those with equal values have one number. */
struct fit_codes {
    const uint32_t *of;    /* by host */
    const uint32_t *first; /* by number: the first host */
    uint32_t n;
    const struct fit_rows *rows; /* by number: the value */
    bool texts;                  /* all values are texts or absent */
};

/* The numbers by host of an expression that depends on neither VMs nor moves. */
struct fit_known {
    bool asked;
    const double *numbers; /* NULL: asked for at most once so far */
};

/* An expression with its variables resolved to columns. */
struct fit_expression {
    struct expression x;
    const uint32_t *reads[OWNER_COUNT]; /* the columns of its variables, ascending */
    uint32_t n_reads[OWNER_COUNT];
    bool asks_groups;
    bool asks_unit; /* it reads an external unit's answer, in this column of VMs: */
    uint32_t answer;
    bool live;                  /* moves change it */
    bool over_hosts;            /* it has an operator over the hosts that are ranked */
    const uint8_t *shapes;      /* by node, of numbers.c; NULL: not to be evaluated in columns */
    const uint32_t *profile;    /* by host: hosts with one number are the same to it */
    const uint32_t *of_profile; /* the first host of each profile */
    uint32_t n_profiles;
    struct fit_known *known; /* NULL: the expression depends on VMs or moves */
};

/* Amounts are whole thousandths, so that adding and subtracting them is exact. */
#define FIT_AMOUNT_ONE 1000
#define FIT_AMOUNT_MOST 10000000000 /* that one VM takes; more counts as this */
#define FIT_NOTHING INT64_MIN       /* a limit that is no number: no VM fits */

int64_t fit_amount(double v);

/* How much a VM takes of a counter. */
struct fit_share {
    uint32_t counter;
    int64_t takes; /* more than 0 */
};

/* What VMs take; with `per`, those with one text of it. */
struct fit_counter {
    uint32_t measure;
    const char *of;                /* the text; NULL: of all VMs */
    const uint32_t *from, *groups; /* by host: the groups over which it is counted; NULL: on each host */
};

/* A limit that a stage sets to the counters of a measure. */
struct fit_bound {
    uint32_t stage, measure;
    unsigned applies; /* of the stage */
};

/* Counting stages with equal count, per, over and off, of whatever pipelines, are one measure. */
struct fit_counts {
    uint32_t *measure_of; /* by stage; IX_NONE: it counts nothing */
    uint32_t *of_measure; /* the first stage of each */
    uint32_t *whole;      /* by measure without `per`: its counter; IX_NONE: no VM takes of it */
    uint32_t n_measures;
    struct fit_counter *counters;
    uint32_t n_counters;
    size_t cap_counters;
    uint32_t *shares_from;
    struct fit_share *shares; /* of vm: shares[shares_from[vm] ... shares_from[vm + 1]), by measure */
    size_t cap_shares;
    uint32_t *bounds_from;
    struct fit_bound *bounds; /* of a pipeline: bounds[bounds_from[p] ... bounds_from[p + 1]), by stage */
    bool over_groups;         /* some counter is */
};

/* Of all pipelines; empty without any. */
struct fit {
    const struct snapshot *snap;
    struct arena *a;
    uint32_t words; /* of a bitmap of hosts */
    struct fit_columns columns[OWNER_COUNT];
    struct fit_expression *parts[PARTS]; /* by stage of the snapshot */
    const struct value *hosts;           /* rows of columns[OWNER_HOST].n values */
    const double **numbers;              /* by column of hosts: their numbers by host, UNKNOWN: absent; NULL:
                                            some value is no number */
    const struct fit_codes **codes;      /* by column of hosts, the last of their groups; NULL: not needed */
    const struct value *groups;          /* rows of columns[OWNER_GROUP].n values */
    const uint32_t *groups_from, *groups_of; /* by host: groups_of[groups_from[h] ... groups_from[h + 1]) */
    uint32_t *class_of;                      /* by VM: its request class; IX_NONE: it has no pipeline */
    const uint64_t *
        *allowed[fit_use_count]; /* by class: the hosts that no stage of this use refuses; NULL: all */
    const int64_t ***limits; /* by class: NULL, or by stage of its pipeline the limit by host; NULL: it has
                                none */
    struct value *rule_row;  /* scratch: what a rule reads of a VM */
    const struct value **class_row; /* by class: the values of what its pipeline reads of VMs */
    uint32_t n_classes;
    uint32_t *live_from, *live; /* by pipeline: its filters that moves change; NULL: there is none */
    struct fit_counts counts;
    struct fit_cells cells; /* also without pipelines */
};

/* Compiles the pipelines of the snapshot. Each stage is evaluated once for each of its distinct VMs and
 * hosts. */
void fit_compile(const struct snapshot *snap, struct arena *a, struct fit *ret);

/* Its two parts: what does not depend on what VMs ask for, and the request classes. */
void fit_prepare(const struct snapshot *snap, struct arena *a, struct fit *ret);
void fit_classify(struct fit *fit, struct arena *a);

/* What moves change, as far as it keeps VMs off hosts. */
struct fit_live {
    struct expression_live is;
    /* Whether the limit of the counting stage keeps the VM off the host. */
    bool (*exceeds)(const void *with, uint32_t vm, uint32_t stage, uint32_t host);
    /* CHECK_FIT_NUMA or CHECK_FIT_DEVICE: the host lacks NUMA cells or devices that the VM needs. */
    enum check (*lacks)(const void *with, uint32_t vm, uint32_t host);
};

/* Whether the stage filters for this use. */
static inline bool fit_filters(const struct fit *fit, uint32_t stage, enum fit_use use)
{
    const struct stage_facts *is = &fit->snap->stages[stage].is;

    return is->filter.n > 0 && (is->applies >> use & 1);
}

/* Whether the filter's external unit has no valid answer about VMs with this row, and the stage then refuses
 * no host for this use. A unit that fails never moves a VM away. */
static inline bool fit_unanswered(const struct fit *fit, uint32_t stage, enum fit_use use,
                                  const struct value *vm_row)
{
    const struct fit_expression *x = &fit->parts[PART_FILTER][stage];

    return x->asks_unit && vm_row[x->answer].type == VALUE_ABSENT &&
           (use == FIT_CORRECT || fit->snap->stages[stage].is.on_failure == ANSWER_FAILURE_IGNORE);
}

/* The hosts that the VM's pipeline leaves for this use; NULL: all. */
static inline const uint64_t *fit_hosts(const struct fit *fit, enum fit_use use, uint32_t vm)
{
    if (!fit->class_of || fit->class_of[vm] == IX_NONE)
        return NULL;
    return fit->allowed[use][fit->class_of[vm]];
}

/* Whether the VM's pipeline refuses the host for this use. */
static inline bool fit_refuses(const struct fit *fit, enum fit_use use, uint32_t vm, uint32_t host)
{
    const uint64_t *hosts = fit_hosts(fit, use, vm);

    return hosts && !(hosts[host / 64] >> (host % 64) & 1);
}

/* ---- why.c: for explanations and faults ---- */

/* The first filter of this use that refuses the host, and why; NULL: none does. live: NULL: filters that
 * moves change are left out. */
const struct refusal *fit_refusal(const struct fit *fit, enum fit_use use, uint32_t vm, uint32_t host,
                                  const struct fit_live *live, struct arena *a);

/* The first such filter that refuses the host by what an external unit says, or does not say. */
const struct refusal *fit_unit_refusal(const struct fit *fit, enum fit_use use, uint32_t vm, uint32_t host,
                                       struct arena *a);

/* The stage of its pipeline that gives its name to the check, CHECK_FIT_NUMA or CHECK_FIT_DEVICE, of the VM;
 * IX_NONE: none does. */
uint32_t fit_needs_stage(const struct fit *fit, uint32_t vm, enum check check);

/* How many of these hosts are left after each filter and limit of this use, in order, up to the first that
 * leaves none. live: NULL: limits, and filters that moves change, are left out. Returns the number of stages.
 */
uint32_t fit_hosts_left(const struct fit *fit, enum fit_use use, uint32_t vm, const uint64_t *hosts,
                        const struct fit_live *live, struct arena *a, const struct stage_left **ret);

/* Whether a filter that moves change refuses the host for this use. */
bool fit_live_refuses(const struct fit *fit, enum fit_use use, uint32_t vm, uint32_t host,
                      const struct expression_live *live);

/* Whether the VM's pipeline has such filters for this use. */
bool fit_has_live(const struct fit *fit, enum fit_use use, uint32_t vm);

/* The limits of the VM's pipeline; their number. */
static inline uint32_t fit_bounds(const struct fit *fit, uint32_t vm, const struct fit_bound **ret)
{
    uint32_t p = fit->counts.bounds_from ? fit->snap->vms[vm].pipeline : IX_NONE;

    *ret = p == IX_NONE ? NULL : &fit->counts.bounds[fit->counts.bounds_from[p]];
    return p == IX_NONE ? 0 : fit->counts.bounds_from[p + 1] - fit->counts.bounds_from[p];
}

/* Whether the limit binds this share of the VM, for this use. */
static inline bool fit_limits(const struct fit *fit, const struct fit_bound *b, const struct fit_share *share,
                              enum fit_use use)
{
    return (b->applies >> use & 1) && fit->counts.counters[share->counter].measure == b->measure;
}

/* Whether VMs that are off take of the counter. */
static inline bool fit_counts_off(const struct fit *fit, uint32_t counter)
{
    return fit->snap->stages[fit->counts.of_measure[fit->counts.counters[counter].measure]].is.off;
}

/* The limit of the counting stage for the VM on the host; FIT_NOTHING: none fits. */
static inline int64_t fit_limit(const struct fit *fit, uint32_t vm, uint32_t stage, uint32_t host)
{
    uint32_t first = fit->snap->pipelines[fit->snap->vms[vm].pipeline].first;

    return fit->limits[fit->class_of[vm]][stage - first][host];
}

/* counts.c: the last step of fit_compile() but for the classes. */
void fit_counts_compile(struct fit *fit, struct arena *a);

/* What an evaluation for VMs with this row reads of the host; nothing that moves change. */
struct expression_scope fit_scope(const struct fit *fit, const struct value *vm_row, uint32_t host);

/* What a rule, or a stage with a reserve, says of the VM and the host at the moment of `live`. vm IX_NONE:
 * the part is about hosts only. Absent: the stage has no such part. */
struct value fit_rule_value(const struct fit *fit, enum fit_part part, uint32_t stage, uint32_t vm,
                            uint32_t host, const struct expression_live *live);

/* Likewise for a VM that has a pipeline, also of what moves change. */
struct expression_scope fit_live_scope(const struct fit *fit, uint32_t vm, uint32_t host,
                                       const struct expression_live *live);

/* ---- profiles.c ---- */

/* The codes of a column of hosts, or of their groups (columns[OWNER_HOST].n). Finds them when first asked. */
const struct fit_codes *fit_codes_of(struct fit *fit, uint32_t column, struct arena *a);

/* Finds the profiles of hosts for the expression: hosts with equal values of all that it reads, and in the
 * same groups if it asks for groups, are one. */
void fit_find_profiles(struct fit *fit, struct fit_expression *x, struct arena *a);

#endif
