/* Searches for the order of hosts whose power-offs save most watts by the fewest moves. */
#include "core/power/deep_sleep.h"

#include "base/rng.h"

#include <string.h>

/* The weight of all watts; that of all moves of the greedy plan and of their memory is 1 each. So a
 * thousandth of the watts counts more than all moves. */
#define WATTS_WORTH 2000.0
/* At the beginning a plan is kept that is worse by about so much; it falls to 0. */
#define WARMTH 0.01
/* How often a host that goes to standby and one that stays on change places in the order, and how often one
 * host goes to another place; else the hosts are filled to another load first. */
#define EXCHANGE 0.7
#define SHIFT 0.2
/* Rounds in a row that may find nothing better. */
#define IDLE_MAX 1500
#define BETTER 1e-9

struct outcome {
    double watts, mb;
    uint64_t vms;
};

struct search {
    struct power *w;
    const struct power *start;
    struct arena scratch; /* of one round */
    struct rng rng;
    uint64_t left; /* of the budget */
    double mean_watts;
    struct outcome greedy;
    uint32_t *now, *next, *best; /* orders */
    bool *sleeps;                /* by slot: in the present plan */
    uint32_t n;
    double fill, next_fill, best_fill;
    double measure, best_measure; /* of the present and the best plan */
};

static const struct host_facts *facts(const struct power *w, uint32_t slot)
{
    return &w->l->snap->hosts[w->l->slot_host[slot]].is;
}

/* Of the known watts of the hosts that are on, at this load; 1: none is known. */
static double mean_watts(const struct power *w, double load)
{
    double sum = 0;
    uint32_t known = 0;

    for (uint32_t i = 0; i < w->l->n_on; i++) {
        double watts = host_facts_watts(facts(w, i), load);
        known += isnan(watts) ? 0 : 1;
        sum += isnan(watts) ? 0 : watts;
    }
    return known > 0 ? sum / known : 1;
}

static double watts_of(const struct search *s, uint32_t slot)
{
    const struct power *w = s->w;
    const struct host_facts *f = facts(w, slot);
    double load = w->u.slot[slot].mean[WINDOW_40M][RES_CPU] * w->l->inverse[RES_CPU][slot];
    double watts = w->l->asleep[slot] ? f->power_standby_w : host_facts_watts(f, load);

    if (isnan(watts))
        return w->l->asleep[slot] ? 0 : s->mean_watts;
    return watts;
}

/* The outcome of the what-if's present state. */
static struct outcome outcome_of(const struct search *s)
{
    const struct power *w = s->w;
    const struct layout *l = w->l;
    struct outcome o = {0};

    for (uint32_t i = 0; i < l->n_on; i++)
        o.watts += watts_of(s, i);
    for (size_t i = 0; i < w->n_steps; i++) {
        uint32_t u = w->steps[i].unit;
        if (w->steps[i].moved_before || l->unit_slot[u] == w->home[u])
            continue;
        o.vms += l->unit_from[u + 1] - l->unit_from[u];
        o.mb += l->unit_backed[u];
    }
    return o;
}

/* Less is better. */
static double measure_of(const struct search *s, const struct outcome *o)
{
    return WATTS_WORTH * o->watts / fmax(s->greedy.watts, BETTER) +
           (double)o->vms / fmax((double)s->greedy.vms, 1) + o->mb / fmax(s->greedy.mb, 1);
}

static void spend(struct search *s, uint64_t evaluated)
{
    s->left -= s->left > evaluated ? evaluated : s->left;
}

/* Chooses by this order. What a round needs of memory is given back after it. False: the budget ended before
 * the choice did. */
static bool play(struct search *s, struct sleep_way way, struct outcome *ret)
{
    struct power *w = s->w;

    *ret = (struct outcome){0};
    way.evaluated_max = s->left;
    sleep_choose(w, &way);
    if (w->evaluated >= s->left)
        return false;
    *ret = outcome_of(s);
    return true;
}

static void begin_round(struct search *s)
{
    s->w->p->a = &s->scratch;
    s->w->l->failover.a = &s->scratch;
    s->w->steps = NULL; /* those before the first choice are none */
    s->w->cap_steps = 0;
}

static void end_round(struct search *s, struct arena *a)
{
    struct power *w = s->w;
    uint64_t trials = s->start->trials - w->p->prerequisite_trials;

    /* a round looks at each host and VM at least once, and finds failover slots for each host that it tries
     */
    uint64_t looks = w->l->n_on + w->l->n_units;
    spend(s, w->evaluated + trials + looks * (w->l->failover.active ? w->n_asleep + 1 : 1));
    sleep_start_again(w, s->start);
    w->steps = s->start->steps;
    w->cap_steps = s->start->cap_steps;
    w->order = NULL;
    w->n_order = 0;
    w->p->a = a;
    arena_release(&s->scratch);
}

/* A random place of a host that goes to standby, or stays on, in the present plan; s->n: there is none. */
static uint32_t random_place(struct search *s, bool sleeps)
{
    uint32_t k = rng_below(&s->rng, s->n);

    for (uint32_t i = 0; i < s->n; i++)
        if (s->sleeps[s->now[(k + i) % s->n]] == sleeps)
            return (k + i) % s->n;
    return s->n;
}

static void shift(uint32_t *order, uint32_t from, uint32_t to)
{
    uint32_t slot = order[from];

    if (from < to)
        memmove(&order[from], &order[from + 1], (to - from) * sizeof *order);
    else
        memmove(&order[to + 1], &order[to], (from - to) * sizeof *order);
    order[to] = slot;
}

/* The order and the fill level of the next round. */
static void change(struct search *s)
{
    double u = rng_unit(&s->rng);

    memcpy(s->next, s->now, s->n * sizeof *s->now);
    s->next_fill = s->fill;
    if (u < EXCHANGE) {
        uint32_t x = random_place(s, true);
        uint32_t y = random_place(s, false);
        if (x < s->n && y < s->n) {
            s->next[x] = s->now[y];
            s->next[y] = s->now[x];
            return;
        }
    }
    if (u < EXCHANGE + SHIFT)
        shift(s->next, rng_below(&s->rng, s->n), rng_below(&s->rng, s->n));
    else
        s->next_fill = rng_range(&s->rng, s->w->u.aim, s->w->u.above);
}

static void keep(struct search *s, double measure)
{
    uint32_t *now = s->now;

    s->now = s->next;
    s->next = now;
    s->fill = s->next_fill;
    s->measure = measure;
    memset(s->sleeps, 0, s->w->l->n_slots * sizeof *s->sleeps);
    for (uint32_t i = 0; i < s->w->n_asleep; i++)
        s->sleeps[s->w->asleep[i]] = true;
}

/* Whether the moves of the what-if stand in the order of the plan. Takes them back. */
static bool stands(struct search *s)
{
    struct planned_moves moves = sleep_moves_list(s->w);

    spend(s, s->w->n_steps);
    sleep_take_back(s->w);
    s->w->l->failover.a = &s->scratch;
    return sleep_moves_stand(s->w, &moves) == POWER_FINE;
}

/* One round. Whether it found the best plan so far. */
static bool try_other(struct search *s, double warmth)
{
    struct arena *a = s->w->p->a;
    struct outcome o;
    bool better = false;

    change(s);
    double u = rng_unit(&s->rng);
    begin_round(s);
    const struct sleep_way way = {.order = s->next, .fill = s->next_fill, .given = UINT32_MAX};
    if (play(s, way, &o) && o.watts <= s->greedy.watts * (1 + BETTER)) {
        double measure = measure_of(s, &o);
        better = measure < s->best_measure - BETTER;
        if (better || measure <= s->measure - warmth * log(1 - u))
            keep(s, measure);
        better = better && stands(s);
        if (better) {
            memcpy(s->best, s->now, s->n * sizeof *s->now);
            s->best_fill = s->fill;
            s->best_measure = measure;
        }
    }
    end_round(s, a);
    return better;
}

/* The greedy outcome is what others are compared with. False: no host can be tried, or the budget is too
 * small. */
static bool begin(struct search *s, const struct sleep_way *way)
{
    struct power *w = s->w;
    struct arena *a = w->p->a;

    s->now = arena_array(a, uint32_t, w->l->n_on);
    s->next = arena_array(a, uint32_t, w->l->n_on);
    s->best = arena_array(a, uint32_t, w->l->n_on);
    s->sleeps = arena_array(a, bool, (size_t)w->l->n_slots + 1);
    s->fill = s->next_fill = way->fill;
    sleep_start_again(w, s->start);
    s->n = rank_to_sleep(w, s->next);
    begin_round(s);
    bool good = play(s, *way, &s->greedy);
    good = good && w->n_order == s->n && s->n > 0;
    if (good) {
        memcpy(s->next, w->order, s->n * sizeof *s->next);
        keep(s, measure_of(s, &s->greedy));
        s->best_measure = s->measure;
    }
    end_round(s, a);
    return good;
}

void deep_sleep_search(struct power *w, const struct power *start, struct sleep_way *way)
{
    const struct policy *policy = w->l->policy;
    struct search s = {.w = w,
                       .start = start,
                       .rng = {.state = (uint64_t)policy->seed},
                       .left = (uint64_t)policy->search_budget,
                       .mean_watts = mean_watts(w, policy->dpm.target / 100)};

    if (!begin(&s, way))
        return;
    double budget = (double)s.left;
    double first = s.best_measure;
    for (uint32_t idle = 0; s.left > 0 && idle < IDLE_MAX; idle++) {
        double part = fmin((double)s.left / budget, 1 - (double)idle / IDLE_MAX);
        if (try_other(&s, WARMTH * part * part))
            idle = 0;
    }
    w->p->stats.evaluated += (uint64_t)policy->search_budget - s.left;
    if (s.best_measure < first)
        *way = (struct sleep_way){
            .order = s.best, .fill = s.best_fill, .evaluated_max = UINT64_MAX, .given = UINT32_MAX};
}
