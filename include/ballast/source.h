/* source.h: how to reach a cluster, as the configuration says it (`source:`). */
#ifndef BALLAST_SOURCE_H
#define BALLAST_SOURCE_H

#include <ballast/field.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A kind of source, as the configuration knows it. Each plug-in declares its own in its keys.c; offsets are
 * in struct source_config. What is FIELD_REQUIRED must be given where this kind is chosen; a key that only
 * other kinds have is warned about. */
struct source_kind {
    const char *kind;   /* the word after `source: kind:` */
    struct schema keys; /* below `source:`, beside kind and timeout_s */
};

struct source_config {
    const char *kind;
    const char *url;
    const char *username;
    const char *password_file;
    const char *password; /* read from password_file; never logged, never part of an error */
    const char *ca_file;  /* NULL: the system's */
    bool tls_verify;
    const char *cluster; /* the cluster's name at the source */
    const char *file; /* kinds file, sim: the snapshot to read or to begin with; sim: NULL: a built-in one */
    const char *folder; /* kind sim: where the cluster outlives the service; NULL: nowhere */
    uint32_t speed;     /* kind sim: how many times faster than real */
    uint64_t seed;      /* kind sim: of how demand wavers */
    const char *stats;  /* kind vsphere: "auto", "counters" or "quick", see collectors/vsphere; NULL: auto */
    uint32_t timeout_s; /* for one collect() or one call of an actuator */
    const atomic_bool *stop; /* the service is going down: return early. NULL: never */
    void *shared;            /* what the plug-in's open() made (plugin.h); not owned. NULL: nothing */
};

#endif
