/* progress.h: draws the progress of a long command on one line of standard error, if that is a terminal. */
#ifndef BALLAST_CLI_PROGRESS_H
#define BALLAST_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool on;
    int64_t began_us, shown_us; /* shown_us: time of the last drawing */
    double from, to;            /* share of the whole that the present run covers */
    const char *what;           /* "run 3 of 20" */
};

/* on: false if standard error is no terminal, or cannot return to the line's begin. */
void progress_begin(struct progress *p, bool wanted);

/* Begins the next part of the whole; `done` counts from 0 to 1 in it. */
void progress_part(struct progress *p, const char *what, double from, double to);

/* For struct simulate_options. Draws at most ten times a second. */
void progress_step(void *progress, double done);

/* Erases the line. */
void progress_end(struct progress *p);

#endif
