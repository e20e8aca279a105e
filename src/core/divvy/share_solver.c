/* Divides one quantity among the children of one node. */
#include "core/divvy/divvy.h"

#include "base/order.h"

#include <stdlib.h>

/* A λ at which a child leaves its reservation or reaches its limit. */
struct breakpoint {
    double lambda;
    double d_shares; /* change of the sum of growing shares */
    double d_fixed;  /* change of the sum of fixed quantities */
};

static double share_of(const struct divvy_child *c, double lambda)
{
    return fmin(fmax(lambda * c->shares, c->reservation), c->limit);
}

/* Sweeps the breakpoints to the interval in which all is handed out, and solves for λ there. Sums are
 * computed anew on that interval, so that the result has no rounding from the sweep. */
static double solve_lambda(const struct divvy_child *children, uint32_t k, double quantity, struct arena *a)
{
    struct breakpoint *at = arena_array(a, struct breakpoint, (size_t)k * 2);
    uint32_t n = 0;
    double fixed = 0;

    for (uint32_t i = 0; i < k; i++) {
        const struct divvy_child *c = &children[i];
        fixed += c->reservation;
        if (c->shares <= 0 || c->limit <= c->reservation)
            continue;
        at[n++] = (struct breakpoint){c->reservation / c->shares, c->shares, -c->reservation};
        if (c->limit < NO_LIMIT)
            at[n++] = (struct breakpoint){c->limit / c->shares, -c->shares, c->limit};
    }
    qsort(at, n, sizeof at[0], order_numbers);
    double growing = 0;
    double from = 0;
    double to = NO_LIMIT;
    for (uint32_t i = 0; i < n; i++) {
        growing += at[i].d_shares;
        fixed += at[i].d_fixed;
        from = at[i].lambda;
        to = i + 1 < n ? at[i + 1].lambda : NO_LIMIT;
        if (fixed + growing * to >= quantity)
            break;
    }
    /* decides which children grow in the middle of the interval, where rounding at the breakpoints does not
     * matter */
    double middle = to < NO_LIMIT ? (from + to) / 2 : 2 * from + 1;
    double exact_fixed = 0;
    double exact_growing = 0;
    for (uint32_t i = 0; i < k; i++) {
        const struct divvy_child *c = &children[i];
        double there = middle * c->shares;
        if (c->reservation < there && there < c->limit)
            exact_growing += c->shares;
        else
            exact_fixed += share_of(c, middle);
    }
    if (!(exact_growing > 0))
        return from;
    return fmin(fmax((quantity - exact_fixed) / exact_growing, from), to);
}

void divvy_solve_shares(const struct divvy_child *children, uint32_t k, double quantity, struct arena *a,
                        double *portion)
{
    double reserved = 0;
    double most = 0;
    double most_with_shares = 0; /* with the reservations of the children without shares */

    for (uint32_t i = 0; i < k; i++) {
        reserved += children[i].reservation;
        most += children[i].limit;
        most_with_shares += children[i].shares > 0 ? children[i].limit : children[i].reservation;
    }
    if (reserved >= quantity) {
        double scale = reserved > 0 ? quantity / reserved : 0;
        for (uint32_t i = 0; i < k; i++)
            portion[i] = children[i].reservation * scale;
        return;
    }
    if (most <= quantity) {
        for (uint32_t i = 0; i < k; i++)
            portion[i] = children[i].limit;
        return;
    }
    if (most_with_shares <= quantity) {
        /* All children with shares are satisfied. Those without shares divide the rest equally. */
        struct divvy_child *rest = arena_array(a, struct divvy_child, k);
        for (uint32_t i = 0; i < k; i++) {
            rest[i] = children[i];
            if (rest[i].shares > 0)
                rest[i].reservation = rest[i].limit;
            else
                rest[i].shares = 1;
        }
        children = rest;
    }
    double lambda = solve_lambda(children, k, quantity, a);
    for (uint32_t i = 0; i < k; i++)
        portion[i] = share_of(&children[i], lambda);
}
