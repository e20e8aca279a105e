/* quantities.c: resource classes of the placement service: what hosts have (inventories, allocation ratios,
 * reserved amounts) and what VMs take. Each host is a provider by itself: no nested and no shared ones. */
#include "base/texts.h"
#include "dialect/nova/internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define PREFIX "resources"
#define SUFFIX_MAX 64
#define AMOUNT_MAX 1e12
#define MB_PER_GB 1024
#define RATIO_LEAST 0.1 /* of the setting mem_overcommit */
#define RATIO_MOST 10

/* The classes that each host has, with the options of nova.conf and the fields of hypervisors. */
static const struct base_class {
    const char *name, *total, *used, *ratio;
    double initial_ratio;
    const char *reserved;
    json_int_t reserved_default;
    bool reserved_in_mb; /* and rounded up to GB */
} bases[] = {
    {"VCPU", "vcpus", "vcpus_used", "cpu_allocation_ratio", CPU_RATIO_INITIAL, "reserved_host_cpus", 0,
     false},
    {"MEMORY_MB", "memory_mb", "memory_mb_used", "ram_allocation_ratio", 1.5, "reserved_host_memory_mb", 512,
     false},
    {"DISK_GB", "local_gb", "local_gb_used", "disk_allocation_ratio", 1.0, "reserved_host_disk_mb", 0, true},
};

#define N_BASES (sizeof bases / sizeof *bases)

static const char *const standard_classes[] = {
    "VCPU",
    "MEMORY_MB",
    "DISK_GB",
    "PCI_DEVICE",
    "SRIOV_NET_VF",
    "NUMA_SOCKET",
    "NUMA_CORE",
    "NUMA_THREAD",
    "NUMA_MEMORY_MB",
    "IPV4_ADDRESS",
    "VGPU",
    "VGPU_DISPLAY_HEAD",
    "NET_BW_EGR_KILOBIT_PER_SEC",
    "NET_BW_IGR_KILOBIT_PER_SEC",
    "PCPU",
    "MEM_ENCRYPTION_CONTEXT",
    "FPGA",
    "PGPU",
    "NET_PACKET_RATE_KILOPACKET_PER_SEC",
    "NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC",
    "NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC",
};

static bool is_class(const char *name)
{
    return texts_have(standard_classes, sizeof standard_classes / sizeof *standard_classes, name) ||
           strncmp(name, "CUSTOM_", strlen("CUSTOM_")) == 0;
}

/* ---- inventories ---- */

static int read_size(const struct cloud *c, const json_t *of, const char *key, const char *where, double *ret)
{
    const json_t *value = json_object_get(of, key);

    if (!value || json_is_null(value))
        return 0;
    *ret = json_number_value(value);
    return json_is_number(value) && *ret >= 0 && *ret <= AMOUNT_MAX
               ? 0
               : err_set(c->err, -EINVAL, "%s/%s: expected 0 to %.0f", where, key, AMOUNT_MAX);
}

/* A positive ratio of nova.conf; 0: not set. */
static int conf_ratio(const struct cloud *c, const char *option, double *ret)
{
    const char *text = conf_text(c, "DEFAULT", option);

    if (!text)
        return 0;
    return nova_python_float(text, c->a, ret) && *ret >= 0 && *ret <= AMOUNT_MAX
               ? 0
               : err_set(c->err, -EINVAL,
                         "nova.conf: [DEFAULT] %s is \"%s\", expected a number of at least 0", option, text);
}

struct inventory_of {
    double total, reserved, ratio, min_unit, max_unit, step;
};

static void put_inventory(json_t *to, const char *name, const struct inventory_of *of)
{
    (void)json_object_set_new(to, name,
                              json_pack("{s: f, s: f, s: f, s: f, s: f, s: f}", "total", of->total,
                                        "reserved", of->reserved, "ratio", of->ratio, "min_unit",
                                        of->min_unit, "max_unit", of->max_unit, "step", of->step));
}

/* The inventory of a class that the placement service lists. */
static int read_listed(const struct cloud *c, const json_t *of, const char *where, struct inventory_of *ret)
{
    static const char *const keys[] = {"total",    "reserved", "allocation_ratio",
                                       "min_unit", "max_unit", "step_size"};
    double *const to[] = {&ret->total,    &ret->reserved, &ret->ratio,
                          &ret->min_unit, &ret->max_unit, &ret->step};
    int e = 0;

    *ret = (struct inventory_of){.ratio = 1, .min_unit = 1, .max_unit = AMOUNT_MAX, .step = 1};
    for (size_t i = 0; e == 0 && i < sizeof keys / sizeof *keys; i++)
        e = read_size(c, of, keys[i], where, to[i]);
    return e;
}

/* The ratio that the compute service gives a class: the fixed one of nova.conf, or the one that its provider
 * has, or the initial one. */
static int read_ratio(const struct cloud *c, const struct base_class *base, const json_t *hypervisor,
                      const json_t *listed, double *ret)
{
    double fixed = 0;
    double initial = base->initial_ratio;
    const json_t *external = json_object_get(listed, "allocation_ratio");
    const json_t *of_node = json_object_get(hypervisor, base->ratio);
    int e = conf_ratio(c, base->ratio, &fixed);

    if (e < 0 || (e = conf_ratio(c, arena_printf(c->a, "initial_%s", base->ratio), &initial)) < 0)
        return e;
    *ret = fixed > 0                        ? fixed
           : json_is_number(external)       ? json_number_value(external)
           : json_number_value(of_node) > 0 ? json_number_value(of_node)
                                            : initial;
    return 0;
}

/* A base class of a host, by its inventory or by the hypervisor's figures. *ret_known: the host has it. */
static int read_base(const struct cloud *c, const struct base_class *base, const json_t *hypervisor,
                     const json_t *listed, const char *where, struct inventory_of *ret, bool *ret_known)
{
    const json_t *total = json_object_get(hypervisor, base->total);
    json_int_t reserved = base->reserved_default;
    int e = read_listed(c, listed, where, ret);

    *ret_known = listed || json_is_integer(total);
    if (e < 0 || !*ret_known || (e = conf_whole(c, "DEFAULT", base->reserved, reserved, &reserved)) < 0)
        return e;
    if (!json_object_get(listed, "total"))
        e = read_size(c, hypervisor, base->total, where, &ret->total);
    if (!json_object_get(listed, "max_unit"))
        ret->max_unit = listed ? AMOUNT_MAX : ret->total;
    if (!json_object_get(listed, "reserved"))
        ret->reserved = base->reserved_in_mb ? ceil((double)reserved / MB_PER_GB) : (double)reserved;
    return e < 0 ? e : read_ratio(c, base, hypervisor, listed, &ret->ratio);
}

static const char *where_of(const struct cloud *c, size_t host, const char *name)
{
    return arena_printf(c->a, "/hypervisors/%zu/inventories/%s", host, name);
}

static int read_host(const struct cloud *c, size_t host, const json_t *hypervisor, json_t *ret)
{
    const json_t *listed = json_object_get(hypervisor, "inventories");
    struct inventory_of of;
    const char *name;
    json_t *one;
    bool known;
    int e = 0;

    if (listed && !json_is_object(listed))
        return err_set(c->err, -EINVAL, "/hypervisors/%zu/inventories: expected {CLASS: {\"total\": N, ...}}",
                       host);
    if (json_is_object(json_object_get(listed, "inventories"))) /* as GET .../inventories answers */
        listed = json_object_get(listed, "inventories");
    for (size_t i = 0; e == 0 && i < N_BASES; i++) {
        const json_t *of_class = json_object_get(listed, bases[i].name);
        if (listed && !of_class)
            continue;
        e = read_base(c, &bases[i], hypervisor, of_class, where_of(c, host, bases[i].name), &of, &known);
        if (e == 0 && known)
            put_inventory(ret, bases[i].name, &of);
    }
    json_object_foreach((json_t *)listed, name, one)
    {
        if (e < 0 || json_object_get(ret, name))
            continue;
        if (!is_class(name))
            return err_set(c->err, -EINVAL, "%s: no resource class, expected VCPU, CUSTOM_X and so on",
                           where_of(c, host, name));
        if ((e = read_listed(c, one, where_of(c, host, name), &of)) == 0)
            put_inventory(ret, name, &of);
    }
    return e;
}

int quantities_read_inventories(struct cloud *c)
{
    size_t i;
    const json_t *hypervisor;

    json_array_foreach(json_object_get(c->lists, "hypervisors"), i, hypervisor)
    {
        json_t *of = json_object();
        (void)json_array_append_new(c->inventories, of);
        int e = read_host(c, i, hypervisor, of);
        if (e < 0)
            return e;
    }
    return 0;
}

static bool any_host_has(const struct cloud *c, const char *name)
{
    size_t i;
    const json_t *of;

    json_array_foreach(c->inventories, i, of)
    {
        if (json_object_get(of, name))
            return true;
    }
    return false;
}

static double field(const json_t *of, const char *key)
{
    return json_number_value(json_object_get(of, key));
}

double quantities_mem_ratio(const struct cloud *c)
{
    double ret = 0;
    size_t i;
    const json_t *of;

    json_array_foreach(c->inventories, i, of)
    {
        ret = fmax(ret, field(json_object_get(of, "MEMORY_MB"), "ratio"));
    }
    return ret > 0 ? fmin(fmax(ret, RATIO_LEAST), RATIO_MOST) : 1;
}

/* ---- what VMs take ---- */

struct asked {
    json_t *amounts; /* {class: amount} */
    json_t *groups;  /* {suffix: whether it asks for an amount} */
};

/* A key such as "resources:VCPU" or "resources1:CUSTOM_X". */
static bool is_spec(const char *key, const char *word, const char **ret_name, size_t *ret_suffix)
{
    const char *colon = strchr(key, ':');

    if (!colon || strncmp(key, word, strlen(word)) != 0)
        return false;
    const char *suffix = key + strlen(word);

    *ret_name = colon + 1;
    *ret_suffix = (size_t)(colon - suffix);
    return suffix <= colon && *ret_suffix <= SUFFIX_MAX;
}

static void read_specs(const struct cloud *c, const struct request *r, struct asked *ret)
{
    const char *key;
    json_t *value;
    const char *name;
    size_t suffix;
    json_int_t amount;

    json_object_foreach((json_t *)r->extra_specs, key, value)
    {
        const char *text = nova_python_str(value, c->a);

        if (is_spec(key, "trait", &name, &suffix) && suffix > 0) {
            const char *group = arena_strndup(c->a, key + strlen("trait"), suffix);
            if (!json_object_get(ret->groups, group))
                (void)json_object_set_new(ret->groups, group, json_false());
        }
        if (!is_spec(key, PREFIX, &name, &suffix) || !is_class(name) || !text ||
            !nova_python_int(text, c->a, &amount) || amount < 0)
            continue;
        if (suffix > 0 && amount > 0)
            (void)json_object_set_new(ret->groups, arena_strndup(c->a, key + strlen(PREFIX), suffix),
                                      json_true());
        amount += json_integer_value(json_object_get(ret->amounts, name));
        (void)json_object_set_new(ret->amounts, name, json_integer(amount));
    }
}

static bool asks(const struct asked *of, const char *name)
{
    return json_object_get(of->amounts, name) != NULL;
}

static void ask_for(const struct cloud *c, struct asked *of, const char *name, json_int_t amount)
{
    if (!asks(of, name) && any_host_has(c, name))
        (void)json_object_set_new(of->amounts, name, json_integer(amount));
}

static json_int_t whole(const struct cloud *c, const json_t *of, const char *key)
{
    const char *text = nova_python_str(json_object_get(of, key), c->a);
    json_int_t ret = 0;

    return text && nova_python_int(text, c->a, &ret) && ret > 0 ? ret : 0; /* swap may be "" */
}

static json_int_t disk_of(const struct cloud *c, const struct request *r)
{
    json_int_t swap = whole(c, r->flavor_json, "swap");
    json_int_t ephemeral = whole(c, r->flavor_json, "OS-FLV-EXT-DATA:ephemeral");

    ephemeral = ephemeral ? ephemeral : whole(c, r->flavor_json, "ephemeral");
    return ephemeral + (swap + MB_PER_GB - 1) / MB_PER_GB +
           (r->of_volume ? 0 : whole(c, r->flavor_json, "disk"));
}

static const char *cpu_policy(const struct request *r)
{
    const char *of_flavor = json_string_value(json_object_get(r->extra_specs, "hw:cpu_policy"));
    const char *of_image = json_string_value(json_object_get(r->image, "hw_cpu_policy"));

    return of_flavor ? of_flavor : of_image ? of_image : "";
}

/* CPUs of its own are another class. */
static int ask_for_cpus(const struct cloud *c, const struct request *r, struct asked *of)
{
    const char *policy = cpu_policy(r);
    const char *emulator = json_string_value(json_object_get(r->extra_specs, "hw:emulator_threads_policy"));
    json_int_t cpus = whole(c, r->flavor_json, "vcpus");

    if (strcmp(policy, "mixed") == 0)
        return err_set(c->err, -EINVAL, "/flavors: \"%s\": hw:cpu_policy \"mixed\" is not known here",
                       r->flavor);
    if (strcmp(policy, "dedicated") == 0 && !asks(of, "VCPU") && !asks(of, "PCPU"))
        (void)json_object_set_new(of->amounts, "PCPU",
                                  json_integer(cpus + (emulator && strcmp(emulator, "isolate") == 0)));
    if (!asks(of, "VCPU") && !asks(of, "PCPU"))
        ask_for(c, of, "VCPU", cpus);
    return 0;
}

/* Several groups of one host need the policy "none"; a group of traits alone is an error there. */
static bool groups_fit(const struct request *r, const json_t *groups)
{
    const char *policy = json_string_value(json_object_get(r->extra_specs, "group_policy"));
    const char *key;
    json_t *has_amount;

    json_object_foreach((json_t *)groups, key, has_amount)
    {
        if (!json_is_true(has_amount))
            return false;
    }
    return json_object_size(groups) < 2 || (policy && strcmp(policy, "none") == 0);
}

/* The different steps of the hosts: {text: number}. */
static const json_t *steps_of_class(struct cloud *c, const char *name)
{
    const char *key = arena_printf(c->a, "steps:%s", name);
    json_t *steps = cloud_found(c, key);
    size_t i;
    const json_t *of;

    if (steps)
        return steps;
    steps = cloud_keep(c, key, json_object());
    json_array_foreach(c->inventories, i, of)
    {
        double step = field(json_object_get(of, name), "step");
        if (step > 0)
            (void)json_object_set_new(steps, arena_printf(c->a, "%.0f", step), json_real(step));
    }
    return steps;
}

/* The steps of all hosts that the amount is a multiple of; a step of 1 for all: none. */
static void set_steps(struct cloud *c, const struct request *r, const char *name, json_int_t amount)
{
    json_t *steps = json_array();
    bool any = false;
    const char *text;
    json_t *step;

    json_object_foreach((json_t *)steps_of_class(c, name), text, step)
    {
        any = any || json_number_value(step) != 1;
        if (fmod((double)amount, json_number_value(step)) == 0)
            (void)json_array_append_new(steps, json_string(text));
    }
    if (any)
        (void)vm_set(c, r, "flavor", arena_printf(c->a, "steps:%s", name), json_incref(steps));
    json_decref(steps);
}

int quantities_ask(struct cloud *c, const struct request *r)
{
    struct asked of = {.amounts = json_object(), .groups = json_object()};
    const char *name;
    json_t *amount;

    read_specs(c, r, &of);
    int e = ask_for_cpus(c, r, &of);

    ask_for(c, &of, "MEMORY_MB", whole(c, r->flavor_json, "ram"));
    ask_for(c, &of, "DISK_GB", disk_of(c, r));
    json_object_foreach(of.amounts, name, amount)
    {
        if (json_integer_value(amount) == 0)
            continue;
        (void)vm_set(c, r, "flavor", arena_printf(c->a, PREFIX ":%s", name), json_incref(amount));
        set_steps(c, r, name, json_integer_value(amount));
    }
    if (!groups_fit(r, of.groups))
        (void)vm_set(c, r, "flavor", "separate_providers", json_true());
    json_decref(of.amounts);
    json_decref(of.groups);
    return e;
}

/* ---- stages ---- */

/* Whether a host has the unit of another value than `usual`; then all have the attribute. */
static bool set_unit(struct cloud *c, const char *name, const char *unit, double usual)
{
    const char *attribute = arena_printf(c->a, "%s:%s", name, unit);
    const json_t *found = cloud_found(c, attribute);
    bool ret = false;
    size_t i;
    const json_t *of;

    if (found)
        return json_is_true(found);
    json_array_foreach(c->inventories, i, of)
    {
        const json_t *one = json_object_get(of, name);
        ret = ret || (one && field(one, unit) != usual);
    }
    json_array_foreach(c->inventories, i, of)
    {
        const json_t *one = json_object_get(of, name);
        if (ret && one)
            host_set(c, i, attribute, json_real(field(one, unit)));
    }
    (void)cloud_keep(c, attribute, json_boolean(ret));
    return ret;
}

static void set_step_texts(struct cloud *c, const char *name)
{
    const char *attribute = arena_printf(c->a, "%s:step", name);
    size_t i;
    const json_t *of;

    if (cloud_found(c, attribute))
        return;
    (void)cloud_keep(c, attribute, json_true());
    json_array_foreach(c->inventories, i, of)
    {
        const json_t *one = json_object_get(of, name);
        if (one)
            host_set(c, i, attribute, json_string(arena_printf(c->a, "%.0f", field(one, "step"))));
    }
}

/* The amount is at least the least unit of the host, at most the greatest, and a multiple of its step. */
static void add_units(struct cloud *c, const char *name, const char *variable, json_t *all)
{
    const char *attribute = arena_printf(c->a, ATTRIBUTE "%s:", name);
    const char *steps = arena_printf(c->a, "$vm.flavor.steps:%s", name);
    json_t *of_class = json_pack("[s]", "and");

    if (set_unit(c, name, "min_unit", 1))
        (void)json_array_append_new(of_class, json_pack("[s, s, s+]", ">=", variable, attribute, "min_unit"));
    if (set_unit(c, name, "max_unit", AMOUNT_MAX))
        (void)json_array_append_new(of_class, json_pack("[s, s, s+]", "<=", variable, attribute, "max_unit"));
    if (vm_given(c, steps)) {
        set_step_texts(c, name);
        (void)json_array_append_new(of_class, json_pack("[s, s+, s]", "in", attribute, "step", steps));
    }
    if (json_array_size(of_class) > 1)
        (void)json_array_append_new(all, vm_unless_given(variable, of_class));
    else
        json_decref(of_class);
}

static void add_count(const char *name, const char *variable, json_t *stages)
{
    (void)json_array_append_new(stages,
                                json_pack("{s: s, s: [s, s, i], s: s+}", "name", name, "count", "default",
                                          variable, 0, "limit", "$host.quantities.", name));
}

void quantities_add_stages(struct cloud *c, json_t *stages)
{
    const char *const start = "$vm.flavor." PREFIX ":";
    json_t *all = json_pack("[s]", "and");
    const char *variable;
    json_t *value;

    if (vm_given(c, "$vm.flavor.separate_providers"))
        (void)json_array_append_new(stages, json_pack("{s: s, s: [s, s]}", "name", "group_policy", "filter",
                                                      "not", "$vm.flavor.separate_providers"));
    json_object_foreach(c->given, variable, value)
    {
        if (strncmp(variable, start, strlen(start)) == 0)
            add_units(c, variable + strlen(start), variable, all);
    }
    if (json_array_size(all) > 1)
        (void)json_array_append_new(stages,
                                    json_pack("{s: s, s: O}", "name", "inventory_units", "filter", all));
    json_decref(all);
    json_object_foreach(c->given, variable, value)
    {
        if (strncmp(variable, start, strlen(start)) == 0)
            add_count(variable + strlen(start), variable, stages);
    }
}

/* ---- quantities of hosts ---- */

void quantities_take(json_t *taken, const json_t *vm, bool on)
{
    const char *key;
    json_t *amount;

    json_object_foreach(json_object_get(vm, "flavor"), key, amount)
    {
        const char *name = key + strlen(PREFIX ":");

        if (strncmp(key, PREFIX ":", strlen(PREFIX ":")) != 0)
            continue;
        json_t *of = json_object_get(taken, name);
        if (!of) {
            of = json_object();
            (void)json_object_set_new(taken, name, of);
        }
        const char *which = on ? "on" : "off";
        (void)json_object_set_new(
            of, which,
            json_integer(json_integer_value(json_object_get(of, which)) + json_integer_value(amount)));
    }
}

/* What is taken by report; negative: nothing is reported. The compute service counts what is reserved as
 * used, the placement service does not. */
static double reported_use(const struct cloud *c, size_t host, const char *name, double reserved)
{
    const json_t *hypervisor = json_array_get(json_object_get(c->lists, "hypervisors"), host);
    const json_t *usages = json_object_get(hypervisor, "usages");

    if (json_is_object(json_object_get(usages, "usages")))
        usages = json_object_get(usages, "usages");
    if (usages)
        return field(usages, name);
    for (size_t i = 0; i < N_BASES; i++) {
        const json_t *used = json_object_get(hypervisor, bases[i].used);
        if (strcmp(bases[i].name, name) == 0 && json_is_number(used))
            return fmax(0, json_number_value(used) - reserved);
    }
    return -1;
}

json_t *quantities_of_host(const struct cloud *c, size_t host, const json_t *taken)
{
    json_t *ret = json_object();
    const char *name;
    json_t *of;

    json_object_foreach(json_array_get(c->inventories, host), name, of)
    {
        const json_t *by_servers = json_object_get(taken, name);
        double reserved = fmin(field(of, "reserved"), field(of, "total"));
        double capacity = (field(of, "total") - reserved) * field(of, "ratio");
        double reported = reported_use(c, host, name, reserved);
        double elsewhere = fmax(field(by_servers, "off"), reported - field(by_servers, "on"));
        json_t *q = capacity == floor(capacity)
                        ? json_pack("{s: f, s: f, s: f}", "total", field(of, "total"), "reserved", reserved,
                                    "ratio", field(of, "ratio"))
                        : json_pack("{s: f}", "total", floor(capacity)); /* amounts are whole */

        if (elsewhere > 0)
            (void)json_object_set_new(q, "used_elsewhere", json_real(elsewhere));
        (void)json_object_set_new(ret, name, q);
    }
    return ret;
}
