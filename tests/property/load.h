/* load.h: load that stays level, and load that is expected to rise. */
#ifndef BALLAST_TESTS_LOAD_H
#define BALLAST_TESTS_LOAD_H

#include <ballast/arena.h>
#include <ballast/policy.h>
#include <ballast/snapshot.h>

/* The windows say what the present does; nobody was moved lately. */
void flat_load(struct snapshot *s);

/* What those want now that take part, times so much from an instant on; slots end at `from`, or begin there.
 */
void expect_rise(struct snapshot *s, const struct policy *policy, double factor, instant_s from,
                 struct arena *a);

#endif
