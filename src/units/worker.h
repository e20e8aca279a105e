/* worker.h: the process of one external unit. */
#ifndef BALLAST_UNITS_WORKER_H
#define BALLAST_UNITS_WORKER_H

#include "base/program.h"
#include "units/units.h"

#include <sys/types.h>

/* A line of more bytes is too long, and so is all that is received for one batch. */
#define WORKER_LINE_MAX ((size_t)64 << 20)

#define WORKER_WHY_MAX (PROGRAM_LINE_MAX + 160)

struct worker {
    const struct unit_config *config;
    pid_t pid;              /* 0: it does not run */
    int io, errors;         /* a socket, its standard input and output; its standard error. -1: closed */
    struct strbuf line;     /* what was received; ... */
    size_t taken, searched; /* so much of it as lines; ... without an end of a line */
    struct strbuf said;     /* the end of its standard error */
    pid_t killed;           /* not ended yet; 0: none */
    unsigned failures;      /* in a row */
    int64_t start_at_us;
    char why[WORKER_WHY_MAX]; /* the last failure */
};

void worker_init(struct worker *w, const struct unit_config *config);

/* Starts the process unless it runs. False: why says what prevents it. */
bool worker_start(struct worker *w, int64_t now_us);

/* Takes what the process has written by now, at most `most` bytes. False: it has failed, by its end or
 * because a line is too long. */
bool worker_read(struct worker *w, size_t most, size_t *ret_n, int64_t now_us);

/* The next whole line, without its end; NULL: there is none yet. Valid until the process is read from again,
 * or fails. */
const char *worker_line(struct worker *w, size_t *ret_len);

/* Kills it; it may be started again after a while. */
void worker_fail(struct worker *w, int64_t now_us, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* It has answered a whole question. */
void worker_succeed(struct worker *w);

/* Kills it and waits for its end, for a second at most. */
void worker_end(struct worker *w);

#endif
