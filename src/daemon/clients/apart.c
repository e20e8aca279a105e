/* apart.c: a process for one piece of work. It does not know what the work is. */
#include "daemon/clients/apart.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESULT_FD 3
#define LOOK_MS 50                                    /* for *stop */
#define WALL_US (10 * APART_CPU_S * INT64_C(1000000)) /* one that waits for something will not end */
#define NICE_LEAST 19
#define MIB ((rlim_t)1 << 20)

static bool limit(int resource, rlim_t most)
{
    struct rlimit is;

    return getrlimit(resource, &is) == 0 &&
           (is.rlim_max <= most || setrlimit(resource, &(struct rlimit){most, most}) == 0);
}

static rlim_t memory_now(void)
{
    CLEANUP(fclosep) FILE *f = fopen("/proc/self/statm", "re");
    unsigned long long pages = 0;

    return f && fscanf(f, "%llu", &pages) == 1 ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) : 0;
}

static bool write_all(const void *bytes, size_t n)
{
    for (ssize_t done; n > 0; bytes = (const char *)bytes + done, n -= (size_t)done) {
        if ((done = write(RESULT_FD, bytes, n)) <= 0)
            return false;
    }
    return true;
}

/* The result is the error, then the answer. */
static _Noreturn void child(apart_work *work, const void *ctx, int result, pid_t parent)
{
    struct strbuf out = STRBUF_EMPTY;
    struct err err = {0};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(result, RESULT_FD) < 0)
        _exit(1);
    (void)close_range(RESULT_FD + 1, ~0u, 0); /* locks of the store and sockets are the service's */
    (void)setpriority(PRIO_PROCESS, 0, NICE_LEAST);
    if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_CPU, APART_CPU_S) ||
        !limit(RLIMIT_AS, memory_now() + APART_MEMORY_MB * MIB))
        _exit(1);
    err.code = work(ctx, &out, &err);
    _exit(write_all(&err, sizeof err) && write_all(out.text, out.len) ? 0 : 1);
}

/* Until its end, by itself or because it is killed. */
static int watch(pid_t pid, const atomic_bool *stop)
{
    const int64_t until_us = clock_us(CLOCK_MONOTONIC) + WALL_US;
    CLEANUP(closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd end = {.fd = fd, .events = POLLIN};
    int status = 0, why = 0;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        (void)poll(&end, 1, LOOK_MS);
        if (atomic_load(stop))
            why = -ECANCELED;
        if (why < 0 || clock_us(CLOCK_MONOTONIC) > until_us)
            (void)kill(pid, SIGKILL);
    }
    return why < 0 ? why : WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EUSERS;
}

int apart_run(apart_work *work, const void *ctx, const atomic_bool *stop, struct strbuf *out, struct err *err)
{
    CLEANUP(closep) int result = memfd_create("answer", MFD_CLOEXEC);
    const pid_t parent = getpid();
    const pid_t pid = result < 0 ? -1 : fork();
    char piece[65536];

    if (pid == 0)
        child(work, ctx, result, parent);
    if (pid < 0)
        return err_set(err, -errno, "no process for the decision can be started");
    int r = watch(pid, stop);

    if (r == -EUSERS)
        return err_set(
            err, r,
            "it takes more than the %d s of processor time or the %d MiB of memory that a viewer's "
            "decision may have; an operator's has no limit",
            APART_CPU_S, APART_MEMORY_MB);
    if (r < 0 || pread(result, err, sizeof *err, 0) != sizeof *err)
        return err_set(err, r < 0 ? r : -EIO, "the decision was given up");
    off_t at = sizeof *err;

    for (ssize_t n; (n = pread(result, piece, sizeof piece, at)) > 0; at += n)
        strbuf_add(out, piece, (size_t)n);
    return err->code;
}
