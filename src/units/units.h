/* units.h: external units: programs of the user that say to which hosts VMs may come, or how good hosts are.
 *
 * Each unit is one process that is started at the first question and stays. A question goes to all units at
 * once and ends when each has answered or failed, at the latest after the longest of their timeouts. A unit
 * that hangs, ends, answers anything but what it was asked, or too much, is killed with its process group; it
 * is started again at the next question, after 1 s at the earliest, then 2 s, up to 5 min while it fails.
 *
 * Not for two threads at a time. README.md has the lines that are spoken. */
#ifndef BALLAST_UNITS_UNITS_H
#define BALLAST_UNITS_UNITS_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define UNITS_MAX 32

/* An entry of `units:` of the configuration. */
struct unit_config {
    const char *name;
    const char *const *command; /* path and arguments, without a shell; NULL at the end */
    int64_t timeout_s;          /* for the answer about all VMs together */
};

struct units;

/* list is borrowed. *stop (or NULL) ends a question early: what is not answered then has failed. */
struct units *units_new(const struct unit_config *list, size_t n, const atomic_bool *stop);
void units_free(struct units *u); /* ends the processes; NULL is fine */

/* Asks about each VM the units that its pipeline names. ret->answers gets answers about all of them, as asked
 * at `at`, in the arena; those of units that failed, or that the configuration does not have (u may be NULL),
 * have an error. The snapshot can take them. A failure, and its end, is logged once. */
void units_ask(struct units *u, const struct snapshot *s, instant_s at, struct arena *a,
               struct inventory *ret);

#endif
