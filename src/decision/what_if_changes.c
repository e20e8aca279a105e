/* what_if_changes.c: the assumptions of a what-if, from words to changes of its snapshot. */
#include "decision/internal.h"

#include "base/number.h"
#include "core/demand/sample_guard.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static int assume_demand(struct what_if *w, const char *text, struct arena *a, struct err *err)
{
    const char *equals = strrchr(text, '='); /* an id or a name may contain "=", a number cannot */
    double mhz;
    int r;

    if (!equals)
        return err_set(err, -EINVAL, "\"%s\" has no =, expected VM=MHZ", text);
    if (!number_parse(equals + 1, &mhz))
        return err_set(err, -EINVAL, "\"%s\" is not a number, expected MHz, 0 or more", equals + 1);
    const char *word = arena_strndup(a, text, (size_t)(equals - text));

    if ((r = what_if_demand(w, word, mhz, err)) < 0)
        return r;
    double most_mhz = sample_guard_most(&w->snap, w->changes[w->n - 1].vm, RES_CPU);

    if (mhz > most_mhz) /* the pass would refuse such a demand and keep the VM where it is */
        return err_set(err, -EINVAL,
                       "\"%s\" cannot use %.12g MHz, expected at most %.0f: a core for each vCPU", word, mhz,
                       floor(most_mhz));
    return 0;
}

/* Hosts first: their state decides which VMs are seen. */
int what_if_changes(const struct decision_question *q, struct what_if *w, struct arena *a,
                    const char **ret_field, struct err *err)
{
    if (q->n_changes == 0)
        return err_set(err, -EINVAL,
                       "expected one assumption or more: a host that is off, on or in "
                       "maintenance, or the demand of a VM");
    for (unsigned k = 0; k < change_kind_count; k++) {
        const enum change_kind kind = (enum change_kind)k;

        for (size_t i = 0; i < q->n_changes; i++) {
            const struct decision_change *c = &q->changes[i];

            if (c->kind != kind)
                continue;
            int r = kind == CHANGE_DEMAND ? assume_demand(w, c->word, a, err)
                                          : what_if_host(w, kind, c->word, err);

            if (r < 0) {
                *ret_field = change_kind_name(kind);
                return r;
            }
        }
    }
    return 0;
}
