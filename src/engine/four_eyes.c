/* four_eyes.c: keeps first requests, and tells when a second person has asked for the same. */
#include "engine/four_eyes.h"

#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/actions/preconditions.h"
#include "engine/admin_commands.h"
#include "engine/events.h"
#include "engine/persist.h"
#include "engine/state.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COMMANDS_MAX 100 /* of one person, beside approvals, of which there are only so many to ask for */
#define DAY_S (24 * 3600)
#define CLOCK_SLACK_S 60 /* a request from later than that is of a clock that was set back */
#define WHAT_MAX 300
#define UNTIL_MAX (RFC3339_MAX + 8)

struct first_request {
    enum four_eyes_action action;
    uint64_t id;      /* approve; else 0 */
    uint32_t version; /* approve */
    char *key, *what; /* else; NULL */
    char *person, *by;
    instant_s since;
};

struct four_eyes {
    struct first_request *list;
    size_t n, cap;
    char person[PERSON_NAME_MAX]; /* whose requests these are now; "": not known */
};

struct four_eyes *four_eyes_new(void)
{
    return xcalloc(1, sizeof(struct four_eyes));
}

static void request_release(struct first_request *f)
{
    free(f->key);
    free(f->what);
    free(f->person);
    free(f->by);
}

void four_eyes_free(struct four_eyes *f)
{
    for (size_t i = 0; f && i < f->n; i++)
        request_release(&f->list[i]);
    if (f)
        free(f->list);
    free(f);
}

void engine_set_person(struct engine *e, const char *person)
{
    bool fits = person && strlen(person) < sizeof e->four_eyes->person; /* a part of a name is another name */

    (void)snprintf(e->four_eyes->person, sizeof e->four_eyes->person, "%s", fits ? person : "");
}

bool four_eyes_chosen(const struct engine *e, enum four_eyes_action action)
{
    unsigned bits = 1u << action;

    if (action == FOUR_EYES_ROLL) /* it takes hosts out of service */
        bits |= 1u << FOUR_EYES_MAINTENANCE;
    if (action == FOUR_EYES_MIGRATE) /* a recommendation that is approved along with it */
        bits |= 1u << FOUR_EYES_APPROVE;
    return e->settings.four_eyes & bits;
}

static instant_s until(const struct engine *e, const struct first_request *f)
{
    return f->since + e->settings.four_eyes_s;
}

/* "18:40 UTC"; with its day where that is not clear. */
static const char *until_text(instant_s at, instant_s now, char ret[UNTIL_MAX])
{
    char time[RFC3339_MAX];

    (void)rfc3339_format(at, time);
    if (at - now < DAY_S)
        (void)snprintf(ret, UNTIL_MAX, "%.5s UTC", time + strlen("YYYY-MM-DDT"));
    else
        (void)snprintf(ret, UNTIL_MAX, "%s", time);
    return ret;
}

/* "recommendation 3.2" */
static void name_recommendation(uint64_t id, uint32_t version, char ret[WHAT_MAX])
{
    if (version > 1)
        (void)snprintf(ret, WHAT_MAX, "approve recommendation %llu.%u", (unsigned long long)id, version);
    else
        (void)snprintf(ret, WHAT_MAX, "approve recommendation %llu", (unsigned long long)id);
}

/* ---- the list -------------------------------------------------------------------------------- */

static uint32_t version_of(const struct four_eyes_request *q, size_t i)
{
    return q->versions ? q->versions[i] : 1;
}

/* Requests of one thing: approvals are asked for one by one. */
static size_t count_parts(const struct four_eyes_request *q)
{
    return q->action == FOUR_EYES_APPROVE ? q->n : 1;
}

static bool is_for(const struct first_request *f, const struct four_eyes_request *q, size_t part)
{
    if (f->action != q->action)
        return false;
    return q->action == FOUR_EYES_APPROVE ? f->id == q->ids[part] && f->version == version_of(q, part)
                                          : strcmp(f->key, q->key) == 0;
}

static bool is_of_requester(const struct engine *e, const struct first_request *f)
{
    return strcasecmp(f->person, e->four_eyes->person) == 0;
}

/* The first request of this part by the requester, or by another person. */
static const struct first_request *find(const struct engine *e, const struct four_eyes_request *q,
                                        size_t part, bool own)
{
    for (size_t i = 0; i < e->four_eyes->n; i++) {
        const struct first_request *f = &e->four_eyes->list[i];

        if (is_for(f, q, part) && is_of_requester(e, f) == own)
            return f;
    }
    return NULL;
}

static struct first_request *add(struct four_eyes *f)
{
    f->list = xalloc_grow(f->list, f->n, &f->cap, sizeof *f->list);
    f->list[f->n] = (struct first_request){0};
    return &f->list[f->n++];
}

/* What is left of the first approvals stands with the recommendation. */
static void show_first(struct engine *e, uint64_t id, instant_s now)
{
    struct action *x = action_find(e, id);
    const struct first_request *first = NULL;
    char why[WHY_MAX], at[UNTIL_MAX];

    if (!x || x->r.state != ACTION_RECOMMENDED)
        return;
    for (size_t i = 0; i < e->four_eyes->n && !first; i++) {
        const struct first_request *f = &e->four_eyes->list[i];

        if (f->action == FOUR_EYES_APPROVE && f->id == id && f->version == x->r.version)
            first = f;
    }
    char *own = (char *)(uintptr_t)x->r.why;

    if (first)
        (void)snprintf(why, sizeof why, "approved by %s, waits for a second person until %s", first->by,
                       until_text(until(e, first), now, at));
    xstrset(&own, first ? why : NULL);
    x->r.why = own;
    action_changed(e, x);
}

static void drop(struct engine *e, size_t i, instant_s now)
{
    struct four_eyes *f = e->four_eyes;
    const uint64_t id = f->list[i].id;

    request_release(&f->list[i]);
    memmove(&f->list[i], &f->list[i + 1], (--f->n - i) * sizeof *f->list);
    e->persist->notes_dirty = true;
    if (id != 0)
        show_first(e, id, now);
}

bool four_eyes_may_still(const struct engine *e, const char *by, instant_s asked, char *why, size_t size)
{
    static const char and[] = " and ";
    const char *lost = NULL;

    for (const char *end; by && e->port.people_ops && !lost; by = end ? end + strlen(and) : NULL) {
        char one[FOUR_EYES_BY_MAX];

        end = strstr(by, and);
        (void)snprintf(one, sizeof one, "%.*s", end ? (int)(end - by) : (int)sizeof one - 1, by);
        lost = e->port.people_ops->lost_right(e->port.people, one, asked);
        if (lost)
            (void)snprintf(why, size, "%s asked for it, and may not any more: %s", one, lost);
    }
    return !lost;
}

static bool counts(const struct engine *e, const struct first_request *f, instant_s now)
{
    char why[WHY_MAX];

    if (!four_eyes_chosen(e, f->action) || now >= until(e, f) || f->since > now + CLOCK_SLACK_S ||
        !four_eyes_may_still(e, f->by, f->since, why, sizeof why))
        return false;
    if (f->action != FOUR_EYES_APPROVE)
        return true;
    const struct action *x = action_find(e, f->id);

    return x && x->r.state == ACTION_RECOMMENDED && x->r.version == f->version;
}

void four_eyes_expire(struct engine *e, instant_s now)
{
    for (size_t i = e->four_eyes->n; i-- > 0;) {
        if (!counts(e, &e->four_eyes->list[i], now))
            drop(e, i, now);
    }
}

instant_s four_eyes_wakeup(const struct engine *e)
{
    instant_s at = INT64_MAX;

    for (size_t i = 0; i < e->four_eyes->n; i++) {
        instant_s end = until(e, &e->four_eyes->list[i]);

        at = end < at ? end : at;
    }
    return at;
}

/* ---- a request ------------------------------------------------------------------------------- */

static void describe(const struct four_eyes_request *q, char ret[WHAT_MAX])
{
    if (q->action != FOUR_EYES_APPROVE)
        (void)snprintf(ret, WHAT_MAX, "%s", q->what);
    else if (q->n == 1)
        name_recommendation(q->ids[0], version_of(q, 0), ret);
    else
        (void)snprintf(ret, WHAT_MAX, "approve %zu recommendations", q->n);
}

static void tell(struct engine *e, const char *text, const char *by, instant_s now)
{
    e->persist->notes_dirty = true;
    events_publish(e, &(struct event){.kind = EVENT_FIRST_REQUEST, .time = now, .by = by, .text = text});
}

static void note(struct engine *e, const struct four_eyes_request *q, size_t part, const char *by,
                 instant_s now)
{
    const bool approval = q->action == FOUR_EYES_APPROVE;
    struct first_request *f = add(e->four_eyes);

    *f = (struct first_request){.action = q->action,
                                .id = approval ? q->ids[part] : 0,
                                .version = approval ? version_of(q, part) : 0,
                                .key = approval ? NULL : xstrdup(q->key),
                                .what = approval ? NULL : xstrdup(q->what),
                                .person = xstrdup(e->four_eyes->person),
                                .by = xstrdup(by),
                                .since = now};
    if (approval)
        show_first(e, f->id, now);
}

static bool has_room(const struct engine *e, const struct four_eyes_request *q)
{
    size_t own = 0;

    for (size_t i = 0; i < e->four_eyes->n; i++) {
        const struct first_request *f = &e->four_eyes->list[i];

        own += f->action != FOUR_EYES_APPROVE && is_of_requester(e, f);
    }
    return q->action == FOUR_EYES_APPROVE || own < COMMANDS_MAX;
}

/* Notes the parts that this person has not asked for yet. others: parts that another person has asked for. */
static int note_first(struct engine *e, const struct four_eyes_request *q, size_t others, const char *by,
                      instant_s now, struct err *err)
{
    char what[WHAT_MAX], at[UNTIL_MAX], text[WHAT_MAX + 256], more[96] = "";
    const struct first_request *own = NULL;
    size_t added = 0;

    describe(q, what);
    if (!has_room(e, q))
        return err_set(err, -EUSERS, "%d requests of %s wait for a second person: too many", COMMANDS_MAX,
                       by);
    for (size_t i = 0; i < count_parts(q); i++) {
        const struct first_request *before = find(e, q, i, true);

        own = before ? before : own;
        if (before)
            continue;
        note(e, q, i, by, now);
        added++;
    }
    if (added == 0 && own)
        return err_set(
            err, -EALREADY,
            "%s has asked to %s already, and is one person: another person has to ask for the same "
            "until %s",
            own->by, what, until_text(until(e, own), now, at));
    (void)until_text(now + e->settings.four_eyes_s, now, at);
    (void)snprintf(text, sizeof text, "%s asked to %s: waits for a second person until %s", by, what, at);
    tell(e, text, by, now);
    if (persist_flush(e, NULL, now) < 0)
        return admin_command_not_stored(e, "noted", err);
    if (others > 0)
        (void)snprintf(more, sizeof more, "; %zu of them %s another person's approval and can be applied now",
                       others, others == 1 ? "has" : "have");
    return err_set(err, -ENOKEY,
                   "nothing has begun: to %s takes two people (four_eyes); %s is noted as the first, another "
                   "person has to ask for the same within %lld min, until %s%s",
                   what, by, (long long)(e->settings.four_eyes_s / 60), at, more);
}

/* It begins; what an approval shows goes with the state of its action. */
static void forget(struct engine *e, const struct four_eyes_request *q)
{
    struct four_eyes *f = e->four_eyes;
    size_t kept = 0;

    for (size_t i = 0; i < f->n; i++) {
        size_t part = 0;

        while (part < count_parts(q) && !is_for(&f->list[i], q, part))
            part++;
        if (part == count_parts(q))
            f->list[kept++] = f->list[i];
        else
            request_release(&f->list[i]);
    }
    f->n = kept;
    e->persist->notes_dirty = true;
}

int four_eyes_agree(struct engine *e, const struct four_eyes_request *q, const char *by, instant_s now,
                    char ret_by[FOUR_EYES_BY_MAX], struct err *err)
{
    const struct first_request *first = NULL;
    char what[WHAT_MAX];
    size_t others = 0;

    (void)snprintf(ret_by, FOUR_EYES_BY_MAX, "%s", by);
    if (!four_eyes_chosen(e, q->action))
        return 0;
    describe(q, what);
    if (!e->four_eyes->person[0])
        return err_set(
            err, -EPERM,
            "to %s takes two people (four_eyes), and %s names no person: ask at the socket as a user "
            "with a name, or with a token that has an owner (`ballast token create --owner`)",
            what, by);
    four_eyes_expire(e, now);
    for (size_t i = 0; i < count_parts(q); i++) {
        const struct first_request *other = find(e, q, i, false);

        first = first ? first : other;
        others += other != NULL;
    }
    if (others < count_parts(q))
        return note_first(e, q, others, by, now, err);
    if (first)
        (void)snprintf(ret_by, FOUR_EYES_BY_MAX, "%.*s and %s", FOUR_EYES_BY_MAX / 2 - 4, first->by, by);
    forget(e, q);
    return 0;
}

bool four_eyes_withdraw(struct engine *e, enum four_eyes_action action, const char *key, const char *by,
                        instant_s now)
{
    bool any = false;

    for (size_t i = e->four_eyes->n; i-- > 0;) {
        const struct first_request *f = &e->four_eyes->list[i];
        char text[WHAT_MAX + 256];

        if (f->action != action || !f->key || (key && strcmp(f->key, key) != 0))
            continue;
        (void)snprintf(text, sizeof text, "%s withdrew the request of %s to %s", by, f->by, f->what);
        drop(e, i, now);
        tell(e, text, by, now);
        any = true;
    }
    if (any)
        (void)persist_flush(e, NULL, now);
    return any;
}

/* ---- what can be seen ------------------------------------------------------------------------ */

size_t engine_first_requests(const struct engine *e, struct arena *a, struct engine_first_request **ret)
{
    struct engine_first_request *list = arena_array(a, struct engine_first_request, e->four_eyes->n);

    for (size_t i = 0; i < e->four_eyes->n; i++) {
        const struct first_request *f = &e->four_eyes->list[i];
        char what[WHAT_MAX];

        name_recommendation(f->id, f->version, what);
        list[i] = (struct engine_first_request){.action = f->action,
                                                .id = f->id,
                                                .version = f->version,
                                                .what = f->what ? f->what : arena_strdup(a, what),
                                                .by = f->by,
                                                .since = f->since,
                                                .until = until(e, f)};
    }
    *ret = list;
    return e->four_eyes->n;
}

/* ---- in the store ---------------------------------------------------------------------------- */

const char *four_eyes_text(const struct engine *e, struct arena *a)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->four_eyes->n; i++) {
        const struct first_request *f = &e->four_eyes->list[i];

        (void)json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:s?, s:s?, s:s, s:s, s:I}", "action",
                                                    four_eyes_action_name(f->action), "id", (json_int_t)f->id,
                                                    "version", (json_int_t)f->version, "key", f->key, "what",
                                                    f->what, "person", f->person, "by", f->by, "since",
                                                    (json_int_t)f->since));
    }
    char *text = e->four_eyes->n > 0 ? json_dumps(list, JSON_COMPACT) : NULL;
    const char *copy = text ? arena_strdup(a, text) : NULL;

    free(text);
    json_decref(list);
    return copy;
}

/* An entry that cannot be read counts for nothing. */
void four_eyes_recall(struct engine *e, const char *text)
{
    json_t *list = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *o;
    size_t i;

    json_array_foreach(list, i, o)
    {
        const char *action = json_string_value(json_object_get(o, "action"));
        const char *key = json_string_value(json_object_get(o, "key"));
        const char *what = json_string_value(json_object_get(o, "what"));
        const char *person = json_string_value(json_object_get(o, "person"));
        const char *by = json_string_value(json_object_get(o, "by"));
        enum four_eyes_action is;

        if (!action || four_eyes_action_parse(action, &is) < 0 || !person || !person[0] || !by ||
            (is != FOUR_EYES_APPROVE && (!key || !what)))
            continue;
        *add(e->four_eyes) = (struct first_request){
            .action = is,
            .id = (uint64_t)json_integer_value(json_object_get(o, "id")),
            .version = (uint32_t)json_integer_value(json_object_get(o, "version")),
            .key = is == FOUR_EYES_APPROVE ? NULL : xstrdup(key),
            .what = is == FOUR_EYES_APPROVE ? NULL : xstrdup(what),
            .person = xstrdup(person),
            .by = xstrdup(by),
            .since = json_integer_value(json_object_get(o, "since")),
        };
    }
    json_decref(list);
}
