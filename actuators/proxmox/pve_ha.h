/* pve_ha.h: moves that the HA manager carries out.
 *
 * A request for a guest of HA only queues a command, and the task of the request ends within seconds. The
 * manager reads the command in one of its next rounds, about 10 s apart; if it ignores the command, only its
 * log has the reason. Then the guest's node begins the later task, as root. So the actuator follows the
 * manager's status and the later task, and the move is done when the guest is on the destination.
 *
 * Source: pve-ha-manager (PVE/HA/Manager.pm: update_crm_commands, next_state_migrate_relocate). */
#ifndef BALLAST_ACTUATORS_PROXMOX_PVE_HA_H
#define BALLAST_ACTUATORS_PROXMOX_PVE_HA_H

#include "actuators/proxmox/pve_task.h"

/* Seconds by the manager's clock after which it has read a command: three rounds, and 10 s for differences
 * between the clocks of nodes. */
#define PVE_HA_GRACE_S 40

/* A guest in the manager's status. */
struct pve_ha_service {
    int64_t now_s;             /* the manager's clock at its last round; 0: not told */
    char state[32];            /* "started", "migrate", "relocate", "error", ...; "": not told */
    char target[PVE_NODE_MAX]; /* where the manager moves it to, or has been told to; "": nowhere */
    bool starts;               /* the manager has it run, or is about to */
    char node_state[32];       /* of the destination: "online", "maintenance", ...; "": not told */
};

/* The manager's clock at its last round, in seconds, by its status; 0: not told. */
int64_t pve_ha_clock(const json_t *manager);

int pve_ha_look(struct pve *p, bool container, const char *id, const char *to, struct pve_ha_service *ret,
                struct err *err);

/* The observed state of a move that was requested. */
struct pve_ha_seen {
    bool gone, at_from, at_to;         /* the guest */
    bool request_runs, request_failed; /* the task that queues the command */
    bool later_task;                   /* the guest's node has begun a task since since_s */
    const char *target, *to;           /* target: the manager's, as above; to: the requested one */
    int64_t now_s, since_s;            /* by the manager's clock */
    int64_t silent_s;                  /* by the caller's clock: since the later of now_s and since_s */
};

enum pve_ha_verdict {
    PVE_HA_GOES_ON,
    PVE_HA_FOLLOW, /* the later task, if it goes there: its log tells */
    PVE_HA_ARRIVED,
    PVE_HA_REFUSED,   /* the request has failed */
    PVE_HA_ELSEWHERE, /* the manager moves it to another node */
    PVE_HA_IGNORED,   /* nothing has happened within PVE_HA_GRACE_S */
    PVE_HA_UNKNOWN,   /* only an inventory can tell */
};

/* The state of the move: the first condition that holds decides. Pure. */
enum pve_ha_verdict pve_ha_decide(const struct pve_ha_seen *s);

#endif
