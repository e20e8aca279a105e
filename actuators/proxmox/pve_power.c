/* pve_power.c: shuts nodes down by a request to their own API, and wakes them by a packet that running nodes
 * send. A node that is off answers nothing: a standby has ended when the cluster shows the node offline, a
 * wake when it shows the node online. */
#include "actuators/proxmox/pve_operations.h"

#include "actuators/proxmox/pve_guest.h"
#include "base/cleanup.h"
#include "net/peer_json.h"
#include "net/proxmox/ceph.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- votes ---- */

/* The cluster at this moment. */
struct quorum {
    bool quorate, online, local; /* online, local: the node; local: it is the one that answers */
    double expected, present;    /* votes; present: without the node */
    double largest;              /* of one other node that is online, or of the QDevice */
};

/* A QDevice, as the nodes that answer see it. */
struct qdevice {
    bool known, connected; /* known: to one node; connected: all nodes have its vote */
};

static bool is_online(const json_t *status, const char *node)
{
    json_t *row;
    size_t i;

    json_array_foreach(status, i, row)
    {
        const char *type = peer_json_text(row, "type"), *name = peer_json_text(row, "name");
        if (type && name && strcmp(type, "node") == 0 && strcmp(name, node) == 0)
            return peer_json_flag(row, "online");
    }
    return false;
}

static void take_status(const json_t *status, const char *node, struct quorum *ret)
{
    json_t *row;
    size_t i;

    json_array_foreach(status, i, row)
    {
        const char *type = peer_json_text(row, "type"), *name = peer_json_text(row, "name");
        if (type && strcmp(type, "cluster") == 0)
            ret->quorate = peer_json_flag(row, "quorate");
        else if (type && name && strcmp(type, "node") == 0 && strcmp(name, node) == 0)
            ret->local = peer_json_flag(row, "local");
    }
    ret->online = is_online(status, node);
}

/* A node tells of its own daemon of the QDevice, and answers {} while that does not run. So every address is
 * asked: one node that knows the QDevice suffices for its vote to be expected. */
static int ask_qdevice(struct pve *p, struct qdevice *ret, struct err *err)
{
    size_t n = 1;

    *ret = (struct qdevice){.connected = true};
    for (size_t turns = 0; turns < n; turns++) {
        CLEANUP(json_decrefp) json_t *device = NULL;
        int r = pve_get_object(p, "/cluster/config/qdevice", &device, err);

        if (r < 0)
            return r;
        const char *state = peer_json_text(device, "State");
        ret->known = ret->known || json_object_size(device) > 0;
        ret->connected = ret->connected && state && strncmp(state, "Connected", 9) == 0;
        n = pve_turn(p);
    }
    return 0;
}

/* The votes of the configured nodes and of a QDevice. A QDevice has one vote, with an odd number of nodes as
 * many as nodes less one. */
static int take_votes(struct pve *p, const json_t *status, const struct qdevice *device, const char *node,
                      struct quorum *ret, struct err *err)
{
    CLEANUP(json_decrefp) json_t *rows = NULL;
    json_t *row;
    size_t i;
    int r = pve_get_list(p, "/cluster/config/nodes", &rows, err);

    if (r < 0)
        return r;
    json_array_foreach(rows, i, row)
    {
        const char *name = peer_json_text(row, "name");
        double votes = peer_json_number(row, "quorum_votes");

        name = name ? name : peer_json_text(row, "node");
        if (!name || !(votes >= 0))
            return err_set(err, -EPERM, "%s: the votes of a node are not known", pve_url(p));
        ret->expected += votes;
        if (strcmp(name, node) == 0 || !is_online(status, name))
            continue;
        ret->present += votes;
        ret->largest = fmax(ret->largest, votes);
    }
    if (device->known) {
        size_t n = json_array_size(rows);
        double votes = n % 2 == 0 ? 1 : (double)n - 1;
        double there = device->connected ? votes : 0;

        ret->expected += votes;
        ret->present += there;
        ret->largest = fmax(ret->largest, there);
    }
    return 0;
}

/* By an address of another node, where one answers. */
static int ask_status(struct pve *p, const char *node, json_t **ret, struct quorum *ret_c, struct err *err)
{
    for (size_t turns = 1;; turns++) {
        int r = pve_get_list(p, "/cluster/status", ret, err);

        if (r < 0)
            return r;
        *ret_c = (struct quorum){0};
        take_status(*ret, node, ret_c);
        if (!ret_c->local || pve_turn(p) <= turns)
            return 0;
        json_decref(*ret);
        *ret = NULL;
    }
}

static int check_votes(struct pve *p, const char *node, struct err *err)
{
    CLEANUP(json_decrefp) json_t *status = NULL;
    struct qdevice device;
    struct quorum c;
    int r = ask_qdevice(p, &device, err); /* first: it turns to other addresses */

    if (r < 0 || (r = ask_status(p, node, &status, &c, err)) < 0)
        return r;
    if (!c.quorate)
        return err_set(err, -EAGAIN, "%s: the cluster has no quorum, so no node is switched off", pve_url(p));
    if (!c.online)
        return err_set(err, -ESTALE, "%s: node %s is off already", pve_url(p), node);
    if (c.local)
        return err_set(err, -EPERM, "%s: node %s alone answers, so it stays on", pve_url(p), node);
    if ((r = take_votes(p, status, &device, node, &c, err)) < 0)
        return r;
    double need = floor(c.expected / 2) + 1;
    if (c.present - c.largest < need)
        return err_set(err, -EPERM,
                       "%s: without node %s %.0f votes would be left, and the quorum takes %.0f, should one "
                       "more node fail, or the QDevice",
                       pve_url(p), node, c.present, need);
    return 0;
}

/* ---- whether the node is free ---- */

/* Whether the privileges have this one at a path of the first level, and below it. A server that tells those
 * of the root alone means that they hold everywhere. */
static bool has_privilege(const json_t *may, const char *path, const char *privilege)
{
    return peer_json_flag(json_object_get(may, json_object_size(may) == 1 ? "/" : path), privilege);
}

/* What may not be seen is left out of lists without a word, and a path without any privilege out of these. So
 * each guest and pool that has entries of its own must be among the privileges, with VM.Audit. An API without
 * the list of entries has none. */
static int check_privileges(struct pve *p, const char *node, struct err *err)
{
    CLEANUP(json_decrefp) json_t *may = NULL;
    CLEANUP(json_decrefp) json_t *acl = NULL;
    const char *path;
    json_t *row;
    size_t i;
    int r = pve_get_object(p, "/access/permissions", &may, err);

    if (r < 0 || ((r = pve_get_list(p, "/access/acl", &acl, err)) < 0 && r != -EOPNOTSUPP))
        return r;
    if (!has_privilege(may, "/vms", "VM.Audit") || !has_privilege(may, "/access", "Sys.Audit"))
        return err_set(
            err, -EPERM,
            "%s: without VM.Audit on /vms and Sys.Audit on /access nobody can tell whether node %s "
            "is empty, so it stays on",
            pve_url(p), node);
    json_object_foreach(may, path, row)
    {
        if (strncmp(path, "/vms/", 5) == 0 && !json_object_get(row, "VM.Audit"))
            return err_set(err, -EPERM, "%s: without VM.Audit on %.60s node %s may not be empty", pve_url(p),
                           path, node);
    }
    json_array_foreach(acl, i, row)
    {
        path = peer_json_text(row, "path");
        if (!path || ((strncmp(path, "/vms/", 5) == 0 || strncmp(path, "/pool/", 6) == 0) &&
                      !json_object_get(json_object_get(may, path), "VM.Audit")))
            return err_set(err, -EPERM, "%s: without VM.Audit on %.60s node %s may not be empty", pve_url(p),
                           path ? path : "a path", node);
    }
    return 0;
}

static int check_replication(struct pve *p, const char *node, struct err *err)
{
    CLEANUP(json_decrefp) json_t *rows = NULL;
    json_t *row;
    size_t i;
    int r = pve_get_list(p, "/cluster/replication", &rows, err);

    if (r < 0)
        return r;
    json_array_foreach(rows, i, row)
    {
        const char *target = peer_json_text(row, "target");
        if (target && strcmp(target, node) == 0)
            return err_set(err, -EPERM, "%s: disks are replicated to node %s, so it stays on", pve_url(p),
                           node);
    }
    return 0;
}

/* The MAC address, "MAC[,bind-interface=...]": the node that sends the packet reads it in the configuration
 * of the cluster. */
static int check_mac(struct pve *p, const char *node, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = NULL;
    char path[128];

    (void)snprintf(path, sizeof path, "/nodes/%s/config", node);
    int r = pve_get_object(p, path, &data, err);
    if (r < 0)
        return r;
    const char *mac = peer_json_text(data, "wakeonlan");
    return mac && strspn(mac, "0123456789abcdefABCDEF:") >= 17
               ? 0
               : err_set(err, -EPERM,
                         "%s: node %s has no MAC address for Wake on LAN (node, System, Options)", pve_url(p),
                         node);
}

/* The node that answers has no Ceph, or (unknown) an API without a request about it: this one must say the
 * same, and have no disk of an OSD. */
static int check_ceph_there(struct pve *p, const char *node, bool unknown, struct err *err)
{
    CLEANUP(json_decrefp) json_t *monitors = NULL;
    CLEANUP(json_decrefp) json_t *disks = NULL;
    struct err own = {0};
    char path[128];
    json_t *disk;
    size_t i;

    (void)snprintf(path, sizeof path, "/nodes/%s/ceph/mon", node);
    int r = pve_get(p, path, 0, &monitors, &own);
    if (r == 0)
        return err_set(err, -EPERM,
                       "%s: node %s has Ceph, and the node that answers cannot tell what runs there, so it "
                       "stays on",
                       pve_url(p), node);
    if (!pve_ceph_is_missing(r, own.text) && !(unknown && r == -EOPNOTSUPP)) {
        *err = own;
        return err_widen(err, "whether node %s has Ceph is not known", node);
    }
    (void)snprintf(path, sizeof path, "/nodes/%s/disks/list?skipsmart=1", node);
    if ((r = pve_get_list(p, path, &disks, err)) < 0)
        return unknown && r == -EOPNOTSUPP ? 0 : r;
    json_array_foreach(disks, i, disk)
    {
        const json_t *more = json_object_get(disk, "osdid-list");
        if (peer_json_number(disk, "osdid") != -1 || json_array_size(more) > 0)
            return err_set(err, -EPERM, "%s: node %s has an OSD of Ceph on %.40s, so it stays on", pve_url(p),
                           node,
                           peer_json_text(disk, "devpath") ? peer_json_text(disk, "devpath") : "a disk");
    }
    return 0;
}

static int check_ceph(struct pve *p, const char *node, struct err *err)
{
    static const char *const services[] = {"osd", "mon", "mgr", "mds"};
    CLEANUP(json_decrefp) json_t *metadata = NULL;
    struct err own = {0};
    int r = pve_get(p, "/cluster/ceph/metadata", 0, &metadata, &own);

    if (r < 0 && (r == -EOPNOTSUPP || pve_ceph_is_missing(r, own.text)))
        return check_ceph_there(p, node, r == -EOPNOTSUPP, err);
    if (r < 0) {
        *err = own;
        return err_widen(err, "whether node %s serves Ceph is not known", node);
    }
    if (!pve_ceph_is_whole(metadata))
        return err_set(err, -EPERM, "%s: where the services of Ceph run is not known, so node %s stays on",
                       pve_url(p), node);
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++) {
        if (pve_ceph_runs(metadata, services[i], node))
            return err_set(err, -EPERM, "%s: node %s serves Ceph (%s), so it stays on", pve_url(p), node,
                           services[i]);
    }
    return 0;
}

/* What changes soonest last. A controller wakes a node without its MAC address. */
static int check_standby(struct pve_acting *x, const char *node, bool by_controller, struct err *err)
{
    static int (*const checks[])(struct pve *, const char *, struct err *) = {
        check_votes, check_ceph, check_replication, check_mac, check_privileges, pve_activity_check};

    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (by_controller && checks[i] == check_mac)
            continue;
        int r = checks[i](x->api, node, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- the contract ---- */

/* surely: what one that has lost the others calls off is not off. */
static int is_awake(struct pve_acting *x, const char *node, bool surely, struct err *err)
{
    struct pve_quorum c;
    int r = pve_quorum_look(x->api, node, &c, err);

    if (r < 0)
        return r;
    if (surely && !c.quorate)
        return err_set(err, -EAGAIN, "%s: without a quorum it is not known whether node %s is off",
                       pve_url(x->api), node);
    if (!c.member)
        return err_set(err, -ENOENT, "%s: there is no node %s any more", pve_url(x->api), node);
    return c.online;
}

int pve_power_check(struct pve_acting *x, const struct operation *q, struct err *err)
{
    if (!pve_is_node_name(q->host))
        return err_set(err, -EINVAL, "the request names no node");
    if (q->kind == OPERATION_STANDBY)
        return check_standby(x, q->host, q->power.by_controller, err);
    int r = is_awake(x, q->host, false, err);
    return r > 0 ? err_set(err, -ESTALE, "%s: node %s is awake already", pve_url(x->api), q->host) : r;
}

/* Asks every node whose address is configured to send the packet, because only nodes of the same network
 * segment reach the node. */
static int send_packet(struct pve_acting *x, const char *node, struct err *err)
{
    char path[128];

    (void)snprintf(path, sizeof path, "/nodes/%s/wakeonlan", node);
    int r = pve_post_everywhere(x->api, path, err);
    return r < 0 ? r : 0;
}

static int shut_down(struct pve_acting *x, const char *node, struct err *err)
{
    CLEANUP(json_decrefp) json_t *nothing = NULL;
    char path[128];

    (void)snprintf(path, sizeof path, "/nodes/%s/status", node);
    return pve_post(x->api, path, "command=shutdown", &nothing, err);
}

/* A second request does no harm, so no earlier task is looked for. Nor does a packet to a node that is awake:
 * where that cannot be read, the packet is sent all the same. */
int pve_power_start(struct pve_acting *x, const struct operation *q, char ret_task[TASK_NAME_MAX],
                    struct err *err)
{
    bool down = q->kind == OPERATION_STANDBY;
    int r = pve_power_check(x, q, err);
    bool unread = r == -EAGAIN || r == -EREMOTEIO || r == -ETIMEDOUT || r == -ECONNRESET;

    if (r < 0 && (down || q->only_adopt || !unread))
        return r;
    if (q->only_adopt)
        return err_set(err, -ESRCH, "a node does not tell whether it was asked to go %s",
                       down ? "down" : "up");
    r = down ? shut_down(x, q->host, err) : send_packet(x, q->host, err);
    if (r < 0)
        return r;
    (void)snprintf(ret_task, TASK_NAME_MAX, "%s:%s", down ? "SHUTDOWN" : "WAKE", q->host);
    return 0;
}

/* A packet may be lost, so each poll sends it again until the node is online. */
int pve_power_poll(struct pve_acting *x, const struct operation *q, const char *task,
                   struct task_progress *ret, struct err *err)
{
    const char *node = strchr(task, ':');
    bool down = strncmp(task, "SHUTDOWN:", 9) == 0;

    *ret = (struct task_progress){.state = TASK_RUNNING, .percent = -1};
    if (!node || !pve_is_node_name(node + 1) || (!down && strncmp(task, "WAKE:", 5) != 0))
        return err_set(err, -EINVAL, "%.100s is no task of a node", task);
    int r = is_awake(x, node + 1, down, err);
    if (r < 0)
        return r;
    if (r != down)
        ret->state = TASK_SUCCEEDED;
    else if (!down && !q->only_adopt)
        (void)send_packet(x, node + 1, &ret->why);
    return 0;
}
