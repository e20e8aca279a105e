/* tell.c: before a controller switches a host off, the hypervisor puts the host into maintenance mode. So its
 * failure detection loses no host, and starts no VM there. The hypervisor's own standby needs none of that.
 *
 *     tell --- the caller has stored that the maintenance mode is ours ---> told --- in it ---> ask
 *
 * A maintenance mode that others have begun is never taken for ours: it would be ended when the host wakes.
 * So the hypervisor is asked first whether there is one. Between that and our request it is told apart by the
 * process that asks: its first request finds none, unless another was quicker. */
#include "actuators/power/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TELL_S 300 /* an empty host that takes longer does not enter maintenance mode */

static struct operation entering(const struct power_change *j)
{
    struct operation q = *j->q;

    q.kind = OPERATION_ENTER_MAINTENANCE;
    return q;
}

static const char *this_process(const struct power_change *j)
{
    return j->x->config->life ? j->x->config->life : "this";
}

bool tell_is_due(const struct power_change *j, unsigned index)
{
    const unsigned both = 1u << OPERATION_ENTER_MAINTENANCE | 1u << OPERATION_EXIT_MAINTENANCE;
    const struct actuator_ops *inner = j->x->config->inner;

    return !j->c.told && j->host->sequence[index] != POWER_HYPERVISOR && inner &&
           (inner->operations & both) == both;
}

bool tell_not_begun(const struct power_change *j)
{
    return j->c.phase == PHASE_TELL && strcmp(j->c.inner, this_process(j)) == 0;
}

/* *why: the hypervisor's words. */
static void refuse(const struct power_change *j, struct outcome *out, const struct err *why)
{
    out->state = TASK_FAILED;
    out->why = *why;
    (void)err_widen(&out->why, "host %s stays on, because it could not enter maintenance mode first",
                    j->host->name);
}

static void refuse_theirs(const struct power_change *j, struct outcome *out)
{
    out->state = TASK_FAILED;
    out->maintenance = MAINTENANCE_NOT_OURS;
    (void)err_set(&out->why, -EPERM,
                  "host %s stays on: others have put it into maintenance mode, or are about to",
                  j->host->name);
}

static void become_told(struct power_change *j)
{
    j->c.told = true;
    j->c.phase = PHASE_ASK;
    j->c.since = power_time_now(j);
    j->c.inner[0] = '\0';
}

/* The hypervisor did not answer, or is busy: again, but not for long. */
static void failed(struct power_change *j, int code, const struct err *why, struct outcome *out)
{
    if (code == -ECANCELED) {
        out->interrupted = true;
        out->why = *why;
    } else if (!method_may_have_heard(code) || j->q->power.now - j->c.since >= ADOPT_FOR_S) {
        refuse(j, out, why);
    }
}

void tell_prepare(struct power_change *j, struct outcome *out)
{
    struct operation q = entering(j);
    char task[TASK_NAME_MAX] = "";
    struct err err = {0};
    bool ours = j->q->power.maintenance_is_ours; /* of a standby that failed a moment ago */

    q.only_adopt = true;
    int r = ours ? -ESRCH : j->x->config->inner->start(j->x->inner, &q, task, &err);

    if (r == 0 || r == -ESTALE) {
        refuse_theirs(j, out);
    } else if (r == -ESRCH) {
        j->c.phase = PHASE_TELL;
        j->c.since = power_time_now(j);
        (void)snprintf(j->c.inner, sizeof j->c.inner, "%s", ours ? "" : this_process(j));
        out->maintenance = MAINTENANCE_BEGINS;
    } else {
        failed(j, r, &err, out);
    }
}

void tell(struct power_change *j, struct outcome *out)
{
    const struct operation q = entering(j);
    bool first = tell_not_begun(j);
    char task[TASK_NAME_MAX] = "";
    struct err err = {0};
    int r = j->x->config->inner->start(j->x->inner, &q, task, &err);

    if (r == 0) {
        j->c.phase = PHASE_TOLD;
        j->c.since = power_time_now(j);
        (void)memcpy(j->c.inner, task, sizeof task);
    } else if (r == -ESTALE && first) {
        refuse_theirs(j, out);
    } else if (r == -ESTALE) {
        become_told(j);
    } else {
        failed(j, r, &err, out);
        if (method_may_have_heard(r) && r != -ECANCELED)
            j->c.inner[0] = '\0';
    }
}

/* Others may have ended it: it lets no VM run on the host, so without it one may. */
int tell_holds(const struct power_change *j, struct err *err)
{
    struct operation q = entering(j);
    char task[TASK_NAME_MAX] = "";

    q.only_adopt = true;
    int r = j->c.told ? j->x->config->inner->start(j->x->inner, &q, task, err) : -ESTALE;
    if (r == -ESTALE)
        return 0;
    return r == 0 || r == -ESRCH
               ? err_set(err, -EPERM, "others have ended the maintenance mode of host %s", j->host->name)
               : r;
}

static void give_up(struct power_change *j, struct outcome *out)
{
    const struct operation q = entering(j);
    struct err err = {0};

    (void)j->x->config->inner->cancel(j->x->inner, &q, j->c.inner, &err);
    (void)err_set(&err, -ETIMEDOUT, "the hypervisor has not finished after %lld s",
                  (long long)(j->q->power.now - j->c.since));
    refuse(j, out, &err);
}

void tell_follow(struct power_change *j, struct outcome *out)
{
    const struct operation q = entering(j);
    struct task_progress p = {.percent = -1};
    struct err err = {0};
    int r = j->x->config->inner->poll(j->x->inner, &q, j->c.inner, &p, &err);

    if (r == 0 && p.state == TASK_SUCCEEDED) {
        become_told(j);
    } else if (r == 0 && p.state == TASK_FAILED && !p.gone) {
        refuse(j, out, &p.why);
    } else if (j->q->power.now - j->c.since >= TELL_S) {
        give_up(j, out);
    } else if (r == 0 && p.state == TASK_FAILED) { /* the next request tells whether the host is in it */
        j->c.phase = PHASE_TELL;
        j->c.inner[0] = '\0';
    }
}

int tell_cancel(struct actuator *x, const struct operation *standby, const char *task, struct err *err)
{
    struct operation q = *standby;

    q.kind = OPERATION_ENTER_MAINTENANCE;
    return x->config->inner->cancel(x->inner, &q, task, err);
}
