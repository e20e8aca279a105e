/* policy_settings.c: the table of a pass's settings, read and written as text. */
#include <ballast/policy.h>

#include "base/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_AUTO "auto"

/* The words of an enum: the table keeps values as plain numbers. */
#define WORD_FUNCTIONS(name)                                                                                 \
    static int name##_read(const char *word, int *ret)                                                       \
    {                                                                                                        \
        enum name value;                                                                                     \
        int r = name##_parse(word, &value);                                                                  \
        if (r == 0)                                                                                          \
            *ret = (int)value;                                                                               \
        return r;                                                                                            \
    }                                                                                                        \
    static const char *name##_write(int value)                                                               \
    {                                                                                                        \
        return name##_name((enum name)value);                                                                \
    }

WORD_FUNCTIONS(automation)
WORD_FUNCTIONS(mem_admission)
WORD_FUNCTIONS(objective)
WORD_FUNCTIONS(search_kind)

static const char *const automation_words[] = {"manual", "partial", "full", NULL};
static const char *const dpm_automation_words[] = {"disabled", "manual", "automatic", NULL};
static const char *const objective_words[] = {"balance", "room", NULL};
static const char *const search_words[] = {"greedy", "deep", NULL};
static const char *const mem_admission_words[] = {"reservation", "consumed", "configured", NULL};

#define AT(member) .offset = offsetof(struct policy, member)
#define BOOL(k, member, def, text)                                                                           \
    {                                                                                                        \
        .key = (k), .type = SETTING_BOOL, AT(member), .fallback = (def), .meaning = (text)                   \
    }
#define INT(k, member, low, high, def, text)                                                                 \
    {                                                                                                        \
        .key = (k), .type = SETTING_INT, AT(member), .min = (low), .max = (high), .fallback = (def),         \
        .meaning = (text)                                                                                    \
    }
#define NUMBER(k, member, low, high, def, text)                                                              \
    {                                                                                                        \
        .key = (k), .type = SETTING_NUMBER, AT(member), .min = (low), .max = (high), .fallback = (def),      \
        .meaning = (text)                                                                                    \
    }
#define WORD(k, member, list, enum_name, def, text)                                                          \
    {                                                                                                        \
        .key = (k), .type = SETTING_WORD, AT(member), .words = (list), .word_parse = enum_name##_read,       \
        .word_name = enum_name##_write, .fallback = (def), .meaning = (text)                                 \
    }

#define SIZE_MOST 1e12
#define SEED_MOST 9007199254740991.0 /* exact as a double, so JSON keeps it */

/* clang-format off */
static const struct setting settings[] = {
    WORD("automation", automation, automation_words, automation, "manual",
         "what the service does without asking: manual nothing; partial sets reservations, limits and shares of pools on the hosts; full also carries out the migrations that migration_threshold allows"),
    INT("migration_threshold", migration_threshold, 1, 5, "3",
        "1 makes mandatory moves only; from 2 to 5 a move for balance may gain less and less for its cost, and the imbalance target falls"),
    NUMBER("target", target, 0, 1, WORD_AUTO,
           "imbalance at which balancing ends, in place of that of migration_threshold, whose limit for how far a single host may stand out still holds; auto: by migration_threshold and the number of hosts"),
    INT("moves_max", moves_max, 0, 1e6, WORD_AUTO,
        "maximum number of migrations in one plan; 0: no limit; auto: as many as can end within one interval"),
    BOOL("cost_benefit", cost_benefit, "true", "a move must gain enough for its cost; migration_threshold says how much"),
    BOOL("min_goodness", min_goodness, "true", "a move must lower the imbalance by more than a minimum"),
    NUMBER("score_weight", score_weight, 0, 1000, "2",
           "how much more a move for balance must gain where its host has a lower score in the VM's pipeline, as a multiple of what moving an average VM gains, from the best host to the worst"),
    WORD("mem_admission", mem_admission, mem_admission_words, mem_admission, "consumed",
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
    WORD("objective", objective, objective_words, objective, "balance",
         "what moves are for that need not be: balance evens load out; room makes as many spaces as moves_max allows for VMs of the size of room.cpus and room.mem_mb, instead of balancing"),
    WORD("search", search, search_words, search_kind, "greedy",
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
    WORD("dpm.automation", dpm.automation, dpm_automation_words, automation, "manual",
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
    INT("dpm.changes_max", dpm.changes_max, 0, 1e6, WORD_AUTO,
        "maximum number of hosts that are put to standby or woken at a time; 0: no limit; auto: a quarter of the hosts, at least 8"),
};
/* clang-format on */

#define N_SETTINGS (sizeof settings / sizeof *settings)

const struct setting *policy_settings(size_t *ret_n)
{
    *ret_n = N_SETTINGS;
    return settings;
}

const struct setting *policy_find_setting(const char *key)
{
    for (size_t i = 0; i < N_SETTINGS; i++) {
        if (strcmp(settings[i].key, key) == 0)
            return &settings[i];
    }
    return NULL;
}

/* Edits that turn one word into the other: letters inserted, deleted or replaced (Levenshtein 1965). A key
 * longer than KEY_MAX is similar to none. */
#define KEY_MAX 40
#define NEAR_EDITS 3

static unsigned distance(const char *a, const char *b)
{
    size_t n = strlen(b);
    unsigned row[KEY_MAX + 1];

    if (n > KEY_MAX || strlen(a) > KEY_MAX)
        return KEY_MAX;
    for (unsigned j = 0; j <= n; j++)
        row[j] = j;
    for (unsigned i = 1; a[i - 1]; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            unsigned changed = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < changed ? replaced : changed;
        }
    }
    return row[n];
}

/* The setting most like the given key: similar spelling, or the leading "dpm." is missing. */
static const struct setting *nearest(const char *key)
{
    const struct setting *best = NULL;
    unsigned best_edits = NEAR_EDITS + 1;

    for (size_t i = 0; i < N_SETTINGS; i++) {
        const char *dot = strchr(settings[i].key, '.');
        unsigned edits = distance(key, settings[i].key);
        if (dot && strcmp(key, dot + 1) == 0)
            edits = 1;
        if (edits < best_edits && edits < strlen(key)) {
            best_edits = edits;
            best = &settings[i];
        }
    }
    return best;
}

static bool has_auto(const struct setting *s)
{
    return strcmp(s->fallback, WORD_AUTO) == 0;
}

static int set_bool(const struct setting *s, void *at, const char *value, struct err *err)
{
    bool on = strcmp(value, "true") == 0;

    if (!on && strcmp(value, "false") != 0)
        return err_set(err, -EINVAL, "%s: \"%s\" is not true or false, expected one of the two", s->key,
                       value);
    memcpy(at, &on, sizeof on);
    return 0;
}

static int set_number(const struct setting *s, void *at, const char *value, struct err *err)
{
    const char *or_auto = has_auto(s) ? " or auto" : "";
    const char *what = s->type == SETTING_INT ? "a whole number" : "a number";
    double v;

    if (has_auto(s) && strcmp(value, WORD_AUTO) == 0) {
        if (s->type == SETTING_NUMBER)
            memcpy(at, &(double){TARGET_AUTO}, sizeof(double));
        else
            memcpy(at, &(int64_t){MOVES_AUTO}, sizeof(int64_t));
        return 0;
    }
    if (!number_parse(value, &v))
        return err_set(err, -EINVAL, "%s: \"%s\" is not a number, expected %s from %.16g to %.16g%s", s->key,
                       value, what, s->min, s->max, or_auto);
    v += 0.0; /* no negative zero */
    if (v < s->min || v > s->max)
        return err_set(err, -EINVAL, "%s: %s is out of range, expected %s from %.16g to %.16g%s", s->key,
                       value, what, s->min, s->max, or_auto);
    if (s->type == SETTING_NUMBER) {
        memcpy(at, &v, sizeof v);
        return 0;
    }
    if (v != floor(v))
        return err_set(err, -EINVAL, "%s: %s has a fraction, expected %s from %.16g to %.16g%s", s->key,
                       value, what, s->min, s->max, or_auto);
    memcpy(at, &(int64_t){(int64_t)v}, sizeof(int64_t));
    return 0;
}

static int set_word(const struct setting *s, void *at, const char *value, struct err *err)
{
    char list[128] = "";
    size_t used = 0;

    for (size_t i = 0; s->words[i]; i++) {
        int v;
        if (strcmp(s->words[i], value) == 0 && s->word_parse(value, &v) == 0) {
            memcpy(at, &v, sizeof v);
            return 0;
        }
        const char *before = i == 0 ? "" : s->words[i + 1] ? ", " : " or ";
        int n = snprintf(list + used, sizeof list - used, "%s%s", before, s->words[i]);
        if (n > 0 && (size_t)n < sizeof list - used)
            used += (size_t)n;
    }
    return err_set(err, -EINVAL, "%s: \"%s\" is not known, expected %s", s->key, value, list);
}

static int set(struct policy *p, const struct setting *s, const char *value, struct err *err)
{
    void *at = (char *)p + s->offset;

    switch (s->type) {
    case SETTING_BOOL:
        return set_bool(s, at, value, err);
    case SETTING_INT:
    case SETTING_NUMBER:
        return set_number(s, at, value, err);
    case SETTING_WORD:
        return set_word(s, at, value, err);
    }
    return -EINVAL;
}

const char *const *policy_former_settings(void)
{
    static const char *const former[] = {"dpm.host_uptime_min_s", "dpm.off_max_s", NULL};

    return former;
}

bool policy_is_former_setting(const char *key)
{
    const char *const *former = policy_former_settings();

    while (*former && strcmp(*former, key) != 0)
        former++;
    return *former;
}

int policy_set(struct policy *p, const char *key, const char *value, struct err *err)
{
    const struct setting *s = policy_find_setting(key);

    if (s)
        return set(p, s, value, err);
    if (policy_is_former_setting(key))
        return 0;
    s = nearest(key);
    if (s)
        return err_set(err, -EINVAL, "%s: no such setting, did you mean %s?", key, s->key);
    return err_set(err, -EINVAL, "%s: no such setting, expected one of ballast.yaml(5)", key);
}

void policy_default(struct policy *ret)
{
    *ret = (struct policy){.optional_moves = true, .dpm.may_sleep = true};
    for (size_t i = 0; i < N_SETTINGS; i++)
        (void)set(ret, &settings[i], settings[i].fallback, NULL); /* tested for each fallback */
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

#define WHOLE_MOST 1e15 /* no exponent below this number */

/* The shortest form that reads back as this number. */
static const char *number_text(double v, struct arena *a)
{
    if (v == floor(v) && fabs(v) < WHOLE_MOST)
        return arena_printf(a, "%.0f", v);
    for (int digits = 12; digits < 17; digits++) {
        const char *text = arena_printf(a, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            return text;
    }
    return arena_printf(a, "%.17g", v);
}

const char *policy_get(const struct policy *p, const struct setting *s, struct arena *a)
{
    const char *at = (const char *)p + s->offset;
    int64_t whole;
    double number;
    bool on;
    int word;

    switch (s->type) {
    case SETTING_BOOL:
        memcpy(&on, at, sizeof on);
        return on ? "true" : "false";
    case SETTING_INT:
        memcpy(&whole, at, sizeof whole);
        return has_auto(s) && whole == MOVES_AUTO ? WORD_AUTO : arena_printf(a, "%lld", (long long)whole);
    case SETTING_NUMBER:
        memcpy(&number, at, sizeof number);
        return has_auto(s) && number == TARGET_AUTO ? WORD_AUTO : number_text(number, a);
    case SETTING_WORD:
        memcpy(&word, at, sizeof word);
        return s->word_name(word);
    }
    return "?";
}
