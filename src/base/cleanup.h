/* cleanup.h: releases a variable when it goes out of scope.
 *
 *     CLEANUP(fclosep) FILE *f = fopen(path, "re");
 */
#ifndef BALLAST_BASE_CLEANUP_H
#define BALLAST_BASE_CLEANUP_H

#include <ballast/arena.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(function) __attribute__((cleanup(function)))

static inline void fclosep(FILE **f)
{
    if (*f)
        (void)fclose(*f);
}

static inline void closep(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

static inline void freep(void *p)
{
    free(*(void **)p);
}

static inline void arena_releasep(struct arena *a)
{
    arena_release(a);
}

#endif
