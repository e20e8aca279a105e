/* action_json.c: an action as JSON. */
#include "daemon/replies/action_json.h"

#include "base/wake_method.h"
#include "engine/actions/move_result.h"
#include "render/render.h"

static void put_loads(struct json_writer *w, const double load[MOVE_HOSTS][RES_COUNT])
{
    static const char *const hosts[MOVE_HOSTS] = {"from", "to"};

    for (int h = 0; h < MOVE_HOSTS; h++) {
        jw_begin(w, hosts[h], JW_OBJECT, JW_INLINE);
        jw_figure(w, "cpu_load", load[h][RES_CPU]);
        jw_figure(w, "mem_load", load[h][RES_MEM]);
        jw_figure(w, "cpu_shortage", move_result_shortage(load[h][RES_CPU]));
        jw_figure(w, "mem_shortage", move_result_shortage(load[h][RES_MEM]));
        jw_end(w);
    }
}

/* How long the move took; null until it is done. */
static void put_measured(struct json_writer *w, const struct action_record *r)
{
    if (!jw_begin_known(w, "measured", r->state == ACTION_DONE))
        return;
    jw_figure(w, "duration_s", r->result.duration_s);
    jw_figure(w, "action_s", move_result_action_s(r));
    jw_figure(w, "downtime_s", r->result.downtime_s);
    jw_end(w);
}

/* What was predicted of a move, how long it took, and what was observed ten minutes after it; null before it
 * begins. */
static void put_result(struct json_writer *w, const struct action_record *r)
{
    const struct move_result *m = &r->result;

    if (!jw_begin_known(w, "result", r->kind == ACTION_MIGRATE && m->predicted_at != 0))
        return;
    jw_begin(w, "predicted", JW_OBJECT, JW_INLINE);
    jw_figure(w, "duration_s", r->duration_s);
    jw_figure(w, "action_s", move_result_predicted_action_s(r));
    jw_figure(w, "vm_cpu_lack", m->vm_lack[0]);
    put_loads(w, m->predicted);
    jw_end(w);
    put_measured(w, r);
    if (jw_begin_known(w, "observed", m->observed_at != 0)) {
        jw_figure(w, "duration_s", m->duration_s);
        jw_figure(w, "downtime_s", m->downtime_s);
        put_loads(w, m->observed);
        jw_instant(w, "time", m->observed_at);
        jw_figure(w, "vm_cpu_lack", m->vm_lack[1]);
        jw_figure(w, "harm", m->harm);
        jw_bool(w, "harmed", move_result_harmed(m));
        jw_bool(w, "as_predicted", move_result_agrees(m));
        jw_bool(w, "overlaps", m->overlaps);
        jw_end(w);
    }
    jw_end(w);
}

void action_json_fields(struct json_writer *w, const struct snapshot *s, const struct action_record *r)
{
    jw_int(w, "id", (int64_t)r->id);
    jw_int(w, "version", r->version);
    jw_text(w, "uid", r->uid);
    jw_text(w, "state", action_state_name(r->state));
    jw_text(w, "action", action_kind_name(r->kind));
    jw_int(w, "priority", r->priority);
    jw_text(w, "vm", r->vm);
    jw_text(w, "from", r->from);
    jw_text(w, "to", r->to);
    jw_text(w, "host", r->host);
    jw_text(w, "vm_name", snapshot_vm_name(s, r->vm));
    jw_text(w, "from_name", snapshot_host_name(s, r->from));
    jw_text(w, "to_name", snapshot_host_name(s, r->to));
    jw_text(w, "host_name", snapshot_host_name(s, r->host));
    jw_text(w, "reason", reason_name(r->reason));
    jw_text(w, "rule", r->rule);
    jw_text(w, "text", r->text);
    jw_begin(w, "depends_on", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < r->n_depends_on; i++)
        jw_int(w, NULL, (int64_t)r->depends_on[i]);
    jw_end(w);
    if (r->group == 0)
        jw_text(w, "group", NULL);
    else
        jw_int(w, "group", r->group);
    jw_figure(w, "imbalance_after", r->imbalance_after);
    render_amount(w, "cost", r->cost);
    render_amount(w, "benefit", r->benefit);
    jw_figure(w, "duration_s", r->duration_s);
    jw_figure(w, "percent", r->state == ACTION_RUNNING && r->percent > 0 ? (double)r->percent : UNKNOWN);
    jw_int(w, "pass", (int64_t)r->pass);
    jw_text(w, "approved_by", r->approved_by);
    jw_text(w, "ended_by", r->ended_by);
    jw_text(w, "wake_method", wake_method_name(r->wake_method));
    jw_text(w, "task", r->task);
    jw_text(w, "why", r->why);
    jw_instant(w, "created", r->created);
    jw_instant(w, "approved", r->approved);
    jw_instant(w, "started", r->started);
    jw_instant(w, "ended", r->ended);
    put_result(w, r);
}

void action_json(struct json_writer *w, const char *key, const struct snapshot *s,
                 const struct action_record *r)
{
    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    action_json_fields(w, s, r);
    jw_end(w);
}
