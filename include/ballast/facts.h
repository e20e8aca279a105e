/* facts.h: the properties of a host, a VM, a pool or a rule that refer to no other object.
 *
 * The same facts are part of an inventory (inventory.h: from a collector or a file, references by id) and
 * of a snapshot (snapshot.h: checked, sorted, references by index). The field names are those of
 * ballast-snapshot/1.
 */
#ifndef BALLAST_FACTS_H
#define BALLAST_FACTS_H

#include <ballast/expression.h>
#include <ballast/field.h>
#include <ballast/names.h>
#include <ballast/units.h>

#include <stdbool.h>

/* Reservation, limit and shares of a VM or a pool, for one resource. */
struct alloc {
    double reservation;
    double limit; /* NO_LIMIT */
    double shares;
    bool expandable; /* pools: what the children reserve beyond it is taken from the parent */
};

/* Demand over a window of time. */
struct demand_stats {
    double mean, stddev, min, max;
};

enum window { WINDOW_5M, WINDOW_40M, WINDOW_60M, WINDOW_COUNT };

/* How far the demands of a cluster's VMs rise and fall together, over a window: 0 where each does so for
 * itself, 1 where all do as one. The variance of a sum is (1 - ρ) Σσ² + ρ (Σσ)². */
struct correlation {
    double of[WINDOW_COUNT][RES_COUNT];
};

/* Why a host was woken. How long it stays on for that: src/core/power/README.md. */
struct woken {
    instant_s at; /* when it was decided or an admin asked, also for a host that was on; 0: not known */
    enum reason reason;
};

#define WAKE_IPMI (1u << 0)
#define WAKE_REDFISH (1u << 1)
#define WAKE_WOL (1u << 2)
#define WAKE_HYPERVISOR (1u << 3)
#define WAKE_METHODS 4 /* bits of WAKE_* */

struct label {
    const char *key, *value;
};

struct labels {
    const struct label *items;
    uint32_t n;
};

/* A host's draw while it is on: watts at equally spaced CPU loads from 0 to 1, lines between, as SPECpower
 * measures them (eleven). */
#define POWER_POINTS_MAX 101

struct power_curve {
    const double *watts;
    uint32_t n; /* 0: not known, else 2 ... POWER_POINTS_MAX */
};

/* Bounds of a list of networks, datastores, devices or CPU baselines: above the limits of any hypervisor. */
#define FACT_NAMES_MAX 16384
#define FACT_NAME_BYTES_MAX 255

/* What a host offers, by name. Not known: no VM is kept off the host for it. Known and empty: nothing. */
struct offer {
    struct ids names;
    bool known;
};

/* What a host has of a resource class that pipelines count: "DISK_GB". What VMs may take of it is
 * (total - reserved) * ratio - used_elsewhere. */
struct host_quantity {
    const char *name;
    double total;
    double reserved;       /* kept for the hypervisor itself */
    double ratio;          /* how many times it may be handed out */
    double used_elsewhere; /* by whatever is no running VM of the snapshot */
};

#define QUANTITIES_MAX 256
#define QUANTITY_MAX 1e15 /* of each figure */
#define CUT_STEPS_MAX 1000

/* By name. */
struct host_quantities {
    const struct host_quantity *items;
    uint32_t n;
};

/* Bounds of NUMA cells and devices of one object. */
#define NUMA_CELLS_MAX 64
#define NUMA_PAGES_MAX 8
#define DEVICE_POOLS_MAX 256
#define DEVICE_REQUESTS_MAX 64
#define NUMA_COUNT_MAX 1000000000u /* of each figure */

/* Memory pages of one size in a cell. */
struct numa_pages {
    uint32_t size_kb, total;
    uint32_t used_elsewhere; /* by whatever is no running VM of the snapshot, as all that is used elsewhere */
};

/* A NUMA cell (node) of a host. A CPU is what the host's operating system counts: a thread of a core. */
struct numa_cell {
    uint32_t id; /* unique on the host */
    uint32_t socket;
    bool socket_given;
    uint32_t cpus;      /* that VMs share */
    uint32_t dedicated; /* CPUs that one VM has for itself */
    uint32_t mem_mb;
    double cpu_ratio, mem_ratio; /* how many times shared CPUs and memory may be handed out; not given: as
                                  * often as VMs want CPUs, memory once */
    bool cpu_ratio_given, mem_ratio_given;
    uint32_t cpus_used_elsewhere, dedicated_used_elsewhere, mem_used_elsewhere_mb;
    struct objects pages; /* struct numa_pages, by size; none: not known, all memory is alike */
};

/* The sizes of pages that serve a VM: the smallest of the host's cell, one that is larger, or any. */
enum numa_page_choice { NUMA_PAGES_BY_SIZE, NUMA_PAGES_SMALL, NUMA_PAGES_LARGE, NUMA_PAGES_ANY };

/* A NUMA cell of a VM: it needs a cell of its host, each a different one. With dedicated CPUs it takes memory
 * that no other VM has, else within the cell's ratios. */
struct vm_numa_cell {
    uint32_t cpus, dedicated, mem_mb;
    enum numa_page_choice pages;
    uint32_t page_kb; /* the size of pages that it needs; where `pages` leaves a choice, that it has now; 0:
                       * no certain size, not known */
    uint32_t cell;    /* the id of the host's cell that it has now */
    bool cell_given;
    bool fixed; /* it needs the cell of this id on any host */
};

/* Devices of a host that are alike. */
struct device_pool {
    const char *id; /* unique on the host; NULL: none */
    uint32_t count; /* for the VMs of the snapshot: free ones and those that its VMs have */
    uint32_t cell;  /* the id of the cell that they are next to */
    bool cell_given;
    struct labels properties; /* "vendor_id": "8086"; sorted by key */
    struct ids on_request;    /* properties: only a request that names the same value of each has them */
};

/* How near a VM's devices must be to its NUMA cells; a VM without cells takes any. */
enum device_affinity {
    DEVICE_PREFERRED, /* in a cell of the VM where possible */
    DEVICE_LEGACY,    /* in a cell of the VM, or it is not known in which cell they are */
    DEVICE_REQUIRED,  /* in a cell of the VM */
    DEVICE_SOCKET,    /* in a cell on the socket of a cell of the VM */
};

/* Alternatives of a request: a pool serves it that has all properties of one. */
struct device_spec {
    struct labels properties;
};

struct device_request {
    uint32_t count;
    struct objects any_of; /* struct device_spec */
    enum device_affinity affinity;
    const char *pool; /* of its host, by id, which it has its devices of; NULL: not known, or several */
};

/* CPU and memory that a host uses and its VMs do not explain: its hypervisor and its own processes. The page
 * cache and the ZFS ARC are none. MHz and MiB of the whole host; whatever of it is within `reserved` counts
 * once. */
struct own_use {
    bool given;
    instant_s at; /* of the look from which it is known; 0: just now */
    double now[RES_COUNT];
    struct demand_stats window[WINDOW_COUNT][RES_COUNT]; /* one whose maximum is below `now`: not known */
};

/* How often a host was lost lately: it went out of service, and VMs stopped there. Each loss within a day of
 * trust counts. While it is distrusted, VMs come only where they must (host_is_distrusted()). */
struct host_losses {
    uint32_t n;                 /* 0: none */
    instant_s last;             /* of the last loss */
    instant_s distrusted_until; /* 0: not distrusted */
};

struct host_facts {
    const char *id, *name;
    enum host_state state;
    const char *disconnected_why; /* of HOST_DISCONNECTED, a phrase such as "no answer within 10 s"; NULL: not
                                     known */
    double total[RES_COUNT];      /* cpu_mhz of all cores together, mem_mb */
    double reserved[RES_COUNT];   /* kept for the hypervisor itself */
    uint32_t cores;
    double mem_free_mb; /* physically free now; UNKNOWN */
    /* The least of the last five minutes: swapped memory that it reads back, and the part of the time in
     * which all that runs on it waits for memory (PSI, full). 0: none, or not known. */
    double swap_in_mb_s, mem_pressure;
    struct own_use
        own; /* not given: of memory what mem_free_mb and the VMs' consumed memory leave unexplained */
    double power_idle_w, power_peak_w; /* UNKNOWN */
    struct power_curve power_curve_w;  /* from power_idle_w to power_peak_w; none: a straight line */
    double power_standby_w;            /* draw in standby; UNKNOWN */
    double power_w;                    /* measured, now; UNKNOWN */
    double boot_s;                     /* from wake to usable; UNKNOWN */
    double
        wake_tries_s; /* by how much its wake may take longer, because only its last way works; UNKNOWN: 0 */
    instant_s standby_since, on_since; /* 0: not known */
    struct woken woken;                /* of a host that is on */
    unsigned wake_methods;             /* WAKE_* */
    bool wake_verified;
    /* The time of its last failed wake: the host is neither chosen to be woken nor counted on. 0: no failure
     * stands in the way. The engine resets it when the host was seen on or may be tried again. */
    instant_s wake_failed_at;
    /* The time of its last wake, if that failed and the host was not seen on since, also while it is tried
     * again; 0: it did not. */
    instant_s wake_failed_last;
    /* What is wrong with its power methods, a sentence; NULL: nothing is known to be. */
    const char *power_fault;
    bool controller_doubted; /* power_fault: a controller is not known to be this host's, so that the host is
                                not put to standby */
    enum automation dpm;     /* inherit, disabled, manual or automatic */
    struct labels labels;
    double migration_rate_mb_s; /* UNKNOWN: the setting */
    uint32_t migrations_max;    /* live migrations in and out at a time; 0: the setting */
    /* What VMs find on it, by the names that people know and that the needs of VMs use. */
    double
        over_s; /* for so long its load has been beyond a level of a pipeline's balance; UNKNOWN: it is not */
    struct offer networks, datastores;
    struct offer devices;   /* models or profiles: "grid_p40-2q" */
    struct offer cpu_modes; /* CPU baselines: EVC modes of vSphere, CPU models of libvirt */
    const char *cpu_vendor; /* NULL: not known */
    enum failure_detection failure_detection;
    bool quarantine; /* it is degraded: it receives no VM, and its VMs leave where rules and load allow */
    struct host_losses losses;
    bool vsan;           /* its disks are part of vSAN: it is never put to standby */
    bool serves_storage; /* its disks hold data of other hosts' VMs in another way, such as an OSD of Ceph:
                            likewise */
    const char *hardware_uuid;         /* as the firmware reports it; NULL: not known */
    struct ids traits;                 /* its abilities, by name: HW_CPU_X86_AVX2; sorted */
    struct attributes attributes;      /* sorted by name */
    struct host_quantities quantities; /* sorted by name */
    struct objects numa;               /* struct numa_cell; none: not known */
    struct objects device_pools;       /* struct device_pool */
    bool left_inventory; /* it sleeps, and the source does not list it any more: the rest is as it was last
                          * seen. It can be woken, nothing else */
};

/* The controls of a VM's CPU on a host that divides among VMs, without pools. shares: a VM that has none of
 * its own counts 1000. limit: MHz of all its vCPUs together; NO_LIMIT. */
struct vm_control {
    bool given; /* false: as its admin has set them */
    double shares, limit;
};

/* Whose failover slots are found first, should capacity be short (core/layout/failover_capacity.h). */
enum restart_priority {
    RESTART_NOT_GIVEN, /* counts as medium */
    RESTART_DISABLED,  /* the VM is not restarted: the policy of the configuration keeps nothing for it */
    RESTART_LOW,
    RESTART_MEDIUM,
    RESTART_HIGH,
};

struct vm_facts {
    const char *id, *name;
    const char *identity; /* what tells it from another VM that gets its id later, a UUID; NULL: not known, or
                             its id does. For the engine: snapshots as JSON do not have it */
    enum vm_state state;
    enum vm_kind kind;
    enum automation automation; /* inherit, disabled, manual or automatic */
    enum restart_priority restart_priority;
    uint32_t vcpus;
    double mem_mb; /* configured */
    struct alloc alloc[RES_COUNT];
    /* Where the configuration overrides them: what the source has, by which the hypervisor divides a host. */
    struct alloc source_alloc[RES_COUNT];
    bool overridden;
    struct vm_control set;    /* what Ballast has set of it; alloc and source_alloc are without that */
    double demand[RES_COUNT]; /* what it would use if nothing held it back, now; 0 while it is off */
    double consumed_mb;       /* host memory that backs it now; the configured size when not known */
    double overhead_mb;       /* the hypervisor's own memory for it */
    /* Of its memory, what its host has taken from the guest by its balloon, and what it has swapped out: the
     * guest would use more than it can (core/demand/demand.h). */
    double ballooned_mb, swapped_mb;
    double swap_in_mb_s; /* that it reads back now */
    bool no_reclaim;     /* consumed memory beyond the demand stays backed, whatever mem_admission and
                            mem_overcommit say: the source does not tell how much is active */
    struct demand_stats window[WINDOW_COUNT][RES_COUNT];
    /* Usual standard deviation of its demand within an hour, measured over a day; a cautious estimate while
     * it has been watched for few hours. UNKNOWN: that of the last hour. */
    double deviation[RES_COUNT];
    /* How much its demand rose, or fell, when that of the cluster rose most within minutes, over the last
     * day. UNKNOWN: not watched then. */
    double rise[RES_COUNT];
    double stable_s;        /* how long its recent demand levels lasted; UNKNOWN */
    double dirty_mb_s;      /* UNKNOWN */
    double disks_copied_mb; /* of disks that a migration copies before the memory; 0: none */
    bool demand_unknown;    /* could not be read: the VM is left where it is */
    double sample_age_s;    /* how long ago its figures were measured; UNKNOWN: just now */
    /* Why its figures cannot be right, a phrase such as "its CPU use is given as -5 MHz"; NULL: no fault.
     * The VM stays where it is. Readers set it for figures that a snapshot cannot hold; the pass finds the
     * rest (src/core/demand/sample_guard.h). */
    const char *sample_bad;
    struct labels labels;
    const char *folder;      /* its path, "/prod/db"; NULL: none, or not known */
    instant_s last_migrated; /* 0: never, or not known */
    /* What its host must offer; empty or NULL: nothing. A host whose offer is not known is taken to offer it.
     */
    struct ids networks, datastores, devices;
    const char *cpu_vendor, *cpu_mode;
    /* Why it can be moved by no means, a phrase such as "a passthrough device"; NULL: it can. */
    const char *immovable;
    /* Why it moves only where it must (an evacuation, a mandatory rule, an overcommitted host), a phrase such
     * as "latency sensitivity high"; NULL: it moves as any other. */
    const char *mandatory_only;
    const char *owner;               /* the project or customer that it belongs to; NULL: not known */
    struct attributes flavor, image; /* of its making: extra specs, properties of the image */
    struct attributes hints;         /* what was asked for when it was made */
    struct ids groups;               /* of VMs, by name: server groups; sorted */
    struct objects numa;             /* struct vm_numa_cell; none: its memory and CPUs may be anywhere */
    struct objects device_requests;  /* struct device_request */
};

/* The kind of a group that a source makes of hosts with a common tag begins with this; the tag's category
 * follows. */
#define GROUP_KIND_OF_TAGS "tag:"

/* Hosts that belong together: an aggregate, a zone, a rack. */
struct group_facts {
    const char *id, *name;
    const char *kind;   /* "aggregate" */
    struct labels meta; /* sorted by key */
    enum rule_origin origin;
};

/* Of hosts whose score falls below each of `steps` thresholds, from the first to the last in even steps:
 * keeps those above the highest threshold that leaves any. */
struct cut_facts {
    bool given;
    double from, to;
    uint32_t steps;
};

/* Which of the best hosts is taken. */
struct pick_facts {
    bool given;
    uint32_t subset; /* one of so many of the best; 0, 1: the best */
    bool shuffle;    /* hosts of equal score are in a random order */
    uint32_t seed;   /* with the VM's id, of all that is random */
};

/* A stage of a pipeline over the hosts of a VM (src/core/fit/README.md): one of filter, count, score, cut,
 * bucket and pick is given. */
struct stage_facts {
    const char *name;
    const char *id;           /* "PIPELINE/STAGE", set by snapshot_build() */
    struct expression filter; /* a condition: keeps the hosts for which it is true */
    struct expression count;  /* a number of the VM: how much it takes; a host keeps the VMs within `limit` */
    struct expression limit;  /* a number; none: any amount, so that other stages read what is used */
    struct expression per;    /* texts of the VM: VMs with a text in common are counted; none: all are */
    const char *over;         /* counted on all hosts of a group of this kind together; NULL: on each host */
    bool off;                 /* VMs that are off count too, on the host that lists them */
    struct expression score;  /* a number: more is better */
    enum normalisation normalise; /* of the score */
    bool normalise_given, least_given, most_given;
    struct expression multiplier; /* a number, of the normalised score; none: 1 */
    double least, most;           /* minmax: the scale contains them, if they are given */
    struct cut_facts cut;
    struct expression bucket; /* a number: a host with a lower one comes first, whatever its score */
    struct pick_facts pick;
    enum stage_needs needs; /* it only gives its name to the checks of these: they bind the VM anyway */
    bool needs_given;
    /* A rule of the pipeline's balance, which moves its VMs off the hosts for which `from` is true. */
    struct expression from, to; /* conditions on a host: whose VMs leave, and where they may go */
    struct expression first;    /* a number of a host: VMs leave the one with the greatest first */
    struct expression vms;      /* a condition on a VM: it may leave; none: each may */
    struct expression smallest; /* a number of a VM: the one with the least is tried first */
    struct expression fits;     /* a condition on a VM and the host to which it would go; none: it does */
    double gap; /* VMs leave only hosts with the greatest `first`, for hosts with so much less */
    bool gap_given;
    struct expression reserve; /* a condition on a host: of these hosts so many without VMs are kept on: */
    uint32_t keep;
    unsigned applies;     /* 1 << enum fit_use */
    const char *external; /* the external unit whose answer $answer is in filter, score or bucket; NULL: none
                           */
    enum answer_failure on_failure; /* of the filter */
    bool on_failure_given;
};

enum stage_kind {
    STAGE_NONE, /* nothing is given */
    STAGE_FILTER,
    STAGE_COUNT,
    STAGE_SCORE,
    STAGE_CUT,
    STAGE_BUCKET,
    STAGE_PICK,
};

static inline enum stage_kind stage_kind_of(const struct stage_facts *s)
{
    return s->filter.n > 0   ? STAGE_FILTER
           : s->count.n > 0  ? STAGE_COUNT
           : s->score.n > 0  ? STAGE_SCORE
           : s->cut.given    ? STAGE_CUT
           : s->bucket.n > 0 ? STAGE_BUCKET
           : s->pick.given   ? STAGE_PICK
                             : STAGE_NONE;
}

/* What the rules of a pipeline have in common. */
struct pipeline_balance {
    uint32_t moves; /* VMs that move in one pass; 0: one */
    double high,
        low; /* percent of a host's CPU: host_facts.over_s tells for how long its load is beyond one */
    bool high_given, low_given;
    bool given;
};

/* Of one origin. */
#define GROUPS_MAX 65536
#define PIPELINES_MAX 4096
#define STAGES_MAX 64 /* of one pipeline */
#define ANSWERS_MAX 1000000

/* An answer of an external unit that is older than this counts as missing. */
#define ANSWER_AGE_MAX_S 600

/* The limit that the hypervisor enforces. */
static inline double vm_facts_limit_in_force(const struct vm_facts *f, int r)
{
    if (r == RES_CPU && f->set.given)
        return f->set.limit;
    return f->overridden ? f->source_alloc[r].limit : f->alloc[r].limit;
}

struct pool_facts {
    const char *id, *name;
    struct alloc alloc[RES_COUNT];
    bool scalable_shares;
    enum rule_origin origin;              /* the source, or the configuration: then no hypervisor has it */
    struct alloc source_alloc[RES_COUNT]; /* as of VMs */
    bool overridden;
};

struct rule_facts {
    const char *id, *name;
    enum rule_kind kind;
    enum rule_origin origin;
    bool enabled, mandatory;
};

/* Other managers that act on the same VMs or hosts by themselves. */
struct conflict_facts {
    bool balancer; /* migrates VMs: DRS of vCenter, fully automated */
    bool power;    /* switches hosts: DPM of vCenter, automated */
};

/* When hosts may be put to standby, and by when they must be back, as of the moment of the snapshot. */
struct schedule_facts {
    bool given;                  /* false: no schedule; hosts may be put to standby at any time */
    bool power_off;              /* they may now */
    instant_s power_off_changes; /* when that ends, or begins; 0: not foreseen */
    instant_s ready_by;          /* 0: none. In the past: what was late must still come */
    double ready[RES_COUNT];     /* capacity that must be on by then, of the hosts that DPM manages
                                    (host_is_managed()) */
};

/* Whether the time is one in which optional moves are carried out (balance.windows), as of the moment of the
 * snapshot. */
struct balance_facts {
    bool given; /* false: always */
    bool open;
    instant_s changes; /* when that ends, or begins; 0: not foreseen */
};

/* load: of all its CPU; what is beyond 0 ... 1 counts as the end. UNKNOWN without figures. */
double power_curve_watts(const struct power_curve *c, double load);
double host_facts_watts(const struct host_facts *f, double load);

/* The curve, and what follows from it: power_idle_w and power_peak_w. */
void host_facts_set_curve(struct host_facts *f, const struct power_curve *c);

/* Sets every field that has a default to it (shares: 1000 a vCPU, 10 a MiB; windows: the present demand), so
 * that what fills in facts says only what it knows. vm_facts_default() reads vcpus and mem_mb. The windows
 * are filled by vm_facts_windows(), once the demand is known. */
void host_facts_default(struct host_facts *f);
void vm_facts_default(struct vm_facts *f);
void vm_facts_windows(struct vm_facts *f);

/* What the guest would use of the memory that its host has taken from it, besides its demand, in MiB: of that
 * the part that it uses of what it was left; all of it while it reads swapped memory back. */
double vm_facts_squeezed_mb(const struct vm_facts *v);

void pool_facts_default(struct pool_facts *f);
void rule_facts_default(struct rule_facts *f, enum rule_kind kind);

#endif
