/* answer.h: a line of an external unit about a batch of VMs. */
#ifndef BALLAST_UNITS_ANSWER_H
#define BALLAST_UNITS_ANSWER_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/snapshot.h>

#include <stddef.h>

/* What a unit is asked: number, and VMs by index in the snapshot. */
struct batch {
    uint64_t id;
    const uint32_t *vms; /* ascending */
    uint32_t n;
};

#define UNIT_WORDS_MAX 512 /* bytes of what a unit says to a person; more are cut off */

/* Reads the line. 0: *ret has an answer about each VM of the batch, which a snapshot takes; unit and time are
 * the caller's to set. -EALREADY: it answers an earlier question, and is to be skipped. -EINVAL: it is no
 * answer, and err says why. */
int answer_read(const char *line, size_t len, const struct snapshot *s, const struct batch *batch,
                struct arena *a, struct seen_answer **ret, size_t *ret_n, struct err *err);

#endif
