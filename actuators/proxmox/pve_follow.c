/* pve_follow.c: follows migrations and starts by the names of their tasks, and cancels them. */
#include "actuators/proxmox/pve_operations.h"

#include "actuators/proxmox/pve_guest.h"
#include "actuators/proxmox/pve_ha.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOGS_MOST 256 /* logs that are kept; at this number all are dropped and read anew */

/* ---- logs ---- */

void pve_follow_forget(struct pve_acting *x)
{
    idmap_release(&x->logs, free);
    x->logs = (struct idmap){0};
}

static struct pve_log *log_of(struct pve_acting *x, const char *upid)
{
    if (x->logs.n >= LOGS_MOST)
        pve_follow_forget(x);
    void **slot = idmap_slot(&x->logs, upid);
    if (!*slot) {
        *slot = xcalloc(1, sizeof(struct pve_log));
        pve_log_init(*slot);
    }
    return *slot;
}

/* ---- a task of a node ---- */

static int lost(struct task_progress *ret, const char *why)
{
    ret->state = TASK_FAILED;
    ret->gone = true;
    (void)err_set(&ret->why, -ENOENT, "%s", why);
    return 0;
}

/* The node of the task does not answer. While the cluster shows it online, it may answer again. */
static int without_node(struct pve_acting *x, const char *node, struct task_progress *ret, struct err *err)
{
    struct err own = {0};
    struct pve_quorum c;
    char why[160];

    if (pve_quorum_look(x->api, node, &c, &own) < 0 || (c.member && c.online) || !c.quorate)
        return err ? err->code : -EHOSTDOWN;
    (void)snprintf(why, sizeof why, "node %s, which carried it out, is offline", node);
    return lost(ret, why);
}

static void end_badly(const struct pve_upid *u, const struct pve_task_state *t, const struct pve_log *log,
                      struct task_progress *ret)
{
    bool stopped = strstr(t->exit, "interrupted by signal") != NULL;
    const char *cause = log->error[0] ? log->error : t->exit;

    ret->state = TASK_FAILED;
    (void)err_set(&ret->why,
                  stopped              ? -ECANCELED
                  : pve_is_lock(cause) ? -EBUSY
                                       : -EREMOTEIO,
                  "node %s: %s%s%s%s", u->node, cause[0] ? cause : "the task failed without a reason",
                  strcmp(cause, t->exit) != 0 ? " (" : "", strcmp(cause, t->exit) != 0 ? t->exit : "",
                  strcmp(cause, t->exit) != 0 ? ")" : "");
}

static int poll_task(struct pve_acting *x, const char *task, const struct pve_upid *u,
                     struct task_progress *ret, struct err *err)
{
    struct pve_task_state t;
    struct err own = {0};
    int r = pve_task_look(x->api, task, &t, err ? err : &own);

    if (r == -EHOSTDOWN)
        return without_node(x, u->node, ret, err ? err : &own);
    if (r < 0)
        return r;
    if (!t.known)
        return lost(ret, "its node no longer knows the task");
    if (!t.running && strcmp(t.exit, "unexpected status") == 0)
        return lost(ret, "the task ended without a result, as after a restart of its node");
    struct pve_log *log = log_of(x, task);
    (void)pve_log_read(x->api, task, log, NULL); /* without it the end is known all the same */
    ret->percent = log->percent;
    ret->copied_mb = log->copied_mb;
    ret->rate_mb_s = log->rate_mb_s;
    ret->dirty_mb_s = log->dirty_mb_s;
    if (log->memory_mb > 0) /* its rounds are shorter, and it does not count them */
        ret->round = 1 + (unsigned)(log->copied_mb / log->memory_mb);
    if (t.running) {
        ret->state = TASK_RUNNING;
    } else if (pve_task_is_good(&t)) {
        ret->state = TASK_SUCCEEDED;
        ret->took_s = log->took_s;
        ret->downtime_s = log->downtime_s;
    } else {
        end_badly(u, &t, log, ret);
    }
    return 0;
}

/* ---- a move, or a start, that was requested from HA ---- */

static bool starts(const struct pve_ha_move *m)
{
    return strcmp(m->from, m->to) == 0;
}

/* The state of the request's task, until it has ended. */
static int look_request(struct pve_acting *x, const struct pve_ha_move *m, struct pve_ha_seen *seen,
                        struct task_progress *ret, struct err *err)
{
    struct pve_task_state t;
    struct pve_upid u;

    if (!m->upid[0] || !pve_upid_read(m->upid, &u))
        return 0;
    int r = pve_task_look(x->api, m->upid, &t, err);
    if (r < 0)
        return r;
    seen->request_runs = t.running;
    seen->request_failed = t.known && !t.running && !pve_task_is_good(&t);
    if (seen->request_failed) {
        struct pve_log *log = log_of(x, m->upid);
        (void)pve_log_read(x->api, m->upid, log, NULL);
        end_badly(&u, &t, log, ret);
    } else if (!t.running) { /* the new name leaves the ended task out */
        struct pve_ha_move next = *m;
        next.upid[0] = '\0';
        pve_ha_name_write(&next, ret->task);
    }
    return 0;
}

static void say_ignored(const struct pve_ha_move *m, const struct pve_guest_state *g,
                        const struct pve_ha_service *s, struct task_progress *ret)
{
    ret->state = TASK_FAILED;
    if (g->lock[0])
        (void)err_set(&ret->why, -EBUSY, "HA did not %s guest %s, which is locked (%s)",
                      starts(m) ? "start" : "migrate", m->id, g->lock);
    else
        (void)err_set(&ret->why, -EAGAIN,
                      "HA accepted the %s of guest %s %s %s and did not begin it (state %s); the log of its "
                      "manager has the reason",
                      starts(m) ? "start" : "migration", m->id, starts(m) ? "on" : "to", m->to,
                      s->state[0] ? s->state : "unknown");
}

static int went_elsewhere(const struct pve_ha_move *m, const char *to, struct task_progress *ret)
{
    ret->state = TASK_FAILED;
    ret->gone = false;
    (void)err_set(&ret->why, -ECANCELED, "HA migrates guest %s to %s instead", m->id, to);
    return 0;
}

/* A later task becomes this move's once its log says that it goes there: others redirect guests, too. One
 * that fails at once, before it has said where, was begun while the manager names no other destination. */
static int follow_later(struct pve_acting *x, const struct pve_ha_move *m, const char *later,
                        struct task_progress *ret, struct err *err)
{
    struct pve_upid u;
    int r = pve_upid_read(later, &u) ? poll_task(x, later, &u, ret, err) : -EPROTO;

    if (r < 0)
        return r;
    if (starts(m)) {
        (void)snprintf(ret->task, sizeof ret->task, "%s", later);
        return 0;
    }
    struct pve_log *log = log_of(x, later);
    if ((r = pve_log_read(x->api, later, log, err)) < 0)
        return r;
    if (log->to[0] && strcmp(log->to, m->to) != 0)
        return went_elsewhere(m, log->to, ret);
    if (log->to[0])
        (void)snprintf(ret->task, sizeof ret->task, "%s", later);
    else if (ret->state == TASK_SUCCEEDED)
        return lost(ret, "HA's task did not say where the guest went");
    else if (ret->state == TASK_RUNNING)
        ret->state = TASK_QUEUED;
    return 0;
}

static int judge(struct pve_acting *x, const struct pve_ha_move *m, const struct pve_ha_seen *seen,
                 const struct pve_guest_state *g, const struct pve_ha_service *s, const char *later,
                 struct task_progress *ret, struct err *err)
{
    switch (pve_ha_decide(seen)) {
    case PVE_HA_GOES_ON:
        ret->state = TASK_QUEUED;
        return 0;
    case PVE_HA_FOLLOW:
        return follow_later(x, m, later, ret, err);
    case PVE_HA_ARRIVED:
        ret->state = TASK_SUCCEEDED;
        return 0;
    case PVE_HA_REFUSED:
        return 0; /* look_request() has said why */
    case PVE_HA_ELSEWHERE:
        return went_elsewhere(m, s->target, ret);
    case PVE_HA_IGNORED:
        say_ignored(m, g, s, ret);
        return 0;
    case PVE_HA_UNKNOWN:
        break;
    }
    return lost(ret, seen->at_from ? "the HA manager does not respond"
                     : starts(m)   ? "the guest is not on the node where it was to start"
                                   : "the guest is neither on its source nor on its destination");
}

static int poll_ha(struct pve_acting *x, const struct pve_ha_move *m, struct task_progress *ret,
                   struct err *err)
{
    struct pve_ha_seen seen = {.to = m->to, .since_s = m->since_s};
    struct pve_guest_state g;
    struct pve_ha_service s = {0};
    char later[TASK_NAME_MAX] = "";
    struct err own = {0};

    err = err ? err : &own;
    int r = pve_guest_look(x->api, m->id, m->from, &g, err);
    if (r == -EHOSTDOWN)
        return without_node(x, m->from, ret, err);
    if (r < 0 && r != -ENOENT)
        return r;
    seen.gone = r == -ENOENT;
    seen.at_to = r == 0 && strcmp(g.node, m->to) == 0 && (!starts(m) || g.running);
    seen.at_from = r == 0 && strcmp(g.node, m->from) == 0 && !seen.at_to;
    if (seen.at_from &&
        ((r = look_request(x, m, &seen, ret, err)) < 0 ||
         (r = pve_newest_task(x->api, m->from, m->id,
                              starts(m) ? pve_start_type(m->container) : pve_migration_type(m->container),
                              m->since_s, later, err)) < 0 ||
         (r = pve_ha_look(x->api, m->container, m->id, m->to, &s, err)) < 0))
        return r;
    seen.later_task = later[0] != '\0';
    seen.target = starts(m) && s.starts ? m->to : s.target;
    seen.now_s = s.now_s;
    seen.silent_s = time(NULL) - (s.now_s > m->since_s ? s.now_s : m->since_s);
    return judge(x, m, &seen, &g, &s, later, ret, err);
}

/* ---- the contract ---- */

int pve_follow_poll(struct pve_acting *x, const char *task, struct task_progress *ret, struct err *err)
{
    struct pve_ha_move m;
    struct pve_upid u;

    *ret = (struct task_progress){.percent = -1};
    if (pve_ha_name_read(task, &m))
        return poll_ha(x, &m, ret, err);
    if (!pve_upid_read(task, &u))
        return err_set(err, -EINVAL, "%.100s is no task of Proxmox VE", task);
    return poll_task(x, task, &u, ret, err);
}

int pve_follow_cancel(struct pve_acting *x, const char *task, struct err *err)
{
    struct strbuf path = STRBUF_EMPTY;
    struct pve_upid u;

    if (!pve_upid_read(task, &u))
        return err_set(err, -ENOTSUP, "what was requested from HA cannot be cancelled");
    strbuf_printf(&path, "/nodes/%s/tasks/", u.node);
    pve_escape(&path, task);
    int r = pve_delete(x->api, path.text, err);
    strbuf_release(&path);
    if (r == -EPERM) /* HA's tasks are root's */
        return err_set(err, -ENOTSUP,
                       "%s: a task of another user is stopped only with Sys.Modify on /nodes/%s",
                       pve_url(x->api), u.node);
    return r;
}
