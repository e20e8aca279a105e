/* attempt.c: sends a message as a webhook, by SMTP, or by a command. When to try again is progress.c's. */
#include "alarm/attempt.h"

#include "alarm/mail.h"
#include "alarm/signature.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/program.h"
#include "mqtt/cloudevent.h"
#include "net/http.h"
#include "net/smtp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define MS_PER_S 1000
#define US_PER_S INT64_C(1000000)
#define ANSWER_MAX ((size_t)1024 * 1024)
#define ANSWER_SHOWN 160
#define AFTER_STOP_MS 1000 /* an answer that is about to come saves a second delivery */
#define HEADER_MAX 256
#define LOGIN_PAUSE_S 600 /* a password that is refused again and again locks the account */

const char *alarm_address(const struct config_alarm *t, struct arena *a)
{
    const char *rest;

    if (!t->url)
        return t->command[0];
    rest = strstr(t->url, "://") + strlen("://");
    return arena_strndup(a, t->url, (size_t)(rest - t->url) + strcspn(rest, "/?#"));
}

/* Errors begin with the URL, whose path may be a secret: only its address is told. */
static void take_error(const struct config_alarm *t, int code, const struct err *why,
                       struct alarm_answer *ret)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *text = why->text;

    if (t->url && strncmp(text, t->url, strlen(t->url)) == 0)
        text = arena_printf(&a, "%s%s", alarm_address(t, &a), text + strlen(t->url));
    ret->code = err_set(&ret->text, code, "%s", alarm_line(text, &a));
}

/* ---- webhooks -------------------------------------------------------------------------------- */

/* What the receiver says against the message itself, and not against the sender or the moment. */
static bool is_about_message(long status)
{
    return status == 400 || status == 413 || status == 415 || status == 422;
}

static void judge(const struct config_alarm *t, const struct http_answer *answer, struct alarm_answer *ret)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *body = alarm_line(arena_strndup(&a, answer->body.text, ANSWER_SHOWN), &a);
    const char *address = alarm_address(t, &a);
    const char *colon = body[0] ? ": " : "";
    const long status = answer->status;

    if (status >= 200 && status < 300) {
        (void)err_set(&ret->text, 0, "%s: HTTP status %ld%s%s", address, status, colon, body);
        ret->code = 0;
        return;
    }
    ret->retry_after_s = answer->retry_after_s;
    if (status == 401 && t->username && ret->retry_after_s < LOGIN_PAUSE_S)
        ret->retry_after_s = LOGIN_PAUSE_S;
    ret->refused = is_about_message(status);
    if (status >= 300 && status < 400)
        ret->code =
            err_set(&ret->text, -EREMOTE, "%s: HTTP status %ld: redirects are not followed; correct the url",
                    address, status);
    else
        ret->code = err_set(&ret->text, -EREMOTEIO, "%s: HTTP status %ld%s%s", address, status, colon, body);
}

static void post(const struct config_alarm *t, const struct alarm_message *m, instant_s now,
                 const atomic_bool *stop, struct alarm_answer *ret)
{
    const struct http_options options = {.ca_file = t->ca_file, .tls_verify = t->tls_verify, .stop = stop};
    char id[HEADER_MAX], timestamp[HEADER_MAX], signature[HEADER_MAX], sum[ALARM_SIGNATURE_MAX];
    const char *headers[] = {"Content-Type: " CLOUDEVENT_CONTENT_TYPE "; charset=utf-8", id, timestamp, NULL,
                             NULL};
    struct http_answer answer = {0};
    struct http_session *s = NULL;
    struct err err = {0};

    (void)snprintf(id, sizeof id, "webhook-id: %s", m->id);
    (void)snprintf(timestamp, sizeof timestamp, "webhook-timestamp: %" PRId64, (int64_t)now);
    if (t->secret) {
        if (alarm_sign(t->secret, m->id, now, m->json, strlen(m->json), sum) < 0) {
            ret->code = err_set(&ret->text, -EINVAL, "the message could not be signed");
            return;
        }
        (void)snprintf(signature, sizeof signature, "webhook-signature: %s", sum);
        headers[3] = signature;
    }
    const struct http_request q = {.method = "POST",
                                   .url = t->url,
                                   .headers = headers,
                                   .body = m->json,
                                   .body_len = strlen(m->json),
                                   .username = t->username,
                                   .password = t->password,
                                   .deadline_ms = net_now_ms() + ALARM_ATTEMPT_S * MS_PER_S,
                                   .answer_max = ANSWER_MAX,
                                   .after_stop_ms = AFTER_STOP_MS};
    int r = http_session_new(&options, &s, &err);

    if (r == 0)
        r = http_send(s, &q, &answer, &err);
    if (r == 0)
        judge(t, &answer, ret);
    else
        take_error(t, r, &err, ret);
    if (r == 0)
        strbuf_release(&answer.body);
    http_session_free(s);
}

/* ---- mail ------------------------------------------------------------------------------------ */

/* mail: NULL: nothing is sent. */
static int talk_smtp(const struct config_alarm *t, const struct strbuf *mail, const atomic_bool *stop,
                     struct smtp_reply *reply, struct err *err)
{
    const struct smtp_mail m = {.url = t->url,
                                .starttls = t->starttls,
                                .tls_verify = t->tls_verify,
                                .ca_file = t->ca_file,
                                .username = t->username,
                                .password = t->password,
                                .from = t->from,
                                .to = t->to,
                                .text = mail ? mail->text : NULL,
                                .len = mail ? mail->len : 0,
                                .deadline_ms = net_now_ms() + ALARM_ATTEMPT_S * MS_PER_S,
                                .stop = stop};

    return smtp_send(&m, reply, err);
}

static void send_mail(const struct config_alarm *t, const struct alarm_message *m, instant_s now,
                      const atomic_bool *stop, struct alarm_answer *ret)
{
    CLEANUP(strbuf_releasep) struct strbuf mail = STRBUF_EMPTY;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct smtp_reply reply;
    struct err err = {0};

    alarm_mail(m, &(struct mail_route){.from = t->from, .to = t->to, .eol = "\r\n"}, now, &mail);
    int r = talk_smtp(t, &mail, stop, &reply, &err);

    if (r < 0) {
        take_error(t, r, &err, ret);
        ret->refused = r == -EPERM && reply.code >= 500;
        ret->retry_after_s = r == -EACCES ? LOGIN_PAUSE_S : 0;
        return;
    }
    ret->partly = reply.refused[0] != '\0';
    (void)err_set(&ret->text, 0, "%s: %s%s%s", t->url, alarm_line(reply.text, &a),
                  ret->partly ? "; not to all recipients: " : "", alarm_line(reply.refused, &a));
    ret->code = 0;
}

static void run_command(const struct config_alarm *t, const struct alarm_message *m, instant_s now,
                        const atomic_bool *stop, struct alarm_answer *ret)
{
    CLEANUP(program_result_release) struct program_result result = {0};
    CLEANUP(strbuf_releasep) struct strbuf mail = STRBUF_EMPTY;
    char line[PROGRAM_LINE_MAX] = "";

    alarm_mail(m, &(struct mail_route){.from = t->from, .to = t->to, .eol = "\n"}, now, &mail);
    const struct program p = {.argv = t->command,
                              .input = mail.text,
                              .input_len = mail.len,
                              .output_max = PROGRAM_ERRORS_MAX,
                              .deadline_us = clock_us(CLOCK_MONOTONIC) + ALARM_ATTEMPT_S * US_PER_S,
                              .stop = stop};
    int r = program_run(&p, &result);

    if (result.errors.text)
        program_last_line(result.errors.len > 0 ? &result.errors : &result.output, line, sizeof line);
    if (r == -ETIMEDOUT)
        ret->code =
            err_set(&ret->text, r, "%s has not ended within %d s and was killed", p.argv[0], ALARM_ATTEMPT_S);
    else if (r < 0)
        ret->code = err_set(&ret->text, r, "%s: %s", p.argv[0],
                            r == -ECANCELED ? "ended, because the service stops" : strerrordesc_np(-r));
    else if (WIFSIGNALED(result.status))
        ret->code =
            err_set(&ret->text, -EREMOTEIO, "%s was ended by signal %d", p.argv[0], WTERMSIG(result.status));
    else if (WEXITSTATUS(result.status) != 0)
        ret->code = err_set(&ret->text, -EREMOTEIO, "%s: exit code %d%s%s", p.argv[0],
                            WEXITSTATUS(result.status), line[0] ? ": " : "", line);
    else
        (void)err_set(&ret->text, 0, "%s: exit code 0%s%s", p.argv[0], line[0] ? ": " : "", line);
}

void alarm_attempt(const struct config_alarm *t, const struct alarm_message *m, instant_s now,
                   const atomic_bool *stop, struct alarm_answer *ret)
{
    *ret = (struct alarm_answer){0};
    if (!t->url)
        run_command(t, m, now, stop, ret);
    else if (config_alarm_is_webhook(t))
        post(t, m, now, stop, ret);
    else
        send_mail(t, m, now, stop, ret);
}

/* ---- without a message ----------------------------------------------------------------------- */

static int connect_webhook(const struct config_alarm *t, struct err *err)
{
    const struct http_options options = {.ca_file = t->ca_file, .tls_verify = t->tls_verify};
    const struct http_request q = {.method = "GET",
                                   .url = t->url,
                                   .connect_only = true,
                                   .deadline_ms = net_now_ms() + ALARM_ATTEMPT_S * MS_PER_S};
    struct http_answer answer = {0};
    struct http_session *s = NULL;
    int r = http_session_new(&options, &s, err);

    if (r == 0 && (r = http_send(s, &q, &answer, err)) == 0)
        strbuf_release(&answer.body);
    http_session_free(s);
    return r;
}

int alarm_connect(const struct config_alarm *t, struct err *ret)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *address = alarm_address(t, &a);
    struct alarm_answer answer = {0};
    struct smtp_reply reply;
    struct err err = {0};
    int r;

    if (!t->url) {
        r = access(t->command[0], X_OK) == 0 ? 0 : -errno;
        if (r < 0)
            return err_set(ret, r, "%s cannot be run: %s", address, strerrordesc_np(-r));
        return err_set(ret, 0, "%s can be run; it was not", address);
    }
    r = config_alarm_is_webhook(t) ? connect_webhook(t, &err) : talk_smtp(t, NULL, NULL, &reply, &err);
    if (r < 0) {
        take_error(t, r, &err, &answer);
        *ret = answer.text;
        return r;
    }
    return err_set(ret, 0, "%s: connected%s%s; nothing was sent", address,
                   !config_alarm_is_webhook(t) && t->username ? ", login accepted for " : "",
                   !config_alarm_is_webhook(t) && t->username ? t->username : "");
}
