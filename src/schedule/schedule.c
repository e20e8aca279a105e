/* schedule.c: combines windows and ready_by into what holds at one moment. It never asks for the time. */
#include "schedule/schedule.h"

#include "schedule/span.h"

#include <errno.h>
#include <string.h>

/* How far ahead, and in how many steps, adjoining windows are followed. */
#define HORIZON_S (INT64_C(62) * 86400)
#define STEPS_MAX 400

#define FOR " for "

int schedule_window_parse(const char *text, const char *zone, struct arena *a, struct schedule_window *ret,
                          struct err *err)
{
    const char *word = strstr(text, FOR);
    struct schedule_window w = {.text = arena_strdup(a, text)};

    if (strlen(text) > CALENDAR_TEXT_MAX)
        return err_set(err, -EINVAL, "a window is longer than %d bytes", CALENDAR_TEXT_MAX);
    if (!word)
        return err_set(err, -EINVAL,
                       "\"%s\" has no length, expected a window such as \"Mon..Fri 20:00 for 10h\"", text);
    int e = calendar_parse(arena_strndup(a, text, (size_t)(word - text)), zone, a, &w.begins, err);
    if (e == 0)
        e = span_parse(word + strlen(FOR), &w.span_s, err);
    if (e == 0)
        *ret = w;
    return e;
}

static bool begin_before(const struct schedule *s, uint32_t window, instant_s until, instant_s *ret)
{
    const struct calendar *c = &s->windows[window].begins;

    return s->protects ? calendar_last_or_after_gap(c, until, ret) : calendar_last(c, until, ret);
}

static bool begin_after(const struct schedule *s, uint32_t window, instant_s after, instant_s *ret)
{
    const struct calendar *c = &s->windows[window].begins;

    return s->protects ? calendar_next_or_after_gap(c, after, ret) : calendar_next(c, after, ret);
}

static bool due_before(const struct schedule *s, uint32_t ready, instant_s until, instant_s *ret)
{
    return calendar_last_due(&s->ready_by[ready], until, ret);
}

static bool due_after(const struct schedule *s, uint32_t ready, instant_s after, instant_s *ret)
{
    return calendar_next_due(&s->ready_by[ready], after, ret);
}

typedef bool find_fn(const struct schedule *s, uint32_t i, instant_s at, instant_s *ret);

/* The latest, or the earliest, instant that `find` has for any of n windows or times. */
static bool find_any(const struct schedule *s, uint32_t n, find_fn *find, bool latest, instant_s at,
                     instant_s *ret)
{
    bool any = false;

    for (uint32_t i = 0; i < n; i++) {
        instant_s found;
        if (!find(s, i, at, &found) || (any && (found > *ret) != latest))
            continue;
        *ret = found;
        any = true;
    }
    return any;
}

bool schedule_next_ready(const struct schedule *s, instant_s after, instant_s *ret)
{
    return find_any(s, s->n_ready_by, due_after, false, after, ret);
}

static bool last_ready(const struct schedule *s, instant_s until, instant_s *ret)
{
    return find_any(s, s->n_ready_by, due_before, true, until, ret);
}

/* The end of the windows that are open at the instant; the instant itself: none is open. */
static instant_s open_until(const struct schedule *s, instant_s at)
{
    instant_s end = at;

    for (uint32_t i = 0; i < s->n_windows; i++) {
        instant_s begin;
        if (begin_before(s, i, at, &begin) && begin + s->windows[i].span_s > end)
            end = begin + s->windows[i].span_s;
    }
    return end;
}

/* The end including adjoining windows; 0: beyond the horizon. */
static instant_s open_through(const struct schedule *s, instant_s now)
{
    instant_s end = open_until(s, now);

    for (int i = 0; i < STEPS_MAX && end - now < HORIZON_S; i++) {
        instant_s next = open_until(s, end);
        if (next == end)
            return end;
        end = next;
    }
    return 0;
}

/* Whether a past ready_by still forbids standby. */
static bool is_held(const struct schedule *s, instant_s now, instant_s *ret_ready)
{
    instant_s begin = 0;

    if (!last_ready(s, now, ret_ready))
        return false;
    if (s->n_windows == 0)
        return now - *ret_ready < SCHEDULE_HOLD_S;
    return !find_any(s, s->n_windows, begin_before, true, now, &begin) || begin < *ret_ready;
}

/* The instant at which hosts may no longer be put to standby. */
static instant_s ends(const struct schedule *s, instant_s now)
{
    instant_s end = s->n_windows == 0 ? 0 : open_through(s, now);
    instant_s ready = now;
    instant_s passed;

    for (int i = 0; i < STEPS_MAX && schedule_next_ready(s, ready, &ready); i++) {
        if (end != 0 && ready >= end)
            break;
        if (is_held(s, ready, &passed)) /* not if a window begins at that very instant */
            return ready;
    }
    return end;
}

/* The instant at which hosts may be put to standby again. */
static instant_s begins(const struct schedule *s, instant_s now, instant_s ready)
{
    instant_s at = 0;

    if (s->n_windows > 0)
        return find_any(s, s->n_windows, begin_after, false, now, &at) ? at : 0;
    for (int i = 0; i < STEPS_MAX; i++) { /* no windows: follow the hold and each ready_by before its end */
        instant_s later = ready;
        at = ready + SCHEDULE_HOLD_S;
        if (!last_ready(s, at, &later) || later == ready)
            return at;
        ready = later;
    }
    return 0;
}

void schedule_at(const struct schedule *s, instant_s now, struct schedule_state *ret)
{
    instant_s passed = 0;
    instant_s ready = 0;
    bool held = is_held(s, now, &passed);
    bool open = s->n_windows == 0 || open_until(s, now) > now;

    *ret = (struct schedule_state){.open = open && !held};
    ret->changes = ret->open ? ends(s, now) : begins(s, now, passed);
    if (held && now - passed < SCHEDULE_HOLD_S)
        ret->ready_by = passed;
    else if (schedule_next_ready(s, now, &ready))
        ret->ready_by = ready;
}
