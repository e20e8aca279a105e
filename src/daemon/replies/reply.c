/* reply.c: the engine's state as JSON replies. It changes nothing; commands are request_handler.c's. */
#include "daemon/replies/reply.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/natural.h"
#include "daemon/replies/action_json.h"
#include "daemon/replies/replies.h"
#include "daemon/replies/reply_daemon.h"
#include "model/named.h"
#include "model/snapshot_json.h"
#include "render/render.h"
#include "store/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const source_words[] = {
    [SOURCE_UNKNOWN] = "unknown", [SOURCE_UP] = "up", [SOURCE_LOST] = "lost"};

/* ---- beginnings and ends --------------------------------------------------------------------- */

static void open_reply(struct json_writer *w, struct strbuf *out)
{
    *w = (struct json_writer){.out = out};
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(w, "ok", true);
}

void reply_error(const struct err *err, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", false);
    jw_int(&w, "code", err->code == -EINVAL ? 2 : err->code == -EUSERS ? 3 : 1);
    jw_text(&w, "error", err->text);
    if (err->code == -ENOANO)
        jw_bool(&w, "confirm", true);
    jw_end(&w);
}

int reply_done(int r, struct strbuf *out)
{
    struct json_writer w;

    if (r != 0)
        return r;
    open_reply(&w, out);
    jw_end(&w);
    return 0;
}

/* ---- status ---------------------------------------------------------------------------------- */

static void put_source(struct json_writer *w, const struct engine_status *st, instant_s now)
{
    jw_begin(w, "source", JW_OBJECT, JW_INLINE);
    jw_text(w, "state", source_words[st->source]);
    jw_instant(w, "since", st->source_since);
    jw_text(w, "error", st->source_error);
    jw_instant(w, "seen", st->seen);
    if (st->seen)
        jw_int(w, "seen_age_s", now > st->seen ? now - st->seen : 0);
    else
        jw_text(w, "seen_age_s", NULL);
    jw_bool(w, "asking", st->asking);
    jw_text(w, "automation", st->source_automation);
    jw_end(w);
}

/* only: of this code; fault_code_count: all. */
static void put_faults(struct json_writer *w, const char *key, const struct plan *plan, enum fault_code only)
{
    jw_begin(w, key, JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; plan && i < plan->n_faults; i++) {
        if (only != fault_code_count && plan->faults[i].code != only)
            continue;
        render_fault(w, plan, &plan->faults[i], false);
    }
    jw_end(w);
}

static void put_last_pass(struct json_writer *w, const struct engine *e, const struct engine_status *st)
{
    const struct plan *plan = engine_plan(e);

    if (jw_begin_known(w, "pass", plan != NULL)) {
        jw_int(w, "id", (int64_t)st->last_pass);
        jw_instant(w, "time", st->last_pass_time);
        jw_figure(w, "imbalance", plan->before.imbalance);
        jw_figure(w, "imbalance_cpu", plan->before.imbalance_of[RES_CPU]);
        jw_figure(w, "imbalance_mem", plan->before.imbalance_of[RES_MEM]);
        jw_figure(w, "imbalance_after", plan->after.imbalance);
        jw_figure(w, "target", plan->before.target);
        jw_int(w, "recommendations", plan->n_recommendations);
        jw_int(w, "decide_us", plan->stats.decide_us);
        render_unevenness(w, plan->snap, &plan->before);
        render_end_of_balance(w, plan);
        jw_begin(w, "stays_on", JW_OBJECT, JW_INLINE);
        render_finding(w, "text", plan->snap, plan->stays_on);
        jw_end(w);
        jw_end(w);
    }
    jw_text(w, "pass_error", st->last_pass_error);
    jw_instant(w, "next_pass", st->next_pass);
    put_faults(w, "faults", plan, fault_code_count);
}

static int compare_asleep(const void *a, const void *b)
{
    const struct asleep *x = a;
    const struct asleep *y = b;

    return natural_compare(x->name, y->name);
}

/* In the order in which a person expects the names. */
static void put_asleep(struct json_writer *w, const struct engine *e)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct asleep *list;
    size_t n = engine_asleep(e, &a, &list);

    qsort(list, n, sizeof *list, compare_asleep);
    jw_begin(w, "asleep", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "host", list[i].host);
        jw_text(w, "host_name", list[i].name);
        jw_instant(w, "since", list[i].since);
        jw_bool(w, "by_ballast", list[i].ours);
        if (engine_snapshot(e))
            jw_bool(w, "in_inventory", list[i].there);
        else /* before the first inventory */
            jw_text(w, "in_inventory", NULL);
        jw_figure(w, "boot_s", list[i].boot_s);
        jw_instant(w, "wake_failed", list[i].wake_failed);
        reply_cluster_put_waking(w, e, list[i].host);
        jw_end(w);
    }
    jw_end(w);
}

/* The oldest; `recommendations` has each first approval, too. */
#define FIRST_REQUESTS_SHOWN 100

static void put_first_requests(struct json_writer *w, const struct engine *e)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct engine_first_request *list;
    size_t n = engine_first_requests(e, &a, &list);

    jw_begin(w, "first_requests", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n && i < FIRST_REQUESTS_SHOWN; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "action", four_eyes_action_name(list[i].action));
        if (list[i].id != 0)
            jw_int(w, "id", (int64_t)list[i].id);
        else
            jw_text(w, "id", NULL);
        jw_text(w, "text", list[i].what);
        jw_text(w, "by", list[i].by);
        jw_instant(w, "since", list[i].since);
        jw_instant(w, "until", list[i].until);
        jw_end(w);
    }
    jw_end(w);
}

static void put_evacuations(struct json_writer *w, const struct engine *e, instant_s now)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct snapshot *s = engine_snapshot(e);
    struct engine_left_vm *list;
    size_t n = engine_left_vms(e, now, &a, &list);

    jw_begin(w, "evacuations", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "host", list[i].host);
        jw_text(w, "host_name", snapshot_host_name(s, list[i].host));
        jw_text(w, "vm", list[i].vm);
        jw_text(w, "vm_name", snapshot_vm_name(s, list[i].vm));
        jw_text(w, "move", list[i].state == action_state_count ? NULL : action_state_name(list[i].state));
        jw_text(w, "why", list[i].why);
        jw_instant(w, "until", list[i].until);
        jw_end(w);
    }
    jw_end(w);
}

static void put_failing_units(struct json_writer *w, const struct engine_status *st)
{
    jw_begin(w, "failing_units", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < st->n_failing_units; i++) {
        const struct failing_unit *x = &st->failing_units[i];

        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "unit", x->unit);
        jw_instant(w, "since", x->since);
        jw_text(w, "error", x->error);
        jw_int(w, "vms", (int64_t)x->vms);
        jw_end(w);
    }
    jw_end(w);
}

static void put_status(struct json_writer *w, const struct engine *e, const struct daemon_state *d,
                       instant_s now)
{
    const struct snapshot *s = engine_snapshot(e);
    struct engine_status st;

    engine_status(e, &st);
    jw_begin(w, "status", JW_OBJECT, JW_INLINE);
    jw_text(w, "version", BALLAST_VERSION);
    jw_text(w, "cluster", st.cluster);
    jw_instant(w, "time", now);
    jw_text(w, "time_zone", st.zone);
    jw_text(w, "automation", automation_name(st.policy.automation));
    jw_int(w, "migration_threshold", st.policy.migration_threshold);
    jw_int(w, "interval_s", st.policy.interval_s);
    put_source(w, &st, now);
    jw_int(w, "hosts", s ? s->n_hosts : 0);
    jw_int(w, "vms", s ? s->n_vms : 0);
    put_asleep(w, e);
    reply_energy_put_power(w, e);
    jw_raw(w, "night", st.last_night_json);
    put_last_pass(w, e, &st);
    jw_bool(w, "frozen", st.paused);
    jw_instant(w, "frozen_since", st.paused_since);
    jw_text(w, "frozen_by", st.paused_by);
    reply_schedule_put_balance(w, s);
    reply_roll_put(w, e);
    put_first_requests(w, e);
    put_evacuations(w, e, now);
    jw_begin(w, "configuration", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; st.overlay_findings && i < st.overlay_findings->n; i++)
        jw_text(w, NULL, st.overlay_findings->items[i]);
    if (st.unconfirmed)
        jw_text(w, NULL, st.unconfirmed);
    if (st.restored)
        jw_text(w, NULL, st.restored);
    jw_end(w);
    jw_text(w, "store_error", st.store_error);
    put_failing_units(w, &st);
    reply_daemon_put(w, d, now);
    jw_begin(w, "actions", JW_OBJECT, JW_INLINE);
    for (unsigned i = 0; i < action_state_count; i++)
        jw_int(w, action_state_name((enum action_state)i), st.actions[i]);
    jw_end(w);
    jw_end(w);
}

/* ---- hosts, VMs, pools ----------------------------------------------------------------------- */

int reply_need_snapshot(const struct engine *e, const struct snapshot **ret, struct err *err)
{
    struct engine_status st;

    *ret = engine_snapshot(e);
    if (*ret)
        return 0;
    engine_status(e, &st);
    return err_set(err, -EAGAIN, "the cluster has not been read yet%s%s", st.source_error ? ": " : "",
                   st.source_error ? st.source_error : "");
}

static int put_cluster(struct json_writer *w, const struct engine *e, enum request_kind kind, struct err *err)
{
    const struct snapshot *s;
    int r = reply_need_snapshot(e, &s, err);

    if (r < 0)
        return r;
    jw_instant(w, "time", s->time);
    reply_cluster_put(w, e, kind);
    return 0;
}

/* The snapshot of the last pass, as text: a file to replay. Before the first pass, the present inventory. */
static int put_snapshot(struct json_writer *w, const struct engine *e, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    const struct plan *plan = engine_plan(e);
    const struct snapshot *s;
    int r = reply_need_snapshot(e, &s, err);

    if (r < 0)
        return r;
    snapshot_dump(plan ? plan->snap : s, &text);
    jw_text(w, "snapshot", text.text);
    return 0;
}

/* ---- actions --------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

/* The action is about the VM and the host that were asked for; "": about any. */
static bool is_about(const struct action_record *a, const char *vm, const char *host)
{
    return (!vm[0] || is_same(a->vm, vm)) &&
           (!host[0] || is_same(a->host, host) || is_same(a->from, host) || is_same(a->to, host));
}

static void put_actions(struct json_writer *w, const struct engine *e, const char *vm, const char *host)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct action_record **list;
    size_t n = engine_actions(e, &a, &list);

    reply_schedule_put_balance(w, engine_snapshot(e));
    jw_begin(w, "recommendations", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++) {
        if (list[i]->state != ACTION_EXPIRED && is_about(list[i], vm, host))
            action_json(w, NULL, engine_snapshot(e), list[i]);
    }
    jw_end(w);
}

static int put_history(struct json_writer *w, const struct engine *e, const struct store_ops *ops,
                       struct store *store, const struct request *q, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct action_query query = {.since = q->since,
                                       .vm = q->vm[0] ? q->vm : NULL,
                                       .host = q->host[0] ? q->host : NULL,
                                       .state = q->state,
                                       .before = q->before,
                                       .limit = q->limit};
    struct action_record *list = NULL;
    uint64_t more = 0;
    size_t n = 0;
    int r = store_list_actions(store, &query, &a, &list, &n, &more, err);

    if (r < 0)
        return r;
    jw_begin(w, "history", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        action_json_fields(w, engine_snapshot(e), &list[i]);
        jw_bool(w, "console",
                list[i].kind == ACTION_POWER_ON && ops->has_console && ops->has_console(store, list[i].id));
        jw_end(w);
    }
    jw_end(w);
    jw_int(w, "more", (int64_t)more);
    reply_page_put_next(w, more > 0, "before", n > 0 ? list[n - 1].id : 0);
    return 0;
}

/* What text for people leaves out at the end of hosts' names. */
static void put_host_domain(struct json_writer *w, const struct engine *e)
{
    const struct snapshot *s = engine_snapshot(e);

    jw_text(w, "host_domain", s ? named_host_domain(s) : "");
}

static void put_these(struct json_writer *w, const struct engine *e, const uint64_t *ids, size_t n)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct action_record **list;
    size_t n_list = engine_actions(e, &a, &list);

    put_host_domain(w, e);
    jw_begin(w, "actions", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n_list; i++) {
        for (size_t k = 0; k < n; k++) {
            if (ids[k] != list[i]->id)
                continue;
            action_json(w, NULL, engine_snapshot(e), list[i]);
            break;
        }
    }
    jw_end(w);
}

void reply_actions(const struct engine *e, const uint64_t *ids, size_t n, const struct left_outs *rest,
                   struct strbuf *out)
{
    struct json_writer w;

    open_reply(&w, out);
    put_these(&w, e, ids, n);
    jw_begin(&w, "left_out", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < rest->n; i++) {
        jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
        jw_int(&w, "id", (int64_t)rest->list[i].id);
        jw_text(&w, "why", rest->list[i].why);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
}

/* Without the host's agents, which stay with it and run when it does. */
static void put_vms(struct json_writer *w, const char *key, const struct snapshot *s, uint32_t host,
                    bool running)
{
    jw_begin(w, key, JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; host != IX_NONE && i < s->n_vms; i++) {
        if (s->vms[i].host == host && (s->vms[i].is.state == VM_ON) == running &&
            s->vms[i].is.kind != VM_AGENT)
            jw_text(w, NULL, s->vms[i].is.name);
    }
    jw_end(w);
}

void reply_host_command(const struct engine *e, const char *host, bool empties, const uint64_t *ids, size_t n,
                        struct strbuf *out)
{
    const struct snapshot *s = engine_snapshot(e);
    uint32_t ix = IX_NONE;
    struct json_writer w;

    if (s)
        (void)named_host(s, host, &ix, NULL);
    open_reply(&w, out);
    put_these(&w, e, ids, n);
    put_vms(&w, "leaving_vms", s, empties && n > 0 ? ix : IX_NONE, true);
    put_vms(&w, "off_vms", s, ix, false);
    jw_end(&w);
}

void reply_placement(const struct engine *e, const struct placement *p, struct strbuf *out)
{
    const struct snapshot *s = p->plan->snap;
    CLEANUP(strbuf_releasep) struct strbuf plan = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct json_writer w;

    render_plan_json(p->plan, &plan);
    open_reply(&w, out);
    if (p->best != IX_NONE) {
        render_best_host_text(p->plan, p->vms[0], p->best, &text);
        jw_text(&w, "vm", s->vms[p->vms[0]].is.id);
        jw_text(&w, "best", s->hosts[p->best].is.id);
    } else {
        render_place_text(p->plan, p->vms, p->n_vms, NULL, &text);
        jw_int(&w, "vms", p->n_vms);
        jw_int(&w, "unplaced", p->n_unplaced);
    }
    jw_text(&w, "plan", plan.text);
    jw_text(&w, "text", text.text);
    put_these(&w, e, p->ids, p->n_ids);
    jw_end(&w);
}

void reply_pass(const struct engine *e, uint64_t pass, instant_s now, struct strbuf *out)
{
    struct json_writer w;
    struct engine_status st;

    (void)pass; /* the last pass: passes do not overlap */
    engine_status(e, &st);
    open_reply(&w, out);
    jw_instant(&w, "time", now);
    put_host_domain(&w, e);
    put_last_pass(&w, e, &st);
    put_actions(&w, e, "", "");
    jw_end(&w);
}

static int put_samples(struct json_writer *w, const struct store_ops *ops, struct store *store,
                       struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct records found = {0};
    int r = ops->list(store, QUERY_SAMPLES, 0, &a, &found, err);

    if (r < 0)
        return r;
    const struct sample_record *list = found.samples;

    jw_begin(w, "samples", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < found.n; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_instant(w, "time", list[i].time);
        jw_text(w, "vm", list[i].vm);
        jw_figure(w, "cpu_mhz", list[i].demand[RES_CPU]);
        jw_figure(w, "mem_mb", list[i].demand[RES_MEM]);
        jw_end(w);
    }
    jw_end(w);
    return 0;
}

int reply_view(const struct engine *e, const struct store_ops *store_ops, struct store *store,
               const struct request *request, const struct daemon_state *daemon, instant_s now,
               struct strbuf *out, struct err *err)
{
    struct json_writer w;
    int r = 0;

    open_reply(&w, out);
    put_host_domain(&w, e);
    switch (request->kind) {
    case REQUEST_STATUS:
        put_status(&w, e, daemon, now);
        break;
    case REQUEST_HOSTS:
    case REQUEST_VMS:
    case REQUEST_POOLS:
        r = put_cluster(&w, e, request->kind, err);
        break;
    case REQUEST_RECOMMENDATIONS:
        put_actions(&w, e, request->vm, request->host);
        put_faults(&w, "avoid", engine_plan(e), FAULT_AVOID);
        break;
    case REQUEST_HISTORY:
        r = put_history(&w, e, store_ops, store, request, err);
        break;
    case REQUEST_SAMPLES:
        r = put_samples(&w, store_ops, store, err);
        break;
    case REQUEST_SERIES:
        r = reply_series_put(&w, e, store, request, now, err);
        break;
    case REQUEST_ENERGY:
        r = reply_energy_put(&w, e, store_ops, store, request, now, err);
        break;
    case REQUEST_SNAPSHOT:
        r = put_snapshot(&w, e, err);
        break;
    case REQUEST_FORECAST:
        reply_forecast_put(&w, e, request->hours, now);
        break;
    case REQUEST_APPLY:
    case REQUEST_REJECT:
    case REQUEST_RUN:
    case REQUEST_PAUSE:
    case REQUEST_RESUME:
    case REQUEST_MAINTENANCE:
    case REQUEST_PLACE:
    case REQUEST_MIGRATE:
    case REQUEST_STANDBY:
    case REQUEST_WAKE:
    case REQUEST_TRUST:
    case REQUEST_CONFIRM_CONTROLLER:
    case REQUEST_CONFIRM_SETTING:
    case REQUEST_CONSOLE:
    case REQUEST_METRICS:
    case REQUEST_TOKENS:
    case REQUEST_TOKEN_CREATE:
    case REQUEST_ALARM_TEST:
    case REQUEST_TOKEN_REVOKE:
    case REQUEST_CONFIG_DIFF:
    case REQUEST_POLICIES:
    case REQUEST_POLICY_CHANGE:
    case REQUEST_SCHEDULE:
    case REQUEST_SUMMARY:
    case REQUEST_PLAN:
    case REQUEST_EXPLAIN:
    case REQUEST_WHAT_IF:
    case REQUEST_ENTITLEMENTS:
    case REQUEST_PASSES:
    case REQUEST_EVENTS:
    case REQUEST_ROLL:
    case request_kind_count:
        r = err_set(err, -EINVAL, "\"%s\" is not a way to look", request_kind_name(request->kind));
        break;
    }
    if (r < 0) {
        strbuf_clear(out);
        return r;
    }
    jw_end(&w);
    return 0;
}
