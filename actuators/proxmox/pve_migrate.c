/* pve_migrate.c: checks and begins migrations, and starts of guests, which may take a migration first. */
#include "actuators/proxmox/pve_operations.h"

#include "actuators/proxmox/pve_guest.h"
#include "actuators/proxmox/pve_ha.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "net/http.h"
#include "net/peer_json.h"
#include "net/proxmox/guest_identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORKERS_DEFAULT 4 /* of max_workers in the options of the datacenter */
#define OPTIONS_MS (INT64_C(300) * 1000)

/* ---- what is there ---- */

/* The present state that a move depends on. */
struct seen {
    struct pve_guest_state guest;
    struct pve_running running;
    struct pve_ha_service ha; /* of a guest of HA */
};

bool pve_is_lock(const char *reason)
{
    return strstr(reason, "is locked (") || strstr(reason, "got timeout") ||
           strstr(reason, "can't lock file");
}

static int check_request(const struct operation *q, struct err *err)
{
    return pve_is_vmid(q->vm) && pve_is_node_name(q->from) && pve_is_node_name(q->to)
               ? 0
               : err_set(err, -EINVAL, "the request names no VMID, or no node as source or destination");
}

/* A start of a guest that is off, on the node where it is: no migration comes first. */
static bool starts_here(const struct operation *q)
{
    return q->kind == OPERATION_POWER_ON_VM && strcmp(q->from, q->to) == 0;
}

static int start_is_due(const struct pve *p, const struct operation *q, const struct pve_guest_state *g,
                        struct err *err)
{
    if (g->running)
        return err_set(err, -ESTALE, "%s: guest %s runs already, on %s", pve_url(p), q->vm, g->node);
    if (strcmp(g->node, q->from) != 0)
        return err_set(err, -EAGAIN, "%s: guest %s is being moved: it is on %s now", pve_url(p), q->vm,
                       g->node);
    return 0;
}

static int is_due(const struct pve *p, const struct operation *q, const struct pve_guest_state *g,
                  struct err *err)
{
    if (q->kind == OPERATION_POWER_ON_VM)
        return start_is_due(p, q, g, err);
    if (strcmp(g->node, q->to) == 0)
        return err_set(err, -ESTALE, "%s: guest %s has arrived on %s already", pve_url(p), q->vm, q->to);
    if (strcmp(g->node, q->from) != 0)
        return err_set(err, -ESTALE, "%s: guest %s is on %s now and no longer on %s", pve_url(p), q->vm,
                       g->node, q->from);
    if (g->running == q->off)
        return err_set(err, -ESTALE, "%s: guest %s %s", pve_url(p), q->vm,
                       q->off ? "is not off any more"
                              : "does not run any more, so there is nothing to migrate");
    return 0;
}

/* Whether the VMID is still that of the guest that was meant. What runs already is not asked: its beginning
 * was. */
static int is_meant(struct pve_acting *x, const struct operation *q, const struct pve_guest_state *g,
                    struct err *err)
{
    CLEANUP(json_decrefp) json_t *config = NULL;
    char path[160], is[PVE_IDENTITY_MAX];

    if (!q->identity || q->only_adopt)
        return 0;
    (void)snprintf(path, sizeof path, "/nodes/%s/%s/%s/config", g->node, pve_guest_folder(g->container),
                   q->vm);
    int r = pve_get_object(x->api, path, &config, err);

    if (r < 0)
        return r;
    pve_guest_identity(config, is);
    return strcmp(is, q->identity) == 0
               ? 0
               : err_set(
                     err, -ESTALE,
                     "%s: guest %s is another one than was meant: its VMID was used again (%s, not %.63s)",
                     pve_url(x->api), q->vm, is[0] ? is : "without a UUID", q->identity);
}

static int look_at_guest(struct pve_acting *x, const struct operation *q, struct seen *ret, struct err *err)
{
    int r = pve_guest_look(x->api, q->vm, q->from, &ret->guest, err);

    return r < 0 ? r : is_due(x->api, q, &ret->guest, err);
}

static int look(struct pve_acting *x, const struct operation *q, struct seen *ret, struct err *err)
{
    int r = check_request(q, err);

    *ret = (struct seen){0};
    if (r < 0 || (r = look_at_guest(x, q, ret, err)) < 0 || (r = is_meant(x, q, &ret->guest, err)) < 0)
        return r;
    if (ret->guest.container && ret->guest.running && !x->settings->restart_containers)
        return err_set(err, -EPERM, "%s: container %s would have to be restarted (restart_containers)",
                       pve_url(x->api), q->vm);
    if ((r = pve_running_look(x->api, &ret->guest, &ret->running, err)) < 0)
        return r;
    /* a start may have ended between the two requests: it must not be begun again */
    if (q->kind == OPERATION_POWER_ON_VM && !ret->running.task[0] && (r = look_at_guest(x, q, ret, err)) < 0)
        return r;
    return ret->guest.ha ? pve_ha_look(x->api, ret->guest.container, q->vm, q->to, &ret->ha, err) : 0;
}

/* ---- adopting ---- */

/* 0: the task migrates the guest to q->to; -EBUSY: it goes elsewhere, or its log does not name a destination
 * yet. */
static int task_goes_there(struct pve_acting *x, const char *upid, const struct operation *q, struct err *err)
{
    struct pve_log log;

    pve_log_init(&log);
    int r = pve_log_read(x->api, upid, &log, err);
    if (r < 0)
        return r;
    if (!log.to[0])
        return err_set(err, -EBUSY,
                       "%s: guest %s is being migrated, and its task has not said yet where to (%s)",
                       pve_url(x->api), q->vm, upid);
    if (strcmp(log.to, q->to) != 0)
        return err_set(err, -EBUSY, "%s: guest %s is being migrated to %s by somebody else (%s)",
                       pve_url(x->api), q->vm, log.to, upid);
    return 0;
}

/* The same for the task that starts the guest, on the node where it is. */
static int start_is_there(struct pve_acting *x, const char *upid, const struct operation *q, struct err *err)
{
    return starts_here(q) ? 0
                          : err_set(err, -EBUSY, "%s: guest %s is being started on %s by somebody else (%s)",
                                    pve_url(x->api), q->vm, q->from, upid);
}

static void name_ha_move(const struct seen *s, const struct operation *q, int64_t since_s, const char *upid,
                         char ret_task[TASK_NAME_MAX])
{
    struct pve_ha_move m = {.container = s->guest.container, .since_s = since_s};

    (void)snprintf(m.id, sizeof m.id, "%s", q->vm);
    (void)snprintf(m.from, sizeof m.from, "%s", q->from);
    (void)snprintf(m.to, sizeof m.to, "%s", q->to);
    (void)snprintf(m.upid, sizeof m.upid, "%s", upid);
    pve_ha_name_write(&m, ret_task);
}

static const char *type_of(const struct operation *q, const struct seen *s)
{
    return starts_here(q) ? pve_start_type(s->guest.container) : pve_migration_type(s->guest.container);
}

/* Whether HA has carried out what was requested at this time, and has come to an end with it. */
static int has_ended(struct pve_acting *x, const struct operation *q, const struct seen *s, int64_t since_s,
                     struct err *err)
{
    char later[TASK_NAME_MAX];
    struct pve_task_state t;
    int r = pve_newest_task(x->api, q->from, q->vm, type_of(q, s), since_s, later, err);

    if (r < 0 || !later[0] || (r = pve_task_look(x->api, later, &t, err)) < 0)
        return r;
    return !t.running;
}

/* A request that HA's manager has not read yet shows only as the task that made it. Without the manager's
 * clock a new one cannot be told from an old one. */
static int adopt_request(struct pve_acting *x, const struct operation *q, const struct seen *s,
                         char ret_task[TASK_NAME_MAX], struct err *err)
{
    char upid[TASK_NAME_MAX];
    struct pve_task_state t;
    struct pve_upid u;
    int64_t since = s->ha.now_s - PVE_HA_GRACE_S + 1;

    if (s->ha.now_s == 0)
        return 0;
    int r =
        pve_newest_task(x->api, q->from, q->vm, starts_here(q) ? "hastart" : "hamigrate", since, upid, err);
    if (r < 0 || !upid[0] || !pve_upid_read(upid, &u))
        return r;
    if ((r = pve_task_look(x->api, upid, &t, err)) < 0)
        return r;
    if (!t.running && !pve_task_is_good(&t))
        return 0;
    if ((r = has_ended(x, q, s, u.start_s, err)) != 0)
        return r < 0 ? r : 0;
    if (!starts_here(q) && (r = task_goes_there(x, upid, q, err)) < 0)
        return r;
    name_ha_move(s, q, u.start_s, upid, ret_task);
    return 1;
}

/* 1: a running task or a command of HA does the same already; its name is in ret_task. */
static int adopt(struct pve_acting *x, const struct operation *q, const struct seen *s,
                 char ret_task[TASK_NAME_MAX], struct err *err)
{
    int r = 0;

    if (s->running.task[0]) {
        r = s->running.starts ? start_is_there(x, s->running.task, q, err)
                              : task_goes_there(x, s->running.task, q, err);
        if (r < 0)
            return r;
        (void)snprintf(ret_task, TASK_NAME_MAX, "%s", s->running.task);
        r = 1;
    } else if (s->guest.ha && s->ha.starts && starts_here(q)) {
        name_ha_move(s, q, s->ha.now_s, "", ret_task);
        r = 1;
    } else if (s->guest.ha && s->ha.target[0]) {
        if (strcmp(s->ha.target, q->to) != 0)
            return err_set(err, -EBUSY, "%s: HA is about to migrate guest %s to %s", pve_url(x->api), q->vm,
                           s->ha.target);
        name_ha_move(s, q, s->ha.now_s, "", ret_task);
        r = 1;
    } else if (s->guest.ha) {
        r = adopt_request(x, q, s, ret_task, err);
    }
    if (r > 0)
        log_info("%s runs already for action %s and is followed", ret_task, q->uid);
    return r;
}

/* ---- whether it can be done ---- */

/* A guest that was suspended to its disk has a lock for that, with which it is started. */
static int is_free(const struct pve *p, const struct operation *q, const struct seen *s, int code,
                   struct err *err)
{
    if (starts_here(q) && strcmp(s->guest.lock, "suspended") == 0)
        return 0;
    if (s->guest.lock[0])
        return err_set(err, code, "%s: guest %s is locked (%s)", pve_url(p), s->guest.id, s->guest.lock);
    return 0;
}

static int can_arrive(struct pve_acting *x, const struct operation *q, const struct seen *s, struct err *err)
{
    struct pve_quorum c;
    int r = pve_quorum_look(x->api, q->to, &c, err);

    if (r < 0)
        return r;
    if (!c.quorate)
        return err_set(err, -EAGAIN, "%s: the cluster has no quorum, so nothing can be moved",
                       pve_url(x->api));
    if (!c.member)
        return err_set(err, -ENOENT, "%s: there is no node %s any more", pve_url(x->api), q->to);
    if (!c.online)
        return err_set(err, -EHOSTDOWN, "%s: the destination %s is offline", pve_url(x->api), q->to);
    if (s->ha.node_state[0] && strcmp(s->ha.node_state, "online") != 0)
        return err_set(err, -EHOSTDOWN, "%s: HA has the destination %s in state %s", pve_url(x->api), q->to,
                       s->ha.node_state);
    return 0;
}

static int read_options(struct pve_acting *x, struct err *err)
{
    CLEANUP(json_decrefp) json_t *options = NULL;

    if (x->workers > 0 && net_now_ms() - x->options_ms <= OPTIONS_MS)
        return 0;
    int r = pve_get_object(x->api, "/cluster/options", &options, err);
    if (r < 0)
        return r;
    double most = peer_json_number(options, "max_workers");
    x->workers = most >= 1 && most <= 64 ? (unsigned)most : WORKERS_DEFAULT;
    x->ha_chooses = peer_json_flag(json_object_get(options, "crs"), "ha-rebalance-on-start");
    x->options_ms = net_now_ms();
    return 0;
}

/* Where HA chooses the node of each start, it does not keep to the requested one. */
static int is_ours(struct pve_acting *x, const struct operation *q, const struct seen *s, struct err *err)
{
    if (q->kind != OPERATION_POWER_ON_VM || !s->guest.ha)
        return 0;
    int r = read_options(x, err);
    return r < 0 || !x->ha_chooses
               ? r
               : err_set(err, -EPERM,
                         "%s: HA chooses the node of guest %s itself when it starts: remove "
                         "ha-rebalance-on-start from the cluster's options, or start the guest there",
                         pve_url(x->api), q->vm);
}

/* Proxmox VE itself limits only the migrations that HA and bulk actions begin. */
static int has_worker(struct pve_acting *x, const struct operation *q, const struct seen *s, struct err *err)
{
    int r = read_options(x, err);

    if (r < 0)
        return r;
    if (s->running.migrations >= x->workers)
        return err_set(err, -EBUSY, "%s: node %s carries out %u migrations, and may %u (max_workers)",
                       pve_url(x->api), q->from, s->running.migrations, x->workers);
    return 0;
}

int pve_migrate_check(struct pve_acting *x, const struct operation *q, struct err *err)
{
    struct seen s;
    int r = look(x, q, &s, err);

    if (r < 0 || (r = can_arrive(x, q, &s, err)) < 0 || (r = is_ours(x, q, &s, err)) < 0)
        return r;
    if (s.running.task[0] || s.ha.target[0]) { /* start() adopts it, if it goes there */
        char task[TASK_NAME_MAX];

        r = adopt(x, q, &s, task, err);
        return r < 0 ? r : 0;
    }
    if ((r = is_free(x->api, q, &s, -EBUSY, err)) < 0 || starts_here(q) ||
        (r = has_worker(x, q, &s, err)) < 0)
        return r;
    return pve_precondition_check(x, q, s.guest.container, err);
}

/* ---- beginning ---- */

/* Whether the node hands over the states of the guest's connections, which its firewall follows. A node of
 * version 8 does not, and one that does not answer counts as such: without the states a migration is still
 * good, though a firewall may drop connections. */
static bool has_vm_state(const struct pve_acting *x, const char *node)
{
    CLEANUP(json_decrefp) json_t *answer = NULL;
    char path[160];

    (void)snprintf(path, sizeof path, "/nodes/%s/capabilities/qemu/migration", node);
    return pve_get(x->api, path, 0, &answer, NULL) >= 0 && peer_json_flag(answer, "has-dbus-vmstate");
}

static void fill_form(const struct pve_acting *x, const struct operation *q, const struct seen *s,
                      struct strbuf *form)
{
    const struct proxmox_settings *o = x->settings;
    bool live = s->guest.running && !s->guest.container;
    char text[24];

    pve_form_add(form, "target", q->to);
    if (s->guest.running)
        pve_form_add(form, s->guest.container ? "restart" : "online", "1");
    if (live && o->local_disks)
        pve_form_add(form, "with-local-disks", "1");
    if (live && !s->guest.ha && has_vm_state(x, q->from) && has_vm_state(x, q->to))
        pve_form_add(form, "with-conntrack-state", "1");
    if (o->target_storage)
        pve_form_add(form, s->guest.container ? "target-storage" : "targetstorage", o->target_storage);
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)o->bandwidth_mbs * 1024);
    if (o->bandwidth_mbs > 0)
        pve_form_add(form, "bwlimit", text);
}

/* Tells refusals that are no failure of the move: the guest was locked or removed since the check, or the
 * cluster has no quorum. */
static int classify(int r, struct err *err)
{
    if (r != -EREMOTEIO)
        return r;
    if (pve_is_lock(err->text) || strstr(err->text, "does not exist"))
        r = -ESTALE;
    else if (strstr(err->text, "no quorum"))
        r = -EAGAIN;
    err->code = r;
    return r;
}

static int begin(struct pve_acting *x, const struct operation *q, const struct seen *s,
                 char ret_task[TASK_NAME_MAX], struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf form = STRBUF_EMPTY;
    CLEANUP(json_decrefp) json_t *data = NULL;
    struct pve_upid upid;
    char path[160];

    if (!starts_here(q))
        fill_form(x, q, s, &form);
    (void)snprintf(path, sizeof path, "/nodes/%s/%s/%s/%s", q->from, pve_guest_folder(s->guest.container),
                   q->vm, starts_here(q) ? "status/start" : "migrate");
    int r = pve_post(x->api, path, form.text, &data, err);
    if (r < 0)
        return classify(r, err);
    const char *name = json_string_value(data);
    if (!name || !pve_upid_read(name, &upid) || strcmp(upid.id, q->vm) != 0 ||
        strcmp(upid.node, q->from) != 0)
        return err_set(err, -EPROTO, "%s: the answer names no task of guest %s", pve_url(x->api), q->vm);
    if (strcmp(upid.type, "hamigrate") == 0 || strcmp(upid.type, "hastart") == 0)
        name_ha_move(s, q, upid.start_s, name, ret_task);
    else
        (void)snprintf(ret_task, TASK_NAME_MAX, "%s", name);
    return 0;
}

/* A node that does not answer, or a look that fails there, tells nothing of an earlier request, which may
 * have arrived: it is asked again, and in the end an inventory decides. */
static int still_unclear(int r, struct err *err)
{
    if (r != -EHOSTDOWN && r != -EREMOTEIO)
        return r;
    if (err)
        err->code = -EAGAIN;
    return -EAGAIN;
}

int pve_migrate_start(struct pve_acting *x, const struct operation *q, char ret_task[TASK_NAME_MAX],
                      struct err *err)
{
    struct seen s;
    int r = look(x, q, &s, err);

    if (r < 0 || (r = adopt(x, q, &s, ret_task, err)) < 0)
        return still_unclear(r, err);
    if (r > 0)
        return 0;
    if (q->only_adopt)
        return err_set(err, -ESRCH, "%s: no %s of guest %s %s %s is under way", pve_url(x->api),
                       starts_here(q) ? "start" : "migration", q->vm, starts_here(q) ? "on" : "to", q->to);
    if ((r = is_ours(x, q, &s, err)) < 0)
        return r;
    if ((r = is_free(x->api, q, &s, strcmp(s.guest.lock, "migrate") == 0 ? -EBUSY : -ESTALE, err)) < 0)
        return r;
    return begin(x, q, &s, ret_task, err);
}
