/* internal.h: what the files of this folder share: a part looks at one kind of peer. */
#ifndef BALLAST_PREFLIGHT_INTERNAL_H
#define BALLAST_PREFLIGHT_INTERNAL_H

#include "preflight/preflight.h"
#include "preflight/run_tasks.h"

#include <ballast/power.h>
#include <ballast/snapshot.h>

/* What a task has found: items of its own, which the caller adds to the list once it is done. */
struct findings {
    struct arena arena;
    struct preflight list;
};

/* ---- the source ---- */

struct source_part {
    struct findings found;
    const struct config *config;
    unsigned operations; /* 1u << OPERATION_* that the service carries out by itself */
    bool seen;           /* the cluster was read: */
    struct snapshot snap;
};

void preflight_source(void *part); /* struct source_part */
/* How long that may take, in seconds; 0: this kind of source is not asked. */
unsigned preflight_source_most_s(const struct config *c);

/* ---- controllers ---- */

struct probe; /* a method of a host */

struct controllers_part {
    struct power_host *hosts;
    size_t n_hosts;
    struct probe *probes; /* in the sequence of hosts and methods */
    size_t n_probes;
};

/* Lists what is asked. Adds a task for each controller to `tasks`, and returns their number. */
size_t preflight_controllers_begin(const struct config *c, const struct preflight_pause *pauses,
                                   size_t n_pauses, struct arena *a, struct controllers_part *ret,
                                   struct preflight_task **tasks);

/* Adds what was found; `tasks` are those of ..._begin(). snap: the cluster; NULL: not read. */
void preflight_controllers_end(const struct controllers_part *p, const struct preflight_task *tasks,
                               const struct snapshot *snap, struct preflight *ret);

/* ---- relays of Wake-on-LAN ---- */

struct relay_check;

struct relays_part {
    struct relay_check *checks;
    size_t n_checks;
};

/* Writes a task for each relay to `tasks`, at most n_hosts, and returns their number. */
size_t preflight_relays_begin(const struct power_host *hosts, size_t n_hosts, struct arena *a,
                              struct relays_part *ret, struct preflight_task *tasks);
/* tasks: those of ..._begin() are among them. */
void preflight_relays_end(const struct relays_part *p, const struct preflight_task *tasks,
                          struct preflight *ret);

/* ---- the broker ---- */

struct broker_part {
    struct findings found;
    const struct config *config;
};

#define PREFLIGHT_BROKER_MOST_S 35 /* longer than the limits of its own steps */

void preflight_broker(void *part); /* struct broker_part */

/* ---- a target of alarms ---- */

struct alarm_part {
    struct findings found;
    const struct config_alarm *target;
};

#define PREFLIGHT_ALARM_MOST_S 40 /* longer than the limit of its request */

void preflight_alarm(void *part); /* struct alarm_part */

/* ---- without a peer ---- */

/* For a password file that could not be read. */
void preflight_advise_unread(struct preflight *ret, const char *file);

/* Entries of `power.hosts`, and hosts without any. */
void preflight_power_entries(const struct config *c, const struct controllers_part *p,
                             const struct snapshot *snap, struct preflight *ret);
void preflight_machine(const struct config *c, struct preflight *ret);

#endif
