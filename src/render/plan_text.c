/* plan_text.c: a plan as text: puts the sections in order. */
#include "render/plan_section.h"
#include "render/render.h"

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

/* What the candidates failed at that were looked at, the most frequent first. */
static void put_why_nots(const struct plan *plan, struct strbuf *out)
{
    struct why_not why[check_count];
    size_t n = 0;

    for (int c = 0; c < check_count; c++) {
        if (c != CHECK_NONE && plan->stats.rejected[c] > 0)
            why[n++] = (struct why_not){(enum check)c, plan->stats.rejected[c]};
    }
    qsort(why, n, sizeof *why, by_count);
    strbuf_puts(out, n > 0 ? ".\nRejected moves, by reason:\n" : ": no move would lower the imbalance.\n");
    for (size_t i = 0; i < n && i < WHY_NOTS_MAX; i++)
        strbuf_printf(out, "  %s (%llu): %s\n", check_name(why[i].check), (unsigned long long)why[i].n,
                      check_meaning(why[i].check));
}

/* Why there is nothing, or not more. */
static void put_reasons(const struct plan *plan, struct strbuf *out)
{
    bool none = plan->n_recommendations == 0;
    bool skipped = plan->end == CHECK_MANDATORY_ONLY || plan->end == CHECK_POWER_FIRST; /* balance */
    bool reached = plan->after.imbalance <= plan->after.target;

    if (plan->end == CHECK_TARGET_REACHED) {
        if (none)
            strbuf_printf(out, "\nNothing is recommended%s: %s.\n", plan->n_faults > 0 ? " for balance" : "",
                          plan->before.n_hosts < 2 ? "fewer than two hosts can run VMs"
                                                   : check_meaning(plan->end));
        return;
    }
    if (reached && !none && skipped)
        return;
    strbuf_printf(out, "\n%s%s", none ? "Nothing is recommended" : "Nothing else is recommended",
                  reached && !skipped ? ", although the load of some hosts still differs"
                  : !reached          ? ", although the target is not reached"
                                      : "");
    if (plan->end == CHECK_NONE)
        put_why_nots(plan, out);
    else
        strbuf_printf(out, ": %s.\n", check_meaning(plan->end));
}

void render_plan_text(const struct plan *plan, struct strbuf *out)
{
    struct arena scratch = {0};

    plan_section_heading(plan, out);
    plan_section_balance(plan, &scratch, out);
    plan_section_recommendations(plan, &scratch, out);
    plan_section_alternatives(plan, &scratch, out);
    put_reasons(plan, out);
    plan_section_faults(plan, &scratch, out);
    plan_section_settings(plan, &scratch, out);
    arena_release(&scratch);
}
