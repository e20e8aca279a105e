/* vm_look.c: asks one host about a VM: its state, its definition, its job.
 */
#include "actuators/libvirt/vm_look.h"

#include "net/http.h"
#include "net/libvirt/connections.h"
#include "net/xml.h"

#include <ballast/units.h>

#include <errno.h>
#include <libvirt/virterror.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- jobs ----------------------------------------------------------------------------------------- */

static double number_of(const virTypedParameter *params, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(params[i].field, name) == 0 && params[i].type == VIR_TYPED_PARAM_ULLONG)
            return (double)params[i].value.ul;
        if (strcmp(params[i].field, name) == 0 && params[i].type == VIR_TYPED_PARAM_INT)
            return params[i].value.i;
    }
    return UNKNOWN;
}

void vm_look_read_job(const virTypedParameter *params, int n, struct job_progress *ret)
{
    double total = number_of(params, n, VIR_DOMAIN_JOB_DATA_TOTAL);
    double left = number_of(params, n, VIR_DOMAIN_JOB_DATA_REMAINING);
    double net = number_of(params, n, VIR_DOMAIN_JOB_DOWNTIME_NET);
    double gross = number_of(params, n, VIR_DOMAIN_JOB_DOWNTIME);

    *ret = (struct job_progress){
        .percent = total > 0 && left >= 0 && left <= total ? (int)((total - left) * 100 / total) : -1,
        .elapsed_s = number_of(params, n, VIR_DOMAIN_JOB_TIME_ELAPSED) / 1000,
        .downtime_s = (isnan(net) ? gross : net) / 1000, /* net: without the difference of both clocks */
        .copied_mb = number_of(params, n, VIR_DOMAIN_JOB_DATA_PROCESSED) / BYTES_PER_MIB,
        .left_mb = number_of(params, n, VIR_DOMAIN_JOB_MEMORY_REMAINING) / BYTES_PER_MIB,
        .rate_mb_s = number_of(params, n, VIR_DOMAIN_JOB_MEMORY_BPS) / BYTES_PER_MIB,
        .dirty_mb_s = number_of(params, n, VIR_DOMAIN_JOB_MEMORY_DIRTY_RATE) *
                      number_of(params, n, VIR_DOMAIN_JOB_MEMORY_PAGE_SIZE) / BYTES_PER_MIB,
        .round = number_of(params, n, VIR_DOMAIN_JOB_MEMORY_ITERATION),
        .slowed = number_of(params, n, VIR_DOMAIN_JOB_AUTO_CONVERGE_THROTTLE),
    };
}

static int operation_of(const virTypedParameter *params, int n)
{
    int operation = VIR_DOMAIN_JOB_OPERATION_UNKNOWN;

    for (int i = 0; i < n; i++) {
        if (strcmp(params[i].field, VIR_DOMAIN_JOB_OPERATION) == 0 && params[i].type == VIR_TYPED_PARAM_INT)
            operation = params[i].value.i;
    }
    return operation;
}

/* Only the source of a migration has statistics. A host that has none at all has a job as long as the VM's
 * state says so. Everything else that is no answer is silence: what has a job must not be taken for idle. */
static int look_at_job(struct vm_look *l)
{
    virTypedParameterPtr params = NULL;
    int n = 0, type = VIR_DOMAIN_JOB_NONE;

    if (virDomainGetJobStats(l->dom, &type, &params, &n, 0) < 0) {
        const virError *e = virGetLastError();
        const bool comes_in = e && e->code == VIR_ERR_OPERATION_UNSUPPORTED;
        const int r = libvirt_connections_fail(&l->err, l->host);

        l->side.job = comes_in;
        l->side.abandoned = false; /* or that is not known */
        return r == -ENOTSUP || l->side.job ? 0 : r;
    }
    l->side.job = type == VIR_DOMAIN_JOB_BOUNDED || type == VIR_DOMAIN_JOB_UNBOUNDED;
    l->side.moving_out = l->side.job && operation_of(params, n) == VIR_DOMAIN_JOB_OPERATION_MIGRATION_OUT;
    if (l->side.moving_out)
        vm_look_read_job(params, n, &l->job);
    l->side.abandoned = l->side.abandoned && !l->side.job;
    virTypedParamsFree(params, n);
    return 0;
}

bool vm_look_completed(const struct vm_look *look, struct job_progress *ret)
{
    virTypedParameterPtr params = NULL;
    int n = 0, type = VIR_DOMAIN_JOB_NONE;

    if (!look->dom ||
        virDomainGetJobStats(look->dom, &type, &params, &n,
                             VIR_DOMAIN_JOB_STATS_COMPLETED | VIR_DOMAIN_JOB_STATS_KEEP_COMPLETED) < 0)
        return false;
    if (type == VIR_DOMAIN_JOB_COMPLETED)
        vm_look_read_job(params, n, ret);
    virTypedParamsFree(params, n);
    return type == VIR_DOMAIN_JOB_COMPLETED;
}

/* ---- states --------------------------------------------------------------------------------------- */

static void read_state(int state, int reason, struct side *ret)
{
    switch (state) {
    case VIR_DOMAIN_SHUTOFF:
        ret->is = SIDE_OFF;
        ret->moved_out = reason == VIR_DOMAIN_SHUTOFF_MIGRATED;
        return;
    case VIR_DOMAIN_PAUSED:
        ret->in_post_copy =
            reason == VIR_DOMAIN_PAUSED_POSTCOPY || reason == VIR_DOMAIN_PAUSED_POSTCOPY_FAILED;
        ret->is = ret->in_post_copy || reason == VIR_DOMAIN_PAUSED_MIGRATION ||
                          reason == VIR_DOMAIN_PAUSED_STARTING_UP
                      ? SIDE_WAITING
                      : SIDE_RUNNING;
        ret->paused = ret->is == SIDE_RUNNING;
        ret->abandoned = reason == VIR_DOMAIN_PAUSED_MIGRATION; /* unless it has a job */
        return;
    default: /* running, blocked, being shut down, crashed, suspended by the guest: a process is there */
        ret->is = SIDE_RUNNING;
        ret->in_post_copy = state == VIR_DOMAIN_RUNNING && reason == VIR_DOMAIN_RUNNING_POSTCOPY;
        return;
    }
}

static int read_domain(struct vm_look *l, const char *vm)
{
    int state = 0, reason = 0;

    l->dom = virDomainLookupByUUIDString(l->conn, vm);
    if (!l->dom) {
        if (libvirt_connections_fail(&l->err, l->host) != -ENOENT)
            return l->err.code;
        l->side.is = SIDE_NONE;
        return 0;
    }
    const char *name = virDomainGetName(l->dom);
    int defined = virDomainIsPersistent(l->dom);

    net_one_line(name ? name : vm, l->name, sizeof l->name);
    if (defined < 0 || virDomainGetState(l->dom, &state, &reason, 0) < 0) {
        if (libvirt_connections_fail(&l->err, l->host) != -ENOENT)
            return l->err.code;
        l->side = (struct side){.is = SIDE_NONE}; /* it went in this moment */
        return 0;
    }
    int autostart = 0;

    l->side.defined = defined == 1;
    l->autostart = l->side.defined && virDomainGetAutostart(l->dom, &autostart) == 0 && autostart == 1;
    read_state(state, reason, &l->side);
    if (l->side.is == SIDE_OFF)
        return 0;
    int r = look_at_job(l);

    if (r == -ENOENT)
        l->side = (struct side){.is = SIDE_NONE};
    return r == -ENOENT ? 0 : r;
}

void vm_look_take(struct migrations *m, size_t host, const char *vm, int64_t deadline_ms, struct vm_look *ret)
{
    *ret = (struct vm_look){
        .host = migrations_host_name(m, host),
        .of = m,
        .at = host,
        .job = {.percent = -1, .elapsed_s = UNKNOWN, .downtime_s = UNKNOWN, .copied_mb = UNKNOWN},
        .side = {.is = SIDE_SILENT}};
    if (migrations_ask(m, host, net_now_ms(), &ret->err) < 0)
        return;
    if (migrations_connect(m, host, deadline_ms, &ret->conn, &ret->err) == 0 && read_domain(ret, vm) < 0)
        ret->side = (struct side){.is = SIDE_SILENT};
    migrations_answered(m, host, net_now_ms());
}

void vm_look_release(struct vm_look *look)
{
    if (look->dom)
        (void)virDomainFree(look->dom);
    if (look->conn)
        migrations_disconnect(look->of, look->at, look->conn);
    look->dom = NULL;
    look->conn = NULL;
}

void vm_look_take_both(struct migrations *m, const struct task_name *t, bool all, struct vm_looks *ret)
{
    int64_t deadline_ms = net_now_ms() + MIGRATIONS_CONNECT_MS;
    bool same = strcmp(t->from, t->to) == 0;

    if (same)
        ret->from = (struct vm_look){.host = migrations_host_name(m, migrations_host(m, t->from)),
                                     .side = {.is = SIDE_NONE}};
    else
        vm_look_take(m, migrations_host(m, t->from), t->vm, deadline_ms, &ret->from);
    if (all || !ret->from.side.moving_out)
        vm_look_take(m, migrations_host(m, t->to), t->vm, deadline_ms, &ret->to);
    else
        ret->to = (struct vm_look){.host = migrations_host_name(m, migrations_host(m, t->to)),
                                   .side = {.is = SIDE_SILENT}};
}

void vm_look_release_both(struct vm_looks *looks)
{
    vm_look_release(&looks->from);
    vm_look_release(&looks->to);
}

const char *vm_look_name(const struct vm_looks *l, const char *vm)
{
    return l->from.name[0] ? l->from.name : l->to.name[0] ? l->to.name : vm;
}
