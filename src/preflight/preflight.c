/* preflight.c: starts the parts, waits for them, and puts their items in order. */
#include "preflight/internal.h"

#include "base/xalloc.h"

#include <ballast/actuator.h>

#include <stdlib.h>
#include <string.h>

static void init_findings(struct findings *f)
{
    *f = (struct findings){0};
    f->list.a = &f->arena;
}

static void take_findings(const struct preflight *from, struct preflight *to)
{
    for (size_t i = 0; i < from->n; i++) {
        preflight_add(to, from->items[i].area, from->items[i].verdict, "%s", from->items[i].text);
        if (from->items[i].advice)
            preflight_advise(to, "%s", from->items[i].advice);
        preflight_about(to, from->items[i].key, from->items[i].choice);
    }
}

/* What the service does without being asked, by these settings. */
static unsigned own_operations(const struct config *c)
{
    const struct policy *p = &c->policy;
    unsigned operations = 0;

    if (p->automation == AUTOMATION_FULL)
        operations |= 1u << OPERATION_MIGRATE;
    if (p->dpm.enabled && p->dpm.automation == AUTOMATION_AUTOMATIC)
        operations |= 1u << OPERATION_MIGRATE | 1u << OPERATION_STANDBY | 1u << OPERATION_WAKE;
    return operations;
}

/* The parts live on the heap: a thread that was given up may still write to its own. */
struct parts {
    struct source_part source;
    struct broker_part broker;
    struct alarm_part *alarms; /* in the arena */
    struct controllers_part controllers;
    struct relays_part relays;
    struct arena arena;
};

static void add_source(const struct config *c, const struct source_part *s, const struct preflight_task *task,
                       struct preflight *ret)
{
    if (!task)
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_OK, "source.kind %s: there is nothing to connect to",
                      c->source.kind);
    else if (task->done)
        take_findings(&s->found.list, ret);
    else
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM, "%s has not answered within %u s",
                      c->source.url ? c->source.url : c->source.kind, task->most_s);
}

static void add_broker(const struct config *c, const struct broker_part *b, const struct preflight_task *task,
                       struct preflight *ret)
{
    if (!task)
        return;
    if (task->done)
        take_findings(&b->found.list, ret);
    else
        preflight_add(ret, PREFLIGHT_BROKER, PREFLIGHT_PROBLEM, "%s has not answered within %u s",
                      c->mqtt.url, task->most_s);
}

/* Writes a task for each target, and returns their number. */
static size_t begin_alarms(const struct config *c, struct parts *p, struct preflight_task *tasks)
{
    p->alarms = arena_array(&p->arena, struct alarm_part, c->n_alarms + 1);
    for (size_t i = 0; i < c->n_alarms; i++) {
        init_findings(&p->alarms[i].found);
        p->alarms[i].target = &c->alarms[i];
        tasks[i] = (struct preflight_task){
            .run = preflight_alarm, .ctx = &p->alarms[i], .most_s = PREFLIGHT_ALARM_MOST_S};
    }
    return c->n_alarms;
}

static void end_alarms(const struct config *c, const struct parts *p, const struct preflight_task *tasks,
                       struct preflight *ret)
{
    for (size_t i = 0; i < c->n_alarms; i++) {
        if (tasks[i].done)
            take_findings(&p->alarms[i].found.list, ret);
        else
            preflight_add(ret, PREFLIGHT_ALARMS, PREFLIGHT_PROBLEM, "%s has not answered within %u s",
                          c->alarms[i].name, tasks[i].most_s);
    }
}

static void free_parts(const struct config *c, struct parts *p)
{
    for (size_t i = 0; p->alarms && i < c->n_alarms; i++)
        arena_release(&p->alarms[i].found.arena);
    arena_release(&p->source.found.arena);
    arena_release(&p->broker.found.arena);
    arena_release(&p->arena);
    free(p);
}

int preflight_run(const struct config *c, const struct preflight_pause *pauses, size_t n_pauses,
                  struct preflight *ret, bool *ret_abandoned, struct err *err)
{
    struct parts *p = xcalloc(1, sizeof *p);
    const unsigned source_s = preflight_source_most_s(c);
    struct preflight_task *tasks = NULL;
    struct preflight_task *own;

    *ret_abandoned = false;
    size_t n_controllers =
        preflight_controllers_begin(c, pauses, n_pauses, &p->arena, &p->controllers, &tasks);
    size_t n = n_controllers;

    own = arena_array(&p->arena, struct preflight_task, n + p->controllers.n_hosts + 2 + c->n_alarms);
    if (n > 0)
        memcpy(own, tasks, n * sizeof *own);
    n += preflight_relays_begin(p->controllers.hosts, p->controllers.n_hosts, &p->arena, &p->relays, own + n);
    const size_t source_ix = n;
    if (source_s > 0) {
        init_findings(&p->source.found);
        p->source.config = c;
        p->source.operations = own_operations(c);
        own[n++] = (struct preflight_task){.run = preflight_source, .ctx = &p->source, .most_s = source_s};
    }
    const size_t broker_ix = n;
    if (c->mqtt.url) {
        init_findings(&p->broker.found);
        p->broker.config = c;
        own[n++] = (struct preflight_task){
            .run = preflight_broker, .ctx = &p->broker, .most_s = PREFLIGHT_BROKER_MOST_S};
    }
    const size_t alarms_ix = n;

    n += begin_alarms(c, p, own + n);
    int r = run_tasks(own, n, err);

    if (r < 0) {
        free_parts(c, p);
        return r;
    }
    for (size_t i = 0; i < n; i++)
        *ret_abandoned = *ret_abandoned || !own[i].done;
    const struct preflight_task *source = source_s > 0 ? &own[source_ix] : NULL;
    const struct snapshot *snap = source && source->done && p->source.seen ? &p->source.snap : NULL;

    add_source(c, &p->source, source, ret);
    preflight_power_entries(c, &p->controllers, snap, ret);
    preflight_controllers_end(&p->controllers, own, snap, ret);
    preflight_relays_end(&p->relays, own, ret);
    add_broker(c, &p->broker, c->mqtt.url ? &own[broker_ix] : NULL, ret);
    end_alarms(c, p, own + alarms_ix, ret);
    preflight_machine(c, ret);
    if (!*ret_abandoned)
        free_parts(c, p);
    return 0;
}
