/* Finds the sets of units whose departure leaves a slot with more spaces. */
#include "core/room/options.h"

#include <stdlib.h>
#include <string.h>

/* Units that take the same. */
struct alike {
    uint32_t first, n;                  /* of `units` */
    double released[SPACE_FIGURES_MAX]; /* by each */
    double most[SPACE_FIGURES_MAX];     /* by one of these or of a later kind */
    uint32_t covered, vms;
    double copied_mb;
};

struct sized_unit {
    uint32_t unit, first_vm, vms, width;
    double size, copied_mb;
    double released[SPACE_FIGURES_MAX];
};

struct finding_options {
    const struct spaces *s;
    uint32_t slot, width;
    struct sized_unit *units;
    struct alike *kinds;
    uint32_t n_units, n_kinds;
    uint32_t before;   /* spaces of the slot */
    uint32_t want;     /* units of the sets that are looked at */
    uint32_t at_least; /* gain: more than with fewer units */
    int64_t trials;
    uint32_t chosen[OPTION_UNITS_MAX]; /* indices into `units` */
    struct room_option *best;
};

/* The largest first; units that take the same beside each other. */
static int compare_sizes(const void *a, const void *b)
{
    const struct sized_unit *x = a;
    const struct sized_unit *y = b;

    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    for (uint32_t f = 0; f < x->width; f++)
        if (x->released[f] != y->released[f])
            return x->released[f] < y->released[f] ? 1 : -1;
    if (x->copied_mb != y->copied_mb)
        return x->copied_mb < y->copied_mb ? -1 : 1;
    if (x->vms != y->vms)
        return x->vms < y->vms ? -1 : 1;
    return (x->first_vm > y->first_vm) - (x->first_vm < y->first_vm);
}

static bool are_alike(const struct sized_unit *x, const struct sized_unit *y)
{
    return x->copied_mb == y->copied_mb && x->vms == y->vms &&
           memcmp(x->released, y->released, x->width * sizeof x->released[0]) == 0;
}

static void add_unit(struct finding_options *f, uint32_t unit)
{
    const struct layout *l = f->s->l;
    struct sized_unit *u = &f->units[f->n_units++];

    *u = (struct sized_unit){.unit = unit,
                             .first_vm = l->unit_first[unit],
                             .vms = l->unit_from[unit + 1] - l->unit_from[unit],
                             .width = f->width,
                             .copied_mb = l->unit_backed[unit]};
    spaces_released(f->s, unit, u->released);
    for (uint32_t k = 0; k < f->width; k++)
        u->size += spaces_takes(f->s, k) > 0 ? u->released[k] / spaces_takes(f->s, k) : 0;
}

static void make_kinds(struct finding_options *f)
{
    for (uint32_t i = 0; i < f->n_units; i++) {
        const struct sized_unit *u = &f->units[i];

        if (i > 0 && are_alike(u, u - 1)) {
            f->kinds[f->n_kinds - 1].n++;
            continue;
        }
        struct alike *kind = &f->kinds[f->n_kinds++];
        *kind = (struct alike){.first = i, .n = 1, .vms = u->vms, .copied_mb = u->copied_mb};
        memcpy(kind->released, u->released, sizeof kind->released);
        kind->covered = spaces_covered(f->s, f->slot, u->released);
    }
    for (uint32_t i = f->n_kinds; i-- > 0;)
        for (uint32_t k = 0; k < f->width; k++)
            f->kinds[i].most[k] = i + 1 < f->n_kinds && f->kinds[i + 1].most[k] > f->kinds[i].released[k]
                                      ? f->kinds[i + 1].most[k]
                                      : f->kinds[i].released[k];
}

/* The units chosen so far. */
struct partial {
    double left[SPACE_FIGURES_MAX];
    uint32_t n, covered, vms;
    double copied_mb;
};

static void note_set(struct finding_options *f, const struct partial *p)
{
    uint32_t spaces = spaces_count(f->s, f->slot, p->left);
    uint32_t least = f->before + p->covered + f->at_least;
    struct room_option *best = f->best;

    if (spaces <= least)
        return;
    uint32_t gain = spaces - f->before - p->covered;
    if (best->n > 0 && (gain < best->gain || (gain == best->gain && p->copied_mb >= best->copied_mb)))
        return;
    *best = (struct room_option){.n = p->n, .vms = p->vms, .gain = gain, .copied_mb = p->copied_mb};
    for (uint32_t i = 0; i < p->n; i++)
        best->units[i] = f->units[f->chosen[i]].unit;
}

/* Whether no set that adds units of this kind or later ones is better than what is known, even if each
 * releases as much as the largest of them and covers no space. */
static bool is_hopeless(const struct finding_options *f, const struct partial *p, uint32_t kind)
{
    double most[SPACE_FIGURES_MAX];
    uint32_t more = f->want - p->n;
    uint32_t at_least = f->at_least;

    if (f->best->n > 0)
        at_least = f->best->gain - (p->copied_mb < f->best->copied_mb);
    for (uint32_t k = 0; k < f->width; k++)
        most[k] = p->left[k] + more * f->kinds[kind].most[k];
    return spaces_count(f->s, f->slot, most) <= f->before + p->covered + at_least;
}

/* Adds units of the kinds from `from` on. */
static void look_at_sets(struct finding_options *f, const struct partial *p, uint32_t from)
{
    if (p->n == f->want) {
        note_set(f, p);
        return;
    }
    for (uint32_t kind = from; kind < f->n_kinds && !is_hopeless(f, p, kind); kind++) {
        const struct alike *of = &f->kinds[kind];
        struct partial with = *p;

        for (uint32_t m = 0; m < of->n && with.n < f->want; m++) {
            if (f->trials-- <= 0)
                return;
            f->chosen[with.n++] = of->first + m;
            with.vms += of->vms;
            with.covered += of->covered;
            with.copied_mb += of->copied_mb;
            for (uint32_t k = 0; k < f->width; k++)
                with.left[k] += of->released[k];
            look_at_sets(f, &with, kind + 1);
        }
    }
}

void room_options_find(const struct spaces *s, uint32_t slot, const bool *stays, int64_t *trials,
                       struct room_options *ret, struct arena *scratch)
{
    const struct unit_list *list = &s->l->list[slot];
    struct finding_options f = {.s = s, .slot = slot, .width = spaces_width(s, slot)};
    struct partial none = {0};
    uint32_t most = 0;

    *ret = (struct room_options){0};
    spaces_left(s, slot, none.left);
    f.before = spaces_count(s, slot, none.left);
    f.units = arena_array(scratch, struct sized_unit, list->n);
    f.kinds = arena_array(scratch, struct alike, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        if (s->l->unit_held[list->items[i]] == CHECK_NONE && !stays[list->items[i]])
            add_unit(&f, list->items[i]);
    if (f.n_units == 0 || !spaces_receives(s, slot))
        return;
    qsort(f.units, f.n_units, sizeof f.units[0], compare_sizes);
    make_kinds(&f);
    f.trials = *trials < OPTION_TRIALS ? *trials : OPTION_TRIALS;
    int64_t begun = f.trials;
    for (f.want = 1; f.want <= OPTION_UNITS_MAX && f.want <= f.n_units; f.want++) {
        f.best = &ret->of[f.want - 1];
        f.at_least = most;
        look_at_sets(&f, &none, 0);
        most = f.best->n > 0 ? f.best->gain : most;
    }
    *trials -= begun - (f.trials > 0 ? f.trials : 0);
}

bool room_option_is_better(const struct room_option *x, const struct room_option *y)
{
    if (!y)
        return true;
    uint64_t mine = (uint64_t)x->gain * y->vms;
    uint64_t theirs = (uint64_t)y->gain * x->vms;
    double my_copy = x->copied_mb * y->gain;
    double their_copy = y->copied_mb * x->gain;

    if (mine != theirs)
        return mine > theirs;
    return my_copy != their_copy ? my_copy < their_copy : x->vms < y->vms;
}

const struct room_option *room_options_best(const struct room_options *o, uint32_t vms_max)
{
    const struct room_option *best = NULL;

    for (int i = 0; i < OPTION_UNITS_MAX; i++)
        if (o->of[i].n > 0 && o->of[i].vms <= vms_max && room_option_is_better(&o->of[i], best))
            best = &o->of[i];
    return best;
}
