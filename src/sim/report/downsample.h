/* downsample.h: reduces a long series to the resolution of a screen. */
#ifndef BALLAST_SIM_REPORT_DOWNSAMPLE_H
#define BALLAST_SIM_REPORT_DOWNSAMPLE_H

#include <ballast/arena.h>

struct dot {
    double t, v; /* v NAN: a gap */
};

/* At most two dots for each of `buckets` equal parts of the time, the lowest and the highest value in their
 * order, so that no spike is lost. A part without known values becomes one gap. A short series stays
 * unchanged. */
struct dot *downsample(const double *t, const double *v, size_t n, size_t buckets, struct arena *a,
                       size_t *ret_n);

#endif
