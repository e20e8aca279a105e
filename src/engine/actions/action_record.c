#include "engine/actions/action_record.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

#define TEXTS 13

static void texts_of(struct action_record *r, const char **ret[TEXTS])
{
    const char **const texts[TEXTS] = {&r->uid,  &r->vm,        &r->from,        &r->to,       &r->host,
                                       &r->rule, &r->text,      &r->approved_by, &r->ended_by, &r->task,
                                       &r->why,  &r->former_to, &r->identity};

    memcpy(ret, texts, sizeof texts);
}

static void needs_into(const struct action_record *r, uint64_t *to)
{
    for (uint32_t i = 0; i < r->n_depends_on; i++)
        to[i] = r->depends_on[i];
}

struct action_record action_record_copy(const struct action_record *r)
{
    struct action_record c = *r;
    uint64_t *needs = r->n_depends_on > 0 ? xcalloc(r->n_depends_on, sizeof *needs) : NULL;
    const char **texts[TEXTS];

    needs_into(r, needs);
    c.depends_on = needs;
    texts_of(&c, texts);
    for (int i = 0; i < TEXTS; i++)
        *texts[i] = xstrdup(*texts[i]);
    return c;
}

void action_record_release(struct action_record *r)
{
    const char **texts[TEXTS];

    texts_of(r, texts);
    for (int i = 0; i < TEXTS; i++)
        free((void *)(uintptr_t)*texts[i]);
    free((void *)(uintptr_t)r->depends_on);
}

struct action_record action_record_lend(const struct action_record *r, struct arena *a)
{
    struct action_record c = *r;
    uint64_t *needs = arena_array(a, uint64_t, r->n_depends_on);
    const char **texts[TEXTS];

    needs_into(r, needs);
    c.depends_on = needs;
    texts_of(&c, texts);
    for (int i = 0; i < TEXTS; i++)
        *texts[i] = arena_strdup(a, *texts[i]);
    return c;
}
