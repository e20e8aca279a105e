#include "sim/pretend/pretend_internal.h"

#include <errno.h>
#include <string.h>

/* Where the pair is, or where it would have to be inserted. */
static uint32_t find_place(const struct pretend *p, uint32_t host, uint32_t pool, bool *ret_found)
{
    uint32_t i = 0;

    while (i < p->snap.n_settings) {
        const struct host_setting *h = &p->snap.settings[i];

        if (h->host > host || (h->host == host && h->pool >= pool))
            break;
        i++;
    }
    *ret_found =
        i < p->snap.n_settings && p->snap.settings[i].host == host && p->snap.settings[i].pool == pool;
    return i;
}

/* They stay in the order of a snapshot, by host and pool. */
static void set_one(struct pretend *p, uint32_t host, uint32_t pool, const struct pool_setting *s)
{
    struct snapshot *snap = &p->snap;
    bool found;
    uint32_t at = find_place(p, host, pool, &found);

    if (s->nothing && !found)
        return;
    if (s->nothing) {
        memmove(&snap->settings[at], &snap->settings[at + 1],
                (snap->n_settings - at - 1) * sizeof *snap->settings);
        snap->n_settings--;
        return;
    }
    if (!found) {
        snap->settings =
            arena_grow(&p->arena, snap->settings, snap->n_settings, &p->cap_settings, sizeof *snap->settings);
        memmove(&snap->settings[at + 1], &snap->settings[at],
                (snap->n_settings - at) * sizeof *snap->settings);
        snap->n_settings++;
    }
    snap->settings[at] = (struct host_setting){.host = host, .pool = pool};
    memcpy(snap->settings[at].alloc, s->alloc, sizeof s->alloc);
}

int pretend_apply_settings(struct pretend *p, const struct settings_request *request, struct err *err)
{
    uint32_t host = snapshot_find_host(&p->snap, request->host);

    if (host == IX_NONE)
        return err_set(err, -ENOENT, "the host %s does not exist", request->host);
    if (!host_is_up(&p->snap.hosts[host]))
        return err_set(err, -EHOSTDOWN, "the pools of host %s cannot be set: it is in state %s",
                       request->host, host_state_name(p->snap.hosts[host].is.state));
    if (p->refuses_settings[host])
        return err_set(err, -EPERM, "the host %s refuses to set its pools", request->host);
    for (size_t i = 0; i < request->n_settings; i++) {
        const struct pool_setting *s = &request->settings[i];

        if (snapshot_find_pool(&p->snap, s->pool) == IX_NONE)
            return err_set(err, -ENOENT, "the pool %s does not exist", s->pool);
        for (int r = 0; r < RES_COUNT; r++) {
            if (!s->nothing && s->alloc[r].limit < s->alloc[r].reservation)
                return err_set(err, -EINVAL, "the pool %s would be limited below what it reserves on %s",
                               s->pool, request->host);
        }
    }
    for (size_t i = 0; i < request->n_settings; i++)
        set_one(p, host, snapshot_find_pool(&p->snap, request->settings[i].pool), &request->settings[i]);
    p->settings_applied++;
    return 0;
}
