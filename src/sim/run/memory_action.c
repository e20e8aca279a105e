#include "sim/run/memory_action.h"

#include "engine/memory.h"

#include <stdlib.h>

static void drop(const char *s)
{
    free((void *)(uintptr_t)s);
}

void memory_action_release(struct action_record *r)
{
    const char *const own[] = {r->uid,  r->vm,   r->from,        r->to,   r->host,
                               r->rule, r->text, r->approved_by, r->task, r->why};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        drop(own[i]);
    free((void *)(uintptr_t)r->depends_on);
}

struct action_record memory_action_copy(const struct action_record *r)
{
    struct action_record c = *r;
    uint64_t *needs = xcalloc(r->n_depends_on, sizeof *needs);

    for (uint32_t i = 0; i < r->n_depends_on; i++)
        needs[i] = r->depends_on[i];
    c.depends_on = needs;
    c.uid = xstrdup(r->uid);
    c.vm = xstrdup(r->vm);
    c.from = xstrdup(r->from);
    c.to = xstrdup(r->to);
    c.host = xstrdup(r->host);
    c.rule = xstrdup(r->rule);
    c.text = xstrdup(r->text);
    c.approved_by = xstrdup(r->approved_by);
    c.task = xstrdup(r->task);
    c.why = xstrdup(r->why);
    return c;
}

struct action_record memory_action_lend(const struct action_record *r, struct arena *a)
{
    struct action_record c = *r;
    uint64_t *needs = arena_array(a, uint64_t, r->n_depends_on);

    for (uint32_t i = 0; i < r->n_depends_on; i++)
        needs[i] = r->depends_on[i];
    c.depends_on = needs;
    c.uid = arena_strdup(a, r->uid);
    c.vm = arena_strdup(a, r->vm);
    c.from = arena_strdup(a, r->from);
    c.to = arena_strdup(a, r->to);
    c.host = arena_strdup(a, r->host);
    c.rule = arena_strdup(a, r->rule);
    c.text = arena_strdup(a, r->text);
    c.approved_by = arena_strdup(a, r->approved_by);
    c.task = arena_strdup(a, r->task);
    c.why = arena_strdup(a, r->why);
    return c;
}
