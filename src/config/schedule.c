/* schedule.c: dpm.windows and dpm.ready_by, parsed by ../schedule. */
#include "config/sections.h"

#include "schedule/schedule.h"
#include "schedule/span.h"
#include "schedule/zone.h"

#include <errno.h>
#include <time.h>

#define SHORT_S 300 /* a window shorter than this is rather a mistake, where it is to be used */

static int widen(const struct section *in, const struct node *item, const char *key)
{
    (void)err_widen(in->reader.err, "%s:%u: %s", in->reader.file, item->line, key);
    return -EINVAL;
}

/* Holidays of last year are no error, but a list of nothing else never opens. */
static void warn_if_over(const struct section *in, const struct node *n, const char *key,
                         const struct schedule_window *w)
{
    instant_s at;

    if (!calendar_next(&w->begins, (instant_s)time(NULL) - w->span_s, &at))
        section_warn(in, n->line, "%s: \"%.60s\" is over and does not begin again", key, n->text);
}

int config_read_windows(const struct section *in, const struct node *list, const char *key, const char *use,
                        struct schedule *ret)
{
    struct schedule_window *windows = arena_array(in->reader.a, struct schedule_window, list->n + 1);

    for (const struct node *n = list->first; n; n = n->next) {
        struct schedule_window *w = &windows[ret->n_windows++];

        if (schedule_window_parse(n->text, ret->zone, in->reader.a, w, in->reader.err) < 0)
            return widen(in, n, key);
        warn_if_over(in, n, key, w);
        if (use && w->span_s < SHORT_S)
            section_warn(
                in, n->line,
                "%s: \"%.60s\" is a window of %lld s, too short %s; a number without a unit is seconds", key,
                n->text, (long long)w->span_s, use);
    }
    ret->windows = windows;
    return 0;
}

static int read_ready_by(const struct section *in, const struct node *list, struct schedule *ret)
{
    struct calendar *ready = arena_array(in->reader.a, struct calendar, list->n + 1);

    for (const struct node *n = list->first; n; n = n->next)
        if (calendar_parse(n->text, ret->zone, in->reader.a, &ready[ret->n_ready_by++], in->reader.err) < 0)
            return widen(in, n, "dpm.ready_by");
    ret->ready_by = ready;
    return 0;
}

int config_read_schedule(const struct section *in)
{
    struct config *c = in->config;
    struct schedule s = {.zone = c->dpm_time_zone, .ready_percent = (double)c->dpm_ready_percent};
    const struct node *windows = node_find(in->root, "dpm.windows");
    const struct node *balance = node_find(in->root, "balance.windows");
    const struct node *ready = node_find(in->root, "dpm.ready_by");
    struct err why = {0};
    int e = 0;

    if (s.zone && !zone_is_known(s.zone))
        return section_refuse(in, "dpm.time_zone", "is \"%.60s\", expected UTC or a name like Europe/Berlin",
                              s.zone);
    if (c->dpm_prove_every && span_parse(c->dpm_prove_every, &s.prove_every_s, &why) < 0)
        return section_refuse(in, "dpm.prove_every", "is \"%.60s\", expected a time span such as 30d",
                              c->dpm_prove_every);
    if (!s.zone)
        s.zone = zone_of_system(in->reader.a);
    if (windows)
        e = config_read_windows(in, windows, "dpm.windows", "to move VMs off a host", &s);
    if (e == 0 && ready)
        e = read_ready_by(in, ready, &s);
    c->balance.zone = s.zone;
    if (e == 0 && balance)
        e = config_read_windows(in, balance, "balance.windows", "for moves to begin and end in it",
                                &c->balance);
    if (e < 0)
        return e;
    if (!c->policy.dpm.enabled && (s.n_windows > 0 || s.n_ready_by > 0))
        section_warn(in, (windows ? windows : ready)->line,
                     "dpm.windows and dpm.ready_by are of no use while dpm.enabled is false");
    c->schedule = s;
    return 0;
}
