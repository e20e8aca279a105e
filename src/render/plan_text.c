/* plan_text.c: a plan as text: puts the sections in order. */
#include "render/plan_section.h"
#include "render/render.h"
#include "render/table.h"

#include "base/cleanup.h"

#include <stdlib.h>

#define WHY_NOTS_MAX 5

struct why_not {
    enum check check;
    uint64_t n;
};

static int by_count(const void *a, const void *b)
{
    const struct why_not *x = a;
    const struct why_not *y = b;

    if (x->n != y->n)
        return (x->n < y->n) - (x->n > y->n);
    return (int)x->check - (int)y->check;
}

static uint64_t count_rejected(const struct plan *plan)
{
    uint64_t n = 0;

    for (int c = CHECK_NONE + 1; c < check_count; c++)
        n += plan->stats.rejected[c];
    return n;
}

/* What the candidates failed at that were looked at, the most frequent first. */
static void put_why_nots(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    struct why_not why[check_count];
    size_t n = 0;

    for (int c = 0; c < check_count; c++) {
        if (c != CHECK_NONE && plan->stats.rejected[c] > 0)
            why[n++] = (struct why_not){(enum check)c, plan->stats.rejected[c]};
    }
    qsort(why, n, sizeof *why, by_count);
    if (n > 0)
        strbuf_puts(out, "Rejected moves, by reason:\n");
    for (size_t i = 0; i < n && i < WHY_NOTS_MAX; i++) {
        strbuf_puts(out, " ");
        table_put_hanging(out,
                          arena_printf(a, "%s (%llu): %s", check_name(why[i].check),
                                       (unsigned long long)why[i].n, check_meaning(why[i].check)),
                          1, 4);
    }
    if (plan->refused)
        table_put_wrapped(out, wording_text(plan->snap, plan->refused, a), 0);
    if (plan->stats.rejected[CHECK_COST_BENEFIT] > 0 && plan->ratio &&
        !(plan->refused && plan->refused->check == CHECK_COST_BENEFIT)) /* which says that, too */
        table_put_wrapped(out, wording_text(plan->snap, plan->ratio, a), 0);
}

/* "although ...": why the state at the end is not even. Above the target, outliers add nothing. */
static void put_unevenness(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    const struct metrics *m = &plan->after;
    uint32_t n = m->n_uneven;

    while (n > 1 && m->uneven[0].kind == UNEVEN_IMBALANCE && m->uneven[n - 1].kind == UNEVEN_OUTLIER)
        n--;
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(out, "%s%s",
                      i == 0      ? ", although "
                      : i + 1 < n ? ", "
                                  : " and ",
                      wording_text(plan->snap, m->uneven[i].found, a));
}

/* Why there is nothing, or not more. */
static void put_reasons(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    bool none = plan->n_recommendations == 0;
    bool skipped = plan->end == CHECK_MANDATORY_ONLY || plan->end == CHECK_POWER_FIRST; /* balance */

    if (plan->end == CHECK_TARGET_REACHED) {
        if (none)
            strbuf_puts(out, "\n");
        if (none)
            table_put_wrapped(out,
                              arena_printf(a, "Nothing is recommended%s: %s.",
                                           plan->n_faults > 0 ? " for balance" : "",
                                           plan->before.n_hosts < 2 ? "fewer than two hosts can run VMs"
                                                                    : check_meaning(plan->end)),
                              0);
        return;
    }
    if (plan->after.n_uneven == 0 && !none && skipped)
        return;
    strbuf_puts(&text, none ? "Nothing is recommended" : "Nothing else is recommended");
    if (plan->policy.objective == OBJECTIVE_BALANCE)
        put_unevenness(plan, a, &text);
    if (plan->end != CHECK_NONE)
        strbuf_printf(&text, ": %s", check_meaning(plan->end));
    else if (count_rejected(plan) == 0)
        strbuf_puts(&text, ": no move would lower the imbalance");
    strbuf_puts(&text, ".");
    strbuf_puts(out, "\n");
    table_put_wrapped(out, text.text, 0);
    if (plan->end == CHECK_NONE)
        put_why_nots(plan, a, out);
}

void render_plan_text(const struct plan *plan, struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};

    plan_section_heading(plan, &scratch, out);
    plan_section_balance(plan, &scratch, out);
    plan_section_bound(plan, &scratch, out);
    plan_section_room(plan, &scratch, out);
    plan_section_recommendations(plan, &scratch, out);
    plan_section_alternatives(plan, &scratch, out);
    put_reasons(plan, &scratch, out);
    plan_section_faults(plan, &scratch, out);
    plan_section_settings(plan, &scratch, out);
    plan_section_vm_settings(plan, &scratch, out);
}
