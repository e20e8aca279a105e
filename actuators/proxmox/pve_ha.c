/* pve_ha.c: reads the status of the HA manager, and decides the state of a move by it. */
#include "actuators/proxmox/pve_ha.h"

#include "actuators/proxmox/pve_guest.h"
#include "base/cleanup.h"
#include "net/peer_json.h"

#include <stdio.h>
#include <string.h>

#define SILENT_MOST_S 600 /* how long the actuator waits for a manager that makes no round */

static bool is_move(const char *word)
{
    return word && (strcmp(word, "migrate") == 0 || strcmp(word, "relocate") == 0);
}

/* {"state":"migrate","target":"n2",...}, or {"state":"started","cmd":["migrate","n2"],...} before that. */
static void take_service(const json_t *service, struct pve_ha_service *ret)
{
    const json_t *cmd = json_object_get(service, "cmd");
    const char *state = peer_json_text(service, "state");
    const char *target = is_move(state) ? peer_json_text(service, "target") : NULL;

    if (!target && is_move(json_string_value(json_array_get(cmd, 0))))
        target = json_string_value(json_array_get(cmd, 1));
    ret->starts = state && (strcmp(state, "started") == 0 || strcmp(state, "request_start") == 0);
    (void)snprintf(ret->state, sizeof ret->state, "%s", state ? state : "");
    (void)snprintf(ret->target, sizeof ret->target, "%s", pve_is_node_name(target) ? target : "");
}

int64_t pve_ha_clock(const json_t *manager)
{
    double now = peer_json_number(manager, "timestamp");

    return now > 0 && now < 1e12 ? (int64_t)now : 0;
}

int pve_ha_look(struct pve *p, bool container, const char *id, const char *to, struct pve_ha_service *ret,
                struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = NULL;
    char sid[32];
    int r = pve_get_object(p, "/cluster/ha/status/manager_status", &data, err);

    *ret = (struct pve_ha_service){0};
    if (r < 0)
        return r;
    const json_t *manager = json_object_get(data, "manager_status");
    const char *node = peer_json_text(json_object_get(manager, "node_status"), to);

    (void)snprintf(sid, sizeof sid, "%s:%s", container ? "ct" : "vm", id);
    take_service(json_object_get(json_object_get(manager, "service_status"), sid), ret);
    (void)snprintf(ret->node_state, sizeof ret->node_state, "%s", node ? node : "");
    ret->now_s = pve_ha_clock(manager);
    return 0;
}

enum pve_ha_verdict pve_ha_decide(const struct pve_ha_seen *s)
{
    if (s->gone)
        return PVE_HA_UNKNOWN;
    if (s->at_to)
        return PVE_HA_ARRIVED;
    if (!s->at_from)
        return PVE_HA_UNKNOWN;
    if (s->request_runs)
        return PVE_HA_GOES_ON;
    if (s->request_failed)
        return PVE_HA_REFUSED;
    if (s->target[0] && strcmp(s->target, s->to) != 0)
        return PVE_HA_ELSEWHERE; /* a later task is then not this move's */
    if (s->later_task)
        return PVE_HA_FOLLOW;
    if (s->silent_s > SILENT_MOST_S)
        return PVE_HA_UNKNOWN; /* the destination is told as it was at the last round */
    if (s->target[0])
        return PVE_HA_GOES_ON;
    return s->now_s >= s->since_s + PVE_HA_GRACE_S ? PVE_HA_IGNORED : PVE_HA_GOES_ON;
}
