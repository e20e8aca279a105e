/* proxmox.c: the actuator's functions, which call pve_migrate.c, pve_start.c, pve_follow.c and pve_power.c.
 */
#include "actuators/proxmox/proxmox_actuator.h"

#include "actuators/proxmox/pve_operations.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>

struct actuator {
    struct pve_acting acting;
};

static int create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    struct actuator *x = xcalloc(1, sizeof *x);

    x->acting.settings = cfg->settings;
    int r = pve_new(cfg, &x->acting.api, err);
    if (r < 0) {
        free(x);
        return r;
    }
    *ret = x;
    return 0;
}

static void destroy(struct actuator *x)
{
    if (!x)
        return;
    pve_follow_forget(&x->acting);
    pve_free(x->acting.api);
    free(x);
}

static bool is_of_power(const struct operation *q)
{
    return q->kind == OPERATION_STANDBY || q->kind == OPERATION_WAKE;
}

static int is_known(const struct operation *q, struct err *err)
{
    return operation_is_of_vm(q->kind) || is_of_power(q)
               ? 0
               : err_set(err, -ENOTSUP, "Proxmox VE has no maintenance mode that its API can begin or end");
}

static int check(struct actuator *x, const struct operation *q, struct err *err)
{
    struct err own = {0};
    int r = is_known(q, err);

    pve_begin(x->acting.api);
    if (r < 0)
        return r;
    if (is_of_power(q))
        return pve_power_check(&x->acting, q, err ? err : &own);
    return q->kind == OPERATION_MIGRATE ? pve_migrate_check(&x->acting, q, err)
                                        : pve_start_check(&x->acting, q, err);
}

static int start(struct actuator *x, const struct operation *q, char ret_task[TASK_NAME_MAX], struct err *err)
{
    struct err own = {0};
    int r = is_known(q, err);

    err = err ? err : &own;
    pve_begin(x->acting.api);
    if (r < 0)
        return r;
    if (is_of_power(q))
        return pve_power_start(&x->acting, q, ret_task, err);
    return q->kind == OPERATION_MIGRATE ? pve_migrate_start(&x->acting, q, ret_task, err)
                                        : pve_start_start(&x->acting, q, ret_task, err);
}

static int poll_task(struct actuator *x, const struct operation *q, const char *task,
                     struct task_progress *ret, struct err *err)
{
    struct err own = {0};

    pve_begin(x->acting.api);
    if (is_of_power(q))
        return pve_power_poll(&x->acting, q, task, ret, err ? err : &own);
    return q->kind == OPERATION_POWER_ON_VM ? pve_start_poll(&x->acting, q, task, ret, err)
                                            : pve_follow_poll(&x->acting, task, ret, err);
}

static int cancel(struct actuator *x, const struct operation *q, const char *task, struct err *err)
{
    if (is_of_power(q))
        return err_set(err, -ENOTSUP, "a shutdown or wake of a node cannot be cancelled");
    pve_begin(x->acting.api);
    return pve_follow_cancel(&x->acting, task, err);
}

const struct actuator_ops proxmox_actuator = {
    .kind = "proxmox",
    .operations = 1u << OPERATION_MIGRATE | 1u << OPERATION_MIGRATE_OFF | 1u << OPERATION_POWER_ON_VM |
                  1u << OPERATION_STANDBY | 1u << OPERATION_WAKE,
    .create = create,
    .check = check,
    .start = start,
    .poll = poll_task,
    .cancel = cancel,
    .destroy = destroy,
};
