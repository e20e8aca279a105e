/* snapshot_dump.c: a snapshot as JSON. Indices become ids again; the tables of snapshot_fields.c give the
 * fields. */
#include "model/policy_json.h"
#include "model/snapshot_fields.h"
#include "model/snapshot_json.h"
#include "model/snapshot_to_inventory.h"

#include "schema/writer.h"

struct dump {
    const struct snapshot *s;
    struct json_writer w;
    struct arena scratch; /* an object's ids; reset before the next object */
    const char **ids;     /* has room for the ids of all hosts or all VMs */
};

static void dump_hosts(struct dump *d)
{
    jw_begin(&d->w, "hosts", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_hosts; i++) {
        struct seen_host seen = snapshot_to_inventory_host(d->s, &d->s->hosts[i], d->ids);
        writer_object(&d->w, NULL, &snapshot_fields_host, &seen);
    }
    jw_end(&d->w);
}

static void dump_vms(struct dump *d)
{
    jw_begin(&d->w, "vms", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_vms; i++) {
        struct seen_vm seen = snapshot_to_inventory_vm(d->s, &d->s->vms[i], d->ids);
        writer_object(&d->w, NULL, &snapshot_fields_vm, &seen);
    }
    jw_end(&d->w);
}

static void dump_pools(struct dump *d)
{
    jw_begin(&d->w, "pools", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_pools; i++) {
        struct seen_pool seen = snapshot_to_inventory_pool(d->s, &d->s->pools[i]);
        writer_object(&d->w, NULL, &snapshot_fields_pool, &seen);
    }
    jw_end(&d->w);
}

static void dump_rules(struct dump *d)
{
    jw_begin(&d->w, "rules", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_rules; i++) {
        struct seen_rule seen = snapshot_to_inventory_rule(d->s, &d->s->rules[i], d->ids);
        writer_object(&d->w, NULL, &snapshot_fields_rule, &seen);
    }
    jw_end(&d->w);
}

static void dump_actions(struct dump *d)
{
    const struct snapshot *s = d->s;

    jw_begin(&d->w, "migrations", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_migrations; i++) {
        struct seen_migration seen = snapshot_to_inventory_migration(s, &s->migrations[i]);
        writer_object(&d->w, NULL, &snapshot_fields_migration, &seen);
    }
    jw_end(&d->w);
    jw_begin(&d->w, "pending", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_pending; i++) {
        struct seen_pending seen = snapshot_to_inventory_pending(s, &s->pending[i]);
        writer_object(&d->w, NULL, &snapshot_fields_pending, &seen);
    }
    jw_end(&d->w);
}

/* Optional: written if there are any. */
static void dump_standing(struct dump *d)
{
    const struct snapshot *s = d->s;

    if (s->n_standing == 0)
        return;
    jw_begin(&d->w, "standing", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_standing; i++) {
        struct seen_pending seen = snapshot_to_inventory_pending(s, &s->standing[i]);
        writer_object(&d->w, NULL, &snapshot_fields_standing, &seen);
    }
    jw_end(&d->w);
}

static void dump_migration_rates(struct dump *d)
{
    const struct snapshot *s = d->s;

    if (s->n_migration_rates == 0)
        return;
    jw_begin(&d->w, "migration_rates", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_migration_rates; i++) {
        struct seen_migration_rate seen = snapshot_to_inventory_migration_rate(s, &s->migration_rates[i]);
        writer_object(&d->w, NULL, &snapshot_fields_migration_rate, &seen);
    }
    jw_end(&d->w);
}

static void dump_settings(struct dump *d)
{
    const struct snapshot *s = d->s;

    if (s->n_settings == 0)
        return;
    jw_begin(&d->w, "settings", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_settings; i++) {
        struct seen_setting seen = snapshot_to_inventory_setting(s, &s->settings[i]);
        writer_object(&d->w, NULL, &snapshot_fields_setting, &seen);
    }
    jw_end(&d->w);
}

static void dump_avoid(struct dump *d)
{
    const struct snapshot *s = d->s;

    if (s->n_avoid == 0)
        return;
    jw_begin(&d->w, "avoid", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_avoid; i++) {
        struct seen_avoid seen = snapshot_to_inventory_avoid(s, &s->avoid[i]);
        writer_object(&d->w, NULL, &snapshot_fields_avoid, &seen);
    }
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
    if (s->source_faults.n > 0) {
        jw_begin(&d->w, "source_faults", JW_ARRAY, JW_INLINE);
        for (uint32_t i = 0; i < s->source_faults.n; i++)
            jw_text(&d->w, NULL, s->source_faults.items[i]);
        jw_end(&d->w);
    }
    if (s->vm_controls)
        jw_bool(&d->w, "vm_controls", true);
}

static void dump_placement(struct dump *d)
{
    const struct snapshot *s = d->s;

    if (s->n_groups > 0)
        jw_begin(&d->w, "groups", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_groups; i++) {
        struct seen_group seen = snapshot_to_inventory_group(s, &s->groups[i], d->ids);
        writer_object(&d->w, NULL, &snapshot_fields_group, &seen);
    }
    if (s->n_groups > 0)
        jw_end(&d->w);
    if (s->n_pipelines > 0)
        jw_begin(&d->w, "pipelines", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_pipelines; i++) {
        struct seen_pipeline seen = snapshot_to_inventory_pipeline(s, &s->pipelines[i], &d->scratch);
        writer_object(&d->w, NULL, &snapshot_fields_pipeline, &seen);
    }
    if (s->n_pipelines > 0)
        jw_end(&d->w);
}

static void dump_answers(struct dump *d)
{
    const struct snapshot *s = d->s;

    if (s->n_answers == 0)
        return;
    jw_begin(&d->w, "answers", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_answers; i++) {
        struct seen_answer seen = snapshot_to_inventory_answer(s, &s->answers[i], &d->scratch);
        writer_object(&d->w, NULL, &snapshot_fields_answer, &seen);
    }
    jw_end(&d->w);
}

static void dump_forecast(struct dump *d)
{
    if (d->s->n_forecast == 0)
        return;
    jw_begin(&d->w, "forecast", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_forecast; i++)
        writer_object(&d->w, NULL, &snapshot_fields_expected, &d->s->forecast[i]);
    jw_end(&d->w);
}

static void dump_quiet(struct dump *d)
{
    if (d->s->n_quiet == 0)
        return;
    jw_begin(&d->w, "quiet", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_quiet; i++)
        writer_object(&d->w, NULL, &snapshot_fields_quiet, &d->s->quiet[i]);
    jw_end(&d->w);
}

void snapshot_dump(const struct snapshot *s, struct strbuf *out)
{
    struct dump d = {.s = s};

    d.ids = arena_array(&d.scratch, const char *, (size_t)s->n_hosts + s->n_vms);
    jw_init(&d.w, out);
    jw_begin(&d.w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&d.w, "format", SNAPSHOT_FORMAT);
    jw_text(&d.w, "cluster", s->cluster);
    writer_instant(&d.w, "time", s->time);
    if (s->policy)
        policy_json_put(&d.w, "policy", s->policy);
    dump_hosts(&d);
    dump_vms(&d);
    dump_pools(&d);
    dump_rules(&d);
    dump_actions(&d);
    dump_standing(&d);
    dump_migration_rates(&d);
    dump_settings(&d);
    dump_avoid(&d);
    dump_placement(&d);
    dump_answers(&d);
    dump_forecast(&d);
    dump_quiet(&d);
    dump_cluster(&d);
    jw_end(&d.w);
    arena_release(&d.scratch);
}
