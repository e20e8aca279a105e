/* downsample.h: reduces long series with common times to the resolution of a screen. */
#ifndef BALLAST_SIM_REPORT_DOWNSAMPLE_H
#define BALLAST_SIM_REPORT_DOWNSAMPLE_H

#include <ballast/arena.h>

/* Which samples a plot keeps: of each of `buckets` equal parts of the time two values, the lowest and the
 * highest in their order, so that no spike is lost. They stand at the times of the part's first and last
 * sample, which are the same for all series. A part with one sample keeps it. */
struct downsample {
    const double *t; /* n_kept */
    size_t n_kept;
    size_t n_buckets;
    const size_t *from; /* n_buckets + 1: the first sample of each */
};

/* t ascends. A short series, of at most two samples a bucket, stays unchanged. */
void downsample_init(struct downsample *d, const double *t, size_t n, size_t buckets, struct arena *a);

/* Fills ret, n_kept values, from v, a value for each sample. NAN is not known; of a part without known values
 * it stays. */
void downsample_reduce(const struct downsample *d, const double *v, double *ret);

#endif
