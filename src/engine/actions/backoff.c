/* backoff.c: how long a VM or a host is left alone after what was done to it, or tried. */
#include "engine/actions/backoff.h"

#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/retry.h"

#include <ballast/plan.h>
#include <ballast/policy.h>

#include <errno.h>
#include <stdlib.h>

#define LONGEST_S (4 * 3600) /* of a VM whose moves fail ... */
#define WAKE_LONGEST_S 3600  /* ... and of a host that does not wake */

static struct backoff *find_or_make(struct idmap *map, const char *id)
{
    return idmap_make(map, id, sizeof(struct backoff));
}

struct backoff *backoff_of_vm(struct actions *all, const char *vm)
{
    return find_or_make(&all->vm_backoff, vm);
}

void backoff_moved(struct backoff *b, const char *from, instant_s at)
{
    free(b->left);
    b->left = from ? xstrdup(from) : NULL;
    b->moved = at;
}

static struct backoff *of_action(struct actions *all, const struct action_record *r)
{
    if (r->vm)
        return find_or_make(&all->vm_backoff, r->vm);
    return find_or_make(r->kind == ACTION_POWER_OFF ? &all->standby_backoff : &all->wake_backoff, r->host);
}

/* Whether its end says something about the next one of its kind. */
static bool matters_for_next(const struct action_record *r)
{
    return r->kind == ACTION_MIGRATE || r->kind == ACTION_POWER_ON || r->kind == ACTION_POWER_OFF;
}

bool backoff_is_short(const struct action_record *r)
{
    return r->kind == ACTION_MIGRATE && r->state == ACTION_FAILED && r->priority == PRIORITY_MANDATORY &&
           r->unclear != ECANCELED && retry_is_transient(-(int)r->unclear);
}

/* Twice as long after each failure in a row: of what moves from the cool-down on. A host that did not wake is
 * asked again much sooner: asking does no harm, and it may be the only one that is left to be woken; others
 * whose wake-up is proven come before it. So is a mandatory move whose cause may pass: a person may wait for
 * it. */
static instant_s length_s(const struct policy *p, const struct action_record *r, unsigned failures)
{
    const bool wakes = r->kind == ACTION_POWER_ON;
    instant_s length = wakes ? p->interval_s : p->cool_down_s;

    if (backoff_is_short(r) && length > RETRY_MOVE_S)
        length = RETRY_MOVE_S;
    return retry_doubled_s(length > 0 ? length : 1, wakes ? WAKE_LONGEST_S : LONGEST_S, failures);
}

void backoff_end(struct actions *all, const struct policy *p, const struct action_record *r, bool taught,
                 instant_s ended)
{
    if (taught || !matters_for_next(r) ||
        (r->state != ACTION_DONE && r->state != ACTION_FAILED && r->state != ACTION_REJECTED))
        return;
    struct backoff *b = of_action(all, r);

    if (r->state == ACTION_DONE) {
        b->failures = 0;
        b->until = 0;
        backoff_moved(b, r->vm ? r->from : NULL, ended);
        return;
    }
    b->tried = ended;
    if (r->state == ACTION_FAILED)
        b->failures++;
    b->until = ended + length_s(p, r, r->state == ACTION_FAILED ? b->failures : 1);
}

void backoff_clock(struct backoff *b, instant_s now)
{
    if (!b)
        return;
    b->moved = b->moved < now ? b->moved : now;
    b->tried = b->tried < now ? b->tried : now;
    b->until = b->until < now + LONGEST_S ? b->until : now + LONGEST_S;
}

static void free_backoff(void *value)
{
    struct backoff *b = value;

    free(b->left);
    free(b);
}

/* As after a restart, which reads no further back. */
static bool keep_recent(const char *key, void *value, void *ctx)
{
    const instant_s *before = ctx;
    const struct backoff *b = value;

    (void)key;
    if (b->moved >= *before || b->tried >= *before || b->until >= *before)
        return true;
    free_backoff(value);
    return false;
}

void backoff_forget(struct actions *all, instant_s before)
{
    struct idmap *const maps[] = {&all->vm_backoff, &all->wake_backoff, &all->standby_backoff};

    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        idmap_keep(maps[i], keep_recent, &before);
}

void backoff_release(struct actions *all)
{
    idmap_release(&all->vm_backoff, free_backoff);
    idmap_release(&all->wake_backoff, free_backoff);
    idmap_release(&all->standby_backoff, free_backoff);
}
