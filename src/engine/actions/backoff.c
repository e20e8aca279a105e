/* backoff.c: how long a VM or a host is left alone after what was done to it, or tried. */
#include "engine/actions/backoff.h"

#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/state.h"

#include <stdlib.h>

#define LONGEST_S (4 * 3600) /* of a VM whose moves fail ... */
#define WAKE_LONGEST_S 3600  /* ... and of a host that does not wake */

static struct backoff *find_or_make(struct idmap *map, const char *id)
{
    void **slot = idmap_slot(map, id);

    if (!*slot)
        *slot = xcalloc(1, sizeof(struct backoff));
    return *slot;
}

struct backoff *backoff_of_vm(struct engine *e, const char *vm)
{
    return find_or_make(&e->actions->vm_backoff, vm);
}

struct backoff *backoff_of_action(struct engine *e, const struct action_record *r)
{
    if (r->vm)
        return find_or_make(&e->actions->vm_backoff, r->vm);
    return find_or_make(
        r->kind == ACTION_POWER_OFF ? &e->actions->standby_backoff : &e->actions->wake_backoff, r->host);
}

bool backoff_follows(const struct action_record *r)
{
    return r->kind == ACTION_MIGRATE || r->kind == ACTION_POWER_ON || r->kind == ACTION_POWER_OFF;
}

/* Twice as long after each failure in a row: of what moves from the cool-down on. A host that did not wake is
 * asked again much sooner: asking does no harm, and it may be the only one that is left to be woken; others
 * whose wake-up is proven come before it. */
instant_s backoff_length_s(const struct engine *e, enum action_kind kind, unsigned failures)
{
    const struct policy *p = &e->settings.policy;
    instant_s length = kind == ACTION_POWER_ON ? p->interval_s : p->cool_down_s;
    instant_s most = kind == ACTION_POWER_ON ? WAKE_LONGEST_S : LONGEST_S;

    length = length > 0 ? length : 1;
    for (unsigned i = 1; i < failures && length < most; i++)
        length *= 2;
    return length < most ? length : most;
}

void backoff_end(struct engine *e, const struct action_record *r, instant_s ended)
{
    if (!backoff_follows(r) ||
        (r->state != ACTION_DONE && r->state != ACTION_FAILED && r->state != ACTION_REJECTED))
        return;
    struct backoff *b = backoff_of_action(e, r);

    if (r->state == ACTION_DONE) {
        *b = (struct backoff){.moved = ended, .tried = b->tried};
        return;
    }
    b->tried = ended;
    if (r->state == ACTION_FAILED)
        b->failures++;
    b->until = ended + backoff_length_s(e, r->kind, r->state == ACTION_FAILED ? b->failures : 1);
}

/* As after a restart, which reads no further back. */
static bool keep_recent(const char *key, void *value, void *ctx)
{
    const instant_s *before = ctx;
    const struct backoff *b = value;

    (void)key;
    if (b->moved >= *before || b->tried >= *before || b->until >= *before)
        return true;
    free(value);
    return false;
}

void backoff_forget(struct engine *e, instant_s before)
{
    struct idmap *const all[] = {&e->actions->vm_backoff, &e->actions->wake_backoff,
                                 &e->actions->standby_backoff};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        idmap_keep(all[i], keep_recent, &before);
}

static void free_backoff(void *value)
{
    free(value);
}

void backoff_release(struct actions *all)
{
    idmap_release(&all->vm_backoff, free_backoff);
    idmap_release(&all->wake_backoff, free_backoff);
    idmap_release(&all->standby_backoff, free_backoff);
}
