#include "cloud.h"

#include "base/rng.h"
#include "model/expression.h"
#include "model/generate.h"
#include "schema/json_tree.h"

#include <assert.h>
#include <string.h>

#define ZONES 4u
#define TENANTS 12u
#define PER_AGGREGATE 10u /* one host of so many is for tenants of its own */
#define PER_LICENCE 4u    /* one host of so many may run licensed images */
#define SSD_SHARE 0.3     /* of VMs on a host with SSD, and so on */
#define TRAIT_SHARE 0.2
#define HINT_SHARE 0.25
#define LICENCE_SHARE 0.5
#define VERSIONS 3
#define GROUP_HOSTS 4u   /* members of a server group, at most */
#define PER_GROUPED 5u   /* one VM of so many is in one */
#define PER_NUMA 5u      /* one host of so many has two NUMA cells and devices */
#define NUMA_SHARE 0.3   /* of VMs there, where they fit */
#define DEVICE_SHARE 0.1 /* of these VMs */
#define DEVICES 8u       /* in each cell */

struct generation {
    struct arena *a;
    struct inventory inv;
    struct rng rng;
    const uint32_t *host_of; /* VM -> host */
    uint32_t *vms_of;        /* VMs, host by host */
    uint32_t *first_of;      /* host -> the index of its first VM in vms_of; one entry more than hosts */
};

/* Zones first. */
enum { SSD = ZONES, OWN, LICENSED, GROUPS };

static const struct {
    const char *kind, *name, *key, *value;
} groups[GROUPS] = {
    {"zone", "east", NULL, NULL},
    {"zone", "north", NULL, NULL},
    {"zone", "south", NULL, NULL},
    {"zone", "west", NULL, NULL},
    [SSD] = {"aggregate", "ssd", "disk", "ssd"},
    [OWN] = {"aggregate", "own", "tenants", "tenant-1,tenant-2"},
    [LICENSED] = {"aggregate", "licensed", "os", "windows"},
};

/* NULL: the stage has no such part. */
static const struct {
    const char *name, *filter, *count, *limit, *per, *score, *multiplier;
} stages[] = {
    {"zone", "[\"or\", [\"not\", [\"given\", \"$vm.hints.zone\"]], "
             "[\"any_group\", \"zone\", [\"=\", \"$group.name\", \"$vm.hints.zone\"]]]"},
    {"tenants", "[\"all_groups\", \"aggregate\", [\"or\", [\"not\", [\"given\", \"$group.meta.tenants\"]], "
                "[\"in\", \"$vm.owner\", [\"split\", \"$group.meta.tenants\"]]]]"},
    {"disk", "[\"or\", [\"not\", [\"given\", \"$vm.flavor.disk\"]], "
             "[\"any_group\", \"aggregate\", [\"=\", \"$group.meta.disk\", \"$vm.flavor.disk\"]]]"},
    {"traits", "[\"has_all\", \"$host.traits\", [\"default\", \"$vm.flavor.trait\", \"HW_CPU_X86_AVX2\"]]"},
    {"licences", "[\"or\", [\"!=\", \"$vm.image.os\", \"windows\"], "
                 "[\"any_group\", \"aggregate\", [\"=\", \"$group.meta.os\", \"windows\"]]]"},
    {"version", "[\"version\", \"$host.attributes.hypervisor_version\", "
                "[\"default\", \"$vm.image.hypervisor_version\", \">=6\"]]"},
    {"vcpus", .count = "\"$vm.vcpus\"", .limit = "[\"*\", \"$host.cores\", 16]"},
    {"apart", .count = "1", .limit = "1", .per = "\"$vm.groups\""},
    {"free vcpus", .score = "\"$host.left.vcpus\""},
    {"keep ssd free",
     .score = "[\"if\", [\"any_group\", \"aggregate\", [\"=\", \"$group.meta.disk\", \"ssd\"]], "
              "[\"if\", [\"given\", \"$vm.flavor.disk\"], 1, 0], 1]",
     .multiplier = "0.5"},
};

static uint32_t zone_of(const struct generation *g, uint32_t h)
{
    return (uint32_t)((uint64_t)h * ZONES / g->inv.n_hosts);
}

static bool is_in(const struct generation *g, uint32_t h, uint32_t group)
{
    return group == SSD        ? h % 2 == 0
           : group == OWN      ? h % PER_AGGREGATE == 3
           : group == LICENSED ? h % PER_LICENCE == 0
                               : zone_of(g, h) == group;
}

static bool is_new(const struct generation *g, uint32_t h)
{
    return h >= g->inv.n_hosts / 3;
}

static bool chance(struct generation *g, double p)
{
    return rng_unit(&g->rng) < p;
}

static void add_group(struct generation *g, uint32_t ix)
{
    struct seen_group *group = inventory_add_group(&g->inv, g->a);
    const char **hosts = arena_array(g->a, const char *, g->inv.n_hosts);
    struct label *meta = arena_array(g->a, struct label, 1);

    group->is = (struct group_facts){.id = arena_printf(g->a, "%s-%s", groups[ix].kind, groups[ix].name),
                                     .name = groups[ix].name,
                                     .kind = groups[ix].kind};
    *meta = (struct label){groups[ix].key, groups[ix].value};
    if (groups[ix].key)
        group->is.meta = (struct labels){meta, 1};
    for (uint32_t h = 0; h < g->inv.n_hosts; h++)
        if (is_in(g, h, ix))
            hosts[group->hosts.n++] = g->inv.hosts[h].is.id;
    group->hosts.items = hosts;
}

typedef int read_expression(const struct reader *r, const struct node *n, void *at);

static void read_part(const struct reader *reader, const char *text, read_expression *read,
                      struct expression *ret)
{
    struct node *node;
    int r = text ? json_tree_parse(text, reader->a, &node, NULL) : 0;

    if (text && r == 0)
        r = read(reader, node, ret);
    assert(r == 0);
    (void)r;
}

static void add_pipeline(struct generation *g)
{
    const size_t n = sizeof stages / sizeof *stages;
    struct seen_pipeline *p = inventory_add_pipeline(&g->inv, g->a);
    struct stage_facts *items = arena_array(g->a, struct stage_facts, n);
    const struct reader reader = {.a = g->a};

    for (size_t i = 0; i < n; i++) {
        struct stage_facts *s = &items[i];

        read_part(&reader, stages[i].filter, expression_read, &s->filter);
        read_part(&reader, stages[i].count, expression_read_number, &s->count);
        read_part(&reader, stages[i].limit, expression_read_number, &s->limit);
        read_part(&reader, stages[i].per, expression_read_texts, &s->per);
        read_part(&reader, stages[i].score, expression_read_number, &s->score);
        read_part(&reader, stages[i].multiplier, expression_read_number, &s->multiplier);
        s->name = stages[i].name;
    }
    p->name = "cloud";
    p->stages = (struct objects){.items = items, .n = (uint32_t)n};
}

static void add_text(struct generation *g, struct attributes *to, const char *name, const char *text)
{
    struct attribute *items = arena_array(g->a, struct attribute, (size_t)to->n + 1);

    if (to->n > 0)
        memcpy(items, to->items, to->n * sizeof *items);
    items[to->n] = (struct attribute){name, {.type = VALUE_TEXT, .text = text}};
    *to = (struct attributes){items, to->n + 1};
}

static void fill_host(struct generation *g, uint32_t h)
{
    static const char *const traits[] = {"HW_CPU_X86_AVX2", "HW_CPU_X86_AVX512F"};
    static const char *const versions[VERSIONS] = {"6.5", "7.0.1", "8.2"};
    struct host_facts *f = &g->inv.hosts[h].is;

    f->traits = (struct ids){traits, is_new(g, h) ? 2 : 1};
    add_text(g, &f->attributes, "hypervisor_version", versions[is_new(g, h) ? 1 + rng_below(&g->rng, 2) : 0]);
}

static bool has_numa(uint32_t h)
{
    return h % PER_NUMA == 2;
}

/* Its cells, of half its CPUs and memory each, and their devices. */
static void add_cells(struct generation *g, struct host_facts *f)
{
    static const struct label properties[] = {{"product_id", "1520"}, {"vendor_id", "8086"}};
    struct numa_cell *cells = arena_array(g->a, struct numa_cell, 2);
    struct device_pool *pools = arena_array(g->a, struct device_pool, 2);

    for (uint32_t i = 0; i < 2; i++) {
        cells[i] = (struct numa_cell){.id = i,
                                      .cpus = f->cores / 2,
                                      .mem_mb = (uint32_t)(f->total[RES_MEM] - f->reserved[RES_MEM]) / 2,
                                      .cpu_ratio = 4,
                                      .cpu_ratio_given = true};
        pools[i] = (struct device_pool){.id = i == 0 ? "0" : "1",
                                        .count = DEVICES,
                                        .cell = i,
                                        .cell_given = true,
                                        .properties = {properties, 2}};
    }
    f->numa = (struct objects){cells, 2};
    f->device_pools = (struct objects){pools, 2};
}

static void add_device(struct generation *g, struct vm_facts *f, uint32_t cell)
{
    static const char *const pools[] = {"0", "1"};
    static const struct label properties[] = {{"product_id", "1520"}, {"vendor_id", "8086"}};
    static const struct device_spec spec = {.properties = {properties, 2}};
    struct device_request *request = arena_array(g->a, struct device_request, 1);

    *request = (struct device_request){
        .count = 1, .any_of = {&spec, 1}, .affinity = DEVICE_LEGACY, .pool = pools[cell]};
    f->device_requests = (struct objects){request, 1};
}

/* Some of the VMs of the host are in one of its cells each, as long as these have room. */
static void fill_cells(struct generation *g, uint32_t h)
{
    const struct numa_cell *cells = g->inv.hosts[h].is.numa.items;
    uint32_t cpus[2] = {0}, mem[2] = {0}, devices[2] = {0};

    for (uint32_t k = g->first_of[h]; k < g->first_of[h + 1]; k++) {
        struct vm_facts *f = &g->inv.vms[g->vms_of[k]].is;
        uint32_t to = mem[0] <= mem[1] ? 0 : 1;
        uint32_t mem_mb = (uint32_t)f->mem_mb;

        if (!chance(g, NUMA_SHARE) || f->vcpus > cells[to].cpus ||
            cpus[to] + f->vcpus > cells[to].cpu_ratio * cells[to].cpus || mem[to] + mem_mb > cells[to].mem_mb)
            continue;
        struct vm_numa_cell *cell = arena_array(g->a, struct vm_numa_cell, 1);

        *cell = (struct vm_numa_cell){.cpus = f->vcpus, .mem_mb = mem_mb, .cell = to, .cell_given = true};
        f->numa = (struct objects){cell, 1};
        cpus[to] += f->vcpus;
        mem[to] += mem_mb;
        if (devices[to] < DEVICES && chance(g, DEVICE_SHARE)) {
            add_device(g, f, to);
            devices[to]++;
        }
    }
}

/* What the VM's own host has. */
static void fill_vm(struct generation *g, struct seen_vm *v, uint32_t h)
{
    uint32_t tenants = is_in(g, h, OWN) ? 2 : TENANTS;

    v->pipeline = "cloud";
    v->is.owner = arena_printf(g->a, "tenant-%u", 1 + rng_below(&g->rng, tenants));
    add_text(g, &v->is.flavor, "name", arena_printf(g->a, "c%u.m%.0f", v->is.vcpus, v->is.mem_mb / 1024));
    if (is_in(g, h, SSD) && chance(g, SSD_SHARE))
        add_text(g, &v->is.flavor, "disk", "ssd");
    if (is_new(g, h) && chance(g, TRAIT_SHARE))
        add_text(g, &v->is.flavor, "trait", "HW_CPU_X86_AVX512F");
    add_text(g, &v->is.image, "os", is_in(g, h, LICENSED) && chance(g, LICENCE_SHARE) ? "windows" : "linux");
    if (is_new(g, h) && chance(g, TRAIT_SHARE))
        add_text(g, &v->is.image, "hypervisor_version", ">=7, <9");
    if (chance(g, HINT_SHARE))
        add_text(g, &v->is.hints, "zone", groups[zone_of(g, h)].name);
}

/* Some VMs are in a group of up to GROUP_HOSTS, each on a host of its own: the n-th VMs of neighbours. */
static void fill_vm_groups(struct generation *g)
{
    for (uint32_t h = 0; h < g->inv.n_hosts; h++)
        for (uint32_t i = g->first_of[h]; i < g->first_of[h + 1]; i++) {
            uint32_t rank = i - g->first_of[h];
            const char **ids = arena_array(g->a, const char *, 1);

            if (rank % PER_GROUPED != 0)
                continue;
            ids[0] = arena_printf(g->a, "group-%u-%u", h / GROUP_HOSTS, rank);
            g->inv.vms[g->vms_of[i]].is.groups = (struct ids){ids, 1};
        }
}

/* Which VMs are on which host. */
static void deal(struct generation *g)
{
    const size_t n = g->inv.n_vms;
    uint32_t *host_of = arena_array(g->a, uint32_t, n);
    uint32_t k = 0;

    g->host_of = host_of;
    g->vms_of = arena_array(g->a, uint32_t, n);
    g->first_of = arena_array(g->a, uint32_t, g->inv.n_hosts + 1);
    for (uint32_t h = 0; h < g->inv.n_hosts; h++) {
        g->first_of[h] = k;
        for (uint32_t i = 0; i < n; i++)
            if (strcmp(g->inv.vms[i].host, g->inv.hosts[h].is.id) == 0) {
                host_of[i] = h;
                g->vms_of[k++] = i;
            }
    }
    g->first_of[g->inv.n_hosts] = k;
}

int cloud_generate(uint32_t hosts, uint32_t vms, uint64_t seed, struct arena *a, struct inventory *ret,
                   struct err *err)
{
    const struct generate_options options = {hosts, vms, seed, SHAPE_SKEWED};
    struct generation g = {.a = a, .rng = {.state = seed}};
    int r = generate(&options, a, &g.inv, err);

    if (r < 0)
        return r;
    deal(&g);
    for (uint32_t i = 0; i < GROUPS; i++)
        add_group(&g, i);
    add_pipeline(&g);
    for (uint32_t h = 0; h < hosts; h++)
        fill_host(&g, h);
    for (uint32_t i = 0; i < vms; i++)
        fill_vm(&g, &g.inv.vms[i], g.host_of[i]);
    fill_vm_groups(&g);
    for (uint32_t h = 0; h < hosts; h++)
        if (has_numa(h)) {
            add_cells(&g, &g.inv.hosts[h].is);
            fill_cells(&g, h);
        }
    *ret = g.inv;
    return 0;
}
