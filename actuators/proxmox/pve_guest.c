/* pve_guest.c: asks where a guest is, for tasks and their logs, and for the quorum. */
#include "actuators/proxmox/pve_guest.h"

#include "base/cleanup.h"
#include "net/peer_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LOG_ROWS 500
#define LOG_ROWS_MOST 5000 /* of one call; the next call reads the rest */

static int get_kind(struct pve *p, const char *path, json_type kind, json_t **ret, struct err *err)
{
    int r = pve_get(p, path, 0, ret, err);

    if (r < 0 || json_typeof(*ret) == kind)
        return r;
    json_decref(*ret);
    *ret = NULL;
    return err_set(err, -EPROTO, "%s: the answer of %s is not what was expected", pve_url(p), path);
}

int pve_get_list(struct pve *p, const char *path, json_t **ret, struct err *err)
{
    return get_kind(p, path, JSON_ARRAY, ret, err);
}

int pve_get_object(struct pve *p, const char *path, json_t **ret, struct err *err)
{
    return get_kind(p, path, JSON_OBJECT, ret, err);
}

const char *pve_guest_folder(bool container)
{
    return container ? "lxc" : "qemu";
}

const char *pve_migration_type(bool container)
{
    return container ? "vzmigrate" : "qmigrate";
}

const char *pve_start_type(bool container)
{
    return container ? "vzstart" : "qmstart";
}

static bool is_id(const json_t *row, const char *id)
{
    char text[24];
    double vmid = peer_json_number(row, "vmid");

    (void)snprintf(text, sizeof text, "%.0f", vmid >= 0 && vmid < 1e10 ? vmid : 0);
    return strcmp(text, id) == 0;
}

static void take_state(const json_t *row, struct pve_guest_state *ret)
{
    const json_t *ha = json_object_get(row, "ha");
    const char *lock = peer_json_text(row, "lock");
    const char *status = peer_json_text(row, "status");
    const char *state = peer_json_text(ha, "state");

    ret->running = status && strcmp(status, "running") == 0;
    ret->ha = peer_json_flag(ha, "managed") && !(state && strcmp(state, "ignored") == 0);
    (void)snprintf(ret->lock, sizeof ret->lock, "%s", lock ? lock : "");
}

static int look_there(struct pve *p, const char *node, struct pve_guest_state *ret, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = NULL;
    char path[160];

    (void)snprintf(path, sizeof path, "/nodes/%s/%s/%s/status/current", node,
                   pve_guest_folder(ret->container), ret->id);
    int r = pve_get_object(p, path, &data, err);
    if (r < 0)
        return r;
    if (!peer_json_text(data, "status"))
        return err_set(err, -EPROTO, "%s: the state of guest %s is not told", pve_url(p), ret->id);
    (void)snprintf(ret->node, sizeof ret->node, "%s", node);
    take_state(data, ret);
    return 0;
}

static int find(struct pve *p, struct pve_guest_state *ret, struct err *err)
{
    CLEANUP(json_decrefp) json_t *rows = NULL;
    json_t *row;
    size_t i;
    int r = pve_get_list(p, "/cluster/resources?type=vm", &rows, err);

    if (r < 0)
        return r;
    json_array_foreach(rows, i, row)
    {
        const char *type = peer_json_text(row, "type");
        const char *node = peer_json_text(row, "node");

        if (!is_id(row, ret->id) || !type || !pve_is_node_name(node))
            continue;
        ret->container = strcmp(type, "lxc") == 0;
        (void)snprintf(ret->node, sizeof ret->node, "%s", node);
        return 0;
    }
    return err_set(err, -ENOENT, "%s: there is no guest %s any more", pve_url(p), ret->id);
}

int pve_guest_find(struct pve *p, const char *id, char ret_node[PVE_NODE_MAX], struct err *err)
{
    struct pve_guest_state g = {0};

    (void)snprintf(g.id, sizeof g.id, "%s", id);
    int r = find(p, &g, err);
    if (r == 0)
        (void)snprintf(ret_node, PVE_NODE_MAX, "%s", g.node);
    return r;
}

int pve_guest_look(struct pve *p, const char *id, const char *from, struct pve_guest_state *ret,
                   struct err *err)
{
    *ret = (struct pve_guest_state){0};
    (void)snprintf(ret->id, sizeof ret->id, "%s", id);
    int r = look_there(p, from, ret, err);
    if (r == 0 || (r != -EREMOTEIO && r != -EHOSTDOWN))
        return r;
    r = find(p, ret, err);
    return r < 0 || strcmp(ret->node, from) != 0 ? r : look_there(p, from, ret, err);
}

/* ---- tasks ---- */

static bool is_of(const char *type, const char *(*type_of)(bool container))
{
    return strcmp(type, type_of(false)) == 0 || strcmp(type, type_of(true)) == 0;
}

int pve_running_look(struct pve *p, const struct pve_guest_state *g, struct pve_running *ret, struct err *err)
{
    CLEANUP(json_decrefp) json_t *rows = NULL;
    struct pve_upid upid;
    char path[128];
    json_t *row;
    size_t i;

    *ret = (struct pve_running){0};
    (void)snprintf(path, sizeof path, "/nodes/%s/tasks?source=active&limit=%d", g->node, LOG_ROWS);
    int r = pve_get_list(p, path, &rows, err);
    if (r < 0)
        return r;
    json_array_foreach(rows, i, row)
    {
        const char *name = peer_json_text(row, "upid");

        if (!name || json_object_get(row, "endtime") || !pve_upid_read(name, &upid))
            continue;
        bool migrates = is_of(upid.type, pve_migration_type), starts = is_of(upid.type, pve_start_type);
        ret->migrations += migrates;
        if ((!migrates && !starts) || strcmp(upid.id, g->id) != 0)
            continue;
        (void)snprintf(ret->task, sizeof ret->task, "%s", name);
        ret->starts = starts;
    }
    return 0;
}

int pve_newest_task(struct pve *p, const char *node, const char *id, const char *type, int64_t since_s,
                    char ret[TASK_NAME_MAX], struct err *err)
{
    CLEANUP(json_decrefp) json_t *rows = NULL;
    int64_t newest = since_s > 0 ? since_s : 0;
    struct pve_upid upid;
    char path[256];
    json_t *row;
    size_t i;

    ret[0] = '\0';
    (void)snprintf(path, sizeof path, "/nodes/%s/tasks?source=all&vmid=%s&typefilter=%s&since=%lld&limit=20",
                   node, id, type, (long long)newest);
    int r = pve_get_list(p, path, &rows, err);
    if (r < 0)
        return r;
    json_array_foreach(rows, i, row)
    {
        const char *name = peer_json_text(row, "upid");

        if (!name || !pve_upid_read(name, &upid) || strcmp(upid.id, id) != 0 ||
            strcmp(upid.type, type) != 0 || upid.start_s < newest)
            continue;
        newest = upid.start_s;
        (void)snprintf(ret, TASK_NAME_MAX, "%s", name);
    }
    return 0;
}

static int task_path(const char *upid, const char *what, struct strbuf *path, struct err *err)
{
    struct pve_upid u;

    if (!pve_upid_read(upid, &u))
        return err_set(err, -EINVAL, "%.100s is no task of Proxmox VE", upid);
    strbuf_printf(path, "/nodes/%s/tasks/", u.node);
    pve_escape(path, upid);
    strbuf_puts(path, what);
    return 0;
}

int pve_log_read(struct pve *p, const char *upid, struct pve_log *log, struct err *err)
{
    int64_t first = log->lines;

    for (size_t n = LOG_ROWS; n == LOG_ROWS && log->lines - first < LOG_ROWS_MOST;) {
        CLEANUP(strbuf_releasep) struct strbuf path = STRBUF_EMPTY;
        CLEANUP(json_decrefp) json_t *rows = NULL;
        json_t *row;
        size_t i;
        int r = task_path(upid, "/log", &path, err);

        if (r < 0)
            return r;
        strbuf_printf(&path, "?start=%lld&limit=%d", (long long)log->lines, LOG_ROWS);
        if ((r = pve_get_list(p, path.text, &rows, err)) < 0)
            return r;
        n = json_array_size(rows);
        json_array_foreach(rows, i, row)
        {
            const char *line = peer_json_text(row, "t");
            pve_log_take(log, line ? line : "");
        }
    }
    return 0;
}

static bool is_unknown_task(const char *text)
{
    return strstr(text, "no such task") || strstr(text, "unable to parse worker upid");
}

int pve_task_look(struct pve *p, const char *upid, struct pve_task_state *ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf path = STRBUF_EMPTY;
    CLEANUP(json_decrefp) json_t *data = NULL;
    struct err own = {0};
    int r = task_path(upid, "/status", &path, err);

    *ret = (struct pve_task_state){0};
    if (r < 0)
        return r;
    r = pve_get_object(p, path.text, &data, &own);
    if (r == -EREMOTEIO && is_unknown_task(own.text))
        return 0;
    if (r < 0) {
        if (err)
            *err = own;
        return r;
    }
    const char *status = peer_json_text(data, "status");
    const char *exit_status = peer_json_text(data, "exitstatus");
    if (!status || (strcmp(status, "running") != 0 && strcmp(status, "stopped") != 0))
        return err_set(err, -EPROTO, "%s: the state of %s is not told", pve_url(p), upid);
    ret->known = true;
    ret->running = strcmp(status, "running") == 0;
    (void)snprintf(ret->exit, sizeof ret->exit, "%s", exit_status ? exit_status : "");
    for (char *c = ret->exit; *c; c++)
        *c = (signed char)*c < ' ' ? '?' : *c;
    return 0;
}

bool pve_task_is_good(const struct pve_task_state *t)
{
    return t->known && !t->running && (strcmp(t->exit, "OK") == 0 || strncmp(t->exit, "WARNINGS", 8) == 0);
}

/* ---- the cluster ---- */

int pve_quorum_look(struct pve *p, const char *node, struct pve_quorum *ret, struct err *err)
{
    CLEANUP(json_decrefp) json_t *rows = NULL;
    bool cluster = false, nodes = false;
    json_t *row;
    size_t i;
    int r = pve_get_list(p, "/cluster/status", &rows, err);

    *ret = (struct pve_quorum){0};
    if (r < 0)
        return r;
    json_array_foreach(rows, i, row)
    {
        const char *type = peer_json_text(row, "type");
        const char *name = peer_json_text(row, "name");

        if (type && strcmp(type, "cluster") == 0) {
            cluster = true;
            ret->quorate = peer_json_flag(row, "quorate");
        } else if (type && name && strcmp(type, "node") == 0) {
            nodes = true;
            if (strcmp(name, node) != 0)
                continue;
            ret->member = true;
            ret->online = peer_json_flag(row, "online");
        }
    }
    if (!nodes)
        return err_set(err, -EPROTO, "%s: the state of the cluster names no node", pve_url(p));
    ret->quorate = ret->quorate || !cluster; /* a node without a cluster */
    return 0;
}
