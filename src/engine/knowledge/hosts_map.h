/* hosts_map.h: the map of all hosts, for hosts.c and wake_proofs.c only. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_HOSTS_MAP_H
#define BALLAST_ENGINE_KNOWLEDGE_HOSTS_MAP_H

#include "engine/knowledge/hosts.h"

struct hosts {
    struct known_map map; /* host id -> struct known_host */
    struct idmap ways; /* host id -> const struct host_power_method: of the hosts of the newest inventory */
    const struct engine_settings *settings;
};

struct known_host *hosts_known(struct hosts *h, const char *host); /* made where there is none */

/* ---- wake_proofs.c --------------------------------------------------------------------------- */

/* Of a record of an older version (WOKE_BY_OLDER). False: it is not known which method woke the host. */
bool wake_proofs_take_older(struct hosts *h, struct known_host *k, const char *host);
/* Publishes how many such hosts there are; names: the first ones. */
void wake_proofs_tell_older(const struct knowledge_context *c, size_t n, const char *names, instant_s now);
/* A method that did not wake the host is a fault until it does, or has other settings. */
void wake_proofs_fill_fault(const struct hosts *h, struct host_facts *f, struct arena *a);

#endif
