/* counts.c: what each VM takes of each counting stage. The layout sums it up by host. */
#include "core/fit/fit.h"

#include "core/fit/rows.h"

#include <math.h>
#include <string.h>

int64_t fit_amount(double v)
{
    const double most = 1e15;

    return (int64_t)round(fmin(fmax(v, -most), most) * FIT_AMOUNT_ONE);
}

struct counting {
    struct fit *fit;
    struct arena *a;
    struct fit_rows keys; /* rows: the stage, the text */
    uint32_t n_shares;
};

/* The groups of this kind of each host. */
static void list_groups_of_kind(struct fit *fit, const char *kind, struct arena *a, struct fit_counter *ret)
{
    uint32_t n_hosts = fit->snap->n_hosts;
    uint32_t *from = arena_array(a, uint32_t, (size_t)n_hosts + 1);
    uint32_t *groups = arena_array(a, uint32_t, fit->groups_from[n_hosts]);
    uint32_t n = 0;

    for (uint32_t h = 0; h < n_hosts; h++) {
        for (uint32_t i = fit->groups_from[h]; i < fit->groups_from[h + 1]; i++)
            if (strcmp(fit->snap->groups[fit->groups_of[i]].is.kind, kind) == 0)
                groups[n++] = fit->groups_of[i];
        from[h + 1] = n;
    }
    ret->from = from;
    ret->groups = groups;
}

static void add_counter(struct counting *c, uint32_t stage, const char *of)
{
    struct fit_counts *counts = &c->fit->counts;
    const char *over = c->fit->snap->stages[stage].is.over;
    struct fit_counter counter = {.stage = stage, .of = of};

    for (uint32_t i = 0; over && i < counts->n_counters && !counter.from; i++)
        if (counts->counters[i].stage == stage) {
            counter.from = counts->counters[i].from;
            counter.groups = counts->counters[i].groups;
        }
    if (over && !counter.from)
        list_groups_of_kind(c->fit, over, c->a, &counter);
    counts->over_groups = counts->over_groups || over;
    counts->counters = arena_grow(c->a, counts->counters, counts->n_counters, &counts->cap_counters,
                                  sizeof(*counts->counters));
    counts->counters[counts->n_counters++] = counter;
}

static void add_share(struct counting *c, uint32_t stage, const char *of, int64_t takes)
{
    struct fit_counts *counts = &c->fit->counts;
    const struct value key[] = {{.type = VALUE_NUMBER, .number = stage},
                                {.type = of ? VALUE_TEXT : VALUE_ABSENT, .text = of}};
    uint32_t known = c->keys.n;
    uint32_t counter = fit_rows_number(&c->keys, key, 2, c->a);

    if (counter == known)
        add_counter(c, stage, of);
    counts->shares =
        arena_grow(c->a, counts->shares, c->n_shares, &counts->cap_shares, sizeof(*counts->shares));
    counts->shares[c->n_shares++] = (struct fit_share){counter, takes};
}

/* A text that is listed twice counts once. */
static void add_texts(struct counting *c, uint32_t stage, const struct value *per, int64_t takes)
{
    if (per->type == VALUE_TEXT)
        add_share(c, stage, per->text, takes);
    for (uint32_t i = 0; per->type == VALUE_TEXTS && i < per->texts.n; i++) {
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again = again || strcmp(per->texts.items[k], per->texts.items[i]) == 0;
        if (!again)
            add_share(c, stage, per->texts.items[i], takes);
    }
}

static void count_vm(struct counting *c, uint32_t stage, const struct value *row)
{
    const struct fit *fit = c->fit;
    const struct expression_scope scope = {.vm = row, .snap = fit->snap};
    struct value takes = expression_value(&fit->parts[PART_COUNT][stage].x, &scope);
    int64_t amount = takes.type == VALUE_NUMBER ? fit_amount(fmin(takes.number, FIT_AMOUNT_MOST)) : 0;

    if (amount <= 0)
        return;
    if (fit->snap->stages[stage].is.per.n == 0) {
        add_share(c, stage, NULL, amount);
        return;
    }
    struct value per = expression_value(&fit->parts[PART_PER][stage].x, &scope);

    add_texts(c, stage, &per, amount);
}

static bool *columns_read(const struct fit *fit, struct arena *a)
{
    bool *reads = arena_array(a, bool, (size_t)fit->columns[OWNER_VM].n + 1);

    for (uint32_t i = 0; i < fit->snap->n_stages; i++)
        for (int part = PART_COUNT; part <= PART_PER; part++)
            for (uint32_t k = 0; k < fit->parts[part][i].n_reads[OWNER_VM]; k++)
                reads[fit->parts[part][i].reads[OWNER_VM][k]] = true;
    return reads;
}

void fit_counts_compile(struct fit *fit, struct arena *a)
{
    const struct snapshot *s = fit->snap;
    struct counting c = {.fit = fit, .a = a};
    bool any = false;

    for (uint32_t i = 0; i < s->n_stages; i++)
        any = any || s->stages[i].is.count.n > 0;
    if (!any)
        return;
    const bool *reads = columns_read(fit, a);
    struct value *row = arena_array(a, struct value, (size_t)fit->columns[OWNER_VM].n + 1);

    fit->counts.shares_from = arena_array(a, uint32_t, (size_t)s->n_vms + 1);
    for (uint32_t vm = 0; vm < s->n_vms; vm++) {
        fit_fill_vm_row(fit, vm, reads, row);
        for (uint32_t i = 0; i < s->n_stages; i++)
            if (s->stages[i].is.count.n > 0)
                count_vm(&c, i, row);
        fit->counts.shares_from[vm + 1] = c.n_shares;
    }
}
