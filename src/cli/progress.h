/* progress.h: how far something is that takes a while, on one line of standard error, if that is a terminal.
 */
#ifndef BALLAST_CLI_PROGRESS_H
#define BALLAST_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool on;
    int64_t began_us, shown_us; /* when it was drawn last */
    double from, to;            /* what 0 ... 1 of the present run are of the whole */
    const char *what;           /* "run 3 of 20" */
};

/* on: false if standard error is no terminal, or one that cannot go back on its line. */
void progress_begin(struct progress *p, bool wanted);

/* The next part of the whole, which `done` is counted in. */
void progress_part(struct progress *p, const char *what, double from, double to);

/* For struct simulate_options. Draws ten times a second at most. */
void progress_step(void *progress, double done);

/* Takes the line away. */
void progress_end(struct progress *p);

#endif
