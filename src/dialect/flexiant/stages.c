/* stages.c: the steps of the placement of one server as the stages of a pipeline. */
#include "dialect/flexiant/internal.h"

#include <ballast/facts.h>

#include <errno.h>
#include <math.h>
#include <string.h>

/* Proximities are counted in this many parts, because a count keeps three digits behind the point. */
#define PROXIMITY_ONE 1000000
#define RAM_USED "ram"
#define CPUS_USED "vcpus"

const struct cluster *flexiant_cluster(const struct cloud *c, const struct server *s)
{
    return flexiant_find(c, CLUSTERS, ((const struct owned *)flexiant_find(c, VDCS, s->vdc))->cluster);
}

double stages_ram_ratio(const struct cloud *c, const struct node_of_cloud *n)
{
    return n->ram_ratio > 0 ? n->ram_ratio : c->settings.ram_ratio;
}

double stages_cpu_ratio(const struct cloud *c, const struct node_of_cloud *n)
{
    return n->cpu_ratio > 0 ? n->cpu_ratio : c->settings.cpu_ratio;
}

/* "must exceed": a whole thousandth less than what is there. */
double stages_ram_limit(const struct cloud *c, const struct node_of_cloud *n)
{
    const double thousandth = 1000;
    const double rounding = 1e-4; /* of a product with a ratio such as 1.1 */

    return (ceil(n->ram_mb * stages_ram_ratio(c, n) * thousandth - rounding) - 1) / thousandth -
           c->settings.ram_overhead_mb;
}

/* ---- expressions ---- */

static json_t *operation(const char *op, json_t *x, json_t *y)
{
    return json_pack("[s, o, o]", op, x, y);
}

static json_t *variable(const struct cloud *c, const char *of, const char *name)
{
    return json_string(arena_printf(c->a, "%s%s", of, name));
}

/* A text that begins with "$" would be a variable. */
static json_t *text(const struct cloud *c, const char *is)
{
    return json_string(is[0] == '$' ? arena_printf(c->a, "$%s", is) : is);
}

/* 1 less the difference, and 0 from a difference of 1 on. */
static json_t *proximity_to(json_t *of, json_t *target)
{
    json_t *above = operation("-", of, target);
    json_t *below = operation("-", json_incref(target), json_incref(of));

    return operation("max", json_integer(0), operation("-", json_integer(1), operation("max", above, below)));
}

static json_t *proximity(json_t *of, double target)
{
    return proximity_to(of, json_real(target));
}

/* ---- stages ---- */

static json_t *add_stage(json_t *stages, const char *name)
{
    json_t *stage = json_pack("{s: s}", "name", name);

    (void)json_array_append_new(stages, stage);
    return stage;
}

static void add_score(json_t *stages, const char *name, json_t *score, double weight)
{
    json_t *stage = add_stage(stages, name);

    (void)json_object_set_new(stage, "score", score);
    (void)json_object_set_new(stage, "normalise", json_string("none"));
    (void)json_object_set_new(stage, "multiplier", json_real(weight));
}

static void add_cluster(const struct cloud *c, const struct server *s, json_t *stages)
{
    if (c->lists[CLUSTERS].n > 1)
        (void)json_object_set_new(
            add_stage(stages, "cluster"), "filter",
            operation("=", json_string("$host.attributes.cluster"), text(c, flexiant_cluster(c, s)->r.id)));
}

/* Step 1. The counts are there for the shares of step 4, too. */
static void add_constraints(const struct cloud *c, json_t *stages)
{
    json_t *ram = add_stage(stages, RAM_USED);

    (void)json_object_set_new(ram, "count", json_string("$vm.mem_mb"));
    (void)json_object_set_new(ram, "limit", json_string("$host.attributes.ram_limit_mb"));
    (void)json_object_set_new(add_stage(stages, CPUS_USED), "count", json_string("$vm.vcpus"));
    (void)json_object_set_new(
        add_stage(stages, "free ram"), "filter",
        operation(">", json_string("$host.free_mem_mb"),
                  operation("+", json_string("$vm.mem_mb"), json_real(c->settings.ram_overhead_mb))));
}

/* Of what is there, as the node's ratio stretches it. */
static json_t *share(const char *used, const char *of)
{
    return operation("min", json_integer(1), operation("/", json_string(used), json_string(of)));
}

/* The node's value of a system key; NULL: the nodes of the cluster have none. */
static json_t *system_value(const struct cloud *c, const struct cluster *cluster, const char *name)
{
    double is;

    if (strcmp(name, "#RAM") == 0)
        return share("$host.used." RAM_USED, "$host.attributes.ram_mb");
    if (strcmp(name, "#CPU") == 0)
        return share("$host.used." CPUS_USED, "$host.attributes.vcpus");
    if (strcmp(name, "#LOAD") == 0)
        return json_string("$host.attributes.load");
    for (uint32_t i = 0; i < c->lists[NODES].n; i++) {
        const struct node_of_cloud *n = flexiant_item(c, NODES, i);
        if (strcmp(n->cluster, cluster->r.id) == 0 && keys_of_node(n, name, &is))
            return variable(c, "$host.attributes." KEY_PREFIX, name);
    }
    return NULL;
}

/* The hint of the VM, or this. */
static json_t *hint_or(const struct cloud *c, const char *prefix, const char *name, double otherwise)
{
    return operation("default", variable(c, prefix, name), json_real(otherwise));
}

/* The copy of a sticky key that the server was given counts; without one the key of a higher level. */
static json_t *copy_score(const struct cloud *c, const struct compiled_key *k, json_t *is)
{
    json_t *target = hint_or(c, "$vm.hints." COPY_PREFIX, k->name, k->value);

    return operation("*", hint_or(c, "$vm.hints." STICKY_PREFIX, k->name, k->weight),
                     proximity_to(is, target));
}

/* Step 4. */
static void add_system_round(const struct cloud *c, const struct server *s, const struct compiled_keys *keys,
                             json_t *stages)
{
    const struct cloud_settings *set = &c->settings;

    for (uint32_t i = 0; i < keys->n; i++) {
        const struct compiled_key *k = &keys->items[i];
        json_t *is = system_value(c, flexiant_cluster(c, s), k->name);

        if (is)
            add_score(stages, arena_printf(c->a, "system %s", k->name),
                      k->copy ? copy_score(c, k, is) : proximity(is, k->value), k->copy ? 1 : k->weight);
    }
    (void)json_object_set_new(add_stage(stages, "threshold"), "cut",
                              json_pack("{s: f, s: f, s: I}", "from", set->initial_msav, "to",
                                        set->final_msav, "steps", (json_int_t)set->msav_steps));
}

/* Step 5: the proximities to the keys of all servers on the node are counted, and to its own reserved key. */
static void add_customer_round(const struct cloud *c, const struct compiled_keys *keys, json_t *stages)
{
    for (uint32_t i = 0; i < keys->n; i++) {
        const struct compiled_key *k = &keys->items[i];
        const char *near = arena_printf(c->a, "near %s", k->name);
        json_t *theirs = proximity(variable(c, "$vm.hints." KEY_PREFIX, k->name), k->value);
        json_t *score = operation("/", variable(c, "$host.used.", near), json_integer(PROXIMITY_ONE));

        (void)json_object_set_new(add_stage(stages, near), "count",
                                  operation("*", json_integer(PROXIMITY_ONE), theirs));
        if (k->name[0] == HIDDEN_RESERVED) {
            json_t *node = proximity(variable(c, "$host.attributes." KEY_PREFIX, k->name), k->value);
            score = operation("+", score, operation("default", node, json_integer(0)));
        }
        add_score(stages, arena_printf(c->a, "customer %s", k->name), score, k->weight);
    }
    (void)json_object_set_new(add_stage(stages, "tie"), "pick",
                              json_pack("{s: b, s: I}", "shuffle", 1, "seed", (json_int_t)c->settings.seed));
}

int stages_compile(const struct cloud *c, const struct server *s, json_t **ret)
{
    const struct disk *primary = s->disks.n > 0 ? s->disks.items : NULL;
    const struct server_keys keys = keys_compile(c, s);
    json_t *stages = json_array();

    add_cluster(c, s, stages);
    if (flexiant_cluster(c, s)->local_storage && primary && primary->node) {
        (void)json_object_set_new(add_stage(stages, "primary disk"), "filter",
                                  operation("=", json_string("$host.id"), text(c, primary->node)));
    } else {
        add_constraints(c, stages);
        add_system_round(c, s, &keys.system, stages);
        add_customer_round(c, &keys.customer, stages);
    }
    *ret = stages;
    if (json_array_size(stages) <= STAGES_MAX)
        return 0;
    return err_set(
        c->err, -EINVAL,
        "/servers: \"%.100s\" has %u keys that nodes have, and %u of customers: %zu stages, expected "
        "at most %d",
        s->r.id, keys.system.n, keys.customer.n, json_array_size(stages), STAGES_MAX);
}
