/* policies.c: the built-in policies, and what a policy may have. */
#include "base/number.h"
#include "dialect/ovirt/internal.h"

#include <errno.h>
#include <regex.h>
#include <string.h>

#define VALUE_BYTES_MAX 255

/* clang-format off */
/* Of the whole value. */
static const struct { const char *name, *regex; } regexes[] = {
    {"HighUtilization", "[5-9][0-9]"},
    {"LowUtilization", "[0-9]|[1-4][0-9]"},
    {"CpuOverCommitDurationMinutes", "[1-9][0-9]*"},
    {"MaxFreeMemoryForOverUtilized", "[1-9][0-9]*"},
    {"MinFreeMemoryForUnderUtilized", "[1-9][0-9]*"},
    {"HighVmCount", "[0-9]|[1-9][0-9]+"},
    {"SpmVmGrace", "[0-9]|[1-9][0-9]+"},
    {"MigrationThreshold", "[2-9]|[1-9][0-9]+"},
    {"VCpuToPhysicalCpuRatio", "[0-2](\\.[0-9]+)?"},
    {"HostsInReserve", "[0-9]+"},
    {"HeSparesCount", "[0-9]+"},
    {"EnableAutomaticHostPowerManagement", "true|false"},
    {"ScaleDown", "100|[1-9]|[1-9][0-9]"},
    {"MaximumAllowedSwapUsage", "1?[0-9]?[0-9]"},
};

#define RANK_SELECTOR "b280e7de-5df8-401e-b004-a1414d79a687"
#define BASIC_SELECTOR "0c89f215-9c4f-4bbb-8419-31a2d43ae7ea"

#define COMMON_PROPERTIES {"CpuOverCommitDurationMinutes", "2"}, {"HighUtilization", "80"}
#define COMMON_FILTERS {"98842bc5-4094-4b83-8224-7b50f86a94c9", 0, 1}, {"58894b5b-d55d-4f85-8f82-5bf217e640b0", 0, 1}, \
                       {"e659c871-0bf1-4ccc-b748-f28f5d08dffd", 0, 1}, {"43b9e654-337f-4b0d-a896-cbb22ce5a7fc", 0, 1}, \
                       {"c9ddbb34-0e1d-4061-a8d7-b0893fa80932", 0, 1}, {"fcbfe4b1-b83e-4428-b9d3-b3d348b93be6", 0, 1}, \
                       {"23e07b34-66dd-4735-bc45-bcddded02c05", 0, 1}, {"e659c871-0bf1-4ccc-b748-f28f5d08ddda", 0, 1}, \
                       {"84e6ddee-ab0d-42dd-82f0-c297779db566", 0, 1}, {"e69808a9-8a41-40f1-94ba-dd5d385d82d8", 0, 1}, \
                       {"72163d1c-9468-4480-99d9-0888664eb143", 0, 1}, {"53bff075-8306-446f-a53b-9c872a29d197", 0, 1}, \
                       {"47ea3cd0-8a2f-438d-9f63-49534178882a", 0, 1}, {"aae8c702-4756-4934-b84c-8daf59efc134", 1, 1}
#define COMMON_WEIGHTS {"591cdb81-ba67-45b4-9642-e28f61a97d57", 0, 99}, {"98e92667-6161-41fb-b3fa-34f820ccbc4b", 0, 1}, \
                       {"7f262d70-6cac-11e3-981f-0800200c9a66", 0, 1}, {"84e6ddee-ab0d-42dd-82f0-c297779db567", 0, 1}, \
                       {"427aed70-dae3-48ba-8fe9-a902a9d563c8", 0, 20}, {"71931e14-f0e6-4f91-a7c8-d494a26e3a09", 0, 4}, \
                       {"1b14ac11-20e9-4593-a149-2eb83c60a330", 0, 5}
#define CPU_FILTER "6d636bf6-a35c-4f9d-b68d-0731f720cddc"

static const struct unit_use filters[] = {{CPU_FILTER, -1, 1}, COMMON_FILTERS},
                             maintenance_filters[] = {{"0bd8fef9-bcb4-4250-9998-410f01608d9b", -1, 1}, {CPU_FILTER, 0, 1}, COMMON_FILTERS},
                             even_weights[] = {{"7db4ab05-81ab-42e8-868a-aee2df483edb", 0, 2}, {"4134247a-9c58-4b9a-8593-530bb9e37c59", 0, 1}, COMMON_WEIGHTS},
                             power_weights[] = {{"736999d0-1023-46a4-9a75-1316ed50e15b", 0, 2}, {"9dfe6086-646d-43b8-8eef-4d94de8472c8", 0, 1}, COMMON_WEIGHTS},
                             guest_weights[] = {{"3ba8c988-f779-42c0-90ce-caa8243edee7", 0, 2}, COMMON_WEIGHTS};
static const struct property of_none[] = {COMMON_PROPERTIES},
                             of_even[] = {COMMON_PROPERTIES, {"HeSparesCount", "0"}, {"VCpuToPhysicalCpuRatio", "0"}},
                             of_power[] = {COMMON_PROPERTIES, {"HeSparesCount", "0"}, {"LowUtilization", "20"}},
                             of_guests[] = {COMMON_PROPERTIES, {"HeSparesCount", "0"}, {"HighVmCount", "10"}, {"MigrationThreshold", "5"}, {"SpmVmGrace", "5"}};

/* The first is the default. */
#define LIST(array) {array, COUNT_OF(array)}
#define BUILT_IN(uuid, text, balance, filters_of, weights_of, properties_of) \
    {.id = (uuid), .name = (text), .selector = RANK_SELECTOR, .ranks = true, .properties = LIST(properties_of), \
     .uses = {LIST(filters_of), LIST(weights_of), {&(const struct unit_use){balance, 0, 1}, 1}}}
static const struct policy built_in[] = {
    BUILT_IN("b4ed2332-a7ac-4d5f-9596-99a439cb2812", "none", "38440000-8cf0-14bd-c43e-10b96e4ef00a", filters, even_weights, of_none),
    BUILT_IN("7677771e-5eab-422e-83fa-dc04080d21b7", "cluster_maintenance", "38440000-8cf0-14bd-c43e-10b96e4ef00a", maintenance_filters, even_weights, of_none),
    BUILT_IN("20d25257-b4bd-4589-92a6-c4c5c5d3fd1a", "evenly_distributed", "7db4ab05-81ab-42e8-868a-aee2df483ed2", filters, even_weights, of_even),
    BUILT_IN("5a2b0939-7d46-4b73-a469-e9c2c7fc6a53", "power_saving", "736999d0-1023-46a4-9a75-1316ed50e151", filters, power_weights, of_power),
    BUILT_IN("8d5d7bec-68de-4a67-b53e-0ac54686d579", "vm_evenly_distributed", "d58c8e32-44e1-418f-9222-52cd887bf9e0", filters, guest_weights, of_guests),
};
/* clang-format on */

/* ---- checks ---- */

static const char *const type_words[] = {"filter", "weight", "load_balancing"};

const struct external_unit *policies_external(const struct cloud *c, const char *id, enum unit_type type)
{
    const struct external_unit *all = c->units.items;

    for (uint32_t i = 0; id && i < c->units.n; i++)
        if (strcmp(all[i].id, id) == 0 && strcmp(all[i].type, type_words[type]) == 0)
            return &all[i];
    return NULL;
}

static const char *name_of(const char *property)
{
    return strcmp(property, "HighCpuUtilization") == 0  ? "HighUtilization"
           : strcmp(property, "LowCpuUtilization") == 0 ? "LowUtilization"
                                                        : property;
}

/* Whether it has a unit with the property; without one, a unit of the user's own. */
static bool has_unit(const struct cloud *c, const struct policy *p, const char *property)
{
    const char *word = property ? arena_printf(c->a, " %s ", property) : NULL;

    for (int type = 0; type < UNIT_TYPES; type++)
        for (uint32_t i = 0; i < p->uses[type].n; i++) {
            const char *id = USES(p, type)[i].id;
            const struct unit *u = units_find(id, (enum unit_type)type);
            if (word ? u && strstr(u->properties, word)
                     : policies_external(c, id, (enum unit_type)type) != NULL)
                return true;
        }
    return false;
}

static bool agrees(const char *value, const char *expression, struct arena *a)
{
    regex_t compiled;
    bool ret = strlen(value) <= VALUE_BYTES_MAX &&
               regcomp(&compiled, arena_printf(a, "^(%s)$", expression), REG_EXTENDED | REG_NOSUB) == 0;

    if (!ret)
        return false;
    ret = regexec(&compiled, value, 0, NULL, 0) == 0;
    regfree(&compiled);
    return ret;
}

static const char *regex_of(const char *property)
{
    for (size_t i = 0; i < COUNT_OF(regexes); i++)
        if (strcmp(regexes[i].name, property) == 0)
            return regexes[i].regex;
    return NULL;
}

static int check_properties(const struct cloud *c, const struct policy *p, const struct objects *properties,
                            const char *pointer)
{
    const struct property *items = properties->items;

    for (uint32_t i = 0; i < properties->n; i++) {
        const char *name = name_of(items[i].name);
        const char *regex = regex_of(name);
        bool known = regex && (c->idle || has_unit(c, p, name));

        if (!known && (regex || !has_unit(c, p, NULL)))
            return err_set(c->err, -EINVAL,
                           "%s/%u/name: \"%.100s\" is of no unit of the policy, expected a property of one",
                           pointer, i, items[i].name);
        if (known && !agrees(items[i].value, regex, c->a))
            return err_set(c->err, -EINVAL, "%s/%u/value: \"%.100s\", expected what agrees with %s", pointer,
                           i, items[i].value, regex);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(name_of(items[k].name), name) == 0)
                return err_set(c->err, -EINVAL, "%s/%u/name: \"%.100s\" is given twice, expected once",
                               pointer, i, name);
    }
    return 0;
}

static int check_use(const struct cloud *c, const struct unit_use *items, uint32_t i, enum unit_type type,
                     const char *pointer)
{
    if (!units_find(items[i].id, type) && !policies_external(c, items[i].id, type))
        return err_set(c->err, -EINVAL,
                       "%s/%u/id: \"%.100s\" is no unit of the type %s, expected the id of one", pointer, i,
                       items[i].id ? items[i].id : "", type_words[type]);
    if (items[i].factor != (double)(int64_t)items[i].factor ||
        items[i].position != (double)(int64_t)items[i].position)
        return err_set(c->err, -EINVAL, "%s/%u: expected a whole number", pointer, i);
    for (uint32_t k = 0; k < i; k++) {
        if (strcmp(items[k].id, items[i].id) == 0)
            return err_set(c->err, -EINVAL, "%s/%u/id: the unit is given twice, expected once", pointer, i);
        if (items[i].position != 0 && items[k].position == items[i].position)
            return err_set(c->err, -EINVAL, "%s/%u/position: %.0f is taken, expected 0", pointer, i,
                           items[i].position);
    }
    return 0;
}

/* Of the first n policies, the one with the id or the name. */
static const struct policy *find(const struct policy *all, size_t n, const char *word)
{
    for (size_t i = 0; word && i < n; i++)
        if (strcmp(all[i].id, word) == 0 || strcmp(all[i].name, word) == 0)
            return &all[i];
    return NULL;
}

/* What a clone does not have itself is that of the policy which it is a clone of. */
static void complete(struct policy *p, const struct policy *from)
{
    p->id = p->id ? p->id : p->name;
    p->selector = p->selector ? p->selector : from->selector;
    p->ranks = strcmp(p->selector, RANK_SELECTOR) == 0;
    p->properties = p->properties_given ? p->properties : from->properties;
    for (int type = 0; type < UNIT_TYPES; type++)
        p->uses[type] = p->uses_given[type] ? p->uses[type] : from->uses[type];
}

/* The policies before it are in order. */
static int check(const struct cloud *c, struct policy *all, size_t ix, const char *pointer)
{
    static const char *const lists[] = {"filters", "weights", "balances"};
    static const struct policy empty = {.selector = RANK_SELECTOR};
    struct policy *p = &all[ix];
    const struct policy *from = p->clone_of ? find(all, ix, p->clone_of) : &empty;
    int e = 0;

    if (!from)
        return err_set(c->err, -EINVAL,
                       "%s/clone_of: no policy \"%.100s\" before it, expected the id or name of one", pointer,
                       p->clone_of);
    complete(p, from);
    if (!*p->name || find(all, ix, p->name) || find(all, ix, p->id))
        return err_set(c->err, -EINVAL, "%s/name: empty or in use, expected a name of its own", pointer);
    if (!p->ranks && strcmp(p->selector, BASIC_SELECTOR) != 0)
        return err_set(c->err, -EINVAL, "%s/selector: \"%.100s\", expected \"%s\" (rank) or \"%s\" (basic)",
                       pointer, p->selector, RANK_SELECTOR, BASIC_SELECTOR);
    if (p->uses[UNIT_BALANCE].n > 1)
        return err_set(c->err, -EINVAL, "%s/balances: %u units, expected one at most", pointer,
                       p->uses[UNIT_BALANCE].n);
    for (int type = 0; type < UNIT_TYPES; type++)
        for (uint32_t i = 0; e == 0 && i < p->uses[type].n; i++)
            e = check_use(c, USES(p, type), i, (enum unit_type)type,
                          arena_printf(c->a, "%s/%s", pointer, lists[type]));
    if (e < 0 || !p->properties_given) /* a clone may lack the units of those that it has from the other */
        return e;
    return check_properties(c, p, &p->properties, arena_printf(c->a, "%s/properties", pointer));
}

int policies_choose(struct cloud *c)
{
    const size_t n = COUNT_OF(built_in) + c->policies.n;
    struct policy *all = arena_array(c->a, struct policy, n);
    const struct policy *chosen = all;
    uint32_t defaults = 0;
    int e = 0;

    c->all = all;
    c->n_all = n;
    memcpy(all, built_in, sizeof built_in);
    for (size_t i = COUNT_OF(built_in); e == 0 && i < n; i++) {
        uint32_t own = (uint32_t)(i - COUNT_OF(built_in));

        all[i] = ROWS_OF(struct policy, c->policies)[own];
        e = check(c, all, i, arena_printf(c->a, "/scheduling_policies/%u", own));
        chosen = all[i].is_default ? &all[i] : chosen;
        defaults += all[i].is_default;
    }
    if (e == 0 && defaults > 1)
        return err_set(c->err, -EINVAL, "/scheduling_policies: %u have default_policy, expected one",
                       defaults);
    for (uint32_t i = 0; e == 0 && i < c->clusters.n; i++) {
        struct cluster *cl = CLUSTER(c, i);

        cl->policy = cl->policy_id ? find(all, n, cl->policy_id) : chosen;
        if (!cl->policy)
            return err_set(c->err, -EINVAL,
                           "/clusters/%u/scheduling_policy/id: no policy \"%.100s\", expected the id or name "
                           "of one, such as power_saving",
                           i, cl->policy_id);
        e = check_properties(c, cl->policy, &cl->properties,
                             arena_printf(c->a, "/clusters/%u/custom_scheduling_policy_properties", i));
    }
    return e;
}

/* ---- as JSON ---- */

bool policies_is_built_in(const char *id)
{
    for (size_t i = 0; i < COUNT_OF(built_in); i++)
        if (strcmp(built_in[i].id, id) == 0)
            return true;
    return false;
}

static json_t *policy_json(const struct policy *p, bool locked, bool is_default)
{
    json_t *properties = json_array();
    json_t *of[UNIT_TYPES] = {json_array(), json_array(), json_array()};
    const struct property *of_policy = p->properties.items;

    for (uint32_t i = 0; i < p->properties.n; i++)
        (void)json_array_append_new(
            properties, json_pack("{s: s, s: s}", "name", of_policy[i].name, "value", of_policy[i].value));
    for (int type = 0; type < UNIT_TYPES; type++)
        for (uint32_t i = 0; i < p->uses[type].n; i++) {
            const struct unit_use *use = &USES(p, type)[i];
            json_t *one = json_pack("{s: s}", "id", use->id);

            if (type == UNIT_FILTER)
                (void)json_object_set_new(one, "position", json_integer((json_int_t)use->position));
            if (type == UNIT_WEIGHT)
                (void)json_object_set_new(one, "factor", json_integer((json_int_t)use->factor));
            (void)json_array_append_new(of[type], one);
        }
    return json_pack("{s: s, s: s, s: b, s: b, s: s, s: o, s: o, s: o, s: o}", "id", p->id, "name", p->name,
                     "locked", locked, "default_policy", is_default, "selector", p->selector, "properties",
                     properties, "filters", of[UNIT_FILTER], "weights", of[UNIT_WEIGHT], "balances",
                     of[UNIT_BALANCE]);
}

json_t *policies_json(const struct cloud *c)
{
    json_t *ret = json_array();
    bool own = false;

    for (size_t i = 0; i < c->n_all; i++)
        own = own || c->all[i].is_default;
    for (size_t i = 0; i < c->n_all; i++)
        (void)json_array_append_new(
            ret, policy_json(&c->all[i], i < COUNT_OF(built_in), own ? c->all[i].is_default : i == 0));
    return ret;
}

/* ---- values ---- */

const char *policies_value(const struct cluster *cl, const char *name)
{
    const struct objects *const lists[] = {&cl->properties, &cl->policy->properties};

    for (size_t k = 0; k < COUNT_OF(lists); k++)
        for (uint32_t i = 0; i < lists[k]->n; i++) {
            const struct property *p = &((const struct property *)lists[k]->items)[i];
            if (strcmp(name_of(p->name), name) == 0)
                return p->value;
        }
    return NULL;
}

double policies_number(const struct cluster *cl, const char *name, double otherwise)
{
    const char *value = policies_value(cl, name);
    double ret;

    return value && number_parse(value, &ret) ? ret : otherwise;
}
