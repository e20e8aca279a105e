/* pve_ha.h: moves that the HA manager carries out.
 *
 * A request for a guest of HA only queues a command, and its task ends within seconds. The manager reads the
 * command in one of its next rounds, about 10 s apart, and writes to its log alone why it ignores one. Then
 * the guest's node begins a task of its own, as root. So a move is followed by the manager's status and by
 * that later task, and it is done when the guest is on the other node.
 *
 * Source: pve-ha-manager (PVE/HA/Manager.pm: update_crm_commands, next_state_migrate_relocate). */
#ifndef BALLAST_ACTUATORS_PROXMOX_PVE_HA_H
#define BALLAST_ACTUATORS_PROXMOX_PVE_HA_H

#include "actuators/proxmox/pve_task.h"

/* Seconds by the manager's clock in which it has read a command: three rounds, and what clocks differ. */
#define PVE_HA_GRACE_S 40

/* A guest in the manager's status. */
struct pve_ha_service {
    int64_t now_s;             /* the manager's clock at its last round; 0: not told */
    char state[32];            /* "started", "migrate", "relocate", "error", ...; "": not told */
    char target[PVE_NODE_MAX]; /* where the manager moves it to, or has been told to; "": nowhere */
    char node_state[32];       /* of the destination: "online", "maintenance", ...; "": not told */
};

int pve_ha_look(struct pve *p, bool container, const char *id, const char *to, struct pve_ha_service *ret,
                struct err *err);

/* What is seen of a move that was asked for. */
struct pve_ha_seen {
    bool gone, at_from, at_to;         /* the guest */
    bool request_runs, request_failed; /* the task that queues the command */
    bool later_task;                   /* the guest's node has begun a task since */
    const char *target, *to;           /* the manager's; the one asked for */
    int64_t now_s, since_s, silent_s;  /* silent_s: by the caller's clock since since_s */
};

enum pve_ha_verdict {
    PVE_HA_GOES_ON,
    PVE_HA_FOLLOW, /* the later task */
    PVE_HA_ARRIVED,
    PVE_HA_REFUSED,   /* the request has failed */
    PVE_HA_ELSEWHERE, /* the manager moves it to another node */
    PVE_HA_IGNORED,   /* the manager has had its time, and nothing happens */
    PVE_HA_UNKNOWN,   /* only an inventory can tell */
};

/* The table, in the order of its lines. Pure. */
enum pve_ha_verdict pve_ha_decide(const struct pve_ha_seen *s);

#endif
