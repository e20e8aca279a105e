/* vms.c: the groups of VMs. */
#include "sim/scenario/build.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

#define VCPUS_MOST 4096
#define CORE_MHZ_MOST 1e5
#define DIRTY_MOST 1e6
#define DIRTY_MB_S 5 /* of a VM whose kind is not known */

static const char *const how_words[] = {"random", "spread", "first_fit", "least_power", NULL};

static const struct field at_key_list[] = {
    {"hosts", FIELD_IDS, offsetof(struct at_spec, hosts), .max = NAMES_MOST,
     .meaning = "hosts or groups of hosts that it may begin on; all where it is not given"},
    {"how", FIELD_WORD, offsetof(struct at_spec, how), .words = how_words, .meaning = "which of them"},
    {"fill_to", FIELD_NUMBER, offsetof(struct at_spec, fill_to), 0.01, 1,
     .meaning = "first_fit, least_power: the part of a host's CPU that may be asked for, unless it is empty"},
};

const struct schema at_keys = SCHEMA_OF("", at_key_list);

/* "random", the name of a host or of a group of hosts, or a mapping with all keys. */
static int read_at(const struct reader *f, const struct node *n, void *at)
{
    struct at_spec *ret = at;

    *ret = (struct at_spec){.given = true, .how = HOW_SPREAD, .fill_to = 1};
    if (n->kind == NODE_MAP)
        return reader_object(f, n, &at_keys, ret);
    for (int i = 0; n->kind == NODE_SCALAR && how_words[i]; i++) {
        if (strcmp(n->text, how_words[i]) == 0) {
            ret->how = i;
            return 0;
        }
    }
    return reader_value(f, n, &at_key_list[0], &ret->hosts);
}

static const char *const count_words[] = {"traces", NULL};

static int read_count(const struct reader *f, const struct node *n, void *at)
{
    const struct field number = {.type = FIELD_COUNT, .min = 1, .max = SCENARIO_VMS_MAX};
    struct vm_spec *v = (struct vm_spec *)((char *)at - offsetof(struct vm_spec, count));

    v->count_traces = n->kind == NODE_SCALAR && strcmp(n->text, count_words[0]) == 0;
    return v->count_traces ? 0 : reader_value(f, n, &number, at);
}

static int read_vcpus(const struct reader *f, const struct node *n, void *at)
{
    const struct field number = {.type = FIELD_COUNT, .min = 1, .max = VCPUS_MOST};
    struct vm_spec *v = (struct vm_spec *)((char *)at - offsetof(struct vm_spec, seen.is.vcpus));

    v->vcpus_traced = n->kind == NODE_SCALAR && strcmp(n->text, "trace") == 0;
    return v->vcpus_traced ? 0 : reader_value(f, n, &number, at);
}

static int read_mem_mb(const struct reader *f, const struct node *n, void *at)
{
    const struct field number = {.type = FIELD_NUMBER, .min = 1, .max = SIZE_MOST};
    struct vm_spec *v = (struct vm_spec *)((char *)at - offsetof(struct vm_spec, seen.is.mem_mb));

    v->mem_traced = n->kind == NODE_SCALAR && strcmp(n->text, "trace") == 0;
    return v->mem_traced ? 0 : reader_value(f, n, &number, at);
}

/* MiB/s written for each vCPU at full CPU, by kind of VM. 16 is measured: 67,551 pages/s of a Java warehouse
 * on 20 vCPUs that were 80 % busy (QEMU commit 7ca1dfad, 2013). The others are assumptions below that: what
 * servers write again and again is a small part of their memory (Clark et al., "Live Migration of Virtual
 * Machines", NSDI 2005, section 3.2, with a web server, a compilation and a database). */
static const struct {
    const char *kind;
    double mb_s;
} dirty_kinds[] = {{"idle", 1}, {"web", 4}, {"batch", 8}, {"database", 16}};

enum { DIRTY_NOT_GIVEN = -1, DIRTY_WEB = 1, DIRTY_BATCH = 2 };

static int read_dirty(const struct reader *f, const struct node *n, void *at)
{
    const struct field number = {.type = FIELD_NUMBER, .min = 0, .max = DIRTY_MOST};
    struct vm_spec *v = (struct vm_spec *)((char *)at - offsetof(struct vm_spec, dirty_mb_s));

    for (size_t i = 0; n->kind == NODE_SCALAR && i < sizeof dirty_kinds / sizeof *dirty_kinds; i++) {
        if (strcmp(n->text, dirty_kinds[i].kind) != 0)
            continue;
        v->dirty_kind = (int)i;
        v->dirty_mb_s = UNKNOWN;
        return 0;
    }
    if (n->kind == NODE_SCALAR && !strpbrk(n->text, "0123456789"))
        return reader_refuse(f, n, "idle, web, batch, database or MiB/s");
    v->dirty_kind = DIRTY_NOT_GIVEN;
    return reader_value(f, n, &number, at);
}

static double dirty_of(const struct vm_spec *v)
{
    static const int by_workload[workload_kind_count] = {
        [WORKLOAD_CONSTANT] = DIRTY_NOT_GIVEN, [WORKLOAD_HIGH_LOW] = DIRTY_NOT_GIVEN,
        [WORKLOAD_NORMAL] = DIRTY_NOT_GIVEN,   [WORKLOAD_UNIFORM] = DIRTY_NOT_GIVEN,
        [WORKLOAD_SPIKE] = DIRTY_NOT_GIVEN,    [WORKLOAD_RAMP] = DIRTY_NOT_GIVEN,
        [WORKLOAD_TRACE] = DIRTY_NOT_GIVEN,    [WORKLOAD_OFFICE] = DIRTY_WEB,
        [WORKLOAD_BURSTY] = DIRTY_WEB,         [WORKLOAD_SURGE] = DIRTY_WEB,
        [WORKLOAD_BATCH] = DIRTY_BATCH,
    };
    const struct workload_spec *cpu = &v->workload[RES_CPU];
    int kind = v->dirty_kind;

    if (!isnan(v->dirty_mb_s))
        return v->dirty_mb_s;
    if (kind == DIRTY_NOT_GIVEN && cpu->given)
        kind = by_workload[cpu->kind];
    return kind == DIRTY_NOT_GIVEN ? DIRTY_MB_S : dirty_kinds[kind].mb_s * v->seen.is.vcpus;
}

static int read_compatible(const struct reader *f, const struct node *n, void *at)
{
    const struct field ids = {.type = FIELD_IDS, .max = NAMES_MOST};
    struct vm_spec *v = (struct vm_spec *)((char *)at - offsetof(struct vm_spec, seen.compatible_hosts));

    v->seen.compatible_given = v->compatible_named = true;
    return reader_value(f, n, &ids, at);
}

static const char *const names_words[] = {"numbers", "traces", NULL};

#define AT(member) offsetof(struct vm_spec, member)

static const struct field vm_key_list[] = {
    {"name", FIELD_TEXT, AT(name), .meaning = "the VM's name, or of a group the beginning of the names"},
    {"match", FIELD_TEXT, AT(match),
     .meaning = "instead of name: the snapshot's VMs that this is about, a name or a pattern with * and ?"},
    {"count", FIELD_OWN, AT(count), 1, SCENARIO_VMS_MAX, .read = read_count,
     .meaning = "VMs of this kind; `traces`: as many as there are traces"},
    {"names", FIELD_WORD, AT(names), .words = names_words,
     .meaning = "numbers: NAME-001 ...; traces: each is called as its trace"},
    {"cycle", FIELD_NODE, AT(cycle), .meaning = "variants that the VMs take by turns"},
    {"split", FIELD_NODE, AT(split), .meaning = "variants that the VMs take in blocks of equal size"},
    {"kind", FIELD_TEXT, AT(kind), .meaning = "another word that means these VMs"},
    {"vcpus", FIELD_OWN, AT(seen.is.vcpus), 1, VCPUS_MOST, .read = read_vcpus,
     .meaning = "virtual CPUs; `trace`: as the trace says"},
    {"vcpu_mhz", FIELD_NUMBER, AT(vcpu_mhz), 1, CORE_MHZ_MOST,
     .meaning = "MHz that one of them can use at most"},
    {"mem_mb", FIELD_OWN, AT(seen.is.mem_mb), 1, SIZE_MOST, .read = read_mem_mb,
     .meaning = "configured MiB; `trace`: as the trace says"},
    {"overhead_mb", FIELD_NUMBER, AT(seen.is.overhead_mb), 0, SIZE_MOST,
     .meaning = "MiB of the hypervisor's own for it"},
    {"consumed_mb", FIELD_NUMBER, AT(consumed_mb), 0, SIZE_MOST,
     .meaning = "MiB of host memory behind it at the beginning"},
    {"pool", FIELD_TEXT, AT(seen.pool), .meaning = "the name of a pool"},
    {"cpu", FIELD_OBJECT, offsetof(struct vm_spec, alloc) + RES_CPU * sizeof(struct alloc_spec),
     .inner = &alloc_keys, .meaning = "reservation, limit and shares in MHz"},
    {"mem", FIELD_OBJECT, offsetof(struct vm_spec, alloc) + RES_MEM * sizeof(struct alloc_spec),
     .inner = &alloc_keys, .meaning = "reservation, limit and shares in MiB"},
    {"at", FIELD_OWN, AT(at), .read = read_at, .meaning = "where it begins"},
    {"arrives_s", FIELD_OWN, AT(arrives_s), 0, TIME_MOST, .read = groups_read_range,
     .meaning = "seconds; 0: there from the beginning; {uniform: [A, B]}"},
    {"lasts_s", FIELD_OWN, AT(lasts_s), 0, TIME_MOST, .read = groups_read_range,
     .meaning = "seconds that it runs; {uniform: [A, B]}"},
    {"dirty_mb_s", FIELD_OWN, AT(dirty_mb_s), 0, DIRTY_MOST, .read = read_dirty,
     .meaning = "MiB/s that it writes to its memory at full CPU, or idle, web, batch, database"},
    {"automation", FIELD_WORD, AT(seen.is.automation), .words = automation_words,
     .meaning = "inherit, disabled, manual or automatic"},
    {"share_class", FIELD_TEXT, AT(share_class), .meaning = "whom its figures are counted with"},
    {"compatible", FIELD_OWN, AT(seen.compatible_hosts), .read = read_compatible,
     .meaning = "hosts or groups of hosts that it can run on"},
    {"labels", FIELD_LABELS, AT(seen.is.labels), .meaning = "{KEY: VALUE}"},
    {"pipeline", FIELD_TEXT, AT(seen.pipeline), .meaning = "the name of its pipeline"},
    {"workload", FIELD_OWN, AT(workload), .read = workloads_read, .meaning = "its demand"},
};

const struct schema vm_keys = SCHEMA_OF("", vm_key_list);

static struct vm_spec default_spec(void)
{
    struct vm_spec d = {
        .vcpu_mhz = UNKNOWN,
        .consumed_mb = UNKNOWN,
        .lasts_s = {UNKNOWN, UNKNOWN},
        .dirty_mb_s = UNKNOWN,
        .dirty_kind = DIRTY_NOT_GIVEN,
        .at = {.how = HOW_SPREAD, .fill_to = 1},
        .alloc = {{.limit = NO_LIMIT, .level = SHARES_NORMAL}, {.limit = NO_LIMIT, .level = SHARES_NORMAL}},
    };

    d.seen.is.vcpus = 1;
    vm_facts_default(&d.seen.is);
    return d;
}

/* The values of the words: vSphere's 4 : 2 : 1. */
static double shares_of(const struct alloc_spec *a, double normal)
{
    switch (a->level) {
    case SHARES_LOW:
        return normal / 2;
    case SHARES_NORMAL:
        return normal;
    case SHARES_HIGH:
        return normal * 2;
    case SHARES_NUMBER:
        break;
    }
    return a->shares;
}

struct alloc vms_alloc(const struct alloc_spec *spec, double normal)
{
    return (struct alloc){spec->reservation, spec->limit, shares_of(spec, normal), spec->expandable};
}

/* By the number of shares: a snapshot has no words. */
static const char *share_class_of(const struct vm_spec *v, double normal)
{
    static const char *const words[] = {
        [SHARES_LOW] = "low", [SHARES_NORMAL] = "normal", [SHARES_HIGH] = "high"};
    double shares = v->seen.is.alloc[RES_CPU].shares;

    if (v->share_class || v->seen.pool)
        return v->share_class ? v->share_class : v->seen.pool;
    for (enum shares_level l = SHARES_LOW; l < SHARES_NUMBER; l++) {
        if (shares == shares_of(&(struct alloc_spec){.level = l}, normal))
            return words[l];
    }
    return "custom";
}

static double drawn(const struct building *b, const struct vm_spec *v, const struct range *range,
                    const char *what)
{
    struct rng r = {.state = workload_seed(b->seed, v->seen.is.id, what)};

    return range->low < range->high ? floor(rng_range(&r, range->low, range->high)) : range->low;
}

/* When the VM exists; a VM that arrives later is off until then. */
static void finish_times(const struct building *b, struct vm_spec *v)
{
    if (v->of_snapshot && v->seen.is.state != VM_ON && v->arrives_s.high <= 0) {
        v->model.arrives_s = v->model.leaves_s = INFINITY;
        return;
    }
    v->model.arrives_s = drawn(b, v, &v->arrives_s, "arrives");
    v->model.leaves_s =
        isnan(v->lasts_s.low) ? INFINITY : v->model.arrives_s + drawn(b, v, &v->lasts_s, "lasts");
    v->seen.is.state = v->model.arrives_s > 0 ? VM_OFF : VM_ON;
    if (v->seen.is.state == VM_OFF)
        v->seen.host = NULL;
}

/* Values that follow from the sizes; the sizes of a trace are known late. */
void vms_finish(const struct building *b, struct vm_spec *v)
{
    struct vm_facts *is = &v->seen.is;
    struct vm_facts normal = {.vcpus = is->vcpus, .mem_mb = is->mem_mb};

    vm_facts_default(&normal);
    for (int r = 0; r < RES_COUNT; r++)
        is->alloc[r] = vms_alloc(&v->alloc[r], normal.alloc[r].shares);
    v->model.dirty_mb_s = dirty_of(v);
    v->model.share_class = share_class_of(v, normal.alloc[RES_CPU].shares);
    finish_times(b, v);
}

static int add(struct building *b, const struct vm_spec *spec, const char *id)
{
    struct vm_spec v = *spec;

    if (b->n_vms >= SCENARIO_VMS_MAX)
        return reader_complain_line(&b->f, v.line, "there are more than %u VMs, expected fewer",
                                    SCENARIO_VMS_MAX);
    if (v.seen.is.mem_mb <= 0 && !v.mem_traced)
        return reader_complain_line(&b->f, v.line, "VM \"%s\" has no mem_mb, expected its configured MiB",
                                    id);
    v.seen.is.id = v.seen.is.name = id;
    v.group = v.name;
    b->vms = arena_grow(b->f.a, b->vms, b->n_vms, &b->cap_vms, sizeof *b->vms);
    b->vms[b->n_vms++] = v;
    return 0;
}

static int add_group(struct building *b, const struct node *group, const struct vm_spec *spec)
{
    struct trace_names traces = {0};
    uint32_t n = spec->count ? spec->count : 1;
    int r = groups_check_variants(&b->f, group, spec->cycle, spec->split);

    if (r == 0 && (spec->count_traces || spec->names == NAMES_TRACES))
        r = workloads_traces(b, group, spec, &traces);
    if (spec->count_traces)
        n = traces.n;
    if (r == 0 && spec->names == NAMES_TRACES && n > traces.n)
        return reader_complain(&b->f, group, ".names: there are %u traces, expected %u or a smaller count",
                               traces.n, n);
    for (uint32_t i = 0; r == 0 && i < n; i++) {
        struct vm_spec v = *spec;
        bool numbered = spec->count || spec->count_traces;

        r = groups_read_variant(&b->f, i, n, spec->cycle, spec->split, &vm_keys, &v);
        if (r == 0)
            r = add(b, &v,
                    spec->names == NAMES_TRACES ? traces.items[i]
                    : numbered                  ? groups_member_name(b->f.a, spec->name, i, n)
                                                : spec->name);
    }
    return r;
}

/* The VM of the snapshot with this id, or NULL. */
static const struct vm_spec *of_id(const struct building *b, const char *id)
{
    for (size_t i = 0; i < b->n_vms; i++) {
        if (b->vms[i].of_snapshot && strcmp(b->vms[i].seen.is.id, id) == 0)
            return &b->vms[i];
    }
    return NULL;
}

/* An entry about VMs of the snapshot: its keys replace each VM's values. An id means its VM alone, though
 * others may have it as their name. */
static int change_matching(struct building *b, const struct node *group, const char *pattern)
{
    const struct vm_spec *only = of_id(b, pattern);
    size_t n = 0;

    if (node_child(group, "count") || node_child(group, "cycle") || node_child(group, "split") ||
        node_child(group, "names"))
        return reader_complain(&b->f, group, ".match: count, names, cycle and split are for new VMs");
    for (size_t i = 0; i < b->n_vms; i++) {
        struct vm_spec *v = &b->vms[i];
        if (!v->of_snapshot || (only ? v != only : !groups_is_meant(pattern, groups_vm_called(v))))
            continue;
        int r = reader_object(&b->f, group, &vm_keys, v);
        if (r < 0)
            return r;
        v->line = group->line;
        n++;
    }
    if (n == 0)
        return reader_complain(&b->f, group, ".match: no VM of the snapshot is called \"%.64s\"", pattern);
    return 0;
}

int vms_build(struct building *b, const struct node *groups)
{
    int r = groups ? reader_list_check(&b->f, groups, "a list of groups", SCENARIO_GROUPS_MAX) : 0;

    for (const struct node *g = groups ? groups->first : NULL; r == 0 && g; g = g->next) {
        struct vm_spec spec = default_spec();
        if ((r = reader_object(&b->f, g, &vm_keys, &spec)) < 0)
            return r;
        spec.line = g->line;
        if ((r = groups_check_name(&b->f, g, spec.name, spec.match)) < 0)
            return r;
        r = spec.match ? change_matching(b, g, spec.match) : add_group(b, g, &spec);
    }
    return r;
}

static struct alloc_spec as_spec(const struct alloc *a)
{
    return (struct alloc_spec){a->reservation, a->limit, a->shares, SHARES_NUMBER, a->expandable};
}

void vms_of_snapshot(struct building *b, const struct inventory *inv)
{
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_spec v = default_spec();
        v.seen = inv->vms[i];
        v.of_snapshot = true;
        v.line = 1;
        for (int r = 0; r < RES_COUNT; r++)
            v.alloc[r] = as_spec(&v.seen.is.alloc[r]);
        v.dirty_mb_s = v.seen.is.dirty_mb_s;
        v.consumed_mb = v.seen.is.consumed_mb;
        b->vms = arena_grow(b->f.a, b->vms, b->n_vms, &b->cap_vms, sizeof *b->vms);
        b->vms[b->n_vms++] = v;
    }
}
