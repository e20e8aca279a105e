/* plan_section.c: the sections that a plan's text consists of. */
#include "render/plan_section.h"

#include "model/refs.h"
#include "render/loads.h"
#include "render/table.h"
#include "render/wording/wording.h"

#include "base/natural.h"
#include "base/rfc3339.h"
#include "model/named.h"

#include <stdlib.h>
#include <string.h>

#define SETTINGS_SHOWN_MAX 20
#define LOAD_SHOWN_AS_CONTENDED 1.0005 /* 100.1 % in the table */

static const char *const res_title[RES_COUNT] = {[RES_CPU] = "CPU", [RES_MEM] = "memory"};
static const char *const res_with_unit[RES_COUNT] = {[RES_CPU] = "CPU MHz", [RES_MEM] = "memory MiB"};

void plan_section_heading(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    char time[RFC3339_MAX];
    uint32_t running = 0;

    for (uint32_t i = 0; i < plan->snap->n_vms; i++)
        running += plan->snap->vms[i].is.state == VM_ON;
    table_put_wrapped(out,
                      arena_printf(a, "Cluster %s at %s: %u of %u hosts on, %u of %u VMs on",
                                   plan->snap->cluster, rfc3339_format(plan->snap->time, time),
                                   plan->before.n_hosts, plan->snap->n_hosts, running, plan->snap->n_vms),
                      0);
}

const char *render_count(struct arena *a, uint32_t n, const char *what)
{
    return arena_printf(a, "%u %s%s", n, what, n == 1 ? "" : "s");
}

void plan_section_room(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    if (!plan->room)
        return;
    strbuf_puts(out, "\n");
    table_put_wrapped(out, wording_text(plan->snap, plan->room, a), 0);
}

void plan_section_bound(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    if (!plan->stats.bound)
        return;
    strbuf_puts(out, "\n");
    table_put_wrapped(out, wording_text(plan->snap, plan->stats.bound->found, a), 0);
}

static void put_load(struct table *t, const struct snapshot *s, const struct host_load *h, enum resource r)
{
    if (!h) {
        table_cell(t, NULL);
        return;
    }
    table_cell(t, arena_printf(t->a, "%.1f %% %s", 100 * h->n[r], ref_host_name(s, h->host)));
}

void plan_section_balance(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {
        {"LOAD", false},
        {"SPREAD", true},
        {"WEIGHT", true},
        {"FULLEST HOST", .host = true},
        {"EMPTIEST HOST", .host = true},
    };
    const struct metrics *phases[] = {&plan->before, &plan->after};
    static const char *const phase_names[] = {"before", "after"};
    size_t n_phases = plan->n_recommendations > 0 ? 2 : 1;
    bool contended = false;
    struct table t = table_of(a, columns, sizeof columns / sizeof *columns);

    strbuf_printf(out, "Imbalance %.4f now, %.4f after the plan; target %.4f (%sthreshold %lld)\n\n",
                  plan->before.imbalance, plan->after.imbalance, plan->after.target,
                  plan->policy.target == TARGET_AUTO ? "" : "as set; ",
                  (long long)plan->policy.migration_threshold);
    t.domain = named_host_domain(plan->snap);
    for (int r = 0; r < RES_COUNT; r++) {
        for (size_t p = 0; p < n_phases; p++) {
            table_cell(&t, arena_printf(a, "%s %s", res_title[r], phase_names[p]));
            table_cell(&t, arena_printf(a, "%.4f", phases[p]->imbalance_of[r]));
            table_cell(&t, arena_printf(a, "%.2f", phases[p]->weight[r]));
            const struct host_load *fullest = loads_extreme(phases[p], (enum resource)r, 1);
            contended = contended || (fullest && fullest->n[r] > LOAD_SHOWN_AS_CONTENDED);
            put_load(&t, plan->snap, fullest, (enum resource)r);
            put_load(&t, plan->snap, loads_extreme(phases[p], (enum resource)r, -1), (enum resource)r);
        }
    }
    table_render(&t, "  ", out);
    if (contended)
        strbuf_puts(out, "  Above 100 %: the VMs of the host are entitled to more than the host has.\n");
}

static const char *ids_text(struct arena *a, const uint32_t *ids, uint32_t n)
{
    const char *text = n > 0 ? arena_printf(a, "%u", ids[0]) : NULL;

    for (uint32_t i = 1; i < n; i++)
        text = arena_printf(a, "%s,%u", text, ids[i]);
    return text;
}

void plan_section_recommendations(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {
        {"ID", true},
        {"PRIO", true, .word = "priority"},
        {"ACTION", false},
        {"VM", false},
        {"FROM", .host = true, .optional = true},
        {"", .tight = true, .optional = true},
        {"TO", .host = true, .tight = true},
        {"REASON", .word = ""},
        {"IMBALANCE", true, .word = "imbalance"},
        {"NEEDS", .word = "needs", .optional = true},
        {"GROUP", .word = "group", .optional = true},
        {"", .below = true},
    };
    const struct snapshot *s = plan->snap;
    struct table t = table_of(a, columns, sizeof columns / sizeof *columns);

    if (plan->n_recommendations == 0)
        return;
    strbuf_printf(out, "\n%s\n\n", render_count(a, plan->n_recommendations, "recommendation"));
    t.domain = named_host_domain(plan->snap);
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
        table_cell(&t, r->found ? wording_text(s, r->found, a) : "");
    }
    table_render(&t, "  ", out);
}

void plan_section_faults(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    if (plan->n_faults == 0)
        return;
    strbuf_printf(out, "\n%u fault%s\n\n", plan->n_faults, plan->n_faults == 1 ? "" : "s");
    for (uint32_t i = 0; i < plan->n_faults; i++) {
        const struct fault *f = &plan->faults[i];
        const char *text = f->found ? wording_text(plan->snap, f->found, a) : fault_code_meaning(f->code);
        strbuf_puts(out, " ");
        table_put_hanging(out, arena_printf(a, "%s: %s", fault_code_name(f->code), text), 1, 4);
    }
}

static void put_alternatives(const struct plan *plan, const struct recommendation *r, struct arena *a,
                             struct strbuf *out)
{
    static const struct column columns[] = {{"HOST", .host = true}, {"IMBALANCE", true}, {"", .below = true}};
    struct table t = table_of(a, columns, sizeof columns / sizeof *columns);

    strbuf_puts(out, "\n");
    table_put_wrapped(out,
                      arena_printf(a, "Other hosts for %s, best first",
                                   r->vm != IX_NONE ? ref_vm_name(plan->snap, r->vm) : "the VM"),
                      0);
    strbuf_puts(out, "\n");
    t.domain = named_host_domain(plan->snap);
    for (uint32_t i = 0; i < r->n_alternatives; i++) {
        const struct alternative *alt = &r->alternatives[i];
        table_cell(&t, ref_host_name(plan->snap, alt->host));
        table_cell(&t, isfinite(alt->imbalance_after) ? arena_printf(a, "%.4f", alt->imbalance_after) : NULL);
        table_cell(&t, alt->found ? wording_text(plan->snap, alt->found, a) : "");
    }
    table_render(&t, "  ", out);
}

void plan_section_alternatives(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        if (plan->recommendations[i].n_alternatives > 0)
            put_alternatives(plan, &plan->recommendations[i], a, out);
    }
}

/* By the names of host and pool, in the order in which a person expects them. */
static int compare_settings(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;
    const struct host_setting *x = a;
    const struct host_setting *y = b;
    int order = natural_compare(ref_host_name(s, x->host), ref_host_name(s, y->host));

    return order != 0 ? order : natural_compare(ref_pool_name(s, x->pool), ref_pool_name(s, y->pool));
}

void plan_section_settings(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {
        {"HOST", .host = true}, {"POOL", false}, {"RESOURCE", false},
        {"RESERVATION", true},  {"LIMIT", true}, {"SHARES", true},
    };
    struct table t = table_of(a, columns, sizeof columns / sizeof *columns);

    if (plan->n_settings == 0)
        return;
    strbuf_printf(out, "\n%u setting%s of pools on hosts to change\n\n", plan->n_settings,
                  plan->n_settings == 1 ? "" : "s");
    struct host_setting *list = arena_copy(a, plan->settings, plan->n_settings, sizeof *list);

    qsort_r(list, plan->n_settings, sizeof *list, compare_settings, (void *)plan->snap);
    t.domain = named_host_domain(plan->snap);
    for (uint32_t i = 0; i < plan->n_settings && i < SETTINGS_SHOWN_MAX; i++) {
        const struct host_setting *h = &list[i];
        for (int r = 0; r < RES_COUNT; r++) {
            table_cell(&t, r == 0 ? ref_host_name(plan->snap, h->host) : "");
            table_cell(&t, r == 0 ? ref_pool_name(plan->snap, h->pool) : "");
            table_cell(&t, res_with_unit[r]);
            table_number(&t, h->alloc[r].reservation);
            table_number(&t, h->alloc[r].limit);
            table_number(&t, h->alloc[r].shares);
        }
    }
    table_render(&t, "  ", out);
    if (plan->n_settings > SETTINGS_SHOWN_MAX)
        strbuf_printf(out, "  ... and %u more; --format json lists them all\n",
                      plan->n_settings - SETTINGS_SHOWN_MAX);
}

static int compare_vm_settings(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;
    const struct vm_setting_due *x = a;
    const struct vm_setting_due *y = b;
    int order = natural_compare(ref_host_name(s, x->host), ref_host_name(s, y->host));

    return order != 0 ? order : natural_compare(ref_vm_name(s, x->vm), ref_vm_name(s, y->vm));
}

void plan_section_vm_settings(const struct plan *plan, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {
        {"HOST", .host = true}, {"VM", false}, {"CPU LIMIT, MHz", true}, {"SHARES", true}, {"", false},
    };
    struct table t = table_of(a, columns, sizeof columns / sizeof *columns);

    if (plan->n_vm_settings == 0)
        return;
    strbuf_printf(out, "\n%u setting%s of VMs on hosts to change\n\n", plan->n_vm_settings,
                  plan->n_vm_settings == 1 ? "" : "s");
    struct vm_setting_due *list = arena_copy(a, plan->vm_settings, plan->n_vm_settings, sizeof *list);

    qsort_r(list, plan->n_vm_settings, sizeof *list, compare_vm_settings, (void *)plan->snap);
    t.domain = named_host_domain(plan->snap);
    for (uint32_t i = 0; i < plan->n_vm_settings && i < SETTINGS_SHOWN_MAX; i++) {
        table_cell(&t, ref_host_name(plan->snap, list[i].host));
        table_cell(&t, ref_vm_name(plan->snap, list[i].vm));
        table_number(&t, list[i].to.limit);
        table_number(&t, list[i].to.shares);
        table_cell(&t, list[i].to.given ? "" : "its own, given back");
    }
    table_render(&t, "  ", out);
    if (plan->n_vm_settings > SETTINGS_SHOWN_MAX)
        strbuf_printf(out, "  ... and %u more; --format json lists them all\n",
                      plan->n_vm_settings - SETTINGS_SHOWN_MAX);
}
