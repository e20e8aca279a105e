/* happened.c: sums up what happened in a recorded time. */
#include "backtest/happened.h"

#include "store/events.h"
#include "store/history.h"
#include "store/series.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define MB_PER_GB 1024
#define J_PER_KWH 3.6e6

static bool is_within(const struct recording *rec, instant_s t)
{
    return t >= rec->from && t <= rec->until;
}

static bool by_person(const struct action_record *x)
{
    return x->approved_by && strcmp(x->approved_by, APPROVED_BY_ENGINE) != 0;
}

/* ---- actions ---- */

static void count_action(struct recording *rec, const struct action_record *x)
{
    struct recorded_figures *f = &rec->real;
    bool done = x->state == ACTION_DONE;

    switch (x->kind) {
    case ACTION_MIGRATE:
        f->migrations += done;
        f->migrations_failed += x->state == ACTION_FAILED && x->started > 0;
        f->by_people += done && by_person(x);
        break;
    case ACTION_POWER_OFF:
        f->host_power_offs += done;
        rec->power_by_people += done && by_person(x);
        break;
    case ACTION_POWER_ON:
        f->host_power_ons += done;
        rec->power_by_people += done && by_person(x);
        break;
    case ACTION_PLACE:
    case ACTION_ENTER_MAINTENANCE:
    case ACTION_EXIT_MAINTENANCE:
    case action_kind_count:
        break;
    }
}

static int read_actions(struct store *s, struct arena *a, struct recording *rec, struct err *err)
{
    const struct action_query q = {.since = rec->from, .state = action_state_count, .limit = UINT_MAX / 2};
    struct action_record *list;
    size_t n;
    uint64_t more;
    int r = store_list_actions(s, &q, a, &list, &n, &more, err);

    for (size_t i = 0; r == 0 && i < n; i++) {
        if (is_within(rec, list[i].ended))
            count_action(rec, &list[i]);
    }
    return r;
}

/* The memory of VMs that were moved stands with the migrations. */
static int read_migrations(struct store *s, struct arena *a, struct recording *rec, struct err *err)
{
    struct stored all;
    int r = store_sqlite.load(s, rec->from, rec->until, a, &all, err);

    for (size_t i = 0; r == 0 && i < all.n_migrations; i++) {
        const struct migration_record *m = &all.migrations[i];
        if (m->ok && is_within(rec, m->ended) && !isnan(m->mem_mb))
            rec->real.gb_moved += m->mem_mb / MB_PER_GB;
    }
    return r;
}

/* ---- the cluster over time ---- */

/* Sums of figure x time, and of the time in which it was known. */
struct sum {
    double value_s, known_s;
};

struct course {
    const struct recording *rec;
    struct sum watts, on, score;
};

static void add(struct sum *s, double value, double length_s)
{
    if (isnan(value))
        return;
    s->value_s += value * length_s;
    s->known_s += length_s;
}

static double mean(const struct sum *s)
{
    return s->known_s > 0 ? s->value_s / s->known_s : UNKNOWN;
}

static int add_look(void *ctx, const struct look *look)
{
    struct course *c = ctx;
    instant_s begin = look->time - look->covers_s;
    instant_s from = begin > c->rec->from ? begin : c->rec->from;
    double length_s = (double)(look->time - from);

    for (size_t i = 0; i < look->n && length_s > 0; i++) {
        const double *of = look->objects[i].of;
        add(&c->watts, of[LOOK_POWER], length_s);
        add(&c->on, of[LOOK_HOSTS_ON], length_s);
        add(&c->score, of[LOOK_CPU_SCORE], length_s);
    }
    return 0;
}

static int read_course(struct store *s, struct recording *rec, struct err *err)
{
    struct course c = {.rec = rec};
    int r = store_each_look(s, LOOK_CLUSTER, SERIES_LOOKS, rec->from, rec->until, add_look, &c, err);

    if (r < 0)
        return r;
    double length_s = (double)(rec->until - rec->from);

    /* what was not seen drew as much in the mean */
    rec->real.kwh = c.watts.known_s > 0 ? mean(&c.watts) * length_s / J_PER_KWH : UNKNOWN;
    rec->real.kwh_known = fmin(c.watts.known_s / length_s, 1);
    rec->real.hosts_on_mean = mean(&c.on);
    rec->real.score = mean(&c.score);
    return 0;
}

/* ---- passes ---- */

static void sum_passes(const struct pass_record *passes, size_t n, struct recording *rec)
{
    struct sum imbalance = {0};

    for (size_t i = n; i-- > 0;) { /* the oldest first */
        instant_s next = i > 0 ? passes[i - 1].time : rec->until;
        instant_s end = next < rec->until ? next : rec->until;
        if (!is_within(rec, passes[i].time) || end <= passes[i].time)
            continue;
        add(&imbalance, passes[i].imbalance_before, (double)(end - passes[i].time));
        if (passes[i].imbalance_before > passes[i].target)
            rec->real.time_above_target_s += (double)(end - passes[i].time);
    }
    rec->real.imbalance_mean = mean(&imbalance);
}

/* ---- events ---- */

static const char *member(const json_t *data, const char *key)
{
    return json_string_value(json_object_get(data, key));
}

static bool is_word(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static void add_maintenance(struct recording *rec, struct arena *a, size_t *cap, instant_s t,
                            const char *host, bool enter)
{
    struct recorded_maintenance *list = (struct recorded_maintenance *)rec->maintenance;

    for (size_t i = rec->n_maintenance; i-- > 0;) {
        if (strcmp(list[i].host, host) != 0)
            continue;
        if (list[i].enter == enter) /* entering, then there */
            return;
        break;
    }
    list = arena_grow(a, list, rec->n_maintenance, cap, sizeof *list);
    list[rec->n_maintenance++] = (struct recorded_maintenance){t, arena_strdup(a, host), enter};
    rec->maintenance = list;
}

/* A host's change of state. */
static void add_host(struct recording *rec, struct arena *a, size_t *cap, const struct event_record *e,
                     const json_t *data)
{
    const char *is = member(data, "state");
    const char *was = member(data, "was");

    if (!e->host || snapshot_find_host(rec->snapshot, e->host) == IX_NONE)
        return;
    if (is_word(is, "maintenance") || is_word(is, "entering_maintenance"))
        add_maintenance(rec, a, cap, e->time, e->host, true);
    else if (is_word(was, "maintenance") || is_word(was, "entering_maintenance"))
        add_maintenance(rec, a, cap, e->time, e->host, false);
    rec->host_losses += is_word(is, "disconnected");
}

static void add_event(struct recording *rec, struct arena *a, size_t *cap, const struct event_record *e)
{
    json_t *data;

    if (!is_within(rec, e->time))
        return;
    rec->settings_changes += is_word(e->kind, "configuration");
    rec->was_paused = rec->was_paused || is_word(e->kind, "frozen");
    rec->host_losses += is_word(e->kind, "host_lost");
    if (!is_word(e->kind, "host") || !(data = json_loads(e->data, 0, NULL)))
        return;
    add_host(rec, a, cap, e, data);
    json_decref(data);
}

#define EVENTS_AT_ONCE 1000

static int read_events(struct store *s, struct arena *a, struct recording *rec, struct err *err)
{
    static const char *const kinds[] = {"host", "configuration", "frozen"};
    size_t cap = 0;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct event_query q = {.since = rec->from, .kind = kinds[k], .limit = EVENTS_AT_ONCE};
        size_t n = EVENTS_AT_ONCE;
        while (n == EVENTS_AT_ONCE) {
            struct event_record *list;
            int r = store_list_events(s, &q, a, &list, &n, err);
            if (r < 0)
                return r;
            for (size_t i = 0; i < n; i++)
                add_event(rec, a, &cap, &list[i]);
            q.after = n > 0 ? list[n - 1].id : 0;
        }
    }
    return 0;
}

int happened_read(struct store *s, const struct pass_record *passes, size_t n, struct arena *a,
                  struct recording *rec, struct err *err)
{
    int r;

    sum_passes(passes, n, rec);
    if ((r = read_actions(s, a, rec, err)) < 0 || (r = read_migrations(s, a, rec, err)) < 0 ||
        (r = read_course(s, rec, err)) < 0)
        return r;
    return read_events(s, a, rec, err);
}
