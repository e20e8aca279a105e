/* Computes cost and benefit of several migrations: makes them on the sums per slot, and takes them back. */
#include "core/costbenefit/exchange_cost.h"

/* Tolerance of sums of the same terms in another order. */
#define ROUNDING 1e-9

/* Each step names two slots. */
#define SLOTS_MAX (2 * EXCHANGE_STEPS_MAX)

/* The sums of a slot before the first step, and the sums after the last. */
struct slot_before {
    uint32_t slot;
    uint32_t takes, gives; /* units, for good */
    struct load_range load[RES_COUNT];
    struct load_shortage shortage[RES_COUNT];
    double stable;
    uint64_t changed_at;
    double out_min[RES_COUNT], out_max[RES_COUNT],
        in_max[RES_COUNT]; /* of units that leave, or come, for good */
    double load_after[RES_COUNT];
    struct load_shortage after[RES_COUNT];
};

struct exchange_trial {
    struct migration_cost *costs;
    const struct exchange_steps *steps;
    uint32_t from[EXCHANGE_STEPS_MAX]; /* by step */
    struct slot_before slots[SLOTS_MAX];
    uint32_t n_slots;
};

static struct slot_before *note_slot(struct exchange_trial *t, uint32_t slot)
{
    const struct migration_cost *costs = t->costs;

    for (uint32_t i = 0; i < t->n_slots; i++)
        if (t->slots[i].slot == slot)
            return &t->slots[i];
    struct slot_before *s = &t->slots[t->n_slots++];

    *s = (struct slot_before){
        .slot = slot, .stable = costs->slot_stable[slot], .changed_at = costs->changed_at[slot]};
    for (int r = 0; r < RES_COUNT; r++) {
        s->load[r] = costs->slot[r][slot];
        s->shortage[r] = costs->slot_shortage[r][slot];
    }
    return s;
}

/* The step after which the unit is where it stays. */
static bool is_last_of_unit(const struct exchange_steps *steps, uint32_t k)
{
    for (uint32_t i = k + 1; i < steps->n; i++)
        if (steps->unit[i] == steps->unit[k])
            return false;
    return true;
}

static void begin(struct exchange_trial *t)
{
    const struct exchange_steps *steps = t->steps;

    for (uint32_t k = 0; k < steps->n; k++) {
        uint32_t u = steps->unit[k];
        uint32_t home = t->costs->l->unit_slot[u];
        t->from[k] = home;
        for (uint32_t i = 0; i < k; i++)
            if (steps->unit[i] == u)
                t->from[k] = steps->to_slot[i];
        struct slot_before *to = note_slot(t, steps->to_slot[k]); /* noting keeps earlier notes in place */
        struct slot_before *from = note_slot(t, home);
        if (!is_last_of_unit(steps, k) || home == steps->to_slot[k])
            continue;
        from->gives++;
        to->takes++;
        for (int r = 0; r < RES_COUNT; r++) {
            from->out_min[r] += t->costs->unit[r][u].min;
            from->out_max[r] += t->costs->unit[r][u].max;
            to->in_max[r] += t->costs->unit[r][u].max;
        }
    }
}

static double positive(double x)
{
    return x > 0 ? x : 0;
}

/* The time for which the loads stay as they are. */
static double stable_of(const struct exchange_trial *t)
{
    double stable = NO_LIMIT;

    for (uint32_t k = 0; k < t->steps->n; k++)
        stable =
            fmin(stable, migration_cost_stable_time(t->costs, t->costs->l->unit_slot[t->steps->unit[k]]));
    return stable;
}

/* The memory that the steps before this one free on its destination. */
static double freed_before(const struct exchange_trial *t, uint32_t k)
{
    const struct layout *l = t->costs->l;
    double freed = 0;

    for (uint32_t i = 0; i < k; i++) {
        double backed = l->unit_backed[t->steps->unit[i]] + l->unit_idle[t->steps->unit[i]];
        freed += t->from[i] == t->steps->to_slot[k] ? backed : 0;
        freed -= t->steps->to_slot[i] == t->steps->to_slot[k] ? backed : 0;
    }
    return freed;
}

/* Makes the steps. Takes off the benefit what the shortage is above the one at the start meanwhile. */
static void make_steps(struct exchange_trial *t, struct migration_worth *ret)
{
    struct migration_cost *costs = t->costs;

    for (uint32_t k = 0; k < t->steps->n; k++) {
        struct migration_worth one;
        migration_cost_between(costs, t->steps->unit[k], t->from[k], t->steps->to_slot[k], &one);
        migration_cost_add_reclaimed(
            &one, layout_reclaims(costs->l, t->steps->unit[k], t->steps->to_slot[k], freed_before(t, k)));
        ret->reclaimed_mb += one.reclaimed_mb;
        ret->duration_s += one.duration_s;
        for (int r = 0; r < RES_COUNT; r++) {
            double more = 0;
            for (uint32_t i = 0; i < t->n_slots && k > 0; i++)
                more += costs->slot_shortage[r][t->slots[i].slot].expected - t->slots[i].shortage[r].expected;
            ret->benefit[r] -= positive(more) * one.duration_s +
                               migration_cost_stopped(costs, t->steps->to_slot[k], ret->stable_s) *
                                   costs->unit[r][t->steps->unit[k]].load;
            ret->cost[r] += one.cost[r];
        }
        migration_cost_move(costs, t->steps->unit[k], t->from[k], t->steps->to_slot[k]);
    }
}

/* The sums after the steps that have been made. */
static void note_after(struct exchange_trial *t)
{
    for (uint32_t i = 0; i < t->n_slots; i++)
        for (int r = 0; r < RES_COUNT; r++) {
            struct slot_before *s = &t->slots[i];
            s->load_after[r] = t->costs->slot[r][s->slot].load;
            s->after[r] = t->costs->slot_shortage[r][s->slot];
        }
}

static void take_back(struct exchange_trial *t)
{
    struct migration_cost *costs = t->costs;

    for (uint32_t k = t->steps->n; k-- > 0;)
        migration_cost_move(costs, t->steps->unit[k], t->steps->to_slot[k], t->from[k]);
    for (uint32_t i = 0; i < t->n_slots; i++) {
        const struct slot_before *s = &t->slots[i];
        for (int r = 0; r < RES_COUNT; r++) {
            costs->slot[r][s->slot] = s->load[r];
            costs->slot_shortage[r][s->slot] = s->shortage[r];
        }
        costs->slot_stable[s->slot] = s->stable;
        costs->changed_at[s->slot] = s->changed_at;
    }
}

/* What a slot gives and takes of a resource, for good. */
struct slot_flow {
    uint32_t takes, gives; /* units */
    double load_after, out_min, out_max, in_max;
};

/* Adds the shortage of a slot in the worst case, if its units stay and if they move. */
static void add_worst_case(const struct load_range *before, const struct slot_flow *f, double capacity,
                           double *stay, double *move)
{
    double grown = f->load_after - before->load;
    bool grows = grown > 0 || (!(grown < 0) && f->takes >= f->gives);
    double others = grows ? before->max - f->out_max : before->min - f->out_min;

    *stay += positive(others + f->out_max - capacity);
    *move += positive(others + f->in_max - capacity);
}

/* What the shortage of the resource grows by, at today's loads and in the worst case. */
static void compare_shortage(const struct exchange_trial *t, int r, struct migration_worth *ret)
{
    const struct migration_cost *costs = t->costs;
    double stay = 0;
    double move = 0;
    double now = 0;

    for (uint32_t i = 0; i < t->n_slots; i++) {
        const struct slot_before *s = &t->slots[i];
        if (s->takes + s->gives == 0)
            continue;
        const struct slot_flow f = {s->takes,      s->gives,      s->load_after[r],
                                    s->out_min[r], s->out_max[r], s->in_max[r]};
        add_worst_case(&s->load[r], &f, migration_cost_capacity(costs, r, s->slot), &stay, &move);
        now += s->shortage[r].expected - s->shortage[r].headroom;
        ret->more_of[r] += s->after[r].today - s->shortage[r].today;
    }
    ret->worse_of[r] = move - fmax(stay, now);
}

/* What the shortage of the resource falls by, for as long as that counts. */
static double benefit_of(const struct exchange_trial *t, int r, double stable, double after_s)
{
    double benefit = 0;

    for (uint32_t i = 0; i < t->n_slots; i++) {
        const struct slot_before *s = &t->slots[i];
        double falls = s->shortage[r].expected - s->after[r].expected;
        if (s->takes + s->gives > 0)
            benefit += falls * (falls < 0 && r == RES_MEM ? stable : after_s);
    }
    return benefit;
}

static void sum_up(const struct migration_cost *costs, struct migration_worth *ret)
{
    ret->gain = migration_cost_over_capacity(costs, ret->benefit);
    ret->loss = migration_cost_over_capacity(costs, ret->cost);
    double worst_case = migration_cost_over_capacity(costs, ret->worse_of);
    double today = migration_cost_over_capacity(costs, ret->more_of);
    ret->worse = fmax(worst_case, today);
    ret->today = today > worst_case;
}

void exchange_cost_worth(struct migration_cost *costs, const struct exchange_steps *steps,
                         struct migration_worth *ret)
{
    struct exchange_trial t = {.costs = costs, .steps = steps};

    *ret = (struct migration_worth){.duration_s = 0};
    begin(&t);
    ret->stable_s = stable_of(&t);
    make_steps(&t, ret);
    note_after(&t);
    uint32_t from = costs->l->unit_slot[steps->unit[0]];
    for (uint32_t k = 1; k < steps->n && !costs->short_for_long[from]; k++)
        from = costs->l->unit_slot[steps->unit[k]];
    double after_s = migration_cost_time_after(costs, from, ret->stable_s, ret->duration_s);
    for (int r = 0; r < RES_COUNT; r++) {
        ret->benefit[r] += benefit_of(&t, r, ret->stable_s, after_s);
        compare_shortage(&t, r, ret);
    }
    take_back(&t);
    sum_up(costs, ret);
}

/* The loads of a slot after the steps, without making them. */
static struct load_range foresee(const struct exchange_trial *t, const struct slot_before *s, int r)
{
    struct load_range load = s->load[r];

    for (uint32_t k = 0; k < t->steps->n; k++) {
        const struct load_range *unit = &t->costs->unit[r][t->steps->unit[k]];
        double by = (t->steps->to_slot[k] == s->slot) - (t->from[k] == s->slot);
        load = load_range_plus(load, unit, by);
    }
    return load;
}

/* The slots of the steps, each once. Returns how many there are. */
static uint32_t list_slots(const struct migration_cost *costs, const struct exchange_steps *steps,
                           uint32_t slots[SLOTS_MAX])
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < 2 * steps->n; k++) {
        uint32_t slot = k < steps->n ? steps->to_slot[k] : costs->l->unit_slot[steps->unit[k - steps->n]];
        uint32_t i = 0;
        while (i < n && slots[i] != slot)
            i++;
        slots[i] = slot;
        n += i == n;
    }
    return n;
}

static struct slot_flow flow_of(const struct migration_cost *costs, const struct exchange_steps *steps, int r,
                                uint32_t slot)
{
    struct slot_flow f = {.load_after = costs->slot[r][slot].load};

    for (uint32_t k = 0; k < steps->n; k++) {
        const struct load_range *unit = &costs->unit[r][steps->unit[k]];
        uint32_t from = costs->l->unit_slot[steps->unit[k]];
        if (from == slot && steps->to_slot[k] != slot) {
            f.gives++;
            f.load_after -= unit->load;
            f.out_min += unit->min;
            f.out_max += unit->max;
        } else if (from != slot && steps->to_slot[k] == slot) {
            f.takes++;
            f.load_after += unit->load;
            f.in_max += unit->max;
        }
    }
    return f;
}

/* Whether the worst case is no worse, where each unit makes one step. It rejects most exchanges of full
 * clusters, and needs no expected value and no copy of the sums. */
static bool is_harmless(const struct migration_cost *costs, const struct exchange_steps *steps)
{
    uint32_t slots[SLOTS_MAX];
    uint32_t n = list_slots(costs, steps, slots);
    double worse[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++) {
        double stay = 0;
        double move = 0;
        double now = 0;
        for (uint32_t i = 0; i < n; i++) {
            const struct load_shortage *shortage = &costs->slot_shortage[r][slots[i]];
            const struct slot_flow f = flow_of(costs, steps, r, slots[i]);
            if (f.takes + f.gives == 0)
                continue;
            add_worst_case(&costs->slot[r][slots[i]], &f, migration_cost_capacity(costs, r, slots[i]), &stay,
                           &move);
            now += shortage->expected - shortage->headroom;
        }
        worse[r] = move - fmax(stay, now);
    }
    return migration_cost_over_capacity(costs, worse) <= ROUNDING;
}

/* The shortage that contention adds after the steps is left out. */
bool exchange_cost_may_pay(struct migration_cost *costs, const struct exchange_steps *steps)
{
    struct exchange_trial t = {.costs = costs, .steps = steps};
    struct migration_worth most = {.duration_s = 0};

    if (!is_harmless(costs, steps))
        return false;
    begin(&t);
    most.stable_s = stable_of(&t);
    for (uint32_t k = 0; k < steps->n; k++)
        most.cost[RES_CPU] += costs->least[steps->unit[k]];
    for (int r = 0; r < RES_COUNT; r++) {
        for (uint32_t i = 0; i < t.n_slots; i++) {
            const struct load_range load = foresee(&t, &t.slots[i], r);
            t.slots[i].load_after[r] = load.load;
            t.slots[i].after[r] = migration_cost_shortage(costs, &load, r, t.slots[i].slot, 0);
        }
        /* at most for all of the stable time */
        most.benefit[r] =
            positive(benefit_of(&t, r, most.stable_s, most.stable_s)) * (1 + ROUNDING) + ROUNDING;
        compare_shortage(&t, r, &most);
    }
    sum_up(costs, &most);
    return migration_cost_pays(costs, &most) && most.worse <= ROUNDING;
}
