/* answers.c: the answers of external units: read, checked and written. */
#include "model/answers.h"

#include <math.h>

int answer_scores_read(const struct reader *r, const struct node *list, void *at)
{
    struct answer_scores *ret = at;
    uint32_t i = 0;

    if (list->kind != NODE_LIST)
        return reader_refuse(r, list, "a list of numbers");
    double *items = arena_array(r->a, double, list->n);

    for (const struct node *n = list->first; n; n = n->next) {
        if (!node_number(n, &items[i++]))
            return reader_refuse(r, n, "a number");
    }
    *ret = (struct answer_scores){items, i};
    return 0;
}

void answer_scores_write(struct json_writer *w, const char *key, const void *at)
{
    const struct answer_scores *of = at;

    jw_begin(w, key, JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < of->n; i++)
        jw_exact(w, NULL, of->items[i]);
    jw_end(w);
}

bool answer_scores_known(const void *at)
{
    return ((const struct answer_scores *)at)->items != NULL;
}

static bool are_finite(const struct answer_scores *of)
{
    for (uint32_t i = 0; i < of->n; i++)
        if (!isfinite(of->items[i]))
            return false;
    return true;
}

const char *answer_mistake(const struct seen_answer *x)
{
    if (x->error)
        return x->hosts_given || x->scores_given ? "an error with hosts or scores, expected the error alone"
                                                 : NULL;
    if (!x->hosts_given)
        return "neither hosts nor an error, expected one of them";
    if (x->scores_given && x->scores.n != x->hosts.n)
        return "scores that are not as many as hosts, expected one for each";
    if (x->multipliers_given && (!x->scores_given || x->multipliers.n != x->hosts.n))
        return "multipliers that are not as many as scores, expected one for each";
    return are_finite(&x->scores) && are_finite(&x->multipliers)
               ? NULL
               : "a number that is not finite, expected scores and multipliers that are";
}
