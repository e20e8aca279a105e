/* evacuations.c: what VMs that are to leave their hosts wait for, and when moves that failed are tried again.
 */
#include "engine/evacuations.h"

#include "base/cleanup.h"
#include "base/instant.h"
#include "engine/actions/action.h"
#include "engine/decide.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/state.h"

#include <string.h>

/* 0: it may be tried now. */
static instant_s held_until(const struct engine *e, const struct action_record *r, instant_s now)
{
    const struct backoff *b = idmap_get(&e->actions->vm_backoff, r->vm);
    const struct failure_record *f = failed_moves_find(e->knowledge->failed_moves, r, now);
    instant_s until = instant_later(b ? b->until : 0, f ? f->until : 0);

    return until > now ? until : 0;
}

void evacuations_want_pass(struct engine *e, instant_s now)
{
    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action_record *r = &e->actions->list[i]->r;
        instant_s until = backoff_is_short(r) ? held_until(e, r, now) : 0;

        if (until != 0)
            e->passes->next = instant_earlier(e->passes->next, until);
    }
}

/* ---- what can be seen ---- */

/* Of each VM the move that tells most: one that is carried out, else the failure that holds it back. */
static void find_moves(const struct engine *e, instant_s now, struct idmap *ret)
{
    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *x = e->actions->list[i];
        const bool told = action_committed(x) || x->r.state == ACTION_FAILED;

        if (x->r.kind != ACTION_MIGRATE || (!told && x->r.state != ACTION_RECOMMENDED))
            continue;
        struct action **slot = (struct action **)idmap_slot(ret, x->r.vm);

        if (told || !*slot || held_until(e, &(*slot)->r, now) == 0)
            *slot = x;
    }
}

size_t engine_left_vms(const struct engine *e, instant_s now, struct arena *a, struct engine_left_vm **ret)
{
    CLEANUP(idmap_releasep) struct idmap moves = {0};
    const struct snapshot *s = engine_snapshot(e);
    size_t n = 0;

    if (!s)
        return 0;
    *ret = arena_array(a, struct engine_left_vm, s->n_vms);
    find_moves(e, now, &moves);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *v = &s->vms[i];
        const struct host_facts *h = v->host == IX_NONE ? NULL : &s->hosts[v->host].is;

        if (!vm_takes_part(s, v) || h->state == HOST_ON || v->is.kind == VM_AGENT)
            continue;
        const struct action *x = idmap_get(&moves, v->is.id);
        struct engine_left_vm *left = &(*ret)[n++];

        *left = (struct engine_left_vm){.host = h->id, .vm = v->is.id, .state = action_state_count};
        if (!x || strcmp(x->r.from, h->id) != 0)
            continue;
        left->state = x->r.state;
        left->why = x->r.why;
        left->until = x->r.state == ACTION_FAILED ? held_until(e, &x->r, now) : 0;
    }
    return n;
}
