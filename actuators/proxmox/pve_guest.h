/* pve_guest.h: where a guest is, and what goes on with it. */
#ifndef BALLAST_ACTUATORS_PROXMOX_PVE_GUEST_H
#define BALLAST_ACTUATORS_PROXMOX_PVE_GUEST_H

#include "actuators/proxmox/pve_log.h"
#include "actuators/proxmox/pve_task.h"

struct pve_guest_state {
    char id[PVE_ID_MAX];
    char node[PVE_NODE_MAX];
    bool container, running;
    bool ha;       /* HA carries out its moves */
    char lock[32]; /* "": none */
};

/* Looks on `from` first, in one request; only where it is not there, at the list of all. -ENOENT: there is no
 * such guest; -EHOSTDOWN: its node does not answer. */
int pve_guest_look(struct pve *p, const char *id, const char *from, struct pve_guest_state *ret,
                   struct err *err);

/* "qemu" or "lxc", in paths. */
const char *pve_guest_folder(bool container);

/* The tasks that run on a node. */
struct pve_running {
    char task[TASK_NAME_MAX]; /* the guest's migration; "": none */
    unsigned migrations;      /* of all guests */
};

int pve_running_look(struct pve *p, const struct pve_guest_state *g, struct pve_running *ret,
                     struct err *err);

/* The newest task of the guest of this type on the node, ended or not, if it began at since_s or later; "":
 * there is none. */
int pve_newest_task(struct pve *p, const char *node, const char *id, const char *type, int64_t since_s,
                    char ret[TASK_NAME_MAX], struct err *err);

/* Reads the lines of the task's log that *log has not taken yet. */
int pve_log_read(struct pve *p, const char *upid, struct pve_log *log, struct err *err);

/* A task's own state. */
struct pve_task_state {
    bool running, known; /* known: its node knows it */
    char exit[200];      /* of one that has ended: "OK", "WARNINGS: 2", or why not */
};

int pve_task_look(struct pve *p, const char *upid, struct pve_task_state *ret, struct err *err);

/* Whether it has ended well. */
bool pve_task_is_good(const struct pve_task_state *t);

/* The cluster as the node that answers sees it. */
struct pve_quorum {
    bool quorate, online; /* online: the node */
    bool member;          /* the node is one of the cluster's */
};

int pve_quorum_look(struct pve *p, const char *node, struct pve_quorum *ret, struct err *err);

#endif
