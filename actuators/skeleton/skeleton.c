/* skeleton.c: a whole actuator, for a hypervisor that speaks lines of text over HTTP.
 *
 *     GET  URL/vm/ID          "HOST TASK": its host, and the running migration or "-"; 404: gone
 *     POST URL/vm/ID/HOST     "TASK": begins a migration
 *     GET  URL/task/ID        "STATE PERCENT WORDS": queued, running, done or failed; 404: forgotten
 *     POST URL/task/ID/stop   stops it
 *
 * A real one adds a login and more operations; each function's promise stays the same.
 */
#include "actuators/skeleton/skeleton.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "net/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_DEFAULT_S 60

struct actuator {
    const struct source_config *cfg;
    struct http_session *http;
};

static int create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    struct http_options options = {.ca_file = cfg->ca_file, .tls_verify = cfg->tls_verify, .stop = cfg->stop};
    int r = http_url_check(cfg->url, err);

    if (r < 0)
        return r;
    struct actuator *x = xcalloc(1, sizeof *x);
    r = http_session_new(&options, &x->http, err);
    if (r < 0) {
        free(x);
        return r;
    }
    x->cfg = cfg;
    *ret = x;
    return 0;
}

static void destroy(struct actuator *x)
{
    if (!x)
        return;
    http_session_free(x->http);
    free(x);
}

/* Ids become part of a path: only the characters of an id may get there. */
static bool is_id(const char *s)
{
    return s && s[0] &&
           strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(s);
}

/* One request to URL/kind/id[/tail]; the first line of the answer goes into ret. -ENOENT for a 404. */
static int ask(struct actuator *x, const char *method, const char *kind, const char *id, const char *tail,
               char *ret, size_t size, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf url = STRBUF_EMPTY;
    unsigned timeout_s = x->cfg->timeout_s ? x->cfg->timeout_s : TIMEOUT_DEFAULT_S;
    struct http_answer answer;

    if (!is_id(id) || (tail && !is_id(tail)))
        return err_set(err, -EINVAL, "the request names no %s", kind);
    strbuf_printf(&url, "%s/%s/%s%s%s", x->cfg->url, kind, id, tail ? "/" : "", tail ? tail : "");
    struct http_request request = {.method = method,
                                   .url = url.text,
                                   .once = strcmp(method, "POST") ==
                                           0, /* a request that begins an operation must not arrive twice */
                                   .deadline_ms = net_now_ms() + (int64_t)timeout_s * 1000};
    int r = http_send(x->http, &request, &answer, err);
    if (r < 0)
        return r;
    if (answer.status == 404)
        r = err_set(err, -ENOENT, "%s: there is no such %s", url.text, kind);
    else if (answer.status != 200)
        r = err_set(err, -EREMOTEIO, "%s: the server answered HTTP %ld", url.text, answer.status);
    else
        (void)snprintf(ret, size, "%.*s", (int)strcspn(answer.body.text, "\r\n"), answer.body.text);
    strbuf_release(&answer.body);
    return r;
}

/* The VM's host and migration. -ESTALE: the VM is not on the request's source. */
static int look(struct actuator *x, const struct operation *q, char ret_task[TASK_NAME_MAX], struct err *err)
{
    char line[512] = "";
    char *rest = line;
    int r = ask(x, "GET", "vm", q->vm, NULL, line, sizeof line, err);

    if (r < 0)
        return r;
    const char *host = strsep(&rest, " ");
    if (!rest)
        return err_set(err, -EPROTO, "%s: \"%.100s\" is not a host and a task", x->cfg->url, line);
    if (strcmp(host, q->to) == 0)
        return err_set(err, -ESTALE, "%s: VM %s has arrived on %s already", x->cfg->url, q->vm, q->to);
    if (strcmp(host, q->from) != 0)
        return err_set(err, -ESTALE, "%s: VM %s is on %s now", x->cfg->url, q->vm, host);
    (void)snprintf(ret_task, TASK_NAME_MAX, "%s", strcmp(rest, "-") == 0 ? "" : rest);
    return 0;
}

static int check_request(const struct operation *q, struct err *err)
{
    if (q->kind != OPERATION_MIGRATE)
        return err_set(err, -ENOTSUP, "this hypervisor can migrate and nothing else");
    return is_id(q->vm) && is_id(q->from) && is_id(q->to)
               ? 0
               : err_set(err, -EINVAL, "the request names no VM, source or destination");
}

static int check(struct actuator *x, const struct operation *q, struct err *err)
{
    char task[TASK_NAME_MAX];
    int r = check_request(q, err);

    return r < 0 ? r : look(x, q, task, err);
}

/* Reads the VM first: after a lost answer or a restart the same task is adopted, and no VM is moved twice. */
static int start(struct actuator *x, const struct operation *q, char ret_task[TASK_NAME_MAX], struct err *err)
{
    char task[TASK_NAME_MAX] = "";
    int r = check_request(q, err);

    if (r == 0)
        r = look(x, q, task, err);
    if (r == 0 && !task[0] && q->only_adopt)
        r = err_set(err, -ESRCH, "%s: no task of action %s runs", x->cfg->url, q->uid);
    if (r == 0 && !task[0])
        r = ask(x, "POST", "vm", q->vm, q->to, task, sizeof task, err);
    if (r < 0)
        return r;
    if (!is_id(task))
        return err_set(err, -EPROTO, "%s: the answer names no task", x->cfg->url);
    memcpy(ret_task, task, sizeof task);
    return 0;
}

static const struct {
    const char *word;
    enum task_state state;
} states[] = {
    {"queued", TASK_QUEUED}, {"running", TASK_RUNNING}, {"done", TASK_SUCCEEDED}, {"failed", TASK_FAILED}};

/* A task that the peer has forgotten is no error: it has ended, and an inventory shows the result.
 */
static int poll_task(struct actuator *x, const struct operation *q, const char *task,
                     struct task_progress *ret, struct err *err)
{
    char line[512] = "";
    char *rest = line;
    struct task_progress p = {.state = TASK_FAILED, .percent = -1};

    (void)q;
    int r = ask(x, "GET", "task", task, NULL, line, sizeof line, err);
    if (r == -ENOENT) {
        p.gone = true;
        (void)err_set(&p.why, -ENOENT, "%s: task %s is not known any more", x->cfg->url, task);
        *ret = p;
        return 0;
    }
    if (r < 0)
        return r;
    const char *word = strsep(&rest, " ");
    size_t i = 0;
    while (i < sizeof states / sizeof states[0] && strcmp(word, states[i].word) != 0)
        i++;
    if (i == sizeof states / sizeof states[0])
        return err_set(err, -EPROTO, "%s: \"%.40s\" is no state of a task", x->cfg->url, word);
    p.state = states[i].state;
    const char *percent = rest ? strsep(&rest, " ") : "";
    long value = strtol(percent, NULL, 10);
    if (percent[0] && value >= 0 && value <= 100)
        p.percent = (int)value;
    if (p.state == TASK_FAILED)
        (void)err_set(&p.why, -EREMOTEIO, "the hypervisor says: %s", rest ? rest : "it failed");
    *ret = p;
    return 0;
}

static int cancel(struct actuator *x, const struct operation *q, const char *task, struct err *err)
{
    char line[64];

    (void)q;
    return ask(x, "POST", "task", task, "stop", line, sizeof line, err);
}

const struct actuator_ops skeleton_actuator = {
    .kind = "skeleton",
    .operations = 1u << OPERATION_MIGRATE,
    .create = create,
    .check = check,
    .start = start,
    .poll = poll_task,
    .cancel = cancel,
    .destroy = destroy,
};
