/* snapshot_to_inventory.c: from a snapshot back to an inventory; indices become ids. */
#include "model/snapshot_to_inventory.h"

#include "model/refs.h"

#include <math.h>

static struct ids ids_of(const struct snapshot *s, const struct span *span, const char **ids,
                         const char *(*id)(const struct snapshot *s, uint32_t ix))
{
    for (uint32_t i = 0; i < span->n; i++)
        ids[i] = id(s, span->items[i]);
    return (struct ids){.items = ids, .n = span->n};
}

struct seen_host snapshot_to_inventory_host(const struct snapshot *s, const struct host *h, const char **ids)
{
    return (struct seen_host){.is = h->is, .agents_required = ids_of(s, &h->agents_required, ids, ref_vm_id)};
}

struct seen_vm snapshot_to_inventory_vm(const struct snapshot *s, const struct vm *v, const char **ids)
{
    return (struct seen_vm){
        .is = v->is,
        .host = ref_host_id(s, v->host),
        .pool = ref_pool_id(s, v->pool),
        .source_pool = v->is.overridden ? ref_pool_id(s, v->source_pool) : NULL,
        .ft_peer = ref_vm_id(s, v->ft_peer),
        .left_host = ref_host_id(s, v->left_host),
        .pipeline = v->pipeline == IX_NONE ? NULL : s->pipelines[v->pipeline].name,
        .compatible_given = v->compatible_given,
        .compatible_hosts = ids_of(s, &v->compatible_hosts, ids, ref_host_id),
    };
}

struct seen_pool snapshot_to_inventory_pool(const struct snapshot *s, const struct pool *p)
{
    return (struct seen_pool){.is = p->is, .parent = ref_pool_id(s, p->parent)};
}

struct seen_rule snapshot_to_inventory_rule(const struct snapshot *s, const struct rule *r, const char **ids)
{
    return (struct seen_rule){
        .is = r->is,
        .vms = ids_of(s, &r->vms, ids, ref_vm_id),
        .hosts = ids_of(s, &r->hosts, ids + r->vms.n, ref_host_id),
    };
}

struct seen_migration snapshot_to_inventory_migration(const struct snapshot *s, const struct migration *m)
{
    return (struct seen_migration){ref_vm_id(s, m->vm), ref_host_id(s, m->from), ref_host_id(s, m->to),
                                   m->started};
}

struct seen_pending snapshot_to_inventory_pending(const struct snapshot *s, const struct pending *p)
{
    return (struct seen_pending){p->action,
                                 ref_vm_id(s, p->vm),
                                 ref_host_id(s, p->from),
                                 ref_host_id(s, p->to),
                                 ref_host_id(s, p->host),
                                 p->reason,
                                 p->group,
                                 p->since};
}

struct seen_migration_rate snapshot_to_inventory_migration_rate(const struct snapshot *s,
                                                                const struct migration_rate *m)
{
    return (struct seen_migration_rate){ref_host_id(s, m->from), ref_host_id(s, m->to), m->rate_mb_s};
}

struct seen_setting snapshot_to_inventory_setting(const struct snapshot *s, const struct host_setting *h)
{
    return (struct seen_setting){
        ref_host_id(s, h->host), ref_pool_id(s, h->pool), {h->alloc[RES_CPU], h->alloc[RES_MEM]}};
}

struct seen_avoid snapshot_to_inventory_avoid(const struct snapshot *s, const struct avoid *x)
{
    return (struct seen_avoid){ref_vm_id(s, x->vm),
                               ref_host_id(s, x->host),
                               x->until,
                               x->failures,
                               x->mandatory,
                               x->reason,
                               x->is_rejection ? reason_name(x->rejected) : NULL};
}

struct seen_group snapshot_to_inventory_group(const struct snapshot *s, const struct host_group *g,
                                              const char **ids)
{
    return (struct seen_group){.is = g->is, .hosts = ids_of(s, &g->hosts, ids, ref_host_id)};
}

struct seen_pipeline snapshot_to_inventory_pipeline(const struct snapshot *s, const struct pipeline *p,
                                                    struct arena *a)
{
    struct stage_facts *stages = arena_array(a, struct stage_facts, p->n);

    for (uint32_t i = 0; i < p->n; i++)
        stages[i] = s->stages[p->first + i].is;
    return (struct seen_pipeline){.name = p->name,
                                  .stages = {.items = stages, .n = p->n},
                                  .balance = p->balance,
                                  .of_ovirt = p->of_ovirt,
                                  .origin = p->origin};
}

/* The hosts that a valid answer is about, in the snapshot's order; with scores, those too. */
static void put_hosts(const struct snapshot *s, const struct unit_answer *x, struct arena *a,
                      struct seen_answer *ret)
{
    const char **ids = arena_array(a, const char *, s->n_hosts);
    double *scores = arena_array(a, double, s->n_hosts);
    double *multipliers = arena_array(a, double, s->n_hosts);
    uint32_t n = 0;

    for (uint32_t h = 0; h < s->n_hosts; h++) {
        if (x->scores ? isnan(x->scores[h]) : !(x->kept[h / 64] >> (h % 64) & 1))
            continue;
        if (x->scores)
            scores[n] = x->scores[h];
        if (x->multipliers)
            multipliers[n] = x->multipliers[h];
        ids[n++] = s->hosts[h].is.id;
    }
    ret->hosts = (struct ids){ids, n};
    ret->hosts_given = true;
    ret->scores_given = x->scores != NULL;
    if (x->scores)
        ret->scores = (struct answer_scores){scores, n};
    ret->multipliers_given = x->multipliers != NULL;
    if (x->multipliers)
        ret->multipliers = (struct answer_scores){multipliers, n};
}

struct seen_answer snapshot_to_inventory_answer(const struct snapshot *s, const struct unit_answer *x,
                                                struct arena *a)
{
    struct seen_answer ret = {.unit = x->unit, .at = x->at, .words = x->words, .error = x->error};

    ret.vms = ids_of(s, &x->vms, arena_array(a, const char *, x->vms.n), ref_vm_id);
    if (x->kept || x->scores)
        put_hosts(s, x, a, &ret);
    return ret;
}

struct ids snapshot_to_inventory_failover_hosts(const struct snapshot *s, const char **ids)
{
    return ids_of(s, &s->ha_failover_hosts, ids, ref_host_id);
}

void snapshot_to_inventory(const struct snapshot *s, struct arena *a, struct inventory *ret)
{
    struct inventory inv = {.cluster = s->cluster,
                            .time = s->time,
                            .ha = s->ha,
                            .ha_configured = s->ha_configured,
                            .schedule = s->schedule,
                            .balance = s->balance,
                            .correlation = s->correlation,
                            .conflicts = s->conflicts,
                            .labels_unread = s->labels_unread,
                            .source_faults = s->source_faults,
                            .vm_controls = s->vm_controls,
                            .moves_off_vms = s->moves_off_vms,
                            .policy = s->policy};

    for (uint32_t i = 0; i < s->n_hosts; i++)
        *inventory_add_host(&inv, a) = snapshot_to_inventory_host(
            s, &s->hosts[i], arena_array(a, const char *, s->hosts[i].agents_required.n));
    for (uint32_t i = 0; i < s->n_vms; i++)
        *inventory_add_vm(&inv, a) = snapshot_to_inventory_vm(
            s, &s->vms[i], arena_array(a, const char *, s->vms[i].compatible_hosts.n));
    for (uint32_t i = 0; i < s->n_pools; i++)
        *inventory_add_pool(&inv, a) = snapshot_to_inventory_pool(s, &s->pools[i]);
    for (uint32_t i = 0; i < s->n_rules; i++) {
        const struct rule *r = &s->rules[i];
        *inventory_add_rule(&inv, a) =
            snapshot_to_inventory_rule(s, r, arena_array(a, const char *, (size_t)r->vms.n + r->hosts.n));
    }
    for (uint32_t i = 0; i < s->n_migrations; i++)
        *inventory_add_migration(&inv, a) = snapshot_to_inventory_migration(s, &s->migrations[i]);
    for (uint32_t i = 0; i < s->n_pending; i++)
        *inventory_add_pending(&inv, a) = snapshot_to_inventory_pending(s, &s->pending[i]);
    for (uint32_t i = 0; i < s->n_standing; i++)
        *inventory_add_standing(&inv, a) = snapshot_to_inventory_pending(s, &s->standing[i]);
    for (uint32_t i = 0; i < s->n_migration_rates; i++)
        *inventory_add_migration_rate(&inv, a) =
            snapshot_to_inventory_migration_rate(s, &s->migration_rates[i]);
    for (uint32_t i = 0; i < s->n_settings; i++)
        *inventory_add_setting(&inv, a) = snapshot_to_inventory_setting(s, &s->settings[i]);
    for (uint32_t i = 0; i < s->n_avoid; i++)
        *inventory_add_avoid(&inv, a) = snapshot_to_inventory_avoid(s, &s->avoid[i]);
    for (uint32_t i = 0; i < s->n_groups; i++)
        *inventory_add_group(&inv, a) =
            snapshot_to_inventory_group(s, &s->groups[i], arena_array(a, const char *, s->groups[i].hosts.n));
    for (uint32_t i = 0; i < s->n_pipelines; i++)
        *inventory_add_pipeline(&inv, a) = snapshot_to_inventory_pipeline(s, &s->pipelines[i], a);
    for (uint32_t i = 0; i < s->n_answers; i++)
        *inventory_add_answer(&inv, a) = snapshot_to_inventory_answer(s, &s->answers[i], a);
    for (uint32_t i = 0; i < s->n_forecast; i++)
        *inventory_add_expected(&inv, a) = s->forecast[i];
    for (uint32_t i = 0; i < s->n_quiet; i++)
        *inventory_add_quiet(&inv, a) = s->quiet[i];
    inv.ha_failover_hosts =
        snapshot_to_inventory_failover_hosts(s, arena_array(a, const char *, s->ha_failover_hosts.n));
    *ret = inv;
}
