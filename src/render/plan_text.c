#include "render/loads.h"
#include "render/refs.h"
#include "render/render.h"
#include "render/table.h"

#include "base/rfc3339.h"

#include <stdlib.h>

#define WHY_NOTS_MAX 5

static const char *const res_title[RES_COUNT] = {[RES_CPU] = "CPU", [RES_MEM] = "memory"};

static void put_heading(const struct plan *plan, struct strbuf *out)
{
    char time[RFC3339_MAX];
    uint32_t running = 0;

    for (uint32_t i = 0; i < plan->snap->n_vms; i++)
        running += plan->snap->vms[i].is.state == VM_ON;
    strbuf_puts(out, "Cluster ");
    text_put(out, plan->snap->cluster);
    strbuf_printf(out, " at %s: %u of %u hosts can run VMs, %u of %u VMs run\n",
                  rfc3339_format(plan->snap->time, time), plan->before.n_hosts, plan->snap->n_hosts, running,
                  plan->snap->n_vms);
}

static void put_load(struct table *t, const struct snapshot *s, const struct host_load *h, enum resource r)
{
    if (!h) {
        table_cell(t, NULL);
        return;
    }
    table_cell(t, arena_printf(t->a, "%.1f %% %s", 100 * h->n[r], ref_host_name(s, h->host)));
}

static void put_balance(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {
        {"LOAD", false},         {"SPREAD", true},         {"WEIGHT", true},
        {"FULLEST HOST", false}, {"EMPTIEST HOST", false},
    };
    const struct metrics *phases[] = {&plan->before, &plan->after};
    static const char *const phase_names[] = {"before", "after"};
    size_t n_phases = plan->n_recommendations > 0 ? 2 : 1;
    struct table t;

    strbuf_printf(out, "Imbalance %.4f -> %.4f, target %.4f (threshold %lld)\n\n", plan->before.imbalance,
                  plan->after.imbalance, plan->after.target, (long long)plan->policy.migration_threshold);
    table_init(&t, a, columns, sizeof columns / sizeof *columns);
    for (int r = 0; r < RES_COUNT; r++) {
        for (size_t p = 0; p < n_phases; p++) {
            table_cell(&t, arena_printf(a, "%s %s", res_title[r], phase_names[p]));
            table_cell(&t, arena_printf(a, "%.4f", phases[p]->imbalance_of[r]));
            table_cell(&t, arena_printf(a, "%.2f", phases[p]->weight[r]));
            put_load(&t, plan->snap, load_extreme(phases[p], (enum resource)r, 1), (enum resource)r);
            put_load(&t, plan->snap, load_extreme(phases[p], (enum resource)r, -1), (enum resource)r);
        }
    }
    table_render(&t, "  ", out);
}

static const char *ids_text(struct arena *a, const uint32_t *ids, uint32_t n)
{
    const char *text = n > 0 ? arena_printf(a, "%u", ids[0]) : NULL;

    for (uint32_t i = 1; i < n; i++)
        text = arena_printf(a, "%s,%u", text, ids[i]);
    return text;
}

static void put_recommendations(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {
        {"ID", true},    {"PRIO", true},   {"ACTION", false}, {"VM", false},
        {"FROM", false}, {"", false},      {"TO", false},     {"REASON", false},
        {"AFTER", true}, {"NEEDS", false}, {"GROUP", false},  {"", false, .below = true},
    };
    const struct snapshot *s = plan->snap;
    struct table t;

    strbuf_printf(out, "\n%u recommendation%s\n\n", plan->n_recommendations,
                  plan->n_recommendations == 1 ? "" : "s");
    table_init(&t, a, columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *r = &plan->recommendations[i];
        uint32_t to = r->to != IX_NONE ? r->to : r->host;
        table_cell(&t, arena_printf(a, "%u", r->id));
        table_cell(&t, arena_printf(a, "%u", r->priority));
        table_cell(&t, action_kind_name(r->action));
        table_cell(&t, ref_vm_name(s, r->vm));
        table_cell(&t, ref_host_name(s, r->from));
        table_cell(&t, r->from != IX_NONE ? "->" : "");
        table_cell(&t, ref_host_name(s, to));
        table_cell(&t, reason_name(r->reason));
        table_cell(&t, isfinite(r->imbalance_after) ? arena_printf(a, "%.4f", r->imbalance_after) : NULL);
        table_cell(&t, ids_text(a, r->depends_on, r->n_depends_on));
        table_cell(&t, r->group > 0 ? arena_printf(a, "%u", r->group) : NULL);
        table_cell(&t, r->text ? r->text : "");
    }
    table_render(&t, "  ", out);
}

static void put_faults(const struct plan *plan, struct strbuf *out)
{
    if (plan->n_faults == 0)
        return;
    strbuf_printf(out, "\n%u fault%s\n\n", plan->n_faults, plan->n_faults == 1 ? "" : "s");
    for (uint32_t i = 0; i < plan->n_faults; i++) {
        strbuf_printf(out, "  %s: ", fault_code_name(plan->faults[i].code));
        text_put(out, plan->faults[i].text ? plan->faults[i].text : fault_code_meaning(plan->faults[i].code));
        strbuf_puts(out, "\n");
    }
}

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
    strbuf_puts(out, n > 0 ? ". What stood in the way of the moves looked at:\n"
                           : ": no move would lower the imbalance.\n");
    for (size_t i = 0; i < n && i < WHY_NOTS_MAX; i++)
        strbuf_printf(out, "  %s (%llu): %s\n", check_name(why[i].check), (unsigned long long)why[i].n,
                      check_meaning(why[i].check));
}

/* Why there is nothing, or not more. */
static void put_reasons(const struct plan *plan, struct strbuf *out)
{
    bool none = plan->n_recommendations == 0;
    bool reached = plan->after.imbalance <= plan->after.target;

    if (plan->end == CHECK_TARGET_REACHED) {
        if (none)
            strbuf_puts(out, "\nNothing is recommended: the cluster is balanced well enough.\n");
        return;
    }
    if (reached && !none && plan->end == CHECK_MANDATORY_ONLY)
        return;
    strbuf_printf(out, "\n%s%s", none ? "Nothing is recommended" : "Nothing more is recommended",
                  reached && plan->end != CHECK_MANDATORY_ONLY ? ", though single hosts stand out"
                  : !reached                                   ? ", though the target is not reached"
                                                               : "");
    if (plan->end == CHECK_NONE)
        put_why_nots(plan, out);
    else
        strbuf_printf(out, ": %s.\n", check_meaning(plan->end));
}

void render_plan_text(const struct plan *plan, struct strbuf *out)
{
    struct arena scratch = {0};

    put_heading(plan, out);
    put_balance(plan, &scratch, out);
    if (plan->n_recommendations > 0)
        put_recommendations(plan, &scratch, out);
    put_reasons(plan, out);
    put_faults(plan, out);
    if (plan->n_settings > 0)
        strbuf_printf(out, "\nPer-host settings of pools to change: %u (--format json lists them)\n",
                      plan->n_settings);
    arena_release(&scratch);
}
