/* predicates.c: conditions between a VM and a host that no move changes, each a function. A VM that a
 * condition does not concern passes everywhere.
 *
 * Hosts with the same answers for all VMs are one class of a condition. So a filter is: the host's class is
 * among those that the VM's hint lists, or not among those that it bars. */
#include "base/cleanup.h"
#include "base/number.h"
#include "base/texts.h"
#include "dialect/ovirt/internal.h"

#include <math.h>
#include <string.h>

#define ARRANGEMENTS_MOST 20000
#define NODES_MOST 64

struct pair {
    const struct cloud *c;
    const struct vm *vm;
    const struct host *host;
};
typedef bool passes_fn(const struct pair *p);

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
    if (texts_same(p->vm->pinning_policy, "resize_and_pin_numa"))
        return h->cores > 1 && h->sockets == h->numa.n;
    return !p->vm->dedicated || h->threads >= p->vm->threads;
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

static bool is_within(const char *set, const bool allowed[CPUS_MAX])
{
    bool in[CPUS_MAX] = {false};
    bool ret = read_cpus(set, in);

    for (uint32_t i = 0; i < CPUS_MAX; i++)
        ret = ret && (!in[i] || allowed[i]);
    return ret;
}

static bool has_pinned_cpus(const struct pair *p)
{
    const struct cpu_pin *pins = p->vm->cpu_pins.items;
    const struct cpu_unit *units = p->host->cpu_units.items;
    const uint32_t n = p->host->cpu_units.n;
    bool online[CPUS_MAX];
    bool ret = true;

    for (uint32_t i = 0; p->vm->cpu_pins.n > 0 && i < CPUS_MAX; i++)
        online[i] = n == 0 && i < p->host->sockets * p->host->cores * p->host->threads;
    for (uint32_t i = 0; p->vm->cpu_pins.n > 0 && i < n; i++)
        if (units[i].cpu_id < CPUS_MAX)
            online[(uint32_t)units[i].cpu_id] = true;
    for (uint32_t i = 0; i < p->vm->cpu_pins.n; i++)
        ret = ret && is_within(pins[i].cpu_set, online);
    return ret;
}

static const struct cpu_type *cpu_type_of(const struct cloud *c, const char *name)
{
    const struct cpu_type *all = c->cpu_types.items;

    for (uint32_t i = 0; i < c->cpu_types.n; i++)
        if (texts_same(name, all[i].name))
            return &all[i];
    return NULL;
}

static bool has_level(const struct pair *p)
{
    const struct cpu_type *wanted = cpu_type_of(p->c, p->vm->cpu_type);
    const struct cpu_type *has = cpu_type_of(p->c, p->host->cpu_type);

    if (!texts_same(p->vm->cpu_mode, "host_passthrough"))
        return !p->vm->cpu_type ||
               (wanted && has && strcmp(wanted->vendor, has->vendor) == 0 && has->level >= wanted->level);
    for (uint32_t i = 0; p->vm->runs && i < p->vm->cpu_flags.n; i++)
        if (!ovirt_ids_have(&p->host->cpu_flags, p->vm->cpu_flags.items[i]))
            return false;
    return true;
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
    const struct numa_node *wanted = p->vm->numa.items;
    const uint32_t n = p->vm->numa.n;
    const uint32_t n_has = p->host->numa.n > NODES_MOST ? NODES_MOST : p->host->numa.n;
    bool pinned = false;

    for (uint32_t i = 0; i < n; i++)
        pinned = pinned || wanted[i].pins.n > 0;
    if (!pinned || is_home(p))
        return true;
    if (texts_same(p->vm->numa_mode, "preferred"))
        return n_has > 0;
    struct arranging x = {.wanted = wanted, .n = n, .has = p->host->numa.items, .n_has = n_has};

    return n <= NODES_MOST && arrange(&x, 0);
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

    (void)read_all_cpus(&node->cpus, vcpus);
    for (uint32_t i = 0; i < p->host->numa.n; i++)
        if (predicates_names(&node->pins, nodes[i].index))
            (void)read_all_cpus(&nodes[i].cpus, allowed);
    return node->pins.n == 0 || !(pin->vcpu < CPUS_MAX) || !vcpus[(uint32_t)pin->vcpu] ||
           is_within(pin->cpu_set, allowed);
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

        while (k < p->host->devices.n && !texts_same(of[k].name, p->vm->devices.items[i]))
            k++;
        if (k == p->host->devices.n || of[k].used ||
            (texts_same(of[k].capability, "pci") && !p->host->device_passthrough))
            return false;
    }
    return true;
}

static double amount_of(const struct objects *amounts, const char *name)
{
    const struct amount *of = amounts->items;

    for (uint32_t i = 0; i < amounts->n; i++)
        if (texts_same(name, of[i].name))
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
            functions +=
                nics[k].pass_through && !nics[k].unplugged && texts_same(nics[k].network, nics[i].network);
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
    for (uint32_t i = 0; i < p->c->groups.n; i++) {
        const struct affinity_group *g = GROUP(p->c, i);
        if (g->hosts_enabled && g->hosts_enforcing && g->has_vm[p->vm - VM(p->c, 0)] &&
            g->has_host[p->host - HOST(p->c, 0)] != g->hosts_positive)
            return false;
    }
    return true;
}

/* ---- the table ---- */

static const struct {
    const char *name; /* that of the unit, if it is a filter */
    passes_fn *passes;
} predicates[] = {
    {"CPUTopology", has_topology},
    {"CpuPinning", has_pinned_cpus},
    {"CPU-Level", has_level},
    {"HostDevice", has_devices},
    {"MDevice", has_mdevs},
    {"NUMA", has_nodes},
    {"VmToHostsAffinityGroups", is_of_groups},
    {"Network", has_networks},
    {"pinnings agree", pinnings_agree},
    {"fits a NUMA node", fits_single_node},
};

/* ---- classes of hosts ---- */

struct classes {
    char **answers;    /* by host: '0' or '1' for each VM */
    uint32_t *of_host; /* the class */
    uint32_t *first;   /* a host of each class */
    uint32_t n;
};

static void ask(const struct cloud *c, passes_fn *passes, struct classes *ret)
{
    for (uint32_t h = 0; h < c->hosts.n; h++) {
        ret->answers[h] = arena_array(c->a, char, (size_t)c->vms.n + 1);
        for (uint32_t i = 0; i < c->vms.n; i++) {
            const struct pair p = {c, VM(c, i), HOST(c, h)};
            ret->answers[h][i] = passes(&p) ? '1' : '0';
        }
    }
}

static void find_classes(const struct cloud *c, struct classes *ret)
{
    CLEANUP(json_decrefp) json_t *by_answers = json_object();

    for (uint32_t h = 0; h < c->hosts.n; h++) {
        const json_t *known = json_object_get(by_answers, ret->answers[h]);

        ret->of_host[h] = known ? (uint32_t)json_integer_value(known) : ret->n;
        if (!known) {
            (void)json_object_set_new(by_answers, ret->answers[h], json_integer(ret->n));
            ret->first[ret->n++] = h;
        }
    }
}

/* Lists the classes that refuse the VM, or those that do not: a hint has no more than ATTRIBUTE_TEXTS_MAX
 * texts. Whether any refuses it. */
static bool set_hint(const struct compiler *m, const struct classes *of, const char *name, uint32_t vm)
{
    uint32_t refuse = 0;

    for (uint32_t i = 0; i < of->n; i++)
        refuse += of->answers[of->first[i]][vm] == '0';
    bool keeps = refuse > of->n / 2;
    json_t *list = refuse > 0 ? json_array() : NULL;

    for (uint32_t i = 0; i < of->n; i++)
        if ((of->answers[of->first[i]][vm] == '1') == keeps)
            (void)json_array_append_new(list, json_sprintf("%u", i));
    facts_set(m->hints[vm], list, keeps ? "%s keeps" : "%s bars", name);
    return refuse > 0;
}

bool predicates_refuse(struct compiler *m, const char *name)
{
    const struct cloud *c = m->c;
    const json_t *known = json_object_get(m->known, name);
    bool any = false;
    size_t k = 0;

    if (known)
        return json_is_true(known);
    while (strcmp(predicates[k].name, name) != 0)
        k++;
    struct classes of = {.answers = arena_array(c->a, char *, c->hosts.n),
                         .of_host = arena_array(c->a, uint32_t, c->hosts.n),
                         .first = arena_array(c->a, uint32_t, c->hosts.n)};

    ask(c, predicates[k].passes, &of);
    find_classes(c, &of);
    for (uint32_t i = 0; i < c->vms.n; i++)
        any = set_hint(m, &of, name, i) || any;
    for (uint32_t h = 0; any && h < c->hosts.n; h++)
        facts_set(m->attributes[h], json_sprintf("%u", of.of_host[h]), "%s", name);
    (void)json_object_set_new(m->known, name, json_boolean(any));
    return any;
}
