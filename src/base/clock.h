/* clock.h: reads the system's clocks. */
#ifndef BALLAST_BASE_CLOCK_H
#define BALLAST_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The time of a clock that always exists, in microseconds. */
static inline int64_t clock_us(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* A clock that cannot be set, and that stops while the machine sleeps. */
static inline int64_t clock_monotonic_ms(void)
{
    return clock_us(CLOCK_MONOTONIC) / 1000;
}

static inline time_t clock_monotonic_s(void)
{
    return (time_t)(clock_us(CLOCK_MONOTONIC) / 1000000);
}

#endif
