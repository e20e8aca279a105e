/* policies.c: the built-in policies, and what a policy may have. */
#include "base/number.h"
#include "dialect/ovirt/internal.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#define VALUE_BYTES_MAX 255

#define F UNIT_FILTER
#define W UNIT_WEIGHT
#define B UNIT_BALANCE

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
#define COMMON_WEIGHTS {"591cdb81-ba67-45b4-9642-e28f61a97d57", 0, 99}, {"98e92667-6161-41fb-b3fa-34f820ccbc4b", 0, 1}, \
                       {"7f262d70-6cac-11e3-981f-0800200c9a66", 0, 1}, {"84e6ddee-ab0d-42dd-82f0-c297779db566", 0, 1}, \
                       {"427aed70-dae3-48ba-8fe9-a902a9d563c8", 0, 20}, {"71931e14-f0e6-4f91-a7c8-d494a26e3a09", 0, 4}, \
                       {"1b14ac11-20e9-4593-a149-2eb83c60a330", 0, 5}

static const struct unit_use even_weights[] = {{"7db4ab05-81ab-42e8-868a-aee2df483edb", 0, 2}, {"4134247a-9c58-4b9a-8593-530bb9e37c59", 0, 1}, COMMON_WEIGHTS},
                             power_weights[] = {{"736999d0-1023-46a4-9a75-1316ed50e15b", 0, 2}, {"9dfe6086-646d-43b8-8eef-4d94de8472c8", 0, 1}, COMMON_WEIGHTS},
                             guest_weights[] = {{"3ba8c988-f779-42c0-90ce-caa8243edee7", 0, 2}, COMMON_WEIGHTS};
static const struct property of_none[] = {COMMON_PROPERTIES},
                             of_even[] = {COMMON_PROPERTIES, {"HeSparesCount", "0"}, {"VCpuToPhysicalCpuRatio", "0"}},
                             of_power[] = {COMMON_PROPERTIES, {"HeSparesCount", "0"}, {"LowUtilization", "20"}},
                             of_guests[] = {COMMON_PROPERTIES, {"HeSparesCount", "0"}, {"HighVmCount", "10"}, {"MigrationThreshold", "5"}, {"SpmVmGrace", "5"}};

/* The first is the default. */
#define LIST(array) {array, COUNT_OF(array)}
#define BUILT_IN(uuid, text, balance, of_weights, of_properties) \
    {.id = (uuid), .name = (text), .selector = RANK_SELECTOR, .weights = LIST(of_weights), .properties = LIST(of_properties), \
     .balances = {&(const struct unit_use){balance, 0, 1}, 1}}
static const struct policy built_in[POLICIES_BUILT_IN] = {
    BUILT_IN("b4ed2332-a7ac-4d5f-9596-99a439cb2812", "none", "38440000-8cf0-14bd-c43e-10b96e4ef00a", even_weights, of_none),
    BUILT_IN("7677771e-5eab-422e-83fa-dc04080d21b7", "cluster_maintenance", "38440000-8cf0-14bd-c43e-10b96e4ef00a", even_weights, of_none),
    BUILT_IN("20d25257-b4bd-4589-92a6-c4c5c5d3fd1a", "evenly_distributed", "7db4ab05-81ab-42e8-868a-aee2df483ed2", even_weights, of_even),
    BUILT_IN("5a2b0939-7d46-4b73-a469-e9c2c7fc6a53", "power_saving", "736999d0-1023-46a4-9a75-1316ed50e151", power_weights, of_power),
    BUILT_IN("8d5d7bec-68de-4a67-b53e-0ac54686d579", "vm_evenly_distributed", "d58c8e32-44e1-418f-9222-52cd887bf9e0", guest_weights, of_guests),
};
/* clang-format on */

const struct external_unit *policies_external(const struct cloud *c, const char *id)
{
    const struct external_unit *all = c->units.items;

    for (uint32_t i = 0; id && i < c->units.n; i++)
        if (strcmp(all[i].id, id) == 0)
            return &all[i];
    return NULL;
}

/* ---- the built-in policies ---- */

static struct objects filters_of(bool in_maintenance, struct arena *a)
{
    struct unit_use *items = arena_array(a, struct unit_use, FILTERS_OF_ALL + 1);
    uint32_t n = 0;

    if (in_maintenance)
        items[n++].id = "0bd8fef9-bcb4-4250-9998-410f01608d9b";
    for (uint32_t i = 0; i < FILTERS_OF_ALL; i++)
        items[n++].id = units_of_all(i)->id;
    items[0].position = -1;
    items[n - 1].position = 1;
    return (struct objects){items, n};
}

void policies_built_in(struct policy *ret, struct arena *a)
{
    memcpy(ret, built_in, sizeof built_in);
    for (size_t i = 0; i < POLICIES_BUILT_IN; i++)
        ret[i].filters = filters_of(strcmp(ret[i].name, "cluster_maintenance") == 0, a);
}

/* ---- checks ---- */

static const char *name_of(const char *property)
{
    return strcmp(property, "HighCpuUtilization") == 0  ? "HighUtilization"
           : strcmp(property, "LowCpuUtilization") == 0 ? "LowUtilization"
                                                        : property;
}

static bool units_have(const struct objects *uses, enum unit_type type, const char *property)
{
    const struct unit_use *items = uses->items;
    char word[VALUE_BYTES_MAX + 3];

    if (strlen(property) > VALUE_BYTES_MAX || strchr(property, ' '))
        return false;
    (void)snprintf(word, sizeof word, " %s ", property);
    for (uint32_t i = 0; i < uses->n; i++) {
        const struct unit *u = units_find(items[i].id, type);
        if (u && strstr(u->properties, word))
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

static bool has_external(const struct cloud *c, const struct policy *p)
{
    const struct objects *const lists[] = {&p->filters, &p->weights, &p->balances};

    for (size_t k = 0; k < COUNT_OF(lists); k++)
        for (uint32_t i = 0; i < lists[k]->n; i++)
            if (policies_external(c, ((const struct unit_use *)lists[k]->items)[i].id))
                return true;
    return false;
}

int policies_check_properties(const struct cloud *c, const struct policy *p, const struct objects *properties,
                              const char *pointer)
{
    const struct property *items = properties->items;

    for (uint32_t i = 0; i < properties->n; i++) {
        const char *name = name_of(items[i].name);
        const char *regex = regex_of(name);
        bool known = units_have(&p->filters, F, name) || units_have(&p->weights, W, name) ||
                     units_have(&p->balances, B, name);

        if (!known && (regex || !has_external(c, p)))
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

static int check_use(const struct cloud *c, const struct objects *uses, uint32_t i, enum unit_type type,
                     const char *pointer)
{
    static const char *const words[] = {[F] = "filter", [W] = "weight", [B] = "load_balancing"};
    const struct unit_use *items = uses->items;
    const struct external_unit *own = policies_external(c, items[i].id);

    if (!units_find(items[i].id, type) && (!own || strcmp(own->type, words[type]) != 0))
        return err_set(c->err, -EINVAL,
                       "%s/%u/id: \"%.100s\" is no unit of the type %s, expected the id of one", pointer, i,
                       items[i].id ? items[i].id : "", words[type]);
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

static int check_uses(const struct cloud *c, const struct objects *uses, enum unit_type type,
                      const char *pointer)
{
    int e = 0;

    for (uint32_t i = 0; e == 0 && i < uses->n; i++)
        e = check_use(c, uses, i, type, pointer);
    return e;
}

/* The policy before this one that has the id or the name. */
static const struct policy *before(const struct cloud *c, const struct policy *p, const char *word)
{
    for (const struct policy *at = c->policies.items; word && at < p; at++)
        if (strcmp(at->id, word) == 0 || strcmp(at->name, word) == 0)
            return at;
    return NULL;
}

static int take_from(const struct cloud *c, struct policy *p, const char *pointer)
{
    const struct policy *from = before(c, p, p->clone_of);

    if (!p->clone_of)
        return 0;
    if (!from)
        return err_set(c->err, -EINVAL,
                       "%s/clone_of: no policy \"%.100s\" before it, expected the id or name of one", pointer,
                       p->clone_of);
    p->properties = p->properties_given ? p->properties : from->properties;
    p->filters = p->filters_given ? p->filters : from->filters;
    p->weights = p->weights_given ? p->weights : from->weights;
    p->balances = p->balances_given ? p->balances : from->balances;
    p->selector = p->selector ? p->selector : from->selector;
    return 0;
}

int policies_check(const struct cloud *c, struct policy *p, const char *pointer)
{
    int e = take_from(c, p, pointer);

    p->id = p->id ? p->id : p->name;
    p->selector = p->selector ? p->selector : RANK_SELECTOR;
    if (e == 0 && (!*p->name || before(c, p, p->name) || before(c, p, p->id)))
        return err_set(c->err, -EINVAL, "%s/name: empty or in use, expected a name of its own", pointer);
    if (e == 0 && strcmp(p->selector, RANK_SELECTOR) != 0 && strcmp(p->selector, BASIC_SELECTOR) != 0)
        return err_set(c->err, -EINVAL, "%s/selector: \"%.100s\", expected \"%s\" (rank) or \"%s\" (basic)",
                       pointer, p->selector, RANK_SELECTOR, BASIC_SELECTOR);
    if (e == 0 && p->balances.n > 1)
        return err_set(c->err, -EINVAL, "%s/balances: %u units, expected one at most", pointer,
                       p->balances.n);
    if (e < 0 || (e = check_uses(c, &p->filters, F, arena_printf(c->a, "%s/filters", pointer))) < 0 ||
        (e = check_uses(c, &p->weights, W, arena_printf(c->a, "%s/weights", pointer))) < 0 ||
        (e = check_uses(c, &p->balances, B, arena_printf(c->a, "%s/balances", pointer))) < 0)
        return e;
    return policies_check_properties(c, p, &p->properties, arena_printf(c->a, "%s/properties", pointer));
}

/* ---- values ---- */

bool policies_ranks(const struct policy *p)
{
    return strcmp(p->selector, RANK_SELECTOR) == 0;
}

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
