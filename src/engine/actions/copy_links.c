/* copy_links.c: which copies share a link. */
#include "engine/actions/copy_links.h"

#include "engine/actions/action.h"

#include <string.h>

enum { LINK_OUT, LINK_IN, LINK_COUNT };

static bool copies(const struct action *x)
{
    return x->r.kind == ACTION_MIGRATE &&
           (action_under_way(x) || (x->r.state == ACTION_APPROVED && x->job_out));
}

/* One that shares both links is found at the first. */
static bool shares(const struct action *x, const struct action *y, int end)
{
    bool out = strcmp(x->r.from, y->r.from) == 0;

    return end == LINK_OUT ? out : !out && strcmp(x->r.to, y->r.to) == 0;
}

struct action *copy_links_next(const struct actions *all, const struct action *x, struct copy_cursor *at)
{
    for (; at->end < LINK_COUNT; at->end++, at->i = 0) {
        const struct action_list *there =
            &slot_usage_of_host(all, at->end == LINK_OUT ? x->r.from : x->r.to)->actions;

        while (at->i < there->n) {
            struct action *y = there->items[at->i++];

            if (y != x && copies(y) && shares(x, y, at->end))
                return y;
        }
    }
    return NULL;
}
