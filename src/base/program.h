/* program.h: runs another program without a shell, within a deadline, and reads its output.
 *
 * It gets a process group of its own, default signals, and no open file of the service but its three standard
 * ones. By its deadline or when *stop becomes true, the whole group is killed. Processes that it leaves in
 * the background after its own end go on, and are not waited for. */
#ifndef BALLAST_BASE_PROGRAM_H
#define BALLAST_BASE_PROGRAM_H

#include "base/strbuf.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

struct program {
    const char *const *argv; /* [0] is the path of the program; NULL at the end */
    const void *input;       /* its standard input; NULL: empty */
    size_t input_len;
    size_t output_max;       /* of its standard output that is kept; what is more is dropped. 0: nowhere */
    int64_t deadline_us;     /* on CLOCK_MONOTONIC */
    const atomic_bool *stop; /* NULL: never */
};

#define PROGRAM_ERRORS_MAX ((size_t)2048)

struct program_result {
    int status;           /* as of waitpid(2) */
    struct strbuf output; /* its beginning; overflow: there was more */
    struct strbuf errors; /* the end of its standard error: at most PROGRAM_ERRORS_MAX bytes */
};

/* 0: it ran, whatever its exit status. -ETIMEDOUT, -ECANCELED (stop): it was killed; else it was not started:
 * -ENOENT, -EACCES, ... The caller releases *ret in any case. */
int program_run(const struct program *p, struct program_result *ret);
void program_result_release(struct program_result *r);

/* Only starts it, with these as its standard input, output (-1: nowhere) and error. A negative errno. */
int program_spawn(const char *const *argv, int in, int out, int errors, pid_t *ret);

/* Adds to a text of which only the end is kept: PROGRAM_ERRORS_MAX bytes. n is no more than that. */
void program_keep_end(struct strbuf *b, const char *piece, size_t n);

#define PROGRAM_LINE_MAX 200

/* The last line of a text that is not empty, without control characters, cut to its length. */
void program_last_line(const struct strbuf *text, char *ret, size_t size);

#endif
