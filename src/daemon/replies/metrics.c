/* metrics.c: counts what happens, and writes it with the engine's state in Prometheus' text format. Serving
 * the text is request_handler.c's. */
#include "daemon/replies/metrics.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "core/place/starting.h"
#include "net/http.h"

#include <math.h>
#include <string.h>

#define HZ_PER_MHZ 1e6
#define BYTES_PER_MB 1048576.0
#define J_PER_WH 3600.0
#define US_PER_S 1e6
#define COUNT_STORE_S 300

static const double bounds_s[METRICS_BOUNDS] = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300};

/* ---- counting -------------------------------------------------------------------------------- */

static bool is_end(enum action_state state)
{
    return state >= ACTION_DONE && state < action_state_count;
}

void metrics_on_event(struct service_metrics *m, const struct event *ev)
{
    m->events[ev->kind]++;
    if (ev->kind != EVENT_ACTION || !is_end(ev->action->state))
        return;
    m->actions[ev->action->kind][ev->action->state]++;
    if (ev->action->kind == ACTION_MIGRATE)
        m->moves[ev->action->reason][ev->action->state]++;
}

static void histogram_add(struct metrics_histogram *h, int64_t took_us)
{
    size_t i = 0;

    while (i < METRICS_BOUNDS && (double)took_us > bounds_s[i] * US_PER_S)
        i++;
    h->counts[i]++;
    h->n++;
    h->sum_us += took_us;
}

void metrics_on_collection(struct service_metrics *m, int64_t took_us, bool failed)
{
    histogram_add(&m->collections, took_us);
    m->collections_failed += failed;
}

void metrics_on_pass(struct service_metrics *m, const struct engine *e)
{
    const struct plan *plan = engine_plan(e);
    struct engine_status st;

    engine_status(e, &st);
    if (!plan || st.last_pass == m->last_pass)
        return;
    m->last_pass = st.last_pass;
    histogram_add(&m->passes, plan->stats.decide_us);
}

void metrics_release(struct service_metrics *m)
{
    arena_release(&m->counted);
}

/* ---- the format ------------------------------------------------------------------------------ */

/* Where the text goes, and the label that all samples have. */
struct text {
    struct strbuf *out;
    const char *cluster; /* cluster="prod-a" */
};

/* NAME="VALUE". Names of hosts come from outside: quotes, backslashes and line breaks are escaped, and what
 * is no UTF-8 is replaced, as Prometheus would refuse the whole text. */
static void put_label(struct strbuf *out, const char *name, const char *value)
{
    const unsigned char *s = (const unsigned char *)(value ? value : "");

    strbuf_puts(out, name);
    strbuf_puts(out, "=\"");
    while (*s) {
        bool safe;
        const size_t n = utf8_step(s, &safe);

        if (*s == '\n')
            strbuf_puts(out, "\\n");
        else if (*s == '"' || *s == '\\')
            strbuf_printf(out, "\\%c", *s);
        else if (safe)
            strbuf_add(out, s, n);
        else if (*s < 0x80)
            strbuf_printf(out, "\\\\u%04x", *s);
        else if (n == 1 || n == UTF8_BYTES_MAX)
            strbuf_puts(out, UTF8_REPLACEMENT);
        else {
            strbuf_puts(out, "\\"); /* written out, so that two names stay two */
            utf8_put_json(out, (const char *)s, n);
        }
        s += n;
    }
    strbuf_puts(out, "\"");
}

static void head(const struct text *t, const char *name, const char *type, const char *help)
{
    strbuf_printf(t->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* An unknown value has no sample. labels: one or more, separated by commas; "". */
static void sample(const struct text *t, const char *name, const char *labels, double value)
{
    char number[32];

    if (!isfinite(value))
        return;
    (void)snprintf(number, sizeof number, "} %.15g\n", value);
    strbuf_puts(t->out, name);
    strbuf_puts(t->out, "{");
    strbuf_puts(t->out, t->cluster);
    strbuf_puts(t->out, *labels ? "," : "");
    strbuf_puts(t->out, labels);
    strbuf_puts(t->out, number);
}

/* One whose label's value is a word of ours. */
static void sample_word(const struct text *t, const char *name, const char *label, const char *word,
                        double value)
{
    char labels[128];

    (void)snprintf(labels, sizeof labels, "%s=\"%s\"", label, word);
    sample(t, name, labels, value);
}

/* A metric of a single series. */
static void single(const struct text *t, const char *name, const char *type, const char *help, double value)
{
    if (!isfinite(value))
        return;
    head(t, name, type, help);
    sample(t, name, "", value);
}

static void gauge(const struct text *t, const char *name, const char *help, double value)
{
    single(t, name, "gauge", help, value);
}

static void counter(const struct text *t, const char *name, const char *help, double value)
{
    single(t, name, "counter", help, value);
}

/* An instant that is not known has no sample. */
static void put_time(const struct text *t, const char *name, const char *help, instant_s at)
{
    gauge(t, name, help, at != 0 ? (double)at : UNKNOWN);
}

static void histogram(const struct text *t, const char *name, const char *help,
                      const struct metrics_histogram *h)
{
    char word[32];
    char part[128];
    uint64_t n = 0;

    head(t, name, "histogram", help);
    (void)snprintf(part, sizeof part, "%s_bucket", name);
    for (size_t i = 0; i <= METRICS_BOUNDS; i++) {
        n += h->counts[i];
        if (i < METRICS_BOUNDS)
            (void)snprintf(word, sizeof word, "%g", bounds_s[i]);
        sample_word(t, part, "le", i < METRICS_BOUNDS ? word : "+Inf", (double)n);
    }
    (void)snprintf(part, sizeof part, "%s_sum", name);
    sample(t, part, "", (double)h->sum_us / US_PER_S);
    (void)snprintf(part, sizeof part, "%s_count", name);
    sample(t, part, "", (double)h->n);
}

/* ---- the service ----------------------------------------------------------------------------- */

static void put_service(const struct text *t, const struct engine_status *st, const struct daemon_state *d)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct login_pause *list = NULL;

    head(t, "ballast_build_info", "gauge", "The version of the service; always 1.");
    sample_word(t, "ballast_build_info", "version", BALLAST_VERSION, 1);
    gauge(t, "ballast_paused", "Whether actions are paused (ballast pause).", st->paused);
    head(t, "ballast_automation_info", "gauge", "The automation level in force; always 1.");
    sample_word(t, "ballast_automation_info", "level", automation_name(st->policy.automation), 1);
    gauge(t, "ballast_logins_paused",
          "Accounts of hosts' controllers that refused their password and are not tried for now.",
          d->logins ? (double)login_guards_paused(d->logins, net_now_ms(), &a, &list) : 0);
    gauge(t, "ballast_reload_waiting", "Whether a reload of power: waits for the end of power changes.",
          d->reload_by != NULL);
}

static void put_source(const struct text *t, const struct service_metrics *m, const struct engine_status *st)
{
    gauge(t, "ballast_source_up", "Whether the cluster can be read.", st->source == SOURCE_UP);
    put_time(t, "ballast_inventory_timestamp_seconds",
             "When the newest inventory was asked for; its age is time() minus this.", st->seen);
    histogram(t, "ballast_collection_duration_seconds", "How long collections of an inventory took.",
              &m->collections);
    counter(t, "ballast_collections_failed_total", "Collections that failed.", (double)m->collections_failed);
}

static void put_broker(const struct text *t, const struct mqtt_status *b)
{
    if (!b)
        return;
    gauge(t, "ballast_mqtt_connected", "Whether the MQTT broker is connected.", b->connected);
    gauge(t, "ballast_mqtt_unsent_events", "Stored events that the broker has not confirmed yet.",
          (double)b->unsent);
    counter(t, "ballast_mqtt_refused_total", "Messages that the broker refused.", (double)b->refused);
    head(t, "ballast_mqtt_commands_total", "counter", "Commands that came over MQTT, by result.");
    sample_word(t, "ballast_mqtt_commands_total", "result", "accepted", (double)b->commands_accepted);
    sample_word(t, "ballast_mqtt_commands_total", "result", "refused", (double)b->commands_refused);
}

/* One sample for each target; names have letters, digits, _ and - only. */
static void put_alarms(const struct text *t, const struct alarm_feed *f)
{
    static const struct {
        const char *name, *type, *help;
    } of[] = {
        {"ballast_alarms_failing", "gauge", "Whether the last attempt to deliver to the target failed."},
        {"ballast_alarms_waiting_events", "gauge", "Events for the target that have not arrived yet."},
        {"ballast_alarms_delivered_total", "counter", "Messages that the target took."},
        {"ballast_alarms_failed_attempts_total", "counter", "Attempts to deliver to the target that failed."},
        {"ballast_alarms_given_up_total", "counter", "Messages that were given up: they are not sent again."},
        {"ballast_alarms_delivered_timestamp_seconds", "gauge", "When the target took the last message."},
    };
    CLEANUP(arena_releasep) struct arena a = {0};
    const size_t n = alarm_feed_count(f);

    for (size_t k = 0; n > 0 && k < sizeof of / sizeof *of; k++) {
        head(t, of[k].name, of[k].type, of[k].help);
        for (size_t i = 0; i < n; i++) {
            struct alarm_status st;

            alarm_feed_status(f, i, &a, &st);
            const double values[] = {
                st.failing,           (double)st.waiting,
                (double)st.delivered, (double)st.failed,
                (double)st.given_up,  st.delivered_at != 0 ? (double)st.delivered_at : UNKNOWN};

            sample_word(t, of[k].name, "target", st.name, values[k]);
        }
    }
}

static void put_events(const struct text *t, const struct service_metrics *m)
{
    head(t, "ballast_events_total", "counter", "Events by kind, as ballast events shows them.");
    for (size_t i = 0; i < event_kind_count; i++)
        sample_word(t, "ballast_events_total", "kind", event_kind_name((enum event_kind)i),
                    (double)m->events[i]);
}

static void count_store(struct service_metrics *m, struct store *store, instant_s now)
{
    struct err err = {0};

    if (m->store_counted != 0 && now >= m->store_counted && now - m->store_counted < COUNT_STORE_S)
        return;
    arena_release(&m->counted);
    m->store_counted = now;
    if (store_stats(store, &m->counted, &m->store, &err) < 0)
        m->store = (struct store_stats){0}; /* ballast_store_failed says so */
}

static void put_store(const struct text *t, const struct service_metrics *m, const struct store_size *size,
                      const struct engine_status *st)
{
    gauge(t, "ballast_store_failed", "Whether something could not be stored; nothing new is started then.",
          st->store_error != NULL);
    gauge(t, "ballast_store_size_bytes", "Size of the store, without its write-ahead log.",
          m->store.n_tables > 0 ? (double)m->store.bytes : UNKNOWN);
    gauge(t, "ballast_store_used_bytes", "Size of the store without what is free in its file.",
          (double)size->used_bytes);
    gauge(t, "ballast_store_limit_bytes", "The most that the store may use (history.store_mb).",
          (double)size->limit_bytes);
    gauge(t, "ballast_store_disk_free_bytes", "What is left on the disk of the store.",
          size->disk_bytes > 0 ? (double)size->disk_free_bytes : UNKNOWN);
    head(t, "ballast_store_rows", "gauge", "Rows of the store by table; counted every five minutes at most.");
    for (size_t i = 0; i < m->store.n_tables; i++)
        sample_word(t, "ballast_store_rows", "table", m->store.tables[i].name,
                    (double)m->store.tables[i].rows);
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void put_pass(const struct text *t, const struct service_metrics *m, const struct engine_status *st,
                     const struct plan *plan)
{
    static const char of_resource[] = "ballast_resource_imbalance";
    uint32_t faults[fault_code_count] = {0};

    put_time(t, "ballast_pass_timestamp_seconds", "When the last pass was made.",
             plan ? st->last_pass_time : 0);
    put_time(t, "ballast_next_pass_timestamp_seconds", "When the next pass is due.", st->next_pass);
    gauge(t, "ballast_pass_failed", "Whether the newest attempt of a pass failed.",
          st->last_pass_error != NULL);
    histogram(t, "ballast_pass_duration_seconds", "How long passes took to decide.", &m->passes);
    if (!plan)
        return;
    gauge(t, "ballast_imbalance", "Imbalance of the cluster at the last pass, before its moves.",
          plan->before.imbalance);
    gauge(t, "ballast_imbalance_target", "Imbalance below which no move is made for balance.",
          plan->before.target);
    head(t, of_resource, "gauge", "Imbalance of one resource: standard deviation of the hosts' load.");
    sample_word(t, of_resource, "resource", "cpu", plan->before.imbalance_of[RES_CPU]);
    sample_word(t, of_resource, "resource", "memory", plan->before.imbalance_of[RES_MEM]);
    for (uint32_t i = 0; i < plan->n_faults; i++)
        faults[plan->faults[i].code]++;
    head(t, "ballast_faults", "gauge", "Faults that the last pass found, by code.");
    for (size_t i = 0; i < fault_code_count; i++)
        sample_word(t, "ballast_faults", "code", fault_code_name((enum fault_code)i), faults[i]);
}

static void put_actions(const struct text *t, const struct service_metrics *m, const struct engine_status *st)
{
    char labels[128];

    head(t, "ballast_actions", "gauge",
         "Actions that have not ended, by state; recommended: they wait for an approval.");
    for (unsigned i = 0; i <= ACTION_VERIFYING; i++)
        sample_word(t, "ballast_actions", "state", action_state_name((enum action_state)i), st->actions[i]);
    head(t, "ballast_actions_total", "counter", "Actions that ended, by kind and result.");
    for (unsigned k = 0; k < action_kind_count; k++) {
        for (unsigned i = ACTION_DONE; i < action_state_count; i++) {
            (void)snprintf(labels, sizeof labels, "action=\"%s\",result=\"%s\"",
                           action_kind_name((enum action_kind)k), action_state_name((enum action_state)i));
            sample(t, "ballast_actions_total", labels, (double)m->actions[k][i]);
        }
    }
    head(t, "ballast_moves_total", "counter",
         "Of ballast_actions_total the live migrations that were begun or approved, by reason.");
    for (unsigned k = 0; k < reason_count; k++) {
        for (unsigned i = ACTION_DONE; i <= ACTION_CANCELLED; i++) {
            (void)snprintf(labels, sizeof labels, "reason=\"%s\",result=\"%s\"", reason_name((enum reason)k),
                           action_state_name((enum action_state)i));
            sample(t, "ballast_moves_total", labels, (double)m->moves[k][i]);
        }
    }
}

/* ---- the cluster ----------------------------------------------------------------------------- */

static void put_power(const struct text *t, const struct engine *e)
{
    static const char hosts[] = "ballast_power_hosts";
    struct engine_power p;

    engine_power(e, &p);
    if (p.hosts == 0)
        return;
    gauge(t, "ballast_power_watts", "Power that the hosts use together; hosts of unknown power apart.",
          p.watts);
    gauge(t, "ballast_power_all_on_watts", "Power that they would use, were all of them on.", p.all_on_w);
    head(t, hosts, "gauge", "Hosts by how their power is known: by a meter, by the model, or not at all.");
    sample_word(t, hosts, "source", "meter", p.measured);
    sample_word(t, hosts, "source", "model", p.hosts - p.measured - p.unknown);
    sample_word(t, hosts, "source", "unknown", p.unknown);
    counter(t, "ballast_energy_used_joules_total", "Energy that the hosts used.", p.used_wh * J_PER_WH);
    counter(t, "ballast_energy_all_on_joules_total",
            "Energy that they would have used, had all of them been on; saved is this minus the used.",
            p.all_on_wh * J_PER_WH);
    gauge(t, "ballast_cpu_demand_hertz", "CPU demand of all VMs.", p.wanted[RES_CPU] * HZ_PER_MHZ);
    gauge(t, "ballast_memory_demand_bytes", "Memory demand of all VMs.", p.wanted[RES_MEM] * BYTES_PER_MB);
    gauge(t, "ballast_cpu_unmet_demand_hertz", "CPU demand of VMs that is not met.",
          p.unmet[RES_CPU] * HZ_PER_MHZ);
    gauge(t, "ballast_memory_unmet_demand_bytes", "Memory demand of VMs that is not met.",
          p.unmet[RES_MEM] * BYTES_PER_MB);
}

static void put_counts(const struct text *t, const struct engine *e, const struct snapshot *s)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct asleep *asleep;
    size_t n_asleep = engine_asleep(e, &a, &asleep);
    uint32_t hosts[host_state_count] = {0};
    uint32_t failed = 0;

    for (uint32_t i = 0; i < s->n_hosts; i++)
        hosts[s->hosts[i].is.state]++;
    for (size_t i = 0; i < n_asleep; i++)
        failed += asleep[i].wake_failed != 0;
    head(t, "ballast_hosts", "gauge",
         "Hosts by state, those included that sleep and have left the inventory.");
    for (size_t i = 0; i < host_state_count; i++)
        sample_word(t, "ballast_hosts", "state", host_state_name((enum host_state)i), hosts[i]);
    gauge(t, "ballast_hosts_wake_failed", "Hosts in standby that did not wake when they were last woken.",
          failed);
    gauge(t, "ballast_vms", "VMs in the inventory, running or not.", s->n_vms);
}

/* A host's labels and figures, for the metrics by host. */
struct host_figures {
    const char *labels;
    double load[RES_COUNT]; /* UNKNOWN: it cannot run VMs, or was not there at the last pass */
    struct engine_host_power power;
};

static struct host_figures *figures_of_hosts(const struct engine *e, const struct snapshot *s,
                                             const struct plan *plan, struct arena *a)
{
    struct host_figures *list = arena_array(a, struct host_figures, (size_t)s->n_hosts + 1);
    CLEANUP(strbuf_releasep) struct strbuf labels = STRBUF_EMPTY;

    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct host_facts *h = &s->hosts[i].is;
        struct host_figures *f = &list[i];

        strbuf_clear(&labels);
        put_label(&labels, "host", h->name);
        strbuf_puts(&labels, ",");
        put_label(&labels, "host_id", h->id);
        *f = (struct host_figures){.labels = arena_strdup(a, labels.text), .load = {UNKNOWN, UNKNOWN}};
        if (!engine_host_power(e, h->id, &f->power))
            f->power = (struct engine_host_power){
                .watts = UNKNOWN, .wanted = {UNKNOWN, UNKNOWN}, .unmet = {UNKNOWN, UNKNOWN}};
    }
    for (uint32_t i = 0; plan && i < plan->before.n_hosts; i++) {
        const struct host_load *l = &plan->before.hosts[i];
        uint32_t ix = snapshot_find_host(s, plan->snap->hosts[l->host].is.id);

        if (ix != IX_NONE)
            memcpy(list[ix].load, l->n, sizeof l->n);
    }
    return list;
}

/* One more label after those of the host; lasts until the next call. */
static const char *with(struct strbuf *text, const char *labels, const char *more)
{
    strbuf_clear(text);
    strbuf_puts(text, labels);
    strbuf_puts(text, more);
    return text->text;
}

static double own_use_age_s(const struct snapshot *s, const struct host *h)
{
    return !host_is_up(h) ? UNKNOWN : h->is.own.at == 0 ? 0 : (double)(s->time - h->is.own.at);
}

static double quarantine(const struct snapshot *s, const struct host *h)
{
    (void)s;
    return h->is.quarantine;
}

static double swap_in(const struct snapshot *s, const struct host *h)
{
    (void)s;
    return h->is.swap_in_mb_s * BYTES_PER_MB;
}

static double mem_pressure(const struct snapshot *s, const struct host *h)
{
    (void)s;
    return h->is.mem_pressure;
}

static double squeezed(const struct snapshot *s, const struct host *h)
{
    return host_squeezes_mb(s, (uint32_t)(h - s->hosts)) * BYTES_PER_MB;
}

static double vms(const struct snapshot *s, const struct host *h)
{
    (void)s;
    return h->vms.n;
}

static const struct {
    const char *name, *help;
    double (*value)(const struct snapshot *s, const struct host *h);
} host_metrics[] = {
    {"ballast_host_own_use_age_seconds", "Age of what is known of the host's own use.", own_use_age_s},
    {"ballast_host_quarantine", "1: the host is in quarantine, and receives no VMs.", quarantine},
    {"ballast_host_memory_swap_in_bytes_per_second",
     "Swapped memory that the host reads back: the least of the last five minutes.", swap_in},
    {"ballast_host_memory_pressure_ratio",
     "Part of the last five minutes in which all on the host waited for memory.", mem_pressure},
    {"ballast_host_memory_squeezed_bytes",
     "Memory of the host's VMs that it has taken by balloons or swapped out.", squeezed},
    {"ballast_host_vms", "VMs on the host.", vms},
};

static void put_hosts(const struct text *t, const struct snapshot *s, const struct host_figures *list)
{
    static const char load[] = "ballast_host_normalized_entitlement_ratio";
    static const struct {
        const char *capacity, *demand, *pending, *unmet, *own, *label;
        double unit;
    } of[RES_COUNT] = {
        [RES_CPU] = {"ballast_host_cpu_capacity_hertz", "ballast_host_cpu_demand_hertz",
                     "ballast_host_cpu_pending_hertz", "ballast_host_cpu_unmet_demand_hertz",
                     "ballast_host_cpu_own_use_hertz", ",resource=\"cpu\"", HZ_PER_MHZ},
        [RES_MEM] = {"ballast_host_memory_capacity_bytes", "ballast_host_memory_demand_bytes",
                     "ballast_host_memory_pending_bytes", "ballast_host_memory_unmet_demand_bytes",
                     "ballast_host_memory_own_use_bytes", ",resource=\"memory\"", BYTES_PER_MB},
    };
    CLEANUP(strbuf_releasep) struct strbuf labels = STRBUF_EMPTY;
    CLEANUP(arena_releasep) struct arena a = {0};
    const uint32_t n = s->n_hosts;
    double *pending[RES_COUNT];

    starting_on_the_way(s, &a, pending);
    head(t, load, "gauge",
         "What the host's VMs are entitled to, as a part of its capacity, at the last pass.");
    for (uint32_t i = 0; i < n; i++) {
        for (int r = 0; r < RES_COUNT; r++)
            sample(t, load, with(&labels, list[i].labels, of[r].label), list[i].load[r]);
    }
    for (int r = 0; r < RES_COUNT; r++) {
        head(t, of[r].capacity, "gauge", "Capacity of the host for VMs.");
        for (uint32_t i = 0; i < n; i++)
            sample(t, of[r].capacity, list[i].labels, s->hosts[i].capacity[r] * of[r].unit);
        head(t, of[r].demand, "gauge", "Demand of the VMs on the host.");
        for (uint32_t i = 0; i < n; i++)
            sample(t, of[r].demand, list[i].labels, list[i].power.wanted[r] * of[r].unit);
        head(t, of[r].pending, "gauge",
             "Of VMs that are to start on the host or to come, and have not arrived.");
        for (uint32_t i = 0; i < n; i++)
            sample(t, of[r].pending, list[i].labels, pending[r][i] * of[r].unit);
        head(t, of[r].unmet, "gauge", "Shortage: demand of the VMs on the host that is not met.");
        for (uint32_t i = 0; i < n; i++)
            sample(t, of[r].unmet, list[i].labels, list[i].power.unmet[r] * of[r].unit);
        head(t, of[r].own, "gauge", "What the host uses itself, beyond what is reserved for it.");
        for (uint32_t i = 0; i < n; i++)
            sample(t, of[r].own, list[i].labels,
                   host_is_up(&s->hosts[i]) ? s->hosts[i].own.now[r] * of[r].unit : UNKNOWN);
    }
    for (size_t k = 0; k < sizeof host_metrics / sizeof *host_metrics; k++) {
        head(t, host_metrics[k].name, "gauge", host_metrics[k].help);
        for (uint32_t i = 0; i < n; i++)
            sample(t, host_metrics[k].name, list[i].labels, host_metrics[k].value(s, &s->hosts[i]));
    }
    head(t, "ballast_host_power_watts", "gauge", "Power that the host uses: by its meter, or by its model.");
    for (uint32_t i = 0; i < n; i++)
        sample(
            t, "ballast_host_power_watts",
            with(&labels, list[i].labels, list[i].power.measured ? ",source=\"meter\"" : ",source=\"model\""),
            list[i].power.watts);
}

void metrics_write(struct service_metrics *m, const struct engine *e, struct store *store,
                   const struct daemon_state *daemon, instant_s now, struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf cluster = STRBUF_EMPTY;
    const struct snapshot *s = engine_snapshot(e);
    const struct plan *plan = engine_plan(e);
    struct engine_status st;

    engine_status(e, &st);
    count_store(m, store, now);
    put_label(&cluster, "cluster", st.cluster);
    const struct text t = {.out = out, .cluster = cluster.text};

    put_service(&t, &st, daemon);
    put_source(&t, m, &st);
    put_broker(&t, daemon->broker);
    put_alarms(&t, daemon->alarms);
    put_events(&t, m);
    put_store(&t, m, &daemon->store, &st);
    put_pass(&t, m, &st, plan);
    put_actions(&t, m, &st);
    if (!s)
        return;
    put_power(&t, e);
    put_counts(&t, e, s);
    put_hosts(&t, s, figures_of_hosts(e, s, plan, &a));
}
