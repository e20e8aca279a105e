/* faults.c: faults, and an admin's operations. */
#include "sim/scenario/build.h"

#include "base/name_define.h"

#include <math.h>

NAME_DEFINE(sim_fault, SIM_FAULTS)

#define SCRIPT_MAX 10000
#define RESTART_S 120

/* The target of a fault. */
enum whom { WHOM_HOST, WHOM_VM, WHOM_NOBODY };

static const struct {
    enum whom whom;
    double most;          /* rate */
    double for_s, factor; /* the default */
} of_fault[sim_fault_count] = {
    [SIM_MIGRATION_FAILS] = {WHOM_VM, 1, 0, 0},
    [SIM_MIGRATION_HANGS] = {WHOM_VM, 1, 0, 0},
    [SIM_MIGRATION_REFUSED] = {WHOM_VM, 1, 0, 0},
    [SIM_HOST_REFUSES] = {WHOM_HOST, 1, 0, 0},
    [SIM_HOST_DIES] = {WHOM_HOST, 1000, 3600, 0},
    [SIM_WAKE_FAILS] = {WHOM_HOST, 1, 0, 0},
    [SIM_WAKE_SLOW] = {WHOM_HOST, 1, 0, 3},
    [SIM_SAMPLES_STALE] = {WHOM_VM, 1000, 1800, 0},
    [SIM_SAMPLES_GARBAGE] = {WHOM_VM, 1000, 1800, 0},
    [SIM_SOURCE_DEAF] = {WHOM_NOBODY, 1000, 600, 0},
    [SIM_ACTUATOR_DEAF] = {WHOM_NOBODY, 1000, 600, 0},
    [SIM_ANSWER_LOST] = {WHOM_NOBODY, 1, 0, 0},
    [SIM_SERVICE_RESTARTS] = {WHOM_NOBODY, 1000, 0, 0},
};

/* ---- rates ---- */

static const struct field rate_key_list[] = {
    {"rate", FIELD_NUMBER, offsetof(struct fault_rate, rate), 0, 1000, .meaning = "how often"},
    {"for_s", FIELD_NUMBER, offsetof(struct fault_rate, for_s), 1, TIME_MOST,
     .meaning = "seconds that it lasts"},
    {"factor", FIELD_NUMBER, offsetof(struct fault_rate, factor), 1, 1000,
     .meaning = "wake_slow: times as long"},
};

const struct schema rate_keys = SCHEMA_OF("", rate_key_list);

static int read_rate(const struct reader *f, const struct node *n, void *at)
{
    struct fault_rate *ret = at;

    if (n->kind == NODE_SCALAR)
        return reader_value(f, n, &rate_key_list[0], &ret->rate);
    return reader_object(f, n, &rate_keys, ret);
}

#define RATE_KEY(e, word, text)                                                                              \
    {(word), FIELD_OWN, (e) * sizeof(struct fault_rate), .read = read_rate, .meaning = (text)},
/* clang-format off */
static const struct field rates_key_list[] = {SIM_FAULTS(RATE_KEY)};
/* clang-format on */

const struct schema rates_keys = SCHEMA_OF("", rates_key_list);

static int check_rates(const struct building *b, const struct node *rates)
{
    for (const struct node *n = rates->first; n; n = n->next) {
        enum sim_fault kind;
        if (sim_fault_parse(n->key, &kind) < 0)
            continue;
        if (b->s->rates[kind].rate > of_fault[kind].most)
            return reader_complain(&b->f, n, "is %.12g, expected at most %.12g", b->s->rates[kind].rate,
                                   of_fault[kind].most);
        if (n->kind == NODE_MAP && node_child(n, "factor") && kind != SIM_WAKE_SLOW)
            return reader_complain(&b->f, n, "has a factor, expected it with wake_slow only");
        if (n->kind == NODE_MAP && node_child(n, "for_s") && of_fault[kind].for_s <= 0)
            return reader_complain(&b->f, n, "has for_s, but does not last");
    }
    return 0;
}

/* ---- by script ---- */

struct event_spec {
    double at_s, for_s, factor;
    const struct node *what[sim_fault_count];
};

#define EVENT_KEY(e, word, text)                                                                             \
    {(word), FIELD_NODE, offsetof(struct event_spec, what) + (e) * sizeof(const struct node *),              \
     .meaning = (text)},
/* clang-format off */
static const struct field event_key_list[] = {
    {"at_s", FIELD_NUMBER, offsetof(struct event_spec, at_s), 0, TIME_MOST, .meaning = "seconds from the beginning"},
    {"for_s", FIELD_NUMBER, offsetof(struct event_spec, for_s), 1, TIME_MOST,
     .meaning = "seconds that it lasts; for good where it is not given"},
    {"factor", FIELD_NUMBER, offsetof(struct event_spec, factor), 1, 1000, .meaning = "wake_slow: times as long"},
    SIM_FAULTS(EVENT_KEY)
};
/* clang-format on */

const struct schema event_keys = SCHEMA_OF("", event_key_list);

static uint32_t find_host(const struct snapshot *s, const char *word)
{
    uint32_t found = snapshot_find_host(s, word);

    for (uint32_t i = 0; found == IX_NONE && i < s->n_hosts; i++) {
        if (strcmp(s->hosts[i].is.name, word) == 0)
            found = i;
    }
    return found;
}

static uint32_t find_vm(const struct snapshot *s, const char *word)
{
    uint32_t found = snapshot_find_vm(s, word);

    for (uint32_t i = 0; found == IX_NONE && i < s->n_vms; i++) {
        if (strcmp(s->vms[i].is.name, word) == 0)
            found = i;
    }
    return found;
}

/* The target: a name, `any` for the next object that matches, `true` for a fault without a target. */
static int read_target(const struct building *b, const struct node *n, enum sim_fault kind,
                       struct scripted_fault *e)
{
    const char *word = n->kind == NODE_SCALAR ? n->text : "";
    enum whom whom = of_fault[kind].whom;
    bool any_will_do = kind != SIM_HOST_DIES && kind != SIM_HOST_REFUSES && kind != SIM_SAMPLES_STALE &&
                       kind != SIM_SAMPLES_GARBAGE;

    if (whom == WHOM_NOBODY)
        return strcmp(word, "true") == 0 ? 0 : reader_refuse(&b->f, n, "true");
    if (any_will_do && strcmp(word, "any") == 0)
        return 0;
    if (whom == WHOM_HOST)
        e->host = find_host(&b->s->initial, word);
    else
        e->vm = find_vm(&b->s->initial, word);
    if (e->host == IX_NONE && e->vm == IX_NONE)
        return reader_refuse(&b->f, n,
                             arena_printf(b->f.a, "the name of a %s%s", whom == WHOM_HOST ? "host" : "VM",
                                          any_will_do ? " or any" : ""));
    return 0;
}

static int read_event(const struct building *b, const struct node *n, struct scripted_fault *ret)
{
    struct event_spec spec = {.at_s = UNKNOWN, .for_s = INFINITY, .factor = UNKNOWN};
    int r = reader_object(&b->f, n, &event_keys, &spec);
    int kind = -1;

    if (r < 0)
        return r;
    for (int k = 0; k < sim_fault_count; k++) {
        if (spec.what[k] && kind >= 0)
            return reader_complain(&b->f, n, ": %s and %s stand together, expected an entry for each",
                                   sim_fault_name((enum sim_fault)kind), sim_fault_name((enum sim_fault)k));
        if (spec.what[k])
            kind = k;
    }
    if (kind < 0 || isnan(spec.at_s))
        return reader_complain(&b->f, n, "has no %s, expected {at_s: SECONDS, FAULT: WHOM}",
                               kind < 0 ? "fault" : "at_s");
    if (!isnan(spec.factor) && kind != SIM_WAKE_SLOW)
        return reader_complain(&b->f, n, ".factor means nothing for %s, expected it with wake_slow only",
                               sim_fault_name((enum sim_fault)kind));
    *ret = (struct scripted_fault){
        .at_s = spec.at_s,
        .kind = (enum sim_fault)kind,
        .host = IX_NONE,
        .vm = IX_NONE,
        .for_s = spec.for_s,
        .factor = isnan(spec.factor) ? of_fault[kind].factor : spec.factor,
    };
    return read_target(b, spec.what[kind], (enum sim_fault)kind, ret);
}

/* By time; equal times in the order of the file. */
static void sort_by_time(void *items, size_t n, size_t size, double (*at_s)(const void *), struct arena *a)
{
    char *all = items;
    char *held = arena_alloc(a, 1, size);

    for (size_t i = 1; i < n; i++) {
        size_t k = i;
        memcpy(held, all + i * size, size);
        while (k > 0 && at_s(all + (k - 1) * size) > at_s(held)) {
            memcpy(all + k * size, all + (k - 1) * size, size);
            k--;
        }
        memcpy(all + k * size, held, size);
    }
}

static double fault_at(const void *item)
{
    return ((const struct scripted_fault *)item)->at_s;
}

struct faults_spec {
    const struct node *rates, *script;
    double restart_s;
};

static int read_restart(const struct reader *f, const struct node *n, void *at)
{
    const struct field number = {.type = FIELD_NUMBER, .max = TIME_MOST};

    if (n->kind == NODE_SCALAR && strcmp(n->text, "never") == 0) {
        *(double *)at = INFINITY;
        return 0;
    }
    return reader_value(f, n, &number, at);
}

static const struct field faults_key_list[] = {
    {"rates", FIELD_NODE, offsetof(struct faults_spec, rates), .meaning = "by chance"},
    {"script", FIELD_NODE, offsetof(struct faults_spec, script), .meaning = "at set times"},
    {"restart_s", FIELD_OWN, offsetof(struct faults_spec, restart_s), 0, TIME_MOST, .read = read_restart,
     .meaning = "seconds until the VMs of a host that died start elsewhere; never: when it is back"},
};

const struct schema faults_keys = SCHEMA_OF("", faults_key_list);

int faults_build(struct building *b, const struct node *section)
{
    struct faults_spec spec = {.restart_s = RESTART_S};
    struct scenario *s = b->s;
    int r = section ? reader_object(&b->f, section, &faults_keys, &spec) : 0;

    for (int k = 0; k < sim_fault_count; k++)
        s->rates[k] = (struct fault_rate){.for_s = of_fault[k].for_s, .factor = of_fault[k].factor};
    if (r < 0 || (spec.rates && ((r = reader_object(&b->f, spec.rates, &rates_keys, s->rates)) < 0 ||
                                 (r = check_rates(b, spec.rates)) < 0)))
        return r;
    s->restart_s = spec.restart_s;
    if (!spec.script)
        return 0;
    if ((r = reader_list_check(&b->f, spec.script, "a list of faults", SCRIPT_MAX)) < 0)
        return r;
    s->faults = arena_array(b->f.a, struct scripted_fault, spec.script->n);
    for (const struct node *n = spec.script->first; n; n = n->next) {
        r = read_event(b, n, &s->faults[s->n_faults]);
        if (r < 0)
            return r;
        s->n_faults++;
    }
    sort_by_time(s->faults, s->n_faults, sizeof *s->faults, fault_at, b->f.a);
    return 0;
}

/* ---- an admin's operations ---- */

struct operation_spec {
    double at_s;
    const char *enter, *exit;
    const struct node *set;
};

static const struct field operation_key_list[] = {
    {"at_s", FIELD_NUMBER, offsetof(struct operation_spec, at_s), 0, TIME_MOST,
     .meaning = "seconds from the beginning"},
    {"maintenance_enter", FIELD_TEXT, offsetof(struct operation_spec, enter),
     .meaning = "the name of a host"},
    {"maintenance_exit", FIELD_TEXT, offsetof(struct operation_spec, exit), .meaning = "the name of a host"},
    {"set", FIELD_NODE, offsetof(struct operation_spec, set), .meaning = "{KEY: VALUE} of the settings"},
};

const struct schema operation_keys = SCHEMA_OF("", operation_key_list);

static struct scripted_operation *add_operation(struct building *b, double at_s, enum scripted_kind kind)
{
    struct scenario *s = b->s;

    s->operations =
        arena_grow(b->f.a, s->operations, s->n_operations, &b->cap_operations, sizeof *s->operations);
    s->operations[s->n_operations] = (struct scripted_operation){.at_s = at_s, .kind = kind, .host = IX_NONE};
    return &s->operations[s->n_operations++];
}

static int add_settings(struct building *b, const struct node *set, double at_s)
{
    struct policy scratch = b->s->policy;
    struct settings_given given;
    int r = settings_read(b, set, &scratch, &given);

    for (size_t i = 0; r == 0 && i < given.n; i++) {
        struct scripted_operation *d = add_operation(b, at_s, SCRIPT_SET);
        d->key = given.items[i].key;
        d->value = given.items[i].value;
    }
    return r;
}

static int read_operation(struct building *b, const struct node *n)
{
    struct operation_spec spec = {.at_s = UNKNOWN};
    int r = reader_object(&b->f, n, &operation_keys, &spec);

    if (r < 0)
        return r;
    if (isnan(spec.at_s) || !!spec.enter + !!spec.exit + !!spec.set != 1)
        return reader_complain(&b->f, n,
                               "is not complete, expected {at_s: SECONDS, and one of maintenance_enter, "
                               "maintenance_exit and set}");
    if (spec.set)
        return add_settings(b, spec.set, spec.at_s);
    const char *host = spec.enter ? spec.enter : spec.exit;
    uint32_t ix = find_host(&b->s->initial, host);

    if (ix == IX_NONE)
        return reader_complain(&b->f, n, ": there is no host \"%.64s\", expected one that is there", host);
    add_operation(b, spec.at_s, spec.enter ? SCRIPT_MAINTENANCE_ENTER : SCRIPT_MAINTENANCE_EXIT)->host = ix;
    return 0;
}

static double operation_at(const void *item)
{
    return ((const struct scripted_operation *)item)->at_s;
}

int faults_build_script(struct building *b, const struct node *list)
{
    int r = list ? reader_list_check(&b->f, list, "a list of operations", SCRIPT_MAX) : 0;

    for (const struct node *n = list ? list->first : NULL; r == 0 && n; n = n->next)
        r = read_operation(b, n);
    if (r == 0)
        sort_by_time(b->s->operations, b->s->n_operations, sizeof *b->s->operations, operation_at, b->f.a);
    return r;
}
