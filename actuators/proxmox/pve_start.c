/* pve_start.c: starts guests that are off on a given node. A guest that is on another node is migrated first,
 * offline: the same task goes on as that of the start. pve_migrate.c checks and begins both. */
#include "actuators/proxmox/pve_operations.h"

#include "actuators/proxmox/pve_guest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ret: the request, with the guest's node as its source. */
static int add_source(struct pve_acting *x, const struct operation *q, char node[PVE_NODE_MAX],
                      struct operation *ret, struct err *err)
{
    if (!pve_is_vmid(q->vm) || !pve_is_node_name(q->to))
        return err_set(err, -EINVAL, "the request names no VMID, or no node");
    int r = pve_guest_find(x->api, q->vm, node, err);

    *ret = *q;
    ret->from = node;
    return r;
}

int pve_start_check(struct pve_acting *x, const struct operation *q, struct err *err)
{
    char node[PVE_NODE_MAX];
    struct operation own;
    int r = add_source(x, q, node, &own, err);

    return r < 0 ? r : pve_migrate_check(x, &own, err);
}

int pve_start_start(struct pve_acting *x, const struct operation *q, char ret_task[TASK_NAME_MAX],
                    struct err *err)
{
    char node[PVE_NODE_MAX];
    struct operation own;
    int r = add_source(x, q, node, &own, err);

    return r < 0 ? r : pve_migrate_start(x, &own, ret_task, err);
}

/* ---- polling ---- */

static bool is_start(const char *task)
{
    struct pve_ha_move m;
    struct pve_upid u;

    if (pve_ha_name_read(task, &m))
        return strcmp(m.from, m.to) == 0;
    return pve_upid_read(task, &u) &&
           (strcmp(u.type, pve_start_type(false)) == 0 || strcmp(u.type, pve_start_type(true)) == 0);
}

static int end_with(struct task_progress *ret, int code, const char *why)
{
    ret->state = TASK_FAILED;
    ret->gone = code == -ENOENT;
    return err_set(&ret->why, code, "%s", why), 0;
}

/* What begins nothing now, though it may later: an answer that was lost, a quorum or a lock that is missing.
 */
static bool may_be_repeated(int code)
{
    return code != -EPERM && code != -EREMOTEIO && code != -EINVAL && code != -EHOSTDOWN;
}

/* The guest has arrived: now it is started. A lost answer or a lock leaves the old name: the next poll()
 * looks again, and adopts a start that runs. */
static int go_on(struct pve_acting *x, const struct operation *q, struct task_progress *ret, struct err *err)
{
    struct operation own = *q;
    struct pve_guest_state g;
    struct err why = {0};
    int r = pve_guest_look(x->api, q->vm, q->to, &g, err);

    own.from = q->to;
    if (r == -ENOENT || (r == 0 && strcmp(g.node, q->to) != 0))
        return end_with(ret, -ENOENT, "the guest is not on its destination");
    if (r < 0)
        return r;
    if (g.running)
        return 0; /* succeeded: somebody else has started it, or an earlier call */
    if (q->only_adopt)
        return end_with(ret, -ECANCELED, "the guest was moved, and is not started: the start was called off");
    ret->state = TASK_RUNNING;
    r = pve_migrate_start(x, &own, ret->task, &why);
    if (r == 0 || r == -ESTALE)
        return 0;
    if (!may_be_repeated(r))
        return end_with(ret, r, why.text);
    if (err)
        *err = why;
    return r;
}

/* A start that failed because the guest runs already has not failed. */
static int forgive(struct pve_acting *x, const struct operation *q, struct task_progress *ret)
{
    struct pve_guest_state g;

    if (pve_guest_look(x->api, q->vm, q->to, &g, NULL) == 0 && strcmp(g.node, q->to) == 0 && g.running)
        *ret = (struct task_progress){.state = TASK_SUCCEEDED, .percent = -1};
    return 0;
}

int pve_start_poll(struct pve_acting *x, const struct operation *q, const char *task,
                   struct task_progress *ret, struct err *err)
{
    int r = pve_follow_poll(x, task, ret, err);

    if (r < 0 || !q->vm || !q->to)
        return r;
    if (is_start(task))
        return ret->state == TASK_FAILED ? forgive(x, q, ret) : 0;
    return ret->state == TASK_SUCCEEDED ? go_on(x, q, ret, err) : 0;
}
