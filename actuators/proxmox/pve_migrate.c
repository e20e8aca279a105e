/* pve_migrate.c: checks and begins migrations. */
#include "actuators/proxmox/pve_operations.h"

#include "actuators/proxmox/pve_guest.h"
#include "actuators/proxmox/pve_ha.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "net/http.h"
#include "net/peer_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORKERS_DEFAULT 4 /* of max_workers in the options of the datacenter */
#define WORKERS_MS (INT64_C(300) * 1000)

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

static int is_due(const struct pve *p, const struct operation *q, const struct pve_guest_state *g,
                  struct err *err)
{
    if (strcmp(g->node, q->to) == 0)
        return err_set(err, -ESTALE, "%s: guest %s has arrived on %s already", pve_url(p), q->vm, q->to);
    if (strcmp(g->node, q->from) != 0)
        return err_set(err, -ESTALE, "%s: guest %s is on %s now and no longer on %s", pve_url(p), q->vm,
                       g->node, q->from);
    if (!g->running)
        return err_set(err, -ESTALE, "%s: guest %s does not run any more, so there is nothing to migrate",
                       pve_url(p), q->vm);
    return 0;
}

static int look(struct pve_acting *x, const struct operation *q, struct seen *ret, struct err *err)
{
    int r = check_request(q, err);

    *ret = (struct seen){0};
    if (r < 0 || (r = pve_guest_look(x->api, q->vm, q->from, &ret->guest, err)) < 0 ||
        (r = is_due(x->api, q, &ret->guest, err)) < 0)
        return r;
    if (ret->guest.container && !x->settings->restart_containers)
        return err_set(err, -EPERM, "%s: container %s would have to be restarted (restart_containers)",
                       pve_url(x->api), q->vm);
    if ((r = pve_running_look(x->api, &ret->guest, &ret->running, err)) < 0)
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

/* Whether HA has carried out what was requested at this time, and has come to an end with it. */
static int has_ended(struct pve_acting *x, const struct operation *q, const struct seen *s, int64_t since_s,
                     struct err *err)
{
    char later[TASK_NAME_MAX];
    struct pve_task_state t;
    int r =
        pve_newest_task(x->api, q->from, q->vm, pve_migration_type(s->guest.container), since_s, later, err);

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
    int r = pve_newest_task(x->api, q->from, q->vm, "hamigrate", since, upid, err);
    if (r < 0 || !upid[0] || !pve_upid_read(upid, &u))
        return r;
    if ((r = pve_task_look(x->api, upid, &t, err)) < 0)
        return r;
    if (!t.running && !pve_task_is_good(&t))
        return 0;
    if ((r = has_ended(x, q, s, u.start_s, err)) != 0)
        return r < 0 ? r : 0;
    if ((r = task_goes_there(x, upid, q, err)) < 0)
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
        r = task_goes_there(x, s->running.task, q, err);
        if (r < 0)
            return r;
        (void)snprintf(ret_task, TASK_NAME_MAX, "%s", s->running.task);
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

static int is_free(const struct pve *p, const struct seen *s, int code, struct err *err)
{
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

/* Proxmox VE itself limits only the migrations that HA and bulk actions begin. */
static int has_worker(struct pve_acting *x, const struct operation *q, const struct seen *s, struct err *err)
{
    if (x->workers == 0 || net_now_ms() - x->workers_ms > WORKERS_MS) {
        CLEANUP(peer_json_releasep) json_t *options = NULL;
        int r = pve_get(x->api, "/cluster/options", 0, &options, err);

        if (r < 0)
            return r;
        double most = peer_json_number(options, "max_workers");
        x->workers = most >= 1 && most <= 64 ? (unsigned)most : WORKERS_DEFAULT;
        x->workers_ms = net_now_ms();
    }
    if (s->running.migrations >= x->workers)
        return err_set(err, -EBUSY, "%s: node %s carries out %u migrations, and may %u (max_workers)",
                       pve_url(x->api), q->from, s->running.migrations, x->workers);
    return 0;
}

/* {"unavailable_storages":["fast"],"blocking-ha-resources":[{"sid":"vm:101","cause":"..."}]} in a few words.
 */
static void put_reasons(const json_t *why, struct strbuf *b)
{
    json_t *list, *item;
    const char *key;
    size_t i;

    json_object_foreach((json_t *)why, key, list)
    {
        if (json_array_size(list) == 0)
            continue;
        strbuf_printf(b, "%s%.60s", b->len > 0 ? "; " : "", key);
        json_array_foreach(list, i, item)
        {
            const char *sid = peer_json_text(item, "sid"), *cause = peer_json_text(item, "cause");
            const char *name = json_string_value(item);
            if (sid)
                strbuf_printf(b, " %.60s (%.60s)", sid, cause ? cause : "no cause told");
            else
                strbuf_printf(b, " %.60s", name ? name : "?");
        }
    }
}

static const json_t *member(const json_t *o, const char *name, const char *in_kebab_case)
{
    const json_t *v = json_object_get(o, name);

    return v ? v : json_object_get(o, in_kebab_case);
}

/* The first local disk that is neither a CD image nor unused; NULL: none. */
static const char *local_disk(const json_t *answer)
{
    const json_t *disks = json_object_get(answer, "local_disks");
    json_t *disk;
    size_t i;

    json_array_foreach(disks, i, disk)
    {
        const char *volume = peer_json_text(disk, "volid");
        if (!peer_json_flag(disk, "cdrom") && !peer_json_flag(disk, "is_unused"))
            return volume ? volume : "a disk";
    }
    return NULL;
}

static const char *first_text(const json_t *list)
{
    const char *text = json_string_value(json_array_get(list, 0));

    return text ? text : "?";
}

static int is_allowed(struct pve_acting *x, const struct operation *q, const json_t *answer, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf why = {0};
    const json_t *allowed = member(answer, "allowed_nodes", "allowed-nodes");
    const json_t *not_allowed = member(answer, "not_allowed_nodes", "not-allowed-nodes");
    const json_t *devices = json_object_get(answer, "local_resources");
    const json_t *mapped = json_object_get(answer, "mapped-resources");
    const char *disk = local_disk(answer);
    json_t *item;
    size_t i;
    bool named = !allowed;

    strbuf_init(&why, ERR_TEXT_MAX);
    put_reasons(json_object_get(not_allowed, q->to), &why);
    json_array_foreach(allowed, i, item)
    {
        const char *name = json_string_value(item);
        named = named || (name && strcmp(name, q->to) == 0);
    }
    if (why.len > 0 || !named)
        return err_set(err, -EPERM, "%s: guest %s may not move to %s: %s", pve_url(x->api), q->vm, q->to,
                       why.len > 0 ? why.text : "the node is not among those that are allowed");
    if (json_array_size(devices) > 0 || json_array_size(mapped) > 0)
        return err_set(err, -EPERM, "%s: guest %s uses a device of its node (%.60s)", pve_url(x->api), q->vm,
                       first_text(json_array_size(devices) > 0 ? devices : mapped));
    if (disk && !x->settings->local_disks)
        return err_set(err, -EPERM, "%s: guest %s has a disk that is not shared, %.100s (local_disks)",
                       pve_url(x->api), q->vm, disk);
    return 0;
}

/* The API's own check. It covers storages, devices and HA's rules, but neither memory, CPUs nor bridges, and
 * it allows nodes that are off. Version 8 has no check for containers. */
static int ask_precondition(struct pve_acting *x, const struct operation *q, const struct seen *s,
                            struct err *err)
{
    CLEANUP(peer_json_releasep) json_t *answer = NULL;
    struct err own = {0};
    char path[160];

    (void)snprintf(path, sizeof path, "/nodes/%s/%s/%s/migrate?target=%s", q->from,
                   pve_guest_folder(s->guest.container), q->vm, q->to);
    int r = pve_get(x->api, path, 0, &answer, &own);
    if (r == -EOPNOTSUPP && s->guest.container)
        return 0;
    if (r == -EREMOTEIO && pve_is_lock(own.text))
        r = own.code = -EBUSY;
    if (r < 0) {
        if (err)
            *err = own;
        return r;
    }
    return is_allowed(x, q, answer, err);
}

int pve_migrate_check(struct pve_acting *x, const struct operation *q, struct err *err)
{
    struct seen s;
    int r = look(x, q, &s, err);

    if (r < 0 || (r = can_arrive(x, q, &s, err)) < 0)
        return r;
    if (s.running.task[0] || s.ha.target[0]) { /* start() adopts it, if it goes there */
        char task[TASK_NAME_MAX];

        r = adopt(x, q, &s, task, err);
        return r < 0 ? r : 0;
    }
    if ((r = is_free(x->api, &s, -EBUSY, err)) < 0 || (r = has_worker(x, q, &s, err)) < 0)
        return r;
    return ask_precondition(x, q, &s, err);
}

/* ---- beginning ---- */

/* Whether the node hands over the states of the guest's connections, which its firewall follows. A node of
 * version 8 does not, and one that does not answer counts as such: without the states a migration is still
 * good, though a firewall may drop connections. */
static bool has_vm_state(const struct pve_acting *x, const char *node)
{
    CLEANUP(peer_json_releasep) json_t *answer = NULL;
    char path[160];

    (void)snprintf(path, sizeof path, "/nodes/%s/capabilities/qemu/migration", node);
    return pve_get(x->api, path, 0, &answer, NULL) >= 0 && peer_json_flag(answer, "has-dbus-vmstate");
}

static void fill_form(const struct pve_acting *x, const struct operation *q, const struct seen *s,
                      struct strbuf *form)
{
    const struct proxmox_settings *o = x->settings;
    char text[24];

    pve_form_add(form, "target", q->to);
    pve_form_add(form, s->guest.container ? "restart" : "online", "1");
    if (o->local_disks && !s->guest.container)
        pve_form_add(form, "with-local-disks", "1");
    if (!s->guest.container && !s->guest.ha && has_vm_state(x, q->from) && has_vm_state(x, q->to))
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
    CLEANUP(strbuf_releasep) struct strbuf form = {0};
    CLEANUP(peer_json_releasep) json_t *data = NULL;
    struct pve_upid upid;
    char path[160];

    strbuf_init(&form, STRBUF_NO_LIMIT);
    fill_form(x, q, s, &form);
    (void)snprintf(path, sizeof path, "/nodes/%s/%s/%s/migrate", q->from,
                   pve_guest_folder(s->guest.container), q->vm);
    int r = pve_post(x->api, path, form.text, &data, err);
    if (r < 0)
        return classify(r, err);
    const char *name = json_string_value(data);
    if (!name || !pve_upid_read(name, &upid))
        return err_set(err, -EPROTO, "%s: the answer names no task", pve_url(x->api));
    if (strcmp(upid.type, "hamigrate") == 0)
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
        return err_set(err, -ESRCH, "%s: no migration of guest %s to %s is under way", pve_url(x->api), q->vm,
                       q->to);
    if ((r = is_free(x->api, &s, strcmp(s.guest.lock, "migrate") == 0 ? -EBUSY : -ESTALE, err)) < 0)
        return r;
    return begin(x, q, &s, ret_task, err);
}
