/* pve_activity.c: whether something runs on a node, or is on its way there. */
#include "actuators/proxmox/pve_operations.h"

#include "actuators/proxmox/pve_guest.h"
#include "actuators/proxmox/pve_ha.h"
#include "base/cleanup.h"
#include "net/peer_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A task begins by the clock of its node. The tickets of Proxmox VE let nodes' clocks differ by so much. */
#define CLOCKS_APART_S 300

static int get_list_of_node(struct pve *p, const char *node, const char *what, json_t **ret, struct err *err)
{
    char path[160];

    (void)snprintf(path, sizeof path, "/nodes/%s/%s", node, what);
    return pve_get_list(p, path, ret, err);
}

static int check_rows(struct pve *p, const json_t *rows, const char *node, struct err *err)
{
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const char *status = peer_json_text(row, "status");
        bool off = status && strcmp(status, "stopped") == 0;

        if (!peer_json_flag(row, "template") && (!off || peer_json_text(row, "lock")))
            return err_set(err, -EBUSY, "%s: guest %.0f is on node %s still (%s)", pve_url(p),
                           peer_json_number(row, "vmid"), node,
                           off      ? "locked"
                           : status ? status
                                    : "unknown");
    }
    return 0;
}

/* By the node's own lists, which are of this moment. */
static int check_guests(struct pve *p, const char *node, struct err *err)
{
    CLEANUP(json_decrefp) json_t *vms = NULL;
    CLEANUP(json_decrefp) json_t *containers = NULL;
    int r = get_list_of_node(p, node, "qemu", &vms, err);

    if (r < 0 || (r = get_list_of_node(p, node, "lxc", &containers, err)) < 0 ||
        (r = check_rows(p, vms, node, err)) < 0)
        return r;
    return check_rows(p, containers, node, err);
}

/* A start that HA's manager has not read yet shows only in what is wanted of the guest. On which node the
 * manager starts the guest depends on the cluster's options. */
static int check_wanted(struct pve *p, const json_t *wanted, const json_t *services, const char *node,
                        struct err *err)
{
    json_t *row;
    size_t i;

    json_array_foreach(wanted, i, row)
    {
        const char *sid = peer_json_text(row, "sid"), *state = peer_json_text(row, "state");
        const char *is = sid ? peer_json_text(json_object_get(services, sid), "state") : NULL;
        bool rests = state && strcmp(state, "started") != 0 && strcmp(state, "enabled") != 0;

        if (!rests && (!is || strcmp(is, "stopped") == 0))
            return err_set(err, -EBUSY, "%s: HA is about to start %.60s, perhaps on node %s", pve_url(p),
                           sid ? sid : "a guest", node);
    }
    return 0;
}

/* *ret_now_s: the manager's clock at its last round; 0: not told. */
static int check_manager(struct pve *p, const char *node, int64_t *ret_now_s, struct err *err)
{
    CLEANUP(json_decrefp) json_t *wanted = NULL;
    CLEANUP(json_decrefp) json_t *data = NULL;
    json_t *service;
    const char *sid;
    int r = pve_get_list(p, "/cluster/ha/resources", &wanted, err);

    if (r < 0 || (r = pve_get_object(p, "/cluster/ha/status/manager_status", &data, err)) < 0)
        return r;
    const json_t *manager = json_object_get(data, "manager_status");
    if (!json_is_object(manager))
        return err_set(err, -EPROTO, "%s: HA's manager tells no state, so node %s stays on", pve_url(p),
                       node);
    const char *master = peer_json_text(manager, "master_node");
    if (master && strcmp(master, node) == 0)
        return err_set(err, -EPERM, "%s: node %s is the one that manages HA, so it stays on", pve_url(p),
                       node);
    json_t *services = json_object_get(manager, "service_status");
    json_object_foreach(services, sid, service)
    {
        const char *at = peer_json_text(service, "node"), *state = peer_json_text(service, "state");
        const char *target = peer_json_text(service, "target");
        const char *told = json_string_value(json_array_get(json_object_get(service, "cmd"), 1));
        bool rests = state && (strcmp(state, "stopped") == 0 || strcmp(state, "ignored") == 0);

        if ((at && strcmp(at, node) == 0 && !rests) || (target && strcmp(target, node) == 0) ||
            (told && strcmp(told, node) == 0))
            return err_set(err, -EBUSY, "%s: HA has %.60s on node %s (%.30s)", pve_url(p), sid, node,
                           state ? state : "unknown");
    }
    *ret_now_s = pve_ha_clock(manager);
    return check_wanted(p, wanted, services, node, err);
}

static bool has_task(const json_t *rows, const char *upid)
{
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const char *name = peer_json_text(row, "upid");
        if (name && upid && strcmp(name, upid) == 0)
            return true;
    }
    return false;
}

/* A migration is a task of the node that the guest leaves. Where it leads to only its log says. */
static int check_arrival(struct pve *p, const char *node, const char *upid, struct err *err)
{
    struct pve_log log;

    pve_log_init(&log);
    return upid && pve_log_read(p, upid, &log, NULL) >= 0 && log.to[0] && strcmp(log.to, node) != 0
               ? 0
               : err_set(err, -EBUSY, "%s: a guest is on its way to node %s%s (%.100s)", pve_url(p),
                         log.to[0] ? "" : "an unknown node, perhaps to ", node,
                         upid ? upid : "an unknown task");
}

static bool is_migration(const char *type)
{
    return strcmp(type, "qmigrate") == 0 || strcmp(type, "vzmigrate") == 0;
}

/* Whether the request to HA to migrate a guest, and each earlier one of the list, has led to a migration from
 * the same node, and so was read. All of these have the time of one clock. */
static bool has_begun(const json_t *rows, const json_t *request)
{
    const char *node = peer_json_text(request, "node"), *guest = peer_json_text(request, "id");
    const double at = peer_json_number(request, "starttime");
    double oldest = at;
    size_t requests = 0, begun = 0;

    for (int pass = 0; pass < 2; pass++) {
        json_t *row;
        size_t i;

        json_array_foreach(rows, i, row)
        {
            const char *type = peer_json_text(row, "type");
            const char *its_node = peer_json_text(row, "node"), *its_guest = peer_json_text(row, "id");
            double began = peer_json_number(row, "starttime");

            if (!type || !node || !its_node || strcmp(its_node, node) != 0 || !guest || !its_guest ||
                strcmp(its_guest, guest) != 0)
                continue;
            if (pass == 0 && strcmp(type, "hamigrate") == 0 && began <= at) {
                requests++;
                oldest = began < oldest ? began : oldest;
            }
            begun += pass == 1 && is_migration(type) && began >= oldest;
        }
    }
    return requests > 0 && begun >= requests;
}

/* Whether HA's manager may not have read this request to migrate, which has ended. It is read within
 * PVE_HA_GRACE_S; but the request has the time of its node, and the manager that of another one. */
static bool may_be_unread(const json_t *rows, const json_t *request, int64_t manager_s)
{
    const double began = peer_json_number(request, "starttime");
    const double read = (double)(manager_s - PVE_HA_GRACE_S);

    return !(began <= read) || (!(began <= read - CLOCKS_APART_S) && !has_begun(rows, request));
}

/* A list of the cluster's or the node's tasks, which those that ended last are part of. Of those in an
 * earlier list nothing is to be feared any more; of others that have ended since, the consequences may not
 * show yet. Without an earlier list, what runs counts, and commands that HA's manager may not have read
 * (pve_ha.h). */
static int check_tasks(struct pve *p, const char *node, const json_t *rows, const json_t *earlier,
                       int64_t manager_s, struct err *err)
{
    json_t *row;
    size_t i;
    int r;

    json_array_foreach(rows, i, row)
    {
        const char *type = peer_json_text(row, "type"), *upid = peer_json_text(row, "upid");
        const char *at = peer_json_text(row, "node");
        bool ended = json_object_get(row, "endtime") != NULL;
        bool queued = ended && type && strcmp(type, "hamigrate") == 0 && manager_s > 0 &&
                      may_be_unread(rows, row, manager_s);

        if (earlier ? has_task(earlier, upid) : ended && !queued)
            continue;
        if ((!at || strcmp(at, node) == 0) && !queued)
            return err_set(err, -EBUSY, "%s: a task runs on node %s (%.40s)", pve_url(p), node,
                           type ? type : "unknown");
        bool moves = !type || strstr(type, "migrat") || strstr(type, "bulk");
        if (moves && (r = check_arrival(p, node, upid, err)) < 0)
            return r;
    }
    return 0;
}

int pve_activity_check(struct pve *p, const char *node, struct err *err)
{
    CLEANUP(json_decrefp) json_t *earlier = NULL;
    CLEANUP(json_decrefp) json_t *own = NULL;
    CLEANUP(json_decrefp) json_t *rows = NULL;
    int64_t manager_s = 0;
    int r = pve_get_list(p, "/cluster/tasks", &earlier, err);

    if (r < 0 || (r = get_list_of_node(p, node, "tasks?source=active&limit=500", &own, err)) < 0 ||
        (r = check_tasks(p, node, own, NULL, 0, err)) < 0 || (r = check_guests(p, node, err)) < 0 ||
        (r = check_manager(p, node, &manager_s, err)) < 0 ||
        (r = check_tasks(p, node, earlier, NULL, manager_s, err)) < 0 ||
        (r = pve_get_list(p, "/cluster/tasks", &rows, err)) < 0)
        return r;
    return check_tasks(p, node, rows, earlier, manager_s, err);
}
