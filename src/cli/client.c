/* client.c: sends requests to the service's socket and reads the replies; knows no single verb. */
#include "cli/client.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <ballast/units.h>

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

/* A snapshot of a large cluster has some hundred megabytes of text; a larger reply is not the service's. */
#define REPLY_BYTES_MAX ((size_t)2 * 1024 * 1024 * 1024)
#define CHUNK_BYTES 65536
#define HINT_MAX 256

static const char *socket_path(const char *given)
{
    const char *path = given ? given : getenv("BALLAST_SOCKET");

    return path && *path ? path : SOCKET_DEFAULT;
}

/* Who may: the socket's group. */
static void hint_at_group(const char *path, char ret[HINT_MAX])
{
    struct stat st;
    char names[HINT_MAX * 64];
    struct group entry;
    struct group *group = NULL;

    if (stat(path, &st) == 0)
        (void)getgrgid_r(st.st_gid, &entry, names, sizeof names, &group);
    (void)snprintf(ret, HINT_MAX,
                   group && st.st_gid == 0 ? "; use sudo"
                                           : "; use sudo, or become a member of its group (`sudo usermod -aG "
                                             "%.64s $USER`) and log in again; "
                                             "BALLAST_SOCKET or --socket names the socket of another service",
                   group ? group->gr_name : "ballast");
}

static enum exit_code unreachable(const char *path, const char *what, int code)
{
    char hint[HINT_MAX] = "";

    if (code == EACCES || code == EPERM)
        hint_at_group(path, hint);
    else if (code == ENOENT || code == ECONNREFUSED)
        (void)snprintf(hint, sizeof hint,
                       "; start ballastd (`sudo systemctl start ballastd`), or name its socket by "
                       "BALLAST_SOCKET or --socket");
    return cli_fail(EXIT_UNREACHABLE, "ballast: the service cannot be reached at %s: %s%s%s%s", path, what,
                    code ? ": " : "", code ? strerror(code) : "", hint);
}

bool client_reaches(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    CLEANUP(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || !path || strlen(path) >= sizeof to.sun_path)
        return false;
    (void)snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    return connect(fd, (const struct sockaddr *)&to, sizeof to) == 0;
}

static int limit_s; /* 0: none */

void client_limit(int seconds)
{
    limit_s = seconds;
}

static enum exit_code connect_to(const char *path, int *ret)
{
    const struct timeval limit = {.tv_sec = limit_s};
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof address.sun_path)
        return unreachable(path, "the path is too long for a socket", 0);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return unreachable(path, "no socket", errno);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        int code = errno;

        (void)close(fd);
        return unreachable(path, "connect", code);
    }
    *ret = fd;
    return EXIT_DONE;
}

static enum exit_code send_line(const char *path, int fd, const char *line)
{
    size_t len = strlen(line);
    ssize_t n;

    for (size_t done = 0; done < len; done += (size_t)n) {
        n = send(fd, line + done, len - done, MSG_NOSIGNAL);
        if (n < 0)
            return unreachable(path, "sending the request", errno);
    }
    return EXIT_DONE;
}

/* Connects and sends the request, which it releases. */
static enum exit_code send_request(const char *path, json_t *request, int *ret_fd)
{
    CLEANUP(strbuf_releasep) struct strbuf line = STRBUF_EMPTY;
    CLEANUP(freep) char *text = json_dumps(request, JSON_COMPACT);
    enum exit_code code = connect_to(path, ret_fd);

    json_decref(request);
    strbuf_printf(&line, "%s\n", text ? text : "");
    return code != EXIT_DONE ? code : send_line(path, *ret_fd, line.text);
}

static enum exit_code receive_line(const char *path, int fd, struct strbuf *ret)
{
    CLEANUP(freep) char *chunk = xcalloc(1, CHUNK_BYTES);
    ssize_t n;

    for (;;) {
        n = recv(fd, chunk, CHUNK_BYTES, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return unreachable(path, "no answer in time", 0);
        if (n < 0)
            return unreachable(path, "reading the reply", errno);
        if (n == 0)
            return unreachable(path, "the connection was closed without a reply", 0);
        strbuf_add(ret, chunk, (size_t)n);
        if (ret->overflow)
            return unreachable(path, "the reply is too long", 0);
        if (chunk[n - 1] == '\n') /* a reply is exactly one line */
            return EXIT_DONE;
    }
}

static const struct verb *asking;

void client_begin(const struct verb *v)
{
    asking = v;
}

/* A field of the request as the person typed it: "vm": ... is --vm, or the verb's operand. */
static void put_refusal(const char *error)
{
    const char *end = error[0] == '"' ? strstr(error, "\": ") : NULL;
    const size_t len = end ? (size_t)(end - error) - 1 : 0;

    for (size_t i = 0; end && asking && i < asking->n_options; i++) {
        const char *name = asking->options[i].name;

        if (strlen(name) == len && strncmp(name, error + 1, len) == 0) {
            cli_error("--%s%s", name, end + 1);
            return;
        }
    }
    if (end && asking && asking->operands_max == 1)
        cli_error("ballast: %s%s", asking->operands, end + 1);
    else
        cli_error("ballast: %s", error);
}

/* Maps the reply's `ok` and `code` to an exit code. An overloaded service counts as one that cannot be
 * reached. */
static enum exit_code judge(const char *path, json_t *reply)
{
    if (json_is_true(json_object_get(reply, "ok")))
        return EXIT_DONE;
    const char *error = reply_text(reply, "error");

    if (!error)
        return unreachable(path, "the peer is not ballastd", 0);
    put_refusal(error);
    long long code = reply_int(reply, "code");

    return code == EXIT_WRONG || code == EXIT_UNREACHABLE ? (enum exit_code)code : EXIT_FAILED;
}

enum exit_code client_call(const char *path, json_t *request, json_t **ret)
{
    CLEANUP(strbuf_releasep) struct strbuf answer = {0};
    CLEANUP(closep) int fd = -1;
    enum exit_code code;

    path = socket_path(path);
    strbuf_init(&answer, REPLY_BYTES_MAX);
    if ((code = send_request(path, request, &fd)) != EXIT_DONE ||
        (code = receive_line(path, fd, &answer)) != EXIT_DONE)
        return code;
    json_t *reply = json_loadb(answer.text, answer.len, 0, NULL);

    if (!json_is_object(reply)) {
        json_decref(reply);
        return unreachable(path, "the peer is not ballastd", 0);
    }
    code = judge(path, reply);
    if (code != EXIT_DONE && !json_is_true(json_object_get(reply, "confirm"))) {
        json_decref(reply);
        return code;
    }
    *ret = reply;
    return code;
}

/* Handles one line of a stream. */
static enum exit_code take_line(const char *path, const char *line, size_t len, stream_fn each, void *ctx)
{
    json_t *reply = json_loadb(line, len, 0, NULL);
    enum exit_code code;

    if (!json_is_object(reply))
        code = unreachable(path, "the peer is not ballastd", 0);
    else if ((code = judge(path, reply)) == EXIT_DONE)
        code = each(ctx, reply);
    json_decref(reply);
    return code;
}

static enum exit_code take_lines(const char *path, int fd, stream_fn each, void *ctx)
{
    CLEANUP(strbuf_releasep) struct strbuf have = {0};
    CLEANUP(freep) char *chunk = xcalloc(1, CHUNK_BYTES);
    enum exit_code code = EXIT_DONE;

    strbuf_init(&have, REPLY_BYTES_MAX);
    while (code == EXIT_DONE) {
        ssize_t n = recv(fd, chunk, CHUNK_BYTES, 0);
        size_t done = 0;
        const char *end;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return unreachable(path, "no answer in time", 0);
        if (n < 0)
            return unreachable(path, "reading the reply", errno);
        if (n == 0)
            return unreachable(path, "the connection was closed", 0);
        strbuf_add(&have, chunk, (size_t)n);
        if (have.overflow)
            return unreachable(path, "the reply is too long", 0);
        while (code == EXIT_DONE && (end = memchr(have.text + done, '\n', have.len - done)) != NULL) {
            code = take_line(path, have.text + done, (size_t)(end - have.text) - done, each, ctx);
            done = (size_t)(end - have.text) + 1;
        }
        memmove(have.text, have.text + done, have.len - done + 1);
        have.len -= done;
    }
    return code;
}

enum exit_code client_stream(const char *path, json_t *request, stream_fn each, void *ctx)
{
    CLEANUP(closep) int fd = -1;

    path = socket_path(path);
    enum exit_code code = send_request(path, request, &fd);
    return code != EXIT_DONE ? code : take_lines(path, fd, each, ctx);
}

enum exit_code client_show(const struct args *args, json_t *request, const char *key, client_show_fn *show,
                           struct arena *a, struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *reply = NULL;
    CLEANUP(json_decrefp) json_t *again = json_incref(request);
    enum exit_code code = client_call(args->socket, request, &reply);

    if (code == EXIT_FAILED && reply && cli_can_ask() && cli_asked("Begin it all the same")) {
        json_decref(reply);
        reply = NULL;
        (void)json_object_set_new(again, "yes", json_true());
        code = client_call(args->socket, json_incref(again), &reply);
    }
    if (code != EXIT_DONE)
        return code;
    if (args->json)
        reply_dump(key ? json_object_get(reply, key) : reply, out);
    else
        show(reply, a, out);
    return EXIT_DONE;
}

const struct option_spec client_options[CLIENT_OPT_COUNT] = {
    [CLIENT_OPT_SOCKET] = OPTION_SOCKET,
    [CLIENT_OPT_FORMAT] = OPTION_FORMAT,
};

static void show_nothing(const json_t *reply, struct arena *a, struct strbuf *out)
{
    (void)reply, (void)a, (void)out;
}

enum exit_code client_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const struct client_request *r = args->verb->request;
    json_t *request = json_pack("{s:s, s:s*}", "command", r->word, r->operand ? r->operand : "",
                                r->operand ? args->operands[0] : NULL);
    enum exit_code code = client_show(args, request, r->member, r->done ? show_nothing : r->show, a, out);

    if (code == EXIT_DONE && r->done && out->len == 0)
        strbuf_printf(out, "%s\n", r->done);
    return code;
}
