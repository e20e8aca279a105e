/* predicates.c: conditions between a VM and a host that no move changes, each a function; classes.c asks
 * them. A VM that a condition does not concern passes everywhere. */
#include "base/number.h"
#include "dialect/ovirt/internal.h"

#include <math.h>
#include <string.h>

#define ARRANGEMENTS_MOST 20000
#define NODES_MOST 64

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static bool is_home(const struct pair *p)
{
    return p->vm->host != NONE && HOST(p->c, p->vm->host) == p->host;
}

/* ---- hosts of a list ---- */

static bool is_listed(const struct pair *p)
{
    return ovirt_ids_have(&p->vm->preferred, p->host->id);
}

/* ---- CPUs ---- */

static bool has_topology(const struct pair *p)
{
    const struct host *h = p->host;

    if (isnan(h->sockets) || isnan(h->cores) || isnan(h->threads))
        return false;
    if (is(p->vm->pinning_policy, "resize_and_pin_numa"))
        return h->cores > 1 && h->sockets == h->numa.n;
    return !p->vm->dedicated || h->threads >= p->vm->threads;
}

static bool has_cpu(const struct host *h, double cpu)
{
    const struct cpu_unit *of = h->cpu_units.items;
    double total = h->sockets * h->cores * h->threads;

    for (uint32_t i = 0; i < h->cpu_units.n; i++)
        if (of[i].cpu_id == cpu)
            return true;
    return h->cpu_units.n == 0 && cpu < total;
}

/* Adds the CPUs of "0-3,^2,7". False: it is no such set. */
static bool read_cpus(const char *set, bool in[CPUS_MAX])
{
    for (const char *at = set; *at; at += *at == ',') {
        bool out = *at == '^';
        char word[16] = "";
        size_t n = strcspn(at += out, ",");
        double first;
        double last;

        if (n == 0 || n >= sizeof word)
            return false;
        memcpy(word, at, n);
        at += n;
        char *dash = strchr(word, '-');
        if (dash)
            *dash++ = '\0';
        if (!number_parse(word, &first) || !number_parse(dash ? dash : word, &last) || !(first >= 0) ||
            !(last < CPUS_MAX))
            return false;
        for (uint32_t i = (uint32_t)first; i <= last; i++)
            in[i] = !out;
    }
    return true;
}

static uint32_t read_all_cpus(const struct ids *sets, bool in[CPUS_MAX])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < sets->n; i++)
        (void)read_cpus(sets->items[i], in);
    for (uint32_t i = 0; i < CPUS_MAX; i++)
        n += in[i];
    return n;
}

static bool has_pinned_cpus(const struct pair *p)
{
    const struct cpu_pin *pins = p->vm->cpu_pins.items;

    for (uint32_t i = 0; i < p->vm->cpu_pins.n; i++) {
        bool in[CPUS_MAX] = {false};

        if (!read_cpus(pins[i].cpu_set, in))
            return false;
        for (uint32_t k = 0; k < CPUS_MAX; k++)
            if (in[k] && !has_cpu(p->host, k))
                return false;
    }
    return true;
}

static const struct cpu_type *cpu_type_of(const struct cloud *c, const char *name)
{
    const struct cpu_type *all = c->cpu_types.items;

    for (uint32_t i = 0; i < c->cpu_types.n; i++)
        if (is(name, all[i].name))
            return &all[i];
    return NULL;
}

static bool has_level(const struct pair *p)
{
    const struct cpu_type *wanted = cpu_type_of(p->c, p->vm->cpu_type);
    const struct cpu_type *has = cpu_type_of(p->c, p->host->cpu_type);

    if (!is(p->vm->cpu_mode, "host_passthrough"))
        return !p->vm->cpu_type ||
               (wanted && has && strcmp(wanted->vendor, has->vendor) == 0 && has->level >= wanted->level);
    for (uint32_t i = 0; p->vm->runs && i < p->vm->cpu_flags.n; i++)
        if (!ovirt_ids_have(&p->host->cpu_flags, p->vm->cpu_flags.items[i]))
            return false;
    return true;
}

static bool fits_topology(const struct pair *p)
{
    return !is(p->vm->type, "high_performance") ||
           (p->vm->sockets <= p->host->sockets && p->vm->cores <= p->host->cores &&
            p->vm->threads <= p->host->threads);
}

/* ---- NUMA ---- */

struct arranging {
    const struct numa_node *wanted, *has;
    uint32_t n, n_has, tries;
    double taken[NODES_MOST];
};

bool predicates_names(const struct ids *names, double index)
{
    double n;

    for (uint32_t i = 0; i < names->n; i++)
        if (number_parse(names->items[i], &n) && n == index)
            return true;
    return false;
}

/* Puts the wanted nodes from `ix` on into nodes of the host to which they are pinned. */
static bool arrange(struct arranging *x, uint32_t ix)
{
    if (ix == x->n)
        return true;
    if (x->wanted[ix].pins.n == 0)
        return arrange(x, ix + 1);
    for (uint32_t i = 0; i < x->n_has && x->tries++ < ARRANGEMENTS_MOST; i++) {
        double free_mb = isnan(x->has[i].free) ? x->has[i].memory : x->has[i].free;

        if (!predicates_names(&x->wanted[ix].pins, x->has[i].index) ||
            !(x->taken[i] + x->wanted[ix].memory <= free_mb))
            continue;
        x->taken[i] += x->wanted[ix].memory;
        if (arrange(x, ix + 1))
            return true;
        x->taken[i] -= x->wanted[ix].memory;
    }
    return false;
}

static bool has_nodes(const struct pair *p)
{
    struct arranging x = {.wanted = p->vm->numa.items, .n = p->vm->numa.n, .has = p->host->numa.items};
    bool pinned = false;

    for (uint32_t i = 0; i < x.n; i++)
        pinned = pinned || x.wanted[i].pins.n > 0;
    if (!pinned || is_home(p))
        return true;
    x.n_has = p->host->numa.n > NODES_MOST ? NODES_MOST : p->host->numa.n;
    return is(p->vm->numa_mode, "preferred") ? x.n_has > 0 : x.n <= NODES_MOST && arrange(&x, 0);
}

/* A host without NUMA nodes is one node. */
static bool fits_single_node(const struct pair *p)
{
    const struct numa_node *nodes = p->host->numa.items;

    for (uint32_t i = 0; i < p->host->numa.n && p->vm->numa.n == 0; i++) {
        bool in[CPUS_MAX] = {false};

        if (nodes[i].memory >= p->vm->memory && read_all_cpus(&nodes[i].cpus, in) >= p->vm->vcpus)
            return true;
    }
    return p->host->numa.n == 0 || p->vm->numa.n > 0;
}

/* Whether CPUs to which the vCPU is pinned are all of nodes to which this node of the VM is pinned. */
static bool pin_agrees(const struct pair *p, const struct cpu_pin *pin, const struct numa_node *node)
{
    const struct numa_node *nodes = p->host->numa.items;
    bool vcpus[CPUS_MAX] = {false};
    bool allowed[CPUS_MAX] = {false};
    bool pinned[CPUS_MAX] = {false};

    (void)read_all_cpus(&node->cpus, vcpus);
    if (node->pins.n == 0 || !(pin->vcpu < CPUS_MAX) || !vcpus[(uint32_t)pin->vcpu])
        return true;
    for (uint32_t i = 0; i < p->host->numa.n; i++)
        if (predicates_names(&node->pins, nodes[i].index))
            (void)read_all_cpus(&nodes[i].cpus, allowed);
    if (!read_cpus(pin->cpu_set, pinned))
        return false;
    for (uint32_t i = 0; i < CPUS_MAX; i++)
        if (pinned[i] && !allowed[i])
            return false;
    return true;
}

static bool pinnings_agree(const struct pair *p)
{
    const struct cpu_pin *pins = p->vm->cpu_pins.items;
    const struct numa_node *nodes = p->vm->numa.items;

    for (uint32_t i = 0; i < p->vm->cpu_pins.n; i++)
        for (uint32_t k = 0; k < p->vm->numa.n; k++)
            if (!pin_agrees(p, &pins[i], &nodes[k]))
                return false;
    return true;
}

/* ---- what a host must have ---- */

static bool has_devices(const struct pair *p)
{
    const struct host_device *of = p->host->devices.items;

    if (p->vm->devices.n == 0)
        return true;
    if (p->vm->preferred.n != 1 || !is_listed(p))
        return false;
    for (uint32_t i = 0; i < p->vm->devices.n; i++) {
        uint32_t k = 0;

        while (k < p->host->devices.n && !is(of[k].name, p->vm->devices.items[i]))
            k++;
        if (k == p->host->devices.n || of[k].used ||
            (is(of[k].capability, "pci") && !p->host->device_passthrough))
            return false;
    }
    return true;
}

static double amount_of(const struct objects *amounts, const char *name)
{
    const struct amount *of = amounts->items;

    for (uint32_t i = 0; i < amounts->n; i++)
        if (is(name, of[i].name))
            return of[i].n;
    return 0;
}

/* Several of one type need as many instances. */
static bool has_mdevs(const struct pair *p)
{
    const struct ids *wanted = &p->vm->mdevs;

    for (uint32_t i = 0; i < wanted->n; i++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < wanted->n; k++)
            n += strcmp(wanted->items[k], wanted->items[i]) == 0;
        if (!(amount_of(&p->host->mdevs, wanted->items[i]) >= n))
            return false;
    }
    return true;
}

static bool has_networks(const struct pair *p)
{
    const char *display = CLUSTER(p->c, p->vm->cluster)->display_network;
    const struct nic *nics = p->vm->nics.items;

    if (display && !ovirt_ids_have(&p->host->addressed_networks, display))
        return false;
    for (uint32_t i = 0; i < p->vm->nics.n; i++) {
        uint32_t functions = 0;

        if (nics[i].unplugged || !nics[i].network)
            continue;
        for (uint32_t k = 0; k < p->vm->nics.n; k++)
            functions += nics[k].pass_through && !nics[k].unplugged && is(nics[k].network, nics[i].network);
        if (!ovirt_ids_have(&p->host->networks, nics[i].network) ||
            (functions > 0 && !(amount_of(&p->host->virtual_functions, nics[i].network) >= functions)))
            return false;
    }
    return true;
}

/* ---- groups of hosts ---- */

static bool is_of_groups(const struct pair *p)
{
    const struct cluster *cl = CLUSTER(p->c, p->vm->cluster);
    const struct affinity_label *labels = p->c->labels.items;
    bool labels_bind = cl->major < 4 || (cl->major == 4 && cl->minor <= 3); /* alone, without a group */

    for (uint32_t i = 0; labels_bind && i < p->c->labels.n; i++)
        if (ovirt_ids_have(&labels[i].vms, p->vm->id) && !ovirt_ids_have(&labels[i].hosts, p->host->id))
            return false;
    return !affinity_refuses(p->c, (uint32_t)(p->vm - VM(p->c, 0)), (uint32_t)(p->host - HOST(p->c, 0)));
}

/* ---- the table ---- */

const struct predicate predicates[] = {
    {"CPUTopology", has_topology},
    {"CpuPinning", has_pinned_cpus},
    {"CPU-Level", has_level},
    {"HostDevice", has_devices},
    {"MDevice", has_mdevs},
    {"NUMA", has_nodes},
    {"VmToHostsAffinityGroups", is_of_groups},
    {"Network", has_networks},
    {"fits topology", fits_topology},
    {"pinnings agree", pinnings_agree},
    {"fits a NUMA node", fits_single_node},
};
