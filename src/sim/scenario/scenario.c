/* scenario.c: reads a scenario: the keys at the top, the construction of the rest, the initial snapshot. */
#include "sim/scenario/scenario.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "dialect/ovirt/ovirt.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "model/snapshot_to_inventory.h"
#include "schema/yaml_tree.h"
#include "sim/scenario/build.h"
#include "sim/scenario/override.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define POINTS_MOST 1e7 /* of the series */
#define SEED_MOST 9007199254740992.0
#define START "2026-01-05T00:00:00Z" /* a Monday */

/* ---- the keys at the top ---- */

struct top {
    const char *name, *start;
    double duration_s, measure_from_s, sample_s, look_s, seed, swap_slowdown;
    bool ballast;
    const char *snapshot;
    int scheduler;
    struct migration_model migration;
    const struct node *settings, *schedule, *hosts, *pools, *vms, *workload, *rules, *ha, *pipelines, *faults,
        *script;
};

static const char *const scheduler_words[] = {"shares", "proportional", "weights", NULL};
static const char *const migration_words[] = {"precopy", "fixed", NULL};

#define OF_MIGRATION(member) offsetof(struct migration_model, member)

static const struct field migration_key_list[] = {
    {"kind", FIELD_WORD, OF_MIGRATION(kind), .words = migration_words, .meaning = "precopy or fixed"},
    {"rate_mb_s", FIELD_NUMBER, OF_MIGRATION(rate_mb_s), 0.1, 1e6,
     .meaning = "MiB/s that one migration copies at most"},
    {"downtime_s", FIELD_NUMBER, OF_MIGRATION(downtime_s), 0, 60,
     .meaning = "seconds that a VM may stand still at the end"},
    {"rounds_max", FIELD_COUNT, OF_MIGRATION(rounds_max), 1, 1000,
     .meaning = "rounds of copying, then the VM is stopped"},
    {"cpu_mhz_per_mb_s", FIELD_NUMBER, OF_MIGRATION(cpu_mhz_per_mb_s), 0, 1000,
     .meaning = "MHz on either host for each MiB/s"},
    {"slowdown", FIELD_NUMBER, OF_MIGRATION(slowdown), 0, 1,
     .meaning = "part of its CPU that the VM loses meanwhile"},
};

const struct schema migration_keys = SCHEMA_OF("", migration_key_list);

#define AT(member) offsetof(struct top, member)

static const struct field top_key_list[] = {
    {"name", FIELD_TEXT, AT(name), .meaning = "its name in reports"},
    {"start", FIELD_TEXT, AT(start), .meaning = "the date of t = 0"},
    {"duration_s", FIELD_NUMBER, AT(duration_s), 1, TIME_MOST, .meaning = "seconds to simulate"},
    {"measure_from_s", FIELD_NUMBER, AT(measure_from_s), 0, TIME_MOST,
     .meaning = "seconds that the figures leave out"},
    {"seed", FIELD_NUMBER, AT(seed), 0, SEED_MOST,
     .meaning = "a whole number; of all that is left to chance"},
    {"sample_s", FIELD_NUMBER, AT(sample_s), 1, TIME_MOST,
     .meaning = "seconds between two points of the series"},
    {"look_s", FIELD_NUMBER, AT(look_s), 0, 86400,
     .meaning = "seconds between two inventories; 0: as the engine does"},
    {"ballast", FIELD_BOOL, AT(ballast), .meaning = "false: nothing is decided, for comparison"},
    {"settings", FIELD_NODE, AT(settings), .meaning = "of the policy"},
    {"schedule", FIELD_NODE, AT(schedule), .meaning = "when hosts may sleep and must be back"},
    {"snapshot", FIELD_PATH, AT(snapshot), .meaning = "a snapshot to begin with"},
    {"hosts", FIELD_NODE, AT(hosts), .meaning = "groups of hosts"},
    {"pools", FIELD_NODE, AT(pools), .meaning = "resource pools"},
    {"vms", FIELD_NODE, AT(vms), .meaning = "groups of VMs"},
    {"workload", FIELD_NODE, AT(workload), .meaning = "where traces come from"},
    {"rules", FIELD_NODE, AT(rules), .meaning = "rules"},
    {"pipelines", FIELD_NODE, AT(pipelines), .meaning = "pipelines"},
    {"ha", FIELD_NODE, AT(ha), .meaning = "what is kept free for failures"},
    {"migration", FIELD_OBJECT, AT(migration), .inner = &migration_keys, .meaning = "how migrations go"},
    {"scheduler", FIELD_WORD, AT(scheduler), .words = scheduler_words,
     .meaning = "how a host divides its CPU"},
    {"swap_slowdown", FIELD_NUMBER, AT(swap_slowdown), 0, 1000,
     .meaning = "part of its CPU that a VM loses, in times the part of its working set that it lacks"},
    {"faults", FIELD_NODE, AT(faults), .meaning = "what goes wrong"},
    {"script", FIELD_NODE, AT(script), .meaning = "what an admin does"},
};

const struct schema top_keys = SCHEMA_OF("", top_key_list);

static struct top top_default(const char *file)
{
    const char *slash = strrchr(file, '/');

    return (struct top){
        .name = slash ? slash + 1 : file,
        .duration_s = UNKNOWN,
        .sample_s = 60,
        .ballast = true,
        .swap_slowdown = 1,
        .migration = {MIGRATION_PRECOPY, 100, 0.3, 30, 5, 0.1},
    };
}

static unsigned line_of_key(const struct node *root, const char *key)
{
    const struct node *n = node_child(root, key);

    return n ? n->line : 1;
}

static int check_top(struct building *b, const struct top *t, const struct node *root)
{
    if (isnan(t->duration_s))
        return reader_complain_line(&b->f, 1, "duration_s is missing, expected the seconds to simulate");
    if (t->measure_from_s >= t->duration_s)
        return reader_complain_line(&b->f, line_of_key(root, "measure_from_s"),
                                    "measure_from_s is %.12g, expected less than duration_s (%.12g)",
                                    t->measure_from_s, t->duration_s);
    if (t->duration_s / t->sample_s > POINTS_MOST)
        return reader_complain_line(&b->f, line_of_key(root, "sample_s"),
                                    "sample_s is too small for duration_s, expected %.12g points at most",
                                    POINTS_MOST);
    if (t->seed != floor(t->seed))
        return reader_complain_line(&b->f, line_of_key(root, "seed"),
                                    "seed is %.12g, expected a whole number", t->seed);
    if (rfc3339_parse(t->start ? t->start : START, &b->s->start) < 0 || b->s->start <= 0)
        return reader_complain_line(&b->f, line_of_key(root, "start"),
                                    "start is \"%.40s\", expected a date like \"%s\"", t->start, START);
    return 0;
}

/* Full automation: a simulation has no admin to approve actions. */
static int build_policy(struct building *b, const struct node *settings)
{
    struct settings_given given;

    policy_default(&b->s->policy);
    b->s->policy.automation = AUTOMATION_FULL;
    b->s->policy.dpm.automation = AUTOMATION_AUTOMATIC;
    return settings ? settings_read(b, settings, &b->s->policy, &given) : 0;
}

/* ---- a snapshot to begin with ---- */

static void shift(instant_s *t, int64_t by)
{
    if (*t > 0) /* it is known */
        *t = *t + by > 0 ? *t + by : 1;
}

/* Moves times, so that ages stay equal. Every VM's demand counts as known: a simulated VM has a demand. */
static void begin_at(struct inventory *inv, instant_s start)
{
    int64_t by = start - inv->time;

    for (size_t i = 0; i < inv->n_hosts; i++) {
        shift(&inv->hosts[i].is.on_since, by);
        shift(&inv->hosts[i].is.standby_since, by);
        shift(&inv->hosts[i].is.woken.at, by);
        shift(&inv->hosts[i].is.wake_failed_at, by);
    }
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_facts *is = &inv->vms[i].is;
        shift(&is->last_migrated, by);
        is->demand_unknown = false;
        is->sample_bad = NULL;
        is->sample_age_s = UNKNOWN;
    }
}

static int read_snapshot(struct building *b, const char *path, struct snapshot *ret)
{
    const struct trace_text *text = b->options ? trace_texts_find(b->options->texts, path) : NULL;
    struct inventory inv;
    int r;

    if (!text)
        return snapshot_load(path, b->f.a, ret, NULL, b->f.err);
    if ((r = snapshot_read_inventory(text->text, text->len, b->f.a, &inv, NULL, b->f.err)) < 0)
        return r;
    return snapshot_build(&inv, b->f.a, ret, b->f.err);
}

static int load_snapshot(struct building *b, const struct top *t, unsigned line)
{
    struct snapshot snap;
    struct inventory inv;
    struct stat st;
    int r;

    if (!t->snapshot)
        return 0;
    if (stat(t->snapshot, &st) == 0 && !S_ISREG(st.st_mode))
        return reader_complain_line(&b->f, line, "snapshot: %s is no file, expected one", t->snapshot);
    if ((r = read_snapshot(b, t->snapshot, &snap)) < 0) {
        (void)err_widen(b->f.err, "%s", reader_place(&b->f, line));
        return r;
    }
    snapshot_to_inventory(&snap, b->f.a, &inv);
    inv.n_migrations = inv.n_pending =
        0; /* actions in progress of the source: the simulation would never end them */
    if (!t->start && !b->start_of_traces && inv.time > 0)
        b->s->start = inv.time;
    begin_at(&inv, b->s->start);
    b->inv = inv;
    hosts_of_snapshot(b, &inv);
    vms_of_snapshot(b, &inv);
    return 0;
}

/* Pipelines as in a snapshot; what they read is checked with it. */
static int build_pipelines(struct building *b, const struct node *list)
{
    int r = list ? reader_list_check(&b->f, list, "a list of pipelines", SCENARIO_GROUPS_MAX) : 0;

    for (const struct node *n = list ? list->first : NULL; r == 0 && n; n = n->next) {
        struct seen_pipeline *p = inventory_add_pipeline(&b->inv, b->f.a);

        const struct node *whole = n;
        bool agrees;

        r = ovirt_expand(&b->f, n, b->s->policy.mem_overcommit, &whole, &agrees);
        if (r == 0 && (r = reader_object(&b->f, whole, &snapshot_fields_pipeline, p)) == 0 && !p->name)
            r = reader_complain(&b->f, n, "has no name, expected one");
    }
    return r;
}

/* ---- the initial snapshot ---- */

static void fill_inventory(struct building *b)
{
    struct inventory *inv = &b->inv;
    struct arena *a = b->f.a;

    inv->cluster = b->s->name;
    inv->time = b->s->start;
    inv->hosts = arena_array(a, struct seen_host, b->n_hosts);
    inv->vms = arena_array(a, struct seen_vm, b->n_vms);
    inv->n_hosts = b->n_hosts;
    inv->n_vms = b->n_vms;
    for (size_t i = 0; i < b->n_hosts; i++)
        inv->hosts[i] = b->hosts[i].seen;
    for (size_t i = 0; i < b->n_vms; i++)
        inv->vms[i] = b->vms[i].seen;
}

/* The line of the object in an error of snapshot_build() ("/vms/3/cpu/limit: ..."). */
static unsigned line_of(const struct building *b, const char *pointer, const char **ret_id)
{
    size_t ix;
    char *end;
    const char *slash = strchr(pointer + 1, '/');

    *ret_id = "";
    if (!slash)
        return 1;
    ix = strtoul(slash + 1, &end, 10);
    if (strncmp(pointer, "/hosts/", 7) == 0 && ix < b->n_hosts) {
        *ret_id = b->hosts[ix].seen.is.id;
        return b->hosts[ix].line;
    }
    if (strncmp(pointer, "/vms/", 5) == 0 && ix < b->n_vms) {
        *ret_id = b->vms[ix].seen.is.id;
        return b->vms[ix].line;
    }
    if (strncmp(pointer, "/pools/", 7) == 0 && ix >= b->first_pool && ix < b->inv.n_pools)
        return b->pool_lines[ix - b->first_pool];
    if (strncmp(pointer, "/rules/", 7) == 0 && ix >= b->first_rule && ix < b->inv.n_rules)
        return b->rule_lines[ix - b->first_rule];
    return 1;
}

/* Hosts that have no pools: the pools are those of a configuration, and VMs have the rest as their own. */
static void take_pools_off_hosts(struct inventory *inv)
{
    inv->vm_controls = true;
    inv->n_settings = 0;
    for (size_t i = 0; i < inv->n_pools; i++)
        inv->pools[i].is.origin = RULE_OF_CONFIGURATION;
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct seen_vm *v = &inv->vms[i];

        if (!v->pool || v->is.overridden)
            continue;
        v->is.overridden = true;
        v->source_pool = NULL;
        memcpy(v->is.source_alloc, v->is.alloc, sizeof v->is.alloc);
    }
}

static int build_snapshot(struct building *b, int scheduler)
{
    struct err err = {0};
    const char *id;

    fill_inventory(b);
    if (scheduler == SCHEDULER_WEIGHTS)
        take_pools_off_hosts(&b->inv);
    if (snapshot_build(&b->inv, b->f.a, &b->s->initial, &err) == 0)
        return 0;
    unsigned line = line_of(b, err.text, &id);

    return reader_complain_line(&b->f, line, "%s%s%s", id, id[0] ? ": " : "", err.text);
}

/* The models in the order of the snapshot. */
static void order_models(struct building *b)
{
    struct scenario *s = b->s;

    s->hosts = arena_array(b->f.a, struct host_model, b->n_hosts);
    s->vms = arena_array(b->f.a, struct vm_model, b->n_vms);
    for (size_t i = 0; i < b->n_hosts; i++)
        s->hosts[snapshot_find_host(&s->initial, b->hosts[i].seen.is.id)] = b->hosts[i].model;
    for (size_t i = 0; i < b->n_vms; i++)
        s->vms[snapshot_find_vm(&s->initial, b->vms[i].seen.is.id)] = b->vms[i].model;
}

/* ---- the whole scenario ---- */

static int build(struct building *b, const struct top *t, const struct node *root)
{
    int r;

    if ((r = check_top(b, t, root)) < 0 || (r = build_policy(b, t->settings)) < 0 ||
        (r = schedule_build(b, t->schedule)) < 0 ||
        (r = workloads_read_source(b, t->workload, t->start != NULL)) < 0 ||
        (r = load_snapshot(b, t, line_of_key(root, "snapshot"))) < 0 || (r = hosts_build(b, t->hosts)) < 0 ||
        (r = pools_build(b, t->pools)) < 0 || (r = vms_build(b, t->vms)) < 0 ||
        (r = workloads_build(b)) < 0 || (r = placement_build(b)) < 0 ||
        (r = pools_build_rules(b, t->rules)) < 0 || (r = pools_build_ha(b, t->ha)) < 0 ||
        (r = build_pipelines(b, t->pipelines)) < 0 || (r = build_snapshot(b, t->scheduler)) < 0)
        return r;
    order_models(b);
    if ((r = faults_build(b, t->faults)) < 0)
        return r;
    return faults_build_script(b, t->script);
}

static void copy_top(struct scenario *s, const struct top *t, const char *file)
{
    s->name = t->name;
    s->file = file;
    s->duration_s = t->duration_s;
    s->measure_from_s = t->measure_from_s;
    s->sample_s = t->sample_s;
    s->look_s = t->look_s;
    s->seed = (uint64_t)t->seed;
    s->ballast = t->ballast;
    s->migration = t->migration;
    s->scheduler = (enum host_scheduler)t->scheduler;
    s->swap_slowdown = t->swap_slowdown;
}

int scenario_parse(const char *file, const char *text, size_t len, const struct scenario_options *options,
                   struct arena *a, struct scenario *ret, struct err *err)
{
    struct scenario s = {0};
    struct building b = {.s = &s, .options = options};
    struct top t = top_default(arena_strdup(a, file));
    struct node *root;
    int r;

    b.f = (struct reader){
        .file = arena_strdup(a, file), .place = override_place, .context = &b, .a = a, .err = err};
    if ((r = yaml_tree_parse(file, text, len, a, &root, err)) < 0 ||
        (r = override_apply(&b, &top_keys, root)) < 0 || (r = reader_object(&b.f, root, &top_keys, &t)) < 0)
        return r;
    copy_top(&s, &t, b.f.file);
    if (options && options->seed_given)
        s.seed = options->seed;
    b.seed = s.seed;
    if ((r = build(&b, &t, root)) < 0)
        return r;
    *ret = s;
    return 0;
}

int scenario_read(const char *file, const struct scenario_options *options, struct arena *a,
                  struct scenario *ret, struct err *err)
{
    CLEANUP(freep) char *text = NULL;
    CLEANUP(fclosep) FILE *f = fopen(file, "re");

    if (!f)
        return err_set(err, -errno, "%s: %s", file, strerror(errno));
    text = malloc(FILE_BYTES_MAX + 1);
    if (!text)
        return err_set(err, -ENOMEM, "%s: out of memory", file);
    size_t len = fread(text, 1, FILE_BYTES_MAX + 1, f);

    if (ferror(f))
        return err_set(err, -EIO, "%s: %s", file, strerror(errno ? errno : EIO));
    if (len > FILE_BYTES_MAX)
        return err_set(err, -EFBIG, "%s: larger than %zu bytes, expected a scenario", file, FILE_BYTES_MAX);
    return scenario_parse(file, text, len, options, a, ret, err);
}
