/* follow.c: how a task stands, by what both hosts show and what the call gave; then what its end has left
 * over is repaired. What follows from what is in decide.c. */
#include "actuators/libvirt/operations.h"

#include "actuators/libvirt/leftovers.h"
#include "actuators/libvirt/repair.h"
#include "base/log.h"

#include <errno.h>

/* ---- following ------------------------------------------------------------------------------------ */

/* A migration that does not come to an end is cancelled, or switched to post-copy. */
static void limit_time(struct migrations *m, const struct task_name *t, const struct vm_look *from)
{
    const struct libvirt_migration how = migrations_settings(m, t->vm, from->name);
    struct err why = {0};

    if (how.timeout_s == 0 || from->side.in_post_copy || !(from->job.elapsed_s >= how.timeout_s))
        return;
    if (t->post_copy && virDomainMigrateStartPostCopy(from->dom, 0) == 0) {
        log_info("%s: the migration of VM %s to %s goes on with post-copy after %u s", from->host, from->name,
                 t->to, how.timeout_s);
        return;
    }
    (void)err_set(&why, -EREMOTEIO,
                  "%s: the migration of VM %s to %s has not come to an end within %u s (timeout_s) and was "
                  "cancelled: the VM writes to its memory faster than it is copied",
                  from->host, from->name, t->to, how.timeout_s);
    migrations_blame(m, t, &why);
    if (virDomainAbortJob(from->dom) == 0)
        log_warning("%s", why.text);
}

static void say_failure(const struct vm_looks *l, const struct task_name *t, enum call_state call,
                        const struct err *why, struct task_progress *ret)
{
    const char *name = vm_look_name(l, t->vm);
    const char *paused = l->from.side.is == SIDE_WAITING || l->from.side.paused ? ", paused" : "";

    if (call == CALL_REFUSED)
        ret->why = *why;
    else if (t->start && !t->off)
        (void)err_set(&ret->why, -ECANCELED, "the start of VM %s on %s has ended, and the VM does not run",
                      name, t->to);
    else
        (void)err_set(&ret->why, -ECANCELED,
                      "the migration of VM %s to %s has ended, and the VM is on %s still%s", name, t->to,
                      t->from, paused);
    if (call == CALL_REFUSED && paused[0])
        (void)err_widen(&ret->why, "VM %s is paused on %s now", name, t->from);
}

/* What libvirt has measured; it keeps that on the destination, too. */
static void read_figures(const struct vm_looks *l, struct task_progress *ret)
{
    struct job_progress done;

    if (l->to.side.is != SIDE_RUNNING || !vm_look_completed(&l->to, &done))
        return;
    ret->took_s = done.elapsed_s > 0 ? done.elapsed_s : 0;
    ret->downtime_s = done.downtime_s > 0 ? done.downtime_s : 0;
    log_info("%s: VM %s came from %s: %.0f MiB copied in %.1f s, downtime %.0f ms", l->to.host, l->to.name,
             l->from.host, done.copied_mb, done.elapsed_s, done.downtime_s * 1000);
}

/* What libvirt does not say is UNKNOWN, and no figure. */
static double known(double value)
{
    return value > 0 ? value : 0;
}

/* Post-copy comes to its end, whatever the VM writes. */
static void fill_copy(struct migrations *m, const struct task_name *t, const struct vm_look *from,
                      struct task_progress *ret)
{
    const struct job_progress *job = &from->job;

    ret->percent = job->percent;
    ret->copied_mb = known(job->copied_mb);
    ret->left_mb = known(job->left_mb);
    ret->rate_mb_s = known(job->rate_mb_s);
    ret->dirty_mb_s = known(job->dirty_mb_s);
    ret->round = from->side.in_post_copy ? 0 : (unsigned)known(job->round);
    ret->slowed = (unsigned)known(job->slowed);
    ret->may_slow = ret->slowed == 0 && migrations_settings(m, t->vm, from->name).auto_converge;
}

static void fill_progress(struct migrations *m, const struct vm_looks *l, const struct task_name *t,
                          const struct decision *d, enum call_state call, const struct err *why,
                          struct task_progress *ret)
{
    const char *name = vm_look_name(l, t->vm);

    *ret = (struct task_progress){.state = TASK_FAILED, .percent = -1};
    switch (d->verdict) {
    case VERDICT_GOES_ON:
        ret->state = TASK_RUNNING;
        fill_copy(m, t, &l->from, ret);
        if (l->from.side.moving_out)
            limit_time(m, t, &l->from);
        return;
    case VERDICT_ARRIVED:
        ret->state = TASK_SUCCEEDED;
        ret->percent = 100;
        if (!t->start)
            read_figures(l, ret);
        return;
    case VERDICT_FAILED:
        say_failure(l, t, call, why, ret);
        return;
    case VERDICT_UNKNOWN:
        ret->gone = true;
        (void)err_set(&ret->why, -ENOENT, "neither %s nor %s shows how the %s of VM %s has ended%s%s",
                      t->from, t->to, t->start ? "start" : "migration", name,
                      call == CALL_REFUSED ? ": " : "", call == CALL_REFUSED ? why->text : "");
        return;
    case VERDICT_TWICE:
        (void)err_set(&ret->why, -EREMOTEIO,
                      "VM %s runs on %s and on %s at once, on the same disks perhaps: stop one of the two",
                      name, t->from, t->to);
        return;
    }
}

/* Sets right what is to be set right now, and leaves the rest for later. */
static void mend(struct migrations *m, const struct task_name *t, const struct vm_looks *l,
                 const struct decision *d, enum call_state call)
{
    struct err err = {0};
    int r;

    if (d->verdict == VERDICT_GOES_ON)
        return;
    r = repair_run(l, t, d, &err);
    if (err.code)
        log_warning("%s", err.text);
    leftovers_task_ended(migrations_leftovers(m), m, l, t, d, call, !d->settled || r == REPAIR_AGAIN);
}

int follow_task(struct migrations *m, const struct task_name *t, struct task_progress *ret, struct err *err)
{
    struct err why = {0};
    struct vm_looks looks;
    enum call_state call = migrations_call(m, t, &why); /* before the look: the state is older */

    vm_look_take_both(m, t, false, &looks);
    struct decision d = libvirt_decide(&looks.from.side, &looks.to.side, call, t);

    if (d.verdict == VERDICT_TWICE) { /* the two looks may have been before and after the end */
        vm_look_release_both(&looks);
        vm_look_take_both(m, t, false, &looks);
        d = libvirt_decide(&looks.from.side, &looks.to.side, call, t);
    }
    const struct vm_look *needed = t->start ? &looks.to : &looks.from;
    bool silent = d.verdict == VERDICT_UNKNOWN && needed->side.is == SIDE_SILENT && call != CALL_REFUSED;
    int r = migrations_wait_for(m, t, silent) ? err_set(err, -EHOSTDOWN, "%s", needed->err.text) : 0;

    if (r == 0) {
        fill_progress(m, &looks, t, &d, call, &why, ret);
        mend(m, t, &looks, &d, call);
    }
    vm_look_release_both(&looks);
    return r;
}
