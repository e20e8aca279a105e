/* profiles.c: numbers the values of hosts, and finds the hosts that are the same to an expression. */
#include "core/fit/fit.h"

/* The values of the host in the column, or the groups that it is in. */
static uint32_t row_of(const struct fit *fit, uint32_t column, uint32_t host, struct value *row)
{
    uint32_t width = fit->columns[OWNER_HOST].n;
    uint32_t n = 0;

    if (column < width) {
        row[n++] = fit->hosts[(size_t)host * width + column];
        return n;
    }
    for (uint32_t i = fit->groups_from[host]; i < fit->groups_from[host + 1]; i++)
        row[n++] = (struct value){.type = VALUE_NUMBER, .number = fit->groups_of[i]};
    return n;
}

const struct fit_codes *fit_codes_of(struct fit *fit, uint32_t column, struct arena *a)
{
    const struct snapshot *s = fit->snap;

    if (fit->codes[column])
        return fit->codes[column];
    struct fit_codes *codes = arena_new(a, struct fit_codes);
    struct fit_rows *rows = arena_new(a, struct fit_rows);
    uint32_t *of = arena_array(a, uint32_t, s->n_hosts);
    uint32_t *first = arena_array(a, uint32_t, s->n_hosts);
    struct value *row = arena_array(a, struct value, (size_t)s->n_groups + 1);

    *codes = (struct fit_codes){.of = of, .first = first, .rows = rows, .texts = true};
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        uint32_t n = row_of(fit, column, h, row);

        of[h] = fit_rows_number(rows, row, n, a);
        if (of[h] < codes->n)
            continue;
        first[codes->n++] = h;
        codes->texts = codes->texts && column < fit->columns[OWNER_HOST].n &&
                       (row[0].type == VALUE_TEXT || row[0].type == VALUE_ABSENT);
    }
    fit->codes[column] = codes;
    return codes;
}

/* Of several columns the rows of their numbers are numbered again. */
static void join_codes(const struct fit_codes *const *codes, uint32_t n_codes, const struct snapshot *s,
                       struct fit_expression *x, struct arena *a)
{
    uint32_t *profile = arena_array(a, uint32_t, s->n_hosts);
    uint32_t *first = arena_array(a, uint32_t, s->n_hosts);
    struct value *row = arena_array(a, struct value, n_codes);
    struct fit_rows seen = {0};

    for (uint32_t h = 0; h < s->n_hosts; h++) {
        uint32_t known = seen.n;

        for (uint32_t i = 0; i < n_codes; i++)
            row[i] = (struct value){.type = VALUE_NUMBER, .number = codes[i]->of[h]};
        profile[h] = fit_rows_number(&seen, row, n_codes, a);
        if (profile[h] == known)
            first[known] = h;
    }
    x->profile = profile;
    x->of_profile = first;
    x->n_profiles = seen.n;
}

void fit_find_profiles(struct fit *fit, struct fit_expression *x, struct arena *a)
{
    const struct fit_codes **codes =
        arena_array(a, const struct fit_codes *, (size_t)x->n_reads[OWNER_HOST] + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->n_reads[OWNER_HOST]; i++)
        codes[n++] = fit_codes_of(fit, x->reads[OWNER_HOST][i], a);
    if (x->asks_groups)
        codes[n++] = fit_codes_of(fit, fit->columns[OWNER_HOST].n, a);
    if (n != 1) {
        join_codes(codes, n, fit->snap, x, a);
        return;
    }
    x->profile = codes[0]->of;
    x->of_profile = codes[0]->first;
    x->n_profiles = codes[0]->n;
}
