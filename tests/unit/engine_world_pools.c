/* engine_world_pools.c: pools and their settings on the hosts; a rule. */
#include "engine_world.h"

static const char *const w_pool_ids[WORLD_POOLS] = {"p0", "p1"};

static int w_pool(const char *id)
{
    return id[1] - '0';
}

void w_fill_rule(struct inventory *inv, struct arena *a)
{
    const char **ids = arena_array(a, const char *, 2);
    uint32_t n = 0;

    for (int i = 0; i < 2; i++) {
        if (W->vms[i].host >= 0)
            ids[n++] = W->vms[i].id;
    }
    struct seen_rule *rule = inventory_add_rule(inv, a);

    rule_facts_default(&rule->is, RULE_VM_ANTI_AFFINE);
    rule->is.id = rule->is.name = "apart";
    rule->vms = (struct ids){.items = ids, .n = n};
}

void w_fill_migration(struct seen_vm *v, bool off)
{
    v->is.identity = W->vm_identity;
    if (W->dirty_mb_s > 0)
        v->is.dirty_mb_s = W->dirty_mb_s;
    v->if_all_sleep = off;
    v->unthrottled = W->unthrottled;
    v->copy_most_mb_s = W->copy_most_mb_s;
}

void w_fill_pools(struct inventory *inv, struct arena *a)
{
    for (int p = 0; p < W->n_pools; p++) {
        struct seen_pool *seen = inventory_add_pool(inv, a);

        seen->is.id = seen->is.name = w_pool_ids[p];
        seen->parent = p > 0 ? w_pool_ids[p - 1] : NULL;
    }
    if (W->pool_limit > 0) {
        struct seen_pool *seen = inventory_add_pool(inv, a);

        seen->is.id = seen->is.name = w_pool_ids[0];
        seen->is.alloc[RES_CPU].limit = W->pool_limit;
        for (size_t i = 0; i < inv->n_vms; i++)
            inv->vms[i].pool = w_pool_ids[0];
    }
    inv->settings_seen = W->settings_seen;
    for (int h = 0; W->settings_seen && h < W->n_hosts; h++) {
        for (int p = 0; p < W->n_pools; p++) {
            char id[16];

            if (W->has[h][p] == WORLD_NOTHING)
                continue;
            struct seen_setting *seen = inventory_add_setting(inv, a);

            w_host_id(h, id);
            seen->host = arena_strdup(a, id);
            seen->pool = w_pool_ids[p];
            seen->alloc[RES_CPU].reservation = W->has[h][p];
            seen->alloc[RES_CPU].shares = 1;
        }
    }
}

static double w_known(const struct snapshot *s, uint32_t host, uint32_t pool)
{
    for (uint32_t i = 0; i < s->n_settings; i++) {
        if (s->settings[i].host == host && s->settings[i].pool == pool)
            return s->settings[i].alloc[RES_CPU].reservation;
    }
    return WORLD_NOTHING;
}

/* Whatever the snapshot does not say is set. */
void w_plan_pools(const struct snapshot *s, struct arena *a, struct plan *ret)
{
    ret->settings = arena_array(a, struct host_setting, WORLD_PARTS);
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        for (uint32_t p = 0; p < s->n_pools; p++) {
            double wanted = W->wanted[s->hosts[h].is.id[1] - '0'][p];

            if (wanted == w_known(s, h, p))
                continue;
            struct host_setting *to = &ret->settings[ret->n_settings++];

            *to = (struct host_setting){.host = h, .pool = p};
            to->alloc[RES_CPU].limit = to->alloc[RES_MEM].limit = NO_LIMIT;
            to->alloc[RES_CPU].reservation = wanted == WORLD_NOTHING ? 0 : wanted;
            to->alloc[RES_CPU].shares = wanted == WORLD_NOTHING ? 0 : 1;
        }
    }
}

int w_submit_settings(const struct job *o)
{
    struct pool_setting *list = arena_array(&W->memory, struct pool_setting, o->pools.n_settings);

    assert_true(W->n_settings_jobs < WORLD_HOSTS);
    if (!w_alive())
        return 0;
    for (size_t i = 0; i < o->pools.n_settings; i++) {
        list[i] = o->pools.settings[i];
        list[i].pool = arena_strdup(&W->memory, list[i].pool);
        assert_true(i == 0 || w_pool(list[i].pool) > w_pool(list[i - 1].pool)); /* parents first */
    }
    W->settings_jobs[W->n_settings_jobs++] =
        (struct job){.kind = JOB_SET_POOLS,
                     .id = o->id,
                     .pools = {arena_strdup(&W->memory, o->pools.host), list, o->pools.n_settings}};
    return 0;
}

int w_carry_out_settings(const struct job *o, struct err *err)
{
    int host = o->pools.host[1] - '0';

    W->settings_calls[host]++;
    if (W->settings_code != 0)
        return err_set(err, W->settings_code, "%s: its pools cannot be set", o->pools.host);
    for (size_t i = 0; i < o->pools.n_settings; i++) {
        const struct pool_setting *s = &o->pools.settings[i];

        W->has[host][w_pool(s->pool)] = s->nothing ? WORLD_NOTHING : s->alloc[RES_CPU].reservation;
    }
    return 0;
}

/* ---- the store ------------------------------------------------------------------------------- */

static int w_find_part(const char *host, const char *pool)
{
    int i = 0;

    while (i < W->n_parts && (strcmp(W->parts[i].host, host) != 0 || strcmp(W->parts[i].pool, pool) != 0))
        i++;
    return i;
}

void w_put_setting(const struct setting_record *r)
{
    int i = w_find_part(r->host, r->pool);

    assert_true(i < WORLD_PARTS);
    /* only what was set is stored */
    assert_true(W->has[r->host[1] - '0'][w_pool(r->pool)] == r->alloc[RES_CPU].reservation);
    W->n_parts += i == W->n_parts;
    W->parts[i] = *r;
    W->parts[i].host = arena_strdup(&W->memory, r->host);
    W->parts[i].pool = arena_strdup(&W->memory, r->pool);
}

void w_forget_setting(const char *host, const char *pool)
{
    int i = w_find_part(host, pool);

    if (i < W->n_parts)
        W->parts[i] = W->parts[--W->n_parts];
}
