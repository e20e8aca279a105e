/* request_handler.c: carries out requests and answers them, now or when the engine is ready. Parsing is
 * request.c's, the socket server.c's. */
#include "daemon/clients/request_handler.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "daemon/clients/admin_tokens.h"
#include "daemon/events/subject.h"
#include "daemon/replies/replies.h"
#include "daemon/replies/reply.h"
#include "store/limit.h"
#include "store/sqlite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Marks tickets of placements, to distinguish them from those of passes. */
#define PLACEMENT ((uint64_t)1 << 63)

/* -EINPROGRESS: the result is not there yet. */
static int answer_run(const struct request_handler *s, uint64_t ticket, struct strbuf *out, struct err *err)
{
    uint64_t pass = 0;
    int r = engine_run_result(s->engine, ticket, &pass, err);

    if (r == 0)
        reply_pass(s->engine, pass, s->now, out);
    return r;
}

static int answer_place(const struct request_handler *s, uint64_t ticket, struct strbuf *out, struct err *err)
{
    struct placement p;
    int r = engine_place_result(s->engine, ticket, &p, err);

    if (r == 0)
        reply_placement(s->engine, &p, out);
    if (r != -EINPROGRESS)
        engine_place_release(s->engine, ticket);
    return r;
}

/* ---- requests -------------------------------------------------------------------------------- */

static int serve_decided(const struct request_handler *s, struct request *q, const char *by,
                         struct strbuf *out, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct left_outs rest = {.a = &a};
    size_t n = 0;
    int r = q->kind == REQUEST_APPLY
                ? engine_approve(s->engine, q->ids, q->versions, q->n_ids, by, s->now, &rest, err)
                : engine_reject(s->engine, q->ids, q->n_ids, q->selected, q->for_s, by, s->now, &rest, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < q->n_ids; i++) {
        size_t k = 0;

        while (k < rest.n && rest.list[k].id != q->ids[i])
            k++;
        if (k == rest.n)
            q->ids[n++] = q->ids[i];
    }
    reply_actions(s->engine, q->ids, n, &rest, out);
    return 0;
}

static int serve_maintenance(const struct request_handler *s, const struct request *q, const char *by,
                             struct strbuf *out, struct err *err)
{
    uint64_t ids[1 + POWER_CHANGES] = {0};
    uint64_t power[POWER_CHANGES];
    enum maintenance_mode mode = !q->enter ? MAINTENANCE_EXIT
                                 : q->yes  ? MAINTENANCE_ENTER_CONFIRMED
                                           : MAINTENANCE_ENTER;
    int r = engine_maintenance(s->engine, q->host, mode, by, s->now, &ids[0], power, err);
    size_t n = ids[0] != 0 ? 1 : 0;

    if (r < 0)
        return r;
    for (size_t i = 0; i < POWER_CHANGES; i++) {
        if (power[i] != 0)
            ids[n++] = power[i];
    }
    reply_host_command(s->engine, q->host, q->enter, ids, n, out);
    return 0;
}

static int serve_power(const struct request_handler *s, const struct request *q, const char *by,
                       struct strbuf *out, struct err *err)
{
    uint64_t ids[WAKE_ACTIONS] = {0};
    int r = q->kind == REQUEST_STANDBY ? engine_standby(s->engine, q->host, by, s->now, &ids[0], err)
            : q->method != 0 ? engine_test_wake_method(s->engine, q->host, q->method, by, s->now, ids, err)
                             : engine_wake(s->engine, q->host, q->verify, by, s->now, ids, err);
    size_t n = 0;

    if (r < 0)
        return r;
    while (n < WAKE_ACTIONS && ids[n] != 0)
        n++;
    reply_host_command(s->engine, q->host, q->kind == REQUEST_STANDBY || q->verify, ids, n, out);
    return 0;
}

static int serve_confirm(const struct request_handler *s, const struct request *q, const char *by,
                         struct strbuf *out, struct err *err)
{
    struct engine_identity is;
    int r = engine_confirm_controllers(s->engine, q->host, by, s->now, &is, err);

    request_handler_forget_shared(s->shared);
    if (r == 0)
        reply_identity(&is, out);
    return r;
}

/* The names, each with its NUL, one after another. */
static const char **list_names(const char *names, size_t n)
{
    const char **list = xcalloc(n, sizeof *list);

    for (size_t i = 0; i < n; i++) {
        list[i] = names;
        names += strlen(names) + 1;
    }
    return list;
}

static int serve_roll(const struct request_handler *s, const struct request *q, const char *by,
                      struct strbuf *out, struct err *err)
{
    int r = 0;

    if (q->n_hosts > 0 && q->stop)
        return err_set(err, -EINVAL, "\"hosts\" and \"stop\": expected one of them");
    if (q->n_hosts > 0) {
        CLEANUP(freep) const char **hosts = list_names(q->vms, q->n_hosts);

        r = engine_roll_begin(s->engine, hosts, q->n_hosts, q->at_once > 0 ? q->at_once : 1, by, s->now, err);
    } else if (q->stop) {
        r = engine_roll_stop(s->engine, q->why[0] ? q->why : NULL, by, s->now, err);
    }
    if (r == 0)
        reply_roll(s->engine, out);
    return r;
}

/* The client waits for an inventory. */
static int serve_place(const struct request_handler *s, const struct request *q, struct client *c,
                       struct err *err)
{
    const bool migrates = q->kind == REQUEST_MIGRATE;
    CLEANUP(freep)
    const char **vms = migrates ? list_names(q->vm, 1) : list_names(q->vms, q->n_vms);
    uint64_t ticket;
    int r = client_may_stay(c, CLIENT_STAY_RESULT, err);

    if (r < 0)
        return r;
    const struct place_request request = {
        .vms = vms, .n_vms = migrates ? 1 : q->n_vms, .migrates = migrates, .apply = q->apply, .by = c->who};
    if ((r = engine_place(s->engine, &request, s->now, &ticket, err)) < 0)
        return r;
    client_wait(c, CLIENT_STAY_RESULT, ticket | PLACEMENT);
    return -EINPROGRESS;
}

/* ret_broker: the memory of its broker. */
static struct daemon_state daemon_state_of(const struct request_handler *s, struct mqtt_status *ret_broker)
{
    struct store_size size = {0};
    struct err err = {0};

    (void)store_size(s->store, &size, &err); /* what cannot be read is in store_error */
    return (struct daemon_state){.store = size,
                                 .broker = event_outputs_mqtt_status(s->out, ret_broker),
                                 .commands = s->config->mqtt.commands,
                                 .alarms = s->out->alarms,
                                 .logins = s->logins,
                                 .reload_by = s->reload_by,
                                 .reload_since = s->reload_since};
}

static void write_metrics(const struct request_handler *s, struct strbuf *out)
{
    struct mqtt_status broker;
    const struct daemon_state daemon = daemon_state_of(s, &broker);

    metrics_write(s->metrics, s->engine, s->store, &daemon, s->now, out);
}

static void serve_metrics(const struct request_handler *s, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct json_writer w = {.out = out};

    write_metrics(s, &text);
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_text(&w, "metrics", text.text);
    jw_end(&w);
}

static int serve_policy_change(const struct request_handler *s, const struct request *q, const char *who,
                               struct strbuf *out, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *told;
    int r = policies_change(s->policies, s->config, q, &a, &told, out, err);

    if (r < 0 || !told)
        return r;
    engine_tell_change(s->engine, arena_printf(&a, "%s; by %s", told, who), who, s->now);
    s->configure(s->service);
    return 0;
}

static int serve_config_diff(const struct request_handler *s, const struct request *q, struct strbuf *out,
                             struct err *err)
{
    /* a path alone would let a client of the API read, in errors, files that only the service may read */
    if (q->has_text != (q->name[0] != '\0'))
        return err_set(err, -EINVAL, "\"text\" and \"file\": expected both or neither");
    return reply_config_diff(s->config, s->engine, q, out, err);
}

static int serve_view(const struct request_handler *s, const struct request *q, struct strbuf *out,
                      struct err *err)
{
    struct mqtt_status broker;
    const struct daemon_state daemon = daemon_state_of(s, &broker);

    return reply_view(s->engine, &store_sqlite, s->store, q, &daemon, s->now, out, err);
}

/* ---- replies that clients share -------------------------------------------------------------- */

void request_handler_forget_shared(struct shared_replies *shared)
{
    for (size_t i = 0; i < request_kind_count; i++) {
        shared_text_unref(shared->texts[i]);
        shared->texts[i] = NULL;
    }
    shared->plan_ticket = 0;
    http_unpublish(shared->http);
}

void request_handler_forget_older(struct shared_replies *shared, const struct engine *e)
{
    struct engine_status st;

    engine_status(e, &st);
    if (shared->pass == st.last_pass)
        return;
    request_handler_forget_shared(shared);
    shared->pass = st.last_pass;
}

/* Long, and equal for all clients until the next inventory or pass. */
static bool is_shared(const struct request *q)
{
    return (q->kind == REQUEST_SNAPSHOT && q->pass == 0) || q->kind == REQUEST_SAMPLES ||
           q->kind == REQUEST_VMS || q->kind == REQUEST_HOSTS || q->kind == REQUEST_POOLS ||
           q->kind == REQUEST_POLICIES;
}

/* Takes the reference over. */
static void share(struct shared_replies *shared, enum request_kind kind, struct shared_text *text)
{
    shared_text_unref(shared->texts[kind]);
    shared->texts[kind] = text;
    http_publish(shared->http, kind, text);
}

/* The text, made now if it is not there; borrowed. */
static int find_shared(const struct request_handler *s, enum request_kind kind, struct shared_text **ret,
                       struct err *err)
{
    struct shared_text **text = &s->shared->texts[kind];
    int r;

    request_handler_forget_older(s->shared, s->engine);
    if (!*text) {
        CLEANUP(freep) struct request *q = xcalloc(1, sizeof *q); /* too large for the stack */
        CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

        q->kind = kind;
        r = kind == REQUEST_POLICIES ? policies_reply(s->policies, s->config, &out, err)
                                     : serve_view(s, q, &out, err);
        if (r < 0)
            return r;
        share(s->shared, kind, shared_text_new(&out));
    }
    *ret = *text;
    return 0;
}

/* ---- requests with a result of their own --------------------------------------------------------- */

/* The client waits for the pass. */
static int serve_run(const struct request_handler *s, const struct request *q, struct client *c,
                     struct err *err)
{
    uint64_t ticket;
    int r = client_may_stay(c, CLIENT_STAY_RESULT, err);

    if (r < 0)
        return r;
    if (q->retry)
        engine_retry(s->engine, c->who, s->now);
    if ((r = engine_run(s->engine, s->now, &ticket, err)) < 0)
        return r;
    client_wait(c, CLIENT_STAY_RESULT, ticket);
    return -EINPROGRESS;
}

/* What a past pass decided from. */
static int read_pass(const struct request_handler *s, uint64_t pass, struct stored_snapshot *ret,
                     struct err *err)
{
    int r = store_read_snapshot(s->store, pass, ret, err);

    if (r < 0)
        return r;
    if (!ret->data)
        r = err_set(err, -ENOENT, "pass %" PRIu64 " was kept without its snapshot", pass);
    else if (!pass_trigger_is_pass(ret->trigger))
        r = err_set(err, -ENOENT,
                    "number %" PRIu64 " is a placement or migration of VMs, which cannot be made again",
                    pass);
    if (r < 0)
        store_snapshot_release(ret);
    return r;
}

/* With no field: its answer is equal for all clients until the next inventory or pass. */
static bool is_plain_plan(const struct request *q)
{
    return q->kind == REQUEST_PLAN && q->pass == 0 && q->sets.n == 0;
}

/* The client waits for the thread that decides. */
static int serve_decision(const struct request_handler *s, const struct request *q, struct client *c,
                          struct err *err)
{
    const bool plain = is_plain_plan(q);
    const struct snapshot *now;
    struct kept_snapshot last = {0};
    struct stored_snapshot pass = {0};
    int r;

    request_handler_forget_older(s->shared, s->engine);
    if (plain && s->shared->texts[REQUEST_PLAN]) {
        client_reply_shared(c, s->shared->texts[REQUEST_PLAN]);
        return -EINPROGRESS;
    }
    if ((r = client_may_stay(c, CLIENT_STAY_DECISION, err)) < 0)
        return r;
    if (q->pass > 0)
        r = read_pass(s, q->pass, &pass, err);
    else if ((r = reply_need_snapshot(s->engine, &now, err)) == 0)
        (void)engine_keep_snapshot(s->engine, &last);
    if (r < 0)
        return r;
    const uint64_t ticket = decisions_ask(s->decisions, c->role, q, &last, &pass);

    if (plain)
        s->shared->plan_ticket = ticket;
    client_wait(c, CLIENT_STAY_DECISION, ticket);
    return -EINPROGRESS;
}

/* The client waits for the receiver's answer. */
static int serve_alarm_test(const struct request_handler *s, const struct request *q, struct client *c,
                            struct err *err)
{
    uint64_t ticket;
    int r = client_may_stay(c, CLIENT_STAY_RESULT, err);

    if (r < 0 || (r = alarm_feed_test(s->out->alarms, s->config, q->name, c->who, s->now, &ticket, err)) < 0)
        return r;
    client_wait(c, CLIENT_STAY_RESULT, ticket);
    return -EINPROGRESS;
}

static int answer_alarm_test(const struct request_handler *s, uint64_t ticket, struct strbuf *out,
                             struct err *err)
{
    struct alarm_tests *tests = alarm_feed_tests(s->out->alarms);
    struct err answer = {0};
    struct json_writer w = {.out = out};
    int r = alarm_tests_result(tests, ticket, &answer);

    if (r == -EINPROGRESS)
        return r;
    alarm_tests_release(tests, ticket);
    if (r < 0)
        return err_set(err, r, "%s", answer.text);
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_text(&w, "answer", answer.text);
    jw_end(&w);
    return 0;
}

/* Writes the answer to `out`; -EINPROGRESS: the client waits. */
static int serve_request(const struct request_handler *s, struct request *q, struct client *c,
                         struct strbuf *out, struct err *err)
{
    switch (q->kind) {
    case REQUEST_APPLY:
    case REQUEST_REJECT:
        return serve_decided(s, q, c->who, out, err);
    case REQUEST_RUN:
        return serve_run(s, q, c, err);
    case REQUEST_PAUSE:
        return reply_done(engine_pause(s->engine, c->who, s->now, err), out);
    case REQUEST_RESUME:
        return reply_done(engine_resume(s->engine, c->who, s->now, err), out);
    case REQUEST_MAINTENANCE:
        return serve_maintenance(s, q, c->who, out, err);
    case REQUEST_ROLL:
        return serve_roll(s, q, c->who, out, err);
    case REQUEST_STANDBY:
    case REQUEST_WAKE:
        return serve_power(s, q, c->who, out, err);
    case REQUEST_CONFIRM_CONTROLLER:
        return serve_confirm(s, q, c->who, out, err);
    case REQUEST_TRUST:
        return reply_done(engine_trust(s->engine, q->host, c->who, s->now, err), out);
    case REQUEST_CONFIRM_SETTING:
        return reply_done(strcmp(q->name, "source") == 0
                              ? known_peers_confirm(s->peers, s->engine, c->who, s->now, err)
                              : engine_confirm_setting(s->engine, q->name, c->who, s->now, err),
                          out);
    case REQUEST_POLICY_CHANGE:
        return serve_policy_change(s, q, c->who, out, err);
    case REQUEST_CONSOLE:
        return reply_console(s->store, engine_snapshot(s->engine), q->ids[0], out, err);
    case REQUEST_PLACE:
    case REQUEST_MIGRATE:
        return serve_place(s, q, c, err);
    case REQUEST_SCHEDULE:
        reply_schedule(s->engine, s->config, s->now, q->limit, out);
        return 0;
    case REQUEST_SUMMARY:
        return reply_summary(s->engine, &store_sqlite, s->store, q->since, s->config->history_days, s->now,
                             out, err);
    case REQUEST_TOKENS:
        return admin_tokens_list(s->tokens, s->now, out, err);
    case REQUEST_TOKEN_CREATE:
        return admin_tokens_create(s->tokens, q, c->who, s->now, out, err);
    case REQUEST_TOKEN_REVOKE:
        return admin_tokens_revoke(s->tokens, q->name, c->who, out, err);
    case REQUEST_ALARM_TEST:
        return serve_alarm_test(s, q, c, err);
    case REQUEST_CONFIG_DIFF:
        return serve_config_diff(s, q, out, err);
    case REQUEST_METRICS:
        serve_metrics(s, out);
        return 0;
    case REQUEST_EVENTS:
        return event_stream_serve(s->out->stream, q, c, out, err);
    case REQUEST_PASSES:
        return reply_passes(s->store, q, out, err);
    case REQUEST_SNAPSHOT: /* of a past pass, which takes long to read; the last one is shared */
    case REQUEST_PLAN:
    case REQUEST_EXPLAIN:
    case REQUEST_WHAT_IF:
    case REQUEST_ENTITLEMENTS:
        return serve_decision(s, q, c, err);
    case REQUEST_POLICIES: /* it is shared */
    case REQUEST_STATUS:
    case REQUEST_HOSTS:
    case REQUEST_VMS:
    case REQUEST_POOLS:
    case REQUEST_RECOMMENDATIONS:
    case REQUEST_HISTORY:
    case REQUEST_SAMPLES:
    case REQUEST_SERIES:
    case REQUEST_ENERGY:
    case REQUEST_FORECAST:
    case request_kind_count:
        break;
    }
    return serve_view(s, q, out, err);
}

static int serve_shared(const struct request_handler *s, const struct request *q, struct client *c,
                        struct err *err)
{
    struct shared_text *text;
    int r = find_shared(s, q->kind, &text, err);

    if (r < 0)
        return r;
    client_reply_shared(c, text);
    return -EINPROGRESS;
}

static int check_role(const struct client *c, const struct request *q, struct err *err)
{
    const enum role needs = request_needs(q);

    if (c->role >= needs)
        return 0;
    return err_set(err, -EPERM, "%s has the role %s, and \"%s\" needs the role %s", c->who,
                   role_name(c->role), request_kind_name(q->kind), role_name(needs));
}

void request_handler_serve(const struct request_handler *s, struct client *c, struct request *q)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    struct err err = {0};
    int r = check_role(c, q, &err);

    engine_set_person(s->engine, c->person);
    if (r == 0)
        r = subject_resolve(s->engine, s->store, q, &err);
    if (r == 0)
        r = is_shared(q) ? serve_shared(s, q, c, &err) : serve_request(s, q, c, &out, &err);
    engine_set_person(s->engine, NULL);
    if (r == 0)
        client_reply(c, &out);
    else if (r != -EINPROGRESS)
        client_refuse(c, &err);
}

void request_handler_serve_line(const struct request_handler *s, struct client *c, const char *line,
                                size_t len)
{
    CLEANUP(freep) struct request *q = xcalloc(1, sizeof *q); /* too large for the stack */
    struct err err = {0};
    int r = request_parse(line, len, q, &err);

    if (r < 0)
        client_refuse(c, &err);
    else
        request_handler_serve(s, c, q);
}

/* ---- who waits ------------------------------------------------------------------------------- */

static void answer_decision(const struct request_handler *s, struct client *c, uint64_t ticket)
{
    CLEANUP(shared_text_unrefp) struct shared_text *reply = NULL;
    struct err err = {0};
    int r = decisions_result(s->decisions, ticket, &reply, &err);

    if (r == -EINPROGRESS)
        return;
    request_handler_forget_older(s->shared, s->engine);
    if (r == 0 && ticket == s->shared->plan_ticket)
        share(s->shared, REQUEST_PLAN, shared_text_ref(reply));
    if (r < 0)
        client_refuse(c, &err);
    else
        client_reply_shared(c, reply);
}

void request_handler_answer_waiting(const struct request_handler *s, struct client *c, uint64_t ticket)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    struct err err = {0};

    if (event_stream_owns(ticket)) {
        event_stream_send(s->out->stream, c, ticket);
        return;
    }
    if (decisions_owns(ticket)) {
        answer_decision(s, c, ticket);
        return;
    }
    int r = ticket & PLACEMENT         ? answer_place(s, ticket & ~PLACEMENT, &out, &err)
            : alarm_tests_owns(ticket) ? answer_alarm_test(s, ticket, &out, &err)
                                       : answer_run(s, ticket, &out, &err);

    if (r == -EINPROGRESS)
        return;
    if (r < 0)
        client_refuse(c, &err);
    else
        client_reply(c, &out);
}

void request_handler_cancel(const struct request_handler *s, uint64_t ticket)
{
    if (event_stream_owns(ticket))
        event_stream_drop(s->out->stream, ticket);
    else if (decisions_owns(ticket))
        decisions_cancel(s->decisions, ticket);
    else if (ticket & PLACEMENT)
        engine_place_release(s->engine, ticket & ~PLACEMENT);
    else if (alarm_tests_owns(ticket))
        alarm_tests_release(alarm_feed_tests(s->out->alarms), ticket);
}
