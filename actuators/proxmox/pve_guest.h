/* pve_guest.h: requests for the state of a guest, its tasks and their logs, and the quorum. */
#ifndef BALLAST_ACTUATORS_PROXMOX_PVE_GUEST_H
#define BALLAST_ACTUATORS_PROXMOX_PVE_GUEST_H

#include "actuators/proxmox/pve_log.h"
#include "actuators/proxmox/pve_task.h"

/* pve_get(), where the answer must be a list, or an object: anything else must not pass for an empty one. */
int pve_get_list(struct pve *p, const char *path, json_t **ret, struct err *err);
int pve_get_object(struct pve *p, const char *path, json_t **ret, struct err *err);

struct pve_guest_state {
    char id[PVE_ID_MAX];
    char node[PVE_NODE_MAX];
    bool container, running;
    bool ha;       /* HA carries out its moves */
    char lock[32]; /* "": none */
};

/* Asks the node `from` for the guest, in one request; reads the list of all guests only if the guest is not
 * there. -ENOENT: there is no such guest; -EHOSTDOWN: its node does not answer. */
int pve_guest_look(struct pve *p, const char *id, const char *from, struct pve_guest_state *ret,
                   struct err *err);

/* "qemu" or "lxc", in paths. */
const char *pve_guest_folder(bool container);

/* The types of the tasks that migrate it and start it. */
const char *pve_migration_type(bool container);
const char *pve_start_type(bool container);

/* The node of the guest, by the list of all guests. -ENOENT: there is no such guest. */
int pve_guest_find(struct pve *p, const char *id, char ret_node[PVE_NODE_MAX], struct err *err);

/* The tasks that run on a node. */
struct pve_running {
    char task[TASK_NAME_MAX]; /* of the guest: its migration or its start; "": none */
    bool starts;              /* that is a start */
    unsigned migrations;      /* of all guests */
};

int pve_running_look(struct pve *p, const struct pve_guest_state *g, struct pve_running *ret,
                     struct err *err);

/* The name of the guest's newest task of this type on the node, running or ended, that began at since_s or
 * later; "": there is none. */
int pve_newest_task(struct pve *p, const char *node, const char *id, const char *type, int64_t since_s,
                    char ret[TASK_NAME_MAX], struct err *err);

/* Reads the lines of the task's log that *log has not taken yet. */
int pve_log_read(struct pve *p, const char *upid, struct pve_log *log, struct err *err);

/* The state of a task. */
struct pve_task_state {
    bool running, known; /* known: the task's node knows the task */
    char exit[200];      /* of a task that has ended: "OK", "WARNINGS: 2", or the reason of its failure */
};

int pve_task_look(struct pve *p, const char *upid, struct pve_task_state *ret, struct err *err);

/* Whether the task has ended without an error. */
bool pve_task_is_good(const struct pve_task_state *t);

/* The cluster as seen by the node that answers. */
struct pve_quorum {
    bool quorate, online; /* online: the node asked for */
    bool member;          /* that node belongs to the cluster */
};

int pve_quorum_look(struct pve *p, const char *node, struct pve_quorum *ret, struct err *err);

#endif
