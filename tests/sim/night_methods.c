/* night_methods.c: the made methods of simulated hosts, the hypervisor's actuator among them, and
 * actuators/power in front of them. */
#include "night_methods.h"

#include "base/cleanup.h"
#include "base/controller_identity.h"
#include "net/login_guards.h"
#include "sim/run/counted_store.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE_LEAST_S 20
#define LATE_MOST_S 150
#define TOLD_WH 0.1 /* booked too much or too little at once */

struct night *N;

const char *const night_fault_words[METHOD_FAULTS] = {"works",    "is slow", "loses answers", "says off",
                                                      "says on",  "is deaf", "refuses",       "does nothing",
                                                      "pretends", "is busy", "is late"};
const char *const night_kind_words[POWER_METHOD_COUNT] = {"hypervisor", "ipmi", "redfish", "wol"};

void night_tell(const char *format, ...)
{
    va_list args;

    if (!N->talks)
        return;
    printf("%7.0f  ", N->t_s);
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
    printf("\n");
}

void night_wrong(const char *format, ...)
{
    va_list args;

    if (N->wrong)
        return;
    N->wrong = true;
    printf("seed %llu, at %.0f s: ", (unsigned long long)N->seed, N->t_s);
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
    printf("\n");
}

/* ---- the made methods ------------------------------------------------------------------------ */

struct power_method {
    uint32_t host;
    enum power_method_kind kind;
};

static int64_t clock_ms(void)
{
    return (int64_t)(N->t_s * 1000) + N->call_ms;
}

static enum method_fault fault_now(const struct power_method *m)
{
    const struct made_host *h = &N->hosts[m->host];

    const struct made_controller *c = &h->controllers[m->kind];

    return N->t_s >= c->fault_from_s ? c->fault : WORKS;
}

bool night_controller_moved(const struct made_controller *c, uint32_t host, double at_s, uint32_t *ret)
{
    bool moved = at_s >= c->moved_s && at_s < c->moved_back_s;

    *ret = moved ? c->other : host;
    return moved;
}

/* The host whose chassis it switches; that may change between two calls of a job. */
static uint32_t chassis_of(const struct power_method *m)
{
    const double now_s = N->t_s + (double)N->call_ms / 1000;
    uint32_t host;

    (void)night_controller_moved(&N->hosts[m->host].controllers[m->kind], m->host, now_s, &host);
    return host;
}

static int make(const struct power_host *entry, enum power_method_kind kind, struct power_method **ret)
{
    struct power_method *m = calloc(1, sizeof *m);

    for (uint32_t i = 0; i < N->s.initial.n_hosts; i++)
        m->host = strcmp(N->s.initial.hosts[i].is.id, entry->name) == 0 ? i : m->host;
    m->kind = kind;
    *ret = m;
    return 0;
}

static bool chassis_is_on(uint32_t host)
{
    return cluster_host(N->cluster, host)->powered;
}

/* The one place at which power goes off: whatever led here, no VM may be on the host, and it must be the host
 * that was meant. */
static void switch_off(uint32_t host, uint32_t meant)
{
    const struct host_now *now = cluster_host(N->cluster, host);

    if (now->n_vms > 0)
        night_wrong("host h%02u is switched off with %u VMs on it", host, now->n_vms);
    if (host != meant)
        night_wrong("host h%02u is switched off in place of h%02u", host, meant);
    N->hosts[host].slept = true;
}

/* By a controller, and not by the hypervisor. */
static void switch_chassis(uint32_t host, uint32_t meant, bool on)
{
    const enum host_state state = cluster_host(N->cluster, host)->state;

    if (!on && chassis_is_on(host)) {
        /* its failure detection takes a host for lost that goes dark without that */
        if (state != HOST_MAINTENANCE)
            night_wrong("host h%02u is switched off while it is %s, and the hypervisor was not told", host,
                        host_state_name(state));
        switch_off(host, meant);
        N->hosts[host].by_hypervisor = false;
    }
    cluster_switch(N->cluster, host, on);
}

static void order_late(const struct power_method *m, bool on)
{
    if (N->n_late < LATE_MOST)
        N->late[N->n_late++] =
            (struct late_order){.host = chassis_of(m),
                                .of = m->host,
                                .on = on,
                                .at_s = N->t_s + rng_range(&N->rng, LATE_LEAST_S, LATE_MOST_S)};
}

void night_late_orders(struct night *n)
{
    unsigned left = 0;

    for (unsigned i = 0; i < n->n_late; i++) {
        const struct late_order o = n->late[i];

        if (o.at_s > n->t_s) {
            n->late[left++] = o;
            continue;
        }
        night_tell("h%02u's controller does late as it was told: power %s", o.host, o.on ? "on" : "off");
        switch_chassis(o.host, o.of, o.on);
    }
    n->n_late = left;
}

double night_late_next_s(const struct night *n)
{
    double next_s = INFINITY;

    for (unsigned i = 0; i < n->n_late; i++)
        next_s = fmin(next_s, n->late[i].at_s);
    return next_s;
}

/* The cost and the answer of a call; *ret_acts: whether the controller carries it out. */
static int answer(const struct power_method *m, const char *what, bool *ret_acts, struct err *err)
{
    struct made_host *h = &N->hosts[m->host];
    enum method_fault fault = fault_now(m);

    *ret_acts = fault == WORKS || fault == SLOW || fault == LOSES || fault == SAYS_OFF || fault == SAYS_ON;
    N->call_ms += fault == SLOW                                      ? 15000
                  : fault == DEAF || fault == LOSES || fault == LATE ? 1000 * (int64_t)TIMEOUT_S
                                                                     : 300;
    night_tell("h%02u %s.%s: %s", m->host, night_kind_words[m->kind], what, night_fault_words[fault]);
    switch (fault) {
    case LOSES:
    case LATE:
    case DEAF:
        return err_set(err, -ETIMEDOUT, "no answer");
    case REFUSES:
        if (h->n_refused < sizeof h->refused_s / sizeof *h->refused_s)
            h->refused_s[h->n_refused++] = N->t_s + (double)N->call_ms / 1000;
        return err_set(err, -EACCES, "the password is wrong");
    case BUSY:
        return err_set(err, -EBUSY, "not now");
    case WORKS:
    case SLOW:
    case SAYS_OFF:
    case SAYS_ON:
    case DOES_NOTHING:
    case PRETENDS:
    case METHOD_FAULTS:
        break;
    }
    return 0;
}

static int made_chassis(struct power_method *m, enum chassis *ret, struct err *err)
{
    bool acts;
    enum method_fault fault = fault_now(m);
    int r = answer(m, "chassis", &acts, err);

    *ret = fault == SAYS_OFF                                                       ? CHASSIS_OFF
           : fault == SAYS_ON || fault == PRETENDS || chassis_is_on(chassis_of(m)) ? CHASSIS_ON
                                                                                   : CHASSIS_OFF;
    return r;
}

static int made_wake(struct power_method *m, struct err *err)
{
    bool acts;
    int r = answer(m, "wake", &acts, err);

    if (acts)
        switch_chassis(chassis_of(m), m->host, true);
    else if (fault_now(m) == LATE)
        order_late(m, true);
    return r;
}

/* What the controller at the address says: it is that of chassis_of(). */
static void identity_of(const struct power_method *m, struct controller_identity *ret)
{
    const uint32_t host = chassis_of(m);

    *ret = (struct controller_identity){0};
    switch (N->hosts[host].controllers[m->kind].identity) {
    case HAS_UUID:
        night_uuid(host, ret->uuid);
        break;
    case PLACEHOLDER:
        (void)snprintf(ret->uuid, sizeof ret->uuid, "03000200-0400-0500-0006-000700080009");
        break;
    case NO_UUID:
    case MADE_UUIDS:
        break;
    }
    (void)snprintf(ret->mark, sizeof ret->mark, "serial SN%04u", 100 + host);
}

/* only: the machine that is meant. */
static int switch_off_told(struct power_method *m, const char *what, const struct controller_identity *only,
                           struct err *err)
{
    const bool late = fault_now(m) == LATE;
    struct controller_identity now;
    bool acts;
    int r = answer(m, what, &acts, err);

    identity_of(m, &now);
    if ((acts || late) && controller_identity_same(only, &now, NULL) < 0)
        return acts ? err_set(err, -EPERM, "another machine answers now") : r;
    if (acts)
        switch_chassis(chassis_of(m), m->host, false);
    else if (late)
        order_late(m, false);
    return r;
}

static int made_shut_down(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    return switch_off_told(m, "shut_down", only, err);
}

static int made_cut(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    return switch_off_told(m, "cut", only, err);
}

static int made_watts(struct power_method *m, double *ret, struct err *err)
{
    bool acts;

    if (N->t_s >= N->hosts[m->host].meter_until_s)
        return err_set(err, m->host % 2 ? -ENOTSUP : -ETIMEDOUT, "the meter is gone");
    int r = answer(m, "watts", &acts, err);

    *ret = cluster_host(N->cluster, chassis_of(m))->watts;
    return r;
}

static int made_identity(struct power_method *m, struct controller_identity *ret, struct err *err)
{
    bool acts;
    int r = answer(m, "identify", &acts, err);

    identity_of(m, ret);
    return r;
}

void night_uuid(uint32_t host, char ret[CONTROLLER_UUID_MAX])
{
    (void)snprintf(ret, CONTROLLER_UUID_MAX, "4c4c4544-0042-3510-8054-b7c04f4a32%02x", 0x10 + host);
}

static void unmake(struct power_method *m)
{
    free(m);
}

#define METHOD(name, KIND, CAN)                                                                              \
    static int name##_create(const struct power_host *host, struct power_method **ret, struct err *err)      \
    {                                                                                                        \
        (void)err;                                                                                           \
        return make(host, KIND, ret);                                                                        \
    }                                                                                                        \
    static const struct power_method_ops name = {.kind = (KIND),                                             \
                                                 .can = (CAN),                                               \
                                                 .create = name##_create,                                    \
                                                 .chassis = made_chassis,                                    \
                                                 .wake = made_wake,                                          \
                                                 .shut_down = made_shut_down,                                \
                                                 .cut = made_cut,                                            \
                                                 .watts = made_watts,                                        \
                                                 .identify = made_identity,                                  \
                                                 .destroy = unmake};

#define ALL                                                                                                  \
    (POWER_CAN_WAKE | POWER_CAN_SHUT_DOWN | POWER_CAN_CUT | POWER_CAN_TELL | POWER_CAN_MEASURE |             \
     POWER_CAN_IDENTIFY)
METHOD(made_ipmi, POWER_IPMI, ALL)
METHOD(made_redfish, POWER_REDFISH, ALL)
METHOD(made_wol, POWER_WOL, POWER_CAN_WAKE)

/* ---- the hypervisor's own actuator ------------------------------------------------------------ */

static int inner_create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    (void)cfg, (void)err;
    *ret = (struct actuator *)N;
    return 0;
}

static int inner_fails(const struct operation *q, struct err *err)
{
    const struct power_method m = {.host = snapshot_find_host(&N->s.initial, q->host),
                                   .kind = POWER_HYPERVISOR};
    enum method_fault fault = fault_now(&m);

    return fault == DEAF || fault == BUSY ? err_set(err, -ETIMEDOUT, "the manager does not answer") : 0;
}

static int inner_check(struct actuator *x, const struct operation *q, struct err *err)
{
    (void)x;
    int r = inner_fails(q, err);

    return r < 0 ? r : cluster_check(N->cluster, q, err);
}

static int inner_start(struct actuator *x, const struct operation *q, char ret[TASK_NAME_MAX],
                       struct err *err)
{
    uint32_t host = snapshot_find_host(&N->s.initial, q->host);

    (void)x;
    int r = inner_fails(q, err);

    if (r == 0)
        r = cluster_start(N->cluster, q, ret, err);
    night_tell("h%02u hypervisor.%s: %d %s", host,
               q->kind == OPERATION_STANDBY ? "standby"
               : q->kind == OPERATION_WAKE  ? "wake"
                                            : "maintenance",
               r, r < 0 ? err->text : "");
    if (r == 0 && q->kind == OPERATION_STANDBY) {
        switch_off(host, host);
        N->hosts[host].by_hypervisor = true;
    }
    return r;
}

static int inner_poll(struct actuator *x, const struct operation *q, const char *task,
                      struct task_progress *ret, struct err *err)
{
    (void)x, (void)q;
    return cluster_poll(N->cluster, task, ret, err);
}

static int inner_cancel(struct actuator *x, const struct operation *q, const char *task, struct err *err)
{
    (void)x, (void)q;
    return cluster_cancel(N->cluster, task, err);
}

static void inner_destroy(struct actuator *x)
{
    (void)x;
}

static const struct actuator_ops inner_ops = {.kind = "made",
                                              .operations = OPERATIONS_ALL,
                                              .create = inner_create,
                                              .check = inner_check,
                                              .start = inner_start,
                                              .poll = inner_poll,
                                              .cancel = inner_cancel,
                                              .destroy = inner_destroy};

static bool is_of_power(const struct job *job)
{
    return job->kind == JOB_MEASURE || job->kind == JOB_IDENTIFY ||
           (job->kind != JOB_SET_POOLS &&
            (job->operation.kind == OPERATION_STANDBY || job->operation.kind == OPERATION_WAKE));
}

/* As a worker of the service does. */
void night_run_job(void *ctx, const struct job *job, struct job_result *ret)
{
    struct night *n = ctx;
    const struct night_power *p = night_power(n);
    const struct actuator_ops *ops = &p->ops;

    if (!is_of_power(job)) {
        cluster_run_job(n->cluster, job, ret);
        return;
    }
    *ret = (struct job_result){0};
    n->call_ms = 0;
    switch (job->kind) {
    case JOB_CHECK:
        ret->code = ops->check(p->actuator, &job->operation, &ret->err);
        break;
    case JOB_START:
        ret->code = ops->start(p->actuator, &job->operation, ret->task, &ret->err);
        break;
    case JOB_POLL:
        ret->code = ops->poll(p->actuator, &job->operation, job->task, &ret->progress, &ret->err);
        if (ret->code == 0 && ret->progress.why.text[0])
            night_tell("%s: %s", job->operation.host, ret->progress.why.text);
        break;
    case JOB_CANCEL:
        ret->code = ops->cancel(p->actuator, &job->operation, job->task, &ret->err);
        break;
    case JOB_MEASURE:
        ret->code = ops->measure(p->actuator, &job->measure, &ret->watts, &ret->err);
        break;
    case JOB_IDENTIFY:
        ret->code = ops->identify(p->actuator, &job->identify, &ret->identity, &ret->err);
        break;
    case JOB_SET_POOLS:
        break;
    }
    n->call_ms = 0;
}

struct night_power *night_power(struct night *n)
{
    return &n->power[n->reloaded];
}

static int make_power(struct night *n, bool reloaded, struct err *err)
{
    struct night_power *p = &n->power[reloaded];
    uint32_t hosts = n->s.initial.n_hosts;

    p->config = (struct power_config){
        .inner = &inner_ops,
        .hosts = p->entries,
        .n_hosts = hosts,
        .methods = {[POWER_IPMI] = &made_ipmi, [POWER_REDFISH] = &made_redfish, [POWER_WOL] = &made_wol},
        .logins = n->logins,
        .clock_ms = clock_ms,
        .life = n->life,
    };
    for (uint32_t i = 0; i < hosts; i++) {
        p->entries[i] = n->hosts[i].entry;
        if (reloaded) {
            p->entries[i].sequence = n->hosts[i].later_sequence;
            p->entries[i].n_sequence = n->hosts[i].n_later;
        }
        p->ways[i] = (struct host_power_method){.name = p->entries[i].name,
                                                .wakes = power_wakes(&p->config, &p->entries[i]),
                                                .sleeps = power_sleeps(&p->config, &p->entries[i]),
                                                .tries_s = power_wake_tries_s(&p->config, &p->entries[i])};
    }
    power_actuator(&p->config, &p->ops);
    p->source.shared = &p->config;
    return p->ops.create(&p->source, &p->actuator, err);
}

int night_methods_begin(struct night *n, struct err *err)
{
    n->logins = login_guards_new();
    return make_power(n, false, err);
}

int night_methods_reload(struct night *n, struct err *err)
{
    n->reloaded = true;
    for (uint32_t i = 0; i < n->s.initial.n_hosts; i++) {
        struct made_host *h = &n->hosts[i];

        h->entry.sequence = h->later_sequence;
        h->entry.n_sequence = h->n_later;
    }
    return make_power(n, true, err);
}

void night_methods_end(struct night *n)
{
    for (int i = 0; i < 2; i++) {
        if (n->power[i].actuator)
            n->power[i].ops.destroy(n->power[i].actuator);
    }
    login_guards_free(n->logins);
}

/* ---- what the source shows --------------------------------------------------------------------- */

static bool is_unlisted(const struct night *n, uint32_t host)
{
    const struct made_host *h = &n->hosts[host];
    const struct host_now *now = cluster_host(n->cluster, host);

    return n->t_s >= h->unlisted_from_s && n->t_s < h->listed_s && (now->dead || now->state == HOST_STANDBY);
}

void night_edit_inventory(void *ctx, struct inventory *inv)
{
    const struct night *n = ctx;
    size_t kept = 0;

    for (size_t i = 0; i < inv->n_hosts; i++) {
        uint32_t host = snapshot_find_host(&n->s.initial, inv->hosts[i].is.id);

        if (is_unlisted(n, host)) {
            if (!n->hosts[host].unlisted_as_lost)
                continue;
            inv->hosts[i].is.state = HOST_DISCONNECTED;
        }
        inv->hosts[kept++] = inv->hosts[i];
    }
    inv->n_hosts = kept;
}

/* What a host draws in the time that the account knows is compared: not while the service was down for long.
 * A clock that is set forward makes time that never passed; by a few minutes the account cannot tell, and
 * books it with the same watts. */
static void note_look(struct night *n, uint32_t host, const struct energy_record *r)
{
    struct made_host *h = &n->hosts[host];
    const struct energy_record *was = &h->account;
    const double wh = cluster_host_totals(n->cluster, host)->energy_j / 3600;

    if (r->until == was->until && r->span_s == was->span_s)
        return;
    double known = n->t_s > h->seen_s ? (r->span_s - was->span_s) / (n->t_s - h->seen_s) : 0;
    double known_wh = known * (wh - h->seen_wh);

    if (fabs(r->used_wh - was->used_wh - known_wh) > TOLD_WH)
        night_tell("%s: %.2f Wh drawn, %.2f booked, %.0f s of it measured", h->entry.name, known_wh,
                   r->used_wh - was->used_wh, r->measured_s - was->measured_s);
    h->drawn_wh += known_wh;
    h->account = *r;
    h->account.host = h->entry.name;
    h->seen_s = n->t_s;
    h->seen_wh = wh;
}

void night_note_looks(struct night *n)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct records all = {0};
    struct err err = {0};

    if (counted_store.list(n->service.store, QUERY_HOST_ENERGY, 0, &a, &all, &err) < 0)
        night_wrong("%s", err.text);
    for (size_t i = 0; i < all.n; i++)
        note_look(n, snapshot_find_host(&n->s.initial, all.energy[i].host), &all.energy[i]);
}
