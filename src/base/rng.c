/* rng.c: splitmix64 and the distributions drawn from it. */
#include "base/rng.h"

uint64_t rng_next(struct rng *r)
{
    r->state += 0x9e3779b97f4a7c15u;
    uint64_t z = r->state;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double rng_unit(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

double rng_range(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_unit(r);
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}

double rng_normal(struct rng *r, double mean, double stddev)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += rng_unit(r);
    return mean + stddev * sum;
}
