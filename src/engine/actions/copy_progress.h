/* copy_progress.h: whether a migration that copies gets on, and when it is given up.
 *
 * Pre-copy copies memory in rounds, so its percentage falls or stands still while it gets on. What counts is
 * what its hypervisor says: bytes, rounds, what remains of a round, how far the guest is slowed down; where
 * it says none of these, any change of the percentage. Two things end a copy: nothing of this has changed for
 * some minutes: it hangs; what remains has not shrunk over three rounds, the hypervisor slows the guest down
 * no further, and the copy has its links to itself, or is the youngest of several that do not shrink
 * (copy_links.h): it has no end at this rate. */
#ifndef BALLAST_ENGINE_ACTIONS_COPY_PROGRESS_H
#define BALLAST_ENGINE_ACTIONS_COPY_PROGRESS_H

#include "engine/ports.h"

struct action;
struct actions;

/* What was said of a copy so far, of the present process. 0 in any field: not said. */
struct copy_progress {
    double copied_mb, left_mb;    /* the last that was said */
    double rate_mb_s, dirty_mb_s; /* of copying, measured; that the VM writes, said or measured by rounds */
    double rated_mb;              /* copied_mb at rated_at: the rate is measured from there */
    instant_s rated_at;
    unsigned round; /* the present one, and since when it goes on */
    double round_at;
    double least_mb;      /* the least that a round began with: the last progress, ... */
    unsigned least_round; /* ... in this round, ... */
    instant_s least_at;   /* ... at this time */
    int percent;          /* the last that was said */
    unsigned slowed;      /* percent that the guest is slowed down */
    bool may_slow;        /* it will be slowed down, and is not yet */
    instant_s taught_at;  /* its rate was last learned */
    bool has_no_end;      /* it was given up because what remains does not shrink */
};

/* The hypervisor has answered. Whether the copy got on since the last answer. */
bool copy_progress_take(struct copy_progress *c, const struct task_progress *p, double mem_mb, instant_s now);
/* For how long the copy may show no change; mem_mb: of the VM, UNKNOWN. */
instant_s copy_progress_patience_s(const struct copy_progress *c, double mem_mb);
/* Whether the move is to be given up because what remains does not shrink. */
bool copy_progress_has_no_end(const struct actions *all, const struct action *x, instant_s now);
/* A copy on its links has ended: the others have more of them, and three rounds more. */
void copy_progress_links_changed(const struct actions *all, const struct action *ended, instant_s now);
/* Why it is given up, with the figures. */
void copy_progress_say(const struct copy_progress *c, char *text, size_t size);

#endif
