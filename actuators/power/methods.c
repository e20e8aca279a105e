/* methods.c: calls one method of a host, or the hypervisor's own operation. It does not choose the next
 * method; wake.c and standby.c do. */
#include "actuators/power/internal.h"
#include "actuators/power/kept_methods.h"

#include "base/fingerprint.h"
#include "net/http.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const words[POWER_METHOD_COUNT] = {[POWER_HYPERVISOR] = "hypervisor",
                                                      [POWER_IPMI] = "ipmi",
                                                      [POWER_REDFISH] = "redfish",
                                                      [POWER_WOL] = "wol"};

const char *method_word(const struct power_change *j, unsigned index)
{
    return words[j->sequence[index]];
}

static const struct power_method_ops *ops_at(const struct power_change *j, unsigned index)
{
    return j->x->config->methods[j->sequence[index]];
}

/* What the hypervisor's actuator can do, in a method's terms. It has no call that cuts power. */
static unsigned inner_can(const struct actuator_ops *inner)
{
    unsigned can = 0;

    if (inner && (inner->operations & 1u << OPERATION_WAKE))
        can |= POWER_CAN_WAKE;
    if (inner && (inner->operations & 1u << OPERATION_STANDBY))
        can |= POWER_CAN_SHUT_DOWN;
    return can;
}

static unsigned can_of(const struct power_config *s, enum power_method_kind kind)
{
    if (kind == POWER_HYPERVISOR)
        return inner_can(s->inner);
    return s->methods[kind] ? s->methods[kind]->can : 0;
}

bool method_can(const struct power_change *j, unsigned index, unsigned can)
{
    return (can_of(j->x->config, j->sequence[index]) & can) == can;
}

unsigned method_next(const struct power_change *j, unsigned from, unsigned can)
{
    while (from < j->host->n_sequence && !method_can(j, from, can))
        from++;
    return from;
}

static const unsigned wake_bits[POWER_METHOD_COUNT] = {[POWER_HYPERVISOR] = WAKE_HYPERVISOR,
                                                       [POWER_IPMI] = WAKE_IPMI,
                                                       [POWER_REDFISH] = WAKE_REDFISH,
                                                       [POWER_WOL] = WAKE_WOL};

unsigned method_bit(const struct power_change *j, unsigned index)
{
    return wake_bits[j->sequence[index]];
}

/* The method that is to be tested comes first, the others behind it in their sequence: they are called if it
 * fails, so that the host is not lost. */
struct power_change power_change_of(struct actuator *x, const struct power_host *host,
                                    const struct operation *q)
{
    struct power_change j = {.x = x, .host = host, .q = q};
    const unsigned first = q && q->kind == OPERATION_WAKE ? q->power.method : 0;
    size_t n = 0;

    for (size_t i = 0; host && i < host->n_sequence; i++) {
        if (wake_bits[host->sequence[i]] == first)
            j.sequence[n++] = host->sequence[i];
    }
    for (size_t i = 0; host && i < host->n_sequence; i++) {
        if (wake_bits[host->sequence[i]] != first)
            j.sequence[n++] = host->sequence[i];
    }
    return j;
}

static uint32_t mark_of(uint64_t fingerprint)
{
    return (uint32_t)(fingerprint ^ fingerprint >> 32) & POWER_TASK_MARK_MAX;
}

void power_change_sign(const struct power_change *j, struct power_task *c)
{
    uint64_t settings = FINGERPRINT_NONE;
    char text[32];

    for (size_t i = 0; i < j->host->n_sequence; i++) {
        const enum power_method_kind kind = j->host->sequence[i];

        (void)snprintf(text, sizeof text, "%d %" PRIu64 ",", (int)kind, j->host->settings[kind]);
        settings = fingerprint_add(settings, text);
    }
    c->settings = mark_of(settings);
    c->life = mark_of(fingerprint_add(FINGERPRINT_NONE, j->x->config->life ? j->x->config->life : ""));
}

unsigned method_waking(const struct power_change *j)
{
    unsigned i = j->c.phase == PHASE_ASK ? method_next(j, j->c.method, POWER_CAN_WAKE) : j->c.method;

    return i < j->host->n_sequence ? method_bit(j, i) : 0;
}

static unsigned methods_that(const struct power_config *s, const struct power_host *h, unsigned can)
{
    unsigned all = 0;

    for (size_t i = 0; i < h->n_sequence; i++) {
        if (can_of(s, h->sequence[i]) & can)
            all |= wake_bits[h->sequence[i]];
    }
    return all;
}

unsigned power_wakes(const struct power_config *config, const struct power_host *host)
{
    return methods_that(config, host, POWER_CAN_WAKE);
}

unsigned power_sleeps(const struct power_config *config, const struct power_host *host)
{
    return methods_that(config, host, POWER_CAN_SHUT_DOWN);
}

instant_s power_wake_tries_s(const struct power_config *config, const struct power_host *host)
{
    instant_s n = 0;

    for (size_t i = 0; i < host->n_sequence; i++)
        n += (can_of(config, host->sequence[i]) & POWER_CAN_WAKE) != 0;
    return n > 1 ? (n - 1) * (2 * (instant_s)host->timeout_s + FURTHER_S) : 0;
}

int power_check(const struct power_config *config, struct err *err)
{
    for (size_t i = 0; i < config->n_hosts; i++) {
        const struct power_host *h = &config->hosts[i];

        for (size_t k = 0; k < h->n_sequence; k++) {
            const struct power_method_ops *ops = config->methods[h->sequence[k]];
            struct power_method *m = NULL;

            if (h->sequence[k] == POWER_HYPERVISOR || !ops)
                continue;
            int r = ops->create(h, &m, err);

            if (r < 0)
                return err_widen(err, "power.hosts.%s.%s", h->name, words[h->sequence[k]]);
            ops->destroy(m);
        }
    }
    return 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

int64_t power_clock_ms(const struct power_config *s)
{
    return s->clock_ms ? s->clock_ms() : net_now_ms();
}

void power_change_begin(struct power_change *j)
{
    j->asked_ms = power_clock_ms(j->x->config);
}

int64_t power_spent_ms(const struct power_change *j)
{
    return power_clock_ms(j->x->config) - j->asked_ms;
}

instant_s power_time_now(const struct power_change *j)
{
    return j->q->power.now + power_spent_ms(j) / 1000;
}

/* ---- calls ----------------------------------------------------------------------------------- */

int method_call(const struct power_config *config, const struct power_host *h,
                const struct power_method_ops *ops, enum method_call what,
                const struct controller_identity *only, struct method_answer *ret, struct err *err)
{
    const struct controller_identity *same = ops->can & POWER_CAN_IDENTIFY ? only : NULL;
    struct power_login login;
    struct power_method *m = NULL;
    int r = kept_methods_take(config->kept, ops, h, &m, err);

    *ret = (struct method_answer){.chassis = CHASSIS_UNKNOWN};
    if (r < 0)
        return r;
    if ((r = power_login_begin(config, h, ops->kind, &login, err)) == 0) {
        switch (what) {
        case CALL_WAKE:
            r = ops->wake(m, err);
            break;
        case CALL_SHUT_DOWN:
            r = ops->shut_down(m, same, err);
            break;
        case CALL_CUT:
            r = ops->cut(m, same, err);
            break;
        case CALL_CHASSIS:
            r = ops->chassis(m, &ret->chassis, err);
            break;
        case CALL_IDENTIFY:
            r = ops->identify(m, &ret->identity, err);
            break;
        case CALL_WATTS:
            r = ops->watts(m, &ret->watts, err);
            break;
        }
        power_login_end(config, &login, r == -ESTALE ? 0 : r); /* on already: the login was right */
    }
    kept_methods_give(config->kept, ops, m);
    return r;
}

static int call(const struct power_change *j, unsigned index, enum method_call what,
                struct method_answer *ret, struct err *err)
{
    return method_call(j->x->config, j->host, ops_at(j, index), what, NULL, ret, err);
}

int method_wake(const struct power_change *j, unsigned index, struct err *err)
{
    struct method_answer none;

    return call(j, index, CALL_WAKE, &none, err);
}

int method_shut_down(const struct power_change *j, unsigned index, const struct controller_identity *only,
                     struct err *err)
{
    struct method_answer none;

    return method_call(j->x->config, j->host, ops_at(j, index), CALL_SHUT_DOWN, only, &none, err);
}

int method_cut(const struct power_change *j, unsigned index, const struct controller_identity *only,
               struct err *err)
{
    struct method_answer none;

    return method_call(j->x->config, j->host, ops_at(j, index), CALL_CUT, only, &none, err);
}

int method_chassis(const struct power_change *j, unsigned index, enum chassis *ret, struct err *err)
{
    struct method_answer answer;
    int r = call(j, index, CALL_CHASSIS, &answer, err);

    if (r < 0)
        return r;
    *ret = answer.chassis;
    if (*ret == CHASSIS_UNKNOWN)
        return err_set(err, -EPROTO, "%s of host %s does not tell whether it is on", method_word(j, index),
                       j->host->name);
    return 0;
}

int method_identify(const struct power_change *j, unsigned index, struct controller_identity *ret,
                    struct err *err)
{
    struct method_answer answer;
    int r = call(j, index, CALL_IDENTIFY, &answer, err);

    *ret = answer.identity;
    return r;
}

int methods_ask_chassis(struct power_change *j, bool all, struct readings *ret, struct err *err)
{
    const unsigned n = (unsigned)j->host->n_sequence;
    int worst = err_set(err, -ENOTSUP, "host %s has no method that tells whether it is on", j->host->name);
    bool any = false;
    bool failed = false;

    *ret = (struct readings){.on = n, .off = n};
    for (unsigned i = 0; i < n && (all || !any); i++) {
        unsigned index = (i + j->c.answered_last) % n;
        enum chassis is = CHASSIS_UNKNOWN;
        struct err why = {0};

        if (!method_can(j, index, POWER_CAN_TELL))
            continue;
        int r = method_chassis(j, index, &is, &why);

        if (r < 0) {
            ret->interrupted = ret->interrupted || r == -ECANCELED;
            if (!failed && err)
                *err = why;
            worst = failed ? worst : r;
            failed = true;
            continue;
        }
        if (!any)
            j->c.answered_last = index;
        any = true;
        unsigned *first = is == CHASSIS_ON ? &ret->on : &ret->off;

        *first = *first == n ? index : *first;
    }
    return any ? 0 : worst;
}

bool power_controllers_disagree(struct power_change *j, const struct readings *r, struct outcome *out)
{
    if (r->on == j->host->n_sequence || r->off == j->host->n_sequence)
        return false;
    if (!j->c.controllers_disagree)
        (void)err_set(&out->why, -EPROTO,
                      "%s says that host %s is on, and %s that it is off: one of them errs, or is that of "
                      "another machine",
                      method_word(j, r->on), j->host->name, method_word(j, r->off));
    j->c.controllers_disagree = true;
    return true;
}

/* A refusal or an unreachable controller means that nothing was done. After any other error it is not
 * known. */
bool method_may_have_heard(int code)
{
    switch (code) {
    case -EACCES:
    case -EPERM:
    case -ENOTSUP:
    case -EINVAL:
    case -ENOENT:
    case -ENODEV:
    case -ECONNREFUSED:
    case -EHOSTUNREACH:
    case -ENETUNREACH:
    case -EKEYREJECTED:
    case -ESTALE:
        return false;
    default:
        return true;
    }
}

/* ---- the hypervisor's own operation ---------------------------------------------------------- */

int power_inner_begin(struct power_change *j, struct err *err)
{
    char task[TASK_NAME_MAX] = "";
    int r = j->x->config->inner->start(j->x->inner, j->q, task, err);

    if (r < 0)
        return r;
    j->c.phase = PHASE_INNER;
    j->c.since = power_time_now(j);
    (void)memcpy(j->c.inner, task, sizeof task);
    return 0;
}

int power_inner_follow(struct power_change *j, struct task_progress *ret, struct err *err)
{
    return j->x->config->inner->poll(j->x->inner, j->q, j->c.inner, ret, err);
}

int power_inner_allows(const struct power_change *j, struct err *err)
{
    const unsigned knows = 1u << OPERATION_STANDBY | 1u << OPERATION_STANDBY_CHECK;
    const struct actuator_ops *inner = j->x->config->inner;
    struct operation q = *j->q;

    q.power.by_controller = true;
    return inner && inner->operations & knows ? inner->check(j->x->inner, &q, err) : 0;
}

instant_s power_time_limit_s(const struct power_change *j)
{
    return j->q->power.patience_s > 0 ? j->q->power.patience_s : PATIENCE_S;
}
