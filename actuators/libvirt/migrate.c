/* migrate.c: migrations: begun once, adopted where one runs, and cancelled. */
#include "actuators/libvirt/operations.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "net/http.h"
#include "net/libvirt/connections.h"
#include "net/libvirt/migration_settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- looking -------------------------------------------------------------------------------------- */

static int task_of(const struct migrations *m, const struct operation *q, struct task_name *ret,
                   struct err *err)
{
    char text[TASK_NAME_MAX];

    *ret = (struct task_name){0};
    (void)snprintf(ret->vm, sizeof ret->vm, "%s", q->vm);
    (void)snprintf(ret->from, sizeof ret->from, "%s", q->from);
    (void)snprintf(ret->to, sizeof ret->to, "%s", q->to);
    if (migrations_host(m, q->from) == SIZE_MAX || migrations_host(m, q->to) == SIZE_MAX)
        return err_set(err, -ENOENT, "host %s is not in source.hosts",
                       migrations_host(m, q->from) == SIZE_MAX ? q->from : q->to);
    if (strcmp(q->from, q->to) == 0)
        return err_set(err, -EINVAL, "the request names host %s as source and as destination", q->to);
    return task_name_write(ret, text, err);
}

/* Whether the VM is where it is to leave. */
static int is_due(const struct vm_looks *l, const char *vm, struct err *err)
{
    const char *name = vm_look_name(l, vm), *from = l->from.host, *to = l->to.host;

    if (l->from.side.is == SIDE_SILENT)
        return err_set(err, l->from.err.code, "%s", l->from.err.text);
    if (l->from.side.is != SIDE_RUNNING && l->to.side.is == SIDE_RUNNING)
        return err_set(err, -ESTALE, "VM %s has arrived on %s already", name, to);
    if (l->from.side.is == SIDE_NONE && l->to.side.is == SIDE_NONE)
        return err_set(err, -ESTALE, "VM %s is not on %s any more", name, from);
    if (l->from.side.is == SIDE_NONE || l->from.side.is == SIDE_OFF)
        return err_set(err, -ESTALE, "VM %s does not run on %s any more, so there is nothing to migrate",
                       name, from);
    if (l->from.side.is == SIDE_WAITING && !l->from.side.moving_out)
        return err_set(err, -EBUSY, "VM %s on %s waits for the end of another migration", name, from);
    if (l->from.side.paused && !l->from.side.moving_out)
        return err_set(err, -ESTALE, "VM %s is paused on %s now", name, from);
    return 0;
}

/* Another job of the VM than the one that is asked about. */
static int is_free(const struct vm_looks *l, const char *vm, struct err *err)
{
    if (l->from.side.moving_out)
        return err_set(err, -EBUSY, "VM %s is being migrated away from %s already", vm_look_name(l, vm),
                       l->from.host);
    if (l->from.side.job)
        return err_set(err, -EBUSY, "VM %s has a job on %s (a save, a snapshot or a backup)",
                       vm_look_name(l, vm), l->from.host);
    if (l->to.side.is == SIDE_SILENT)
        return err_set(err, -EHOSTDOWN, "the destination %s does not answer: %s", l->to.host, l->to.err.text);
    if (l->to.side.is == SIDE_WAITING)
        return err_set(err, -EBUSY, "%s still has the end of another migration of VM %s", l->to.host,
                       vm_look_name(l, vm));
    if (l->to.side.is == SIDE_RUNNING)
        return err_set(err, -EPERM, "VM %s runs on %s and on %s at once: stop one of the two",
                       vm_look_name(l, vm), l->from.host, l->to.host);
    if (l->to.side.is == SIDE_OFF)
        return err_set(
            err, -EPERM,
            "%s has a definition of VM %s, which runs on %s: remove it with `virsh undefine` if it "
            "is left over",
            l->to.host, vm_look_name(l, vm), l->from.host);
    return 0;
}

int migrate_check(struct migrations *m, const struct operation *q, struct err *err)
{
    struct task_name t, running;
    struct vm_looks looks;
    int r = task_of(m, q, &t, err);

    if (r < 0)
        return r;
    if (migrations_running(m, t.vm, &running))
        return err_set(err, -EBUSY, "VM %s is being migrated from %s to %s", q->vm, running.from, running.to);
    vm_look_take_both(m, &t, true, &looks);
    r = is_due(&looks, t.vm, err);
    if (r == 0)
        r = is_free(&looks, t.vm, err);
    if (r == 0)
        r = destination_check(&looks, err);
    if (r == 0) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct call_disks disks;

        r = copied_disks_find(m, t.vm, &looks, &a, &disks, err);
    }
    vm_look_release_both(&looks);
    return r;
}

/* ---- beginning ------------------------------------------------------------------------------------ */

/* 1: the VM's migration to this host runs already. */
static int adopt(const struct vm_looks *l, const struct operation *q, const struct task_name *t,
                 struct err *err)
{
    if (!l->from.side.moving_out)
        return 0;
    if (l->to.side.is != SIDE_WAITING && l->to.side.is != SIDE_RUNNING)
        return err_set(err, -EBUSY, "VM %s is being migrated away from %s, and not, or not yet, to %s",
                       vm_look_name(l, t->vm), l->from.host, l->to.host);
    log_info("%s: the migration of VM %s to %s runs already for action %s and is followed", l->from.host,
             vm_look_name(l, t->vm), l->to.host, q->uid);
    return 1;
}

static int look_and_begin(struct migrations *m, const struct operation *q, struct vm_looks *l,
                          struct task_name *t, struct err *err)
{
    const struct libvirt_migration how = migrations_settings(m, t->vm, vm_look_name(l, t->vm));

    t->persistent = l->from.side.defined;
    t->post_copy = how.post_copy;
    t->autostart = l->from.autostart;
    int r = is_due(l, t->vm, err);

    if (r == 0)
        r = adopt(l, q, t, err);
    if (r != 0)
        return r > 0 ? 0 : r;
    if (q->only_adopt)
        return err_set(err, -ESRCH, "%s: no task of action %s runs", l->from.host, q->uid);
    const char *key, *excluded = libvirt_migration_excluded(&how, &key);

    if (excluded) /* by several entries together: check-config cannot know that they name the same VM */
        return err_set(err, -EPERM, "VM %s cannot be migrated: its %s %s", vm_look_name(l, t->vm), key,
                       excluded);
    if ((r = is_free(l, t->vm, err)) < 0)
        return r;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct call_disks disks = {0};

    if ((r = copied_disks_find(m, t->vm, l, &a, &disks, err)) < 0)
        return r;
    return migrations_begin(m, t, &how, &disks, err);
}

int migrate_start(struct migrations *m, const struct operation *q, char ret_task[TASK_NAME_MAX],
                  struct err *err)
{
    struct task_name t, running;
    struct vm_looks looks;
    char text[TASK_NAME_MAX];
    int r = task_of(m, q, &t, err);

    if (r < 0)
        return r;
    if (migrations_running(m, t.vm, &running)) {
        if (running.start || strcmp(running.from, t.from) != 0 || strcmp(running.to, t.to) != 0)
            return err_set(err, -EBUSY, "VM %s is being migrated from %s to %s", q->vm, running.from,
                           running.to);
        return task_name_write(&running, ret_task, err);
    }
    vm_look_take_both(m, &t, true, &looks);
    r = look_and_begin(m, q, &looks, &t, err);
    vm_look_release_both(&looks);
    if (r == 0 && (r = task_name_write(&t, text, err)) == 0)
        memcpy(ret_task, text, sizeof text);
    return r;
}

/* ---- cancelling ----------------------------------------------------------------------------------- */

int migrate_cancel(struct migrations *m, const struct task_name *t, struct err *err)
{
    struct vm_look from;
    int r = 0;

    if (migrations_give_up(m, t))
        return 0;
    vm_look_take(m, migrations_host(m, t->from), t->vm, net_now_ms() + MIGRATIONS_CONNECT_MS, &from);
    if (from.side.is == SIDE_SILENT)
        r = err_set(err, from.err.code, "%s", from.err.text);
    else if (from.side.in_post_copy)
        r = err_set(err, -ENOTSUP,
                    "%s: the migration of VM %s is in its post-copy phase: its memory is on both hosts, and "
                    "it has to come to its end",
                    t->from, from.name);
    else if (from.side.moving_out && virDomainAbortJob(from.dom) < 0)
        r = libvirt_connections_fail(err, t->from);
    vm_look_release(&from);
    return r; /* without a job poll() tells how it ended */
}
