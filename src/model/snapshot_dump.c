#include "model/json_writer.h"
#include "model/schema.h"
#include "model/snapshot_json.h"
#include "model/thaw.h"

#include "base/rfc3339.h"

#include <string.h>

/* A snapshot is written as what was seen: indices become ids again, and the tables of schema.c do the rest.
 */
struct dump {
    const struct snapshot *s;
    struct json_writer w;
    struct arena scratch; /* of ids; one object's are gone before the next one's come */
    const char **ids;     /* room for as many as there are hosts or VMs */
};

static void write_instant(struct json_writer *w, const char *key, instant_s t)
{
    char text[RFC3339_MAX];

    jw_text(w, key, rfc3339_format(t, text));
}

static void write_ids(struct json_writer *w, const char *key, const struct ids *ids)
{
    jw_begin(w, key, JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < ids->n; i++)
        jw_text(w, NULL, ids->items[i]);
    jw_end(w);
}

static void write_labels(struct json_writer *w, const char *key, const struct labels *l)
{
    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    for (uint32_t i = 0; i < l->n; i++)
        jw_text(w, l->items[i].key, l->items[i].value);
    jw_end(w);
}

static void write_wake(struct json_writer *w, const char *key, unsigned methods)
{
    jw_begin(w, key, JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n_wake_words; i++) {
        if (methods & wake_words[i].bit)
            jw_text(w, NULL, wake_words[i].word);
    }
    jw_end(w);
}

static void write_curve(struct json_writer *w, const char *key, const struct power_curve *c)
{
    jw_begin(w, key, JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < c->n; i++)
        jw_exact(w, NULL, c->watts[i]);
    jw_end(w);
}

static bool is_whole(const struct schema *schema, const void *from);

static bool is_known(const struct field *f, const void *from)
{
    const void *p = (const char *)from + f->offset;

    switch (f->type) {
    case FIELD_TEXT:
        return *(const char *const *)p != NULL;
    case FIELD_NUMBER:
        return !isnan(*(const double *)p);
    case FIELD_COUNT:
        return *(const uint32_t *)p != 0;
    case FIELD_BOOL:
        return *(const bool *)p;
    case FIELD_INSTANT:
        return *(const instant_s *)p != 0;
    case FIELD_IDS:
        return f->given ? *(const bool *)((const char *)from + f->given) : ((const struct ids *)p)->n > 0;
    case FIELD_LABELS:
        return ((const struct labels *)p)->n > 0;
    case FIELD_WAKE:
        return *(const unsigned *)p != 0;
    case FIELD_CURVE:
        return ((const struct power_curve *)p)->n > 0;
    case FIELD_OBJECT:
        return is_whole(f->inner, from);
    case FIELD_LIMIT:
    case FIELD_WORD:
        return true;
    case FIELD_SKIPPED:
        break;
    }
    return false;
}

static bool is_whole(const struct schema *schema, const void *from)
{
    for (size_t i = 0; i < schema->n; i++)
        if (schema->fields[i].flags & FIELD_REQUIRED && !is_known(&schema->fields[i], from))
            return false;
    return true;
}

static void write_fields(struct json_writer *w, const struct schema *schema, const void *from);

static void write_field(struct json_writer *w, const struct field *f, const void *from)
{
    const void *p = (const char *)from + f->offset;

    switch (f->type) {
    case FIELD_TEXT:
        jw_text(w, f->name, *(const char *const *)p);
        break;
    case FIELD_NUMBER:
    case FIELD_LIMIT: /* NO_LIMIT is not finite: null */
        jw_exact(w, f->name, *(const double *)p);
        break;
    case FIELD_COUNT:
        jw_int(w, f->name, *(const uint32_t *)p);
        break;
    case FIELD_BOOL:
        jw_bool(w, f->name, *(const bool *)p);
        break;
    case FIELD_INSTANT:
        write_instant(w, f->name, *(const instant_s *)p);
        break;
    case FIELD_WORD:
        jw_text(w, f->name, f->words->name(*(const int *)p));
        break;
    case FIELD_IDS:
        write_ids(w, f->name, p);
        break;
    case FIELD_LABELS:
        write_labels(w, f->name, p);
        break;
    case FIELD_WAKE:
        write_wake(w, f->name, *(const unsigned *)p);
        break;
    case FIELD_CURVE:
        write_curve(w, f->name, p);
        break;
    case FIELD_OBJECT:
        jw_begin(w, f->name, JW_OBJECT, JW_INLINE);
        write_fields(w, f->inner, from);
        jw_end(w);
        break;
    case FIELD_SKIPPED:
        break;
    }
}

static void write_fields(struct json_writer *w, const struct schema *schema, const void *from)
{
    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        if (f->type != FIELD_SKIPPED && (!(f->flags & FIELD_OPTIONAL) || is_known(f, from)))
            write_field(w, f, from);
    }
}

static void write_object(struct json_writer *w, const struct schema *schema, const void *from)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    write_fields(w, schema, from);
    jw_end(w);
}

static void dump_hosts(struct dump *d)
{
    jw_begin(&d->w, "hosts", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_hosts; i++) {
        struct seen_host seen = thaw_host(d->s, &d->s->hosts[i], d->ids);
        write_object(&d->w, &schema_host, &seen);
    }
    jw_end(&d->w);
}

static void dump_vms(struct dump *d)
{
    jw_begin(&d->w, "vms", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_vms; i++) {
        struct seen_vm seen = thaw_vm(d->s, &d->s->vms[i], d->ids);
        write_object(&d->w, &schema_vm, &seen);
    }
    jw_end(&d->w);
}

static void dump_pools(struct dump *d)
{
    jw_begin(&d->w, "pools", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_pools; i++) {
        struct seen_pool seen = thaw_pool(d->s, &d->s->pools[i]);
        write_object(&d->w, &schema_pool, &seen);
    }
    jw_end(&d->w);
}

static void dump_rules(struct dump *d)
{
    jw_begin(&d->w, "rules", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_rules; i++) {
        struct seen_rule seen = thaw_rule(d->s, &d->s->rules[i], d->ids);
        write_object(&d->w, &schema_rule, &seen);
    }
    jw_end(&d->w);
}

static void dump_actions(struct dump *d)
{
    const struct snapshot *s = d->s;

    jw_begin(&d->w, "migrations", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_migrations; i++) {
        struct seen_migration seen = thaw_migration(s, &s->migrations[i]);
        write_object(&d->w, &schema_migration, &seen);
    }
    jw_end(&d->w);
    jw_begin(&d->w, "pending", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_pending; i++) {
        struct seen_pending seen = thaw_pending(s, &s->pending[i]);
        write_object(&d->w, &schema_pending, &seen);
    }
    jw_end(&d->w);
}

/* Optional: written where there are any. */
static void dump_migration_rates(struct dump *d)
{
    const struct snapshot *s = d->s;

    if (s->n_migration_rates == 0)
        return;
    jw_begin(&d->w, "migration_rates", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_migration_rates; i++) {
        struct seen_migration_rate seen = thaw_migration_rate(s, &s->migration_rates[i]);
        write_object(&d->w, &schema_migration_rate, &seen);
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
        struct seen_setting seen = thaw_setting(s, &s->settings[i]);
        write_object(&d->w, &schema_setting, &seen);
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

static void dump_one(struct dump *d, const char *key, const struct schema *schema,
                     const struct inventory *from)
{
    jw_begin(&d->w, key, JW_OBJECT, JW_INLINE);
    write_fields(&d->w, schema, from);
    jw_end(&d->w);
}

/* What holds for the cluster as a whole; the last two are optional. */
static void dump_cluster(struct dump *d)
{
    const struct snapshot *s = d->s;
    const struct inventory top = {.ha = s->ha,
                                  .ha_failover_hosts = thaw_failover_hosts(s, d->ids),
                                  .schedule = s->schedule,
                                  .correlation = s->correlation,
                                  .regret = s->regret};

    dump_one(d, "ha", &schema_ha, &top);
    if (s->schedule.given)
        dump_one(d, "schedule", &schema_schedule, &top);
    if (any_correlation(&s->correlation))
        dump_one(d, "correlation", &schema_correlation, &top);
    if (s->regret.at != 0)
        dump_one(d, "regret", &schema_regret, &top);
}

static void dump_forecast(struct dump *d)
{
    if (d->s->n_forecast == 0)
        return;
    jw_begin(&d->w, "forecast", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < d->s->n_forecast; i++)
        write_object(&d->w, &schema_expected, &d->s->forecast[i]);
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
    write_instant(&d.w, "time", s->time);
    dump_hosts(&d);
    dump_vms(&d);
    dump_pools(&d);
    dump_rules(&d);
    dump_actions(&d);
    dump_migration_rates(&d);
    dump_settings(&d);
    dump_forecast(&d);
    dump_cluster(&d);
    jw_end(&d.w);
    arena_release(&d.scratch);
}
