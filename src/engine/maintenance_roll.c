/* maintenance_roll.c: the steps of a roll, and its text in the store. */
#include "engine/maintenance_roll.h"

#include "base/cleanup.h"
#include "base/name_define.h"
#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/actions/own_maintenance.h"
#include "engine/decide.h"
#include "engine/events.h"
#include "engine/four_eyes.h"
#include "engine/host_commands.h"
#include "engine/observation.h"
#include "engine/obstacle.h"
#include "engine/persist.h"
#include "engine/state.h"
#include "render/wording/wording.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

NAME_DEFINE(roll_step, ROLL_STEPS)

#define PASSES_TO_REFILL 2 /* the service moves VMs when the imbalance has stood for two passes */

struct maintenance_roll {
    struct engine_roll is; /* its lists and texts are owned, but for `hosts`: */
    struct roll_host *hosts;
    char *by, *failed, *waits;
};

struct maintenance_roll *maintenance_roll_new(void)
{
    return xcalloc(1, sizeof(struct maintenance_roll));
}

static void empty(struct maintenance_roll *r)
{
    for (size_t i = 0; i < r->is.n_hosts; i++)
        free((char *)(uintptr_t)r->hosts[i].id);
    free(r->hosts);
    free(r->by);
    free(r->failed);
    free(r->waits);
    *r = (struct maintenance_roll){0};
}

void maintenance_roll_free(struct maintenance_roll *r)
{
    if (r)
        empty(r);
    free(r);
}

static void add_host(struct maintenance_roll *r, const char *id)
{
    r->hosts = xreallocarray(r->hosts, r->is.n_hosts + 1, sizeof *r->hosts);
    r->hosts[r->is.n_hosts++] = (struct roll_host){.id = xstrdup(id)};
}

static bool goes_on(const struct maintenance_roll *r)
{
    return r->is.n_hosts > 0 && r->is.ended == 0;
}

bool engine_roll_state(const struct engine *e, struct engine_roll *ret)
{
    *ret = e->roll->is;
    ret->hosts = e->roll->hosts;
    ret->by = e->roll->by;
    ret->failed = e->roll->failed;
    ret->waits = e->roll->waits;
    return ret->n_hosts > 0;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static const char *host_name(const struct engine *e, const char *id)
{
    return snapshot_host_name(engine_snapshot(e), id);
}

static void tell(struct engine *e, const char *host, const char *text, instant_s now)
{
    e->persist->notes_dirty = true;
    events_publish(e,
                   &(struct event){.kind = EVENT_MAINTENANCE_ROLL, .time = now, .host = host, .text = text});
}

__attribute__((format(printf, 4, 5))) static void stop(struct engine *e, const char *host, instant_s now,
                                                       const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    e->roll->is.ended = now;
    xstrset(&e->roll->failed, text);
    tell(e, host, text, now);
}

static void enter(struct engine *e, struct roll_host *h, enum roll_step step, instant_s now)
{
    char text[ERR_TEXT_MAX];

    h->step = step;
    h->since = now;
    (void)snprintf(text, sizeof text, "host %s: %s", host_name(e, h->id), roll_step_meaning(step));
    tell(e, h->id, text, now);
}

/* ---- the steps ------------------------------------------------------------------------------- */

static void begin_host(struct engine *e, struct roll_host *h, const struct host_facts *f, instant_s now)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct err err = {0};
    const char *obstacle =
        f->state == HOST_ON ? obstacle_find(e, CHANGE_MAINTENANCE, h->id, &a, NULL, NULL) : NULL;

    if (obstacle) {
        xstrset(&e->roll->waits, arena_printf(&a, "host %s waits: %s", f->name, obstacle));
        return;
    }
    if (host_commands_enter_maintenance(e, h->id, e->roll->by, now, &h->action, &err) < 0) {
        stop(e, h->id, now, "%s", err.text);
        return;
    }
    enter(e, h, f->state == HOST_MAINTENANCE ? ROLL_HANDED_OVER : ROLL_EMPTYING, now);
}

/* Why VMs are still there, as the last pass found. */
static void say_what_stays(struct engine *e, const struct roll_host *h)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct plan *plan = engine_plan(e);

    for (uint32_t i = 0; plan && i < plan->n_faults; i++) {
        const struct fault *f = &plan->faults[i];

        if (f->code == FAULT_CANNOT_EVACUATE && f->host != IX_NONE &&
            strcmp(plan->snap->hosts[f->host].is.id, h->id) == 0) {
            xstrset(&e->roll->waits, wording_text(plan->snap, f->found, &a));
            return;
        }
    }
}

static void step_emptying(struct engine *e, struct roll_host *h, const struct host_facts *f, instant_s now)
{
    const struct action *x = action_find(e, h->action);

    if (f->state == HOST_MAINTENANCE) {
        if (!x || action_ended(x)) /* until then the end of the maintenance would be refused */
            enter(e, h, ROLL_HANDED_OVER, now);
        return;
    }
    if (x && action_ended(x) && x->r.state != ACTION_DONE)
        stop(e, h->id, now, "host %s did not enter maintenance: %s", f->name,
             x->r.why ? x->r.why : action_state_name(x->r.state));
    else if (!x && f->state == HOST_ON)
        stop(e, h->id, now, "host %s is on, and nothing empties it any more", f->name);
    else
        say_what_stays(e, h);
}

/* It may be rebooted meanwhile, and not be seen at all. */
static void step_handed_over(struct engine *e, struct roll_host *h, const struct host_facts *f, instant_s now)
{
    if (f->state != HOST_ON)
        return;
    h->pass = e->passes->last;
    decide_pass_at_once(e, now);
    enter(e, h, ROLL_RETURNING, now);
}

static void step_returning(struct engine *e, struct roll_host *h, const struct host_facts *f, instant_s now)
{
    if (f->state == HOST_MAINTENANCE) {
        enter(e, h, ROLL_HANDED_OVER, now);
        return;
    }
    if (f->state != HOST_ON || f->quarantine || f->failure_detection == FAILURE_DETECTION_UNHEALTHY) {
        stop(e, h->id, now, "host %s came back, but is not in order: it is %s", f->name,
             f->state != HOST_ON ? host_state_name(f->state)
             : f->quarantine     ? "in quarantine"
                                 : "not watched for failures");
        return;
    }
    if (e->passes->last < h->pass + PASSES_TO_REFILL)
        decide_pass_at_once(e, now);
    else if (slot_usage_of_host(e->actions, h->id)->arriving == 0)
        enter(e, h, ROLL_DONE, now);
}

static void step_host(struct engine *e, struct roll_host *h, instant_s now)
{
    const struct snapshot *s = &e->now_seen->snap;
    uint32_t ix = snapshot_find_host(s, h->id);

    if (ix == IX_NONE) {
        if (h->step != ROLL_HANDED_OVER && h->step != ROLL_DONE)
            stop(e, h->id, now, "host %s is not in the inventory any more", h->id);
        return;
    }
    switch (h->step) {
    case ROLL_WAITING:
        begin_host(e, h, &s->hosts[ix].is, now);
        break;
    case ROLL_EMPTYING:
        step_emptying(e, h, &s->hosts[ix].is, now);
        break;
    case ROLL_HANDED_OVER:
        step_handed_over(e, h, &s->hosts[ix].is, now);
        break;
    case ROLL_RETURNING:
        step_returning(e, h, &s->hosts[ix].is, now);
        break;
    case ROLL_DONE:
    case roll_step_count:
        break;
    }
}

void maintenance_roll_step(struct engine *e, instant_s now)
{
    struct maintenance_roll *r = e->roll;
    uint32_t out = 0, done = 0;

    if (!goes_on(r) || !e->now_seen)
        return;
    xstrset(&r->waits, NULL);
    for (size_t i = 0; i < r->is.n_hosts && goes_on(r); i++) {
        if (r->hosts[i].step != ROLL_WAITING)
            step_host(e, &r->hosts[i], now);
        out += r->hosts[i].step != ROLL_WAITING && r->hosts[i].step != ROLL_DONE;
        done += r->hosts[i].step == ROLL_DONE;
    }
    /* one at a time: the next is judged by an inventory that shows this one leaving */
    for (size_t i = 0; i < r->is.n_hosts && goes_on(r) && !e->paused && out < r->is.at_once; i++) {
        if (r->hosts[i].step != ROLL_WAITING)
            continue;
        step_host(e, &r->hosts[i], now);
        break;
    }
    if (goes_on(r) && done == r->is.n_hosts) {
        r->is.ended = now;
        tell(e, NULL, "the roll of maintenance is over", now);
    }
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static int check_host(const struct engine *e, const char *word, const struct host_facts **ret,
                      struct err *err)
{
    int r = host_commands_find(e, word, ret, err);

    if (r < 0)
        return r;
    enum host_state state = (*ret)->state;

    if (state != HOST_ON && state != HOST_MAINTENANCE && state != HOST_ENTERING_MAINTENANCE)
        return err_set(err, -EBUSY, "host %s is %s, expected a host that is on or in maintenance",
                       (*ret)->name, host_state_name(state));
    return 0;
}

/* Two people for the roll also stand for the maintenance of its hosts. */
static int agree(struct engine *e, const struct maintenance_roll *fresh, uint32_t at_once, const char *by,
                 instant_s now, char ret_by[FOUR_EYES_BY_MAX], struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *key = arena_printf(&a, "%u", at_once);
    const size_t n = fresh->is.n_hosts;

    for (size_t i = 0; i < n; i++)
        key = arena_printf(&a, "%s\n%s", key, fresh->hosts[i].id);
    const struct four_eyes_request q = {
        .action = FOUR_EYES_ROLL,
        .key = key,
        .what = arena_printf(&a, "begin a roll of maintenance of %zu host%s, %u at once, first %.100s", n,
                             n == 1 ? "" : "s", at_once, host_name(e, fresh->hosts[0].id)),
    };

    return four_eyes_agree(e, &q, by, now, ret_by, err);
}

int engine_roll_begin(struct engine *e, const char *const *hosts, size_t n, uint32_t at_once, const char *by,
                      instant_s now, struct err *err)
{
    const unsigned needed = 1u << OPERATION_ENTER_MAINTENANCE | 1u << OPERATION_EXIT_MAINTENANCE;
    struct maintenance_roll fresh = {0};
    char who[FOUR_EYES_BY_MAX];
    int r = 0;

    if (goes_on(e->roll))
        return err_set(err, -EBUSY,
                       "a roll of maintenance is in progress; `ballast maintenance roll` shows it, `ballast "
                       "maintenance stop` ends it");
    if (!own_maintenance_or_source_can(e, needed))
        return err_set(err, -ENOTSUP, "maintenance mode is not something that this source can be asked for");
    for (size_t i = 0; i < n && r == 0; i++) {
        const struct host_facts *h = NULL;

        r = check_host(e, hosts[i], &h, err);
        for (size_t k = 0; k < fresh.is.n_hosts && r == 0; k++)
            if (strcmp(fresh.hosts[k].id, h->id) == 0)
                r = err_set(err, -EINVAL, "host %s is named twice", h->name);
        if (r == 0)
            add_host(&fresh, h->id);
    }
    if (r == 0)
        r = agree(e, &fresh, at_once, by, now, who, err);
    if (r < 0) {
        empty(&fresh);
        return r;
    }
    fresh.is.at_once = at_once;
    fresh.is.started = now;
    fresh.by = xstrdup(who);
    empty(e->roll);
    *e->roll = fresh;
    for (size_t i = 0; i < n; i++)
        e->roll->hosts[i].since = now;
    tell(e, NULL, "a roll of maintenance begins", now);
    maintenance_roll_step(e, now);
    engine_tick(e, now);
    return 0;
}

int engine_roll_stop(struct engine *e, const char *why, const char *by, instant_s now, struct err *err)
{
    const bool withdrawn = four_eyes_withdraw(e, FOUR_EYES_ROLL, NULL, by, now);

    if (!goes_on(e->roll))
        return withdrawn ? 0 : err_set(err, -EINVAL, "no roll of maintenance is in progress");
    if (why)
        stop(e, NULL, now, "%s", why);
    else
        stop(e, NULL, now, "ended by %s", by);
    engine_tick(e, now);
    return 0;
}

/* ---- in the store ---------------------------------------------------------------------------- */

const char *maintenance_roll_text(const struct engine *e, struct arena *a)
{
    const struct maintenance_roll *r = e->roll;
    json_t *hosts = json_array();

    if (r->is.n_hosts == 0) {
        json_decref(hosts);
        return NULL;
    }
    for (size_t i = 0; i < r->is.n_hosts; i++) {
        const struct roll_host *h = &r->hosts[i];

        (void)json_array_append_new(hosts,
                                    json_pack("{s:s, s:s, s:I, s:I, s:I}", "id", h->id, "step",
                                              roll_step_name(h->step), "since", (json_int_t)h->since,
                                              "action", (json_int_t)h->action, "pass", (json_int_t)h->pass));
    }
    json_t *root = json_pack("{s:o, s:i, s:s, s:I, s:I, s:s?}", "hosts", hosts, "at_once", (int)r->is.at_once,
                             "by", r->by, "started", (json_int_t)r->is.started, "ended",
                             (json_int_t)r->is.ended, "failed", r->failed);
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    const char *copy = arena_strdup(a, text);

    free(text);
    json_decref(root);
    return copy;
}

/* A text that cannot be read begins no roll. */
void maintenance_roll_recall(struct engine *e, const char *text)
{
    struct maintenance_roll *r = e->roll;
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;
    const char *by = json_string_value(json_object_get(root, "by"));
    const json_t *h;
    size_t i;

    json_array_foreach(json_object_get(root, "hosts"), i, h)
    {
        const char *id = json_string_value(json_object_get(h, "id"));
        const char *step = json_string_value(json_object_get(h, "step"));
        enum roll_step is;

        if (!id || !step || roll_step_parse(step, &is) < 0) {
            empty(r);
            break;
        }
        add_host(r, id);
        r->hosts[i].step = is;
        r->hosts[i].since = json_integer_value(json_object_get(h, "since"));
        r->hosts[i].action = (uint64_t)json_integer_value(json_object_get(h, "action"));
        r->hosts[i].pass = (uint64_t)json_integer_value(json_object_get(h, "pass"));
    }
    if (r->is.n_hosts > 0) {
        r->is.at_once = (uint32_t)json_integer_value(json_object_get(root, "at_once"));
        r->is.started = json_integer_value(json_object_get(root, "started"));
        r->is.ended = json_integer_value(json_object_get(root, "ended"));
        r->by = xstrdup(by ? by : "?");
        xstrset(&r->failed, json_string_value(json_object_get(root, "failed")));
    }
    json_decref(root);
}
