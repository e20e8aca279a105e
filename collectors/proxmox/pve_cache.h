/* pve_cache.h: the last answer to each request, with its age: what a cluster says seldom changes, so most of
 * it is asked for in rotation, and used until it is asked for again. */
#ifndef BALLAST_COLLECTORS_PROXMOX_PVE_CACHE_H
#define BALLAST_COLLECTORS_PROXMOX_PVE_CACHE_H

#include "base/idmap.h"

#include <ballast/err.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct pve_kept {
    json_t *data;     /* NULL: there was no answer, or a refusal */
    int64_t at_ms;    /* when the look began that it was answered in; 0: never */
    int64_t tried_ms; /* when the last look began that asked for it; 0: never */
    int refused;      /* the error of the last request; 0: none */
    unsigned fails;   /* requests in a row that failed */
    char why[ERR_TEXT_MAX];
    bool changed; /* what it describes has changed since */
    bool seen;    /* wanted in this look */
};

/* Answers by path; zeroed it is empty. */
struct pve_cache {
    struct idmap by_path;
};

void pve_cache_release(struct pve_cache *c);

/* The entry of a path, made if there is none. Valid until pve_cache_sweep(). */
struct pve_kept *pve_cache_slot(struct pve_cache *c, const char *path);

/* The answer, unless it is older than that; NULL: there is none. */
const json_t *pve_cache_get(const struct pve_cache *c, const char *path, int64_t now_ms, int64_t oldest_ms);

/* Takes over the answer: *data is the cache's. */
void pve_cache_put(struct pve_kept *k, json_t *data, int64_t now_ms);

/* Notes a failure. The last answer stays, unless it is one that says that there is nothing to read. */
void pve_cache_fail(struct pve_kept *k, const struct err *why, int64_t now_ms);

/* Drops what was not seen since the last sweep: guests and nodes that are gone. */
void pve_cache_sweep(struct pve_cache *c);

#endif
