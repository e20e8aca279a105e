/* admin.c: acts for the people of a scenario: powers VMs on, services hosts, changes settings. */
#include "sim/run/admin.h"

#include "base/cleanup.h"
#include "base/order.h"
#include "base/xalloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_S 60 /* before a refused request is repeated */
#define ADMIN "admin"
#define UID_MAX 32

/* ---- life ------------------------------------------------------------------------------------ */

void admin_init(struct admin *ad, const struct scenario *s, struct cluster *c)
{
    *ad = (struct admin){.scenario = s, .cluster = c, .again_s = INFINITY};
    ad->arrivals_s = xcalloc(s->initial.n_vms, sizeof *ad->arrivals_s);
    for (uint32_t i = 0; i < s->initial.n_vms; i++) {
        if (s->vms[i].arrives_s > 0)
            ad->arrivals_s[ad->n_arrivals++] = s->vms[i].arrives_s;
    }
    qsort(ad->arrivals_s, ad->n_arrivals, sizeof *ad->arrivals_s, order_numbers);
    ad->due_s = xcalloc(s->n_operations, sizeof *ad->due_s);
    for (uint32_t i = 0; i < s->n_operations; i++)
        ad->due_s[i] = s->operations[i].at_s;
}

void admin_release(struct admin *ad)
{
    free(ad->arrivals_s);
    free(ad->due_s);
    free(ad->newcomers);
}

/* ---- arrivals, and VMs that run by now ------------------------------------------------------- */

static void add_newcomers(struct admin *ad)
{
    for (uint32_t vm; (vm = cluster_next_arrival(ad->cluster)) != IX_NONE;) {
        ad->newcomers =
            xalloc_grow(ad->newcomers, ad->n_newcomers, &ad->cap_newcomers, sizeof *ad->newcomers);
        ad->newcomers[ad->n_newcomers++] = (struct newcomer){.vm = vm, .ready = true, .host = IX_NONE};
    }
}

static void drop_settled(struct admin *ad, double t_s)
{
    size_t left = 0;

    for (size_t i = 0; i < ad->n_newcomers; i++) {
        const struct newcomer *n = &ad->newcomers[i];

        if (cluster_vm(ad->cluster, n->vm)->host == IX_NONE && t_s < ad->scenario->vms[n->vm].leaves_s)
            ad->newcomers[left++] = *n;
    }
    ad->n_newcomers = left;
}

static const char *id_of(const struct admin *ad, const struct newcomer *n)
{
    return ad->scenario->initial.vms[n->vm].is.id;
}

/* ---- starts through Ballast ------------------------------------------------------------------ */

/* Repeats a refused start after the next pass, and after AGAIN_S at the earliest: a started action makes the
 * engine decide at once, so waiting for a pass alone would repeat it each second. */
static void put_off(struct newcomer *n, const struct service *v, double t_s)
{
    n->ready = false;
    n->pass = v->passes;
    n->not_before_s = t_s + AGAIN_S;
}

static void put_off_asked(struct admin *ad, const struct service *v, double t_s)
{
    for (size_t i = 0; i < ad->n_newcomers; i++) {
        struct newcomer *n = &ad->newcomers[i];

        if (n->asked)
            put_off(n, v, t_s);
        n->asked = false;
    }
}

/* A VM with an approved start is not requested again until that start has failed. */
static bool is_being_started(const struct service *v, const char *vm)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct action_record **list;
    size_t n = engine_actions(v->engine, &a, &list);
    bool found = false;

    for (size_t i = 0; i < n && !found; i++) {
        const struct action_record *r = list[i];

        found = r->kind == ACTION_PLACE && strcmp(r->vm, vm) == 0 &&
                (r->state == ACTION_APPROVED || r->state == ACTION_STARTING || r->state == ACTION_RUNNING ||
                 r->state == ACTION_VERIFYING);
    }
    return found;
}

/* Requests all VMs that are ready. False: there are none, or the request was refused. */
static bool request_placement(struct admin *ad, struct service *v, double t_s)
{
    const char **ids = xcalloc(ad->n_newcomers, sizeof *ids);
    struct place_request q = {.vms = ids, .apply = true, .by = ADMIN};
    struct err err;

    for (size_t i = 0; i < ad->n_newcomers; i++) {
        struct newcomer *n = &ad->newcomers[i];

        if (!n->ready && v->passes > n->pass && t_s >= n->not_before_s) {
            n->ready = !is_being_started(v, id_of(ad, n));
            n->pass = v->passes;
        }
        n->asked = n->ready;
        if (n->asked)
            ids[q.n_vms++] = id_of(ad, n);
    }
    bool asked = q.n_vms > 0 && engine_place(v->engine, &q, service_instant(v, t_s), &ad->ticket, &err) == 0;

    free(ids);
    if (!asked) {
        ad->ticket = 0;
        put_off_asked(ad, v, t_s);
    }
    return asked;
}

static bool has_place(const struct plan *plan, const char *vm)
{
    uint32_t ix = snapshot_find_vm(plan->snap, vm);

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        if (plan->recommendations[i].action == ACTION_PLACE && plan->recommendations[i].vm == ix)
            return true;
    }
    return false;
}

/* The plan was not started, because some VMs have no host; the others are requested again without them. */
static void sort_out(struct admin *ad, const struct service *v, const struct plan *plan, double t_s)
{
    for (size_t i = 0; i < ad->n_newcomers; i++) {
        struct newcomer *n = &ad->newcomers[i];

        if (!n->asked)
            continue;
        n->asked = false;
        if (has_place(plan, id_of(ad, n)))
            continue;
        ad->unplaced++;
        put_off(n, v, t_s);
    }
}

/* Reads the result of the request. False: none yet. */
static bool fetch(struct admin *ad, struct service *v, double t_s)
{
    struct placement p;
    struct err err;
    int r = engine_place_result(v->engine, ad->ticket, &p, &err);

    if (r == -EINPROGRESS)
        return false;
    if (r == 0 && p.n_unplaced > 0)
        sort_out(ad, v, p.plan, t_s);
    else
        put_off_asked(ad, v, t_s);
    engine_place_release(v->engine, ad->ticket);
    ad->ticket = 0;
    return true;
}

static int place(struct admin *ad, struct service *v, double t_s, struct err *err)
{
    for (;;) {
        int r;

        if (!v->engine)
            return 0;
        if (ad->life != v->lives) { /* the service that got the request is dead */
            ad->life = v->lives;
            ad->ticket = 0;
        }
        if (ad->ticket != 0) {
            if (!fetch(ad, v, t_s))
                return 0;
            continue;
        }
        if (!request_placement(ad, v, t_s))
            return 0;
        if ((r = service_answer(v, t_s, err)) < 0)
            return r;
    }
}

/* ---- starts without Ballast ------------------------------------------------------------------ */

static bool suits(const struct admin *ad, uint32_t vm, uint32_t host)
{
    const struct vm *v = &ad->scenario->initial.vms[vm];
    const struct host_now *h = cluster_host(ad->cluster, host);

    if (h->state != HOST_ON || h->dead)
        return false;
    if (!v->compatible_given)
        return true;
    for (uint32_t i = 0; i < v->compatible_hosts.n; i++) {
        if (v->compatible_hosts.items[i] == host)
            return true;
    }
    return false;
}

/* The host's memory minus the configured memory of VMs that run or start there. */
static void count_left(const struct admin *ad, double *left_mb)
{
    const struct snapshot *s = &ad->scenario->initial;

    for (uint32_t i = 0; i < s->n_hosts; i++)
        left_mb[i] = s->hosts[i].capacity[RES_MEM];
    for (uint32_t i = 0; i < s->n_vms; i++) {
        uint32_t host = cluster_vm(ad->cluster, i)->host;

        if (host != IX_NONE)
            left_mb[host] -= s->vms[i].is.mem_mb;
    }
    for (size_t i = 0; i < ad->n_newcomers; i++) {
        if (ad->newcomers[i].host != IX_NONE)
            left_mb[ad->newcomers[i].host] -= s->vms[ad->newcomers[i].vm].is.mem_mb;
    }
}

static uint32_t choose_host(const struct admin *ad, uint32_t vm, const double *left_mb, const bool *refused)
{
    uint32_t best = IX_NONE;

    for (uint32_t i = 0; i < ad->scenario->initial.n_hosts; i++) {
        if (!refused[i] && suits(ad, vm, i) && (best == IX_NONE || left_mb[i] > left_mb[best]))
            best = i;
    }
    return best;
}

static int start_on(struct admin *ad, uint32_t vm, uint32_t host)
{
    const struct snapshot *s = &ad->scenario->initial;
    char task[TASK_NAME_MAX];
    char uid[UID_MAX];
    struct err err;

    (void)snprintf(uid, sizeof uid, ADMIN "-%u", vm);
    const struct operation q = {
        .uid = uid, .kind = OPERATION_POWER_ON_VM, .vm = s->vms[vm].is.id, .to = s->hosts[host].is.id};

    return cluster_start(ad->cluster, &q, task, &err);
}

/* Starts the VM and returns its host; IX_NONE: every host refused. If the answer is lost, the next look at
 * the cluster tells. */
static uint32_t start_somewhere(struct admin *ad, uint32_t vm, const double *left_mb)
{
    bool *refused = xcalloc(ad->scenario->initial.n_hosts, sizeof *refused);
    uint32_t host;

    while ((host = choose_host(ad, vm, left_mb, refused)) != IX_NONE && start_on(ad, vm, host) == -ENOSPC)
        refused[host] = true;
    free(refused);
    return host;
}

static void start_by_hand(struct admin *ad, double t_s)
{
    double *left_mb = xcalloc(ad->scenario->initial.n_hosts, sizeof *left_mb);

    for (size_t i = 0; i < ad->n_newcomers; i++) {
        struct newcomer *n = &ad->newcomers[i];

        if (t_s >= n->not_before_s) /* a start of a minute ago has failed */
            n->host = IX_NONE;
    }
    count_left(ad, left_mb);
    ad->again_s = INFINITY;
    for (size_t i = 0; i < ad->n_newcomers; i++) {
        struct newcomer *n = &ad->newcomers[i];

        if (t_s >= n->not_before_s) {
            n->not_before_s = t_s + AGAIN_S;
            n->host = start_somewhere(ad, n->vm, left_mb);
            if (n->host == IX_NONE)
                ad->unplaced++;
            else
                left_mb[n->host] -= ad->scenario->initial.vms[n->vm].is.mem_mb;
        }
        ad->again_s = fmin(ad->again_s, n->not_before_s);
    }
    free(left_mb);
}

/* ---- the script ------------------------------------------------------------------------------ */

static int change_setting(struct service *v, const struct scripted_operation *d, double t_s, struct err *err)
{
    int r = policy_set(&v->settings.policy, d->key, d->value, err);

    if (r == 0 && v->engine)
        engine_configure(v->engine, &v->settings, service_instant(v, t_s));
    return r;
}

/* -EAGAIN: refused for now. Taking a host out of maintenance is also refused if the host already runs. */
static int do_operation(struct admin *ad, struct service *v, const struct scripted_operation *d, double t_s,
                        struct err *err)
{
    bool enter = d->kind == SCRIPT_MAINTENANCE_ENTER;
    uint64_t id;
    int r;

    if (d->kind == SCRIPT_SET)
        return change_setting(v, d, t_s, err);
    if (!v->engine)
        return -EAGAIN;
    r = engine_maintenance(v->engine, ad->scenario->initial.hosts[d->host].is.id,
                           enter ? MAINTENANCE_ENTER_CONFIRMED : MAINTENANCE_EXIT, ADMIN,
                           service_instant(v, t_s), &id, NULL, err);
    if (r == -EBUSY && !enter && cluster_host(ad->cluster, d->host)->state == HOST_ON)
        return 0;
    return r < 0 && r != -EINVAL ? -EAGAIN : r;
}

/* Steps for one host are taken in the order of the script; they delay no other host. */
static bool waits_for_another(const struct admin *ad, uint32_t operation)
{
    const struct scripted_operation *all = ad->scenario->operations;

    for (uint32_t i = 0; i < operation && all[operation].kind != SCRIPT_SET; i++) {
        if (all[i].kind != SCRIPT_SET && all[i].host == all[operation].host && ad->due_s[i] < INFINITY)
            return true;
    }
    return false;
}

static int do_operations(struct admin *ad, struct service *v, double t_s, struct err *err)
{
    const struct scenario *s = ad->scenario;

    for (uint32_t i = 0; i < s->n_operations && s->operations[i].at_s <= t_s; i++) {
        if (ad->due_s[i] > t_s || waits_for_another(ad, i))
            continue;
        int r = do_operation(ad, v, &s->operations[i], t_s, err);

        ad->due_s[i] = r == -EAGAIN ? t_s + AGAIN_S : INFINITY;
        if (r == -EAGAIN)
            continue;
        if (r < 0 || (r = service_answer(v, t_s, err)) < 0)
            return err_widen(err, "the operation at %.0f s", s->operations[i].at_s);
    }
    return 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

double admin_next_s(const struct admin *ad, double t_s)
{
    const struct scenario *s = ad->scenario;
    double next_s = ad->again_s > t_s ? ad->again_s : INFINITY;

    if (ad->next_arrival < ad->n_arrivals)
        next_s = fmin(next_s, ad->arrivals_s[ad->next_arrival]);
    for (uint32_t i = 0; s->ballast && i < s->n_operations; i++)
        next_s = fmin(next_s, ad->due_s[i] > t_s ? ad->due_s[i] : INFINITY);
    return next_s;
}

int admin_turn(struct admin *ad, struct service *v, double t_s, struct err *err)
{
    size_t waited = ad->n_newcomers;
    int r;

    while (ad->next_arrival < ad->n_arrivals && ad->arrivals_s[ad->next_arrival] <= t_s)
        ad->next_arrival++;
    add_newcomers(ad);
    bool news = ad->n_newcomers > waited;

    drop_settled(ad, t_s);
    if (!v) {
        if (news || t_s >= ad->again_s)
            start_by_hand(ad, t_s);
        return 0;
    }
    if ((r = do_operations(ad, v, t_s, err)) < 0)
        return r;
    return place(ad, v, t_s, err);
}
