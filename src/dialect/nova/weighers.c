/* weighers.c: Nova's weighers by name, as scores with their multipliers; and which of the best hosts is
 * taken. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define SECTION "filter_scheduler"
#define PATH "nova.scheduler.weights."
#define ALL_WEIGHERS PATH "all_weighers"
#define METRIC ATTRIBUTE "metrics."
#define CELL "cell"             /* a hint */
#define MEMBERS "group_members" /* the stage that counts the servers of one group */
#define PCI_DEVICES_MOST 100
#define SUBSET_MAX 1000000

/* The weight of each host; NULL: it is the same on all. `stages`: those before, to which it may add. */
typedef int weight_compile(struct cloud *c, const struct request *r, json_t *stages, json_t **ret);

struct weigher {
    const char *module, *name; /* the class is PATH module.name */
    const char *multiplier;    /* the key of aggregates, and the option, if it is in no section of its own */
    double fallback;           /* of the option */
    bool not_negative;         /* the option may not be */
    bool reversed;             /* more is worse, by a positive multiplier */
    bool from_0;               /* 0 is on the scale, and less counts as 0 */
    weight_compile *compile;   /* NULL: the weight is consumed_now() of `counts` */
    enum consumed counts;
};

/* A class that is listed again counts again. */
static const char *own_name(const struct cloud *c, const json_t *stages, const char *name)
{
    size_t length = strlen(name);
    size_t times = 1;
    size_t i;
    const json_t *stage;

    json_array_foreach(stages, i, stage)
    {
        times += strncmp(json_string_value(json_object_get(stage, "name")), name, length) == 0;
    }
    return times == 1 ? name : arena_printf(c->a, "%s-%zu", name, times);
}

/* ---- multipliers ---- */

/* The multiplier of the configuration. */
static int read_multiplier(const struct cloud *c, const struct weigher *w, double *ret)
{
    bool metrics = strcmp(w->module, "metrics") == 0;
    const char *section = metrics ? "metrics" : SECTION;
    const char *option = metrics ? "weight_multiplier" : w->multiplier;
    int e = conf_number(c, section, option, w->fallback, ret);

    if (e == 0 && w->not_negative && *ret < 0)
        e = err_set(c->err, -EINVAL, "nova.conf: [%s] %s is %g, expected at least 0", section, option, *ret);
    return e;
}

/* Writes the values of the key in aggregates as numbers that the operator "number" reads; *ret_wrong: those
 * that are none. Whether any aggregate has the key. */
static bool normalise_metadata(struct cloud *c, const char *key, struct words *ret_wrong)
{
    bool any = false;
    size_t i;
    json_t *metadata;
    double v;

    *ret_wrong = (struct words){0};
    json_array_foreach(c->metadata, i, metadata)
    {
        const char *text = json_string_value(json_object_get(metadata, key));

        any = any || text;
        if (text && nova_python_float(text, c->a, &v) && isfinite(v)) {
            json_t *number = json_real(v);
            (void)json_object_set_new(metadata, key, json_string(nova_python_str(number, c->a)));
            json_decref(number);
        } else if (text && !nova_words_have(ret_wrong, text)) {
            nova_words_add(ret_wrong, arena_strdup(c->a, text), c->a);
        }
    }
    return any;
}

/* The least value of the host's aggregates; if one is no number, or there is none, that of the configuration.
 */
static json_t *least_of_aggregates(struct cloud *c, const char *key, double general,
                                   const struct words *wrong)
{
    const char *meta = arena_printf(c->a, META "%s", key);
    json_t *ret =
        json_pack("[s, [s, s, [s, s]], f]", "default", "least_of_groups", AGGREGATE, "number", meta, general);

    return wrong->n == 0 ? ret
                         : json_pack("[s, [s, s, o], f, o]", "if", "any_group", AGGREGATE,
                                     nova_expression_in(json_string(meta), wrong, c->a), general, ret);
}

/* The weigher's multiplier: a number, or an expression if aggregates have one. */
static int multiplier_of(struct cloud *c, const struct weigher *w, json_t **ret)
{
    struct words wrong;
    double general;
    int e = read_multiplier(c, w, &general);

    if (e == 0)
        *ret = normalise_metadata(c, w->multiplier, &wrong)
                   ? least_of_aggregates(c, w->multiplier, general, &wrong)
                   : json_real(general);
    return e;
}

/* ---- what a host has left, or has ---- */

static int weigh_pci(struct cloud *c, const struct request *r, json_t *stages, json_t **ret)
{
    int e = consumed_check_devices(c, r);

    if (e == 0 && consumed_any_devices(c))
        *ret = json_pack("[s, i, [s, o, i]]", "-", PCI_DEVICES_MOST, "min",
                         consumed_now(c, CONSUMED_PCI, stages), PCI_DEVICES_MOST - 1);
    return e;
}

/* ---- what the host's record has ---- */

/* Whether the field differs; then it is an attribute of the hosts. */
static bool set_field(struct cloud *c, const char *field, const char *name)
{
    const json_t *first = json_object_get(json_array_get(c->states, 0), field);
    bool differs = false;
    size_t i;
    const json_t *state;

    json_array_foreach(c->states, i, state)
    {
        differs = differs || !json_equal(json_object_get(state, field), first);
    }
    json_array_foreach(c->states, i, state)
    {
        if (differs && !json_is_null(json_object_get(state, field)))
            host_set(c, i, name, json_deep_copy(json_object_get(state, field)));
    }
    return differs;
}

/* The field of the host's state as an attribute, by a name that no filter gives one of another type; NULL: it
 * is the same on all hosts. */
static json_t *state_field(struct cloud *c, const char *field)
{
    const char *name = arena_printf(c->a, "weighed_%s", field);
    const json_t *differs = cloud_found(c, name);

    if (!differs)
        differs = cloud_keep(c, name, json_boolean(set_field(c, field, name)));
    return json_is_true(differs) ? json_string(arena_printf(c->a, ATTRIBUTE "%s", name)) : NULL;
}

static int weigh_build_failures(struct cloud *c, const struct request *r, json_t *stages, json_t **ret)
{
    (void)r;
    (void)stages;
    *ret = state_field(c, "failed_builds");
    return 0;
}

static int weigh_version(struct cloud *c, const struct request *r, json_t *stages, json_t **ret)
{
    json_t *version = state_field(c, "hypervisor_version");

    (void)r;
    (void)stages;
    if (version)
        *ret = json_pack("[s, o, i]", "default", version, 0);
    return 0;
}

/* Only a move that may leave its cell asks for one. */
static int weigh_cell(struct cloud *c, const struct request *r, json_t *stages, json_t **ret)
{
    const char *cell = json_string_value(json_object_get(r->destination, "cell"));
    json_t *field;

    (void)stages;
    if (cell && json_is_true(json_object_get(r->destination, "allow_cross_cell_move")))
        (void)vm_set(c, r, "hints", CELL, json_string(cell));
    if (vm_given(c, "$vm.hints." CELL) && (field = state_field(c, "cell_uuid")))
        *ret = json_pack("[s, [s, s], [s, [s, o, s], i, i], i]", "if", "given", "$vm.hints." CELL, "if", "=",
                         field, "$vm.hints." CELL, 1, -1, 0);
    return 0;
}

/* ---- server groups ---- */

/* The other servers of the group on the host, or on all nodes of its compute service. */
static int weigh_members(struct cloud *c, const struct request *r, const char *policy, json_t *stages,
                         int sign, json_t **ret)
{
    const char *hint = arena_printf(c->a, "$vm.hints.%s", policy);

    if (strcmp(hint_group_policy(r->group), policy) == 0)
        (void)vm_set(c, r, "hints", policy, json_true());
    if (!vm_given(c, hint))
        return 0;
    consumed_count(stages, MEMBERS, NULL, "$vm.groups", c->shares_nodes ? SERVICE : NULL);
    *ret = json_pack("[s, s, [s, i, s], i]", "if", hint, "*", sign, "$host.used." MEMBERS, 0);
    return 0;
}

static int weigh_together(struct cloud *c, const struct request *r, json_t *stages, json_t **ret)
{
    return weigh_members(c, r, "soft-affinity", stages, 1, ret);
}

static int weigh_apart(struct cloud *c, const struct request *r, json_t *stages, json_t **ret)
{
    return weigh_members(c, r, "soft-anti-affinity", stages, -1, ret);
}

/* ---- metrics ---- */

/* An entry of weight_setting. */
struct setting {
    const char *metric;
    double ratio;
};

/* The entries that have a name and a number; Nova skips the others. */
static struct setting *read_settings(const struct cloud *c, size_t *ret_n)
{
    struct words given = conf_list(c, "metrics", "weight_setting", "");
    struct setting *ret = arena_array(c->a, struct setting, given.n);

    *ret_n = 0;
    for (size_t i = 0; i < given.n; i++) {
        const char *equals = strchr(given.items[i], '=');
        struct setting *s = &ret[*ret_n];

        if (!equals || equals == given.items[i] || !nova_python_float(equals + 1, c->a, &s->ratio) ||
            !isfinite(s->ratio))
            continue;
        s->metric = arena_strndup(c->a, given.items[i], (size_t)(equals - given.items[i]));
        (*ret_n)++;
    }
    return ret;
}

double weighers_metric_value(const char *name, const json_t *value)
{
    static const char *const percentages[] = {"cpu.user.percent", "cpu.kernel.percent", "cpu.idle.percent",
                                              "cpu.iowait.percent", "cpu.percent"};
    double v = json_number_value(value);

    for (size_t i = 0; i < sizeof percentages / sizeof *percentages; i++)
        if (strcmp(name, percentages[i]) == 0)
            return trunc(v * 100);
    return trunc(v);
}

static void set_metric(struct cloud *c, const char *name)
{
    size_t h;
    size_t i;
    const json_t *state;
    const json_t *metric;

    if (!cloud_first(c, arena_printf(c->a, "metrics.%s", name)))
        return;
    json_array_foreach(c->states, h, state)
    {
        json_array_foreach(json_object_get(state, "metrics"), i, metric)
        {
            const char *its = json_string_value(json_object_get(metric, "name"));
            const json_t *value = json_object_get(metric, "value");

            if (its && strcmp(its, name) == 0 && json_is_number(value))
                host_set(c, h, arena_printf(c->a, "metrics.%s", name),
                         json_real(weighers_metric_value(name, value)));
        }
    }
}

/* Whether the host has the metrics: those with a ratio that is not 0, or all. */
static json_t *has_metrics(const struct cloud *c, const struct setting *settings, size_t n, bool all)
{
    json_t *ret = json_pack("[s, b]", "and", true);

    for (size_t i = 0; i < n; i++)
        if (all || settings[i].ratio != 0)
            (void)json_array_append_new(
                ret, json_pack("[s, s]", "given", arena_printf(c->a, METRIC "%s", settings[i].metric)));
    return ret;
}

static json_t *sum_of_metrics(struct cloud *c, const struct setting *settings, size_t n)
{
    json_t *ret = json_pack("[s, i]", "+", 0);

    for (size_t i = 0; i < n; i++) {
        set_metric(c, settings[i].metric);
        (void)json_array_append_new(ret, json_pack("[s, f, [s, s, i]]", "*", settings[i].ratio, "default",
                                                   arena_printf(c->a, METRIC "%s", settings[i].metric), 0));
    }
    return ret;
}

static const struct weigher *weigher_find(const char *name);

/* A host without a metric is refused if metrics are required: Nova fails the request there. Otherwise it has
 * the weight for that, unless its multiplier is 0. */
static int weigh_metrics(struct cloud *c, const struct request *r, json_t *stages, json_t **ret)
{
    size_t n;
    struct setting *settings = read_settings(c, &n);
    double unavailable;
    bool required;
    json_t *multiplier;
    int e = conf_bool(c, "metrics", "required", true, &required);

    (void)r;
    if (e == 0)
        e = conf_number(c, "metrics", "weight_of_unavailable", -10000, &unavailable);
    if (e < 0 || n == 0)
        return e;
    *ret = sum_of_metrics(c, settings, n);
    if (required) {
        (void)json_array_append_new(stages,
                                    json_pack("{s: s, s: o}", "name", own_name(c, stages, "required_metrics"),
                                              "filter", has_metrics(c, settings, n, true)));
        return 0;
    }
    if ((e = multiplier_of(c, weigher_find(PATH "metrics.MetricsWeigher"), &multiplier)) == 0)
        *ret = json_pack("[s, [s, o, [s, o, i]], o, f]", "if", "or", has_metrics(c, settings, n, false), "=",
                         multiplier, 0, *ret, unavailable);
    return e;
}

/* ---- by name ---- */

static const struct weigher weighers[] = {
    {"ram", "RAMWeigher", "ram_weight_multiplier", 1, false, false, true, NULL, CONSUMED_RAM},
    {"cpu", "CPUWeigher", "cpu_weight_multiplier", 1, false, false, true, NULL, CONSUMED_VCPUS},
    {"disk", "DiskWeigher", "disk_weight_multiplier", 1, false, false, true, NULL, CONSUMED_DISK},
    {"metrics", "MetricsWeigher", "metrics_weight_multiplier", 1, false, false, false, weigh_metrics},
    {"io_ops", "IoOpsWeigher", "io_ops_weight_multiplier", -1, false, false, true, NULL, CONSUMED_IO_OPS},
    {"pci", "PCIWeigher", "pci_weight_multiplier", 1, true, false, false, weigh_pci},
    {"affinity", "ServerGroupSoftAffinityWeigher", "soft_affinity_weight_multiplier", 1, true, false, false,
     weigh_together},
    {"affinity", "ServerGroupSoftAntiAffinityWeigher", "soft_anti_affinity_weight_multiplier", 1, true, false,
     false, weigh_apart},
    {"compute", "BuildFailureWeigher", "build_failure_weight_multiplier", 1000000, false, true, false,
     weigh_build_failures},
    {"cross_cell", "CrossCellWeigher", "cross_cell_move_weight_multiplier", 1000000, false, false, false,
     weigh_cell},
    {"hypervisor_version", "HypervisorVersionWeigher", "hypervisor_version_weight_multiplier", 1, false,
     false, false, weigh_version},
    {"num_instances", "NumInstancesWeigher", "num_instances_weight_multiplier", 0, false, false, false, NULL,
     CONSUMED_INSTANCES},
};

#define N_WEIGHERS (sizeof weighers / sizeof *weighers)

static const struct weigher *weigher_find(const char *name)
{
    size_t n = strlen(PATH);

    for (size_t i = 0; i < N_WEIGHERS; i++) {
        size_t module = strlen(weighers[i].module);

        if (strncmp(name, PATH, n) == 0 && strncmp(name + n, weighers[i].module, module) == 0 &&
            name[n + module] == '.' && strcmp(name + n + module + 1, weighers[i].name) == 0)
            return &weighers[i];
    }
    return NULL;
}

/* ---- stages ---- */

/* A multiplier of 0 gives no stage, one of 1 needs none. */
static int add_score(struct cloud *c, const struct weigher *w, const struct request *r, json_t *stages)
{
    json_t *multiplier = NULL;
    json_t *weight = NULL;
    int e = multiplier_of(c, w, &multiplier);
    double fixed = json_number_value(multiplier);

    if (e < 0)
        return e;
    /* MetricsWeigher may refuse hosts all the same */
    if (!json_is_real(multiplier) || fixed != 0 || w->compile == weigh_metrics) {
        if (w->compile)
            e = w->compile(c, r, stages, &weight);
        else
            weight = consumed_now(c, w->counts, stages);
    }
    if (e < 0 || !weight) {
        json_decref(multiplier);
        return e;
    }
    if (w->from_0)
        weight = json_pack("[s, i, o]", "max", 0, weight);
    if (w->reversed)
        multiplier = json_is_real(multiplier) ? (json_decref(multiplier), json_real(-fixed))
                                              : json_pack("[s, i, o]", "*", -1, multiplier);
    json_t *stage = json_pack("{s: s, s: o}", "name", own_name(c, stages, w->name), "score", weight);

    if (w->from_0)
        (void)json_object_set_new(stage, "least", json_integer(0));
    if (json_number_value(multiplier) != 1)
        (void)json_object_set(stage, "multiplier", multiplier);
    json_decref(multiplier);
    (void)json_array_append_new(stages, stage);
    return 0;
}

/* So that a plan can be repeated and chance differs from time to time: the cloud's seed, or one of its time.
 */
static int read_seed(const struct cloud *c, json_int_t *ret)
{
    const json_t *given = json_object_get(c->lists, "seed");
    const char *time = json_string_value(json_object_get(c->lists, "time"));
    uint32_t mixed = 2166136261u; /* FNV-1a */

    for (; time && *time; time++)
        mixed = (mixed ^ (unsigned char)*time) * 16777619u;
    *ret = given ? json_integer_value(given) : (json_int_t)(mixed & INT32_MAX);
    return (!given || json_is_integer(given)) && *ret >= 0 && *ret <= INT32_MAX
               ? 0
               : err_set(c->err, -EINVAL, "/seed: expected a whole number from 0 to %d", INT32_MAX);
}

static int add_pick(struct cloud *c, json_t *stages)
{
    json_int_t subset;
    json_int_t seed;
    bool shuffles;
    int e = conf_whole(c, SECTION, "host_subset_size", 1, &subset);

    if (e == 0 && (subset < 1 || subset > SUBSET_MAX))
        e = err_set(c->err, -EINVAL, "nova.conf: [%s] host_subset_size is %lld, expected 1 to %d", SECTION,
                    (long long)subset, SUBSET_MAX);
    if (e == 0)
        e = conf_bool(c, SECTION, "shuffle_best_same_weighed_hosts", false, &shuffles);
    if (e == 0)
        e = read_seed(c, &seed);
    if (e == 0 && (subset > 1 || shuffles))
        (void)json_array_append_new(stages,
                                    json_pack("{s: s, s: {s: I, s: b, s: I}}", "name", "best_hosts", "pick",
                                              "subset", subset, "shuffle", (int)shuffles, "seed", seed));
    return e;
}

int weighers_compile(struct cloud *c, const struct request *r, json_t *stages)
{
    struct words classes = conf_list(c, SECTION, "weight_classes", ALL_WEIGHERS);
    int e = 0;

    for (size_t i = 0; i < classes.n && e == 0; i++) {
        bool all = strcmp(classes.items[i], ALL_WEIGHERS) == 0;
        const struct weigher *one = weigher_find(classes.items[i]);

        const char *own = all || one ? NULL : custom_class(classes.items[i]);

        if (own) {
            json_t *stage = custom_weigher(c, r, own);
            (void)json_object_set_new(stage, "name", json_string(own_name(c, stages, own)));
            (void)json_array_append_new(stages, stage);
        }
        if (!all && !one && !own)
            return err_set(c->err, -EINVAL,
                           "nova.conf: [%s] weight_classes has \"%s\", which is not known here", SECTION,
                           classes.items[i]);
        for (size_t k = 0; k < N_WEIGHERS && e == 0; k++)
            if (all || &weighers[k] == one)
                e = add_score(c, &weighers[k], r, stages);
    }
    return e < 0 ? e : add_pick(c, stages);
}
