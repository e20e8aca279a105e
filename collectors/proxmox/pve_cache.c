/* pve_cache.c: keeps answers by path. It asks for none. */
#include "collectors/proxmox/pve_cache.h"

#include "base/xalloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void dispose(void *value)
{
    struct pve_kept *k = value;

    json_decref(k->data);
    free(k);
}

void pve_cache_release(struct pve_cache *c)
{
    idmap_release(&c->by_path, dispose);
    *c = (struct pve_cache){0};
}

struct pve_kept *pve_cache_slot(struct pve_cache *c, const char *path)
{
    struct pve_kept *k = idmap_make(&c->by_path, path, sizeof(struct pve_kept));

    k->seen = true;
    return k;
}

const json_t *pve_cache_get(const struct pve_cache *c, const char *path, int64_t now_ms, int64_t oldest_ms)
{
    const struct pve_kept *k = idmap_get(&c->by_path, path);

    return k && k->at_ms > 0 && now_ms - k->at_ms <= oldest_ms ? k->data : NULL;
}

void pve_cache_put(struct pve_kept *k, json_t *data, int64_t now_ms)
{
    json_decref(k->data);
    k->data = data;
    k->at_ms = k->tried_ms = now_ms;
    k->refused = 0;
    k->fails = 0;
    k->why[0] = '\0';
    k->changed = false;
}

void pve_cache_fail(struct pve_kept *k, const struct err *why, int64_t now_ms)
{
    k->tried_ms = now_ms;
    k->refused = why->code;
    k->fails++;
    (void)snprintf(k->why, sizeof k->why, "%s", why->text);
    if (why->code != -EPERM && why->code != -EOPNOTSUPP)
        return;
    json_decref(k->data);
    k->data = NULL;
    k->at_ms = 0;
}

static bool keep(const char *path, void *value, void *ctx)
{
    struct pve_kept *k = value;
    bool seen = k->seen;

    (void)path, (void)ctx;
    k->seen = false;
    if (!seen)
        dispose(k);
    return seen;
}

void pve_cache_sweep(struct pve_cache *c)
{
    idmap_keep(&c->by_path, keep, NULL);
}
