#include "daemon/reply.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "model/json_writer.h"
#include "model/snapshot_json.h"

#include <errno.h>
#include <string.h>

static const char *const res_word[RES_COUNT] = {[RES_CPU] = "cpu", [RES_MEM] = "mem"};

static const char *const source_words[] = {
    [SOURCE_UNKNOWN] = "unknown", [SOURCE_UP] = "up", [SOURCE_LOST] = "lost"};

/* ---- beginnings and ends --------------------------------------------------------------------- */

static void open_reply(struct json_writer *w, struct strbuf *out)
{
    json_writer_init(w, out);
    json_begin(w, NULL, JSON_OBJECT, JSON_INLINE);
    json_bool(w, "ok", true);
}

void reply_error(const struct err *err, struct strbuf *out)
{
    struct json_writer w;

    json_writer_init(&w, out);
    json_begin(&w, NULL, JSON_OBJECT, JSON_INLINE);
    json_bool(&w, "ok", false);
    json_int(&w, "code", err->code == -EINVAL ? 2 : 1);
    json_text(&w, "error", err->text);
    json_end(&w);
}

void reply_done(struct strbuf *out)
{
    struct json_writer w;

    open_reply(&w, out);
    json_end(&w);
}

static void put_instant(struct json_writer *w, const char *key, instant_s t)
{
    char text[RFC3339_MAX];

    json_text(w, key, t != 0 ? rfc3339_format(t, text) : NULL);
}

/* ---- names beside ids ------------------------------------------------------------------------ */

static const char *vm_name(const struct snapshot *s, const char *id)
{
    uint32_t ix = s && id ? snapshot_find_vm(s, id) : IX_NONE;

    return ix == IX_NONE ? id : s->vms[ix].is.name;
}

static const char *host_name(const struct snapshot *s, const char *id)
{
    uint32_t ix = s && id ? snapshot_find_host(s, id) : IX_NONE;

    return ix == IX_NONE ? id : s->hosts[ix].is.name;
}

static void put_action(struct json_writer *w, const struct snapshot *s, const struct action_record *r)
{
    json_begin(w, NULL, JSON_OBJECT, JSON_INLINE);
    json_int(w, "id", (int64_t)r->id);
    json_text(w, "uid", r->uid);
    json_text(w, "state", action_state_name(r->state));
    json_text(w, "action", action_kind_name(r->kind));
    json_int(w, "priority", r->priority);
    json_text(w, "vm", r->vm);
    json_text(w, "from", r->from);
    json_text(w, "to", r->to);
    json_text(w, "host", r->host);
    json_text(w, "vm_name", vm_name(s, r->vm));
    json_text(w, "from_name", host_name(s, r->from));
    json_text(w, "to_name", host_name(s, r->to));
    json_text(w, "host_name", host_name(s, r->host));
    json_text(w, "reason", reason_name(r->reason));
    json_text(w, "rule", r->rule);
    json_text(w, "text", r->text);
    json_begin(w, "depends_on", JSON_ARRAY, JSON_INLINE);
    for (uint32_t i = 0; i < r->n_depends_on; i++)
        json_int(w, NULL, (int64_t)r->depends_on[i]);
    json_end(w);
    json_int(w, "group", r->group);
    json_figure(w, "imbalance_after", r->imbalance_after);
    json_figure(w, "duration_s", r->duration_s);
    json_int(w, "pass", (int64_t)r->pass);
    json_text(w, "approved_by", r->approved_by);
    json_text(w, "task", r->task);
    json_text(w, "why", r->why);
    put_instant(w, "created", r->created);
    put_instant(w, "approved", r->approved);
    put_instant(w, "started", r->started);
    put_instant(w, "ended", r->ended);
    json_end(w);
}

/* ---- status ---------------------------------------------------------------------------------- */

static void put_source(struct json_writer *w, const struct engine_status *st, instant_s now)
{
    json_begin(w, "source", JSON_OBJECT, JSON_INLINE);
    json_text(w, "state", source_words[st->source]);
    put_instant(w, "since", st->source_since);
    json_text(w, "error", st->source_error);
    put_instant(w, "seen", st->seen);
    if (st->seen)
        json_int(w, "seen_age_s", now > st->seen ? now - st->seen : 0);
    else
        json_null(w, "seen_age_s");
    json_bool(w, "asking", st->asking);
    json_text(w, "automation", st->source_automation);
    json_end(w);
}

static void put_faults(struct json_writer *w, const struct plan *plan)
{
    json_begin(w, "faults", JSON_ARRAY, JSON_INLINE);
    for (uint32_t i = 0; plan && i < plan->n_faults; i++) {
        json_begin(w, NULL, JSON_OBJECT, JSON_INLINE);
        json_text(w, "code", fault_code_name(plan->faults[i].code));
        json_text(w, "text", plan->faults[i].text);
        json_end(w);
    }
    json_end(w);
}

static void put_last_pass(struct json_writer *w, const struct engine *e, const struct engine_status *st)
{
    const struct plan *plan = engine_plan(e);

    if (!plan) {
        json_null(w, "pass");
    } else {
        json_begin(w, "pass", JSON_OBJECT, JSON_INLINE);
        json_int(w, "id", (int64_t)st->last_pass);
        put_instant(w, "time", st->last_pass_time);
        json_figure(w, "imbalance", plan->before.imbalance);
        json_figure(w, "imbalance_cpu", plan->before.imbalance_of[RES_CPU]);
        json_figure(w, "imbalance_mem", plan->before.imbalance_of[RES_MEM]);
        json_figure(w, "imbalance_after", plan->after.imbalance);
        json_figure(w, "target", plan->before.target);
        json_int(w, "recommendations", plan->n_recommendations);
        json_int(w, "decide_us", plan->stats.decide_us);
        json_end(w);
    }
    json_text(w, "pass_error", st->last_pass_error);
    put_instant(w, "next_pass", st->next_pass);
    put_faults(w, plan);
}

static void put_status(struct json_writer *w, const struct engine *e, instant_s now)
{
    const struct snapshot *s = engine_snapshot(e);
    struct engine_status st;

    engine_status(e, &st);
    json_begin(w, "status", JSON_OBJECT, JSON_INLINE);
    json_text(w, "version", BALLAST_VERSION);
    json_text(w, "cluster", st.cluster);
    put_instant(w, "time", now);
    json_text(w, "automation", automation_name(st.policy.automation));
    json_int(w, "migration_threshold", st.policy.migration_threshold);
    json_int(w, "interval_s", st.policy.interval_s);
    put_source(w, &st, now);
    json_int(w, "hosts", s ? s->n_hosts : 0);
    json_int(w, "vms", s ? s->n_vms : 0);
    put_last_pass(w, e, &st);
    json_bool(w, "frozen", st.frozen);
    put_instant(w, "frozen_since", st.frozen_since);
    json_text(w, "store_error", st.store_error);
    json_begin(w, "actions", JSON_OBJECT, JSON_INLINE);
    for (unsigned i = 0; i < action_state_count; i++)
        json_int(w, action_state_name((enum action_state)i), st.actions[i]);
    json_end(w);
    json_end(w);
}

/* ---- hosts, VMs, pools ----------------------------------------------------------------------- */

/* What of each VM counts now, and what it is entitled to; both by index. */
struct shares_of {
    double *demand[RES_COUNT];
    double *entitlement[RES_COUNT];
};

static void divide(const struct snapshot *s, struct arena *a, struct shares_of *ret)
{
    for (int r = 0; r < RES_COUNT; r++) {
        ret->demand[r] = arena_array(a, double, s->n_vms);
        ret->entitlement[r] = arena_array(a, double, s->n_vms);
        demand_estimate(s, (enum resource)r, ret->demand[r]);
        (void)divvy_entitle(s, (enum resource)r, ret->demand[r], a, ret->entitlement[r]);
    }
}

static void put_host(struct json_writer *w, const struct host *h, const struct shares_of *shares)
{
    json_begin(w, NULL, JSON_OBJECT, JSON_INLINE);
    json_text(w, "id", h->is.id);
    json_text(w, "name", h->is.name);
    json_text(w, "state", host_state_name(h->is.state));
    json_int(w, "cores", h->is.cores);
    json_int(w, "vms", h->vms.n);
    for (int r = 0; r < RES_COUNT; r++) {
        double demand = 0;
        double entitled = 0;

        for (uint32_t i = 0; i < h->vms.n; i++) {
            demand += shares->demand[r][h->vms.items[i]];
            entitled += shares->entitlement[r][h->vms.items[i]];
        }
        json_begin(w, res_word[r], JSON_OBJECT, JSON_INLINE);
        json_figure(w, "capacity", h->capacity[r]);
        json_figure(w, "demand", demand);
        json_figure(w, "entitlement", entitled);
        json_figure(w, "load", h->capacity[r] > 0 ? entitled / h->capacity[r] : UNKNOWN);
        json_end(w);
    }
    json_end(w);
}

static void put_vm(struct json_writer *w, const struct snapshot *s, uint32_t ix,
                   const struct shares_of *shares)
{
    const struct vm *v = &s->vms[ix];

    json_begin(w, NULL, JSON_OBJECT, JSON_INLINE);
    json_text(w, "id", v->is.id);
    json_text(w, "name", v->is.name);
    json_text(w, "state", vm_state_name(v->is.state));
    json_text(w, "host", v->host == IX_NONE ? NULL : s->hosts[v->host].is.id);
    json_text(w, "host_name", v->host == IX_NONE ? NULL : s->hosts[v->host].is.name);
    json_text(w, "pool", v->pool == IX_NONE ? NULL : s->pools[v->pool].is.id);
    json_text(w, "automation", automation_name(v->is.automation));
    json_int(w, "vcpus", v->is.vcpus);
    json_figure(w, "mem_mb", v->is.mem_mb);
    json_bool(w, "demand_unknown", v->is.demand_unknown);
    for (int r = 0; r < RES_COUNT; r++) {
        json_begin(w, res_word[r], JSON_OBJECT, JSON_INLINE);
        json_figure(w, "demand", shares->demand[r][ix]);
        json_figure(w, "entitlement", shares->entitlement[r][ix]);
        json_end(w);
    }
    put_instant(w, "last_migrated", v->is.last_migrated);
    json_end(w);
}

static void put_pool_figures(struct json_writer *w, const struct divvy_tree *tree, enum resource r,
                             uint32_t ix)
{
    for (uint32_t i = 0; i < tree->n; i++) {
        const struct divvy_node *n = &tree->nodes[i];

        if (n->kind != DIVVY_POOL || n->ix != ix)
            continue;
        json_begin(w, res_word[r], JSON_OBJECT, JSON_INLINE);
        json_figure(w, "reservation", n->set.reservation);
        json_figure(w, "limit", n->set.limit); /* null: none */
        json_figure(w, "shares", n->set.shares);
        json_figure(w, "demand", n->demand);
        json_figure(w, "entitlement", n->entitlement);
        json_end(w);
        return;
    }
}

static void put_pools(struct json_writer *w, const struct snapshot *s, const struct shares_of *shares,
                      struct arena *a)
{
    struct divvy_tree trees[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++)
        divvy_build(s, (enum resource)r, shares->demand[r], a, &trees[r]);
    json_begin(w, "pools", JSON_ARRAY, JSON_INLINE);
    for (uint32_t i = 0; i < s->n_pools; i++) {
        const struct pool *p = &s->pools[i];

        json_begin(w, NULL, JSON_OBJECT, JSON_INLINE);
        json_text(w, "id", p->is.id);
        json_text(w, "name", p->is.name);
        json_text(w, "parent", p->parent == IX_NONE ? NULL : s->pools[p->parent].is.id);
        for (int r = 0; r < RES_COUNT; r++)
            put_pool_figures(w, &trees[r], (enum resource)r, i);
        json_end(w);
    }
    json_end(w);
}

static int need_snapshot(const struct engine *e, const struct snapshot **ret, struct err *err)
{
    struct engine_status st;

    *ret = engine_snapshot(e);
    if (*ret)
        return 0;
    engine_status(e, &st);
    return err_set(err, -EAGAIN, "the cluster was not seen yet%s%s", st.source_error ? ": " : "",
                   st.source_error ? st.source_error : "");
}

static int put_cluster(struct json_writer *w, const struct engine *e, enum request_kind kind, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct snapshot *s;
    struct shares_of shares;
    int r = need_snapshot(e, &s, err);

    if (r < 0)
        return r;
    divide(s, &a, &shares);
    put_instant(w, "time", s->time);
    if (kind == REQUEST_POOLS) {
        put_pools(w, s, &shares, &a);
        return 0;
    }
    bool hosts = kind == REQUEST_HOSTS;

    json_begin(w, hosts ? "hosts" : "vms", JSON_ARRAY, JSON_INLINE);
    for (uint32_t i = 0; i < (hosts ? s->n_hosts : s->n_vms); i++) {
        if (hosts)
            put_host(w, &s->hosts[i], &shares);
        else
            put_vm(w, s, i, &shares);
    }
    json_end(w);
    return 0;
}

/* What the last pass decided from, text and all: a file to replay. Before the first pass, what is seen now.
 */
static int put_snapshot(struct json_writer *w, const struct engine *e, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf text = {0};
    const struct plan *plan = engine_plan(e);
    const struct snapshot *s;
    int r = need_snapshot(e, &s, err);

    if (r < 0)
        return r;
    strbuf_init(&text, STRBUF_NO_LIMIT);
    snapshot_dump(plan ? plan->snap : s, &text);
    json_text(w, "snapshot", text.text);
    return 0;
}

/* ---- actions --------------------------------------------------------------------------------- */

static void put_actions(struct json_writer *w, const struct engine *e)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct action_record **list;
    size_t n = engine_actions(e, &a, &list);

    json_begin(w, "recommendations", JSON_ARRAY, JSON_INLINE);
    for (size_t i = 0; i < n; i++) {
        if (list[i]->state != ACTION_EXPIRED)
            put_action(w, engine_snapshot(e), list[i]);
    }
    json_end(w);
}

static int put_history(struct json_writer *w, const struct engine *e, const struct store_ops *ops,
                       struct store *store, unsigned limit, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct action_record *list = NULL;
    size_t n = 0;
    int r = ops->list_ended(store, limit, &a, &list, &n, err);

    if (r < 0)
        return r;
    json_begin(w, "history", JSON_ARRAY, JSON_INLINE);
    for (size_t i = 0; i < n; i++)
        put_action(w, engine_snapshot(e), &list[i]);
    json_end(w);
    return 0;
}

void reply_actions(const struct engine *e, const uint64_t *ids, size_t n, struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct action_record **list;
    size_t n_list = engine_actions(e, &a, &list);
    struct json_writer w;

    open_reply(&w, out);
    json_begin(&w, "actions", JSON_ARRAY, JSON_INLINE);
    for (size_t i = 0; i < n_list; i++) {
        for (size_t k = 0; k < n; k++) {
            if (ids[k] != list[i]->id)
                continue;
            put_action(&w, engine_snapshot(e), list[i]);
            break;
        }
    }
    json_end(&w);
    json_end(&w);
}

void reply_pass(const struct engine *e, uint64_t pass, instant_s now, struct strbuf *out)
{
    struct json_writer w;
    struct engine_status st;

    (void)pass; /* the last one: passes do not overlap */
    engine_status(e, &st);
    open_reply(&w, out);
    put_instant(&w, "time", now);
    put_last_pass(&w, e, &st);
    put_actions(&w, e);
    json_end(&w);
}

int reply_view(const struct engine *e, const struct store_ops *store_ops, struct store *store,
               const struct request *request, instant_s now, struct strbuf *out, struct err *err)
{
    struct json_writer w;
    int r = 0;

    open_reply(&w, out);
    switch (request->kind) {
    case REQUEST_STATUS:
        put_status(&w, e, now);
        break;
    case REQUEST_HOSTS:
    case REQUEST_VMS:
    case REQUEST_POOLS:
        r = put_cluster(&w, e, request->kind, err);
        break;
    case REQUEST_RECOMMENDATIONS:
        put_actions(&w, e);
        break;
    case REQUEST_HISTORY:
        r = put_history(&w, e, store_ops, store, request->limit, err);
        break;
    case REQUEST_SNAPSHOT:
        r = put_snapshot(&w, e, err);
        break;
    case REQUEST_APPLY:
    case REQUEST_REJECT:
    case REQUEST_RUN:
    case REQUEST_FREEZE:
    case REQUEST_THAW:
    case REQUEST_MAINTENANCE:
    case request_kind_count:
        r = err_set(err, -EINVAL, "\"%s\" is not a way to look", request_kind_name(request->kind));
        break;
    }
    if (r < 0) {
        strbuf_clear(out);
        return r;
    }
    json_end(&w);
    return 0;
}
