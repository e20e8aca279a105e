/* placement_queue.c: requests for placements that wait: their order, what is kept for them, how long they
 * wait and for what. It decides nothing. */
#include "base/instant.h"
#include "engine/actions/action.h"
#include "engine/placement.h"
#include "engine/source_poll.h"
#include "engine/state.h"
#include "model/snapshot_build.h"

#include <errno.h>
#include <stdio.h>

bool placement_queue_wants_inventory(const struct engine *e, const struct pending_placement *p)
{
    return !p->decided && (!p->blocked || p->released != e->actions->released);
}

bool placement_wait(const struct engine *e)
{
    size_t i = 0;

    while (i < e->placements->n && !placement_queue_wants_inventory(e, e->placements->list[i]))
        i++;
    return i < e->placements->n;
}

int placement_queue_order(const void *a, const void *b)
{
    const struct pending_placement *x = *(struct pending_placement *const *)a;
    const struct pending_placement *y = *(struct pending_placement *const *)b;

    if (x->aged != y->aged)
        return x->aged ? -1 : 1;
    if (!x->aged && x->plan.n_candidates != y->plan.n_candidates)
        return x->plan.n_candidates > y->plan.n_candidates ? -1 : 1;
    if (!x->aged && x->mem_mb != y->mem_mb)
        return x->mem_mb < y->mem_mb ? -1 : 1;
    return (x->ticket > y->ticket) - (x->ticket < y->ticket);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

void placement_queue_add(struct snapshot *s, const struct plan *plan, bool only_starts, struct arena *a)
{
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *r = &plan->recommendations[i];

        if (!only_starts || r->action == ACTION_PLACE)
            snapshot_build_add_pending(s, r, a);
    }
}

const struct snapshot *placement_queue_begin(const struct engine *e, struct pending_placement *p)
{
    observation_unref(p->decided_from);
    arena_release(&p->arena);
    p->decided_from = e->now_seen;
    p->decided_from->references++;
    p->plan = (struct plan){0};
    struct snapshot *s = arena_copy(&p->arena, &e->now_seen->snap, 1, sizeof *s);

    for (size_t i = 0; i < e->placements->n; i++) {
        const struct pending_placement *x = e->placements->list[i];

        if (x != p && x->blocked && x->aged && !x->decided && x->decided_from == e->now_seen)
            placement_queue_add(s, &x->plan, true, &p->arena);
    }
    return s;
}

/* ---- the wait -------------------------------------------------------------------------------- */

instant_s placement_wakeup(const struct engine *e)
{
    instant_s at = INT64_MAX;

    for (size_t i = 0; i < e->placements->n; i++)
        at = e->placements->list[i]->decided ? at : instant_earlier(at, e->placements->list[i]->deadline);
    return at;
}

/* Names what is under way and holds room, by the oldest of it. */
static void put_holder(const struct engine *e, char *ret, size_t size)
{
    const struct snapshot *s = engine_snapshot(e);

    (void)snprintf(ret, size, "migrations by others or requests that came before hold the room");
    for (size_t i = e->actions->n; i-- > 0;) {
        const struct action_record *r = &e->actions->list[i]->r;

        if (action_committed(e->actions->list[i]) && (r->to || r->kind == ACTION_POWER_ON))
            (void)snprintf(
                ret, size,
                "action %llu (%s %.99s, host %.99s), approved by %.99s, and later ones hold the room",
                (unsigned long long)r->id, action_kind_name(r->kind), r->vm ? snapshot_vm_name(s, r->vm) : "",
                snapshot_host_name(s, r->vm ? r->to : r->host), r->approved_by);
    }
}

int placement_queue_explain(const struct engine *e, struct pending_placement *p, instant_s now)
{
    char what[ERR_TEXT_MAX];

    if (p->blocked)
        put_holder(e, what, sizeof what);
    else if (p->passed_over)
        (void)snprintf(what, sizeof what, "the requests before it took all the time");
    else
        (void)snprintf(what, sizeof what, "no answer about the cluster by %s, asked %lld s ago",
                       e->awaits ? "an external unit" : "the source", (long long)(now - e->poll->asked_at));
    return err_set(&p->error, -ETIMEDOUT,
                   "nothing was begun within placement.lock_wait_s (%lld s): %s; ask again later",
                   (long long)(p->deadline - p->asked), what);
}
