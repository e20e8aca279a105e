#include "engine/actions/action_queue.h"

#include "engine/actions/action.h"
#include "engine/state.h"

#include <string.h>

static bool comes_before(const struct action *x, const struct action *y)
{
    return x->r.priority != y->r.priority ? x->r.priority < y->r.priority : x->r.id < y->r.id;
}

/* ---- heaps ----------------------------------------------------------------------------------- */

static void heap_push(struct action_list *h, struct action *x)
{
    action_list_add(h, x);
    size_t i = h->n - 1;

    for (; i > 0 && comes_before(x, h->items[(i - 1) / 2]); i = (i - 1) / 2)
        h->items[i] = h->items[(i - 1) / 2];
    h->items[i] = x;
}

/* There must be one. */
static struct action *heap_pop(struct action_list *h)
{
    struct action *ret = h->items[0];
    struct action *last = h->items[--h->n];
    size_t i = 0;

    for (size_t k = 1; k < h->n; k = 2 * i + 1) {
        if (k + 1 < h->n && comes_before(h->items[k + 1], h->items[k]))
            k++;
        if (!comes_before(h->items[k], last))
            break;
        h->items[i] = h->items[k];
        i = k;
    }
    h->items[i] = last;
    return ret;
}

/* ---- what is due ----------------------------------------------------------------------------- */

void action_queue_add(struct engine *e, struct action *x)
{
    struct action_queue *g = &e->actions->queue;

    if (x->due || !action_committed(x))
        return;
    x->due = true;
    if (g->at && !comes_before(g->at, x))
        action_list_add(&g->later, x);
    else
        heap_push(&g->due, x);
}

void action_queue_add_all(struct engine *e)
{
    e->actions->queue.all = true;
}

void action_queue_queue(struct engine *e, struct action *x)
{
    if (x->queued)
        return;
    x->queued = true;
    heap_push(&e->actions->queue.queue, x);
}

/* Only one that is approved waits for others. */
static void wake_list(struct engine *e, const struct action_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i]->r.state == ACTION_APPROVED && !l->items[i]->job_out)
            action_queue_add(e, l->items[i]);
    }
}

void action_queue_wake(struct engine *e, const struct action *x)
{
    wake_list(e, &slot_usage_of_host(e, x->r.from)->actions);
    wake_list(e, &slot_usage_of_host(e, x->r.to)->actions);
    wake_list(e, &slot_usage_of_host(e, x->r.host)->actions);
    wake_list(e, &slot_usage_of_vm(e, x->r.vm)->actions);
    wake_list(e, &x->needed_by);
    if (x->r.kind == ACTION_POWER_ON || x->r.kind == ACTION_POWER_OFF)
        wake_list(e, &e->actions->usage.power);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void take_all(struct engine *e)
{
    const struct action_list *all = &e->actions->usage.committed;

    e->actions->queue.all = false;
    for (size_t i = 0; i < all->n; i++)
        action_queue_add(e, all->items[i]);
}

static void take_later(struct action_queue *g)
{
    for (size_t i = 0; i < g->later.n; i++)
        heap_push(&g->due, g->later.items[i]);
    g->later.n = 0;
}

void action_queue_begin(struct engine *e)
{
    take_later(&e->actions->queue);
    if (e->actions->queue.all)
        take_all(e);
}

struct action *action_queue_next(struct engine *e)
{
    struct action_queue *g = &e->actions->queue;

    while (g->queue.n > 0 && !slot_usage_is_full(e)) {
        struct action *first = heap_pop(&g->queue);
        bool now = !g->at || comes_before(g->at, first);

        first->queued = false;
        action_queue_add(e, first);
        if (now) /* one is offered the slot at a time */
            break;
    }
    if (g->due.n == 0) {
        g->at = NULL;
        return NULL;
    }
    struct action *x = heap_pop(&g->due);

    x->due = false;
    g->at = x;
    return x;
}

static void keep_committed(struct action_list *h)
{
    size_t n = h->n;

    h->n = 0;
    for (size_t i = 0; i < n; i++) { /* never pushes beyond what it has read */
        struct action *x = h->items[i];

        if (action_committed(x))
            heap_push(h, x);
    }
}

void action_queue_forget(struct engine *e)
{
    take_later(&e->actions->queue);
    keep_committed(&e->actions->queue.due);
    keep_committed(&e->actions->queue.queue);
}

void action_queue_release(struct actions *all)
{
    action_list_release(&all->queue.due);
    action_list_release(&all->queue.later);
    action_list_release(&all->queue.queue);
}
