/* rng.h: splitmix64, the same numbers from the same seed on every machine (Steele, Lea, Flood 2014). Not
 * for secrets. */
#ifndef BALLAST_BASE_RNG_H
#define BALLAST_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state; /* the seed, to begin with */
};

uint64_t rng_next(struct rng *r);

/* Uniform in [0, 1). */
double rng_unit(struct rng *r);

/* Uniform in [low, high). */
double rng_range(struct rng *r, double low, double high);

/* Uniform in 0 ... n - 1; n > 0. */
uint32_t rng_below(struct rng *r, uint32_t n);

/* Normal, by the sum of twelve uniforms: bounded at six standard deviations, and no libm in it. */
double rng_normal(struct rng *r, double mean, double stddev);

#endif
