#include "render/refs.h"
#include "render/render.h"

#include "base/rfc3339.h"

static void put_amount(struct json_writer *w, const char *key, const double amount[RES_COUNT])
{
    json_begin(w, key, JSON_OBJECT, JSON_INLINE);
    json_figure(w, "cpu_mhz_s", amount[RES_CPU]);
    json_figure(w, "mem_mb_s", amount[RES_MEM]);
    json_end(w);
}

static void put_metrics(struct json_writer *w, const char *key, const struct snapshot *s,
                        const struct metrics *m)
{
    json_begin(w, key, JSON_OBJECT, JSON_LINES);
    json_figure(w, "imbalance", m->imbalance);
    json_figure(w, "imbalance_cpu", m->imbalance_of[RES_CPU]);
    json_figure(w, "imbalance_mem", m->imbalance_of[RES_MEM]);
    json_figure(w, "weight_cpu", m->weight[RES_CPU]);
    json_figure(w, "weight_mem", m->weight[RES_MEM]);
    json_figure(w, "target", m->target);
    json_begin(w, "dpm", JSON_OBJECT, JSON_INLINE);
    json_figure(w, "cpu_high", m->dpm_high[RES_CPU]);
    json_figure(w, "cpu_low", m->dpm_low[RES_CPU]);
    json_figure(w, "mem_high", m->dpm_high[RES_MEM]);
    json_figure(w, "mem_low", m->dpm_low[RES_MEM]);
    json_end(w);
    json_begin(w, "hosts", JSON_ARRAY, JSON_LINES);
    for (uint32_t i = 0; i < m->n_hosts; i++) {
        json_begin(w, NULL, JSON_OBJECT, JSON_INLINE);
        json_text(w, "id", ref_host_id(s, m->hosts[i].host));
        json_figure(w, "cpu", m->hosts[i].n[RES_CPU]);
        json_figure(w, "mem", m->hosts[i].n[RES_MEM]);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

void render_recommendation(struct json_writer *w, const char *key, const struct plan *plan,
                           const struct recommendation *r)
{
    const struct snapshot *s = plan->snap;

    json_begin(w, key, JSON_OBJECT, JSON_INLINE);
    json_int(w, "id", r->id);
    json_text(w, "action", action_kind_name(r->action));
    json_int(w, "priority", r->priority);
    json_text(w, "vm", ref_vm_id(s, r->vm));
    json_text(w, "from", ref_host_id(s, r->from));
    json_text(w, "to", ref_host_id(s, r->to));
    json_text(w, "host", ref_host_id(s, r->host));
    json_text(w, "reason", reason_name(r->reason));
    json_text(w, "rule", ref_rule_id(s, r->rule));
    json_text(w, "text", r->text);
    json_begin(w, "depends_on", JSON_ARRAY, JSON_INLINE);
    for (uint32_t i = 0; i < r->n_depends_on; i++)
        json_int(w, NULL, r->depends_on[i]);
    json_end(w);
    if (r->group == 0)
        json_text(w, "group", NULL);
    else
        json_int(w, "group", r->group);
    json_figure(w, "imbalance_after", r->imbalance_after);
    put_amount(w, "cost", r->cost);
    put_amount(w, "benefit", r->benefit);
    json_figure(w, "duration_s", r->duration_s);
    json_end(w);
}

static void put_alloc(struct json_writer *w, const char *key, const struct alloc *a)
{
    json_begin(w, key, JSON_OBJECT, JSON_INLINE);
    json_figure(w, "reservation", a->reservation);
    json_figure(w, "limit", a->limit);
    json_figure(w, "shares", a->shares);
    json_end(w);
}

static void put_settings(struct json_writer *w, const struct plan *plan)
{
    json_begin(w, "settings", JSON_ARRAY, JSON_LINES);
    for (uint32_t i = 0; i < plan->n_settings; i++) {
        const struct host_setting *h = &plan->settings[i];
        json_begin(w, NULL, JSON_OBJECT, JSON_INLINE);
        json_text(w, "host", ref_host_id(plan->snap, h->host));
        json_text(w, "pool", ref_pool_id(plan->snap, h->pool));
        put_alloc(w, "cpu", &h->alloc[RES_CPU]);
        put_alloc(w, "mem", &h->alloc[RES_MEM]);
        json_end(w);
    }
    json_end(w);
}

static void put_faults(struct json_writer *w, const struct plan *plan)
{
    json_begin(w, "faults", JSON_ARRAY, JSON_LINES);
    for (uint32_t i = 0; i < plan->n_faults; i++) {
        const struct fault *f = &plan->faults[i];
        json_begin(w, NULL, JSON_OBJECT, JSON_INLINE);
        json_text(w, "code", fault_code_name(f->code));
        json_text(w, "vm", ref_vm_id(plan->snap, f->vm));
        json_text(w, "host", ref_host_id(plan->snap, f->host));
        json_text(w, "rule", ref_rule_id(plan->snap, f->rule));
        json_text(w, "text", f->text);
        json_end(w);
    }
    json_end(w);
}

static void put_stats(struct json_writer *w, const struct plan_stats *s)
{
    json_begin(w, "stats", JSON_OBJECT, JSON_LINES);
    json_int(w, "candidates", (int64_t)s->candidates);
    json_int(w, "evaluated", (int64_t)s->evaluated);
    json_begin(w, "rejected", JSON_OBJECT, JSON_INLINE);
    for (int c = 0; c < check_count; c++) {
        if (c != CHECK_NONE && s->rejected[c] > 0)
            json_int(w, check_name((enum check)c), (int64_t)s->rejected[c]);
    }
    json_end(w);
    json_int(w, "decide_us", s->decide_us);
    json_end(w);
}

void render_plan_json(const struct plan *plan, struct strbuf *out)
{
    char time[RFC3339_MAX];
    struct json_writer w;

    json_writer_init(&w, out);
    json_begin(&w, NULL, JSON_OBJECT, JSON_LINES);
    json_text(&w, "format", "ballast-plan/1");
    json_text(&w, "cluster", plan->snap->cluster);
    json_text(&w, "time", rfc3339_format(plan->snap->time, time));
    render_policy(&w, "policy", &plan->policy);
    put_metrics(&w, "before", plan->snap, &plan->before);
    put_metrics(&w, "after", plan->snap, &plan->after);
    json_begin(&w, "recommendations", JSON_ARRAY, JSON_LINES);
    for (uint32_t i = 0; i < plan->n_recommendations; i++)
        render_recommendation(&w, NULL, plan, &plan->recommendations[i]);
    json_end(&w);
    put_settings(&w, plan);
    put_faults(&w, plan);
    put_stats(&w, &plan->stats);
    json_end(&w);
}
