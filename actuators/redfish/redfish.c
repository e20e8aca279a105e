/* redfish.c: the power method Redfish: finds the system, tells its state, reads its meter. reset.c switches
 * it; session.c sends the requests. */
#include "actuators/redfish/redfish.h"

#include "actuators/redfish/internal.h"
#include "base/cleanup.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_MAX 16u

static int method_create(const struct power_host *host, struct power_method **ret, struct err *err)
{
    struct power_method *m = xcalloc(1, sizeof *m);

    m->host = host;
    int r = redfish_session_new(host, &m->talk, err);
    if (r < 0) {
        free(m);
        (void)err_widen(err, "host %s: Redfish", host->name);
        return r;
    }
    *ret = m;
    return 0;
}

static void method_destroy(struct power_method *m)
{
    if (!m)
        return;
    redfish_session_free(m->talk);
    free(m);
}

/* ---- the system ---- */

static int settle(const struct power_method *m, const struct redfish_search *s, struct err *err)
{
    if (s->n_found == 1)
        return 0;
    if (s->n_members == 0)
        return err_set(err, -ENOTSUP, "the service has no systems");
    if (s->n_found == 0)
        return err_set(err, -EINVAL, "no system has the id %s: there are %s", m->host->redfish.system,
                       s->ids);
    if (m->host->redfish.system)
        return err_set(err, -EPROTO, "%zu systems have the id %s", s->n_found, m->host->redfish.system);
    return err_set(err, -EINVAL,
                   "the service has %zu systems, and `system` does not say which one is meant: %s",
                   s->n_found, s->ids);
}

static int find_system(struct power_method *m, struct err *err)
{
    struct redfish_search search = {.id = m->host->redfish.system};

    if (m->system.text[0])
        return 0;
    int r = redfish_systems(m->talk, &search.next, err);
    for (unsigned page = 0; r == 0 && search.next.text[0]; page++) {
        CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};
        const struct redfish_path path = search.next;

        if (page == PAGES_MAX)
            return err_set(err, -EPROTO, "the list of systems has more than %u pages", PAGES_MAX);
        r = redfish_get(m->talk, &path, &reply, err);
        if (r == 0)
            r = redfish_search_page(reply.body, &path, &search, err);
    }
    if (r == 0)
        r = settle(m, &search, err);
    if (r == 0) {
        m->system = search.found;
        m->alone = search.n_members == 1;
    }
    return r;
}

int redfish_get_system(struct power_method *m, struct redfish_reply *ret, struct err *err)
{
    int r = find_system(m, err);

    if (r < 0)
        return r;
    r = redfish_get(m->talk, &m->system, ret, err);
    if (r < 0 && ret->status == 404)
        m->system.text[0] = '\0'; /* looked for anew the next time */
    return r;
}

static int read_chassis(struct power_method *m, enum chassis *ret, struct err *err)
{
    CLEANUP(redfish_reply_release) struct redfish_reply system = {0};
    enum redfish_power power = REDFISH_POWER_COUNT;
    int r = redfish_get_system(m, &system, err);

    if (r == 0)
        r = redfish_power_state(system.body, &power, err);
    if (r == 0) /* only "Off" is off: a system in transition has power */
        *ret = power == REDFISH_OFF ? CHASSIS_OFF : CHASSIS_ON;
    return r;
}

/* ---- identity ---- */

void redfish_identify(const struct power_method *m, const struct redfish_reply *system,
                      struct controller_identity *ret)
{
    const char *fingerprint = redfish_fingerprint(m->talk);

    redfish_identity(system->body, ret);
    if (!ret->mark[0] && fingerprint[0])
        (void)snprintf(ret->mark, sizeof ret->mark, "certificate SHA-256 %s", fingerprint);
}

static int read_identity(struct power_method *m, struct controller_identity *ret, struct err *err)
{
    CLEANUP(redfish_reply_release) struct redfish_reply system = {0};
    int r = redfish_get_system(m, &system, err);

    if (r == 0)
        redfish_identify(m, &system, ret);
    return r;
}

/* ---- the contract ---- */

static int outcome(const struct power_method *m, int r, struct err *err)
{
    redfish_session_rest(m->talk);
    if (r < 0)
        (void)err_widen(err, "host %s: Redfish", m->host->name);
    return r;
}

static int method_chassis(struct power_method *m, enum chassis *ret, struct err *err)
{
    redfish_session_begin(m->talk);
    return outcome(m, read_chassis(m, ret, err), err);
}

static int method_wake(struct power_method *m, struct err *err)
{
    redfish_session_begin(m->talk);
    return outcome(m, redfish_wake(m, err), err);
}

static int method_shut_down(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    redfish_session_begin(m->talk);
    return outcome(m, redfish_shut_down(m, only, err), err);
}

static int method_cut(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    if (!m->host->hard_off)
        return outcome(m, err_set(err, -EPERM, "its power is not cut: hard_off is not allowed"), err);
    redfish_session_begin(m->talk);
    return outcome(m, redfish_cut(m, only, err), err);
}

static int method_watts(struct power_method *m, double *ret, struct err *err)
{
    redfish_session_begin(m->talk);
    return outcome(m, redfish_measure(m, ret, err), err);
}

static int method_identify(struct power_method *m, struct controller_identity *ret, struct err *err)
{
    redfish_session_begin(m->talk);
    return outcome(m, read_identity(m, ret, err), err);
}

const struct power_method_ops redfish_method = {
    .kind = POWER_REDFISH,
    .can = POWER_CAN_WAKE | POWER_CAN_SHUT_DOWN | POWER_CAN_CUT | POWER_CAN_TELL | POWER_CAN_MEASURE |
           POWER_CAN_IDENTIFY,
    .create = method_create,
    .chassis = method_chassis,
    .wake = method_wake,
    .shut_down = method_shut_down,
    .cut = method_cut,
    .watts = method_watts,
    .identify = method_identify,
    .destroy = method_destroy,
};
