/* schedule.c: when hosts may be in standby and when they must be on, in the syntax of the service's
 * dpm.windows and so on. The default zone is UTC: a simulation has equal results on every machine. */
#include "sim/scenario/build.h"

#include "schedule/zone.h"

#include <errno.h>

#define EXPRESSIONS_MOST 32

struct schedule_spec {
    const struct node *windows, *ready_by;
    const char *time_zone;
    double ready_percent;
    bool enabled;
};

#define AT(member) offsetof(struct schedule_spec, member)

static const struct field schedule_key_list[] = {
    {"enabled", FIELD_BOOL, AT(enabled), .meaning = "false: as if there were none; for comparing"},
    {"windows", FIELD_NODE, AT(windows), .meaning = "calendar expressions with a duration"},
    {"ready_by", FIELD_NODE, AT(ready_by), .meaning = "calendar expressions"},
    {"time_zone", FIELD_TEXT, AT(time_zone), .meaning = "of those that name none"},
    {"ready_percent", FIELD_NUMBER, AT(ready_percent), 1, 100,
     .meaning = "percent of the capacity that is managed"},
};

const struct schema schedule_keys = SCHEMA_OF("", schedule_key_list);

static int check_text(const struct reader *f, const struct node *n)
{
    if (n->kind == NODE_SCALAR && !node_is_null(n))
        return 0;
    return reader_refuse(f, n, "an expression");
}

static int refuse(const struct reader *f, const struct node *n, const struct err *why)
{
    return reader_complain(f, n, ": %s", why->text);
}

static int read_windows(struct building *b, const struct node *list, struct schedule *s)
{
    struct schedule_window *windows = arena_array(b->f.a, struct schedule_window, list->n + 1);
    struct err why = {0};
    int r = reader_list_check(&b->f, list, "a list of windows", EXPRESSIONS_MOST);

    for (const struct node *n = list->first; n && r == 0; n = n->next) {
        r = check_text(&b->f, n);
        if (r == 0 && schedule_window_parse(n->text, s->zone, b->f.a, &windows[s->n_windows++], &why) < 0)
            r = refuse(&b->f, n, &why);
    }
    s->windows = windows;
    return r;
}

static int read_ready_by(struct building *b, const struct node *list, struct schedule *s)
{
    struct calendar *ready = arena_array(b->f.a, struct calendar, list->n + 1);
    struct err why = {0};
    int r = reader_list_check(&b->f, list, "a list of calendar expressions", EXPRESSIONS_MOST);

    for (const struct node *n = list->first; n && r == 0; n = n->next) {
        r = check_text(&b->f, n);
        if (r == 0 && calendar_parse(n->text, s->zone, b->f.a, &ready[s->n_ready_by++], &why) < 0)
            r = refuse(&b->f, n, &why);
    }
    s->ready_by = ready;
    return r;
}

int schedule_build(struct building *b, const struct node *section)
{
    struct schedule_spec spec = {.time_zone = ZONE_UTC, .ready_percent = 100, .enabled = true};
    int r = section ? reader_object(&b->f, section, &schedule_keys, &spec) : 0;

    if (r < 0)
        return r;
    if (!zone_is_known(spec.time_zone))
        return reader_complain_line(
            &b->f, section->line,
            "schedule.time_zone is \"%.60s\", expected UTC or a name like Europe/Berlin", spec.time_zone);
    b->s->schedule = (struct schedule){.zone = spec.time_zone, .ready_percent = spec.ready_percent};
    if (spec.windows)
        r = read_windows(b, spec.windows, &b->s->schedule);
    if (r == 0 && spec.ready_by)
        r = read_ready_by(b, spec.ready_by, &b->s->schedule);
    if (!spec.enabled)
        b->s->schedule.n_windows = b->s->schedule.n_ready_by = 0;
    return r;
}
