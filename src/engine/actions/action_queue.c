#include "engine/actions/action_queue.h"

#include "engine/actions/action.h"

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

void action_queue_add(struct actions *all, struct action *x)
{
    struct action_queue *g = &all->queue;

    if (x->due || !action_committed(x))
        return;
    x->due = true;
    if (g->at && !comes_before(g->at, x))
        action_list_add(&g->later, x);
    else
        heap_push(&g->due, x);
}

void action_queue_add_all(struct actions *all)
{
    all->queue.all = true;
}

void action_queue_queue(struct actions *all, struct action *x)
{
    if (x->queued)
        return;
    x->queued = true;
    heap_push(&all->queue.queue, x);
}

/* Only one that is approved waits for others. */
static void wake_list(struct actions *all, const struct action_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i]->r.state == ACTION_APPROVED && !l->items[i]->job_out)
            action_queue_add(all, l->items[i]);
    }
}

void action_queue_wake(struct actions *all, const struct action *x)
{
    wake_list(all, &slot_usage_of_host(all, x->r.from)->actions);
    wake_list(all, &slot_usage_of_host(all, x->r.to)->actions);
    wake_list(all, &slot_usage_of_host(all, x->r.host)->actions);
    wake_list(all, &slot_usage_of_vm(all, x->r.vm)->actions);
    wake_list(all, &x->needed_by);
    if (x->r.kind == ACTION_POWER_ON || x->r.kind == ACTION_POWER_OFF)
        wake_list(all, &all->usage.power);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void take_all(struct actions *all)
{
    const struct action_list *committed = &all->usage.committed;

    all->queue.all = false;
    for (size_t i = 0; i < committed->n; i++)
        action_queue_add(all, committed->items[i]);
}

static void take_later(struct action_queue *g)
{
    for (size_t i = 0; i < g->later.n; i++)
        heap_push(&g->due, g->later.items[i]);
    g->later.n = 0;
}

void action_queue_begin(struct actions *all)
{
    take_later(&all->queue);
    if (all->queue.all)
        take_all(all);
}

struct action *action_queue_next(struct actions *all, bool full)
{
    struct action_queue *g = &all->queue;

    while (g->queue.n > 0 && !full) {
        struct action *first = heap_pop(&g->queue);
        bool now = !g->at || comes_before(g->at, first);

        first->queued = false;
        action_queue_add(all, first);
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

void action_queue_forget(struct actions *all)
{
    take_later(&all->queue);
    keep_committed(&all->queue.due);
    keep_committed(&all->queue.queue);
}

void action_queue_release(struct actions *all)
{
    action_list_release(&all->queue.due);
    action_list_release(&all->queue.later);
    action_list_release(&all->queue.queue);
}
