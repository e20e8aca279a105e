/* unit_failures.c: external units that give no answer, as one note in the store. */
#include "engine/knowledge/unit_failures.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "engine/events.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_UNITS "failing_units"
#define TEXT_MAX 700

struct unit_failures {
    bool dirty;
    struct failing_unit *list; /* texts its own */
    size_t n, cap;
};

static char *own(const char *text)
{
    return (char *)(uintptr_t)text;
}

static size_t find(const struct unit_failures *f, const char *unit)
{
    size_t i = 0;

    while (i < f->n && strcmp(f->list[i].unit, unit) != 0)
        i++;
    return i;
}

static struct failing_unit *add(struct unit_failures *f, const char *unit, instant_s since)
{
    size_t at = 0;

    f->list = xalloc_grow(f->list, f->n, &f->cap, sizeof *f->list);
    while (at < f->n && strcmp(f->list[at].unit, unit) < 0)
        at++;
    memmove(&f->list[at + 1], &f->list[at], (f->n++ - at) * sizeof *f->list);
    f->list[at] = (struct failing_unit){.unit = xstrdup(unit), .since = since};
    f->dirty = true;
    return &f->list[at];
}

static void drop(struct unit_failures *f, size_t i)
{
    free(own(f->list[i].unit));
    free(own(f->list[i].error));
    memmove(&f->list[i], &f->list[i + 1], (--f->n - i) * sizeof *f->list);
    f->dirty = true;
}

static void set_error(struct failing_unit *x, const char *error)
{
    char *text = own(x->error);

    xstrset(&text, error);
    x->error = text;
}

static void tell(struct engine *e, enum event_kind kind, const char *unit, const char *text, instant_s now)
{
    events_publish(e, &(struct event){.kind = kind, .time = now, .unit = unit, .text = text});
}

/* Counts the VMs about which each unit has no answer. New ones are added, with their first error. */
static void count(struct unit_failures *f, const struct inventory *answers, instant_s now)
{
    for (size_t i = 0; i < f->n; i++)
        f->list[i].vms = 0;
    for (size_t i = 0; answers && i < answers->n_answers; i++) {
        const struct seen_answer *x = &answers->answers[i];
        size_t at = find(f, x->unit);

        if (!x->error)
            continue;
        struct failing_unit *failing = at < f->n ? &f->list[at] : add(f, x->unit, now);

        if (failing->vms == 0)
            set_error(failing, x->error);
        failing->vms += x->vms.n;
    }
}

static bool is_asked(const struct inventory *answers, const char *unit)
{
    for (size_t i = 0; answers && i < answers->n_answers; i++) {
        if (strcmp(answers->answers[i].unit, unit) == 0)
            return true;
    }
    return false;
}

void unit_failures_take(struct unit_failures *f, struct engine *e, const struct inventory *answers,
                        instant_s now)
{
    char text[TEXT_MAX];

    count(f, answers, now);
    for (size_t i = f->n; i-- > 0;) {
        const struct failing_unit *x = &f->list[i];

        if (x->vms == 0) {
            (void)snprintf(text, sizeof text, "external unit %.200s %s", x->unit,
                           is_asked(answers, x->unit) ? "answers again"
                                                      : "failed, and is not asked any more");
            tell(e, EVENT_UNIT_BACK, x->unit, text, now);
            drop(f, i);
        } else if (!x->told) {
            (void)snprintf(text, sizeof text, "external unit %.200s has no answer about %zu VM%s: %.300s",
                           x->unit, x->vms, x->vms == 1 ? "" : "s", x->error);
            tell(e, EVENT_UNIT_FAILED, x->unit, text, now);
            f->list[i].told = true;
        }
    }
}

size_t unit_failures_list(const struct unit_failures *f, const struct failing_unit **ret)
{
    *ret = f->list;
    return f->n;
}

/* ---- the store ---- */

static int persist(const void *piece, const struct store_ops *ops, struct store *s, struct err *err)
{
    const struct unit_failures *f = piece;
    struct note note = {.key = NOTE_UNITS};
    const struct record record = {RECORD_NOTE, .note = &note};

    if (f->n == 0)
        return ops->forget(s, &record, err);
    CLEANUP(json_decrefp) json_t *all = json_object();

    for (size_t i = 0; i < f->n; i++) {
        char since[RFC3339_MAX];
        (void)json_object_set_new(all, f->list[i].unit, json_string(rfc3339_format(f->list[i].since, since)));
    }
    CLEANUP(freep) char *text = json_dumps(all, JSON_COMPACT);

    note.value = text;
    return text ? ops->put(s, &record, err) : err_set(err, -ENOMEM, "out of memory");
}

/* The reason of a failure is not stored: the next question gives it. */
static void recall(void *piece, const struct stored *s, instant_s now)
{
    struct unit_failures *f = piece;
    const char *text = ports_find_note(s, NOTE_UNITS);
    CLEANUP(json_decrefp) json_t *all = text ? json_loads(text, 0, NULL) : NULL;
    const char *unit;
    json_t *value;

    json_object_foreach(all, unit, value)
    {
        const char *at = json_string_value(value);
        instant_s since = now;

        if (at)
            (void)rfc3339_parse(at, &since);
        add(f, unit, since)->told = true;
    }
    f->dirty = false;
}

/* The units are those of the configuration, whatever the source. */
static void disown(void *piece, struct engine *e, const struct stored *s, instant_s now)
{
    (void)e;
    recall(piece, s, now);
}

/* ---- life ---- */

static void release(void *piece)
{
    struct unit_failures *f = piece;

    while (f->n > 0)
        drop(f, f->n - 1);
    free(f->list);
    free(f);
}

const struct knowledge_ops unit_failures_ops = {
    .size = sizeof(struct unit_failures),
    .release = release,
    .persist = persist,
    .recall = recall,
    .disown = disown,
};
