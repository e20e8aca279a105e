/* roll.c: maintenance of one host after another: begins it at the service, and runs a command for each host.
 */
#include "cli/roll.h"

#include "base/cleanup.h"
#include "cli/input.h"
#include "render/table.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE_MAX 1000
#define LOOK_S 1
#define TRY_AGAIN_S 5
#define TRIES 60 /* five minutes */
#define WHY_MAX 200

/* ---- as text --------------------------------------------------------------------------------- */

void roll_show(const json_t *roll, const char *domain, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {
        {"HOST", .host = true}, {"STEP", false}, {"SINCE", false}, {"", .below = true}};
    const char *failed = reply_text(roll, "failed");
    const char *ended = reply_text(roll, "ended");
    const char *waits = reply_text(roll, "waits");
    const json_t *h;
    struct table t = table_of(a, columns, COUNT_OF(columns));
    size_t i;

    if (!json_is_object(roll))
        return;
    table_put_wrapped(out,
                      arena_printf(a, "roll of maintenance by %s since %s, %lld at once: %s%s",
                                   reply_or_dash(roll, "by"), reply_or_dash(roll, "started"),
                                   (long long)reply_int(roll, "at_once"),
                                   failed  ? "STOPPED, "
                                   : ended ? "over since "
                                           : "goes on",
                                   failed  ? failed
                                   : ended ? ended
                                           : ""),
                      0);
    t.domain = domain;
    json_array_foreach(json_object_get(roll, "hosts"), i, h)
    {
        for (size_t k = 0; k < COUNT_OF(columns); k++) {
            static const char *const members[] = {"name", "step", "since", "meaning"};
            const char *text = reply_text(h, members[k]);

            table_cell(&t, text ? text : "-");
        }
    }
    table_render(&t, "", out);
    if (waits)
        table_put_wrapped(out, waits, 0);
}

static void show_reply(const json_t *reply, struct arena *a, struct strbuf *out)
{
    if (json_is_object(json_object_get(reply, "roll")))
        roll_show(json_object_get(reply, "roll"), reply_text(reply, "host_domain"), a, out);
    else
        strbuf_puts(out, "no roll of maintenance\n");
}

/* ---- the command for each host --------------------------------------------------------------- */

/* A command that runs, or has succeeded. */
struct job {
    const char *host; /* its id */
    pid_t pid;        /* 0: it has ended */
};

struct driver {
    const char *socket, *command;
    struct arena *a;
    struct job *jobs;
    size_t n, cap;
    const char *shown; /* the steps as last printed */
};

static struct job *find_job(struct driver *d, const char *host)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->jobs[i].host, host) == 0)
            return &d->jobs[i];
    return NULL;
}

static enum exit_code start_job(struct driver *d, const char *host, const char *name)
{
    pid_t pid = fork();

    if (pid < 0)
        return cli_fail(EXIT_FAILED, "ballast maintenance roll: no process for the command: %s",
                        strerror(errno));
    if (pid == 0) {
        if (setenv("BALLAST_HOST", name, 1) == 0 && setenv("BALLAST_HOST_ID", host, 1) == 0)
            (void)execl("/bin/sh", "sh", "-c", d->command, (char *)NULL);
        _exit(127);
    }
    d->jobs = arena_grow(d->a, d->jobs, d->n, &d->cap, sizeof *d->jobs);
    d->jobs[d->n++] = (struct job){.host = arena_strdup(d->a, host), .pid = pid};
    return EXIT_DONE;
}

/* The service may be restarted meanwhile: the roll goes on there, and the commands here. */
static enum exit_code call(const struct driver *d, json_t *request, json_t **ret)
{
    CLEANUP(json_decrefp) json_t *reply = NULL;
    enum exit_code code = EXIT_UNREACHABLE;

    for (int i = 0; i < TRIES && code == EXIT_UNREACHABLE; i++) {
        if (i > 0)
            (void)sleep(TRY_AGAIN_S);
        code = client_call(d->socket, json_incref(request), &reply);
    }
    json_decref(request);
    if (code == EXIT_DONE && ret)
        *ret = json_incref(reply);
    return code;
}

/* Ends the roll at the service; what else runs here is waited for. */
static enum exit_code give_up(const struct driver *d, const char *host, int status)
{
    char why[WHY_MAX];

    if (WIFEXITED(status))
        (void)snprintf(why, sizeof why, "the command for host %.100s ended with %d", host,
                       WEXITSTATUS(status));
    else
        (void)snprintf(why, sizeof why, "the command for host %.100s was ended by signal %d", host,
                       WTERMSIG(status));
    cli_error("ballast maintenance roll: %s", why);
    (void)call(d, json_pack("{s:s, s:s}", "command", "roll", "stop", why), NULL);
    return EXIT_FAILED;
}

static enum exit_code finish_jobs(struct driver *d)
{
    for (size_t i = 0; i < d->n; i++) {
        struct job *job = &d->jobs[i];
        int status = 0;

        if (job->pid == 0 || waitpid(job->pid, &status, WNOHANG) <= 0)
            continue;
        job->pid = 0;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            return give_up(d, job->host, status);
        enum exit_code code =
            call(d, json_pack("{s:s, s:s, s:s}", "command", "maintenance", "mode", "exit", "host", job->host),
                 NULL);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

/* Each host that is handed over gets its command once. */
static enum exit_code start_jobs(struct driver *d, const json_t *roll)
{
    const json_t *h;
    size_t i;

    json_array_foreach(json_object_get(roll, "hosts"), i, h)
    {
        const char *step = reply_text(h, "step");
        const char *id = reply_text(h, "id");
        const char *name = reply_text(h, "name");
        enum exit_code code;

        if (!step || !id || !name || strcmp(step, "handed_over") != 0 || find_job(d, id))
            continue;
        if ((code = start_job(d, id, name)) != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

static void wait_for_jobs(struct driver *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->jobs[i].pid != 0)
            (void)waitpid(d->jobs[i].pid, NULL, 0);
}

/* Whether the sentence is about the host: "host esx2 waits: ...". */
static bool tells_of(const char *waits, const char *name)
{
    static const char before[] = "host ";
    size_t n = strlen(name);

    return strncmp(waits, before, sizeof before - 1) == 0 &&
           strncmp(waits + sizeof before - 1, name, n) == 0 &&
           strncmp(waits + sizeof before - 1 + n, " waits: ", 8) == 0;
}

/* Steps as they are taken, on standard error, since the output comes at the end. */
static void say_progress(struct driver *d, const json_t *roll)
{
    CLEANUP(strbuf_releasep) struct strbuf now = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf lines = STRBUF_EMPTY;
    const char *waits = reply_text(roll, "waits");
    const json_t *h;
    size_t i;

    json_array_foreach(json_object_get(roll, "hosts"), i, h)
    {
        const char *name = reply_or_dash(h, "name");

        if (!waits || !tells_of(waits, name))
            strbuf_printf(&now, "%s%s %s", now.len > 0 ? ", " : "", name, reply_or_dash(h, "step"));
    }
    if (waits)
        strbuf_printf(&now, "%s%s", now.len > 0 ? "; " : "", waits);
    if (d->shown && strcmp(d->shown, now.text) == 0)
        return;
    d->shown = arena_strdup(d->a, now.text);
    table_put_wrapped(&lines, d->shown, 0);
    (void)fputs(lines.text, stderr);
}

static enum exit_code drive(struct driver *d, struct strbuf *out)
{
    for (;;) {
        CLEANUP(json_decrefp) json_t *reply = NULL;
        enum exit_code code = call(d, json_pack("{s:s}", "command", "roll"), &reply);
        const json_t *roll = json_object_get(reply, "roll");

        if (code != EXIT_DONE)
            return code;
        if (!json_is_object(roll))
            return cli_fail(
                EXIT_WRONG,
                "ballast maintenance roll: no roll is in progress, expected the hosts to begin with");
        say_progress(d, roll);
        if (reply_text(roll, "ended")) {
            roll_show(roll, reply_text(reply, "host_domain"), d->a, out);
            return reply_text(roll, "failed") ? EXIT_FAILED : EXIT_DONE;
        }
        if ((code = start_jobs(d, roll)) != EXIT_DONE || (code = finish_jobs(d)) != EXIT_DONE)
            return code;
        (void)sleep(LOOK_S);
    }
}

/* ---- the verbs ------------------------------------------------------------------------------- */

static enum exit_code make_request(const struct args *args, json_t **ret)
{
    unsigned long long at_once = 1;
    enum exit_code code =
        cli_parse_number("at-once", args_value(args, ROLL_OPT_AT_ONCE, "1"), 0, AT_ONCE_MAX, &at_once);

    if (code == EXIT_DONE && at_once == 0)
        return cli_fail(EXIT_WRONG, "--at-once: \"0\" is wrong, expected a whole number from 1 to %d",
                        AT_ONCE_MAX);
    if (code == EXIT_DONE && args->n_operands == 1 && args->options[ROLL_OPT_AT_ONCE].n > 0)
        return cli_fail(EXIT_WRONG, "--at-once: expected together with the hosts, at the begin of a roll");
    if (code != EXIT_DONE)
        return code;
    *ret = json_pack("{s:s}", "command", "roll");
    if (args->n_operands == 1)
        return EXIT_DONE;
    json_t *hosts = json_array();

    for (size_t i = 1; i < args->n_operands; i++)
        (void)json_array_append_new(hosts, json_string(args->operands[i]));
    (void)json_object_set_new(*ret, "hosts", hosts);
    (void)json_object_set_new(*ret, "at_once", json_integer((json_int_t)at_once));
    return EXIT_DONE;
}

enum exit_code roll_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    struct driver d = {.socket = args->socket, .command = args_value(args, ROLL_OPT_RUN, NULL), .a = a};
    json_t *request = NULL;
    enum exit_code code = make_request(args, &request);

    if (code != EXIT_DONE)
        return code;
    if (!d.command)
        return client_show(args, request, "roll", show_reply, a, out);
    if ((code = call(&d, request, NULL)) == EXIT_DONE)
        code = drive(&d, out);
    wait_for_jobs(&d);
    return code;
}

enum exit_code roll_stop(const struct args *args, struct arena *a, struct strbuf *out)
{
    if (args->n_operands > 1)
        return cli_fail(EXIT_WRONG, "ballast maintenance stop: no host is expected: it ends the whole roll");
    return client_show(args, json_pack("{s:s, s:s}", "command", "roll", "stop", ""), "roll", show_reply, a,
                       out);
}
