/* snapshot_dump.c: a snapshot as JSON. Indices become ids again; the tables of snapshot_fields.c give the
 * fields. */
#include "model/snapshot_fields.h"
#include "model/snapshot_json.h"
#include "model/snapshot_to_inventory.h"

#include "schema/writer.h"

#include <ballast/policy.h>

#include <stddef.h>

struct dump {
    const struct snapshot *s;
    struct json_writer w;
    struct arena scratch; /* ids, and what objects are made of */
    const char **ids;     /* has room for the ids of all hosts or all VMs */
};

/* One object of a list: as an inventory has it, by its table. */
#define DUMP_ONE(name, made)                                                                                 \
    static void dump_##name(struct dump *d, uint32_t i)                                                      \
    {                                                                                                        \
        const struct snapshot *s = d->s;                                                                     \
        const struct seen_##name seen = snapshot_to_inventory_##name made;                                   \
                                                                                                             \
        writer_object(&d->w, NULL, &snapshot_fields_##name, &seen);                                          \
    }

DUMP_ONE(host, (s, &s->hosts[i], d->ids))
DUMP_ONE(vm, (s, &s->vms[i], d->ids))
DUMP_ONE(pool, (s, &s->pools[i]))
DUMP_ONE(rule, (s, &s->rules[i], d->ids))
DUMP_ONE(migration, (s, &s->migrations[i]))
DUMP_ONE(pending, (s, &s->pending[i]))
DUMP_ONE(migration_rate, (s, &s->migration_rates[i]))
DUMP_ONE(setting, (s, &s->settings[i]))
DUMP_ONE(avoid, (s, &s->avoid[i]))
DUMP_ONE(group, (s, &s->groups[i], d->ids))
DUMP_ONE(pipeline, (s, &s->pipelines[i], &d->scratch))
DUMP_ONE(answer, (s, &s->answers[i], &d->scratch))

static void dump_standing(struct dump *d, uint32_t i)
{
    const struct seen_pending seen = snapshot_to_inventory_pending(d->s, &d->s->standing[i]);

    writer_object(&d->w, NULL, &snapshot_fields_standing, &seen);
}

static void dump_expected(struct dump *d, uint32_t i)
{
    writer_object(&d->w, NULL, &snapshot_fields_expected, &d->s->forecast[i]);
}

static void dump_quiet(struct dump *d, uint32_t i)
{
    writer_object(&d->w, NULL, &snapshot_fields_quiet, &d->s->quiet[i]);
}

/* In the order in which they are written. */
static const struct list {
    const char *key;
    size_t n; /* offset of the number of objects */
    void (*dump)(struct dump *d, uint32_t i);
    bool optional; /* written if there are any */
} lists[] = {
    {"hosts", offsetof(struct snapshot, n_hosts), dump_host, false},
    {"vms", offsetof(struct snapshot, n_vms), dump_vm, false},
    {"pools", offsetof(struct snapshot, n_pools), dump_pool, false},
    {"rules", offsetof(struct snapshot, n_rules), dump_rule, false},
    {"migrations", offsetof(struct snapshot, n_migrations), dump_migration, false},
    {"pending", offsetof(struct snapshot, n_pending), dump_pending, false},
    {"standing", offsetof(struct snapshot, n_standing), dump_standing, true},
    {"migration_rates", offsetof(struct snapshot, n_migration_rates), dump_migration_rate, true},
    {"settings", offsetof(struct snapshot, n_settings), dump_setting, true},
    {"avoid", offsetof(struct snapshot, n_avoid), dump_avoid, true},
    {"groups", offsetof(struct snapshot, n_groups), dump_group, true},
    {"pipelines", offsetof(struct snapshot, n_pipelines), dump_pipeline, true},
    {"answers", offsetof(struct snapshot, n_answers), dump_answer, true},
    {"forecast", offsetof(struct snapshot, n_forecast), dump_expected, true},
    {"quiet", offsetof(struct snapshot, n_quiet), dump_quiet, true},
};

static void dump_list(struct dump *d, const struct list *list)
{
    const uint32_t n = *(const uint32_t *)((const char *)d->s + list->n);

    if (n == 0 && list->optional)
        return;
    jw_begin(&d->w, list->key, JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < n; i++)
        list->dump(d, i);
    jw_end(&d->w);
}

static bool any_correlation(const struct correlation *c)
{
    for (int w = 0; w < WINDOW_COUNT; w++)
        for (int r = 0; r < RES_COUNT; r++)
            if (c->of[w][r] > 0)
                return true;
    return false;
}

/* The cluster's own fields; all but `ha` are optional. */
static void dump_cluster(struct dump *d)
{
    const struct snapshot *s = d->s;
    const struct inventory top = {.ha = s->ha,
                                  .ha_failover_hosts = snapshot_to_inventory_failover_hosts(s, d->ids),
                                  .ha_configured = s->ha_configured,
                                  .schedule = s->schedule,
                                  .balance = s->balance,
                                  .correlation = s->correlation,
                                  .conflicts = s->conflicts};

    writer_object(&d->w, "ha", &snapshot_fields_ha, &top);
    if (s->balance.given)
        writer_object(&d->w, "balance", &snapshot_fields_balance, &top);
    if (s->schedule.given)
        writer_object(&d->w, "schedule", &snapshot_fields_schedule, &top);
    if (any_correlation(&s->correlation))
        writer_object(&d->w, "correlation", &snapshot_fields_correlation, &top);
    if (s->conflicts.balancer || s->conflicts.power)
        writer_object(&d->w, "conflicts", &snapshot_fields_conflicts, &top);
    if (s->labels_unread)
        jw_text(&d->w, "labels_unread", s->labels_unread);
    if (s->source_faults.n > 0)
        jw_texts(&d->w, "source_faults", s->source_faults.items, s->source_faults.n, JW_INLINE);
    if (s->vm_controls)
        jw_bool(&d->w, "vm_controls", true);
    if (s->moves_off_vms)
        jw_bool(&d->w, "moves_off_vms", true);
}

void snapshot_dump(const struct snapshot *s, struct strbuf *out)
{
    struct dump d = {.s = s, .w = {.out = out}};

    d.ids = arena_array(&d.scratch, const char *, (size_t)s->n_hosts + s->n_vms);
    jw_begin(&d.w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&d.w, "format", SNAPSHOT_FORMAT);
    jw_text(&d.w, "cluster", s->cluster);
    writer_instant(&d.w, "time", s->time);
    if (s->policy)
        writer_lines(&d.w, "policy", &policy_settings, s->policy);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        dump_list(&d, &lists[i]);
    dump_cluster(&d);
    jw_end(&d.w);
    arena_release(&d.scratch);
}
