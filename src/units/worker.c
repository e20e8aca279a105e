/* worker.c: starts the process of an external unit, reads its lines, and kills it where it fails. Knows
 * nothing of what is said. */
#include "units/worker.h"

#include "base/clock.h"
#include "base/log.h"

#include <ballast/units.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_LEAST_S 1 /* after the first failure; doubled by each further one ... */
#define WAIT_MOST_S 300
#define S_US INT64_C(1000000)
#define END_TRIES 100    /* of 10 ms */
#define CLOSES_BEFORE 20 /* ms at most that its descriptors are closed before it has ended */

void worker_init(struct worker *w, const struct unit_config *config)
{
    *w = (struct worker){.config = config, .io = -1, .errors = -1};
    strbuf_init(&w->line, WORKER_LINE_MAX);
    strbuf_init(&w->said, 2 * PROGRAM_ERRORS_MAX);
}

static void close_descriptor(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* Whether a process that was killed has ended. */
static bool is_reaped(struct worker *w)
{
    if (w->killed != 0 && waitpid(w->killed, NULL, WNOHANG) != 0)
        w->killed = 0;
    return w->killed == 0;
}

static int spawn(struct worker *w)
{
    int io[2] = {-1, -1};
    int errors[2] = {-1, -1};
    int r = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, io) < 0 || pipe2(errors, O_CLOEXEC) < 0 ||
        fcntl(io[0], F_SETFL, O_NONBLOCK) < 0 || fcntl(errors[0], F_SETFL, O_NONBLOCK) < 0)
        r = -errno;
    if (r == 0)
        r = program_spawn(w->config->command, io[1], io[1], errors[1], &w->pid);
    close_descriptor(&io[1]);
    close_descriptor(&errors[1]);
    if (r < 0) {
        w->pid = 0;
        close_descriptor(&io[0]);
        close_descriptor(&errors[0]);
    }
    w->io = io[0];
    w->errors = errors[0];
    return r;
}

bool worker_start(struct worker *w, int64_t now_us)
{
    char why[WORKER_WHY_MAX];
    int r;

    if (w->pid != 0)
        return true;
    if (now_us < w->start_at_us || !is_reaped(w))
        return false;
    strbuf_clear(&w->said);
    r = spawn(w);
    if (r == 0)
        return true;
    (void)snprintf(why, sizeof why, "%.200s cannot be started: %s", w->config->command[0], strerror(-r));
    worker_fail(w, now_us, "%s", why);
    return false;
}

static void keep_errors(struct worker *w)
{
    char piece[1024];
    ssize_t n;

    for (int i = 0; i < 64 && w->errors >= 0 && (n = read(w->errors, piece, sizeof piece)) > 0; i++)
        program_keep_end(&w->said, piece, (size_t)n);
}

/* How it ended, and the last line of its standard error. It is not reaped yet, so that its group has its
 * number. */
static void tell_end(struct worker *w, int64_t now_us)
{
    char last[PROGRAM_LINE_MAX];
    siginfo_t end = {0};

    for (int i = 0; i < CLOSES_BEFORE && end.si_pid == 0; i++) {
        (void)waitid(P_PID, (id_t)w->pid, &end, WEXITED | WNOHANG | WNOWAIT);
        if (end.si_pid == 0)
            (void)usleep(1000);
    }
    keep_errors(w);
    program_last_line(&w->said, last, sizeof last);
    const char *colon = *last ? ": " : "";

    if (end.si_pid == 0)
        worker_fail(w, now_us, "it closed its standard output%s%s", colon, last);
    else if (end.si_code == CLD_EXITED)
        worker_fail(w, now_us, "it ended with exit code %d%s%s", end.si_status, colon, last);
    else
        worker_fail(w, now_us, "it was ended by signal %d%s%s", end.si_status, colon, last);
}

static void drop_lines(struct worker *w)
{
    memmove(w->line.text, w->line.text + w->taken, w->line.len - w->taken + 1);
    w->line.len -= w->taken;
    w->searched -= w->taken;
    w->taken = 0;
}

bool worker_read(struct worker *w, size_t most, size_t *ret_n, int64_t now_us)
{
    static const size_t piece_max = 65536;
    char piece[65536];

    *ret_n = 0;
    keep_errors(w);
    drop_lines(w);
    while (*ret_n < most) {
        size_t room = most - *ret_n < piece_max ? most - *ret_n : piece_max;
        ssize_t n = recv(w->io, piece, room, 0);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n <= 0) {
            tell_end(w, now_us);
            return false;
        }
        strbuf_add(&w->line, piece, (size_t)n);
        *ret_n += (size_t)n;
        if (w->line.overflow) {
            worker_fail(w, now_us, "a line of its answer has more than %zu MiB", WORKER_LINE_MAX >> 20);
            return false;
        }
    }
    return true;
}

const char *worker_line(struct worker *w, size_t *ret_len)
{
    const char *begin = w->line.text + w->taken;
    const char *end = memchr(w->line.text + w->searched, '\n', w->line.len - w->searched);

    if (!end) {
        w->searched = w->line.len;
        return NULL;
    }
    *ret_len = (size_t)(end - begin);
    w->taken = w->searched = (size_t)(end + 1 - w->line.text);
    return begin;
}

static void kill_group(struct worker *w)
{
    if (w->pid != 0) {
        (void)kill(-w->pid, SIGKILL);
        w->killed = w->pid;
        w->pid = 0;
    }
    close_descriptor(&w->io);
    close_descriptor(&w->errors);
    strbuf_release(&w->line);
    strbuf_init(&w->line, WORKER_LINE_MAX);
    w->taken = w->searched = 0;
    (void)is_reaped(w);
}

void worker_fail(struct worker *w, int64_t now_us, const char *format, ...)
{
    char why[WORKER_WHY_MAX];
    int64_t wait_s = WAIT_LEAST_S;
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(why, sizeof why, format, ap);
    va_end(ap);
    kill_group(w);
    for (unsigned i = 0; i < w->failures && wait_s < WAIT_MOST_S; i++)
        wait_s *= 2;
    wait_s = wait_s < WAIT_MOST_S ? wait_s : WAIT_MOST_S;
    w->start_at_us = now_us + wait_s * S_US;
    if (w->failures++ == 0 || strcmp(why, w->why) != 0)
        log_warning("external unit %s failed: %s", w->config->name, why);
    (void)snprintf(w->why, sizeof w->why, "%s", why);
}

void worker_succeed(struct worker *w)
{
    if (w->failures > 0)
        log_notice("external unit %s answers again", w->config->name);
    w->failures = 0;
}

void worker_end(struct worker *w)
{
    kill_group(w);
    for (int i = 0; i < END_TRIES && !is_reaped(w); i++)
        (void)usleep(10000);
    strbuf_release(&w->line);
    strbuf_release(&w->said);
}
