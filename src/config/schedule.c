#include "config/schedule.h"

#include "schedule/schedule.h"
#include "schedule/zone.h"

#include <errno.h>

#define SHORT_S 300 /* less than any host is worth emptying for */

static const struct node *find_list(const struct node *root, const char *key)
{
    const struct node *dpm = tree_child(root, "dpm");

    return dpm && dpm->kind == NODE_MAP ? tree_child(dpm, key) : NULL;
}

static int widen(const struct reader *r, const struct node *item, const char *key)
{
    (void)err_widen(r->err, "%s:%u: %s", r->file, item->line, key);
    return -EINVAL;
}

static int read_windows(const struct reader *r, const struct node *list, struct schedule *s)
{
    struct schedule_window *windows = arena_array(r->a, struct schedule_window, list->n + 1);

    for (const struct node *n = list->first; n; n = n->next) {
        struct schedule_window *w = &windows[s->n_windows++];

        if (schedule_window_parse(n->text, s->zone, r->a, w, r->err) < 0)
            return widen(r, n, "dpm.windows");
        if (w->span_s < SHORT_S)
            config_warn(
                r, n->line,
                "dpm.windows: \"%.60s\" is a window of %lld s, in which no host can be emptied and put to "
                "standby; a number without a unit is seconds",
                n->text, (long long)w->span_s);
    }
    s->windows = windows;
    return 0;
}

static int read_ready_by(const struct reader *r, const struct node *list, struct schedule *s)
{
    struct calendar *ready = arena_array(r->a, struct calendar, list->n + 1);

    for (const struct node *n = list->first; n; n = n->next)
        if (calendar_parse(n->text, s->zone, r->a, &ready[s->n_ready_by++], r->err) < 0)
            return widen(r, n, "dpm.ready_by");
    s->ready_by = ready;
    return 0;
}

int read_schedule(const struct reader *r, const struct node *root)
{
    struct config *c = r->config;
    struct schedule s = {.zone = c->dpm_time_zone, .ready_percent = (double)c->dpm_ready_percent};
    const struct node *windows = find_list(root, "windows");
    const struct node *ready = find_list(root, "ready_by");
    int e = 0;

    if (s.zone && !zone_is_known(s.zone))
        return err_set(r->err, -EINVAL,
                       "%s:%u: dpm.time_zone is \"%.60s\", expected UTC or a name like Europe/Berlin",
                       r->file, find_list(root, "time_zone")->line, s.zone);
    if (!s.zone)
        s.zone = zone_of_system(r->a);
    if (windows)
        e = read_windows(r, windows, &s);
    if (e == 0 && ready)
        e = read_ready_by(r, ready, &s);
    if (e < 0)
        return e;
    if (!c->policy.dpm.enabled && (s.n_windows > 0 || s.n_ready_by > 0))
        config_warn(r, (windows ? windows : ready)->line,
                    "dpm.windows and dpm.ready_by are of no use while dpm.enabled is false");
    c->schedule = s;
    return 0;
}
