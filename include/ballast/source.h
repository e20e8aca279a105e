/* source.h: the configuration of a source (`source:`). */
#ifndef BALLAST_SOURCE_H
#define BALLAST_SOURCE_H

#include <ballast/arena.h>
#include <ballast/field.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A kind of source, for the configuration. Each plug-in declares its own in its keys.c: the keys below
 * `source:`, beside kind and timeout_s. A FIELD_REQUIRED key must be given where this kind is chosen; a key
 * that only other kinds have gets a warning. */
struct source_kind {
    const char *kind;       /* the word after `source: kind:` */
    struct schema keys;     /* those of all sources that it uses; offsets in struct source_config */
    struct schema settings; /* its own; offsets in a struct of the plug-in ... */
    size_t settings_size;   /* ... of this size; 0: it has none */
    /* A mistake of several settings together, a phrase that goes on after *ret_key, the key below `source:`;
     * NULL: there is none. NULL: nothing to check. */
    const char *(*check)(const void *settings, struct arena *a, const char **ret_key);
};

struct peer_identities;

struct source_config {
    const char *kind;
    const char *url;
    const char *username;
    const char *password_file;
    const char *password; /* read from password_file; never logged, never part of an error */
    const char *ca_file;  /* NULL: the system's */
    bool tls_verify;
    const char *cluster;     /* the cluster's name at the source */
    const void *settings;    /* the struct of the kind's own keys; NULL: it has none */
    uint64_t seed;           /* of what is drawn at random, where a source makes things up */
    uint32_t timeout_s;      /* for one collect() or one call of an actuator */
    const atomic_bool *stop; /* the service is going down: return early. NULL: never */
    /* A collector that hears of changes (a VM was started, a host is gone) says with it that an inventory
     * would differ from the last. To be called from any thread, until destroy() returns, for each event: it
     * does not block, and the service decides how soon it looks again. NULL: changes need not be told. */
    void (*changed)(void *changed_ctx);
    void *changed_ctx;
    struct peer_identities *identities; /* (base/peer_identities.h) that peers are compared with. NULL: they
                                           are not */
    void *shared; /* what the plug-in's open() made (plugin.h); not owned. NULL: nothing */
};

/* A key of source_kind.keys, with what else its struct field has; and those that many kinds have. */
#define SOURCE_KEY(key, of_type, ...) FIELD_OF(struct source_config, key, of_type, __VA_ARGS__)
#define SOURCE_URL(schemes)                                                                                  \
    SOURCE_KEY(url, FIELD_URL, .words = (schemes), .flags = FIELD_REQUIRED, .meaning = "the URL of the API")
#define SOURCE_PASSWORD_FILE(more)                                                                           \
    SOURCE_KEY(                                                                                              \
        password_file, FIELD_SECRET, .secret = offsetof(struct source_config, password), .flags = (more),    \
        .meaning = "a file with the password on its only line; only the service should be able to read it")
#define SOURCE_CA_FILE                                                                                       \
    SOURCE_KEY(ca_file, FIELD_PATH, .flags = FIELD_READABLE,                                                 \
               .meaning = "PEM certificates of the authorities to trust; default: the system's")
#define SOURCE_CLUSTER(text) SOURCE_KEY(cluster, FIELD_TEXT, .meaning = (text))

#endif
