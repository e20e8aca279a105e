#include "restart.h"

#include "naive_fit.h"

#define ROUNDING 1e-5
#define STEPS_MAX 20000 /* of one search; what takes longer is not judged */

/* VMs that need a place each, all at the same time. */
struct search {
    const struct restart *w;
    uint32_t *vms;
    uint32_t n;
    double *left[RES_COUNT]; /* by host */
    unsigned steps;
    bool strict;
};

static double need_of(const struct restart *w, uint32_t vm, int r)
{
    const struct vm_facts *v = &w->o->snap->vms[vm].is;

    if (v->restart_priority == RESTART_DISABLED && v->kind != VM_SPARE && !w->promise.by_source)
        return 0;
    bool admitted = r == RES_MEM && w->promise.by_admission &&
                    (v->restart_priority != RESTART_DISABLED || v->kind == VM_SPARE);
    return admitted ? oracle_needs(w->o, vm, ORACLE_MEM) : v->alloc[r].reservation;
}

/* What VMs take of the host, in the measure of need_of(). */
static double taken_of(const struct restart *w, uint32_t host, int r)
{
    return oracle_taken(w->o, host,
                        r == RES_CPU              ? ORACLE_CPU_RESERVED
                        : w->promise.by_admission ? ORACLE_MEM
                                                  : ORACLE_MEM_RESERVED);
}

/* A failover host runs no VMs, and restarts them. */
static bool is_dedicated(const struct restart *w, uint32_t host)
{
    const struct host *h = &w->o->snap->hosts[host];

    return h->failover && h->is.state == HOST_ON && !host_is_avoided(h);
}

bool restart_minds(const struct restart *w, uint32_t vm)
{
    return need_of(w, vm, RES_CPU) > 0 || need_of(w, vm, RES_MEM) > 0;
}

/* A spare VM may stand for room on the very host that is lost: then nobody needs it any more. But which host
 * it stands on is decided once, for all losses: what is said to be missing is judged without that way out. */
static bool is_place(const struct search *s, uint32_t vm, uint32_t host)
{
    bool spare = s->w->o->snap->vms[vm].is.kind == VM_SPARE;
    bool fits = (oracle_receives(s->w->o, host) || (!spare && is_dedicated(s->w, host))) &&
                oracle_may_run(s->w->o, vm, host, false) && oracle_offers(s->w->o->snap, vm, host) &&
                naive_fits(s->w->o->snap, FIT_MOVE, vm, host) && (!s->w->lost[host] || (!s->strict && spare));

    for (int r = 0; r < RES_COUNT && fits; r++)
        fits = need_of(s->w, vm, r) <= 0 || need_of(s->w, vm, r) <= s->left[r][host] + ROUNDING;
    return fits;
}

static bool find_places(struct search *s, uint32_t from)
{
    if (from == s->n)
        return true;
    for (uint32_t h = 0; h < s->w->o->snap->n_hosts; h++) {
        if (!is_place(s, s->vms[from], h))
            continue;
        if (++s->steps > STEPS_MAX)
            return false;
        for (int r = 0; r < RES_COUNT; r++)
            s->left[r][h] -= need_of(s->w, s->vms[from], r);
        bool found = find_places(s, from + 1);
        for (int r = 0; r < RES_COUNT; r++)
            s->left[r][h] += need_of(s->w, s->vms[from], r);
        if (found)
            return true;
    }
    return false;
}

static void add(struct search *s, uint32_t vm)
{
    uint32_t i = s->n++;
    double mine = need_of(s->w, vm, RES_CPU) / 10000 + need_of(s->w, vm, RES_MEM) / 32768;

    for (;
         i > 0 &&
         need_of(s->w, s->vms[i - 1], RES_CPU) / 10000 + need_of(s->w, s->vms[i - 1], RES_MEM) / 32768 < mine;
         i--)
        s->vms[i] = s->vms[i - 1];
    s->vms[i] = vm;
}

/* The room that there is beside what runs, and the spare VMs that want some of it. */
static struct search begin(struct restart *w)
{
    struct search s = {.w = w, .vms = arena_array(w->a, uint32_t, w->o->snap->n_vms)};

    for (int r = 0; r < RES_COUNT; r++) {
        s.left[r] = arena_array(w->a, double, w->o->snap->n_hosts);
        for (uint32_t h = 0; h < w->o->snap->n_hosts; h++)
            s.left[r][h] =
                (r == RES_MEM && w->promise.by_admission && !w->promise.in_capacity
                     ? oracle_limit(w->o, h, ORACLE_MEM)
                     : oracle_limit(w->o, h, r == RES_MEM ? ORACLE_MEM_RESERVED : ORACLE_CPU_RESERVED)) -
                taken_of(w, h, r);
    }
    for (uint32_t v = 0; v < w->o->snap->n_vms; v++) {
        if (w->o->snap->vms[v].is.kind != VM_SPARE || !restart_minds(w, v))
            continue;
        if (w->stands[v] == IX_NONE)
            add(&s, v);
        for (int r = 0; r < RES_COUNT && w->stands[v] != IX_NONE; r++)
            s.left[r][w->stands[v]] -= need_of(w, v, r);
    }
    return s;
}

static void find_standing(struct restart *w)
{
    for (uint32_t v = 0; v < w->o->snap->n_vms; v++)
        w->stands[v] = IX_NONE;
    for (uint32_t v = 0; v < w->o->snap->n_vms; v++) {
        struct search s = begin(w);
        uint32_t host = w->o->snap->vms[v].host;
        if (w->o->snap->vms[v].is.kind == VM_SPARE && host != IX_NONE && is_place(&s, v, host))
            w->stands[v] = host;
    }
}

static enum found judge(struct search *s)
{
    bool found = find_places(s, 0);

    *s->w->unjudged += s->steps > STEPS_MAX;
    return found ? YES : s->steps > STEPS_MAX ? UNJUDGED : NO;
}

/* Whether the VM has to be restarted when the hosts that are `lost` are. While it migrates it does not: it is
 * on the other end. in_flight: it counts as being where it is listed. */
static bool is_homeless(const struct restart *w, uint32_t vm, bool in_flight)
{
    const struct oracle *o = w->o;

    return o->at[vm] != IX_NONE && w->lost[o->at[vm]] && (in_flight || o->also[vm] == IX_NONE) &&
           w->o->snap->vms[vm].is.kind != VM_AGENT && restart_minds(w, vm);
}

static void set_lost(struct restart *w, uint32_t host)
{
    for (uint32_t h = 0; h < w->o->snap->n_hosts; h++)
        w->lost[h] = h == host || (host != IX_NONE && w->counted_on[h]);
}

bool restart_is_single(const struct restart *w)
{
    const double *percent = w->promise.percent;

    return w->promise.hosts == 0 && (percent[RES_CPU] > 0 || percent[RES_MEM] > 0);
}

enum found restart_is_possible(struct restart *w, uint32_t host, uint32_t only, bool strict)
{
    bool singly = restart_is_single(w);
    enum found all = YES;

    set_lost(w, host);
    struct search s = begin(w);
    s.strict = strict;
    uint32_t spares = s.n;
    for (uint32_t v = 0; v < w->o->snap->n_vms && all == YES; v++) {
        if (!is_homeless(w, v, strict) || (only != IX_NONE && v != only))
            continue;
        if (singly)
            s = begin(w);
        s.strict = strict;
        add(&s, v);
        if (singly)
            all = judge(&s);
    }
    return all == YES && (!singly || s.n == spares) ? judge(&s) : all;
}

static bool keeps_places(const struct restart *w)
{
    return w->promise.hosts > 0 || restart_is_single(w);
}

uint32_t restart_first_without(struct restart *w, bool strict)
{
    for (uint32_t h = 0; h < w->o->snap->n_hosts && keeps_places(w); h++)
        if (oracle_runs_vms(w->o, h) && restart_is_possible(w, h, IX_NONE, strict) == NO)
            return h;
    return restart_is_possible(w, IX_NONE, IX_NONE, strict) == NO ? w->o->snap->n_hosts : IX_NONE;
}

const char *restart_what_is_lost(const struct restart *w, uint32_t host)
{
    return host == w->o->snap->n_hosts ? "nothing" : w->o->snap->hosts[host].is.id;
}

static double reserved_part(const struct restart *w, uint32_t host)
{
    const double *capacity = w->o->snap->hosts[host].capacity;

    bool admits = w->promise.by_admission && !w->promise.in_capacity;
    double cpu = taken_of(w, host, RES_CPU) + oracle_own_use(w->o, host, ORACLE_CPU_RESERVED);
    double mem =
        taken_of(w, host, RES_MEM) + oracle_own_use(w->o, host, admits ? ORACLE_MEM : ORACLE_MEM_RESERVED);

    return fmax(cpu / capacity[RES_CPU], mem / capacity[RES_MEM]);
}

void restart_count_on(struct restart *w)
{
    for (uint32_t h = 0; h < w->o->snap->n_hosts; h++)
        w->counted_on[h] = false;
    for (uint32_t n = 1; n < w->promise.hosts; n++) {
        uint32_t best = IX_NONE;
        for (uint32_t h = 0; h < w->o->snap->n_hosts; h++)
            if (oracle_runs_vms(w->o, h) && !w->counted_on[h] &&
                (best == IX_NONE || reserved_part(w, h) > reserved_part(w, best)))
                best = h;
        if (best != IX_NONE)
            w->counted_on[best] = true;
    }
}

/* The policies by themselves. Where the source's slots keep reservations, the configuration's percentage is
 * a sum: its VMs find no slot of their own. */
static struct failover_promise promise_of(const struct snapshot *s, enum restart_view view)
{
    const struct ha_configured *own = &s->ha_configured;
    struct failover_promise source = {.by_source = true},
                            configured = {.in_capacity = s->promise.in_capacity};

    if (s->ha.policy == HA_HOST_FAILURES)
        source.hosts = s->ha.hosts;
    if (own->policy == HA_HOST_FAILURES)
        configured.hosts = own->hosts;
    for (int r = 0; r < RES_COUNT; r++) {
        source.percent[r] = s->ha.policy == HA_PERCENT ? s->ha.percent[r] : 0;
        configured.percent[r] = own->policy == HA_PERCENT && source.hosts == 0 ? own->percent[r] : 0;
        configured.by_admission =
            configured.by_admission || configured.hosts > 0 || configured.percent[r] > 0;
    }
    return view == RESTART_OF_BOTH ? s->promise : view == RESTART_OF_SOURCE ? source : configured;
}

void restart_init(struct restart *w, struct oracle *o, enum restart_view view, unsigned *unjudged,
                  struct arena *a)
{
    *w = (struct restart){.o = o, .a = a, .unjudged = unjudged, .promise = promise_of(o->snap, view)};
    w->counted_on = arena_array(a, bool, o->snap->n_hosts);
    w->lost = arena_array(a, bool, o->snap->n_hosts);
    w->stands = arena_array(a, uint32_t, o->snap->n_vms);
    restart_count_on(w);
    find_standing(w);
}
