/* call.c: opens a connection of its own, and makes the calls that migrate a VM, or start
 * it. */
#include "actuators/libvirt/call.h"

#include "net/libvirt/connections.h"

#include <errno.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <stdio.h>

struct params {
    virTypedParameterPtr list;
    int n, cap;
};

static void release_params(struct params *p)
{
    virTypedParamsFree(p->list, p->n);
    *p = (struct params){0};
}

unsigned call_flags(const struct call *c)
{
    if (c->task.start)
        return VIR_MIGRATE_OFFLINE | VIR_MIGRATE_PERSIST_DEST | VIR_MIGRATE_UNDEFINE_SOURCE |
               (c->how.mode == LIBVIRT_MIGRATION_P2P ? VIR_MIGRATE_PEER2PEER : 0);

    unsigned flags = VIR_MIGRATE_LIVE | VIR_MIGRATE_ABORT_ON_ERROR;

    if (c->how.mode == LIBVIRT_MIGRATION_P2P)
        flags |= VIR_MIGRATE_PEER2PEER;
    if (c->task.persistent)
        flags |= VIR_MIGRATE_PERSIST_DEST | VIR_MIGRATE_UNDEFINE_SOURCE;
    if (c->how.tls)
        flags |= VIR_MIGRATE_TLS;
    if (c->how.auto_converge)
        flags |= VIR_MIGRATE_AUTO_CONVERGE;
    if (c->how.post_copy)
        flags |= VIR_MIGRATE_POSTCOPY;
    if (c->how.connections > 1)
        flags |= VIR_MIGRATE_PARALLEL;
    if (c->disks.targets.n > 0)
        flags |= c->how.copy_storage == LIBVIRT_COPY_INCREMENTAL ? VIR_MIGRATE_NON_SHARED_INC
                                                                 : VIR_MIGRATE_NON_SHARED_DISK;
    return flags;
}

static int fill_params(const struct call *c, struct params *p)
{
    int r = 0;

    if (c->task.start) /* no memory is sent */
        return 0;
    if (c->to->migration_uri)
        r = virTypedParamsAddString(&p->list, &p->n, &p->cap, VIR_MIGRATE_PARAM_URI, c->to->migration_uri);
    if (r == 0 && c->how.bandwidth_mbs > 0)
        r = virTypedParamsAddULLong(&p->list, &p->n, &p->cap, VIR_MIGRATE_PARAM_BANDWIDTH,
                                    c->how.bandwidth_mbs);
    if (r == 0 && c->how.connections > 1)
        r = virTypedParamsAddInt(&p->list, &p->n, &p->cap, VIR_MIGRATE_PARAM_PARALLEL_CONNECTIONS,
                                 (int)c->how.connections);
    for (uint32_t i = 0; r == 0 && i < c->disks.targets.n; i++)
        r = virTypedParamsAddString(&p->list, &p->n, &p->cap, VIR_MIGRATE_PARAM_MIGRATE_DISKS,
                                    c->disks.targets.items[i]);
    return r;
}

/* Sets the error of the last call; what a person or the engine has cancelled is no failure. */
static enum call_state refused(virConnectPtr conn, const char *host, struct err *err)
{
    const virError *e = virGetLastError();
    bool cancelled = e && e->code == VIR_ERR_OPERATION_ABORTED;

    (void)libvirt_connections_fail(err, host);
    if (conn && virConnectIsAlive(conn) != 1)
        return CALL_NONE;
    if (cancelled)
        err->code = -ECANCELED;
    return CALL_REFUSED;
}

/* The call itself. dest: NULL, peer to peer. */
static enum call_state migrate(const struct call *c, virConnectPtr conn, virConnectPtr dest, struct err *err)
{
    struct params p = {0};
    enum call_state ret = CALL_DONE;
    virDomainPtr dom = virDomainLookupByUUIDString(conn, c->task.vm);
    virDomainPtr arrived = NULL;
    char both[ERR_TEXT_MAX / 4]; /* libvirt passes errors of the destination on as the source's */

    (void)snprintf(both, sizeof both, "%s to %s", c->from->name, c->to->name);
    if (!dom)
        return refused(conn, c->from->name, err);
    if (fill_params(c, &p) < 0) {
        ret = refused(NULL, c->from->name, err);
    } else if (!c->may_ask(c->ctx)) {
        ret = CALL_REFUSED;
        (void)err_set(err, -ECANCELED, "%s: the task was cancelled before it began", c->from->name);
    } else if (c->task.autostart && virDomainSetAutostart(dom, 0) < 0) {
        ret = refused(conn, c->from->name, err);
    } else if (!dest) {
        if (virDomainMigrateToURI3(dom, c->to->peer_uri, p.list, (unsigned)p.n, call_flags(c)) < 0)
            ret = refused(conn, both, err);
    } else {
        arrived = virDomainMigrate3(dom, dest, p.list, (unsigned)p.n, call_flags(c));
        if (!arrived)
            ret = refused(virConnectIsAlive(dest) == 1 ? conn : dest, both, err);
    }
    if (arrived)
        (void)virDomainFree(arrived);
    (void)virDomainFree(dom);
    release_params(&p);
    return ret;
}

static enum call_state start_vm(const struct call *c, virConnectPtr conn, struct err *err)
{
    virDomainPtr dom = virDomainLookupByUUIDString(conn, c->task.vm);
    enum call_state ret = CALL_DONE;

    if (!dom)
        return refused(conn, c->to->name, err);
    if (!c->may_ask(c->ctx)) {
        ret = CALL_REFUSED;
        (void)err_set(err, -ECANCELED, "%s: the start was cancelled before it began", c->to->name);
    } else if (virDomainCreateWithFlags(dom, 0) < 0) {
        ret = refused(conn, c->to->name, err);
    }
    (void)virDomainFree(dom);
    return ret;
}

enum call_state call_run(struct libvirt_connections *conns, const struct call *c, struct err *err)
{
    virConnectPtr from = NULL, to = NULL;
    bool moves = c->from_ix != c->to_ix;
    enum call_state ret = CALL_REFUSED;
    int r = moves ? libvirt_connections_open(conns, c->from_ix, &from, err) : 0;

    if (r == 0 && (c->task.start || c->how.mode == LIBVIRT_MIGRATION_MANAGED))
        r = libvirt_connections_open(conns, c->to_ix, &to, err);
    if (r == 0)
        ret = moves ? migrate(c, from, c->how.mode == LIBVIRT_MIGRATION_MANAGED ? to : NULL, err) : CALL_DONE;
    if (ret == CALL_DONE && c->task.start && !c->task.off)
        ret = start_vm(c, to, err);
    if (to)
        (void)virConnectClose(to);
    if (from)
        (void)virConnectClose(from);
    return ret;
}
