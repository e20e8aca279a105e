/* sources.c: a policy as the pipeline of any source, over what every snapshot knows of its hosts and VMs. */
#include "base/cleanup.h"
#include "dialect/ovirt/internal.h"
#include "schema/json_tree.h"

#include <errno.h>
#include <string.h>

#define PROPERTIES "custom_scheduling_policy_properties"

/* Facts and parts of units.c. Of other facts a source has the attribute or the hint of this name, where the
 * configuration sets it. $host.used and $host.load leave the VM itself out. */
static const struct {
    const char *fact, *text;
} facts[] = {
    {"@cores base", "'$host.cores'"},
    {"@shared base", "'$host.cores'"},
    {"@plain base", "'$host.cores'"},
    {"@per cpu", "0"},
    {"@largest vm", "0"},
    {"#exclusive cpus", "0"},
    {"%exclusive", "0"},
    {"%shared cpus", "'$vm.vcpus'"},
    {"@load", "['*', 100, '$host.load']"},
    {"@load base", "0"},
    {"@plain load base", "0"},
    {"#cpu load", "['*', 100, '$host.cores', '$host.load']"},
    {"%load",
     "['if', ['given', '$vm.host'], ['/', ['*', 100, '$host.cores', '$vm.cpu_mhz'], '$host.cpu_mhz'], "
     "['*', {vcpu load}, '$vm.vcpus']]"},
    {"@cpu_threshold_seconds", "'$host.over_s'"},
    {"@guests base", "0"},
    {"spm", "['default', '$host.attributes.spm', 0]"},
    {"sched base", "['*', {memory overcommit}, '$host.mem_mb']"},
    {"@memory base", "['default', '$host.free_mem_mb', 1e12]"},
    {"#memory overhead", "0"},
    {"swap free", "0"},
    {"physical", "['+', '$vm.mem_mb', {overhead}]"},
    {"%need", "['+', '$vm.mem_mb', {overhead}, ['*', 8, '$vm.vcpus']]"},
    {"%takes", "['+', '$vm.mem_mb', {overhead}, ['*', 8, '$vm.vcpus']]"},
    {"paused", "false"},
    {"%home", "'$vm.host'"},
    {"counts", "[{'name': 'memory need', 'count': '%takes'}, {'name': 'vcpus', 'count': '$vm.vcpus'}, "
               "{'name': 'guests', 'count': 1}, {'name': 'ha vms', 'count': '%ha'}]"},
    {"highly available", "['or', ['given', '$vm.host'], ['=', '$vm.hints.highly available', true]]"},
};

const char *sources_fact(const char *name, size_t n)
{
    for (size_t i = 0; i < COUNT_OF(facts); i++)
        if (strlen(facts[i].fact) == n && strncmp(facts[i].fact, name, n) == 0)
            return facts[i].text;
    return NULL;
}

/* {"HighUtilization": 75} as REST's list. */
static json_t *properties_of(const json_t *properties)
{
    const char *name;
    json_t *value;

    if (!json_is_object(properties) || json_object_get(properties, "property"))
        return json_incref((json_t *)properties);
    json_t *ret = json_array();

    json_object_foreach((json_t *)properties, name, value)(void)
        json_array_append_new(ret, json_pack("{s: s, s: O}", "name", name, "value", value));
    return ret;
}

/* A unit that is none of oVirt's is an external one of the configuration, by its name. */
static void add_external(const json_t *uses, enum unit_type type, const char *word, json_t *units)
{
    size_t i;
    json_t *use;

    json_array_foreach(uses, i, use)
    {
        const char *id = json_string_value(json_object_get(use, "id"));

        if (id && !units_find(id, type))
            (void)json_array_append_new(units,
                                        json_pack("{s: s, s: s, s: s}", "id", id, "name", id, "type", word));
    }
}

/* A cloud with one cluster that has the policy, without hosts and VMs. The properties are the cluster's, so a
 * clone keeps those that are not among them. */
static json_t *cloud_with(const json_t *policy)
{
    json_t *units = json_array();
    json_t *own = json_array();
    json_t *properties = properties_of(json_object_get(policy, "properties"));
    const char *name = json_string_value(policy);

    if (!name) {
        json_t *copy = json_copy((json_t *)policy);

        if (!json_object_get(copy, "name"))
            (void)json_object_set_new(copy, "name", json_string("its own"));
        (void)json_object_del(copy, "properties");
        name = json_string_value(json_object_get(copy, "name"));
        add_external(json_object_get(copy, "filters"), UNIT_FILTER, "filter", units);
        add_external(json_object_get(copy, "weights"), UNIT_WEIGHT, "weight", units);
        (void)json_array_append_new(own, copy);
    }
    return json_pack("{s: [{s: s, s: {s: s}, s: o*}], s: o, s: o}", "clusters", "id", "the cluster",
                     "scheduling_policy", "id", name ? name : "", PROPERTIES, properties,
                     "scheduling_policies", own, "scheduling_policy_units", units);
}

void sources_pipeline(struct cloud *c, double mem_overcommit, json_t **ret, bool *agrees)
{
    struct compiler m = {.c = c,
                         .cluster = CLUSTER(c, 0),
                         .runs = true,
                         .of_source = true,
                         .mem_overcommit = mem_overcommit,
                         .known = json_object(),
                         .series = SERIES_EMPTY};

    compile_stages(&m);
    *ret = json_pack("{s: o, s: o}", "stages", m.stages, "balance", balances_common(&m));
    *agrees = balances_agree(m.cluster->policy);
    json_decref(m.known);
    json_decref(m.series);
}

static json_t *json_of(const struct node *n)
{
    const char *text = node_text(n);
    json_t *ret = n->kind == NODE_MAP    ? json_object()
                  : n->kind == NODE_LIST ? json_array()
                                         : json_string(text ? text : "");

    for (const struct node *x = n->first; x; x = x->next)
        (void)(n->kind == NODE_MAP ? json_object_set_new(ret, x->key, json_of(x))
                                   : json_array_append_new(ret, json_of(x)));
    return ret;
}

/* Errors about what was made of the policy name its line. */
static void place(struct node *n, const struct node *policy)
{
    n->line = policy->line;
    n->json = policy->json;
    for (struct node *x = n->first; x; x = x->next)
        place(x, policy);
}

/* The sentence about the policy, with the path inside it. */
static int complain(const struct reader *r, const struct node *policy, const char *why)
{
    static const char *const places[][2] = {{"/scheduling_policies/0", ""},
                                            {"/clusters/0/" PROPERTIES, "/properties"}};
    const char *sentence = strstr(why, ": ");

    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (strncmp(why, places[i][0], strlen(places[i][0])) == 0)
            return reader_complain(r, policy, ": %s%s", places[i][1], why + strlen(places[i][0]));
    return reader_complain(r, policy, ": %s", sentence ? sentence + 2 : why);
}

int ovirt_expand(const struct reader *r, const struct node *entry, double mem_overcommit,
                 const struct node **ret, bool *ret_agrees)
{
    const struct node *policy = node_child(entry, OVIRT_POLICY_KEY);
    struct node *made;
    struct err err = {0};

    *ret = entry;
    *ret_agrees = true;
    if (!policy)
        return 0;
    if (node_has(entry, "stages") || node_has(entry, "balance"))
        return reader_complain(r, policy, "stands beside stages or balance, expected either");
    if (policy->kind != NODE_MAP && !node_text(policy))
        return reader_complain(r, policy,
                               "%s, expected the name of a policy, or a map with clone_of and so on",
                               node_shown(policy, r->a));
    CLEANUP(json_decrefp) json_t *json = json_of(policy);
    CLEANUP(json_decrefp) json_t *pipeline = NULL;

    CLEANUP(json_decrefp) json_t *cloud = cloud_with(json);
    struct cloud c;

    if (ovirt_read(cloud, false, r->a, &c, &err) < 0)
        return complain(r, policy, err.text);
    sources_pipeline(&c, mem_overcommit, &pipeline, ret_agrees);
    CLEANUP(freep) char *text = json_dumps(pipeline, JSON_COMPACT);
    int e = text ? json_tree_parse(text, r->a, &made, &err) : -ENOMEM;

    if (e < 0)
        return reader_complain(r, policy, ": %s", err.text);
    struct node *whole = arena_copy(r->a, entry, 1, sizeof *entry);
    struct node **at = &whole->first;

    for (const struct node *x = entry->first; x; x = x->next)
        if (x != policy) {
            *at = arena_copy(r->a, x, 1, sizeof *x);
            at = &(*at)->next;
        }
    *at = made->first;
    for (struct node *x = made->first; x; x = x->next) {
        x->up = whole;
        place(x, policy);
    }
    *ret = whole;
    return 0;
}
