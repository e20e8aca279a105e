/* build.h: a scenario during its construction, from the file to struct scenario. Inside scenario only.
 *
 * The file's groups become objects of an inventory, in the order of the file; arrays beside the inventory
 * hold the simulation's own facts about each object. snapshot_build() sorts objects by id; scenario.c then
 * sorts the arrays into the snapshot's order.
 */
#ifndef BALLAST_SIM_SCENARIO_BUILD_H
#define BALLAST_SIM_SCENARIO_BUILD_H

#include "model/snapshot_fields.h"
#include "schema/reader.h"
#include "sim/scenario/scenario.h"
#include "sim/workload/trace.h"

#include <ballast/inventory.h>

/* A larger cluster cannot be simulated in a reasonable time. */
#define SCENARIO_HOSTS_MAX 2000u
#define SCENARIO_VMS_MAX 50000u
#define SCENARIO_GROUPS_MAX 1000u /* entries of hosts, vms, pools, rules */

#define NAMES_MOST 10000 /* in a list */
#define SIZE_MOST 1e9    /* MHz or MiB of one object */
#define TIME_MOST 3.2e8  /* ten years */

/* ---- hosts ---- */

struct power_spec {
    double idle_w, peak_w, standby_w, boot_w, sleep_w; /* UNKNOWN: not given */
    bool meter;
    double meter_error;
    struct power_curve watts; /* none: idle_w and peak_w define the power */
};

struct host_spec {
    const char *name, *match;
    uint32_t count; /* 0: not given: one host, whose name has no number */
    const struct node *cycle, *split;
    const char *kind; /* another word for it */
    double core_mhz;
    int state;
    struct seen_host seen;
    struct power_spec power;
    struct host_model model;
    /* of the object that was made */
    const char *group;
    unsigned line;
};

/* ---- VMs ---- */

struct range {
    double low, high;
};

enum how { HOW_RANDOM, HOW_SPREAD, HOW_FIRST_FIT, HOW_LEAST_POWER };

struct at_spec {
    bool given;
    int how;
    struct ids hosts; /* ids, groups or patterns; none: all */
    double fill_to;   /* part of a host's CPU that the VMs may request */
};

enum shares_level { SHARES_LOW, SHARES_NORMAL, SHARES_HIGH, SHARES_NUMBER };

struct alloc_spec {
    double reservation, limit, shares;
    enum shares_level level;
    bool expandable;
};

enum phase_kind { PHASE_GIVEN, PHASE_RANDOM };
enum pick { PICK_ORDER, PICK_NAME };
enum missing { MISSING_ERROR, MISSING_KEEP };
enum names { NAMES_NUMBERS, NAMES_TRACES };

/* A set of traces, read once, and the number of traces in use. */
struct trace_source {
    const char *path;
    int format;
    const struct trace_columns *columns; /* NULL: all of it is at the path */
    struct trace_set set;
    uint32_t next;
};

struct workload_spec {
    bool given; /* false: the snapshot's value, or the default */
    unsigned line;
    int kind;
    struct workload w;
    enum phase_kind phase;
    bool percent;
    bool if_traced; /* only if the trace has this resource; else the key is ignored */
    int format, pick, missing;
    const char *file, *dir;
    double from_s;                       /* recorded: the date of t = 0; UNKNOWN: not given */
    const struct trace_columns *columns; /* of the formats prometheus and table; NULL: of another */
};

struct vm_spec {
    const char *name, *match;
    uint32_t count; /* 0: not given */
    bool count_traces;
    int names;
    const char *kind; /* another word for it */
    const struct node *cycle, *split;
    struct seen_vm seen; /* compatible_hosts: the words, until they are resolved */
    bool vcpus_traced, mem_traced, compatible_named, vcpu_mhz_given;
    struct alloc_spec alloc[RES_COUNT];
    double vcpu_mhz;                 /* UNKNOWN: a core of the fastest host */
    struct range arrives_s, lasts_s; /* lasts_s: UNKNOWN: for good */
    double consumed_mb;              /* UNKNOWN: its initial memory use */
    double dirty_mb_s;               /* UNKNOWN: by dirty_kind, or by the workload */
    int dirty_kind;
    const char *share_class;
    struct at_spec at;
    struct workload_spec workload[RES_COUNT];
    /* of the object that was made */
    struct vm_model model;
    const char *group;
    unsigned line;
    bool of_snapshot;
    const struct trace_source *traced_from;
    const struct traced_vm *traced;
};

struct trace_names {
    const char *const *items;
    uint32_t n;
};

/* ---- the whole scenario ---- */

struct building {
    struct reader f; /* its context is this struct */
    const struct scenario_options *options;
    uint64_t seed;
    struct scenario *s;
    struct inventory inv;    /* hosts and VMs are added last, from the arrays below */
    struct host_spec *hosts; /* by index of the inventory, like the arrays below */
    struct vm_spec *vms;
    size_t n_hosts, n_vms, cap_hosts, cap_vms;
    size_t n_snapshot_hosts;           /* the snapshot's own objects: the first ones, by id */
    unsigned *pool_lines, *rule_lines; /* of objects that the file adds to the snapshot's */
    size_t first_pool, first_rule;
    double core_mhz;             /* of the fastest host */
    struct workload_spec source; /* defaults of the traces */
    size_t cap_operations, cap_warnings;
    struct trace_source **sources;
    size_t n_sources, cap_sources;
    bool start_of_traces; /* the scenario begins when its traces do */
    unsigned kept;        /* VMs of the snapshot without a trace, which keep their demand */
};

/* Both take the list of groups; NULL: none. */
int hosts_build(struct building *b, const struct node *groups);
int vms_build(struct building *b, const struct node *groups);

/* Reads the initial snapshot; called before the functions above. */
void hosts_of_snapshot(struct building *b, const struct inventory *inv);
void vms_of_snapshot(struct building *b, const struct inventory *inv);

int pools_build(struct building *b, const struct node *list);
int pools_build_rules(struct building *b, const struct node *list);
int pools_build_ha(struct building *b, const struct node *section);
int faults_build(struct building *b, const struct node *section);
int faults_build_script(struct building *b, const struct node *list);

/* The scenario's own section about traces; NULL: there is none. Columns of traces are read at once, because
 * the scenario begins when they do unless it has a start of its own. */
int workloads_read_source(struct building *b, const struct node *n, bool start_given);

/* columns.c: the keys of `workload` for the formats prometheus and table. */
struct columns_spec {
    const char *vm, *time, *delimiter, *from;
    int time_unit;
    bool header;
    struct column_spec {
        bool given;
        const char *file, *dir, *column, *metric;
        int unit;
    } of[TRACE_PARTS];
};

extern const struct schema column_keys;

struct columns_spec columns_default(void);

/* Whether the format is one of those. */
bool columns_has(int format);

/* Fills s->from_s, and for these two formats s->columns. n: the section. */
int columns_make(const struct reader *f, const struct node *n, const struct columns_spec *spec,
                 struct workload_spec *s);

/* The names of the traces of a group of VMs. */
int workloads_traces(struct building *b, const struct node *group, const struct vm_spec *spec,
                     struct trace_names *ret);

/* Values that follow from a VM's sizes: shares, times. */
void vms_finish(const struct building *b, struct vm_spec *v);
struct alloc vms_alloc(const struct alloc_spec *spec, double normal);

/* The demand of every VM, from its spec; the sizes of all hosts and VMs are known. */
int workloads_build(struct building *b);

/* Places every VM that exists at the start on a host. */
int placement_build(struct building *b);

/* Settings of the policy. */
struct settings_given {
    struct {
        const char *key, *value;
    } * items;
    size_t n, cap;
};

/* When hosts may be in standby and when they must be on; NULL: always, never. */
int schedule_build(struct building *b, const struct node *section);

/* Adds a warning to the scenario for each that is not used any more. */
int settings_read(struct building *b, const struct node *section, struct policy *policy,
                  struct settings_given *ret);

/* ---- helpers of several files ---- */

/* "web-007" of 120: numbered from 1, padded, so that ids sort by number. */
const char *groups_member_name(struct arena *a, const char *name, uint32_t i, uint32_t n);

/* -EINVAL if the variants of a group are invalid. */
int groups_check_variants(const struct reader *f, const struct node *group, const struct node *cycle,
                          const struct node *split);

/* Reads the variant of the i-th of n members over the values in ret: variants alternate, or apply to blocks
 * of equal size. Reads nothing if the group has no variants. */
int groups_read_variant(const struct reader *f, uint32_t i, uint32_t n, const struct node *cycle,
                        const struct node *split, const struct schema *keys, void *ret);

/* -EINVAL unless a group has either a name of its own or a list of objects of the snapshot. */
int groups_check_name(const struct reader *f, const struct node *group, const char *name, const char *match);

/* The words that match an object: its id, its name, its group, its kind, or a pattern with * and ? of an id
 * or name. */
struct called {
    const char *id, *name, *group, *kind;
};

struct called groups_host_called(const struct host_spec *h);
struct called groups_vm_called(const struct vm_spec *v);
bool groups_is_meant(const char *word, struct called o);

/* For tables. struct range. */
field_reader groups_read_range;

/* struct workload_spec [RES_COUNT], and one for the defaults of traces. */
field_reader workloads_read;

extern const struct schema top_keys, host_keys, power_keys, vm_keys, at_keys, alloc_keys, range_keys,
    pool_keys, rule_keys, ha_keys, workload_keys, resource_keys, source_keys, migration_keys, faults_keys,
    rates_keys, rate_keys, event_keys, operation_keys;

#endif
