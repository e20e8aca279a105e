/* program.c: starts a program, feeds it, listens to it, and ends it in time. */
#include "base/program.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define WATCH_MS 100
#define PIECES_AT_ONCE 64 /* a program that prints without end must not keep us from looking at the clock */

int program_spawn(const char *const *argv, int in, int out, int errors, pid_t *ret)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawnattr_init(&how);
    (void)posix_spawnattr_setflags(&how,
                                   POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setsigmask(&how, &none);
    (void)posix_spawnattr_setsigdefault(&how, &all);
    int r = posix_spawn_file_actions_init(&files);
    if (r == 0) {
        r = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
        if (r == 0)
            r = out >= 0 ? posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO)
                         : posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        if (r == 0)
            r = posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
        if (r == 0)
            r = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
        if (r == 0)
            r = posix_spawn(ret, argv[0], &files, &how, (char *const *)(uintptr_t)argv, environ);
        (void)posix_spawn_file_actions_destroy(&files);
    }
    (void)posix_spawnattr_destroy(&how);
    return -r;
}

void program_keep_end(struct strbuf *b, const char *piece, size_t n)
{
    if (b->len + n > PROGRAM_ERRORS_MAX) {
        size_t drop = b->len + n - PROGRAM_ERRORS_MAX;
        drop = drop < b->len ? drop : b->len;
        memmove(b->text, b->text + drop, b->len - drop + 1);
        b->len -= drop;
    }
    strbuf_add(b, piece, n);
}

struct ears {
    int output, errors; /* descriptors; -1: not listened to */
    struct program_result *result;
};

static void listen_to_both(const struct ears *e)
{
    char piece[2048]; /* no longer than PROGRAM_ERRORS_MAX */
    ssize_t n;

    for (int i = 0; i < PIECES_AT_ONCE && (n = read(e->errors, piece, sizeof piece)) > 0; i++)
        program_keep_end(&e->result->errors, piece, (size_t)n);
    for (int i = 0; i < PIECES_AT_ONCE && e->output >= 0 && (n = read(e->output, piece, sizeof piece)) > 0;
         i++)
        strbuf_add(&e->result->output, piece, (size_t)n);
}

/* Waits until the program ends, by itself or because it is killed. */
static int watch(pid_t pid, const struct ears *e, const struct program *p)
{
    struct pollfd fds[2] = {{.fd = e->errors, .events = POLLIN}, {.fd = e->output, .events = POLLIN}};
    int why = 0;

    for (;;) {
        if (poll(fds, 2, WATCH_MS) > 0) {
            listen_to_both(e);
            for (int i = 0; i < 2; i++) {
                if (fds[i].revents & POLLHUP)
                    fds[i].fd = -1; /* the program has closed it, and may live on for a moment */
            }
        }
        pid_t ended = waitpid(pid, &e->result->status, WNOHANG);
        if (ended == pid) {
            listen_to_both(e);
            return why;
        }
        if (ended < 0)
            return -errno;
        if (why == 0 && p->stop && atomic_load(p->stop))
            why = -ECANCELED;
        if (why == 0 && clock_us(CLOCK_MONOTONIC) >= p->deadline_us)
            why = -ETIMEDOUT;
        if (why < 0)
            (void)kill(-pid, SIGKILL);
    }
}

/* A file in memory: unlike a pipe it takes any length before there is a reader. */
static int input_of(const struct program *p)
{
    CLEANUP(closep) int fd = memfd_create("input", MFD_CLOEXEC);
    const char *at = p->input;
    size_t left = p->input ? p->input_len : 0;

    while (fd >= 0 && left > 0) {
        ssize_t n = write(fd, at, left);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -EIO;
        at += n;
        left -= (size_t)n;
    }
    if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return -errno;
    int ret = fd;

    fd = -1;
    return ret;
}

static void close_pipe(int pipe[2])
{
    closep(&pipe[0]);
    closep(&pipe[1]);
}

int program_run(const struct program *p, struct program_result *ret)
{
    int output[2] = {-1, -1}, errors[2] = {-1, -1};
    CLEANUP(closep) int in = input_of(p);
    pid_t pid;
    int r = in < 0 ? in : 0;

    *ret = (struct program_result){0};
    strbuf_init(&ret->output, p->output_max);
    strbuf_init(&ret->errors, 2 * PROGRAM_ERRORS_MAX);
    if (r == 0 &&
        (pipe2(errors, O_CLOEXEC) < 0 || fcntl(errors[0], F_SETFL, O_NONBLOCK) < 0 ||
         (p->output_max > 0 && (pipe2(output, O_CLOEXEC) < 0 || fcntl(output[0], F_SETFL, O_NONBLOCK) < 0))))
        r = -errno;
    if (r == 0)
        r = program_spawn(p->argv, in, output[1], errors[1], &pid);
    if (r == 0) {
        closep(&errors[1]);
        closep(&output[1]);
        errors[1] = output[1] = -1;
        r = watch(pid, &(struct ears){.output = output[0], .errors = errors[0], .result = ret}, p);
    }
    close_pipe(errors);
    close_pipe(output);
    return r;
}

void program_result_release(struct program_result *r)
{
    strbuf_release(&r->output);
    strbuf_release(&r->errors);
}

void program_last_line(const struct strbuf *text, char *ret, size_t size)
{
    size_t end = text->len, begin, len = 0;

    while (end > 0 && (unsigned char)text->text[end - 1] <= ' ')
        end--;
    for (begin = end; begin > 0 && text->text[begin - 1] != '\n';)
        begin--;
    for (; begin < end && len + 1 < size; begin++) {
        unsigned char c = (unsigned char)text->text[begin];

        ret[len++] = (char)(c < ' ' || c == 0x7f ? ' ' : c);
    }
    /* not cut inside of a letter */
    for (; begin < end && len > 0 && ((unsigned char)text->text[begin] & 0xc0) == 0x80; begin--)
        len--;
    ret[len] = '\0';
}
