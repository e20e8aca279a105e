/* migrate.c: live migrations.
 *
 * Pre-copy: round by round the VM's backed memory is copied while it runs, then the memory that it has
 * written meanwhile, until the rest can be copied within the allowed downtime or rounds_max rounds are
 * over; then the VM stops for the rest. It writes at the pace of its CPU allocation, and never to more
 * than its working set. A host's link is divided evenly among its outgoing migrations, and among its
 * incoming ones; a rate changes when any of them begins or ends. A host runs a limited number at a time,
 * the others wait in the order of their requests.
 */
#include "sim/cluster/cluster_internal.h"

#include <errno.h>

/* Where neither the host nor the scenario's settings say how many. */
#define MIGRATIONS_MAX 4

/* An unlimited rate, as a number that can be calculated with. */
#define RATE_MOST_MB_S 1e9

uint32_t migrate_slots_of(const struct cluster *c, uint32_t host)
{
    uint32_t own = host_of(c, host)->is.migrations_max;

    if (own > 0)
        return own;
    return c->s->policy.migrations_per_host > 0 ? (uint32_t)c->s->policy.migrations_per_host : MIGRATIONS_MAX;
}

static bool copies(const struct moving *m)
{
    return m->stage == MOVING_COPIES || m->stage == MOVING_STOPPED;
}

static void ends_changed(struct cluster *c, const struct moving *m)
{
    c->links_changed = true;
    cluster_mark_host(c, m->from);
    cluster_mark_host(c, m->to);
}

static void take_link(struct cluster *c, const struct moving *m)
{
    c->hosts[m->from].n_out++;
    c->hosts[m->to].n_in++;
}

static void leave_link(struct cluster *c, const struct moving *m)
{
    c->hosts[m->from].n_out--;
    c->hosts[m->to].n_in--;
}

/* ---- it begins ---- */

void migrate_request(struct cluster *c, uint32_t vm, uint32_t to, uint32_t task, enum sim_fault fault)
{
    struct vm_sim *v = &c->vms[vm];

    v->moving =
        (struct moving){.stage = MOVING_QUEUED, .from = v->now.host, .to = to, .task = task, .fault = fault};
    cluster_expect_vm(c, vm, to);
    cluster_list_append(&c->queued, vm);
    c->slots_changed = true;
}

static void begin(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];
    struct moving *m = &v->moving;

    totals_integrate_vm(c, vm);
    m->stage = MOVING_COPIES;
    m->begun_s = c->now_s;
    m->total_mb = c->s->migration.kind == MIGRATION_FIXED ? vm_of(c, vm)->is.mem_mb : v->consumed_mb;
    m->left_mb = m->fault == sim_fault_count ? m->total_mb : m->total_mb * FAULT_AT;
    m->round = 1;
    v->now.migrating = true;
    cluster_list_insert(&c->moving, vm);
    c->hosts[m->from].n_moves++;
    c->hosts[m->to].n_moves++;
    c->hosts[m->to].tree.built = false; /* its memory is taken there from now on */
    take_link(c, m);
    ends_changed(c, m);
    task_run(c, m->task);
}

void migrate_begin_queued(struct cluster *c)
{
    for (uint32_t i = 0; i < c->queued.n;) {
        uint32_t vm = c->queued.items[i];
        const struct moving *m = &c->vms[vm].moving;

        if (c->hosts[m->to].now.dead || c->hosts[m->to].now.state != HOST_ON) {
            migrate_fail(c, vm, -EHOSTDOWN, "The destination host is not available any more.");
        } else if (c->hosts[m->from].n_moves < migrate_slots_of(c, m->from) &&
                   c->hosts[m->to].n_moves < migrate_slots_of(c, m->to)) {
            (void)cluster_list_remove(&c->queued, vm);
            begin(c, vm);
        } else {
            i++;
        }
    }
}

/* ---- it goes on ---- */

static double link_part(const struct cluster *c, uint32_t host, uint32_t n)
{
    double link = c->s->hosts[host].link_mb_s;

    return link > 0 && n > 0 ? link / n : RATE_MOST_MB_S;
}

static double rate_of(const struct cluster *c, const struct moving *m)
{
    double most = c->s->migration.rate_mb_s > 0 ? c->s->migration.rate_mb_s : RATE_MOST_MB_S;

    if (!copies(m))
        return 0;
    if (c->s->migration.kind == MIGRATION_FIXED)
        return fmin(most, RATE_MOST_MB_S);
    double shared =
        fmin(link_part(c, m->from, c->hosts[m->from].n_out), link_part(c, m->to, c->hosts[m->to].n_in));

    return fmin(most, shared);
}

static void wait_for_round(struct cluster *c, uint32_t vm)
{
    const struct moving *m = &c->vms[vm].moving;

    events_set(&c->events, event_slot(c, SIM_EVENT_MIGRATION, vm),
               copies(m) ? c->now_s + m->left_mb / m->rate_mb_s : INFINITY);
}

void migrate_share_links(struct cluster *c)
{
    for (uint32_t i = 0; i < c->moving.n; i++) {
        uint32_t vm = c->moving.items[i];
        struct moving *m = &c->vms[vm].moving;
        double rate = rate_of(c, m);

        if (rate == m->rate_mb_s)
            continue;
        totals_integrate_vm(c, vm);
        m->rate_mb_s = rate;
        cluster_mark_host(c, m->from);
        cluster_mark_host(c, m->to);
        wait_for_round(c, vm);
    }
}

static void copied(struct vm_sim *v, double mb)
{
    v->moving.left_mb -= mb;
    v->moving.moved_mb += mb;
    v->totals.moved_mb += mb;
}

void migrate_integrate(struct cluster *c, uint32_t vm, double dt_s)
{
    struct vm_sim *v = &c->vms[vm];
    struct moving *m = &v->moving;

    if (!copies(m))
        return;
    copied(v, fmin(m->rate_mb_s * dt_s, m->left_mb));
    if (m->stage == MOVING_COPIES)
        m->again_mb = fmin(m->again_mb + m->dirty_mb_s * dt_s, fmin(v->working_mb, m->total_mb));
}

/* As QEMU tells it: what is left is of the present round, and what was written since it began is not in it.
 */
void migrate_tell(const struct cluster *c, uint32_t vm, struct task_progress *ret)
{
    const struct moving *m = &c->vms[vm].moving;
    double since_mb = copies(m) ? fmin(m->rate_mb_s * (c->now_s - c->vms[vm].settled_s), m->left_mb) : 0;

    ret->percent = m->total_mb > 0 ? (int)fmin(99, 100 * (m->moved_mb + since_mb) / m->total_mb) : 0;
    ret->copied_mb = m->moved_mb + since_mb;
    if (c->s->migration.kind == MIGRATION_FIXED)
        return;
    ret->left_mb = m->left_mb - since_mb;
    ret->rate_mb_s = copies(m) ? m->rate_mb_s : 0;
    ret->round = m->round;
}

/* ---- it ends ---- */

/* Nothing is left of it on either host, but that it is still expected at the destination. */
static void forget(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];
    struct moving *m = &v->moving;

    totals_integrate_vm(c, vm);
    if (m->stage == MOVING_QUEUED) {
        (void)cluster_list_remove(&c->queued, vm);
    } else {
        (void)cluster_list_remove(&c->moving, vm);
        c->hosts[m->from].n_moves--;
        c->hosts[m->to].n_moves--;
        if (copies(m))
            leave_link(c, m);
        ends_changed(c, m);
    }
    c->slots_changed = true;
    m->stage = MOVING_NOT;
    v->now.migrating = false;
    events_set(&c->events, event_slot(c, SIM_EVENT_MIGRATION, vm), INFINITY);
}

void migrate_fail(struct cluster *c, uint32_t vm, int code, const char *why)
{
    struct vm_sim *v = &c->vms[vm];

    forget(c, vm);
    v->totals.migrations_failed++;
    cluster_unexpect_vm(c, vm, v->moving.to);
    task_fail(c, v->moving.task, code, why);
}

static void succeed(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];

    forget(c, vm);
    v->totals.migrations++;
    v->last_migrated = instant(c);
    cluster_displace_vm(c, vm);
    cluster_place_vm(c, vm, v->moving.to);
    cluster_unexpect_vm(c, vm, v->moving.to);
    task_succeed(c, v->moving.task);
}

static void hang(struct cluster *c, uint32_t vm)
{
    struct moving *m = &c->vms[vm].moving;

    leave_link(c, m);
    m->stage = MOVING_HANGS;
    ends_changed(c, m);
}

static void next_round(struct cluster *c, uint32_t vm)
{
    struct moving *m = &c->vms[vm].moving;
    bool last =
        m->again_mb <= c->s->migration.downtime_s * m->rate_mb_s || m->round >= c->s->migration.rounds_max;

    m->left_mb = m->again_mb;
    m->again_mb = 0;
    m->round++;
    if (last) {
        m->stage = MOVING_STOPPED;
        cluster_mark_host(c, m->from);
    }
    wait_for_round(c, vm);
}

void cluster_on_migration(struct cluster *c, uint32_t vm)
{
    struct moving *m = &c->vms[vm].moving;

    totals_integrate_vm(c, vm);
    copied(&c->vms[vm], m->left_mb); /* what rounding has left of it */
    if (m->fault == SIM_MIGRATION_HANGS)
        hang(c, vm);
    else if (fault_host_refuses(c, vm, m->to))
        migrate_fail(c, vm, -EREMOTEIO, "The destination host refused the VM.");
    else if (m->fault != sim_fault_count)
        migrate_fail(c, vm, -EIO, "The migration failed: the connection between the hosts was lost.");
    else if (m->stage == MOVING_STOPPED || c->s->migration.kind == MIGRATION_FIXED)
        succeed(c, vm);
    else
        next_round(c, vm);
}
