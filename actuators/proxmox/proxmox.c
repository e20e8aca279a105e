/* proxmox.c: the actuator's functions; pve_migrate.c and pve_follow.c carry them out. */
#include "actuators/proxmox/proxmox_actuator.h"

#include "actuators/proxmox/pve_operations.h"

#include <errno.h>
#include <stdlib.h>

struct actuator {
    struct pve_acting acting;
};

static int create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    struct actuator *x = calloc(1, sizeof *x);

    if (!x)
        return err_set(err, -ENOMEM, "out of memory");
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

static int only_migrations(const struct operation *q, struct err *err)
{
    return q->kind == OPERATION_MIGRATE
               ? 0
               : err_set(err, -ENOTSUP, "Ballast can only migrate guests of Proxmox VE yet");
}

static int check(struct actuator *x, const struct operation *q, struct err *err)
{
    int r = only_migrations(q, err);

    pve_begin(x->acting.api);
    return r < 0 ? r : pve_migrate_check(&x->acting, q, err);
}

static int start(struct actuator *x, const struct operation *q, char ret_task[TASK_NAME_MAX], struct err *err)
{
    struct err own = {0};
    int r = only_migrations(q, err);

    pve_begin(x->acting.api);
    return r < 0 ? r : pve_migrate_start(&x->acting, q, ret_task, err ? err : &own);
}

static int poll_task(struct actuator *x, const struct operation *q, const char *task,
                     struct task_progress *ret, struct err *err)
{
    (void)q; /* the name says it all */
    pve_begin(x->acting.api);
    return pve_follow_poll(&x->acting, task, ret, err);
}

static int cancel(struct actuator *x, const struct operation *q, const char *task, struct err *err)
{
    (void)q;
    pve_begin(x->acting.api);
    return pve_follow_cancel(&x->acting, task, err);
}

const struct actuator_ops proxmox_actuator = {
    .kind = "proxmox",
    .operations = 1u << OPERATION_MIGRATE,
    .create = create,
    .check = check,
    .start = start,
    .poll = poll_task,
    .cancel = cancel,
    .destroy = destroy,
};
