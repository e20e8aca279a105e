/* Searches moves that make room: sets of units that leave one slot, and the slots where they take no space.
 */
#include "core/room/room_search.h"

#include "core/room/options.h"

#include <string.h>

#define ROUNDING 1e-6

/* A move of the set at hand or of one before it. */
struct made {
    struct room_move move;
    uint32_t from_slot;
    struct layout_mark mark;
};

struct search {
    struct layout *l;
    const struct room_question *q;
    struct spaces s;
    struct arena *a;
    struct arena scratch;
    double *left; /* by slot, SPACE_FIGURES_MAX each */
    uint32_t *count;
    struct room_options *options; /* by slot */
    double *worth;                /* by slot: spaces for each VM of its best option; 0: it has none */
    bool *stale;                  /* by slot: options and worth are of an earlier state */
    bool *stays; /* by unit: no slot takes it without losing more than the unit's set gains */
    struct made *made;
    uint32_t n_made, n_sets, vms_made;
    size_t cap_made;
    uint64_t spaces; /* of all slots */
    int64_t trials;
};

static double *left_of(const struct search *s, uint32_t slot)
{
    return s->left + (size_t)slot * SPACE_FIGURES_MAX;
}

static uint32_t vms_of(const struct search *s, uint32_t unit)
{
    return s->l->unit_from[unit + 1] - s->l->unit_from[unit];
}

/* The units on the slot have changed. */
static void note_change(struct search *s, uint32_t slot)
{
    spaces_left(&s->s, slot, left_of(s, slot));
    s->spaces -= s->count[slot];
    s->count[slot] = spaces_count(&s->s, slot, left_of(s, slot));
    s->spaces += s->count[slot];
    s->stale[slot] = true;
}

static void refresh(struct search *s, uint32_t slot)
{
    room_options_find(&s->s, slot, s->stays, &s->trials, &s->options[slot], &s->scratch);
    arena_reset(&s->scratch);
    s->stale[slot] = false;
}

static void weigh_options(struct search *s, uint32_t slot)
{
    const struct room_option *best = room_options_best(&s->options[slot], UINT32_MAX);

    s->worth[slot] = best ? (double)best->gain / best->vms : 0;
}

/* ---- where a unit goes ---- */

struct destination {
    uint32_t slot;
    uint32_t loss; /* spaces that the slot loses */
    double worth;  /* of the slot's own best option, which the unit may spoil */
    double unused; /* what the slot has left for no space, in parts of a space */
};

/* A VM that shares its CPUs with more VMs than room.cpu_ratio says would make no room, but crowd the host. */
static bool is_crowded(const struct search *s, uint32_t slot, const double *left)
{
    for (uint32_t f = 0; f < spaces_width(&s->s, slot); f++)
        if (spaces_takes(&s->s, f) > 0 && left[f] < -ROUNDING)
            return true;
    return false;
}

static bool is_nearer(const struct destination *x, const struct destination *y)
{
    if (y->slot == IX_NONE || x->loss != y->loss)
        return y->slot == IX_NONE || x->loss < y->loss;
    if (x->worth != y->worth)
        return x->worth < y->worth;
    return x->unused < y->unused;
}

/* Whether the slot keeps its headroom, and the cluster its balance. */
static bool stays_even(const struct search *s, uint32_t unit, uint32_t slot, const struct move_trial *t)
{
    const struct layout *l = s->l;

    for (int r = 0; r < RES_COUNT; r++)
        if (l->norm[r][slot] + l->unit_demand[r][unit] * l->inverse[r][slot] >
            1 - l->policy->headroom_percent[r] / 100)
            return false;
    return s->q->imbalance_max == NO_LIMIT || move_trial_at(l, t, slot) <= s->q->imbalance_max;
}

static bool may_go(const struct search *s, uint32_t unit, uint32_t slot, const struct move_trial *t)
{
    return stays_even(s, unit, slot, t) && layout_check(s->l, unit, slot) == CHECK_NONE;
}

/* slot IX_NONE: the unit may go nowhere. */
static struct destination best_destination(struct search *s, uint32_t unit)
{
    const struct layout *l = s->l;
    struct destination best = {.slot = IX_NONE};
    double weight[RES_COUNT];
    struct move_trial t;

    layout_weights(l, weight);
    move_trial_begin(l, weight, unit, &t);
    for (uint32_t i = 0; i < l->n_on; i++) {
        double taken[SPACE_FIGURES_MAX];
        double after[SPACE_FIGURES_MAX];

        if (i == l->unit_slot[unit] || !spaces_taken(&s->s, unit, i, taken))
            continue;
        for (uint32_t f = 0; f < spaces_width(&s->s, i); f++)
            after[f] = left_of(s, i)[f] - taken[f];
        if (is_crowded(s, i, after))
            continue;
        uint32_t count = spaces_count(&s->s, i, after);
        struct destination d = {.slot = i,
                                .loss = s->count[i] - count,
                                .worth = s->worth[i],
                                .unused = spaces_unused(&s->s, i, after)};
        if (is_nearer(&d, &best) && may_go(s, unit, i, &t))
            best = d;
    }
    s->trials -= l->n_on;
    return best;
}

/* ---- sets ---- */

static void make_move(struct search *s, const struct room_move *m)
{
    s->made = arena_grow(s->a, s->made, s->n_made, &s->cap_made, sizeof *s->made);
    struct made *made = &s->made[s->n_made++];

    made->move = *m;
    made->from_slot = s->l->unit_slot[m->unit];
    failover_capacity_follow(&s->l->failover, m->unit, m->to_slot);
    layout_try(s->l, m->unit, m->to_slot, &made->mark);
    s->vms_made += vms_of(s, m->unit);
    s->stays[m->unit] = true;
    note_change(s, made->from_slot);
    note_change(s, m->to_slot);
}

static void undo_last(struct search *s)
{
    const struct made *made = &s->made[--s->n_made];

    layout_undo_in_order(s->l, &made->mark);
    s->vms_made -= vms_of(s, made->move.unit);
    s->stays[made->move.unit] = false;
    note_change(s, made->from_slot);
    note_change(s, made->move.to_slot);
}

/* Back to the first n moves. What failover capacity notes is undone as a whole, and followed again. */
static void rewind_to(struct search *s, uint32_t n)
{
    struct failover_capacity *failover = &s->l->failover;
    uint32_t to = failover->active ? 0 : n;

    if (s->n_made == n)
        return;
    while (s->n_made > to)
        undo_last(s);
    if (!failover->active)
        return;
    failover_undo(failover);
    failover_undo_begin(failover);
    for (uint32_t i = 0; i < n; i++) {
        struct room_move again = s->made[i].move;
        make_move(s, &again);
    }
}

/* Moves the units of the option. Where it is not possible or makes fewer spaces than it promises: corrects
 * what is promised, makes no move, and returns false. */
static bool make_set(struct search *s, uint32_t slot, struct room_option *option)
{
    const struct room_option o = *option;
    uint32_t begin = s->n_made;
    uint64_t before = s->spaces;
    uint32_t worst = IX_NONE;
    uint32_t most_lost = 0;

    for (uint32_t i = 0; i < o.n; i++) {
        struct destination d = best_destination(s, o.units[i]);

        if (d.slot == IX_NONE) {
            worst = o.units[i];
            break;
        }
        if (worst == IX_NONE || d.loss > most_lost)
            worst = o.units[i];
        most_lost = d.loss > most_lost ? d.loss : most_lost;
        make_move(s, &(struct room_move){
                         .unit = o.units[i], .to_slot = d.slot, .set = s->n_sets + 1, .for_slot = slot});
    }
    bool whole = s->n_made - begin == o.n;
    uint32_t gain = whole && s->spaces > before ? (uint32_t)(s->spaces - before) : 0;

    if (gain >= o.gain) {
        for (uint32_t i = begin; i < s->n_made; i++)
            s->made[i].move.gain = gain;
        s->n_sets++;
        return true;
    }
    rewind_to(s, begin);
    memset(s->stale, 0, s->l->n_slots * sizeof s->stale[0]); /* all is as it was */
    if (gain == 0) {
        s->stays[worst] = true;
        refresh(s, slot);
    } else {
        option->gain = gain;
    }
    weigh_options(s, slot);
    return false;
}

/* The slot with the best option, of the VMs that may still move. */
static struct room_option *best_option(struct search *s, uint32_t *ret_slot)
{
    uint32_t vms = s->q->vms_max - s->vms_made;
    const struct room_option *best = NULL;

    for (uint32_t i = 0; i < s->l->n_on; i++) {
        if (s->stale[i]) {
            refresh(s, i);
            weigh_options(s, i);
        }
        const struct room_option *o = s->worth[i] > 0 ? room_options_best(&s->options[i], vms) : NULL;
        if (o && room_option_is_better(o, best)) {
            best = o;
            *ret_slot = i;
        }
    }
    return (struct room_option *)best;
}

static void add_sets(struct search *s)
{
    while (s->spaces < s->q->enough && s->trials > 0) {
        uint32_t slot;
        struct room_option *best = best_option(s, &slot);

        if (!best)
            return;
        (void)make_set(s, slot, best);
    }
}

/* Whether some set would make spaces if more VMs could move. */
static bool has_options(const struct search *s)
{
    for (uint32_t i = 0; i < s->l->n_on; i++)
        if (s->worth[i] > 0)
            return true;
    return false;
}

static void begin(struct search *s)
{
    const struct layout *l = s->l;

    s->left = arena_array(s->a, double, (size_t)l->n_slots *SPACE_FIGURES_MAX);
    s->count = arena_array(s->a, uint32_t, l->n_slots);
    s->options = arena_array(s->a, struct room_options, l->n_slots);
    s->worth = arena_array(s->a, double, l->n_slots);
    s->stale = arena_array(s->a, bool, l->n_slots);
    s->stays = arena_array(s->a, bool, l->n_units);
    for (uint32_t i = 0; i < l->n_slots; i++)
        note_change(s, i);
}

void room_search(struct layout *l, const struct room_question *q, struct arena *a, struct room_moves *ret)
{
    struct search s = {.l = l, .q = q, .a = a, .trials = l->policy->search_budget};

    *ret = (struct room_moves){0};
    if (!spaces_init(&s.s, l, a))
        return;
    begin(&s);
    ret->before = s.spaces;
    failover_undo_begin(&l->failover);
    add_sets(&s);
    ret->after = s.spaces;
    ret->n = s.n_made;
    ret->items = arena_array(a, struct room_move, s.n_made);
    for (uint32_t i = 0; i < s.n_made; i++)
        ret->items[i] = s.made[i].move;
    ret->vms_short = s.spaces < q->enough && has_options(&s);
    ret->evaluated = (uint64_t)(l->policy->search_budget - s.trials);
    while (s.n_made > 0)
        undo_last(&s);
    failover_undo(&l->failover);
    arena_release(&s.scratch);
}
