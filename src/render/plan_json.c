/* plan_json.c: a plan as JSON (ballast-plan/1). */
#include "model/refs.h"
#include "render/render.h"

#include "base/rfc3339.h"
#include "schema/writer.h"

#define PERCENT 100.0

void render_amount(struct json_writer *w, const char *key, const double amount[RES_COUNT])
{
    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    jw_figure(w, "cpu_mhz_s", amount[RES_CPU]);
    jw_figure(w, "mem_mb_s", amount[RES_MEM]);
    jw_end(w);
}

void render_end_of_balance(struct json_writer *w, const struct plan *plan)
{
    enum check end = plan->end != CHECK_NONE ? plan->end
                     : plan->refused         ? plan->refused->check
                                             : CHECK_NO_GAIN;

    jw_begin(w, "end", JW_OBJECT, JW_INLINE);
    jw_text(w, "check", check_name(end));
    if (plan->end == CHECK_NONE && plan->refused)
        render_sentence(w, "text", plan->snap, plan->refused);
    else
        jw_text(w, "text", check_meaning(end));
    jw_end(w);
}

void render_unevenness(struct json_writer *w, const struct snapshot *s, const struct metrics *m)
{
    jw_begin(w, "uneven", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < m->n_uneven; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "kind", uneven_name(m->uneven[i].kind));
        render_finding(w, "text", s, m->uneven[i].found);
        jw_end(w);
    }
    jw_end(w);
}

static void put_metrics(struct json_writer *w, const char *key, const struct snapshot *s,
                        const struct metrics *m)
{
    jw_begin(w, key, JW_OBJECT, JW_LINES);
    jw_figure(w, "imbalance", m->imbalance);
    jw_figure(w, "imbalance_cpu", m->imbalance_of[RES_CPU]);
    jw_figure(w, "imbalance_mem", m->imbalance_of[RES_MEM]);
    jw_figure(w, "weight_cpu", m->weight[RES_CPU]);
    jw_figure(w, "weight_mem", m->weight[RES_MEM]);
    jw_figure(w, "target", m->target);
    jw_begin(w, "dpm", JW_OBJECT, JW_INLINE);
    jw_figure(w, "cpu_high", m->dpm_high[RES_CPU]);
    jw_figure(w, "cpu_low", m->dpm_low[RES_CPU]);
    jw_figure(w, "mem_high", m->dpm_high[RES_MEM]);
    jw_figure(w, "mem_low", m->dpm_low[RES_MEM]);
    jw_end(w);
    jw_begin(w, "hosts", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < m->n_hosts; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "id", ref_host_id(s, m->hosts[i].host));
        jw_figure(w, "cpu", m->hosts[i].n[RES_CPU]);
        jw_figure(w, "mem", m->hosts[i].n[RES_MEM]);
        jw_end(w);
    }
    jw_end(w);
    render_unevenness(w, s, m);
    jw_end(w);
}

static void put_room(struct json_writer *w, const struct plan *plan)
{
    if (!plan->room)
        return;
    jw_begin(w, "room", JW_OBJECT, JW_INLINE);
    jw_int(w, "before", (int64_t)plan->spaces_before);
    jw_int(w, "after", (int64_t)plan->spaces_after);
    render_sentence(w, "text", plan->snap, plan->room);
    jw_end(w);
}

static void put_alternatives(struct json_writer *w, const struct snapshot *s, const struct recommendation *r)
{
    jw_begin(w, "alternatives", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < r->n_alternatives; i++) {
        const struct alternative *alt = &r->alternatives[i];
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "host", ref_host_id(s, alt->host));
        jw_figure(w, "imbalance_after", alt->imbalance_after);
        render_finding(w, "text", s, alt->found);
        jw_end(w);
    }
    jw_end(w);
}

static void put_recommendation(struct json_writer *w, const struct plan *plan, const struct recommendation *r)
{
    const struct snapshot *s = plan->snap;

    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_int(w, "id", r->id);
    jw_text(w, "action", action_kind_name(r->action));
    jw_int(w, "priority", r->priority);
    jw_text(w, "vm", ref_vm_id(s, r->vm));
    jw_text(w, "from", ref_host_id(s, r->from));
    jw_text(w, "to", ref_host_id(s, r->to));
    jw_text(w, "host", ref_host_id(s, r->host));
    jw_text(w, "reason", reason_name(r->reason));
    jw_text(w, "rule", ref_rule_id(s, r->rule));
    render_finding(w, "text", s, r->found);
    jw_begin(w, "depends_on", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < r->n_depends_on; i++)
        jw_int(w, NULL, r->depends_on[i]);
    jw_end(w);
    if (r->group == 0)
        jw_text(w, "group", NULL);
    else
        jw_int(w, "group", r->group);
    jw_figure(w, "imbalance_after", r->imbalance_after);
    render_amount(w, "cost", r->cost);
    render_amount(w, "benefit", r->benefit);
    jw_figure(w, "duration_s", r->duration_s);
    if (r->n_alternatives > 0)
        put_alternatives(w, s, r);
    jw_end(w);
}

static void put_alloc(struct json_writer *w, const char *key, const struct alloc *a)
{
    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    jw_figure(w, "reservation", a->reservation);
    jw_figure(w, "limit", a->limit);
    jw_figure(w, "shares", a->shares);
    jw_end(w);
}

static void put_settings(struct json_writer *w, const struct plan *plan)
{
    jw_begin(w, "settings", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < plan->n_settings; i++) {
        const struct host_setting *h = &plan->settings[i];
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "host", ref_host_id(plan->snap, h->host));
        jw_text(w, "pool", ref_pool_id(plan->snap, h->pool));
        put_alloc(w, "cpu", &h->alloc[RES_CPU]);
        put_alloc(w, "mem", &h->alloc[RES_MEM]);
        jw_end(w);
    }
    jw_end(w);
}

/* Where hosts have no pools, and something should change. */
static void put_vm_settings(struct json_writer *w, const struct plan *plan)
{
    if (plan->n_vm_settings == 0)
        return;
    jw_begin(w, "vm_settings", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < plan->n_vm_settings; i++) {
        const struct vm_setting_due *v = &plan->vm_settings[i];
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "host", ref_host_id(plan->snap, v->host));
        jw_text(w, "vm", ref_vm_id(plan->snap, v->vm));
        jw_begin(w, "cpu", JW_OBJECT, JW_INLINE);
        jw_figure(w, "limit", v->to.limit);
        jw_figure(w, "shares", v->to.shares);
        jw_end(w);
        jw_bool(w, "given_back", !v->to.given);
        jw_end(w);
    }
    jw_end(w);
}

void render_fault(struct json_writer *w, const struct plan *plan, const struct fault *f, bool figures)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(w, "code", fault_code_name(f->code));
    jw_text(w, "vm", ref_vm_id(plan->snap, f->vm));
    jw_text(w, "host", ref_host_id(plan->snap, f->host));
    jw_text(w, "rule", ref_rule_id(plan->snap, f->rule));
    if (figures)
        render_finding(w, "text", plan->snap, f->found);
    else
        render_sentence(w, "text", plan->snap, f->found);
    jw_end(w);
}

static void put_faults(struct json_writer *w, const struct plan *plan)
{
    jw_begin(w, "faults", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < plan->n_faults; i++)
        render_fault(w, plan, &plan->faults[i], true);
    jw_end(w);
}

/* The gap, as solvers define it: the distance to the bound as a part of the plan's imbalance. */
static double gap_percent(double imbalance, double least)
{
    return imbalance > least ? PERCENT * (imbalance - least) / imbalance : 0;
}

static void put_bound(struct json_writer *w, const struct plan *plan)
{
    const struct plan_bound_facts *b = plan->stats.bound;

    if (!b)
        return;
    jw_begin(w, "bound", JW_OBJECT, JW_INLINE);
    jw_int(w, "moves", b->vms);
    jw_figure(w, "imbalance", b->imbalance);
    jw_figure(w, "least", b->least);
    jw_figure(w, "gap_percent", gap_percent(b->imbalance, b->least));
    jw_figure(w, "least_with_rules", b->least_ruled);
    jw_figure(w, "gap_with_rules_percent", gap_percent(b->imbalance, b->least_ruled));
    if (b->reaches)
        jw_int(w, "moves_least", b->vms_least);
    else
        jw_raw(w, "moves_least", "null");
    render_sentence(w, "text", plan->snap, b->found);
    jw_end(w);
}

static void put_stats(struct json_writer *w, const struct plan *plan)
{
    const struct plan_stats *s = &plan->stats;

    jw_begin(w, "stats", JW_OBJECT, JW_LINES);
    jw_int(w, "candidates", (int64_t)s->candidates);
    jw_int(w, "evaluated", (int64_t)s->evaluated);
    jw_begin(w, "rejected", JW_OBJECT, JW_INLINE);
    for (int c = 0; c < check_count; c++) {
        if (c != CHECK_NONE && s->rejected[c] > 0)
            jw_int(w, check_name((enum check)c), (int64_t)s->rejected[c]);
    }
    jw_end(w);
    put_bound(w, plan);
    jw_int(w, "decide_us", s->decide_us);
    jw_end(w);
}

/* With the fields that belong to this kind of change only. */
static void put_change(struct json_writer *w, const struct snapshot *s, const struct what_if_change *c)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(w, "change", change_kind_name(c->kind));
    if (c->kind == CHANGE_DEMAND) {
        jw_text(w, "vm", ref_vm_id(s, c->vm));
        jw_figure(w, "cpu_mhz_before", c->cpu_mhz_before);
        jw_figure(w, "cpu_mhz", c->cpu_mhz);
    } else {
        jw_text(w, "host", ref_host_id(s, c->host));
        jw_text(w, "state_before", host_state_name(c->state_before));
        jw_text(w, "state", host_state_name(c->state));
    }
    jw_end(w);
}

static void put_what_if(struct json_writer *w, const struct what_if *question, const struct metrics *now)
{
    put_metrics(w, "now", question->base, now);
    jw_begin(w, "what_if", JW_ARRAY, JW_LINES);
    for (size_t i = 0; i < question->n; i++)
        put_change(w, question->base, &question->changes[i]);
    jw_end(w);
}

/* question: NULL for an ordinary plan. */
static void put_plan(const struct plan *plan, const struct what_if *question, const struct metrics *now,
                     struct strbuf *out)
{
    char time[RFC3339_MAX];
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "format", "ballast-plan/1");
    jw_text(&w, "cluster", plan->snap->cluster);
    jw_text(&w, "time", rfc3339_format(plan->snap->time, time));
    writer_lines(&w, "policy", &policy_settings, &plan->policy);
    put_metrics(&w, "before", plan->snap, &plan->before);
    put_metrics(&w, "after", plan->snap, &plan->after);
    put_room(&w, plan);
    jw_begin(&w, "recommendations", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < plan->n_recommendations; i++)
        put_recommendation(&w, plan, &plan->recommendations[i]);
    jw_end(&w);
    put_settings(&w, plan);
    put_vm_settings(&w, plan);
    put_faults(&w, plan);
    if (question)
        put_what_if(&w, question, now);
    render_end_of_balance(&w, plan);
    put_stats(&w, plan);
    jw_end(&w);
}

void render_plan_json(const struct plan *plan, struct strbuf *out)
{
    put_plan(plan, NULL, NULL, out);
}

void render_what_if_json(const struct plan *plan, const struct what_if *question, const struct metrics *now,
                         struct strbuf *out)
{
    put_plan(plan, question, now, out);
}
