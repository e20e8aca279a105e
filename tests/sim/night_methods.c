/* night_methods.c: the made methods of simulated hosts, the hypervisor's actuator among them, and
 * actuators/power in front of them. */
#include "night_methods.h"

#include "net/login_guards.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct night *N;

const char *const night_fault_words[METHOD_FAULTS] = {"works",    "is slow", "loses answers", "says off",
                                                      "says on",  "is deaf", "refuses",       "does nothing",
                                                      "pretends", "is busy"};
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

    return N->t_s >= h->fault_from_s[m->kind] ? h->fault[m->kind] : WORKS;
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

/* The one place at which power goes off: whatever led here, no VM may be on the host, nor on its way there.
 */
static void switch_off(uint32_t host)
{
    const struct host_now *now = cluster_host(N->cluster, host);

    if (now->n_vms > 0)
        night_wrong("host h%02u is switched off with %u VMs on it", host, now->n_vms);
    N->hosts[host].slept = true;
}

/* The hypervisor's failure detection takes a host for lost that goes dark and is not in maintenance mode. */
static void switch_off_by_controller(uint32_t host)
{
    enum host_state state = cluster_host(N->cluster, host)->state;

    if (state != HOST_MAINTENANCE)
        night_wrong("host h%02u is switched off while it is %s, and the hypervisor was not told", host,
                    host_state_name(state));
    switch_off(host);
    N->hosts[host].by_hypervisor = false;
    cluster_switch(N->cluster, host, false);
}

/* The cost and the answer of a call; *ret_acts: whether the controller carries it out. */
static int answer(const struct power_method *m, const char *what, bool *ret_acts, struct err *err)
{
    struct made_host *h = &N->hosts[m->host];
    enum method_fault fault = fault_now(m);

    *ret_acts =
        fault != DEAF && fault != REFUSES && fault != DOES_NOTHING && fault != PRETENDS && fault != BUSY;
    N->call_ms += fault == SLOW ? 15000 : fault == DEAF || fault == LOSES ? 1000 * TIMEOUT_S : 300;
    night_tell("h%02u %s.%s: %s", m->host, night_kind_words[m->kind], what, night_fault_words[fault]);
    switch (fault) {
    case LOSES:
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

    *ret = fault == SAYS_OFF                                                 ? CHASSIS_OFF
           : fault == SAYS_ON || fault == PRETENDS || chassis_is_on(m->host) ? CHASSIS_ON
                                                                             : CHASSIS_OFF;
    return r;
}

static int made_wake(struct power_method *m, struct err *err)
{
    bool acts;
    int r = answer(m, "wake", &acts, err);

    if (acts)
        cluster_switch(N->cluster, m->host, true);
    return r;
}

static int made_shut_down(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    bool acts;

    (void)only;
    int r = answer(m, "shut_down", &acts, err);

    if (acts && chassis_is_on(m->host)) {
        switch_off_by_controller(m->host);
    }
    return r;
}

static int made_cut(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    bool acts;

    (void)only;
    int r = answer(m, "cut", &acts, err);

    if (acts && chassis_is_on(m->host)) {
        switch_off_by_controller(m->host);
    }
    return r;
}

static int made_watts(struct power_method *m, double *ret, struct err *err)
{
    bool acts;

    if (N->t_s >= N->hosts[m->host].meter_until_s)
        return err_set(err, m->host % 2 ? -ENOTSUP : -ETIMEDOUT, "the meter is gone");
    int r = answer(m, "watts", &acts, err);

    *ret = cluster_host(N->cluster, m->host)->watts;
    return r;
}

static int no_identity(struct power_method *m, struct controller_identity *ret, struct err *err)
{
    (void)m, (void)err;
    *ret = (struct controller_identity){0};
    return 0;
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
                                                 .identify = no_identity,                                    \
                                                 .destroy = unmake};

#define ALL (POWER_CAN_WAKE | POWER_CAN_SHUT_DOWN | POWER_CAN_CUT | POWER_CAN_TELL | POWER_CAN_MEASURE)
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
        switch_off(host);
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
    const struct actuator_ops *ops = &n->ops;

    if (!is_of_power(job)) {
        cluster_run_job(n->cluster, job, ret);
        return;
    }
    *ret = (struct job_result){0};
    n->call_ms = 0;
    switch (job->kind) {
    case JOB_CHECK:
        ret->code = ops->check(n->actuator, &job->operation, &ret->err);
        break;
    case JOB_START:
        ret->code = ops->start(n->actuator, &job->operation, ret->task, &ret->err);
        break;
    case JOB_POLL:
        ret->code = ops->poll(n->actuator, &job->operation, job->task, &ret->progress, &ret->err);
        if (ret->code == 0 && ret->progress.why.text[0])
            night_tell("%s: %s", job->operation.host, ret->progress.why.text);
        break;
    case JOB_CANCEL:
        ret->code = ops->cancel(n->actuator, &job->operation, job->task, &ret->err);
        break;
    case JOB_MEASURE:
        ret->code = ops->measure(n->actuator, &job->measure, &ret->watts, &ret->err);
        break;
    case JOB_IDENTIFY:
        ret->code = ops->identify(n->actuator, &job->identify, &ret->identity, &ret->err);
        break;
    case JOB_SET_POOLS:
        break;
    }
    n->call_ms = 0;
}

int night_methods_begin(struct night *n, struct power_host *entries, struct host_power_method *ways,
                        struct err *err)
{
    uint32_t hosts = n->s.initial.n_hosts;

    n->power = (struct power_config){
        .inner = &inner_ops,
        .hosts = entries,
        .n_hosts = hosts,
        .methods = {[POWER_IPMI] = &made_ipmi, [POWER_REDFISH] = &made_redfish, [POWER_WOL] = &made_wol},
        .logins = login_guards_new(),
        .clock_ms = clock_ms,
        .life = "one",
    };
    for (uint32_t i = 0; i < hosts; i++) {
        entries[i] = n->hosts[i].entry;
        ways[i] = (struct host_power_method){.name = entries[i].name,
                                             .wakes = power_wakes(&n->power, &entries[i]),
                                             .sleeps = power_sleeps(&n->power, &entries[i]),
                                             .tries_s = power_wake_tries_s(&n->power, &entries[i])};
    }
    power_actuator(&n->power, &n->ops);
    n->source.shared = &n->power;
    return n->ops.create(&n->source, &n->actuator, err);
}

void night_methods_end(struct night *n)
{
    n->ops.destroy(n->actuator);
    login_guards_free(n->power.logins);
}
