/* policy_settings.c: the table of a pass's settings. */
#include <ballast/policy.h>

#include "schema/reader.h"

#include "base/cleanup.h"

#include <string.h>

#define ENTRY(k, member, t)                                                                                  \
    .name = (k), .type = (t), .offset = offsetof(struct policy, member), .flags = FIELD_NULLABLE
#define BOOL(k, member, def, text)                                                                           \
    {                                                                                                        \
        ENTRY(k, member, FIELD_BOOL), .fallback = (def), .meaning = (text)                                   \
    }
#define INT(k, member, low, high, def, text)                                                                 \
    {                                                                                                        \
        ENTRY(k, member, FIELD_INT), .min = (low), .max = (high), .fallback = (def), .meaning = (text)       \
    }
#define NUMBER(k, member, low, high, def, text)                                                              \
    {                                                                                                        \
        ENTRY(k, member, FIELD_NUMBER), .min = (low), .max = (high), .fallback = (def), .meaning = (text)    \
    }
#define WORD(k, member, list, def, text)                                                                     \
    {                                                                                                        \
        ENTRY(k, member, FIELD_WORD), .words = (list), .fallback = (def), .meaning = (text)                  \
    }
#define FORMER(k)                                                                                            \
    {                                                                                                        \
        .name = (k), .type = FIELD_SKIPPED                                                                   \
    }

static const char *const automation_words[] = {
    [AUTOMATION_INHERIT] = "",        [AUTOMATION_DISABLED] = "",  [AUTOMATION_MANUAL] = "manual",
    [AUTOMATION_PARTIAL] = "partial", [AUTOMATION_AUTOMATIC] = "", [AUTOMATION_FULL] = "full",
    [AUTOMATION_FULL + 1] = NULL};
static const char *const dpm_automation_words[] = {
    [AUTOMATION_INHERIT] = "", [AUTOMATION_DISABLED] = "disabled",   [AUTOMATION_MANUAL] = "manual",
    [AUTOMATION_PARTIAL] = "", [AUTOMATION_AUTOMATIC] = "automatic", [AUTOMATION_AUTOMATIC + 1] = NULL};
ENUM_WORDS(objective, OBJECTIVES);
ENUM_WORDS(balancer, BALANCERS);
ENUM_WORDS(search, SEARCHES);
ENUM_WORDS(mem_admission, MEM_ADMISSIONS);

#define SIZE_MOST 1e12
#define SEED_MOST 9007199254740991.0 /* exact as a double, so JSON keeps it */

/* clang-format off */
static const struct field settings[] = {
    WORD("automation", automation, automation_words, "manual",
         "what the service does without asking: manual nothing; partial sets reservations, limits and shares of pools on the hosts; full also carries out the migrations that migration_threshold allows"),
    INT("migration_threshold", migration_threshold, 1, 5, "3",
        "1 makes mandatory moves only; from 2 to 5 a move for balance may gain less and less for its cost, and the imbalance target falls"),
    NUMBER("target", target, 0, 1, "auto",
           "imbalance at which balancing ends, in place of that of migration_threshold, whose limit for how far a single host may stand out still holds; auto: by migration_threshold and the number of hosts"),
    INT("moves_max", moves_max, 0, 1e6, "auto",
        "maximum number of migrations in one plan; 0: no limit; auto: as many as can end within one interval"),
    BOOL("cost_benefit", cost_benefit, "true", "a move must gain enough for its cost; migration_threshold says how much"),
    BOOL("min_goodness", min_goodness, "true", "a move must lower the imbalance by more than a minimum"),
    NUMBER("score_weight", score_weight, 0, 1000, "2",
           "how much more a move for balance must gain where its host has a lower score in the VM's pipeline, as a multiple of what moving an average VM gains, from the best host to the worst"),
    WORD("mem_admission", mem_admission, mem_admission_words, "consumed",
         "how much memory a VM needs on its destination: its reservation, what it consumes, or its configured size; where the source tells how much a VM uses actively, reservation lets the hypervisor reclaim the rest of what it consumes"),
    NUMBER("mem_overcommit", mem_overcommit, 0.1, 10, "1",
           "how much memory may be promised on a host, as a multiple of its capacity; above 1, where the source tells how much VMs use actively, the hypervisor may have to reclaim consumed but idle memory for a move"),
    NUMBER("mem_idle_percent", mem_idle_percent, 0, 100, "25",
           "percentage of consumed but idle memory that counts as demand"),
    NUMBER("cpu_headroom_percent", headroom_percent[RES_CPU], 0, 90, "20",
           "percentage of a host's CPU that should stay free, because VMs wait for CPU more and more often above; load in it counts as shortage with growing weight"),
    NUMBER("mem_headroom_percent", headroom_percent[RES_MEM], 0, 90, "20",
           "percentage of a host's memory that should stay free, because hypervisors begin to reclaim memory from VMs there; load in it counts as shortage with growing weight"),
    INT("interval_s", interval_s, 1, 86400, "300", "seconds between two passes"),
    INT("cool_down_s", cool_down_s, 0, 604800, "1800",
        "seconds after a migration before the VM is moved for balance again"),
    INT("horizon_s", horizon_s, 60, 86400, "3600", "seconds ahead for which a migration's benefit is counted"),
    NUMBER("migration_rate_mb_s", migration_rate_mb_s, 0.1, 100000, "250",
           "migration speed in MiB a second, if the source does not report it and none was measured"),
    INT("migrations_per_host", migrations_per_host, 1, 64, "4", "maximum number of concurrent live migrations in and out of one host"),
    INT("migrations_per_cluster", migrations_per_cluster, 0, 10000, "0",
        "maximum number of concurrent live migrations in the whole cluster; 0: no limit"),
    WORD("balance.by", balancer, balancer_words, "ballast",
         "whose moves for balance are made: ballast, or policy, the rules of the VMs' pipelines, which then decide about the power of hosts too where they keep a reserve; Ballast's own where no pipeline has a balance"),
    WORD("objective", objective, objective_words, "balance",
         "what moves are for that need not be: balance evens load out; room makes as many spaces as moves_max allows for VMs of the size of room.cpus and room.mem_mb, instead of balancing"),
    WORD("search", search, search_words, "greedy",
         "how moves are found: greedy takes the move that lowers the imbalance most, again and again; deep goes on from there to a more even plan of as many moves, or to one that reaches the target by fewer moves or less memory to copy; deep also searches which hosts go to standby, for the fewest watts, then for the fewest moves and least memory"),
    INT("search_budget", search_budget, 1000, 1e12, "20000000",
        "maximum number of evaluations in a deep search and in the search for room: pairs of a VM and a host, and sets of VMs; the same number gives the same plan on every machine"),
    BOOL("bound", bound, "false", "whether a plan says how even any plan of as many moves could be at best, with the rules and without them"),
    INT("threads", threads, 1, 64, "1",
        "number of threads that a decision may use; the plan is the same with any number, and more than one helps with thousands of VMs only"),
    INT("room.cpus", room.cpus, 0, 1e6, "0", "vCPUs of the VMs that room is made for; 0: any"),
    NUMBER("room.mem_mb", room.mem_mb, 0, SIZE_MOST, "0", "memory of the VMs that room is made for, in MiB; 0: any"),
    INT("room.cells", room.cells, 0, 64, "0", "NUMA cells of the VMs that room is made for, each with an equal part of the CPUs and the memory; 0: anywhere in a host"),
    NUMBER("room.cpu_ratio", room.cpu_ratio, 0.1, 1000, "1", "number of vCPUs that may share a core of a host where spaces for such VMs are counted"),
    INT("room.free", room.free, 0, 1e6, "0",
        "number of spaces for such VMs that are kept free: with fewer, moves are recommended that make them, and no move for balance takes one of them; 0: none is kept"),
    INT("avoid.pause_s", avoid.pause_s, 1, 86400, "900",
        "seconds before a VM whose move to a host failed is moved there again; twice as long after each further failure"),
    INT("avoid.pause_max_s", avoid.pause_max_s, 1, 604800, "14400", "maximum of avoid.pause_s after several failures"),
    INT("avoid.host_failures", avoid.host_failures, 0, 1000, "3",
        "moves of so many VMs to a host that fail in a row keep all VMs off it for avoid.pause_s, and failed moves of a VM to so many hosts keep the VM where it is; 0: never"),
    INT("avoid.cluster_failures", avoid.cluster_failures, 0, 20, "10",
        "so many failures among the last 20 moves, or optional moves that did harm, pause optional moves for avoid.pause_s; so many mandatory moves that did harm pause all but those that empty a host; 0: never"),
    INT("avoid.reject_s", avoid.reject_s, 0, 2592000, "86400",
        "seconds in which a VM whose move a person rejected is not moved for the same reason, to whichever host, nor a host put to standby or woken; 0: only a cool-down follows"),
    INT("seed", seed, 0, SEED_MOST, "0", "seed for random choices; the same seed gives the same plan"),
    BOOL("dpm.enabled", dpm.enabled, "false",
         "hosts that are not needed are put to standby, and woken when they are needed. A wake for a mandatory move or a placement is recommended in any case, unless the host's own dpm is disabled, and carried out without asking only if enabled"),
    WORD("dpm.automation", dpm.automation, dpm_automation_words, "manual",
         "disabled, manual (an admin approves) or automatic, for hosts without a level of their own"),
    NUMBER("dpm.target", dpm.target, 0, 100, "63", "target utilization of a host in percent"),
    NUMBER("dpm.tolerance", dpm.tolerance, 0, 100, "18", "tolerance around dpm.target in percent"),
    NUMBER("dpm.ratio", dpm.ratio, 0, 1e6, "40", "how many times the benefit of a power-off must exceed its cost"),
    INT("dpm.hosts_min", dpm.hosts_min, 1, 1e6, "1", "number of hosts that always stay on"),
    NUMBER("dpm.cpu_min_mhz", dpm.min[RES_CPU], 0, SIZE_MOST, "0", "CPU capacity that always stays on, in MHz"),
    NUMBER("dpm.mem_min_mb", dpm.min[RES_MEM], 0, SIZE_MOST, "0", "memory capacity that always stays on, in MiB"),
    INT("dpm.asked_on_s", dpm.asked_on_s, 0, 604800, "3600",
        "minimum seconds that a host stays on after `ballast wake`, unless an admin puts it to standby"),
    INT("dpm.watch_s", dpm.watch_s, 0, 3600, "2400",
        "seconds that the cluster must have been observed before a host is put to standby"),
    INT("dpm.low_s", dpm.low_s, 10, 3600, "2400",
        "seconds of demand by which a host is put to standby; a wake goes by the last 300 of them"),
    INT("dpm.off_min_s", dpm.off_min_s, 0, 604800, "2400",
        "minimum seconds that demand is expected to stay low, once it was low for dpm.low_s"),
    BOOL("dpm.bursts", dpm.bursts, "true",
         "hosts that stay on must be able to serve the bursts of their VMs, as the last hour and day show them"),
    INT("dpm.boot_s", dpm.boot_s, 0, 86400, "300",
        "seconds from the wake of a host until it can run VMs, if it was never measured"),
    INT("dpm.standby_s", dpm.standby_s, 0, 86400, "60", "seconds to put an evacuated host to standby"),
    BOOL("dpm.proactive", dpm.proactive, "true",
         "hosts are woken before a rise of demand that came at this time on the days before, and not put to standby shortly before it"),
    BOOL("dpm.wake_for_vms", dpm.wake_for_vms, "true",
         "a host that went to standby together with a VM that ran is woken at once, whatever dpm.automation is"),
    INT("dpm.changes_max", dpm.changes_max, 0, 1e6, "auto",
        "maximum number of hosts that are put to standby or woken at a time; 0: no limit; auto: a quarter of the hosts, at least 8"),
    FORMER("dpm.host_uptime_min_s"),
    FORMER("dpm.off_max_s"),
};
/* clang-format on */

#define N_FORMER 2
#define N_RECORDED (sizeof settings / sizeof *settings)

const struct schema policy_recorded = {.what = "policy", .fields = settings, .n = N_RECORDED};
const struct schema policy_settings = {.what = "policy", .fields = settings, .n = N_RECORDED - N_FORMER};

bool policy_is_former_setting(const char *key)
{
    for (size_t i = policy_settings.n; i < policy_recorded.n; i++) {
        if (strcmp(settings[i].name, key) == 0)
            return true;
    }
    return false;
}

int policy_set(struct policy *p, const char *key, const char *value, struct err *err)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};
    const struct reader r = {.a = &scratch, .err = err};
    return policy_is_former_setting(key) ? 0 : reader_set(&r, &policy_settings, key, value, p);
}

const char *policy_get(const struct policy *p, const struct field *setting, struct arena *a)
{
    return field_text(setting, p, a);
}

void policy_default(struct policy *ret)
{
    *ret = (struct policy){.optional_moves = true, .dpm.may_sleep = true};
    reader_defaults(&(struct reader){0}, &policy_settings, ret);
}

const char *policy_warning(const struct policy *p, const char **ret_key)
{
    bool has_size = p->room.cpus > 0 || p->room.mem_mb > 0;

    if (p->cool_down_s == 0) {
        *ret_key = "cool_down_s";
        return "cool_down_s is 0: a VM that has just moved may be moved again by every pass, there and back "
               "while demand varies; use at least interval_s, 1800 is the default";
    }
    if (!has_size && p->objective == OBJECTIVE_ROOM) {
        *ret_key = "objective";
        return "objective is room, but room.cpus and room.mem_mb are 0: for VMs of no size no room is made, "
               "and load "
               "is not balanced";
    }
    if (!has_size && p->room.free > 0) {
        *ret_key = "room.free";
        return "room.free keeps nothing free: room.cpus and room.mem_mb are 0, which is no size of a VM";
    }
    return NULL;
}
