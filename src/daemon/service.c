/* service.c: connects configuration, store, threads, engine and socket on one event loop. It decides
 * nothing. */
#include "daemon/service.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "daemon/clients/admin_tokens.h"
#include "daemon/clients/askers.h"
#include "daemon/clients/decisions.h"
#include "daemon/clients/http_clients.h"
#include "daemon/clients/request_handler.h"
#include "daemon/clients/server.h"
#include "daemon/events/event_outputs.h"
#include "daemon/events/subscribers.h"
#include "daemon/known_peers.h"
#include "daemon/mqtt/mqtt_commands.h"
#include "daemon/process.h"
#include "daemon/source_lock.h"
#include "daemon/startup_log.h"
#include "daemon/threads/actuator_workers.h"
#include "daemon/threads/collector_thread.h"
#include "daemon/threads/consoles.h"
#include "daemon/threads/power_setup.h"
#include "daemon/threads/unit_thread.h"
#include "daemon/wall_clock.h"
#include "engine/engine.h"
#include "net/login_guards.h"
#include "plugins/plugins.h"
#include "store/sqlite.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#define NEWS_AT_ONCE_US INT64_C(100000)
#define NEWS_AT_END_US INT64_C(3000000) /* the rest is left to the next process */
#define STOP_S 10                       /* time limit for the threads to end */

/* A configuration that was read, whose power.hosts are taken over once no power change is under way. */
struct waiting_reload {
    struct config *config; /* NULL: none waits */
    struct arena memory;
    char by[USER_NAME_MAX];
    instant_s since;
};

struct service {
    const struct config *config; /* in force */
    struct arena reloaded;       /* the configuration after a reload; threads keep using the first one */
    struct waiting_reload waits;
    struct source_config source_config;
    const char *source_name; /* identifies the source across restarts */
    struct arena names;
    const struct plugin *plugin;
    struct known_peers peers;
    int source_fd;             /* holds the source for this process */
    struct power_setup *power; /* now */
    struct consoles *consoles;
    struct subscribers subscribers;
    struct service_metrics metrics;
    atomic_bool stop;

    sd_event *loop;
    sd_event_source *news_io, *timer, *sigterm, *sigint, *sighup;
    struct queue news;
    bool news_open;
    struct source *source;
    struct actuators *actuators;
    struct unit_port *units;
    struct store *store;
    struct event_outputs out;
    struct engine *engine;
    struct server *server;
    struct clients clients; /* that wait */
    struct http_clients *http;
    struct decisions *decisions;
    struct mqtt_commands *commands;
    struct admin_tokens tokens;
    struct policies policies;
    struct askers askers;
    struct shared_replies shared;
    struct wall_clock clock;
    bool restart; /* run the program again after the stop */
    char *const *argv;
    uint64_t due_us; /* next tick on the steady clock; 0: none */
};

/* ---- requests that wait ---------------------------------------------------------------------- */

static void configure(void *service);

static struct request_handler request_handler_of(struct service *s)
{
    return (struct request_handler){.shared = &s->shared,
                                    .engine = s->engine,
                                    .store = s->store,
                                    .config = s->config,
                                    .out = &s->out,
                                    .metrics = &s->metrics,
                                    .tokens = &s->tokens,
                                    .decisions = s->decisions,
                                    .logins = s->power->logins,
                                    .peers = &s->peers,
                                    .policies = &s->policies,
                                    .configure = configure,
                                    .service = s,
                                    .reload_by = s->waits.config ? s->waits.by : NULL,
                                    .reload_since = s->waits.since,
                                    .now = wall_clock_now(&s->clock)};
}

static void answer_waiting(void *ctx, struct client *c, uint64_t ticket)
{
    const struct request_handler handler = request_handler_of(ctx);

    request_handler_answer_waiting(&handler, c, ticket);
}

/* ---- after each event of the loop ------------------------------------------------------------- */

static void apply_waiting_reload(struct service *s);

static void update_outputs_and_timer(struct service *s)
{
    apply_waiting_reload(s);

    instant_s now = wall_clock_now(&s->clock);
    instant_s at = engine_wakeup(s->engine, now);
    /* a tick that is due now comes after 0.1 s, so that the loop does not spin */
    uint64_t wait_us = at > now ? (uint64_t)(at - now) * USEC_PER_S : USEC_PER_S / 10;
    uint64_t due_us = (uint64_t)process_steady_us() + wait_us;

    metrics_on_pass(&s->metrics, s->engine);
    consoles_update(s->consoles, engine_snapshot(s->engine), now);
    event_outputs_update(&s->out, s->engine, s->config, now);
    client_each_waiting(&s->clients, answer_waiting, s);
    http_clients_update(s->http, s->store, journal_last(s->out.journal));
    request_handler_forget_older(&s->shared, s->engine);
    http_set_ready(s->tokens.http, engine_snapshot(s->engine) != NULL);
    admin_tokens_store_use(&s->tokens, now, false);
    /* never later: frequent requests must not delay the tick */
    if (s->due_us != 0 && s->due_us <= due_us)
        return;
    s->due_us = due_us;
    (void)sd_event_source_set_time_relative(s->timer, wait_us);
    (void)sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    struct service *s = userdata;

    (void)source, (void)usec;
    s->due_us = 0;
    if (!s->restart && wall_clock_was_set(&s->clock, s->config->path)) {
        s->restart = true; /* ends as for SIGTERM */
        return sd_event_exit(s->loop, 0);
    }
    engine_tick(s->engine, wall_clock_now(&s->clock));
    update_outputs_and_timer(s);
    return 0;
}

/* Of a decision, or of a target of alarms. */
static void on_answer(void *ctx)
{
    update_outputs_and_timer(ctx);
}

/* Returns after for_us at most: emptying hundreds of hosts gives thousands of answers. */
static void take_news(struct service *s, int64_t for_us)
{
    const int64_t until_us = process_steady_us() + for_us;
    struct news *n;

    while (process_steady_us() < until_us && (n = (struct news *)queue_pop(&s->news)) != NULL) {
        instant_s now = wall_clock_now(&s->clock);

        switch (n->kind) {
        case NEWS_INVENTORY:
            metrics_on_collection(&s->metrics, n->took_us, false);
            engine_on_inventory(s->engine, n->serial, &n->collected, now);
            known_peers_update(&s->peers, s->engine, now);
            request_handler_forget_shared(&s->shared);
            power_setup_compare(s->power, engine_snapshot(s->engine));
            break;
        case NEWS_SOURCE_ERROR:
            metrics_on_collection(&s->metrics, n->took_us, true);
            engine_on_source_error(s->engine, n->serial, &n->err, now);
            break;
        case NEWS_SOURCE_CHANGED:
            engine_on_source_changed(s->engine, now);
            break;
        case NEWS_ANSWERS:
            engine_on_answers(s->engine, n->serial, &n->collected, now);
            request_handler_forget_shared(&s->shared);
            power_setup_compare(s->power, engine_snapshot(s->engine));
            break;
        case NEWS_JOB_RESULT:
            engine_on_job_result(s->engine, n->job, &n->result, now);
            break;
        }
        thread_results_free(&n->item);
    }
}

static int on_news(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct service *s = userdata;

    (void)source, (void)fd, (void)revents;
    take_news(s, NEWS_AT_ONCE_US);
    update_outputs_and_timer(s);
    return 0;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void serve_line(void *ctx, struct client *c, const char *line, size_t len)
{
    struct service *s = ctx;
    const struct request_handler handler = request_handler_of(s);

    request_handler_serve_line(&handler, c, line, len);
    update_outputs_and_timer(s);
}

static void serve_request(void *ctx, struct client *c, struct request *q)
{
    struct service *s = ctx;
    const struct request_handler handler = request_handler_of(s);

    request_handler_serve(&handler, c, q);
    update_outputs_and_timer(s);
}

static enum role role_of_peer(void *ctx, const struct server_peer *peer)
{
    const struct service *s = ctx;

    return config_role(&s->config->roles, peer->uid, peer->gid, peer->groups, peer->n_groups);
}

static void cancel_waiting(void *ctx, uint64_t ticket)
{
    const struct request_handler handler = request_handler_of(ctx);

    request_handler_cancel(&handler, ticket);
}

/* ---- configuration --------------------------------------------------------------------------- */

static struct engine_settings settings_of(const struct service *s)
{
    const struct config *c = s->config;
    const struct actuator_ops *actuators = s->power->actuators; /* NULL: the source has no actuator */

    return (struct engine_settings){
        .cluster = c->cluster,
        .source = s->source_name,
        .policy = c->policy,
        .schedule = &c->schedule,
        .balance = &c->balance,
        .overlay = policies_overlay(&s->policies, c),
        .operations = actuators ? actuators->operations : 0,
        .ways = s->power->ways,
        .n_ways = s->power->config.n_hosts,
        .four_eyes = config_four_eyes(c),
        .four_eyes_s = c->four_eyes.within_s,
        .lock_wait_s = c->lock_wait_s,
        .lock_hold_s = c->lock_hold_s,
        .sets_pools = actuators && actuators->apply_settings,
        .history_days = c->history_days,
        .passes_kept = (uint32_t)c->history_passes,
        .clock_us = process_steady_us,
    };
}

static void configure(void *service)
{
    struct service *s = service;
    const struct engine_settings settings = settings_of(s);

    engine_configure(s->engine, &settings, wall_clock_now(&s->clock));
    engine_tick(s->engine, wall_clock_now(&s->clock)); /* stores the events */
    request_handler_forget_shared(&s->shared);
}

static void drop_waiting(struct service *s)
{
    arena_release(&s->waits.memory);
    s->waits = (struct waiting_reload){0};
}

/* Read once more: the other one is in force but for power.hosts, and what an admin writes into the file later
 * is no part of this reload. */
static int keep_waiting(struct service *s, const char *by, struct err *err)
{
    struct arena a = {0};
    struct config *waits = arena_new(&a, struct config);
    int r = config_load(s->config->path, &a, waits, err);

    if (r < 0) {
        arena_release(&a);
        return r;
    }
    s->waits.config = waits;
    s->waits.memory = a;
    s->waits.since = wall_clock_now(&s->clock);
    (void)snprintf(s->waits.by, sizeof s->waits.by, "%s", by);
    return 0;
}

static int change_config(struct service *s, const char *by, struct arena *a, struct config *fresh,
                         struct err *err)
{
    struct config_change *changes;
    int r = 0;
    size_t n = config_changes(s->config, fresh, a, &changes);

    if (config_power_changes(changes, n))
        r = power_setup_change(&s->power, fresh, s->engine, s->actuators, err);
    if ((r < 0 && r != -EBUSY) || (r == -EBUSY && (r = keep_waiting(s, by, err)) < 0))
        return r;
    const bool power_waits = s->waits.config != NULL;

    consoles_change(s->consoles, s->power);
    startup_log_reload(changes, n, power_waits, s->engine, by, wall_clock_now(&s->clock));
    config_keep_fixed(s->config, fresh, power_waits, a);
    return 0;
}

/* The memory of `fresh` becomes the service's, or is released. */
static void take_config(struct service *s, const char *by, struct arena a, struct config *fresh)
{
    struct err err = {0};

    if (change_config(s, by, &a, fresh, &err) < 0) {
        engine_tell_reload_failed(s->engine, err.text, by, wall_clock_now(&s->clock));
        arena_release(&a);
        return;
    }
    login_guards_forget(s->power->logins); /* a password may have been mended at its peer */
    startup_log_warnings(fresh, &s->power->config);
    if (strcmp(s->config->units_text.all ? s->config->units_text.all : "",
               fresh->units_text.all ? fresh->units_text.all : "") != 0)
        unit_thread_configure(s->units, fresh->units, fresh->n_units);
    s->config = fresh;
    mqtt_commands_configure(s->commands, fresh);
    if (http_reload_certificate(s->tokens.http, &err) < 0)
        log_error("the certificate stays as it was: %s", err.text);

    policies_configure(&s->policies, fresh);
    configure(s);
    arena_release(&s->reloaded);
    s->reloaded = a;
    alarm_feed_change(s->out.alarms, s->config, wall_clock_now(&s->clock));
    startup_log_standby_hosts(s->config, s->engine);
}

static void reload(struct service *s, const char *by)
{
    struct arena a = {0};
    struct config *fresh = arena_new(&a, struct config);
    struct err err = {0};

    if (config_load(s->config->path, &a, fresh, &err) < 0) {
        engine_tell_reload_failed(s->engine, err.text, by, wall_clock_now(&s->clock));
        arena_release(&a);
        return;
    }
    drop_waiting(s); /* the newer one counts */
    take_config(s, by, a, fresh);
}

static void apply_waiting_reload(struct service *s)
{
    if (!s->waits.config || engine_is_changing_power(s->engine))
        return;
    struct waiting_reload w = s->waits;

    s->waits = (struct waiting_reload){0};
    take_config(s, w.by, w.memory, w.config);
}

static int on_sighup(sd_event_source *source, const struct signalfd_siginfo *si, void *userdata)
{
    struct service *s = userdata;
    char by[USER_NAME_MAX] = "the system";

    (void)source;
    if (si->ssi_code <= 0) /* sent by a process */
        process_name_sender(si->ssi_uid, by, sizeof by);
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)clock_us(CLOCK_MONOTONIC));
    reload(s, by);
    (void)sd_notify(0, "READY=1");
    update_outputs_and_timer(s);
    return 0;
}

static int on_stop(sd_event_source *source, const struct signalfd_siginfo *si, void *userdata)
{
    struct service *s = userdata;

    (void)source;
    log_notice("%s: stopping", strsignal((int)si->ssi_signo));
    (void)sd_notify(0, "STOPPING=1");
    return sd_event_exit(s->loop, 0);
}

/* ---- start ----------------------------------------------------------------------------------- */

static const char *host_name_for_actuators(void *ctx, const char *host)
{
    const struct service *s = ctx;

    return s->engine ? power_setup_name(engine_snapshot(s->engine), host) : NULL;
}

static int open_source(struct service *s, struct err *err)
{
    const struct config *c = s->config;
    int r;

    s->plugin = plugins_find(c->source.kind);
    if (!s->plugin)
        return err_set(err, -ENOTSUP, "source.kind: %s is not built into this ballastd", c->source.kind);
    config_source(c, &s->source_config);
    s->source_name = config_source_name(c, &s->names);
    /* a source without a URL is no server that another process could use, too */
    if (s->plugin->actuator && c->source.url && (r = source_lock(s->source_name, &s->source_fd, err)) < 0)
        return r;
    if ((r = known_peers_open(&s->peers, s->store, s->source_name, err)) < 0 ||
        (r = policies_open(&s->policies, s->store, c, err)) < 0)
        return r;
    s->source_config.identities = s->peers.identities;
    s->source_config.stop = &s->stop;
    if (s->plugin->open && (r = s->plugin->open(&s->source_config, &s->source_config.shared, err)) < 0)
        return r;
    if ((r = queue_init(&s->news, false)) < 0)
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    s->news_open = true;
    if ((r = collector_thread_start(s->plugin->collector, &s->source_config, &s->news, &s->source, err)) < 0)
        return r;
    if ((r = power_setup_new(c, s->plugin->actuator, &s->source_config, NULL, &s->power, err)) < 0)
        return r;
    if ((r = actuator_workers_start(s->power->actuators, &s->power->source, &s->news, &s->actuators, err)) <
        0)
        return r;
    actuator_workers_set_names(s->actuators, host_name_for_actuators, s);
    return unit_thread_start(c->units, c->n_units, &s->stop, &s->news, &s->units, err);
}

static int open_engine(struct service *s, struct err *err)
{
    const struct engine_settings settings = settings_of(s);
    const struct engine_ports ports = {
        .store_ops = &store_sqlite,
        .store = s->store,
        .source_ops = &collector_thread_port,
        .source = s->source,
        .actuators_ops = &actuator_workers_port,
        .actuators = s->actuators,
        .unit_ops = &unit_thread_port,
        .units = s->units,
        .event_sink_ops = &subscribers_sink,
        .event_sink = (struct event_sink *)&s->subscribers,
        .people_ops = &askers_port,
        .people = (struct people *)&s->askers,
    };

    int r = consoles_new(s->loop, s->store, s->power, &s->consoles, err);

    s->askers = (struct askers){.store = s->store, .config = &s->config};
    s->subscribers =
        (struct subscribers){.journal = s->out.journal, .consoles = s->consoles, .metrics = &s->metrics};
    if (r == 0 && (r = engine_create(&settings, &ports, wall_clock_now(&s->clock), &s->engine, err)) == 0)
        consoles_resume(s->consoles, s->engine);
    return r;
}

static int open_loop(struct service *s, struct err *err)
{
    int r;

    if ((r = sd_event_add_io(s->loop, &s->news_io, s->news.fd, EPOLLIN, on_news, s)) < 0 ||
        (r = sd_event_add_time_relative(s->loop, &s->timer, CLOCK_MONOTONIC, 0, 0, on_timer, s)) < 0 ||
        (r = sd_event_add_signal(s->loop, &s->sigterm, SIGTERM, on_stop, s)) < 0 ||
        (r = sd_event_add_signal(s->loop, &s->sigint, SIGINT, on_stop, s)) < 0 ||
        (r = sd_event_add_signal(s->loop, &s->sighup, SIGHUP, on_sighup, s)) < 0 ||
        (r = sd_event_set_watchdog(s->loop, true)) < 0)
        return err_set(err, r, "the event loop cannot be set up: %s", strerror(-r));
    return 0;
}

/* Last: its clients find everything else running. */
static int open_http(struct service *s, struct err *err)
{
    const struct http_clients_options options = {.config = s->config,
                                                 .loop = s->loop,
                                                 .clients = &s->clients,
                                                 .newest = journal_last(s->out.journal),
                                                 .serve = serve_request,
                                                 .gone = cancel_waiting,
                                                 .ctx = s};
    int r = http_clients_start(&options, &s->http, err);

    s->tokens = (struct admin_tokens){.store = s->store, .http = http_clients_server(s->http)};
    s->shared.http = s->tokens.http;
    return r == 0 ? admin_tokens_load(&s->tokens, err) : r;
}

static int open_commands(struct service *s, struct err *err)
{
    const struct mqtt_commands_options options = {.loop = s->loop,
                                                  .clients = &s->clients,
                                                  .feed = s->out.mqtt,
                                                  .store = s->store,
                                                  .config = s->config,
                                                  .serve = serve_request,
                                                  .gone = cancel_waiting,
                                                  .ctx = s};

    return mqtt_commands_start(&options, &s->commands, err);
}

static int start_service(struct service *s, struct err *err)
{
    int r;

    wall_clock_start(&s->clock);
    if ((r = process_block_signals(err)) < 0)
        return r;
    if ((r = sd_event_default(&s->loop)) < 0)
        return err_set(err, r, "no event loop: %s", strerror(-r));
    if ((r = store_open(s->config->state_dir, s->config->history_passes_mb, &s->store, err)) < 0)
        return r;
    store_set_limit(s->store, s->config->history_store_mb);
    if (store_was_upgraded(s->store))
        log_notice("the store was upgraded to this version; %s/before-upgrade.db has it as it was",
                   s->config->state_dir);
    const struct alarm_feed_options alarms = {
        .loop = s->loop, .store = s->store, .wake = on_answer, .ctx = s};

    if ((r = event_outputs_open(s->config, &alarms, wall_clock_now(&s->clock), &s->out, err)) < 0 ||
        (r = open_source(s, err)) < 0 || (r = open_engine(s, err)) < 0 || (r = open_loop(s, err)) < 0 ||
        (r = decisions_start(s->loop, on_answer, s, &s->decisions, err)) < 0)
        return r;
    const struct server_options options = {.path = s->config->socket,
                                           .clients = &s->clients,
                                           .serve = serve_line,
                                           .gone = cancel_waiting,
                                           .more = answer_waiting,
                                           .role = role_of_peer,
                                           .ctx = s};

    r = server_start(s->loop, &options, &s->server, err);
    return r < 0 || (r = open_commands(s, err)) < 0 ? r : open_http(s, err);
}

/* ---- stop ------------------------------------------------------------------------------------ */

/* In reverse order of the start. Results that threads still deliver, such as the name of a task just started,
 * are stored. */
static void stop_service(struct service *s)
{
    int64_t deadline = (int64_t)time(NULL) + STOP_S;

    server_stop(s->server);
    request_handler_forget_shared(&s->shared);
    if (s->http)
        admin_tokens_store_use(&s->tokens, wall_clock_now(&s->clock), true);
    http_clients_stop(s->http);
    mqtt_commands_stop(s->commands);
    s->shared.http = s->tokens.http = NULL;
    atomic_store(&s->stop, true);
    int actuators = actuator_workers_stop(s->actuators, deadline);
    int source = collector_thread_stop(s->source, deadline);
    int units = unit_thread_stop(s->units, deadline);

    if (s->engine) {
        take_news(s, NEWS_AT_END_US);
        startup_log_unfinished(s->engine);
        event_outputs_update(&s->out, s->engine, s->config, wall_clock_now(&s->clock));
    }
    int broker = event_outputs_stop(&s->out, deadline);
    int decisions = decisions_stop(s->decisions, deadline);

    int consoles = consoles_stop(s->consoles, wall_clock_now(&s->clock), deadline);

    engine_free(s->engine);
    store_close(s->store);
    if (actuators < 0 || source < 0 || units < 0 || broker < 0 || consoles < 0 || decisions < 0) {
        log_warning("a request to the source, the broker, a console or an external unit, or a decision has "
                    "not ended within "
                    "10 s; stopping without waiting for it");
        if (s->restart)
            (void)process_restart(s->argv);
        _exit(s->restart ? EXIT_FAILURE : EXIT_SUCCESS); /* a thread still uses what would be freed below */
    }
    decisions_free(s->decisions);
    consoles_free(s->consoles);
    actuator_workers_free(s->actuators);
    collector_thread_free(s->source);
    unit_thread_free(s->units);
    event_outputs_release(&s->out);
    if (s->news_open)
        queue_release(&s->news, thread_results_free);
    if (s->plugin && s->plugin->close)
        s->plugin->close(s->source_config.shared);
    known_peers_close(&s->peers);
    policies_close(&s->policies);
    (void)sd_event_source_disable_unref(s->news_io);
    (void)sd_event_source_disable_unref(s->timer);
    (void)sd_event_source_disable_unref(s->sigterm);
    (void)sd_event_source_disable_unref(s->sigint);
    (void)sd_event_source_disable_unref(s->sighup);
    (void)sd_event_unref(s->loop);
    arena_release(&s->reloaded);
    drop_waiting(s);
    arena_release(&s->names);
    if (s->source_fd >= 0)
        (void)close(s->source_fd);
    power_setup_free(s->power);
    metrics_release(&s->metrics);
}

int service_run(const struct config *config, char *const argv[], struct err *err)
{
    struct service s = {.config = config, .argv = argv, .source_fd = -1};
    int r = start_service(&s, err);

    if (r == 0) {
        startup_log_warnings(config, &s.power->config);
        startup_log_standby_hosts(s.config, s.engine);
        startup_log_unconfirmed(s.engine);
        startup_log_settings(config);
        update_outputs_and_timer(&s);
        (void)sd_notify(0, "READY=1");
        r = sd_event_loop(s.loop);
        if (r < 0)
            (void)err_set(err, r, "the event loop failed: %s", strerror(-r));
    }
    stop_service(&s);
    if (r == 0 && s.restart && (r = process_restart(argv)) < 0)
        (void)err_set(err, r, "the service cannot restart: %s", strerror(-r));
    return r < 0 ? r : 0;
}
