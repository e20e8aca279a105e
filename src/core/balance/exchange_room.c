/* Adds up the amounts that units take, and keeps the units of hosts sorted by size. */
#include "core/balance/exchange_room.h"

#include "base/order.h"

#include <string.h>

/* ---- room of a host ---- */

struct exchange_amounts exchange_room_of(const struct layout *l, uint32_t x, uint32_t y)
{
    struct exchange_amounts sum = {.mem = 0};

    for (int k = 0; k < 2; k++) {
        uint32_t u = k == 0 ? x : y;
        if (u == IX_NONE)
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            sum.reserved[r] += l->unit_reserved[r][u];
        sum.mem += l->unit_mem[u];
        sum.phys += l->unit_phys[u];
        sum.backed += l->unit_backed[u];
    }
    return sum;
}

bool exchange_room_holds_amounts(const struct layout *l, uint32_t slot, const struct exchange_amounts *takes,
                                 const struct exchange_amounts *gives)
{
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];

    for (int r = 0; r < RES_COUNT; r++)
        if (takes->reserved[r] > 0 && l->reserved[r][slot] + takes->reserved[r] - gives->reserved[r] >
                                          h->capacity[r] + EXCHANGE_ROUNDING)
            return false;
    if (takes->mem > 0 &&
        l->mem_taken[slot] + takes->mem - gives->mem > l->mem_limit[slot] + EXCHANGE_ROUNDING)
        return false;
    return takes->phys <= l->mem_free[slot] + gives->backed + EXCHANGE_ROUNDING;
}

bool exchange_room_holds(const struct layout *l, uint32_t slot, uint32_t takes, uint32_t gives)
{
    const struct exchange_amounts in = exchange_room_of(l, takes, IX_NONE);
    const struct exchange_amounts out = exchange_room_of(l, gives, IX_NONE);

    return exchange_room_holds_amounts(l, slot, &in, &out);
}

/* ---- sorted units ---- */

void exchange_room_init(struct exchange_by_size *r, const struct layout *l)
{
    bool physical = l->policy->mem_admission == MEM_ADMISSION_RESERVATION;

    *r = (struct exchange_by_size){.l = l,
                                   .size = physical ? l->unit_phys : l->unit_mem,
                                   .free = physical ? l->mem_free : NULL,
                                   .sorted = arena_array(l->a, struct exchange_sorted, l->n_on)};
}

static int by_size(const void *a, const void *b)
{
    const struct exchange_unit *x = a;
    const struct exchange_unit *y = b;

    return x->size != y->size ? (x->size > y->size) - (x->size < y->size)
                              : (x->unit > y->unit) - (x->unit < y->unit);
}

void exchange_room_sort(struct exchange_by_size *r, uint32_t slot)
{
    const struct unit_list *list = &r->l->list[slot];
    struct exchange_sorted *s = &r->sorted[slot];

    if (s->of && s->n == list->n && list->n > 0 && memcmp(s->of, list->items, list->n * sizeof *s->of) == 0)
        return;
    if (!s->of || s->cap < list->n) {
        s->cap = list->n + list->n / 4 + 8;
        s->of = arena_array(r->l->a, uint32_t, s->cap);
        s->units = arena_array(r->l->a, struct exchange_unit, s->cap);
    }
    s->n = list->n;
    for (uint32_t i = 0; i < list->n; i++) {
        s->of[i] = list->items[i];
        s->units[i] = (struct exchange_unit){r->size[list->items[i]], list->items[i]};
    }
    order_sort(s->units, s->n, sizeof *s->units, by_size);
}

double exchange_room_left(const struct exchange_by_size *r, uint32_t slot)
{
    return r->free ? r->free[slot] : r->l->mem_limit[slot] - r->l->mem_taken[slot];
}

/* A unit of size 0 takes no memory: it fits anywhere, and no other unit has to leave for it. */
struct exchange_sizes exchange_room_sizes(double size, double left, double room)
{
    return (struct exchange_sizes){size > 0 ? size - left - EXCHANGE_ROUNDING : -NO_LIMIT,
                                   fmax(room, 0) + EXCHANGE_ROUNDING};
}

/* The first of the units that is no smaller. */
static uint32_t first_from(const struct exchange_sorted *s, double least)
{
    uint32_t low = 0;
    uint32_t high = s->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->units[middle].size < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct exchange_units exchange_room_within(const struct exchange_by_size *r, uint32_t slot,
                                           struct exchange_sizes sizes)
{
    const struct exchange_sorted *s = &r->sorted[slot];
    struct exchange_units ret = {.n = 0};

    if (s->n == 0 || sizes.least > sizes.most || s->units[s->n - 1].size < sizes.least)
        return ret;
    uint32_t from = first_from(s, sizes.least);
    ret.units = s->units + from;
    while (from + ret.n < s->n && ret.units[ret.n].size <= sizes.most)
        ret.n++;
    return ret;
}
