/* consumed.c: what servers consume of a host's state, so that servers of one request see one another: stages
 * that count it, and as an attribute the state that the host would have without the servers that count. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MB_PER_GB 1024
#define PCI_ALIAS "pci_passthrough:alias"
#define PCI_DEVICES "pci_devices" /* of flavours, and of hosts */
#define DISK_MB "disk_mb"
#define DEVICES_MAX 1000000
#define WHOLE_MAX 1e15

static const struct {
    const char *stage, *takes; /* the stage counts it; what a VM takes */
    const char *state;         /* of a host: an amount that is left, or a number of servers */
    bool left;
} consumptions[] = {
    [CONSUMED_RAM] = {"ram_mb", "$vm.mem_mb", "free_ram_mb", true},
    [CONSUMED_VCPUS] = {"vcpus", "$vm.vcpus", "free_vcpus", true},
    [CONSUMED_VCPUS_USED] = {"vcpus", "$vm.vcpus", "vcpus_used", false},
    [CONSUMED_DISK] = {"disk_mb", "$vm.flavor." DISK_MB, "free_disk_mb", true},
    [CONSUMED_INSTANCES] = {"instances", NULL, "num_instances", false},
    [CONSUMED_IO_OPS] = {"instances", NULL, "num_io_ops", false},
    [CONSUMED_PCI] = {"pci_devices", "$vm.flavor." PCI_DEVICES, PCI_DEVICES, true},
};

/* ---- stages ---- */

static const char *attribute_of(const struct cloud *c, enum consumed of)
{
    return arena_printf(c->a, "empty_%s", consumptions[of].state);
}

void consumed_count(json_t *stages, const char *name, const char *takes, const char *per, const char *over)
{
    size_t i;
    const json_t *stage;

    json_array_foreach(stages, i, stage)
    {
        if (json_object_get(stage, "count") &&
            strcmp(json_string_value(json_object_get(stage, "name")), name) == 0)
            return;
    }
    (void)json_array_append_new(stages, json_pack("{s: s, s: o, s: s*, s: s*, s: b}", "name", name, "count",
                                                  takes ? json_string(takes) : json_integer(1), "per", per,
                                                  "over", over, "off", true));
}

json_t *consumed_now(struct cloud *c, enum consumed of, json_t *stages)
{
    const char *stage = consumptions[of].stage;

    c->consumed |= 1u << of;
    consumed_count(stages, stage, consumptions[of].takes, NULL, NULL);
    return json_pack("[s, s, s]", consumptions[of].left ? "-" : "+",
                     arena_printf(c->a, ATTRIBUTE "%s", attribute_of(c, of)),
                     arena_printf(c->a, "$host.used.%s", stage));
}

/* Whether all hosts report a whole number there. */
static bool all_have(struct cloud *c, const char *field)
{
    const char *key = arena_printf(c->a, "whole:%s", field);
    const json_t *found = cloud_found(c, key);
    bool all = true;
    size_t i;
    const json_t *state;

    if (found)
        return json_is_true(found);
    json_array_foreach(c->states, i, state)
    {
        all = all && json_is_integer(json_object_get(state, field));
    }
    (void)cloud_keep(c, key, json_boolean(all));
    return all;
}

json_t *consumed_field(struct cloud *c, const char *field)
{
    static const enum consumed fields[] = {CONSUMED_RAM, CONSUMED_VCPUS_USED, CONSUMED_DISK,
                                           CONSUMED_INSTANCES, CONSUMED_IO_OPS};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(consumptions[fields[i]].state, field) == 0 && all_have(c, field))
            return consumed_now(c, fields[i], c->stages);
    return NULL;
}

/* ---- what a VM takes ---- */

/* The devices of "gpu:2, nic:1"; *ret_wrong: an entry that does not say how many, which asks for none. */
static json_int_t devices_asked(const struct cloud *c, const json_t *extra_specs, const char **ret_wrong)
{
    const char *alias = nova_python_str(json_object_get(extra_specs, PCI_ALIAS), c->a);
    struct words asked = alias ? nova_parts_split(alias, ',', c->a) : (struct words){0};
    json_int_t sum = 0;

    *ret_wrong = NULL;
    for (size_t i = 0; i < asked.n; i++) {
        const char *colon = strchr(asked.items[i], ':');
        json_int_t n;

        if (!colon || strchr(colon + 1, ':') || !nova_python_int(colon + 1, c->a, &n) || n < 0 ||
            n > DEVICES_MAX)
            *ret_wrong = asked.items[i];
        else
            sum += n;
    }
    return sum;
}

int consumed_check_devices(const struct cloud *c, const struct request *r)
{
    const char *wrong;

    (void)devices_asked(c, r->extra_specs, &wrong);
    return !wrong
               ? 0
               : err_set(c->err, -EINVAL,
                         "/flavors: \"%s\": extra_specs/%s has \"%s\", expected \"ALIAS:NUMBER\" with 0 to "
                         "%d devices",
                         r->flavor, PCI_ALIAS, wrong, DEVICES_MAX);
}

static json_int_t gb_of(const json_t *flavor, const char *key)
{
    json_int_t gb = json_integer_value(json_object_get(flavor, key));

    return gb > 0 ? gb < COUNT_MAX ? gb : COUNT_MAX : 0;
}

void consumed_ask(struct cloud *c, const struct request *r)
{
    const char *wrong;
    const json_t *flavor = r->flavor_json;
    json_int_t ephemeral_gb = gb_of(flavor, "OS-FLV-EXT-DATA:ephemeral");
    json_int_t disk_gb = gb_of(flavor, "disk") + (ephemeral_gb ? ephemeral_gb : gb_of(flavor, "ephemeral"));
    json_int_t devices = devices_asked(c, r->extra_specs, &wrong);
    const char *group = cloud_text(r->group, "id");

    if (disk_gb > 0)
        (void)vm_set(c, r, "flavor", DISK_MB, json_integer(disk_gb * MB_PER_GB));
    if (devices > 0)
        (void)vm_set(c, r, "flavor", PCI_DEVICES, json_integer(devices));
    if (group)
        (void)json_object_set_new(r->vm, "groups", json_pack("[s]", group));
}

/* What the VM takes of what the stage counts. */
static json_int_t taken_by(const json_t *vm, enum consumed of)
{
    switch (of) {
    case CONSUMED_RAM:
        return json_integer_value(json_object_get(vm, "mem_mb"));
    case CONSUMED_VCPUS:
    case CONSUMED_VCPUS_USED:
        return json_integer_value(json_object_get(vm, "vcpus"));
    case CONSUMED_DISK:
        return json_integer_value(json_object_get(json_object_get(vm, "flavor"), DISK_MB));
    case CONSUMED_PCI:
        return json_integer_value(json_object_get(json_object_get(vm, "flavor"), PCI_DEVICES));
    case CONSUMED_INSTANCES:
    case CONSUMED_IO_OPS:
    case CONSUMED_KINDS:
        break;
    }
    return 1;
}

/* ---- hosts ---- */

/* The devices of all pools. */
static json_int_t devices_of(const struct cloud *c, size_t host)
{
    json_int_t n = 0;
    size_t i;
    const json_t *pool;

    json_array_foreach(json_array_get(c->pools, host), i, pool)
    {
        json_int_t count = json_integer_value(json_object_get(pool, "count"));
        n += count > 0 && count <= DEVICES_MAX ? count : 0;
    }
    return n;
}

bool consumed_any_devices(struct cloud *c)
{
    const json_t *found = cloud_found(c, PCI_DEVICES);
    bool any = false;

    if (found)
        return json_is_true(found);
    for (size_t i = 0; i < json_array_size(c->pools) && !any; i++)
        any = devices_of(c, i) > 0;
    (void)cloud_keep(c, PCI_DEVICES, json_boolean(any));
    return any;
}

/* As the compute service resolves it: its record, the option, what the record begins with. */
static int cpu_ratio(const struct cloud *c, const json_t *state, double *ret)
{
    double given = json_number_value(json_object_get(state, "cpu_allocation_ratio"));
    double fixed;
    int e = conf_number(c, "DEFAULT", "cpu_allocation_ratio", 0, &fixed);

    if (e == 0)
        e = conf_number(c, "DEFAULT", "initial_cpu_allocation_ratio", CPU_RATIO_INITIAL, ret);
    if (given > 0 || fixed > 0)
        *ret = given > 0 ? given : fixed;
    return e;
}

/* The state of the host as reported; *ret_known: whether it is. */
static int state_of(const struct cloud *c, size_t host, enum consumed of, double *ret, bool *ret_known)
{
    const json_t *state = json_array_get(c->states, host);
    const json_t *value = json_object_get(state, consumptions[of].state);
    double ratio;
    int e = 0;

    *ret_known = true;
    if (of == CONSUMED_PCI) {
        *ret = (double)devices_of(c, host);
    } else if (of == CONSUMED_VCPUS) {
        e = cpu_ratio(c, state, &ratio);
        *ret = json_number_value(json_object_get(state, "vcpus_total")) * ratio -
               json_number_value(json_object_get(state, "vcpus_used"));
    } else {
        *ret_known = json_is_number(value);
        *ret = json_number_value(value);
    }
    return e;
}

static json_t *number_of(double v)
{
    return fabs(v) < WHOLE_MAX && v == floor(v) ? json_integer((json_int_t)v) : json_real(v);
}

/* What the VMs take of the host on which they are, be they on or off: CONSUMED_KINDS amounts. */
static double *list_taken(const struct cloud *c, const json_t *vms)
{
    double *ret = arena_array(c->a, double, (json_array_size(c->states) + 1) * CONSUMED_KINDS);
    json_t *hosts = json_object(); /* {node: its place} */
    size_t i;
    const json_t *of;

    json_array_foreach(c->states, i, of)
    {
        (void)json_object_set_new(hosts, json_string_value(json_object_get(of, "nodename")),
                                  json_integer((json_int_t)i));
    }
    json_array_foreach(vms, i, of)
    {
        const char *node = json_string_value(json_object_get(of, "host"));
        const json_t *host = node ? json_object_get(hosts, node) : NULL;

        for (int k = 0; host && k < CONSUMED_KINDS; k++)
            ret[json_integer_value(host) * CONSUMED_KINDS + k] += (double)taken_by(of, (enum consumed)k);
    }
    json_decref(hosts);
    return ret;
}

int consumed_set(struct cloud *c, const json_t *vms)
{
    const double *taken = c->consumed != 0 ? list_taken(c, vms) : NULL;
    size_t n = c->consumed != 0 ? json_array_size(c->states) : 0;

    for (size_t host = 0; host < n; host++) {
        for (int k = 0; k < CONSUMED_KINDS; k++) {
            double by = taken[host * CONSUMED_KINDS + (size_t)k];
            double is;
            bool known;

            if (!(c->consumed >> k & 1))
                continue;
            int e = state_of(c, host, (enum consumed)k, &is, &known);

            if (e < 0)
                return e;
            if (known)
                host_set(c, host, attribute_of(c, (enum consumed)k),
                         number_of(consumptions[k].left ? is + by : is - by));
        }
    }
    return 0;
}
