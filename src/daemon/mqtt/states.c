/* states.c: the state of the cluster and of each host as JSON, for the broker to retain. */
#include "daemon/mqtt/states.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "core/demand/demand.h"
#include "core/place/starting.h"
#include "daemon/replies/action_json.h"
#include "render/render.h"

#include <math.h>
#include <string.h>

#define FAULTS_MAX 50
#define PERCENT 100.0

static const char *const res_word[RES_COUNT] = {[RES_CPU] = "cpu", [RES_MEM] = "mem"};

static const char *const source_words[] = {
    [SOURCE_UNKNOWN] = "unknown", [SOURCE_UP] = "up", [SOURCE_LOST] = "lost"};

static void put_source(struct json_writer *w, const struct engine_status *st)
{
    jw_begin(w, "source", JW_OBJECT, JW_INLINE);
    jw_text(w, "state", source_words[st->source]);
    jw_instant(w, "since", st->source_since);
    jw_text(w, "error", st->source_error);
    jw_end(w);
}

static void put_counts(struct json_writer *w, const struct snapshot *s)
{
    uint32_t n[host_state_count] = {0};

    for (uint32_t i = 0; s && i < s->n_hosts; i++)
        n[s->hosts[i].is.state]++;
    jw_int(w, "vms", s ? s->n_vms : 0);
    jw_begin(w, "hosts", JW_OBJECT, JW_INLINE);
    for (int i = 0; i < host_state_count; i++)
        jw_int(w, host_state_name((enum host_state)i), n[i]);
    jw_end(w);
}

/* In whole watts; of no host: null. */
static void put_power(struct json_writer *w, const struct engine *e)
{
    struct engine_power p;

    engine_power(e, &p);
    jw_figure(w, "power_w", p.hosts > p.unknown ? round(p.watts) : UNKNOWN);
}

static void put_pass(struct json_writer *w, const struct plan *plan, const struct engine_status *st)
{
    if (jw_begin_known(w, "pass", plan != NULL)) {
        jw_int(w, "id", (int64_t)st->last_pass);
        jw_instant(w, "time", st->last_pass_time);
        jw_figure(w, "imbalance", plan->before.imbalance);
        jw_figure(w, "target", plan->before.target);
        jw_int(w, "recommendations", plan->n_recommendations);
        render_unevenness(w, plan->snap, &plan->before);
        render_end_of_balance(w, plan);
        jw_end(w);
    }
    jw_begin(w, "faults", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; plan && i < plan->n_faults && i < FAULTS_MAX; i++)
        render_fault(w, plan, &plan->faults[i], false);
    jw_end(w);
    jw_int(w, "n_faults", plan ? plan->n_faults : 0);
}

void states_of_cluster(const struct engine *e, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct engine_status st;
    struct json_writer w = {.out = &text};

    engine_status(e, &st);
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(&w, "cluster", st.cluster);
    jw_text(&w, "version", BALLAST_VERSION);
    jw_text(&w, "automation", automation_name(st.policy.automation));
    jw_bool(&w, "frozen", st.paused);
    jw_instant(&w, "frozen_since", st.paused_since);
    jw_text(&w, "frozen_by", st.paused_by);
    jw_begin(&w, "dpm", JW_OBJECT, JW_INLINE);
    jw_bool(&w, "enabled", st.policy.dpm.enabled);
    jw_text(&w, "automation", automation_name(st.policy.dpm.automation));
    jw_end(&w);
    put_source(&w, &st);
    jw_text(&w, "store_error", st.store_error);
    put_counts(&w, engine_snapshot(e));
    put_power(&w, e);
    put_pass(&w, engine_plan(e), &st);
    jw_begin(&w, "actions", JW_OBJECT, JW_INLINE);
    for (unsigned i = 0; i <= ACTION_VERIFYING; i++) /* actions that have not ended */
        jw_int(&w, action_state_name((enum action_state)i), st.actions[i]);
    jw_end(&w);
    jw_end(&w);
    strbuf_add(out, text.text, text.len - 1);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static bool is_ours(const struct asleep *list, size_t n, const char *host)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].ours && strcmp(list[i].host, host) == 0)
            return true;
    }
    return false;
}

/* In whole percent, so that small changes are not published. */
static double load(double demand, double capacity)
{
    return capacity > 0 ? round(demand / capacity * PERCENT) / PERCENT : UNKNOWN;
}

/* demand: by VM; pending: what is to come and has not arrived, by host. */
static void put_host(struct json_writer *w, const struct engine *e, const struct host *h,
                     double *const demand[RES_COUNT], double *const pending[RES_COUNT])
{
    struct engine_host_power power;

    jw_text(w, "id", h->is.id);
    jw_text(w, "name", h->is.name);
    jw_text(w, "state", host_state_name(h->is.state));
    jw_instant(w, "since", h->is.state == HOST_STANDBY ? h->is.standby_since : h->is.on_since);
    jw_int(w, "vms", h->vms.n);
    for (int r = 0; r < RES_COUNT; r++) {
        double sum = 0;

        for (uint32_t i = 0; i < h->vms.n; i++)
            sum += demand[r][h->vms.items[i]];
        jw_begin(w, res_word[r], JW_OBJECT, JW_INLINE);
        jw_figure(w, "capacity", h->capacity[r]);
        jw_figure(w, "load", load(sum, h->capacity[r]));
        jw_figure(w, "pending", load(pending[r][h - engine_snapshot(e)->hosts], h->capacity[r]));
        jw_end(w);
    }
    jw_figure(w, "power_w", engine_host_power(e, h->is.id, &power) ? round(power.watts) : UNKNOWN);
    jw_text(w, "dpm", automation_name(h->is.dpm));
    jw_bool(w, "wake_verified", h->is.wake_verified);
    jw_instant(w, "wake_failed_at", h->is.wake_failed_at);
    jw_figure(w, "boot_s", h->is.boot_s);
}

static void put_missing(struct json_writer *w, const struct asleep *h)
{
    jw_text(w, "id", h->host);
    jw_text(w, "name", h->name);
    jw_text(w, "state", host_state_name(HOST_STANDBY));
    jw_instant(w, "since", h->since);
    jw_instant(w, "wake_failed_at", h->wake_failed);
    jw_figure(w, "boot_s", h->boot_s);
}

static void end_host_state(struct json_writer *w, struct strbuf *text, bool ours, bool there)
{
    jw_bool(w, "by_ballast", ours);
    jw_bool(w, "in_inventory", there);
    jw_end(w);
    text->text[text->len - 1] = '\0'; /* the writer's newline */
}

void states_of_hosts(const struct engine *e, states_each *each, void *ctx)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    const struct snapshot *s = engine_snapshot(e);
    struct asleep *asleep;
    size_t n_asleep = engine_asleep(e, &a, &asleep);
    double *demand[RES_COUNT];
    double *pending[RES_COUNT];
    struct json_writer w = {.out = &text};

    if (!s)
        return;
    starting_on_the_way(s, &a, pending);
    for (int r = 0; r < RES_COUNT; r++) {
        demand[r] = arena_array(&a, double, s->n_vms);
        demand_estimate(s, (enum resource)r, demand[r]);
    }
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const char *id = s->hosts[i].is.id;

        jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
        put_host(&w, e, &s->hosts[i], demand, pending);
        end_host_state(&w, &text, is_ours(asleep, n_asleep, id), !s->hosts[i].is.left_inventory);
        each(ctx, id, s->hosts[i].is.name, text.text);
        strbuf_clear(&text);
    }
    for (size_t i = 0; i < n_asleep; i++) {
        if (snapshot_find_host(s, asleep[i].host) != IX_NONE)
            continue;
        jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
        put_missing(&w, &asleep[i]);
        end_host_state(&w, &text, asleep[i].ours, false);
        each(ctx, asleep[i].host, asleep[i].name, text.text);
        strbuf_clear(&text);
    }
}
