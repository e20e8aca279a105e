/* progress.c: the progress bar of `simulate`, on a terminal. */
#include "cli/progress.h"

#include "cli/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define US_PER_S 1000000
#define DRAW_EVERY_US 100000
#define FORECAST_AFTER_US (2 * US_PER_S) /* an earlier estimate would be a guess */
#define BAR 30
#define CLEAR_LINE "\r\033[K"

void progress_begin(struct progress *p, bool wanted)
{
    const char *term = getenv("TERM");

    *p = (struct progress){
        .on = wanted && isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0,
        .began_us = cli_now_us(),
        .to = 1,
        .what = "",
    };
}

void progress_part(struct progress *p, const char *what, double from, double to)
{
    p->what = what;
    p->from = from;
    p->to = to;
}

void progress_step(void *progress, double done)
{
    struct progress *p = progress;

    if (!p->on)
        return;
    int64_t now_us = cli_now_us();
    if (now_us - p->shown_us < DRAW_EVERY_US)
        return;
    p->shown_us = now_us;
    double whole = p->from + (p->to - p->from) * (done < 0 ? 0 : done > 1 ? 1 : done);
    int64_t taken_us = now_us - p->began_us;
    char left[32] = "";
    if (taken_us > FORECAST_AFTER_US && whole > 0)
        (void)snprintf(left, sizeof left, ", %.0f s left", (double)taken_us / US_PER_S * (1 - whole) / whole);
    int full = (int)(whole * BAR);
    (void)fprintf(stderr, CLEAR_LINE "[%.*s%*s] %3.0f %%%s%s%s", full, "##############################",
                  BAR - full, "", 100 * whole, *p->what ? ", " : "", p->what, left);
    (void)fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->on && p->shown_us > 0)
        (void)fputs(CLEAR_LINE, stderr);
    p->on = false;
}
