/* power_on.c: starts a VM that is off on a given host. If its definition is on another host that answers, it
 * is moved first; if that host does not answer, the VM is not started: it might run there. A VM that is only
 * to be registered elsewhere (operation.off) stays off after that. */
#include "actuators/libvirt/operations.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "net/http.h"
#include "net/libvirt/connections.h"
#include "net/libvirt/domain_xml.h"

#include <errno.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The VM on all hosts. */
struct survey {
    struct vm_look *looks;
    size_t n, to;
    size_t runs;      /* where it does; SIZE_MAX: nowhere that is known */
    size_t defined;   /* where it is, on `to` if there, too; SIZE_MAX: nowhere that is known */
    size_t n_defined; /* on how many hosts */
    size_t silent;    /* a host that does not answer; SIZE_MAX: all do */
    bool moved_out;   /* one of them says that it was migrated away */
};

static void note(struct survey *s, size_t host)
{
    const struct side *side = &s->looks[host].side;

    if (side->is == SIDE_SILENT)
        s->silent = host;
    if (side->is == SIDE_RUNNING || side->is == SIDE_WAITING)
        s->runs = host;
    if (side->defined) {
        s->n_defined++;
        s->defined = s->defined == s->to ? s->to : host;
    }
    s->moved_out = s->moved_out || side->moved_out;
}

/* All connections are asked for before any is waited for. */
static void take_survey(struct migrations *m, const char *vm, const char *to, struct survey *ret)
{
    size_t n = migrations_host_count(m);
    int64_t deadline_ms = net_now_ms() + MIGRATIONS_CONNECT_MS;

    *ret = (struct survey){.n = n,
                           .to = migrations_host(m, to),
                           .runs = SIZE_MAX,
                           .defined = SIZE_MAX,
                           .silent = SIZE_MAX,
                           .looks = xcalloc(n + 1, sizeof *ret->looks)};
    for (size_t i = 0; i < n; i++) {
        virConnectPtr conn = NULL;

        if (migrations_connect(m, i, 0, &conn, NULL) == 0)
            migrations_disconnect(m, i, conn);
    }
    for (size_t i = 0; i < n; i++) {
        vm_look_take(m, i, vm, deadline_ms, &ret->looks[i]);
        note(ret, i);
    }
}

static void release_survey(struct survey *s)
{
    for (size_t i = 0; i < s->n; i++)
        vm_look_release(&s->looks[i]);
    free(s->looks);
}

/* Whether it is off, on a host that answers, and certainly not on another. */
static int is_due(const struct survey *s, const struct operation *q, struct err *err)
{
    const char *silent = s->silent == SIZE_MAX ? "" : s->looks[s->silent].host;

    if (s->runs != SIZE_MAX)
        return err_set(err, -ESTALE, "VM %s runs already, on %s", s->looks[s->runs].name,
                       s->looks[s->runs].host);
    if (s->looks[s->to].side.is == SIDE_SILENT)
        return err_set(err, -EHOSTDOWN, "%s does not answer: %s", q->to, s->looks[s->to].err.text);
    if (s->defined == SIZE_MAX && silent[0])
        return err_set(
            err, -EHOSTDOWN,
            "no host that answers has a definition of VM %s, and %s does not answer: the VM may be "
            "there, even running",
            q->vm, silent);
    if (s->defined == SIZE_MAX)
        return err_set(err, -ENOENT, "no host has a definition of VM %s", q->vm);
    if (q->off && strcmp(s->looks[s->defined].host, q->from) != 0)
        return err_set(err, -ESTALE, "VM %s is defined on %s and no longer on %s", s->looks[s->defined].name,
                       s->looks[s->defined].host, q->from);
    if (s->moved_out && silent[0])
        return err_set(err, -EHOSTDOWN,
                       "VM %s was migrated away from %s, and %s does not answer: the VM may run there",
                       s->looks[s->defined].name, s->looks[s->defined].host, silent);
    if (s->defined != s->to && s->n_defined > 1)
        return err_set(
            err, -EPERM,
            "%zu hosts have a definition of VM %s, but not %s, where it is to start: remove all but "
            "one with `virsh undefine`",
            s->n_defined, s->looks[s->defined].name, q->to);
    return 0;
}

/* What is in files of the host where it was, libvirt would leave behind. */
static int check_movable(const struct vm_look *from, struct err *err)
{
    CLEANUP(freep) char *text = virDomainGetXMLDesc(from->dom, VIR_DOMAIN_XML_INACTIVE);

    if (!text)
        return libvirt_connections_fail(err, from->host);
    const char *what = virDomainHasManagedSaveImage(from->dom, 0) == 1       ? "a saved memory"
                       : virDomainSnapshotNum(from->dom, 0) > 0              ? "snapshots"
                       : virDomainListAllCheckpoints(from->dom, NULL, 0) > 0 ? "checkpoints"
                       : strstr(text, "<nvram")                              ? "variables of its firmware"
                       : strstr(text, "<backend type='emulator'")            ? "a TPM"
                                                                             : NULL;
    return what ? err_set(err, -EPERM, "VM %s can be started on %s only: it has %s there", from->name,
                          from->host, what)
                : 0;
}

static int check_places(const struct survey *s, struct err *err)
{
    const struct vm_looks looks = {.from = s->looks[s->defined], .to = s->looks[s->to]};
    int r = s->defined == s->to ? 0 : check_movable(&looks.from, err);

    return r < 0 || s->defined == s->to ? r : destination_check(&looks, err);
}

static int check_request(const struct migrations *m, const struct operation *q, struct err *err)
{
    if (migrations_host(m, q->to) == SIZE_MAX)
        return err_set(err, -ENOENT, "host %s is not in source.hosts", q->to);
    return strlen(q->vm) < VM_UUID_BYTES ? 0
                                         : err_set(err, -EINVAL, "\"%.60s\" is not the UUID of a VM", q->vm);
}

int power_on_check(struct migrations *m, const struct operation *q, struct err *err)
{
    struct task_name running;
    struct survey s;
    int r = check_request(m, q, err);

    if (r < 0)
        return r;
    if (migrations_running(m, q->vm, &running))
        return err_set(err, -EBUSY, "VM %s has a task that has not ended, %s to %s", q->vm, running.from,
                       running.to);
    take_survey(m, q->vm, q->to, &s);
    r = is_due(&s, q, err);
    if (r == 0)
        r = check_places(&s, err);
    release_survey(&s);
    return r;
}

static int look_and_begin(struct migrations *m, const struct operation *q, struct task_name *t,
                          struct err *err)
{
    struct survey s;

    take_survey(m, q->vm, q->to, &s);
    int r = is_due(&s, q, err);
    if (r == 0 && q->only_adopt)
        r = err_set(err, -ESRCH, "%s: no task of action %s runs", q->to, q->uid);
    if (r == 0)
        r = check_places(&s, err);
    if (r == 0) {
        const struct vm_look *from = &s.looks[s.defined];
        const struct libvirt_migration how = migrations_settings(m, q->vm, from->name);

        (void)snprintf(t->from, sizeof t->from, "%s", from->host);
        t->autostart = from->autostart && s.defined != s.to;
        r = migrations_begin(m, t, &how, NULL, err);
    }
    release_survey(&s);
    return r;
}

int power_on_start(struct migrations *m, const struct operation *q, char ret_task[TASK_NAME_MAX],
                   struct err *err)
{
    struct task_name t = {.start = true, .off = q->off, .persistent = true};
    struct task_name running;
    char text[TASK_NAME_MAX];
    int r = check_request(m, q, err);

    if (r < 0)
        return r;
    (void)snprintf(t.vm, sizeof t.vm, "%s", q->vm);
    (void)snprintf(t.to, sizeof t.to, "%s", q->to);
    if (migrations_running(m, t.vm, &running)) {
        if (!running.start || running.off != t.off || strcmp(running.to, t.to) != 0)
            return err_set(err, -EBUSY, "VM %s has a task that has not ended, %s to %s", q->vm, running.from,
                           running.to);
        return task_name_write(&running, ret_task, err);
    }
    r = look_and_begin(m, q, &t, err);
    if (r == 0 && (r = task_name_write(&t, text, err)) == 0)
        memcpy(ret_task, text, sizeof text);
    return r;
}

int power_on_cancel(struct migrations *m, const struct task_name *t, struct err *err)
{
    return migrations_give_up(m, t)
               ? 0
               : err_set(err, -ENOTSUP, "%s: the start of VM %s cannot be cancelled", t->to, t->vm);
}
