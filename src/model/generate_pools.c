/* generate_pools.c: a pool tree of three levels over an existing cluster, with contention, and rules that
 * hold. */
#include "model/generate_parts.h"

#include <math.h>

#define TOPS 3
#define PER_TOP 2    /* departments of each */
#define PER_MIDDLE 2 /* teams of each */
#define MIDDLES (TOPS * PER_TOP)
#define LEAVES (MIDDLES * PER_MIDDLE)
#define N_POOLS (TOPS + MIDDLES + LEAVES)

#define RESERVED_VMS 10 /* every tenth VM has a reservation */
#define LIMITED_VMS 31
#define ROOT_VMS 20    /* every twentieth is in the root pool or in a pool of the middle level */
#define OWN_SHARE 0.05 /* part of its demand that a leaf reserves for itself */
#define MARGIN 1.1     /* a reservation as a multiple of the sum of its children's */
#define TIGHT 0.8      /* a limit below the demand, as a part of the demand */

static const char *const top_names[TOPS] = {"production", "test", "batch"};
static const double top_shares[TOPS] = {8000, 4000, 2000};
#define MEM_SHARES_PER_CPU_SHARE 40.96 /* 163840 to 4000 */

/* Pools are numbered level by level: 0 ... TOPS - 1 are the top level. */
static uint32_t parent_of(uint32_t pool)
{
    if (pool < TOPS)
        return IX_NONE;
    if (pool < TOPS + MIDDLES)
        return (pool - TOPS) / PER_TOP;
    return TOPS + (pool - TOPS - MIDDLES) / PER_MIDDLE;
}

static void name_pool(struct generation *g, uint32_t pool, struct pool_facts *f)
{
    uint32_t up = parent_of(pool);

    f->id = generate_id(g, "p", pool, N_POOLS);
    if (up == IX_NONE)
        f->name = top_names[pool];
    else
        f->name = arena_printf(g->a, "%s-%c", g->inv.pools[up].is.name, 'a' + (char)(pool % 2));
}

static void add_pools(struct generation *g)
{
    for (uint32_t i = 0; i < N_POOLS; i++) {
        struct seen_pool *p = inventory_add_pool(&g->inv, g->a);
        uint32_t up = parent_of(i);
        name_pool(g, i, &p->is);
        p->parent = up == IX_NONE ? NULL : g->inv.pools[up].is.id;
        double shares = i < TOPS ? top_shares[i] : 1000.0 * (1 + rng_below(&g->rng, 8));
        p->is.alloc[RES_CPU].shares = shares;
        p->is.alloc[RES_MEM].shares = round(shares * MEM_SHARES_PER_CPU_SHARE);
    }
    g->inv.pools[TOPS].is.scalable_shares = true;
}

static void reserve_vm(struct generation *g, struct vm_facts *f, uint32_t ix)
{
    if (ix % RESERVED_VMS == 0) {
        f->alloc[RES_CPU].reservation = floor(f->demand[RES_CPU] * rng_range(&g->rng, 0.2, 0.6));
        f->alloc[RES_MEM].reservation =
            floor(fmin(f->mem_mb, f->demand[RES_MEM]) * rng_range(&g->rng, 0.2, 0.6));
    }
    if (ix % LIMITED_VMS == 0)
        f->alloc[RES_CPU].limit =
            ceil(fmax(f->alloc[RES_CPU].reservation, f->demand[RES_CPU] * rng_range(&g->rng, 0.7, 1.5)));
}

/* Sums of the VMs directly in each pool, then of its subtree: children have higher numbers than their
 * parents. */
struct sums {
    double reservation[N_POOLS][RES_COUNT], demand[N_POOLS][RES_COUNT];
};

static void put_vms_into_pools(struct generation *g, struct sums *sums)
{
    for (uint32_t i = 0; i < g->options->vms; i++) {
        struct seen_vm *v = &g->inv.vms[i];
        uint32_t pool = TOPS + MIDDLES + rng_below(&g->rng, LEAVES);

        reserve_vm(g, &v->is, i);
        if (i % ROOT_VMS == 0)
            continue;
        if (i % ROOT_VMS == 1)
            pool = TOPS + rng_below(&g->rng, MIDDLES);
        v->pool = g->inv.pools[pool].is.id;
        for (int r = 0; r < RES_COUNT; r++) {
            sums->reservation[pool][r] += v->is.alloc[r].reservation;
            sums->demand[pool][r] += v->is.demand[r];
        }
    }
}

/* From the leaves up: a pool reserves the sum of its children and a little more. Some pools have a limit
 * below their demand, some cannot borrow. */
static void set_allocs(struct generation *g, struct sums *sums)
{
    for (uint32_t i = N_POOLS; i-- > 0;) {
        uint32_t up = parent_of(i);
        for (int r = 0; r < RES_COUNT; r++) {
            struct alloc *a = &g->inv.pools[i].is.alloc[r];
            double own = i >= TOPS + MIDDLES ? OWN_SHARE * sums->demand[i][r] : 0;
            a->reservation = ceil(sums->reservation[i][r] * MARGIN + own);
            a->expandable = i % 5 != 0;
            if (i % 4 == 3)
                a->limit = ceil(fmax(a->reservation, TIGHT * sums->demand[i][r]));
            if (up != IX_NONE) {
                sums->reservation[up][r] += a->reservation;
                sums->demand[up][r] += sums->demand[i][r];
            }
        }
    }
}

void generate_pools(struct generation *g)
{
    struct sums sums = {0};

    add_pools(g);
    put_vms_into_pools(g, &sums);
    set_allocs(g, &sums);
}

/* The next VM of host h that is in no rule yet; IX_NONE when no VM is left. `used` counts the VMs in rules,
 * by host. */
static uint32_t take_vm(struct generation *g, uint32_t *used, uint32_t h)
{
    uint32_t k = g->first_of[h] + used[h];

    if (k >= g->first_of[h + 1])
        return IX_NONE;
    used[h]++;
    return g->vms_of[k];
}

static void add_rule(struct generation *g, enum rule_kind kind, bool mandatory, struct ids vms,
                     struct ids hosts)
{
    struct rule_facts *f;
    uint32_t n = (uint32_t)g->inv.n_rules;

    if (vms.n < 2)
        return;
    struct seen_rule *rule = inventory_add_rule(&g->inv, g->a);
    f = &rule->is;
    rule_facts_default(f, kind);
    f->id = arena_printf(g->a, "r%05u", n);
    f->name = arena_printf(g->a, "%s-%u", rule_kind_name(kind), n);
    f->mandatory = mandatory;
    rule->vms = vms;
    rule->hosts = hosts;
}

/* Up to n VMs on the hosts from h on: all on h, or one on each host. */
static struct ids take_vms(struct generation *g, uint32_t *used, uint32_t h, uint32_t n, bool apart)
{
    const char **items = arena_array(g->a, const char *, n);
    uint32_t taken = 0;

    for (uint32_t i = 0; i < n && (!apart || i < g->options->hosts); i++) {
        uint32_t vm = take_vm(g, used, apart ? (h + i) % g->options->hosts : h);
        if (vm != IX_NONE)
            items[taken++] = g->inv.vms[vm].is.id;
    }
    return (struct ids){.items = items, .n = taken};
}

/* The hosts of one half of the cluster: the half of host h, or the other half. */
static struct ids half_of_hosts(struct generation *g, uint32_t h, bool others)
{
    uint32_t n = g->options->hosts;
    uint32_t half = (n + 1) / 2;
    uint32_t first = others ? h + half : h;
    uint32_t count = others ? n - half : half;
    const char **items = arena_array(g->a, const char *, count);

    for (uint32_t i = 0; i < count; i++)
        items[i] = g->inv.hosts[(first + i) % n].is.id;
    return (struct ids){.items = items, .n = count};
}

#define HOSTS_PER_RULE 8 /* hosts per rule of each kind */

void generate_pools_rules(struct generation *g)
{
    uint32_t n = g->options->hosts;
    uint32_t *used = arena_array(g->a, uint32_t, n);
    const struct ids none = {0};

    for (uint32_t h = 0; h < n; h += HOSTS_PER_RULE) {
        bool mandatory = h / HOSTS_PER_RULE % 2 == 0;
        add_rule(g, RULE_VM_AFFINE, true, take_vms(g, used, h, 2, false), none);
        add_rule(g, RULE_VM_ANTI_AFFINE, true, take_vms(g, used, h, 3, true), none);
        add_rule(g, RULE_HOST_AFFINE, mandatory, take_vms(g, used, h, 4, false), half_of_hosts(g, h, false));
        add_rule(g, RULE_HOST_ANTI_AFFINE, !mandatory, take_vms(g, used, h, 2, false),
                 half_of_hosts(g, h, true));
    }
}
