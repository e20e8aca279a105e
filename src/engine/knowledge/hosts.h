/* hosts.h: what is remembered of each host's power, because its source does not say it or would forget it.
 *
 * Since when it is on or asleep, how long it boots, when it last woke or failed to and by which methods,
 * whether we put it to standby, the reason of its last wake. Stored as it changes; a host that we put to
 * standby is never forgotten. Which way of the configuration is meant for which host is known here, too. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_HOSTS_H
#define BALLAST_ENGINE_KNOWLEDGE_HOSTS_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops hosts_ops;

/* What is remembered of a host. */
struct known_host {
    struct known_entry known;
    struct host_record r;  /* `host` is the key of the map, the other texts are its own */
    enum host_state state; /* in the last inventory; host_state_count: not seen by this process */
    char *name;            /* of a host that sleeps, from the record's facts; NULL: not known */
    bool unseen; /* the last inventory had it as lost: its manager does, while we put it to standby */
    bool held;   /* the last inventory had it in maintenance mode, which a standby of ours began and which is
                    to end now */
    bool says_proven; /* the source says that the host wakes */
};

/* Adds the hosts that sleep and that the source does not list any more, or has never read (left_hosts.h).
 * Before the overlay, whose entries may name them. */
void hosts_add_left(struct hosts *h, struct inventory *inv, struct arena *a);
/* What is remembered of the host, or NULL. */
const struct known_host *hosts_find(const struct hosts *h, const char *host);
/* Whether it is proven that it can be woken: its last wake did not fail, and at least one of its methods is
 * proven (struct wake_proof), or the source says so of the host and no wake of ours has tried it. */
bool hosts_is_proven(const struct hosts *h, const struct host_facts *f);
bool hosts_has_failed(const struct hosts *h, const char *host); /* its last wake */
static inline bool hosts_is_unseen(const struct hosts *h, const char *host)
{
    const struct known_host *k = hosts_find(h, host);

    return k && k->unseen;
}
static inline bool hosts_is_held(const struct hosts *h, const char *host)
{
    const struct known_host *k = hosts_find(h, host);

    return k && k->held;
}
/* A new inventory: known_host.unseen and .held. */
void hosts_set_seen(struct hosts *h, const char *host, bool unseen, bool held);
/* For a change of what is remembered of the host; it will be stored. */
struct known_host *hosts_change(struct hosts *h, const char *host);
bool hosts_is_up(enum host_state state);
/* New settings: finds out anew which host each entry is meant for. s: the newest inventory. */
void hosts_match_entries(struct hosts *h, const struct snapshot *s);
/* Whether the actuators can do that to the host's power: ACTION_POWER_ON or ACTION_POWER_OFF. */
bool hosts_can(const struct hosts *h, enum action_kind kind, const char *host);
/* Whether a controller of the host's own, which is found by an address, would be asked to switch it. */
bool hosts_has_controller(const struct hosts *h, const char *host);
/* A person says that these controllers are the host's own: identity_report.is. */
void hosts_confirm_controllers(struct hosts *h, const char *host, const char *is, const char *by,
                               instant_s now);

/* Whether the configuration has an entry for it. */
bool hosts_has_entry(const struct hosts *h, const char *host);

/* ---- the methods that wake it ---------------------------------------------------------------- */

/* WAKE_*: those of the configuration; of a host without an entry the source's own operation. */
unsigned hosts_wake_methods(const struct hosts *h, const char *host);
/* Tells the present settings of this method (WAKE_*) from others. */
uint64_t hosts_method_settings(const struct hosts *h, const char *host, unsigned method);
/* A wake succeeded that only this method can have done; with the settings that it has now. */
void hosts_method_proven(struct hosts *h, const char *host, unsigned method, instant_s now);
/* It did not wake the host. */
void hosts_method_failed(struct hosts *h, const char *host, unsigned method, const struct err *why,
                         instant_s now);
/* The host's controllers answered, all of them: failures to reach them or to log in are over. */
void hosts_controllers_answered(struct hosts *h, const char *host);
void hosts_method_proof(const struct hosts *h, const char *host, unsigned method,
                        struct engine_method_proof *ret);

/* ---- wakes ----------------------------------------------------------------------------------- */

/* How long a wake may take before it has failed; boot_s: UNKNOWN. */
instant_s hosts_wake_limit_s(const struct hosts *h, const char *host, double boot_s);
/* A wake of ours brought it back, after that time (UNKNOWN: it was not timed); did not; it sleeps by our own
 * action. */
void hosts_woken(struct hosts *h, const char *host, double boot_s, instant_s now);
void hosts_wake_failed(struct hosts *h, const char *host, instant_s now);
void hosts_put_down(struct hosts *h, const char *host, instant_s now);
/* It is on, and was woken for that; or a person asks for what is so already. */
void hosts_wanted(struct hosts *h, const char *host, enum reason reason, instant_s since);
/* Those in standby, by id; in the arena. s: the newest inventory, or NULL. */
size_t hosts_asleep(const struct hosts *h, const struct snapshot *s, struct arena *a, struct asleep **ret);

#endif
