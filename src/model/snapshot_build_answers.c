/* snapshot_build_answers.c: the answers of external units, and which of them are about each VM. */
#include "model/snapshot_build.h"

#include "base/order.h"
#include "model/answers.h"
#include "model/inventory_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME_EXPECTED "missing, empty or too long, expected the name of a unit, of at most 255 bytes"

static int check_answer(const struct place *at, const struct seen_answer *x)
{
    const char *mistake = answer_mistake(x);

    if (!x->unit || !*x->unit || strlen(x->unit) > FACT_NAME_BYTES_MAX)
        return inventory_check_refuse(at, "unit", NAME_EXPECTED);
    return mistake ? inventory_check_refuse(at, "hosts", "%s", mistake) : 0;
}

static int unknown_id(const struct place *at, const char *list, uint32_t i, const char *id)
{
    char field[64];

    (void)snprintf(field, sizeof field, "%s/%u", list, i);
    return inventory_check_refuse(at, field, "no object of /%s has the id \"%s\", expected one that is there",
                                  list, id);
}

static int find_vms(const struct snapshot *s, const struct place *at, struct ids ids, struct arena *a,
                    struct span *ret)
{
    uint32_t *items = arena_array(a, uint32_t, ids.n);

    for (uint32_t i = 0; i < ids.n; i++) {
        items[i] = snapshot_find_vm(s, ids.items[i]);
        if (items[i] == IX_NONE)
            return unknown_id(at, "vms", i, ids.items[i]);
    }
    order_sort(items, ids.n, sizeof *items, order_indexes);
    *ret = (struct span){items, ids.n};
    return 0;
}

static double *by_host(const struct snapshot *s, bool given, struct arena *a)
{
    double *ret = given ? arena_array(a, double, s->n_hosts) : NULL;

    for (uint32_t h = 0; ret && h < s->n_hosts; h++)
        ret[h] = UNKNOWN;
    return ret;
}

static int find_hosts(const struct snapshot *s, const struct place *at, const struct seen_answer *x,
                      struct arena *a, struct unit_answer *ret)
{
    uint64_t *kept = arena_array(a, uint64_t, ((size_t)s->n_hosts + 63) / 64);
    double *scores = by_host(s, x->scores_given, a);
    double *multipliers = by_host(s, x->multipliers_given, a);

    for (uint32_t i = 0; i < x->hosts.n; i++) {
        uint32_t h = snapshot_find_host(s, x->hosts.items[i]);

        if (h == IX_NONE)
            return unknown_id(at, "hosts", i, x->hosts.items[i]);
        if (kept[h / 64] >> (h % 64) & 1)
            return inventory_check_refuse(at, "hosts", "\"%s\" is listed twice, expected once",
                                          x->hosts.items[i]);
        kept[h / 64] |= (uint64_t)1 << (h % 64);
        if (scores)
            scores[h] = x->scores.items[i] + 0.0;
        if (multipliers)
            multipliers[h] = x->multipliers.items[i] + 0.0;
    }
    ret->scores = scores;
    ret->multipliers = multipliers;
    ret->kept = scores ? NULL : kept;
    return 0;
}

/* Gives each VM its answers. */
static int link_vms(struct snapshot *s, struct arena *a, struct err *err)
{
    uint32_t *n = arena_array(a, uint32_t, s->n_vms);
    const struct unit_answer ***of = arena_array(a, const struct unit_answer **, s->n_vms);

    for (uint32_t i = 0; i < s->n_answers; i++)
        for (uint32_t k = 0; k < s->answers[i].vms.n; k++)
            n[s->answers[i].vms.items[k]]++;
    for (uint32_t v = 0; v < s->n_vms; v++)
        of[v] = n[v] > 0 ? arena_array(a, const struct unit_answer *, n[v]) : NULL;
    for (uint32_t i = 0; i < s->n_answers; i++)
        for (uint32_t k = 0; k < s->answers[i].vms.n; k++) {
            uint32_t v = s->answers[i].vms.items[k];
            struct vm *vm = &s->vms[v];

            for (uint32_t j = 0; j < vm->n_answers; j++)
                if (strcmp(of[v][j]->unit, s->answers[i].unit) == 0)
                    return err_set(err, -EINVAL,
                                   "/answers/%u: unit \"%s\" answers about \"%s\" twice, expected once", i,
                                   s->answers[i].unit, vm->is.id);
            of[v][vm->n_answers++] = &s->answers[i];
            vm->answers = of[v];
        }
    return 0;
}

int snapshot_build_answers(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err)
{
    if (inv->n_answers == 0)
        return 0;
    if (inv->n_answers > ANSWERS_MAX)
        return err_set(err, -EINVAL, "/answers: %zu, expected at most %d", inv->n_answers, ANSWERS_MAX);
    s->answers = arena_array(a, struct unit_answer, inv->n_answers);
    for (size_t i = 0; i < inv->n_answers; i++) {
        const struct place at = {.kind = "answers", .ix = i, .err = err};
        const struct seen_answer *x = &inv->answers[i];
        struct unit_answer *ret = &s->answers[s->n_answers];
        int r;

        *ret = (struct unit_answer){.unit = x->unit,
                                    .ix = s->n_answers++,
                                    .at = x->at,
                                    .words = x->words,
                                    .error = x->error,
                                    .outdated = s->time - x->at > ANSWER_AGE_MAX_S};
        if ((r = check_answer(&at, x)) < 0 || (r = find_vms(s, &at, x->vms, a, &ret->vms)) < 0 ||
            (r = x->error ? 0 : find_hosts(s, &at, x, a, ret)) < 0)
            return r;
    }
    return link_vms(s, a, err);
}
