/* repair.c: deletes a definition that is left over, writes one that is missing, and sets again whether the VM
 * starts with its host. */
#include "actuators/libvirt/repair.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "net/libvirt/connections.h"

#include <errno.h>

/* What belongs to the VM and not to its definition stays: variables of the firmware and state of the TPM may
 * be in files that both hosts have in common. A saved memory or snapshots make libvirt refuse; they do not
 * come from a migration. */
static int undefine(const struct vm_look *l, const struct vm_look *other, struct err *err)
{
    if (virDomainUndefineFlags(l->dom, VIR_DOMAIN_UNDEFINE_KEEP_NVRAM | VIR_DOMAIN_UNDEFINE_KEEP_TPM) < 0) {
        (void)libvirt_connections_fail(err, l->host);
        return err_widen(err, "the definition of VM %s, which is on %s now, is left over on %s", l->name,
                         other->host, l->host);
    }
    log_info("%s: the definition of VM %s, left over by a migration, is deleted: it is on %s", l->host,
             l->name, other->host);
    return 0;
}

/* The definition as it was, where the source has it still; else as it runs. */
static int define(const struct vm_look *from, const struct vm_look *to, struct err *err)
{
    const struct vm_look *model = from->side.is == SIDE_OFF ? from : to;
    CLEANUP(freep)
    char *text = virDomainGetXMLDesc(model->dom, VIR_DOMAIN_XML_SECURE | VIR_DOMAIN_XML_INACTIVE);
    virDomainPtr made = text ? virDomainDefineXMLFlags(to->conn, text, 0) : NULL;

    if (!made) {
        (void)libvirt_connections_fail(err, text ? to->host : model->host);
        return err_widen(err, "VM %s runs on %s without a definition", to->name, to->host);
    }
    (void)virDomainFree(made);
    log_info("%s: VM %s has its definition there now", to->host, to->name);
    return 0;
}

/* What a migration that has arrived left paused at its source: it must not run again. Both are looked at once
 * more, since people may have resumed the one or stopped the other. */
static int end_paused(const struct vm_look *l, const struct vm_look *other, struct err *err)
{
    int state = 0, reason = 0, there = 0, why = 0;

    if (virDomainGetState(l->dom, &state, &reason, 0) < 0 || state != VIR_DOMAIN_PAUSED ||
        reason != VIR_DOMAIN_PAUSED_MIGRATION || virDomainGetState(other->dom, &there, &why, 0) < 0 ||
        there != VIR_DOMAIN_RUNNING)
        return 0;
    if (virDomainDestroyFlags(l->dom, VIR_DOMAIN_DESTROY_DEFAULT) < 0) {
        (void)libvirt_connections_fail(err, l->host);
        return err_widen(err,
                         "VM %s runs on %s, and a migration has left it paused on %s: never resume it there",
                         l->name, other->host, l->host);
    }
    log_info("%s: what a migration has left of VM %s, paused, is ended: the VM runs on %s", l->host, l->name,
             other->host);
    return 0;
}

static int repair_definitions(const struct vm_looks *l, enum repair what, struct err *err)
{
    switch (what) {
    case REPAIR_NONE:
        return 0;
    case REPAIR_UNDEFINE_FROM:
        return undefine(&l->from, &l->to, err);
    case REPAIR_UNDEFINE_TO:
        return undefine(&l->to, &l->from, err);
    case REPAIR_DEFINE_TO:
        return define(&l->from, &l->to, err);
    case REPAIR_END_FROM:
        return end_paused(&l->from, &l->to, err);
    }
    return 0;
}

/* The host with the definition. While there may be two, the VM starts with neither: it might run twice. */
static const struct vm_look *holder(const struct vm_looks *l)
{
    bool from = l->from.side.defined, to = l->to.side.defined;

    return from == to || l->from.side.is == SIDE_SILENT || l->to.side.is == SIDE_SILENT ? NULL
           : to                                                                         ? &l->to
                                                                                        : &l->from;
}

static int restore_autostart(const struct vm_looks *l, struct err *err)
{
    const struct vm_look *at = holder(l);

    if (!at)
        return REPAIR_AGAIN;
    if (at->autostart || virDomainSetAutostart(at->dom, 1) == 0)
        return 0;
    (void)libvirt_connections_fail(err, at->host);
    (void)err_widen(err, "VM %s no longer starts with its host: set it again with `virsh autostart`",
                    at->name);
    return REPAIR_AGAIN;
}

int repair_run(const struct vm_looks *looks, const struct task_name *t, const struct decision *d,
               struct err *err)
{
    if (d->ambiguous)
        return err_set(
            err, -ENOTUNIQ,
            "VM %s is defined on %s and on %s after a migration, and nothing shows which of the two is "
            "valid: neither is deleted. Remove the old one with `virsh undefine`%s",
            vm_look_name(looks, t->vm), looks->from.host, looks->to.host,
            t->autostart ? ", and let the other start with its host again (`virsh autostart`)" : "");
    if (repair_definitions(looks, d->repair, err) < 0)
        return REPAIR_AGAIN;
    if (d->repair == REPAIR_DEFINE_TO || d->repair == REPAIR_END_FROM ||
        (d->repair != REPAIR_NONE && t->autostart))
        return REPAIR_AGAIN;
    return t->autostart && d->verdict != VERDICT_TWICE ? restore_autostart(looks, err) : 0;
}
